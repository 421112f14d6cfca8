//! Test data of the project.
//!
//! - [`synth`]: the crate `nettrace-writer`, under the name that our tests know it by.
//! - [`corpus`]: real traces, and the events that the reference reader saw in them.
//! - [`peers`]: real runtimes.
//! - [`fuzz_corpus`]: inputs that fuzzing found worth keeping.
//! - [`requests`]: the metrics that a web server publishes about its requests.
//! - [`layers`]: checks which module of a crate imports which.
//! - [`one_type`]: the beginning of a stream that a test goes on writing.
//! - [`small_elf`]: an ELF file with symbols.
//! - [`cases`] says how many random cases a test tries; [`eventually`] waits.
#![allow(clippy::restriction, clippy::pedantic)]

mod cases;
pub mod corpus;
mod elf;
mod eventually;
pub mod fuzz_corpus;
pub mod layers;
mod one_type;
#[cfg(unix)]
pub mod peers;
mod program_database;
mod public_types;
pub mod requests;
mod skipped;

pub use cases::cases;
pub use elf::small_elf;
pub use eventually::eventually;
pub use nettrace_writer as synth;
pub use one_type::one_type;
pub use program_database::program_database;
pub use public_types::{assert_all_listed, public_types};
use skipped::skipped;

/// Returns the CRC-32 (IEEE) of the bytes, as the lists of the reference reader have it
/// for payloads and stacks.
///
/// ```
/// assert_eq!(nettrace_testdata::crc32(b"123456789"), 0xcbf4_3926);
/// ```
pub fn crc32(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}
