//! Label lists of version 6: what an event carries beside its header (FORMAT.md 7.8).
//!
//! | offset | bytes | |
//! |---|---|---|
//! | 0 | 4 | id of the first list, u32, at least 1; each next is one more |
//! | 4 | 4 | number of lists, u32 |
//! | 8 | … | lists of labels: u8 kind, bit 7 set on the last label of a list, then its content |

use crate::damage::BlockDamage;
use crate::error::{At, Fault, located};
use crate::guid::Guid;
use crate::primitive::{Parsed, before, guid, string_v6, u8, u32, u64, varuint64, zigzag};
use crate::work;
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
        /// Quirk: one-collect writes numbers plainly, 4 then reads as 2 (FORMAT.md Q14).
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
fn label(input: &[u8]) -> Parsed<'_, (Label<'_>, bool)> {
    let (rest, kind) = u8(input)?;
    let (rest, label) = match kind & !LAST {
        1 => guid(rest).map(|(rest, id)| (rest, Label::ActivityId(id)))?,
        2 => guid(rest).map(|(rest, id)| (rest, Label::RelatedActivityId(id)))?,
        3 => guid(rest).map(|(rest, id)| (rest, Label::TraceId(TraceId(id.to_bytes()))))?,
        4 => u64(rest).map(|(rest, id)| (rest, Label::SpanId(id)))?,
        5 => {
            let (rest, (key, value)) = (string_v6, string_v6).parse(rest)?;
            (rest, Label::Text { key, value })
        }
        6 => {
            let (rest, (key, raw)) = (string_v6, varuint64).parse(rest)?;
            (rest, Label::Number { key, value: zigzag(raw), raw })
        }
        7 => u8(rest).map(|(rest, opcode)| (rest, Label::Opcode(opcode)))?,
        8 => u64(rest).map(|(rest, keywords)| (rest, Label::Keywords(keywords)))?,
        9 => u8(rest).map(|(rest, level)| (rest, Label::Level(level)))?,
        10 => u8(rest).map(|(rest, version)| (rest, Label::Version(version)))?,
        other => return At::error(input, Fault::UnknownEntry(other)),
    };
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

/// The labels of one event. Empty for most.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Labels<'r> {
    /// Labels that were read once and found to be whole.
    bytes: &'r [u8],
}

impl<'r> Labels<'r> {
    pub(crate) fn new(bytes: &'r [u8]) -> Labels<'r> {
        Labels { bytes }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The labels in stored order. Of kinds that occur twice the last counts, but for texts and
    /// numbers, which add up.
    pub fn iter(&self) -> impl Iterator<Item = Label<'r>> + use<'r> {
        let mut rest = self.bytes;
        std::iter::from_fn(move || {
            let (behind, (label, _)) = label(rest).ok()?;
            rest = behind;
            Some(label)
        })
    }

    /// The last value that `pick` finds.
    pub(crate) fn last<T>(&self, pick: impl Fn(Label<'r>) -> Option<T>) -> Option<T> {
        if self.bytes.is_empty() {
            return None;
        }
        self.iter().filter_map(pick).last()
    }
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
