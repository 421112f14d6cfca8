//! Reads sequence points, which promise that no later event is older, and list each thread's
//! last sequence number (FORMAT.md 6.9, 7.9).
//!
//! | offset | bytes | V4, V5 | V6 |
//! |---|---|---|---|
//! | 0 | 8 | timestamp, u64 ticks | same |
//! | 8 | 4 | thread count, u32 | flags, u32: 1 forget threads, 2 forget metadata |
//! | 12 | 4 | | thread count, u32 |
//! | 12 / 16 | … | entries: thread id u64, sequence number u32 | entries: thread index varuint64, sequence number varuint32 |

use super::rows;
use crate::bytes::{Parsed, before, u32, u64, varuint32, varuint64};
use crate::damage::BlockDamage;
use crate::error::{Fault, located};
use nom::Parser;

/// Part of a sequence point that comes before its entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SequencePoint {
    /// Time in ticks of the event clock; no later event is older.
    pub timestamp: u64,
    /// Whether the reader must forget all threads here (version 6).
    pub forgets_threads: bool,
    /// Whether the reader must forget all event types here (version 6).
    pub forgets_metadata: bool,
    /// Number of entries, one per thread.
    pub thread_count: u32,
}

const FLAG_THREADS: u32 = 1;
const FLAG_METADATA: u32 = 2;

/// Returns the timestamp of a sequence point in ticks, given its content in any version.
pub(crate) fn timestamp_of(content: &[u8]) -> Option<u64> {
    u64(content).ok().map(|(_, timestamp)| timestamp)
}

/// Reads the part of a version 4 or 5 sequence point before its entries ([FORMAT.md
/// 6.9](crate::format_guide#6.9)): u64 timestamp, u32 count.
///
/// # Errors
/// [`Fault::Truncated`].
pub fn header_v4(input: &[u8]) -> Parsed<'_, SequencePoint> {
    let (rest, (timestamp, thread_count)) = (u64, u32).parse(input)?;
    Ok((
        rest,
        SequencePoint { timestamp, forgets_threads: false, forgets_metadata: false, thread_count },
    ))
}

/// Reads the part of a version 6 sequence point before its entries ([FORMAT.md
/// 7.9](crate::format_guide#7.9)): u64 timestamp, u32 flags (1: forget threads, 2: forget
/// metadata), u32 count.
///
/// # Errors
/// [`Fault::Truncated`].
pub fn header_v6(input: &[u8]) -> Parsed<'_, SequencePoint> {
    let (rest, (timestamp, flags, thread_count)) = (u64, u32, u32).parse(input)?;
    let point = SequencePoint {
        timestamp,
        forgets_threads: flags & FLAG_THREADS != 0,
        forgets_metadata: flags & FLAG_METADATA != 0,
        thread_count,
    };
    Ok((rest, point))
}

/// Reads an entry of a version 4 or 5 sequence point: the u64 id of a thread, and the u32
/// sequence number of its last event.
///
/// # Errors
/// [`Fault::Truncated`].
pub fn entry_v4(input: &[u8]) -> Parsed<'_, (u64, u32)> {
    (u64, u32).parse(input)
}

/// Reads an entry of a version 6 sequence point or RemoveThread block: the varuint64
/// index of a thread, and the varuint32 sequence number of its last event.
///
/// # Errors
/// The errors of [`varuint64`].
pub fn entry_v6(input: &[u8]) -> Parsed<'_, (u64, u32)> {
    (varuint64, varuint32).parse(input)
}

/// Reads the part of a version 6 sequence point before its entries, and returns the stated number
/// of entries.
pub(crate) fn first_entry_v6(content: &[u8]) -> Parsed<'_, Option<u32>> {
    header_v6(content).map(|(rest, point)| (rest, Some(point.thread_count)))
}

/// Steps over an entry of a version 6 sequence point.
pub(crate) fn next_entry_v6(input: &[u8]) -> Parsed<'_, ()> {
    entry_v6(input).map(|(rest, _)| (rest, ()))
}

/// Returns whether the content of a version 4 or 5 sequence point has exactly the stated number of
/// entries.
pub(crate) fn is_whole_v4(content: &[u8]) -> bool {
    let Ok((rest, point)) = header_v4(content) else { return false };
    u64::from(point.thread_count).checked_mul(12) == Some(rest.len() as u64)
}

/// Returns whether the content of a version 6 sequence point, `len` bytes long, can begin
/// with these bytes.
pub(crate) fn begins_v6(len: usize, content: &[u8]) -> bool {
    let Ok((_, point)) = header_v6(content) else { return false };
    let has_known_flags =
        u32(content.get(8..).unwrap_or_default()).is_ok_and(|(_, flags)| flags <= 3);
    let (entries, count) = (len.saturating_sub(16), point.thread_count as usize);
    // An entry has 2 to 15 bytes.
    let fits = count.checked_mul(2).is_some_and(|min_bytes| min_bytes <= entries)
        && count.checked_mul(15).is_none_or(|max_bytes| entries <= max_bytes);
    has_known_flags && fits
}

/// Returns whether the content of a RemoveThread block, `len` bytes long, can begin with these
/// bytes.
pub(crate) fn begins_removals(len: usize, content: &[u8]) -> bool {
    let mut rest = content;
    while let Ok((after, _)) = entry_v6(rest) {
        rest = after;
    }
    // A block removes few threads. The available bytes may end within a pair.
    len <= 4096
        && !content.is_empty()
        && (rest.is_empty() || (len > content.len() && rest.len() < 15))
}

/// Reads the content of a sequence point with the functions `header` and `entry` of its version.
/// Passes each thread to `take` with its last sequence number and the entry's offset. Also returns
/// the offset after the entries if more bytes follow; no writer stores any, so they may belong to
/// other blocks. `None` if even the header could not be read.
pub(crate) fn payload<'a>(
    content: &'a [u8],
    damage: &mut BlockDamage<'_>,
    header: impl Fn(&'a [u8]) -> Parsed<'a, SequencePoint>,
    entry: impl Fn(&'a [u8]) -> Parsed<'a, (u64, u32)>,
    mut take: impl FnMut(u64, u32, usize, &mut BlockDamage<'_>),
) -> Option<(SequencePoint, Option<usize>)> {
    let (mut rest, point) = rows::read_header(content, "sequence point", damage, header)?;
    for found in 0..point.thread_count {
        let at = before(content, rest);
        match entry(rest) {
            Ok((after, (thread, number))) => {
                take(thread, number, at, damage);
                rest = after;
            }
            Err(error) => {
                let error = located(rest, error);
                let fault = match error.fault {
                    Fault::Truncated => Fault::Count {
                        stated: u64::from(point.thread_count),
                        found: u64::from(found),
                    },
                    fault => fault,
                };
                damage.add_lost_rest(at, rest.len(), "sequence point entry", fault);
                return Some((point, None));
            }
        }
    }
    Some((point, (!rest.is_empty()).then(|| before(content, rest))))
}

/// Reads the content of a RemoveThread block (version 6), which consists of pairs, and passes
/// each thread index to `take` with the thread's last sequence number and the pair's offset.
pub(crate) fn removals(
    content: &[u8],
    damage: &mut BlockDamage<'_>,
    mut take: impl FnMut(u64, u32, usize, &mut BlockDamage<'_>),
) {
    rows::read_each(
        content,
        content,
        "thread removal",
        damage,
        entry_v6,
        |at, (thread, number), damage| {
            take(thread, number, at, damage);
        },
    );
}
