//! Headers of event blobs (spec V6: event rows), in every form they take on (format.md 5, 6.2,
//! 6.3, 7.4).
//!
//! Fixed forms are read at once from an array. The compressed form is the hot path of the whole
//! crate: one function a version, without allocation, that changes the block's running header in
//! place. It looks at a window of 128 bytes, longer than any header, so that no read needs a
//! check; a header near the end of the input, and one that turns out to be wrong, goes through
//! the careful twin built from nom parsers, which says what is wrong.

use crate::error::{At, Fault};
use crate::guid::Guid;
use crate::primitive::{Parsed, guid, u8, varuint32, varuint64};
use bytemuck::{Pod, Zeroable};

/// The header of one event blob, with everything the stream says about the event itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct BlobHeader {
    pub(crate) metadata_id: u32,
    pub(crate) sequence: u32,
    /// Thread id, or thread index in version 6.
    pub(crate) thread: u64,
    /// Capture thread id, or index.
    pub(crate) capture_thread: u64,
    pub(crate) processor: u32,
    /// Stack id; in version 3 the size in bytes of the stack behind the payload.
    pub(crate) stack: u32,
    pub(crate) timestamp: u64,
    pub(crate) activity: Guid,
    pub(crate) related_activity: Guid,
    /// Version 6 only.
    pub(crate) label_list: u32,
    pub(crate) payload_size: u32,
    /// Bytes from the blob's first byte to its payload.
    pub(crate) header_size: u32,
    pub(crate) is_sorted: bool,
    /// Version 6, compressed: the flag that means nothing there was set.
    pub(crate) has_reserved_flag: bool,
}

/// Flag bits of a compressed header.
mod flag {
    pub(super) const METADATA_ID: u8 = 0x01;
    pub(super) const CAPTURE: u8 = 0x02;
    pub(super) const THREAD: u8 = 0x04;
    pub(super) const STACK: u8 = 0x08;
    /// Versions 4 and 5.
    pub(super) const ACTIVITY: u8 = 0x10;
    /// Version 6.
    pub(super) const LABEL_LIST: u8 = 0x10;
    pub(super) const RELATED_ACTIVITY: u8 = 0x20;
    pub(super) const SORTED: u8 = 0x40;
    pub(super) const PAYLOAD_SIZE: u8 = 0x80;
}

/// Bytes the fast decoder may look at; the longest header has 88.
pub(crate) const WINDOW: usize = 128;

/// An index no header can reach, nor any block's size: something was wrong on the way.
const WRONG: usize = 1 << 30;

/// `window[at]`, for an `at` that stays below 128 unless the header is wrong.
#[inline(always)]
#[expect(clippy::indexing_slicing, reason = "masked to the window's size, checked by the compiler")]
fn byte(window: &[u8; WINDOW], at: usize) -> u8 {
    window[at & (WINDOW - 1)]
}

#[inline(always)]
fn id32(window: &[u8; WINDOW], at: usize) -> (u32, usize) {
    let first = byte(window, at);
    if first < 0x80 {
        return (u32::from(first), at + 1);
    }
    let second = byte(window, at + 1);
    let low = u32::from(first & 0x7f) | u32::from(second & 0x7f) << 7;
    if second < 0x80 {
        return (low, at + 2);
    }
    let third = byte(window, at + 2);
    if third < 0x80 {
        return (low | u32::from(third) << 14, at + 3);
    }
    let (value, at) = long_varuint(window, at, 5, 0x0f);
    ((value & 0xffff_ffff) as u32, at)
}

#[inline(always)]
fn id64(window: &[u8; WINDOW], at: usize) -> (u64, usize) {
    let first = byte(window, at);
    if first < 0x80 {
        return (u64::from(first), at + 1);
    }
    let second = byte(window, at + 1);
    let low = u64::from(first & 0x7f) | u64::from(second & 0x7f) << 7;
    if second < 0x80 {
        return (low, at + 2);
    }
    // OS thread ids have three bytes more often than not.
    let third = byte(window, at + 2);
    if third < 0x80 {
        return (low | u64::from(third) << 14, at + 3);
    }
    long_varuint(window, at, 10, 0x01)
}

#[inline(always)]
fn delta(window: &[u8; WINDOW], at: usize) -> (u64, usize) {
    let (a, b) = (byte(window, at), byte(window, at + 1));
    if a < 0x80 {
        return (u64::from(a), at + 1);
    }
    if b < 0x80 {
        return (u64::from(a & 0x7f) | u64::from(b) << 7, at + 2);
    }
    let (c, d) = (byte(window, at + 2), byte(window, at + 3));
    let low = u64::from(a & 0x7f) | u64::from(b & 0x7f) << 7;
    if c < 0x80 {
        return (low | u64::from(c) << 14, at + 3);
    }
    if d < 0x80 {
        return (low | u64::from(c & 0x7f) << 14 | u64::from(d) << 21, at + 4);
    }
    long_varuint(window, at, 10, 0x01)
}

/// Not inlined, and indices go by value: the caller's state stays in registers.
#[inline(never)]
fn long_varuint(window: &[u8; WINDOW], at: usize, max_bytes: usize, last: u8) -> (u64, usize) {
    let mut value = 0u64;
    for index in 0..max_bytes {
        let part = byte(window, at + index);
        value |= u64::from(part & 0x7f) << (7 * index);
        if part < 0x80 {
            let wrong = index + 1 == max_bytes && part > last;
            return (value, if wrong { WRONG } else { at + index + 1 });
        }
    }
    (0, WRONG)
}

/// The fields before the timestamp, and the timestamp: the same in versions 4, 5 and 6. `counts`
/// tells whether an event of this metadata id takes a sequence number.
#[inline(always)]
fn front(header: &mut BlobHeader, window: &[u8; WINDOW], flags: u8) -> usize {
    let mut at = 1;
    if flags & flag::METADATA_ID != 0 {
        (header.metadata_id, at) = id32(window, at);
    }
    if flags & flag::CAPTURE != 0 {
        let step;
        (step, at) = id32(window, at);
        (header.capture_thread, at) = id64(window, at);
        (header.processor, at) = id32(window, at);
        header.sequence = header.sequence.wrapping_add(step).wrapping_add(1);
    } else {
        header.sequence = header.sequence.wrapping_add(u32::from(header.metadata_id != 0));
    }
    if flags & flag::THREAD != 0 {
        (header.thread, at) = id64(window, at);
    }
    if flags & flag::STACK != 0 {
        (header.stack, at) = id32(window, at);
    }
    let step;
    (step, at) = delta(window, at);
    header.timestamp = header.timestamp.wrapping_add(step);
    at
}

#[inline(always)]
fn back(header: &mut BlobHeader, window: &[u8; WINDOW], flags: u8, mut at: usize) -> usize {
    header.is_sorted = flags & flag::SORTED != 0;
    if flags & flag::PAYLOAD_SIZE != 0 {
        (header.payload_size, at) = id32(window, at);
    }
    at
}

#[inline(always)]
fn guid_at(window: &[u8; WINDOW], at: usize) -> Guid {
    match window.get(at..).and_then(|rest| rest.first_chunk()) {
        Some(bytes) => Guid::from_bytes(*bytes),
        None => Guid::ZERO,
    }
}

/// Compressed header of versions 4 and 5 (format.md 6.3): the number of its bytes, or one beyond
/// any block when it is wrong; `header` is then of no use.
#[inline(always)]
pub(crate) fn compressed_v4(header: &mut BlobHeader, window: &[u8; WINDOW]) -> usize {
    let flags = byte(window, 0);
    let mut at = front(header, window, flags);
    if flags & (flag::ACTIVITY | flag::RELATED_ACTIVITY) != 0 {
        if flags & flag::ACTIVITY != 0 {
            header.activity = guid_at(window, at);
            at += 16;
        }
        if flags & flag::RELATED_ACTIVITY != 0 {
            header.related_activity = guid_at(window, at);
            at += 16;
        }
    }
    back(header, window, flags, at)
}

/// Compressed header of version 6 (format.md 7.4). Flag 0x20 has no meaning there and brings no
/// bytes.
#[inline(always)]
pub(crate) fn compressed_v6(header: &mut BlobHeader, window: &[u8; WINDOW]) -> usize {
    let flags = byte(window, 0);
    let mut at = front(header, window, flags);
    if flags & flag::LABEL_LIST != 0 {
        (header.label_list, at) = id32(window, at);
    }
    header.has_reserved_flag = flags & flag::RELATED_ACTIVITY != 0;
    back(header, window, flags, at)
}

/// The careful twin of [`front`].
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

type U32 = [u8; 4];
type U64 = [u8; 8];

/// Fixed blob header of version 3 (format.md 5), 56 bytes; payload, stack size and stack follow.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct FixedV3 {
    event_size: U32,
    metadata_id: U32,
    thread: U32,
    timestamp: U64,
    activity: [u8; 16],
    related_activity: [u8; 16],
    payload_size: U32,
}

/// Uncompressed blob header of versions 4 and 5 (format.md 6.2), 80 bytes.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct FixedV4 {
    event_size: U32,
    metadata_id: U32,
    sequence: U32,
    thread: U64,
    capture_thread: U64,
    processor: U32,
    stack: U32,
    timestamp: U64,
    activity: [u8; 16],
    related_activity: [u8; 16],
    payload_size: U32,
}

/// Uncompressed row header of version 6 (format.md 7.4), 52 bytes.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct FixedV6 {
    event_size: U32,
    metadata_id: U32,
    sequence: U32,
    thread: U64,
    capture_thread: U64,
    processor: U32,
    stack: U32,
    timestamp: U64,
    label_list: U32,
    payload_size: U32,
}

/// Where the parts of a blob with a fixed header lie, in bytes from its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Bytes of the header: the payload begins here.
    pub(crate) payload_at: usize,
    /// The next blob begins here.
    pub(crate) next_at: usize,
}

/// High bit of an uncompressed metadata id.
///
/// Quirk: the documents call it "the IsSorted flag"; the runtime sets it when the event is *not*
/// sorted, and the reference reader reads it so (format.md Q2).
const NOT_SORTED: u32 = 0x8000_0000;

/// Reads `size`, the bytes of a blob behind its first field, as the place of the next blob, if the
/// blob stays within `input`.
fn blob_end(input: &[u8], size: u32) -> Option<usize> {
    let end = usize::try_from(size).ok()?.checked_add(4)?;
    (end <= input.len()).then_some(end)
}

/// An event blob of version 3.
pub(crate) fn fixed_v3<'a>(header: &mut BlobHeader, input: &'a [u8]) -> Parsed<'a, Extent> {
    const SIZE: usize = size_of::<FixedV3>();
    let Some(bytes) = input.first_chunk::<SIZE>() else { return At::error(input, Fault::Truncated) };
    let fixed: &FixedV3 = bytemuck::cast_ref(bytes);
    let size = u32::from_le_bytes(fixed.event_size);
    let payload_size = u32::from_le_bytes(fixed.payload_size);
    let Some(next_at) = blob_end(input, size) else {
        return At::error(input, Fault::RowSize(u64::from(size)));
    };
    // EventSize covers the header, payload, stack size, stack and padding.
    let stack_size_at = usize::try_from(payload_size).ok().and_then(|size| size.checked_add(SIZE));
    let blob = input.get(..next_at).unwrap_or_default();
    let Some((stack_size, behind)) =
        stack_size_at.and_then(|at| blob.get(at..)).and_then(|rest| rest.split_first_chunk())
    else {
        return At::error(input, Fault::PayloadSize(payload_size));
    };
    let stack_size = u32::from_le_bytes(*stack_size);
    if usize::try_from(stack_size).map_or(true, |size| size > behind.len()) {
        return At::error(input, Fault::StackSize(stack_size));
    }
    *header = BlobHeader {
        metadata_id: u32::from_le_bytes(fixed.metadata_id),
        sequence: 0,
        thread: u64::from(u32::from_le_bytes(fixed.thread)),
        capture_thread: u64::from(u32::from_le_bytes(fixed.thread)),
        processor: u32::MAX,
        stack: stack_size,
        timestamp: u64::from_le_bytes(fixed.timestamp),
        activity: Guid::from_bytes(fixed.activity),
        related_activity: Guid::from_bytes(fixed.related_activity),
        label_list: 0,
        payload_size,
        header_size: SIZE as u32,
        // File order is time order in version 3 (format.md 11, O1).
        is_sorted: true,
        has_reserved_flag: false,
    };
    Ok((input.get(next_at..).unwrap_or_default(), Extent { payload_at: SIZE, next_at }))
}

/// An uncompressed event blob of versions 4 and 5.
#[inline]
pub(crate) fn fixed_v4<'a>(header: &mut BlobHeader, input: &'a [u8]) -> Parsed<'a, Extent> {
    const SIZE: usize = size_of::<FixedV4>();
    let Some(bytes) = input.first_chunk::<SIZE>() else { return At::error(input, Fault::Truncated) };
    let fixed: &FixedV4 = bytemuck::cast_ref(bytes);
    let metadata_id = u32::from_le_bytes(fixed.metadata_id);
    let extent = fixed_extent(input, SIZE, fixed.event_size, fixed.payload_size)?;
    *header = BlobHeader {
        metadata_id: metadata_id & !NOT_SORTED,
        sequence: u32::from_le_bytes(fixed.sequence),
        thread: u64::from_le_bytes(fixed.thread),
        capture_thread: u64::from_le_bytes(fixed.capture_thread),
        processor: u32::from_le_bytes(fixed.processor),
        stack: u32::from_le_bytes(fixed.stack),
        timestamp: u64::from_le_bytes(fixed.timestamp),
        activity: Guid::from_bytes(fixed.activity),
        related_activity: Guid::from_bytes(fixed.related_activity),
        label_list: 0,
        payload_size: u32::from_le_bytes(fixed.payload_size),
        header_size: SIZE as u32,
        is_sorted: metadata_id & NOT_SORTED == 0,
        has_reserved_flag: false,
    };
    Ok((input.get(extent.next_at..).unwrap_or_default(), extent))
}

/// An uncompressed event row of version 6.
#[inline]
pub(crate) fn fixed_v6<'a>(header: &mut BlobHeader, input: &'a [u8]) -> Parsed<'a, Extent> {
    const SIZE: usize = size_of::<FixedV6>();
    let Some(bytes) = input.first_chunk::<SIZE>() else { return At::error(input, Fault::Truncated) };
    let fixed: &FixedV6 = bytemuck::cast_ref(bytes);
    let metadata_id = u32::from_le_bytes(fixed.metadata_id);
    let extent = fixed_extent(input, SIZE, fixed.event_size, fixed.payload_size)?;
    *header = BlobHeader {
        metadata_id: metadata_id & !NOT_SORTED,
        sequence: u32::from_le_bytes(fixed.sequence),
        thread: u64::from_le_bytes(fixed.thread),
        capture_thread: u64::from_le_bytes(fixed.capture_thread),
        processor: u32::from_le_bytes(fixed.processor),
        stack: u32::from_le_bytes(fixed.stack),
        timestamp: u64::from_le_bytes(fixed.timestamp),
        activity: Guid::ZERO,
        related_activity: Guid::ZERO,
        label_list: u32::from_le_bytes(fixed.label_list),
        payload_size: u32::from_le_bytes(fixed.payload_size),
        header_size: SIZE as u32,
        is_sorted: metadata_id & NOT_SORTED == 0,
        has_reserved_flag: false,
    };
    Ok((input.get(extent.next_at..).unwrap_or_default(), extent))
}

/// An uncompressed blob of versions 4 and 5 at the beginning of `input`, which must not leave it:
/// the same as [`fixed_v4`] without a word on what is wrong.
#[inline(always)]
pub(crate) fn quick_v4(header: &mut BlobHeader, input: &[u8]) -> Option<Extent> {
    const SIZE: usize = size_of::<FixedV4>();
    let fixed: &FixedV4 = bytemuck::cast_ref(input.first_chunk::<SIZE>()?);
    let metadata_id = u32::from_le_bytes(fixed.metadata_id);
    header.metadata_id = metadata_id & !NOT_SORTED;
    header.is_sorted = metadata_id & NOT_SORTED == 0;
    header.sequence = u32::from_le_bytes(fixed.sequence);
    header.thread = u64::from_le_bytes(fixed.thread);
    header.capture_thread = u64::from_le_bytes(fixed.capture_thread);
    header.processor = u32::from_le_bytes(fixed.processor);
    header.stack = u32::from_le_bytes(fixed.stack);
    header.timestamp = u64::from_le_bytes(fixed.timestamp);
    header.activity = Guid::from_bytes(fixed.activity);
    header.related_activity = Guid::from_bytes(fixed.related_activity);
    header.payload_size = u32::from_le_bytes(fixed.payload_size);
    header.header_size = SIZE as u32;
    quick_extent(input, SIZE, u32::from_le_bytes(fixed.event_size), header.payload_size)
}

/// An uncompressed row of version 6, as [`quick_v4`].
#[inline(always)]
pub(crate) fn quick_v6(header: &mut BlobHeader, input: &[u8]) -> Option<Extent> {
    const SIZE: usize = size_of::<FixedV6>();
    let fixed: &FixedV6 = bytemuck::cast_ref(input.first_chunk::<SIZE>()?);
    let metadata_id = u32::from_le_bytes(fixed.metadata_id);
    header.metadata_id = metadata_id & !NOT_SORTED;
    header.is_sorted = metadata_id & NOT_SORTED == 0;
    header.sequence = u32::from_le_bytes(fixed.sequence);
    header.thread = u64::from_le_bytes(fixed.thread);
    header.capture_thread = u64::from_le_bytes(fixed.capture_thread);
    header.processor = u32::from_le_bytes(fixed.processor);
    header.stack = u32::from_le_bytes(fixed.stack);
    header.timestamp = u64::from_le_bytes(fixed.timestamp);
    header.label_list = u32::from_le_bytes(fixed.label_list);
    header.payload_size = u32::from_le_bytes(fixed.payload_size);
    header.header_size = SIZE as u32;
    quick_extent(input, SIZE, u32::from_le_bytes(fixed.event_size), header.payload_size)
}

#[inline(always)]
fn quick_extent(input: &[u8], payload_at: usize, event_size: u32, payload_size: u32) -> Option<Extent> {
    // In 64 bits neither sum can overflow.
    let next_at = u64::from(event_size) + 4;
    let payload_end = u64::from(payload_size) + payload_at as u64;
    (payload_end <= next_at && next_at <= input.len() as u64)
        .then_some(Extent { payload_at, next_at: next_at as usize })
}

/// Checks a blob's two sizes against each other and against the block.
///
/// Blobs are stepped by their size field, never by header plus payload: the runtime pads them, the
/// reference reader's test writer does not (format.md 6.2).
#[inline(always)]
fn fixed_extent<'a>(
    input: &'a [u8],
    payload_at: usize,
    event_size: U32,
    payload_size: U32,
) -> Result<Extent, nom::Err<At<'a>>> {
    let size = u32::from_le_bytes(event_size);
    let payload_size = u32::from_le_bytes(payload_size);
    let Some(next_at) = blob_end(input, size) else {
        return At::error(input, Fault::RowSize(u64::from(size)));
    };
    match usize::try_from(payload_size).ok().and_then(|size| size.checked_add(payload_at)) {
        Some(payload_end) if payload_end <= next_at => Ok(Extent { payload_at, next_at }),
        _ => At::error(input, Fault::PayloadSize(payload_size)),
    }
}
