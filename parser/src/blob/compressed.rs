//! Compressed headers, the fast way.
//!
//! The hot path of the whole crate: one function a version, without allocation, that changes the
//! block's running header in place. It looks at a window of 128 bytes, longer than any header, so
//! that no read needs a check; a header near the end of the input, and one that turns out to be
//! wrong, goes through the careful twin, which says what is wrong.

use super::{BlobHeader, flag};
use nettrace_guid::Guid;

/// Bytes the fast decoder may look at; the longest header has 88.
pub(crate) const WINDOW: usize = 128;

/// The window over a blob so near the block's end that it has not enough bytes: zeros follow. A
/// header that reaches into them is beyond the block, and so wrong.
#[cold]
#[inline(never)]
pub(crate) fn at_end(rest: &[u8]) -> [u8; WINDOW] {
    let mut window = [0; WINDOW];
    window.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    window
}

/// `window[at]`, for an `at` that stays below 128: fields are no longer than their kind can be.
#[inline(always)]
#[expect(clippy::indexing_slicing, reason = "masked to the window's size, checked by the compiler")]
fn byte(window: &[u8; WINDOW], at: usize) -> u8 {
    window[at & (WINDOW - 1)]
}

#[inline(always)]
#[expect(clippy::arithmetic_side_effects, reason = "`at` is below 128, and so is what is added")]
fn id32(window: &[u8; WINDOW], at: usize, watch: &mut impl Watch) -> (u32, usize) {
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
    let (value, at) = long(window, at, 5, 0x0f, watch);
    ((value & 0xffff_ffff) as u32, at)
}

#[inline(always)]
#[expect(clippy::arithmetic_side_effects, reason = "`at` is below 128, and so is what is added")]
fn id64(window: &[u8; WINDOW], at: usize, watch: &mut impl Watch) -> (u64, usize) {
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
    long(window, at, 10, 0x01, watch)
}

#[inline(always)]
#[expect(clippy::arithmetic_side_effects, reason = "`at` is below 128, and so is what is added")]
fn delta(window: &[u8; WINDOW], at: usize, watch: &mut impl Watch) -> (u64, usize) {
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
    long(window, at, 10, 0x01, watch)
}

#[inline(always)]
#[expect(clippy::arithmetic_side_effects, reason = "`at` is below 128, and so is what is added")]
fn long(
    window: &[u8; WINDOW],
    at: usize,
    max_bytes: usize,
    last: u8,
    watch: &mut impl Watch,
) -> (u64, usize) {
    let (value, length) = long_varuint(window, at, max_bytes, last);
    if length == 0 {
        watch.wrong();
    }
    // The mask tells the compiler what is true anyway, and lets it leave out others.
    (value, at + (length & 15))
}

/// The value and its length; 0 for one that is wrong. Not inlined, and indices go by value: the
/// caller's state stays in registers.
#[inline(never)]
#[expect(clippy::arithmetic_side_effects, reason = "`at` is below 128, and so is what is added")]
fn long_varuint(window: &[u8; WINDOW], at: usize, max_bytes: usize, last: u8) -> (u64, usize) {
    if let Some(bytes) = window.get(at..).and_then(|rest| rest.first_chunk()) {
        let (value, length) = joined(u64::from_le_bytes(*bytes));
        if length < max_bytes.min(9) {
            return (value, length);
        }
    }
    let mut value = 0u64;
    for index in 0..max_bytes {
        let part = byte(window, at + index);
        value |= u64::from(part & 0x7f) << (7 * index);
        if part < 0x80 {
            let is_wrong = index + 1 == max_bytes && part > last;
            return (value, if is_wrong { 0 } else { index + 1 });
        }
    }
    (0, 0)
}

/// A varuint of up to 8 bytes, and its length; 9 if it is longer.
#[expect(clippy::arithmetic_side_effects, reason = "at most 8 bytes")]
fn joined(bytes: u64) -> (u64, usize) {
    let ends = !bytes & 0x8080_8080_8080_8080;
    if ends == 0 {
        return (0, 9);
    }
    // Everything up to the first byte that ends a number, seven bits of each.
    let sevens = bytes & (ends ^ ends.wrapping_sub(1)) & 0x7f7f_7f7f_7f7f_7f7f;
    let pairs = (sevens & 0x007f_007f_007f_007f) | (sevens & 0x7f00_7f00_7f00_7f00) >> 1;
    let fours = (pairs & 0x0000_3fff_0000_3fff) | (pairs & 0x3fff_0000_3fff_0000) >> 2;
    let value = (fours & 0x0fff_ffff) | (fours & 0x0fff_ffff_0000_0000) >> 4;
    (value, ends.trailing_zeros() as usize / 8 + 1)
}

/// Whether a header says the event's number, by its first byte; if not, it is the next.
pub(crate) fn says_number(flags: u8) -> bool {
    flags & flag::CAPTURE != 0
}

/// Whether a header says something that lasts for many events of a thread in a row, by its first byte: the processor,
/// activities, labels.
#[inline(always)]
pub(crate) fn says_what_lasts(flags: u8) -> bool {
    // Labels have the bit of the activity.
    flags & (flag::CAPTURE | flag::ACTIVITY | flag::RELATED_ACTIVITY) != 0
}

/// Is given what a header has and does not inherit, and keeps the event's number.
pub(crate) trait Watch {
    /// An event of a type whose header says nothing of its number, which inherits from the one before.
    fn next(&mut self, sequence: &mut u32, metadata_id: u32);
    /// A capture thread, and how many numbers are left out.
    fn capture(&mut self, sequence: &mut u32, thread: u64, step: u32);
    /// A type.
    fn metadata(&mut self, id: u32);
    /// A thread.
    fn thread(&mut self, id: u64);
    /// A stack.
    fn stack(&mut self, id: u32);
    /// A label list, and whether the flag without meaning is set (version 6).
    fn labels(&mut self, id: u32, has_reserved_flag: bool);
    /// A number is longer, or larger, than it may be.
    fn wrong(&mut self);
}

/// Watches for nothing but headers that are wrong.
#[derive(Debug, Default)]
pub(crate) struct Wrong(pub(crate) bool);

impl Watch for Wrong {
    /// Metadata id 0 takes no number.
    #[inline(always)]
    fn next(&mut self, sequence: &mut u32, metadata_id: u32) {
        *sequence = sequence.wrapping_add(u32::from(metadata_id != 0));
    }
    #[inline(always)]
    fn capture(&mut self, sequence: &mut u32, _: u64, step: u32) {
        *sequence = sequence.wrapping_add(step).wrapping_add(1);
    }
    fn metadata(&mut self, _: u32) {}
    fn thread(&mut self, _: u64) {}
    fn stack(&mut self, _: u32) {}
    fn labels(&mut self, _: u32, _: bool) {}
    fn wrong(&mut self) {
        self.0 = true;
    }
}

/// The fields before the timestamp, and the timestamp: the same in versions 4, 5 and 6.
#[inline(always)]
fn front<W: Watch>(header: &mut BlobHeader, window: &[u8; WINDOW], flags: u8, watch: &mut W) -> usize {
    let mut at = 1;
    if flags & flag::METADATA_ID != 0 {
        (header.metadata_id, at) = id32(window, at, watch);
        watch.metadata(header.metadata_id);
    }
    // Most events have none of these.
    if flags & (flag::CAPTURE | flag::THREAD | flag::STACK) == 0 {
        watch.next(&mut header.sequence, header.metadata_id);
    } else {
        at = middle(header, window, flags, at, watch);
    }
    let step;
    (step, at) = delta(window, at, watch);
    header.timestamp = header.timestamp.wrapping_add(step);
    at
}

#[inline(always)]
fn middle<W: Watch>(
    header: &mut BlobHeader,
    window: &[u8; WINDOW],
    flags: u8,
    mut at: usize,
    watch: &mut W,
) -> usize {
    if flags & flag::CAPTURE != 0 {
        let step;
        (step, at) = id32(window, at, watch);
        (header.capture_thread, at) = id64(window, at, watch);
        (header.processor, at) = id32(window, at, watch);
        watch.capture(&mut header.sequence, header.capture_thread, step);
    } else {
        watch.next(&mut header.sequence, header.metadata_id);
    }
    if flags & flag::THREAD != 0 {
        (header.thread, at) = id64(window, at, watch);
        watch.thread(header.thread);
    }
    if flags & flag::STACK != 0 {
        (header.stack, at) = id32(window, at, watch);
        watch.stack(header.stack);
    }
    at
}

#[inline(always)]
fn back(
    header: &mut BlobHeader,
    window: &[u8; WINDOW],
    flags: u8,
    mut at: usize,
    watch: &mut impl Watch,
) -> usize {
    header.is_sorted = flags & flag::SORTED != 0;
    if flags & flag::PAYLOAD_SIZE != 0 {
        (header.payload_size, at) = id32(window, at, watch);
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

/// Compressed header of versions 4 and 5 ([FORMAT.md 6.3](crate::format_guide#6.3)): the number of its bytes.
/// `header` is of no
/// use when it is wrong.
#[inline(always)]
#[expect(clippy::arithmetic_side_effects, reason = "`at` is below 128, and so is what is added")]
pub(crate) fn compressed_v4(header: &mut BlobHeader, window: &[u8; WINDOW], watch: &mut impl Watch) -> usize {
    let flags = byte(window, 0);
    let mut at = front(header, window, flags, watch);
    if flags & (flag::ACTIVITY | flag::RELATED_ACTIVITY) == 0 {
        // Apart from the other way, so that the compiler sees how far `at` can be.
        return back(header, window, flags, at, watch);
    }
    if flags & flag::ACTIVITY != 0 {
        header.activity = guid_at(window, at);
        at += 16;
    }
    if flags & flag::RELATED_ACTIVITY != 0 {
        header.related_activity = guid_at(window, at);
        at += 16;
    }
    back(header, window, flags, at, watch)
}

/// Compressed header of version 6 ([FORMAT.md 7.4](crate::format_guide#7.4)). Flag 0x20 has no meaning there and
/// brings no
/// bytes.
#[inline(always)]
pub(crate) fn compressed_v6(header: &mut BlobHeader, window: &[u8; WINDOW], watch: &mut impl Watch) -> usize {
    let flags = byte(window, 0);
    let mut at = front(header, window, flags, watch);
    header.has_reserved_flag = flags & flag::RELATED_ACTIVITY != 0;
    if flags & (flag::LABEL_LIST | flag::RELATED_ACTIVITY) == 0 {
        return back(header, window, flags, at, watch);
    }
    if flags & flag::LABEL_LIST != 0 {
        (header.label_list, at) = id32(window, at, watch);
    }
    watch.labels(header.label_list, header.has_reserved_flag);
    back(header, window, flags, at, watch)
}
