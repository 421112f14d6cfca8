//! The reader: from a source of bytes to events, one step at a time.
//!
//! Reading is a state machine. Every step either completes or leaves everything
//! unchanged: it requests the bytes it needs from the source before it changes anything.
//! So if the source has no bytes yet ([`std::io::ErrorKind::WouldBlock`]), the caller can
//! simply repeat the call.
//!
//! A step mutates and returns nothing borrowed; `State::event` borrows and mutates
//! nothing. Because of this split, [`TimeOrdered`](crate::TimeOrdered) can queue events
//! and lend them later.
//!
//! | file | content |
//! |---|---|
//! | `state`, `apply`, `blobs`, `run` | what the reader knows, and how blocks and events change it |
//! | `phase`, `machine` | where the reader is in the stream, and its parts |
//! | `begin`, `framing`, `recovery`, `end` | what each phase does |
//! | `dispatch` | one step: hands each phase to the function for it |
//! | `events`, `visit` | how callers take events and blocks |

mod apply;
mod begin;
mod blobs;
mod dispatch;
mod end;
mod events;
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
pub use machine::Reader;
pub(crate) use phase::Step;
pub(crate) use run::{BlobForm, RunEnd, Take};
pub(crate) use scope::{Plan, PlannedBlock};
pub(crate) use visit::TryEach;
pub use visit::Visit;
