//! Decoder of event headers in the style of nom's documentation: leaves from `nom::number`,
//! optional fields by `cond`, the default error type, and events returned by value.

use super::{BlockRows, Header};
use crate::checksum::Checksum;
use nettrace_parser::raw::BlobEncoding;
use nom::bytes::complete::take;
use nom::combinator::cond;
use nom::error::{Error, ErrorKind};
use nom::number::complete::{le_u8, le_u32, le_u64, le_u128};
use nom::{Err, IResult, Parser};

/// An event: its header and its payload.
type Event<'a> = (Header, &'a [u8]);

fn varuint64(input: &[u8]) -> IResult<&[u8], u64> {
    let (mut rest, mut value) = (input, 0);
    for shift in (0..64).step_by(7) {
        let (after, part) = le_u8(rest)?;
        rest = after;
        value |= u64::from(part & 0x7f) << shift;
        if part & 0x80 == 0 {
            return Ok((rest, value));
        }
    }
    Err(Err::Error(Error::new(input, ErrorKind::TooLarge)))
}

fn varuint32(input: &[u8]) -> IResult<&[u8], u32> {
    let (rest, value) = varuint64(input)?;
    Ok((rest, value as u32))
}

fn compressed<'a>(input: &'a [u8], before: &Header, is_v6: bool) -> IResult<&'a [u8], Event<'a>> {
    let (input, flags) = le_u8(input)?;
    let has = |flag: u8| flags & flag != 0;
    let (input, metadata_id) = cond(has(0x01), varuint32).parse(input)?;
    let (input, capture) = cond(has(0x02), (varuint32, varuint64, varuint32)).parse(input)?;
    let (input, thread) = cond(has(0x04), varuint64).parse(input)?;
    let (input, stack) = cond(has(0x08), varuint32).parse(input)?;
    let (input, step) = varuint64(input)?;
    let (input, label_list) = cond(is_v6 && has(0x10), varuint32).parse(input)?;
    let (input, activity) = cond(!is_v6 && has(0x10), le_u128).parse(input)?;
    let (input, related) = cond(!is_v6 && has(0x20), le_u128).parse(input)?;
    let (input, payload_size) = cond(has(0x80), varuint32).parse(input)?;
    let metadata_id = metadata_id.unwrap_or(before.metadata_id);
    let payload_size = payload_size.unwrap_or(before.payload_size);
    let (sequence, capture_thread, processor) = match capture {
        Some((step, thread, processor)) => {
            (before.sequence.wrapping_add(step).wrapping_add(1), thread, processor)
        }
        None => {
            let sequence = before.sequence.wrapping_add(u32::from(metadata_id != 0));
            (sequence, before.capture_thread, before.processor)
        }
    };
    let (input, payload) = take(payload_size)(input)?;
    let header = Header {
        metadata_id,
        sequence,
        thread: thread.unwrap_or(before.thread),
        capture_thread,
        processor,
        stack: stack.unwrap_or(before.stack),
        timestamp: before.timestamp.wrapping_add(step),
        activity: activity.unwrap_or(before.activity),
        related: related.unwrap_or(before.related),
        label_list: label_list.unwrap_or(before.label_list),
        payload_size,
        is_sorted: has(0x40),
    };
    Ok((input, (header, payload)))
}

fn fixed_v6(input: &[u8]) -> IResult<&[u8], Event<'_>> {
    let (input, fields) =
        (le_u32, le_u32, le_u32, le_u64, le_u64, le_u32, le_u32, le_u64, le_u32, le_u32)
            .parse(input)?;
    let (
        _,
        id,
        sequence,
        thread,
        capture_thread,
        processor,
        stack,
        timestamp,
        label_list,
        payload_size,
    ) = fields;
    let (input, payload) = take(payload_size)(input)?;
    let header = Header {
        metadata_id: id & 0x7fff_ffff,
        is_sorted: id >> 31 == 0,
        sequence,
        thread,
        capture_thread,
        processor,
        stack,
        timestamp,
        label_list,
        payload_size,
        ..Header::default()
    };
    Ok((input, (header, payload)))
}

#[inline(always)]
fn rows<'a>(
    mut rest: &'a [u8],
    sum: &mut Checksum,
    event: impl Fn(&'a [u8], &Header) -> IResult<&'a [u8], Event<'a>>,
) -> Option<()> {
    let mut header = Header::default();
    while !rest.is_empty() {
        let (after, (next, _)) = event(rest, &header).ok()?;
        (rest, header) = (after, next);
        sum.fold_stored(&header);
    }
    Some(())
}

/// Decodes the headers of all rows of a stream.
///
/// # Panics
/// If a row is cut off, or has the uncompressed layout of versions 3 to 5.
#[inline(never)]
pub fn decode(stream: &[u8], blocks: &[BlockRows]) -> Checksum {
    let mut sum = Checksum::default();
    for block in blocks {
        let (bytes, sum) = (&stream[block.range.clone()], &mut sum);
        let decoded = match block.encoding {
            BlobEncoding::CompressedV4 => {
                rows(bytes, sum, |input, before| compressed(input, before, false))
            }
            BlobEncoding::CompressedV6 => {
                rows(bytes, sum, |input, before| compressed(input, before, true))
            }
            BlobEncoding::FixedV6 => rows(bytes, sum, |input, _| fixed_v6(input)),
            other => panic!("rows of {other:?}"),
        };
        decoded.expect("rows of our own");
    }
    sum
}
