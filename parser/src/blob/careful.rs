//! Slow decoding of compressed headers: nom parsers that accept input of any length and
//! report the fault. `compressed.rs` has the fast decoder.

use super::{BlobHeader, Extent, flag, size_of_header};
use crate::bytes::{Parsed, before, guid, u8, varuint32, varuint64};
use crate::error::{Fault, FaultAt};
use nom::Parser;
use nom::combinator::cond;

/// Reads a compressed header. Fields that its flags do not announce keep their value from
/// `before`. `middle` reads the fields just before the payload size, which depend on the
/// version; `apply` stores them.
fn compressed<'a, T>(
    before: &BlobHeader,
    input: &'a [u8],
    middle: impl Fn(u8, &'a [u8]) -> Parsed<'a, T>,
    apply: impl Fn(&mut BlobHeader, u8, T),
) -> Parsed<'a, BlobHeader> {
    let (rest, flags) = u8(input)?;
    let has = |bit: u8| flags & bit != 0;
    let (rest, (metadata_id, capture, thread, stack, step, extra, payload_size)) = (
        cond(has(flag::METADATA_ID), varuint32),
        cond(has(flag::CAPTURE), (varuint32, varuint64, varuint32)),
        cond(has(flag::THREAD), varuint64),
        cond(has(flag::STACK), varuint32),
        varuint64,
        |rest| middle(flags, rest),
        cond(has(flag::PAYLOAD_SIZE), varuint32),
    )
        .parse(rest)?;
    let mut header = *before;
    header.metadata_id = metadata_id.unwrap_or(before.metadata_id);
    if let Some((left_out, capture_thread, processor)) = capture {
        header.sequence = before.sequence.wrapping_add(left_out).wrapping_add(1);
        header.capture_thread = capture_thread;
        header.processor = processor;
    } else if header.metadata_id != 0 {
        header.sequence = before.sequence.wrapping_add(1);
    }
    header.thread = thread.unwrap_or(before.thread);
    header.stack = stack.unwrap_or(before.stack);
    header.timestamp = before.timestamp.wrapping_add(step);
    header.payload_size = payload_size.unwrap_or(before.payload_size);
    header.is_sorted = has(flag::SORTED);
    apply(&mut header, flags, extra);
    Ok((rest, header))
}

/// Reads a compressed header of versions 4 and 5, given the header before it.
pub(crate) fn careful_compressed_v4<'a>(
    before: &BlobHeader,
    input: &'a [u8],
) -> Parsed<'a, BlobHeader> {
    let activities = |flags, rest| {
        (cond(flags & flag::ACTIVITY != 0, guid), cond(flags & flag::RELATED_ACTIVITY != 0, guid))
            .parse(rest)
    };
    compressed(before, input, activities, |header, _, (activity, related)| {
        header.activity = activity.unwrap_or(before.activity);
        header.related_activity = related.unwrap_or(before.related_activity);
    })
}

/// Reads a compressed header of version 6, given the header before it.
pub(crate) fn careful_compressed_v6<'a>(
    before: &BlobHeader,
    input: &'a [u8],
) -> Parsed<'a, BlobHeader> {
    let labels = |flags, rest| cond(flags & flag::LABEL_LIST != 0, varuint32).parse(rest);
    compressed(before, input, labels, |header, flags, labels| {
        header.label_list = labels.unwrap_or(before.label_list);
        header.has_reserved_flag = flags & flag::RELATED_ACTIVITY != 0;
    })
}

/// Reads a blob of versions 4 and 5 with a compressed header. The blob must lie within `input`.
pub(crate) fn careful_blob_v4<'a>(header: &mut BlobHeader, input: &'a [u8]) -> Parsed<'a, Extent> {
    with_payload(header, input, careful_compressed_v4)
}

/// Reads a blob of version 6 with a compressed header. The blob must lie within `input`.
pub(crate) fn careful_blob_v6<'a>(header: &mut BlobHeader, input: &'a [u8]) -> Parsed<'a, Extent> {
    with_payload(header, input, careful_compressed_v6)
}

/// Reads a compressed header and skips the payload after it, up to the next blob.
/// `header` does not change if there is an error.
fn with_payload<'a>(
    header: &mut BlobHeader,
    input: &'a [u8],
    parse: impl Fn(&BlobHeader, &'a [u8]) -> Parsed<'a, BlobHeader>,
) -> Parsed<'a, Extent> {
    let (rest, read) = parse(header, input)?;
    let payload_at = before(input, rest);
    let Some(after) = rest.get(read.payload_size as usize..) else {
        return FaultAt::error(input, Fault::PayloadSize(read.payload_size));
    };
    *header = BlobHeader { header_size: size_of_header(payload_at), ..read };
    Ok((after, Extent { payload_at, next_at: before(input, after) }))
}
