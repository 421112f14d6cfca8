//! Writes a document and its numbers as one HTML file, which a browser opens from disk.
//!
//! The file has the code of the page (which `build.rs` joins from the folder `page` beside `src`)
//! and the data. Its content security policy forbids network requests.
//!
//! The data are four bytes with the length of a JSON document, lowest first; the document; and
//! columns of numbers, whose positions are the document's member `columns`. All of this is
//! compressed with gzip, and encoded in base64.

mod base64;
mod columns;

pub(crate) use columns::{ColumnPlace, Columns};

use crate::gzip;
use serde::Serialize;
use std::io::{self, Write};

/// The page without its data, with [`DATA_HERE`] in their place.
const SHELL: &str = include_str!(concat!(env!("OUT_DIR"), "/page.html"));
const DATA_HERE: &str = "@@DATA@@";

/// Writes the file with a document and its numbers.
pub(crate) fn write_html(
    document: &impl Serialize,
    numbers: &Columns,
    out: &mut dyn Write,
) -> io::Result<()> {
    let document = serde_json::to_vec(document)?;
    let length = u32::try_from(document.len()).map_err(io::Error::other)?;
    let mut packed = gzip::encoder(Vec::new());
    packed.write_all(&length.to_le_bytes())?;
    packed.write_all(&document)?;
    packed.write_all(numbers.bytes())?;
    let packed = packed.finish()?;
    let (before, after) = SHELL.split_once(DATA_HERE).unwrap_or((SHELL, ""));
    out.write_all(before.as_bytes())?;
    base64::write(&packed, out)?;
    out.write_all(after.as_bytes())
}
