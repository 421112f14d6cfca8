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
use base64::Base64;
use std::io::{self, Write};

/// The page without its data, with [`DATA_HERE`] in their place.
const SHELL: &str = include_str!(concat!(env!("OUT_DIR"), "/page.html"));
const DATA_HERE: &str = "@@DATA@@";
/// Level of compression. The usual one packs into 2.5 % less, and takes a quarter more instructions.
const LEVEL: u32 = 4;

/// Writes the file with a document and its numbers. The parts of the document's JSON are written one
/// after the other.
pub(crate) fn write_html(
    document: &[&[u8]],
    numbers: &Columns,
    out: &mut dyn Write,
) -> io::Result<()> {
    let length = document.iter().map(|part| part.len()).fold(0, usize::saturating_add);
    let length = u32::try_from(length).map_err(io::Error::other)?;
    let (before, after) = SHELL.split_once(DATA_HERE).unwrap_or((SHELL, ""));
    out.write_all(before.as_bytes())?;
    let mut packed = gzip::encoder(Base64::new(&mut *out), LEVEL);
    packed.write_all(&length.to_le_bytes())?;
    for part in document {
        packed.write_all(part)?;
    }
    for column in numbers.pieces() {
        packed.write_all(column)?;
    }
    packed.finish()?.finish()?;
    out.write_all(after.as_bytes())
}
