//! The English of the analysis: the only module that makes sentences of facts, for the command,
//! for pages and for the texts in JSON documents. Nothing is decided here, and nothing reads a
//! sentence again.

mod collections;
#[cfg(feature = "page")]
pub(crate) mod comparison;
mod coverage;
pub(crate) mod findings;
pub(crate) mod frames;
mod heap;
#[cfg(feature = "page")]
pub(crate) mod page;
mod process_end;
mod seen;
mod sql;
pub(crate) mod summary;
