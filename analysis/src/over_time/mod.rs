//! Samples and spans of a trace, row by row and in bounded memory, for documents that select ranges
//! of time after the last event, such as a page and a comparison.

mod divided;
mod last_row;
mod nearly_sorted;
mod pass;
mod sample_rows;

pub(crate) use divided::divided;
#[cfg(feature = "page")]
pub(crate) use last_row::LastRow;
pub(crate) use pass::{Gathers, Shared, gathering_pass, take};
#[cfg(feature = "page")]
pub(crate) use sample_rows::{Forgotten, KeyedSample, SampleKey, SampleRows};
pub(crate) use sample_rows::{SampleRow, SamplesByKind};
