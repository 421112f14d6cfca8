//! One pass over a trace.

mod analysis;
mod error;
mod event_filter;
mod options;
mod outputs;
mod reading;

pub use analysis::{Analysis, Finished};
pub use error::AnalysisError;
pub use options::AnalysisOptions;
