//! Errors, in three kinds: a request that must not be sent ([`RequestError`]), an invalid
//! reply ([`ReplyFault`]), and everything that can fail in between ([`Error`]).

use crate::command_id::CommandId;
use crate::hresult::HResult;
use std::fmt;
use std::io;
use std::time::Duration;

/// Reason why a request was not built. Most of these requests would crash or block a live runtime,
/// or leak its descriptors.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestError {
    /// The text may not be empty.
    Empty(&'static str),
    /// The text contains a NUL, which ends strings on the wire.
    Nul(&'static str),
    /// The text contains a character that cannot be sent to the target.
    Character {
        /// Kind of the text.
        what: &'static str,
        /// The character.
        character: char,
    },
    /// The whole message would not fit the 16-bit size of the header.
    TooLong {
        /// Bytes of header and payload.
        bytes: usize,
    },
    /// A session needs at least one provider.
    NoProviders,
    /// There are more than 1,000 providers, which would crash a runtime.
    TooManyProviders(usize),
    /// A provider is named twice, with arguments that contradict each other.
    ConflictingArguments {
        /// Name of the provider.
        provider: String,
        /// The argument that is given two values; empty if whole filter strings differ.
        key: String,
    },
    /// A provider is named twice, and its entries cannot be merged.
    DuplicateProvider(String),
    /// A user_events provider has neither a default tracepoint nor a set.
    NoTracepoint(String),
    /// A tracepoint set has no event ids.
    EmptyTracepointSet(String),
    /// An event id is in two tracepoint sets.
    DuplicateTracepointEvent {
        /// Name of the provider.
        provider: String,
        /// The event id that is named twice.
        event_id: u32,
    },
    /// The command cannot carry an option.
    Inexpressible {
        /// The command.
        command: CommandId,
        /// The option.
        what: &'static str,
    },
    /// The target could not load the startup hook; loading it would kill the target.
    StartupHook(String),
    /// A text is no valid port address.
    PortAddress {
        /// The text as given.
        text: String,
        /// What is wrong with it.
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
            RequestError::StartupHook(reason) => write!(f, "unusable startup hook: {reason}"),
            RequestError::PortAddress { text, reason } => {
                write!(f, "port address {text:?}: {reason}")
            }
        }
    }
}

impl std::error::Error for RequestError {}

/// Reason why a reply is invalid. Offsets are relative to the start of the reply's payload.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReplyFault {
    /// The first 14 bytes are not the protocol's.
    Magic([u8; 14]),
    /// The size in the header is below the header's own 20 bytes.
    Size(u16),
    /// A frame that is not a reply of a server.
    NotAReply {
        /// Command set in the header.
        set: u8,
        /// Command id in the header.
        id: u8,
    },
    /// A field does not fit into the rest of the payload.
    Truncated {
        /// Offset of the field.
        offset: usize,
        /// Name of the field.
        field: &'static str,
        /// Bytes that the field needs.
        needed: usize,
        /// Bytes that are left.
        left: usize,
    },
    /// A string without its closing NUL.
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
        /// Bytes that are still missing.
        missing: usize,
    },
    /// The reply to StopTracing names another session.
    SessionId {
        /// Id in the request.
        asked: u64,
        /// Id in the reply.
        answered: u64,
    },
    /// A success frame that carries a failure code.
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

/// The step at which a deadline passed or a connection failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Step {
    /// Connecting to the endpoint.
    Connect,
    /// Waiting for the runtime to connect to the port.
    Accept,
    /// Writing the request.
    Request,
    /// Waiting for the reply.
    Reply,
    /// Reading the bytes after the reply.
    Continuation,
    /// Stopping a session.
    Stop,
    /// Reading the rest of a stopped session.
    Drain,
    /// Passing a file descriptor.
    Descriptor,
    /// Opening the port.
    Listen,
    /// Starting a program.
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
    /// The request was not sent, because a runtime must not get it.
    Request(RequestError),
    /// The request was not sent, because it would harm this target.
    Harmful {
        /// The command.
        command: CommandId,
        /// The harm, in words.
        reason: String,
    },
    /// The runtime refused the command.
    Refused {
        /// The command.
        command: CommandId,
        /// Code of the refusal.
        code: HResult,
        /// The message beside the code; only GenerateCoreDump3 sends one.
        message: Option<String>,
    },
    /// The reply is invalid.
    Reply {
        /// The command.
        command: CommandId,
        /// What is wrong with it.
        fault: ReplyFault,
    },
    /// The other side did not respond in time, for example because the target is stopped
    /// by a debugger or SIGSTOP, or another tool occupies its diagnostics server.
    Deadline {
        /// Step that took too long.
        step: Step,
        /// The deadline that passed.
        after: Duration,
    },
    /// The connection ended before the reply: the process is gone, or closed the connection.
    Gone {
        /// What was under way.
        step: Step,
    },
    /// The operating system reported an error.
    Io {
        /// What was under way.
        step: Step,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The socket belongs to another process than the expected one; nothing was sent.
    WrongPeer {
        /// The expected process.
        expected: u32,
        /// The process that holds the socket.
        found: u32,
    },
    /// The transcript to replay is unreadable.
    Transcript {
        /// Number of the line, from 1.
        line: u64,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// This platform has no such endpoint.
    Unsupported(&'static str),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Request(error) => write!(f, "request not sent: {error}"),
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
            Error::Reply { command, fault } => write!(f, "invalid reply to {command}: {fault}"),
            Error::Deadline { step, after } => {
                write!(f, "deadline of {:.1} s passed while {step}", after.as_secs_f64())
            }
            Error::Gone { step } => write!(f, "the process closed the connection while {step}"),
            Error::Io { step, source } => write!(f, "{step}: {source}"),
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
    /// Returns the code of a refusal.
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

    /// Returns whether the process or the system had no descriptor left for a connection.
    pub(crate) fn is_out_of_descriptors(&self) -> bool {
        matches!(self, Error::Io { source, .. } if is_out_of_descriptors(source))
    }

    /// Makes an error from an I/O failure: a deadline, an ended connection, or another reason.
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

/// Returns whether the process or the system has no more descriptors.
#[cfg(unix)]
pub(crate) fn is_out_of_descriptors(error: &io::Error) -> bool {
    use rustix::io::Errno;
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

/// Returns `false`, because handles do not run out in practice on other systems.
#[cfg(not(unix))]
pub(crate) fn is_out_of_descriptors(_error: &io::Error) -> bool {
    false
}
