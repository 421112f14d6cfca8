//! What is notable about a trace: findings, computed from finished reports, and the summary
//! that lists them.
//!
//! A finding is a fact ([`Fact`](crate::fact::Fact)) and how much it matters. Every view that has
//! findings computes them from the same reports (`overview`), so that a trace has the same ones
//! in all of them.

mod askers;
mod collections;
mod compiled;
mod exceptions;
mod finding;
mod hangs;
pub(crate) mod overview;
mod own;
mod own_code;
mod own_events;
mod queries;
mod requests;
mod running;
mod summary;
mod threads;
mod waits;

pub use finding::{Finding, Severity};
pub use own_events::OwnEvents;
pub use summary::{Answer, LastSeen, Summary, SummaryReport};
