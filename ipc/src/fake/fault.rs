//! What can be wrong with a fake runtime.

use std::time::Duration;

use crate::command_id::CommandId;
use crate::hresult::HResult;

/// A fault, on every command or on one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub(super) kind: FaultKind,
    pub(super) only: Option<CommandId>,
}

impl Fault {
    /// Whatever the command.
    pub fn always(kind: FaultKind) -> Self {
        Fault { kind, only: None }
    }

    /// On that command only.
    pub fn on(command: CommandId, kind: FaultKind) -> Self {
        Fault { kind, only: Some(command) }
    }

    pub(super) fn applies(&self, command: CommandId) -> bool {
        self.only.is_none_or(|only| only == command)
    }
}

/// What goes wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// Reads the request and never answers.
    Silence,
    /// Half of the reply, then nothing more; the connection stays open.
    HalfReply,
    /// Half of the reply, then the connection ends.
    HalfReplyThenClose,
    /// 28 bytes of something, no magic: what live runtimes answer to a superfluous
    /// payload.
    Uninitialised,
    /// A reply whose magic has a 2 instead of the 1.
    WrongMagic,
    /// A reply whose command set is not that of a server.
    WrongSet,
    /// A reply that says it has 10 bytes.
    SizeTooSmall,
    /// A reply that says it is 5 bytes longer than it is, then the connection ends.
    SizeTooLarge,
    /// All lengths and counts inside the payload are huge.
    HugeCounts,
    /// The connection ends without an answer.
    EarlyClose,
    /// The connection ends without the request being read.
    CloseUnread,
    /// The reply comes one byte at a time with that pause.
    SlowDrip(Duration),
    /// The command is refused.
    Refuse(HResult),
    /// The command is refused, and the connection left open for ever (runtimes 9 and 10
    /// do that).
    RefuseLeftOpen(HResult),
    /// A stop is carried out, but its reply never comes.
    StopNeverAnswers,
    /// A stop is neither carried out nor answered.
    StopIgnored,
    /// A stop is answered with another session's id.
    StopOtherSession,
    /// The process dies after that many bytes of a session.
    DieInStream(usize),
}
