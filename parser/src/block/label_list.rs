//! Label lists of version 6: what an event carries beside its header (FORMAT.md 7.8).
//!
//! | offset | bytes | |
//! |---|---|---|
//! | 0 | 4 | id of the first list, u32, at least 1; each next is one more |
//! | 4 | 4 | number of lists, u32 |
//! | 8 | … | lists of labels: u8 kind, bit 7 set on the last label of a list, then its content |

use crate::damage::BlockDamage;
use crate::error::{Fault, FaultAt, located};
use crate::primitive::{Parsed, before, guid, string_v6, u8, u32, u64, varuint64, zigzag};
use crate::work;
use nettrace_guid::Guid;
use nom::Parser;
use std::fmt;

/// One label of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Label<'r> {
    /// Activity id.
    ActivityId(Guid),
    /// Related activity id.
    RelatedActivityId(Guid),
    /// W3C trace id, in stored order.
    TraceId(TraceId),
    /// W3C span id.
    SpanId(u64),
    /// A key with a text.
    Text {
        /// The key, UTF-8 unless the writer erred.
        key: &'r [u8],
        /// The text.
        value: &'r [u8],
    },
    /// A key with a number.
    Number {
        /// The key.
        key: &'r [u8],
        /// The number, as the format says: zigzag.
        value: i64,
        /// The same bits without zigzag.
        ///
        /// Quirk: one-collect writes numbers plainly, 4 then reads as 2 ([FORMAT.md Q14](crate::format_guide#Q14)).
        raw: u64,
    },
    /// Overrides the metadata's opcode.
    Opcode(u8),
    /// Overrides the metadata's keywords.
    Keywords(u64),
    /// Overrides the metadata's level.
    Level(u8),
    /// Overrides the metadata's version.
    Version(u8),
}

/// A W3C trace id: 16 bytes, shown as 32 hex digits in stored order, not as a guid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceId(pub [u8; 16]);

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

const LAST: u8 = 0x80;

/// One label, and whether it is the last of its list.
pub(crate) fn label(input: &[u8]) -> Parsed<'_, (Label<'_>, bool)> {
    let (rest, kind) = u8(input)?;
    let (rest, label) = match kind & !LAST {
        1 => guid.map(Label::ActivityId).parse(rest),
        2 => guid.map(Label::RelatedActivityId).parse(rest),
        3 => guid.map(|id| Label::TraceId(TraceId(id.to_bytes()))).parse(rest),
        4 => u64.map(Label::SpanId).parse(rest),
        5 => (string_v6, string_v6).map(|(key, value)| Label::Text { key, value }).parse(rest),
        6 => (string_v6, varuint64)
            .map(|(key, raw)| Label::Number { key, value: zigzag(raw), raw })
            .parse(rest),
        7 => u8.map(Label::Opcode).parse(rest),
        8 => u64.map(Label::Keywords).parse(rest),
        9 => u8.map(Label::Level).parse(rest),
        10 => u8.map(Label::Version).parse(rest),
        other => FaultAt::error(input, Fault::UnknownEntry(other)),
    }?;
    Ok((rest, (label, kind & LAST != 0)))
}

/// One list: the bytes of its labels.
pub(crate) fn list(input: &[u8]) -> Parsed<'_, &[u8]> {
    let mut rest = input;
    loop {
        work::count(1);
        let (behind, (_, is_last)) = label(rest)?;
        rest = behind;
        if is_last {
            let length = before(input, rest);
            return Ok((rest, input.get(..length).unwrap_or_default()));
        }
    }
}

/// Steps over a list.
pub(crate) fn next_list(input: &[u8]) -> Parsed<'_, ()> {
    list(input).map(|(rest, _)| (rest, ()))
}

/// Longer lists are not walked each time that an event is asked for one of its labels.
const SHORT: usize = 256;
/// Stands behind the labels of a short list.
const IS_SHORT: u8 = u8::MAX;

/// What is kept behind the labels of a list: of a long one those once more that count where a kind occurs twice, and
/// a byte that says how many bytes these are.
#[derive(Debug)]
pub(crate) struct Counting {
    bytes: [u8; MOST_COUNTING],
    length: usize,
}

/// Three kinds of 16 bytes, two of 8, three of one, each with its kind; and the byte behind them.
const MOST_COUNTING: usize = 76;

impl Counting {
    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    fn push(&mut self, bytes: &[u8]) {
        let end = self.length.saturating_add(bytes.len());
        if let Some(place) = self.bytes.get_mut(self.length..end) {
            place.copy_from_slice(bytes);
            self.length = end;
        }
    }
}

/// What is kept behind the labels of a list.
pub(crate) fn counting(labels: &[u8]) -> Counting {
    let mut counting = Counting { bytes: [0; MOST_COUNTING], length: 0 };
    if labels.len() <= SHORT {
        counting.push(&[IS_SHORT]);
        return counting;
    }
    let mut last = [&[][..]; 11];
    let mut rest = labels;
    while let Ok((behind, (found, _))) = label(rest) {
        let bytes = rest.get(..before(rest, behind)).unwrap_or_default();
        let kind = bytes.first().map_or(0, |kind| usize::from(kind & !LAST));
        let adds_up = matches!(found, Label::Text { .. } | Label::Number { .. });
        if let Some(of_kind) = last.get_mut(kind).filter(|_| !adds_up) {
            *of_kind = bytes;
        }
        rest = behind;
    }
    last.iter().for_each(|bytes| counting.push(bytes));
    let length = u8::try_from(counting.length).unwrap_or(IS_SHORT);
    counting.push(&[length]);
    counting
}

/// The labels of one event. Empty for most.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Labels<'r> {
    /// Labels that were read once and found to be whole, and what [`counting`] gives for them.
    row: &'r [u8],
}

impl<'r> Labels<'r> {
    pub(crate) fn new(row: &'r [u8]) -> Labels<'r> {
        Labels { row }
    }

    /// All labels, and those that count where a kind occurs twice.
    fn parts(&self) -> (&'r [u8], &'r [u8]) {
        let Some((length, bytes)) = self.row.split_last() else { return Default::default() };
        if *length == IS_SHORT {
            return (bytes, bytes);
        }
        let labels = bytes.len().saturating_sub(usize::from(*length));
        bytes.split_at_checked(labels).unwrap_or_default()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.row.is_empty()
    }

    /// The labels in stored order. Of kinds that occur twice the last counts, but for texts and
    /// numbers, which add up.
    pub fn iter(&self) -> impl Iterator<Item = Label<'r>> + use<'r> {
        labels_in(self.parts().0)
    }

    /// The last value that `pick` finds, of labels that do not add up.
    pub(crate) fn last<T>(&self, pick: impl Fn(Label<'r>) -> Option<T>) -> Option<T> {
        if self.row.is_empty() {
            return None;
        }
        labels_in(self.parts().1).filter_map(pick).last()
    }
}

/// The labels in bytes that were read once and found to be whole.
pub(crate) fn labels_in<'r>(bytes: &'r [u8]) -> impl Iterator<Item = Label<'r>> + use<'r> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        work::count(1);
        let (behind, (label, _)) = label(rest).ok()?;
        rest = behind;
        Some(label)
    })
}

impl fmt::Debug for Labels<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Header of a label list block: first id and count.
pub(crate) fn header(content: &[u8]) -> Parsed<'_, (u32, u32)> {
    (u32, u32).parse(content)
}

/// Whether content of `len` bytes may begin so.
pub(crate) fn begins(len: usize, content: &[u8]) -> bool {
    let Ok((rest, (first_id, count))) = header(content) else { return false };
    let lists = len.saturating_sub(8);
    if count == 0 {
        return lists == 0;
    }
    let has_room = (count as usize).checked_mul(2).is_some_and(|least| least <= lists);
    first_id != 0 && has_room && rest.first().is_some_and(|kind| (1..=10).contains(&(kind & !LAST)))
}

/// Reads the lists of a block and gives each with its id. An unknown kind has no size: the lists
/// before it stand, the rest of the block is lost.
pub(crate) fn block<'a>(
    content: &'a [u8],
    damage: &mut BlockDamage<'_>,
    mut define: impl FnMut(u32, &'a [u8], usize, &mut BlockDamage<'_>),
) {
    let (mut rest, (first_id, count)) = match header(content) {
        Ok(done) => done,
        Err(error) => {
            return damage.block_lost(0, content.len(), "label list header", located(content, error).fault);
        }
    };
    let (mut id, mut found) = (first_id, 0u64);
    while !rest.is_empty() {
        let at = before(content, rest);
        match list(rest) {
            Ok((behind, labels)) => {
                if id == 0 {
                    damage.note(at, "label list", Fault::DefinesNothing(0));
                } else {
                    define(id, labels, at, damage);
                }
                found = found.saturating_add(1);
                id = id.wrapping_add(1);
                rest = behind;
            }
            Err(error) => {
                return damage.rest_lost(at, rest.len(), "label list", located(rest, error).fault);
            }
        }
    }
    if found != u64::from(count) && !damage.is_cut() {
        damage.note(4, "label list count", Fault::Count { stated: u64::from(count), found });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Labels of all kinds again and again, each with other values, the last one marked.
    fn labels(count: u8) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut last_at = 0;
        for number in 0..count {
            last_at = bytes.len();
            let kind = number % 10 + 1;
            bytes.push(kind);
            match kind {
                1..=3 => bytes.extend([number; 16]),
                4 | 8 => bytes.extend([number; 8]),
                5 => bytes.extend([1, b'k', 1, b'v']),
                6 => bytes.extend([1, b'k', number & 0x7f]),
                _ => bytes.push(number),
            }
        }
        if let Some(kind) = bytes.get_mut(last_at) {
            *kind |= LAST;
        }
        bytes
    }

    #[test]
    fn of_a_long_list_the_labels_that_count_are_found_without_a_walk() {
        for count in [0, 1, 9, 10, 11, 25, 60, 255] {
            let bytes = labels(count);
            let stored = [&bytes, counting(&bytes).bytes()].concat();
            let of_row = Labels::new(&stored);
            assert_eq!(of_row.iter().count(), usize::from(count));
            assert!(of_row.iter().eq(labels_in(&bytes)));
            let picks: [fn(Label<'_>) -> Option<String>; 4] = [
                |label| matches!(label, Label::ActivityId(_)).then(|| format!("{label:?}")),
                |label| matches!(label, Label::SpanId(_)).then(|| format!("{label:?}")),
                |label| matches!(label, Label::Keywords(_)).then(|| format!("{label:?}")),
                |label| matches!(label, Label::Version(_)).then(|| format!("{label:?}")),
            ];
            work::take();
            for pick in picks {
                let found = of_row.last(pick);
                assert_eq!(found, labels_in(&bytes).filter_map(pick).last(), "{count} labels");
            }
            let walked = work::take().saturating_sub(4 * (u64::from(count) + 1));
            assert!(count < 60 || walked <= 4 * 9, "{walked} labels of {count}");
        }
    }
}
