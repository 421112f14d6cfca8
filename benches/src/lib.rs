//! Measurements of reading: traces of any size, passes over them, and the gate.
//!
//! - [`make`]: synthetic traces, and real traces that are repeated.
//! - [`pass`]: one pass over a trace, which leaves a [`checksum`](checksum::Checksum); [`ndjson`] writes
//!   events; [`analyse`] converts them and makes reports.
//! - [`floor`]: passes with which reading is compared.
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
