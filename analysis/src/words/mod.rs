//! Sentences about facts, in English, for the command, for pages and for the texts in JSON
//! documents. No other module makes sentences of facts; this one decides nothing, and no code reads
//! a sentence.

mod collections;
pub(crate) mod comparison;
#[cfg(feature = "serde")]
pub(crate) mod comparison_members;
mod coverage;
pub(crate) mod findings;
pub(crate) mod frames;
mod heap;
mod lines;
mod locks;
#[cfg(feature = "page")]
pub(crate) mod page;
mod process_end;
mod seen;
mod sql;
pub(crate) mod summary;
mod waiting;
