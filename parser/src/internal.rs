//! Items for the other crates of this project: filters for events before they are put in time
//! order (`nettrace-analysis`), names of fields (`nettrace-export`), numbers from bytes, and numbers in
//! payloads.
//!
//! **Do not depend on this module.** It may change without a changelog entry, although
//! releases that Cargo considers compatible keep it, so that a published `nettrace-analysis`
//! continues to build. If you need something from it, open an issue, so that it can become
//! public.

pub use crate::bytes::{Number, first, numbers, take_first};
pub use crate::order::{Candidate, FilteredEvents, PendingFilter, Watermark};
pub use crate::payload::{FieldPath, NumberPlace, distinct_names};
