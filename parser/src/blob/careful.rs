//! Compressed headers, the careful way: built from nom parsers, for any number of bytes, with a
//! word on what is wrong.

use super::{BlobHeader, flag};
use crate::primitive::{Parsed, guid, u8, varuint32, varuint64};

/// The fields before the timestamp, and the timestamp: the same in versions 4, 5 and 6.
fn careful_front<'a>(input: &'a [u8], header: &mut BlobHeader) -> Parsed<'a, u8> {
    let (mut rest, flags) = u8(input)?;
    if flags & flag::METADATA_ID != 0 {
        (rest, header.metadata_id) = varuint32(rest)?;
    }
    if flags & flag::CAPTURE != 0 {
        let step;
        (rest, (step, header.capture_thread, header.processor)) =
            nom::Parser::parse(&mut (varuint32, varuint64, varuint32), rest)?;
        header.sequence = header.sequence.wrapping_add(step).wrapping_add(1);
    } else if header.metadata_id != 0 {
        header.sequence = header.sequence.wrapping_add(1);
    }
    if flags & flag::THREAD != 0 {
        (rest, header.thread) = varuint64(rest)?;
    }
    if flags & flag::STACK != 0 {
        (rest, header.stack) = varuint32(rest)?;
    }
    let (rest, step) = varuint64(rest)?;
    header.timestamp = header.timestamp.wrapping_add(step);
    Ok((rest, flags))
}

fn careful_back<'a>(rest: &'a [u8], header: &mut BlobHeader, flags: u8) -> Parsed<'a, ()> {
    header.is_sorted = flags & flag::SORTED != 0;
    if flags & flag::PAYLOAD_SIZE != 0 {
        let (rest, size) = varuint32(rest)?;
        header.payload_size = size;
        return Ok((rest, ()));
    }
    Ok((rest, ()))
}

/// Compressed header of versions 4 and 5, from `before` and any number of bytes.
pub(crate) fn careful_compressed_v4<'a>(before: &BlobHeader, input: &'a [u8]) -> Parsed<'a, BlobHeader> {
    let mut header = *before;
    let (mut rest, flags) = careful_front(input, &mut header)?;
    if flags & flag::ACTIVITY != 0 {
        (rest, header.activity) = guid(rest)?;
    }
    if flags & flag::RELATED_ACTIVITY != 0 {
        (rest, header.related_activity) = guid(rest)?;
    }
    let (rest, ()) = careful_back(rest, &mut header, flags)?;
    Ok((rest, header))
}

/// Compressed header of version 6, from `before` and any number of bytes.
pub(crate) fn careful_compressed_v6<'a>(before: &BlobHeader, input: &'a [u8]) -> Parsed<'a, BlobHeader> {
    let mut header = *before;
    let (mut rest, flags) = careful_front(input, &mut header)?;
    if flags & flag::LABEL_LIST != 0 {
        (rest, header.label_list) = varuint32(rest)?;
    }
    header.has_reserved_flag = flags & flag::RELATED_ACTIVITY != 0;
    let (rest, ()) = careful_back(rest, &mut header, flags)?;
    Ok((rest, header))
}
