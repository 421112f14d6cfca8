//! Comparison of two traces, or of two groups of traces.
//!
//! Runs of one program differ from each other, and nothing in a single trace says how much. With
//! two traces or more on each side, runs are compared with runs: a change is a *finding* if it is
//! larger than the differences between runs of one program. With one trace on a side, all
//! differences are shown, and those that are large by experience are findings. `docs/diff.md`
//! describes the statistical tests, their errors and the experiment behind them.
//!
//! ```
//! use nettrace_analysis::{AnalysisError, AnalysisOptions};
//! use nettrace_analysis::diff::{self, DiffReport, Per};
//! use nettrace_parser::Reader;
//! # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
//! let mut traces = Vec::new();
//! for trace in [&bytes, &bytes] {
//!     let mut pass = diff::pass(AnalysisOptions::default());
//!     let outcome = pass.read(&mut Reader::from_slice(trace).time_ordered())?;
//!     if !outcome.is_intact() {
//!         eprintln!("counts are too low: {outcome}");
//!     }
//!     traces.push(pass.finish().output);
//! }
//! let diff = DiffReport::new(&traces[..1], &traces[1..], Per::Second);
//! assert_eq!(diff.significant, 0);
//! # Ok::<(), AnalysisError>(())
//! ```

mod async_names;
mod calls;
#[cfg(feature = "page")]
mod calls_of_both;
mod candidates;
mod condition;
mod cut;
mod extent;
mod inlined;
mod judge;
mod lacking;
mod measured;
#[cfg(feature = "page")]
mod page;
mod pass;
mod per;
mod recorded;
mod report;
mod row;
mod row_name;
mod side;
mod stands_out;
mod startup;
mod statistic;
mod subject;
mod verdict;
mod work;

pub use crate::fact::comparison::{
    DiffChange, DiffKey, DiffNote, DiffRuns, DiffVerdict, Doubt, Measure, NotCompared,
    NotComparedReason, OldOrNew, Per, PerReason, Subject, Undecided, Unreliable,
};
pub use condition::{Condition, ConditionError, ConditionOutcome};
pub use measured::MeasuredTrace;
#[cfg(feature = "page")]
pub use page::DiffPage;
pub use pass::pass;
pub use report::{DiffOptions, DiffReport};
pub use row::DiffRow;
pub use side::DiffSide;
pub use stands_out::StandsOut;
