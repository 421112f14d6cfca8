//! Columns of a row group as Parquet stores them.
//!
//! The writer of the `parquet` crate goes through several layers for each value, which is
//! most of what a table with few texts costs. Here values wait in plain lists until a page
//! is full, and each list is encoded in one loop. Headers of pages, indexes and metadata
//! are the crate's.

mod chunk;
mod column;
mod delta;
mod distinct;
mod levels;
mod range;
mod runs;
#[cfg(test)]
mod tests;

pub(crate) use chunk::{ClosedChunk, Packer, physical};
pub(crate) use column::Column as Encoder;

/// Rows of a page: what is gathered of a table with few texts stays in the cache of the
/// processor.
pub(crate) const PAGE_ROWS: usize = 8192;
/// Bytes of a page of long texts before compression, from which on it ends. Snappy
/// compresses pieces of 64 KiB, so a page a little below that is one piece, where one of
/// 96 KiB was two.
pub(crate) const PAGE_BYTES: usize = 62 << 10;
