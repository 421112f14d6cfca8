//! What changed between two traces, or between two groups of traces.
//!
//! Each trace is cut into time slices of equal length. Everything that is compared
//! (methods, types, pauses, …) has a value in each slice, and the variation between
//! slices shows how much is noise: a change is *beyond noise* if series with the same
//! variation would differ this much in less than one of a hundred comparisons (of all
//! rows of the subject together), and if it is at least 5 % of the value and 0.5 % of the
//! subject. Counters and pauses are compared by individual values instead of slices.
//!
//! ```
//! use nettrace_analysis::{AnalysisError, AnalysisOptions};
//! use nettrace_analysis::diff::{self, DiffReport, Per};
//! use nettrace_parser::Reader;
//! # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
//! let mut facts = Vec::new();
//! for trace in [&bytes, &bytes] {
//!     let mut pass = diff::pass(AnalysisOptions::default());
//!     let outcome = pass.read(&mut Reader::from_slice(trace).time_ordered())?;
//!     if !outcome.is_intact() {
//!         eprintln!("counts are too low: {outcome}");
//!     }
//!     facts.push(pass.finish().output);
//! }
//! let diff = DiffReport::new(&facts[..1], &facts[1..], Per::Second);
//! assert_eq!(diff.significant, 0);
//! # Ok::<(), AnalysisError>(())
//! ```

mod calls;
mod condition;
mod facts;
mod page;
mod report;
mod startup;
mod statistic;
mod work;

pub use condition::{Condition, ConditionError, ConditionOutcome};
pub use facts::{Subject, TraceFacts, pass};
pub use page::DiffPage;
pub use report::{DiffReport, DiffRow, DiffSide, Per};
