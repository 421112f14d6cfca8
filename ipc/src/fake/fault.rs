//! Faults that a fake runtime can have on request.

use crate::command_id::CommandId;
use crate::hresult::HResult;
use std::time::Duration;

/// A fault in the replies to one command, or to every command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub(super) kind: FaultKind,
    pub(super) only: Option<CommandId>,
}

impl Fault {
    /// Makes a fault in the replies to every command.
    pub fn always(kind: FaultKind) -> Self {
        Fault { kind, only: None }
    }

    /// Makes a fault in the replies to this command only.
    pub fn on(command: CommandId, kind: FaultKind) -> Self {
        Fault { kind, only: Some(command) }
    }

    pub(super) fn applies(&self, command: CommandId) -> bool {
        self.only.is_none_or(|only| only == command)
    }
}

/// What a fake runtime does wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// The request is read and never answered.
    Silence,
    /// Half of the reply is sent, then nothing more; the connection stays open.
    HalfReply,
    /// Half of the reply is sent, then the connection ends.
    HalfReplyThenClose,
    /// The reply has 28 bytes and no magic, which live runtimes send when a request has a
    /// superfluous payload.
    Uninitialised,
    /// The reply's magic ends in 2 instead of 1.
    WrongMagic,
    /// The reply's command set is not that of a server.
    WrongSet,
    /// The reply says that it has 10 bytes.
    SizeTooSmall,
    /// The reply says that it is 5 bytes longer than it is, then the connection ends.
    SizeTooLarge,
    /// All lengths and counts inside the payload are huge.
    HugeCounts,
    /// The connection ends without an answer.
    EarlyClose,
    /// The connection ends before the request is read.
    CloseUnread,
    /// The reply comes one byte at a time with this pause.
    SlowDrip(Duration),
    /// The command is refused with this code.
    Refuse(HResult),
    /// The command is refused with this code, and the connection stays open for ever, as in .NET 9
    /// and 10.
    RefuseLeftOpen(HResult),
    /// A request to stop a session is carried out, but its reply never comes.
    StopNeverAnswers,
    /// A request to stop a session is neither carried out nor answered.
    StopIgnored,
    /// A request to stop a session is answered with the id of another session.
    StopOtherSession,
    /// The process dies after it has sent this many bytes of a session.
    DieInStream(usize),
}
