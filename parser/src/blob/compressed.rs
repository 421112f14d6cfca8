//! Fast decoding of compressed headers.
//!
//! This is the hot path of the whole crate: one function per version that allocates
//! nothing and updates the block's running header in place. It reads from a window of 128
//! bytes, which is longer than any header, so no single read needs a bounds check. If a
//! header turns out to be wrong, `careful.rs` decodes it again and reports the fault.

use super::{BlobHeader, flag};
use crate::bytes::first;
use nettrace_guid::Guid;

/// Size in bytes of the window that the fast decoder may read. The longest header has 88 bytes.
pub(crate) const WINDOW: usize = 128;

/// Returns a window that begins with `rest`, the end of a block, and is filled with zeros. A
/// header that reaches into the zeros leaves the block, so it is wrong.
#[cold]
#[inline(never)]
pub(crate) fn at_end(rest: &[u8]) -> [u8; WINDOW] {
    let mut window = [0; WINDOW];
    window.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    window
}

/// Returns `window[at]`. `at` is always below 128, because the type of each field limits its
/// length.
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
    // OS thread ids usually need three bytes.
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
        watch.on_wrong();
    }
    // `length` is at most 15 anyway; the mask lets the compiler drop its own check.
    (value, at + (length & 15))
}

/// Returns a varuint and its length, or length 0 if the varuint is wrong. The function is
/// not inlined and takes indices by value, so that the caller keeps its state in registers.
#[inline(never)]
#[expect(clippy::arithmetic_side_effects, reason = "`at` is below 128, and so is what is added")]
fn long_varuint(window: &[u8; WINDOW], at: usize, max_bytes: usize, last: u8) -> (u64, usize) {
    if let Some(bytes) = window.get(at..).and_then(first) {
        let (value, length) = joined(bytes);
        // The loop below checks the limit of the last allowed byte.
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

/// Returns a varuint of up to 8 bytes and its length, or length 9 if it is longer.
#[expect(clippy::arithmetic_side_effects, reason = "at most 8 bytes")]
fn joined(bytes: u64) -> (u64, usize) {
    let ends = !bytes & 0x8080_8080_8080_8080;
    if ends == 0 {
        return (0, 9);
    }
    // Keep seven bits of each byte up to the first one without a continuation bit.
    let sevens = bytes & (ends ^ ends.wrapping_sub(1)) & 0x7f7f_7f7f_7f7f_7f7f;
    let pairs = (sevens & 0x007f_007f_007f_007f) | (sevens & 0x7f00_7f00_7f00_7f00) >> 1;
    let fours = (pairs & 0x0000_3fff_0000_3fff) | (pairs & 0x3fff_0000_3fff_0000) >> 2;
    let value = (fours & 0x0fff_ffff) | (fours & 0x0fff_ffff_0000_0000) >> 4;
    (value, ends.trailing_zeros() as usize / 8 + 1)
}

/// Returns whether a header with these flags stores a sequence number. Otherwise the event's
/// sequence number is one more than the previous event's.
pub(crate) fn stores_number(flags: u8) -> bool {
    flags & flag::CAPTURE != 0
}

/// Returns whether a header with these flags may change the processor, the activities or the
/// labels. They are called sticky because they usually stay the same for many events.
#[inline(always)]
pub(crate) fn changes_sticky_fields(flags: u8) -> bool {
    // In version 6 the label list uses the activity's bit.
    flags & (flag::CAPTURE | flag::ACTIVITY | flag::RELATED_ACTIVITY) != 0
}

/// Observes the fields that a header stores, and maintains the sequence number.
pub(crate) trait Watch {
    /// Advances the sequence number for an event whose header does not store one.
    fn on_next(&mut self, sequence: &mut u32, metadata_id: u32);
    /// Advances the sequence number by `step + 1`, where `step` is the number of events left
    /// out, and notes the capture thread.
    fn on_capture(&mut self, sequence: &mut u32, thread: u64, step: u32);
    /// Notes the metadata id that a header stores.
    fn on_metadata(&mut self, id: u32);
    /// Notes the id of the thread that a header stores.
    fn on_thread(&mut self, id: u64);
    /// Notes the id of the stack that a header stores.
    fn on_stack(&mut self, id: u32);
    /// Notes the id of the label list that a header stores, and whether the reserved flag is set
    /// (version 6).
    fn on_labels(&mut self, id: u32, has_reserved_flag: bool);
    /// Notes that a varuint is longer, or larger, than its type allows.
    fn on_wrong(&mut self);
}

/// Observes only whether the header is wrong.
#[derive(Debug, Default)]
pub(crate) struct Wrong(pub(crate) bool);

impl Watch for Wrong {
    /// Advances the sequence number, unless the metadata id is 0: such blobs have no sequence
    /// numbers.
    #[inline(always)]
    fn on_next(&mut self, sequence: &mut u32, metadata_id: u32) {
        *sequence = sequence.wrapping_add(u32::from(metadata_id != 0));
    }
    #[inline(always)]
    fn on_capture(&mut self, sequence: &mut u32, _: u64, step: u32) {
        *sequence = sequence.wrapping_add(step).wrapping_add(1);
    }
    fn on_metadata(&mut self, _: u32) {}
    fn on_thread(&mut self, _: u64) {}
    fn on_stack(&mut self, _: u32) {}
    fn on_labels(&mut self, _: u32, _: bool) {}
    fn on_wrong(&mut self) {
        self.0 = true;
    }
}

/// Decodes the fields up to the timestamp, which are identical in versions 4, 5 and 6.
#[inline(always)]
fn front<W: Watch>(
    header: &mut BlobHeader,
    window: &[u8; WINDOW],
    flags: u8,
    watch: &mut W,
) -> usize {
    let mut at = 1;
    if flags & flag::METADATA_ID != 0 {
        (header.metadata_id, at) = id32(window, at, watch);
        watch.on_metadata(header.metadata_id);
    }
    // Most events have none of these.
    if flags & (flag::CAPTURE | flag::THREAD | flag::STACK) == 0 {
        watch.on_next(&mut header.sequence, header.metadata_id);
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
        watch.on_capture(&mut header.sequence, header.capture_thread, step);
    } else {
        watch.on_next(&mut header.sequence, header.metadata_id);
    }
    if flags & flag::THREAD != 0 {
        (header.thread, at) = id64(window, at, watch);
        watch.on_thread(header.thread);
    }
    if flags & flag::STACK != 0 {
        (header.stack, at) = id32(window, at, watch);
        watch.on_stack(header.stack);
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

/// Decodes a compressed header of versions 4 and 5 ([FORMAT.md
/// 6.3](crate::format_guide#6.3)) and returns its length. `header` is unusable afterwards
/// if [`Watch::on_wrong`] was called.
#[inline(always)]
#[expect(clippy::arithmetic_side_effects, reason = "`at` is below 128, and so is what is added")]
pub(crate) fn compressed_v4(
    header: &mut BlobHeader,
    window: &[u8; WINDOW],
    watch: &mut impl Watch,
) -> usize {
    let flags = byte(window, 0);
    let mut at = front(header, window, flags, watch);
    if flags & (flag::ACTIVITY | flag::RELATED_ACTIVITY) == 0 {
        // A separate path, so that the compiler can see the bound of `at`.
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

/// Decodes a compressed header of version 6 ([FORMAT.md 7.4](crate::format_guide#7.4))
/// and returns its length. Flag 0x20 has no meaning there and announces no bytes.
#[inline(always)]
pub(crate) fn compressed_v6(
    header: &mut BlobHeader,
    window: &[u8; WINDOW],
    watch: &mut impl Watch,
) -> usize {
    let flags = byte(window, 0);
    let mut at = front(header, window, flags, watch);
    header.has_reserved_flag = flags & flag::RELATED_ACTIVITY != 0;
    if flags & (flag::LABEL_LIST | flag::RELATED_ACTIVITY) == 0 {
        return back(header, window, flags, at, watch);
    }
    if flags & flag::LABEL_LIST != 0 {
        (header.label_list, at) = id32(window, at, watch);
    }
    watch.on_labels(header.label_list, header.has_reserved_flag);
    back(header, window, flags, at, watch)
}
