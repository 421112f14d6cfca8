//! The commands, one file per command set. Each has a request that is well-formed by its type, and
//! a reply.
//!
//! | set | commands |
//! |---|---|
//! | 0x01 Dump | GenerateCoreDump 1 to 3 |
//! | 0x02 EventPipe | StopTracing, CollectTracing 1 to 6 |
//! | 0x03 Profiler | AttachProfiler, StartupProfiler |
//! | 0x04 Process | ProcessInfo 1 to 3, ResumeRuntime, environment, perf map, startup hook |
//! | 0xFF Server | replies: id 0x00 success, 0xFF failure |

/// Implements the traits of commands for a type. Its successful reply has no content, and the
/// deadline of the reply is that of `Patience::$patience`.
macro_rules! answered_by_hresult {
    ($command:ty, $patience:ident) => {
        impl Sealed for $command {
            type Success = ();

            #[allow(private_interfaces, reason = "the trait cannot be named outside")]
            fn patience(&self) -> Patience {
                Patience::$patience
            }

            fn read_success(&self, payload: &[u8]) -> Result<(), ReplyFault> {
                $crate::command::read_hresult(payload)
            }
        }
    };
}

pub(crate) mod collect;
pub(crate) mod dump;
pub(crate) mod process;
pub(crate) mod process_info;
pub(crate) mod profiler;
pub(crate) mod raw;
pub(crate) mod user_events;

use crate::command_id::{CommandId, Patience};
use crate::error::{ReplyFault, RequestError};
use crate::hresult::HResult;
use crate::message::{Message, Reader, Writer};

pub(crate) mod sealed {
    use super::{Patience, ReplyFault};

    /// The part of a command that only this crate uses. Types of other crates cannot implement it.
    pub trait Sealed {
        /// What a successful reply contains.
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
    /// Returns the command set and the command id that the message contains.
    fn id(&self) -> CommandId;

    /// Returns the whole request in the form in which it is sent. By default it has no payload,
    /// because runtimes answer a superfluous payload with uninitialised memory.
    ///
    /// # Errors
    /// [`RequestError::TooLong`] if it exceeds 65,535 bytes.
    fn message(&self) -> Result<Message, RequestError> {
        Writer::new(self.id()).finish()
    }
}

/// Reads a successful reply as most commands have it: an i32 that is 0. A reply without payload is
/// accepted, too, because the protocol's document allows it.
pub(crate) fn read_hresult(payload: &[u8]) -> Result<(), ReplyFault> {
    if payload.is_empty() {
        return Ok(());
    }
    match HResult(Reader::new(payload).u32("hresult")?) {
        code if code.is_ok() => Ok(()),
        code => Err(ReplyFault::FailureInSuccess(code)),
    }
}

/// Reads the code and the message of a failure reply. Longer payloads are accepted, because the
/// protocol document describes eight bytes, and GenerateCoreDump3 adds a string.
pub(crate) fn read_failure(payload: &[u8]) -> Result<(HResult, Option<String>), ReplyFault> {
    let mut reader = Reader::new(payload);
    let code = HResult(reader.u32("hresult")?);
    let message =
        if reader.rest().is_empty() { None } else { reader.nullable("message").ok().flatten() };
    Ok((code, message))
}

#[cfg(test)]
pub(crate) mod golden {
    //! Messages from transcripts of live runtimes, for tests.

    pub(crate) fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    pub(crate) fn unhex(text: &str) -> Vec<u8> {
        let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
        let (pairs, rest) = digits.as_chunks::<2>();
        assert!(rest.is_empty());
        pairs
            .iter()
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
            .collect()
    }

    /// Returns the payload of a reply in hexadecimal.
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
        assert_eq!(
            read_failure(&unhex("8413138000000000")).map(|(code, _)| code),
            Ok(HResult::BAD_ENCODING)
        );
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
