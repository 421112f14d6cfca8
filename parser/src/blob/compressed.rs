//! Compressed headers, the fast way.
//!
//! The hot path of the whole crate: one function a version, without allocation, that changes the
//! block's running header in place. It looks at a window of 128 bytes, longer than any header, so
//! that no read needs a check; a header near the end of the input, and one that turns out to be
//! wrong, goes through the careful twin, which says what is wrong.

use super::{BlobHeader, flag};
use crate::guid::Guid;

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
