//! The commands, one file a command set: each a request that is well-formed by its type, and the
//! reply it gets.
//!
//! | set | commands |
//! |---|---|
//! | 0x01 Dump | GenerateCoreDump 1 to 3 |
//! | 0x02 EventPipe | StopTracing, CollectTracing 1 to 6 |
//! | 0x03 Profiler | AttachProfiler, StartupProfiler |
//! | 0x04 Process | ProcessInfo 1 to 3, ResumeRuntime, environment, perf map, startup hook |
//! | 0xFF Server | replies: id 0x00 success, 0xFF failure |

use std::fmt;

use crate::error::{ReplyFault, RequestError};
use crate::hresult::HResult;
use crate::message::{Message, Reader, Writer};

pub(crate) mod collect;
pub(crate) mod dump;
pub(crate) mod process;
pub(crate) mod process_info;
pub(crate) mod profiler;
pub(crate) mod raw;
pub(crate) mod user_events;

/// Command set and id, as they stand at offsets 16 and 17 of a message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CommandId {
    /// the command set
    pub set: u8,
    /// the command within its set
    pub id: u8,
}

/// set, id, name, major version of the runtime that brought it
const KNOWN: &[(CommandId, &str, u32)] = &[
    (CommandId::GENERATE_CORE_DUMP, "GenerateCoreDump", 3),
    (CommandId::GENERATE_CORE_DUMP_2, "GenerateCoreDump2", 6),
    (CommandId::GENERATE_CORE_DUMP_3, "GenerateCoreDump3", 7),
    (CommandId::STOP_TRACING, "StopTracing", 3),
    (CommandId::COLLECT_TRACING, "CollectTracing", 3),
    (CommandId::COLLECT_TRACING_2, "CollectTracing2", 3),
    (CommandId::COLLECT_TRACING_3, "CollectTracing3", 9),
    (CommandId::COLLECT_TRACING_4, "CollectTracing4", 9),
    (CommandId::COLLECT_TRACING_5, "CollectTracing5", 10),
    (CommandId::COLLECT_TRACING_6, "CollectTracing6", 11),
    (CommandId::ATTACH_PROFILER, "AttachProfiler", 3),
    (CommandId::STARTUP_PROFILER, "StartupProfiler", 6),
    (CommandId::PROCESS_INFO, "ProcessInfo", 5),
    (CommandId::RESUME_RUNTIME, "ResumeRuntime", 5),
    (CommandId::PROCESS_ENVIRONMENT, "ProcessEnvironment", 6),
    (CommandId::SET_ENVIRONMENT_VARIABLE, "SetEnvironmentVariable", 6),
    (CommandId::PROCESS_INFO_2, "ProcessInfo2", 6),
    (CommandId::ENABLE_PERF_MAP, "EnablePerfMap", 8),
    (CommandId::DISABLE_PERF_MAP, "DisablePerfMap", 8),
    (CommandId::APPLY_STARTUP_HOOK, "ApplyStartupHook", 8),
    (CommandId::PROCESS_INFO_3, "ProcessInfo3", 8),
];

impl CommandId {
    pub(crate) const SERVER_SET: u8 = 0xFF;
    /// GenerateCoreDump, 01 01.
    pub const GENERATE_CORE_DUMP: CommandId = CommandId { set: 1, id: 1 };
    /// GenerateCoreDump2, 01 02.
    pub const GENERATE_CORE_DUMP_2: CommandId = CommandId { set: 1, id: 2 };
    /// GenerateCoreDump3, 01 03.
    pub const GENERATE_CORE_DUMP_3: CommandId = CommandId { set: 1, id: 3 };
    /// StopTracing, 02 01.
    pub const STOP_TRACING: CommandId = CommandId { set: 2, id: 1 };
    /// CollectTracing, 02 02.
    pub const COLLECT_TRACING: CommandId = CommandId { set: 2, id: 2 };
    /// CollectTracing2, 02 03.
    pub const COLLECT_TRACING_2: CommandId = CommandId { set: 2, id: 3 };
    /// CollectTracing3, 02 04.
    pub const COLLECT_TRACING_3: CommandId = CommandId { set: 2, id: 4 };
    /// CollectTracing4, 02 05.
    pub const COLLECT_TRACING_4: CommandId = CommandId { set: 2, id: 5 };
    /// CollectTracing5, 02 06.
    pub const COLLECT_TRACING_5: CommandId = CommandId { set: 2, id: 6 };
    /// CollectTracing6, 02 07.
    pub const COLLECT_TRACING_6: CommandId = CommandId { set: 2, id: 7 };
    /// AttachProfiler, 03 01.
    pub const ATTACH_PROFILER: CommandId = CommandId { set: 3, id: 1 };
    /// StartupProfiler, 03 02.
    pub const STARTUP_PROFILER: CommandId = CommandId { set: 3, id: 2 };
    /// ProcessInfo, 04 00.
    pub const PROCESS_INFO: CommandId = CommandId { set: 4, id: 0 };
    /// ResumeRuntime, 04 01.
    pub const RESUME_RUNTIME: CommandId = CommandId { set: 4, id: 1 };
    /// ProcessEnvironment, 04 02.
    pub const PROCESS_ENVIRONMENT: CommandId = CommandId { set: 4, id: 2 };
    /// SetEnvironmentVariable, 04 03.
    pub const SET_ENVIRONMENT_VARIABLE: CommandId = CommandId { set: 4, id: 3 };
    /// ProcessInfo2, 04 04.
    pub const PROCESS_INFO_2: CommandId = CommandId { set: 4, id: 4 };
    /// EnablePerfMap, 04 05.
    pub const ENABLE_PERF_MAP: CommandId = CommandId { set: 4, id: 5 };
    /// DisablePerfMap, 04 06.
    pub const DISABLE_PERF_MAP: CommandId = CommandId { set: 4, id: 6 };
    /// ApplyStartupHook, 04 07.
    pub const APPLY_STARTUP_HOOK: CommandId = CommandId { set: 4, id: 7 };
    /// ProcessInfo3, 04 08.
    pub const PROCESS_INFO_3: CommandId = CommandId { set: 4, id: 8 };

    /// The name of the protocol document, where the command is known.
    pub fn name(self) -> Option<&'static str> {
        KNOWN.iter().find(|(id, ..)| *id == self).map(|(_, name, _)| *name)
    }

    /// Major version of the first runtime that has the command. Prereleases of it may lack it.
    pub fn since(self) -> Option<u32> {
        KNOWN.iter().find(|(id, ..)| *id == self).map(|(.., since)| *since)
    }

    /// Every command with a name.
    pub fn known() -> impl Iterator<Item = CommandId> {
        KNOWN.iter().map(|(id, ..)| *id)
    }
}

impl fmt::Display for CommandId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "command {:02x} {:02x}", self.set, self.id),
        }
    }
}

impl fmt::Debug for CommandId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02x}{:02x} {}", self.set, self.id, self.name().unwrap_or("unknown"))
    }
}

/// How long a command may take: which of the [`crate::Deadlines`] applies to its reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    Reply,
    Dump,
    StartupHook,
    Profiler,
    Stop,
}

pub(crate) mod sealed {
    use super::{Patience, ReplyFault};

    /// The part of a command that only the crate needs.
    pub trait Sealed {
        /// What a success carries.
        type Success;

        #[doc(hidden)]
        #[expect(private_interfaces, reason = "the trait cannot be named outside")]
        fn patience(&self) -> Patience {
            Patience::Reply
        }

        #[doc(hidden)]
        fn read_success(&self, payload: &[u8]) -> Result<Self::Success, ReplyFault>;
    }
}

/// A typed request. Values of these types cannot hold a request that harms a runtime.
///
/// ```
/// use nettrace_ipc::{Command, ResumeRuntime};
/// let message = ResumeRuntime.message()?;
/// assert_eq!(message.as_bytes(), b"DOTNET_IPC_V1\0\x14\x00\x04\x01\x00\x00");
/// # Ok::<(), nettrace_ipc::RequestError>(())
/// ```
pub trait Command: sealed::Sealed {
    /// The command set and id.
    fn id(&self) -> CommandId;

    /// The whole request as it goes over the wire.
    ///
    /// # Errors
    /// [`RequestError::TooLong`] if it exceeds 65,535 bytes.
    fn message(&self) -> Result<Message, RequestError>;
}

/// A message without payload. The commands that use it must never have one: runtimes answer a
/// superfluous payload with uninitialised memory.
pub(crate) fn bare(id: CommandId) -> Result<Message, RequestError> {
    Writer::new(id).finish()
}

/// The common reply: an i32 that is 0, or nothing at all (seen in the document, accepted here).
pub(crate) fn read_hresult(payload: &[u8]) -> Result<(), ReplyFault> {
    if payload.is_empty() {
        return Ok(());
    }
    match HResult(Reader::new(payload).u32("hresult")?) {
        code if code.is_ok() => Ok(()),
        code => Err(ReplyFault::FailureInSuccess(code)),
    }
}

/// The code and the message of a failure reply. Longer payloads are accepted: the protocol document
/// speaks of eight bytes, GenerateCoreDump3 adds a string.
pub(crate) fn read_failure(payload: &[u8]) -> Result<(HResult, Option<String>), ReplyFault> {
    let mut reader = Reader::new(payload);
    let code = HResult(reader.u32("hresult")?);
    let message = if reader.rest().is_empty() { None } else { reader.nullable("message").ok().flatten() };
    Ok((code, message))
}

/// A string that the runtime needs: not empty, no NUL inside.
pub(crate) fn required(text: &str, what: &'static str) -> Result<String, RequestError> {
    if text.is_empty() {
        return Err(RequestError::Empty(what));
    }
    without_nul(text, what)
}

/// A string without NUL inside.
pub(crate) fn without_nul(text: &str, what: &'static str) -> Result<String, RequestError> {
    if text.contains('\0') { Err(RequestError::Nul(what)) } else { Ok(text.to_owned()) }
}

#[cfg(test)]
pub(crate) mod golden {
    //! Bytes of the transcripts of live runtimes.

    pub(crate) fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    pub(crate) fn unhex(text: &str) -> Vec<u8> {
        let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
        let (pairs, rest) = digits.as_chunks::<2>();
        assert!(rest.is_empty());
        pairs.iter().map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
    }

    /// The payload of a reply in full.
    pub(crate) fn payload(text: &str) -> Vec<u8> {
        unhex(text).split_off(20)
    }
}

#[cfg(test)]
mod tests {
    use super::golden::{payload, unhex};
    use super::*;

    #[test]
    fn a_failure_carries_its_code() {
        let bytes = payload("444f544e45545f4950435f5631001800ffff0000cb000780");
        assert_eq!(read_failure(&bytes), Ok((HResult::VARIABLE_NOT_FOUND, None)));
    }

    #[test]
    fn a_failure_of_eight_bytes_is_accepted() {
        assert_eq!(read_failure(&unhex("8413138000000000")).map(|(code, _)| code), Ok(HResult::BAD_ENCODING));
    }

    #[test]
    fn an_empty_failure_is_a_fault() {
        assert!(matches!(read_failure(&[]), Err(ReplyFault::Truncated { field: "hresult", .. })));
    }

    #[test]
    fn a_success_that_carries_a_failure_is_a_fault() {
        assert_eq!(
            read_hresult(&unhex("84131380")),
            Err(ReplyFault::FailureInSuccess(HResult::BAD_ENCODING))
        );
        assert_eq!(read_hresult(&unhex("00000000")), Ok(()));
        assert_eq!(read_hresult(&[]), Ok(()));
    }
}
