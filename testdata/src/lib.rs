//! Test data of the project.
//!
//! - [`synth`]: the crate `nettrace-writer`, under the name that tests use.
//! - [`corpus`]: real traces, and the events that the reference reader found in them.
//! - [`peers`]: real runtimes.
//! - [`fuzz_corpus`]: the corpus of the fuzz targets.
//! - [`requests`]: the metrics that a web server publishes about its requests.
//! - [`layers`]: checks which module of a crate imports which.
//! - [`one_type`]: a stream that defines one event type, to which a test adds events.
//! - [`Readings`]: times of a process and its threads beside a trace.
//! - [`portable_pdb`]: a portable PDB of made methods.
//! - [`small_elf`]: an ELF file with symbols.
//! - [`cases`]: number of random cases of a test; [`eventually`]: waiting for a condition.
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
mod portable_pdb;
mod program_database;
mod public_types;
mod readings;
pub mod requests;
mod skipped;

pub use cases::cases;
pub use elf::small_elf;
pub use eventually::eventually;
pub use nettrace_writer as synth;
pub use one_type::one_type;
pub use portable_pdb::portable_pdb;
pub use program_database::program_database;
pub use public_types::{assert_all_listed, public_types};
pub use readings::Readings;
use skipped::skipped;

/// Returns the default with some fields changed, for structs that tests of other crates cannot write
/// as literals.
///
/// ```
/// let lines = nettrace_testdata::changed(|lines: &mut Vec<u32>| lines.push(7));
/// assert_eq!(lines, [7]);
/// ```
pub fn changed<T: Default>(change: impl FnOnce(&mut T)) -> T {
    let mut value = T::default();
    change(&mut value);
    value
}

/// Returns the CRC-32 (IEEE) of the bytes, which the goldens have for payloads and stacks.
///
/// ```
/// assert_eq!(nettrace_testdata::crc32(b"123456789"), 0xcbf4_3926);
/// ```
pub fn crc32(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}
