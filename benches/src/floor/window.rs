//! The smallest safe decoder of event headers: one function, a window of 128 bytes in
//! which no index needs a check, state changed in place, blocks walked by position.

use nom::error::{Error, ErrorKind};
use nom::{Err, IResult};

use super::{Encoding, Header, Rows, fold};
use crate::checksum::Checksum;

const WINDOW: usize = 128;

/// More than any header has, and any block holds.
const WRONG: usize = 1 << 40;

type Window = [u8; WINDOW];

#[inline(always)]
fn byte(window: &Window, at: usize) -> u8 {
    window[at % WINDOW]
}

#[inline(always)]
fn id(window: &Window, at: usize) -> (u64, usize) {
    let first = byte(window, at);
    if first < 0x80 {
        return (u64::from(first), at + 1);
    }
    let second = byte(window, at + 1);
    if second < 0x80 {
        return (u64::from(first & 0x7f) | u64::from(second) << 7, at + 2);
    }
    long(window, at)
}

#[inline(always)]
fn id32(window: &Window, at: usize) -> (u32, usize) {
    let (value, at) = id(window, at);
    (value as u32, at)
}

#[inline(always)]
fn delta(window: &Window, at: usize) -> (u64, usize) {
    let [a, b, c, d] = [0, 1, 2, 3].map(|index| byte(window, at + index));
    if a < 0x80 {
        return (u64::from(a), at + 1);
    }
    if b < 0x80 {
        return (u64::from(a & 0x7f) | u64::from(b) << 7, at + 2);
    }
    let low = u64::from(a & 0x7f) | u64::from(b & 0x7f) << 7;
    if c < 0x80 {
        return (low | u64::from(c) << 14, at + 3);
    }
    if d < 0x80 {
        return (low | u64::from(c & 0x7f) << 14 | u64::from(d) << 21, at + 4);
    }
    long(window, at)
}

/// Indices go by value, so that the caller's state stays in registers.
#[inline(never)]
fn long(window: &Window, at: usize) -> (u64, usize) {
    let mut value = 0;
    for index in 0..10 {
        let part = byte(window, at + index);
        value |= u64::from(part & 0x7f) << (7 * index);
        if part < 0x80 {
            return (value, at + index + 1);
        }
    }
    (0, WRONG)
}

#[inline(always)]
fn guid(window: &Window, at: usize) -> u128 {
    window
        .get(at..)
        .and_then(|rest| rest.first_chunk())
        .map_or(0, |bytes| u128::from_le_bytes(*bytes))
}

/// Decodes one header in place and gives its size.
#[inline(always)]
fn compressed(header: &mut Header, window: &Window, is_v6: bool) -> usize {
    let flags = byte(window, 0);
    let mut at = 1;
    if flags & 0x01 != 0 {
        (header.metadata_id, at) = id32(window, at);
    }
    if flags & 0x02 != 0 {
        let step;
        (step, at) = id32(window, at);
        (header.capture_thread, at) = id(window, at);
        (header.processor, at) = id32(window, at);
        header.sequence = header.sequence.wrapping_add(step).wrapping_add(1);
    } else {
        header.sequence = header.sequence.wrapping_add(u32::from(header.metadata_id != 0));
    }
    if flags & 0x04 != 0 {
        (header.thread, at) = id(window, at);
    }
    if flags & 0x08 != 0 {
        (header.stack, at) = id32(window, at);
    }
    let step;
    (step, at) = delta(window, at);
    header.timestamp = header.timestamp.wrapping_add(step);
    if is_v6 {
        if flags & 0x10 != 0 {
            (header.label_list, at) = id32(window, at);
        }
    } else if flags & 0x30 != 0 {
        if flags & 0x10 != 0 {
            header.activity = guid(window, at);
            at += 16;
        }
        if flags & 0x20 != 0 {
            header.related = guid(window, at);
            at += 16;
        }
    }
    header.is_sorted = flags & 0x40 != 0;
    if flags & 0x80 != 0 {
        (header.payload_size, at) = id32(window, at);
    }
    at
}

/// A header that lies near the stream's end: a copy that zeros follow. State goes by
/// value.
#[cold]
#[inline(never)]
fn compressed_tail(mut header: Header, rest: &[u8], is_v6: bool) -> (Header, usize) {
    let mut window = [0; WINDOW];
    let length = rest.len().min(WINDOW);
    window[..length].copy_from_slice(&rest[..length]);
    let size = compressed(&mut header, &window, is_v6);
    (header, size)
}

#[inline(always)]
fn compressed_rows(stream: &[u8], rows: Rows, is_v6: bool, sum: &mut Checksum) -> Option<()> {
    let (mut header, mut at) = (Header::default(), rows.start);
    let mut local = *sum;
    while at < rows.end {
        let rest = stream.get(at..)?;
        let size = match rest.first_chunk() {
            Some(window) => compressed(&mut header, window, is_v6),
            None => {
                let size;
                (header, size) = compressed_tail(header, rest, is_v6);
                size
            }
        };
        // Neither is large enough to overflow.
        at += size + header.payload_size as usize;
        if at > rows.end {
            return None;
        }
        local.stored(&header);
    }
    *sum = local;
    Some(())
}

/// One fixed header of version 6, 52 bytes: the place of the next row.
#[inline(always)]
fn fixed_v6(header: &mut Header, bytes: &[u8; 52]) -> usize {
    let u32_at =
        |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let u64_at = |at: usize| u64::from(u32_at(at)) | u64::from(u32_at(at + 4)) << 32;
    let id = u32_at(4);
    header.metadata_id = id & 0x7fff_ffff;
    header.is_sorted = id >> 31 == 0;
    header.sequence = u32_at(8);
    header.thread = u64_at(12);
    header.capture_thread = u64_at(20);
    header.processor = u32_at(28);
    header.stack = u32_at(32);
    header.timestamp = u64_at(36);
    header.label_list = u32_at(44);
    header.payload_size = u32_at(48);
    u32_at(0) as usize + 4
}

#[inline(always)]
fn fixed_rows_v6(stream: &[u8], rows: Rows, sum: &mut Checksum) -> Option<()> {
    let mut rest = stream.get(rows.start..rows.end)?;
    let mut header = Header::default();
    let mut local = *sum;
    while let Some(bytes) = rest.first_chunk() {
        let size = fixed_v6(&mut header, bytes);
        rest = rest.get(size..)?;
        local.stored(&header);
    }
    *sum = local;
    rest.is_empty().then_some(())
}

/// Decodes all headers.
#[inline(never)]
pub fn decode(stream: &[u8], blocks: &[Rows]) -> Checksum {
    fold(blocks, |rows, sum| match rows.encoding {
        Encoding::CompressedV4 => compressed_rows(stream, rows, false, sum),
        Encoding::CompressedV6 => compressed_rows(stream, rows, true, sum),
        Encoding::FixedV6 => fixed_rows_v6(stream, rows, sum),
    })
}

/// One event behind nom's signature: the payload is the output.
#[inline(always)]
fn event<'a>(header: &mut Header, input: &'a [u8], is_v6: bool) -> IResult<&'a [u8], &'a [u8]> {
    let size = match input.first_chunk() {
        Some(window) => compressed(header, window, is_v6),
        None => {
            let size;
            (*header, size) = compressed_tail(*header, input, is_v6);
            size
        }
    };
    let found =
        input.get(size..).and_then(|rest| rest.split_at_checked(header.payload_size as usize));
    match found {
        Some((payload, rest)) => Ok((rest, payload)),
        None => Err(Err::Error(Error::new(input, ErrorKind::Eof))),
    }
}

/// Decodes all headers through `event`, block by block as slices that shrink.
#[inline(never)]
pub fn decode_by_nom_signature(stream: &[u8], blocks: &[Rows]) -> Checksum {
    fold(blocks, |rows, sum| {
        if rows.encoding == Encoding::FixedV6 {
            return fixed_rows_v6(stream, rows, sum);
        }
        let is_v6 = rows.encoding == Encoding::CompressedV6;
        let mut rest = stream.get(rows.start..rows.end)?;
        let mut header = Header::default();
        let mut local = *sum;
        while !rest.is_empty() {
            (rest, _) = event(&mut header, rest, is_v6).ok()?;
            local.stored(&header);
        }
        *sum = local;
        Some(())
    })
}
