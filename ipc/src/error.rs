//! Errors, in three kinds: a request that must not be sent ([`RequestError`]), an invalid reply
//! ([`ReplyFault`]), and everything else that can fail in between ([`Error`]).

use crate::command_id::CommandId;
use crate::hresult::HResult;
use std::fmt;
use std::io;
use std::mem;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Reason why a request was not built. Most of these requests would crash or block a live runtime,
/// or leak its descriptors.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestError {
    /// A text of this kind is empty, although it must not be.
    Empty(&'static str),
    /// A text of this kind contains a NUL, which would end the string.
    Nul(&'static str),
    /// A text contains a character that cannot be sent to the target.
    Character {
        /// Kind of the text, such as a name.
        what: &'static str,
        /// The character that cannot be sent.
        character: char,
    },
    /// The message is too long for the 16-bit size in its header.
    TooLong {
        /// Length of header and payload, in bytes.
        bytes: usize,
    },
    /// There is no provider, but a session needs at least one.
    NoProviders,
    /// There are as many providers, but more than 1,000 would crash a runtime.
    TooManyProviders(usize),
    /// A provider is named twice, with arguments that contradict each other.
    ConflictingArguments {
        /// Name of the provider.
        provider: String,
        /// The argument that is given two values; empty if whole filter strings differ.
        key: String,
    },
    /// The provider with this name is given twice, and its entries cannot be merged.
    DuplicateProvider(String),
    /// The provider with this name, in a user_events session, has neither a default tracepoint nor
    /// a set of event ids.
    NoTracepoint(String),
    /// The tracepoint with this name has a set without event ids.
    EmptyTracepointSet(String),
    /// An event id is in the sets of two tracepoints.
    DuplicateTracepointEvent {
        /// Name of the provider.
        provider: String,
        /// The event id that is named twice.
        event_id: u32,
    },
    /// The command cannot express an option.
    Inexpressible {
        /// The command that lacks the option.
        command: CommandId,
        /// Name of the option.
        what: &'static str,
    },
    /// The target could not load the startup hook, and the attempt would crash it.
    StartupHook {
        /// The assembly.
        path: PathBuf,
        /// What is wrong with it.
        source: StartupHookFault,
    },
    /// A text is not a valid port address.
    PortAddress {
        /// The text that was parsed.
        text: String,
        /// What is wrong with the text.
        reason: &'static str,
    },
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RequestError::Empty(what) => write!(f, "the {what} is empty"),
            RequestError::Nul(what) => write!(f, "the {what} contains a NUL"),
            RequestError::Character { what, character } => {
                write!(
                    f,
                    "the {what} contains {character:?}, which the protocol cannot carry there"
                )
            }
            RequestError::TooLong { bytes } => {
                write!(f, "the request is {bytes} bytes long; 65,535 is the protocol's limit")
            }
            RequestError::NoProviders => f.write_str("no provider given"),
            RequestError::TooManyProviders(count) => {
                write!(f, "{count} providers given; runtimes take 1,000 at most")
            }
            RequestError::ConflictingArguments { provider, key } if key.is_empty() => {
                write!(f, "provider {provider} is named more than once with different arguments")
            }
            RequestError::ConflictingArguments { provider, key } => {
                write!(
                    f,
                    "provider {provider} is named more than once with different values of argument {key}"
                )
            }
            RequestError::DuplicateProvider(provider) => {
                write!(f, "provider {provider} is named more than once")
            }
            RequestError::NoTracepoint(provider) => {
                write!(
                    f,
                    "provider {provider} has neither a default tracepoint nor a tracepoint set"
                )
            }
            RequestError::EmptyTracepointSet(name) => {
                write!(f, "tracepoint set {name} has no event ids")
            }
            RequestError::DuplicateTracepointEvent { provider, event_id } => {
                write!(f, "event {event_id} of provider {provider} is in two tracepoint sets")
            }
            RequestError::Inexpressible { command, what } => {
                write!(f, "{command} cannot carry {what}")
            }
            RequestError::StartupHook { path, .. } => {
                write!(f, "unusable startup hook {}", path.display())
            }
            RequestError::PortAddress { text, reason } => {
                write!(f, "port address {text:?}: {reason}")
            }
        }
    }
}

impl std::error::Error for RequestError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            RequestError::StartupHook { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// Reason why the target could not load a startup hook.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum StartupHookFault {
    /// The path is no text in Unicode.
    NotUnicode,
    /// The path is relative.
    NotAbsolute,
    /// The file cannot be read.
    Unreadable(Arc<io::Error>),
    /// The file is not a managed assembly.
    NotManaged,
    /// The assembly has no `StartupHook.Initialize`.
    NoInitialize,
}

/// Compares kinds of errors: two that say the same of two files are equal.
impl PartialEq for StartupHookFault {
    fn eq(&self, other: &StartupHookFault) -> bool {
        use StartupHookFault::Unreadable;
        match (self, other) {
            (Unreadable(one), Unreadable(other)) => one.kind() == other.kind(),
            (one, other) => mem::discriminant(one) == mem::discriminant(other),
        }
    }
}

impl Eq for StartupHookFault {}

impl fmt::Display for StartupHookFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StartupHookFault::NotUnicode => "not a path in Unicode",
            StartupHookFault::NotAbsolute => "not an absolute path",
            StartupHookFault::Unreadable(_) => "it cannot be read",
            StartupHookFault::NotManaged => "not a managed assembly",
            StartupHookFault::NoInitialize => "has no StartupHook.Initialize",
        })
    }
}

impl std::error::Error for StartupHookFault {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            StartupHookFault::Unreadable(error) => Some(error),
            _ => None,
        }
    }
}

/// Reason why a reply is invalid. Offsets are relative to the start of the reply's payload.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReplyFault {
    /// The first 14 bytes are these, and not the magic of the protocol.
    Magic([u8; 14]),
    /// The size in the header is this, which is less than the 20 bytes of the header itself.
    Size(u16),
    /// The frame is not a reply of a server.
    NotAReply {
        /// Command set in the header.
        set: u8,
        /// Command id in the header.
        id: u8,
    },
    /// A field is longer than the rest of the payload.
    Truncated {
        /// Offset of the field.
        offset: usize,
        /// Name of the field.
        field: &'static str,
        /// Number of bytes that the field needs.
        needed: usize,
        /// Number of bytes that are left.
        left: usize,
    },
    /// A string has no closing NUL.
    Unterminated {
        /// Offset of the string.
        offset: usize,
        /// Name of the field.
        field: &'static str,
    },
    /// The connection ended inside the reply.
    EndedEarly {
        /// Part of the reply that was being read.
        field: &'static str,
        /// Number of bytes that are still missing.
        missing: usize,
    },
    /// The reply to StopTracing names another session.
    SessionId {
        /// Id of the session in the request.
        asked: u64,
        /// Id of the session in the reply.
        answered: u64,
    },
    /// A reply that is marked as a success contains the code of a failure.
    FailureInSuccess(HResult),
    /// The reply announces a length above the limit.
    Limit {
        /// Name of the field.
        field: &'static str,
        /// Announced length in bytes.
        announced: u64,
        /// Limit in bytes.
        limit: u64,
    },
    /// The first bytes of a reverse connection are not an advertise frame.
    Advertise,
}

impl fmt::Display for ReplyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReplyFault::Magic(bytes) => {
                f.write_str("wrong magic ")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
            ReplyFault::Size(size) => write!(f, "impossible message size {size}"),
            ReplyFault::NotAReply { set, id } => {
                write!(f, "command {set:02x} {id:02x} is not a reply")
            }
            ReplyFault::Truncated { offset, field, needed, left } => {
                write!(
                    f,
                    "{field} at payload offset {offset} needs {needed} bytes, {left} are left"
                )
            }
            ReplyFault::Unterminated { offset, field } => {
                write!(f, "{field} at payload offset {offset} has no closing NUL")
            }
            ReplyFault::EndedEarly { field, missing } => {
                write!(f, "the connection ended in the {field}, {missing} bytes missing")
            }
            ReplyFault::SessionId { asked, answered } => {
                write!(f, "session {asked:#x} was asked for, session {answered:#x} answered")
            }
            ReplyFault::FailureInSuccess(code) => write!(f, "a success with code {code}"),
            ReplyFault::Limit { field, announced, limit } => {
                write!(f, "{field} announces {announced} bytes, above the limit of {limit}")
            }
            ReplyFault::Advertise => f.write_str("not an advertise frame"),
        }
    }
}

impl std::error::Error for ReplyFault {}

/// The step of a command or session at which a deadline passed or a connection failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Step {
    /// Connect to the endpoint.
    Connect,
    /// Wait for the runtime to connect to the port.
    Accept,
    /// Write the request.
    Request,
    /// Wait for the reply.
    Reply,
    /// Read the bytes after the reply.
    Continuation,
    /// Stop a session.
    Stop,
    /// Read the rest of a stopped session's stream.
    Drain,
    /// Send a file descriptor.
    Descriptor,
    /// Open the port.
    Listen,
    /// Start a program.
    Launch,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Step::Connect => "connecting",
            Step::Accept => "waiting for the runtime to connect",
            Step::Request => "sending the request",
            Step::Reply => "waiting for the reply",
            Step::Continuation => "reading what follows the reply",
            Step::Stop => "stopping the session",
            Step::Drain => "reading the rest of the session",
            Step::Descriptor => "passing the file descriptor",
            Step::Listen => "opening the port",
            Step::Launch => "starting the program",
        })
    }
}

/// Reason why a command or a session failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The request was not sent, because it would harm any runtime.
    Request(RequestError),
    /// The request was not sent, because it would harm this particular target.
    Harmful {
        /// The command of the request.
        command: CommandId,
        /// Description of the harm.
        reason: String,
    },
    /// The runtime refused the command.
    Refused {
        /// The command that was refused.
        command: CommandId,
        /// Code that the runtime gave as the reason.
        code: HResult,
        /// The message in addition to the code; only GenerateCoreDump3 sends one.
        message: Option<String>,
    },
    /// The reply is invalid.
    Reply {
        /// The command that the reply answers.
        command: CommandId,
        /// What is wrong with the reply.
        fault: ReplyFault,
    },
    /// The other side did not respond in time, for example because the target is stopped
    /// by a debugger or SIGSTOP, or another tool occupies its diagnostics server.
    Deadline {
        /// Step that took too long.
        step: Step,
        /// The time limit that was exceeded.
        after: Duration,
    },
    /// The connection ended before the reply, because the process ended or closed the connection.
    Gone {
        /// Step that was under way.
        step: Step,
    },
    /// The operating system reported an error.
    Io {
        /// Step that was under way.
        step: Step,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The socket belongs to another process than expected, so nothing was sent.
    WrongPeer {
        /// Id of the expected process.
        expected: u32,
        /// Id of the process that holds the socket.
        found: u32,
    },
    /// The transcript to replay cannot be parsed.
    Transcript {
        /// Number of the line, counted from 1.
        line: u64,
        /// What is wrong with the line.
        reason: &'static str,
    },
    /// The platform does not support this operation.
    Unsupported(&'static str),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Request(_) => f.write_str("request not sent"),
            Error::Harmful { command, reason } => write!(f, "{command} not sent: {reason}"),
            Error::Refused { command, code, message } => {
                write!(f, "{command} refused: {code}")?;
                match message.as_deref().map(str::trim) {
                    Some(text) if !text.is_empty() => write!(f, ": {text}"),
                    _ => code.advice().map_or(Ok(()), |advice| write!(f, " ({advice})")),
                }?;
                match command.since() {
                    Some(major) if *code == HResult::UNKNOWN_COMMAND && major > 3 => {
                        write!(f, "; introduced in .NET {major}")
                    }
                    _ => Ok(()),
                }
            }
            Error::Reply { command, .. } => write!(f, "invalid reply to {command}"),
            Error::Deadline { step, after } => {
                write!(f, "deadline of {:.1} s passed while {step}", after.as_secs_f64())
            }
            Error::Gone { step } => write!(f, "the process closed the connection while {step}"),
            Error::Io { step, .. } => step.fmt(f),
            Error::WrongPeer { expected, found } => {
                write!(f, "the socket of process {expected} is held by process {found}")
            }
            Error::Transcript { line, reason } => write!(f, "transcript line {line}: {reason}"),
            Error::Unsupported(what) => write!(f, "not possible on this platform: {what}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Request(error) => Some(error),
            Error::Reply { fault, .. } => Some(fault),
            Error::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl From<RequestError> for Error {
    fn from(error: RequestError) -> Self {
        Error::Request(error)
    }
}

impl Error {
    /// Returns the code with which the runtime refused the command, if it did.
    pub fn code(&self) -> Option<HResult> {
        match self {
            Error::Refused { code, .. } => Some(*code),
            _ => None,
        }
    }

    /// Returns whether the runtime answered that it does not know the command.
    pub fn is_unknown_command(&self) -> bool {
        self.code() == Some(HResult::UNKNOWN_COMMAND)
    }

    /// Returns whether the error occurred because the process or the system had no descriptor left
    /// for a connection.
    pub(crate) fn is_out_of_descriptors(&self) -> bool {
        matches!(self, Error::Io { source, .. } if is_out_of_descriptors(source))
    }

    /// Makes an error from an I/O error: a deadline has passed, the connection has ended, or
    /// anything else.
    pub(crate) fn io(step: Step, source: io::Error, after: Duration) -> Self {
        match source.kind() {
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => Error::Deadline { step, after },
            io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::UnexpectedEof => Error::Gone { step },
            _ => Error::Io { step, source },
        }
    }
}

/// Returns whether an I/O error says that the process or the system has no more descriptors.
#[cfg(unix)]
pub(crate) fn is_out_of_descriptors(error: &io::Error) -> bool {
    use rustix::io::Errno;
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

/// Returns `false`, because handles do not run out in practice on Windows.
#[cfg(not(unix))]
pub(crate) fn is_out_of_descriptors(_error: &io::Error) -> bool {
    false
}
