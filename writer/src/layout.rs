//! Positions of the parts of a finished stream, so that a test can damage a chosen one.

use std::ops::Range;

/// Versions of the format ([FORMAT.md 1]).
///
/// [FORMAT.md 1]: https://docs.rs/nettrace-parser/latest/nettrace_parser/format_guide/#1
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Version {
    /// NetPerf: a stream of objects. Event blobs contain their stacks, and blocks have no header.
    V3,
    /// Nettrace 4: a stream of objects whose blocks have headers. Metadata has no tags.
    V4,
    /// Nettrace 4 with tags in metadata. The stream header says 4, too.
    V5,
    /// Nettrace 6: a stream of blocks with headers of 4 bytes.
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
    /// Magic and version at the beginning of the stream.
    StreamHeader,
    /// The `Trace` object, or the Trace block in version 6.
    Trace,
    /// An `EventBlock` object, or an Event block in version 6.
    Event,
    /// A `MetadataBlock` object, or a Metadata block in version 6.
    Metadata,
    /// A `StackBlock` object, or a Stack block in version 6.
    Stack,
    /// An `SPBlock` object, or a SequencePoint block in version 6.
    SequencePoint,
    /// A Thread block (version 6).
    Thread,
    /// A RemoveThread block (version 6).
    RemoveThread,
    /// A LabelList block (version 6).
    LabelList,
    /// The end of the stream: the NullReference tag, or the EndOfStream block in version 6.
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

    /// Returns the number with which version 6 marks a block of this kind; `None` if there is no
    /// such block.
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

    /// Returns the kind of a block that version 6 marks with the number `kind`.
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
    /// Position of the part's first byte: the begin tag of an object, or the header of a block.
    pub start: usize,
    /// Position of the i32 with the length of the type name (objects only).
    pub name_length_field: Option<usize>,
    /// Position of the i32 with the block size of an object, or of the u32 header of a version 6
    /// block, which has the size in its low 24 bits. `None` for the stream header, a `Trace` object
    /// and raw bytes.
    pub size_field: Option<usize>,
    /// Positions of the content's bytes. The padding of an object lies before them.
    pub content: Range<usize>,
    /// Positions of the bytes of each row in the content, such as a blob, a stack or a label list.
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
    /// Positions in `bytes` of each row, in order.
    pub rows: Vec<Range<usize>>,
}

impl Content {
    /// Creates content in which no rows are known.
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Content { bytes: bytes.into(), rows: Vec::new() }
    }

    /// Appends the bytes of one row.
    pub(crate) fn row(&mut self, bytes: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.rows.push(start..self.bytes.len());
    }

    /// Returns the positions of the rows in a stream in which the content begins at `start`.
    pub(crate) fn rows_at(&self, start: usize) -> Vec<Range<usize>> {
        self.rows.iter().map(|row| row.start + start..row.end + start).collect()
    }
}
