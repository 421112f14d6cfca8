//! Items that the other crates of this project need and no other code should use:
//! filtering events before they are queued for time order (`nettrace-analysis` reads
//! samples that way), names of fields (`nettrace-export` shows them), and reading numbers
//! from bytes.
//!
//! **Do not depend on this module.** It may change or disappear without a changelog
//! entry. Releases that Cargo considers compatible keep it, so that a published
//! `nettrace-analysis` continues to build; nothing else is guaranteed. If you need
//! something from it, open an issue, so that it can become public.

pub use crate::bytes::{Number, first, numbers, take_first};
pub use crate::order::{Candidate, FilteredEvents, PendingFilter, Watermark};
pub use crate::payload::{FieldPath, distinct_names};
