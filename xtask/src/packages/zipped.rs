//! A writer of zip files: packages of .NET and of Python, and archives for Windows.
//!
//! Entries are deflated, and have the modes of Unix. All have one time, so that the same files give
//! the same bytes.

use super::Packed;
use crate::invalid;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use std::io::{self, Write};

/// Version 2.0 of the format: deflated entries.
const VERSION: u16 = 20;
/// Entries were made on Unix, so their attributes have a mode.
const UNIX: u16 = 3 << 8;
const DEFLATED: u16 = 8;
/// The first day that the format knows, 1 January 1980, after the time of day.
const TIME: [u16; 2] = [0, 1 << 5 | 1];
const REGULAR_FILE: u32 = 0o100_000;

/// Returns a zip file of files.
pub(super) fn zipped(files: &[Packed]) -> io::Result<Vec<u8>> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for file in files {
        let mut packed = DeflateEncoder::new(Vec::new(), Compression::best());
        packed.write_all(&file.bytes)?;
        let packed = packed.finish()?;
        let name = file.path.as_bytes();
        // What both descriptions of an entry have: the needed version to the name's length, and no
        // extra fields.
        let mut common = Vec::new();
        for number in [VERSION, 0, DEFLATED, TIME[0], TIME[1]] {
            common.extend(number.to_le_bytes());
        }
        for number in [crc32fast::hash(&file.bytes), small(packed.len())?, small(file.bytes.len())?]
        {
            common.extend(number.to_le_bytes());
        }
        common.extend(u16::try_from(name.len()).map_err(invalid)?.to_le_bytes());
        common.extend(0_u16.to_le_bytes());

        directory.extend(b"PK\x01\x02");
        directory.extend((UNIX | VERSION).to_le_bytes());
        directory.extend(&common);
        // No comment, the first disk, no inner attributes.
        directory.extend([0; 6]);
        directory.extend(((REGULAR_FILE | file.mode) << 16).to_le_bytes());
        directory.extend(small(out.len())?.to_le_bytes());
        directory.extend(name);

        out.extend(b"PK\x03\x04");
        out.extend(&common);
        out.extend(name);
        out.extend(&packed);
    }
    let start = small(out.len())?;
    out.extend(&directory);
    out.extend(b"PK\x05\x06");
    out.extend([0; 4]);
    let count = u16::try_from(files.len()).map_err(invalid)?;
    out.extend([count.to_le_bytes(), count.to_le_bytes()].concat());
    out.extend([small(directory.len())?.to_le_bytes(), start.to_le_bytes()].concat());
    out.extend([0; 2]);
    Ok(out)
}

fn small(length: usize) -> io::Result<u32> {
    u32::try_from(length).map_err(invalid)
}
