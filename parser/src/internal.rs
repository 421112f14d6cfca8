//! What the other crates of this project need of this one and nobody else should: the way to leave events out before they
//! wait for their turn, which `nettrace-analysis` reads samples by, and what fields are called, which `nettrace-export` shows.
//!
//! **Do not build on it.** It changes and goes without a word in the changelog. Versions that Cargo takes for compatible
//! keep it, so that a published `nettrace-analysis` goes on working; that is all. Who needs something of it: open an
//! issue, so that it becomes a part of the interface.

pub use crate::order::{Candidate, FilteredEvents, PendingFilter, Watermark};
pub use crate::parallel::regular::{Ended, read_regular};
pub use crate::payload::{FieldPath, distinct_names};
