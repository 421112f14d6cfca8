//! Reads the header of event and metadata blocks, versions 4 to 6 (FORMAT.md 6.1).

use crate::bytes::{Parsed, i64, u16};
use crate::error::{Fault, FaultAt};
use nom::Parser;

/// Header of a block of blobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventBlockHeader {
    /// Length of the header in bytes; the first blob follows.
    pub size: u16,
    /// Whether blob headers are compressed.
    pub is_compressed: bool,
    /// Smallest timestamp in the block, in ticks; 0 from some writers.
    pub min_ticks: i64,
    /// Largest timestamp in the block, in ticks; 0 from some writers.
    pub max_ticks: i64,
}

const MIN_SIZE: u16 = 20;
const FLAG_COMPRESSED: u16 = 1;

/// Reads the header of event blocks of versions 4 to 6, and of metadata blocks of
/// versions 4 and 5 ([FORMAT.md 6.1](crate::format_guide#6.1)). The remaining input
/// begins with the first [`blob`](crate::raw::blob).
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 2 | u16 size of this header, with this field, at least 20; further bytes are skipped |
/// | 2 | 2 | u16 flags; bit 0: compressed blobs |
/// | 4 | 8 | i64 smallest timestamp in ticks, 0 from some writers |
/// | 12 | 8 | i64 largest timestamp in ticks, 0 from some writers |
///
/// # Errors
/// [`Fault::HeaderSize`] if the size is below 20, or larger than the input;
/// [`Fault::Truncated`].
pub fn header(input: &[u8]) -> Parsed<'_, EventBlockHeader> {
    let (_, (size, flags, min_ticks, max_ticks)) = (u16, u16, i64, i64).parse(input)?;
    if size < MIN_SIZE {
        return FaultAt::error(input, Fault::HeaderSize(size));
    }
    let header = EventBlockHeader {
        size,
        is_compressed: flags & FLAG_COMPRESSED != 0,
        min_ticks,
        max_ticks,
    };
    match input.get(usize::from(size)..) {
        Some(rest) => Ok((rest, header)),
        None => FaultAt::error(input, Fault::HeaderSize(size)),
    }
}

/// Returns whether the content of an event block, `len` bytes long, can begin with these
/// bytes. No writer stores a longer header, or flags other than the first.
pub(crate) fn begins(len: usize, content: &[u8]) -> bool {
    let Ok((_, (size, flags, min_ticks, max_ticks))) = (u16, u16, i64, i64).parse(content) else {
        return false;
    };
    let is_known = size == MIN_SIZE && flags <= FLAG_COMPRESSED;
    is_known && usize::from(size) <= len && min_ticks <= max_ticks
}
