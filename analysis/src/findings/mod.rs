//! Findings: what is notable about a trace, computed from finished reports. The summary lists them.
//!
//! A finding is a [`Fact`](crate::fact::Fact) with a weight. The summary and the page compute
//! findings from the same reports (`overview`), so a trace has the same findings in both.

mod askers;
mod collections;
mod compiled;
mod exceptions;
mod faulty;
mod finding;
mod hangs;
mod locks;
mod missing_ids;
mod no_processor;
pub(crate) mod overview;
mod own;
mod own_code;
mod own_events;
mod pool;
mod producers;
mod queries;
mod requests;
mod running;
mod summary;
mod sync_over_async;
mod threads;
mod waiting;
mod waits;

pub use faulty::{SourceFault, silent_sources_text};
pub use finding::{Finding, Severity};
pub use own_events::OwnEvents;
pub use summary::{Answer, LastSeen, Summary, SummaryReport};
