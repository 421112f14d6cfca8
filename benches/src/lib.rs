//! What the benches, the gate and the tools share.
//!
//! - [`make`]: traces of any size, synthetic ones and real ones repeated.
//! - [`pass`]: one pass over a trace, folded into a checksum, as a consumer would make
//!   it.
//! - [`floor`]: the least that a reader could do, and the idiom the parser is compared
//!   with.
//! - [`convert`]: other tools' formats, thrown away.
//! - [`reports`]: reports, alone and several in one pass.
//! - [`ndjson`]: the command's output, thrown away.
//! - [`memory`]: what the process allocates and holds.
//! - [`gate`]: what must not get worse.
//! - [`peers`]: the reader we are compared with; [`against`]: the comparison.
//! - [`sitting`]: all goals in one table.
#![allow(clippy::restriction, clippy::pedantic)]

pub mod against;
pub mod cases;
pub mod checksum;
pub mod convert;
pub mod floor;
pub mod gate;
pub mod make;
pub mod memory;
pub mod ndjson;
pub mod pass;
pub mod peers;
pub mod random;
pub mod reports;
pub mod sitting;
pub mod size;
