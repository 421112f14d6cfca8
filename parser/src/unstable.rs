//! What other published crates of this project use. **Do not depend on it**: it may change without a
//! line in the changelog or a deprecation. Releases that Cargo holds for compatible keep it, so that
//! the crates that are published go on building.
//!
//! It has filters for events before they are put in time order (`nettrace-analysis`), names of fields
//! (`nettrace-export`), numbers from bytes, and numbers and texts in payloads. If you need something from here,
//! open an issue, so that it can become stable.

pub use crate::bytes::{Number, first, numbers, take_first};
pub use crate::order::{Candidate, Delivered, FilteredEvents, PendingFilter, Watermark};
pub use crate::payload::{FieldPath, NumberPlace, TextPlace, distinct_names};
