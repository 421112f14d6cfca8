//! Reasons why unwinding finds no more frames of a stack.

/// Reason why unwinding finds no more frames towards the callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StackEnd {
    /// The thread's first function was reached.
    Start,
    /// The next frame depends on a register whose value is unknown.
    RegisterUnknown,
    /// The file of the code has no unwind table (call frame information) for it.
    NoTable,
    /// The file that contains the code cannot be read.
    FileUnread,
    /// The return address does not lead to code.
    NoCode,
    /// The stack is longer than the part that was read, or it cannot be read.
    StackUnread,
    /// The unwind tables contradict the stack.
    Wrong,
    /// The stack has more than 512 frames.
    TooDeep,
}

impl StackEnd {
    /// Returns the name of the reason in JSON.
    pub fn name(self) -> &'static str {
        match self {
            StackEnd::Start => "start",
            StackEnd::RegisterUnknown => "register_unknown",
            StackEnd::NoTable => "no_table",
            StackEnd::FileUnread => "file_unread",
            StackEnd::NoCode => "no_code",
            StackEnd::StackUnread => "stack_unread",
            StackEnd::Wrong => "wrong",
            StackEnd::TooDeep => "too_deep",
        }
    }

    /// Returns the text for people, which follows "the rest is unknown: ".
    pub fn text(self) -> &'static str {
        match self {
            StackEnd::Start => "it is the thread's first function",
            StackEnd::RegisterUnknown => {
                "the caller is found by a register that only a stopped thread shows"
            }
            StackEnd::NoTable => "this code has no table that tells its caller",
            StackEnd::FileUnread => {
                "the file of this code cannot be read, or has been replaced since it was loaded"
            }
            StackEnd::NoCode => "the return address does not point to code",
            StackEnd::StackUnread => "the stack is larger than the part that was read",
            StackEnd::Wrong => "the table of this code contradicts the stack",
            StackEnd::TooDeep => "there are more frames than are kept",
        }
    }
}
