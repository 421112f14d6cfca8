//! Headers of blocks, and the session (FORMAT.md 4, 6.1, 6.8, 6.9, 7.2, 7.3, 7.8, 7.9).

use super::error::{FromFault, complete};
use crate::block::event::{self, EventBlockHeader};
use crate::block::sequence_point::{self, SequencePoint};
use crate::block::trace::{self, Trace};
use crate::block::{metadata, stack};
use nom::IResult;

/// The content of a `Trace` object ([FORMAT.md 4](crate::format_guide#4)), 48 bytes.
/// Versions 3 to 5.
///
/// | offset | size | field | |
/// |---|---|---|---|
/// | 0 | 16 | start: eight i16: year, month, day of week, day, hour, minute, second, millisecond | UTC |
/// | 16 | 8 | i64 the same instant on the event clock | ticks |
/// | 24 | 8 | i64 frequency | ticks a second |
/// | 32 | 4 | i32 pointer size | 4 or 8 bytes |
/// | 36 | 4 | i32 process id | |
/// | 40 | 4 | i32 processors | |
/// | 44 | 4 | i32 sampling period | ns |
///
/// # Errors
/// [`Fault::PointerSize`](crate::Fault::PointerSize),
/// [`Fault::Truncated`](crate::Fault::Truncated). An impossible date or frequency is not
/// an error: see [`Clock`](crate::Clock).
pub fn trace_object<'a, E: FromFault<'a>>(input: &'a [u8]) -> IResult<&'a [u8], Trace, E> {
    complete(trace::object(input))
}

/// The content of a Trace block ([FORMAT.md 7.2](crate::format_guide#7.2)). Version 6.
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 to 35 | | as [`trace_object`] |
/// | 36 | 4 | i32 number of pairs |
/// | 40 | | a key and a value each, both [`string_v6`](super::string_v6) |
///
/// # Errors
/// As [`trace_object`], and those of a pair that cannot be read. (A reader keeps the
/// pairs before it.)
pub fn trace_block_v6<'a, E: FromFault<'a>>(input: &'a [u8]) -> IResult<&'a [u8], Trace, E> {
    complete(trace::whole_v6(input))
}

/// The header of event blocks of versions 4 to 6, and of metadata blocks of versions 4
/// and 5 ([FORMAT.md 6.1](crate::format_guide#6.1)). The remaining input begins with the
/// first [`blob`](super::blob).
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 2 | u16 size of this header, itself included, at least 20; what is more is skipped |
/// | 2 | 2 | u16 flags; bit 0: compressed blobs |
/// | 4 | 8 | i64 first timestamp, 0 from some writers |
/// | 12 | 8 | i64 last timestamp |
///
/// # Errors
/// [`Fault::HeaderSize`](crate::Fault::HeaderSize) if the size is below 20, or larger
/// than the input; [`Fault::Truncated`](crate::Fault::Truncated).
pub fn event_block_header<'a, E: FromFault<'a>>(
    input: &'a [u8],
) -> IResult<&'a [u8], EventBlockHeader, E> {
    complete(event::header(input))
}

/// The header of metadata blocks of version 6 ([FORMAT.md 7.3](crate::format_guide#7.3)):
/// a u16 size, *not* including itself, and that many bytes, which are skipped. The
/// remaining input consists of [rows](super::sized_row).
///
/// # Errors
/// [`Fault::HeaderSize`](crate::Fault::HeaderSize),
/// [`Fault::Truncated`](crate::Fault::Truncated).
pub fn metadata_block_header_v6<'a, E: FromFault<'a>>(input: &'a [u8]) -> IResult<&'a [u8], (), E> {
    complete(metadata::header_v6(input))
}

/// The ids of a block's rows, which are consecutive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct IdRange {
    /// Id of the first row.
    pub first: u32,
    /// Number of rows. A reader reads rows up to the block's end, and reports a different
    /// count.
    pub count: u32,
}

/// The header of stack blocks ([FORMAT.md 6.8](crate::format_guide#6.8),
/// [7.5](crate::format_guide#7.5)) and of label list blocks (7.8): u32 first id, u32
/// count. The remaining input consists of [`stack_row`](super::stack_row)s or
/// [`label_list`](super::label_list)s.
///
/// # Errors
/// [`Fault::Truncated`](crate::Fault::Truncated).
pub fn id_range<'a, E: FromFault<'a>>(input: &'a [u8]) -> IResult<&'a [u8], IdRange, E> {
    let (rest, (first, count)) = complete(stack::header(input))?;
    Ok((rest, IdRange { first, count }))
}

/// A sequence point before its entries, versions 4 and 5 ([FORMAT.md
/// 6.9](crate::format_guide#6.9)): u64 timestamp, u32 count. The remaining input consists
/// of [`sequence_entry_v4`](super::sequence_entry_v4)s.
///
/// # Errors
/// [`Fault::Truncated`](crate::Fault::Truncated).
pub fn sequence_point_v4<'a, E: FromFault<'a>>(
    input: &'a [u8],
) -> IResult<&'a [u8], SequencePoint, E> {
    complete(sequence_point::header_v4(input))
}

/// A sequence point before its entries, version 6 ([FORMAT.md
/// 7.9](crate::format_guide#7.9)): u64 timestamp, u32 flags (1: forget threads, 2: forget
/// metadata), u32 count. The remaining input consists of
/// [`sequence_entry_v6`](super::sequence_entry_v6)s.
///
/// # Errors
/// [`Fault::Truncated`](crate::Fault::Truncated).
pub fn sequence_point_v6<'a, E: FromFault<'a>>(
    input: &'a [u8],
) -> IResult<&'a [u8], SequencePoint, E> {
    complete(sequence_point::header_v6(input))
}
