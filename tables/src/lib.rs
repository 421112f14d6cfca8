#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::restriction, clippy::pedantic))]

mod batch;
mod bytes;
mod column;
mod deferred;
mod encode;
mod hash;
mod input_row;
mod options;
mod pass;
mod rows;
pub mod schema;
mod sheet;
mod spill;
mod wide;

pub use column::{Column, ColumnKind, Table};
pub use hash::ContentHash;
pub use input_row::{InputRow, WrittenInput, is_whole};
pub use options::TableOptions;
pub use pass::{Destination, TablePass, TableRows};
pub use spill::MakeSpill;

use std::io::{self, Write};

/// Writes a file without rows. If a table has no other file, engines learn its columns from this
/// one.
///
/// # Errors
/// If writing fails.
pub fn write_empty(table: &Table, out: Box<dyn Write + Send>) -> io::Result<()> {
    sheet::Sheet::new(table.name, table.columns, input_row::no_spill())?.write_empty(out)
}
