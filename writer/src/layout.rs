//! Positions of the parts of a finished stream, so that a test can damage a chosen one.

use std::ops::Range;

/// Versions of the format ([FORMAT.md 1]).
///
/// [FORMAT.md 1]: https://docs.rs/nettrace-parser/latest/nettrace_parser/format_guide/#1
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Version {
    /// NetPerf: objects, event blobs with their stacks inside, no block header.
    V3,
    /// Nettrace 4: objects with block headers; metadata without tags.
    V4,
    /// Nettrace 4 with tags in metadata. Its stream header says 4.
    V5,
    /// Nettrace 6: blocks with 4-byte headers.
    V6,
}

impl Version {
    /// All versions, oldest first.
    pub const ALL: [Version; 4] = [Version::V3, Version::V4, Version::V5, Version::V6];

    /// Returns whether the stream consists of objects with type names, as in versions 3
    /// to 5.
    pub fn has_objects(self) -> bool {
        self < Version::V6
    }
}

/// Kind of a part of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PartKind {
    /// Magic and version, before anything else.
    StreamHeader,
    /// The `Trace` object or Trace block.
    Trace,
    /// The `EventBlock` object, or the Event block.
    Event,
    /// The `MetadataBlock` object, or the Metadata block.
    Metadata,
    /// The `StackBlock` object, or the Stack block.
    Stack,
    /// The `SPBlock` object, or the SequencePoint block.
    SequencePoint,
    /// Thread block (version 6).
    Thread,
    /// RemoveThread block (version 6).
    RemoveThread,
    /// LabelList block (version 6).
    LabelList,
    /// The NullReference tag, or the EndOfStream block.
    End,
    /// An object or block of a type that the format does not know, or raw bytes.
    Other,
}

impl PartKind {
    /// Returns the type name of an object of this kind; `None` if there is no such object.
    pub fn object_name(self) -> Option<&'static str> {
        match self {
            PartKind::Trace => Some("Trace"),
            PartKind::Event => Some("EventBlock"),
            PartKind::Metadata => Some("MetadataBlock"),
            PartKind::Stack => Some("StackBlock"),
            PartKind::SequencePoint => Some("SPBlock"),
            _ => None,
        }
    }

    /// Returns the kind of an object with the type name `name`.
    pub fn from_object_name(name: &[u8]) -> PartKind {
        match name {
            b"Trace" => PartKind::Trace,
            b"EventBlock" => PartKind::Event,
            b"MetadataBlock" => PartKind::Metadata,
            b"StackBlock" => PartKind::Stack,
            b"SPBlock" => PartKind::SequencePoint,
            _ => PartKind::Other,
        }
    }

    /// Returns the number that version 6 has for a block of this kind; `None` if it has none.
    pub fn block_kind(self) -> Option<u8> {
        match self {
            PartKind::End => Some(0),
            PartKind::Trace => Some(1),
            PartKind::Event => Some(2),
            PartKind::Metadata => Some(3),
            PartKind::SequencePoint => Some(4),
            PartKind::Stack => Some(5),
            PartKind::Thread => Some(6),
            PartKind::RemoveThread => Some(7),
            PartKind::LabelList => Some(8),
            PartKind::StreamHeader | PartKind::Other => None,
        }
    }

    /// Returns the kind of a version 6 block with the number `kind`.
    pub fn from_block_kind(kind: u8) -> PartKind {
        match kind {
            0 => PartKind::End,
            1 => PartKind::Trace,
            2 => PartKind::Event,
            3 => PartKind::Metadata,
            4 => PartKind::SequencePoint,
            5 => PartKind::Stack,
            6 => PartKind::Thread,
            7 => PartKind::RemoveThread,
            8 => PartKind::LabelList,
            _ => PartKind::Other,
        }
    }
}

/// One part of a finished stream. Positions are counted from the first byte of the stream.
///
/// ```
/// use nettrace_writer::{PartKind, tiny_v6};
/// let stream = tiny_v6();
/// let events = stream.nth(PartKind::Event, 0);
/// assert_eq!(events.size_field, Some(0xbb));
/// assert_eq!((events.content.clone(), events.rows.len()), (0xbf..0xed, 2));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Part {
    /// Kind of the part.
    pub kind: PartKind,
    /// Position of the first byte: an object's begin tag, a block's header.
    pub start: usize,
    /// Position of the i32 before the type name (objects only).
    pub name_length_field: Option<usize>,
    /// Position of the i32 block size of an object, or of the u32 header of a version 6
    /// block (size in the low 24 bits). `None` for the stream header, a `Trace` object
    /// and raw bytes.
    pub size_field: Option<usize>,
    /// Positions of the content. The padding of an object lies before it.
    pub content: Range<usize>,
    /// Positions of the rows in the content, such as blobs, stacks or label lists.
    pub rows: Vec<Range<usize>>,
    /// Position of the EndObject tag (objects only).
    pub end_tag: Option<usize>,
    /// Position after the last byte of the part.
    pub end: usize,
}

/// Content of a block, and the positions of its rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Content {
    /// Bytes of the content.
    pub bytes: Vec<u8>,
    /// Positions of the rows in `bytes`, in order.
    pub rows: Vec<Range<usize>>,
}

impl Content {
    /// Creates content without positions of rows.
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Content { bytes: bytes.into(), rows: Vec::new() }
    }

    /// Appends one row.
    pub(crate) fn row(&mut self, bytes: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.rows.push(start..self.bytes.len());
    }

    /// Returns the positions of the rows in a stream whose content begins at `start`.
    pub(crate) fn rows_at(&self, start: usize) -> Vec<Range<usize>> {
        self.rows.iter().map(|row| row.start + start..row.end + start).collect()
    }
}
