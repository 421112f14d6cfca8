//! Test data of the project.
//!
//! - [`synth`]: a writer of streams that shares no code with the parser.
//! - [`corpus`]: real traces, and what the reference reader saw in them.
//! - [`peers`]: real runtimes.

pub mod corpus;
#[cfg(unix)]
pub mod peers;
pub mod synth;

/// CRC-32 (IEEE), as the goldens give it of payloads and stacks.
///
/// ```
/// assert_eq!(nettrace_testdata::crc32(b"123456789"), 0xcbf4_3926);
/// ```
pub fn crc32(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}
