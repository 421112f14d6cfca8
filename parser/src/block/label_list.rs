//! Label lists of version 6: facts about an event that are stored beside its header
//! (FORMAT.md 7.8).
//!
//! | offset | bytes | |
//! |---|---|---|
//! | 0 | 4 | id of the first list, u32, at least 1; the ids of further lists rise by one |
//! | 4 | 4 | number of lists, u32 |
//! | 8 | … | lists of labels: u8 kind, bit 7 set on the last label of a list, then its content |

use super::rows;
use super::stack::header;
use crate::bytes::{Parsed, before, guid, string_v6, u8, u64, varuint64, zigzag};
use crate::damage::BlockDamage;
use crate::error::{Fault, FaultAt};
use crate::work;
use nettrace_guid::Guid;
use nom::Parser;
use std::fmt;

/// One label of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Label<'r> {
    /// Activity id of the event.
    ActivityId(Guid),
    /// Related activity id of the event.
    RelatedActivityId(Guid),
    /// W3C trace id of the event, with its bytes in stored order.
    TraceId(TraceId),
    /// W3C span id of the event.
    SpanId(u64),
    /// A key with a text.
    Text {
        /// Key, in UTF-8 unless the writer made a mistake.
        key: &'r [u8],
        /// Text, in UTF-8 unless the writer made a mistake.
        value: &'r [u8],
    },
    /// A key with a number.
    Number {
        /// Key, in UTF-8 unless the writer made a mistake.
        key: &'r [u8],
        /// Number, zigzag-decoded as the format requires.
        value: i64,
        /// Number without zigzag decoding.
        ///
        /// Quirk: one-collect does not zigzag-encode, so its 4 decodes as 2 ([FORMAT.md
        /// Q14](crate::format_guide#Q14)). Use this field for traces of one-collect.
        raw: u64,
    },
    /// Opcode of the event, which replaces the opcode of its type.
    Opcode(u8),
    /// Keywords of the event, which replace the keywords of its type.
    Keywords(u64),
    /// Level of the event, which replaces the level of its type.
    Level(u8),
    /// Version of the event, which replaces the version of its type.
    Version(u8),
}

/// A W3C trace id: 16 bytes, displayed as 32 hex digits in stored order, unlike a GUID.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceId(pub [u8; 16]);

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

const LAST: u8 = 0x80;

/// Reads a label, and returns whether it is the last of its list ([FORMAT.md
/// 7.8](crate::format_guide#7.8)). Version 6.
///
/// # Errors
/// [`Fault::UnknownEntry`]: labels of unknown kinds have an unknown size, so the rest of the
/// block cannot be read. Also the errors of reading the label's value.
pub fn label(input: &[u8]) -> Parsed<'_, (Label<'_>, bool)> {
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

/// Reads a list of labels, up to the label marked as the last, and returns its bytes.
///
/// # Errors
/// The errors of [`label`].
pub fn list(input: &[u8]) -> Parsed<'_, &[u8]> {
    let mut rest = input;
    loop {
        work::count(1);
        let (after, (_, is_last)) = label(rest)?;
        rest = after;
        if is_last {
            let length = before(input, rest);
            return Ok((rest, input.get(..length).unwrap_or_default()));
        }
    }
}

/// Steps over a label list.
pub(crate) fn next_list(input: &[u8]) -> Parsed<'_, ()> {
    list(input).map(|(rest, _)| (rest, ()))
}

/// Maximum size in bytes of a short list. To find a label in a short list, its labels are walked.
const MAX_WALKED_BYTES: usize = 256;
/// Byte that the table stores after the labels of a short list.
const IS_SHORT: u8 = u8::MAX;

/// Bytes that the table stores after the labels of a list. For a short list this is [`IS_SHORT`].
/// For a long list it is a copy of the last label of each kind that does not accumulate, and the
/// length of that copy in one byte, so that these labels are found without a walk.
#[derive(Debug)]
pub(crate) struct Counting {
    bytes: [u8; MAX_COUNTING_BYTES],
    length: usize,
}

/// Maximum size in bytes of [`Counting`]: three labels with values of 16 bytes, two with 8 bytes,
/// three with one byte, the kind byte of each label, and the length byte.
const MAX_COUNTING_BYTES: usize = 76;

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

/// Computes the bytes that are stored after the labels of a list.
pub(crate) fn counting(labels: &[u8]) -> Counting {
    let mut counting = Counting { bytes: [0; MAX_COUNTING_BYTES], length: 0 };
    if labels.len() <= MAX_WALKED_BYTES {
        counting.push(&[IS_SHORT]);
        return counting;
    }
    let mut last = [&[][..]; 11];
    let mut rest = labels;
    while let Ok((after, (found, _))) = label(rest) {
        let bytes = rest.get(..before(rest, after)).unwrap_or_default();
        let kind = bytes.first().map_or(0, |kind| usize::from(kind & !LAST));
        let adds_up = matches!(found, Label::Text { .. } | Label::Number { .. });
        if let Some(place) = last.get_mut(kind).filter(|_| !adds_up) {
            *place = bytes;
        }
        rest = after;
    }
    last.iter().for_each(|bytes| counting.push(bytes));
    let length = u8::try_from(counting.length).unwrap_or(IS_SHORT);
    counting.push(&[length]);
    counting
}

/// The labels of one event. Most events have none.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Labels<'r> {
    /// Valid labels, followed by their [`Counting`] bytes.
    row: &'r [u8],
}

impl<'r> Labels<'r> {
    pub(crate) fn new(row: &'r [u8]) -> Labels<'r> {
        Labels { row }
    }

    /// Returns the bytes of all labels, and bytes that contain at least the last label of each
    /// kind that does not accumulate.
    fn parts(&self) -> (&'r [u8], &'r [u8]) {
        let Some((length, bytes)) = self.row.split_last() else { return Default::default() };
        if *length == IS_SHORT {
            return (bytes, bytes);
        }
        let labels = bytes.len().saturating_sub(usize::from(*length));
        bytes.split_at_checked(labels).unwrap_or_default()
    }

    /// Returns the row as it is kept in tables.
    pub(crate) fn row(&self) -> &'r [u8] {
        self.row
    }

    /// Returns whether the event has no labels.
    pub fn is_empty(&self) -> bool {
        self.row.is_empty()
    }

    /// Returns the labels in stored order. If a kind occurs more than once, only its last label
    /// counts. Texts and numbers are an exception: all of them count.
    pub fn iter(&self) -> impl Iterator<Item = Label<'r>> + use<'r> {
        labels_in(self.parts().0)
    }

    /// Returns the last value that `pick` finds. `pick` must not look for texts or numbers.
    pub(crate) fn last<T>(&self, pick: impl Fn(Label<'r>) -> Option<T>) -> Option<T> {
        if self.row.is_empty() {
            return None;
        }
        labels_in(self.parts().1).filter_map(pick).last()
    }
}

/// Returns the labels that these bytes, which must be valid, contain.
pub(crate) fn labels_in<'r>(bytes: &'r [u8]) -> impl Iterator<Item = Label<'r>> + use<'r> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        work::count(1);
        let (after, (label, _)) = label(rest).ok()?;
        rest = after;
        Some(label)
    })
}

impl fmt::Debug for Labels<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Returns whether the content of a label list block, `len` bytes long, can begin with these
/// bytes.
pub(crate) fn begins(len: usize, content: &[u8]) -> bool {
    let Ok((rest, (first_id, count))) = header(content) else { return false };
    let lists = len.saturating_sub(8);
    if count == 0 {
        return lists == 0;
    }
    let has_room = (count as usize).checked_mul(2).is_some_and(|min_bytes| min_bytes <= lists);
    first_id != 0 && has_room && rest.first().is_some_and(|kind| (1..=10).contains(&(kind & !LAST)))
}

/// Reads the lists of a block and passes each on with its id. A label of unknown kind has an
/// unknown size, so only the lists before it are kept.
pub(crate) fn block<'a>(
    content: &'a [u8],
    damage: &mut BlockDamage<'_>,
    mut define: impl FnMut(u32, &'a [u8], usize, &mut BlockDamage<'_>),
) {
    let Some((rest, (first_id, count))) =
        rows::read_header(content, "label list header", damage, header)
    else {
        return;
    };
    let mut id = first_id;
    let found = rows::read_each(content, rest, "label list", damage, list, |at, labels, damage| {
        match id {
            0 => damage.note(at, "label list", Fault::DefinesNothing(0)),
            id => define(id, labels, at, damage),
        }
        id = id.wrapping_add(1);
    });
    if let Some(found) = found {
        rows::check_count(count, found, "label list count", damage);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns labels that run through all kinds again and again, with different values; the
    /// last label is marked.
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
