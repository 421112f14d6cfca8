//! Decodes headers of fixed size, all words of 32 bits at once.
//!
//! The next blob is found by the blob's size field, never by adding header and payload,
//! because the runtime pads blobs and other writers do not (FORMAT.md 6.2).

use super::{BlobHeader, Extent, size_of_header};
use crate::bytes::{Parsed, first, guid_of, take_first};
use crate::error::{Fault, FaultAt};

/// Number of words of the fixed blob header of version 3 ([FORMAT.md
/// 5](crate::format_guide#5)); payload, stack size and stack follow.
const V3_WORDS: usize = 14;
/// Number of words of the uncompressed blob header of versions 4 and 5 ([FORMAT.md
/// 6.2](crate::format_guide#6.2)).
const V4_WORDS: usize = 20;
/// Number of words of the uncompressed row header of version 6 ([FORMAT.md
/// 7.4](crate::format_guide#7.4)).
const V6_WORDS: usize = 13;

/// Returns the size in bytes of this many words.
const fn bytes_of(words: usize) -> usize {
    words.saturating_mul(4)
}

/// Joins two words to a number of 64 bits.
#[inline(always)]
fn long(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// High bit of an uncompressed metadata id: set if the event is *not* sorted.
///
/// Quirk: the documents call it "the IsSorted flag", but the runtime sets it when the
/// event is not sorted, and the reference reader agrees ([FORMAT.md
/// Q2](crate::format_guide#Q2)).
const NOT_SORTED: u32 = 0x8000_0000;

/// Returns the offset of the next blob, given this blob's size field, which does not count itself.
/// `None` if the blob would extend past the end of `input`.
fn blob_end(input: &[u8], size: u32) -> Option<usize> {
    let end = usize::try_from(size).ok()?.checked_add(4)?;
    (end <= input.len()).then_some(end)
}

/// Reads an event blob of version 3.
pub(crate) fn fixed_v3<'a>(header: &mut BlobHeader, input: &'a [u8]) -> Parsed<'a, Extent> {
    let Some(words) = first::<[u32; V3_WORDS]>(input) else {
        return FaultAt::error(input, Fault::Truncated);
    };
    let [size, metadata_id, thread, ticks, ticks_high, a, b, c, d, e, f, g, h, payload_size] =
        words;
    let Some(next_at) = blob_end(input, size) else {
        return FaultAt::error(input, Fault::RowSize(u64::from(size)));
    };
    // EventSize covers header, payload, stack size, stack and padding.
    let stack_size_at =
        usize::try_from(payload_size).ok().and_then(|size| size.checked_add(bytes_of(V3_WORDS)));
    let blob = input.get(..next_at).unwrap_or_default();
    let mut after = stack_size_at.and_then(|at| blob.get(at..)).unwrap_or_default();
    let Some(stack_size) = take_first(&mut after) else {
        return FaultAt::error(input, Fault::PayloadSize(payload_size));
    };
    if usize::try_from(stack_size).map_or(true, |size| size > after.len()) {
        return FaultAt::error(input, Fault::StackSize(stack_size));
    }
    *header = BlobHeader {
        metadata_id,
        sequence: 0,
        thread: u64::from(thread),
        capture_thread: u64::from(thread),
        processor: u32::MAX,
        stack: 0,
        stack_size,
        timestamp: long(ticks, ticks_high),
        activity: guid_of([a, b, c, d]),
        related_activity: guid_of([e, f, g, h]),
        label_list: 0,
        payload_size,
        header_size: size_of_header(bytes_of(V3_WORDS)),
        // File order is time order in version 3 (FORMAT.md 11, O1).
        is_sorted: true,
        has_reserved_flag: false,
    };
    Ok((
        input.get(next_at..).unwrap_or_default(),
        Extent { payload_at: bytes_of(V3_WORDS), next_at },
    ))
}

/// Reads an uncompressed blob of versions 4 and 5 at the beginning of `input`, which must
/// contain all of it. Returns `None` if the blob is wrong: `header` is then unusable, and
/// [`fixed_v4`] reports the reason.
#[inline(always)]
pub(crate) fn quick_v4(header: &mut BlobHeader, input: &[u8]) -> Option<Extent> {
    quick::<V4_WORDS>(header, input)
}

/// Reads an uncompressed row of version 6 at the beginning of `input`, which must contain all of
/// it. Returns `None` if the row is wrong: `header` is then unusable, and [`fixed_v6`] reports the
/// reason.
#[inline(always)]
pub(crate) fn quick_v6(header: &mut BlobHeader, input: &[u8]) -> Option<Extent> {
    quick::<V6_WORDS>(header, input)
}

/// Reads an uncompressed event blob of versions 4 and 5.
#[inline]
pub(crate) fn fixed_v4<'a>(header: &mut BlobHeader, input: &'a [u8]) -> Parsed<'a, Extent> {
    fixed::<V4_WORDS>(header, input)
}

/// Reads an uncompressed event row of version 6.
#[inline]
pub(crate) fn fixed_v6<'a>(header: &mut BlobHeader, input: &'a [u8]) -> Parsed<'a, Extent> {
    fixed::<V6_WORDS>(header, input)
}

/// Reads a header of `WORDS` words: the common fields of versions 4 to 6, then activities
/// or, in version 6, labels.
#[inline(always)]
#[expect(clippy::arithmetic_side_effects, reason = "64 bits hold sums of 32 bits")]
fn quick<const WORDS: usize>(header: &mut BlobHeader, input: &[u8]) -> Option<Extent> {
    let words: [u32; WORDS] = first(input)?;
    let &[
        event_size,
        metadata_id,
        sequence,
        thread,
        thread_high,
        capture_thread,
        capture_thread_high,
        processor,
        stack,
        ticks,
        ticks_high,
        ref rest @ ..,
    ] = words.as_slice()
    else {
        return None;
    };
    header.metadata_id = metadata_id & !NOT_SORTED;
    header.is_sorted = metadata_id & NOT_SORTED == 0;
    header.sequence = sequence;
    header.thread = long(thread, thread_high);
    header.capture_thread = long(capture_thread, capture_thread_high);
    header.processor = processor;
    header.stack = stack;
    header.timestamp = long(ticks, ticks_high);
    match *rest {
        [label_list, payload_size] => {
            header.label_list = label_list;
            header.payload_size = payload_size;
        }
        [a, b, c, d, e, f, g, h, payload_size] => {
            header.activity = guid_of([a, b, c, d]);
            header.related_activity = guid_of([e, f, g, h]);
            header.payload_size = payload_size;
        }
        _ => return None,
    }
    let size = bytes_of(WORDS);
    header.header_size = size_of_header(size);
    let next_at = u64::from(event_size) + 4;
    let payload_end = u64::from(header.payload_size) + size as u64;
    // In 64 bits, sums of 32-bit sizes cannot wrap: this takes one comparison each
    // instead of checked arithmetic.
    let is_right = payload_end <= next_at && next_at <= input.len() as u64;
    let next_at = usize::try_from(next_at).ok()?;
    is_right.then_some(Extent { payload_at: size, next_at })
}

#[inline(always)]
fn fixed<'a, const WORDS: usize>(header: &mut BlobHeader, input: &'a [u8]) -> Parsed<'a, Extent> {
    match quick::<WORDS>(header, input) {
        Some(extent) => Ok((input.get(extent.next_at..).unwrap_or_default(), extent)),
        None => FaultAt::error(input, fault_of(header, input, bytes_of(WORDS))),
    }
}

/// Returns the fault of a blob that `quick` rejected.
#[cold]
fn fault_of(header: &BlobHeader, input: &[u8], header_size: usize) -> Fault {
    match first(input) {
        Some(size) if input.len() >= header_size => match blob_end(input, size) {
            Some(_) => Fault::PayloadSize(header.payload_size),
            None => Fault::RowSize(u64::from(size)),
        },
        _ => Fault::Truncated,
    }
}
