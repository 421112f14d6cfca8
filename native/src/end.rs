//! Why a stack has no more frames.

/// Where the way to the callers ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The thread's first function.
    Start,
    /// The next frame is found by a register whose value is unknown.
    RegisterUnknown,
    /// The code has no table that tells how to leave it.
    NoTable,
    /// Its file cannot be read.
    FileUnread,
    /// A return address where there is no code.
    NoCode,
    /// The stack is larger than the part that was read, or it cannot be read.
    StackUnread,
    /// The tables contradict the stack.
    Wrong,
    /// There are more frames than are kept.
    TooDeep,
}

impl End {
    /// The name in JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            End::Start => "start",
            End::RegisterUnknown => "register_unknown",
            End::NoTable => "no_table",
            End::FileUnread => "file_unread",
            End::NoCode => "no_code",
            End::StackUnread => "stack_unread",
            End::Wrong => "wrong",
            End::TooDeep => "too_deep",
        }
    }

    /// For sentences: "the rest is unknown: …".
    pub(crate) fn text(self) -> &'static str {
        match self {
            End::Start => "it is the thread's first function",
            End::RegisterUnknown => {
                "the caller is found by a register that only a stopped thread shows"
            }
            End::NoTable => "this code has no table that tells its caller",
            End::FileUnread => {
                "the file of this code cannot be read, or has been replaced since it was loaded"
            }
            End::NoCode => "the return address does not point to code",
            End::StackUnread => "the stack is larger than the part that was read",
            End::Wrong => "the table of this code contradicts the stack",
            End::TooDeep => "there are more frames than are kept",
        }
    }
}
