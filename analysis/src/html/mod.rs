//! A document and its numbers as one HTML file, which a browser opens from disk.
//!
//! The file is self-contained: it includes the code of the page (joined from the folder
//! `page` beside `src` by `build.rs`) and the data. It makes no network requests; its content
//! security policy forbids them.
//!
//! The data are compressed with gzip and then encoded in base64: four bytes with the
//! length of a JSON document, lowest first; the document; then columns of numbers, whose
//! positions are in the document's member `columns`.

mod base64;
mod columns;

pub(crate) use columns::{ColumnPlace, Columns};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;
use std::io::{self, Write};

/// The page without data, which replace [`DATA_HERE`].
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
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&length.to_le_bytes())?;
    packed.write_all(&document)?;
    packed.write_all(numbers.bytes())?;
    let packed = packed.finish()?;
    let (before, after) = SHELL.split_once(DATA_HERE).unwrap_or((SHELL, ""));
    out.write_all(before.as_bytes())?;
    base64::write(&packed, out)?;
    out.write_all(after.as_bytes())
}
