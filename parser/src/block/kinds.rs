//! Table of block kinds, which has all facts about a kind that framing, rows, recovery, statistics
//! and checks need.

use super::{event, label_list, metadata, sequence_point, stack, thread, trace};
use crate::bytes::Parsed;
use crate::frame::BlockKind;
use std::fmt;
use std::ops::RangeInclusive;

/// One kind of block.
pub(crate) struct KindRow {
    pub(crate) kind: BlockKind,
    pub(crate) name: &'static str,
    /// The kind byte in a version 6 block header.
    pub(crate) number: u8,
    /// The object type in versions 3 to 5; `None` for kinds that only version 6 has.
    pub(crate) object: Option<ObjectKind>,
    /// The section of `FORMAT.md` that describes the kind in version 6.
    pub(crate) section_v6: &'static str,
    /// Way to walk the rows in version 6.
    pub(crate) rows: RowWalk,
    /// Returns whether the content of a version 6 block, `len` bytes long, can begin with
    /// `content`, which has at most [`SIGN_BYTES`] bytes.
    pub(crate) begins: fn(len: usize, content: &[u8]) -> bool,
    /// Maximum size in bytes of a content that recovery accepts: corrupt lengths are usually
    /// larger. Outside of recovery, longer blocks are read as well.
    pub(crate) max_bytes: u32,
    /// Whether [`KindRow::begins`] is specific enough that unrelated bytes rarely pass
    /// it.
    pub(crate) is_telling: bool,
    /// Whether recovery may resume at a block of this kind.
    pub(crate) is_searched: bool,
}

/// An object type of versions 3 to 5.
pub(crate) struct ObjectKind {
    pub(crate) name: &'static [u8],
    /// Versions of the type that writers use.
    pub(crate) versions: RangeInclusive<i32>,
    /// Reader version of this crate for the type: it reads objects whose minimum reader version is
    /// at most this.
    pub(crate) reader: i32,
    /// The sections of `FORMAT.md` for version 3 and for versions 4 and 5.
    pub(crate) sections: [&'static str; 2],
}

/// A function that steps over a row.
pub(crate) type StepOver = fn(&[u8]) -> Parsed<'_, ()>;

/// Way to walk the rows of a version 6 block.
pub(crate) enum RowWalk {
    /// A cursor walks the rows, whose headers inherit from each other.
    Blobs,
    /// The content is one row.
    Whole(StepOver),
    /// `first` reads the bytes before the first row and returns the stated number of rows, if
    /// any; `next` steps over a row.
    Each { first: fn(&[u8]) -> Parsed<'_, Option<u32>>, next: StepOver },
}

/// Reads nothing, for blocks that begin with their first row.
fn at_once(content: &[u8]) -> Parsed<'_, Option<u32>> {
    Ok((content, None))
}

impl ObjectKind {
    const fn block(name: &'static [u8], sections: [&'static str; 2]) -> Option<ObjectKind> {
        Some(ObjectKind { name, versions: 1..=2, reader: 2, sections })
    }
}

/// Number of bytes of content that [`KindRow::begins`] examines.
pub(crate) const SIGN_BYTES: usize = 40;

/// Maximum size in bytes of blocks other than event blocks. The format allows larger ones, but
/// no writer makes them.
pub(crate) const MAX_OTHER_BYTES: u32 = 1 << 20;

/// All known kinds. A new kind needs a file beside this one, a row here, and an arm in
/// `reader/apply.rs`.
pub(crate) static KINDS: [KindRow; 8] = [
    KindRow {
        kind: BlockKind::Trace,
        name: "Trace",
        number: 1,
        object: Some(ObjectKind {
            name: b"Trace",
            versions: 3..=4,
            reader: 4,
            sections: ["4", "4"],
        }),
        section_v6: "7.2",
        rows: RowWalk::Whole(trace::skip_v6),
        begins: |_, content| trace::begins_v6(content),
        max_bytes: MAX_OTHER_BYTES,
        is_telling: false,
        // It is the first block of a stream: recovery begins after it.
        is_searched: false,
    },
    KindRow {
        kind: BlockKind::Event,
        name: "Event",
        number: 2,
        object: ObjectKind::block(b"EventBlock", ["5", "6.3"]),
        section_v6: "7.4",
        rows: RowWalk::Blobs,
        begins: event::begins,
        max_bytes: 4 << 20,
        is_telling: true,
        is_searched: true,
    },
    KindRow {
        kind: BlockKind::Metadata,
        name: "Metadata",
        number: 3,
        object: ObjectKind::block(b"MetadataBlock", ["6.4", "6.4"]),
        section_v6: "7.3",
        rows: RowWalk::Each { first: metadata::first_row_v6, next: metadata::next_row_v6 },
        begins: metadata::begins_v6,
        max_bytes: MAX_OTHER_BYTES,
        is_telling: false,
        is_searched: true,
    },
    KindRow {
        kind: BlockKind::SequencePoint,
        name: "SequencePoint",
        number: 4,
        object: ObjectKind::block(b"SPBlock", ["6.9", "6.9"]),
        section_v6: "7.9",
        rows: RowWalk::Each {
            first: sequence_point::first_entry_v6,
            next: sequence_point::next_entry_v6,
        },
        begins: sequence_point::begins_v6,
        max_bytes: MAX_OTHER_BYTES,
        is_telling: true,
        is_searched: true,
    },
    KindRow {
        kind: BlockKind::Stack,
        name: "Stack",
        number: 5,
        object: ObjectKind::block(b"StackBlock", ["6.8", "6.8"]),
        section_v6: "7.5",
        rows: RowWalk::Each { first: stack::first_row, next: stack::next_row },
        begins: stack::begins,
        max_bytes: MAX_OTHER_BYTES,
        is_telling: true,
        is_searched: true,
    },
    KindRow {
        kind: BlockKind::Thread,
        name: "Thread",
        number: 6,
        object: None,
        section_v6: "7.6",
        rows: RowWalk::Each { first: at_once, next: thread::next_row },
        begins: thread::begins,
        max_bytes: MAX_OTHER_BYTES,
        is_telling: false,
        is_searched: true,
    },
    KindRow {
        kind: BlockKind::RemoveThread,
        name: "RemoveThread",
        number: 7,
        object: None,
        section_v6: "7.7",
        rows: RowWalk::Each { first: at_once, next: sequence_point::next_entry_v6 },
        begins: sequence_point::begins_removals,
        max_bytes: MAX_OTHER_BYTES,
        is_telling: false,
        // Any two numbers form a valid row, so this kind proves nothing.
        is_searched: false,
    },
    KindRow {
        kind: BlockKind::LabelList,
        name: "LabelList",
        number: 8,
        object: None,
        section_v6: "7.8",
        rows: RowWalk::Each { first: stack::first_row, next: label_list::next_list },
        begins: label_list::begins,
        max_bytes: MAX_OTHER_BYTES,
        is_telling: false,
        is_searched: true,
    },
];

/// Number of known kinds, plus one slot shared by all unknown kinds.
pub(crate) const COUNT: usize = KINDS.len() + 1;

impl BlockKind {
    /// Returns the kind's row in the table; `None` for unknown kinds.
    pub(crate) fn row(self) -> Option<&'static KindRow> {
        KINDS.iter().find(|row| row.kind == self)
    }

    /// Returns whether the content of a version 6 block of this kind, `len` bytes long, can begin
    /// with `content`: its first [`SIGN_BYTES`] bytes, or all of it if it is shorter (FORMAT.md
    /// 13.3). `false` for unknown kinds.
    pub(crate) fn can_begin(self, len: u32, content: &[u8]) -> bool {
        self.row().is_some_and(|row| len <= row.max_bytes && (row.begins)(len as usize, content))
    }

    /// Returns the kind with this number in version 6; `None` for 0, which ends the
    /// stream.
    pub(crate) fn from_number(number: u8) -> Option<BlockKind> {
        let known = KINDS.iter().find(|row| row.number == number).map(|row| row.kind);
        known.or((number != 0).then_some(BlockKind::Unknown(number)))
    }

    /// Returns the kind of objects with this type name, versions 3 to 5.
    pub(crate) fn from_object(name: &[u8]) -> BlockKind {
        let is_of = |row: &&KindRow| row.object.as_ref().is_some_and(|object| object.name == name);
        KINDS.iter().find(is_of).map_or(BlockKind::UNKNOWN_OBJECT, |row| row.kind)
    }

    /// Returns all known kinds, then one that stands for every unknown kind.
    pub fn all() -> impl Iterator<Item = BlockKind> + Clone {
        KINDS.iter().map(|row| row.kind).chain([BlockKind::UNKNOWN_OBJECT])
    }

    /// Returns the kind's name in the format, such as `SequencePoint`.
    pub fn as_str(self) -> &'static str {
        self.row().map_or("Unknown", |row| row.name)
    }

    /// Returns the kind's index in [`BlockKind::all`].
    pub(crate) fn index(self) -> usize {
        KINDS.iter().position(|row| row.kind == self).unwrap_or(KINDS.len())
    }
}

impl fmt::Display for BlockKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_type_names_lead_to_the_kind_that_has_them() {
        for (place, row) in KINDS.iter().enumerate() {
            assert_eq!(usize::from(row.number), place + 1, "numbers rise by one");
            assert_eq!(BlockKind::from_number(row.number), Some(row.kind));
            if let Some(object) = &row.object {
                assert_eq!(BlockKind::from_object(object.name), row.kind);
            }
        }
        assert_eq!(BlockKind::from_number(0), None);
        assert_eq!(BlockKind::from_number(9), Some(BlockKind::Unknown(9)));
        assert_eq!(BlockKind::from_object(b"GCBlock"), BlockKind::UNKNOWN_OBJECT);
        let indexes: Vec<usize> = BlockKind::all().map(BlockKind::index).collect();
        assert_eq!(indexes, (0..COUNT).collect::<Vec<_>>());
    }
}
