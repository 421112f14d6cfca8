//! Measures how fast reading is: traces of any size, passes over them, and the gate.
//!
//! - [`make`]: traces, synthetic or a real one repeated.
//! - [`pass`]: one pass over a trace, which leaves a [`checksum`](checksum::Checksum); [`ndjson`] writes
//!   events; [`analyse`] converts them and makes reports.
//! - [`floor`]: two passes to compare with: one looks at every byte once, one decodes headers as nom's
//!   documentation would have it.
//! - [`memory`]: allocations and memory of the process.
//! - [`gate`]: limits on instructions, allocations and memory.
#![allow(clippy::restriction, clippy::pedantic)]

pub mod analyse;
pub mod checksum;
pub mod floor;
pub mod gate;
pub mod make;
pub mod memory;
pub mod ndjson;
pub mod pass;
pub mod random;
pub mod size;
