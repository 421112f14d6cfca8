//! One pass over a trace: the model learns, samples are collected, converters write, and an
//! observer (the reports) gets the events that it wants.

mod analysis;
mod error;
mod event_filter;
mod observer;
mod options;
mod outputs;
mod range;
mod reading;
mod sample_source;

pub use analysis::{Analysis, Finished};
pub use error::AnalysisError;
pub(crate) use observer::Observer;
pub use options::AnalysisOptions;
pub use range::read_index;
