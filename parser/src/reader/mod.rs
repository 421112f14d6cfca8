//! Reads events from a source of bytes, one step at a time.
//!
//! Reading is a state machine. A step requests the bytes that it needs from the source before it
//! changes anything. So if the source has no bytes yet
//! ([`std::io::ErrorKind::WouldBlock`]), the caller can simply repeat the call.
//!
//! A step changes the reader, but returns nothing borrowed. `State::event` borrows from the
//! reader, but changes nothing. Thanks to this split, [`TimeOrdered`](crate::TimeOrdered) can
//! queue events and return them later.
//!
//! | file | content |
//! |---|---|
//! | `found`, `scope` | blocks that were read, for an index, and blocks that are to be read |
//! | `state`, `apply`, `blobs`, `run` | tables, damage and losses, and their change by blocks and events |
//! | `phase`, `machine` | phase of reading, and the reader itself |
//! | `begin`, `framing`, `recovery`, `end` | functions of the phases |
//! | `dispatch` | one step, which calls the function of the phase |
//! | `events`, `visit` | functions that return events and blocks to callers |

mod apply;
mod begin;
mod blobs;
mod dispatch;
mod end;
mod events;
mod found;
mod framing;
mod machine;
mod phase;
mod recovery;
mod run;
mod scope;
mod state;
mod visit;

/// Counts the steps that hostile streams cause.
#[cfg(test)]
#[path = "../../tests/steps/search.rs"]
mod steps;

pub use events::Item;
pub(crate) use found::{FoundBlock, Need};
pub use machine::Reader;
pub(crate) use phase::Step;
pub(crate) use run::{BlobForm, RunEnd, Take};
pub(crate) use scope::{Plan, PlannedBlock};
pub(crate) use visit::TryEach;
pub use visit::Visit;
