//! What other published crates of this project use. **Do not depend on it**: it may change without a
//! line in the changelog or a deprecation. Releases that Cargo holds for compatible keep it, so that
//! the crates that are published go on building.
//!
//! `nettrace-tables` fills tables as a set of reports whose inputs depend on what it was asked for.
//! If you need something from here, open an issue, so that it can become stable.

pub use crate::report::set::{ReportSet, Resolving};
