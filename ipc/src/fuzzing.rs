//! Parses any bytes as input from outside. The fuzzer calls this, and a test that repeats the
//! fuzzer's inputs.

use crate::advertise::Advertise;
use crate::command::collect::read_session_id;
use crate::command::process::read_environment;
use crate::command::process_info::ProcessInfoCommand;
use crate::command::sealed::Sealed;
use crate::command::{read_failure, read_hresult};
use crate::message::{HEADER_BYTES, ReplyHeader};
use crate::replay::Transcript;
use std::io::{BufRead, BufReader};

/// Parses bytes as each kind of message from a runtime, and as a transcript.
pub fn bytes_from_outside(bytes: &[u8]) {
    let _ = Advertise::read(bytes);
    if let Some(header) = bytes.first_chunk::<HEADER_BYTES>() {
        let _ = ReplyHeader::read(*header);
    }
    let payload = bytes.get(HEADER_BYTES..).unwrap_or(bytes);
    for payload in [payload, bytes] {
        let _ = read_hresult(payload);
        let _ = read_failure(payload);
        let _ = read_session_id(payload);
        if let Ok(variables) = read_environment(payload) {
            // Each variable takes at least the bytes of its length.
            assert!(variables.len() <= payload.len());
        }
        for command in [ProcessInfoCommand::V1, ProcessInfoCommand::V2, ProcessInfoCommand::V3] {
            let _ = command.read_success(payload);
        }
    }
    let outcome = |source: &mut dyn BufRead| match Transcript::read(source) {
        Ok(transcript) => Ok(transcript.connection_count()),
        Err(error) => Err(error.to_string()),
    };
    let (whole, in_pieces) =
        (outcome(&mut &*bytes), outcome(&mut BufReader::with_capacity(3, bytes)));
    assert_eq!(whole, in_pieces, "a transcript reads the same in whatever pieces it comes");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fuzzers_corpus_is_replayed() {
        for (_, bytes) in nettrace_testdata::fuzz_corpus::inputs("ipc").unwrap() {
            bytes_from_outside(&bytes);
        }
    }
}
