//! How fast reading is: traces of any size, passes over them, and the gate.
//!
//! - [`make`]: traces, synthetic or a real one repeated.
//! - [`pass`]: one pass over a trace, of which a [`checksum`](checksum::Checksum) stays; [`ndjson`] writes
//!   events; [`analyse`] converts them and makes reports.
//! - [`floor`]: what reading is compared with: every byte looked at once, and headers decoded as nom's
//!   documentation would have it.
//! - [`memory`]: what the process allocates and holds.
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
