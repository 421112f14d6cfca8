#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::restriction, clippy::pedantic))]

mod column;
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
pub use input_row::{InputRow, WrittenInput};
pub use options::TableOptions;
pub use pass::{Destination, TablePass, TableRows};
pub use spill::MakeSpill;

use std::io::{self, Write};

/// Writes a file of a table without rows: an engine that finds no other file of the table
/// still learns its columns.
///
/// # Errors
/// If writing fails.
pub fn write_empty(table: &Table, out: Box<dyn Write + Send>) -> io::Result<()> {
    sheet::Sheet::new(table.name, table.columns, input_row::no_spill())?.write_empty(out)
}
