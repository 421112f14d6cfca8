//! A stream while it is being written: its header, and the framing of objects (versions 3 to 5) and
//! of blocks (version 6).

use std::io::{self, Write};

use crate::bytes::{Sink, count32};
use crate::event_block::EventBlock;
use crate::label_list::LabelListBlock;
use crate::layout::{Content, Part, PartKind, Version};
use crate::metadata_v6::MetadataBlock;
use crate::sequence_point::SequencePoint;
use crate::stack::StackBlock;
use crate::thread::{RemoveThreadBlock, ThreadBlock};
use crate::trace::Trace;

/// Text after the magic of versions 4 and 5, and at the start of version 3 ([FORMAT.md 1]).
///
/// [FORMAT.md 1]: https://docs.rs/nettrace-parser/latest/nettrace_parser/format_guide/#1
pub const FAST_SERIALIZATION: &str = "!FastSerialization.1";

/// A stream under construction, and the positions of its parts.
///
/// ```
/// use nettrace_writer::{PartKind, Stream, Trace, Version};
/// let mut stream = Stream::new(Version::V4);
/// stream.trace(&Trace::default()).end();
/// assert_eq!(stream.bytes.len(), 103);
/// assert_eq!(stream.nth(PartKind::Trace, 0).content, 53..101);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    /// Version of the format, which decides framing and layouts.
    pub version: Version,
    /// Value of the padding bytes in objects that [`Stream::part`] writes.
    pub padding_byte: u8,
    /// The bytes written so far, except those that [`Stream::flush_to`] has removed.
    pub bytes: Vec<u8>,
    /// The parts written so far, in file order.
    pub parts: Vec<Part>,
    /// Number of bytes that [`Stream::flush_to`] has written and removed from `bytes`.
    flushed: u64,
}

impl Stream {
    /// Creates a stream that has the header of its version.
    pub fn new(version: Version) -> Self {
        let mut header = Sink::new();
        // Version 3 has no magic.
        if version != Version::V3 {
            header.raw(b"Nettrace");
        }
        if version.has_objects() {
            header.fs_string(FAST_SERIALIZATION);
        } else {
            header.u32(0).u32(6).u32(0);
        }
        Self::with_header(version, header.as_slice())
    }

    /// Creates a stream that begins with the bytes of `header` instead of the correct header.
    pub fn with_header(version: Version, header: &[u8]) -> Self {
        let mut stream =
            Stream { version, padding_byte: 0, bytes: Vec::new(), parts: Vec::new(), flushed: 0 };
        stream.raw(PartKind::StreamHeader, header);
        stream
    }

    /// Appends bytes without any framing, as a part of this kind.
    pub fn raw(&mut self, kind: PartKind, bytes: &[u8]) -> &mut Self {
        let start = self.place();
        self.bytes.extend_from_slice(bytes);
        let end = start + bytes.len();
        self.parts.push(Part {
            kind,
            start,
            name_length_field: None,
            size_field: None,
            content: start..end,
            rows: Vec::new(),
            end_tag: None,
            end,
        });
        self
    }

    /// Appends an object, the framing of versions 3 to 5.
    pub fn object(&mut self, object: &Object) -> &mut Self {
        let (bytes, part) = object.encode(self.place());
        self.bytes.extend_from_slice(&bytes);
        self.parts.push(part);
        self
    }

    /// Appends a block, the framing of version 6.
    pub fn block(&mut self, block: &Block) -> &mut Self {
        let (bytes, part) = block.encode(self.place());
        self.bytes.extend_from_slice(&bytes);
        self.parts.push(part);
        self
    }

    /// Appends content with the framing that the stream's version has for this kind.
    ///
    /// # Panics
    /// If the version has no part of this kind.
    pub fn part(&mut self, kind: PartKind, content: Content) -> &mut Self {
        if self.version.has_objects() {
            let name = kind.object_name().expect("versions 3 to 5 have no such object");
            let padding_byte = self.padding_byte;
            self.object(&Object { padding_byte, ..Object::new(self.version, name, content) })
        } else {
            let kind = kind.block_kind().expect("version 6 has no such block");
            self.block(&Block::new(kind, content))
        }
    }

    /// Appends the Trace object or block.
    pub fn trace(&mut self, trace: &Trace) -> &mut Self {
        self.part(PartKind::Trace, trace.content(self.version))
    }

    /// Appends an event block.
    pub fn event_block(&mut self, block: &EventBlock) -> &mut Self {
        self.part(PartKind::Event, block.content(self.version))
    }

    /// Appends definitions of event types for versions 3 to 5: a `MetadataBlock`, in version 3 an
    /// `EventBlock`.
    pub fn metadata_blobs(&mut self, block: &EventBlock) -> &mut Self {
        let kind = if self.version == Version::V3 { PartKind::Event } else { PartKind::Metadata };
        self.part(kind, block.content(self.version))
    }

    /// Appends definitions of event types for version 6.
    pub fn metadata_rows(&mut self, block: &MetadataBlock) -> &mut Self {
        self.part(PartKind::Metadata, block.content())
    }

    /// Appends a stack block.
    pub fn stack_block(&mut self, block: &StackBlock) -> &mut Self {
        self.part(PartKind::Stack, block.content())
    }

    /// Appends a sequence point.
    pub fn sequence_point(&mut self, point: &SequencePoint) -> &mut Self {
        self.part(PartKind::SequencePoint, point.content(self.version))
    }

    /// Appends a thread block (version 6).
    pub fn thread_block(&mut self, block: &ThreadBlock) -> &mut Self {
        self.part(PartKind::Thread, block.content())
    }

    /// Appends a RemoveThread block (version 6).
    pub fn remove_thread_block(&mut self, block: &RemoveThreadBlock) -> &mut Self {
        self.part(PartKind::RemoveThread, block.content())
    }

    /// Appends a label list block (version 6).
    pub fn label_list_block(&mut self, block: &LabelListBlock) -> &mut Self {
        self.part(PartKind::LabelList, block.content())
    }

    /// Appends the end of the stream: a NullReference tag, or an empty EndOfStream block.
    pub fn end(&mut self) -> &mut Self {
        if self.version.has_objects() {
            self.raw(PartKind::End, &[1])
        } else {
            self.block(&Block::new(0, Content::default()))
        }
    }

    /// Returns the `n`th part of a kind, counting from 0.
    ///
    /// # Panics
    /// If there are fewer.
    pub fn nth(&self, kind: PartKind, n: usize) -> &Part {
        self.parts
            .iter()
            .filter(|part| part.kind == kind)
            .nth(n)
            .unwrap_or_else(|| panic!("the stream has no {kind:?} number {n}"))
    }

    /// Returns the number of parts of a kind.
    pub fn count(&self, kind: PartKind) -> usize {
        self.parts.iter().filter(|part| part.kind == kind).count()
    }

    /// Returns the length of the stream so far in bytes, including bytes that [`Stream::flush_to`]
    /// has removed.
    pub fn position(&self) -> u64 {
        self.flushed.saturating_add(self.bytes.len() as u64)
    }

    /// Writes `bytes` to `out`, then clears `bytes` and `parts`. Positions of later parts are still
    /// counted from the beginning of the stream.
    ///
    /// A stream that is flushed after every few blocks needs memory for these blocks only.
    ///
    /// ```
    /// use nettrace_writer::{Blob, Definition, EventBlock, Stream, Trace, Version};
    ///
    /// # fn main() -> std::io::Result<()> {
    /// let mut out = Vec::new(); // a file, a pipe, a socket
    /// let definition = Definition { metadata_id: 1, provider: "Demo".into(), event_id: 7, ..Definition::default() };
    /// let mut stream = Stream::new(Version::V4);
    /// stream.trace(&Trace::default());
    /// stream.metadata_blobs(&EventBlock::new([Blob::definition(11, 1_000_000, definition.encode())]));
    /// for n in 0..1000 {
    ///     let event = Blob { metadata_id: 1, sequence_number: n + 1, ticks: 1_000_000 + u64::from(n), ..Blob::default() };
    ///     stream.event_block(&EventBlock::new([event])).flush_to(&mut out)?;
    /// }
    /// stream.end().flush_to(&mut out)?;
    /// assert_eq!(out.len() as u64, stream.position());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Errors of `out`. The stream cannot be continued then, because it is unknown how much of
    /// `bytes` was written.
    pub fn flush_to(&mut self, mut out: impl Write) -> io::Result<()> {
        out.write_all(&self.bytes)?;
        self.flushed = self.position();
        self.bytes.clear();
        self.parts.clear();
        Ok(())
    }

    /// Returns the position at which the next part begins. Where `usize` has 32 bits, positions
    /// start again from 0 after 2 GiB.
    fn place(&self) -> usize {
        (self.position() & (usize::MAX as u64 >> 1)) as usize
    }

    /// Returns the bytes that [`Stream::flush_to`] has not removed.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// An object of versions 3 to 5, with all its parts as fields.
///
/// [FORMAT.md 3], where *n* is the length of the type name:
///
/// | offset | size | field |
/// |---|---|---|
/// | 0, 1 | 1, 1 | begin tags of the object and of its type: 5, in version 3: 4 |
/// | 2 | 1 | type of the type: 1 |
/// | 3, 7 | 4, 4 | type version, minimum reader version |
/// | 11, 15 | 4, n | type name |
/// | 15+n | 1 | end of the type: 6 |
/// | 16+n | 4 | block size, counted after the padding (not in `Trace`) |
/// | | 0–3 | padding to a multiple of 4 of the stream position (not in `Trace`) |
/// | | | content, tagged values |
/// | | 1 | end of the object: 6 |
///
/// [FORMAT.md 3]: https://docs.rs/nettrace-parser/latest/nettrace_parser/format_guide/#3
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Begin tags to write: of the object, and of its type.
    pub begin_tags: [u8; 2],
    /// Tag of the type's own type. Runtimes write 1, a NullReference.
    pub type_tag: u8,
    /// Version of the type.
    pub version: i32,
    /// Minimum version of a reader that can read the object.
    pub minimum_version: i32,
    /// Length of the type's name to write instead of the correct one.
    pub name_length: Option<i32>,
    /// Name of the type.
    pub name: Vec<u8>,
    /// End tag of the type. Runtimes write 6.
    pub type_end_tag: u8,
    /// Whether the object has a block size and padding; false for `Trace`.
    pub is_sized: bool,
    /// Block size to write instead of the correct one.
    pub size: Option<i32>,
    /// Value of the padding bytes.
    pub padding_byte: u8,
    /// Number of padding bytes; with `None`, padding up to the next multiple of 4.
    pub padding: Option<usize>,
    /// The content, and the positions of its rows.
    pub content: Content,
    /// Tagged values to write between the content and the end tag.
    pub tagged: Vec<TaggedValue>,
    /// End tag of the object. Runtimes write 6; `None` leaves it out.
    pub end_tag: Option<u8>,
}

impl Object {
    /// Creates an object with the tags and versions that the runtimes write.
    pub fn new(version: Version, name: &str, content: Content) -> Self {
        let is_trace = name == "Trace";
        let (begin_tag, type_version, minimum_version) = match (version, is_trace) {
            (Version::V3, true) => (4, 3, 0),
            (Version::V3, false) => (4, 1, 0),
            (_, true) => (5, 4, 4),
            (_, false) => (5, 2, 2),
        };
        Object {
            begin_tags: [begin_tag; 2],
            type_tag: 1,
            version: type_version,
            minimum_version,
            name_length: None,
            name: name.as_bytes().to_vec(),
            type_end_tag: 6,
            is_sized: !is_trace,
            size: None,
            padding_byte: 0,
            padding: None,
            content,
            tagged: Vec::new(),
            end_tag: Some(6),
        }
    }

    /// Returns the bytes of the object, and the positions of its parts. `position` is the place in
    /// the stream at which the object begins; its padding depends on this.
    pub fn encode(&self, position: usize) -> (Vec<u8>, Part) {
        let mut sink = Sink::new();
        sink.raw(&self.begin_tags).u8(self.type_tag).i32(self.version).i32(self.minimum_version);
        let name_length_field = Some(position + sink.len());
        sink.i32(self.name_length.unwrap_or(count32(self.name.len()) as i32)).raw(&self.name);
        sink.u8(self.type_end_tag);
        let mut size_field = None;
        if self.is_sized {
            size_field = Some(position + sink.len());
            sink.i32(self.size.unwrap_or(count32(self.content.bytes.len()) as i32));
            // Content begins at a multiple of 4, counted from the start of the stream, not of the
            // object.
            let padding = self.padding.unwrap_or((position + sink.len()).wrapping_neg() % 4);
            sink.fill(self.padding_byte, padding);
        }
        let start = position + sink.len();
        let content = start..start + self.content.bytes.len();
        sink.raw(&self.content.bytes);
        for value in &self.tagged {
            value.encode(&mut sink);
        }
        let end_tag = self.end_tag.map(|tag| {
            let at = position + sink.len();
            sink.u8(tag);
            at
        });
        let part = Part {
            kind: PartKind::from_object_name(&self.name),
            start: position,
            name_length_field,
            size_field,
            rows: self.content.rows_at(start),
            content,
            end_tag,
            end: position + sink.len(),
        };
        (sink.into_vec(), part)
    }
}

/// A tagged value ([FORMAT.md 3]). A later version of an object may have tagged values after its
/// content.
///
/// [FORMAT.md 3]: https://docs.rs/nettrace-parser/latest/nettrace_parser/format_guide/#3
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaggedValue {
    /// Tag 8: a byte.
    Byte(u8),
    /// Tag 9: an integer of 2 bytes.
    Int16(i16),
    /// Tag 10: an integer of 4 bytes.
    Int32(i32),
    /// Tag 11: an integer of 8 bytes.
    Int64(i64),
    /// Tag 13: a text, which has its length as an i32, then UTF-8.
    String(String),
    /// Tag 14: bytes, which have their length as an i32 before them.
    Blob(Vec<u8>),
    /// Bytes to write unchanged. The first one is the tag.
    Raw(Vec<u8>),
}

impl TaggedValue {
    /// Writes the tag and the value.
    pub fn encode(&self, sink: &mut Sink) {
        match self {
            TaggedValue::Byte(value) => sink.u8(8).u8(*value),
            TaggedValue::Int16(value) => sink.u8(9).i16(*value),
            TaggedValue::Int32(value) => sink.u8(10).i32(*value),
            TaggedValue::Int64(value) => sink.u8(11).i64(*value),
            TaggedValue::String(text) => sink.u8(13).fs_string(text),
            TaggedValue::Blob(bytes) => sink.u8(14).u32(count32(bytes.len())).raw(bytes),
            TaggedValue::Raw(bytes) => sink.raw(bytes),
        };
    }
}

/// A block of version 6 ([FORMAT.md 7.1]): a u32 with the size in the low 24 bits and the kind in
/// the high 8, then the content.
///
/// [FORMAT.md 7.1]: https://docs.rs/nettrace-parser/latest/nettrace_parser/format_guide/#7.1
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Kind of the block, in the high 8 bits of the header.
    pub kind: u8,
    /// Size to write instead of the correct one; only its low 24 bits are written.
    pub size: Option<u32>,
    /// The content, and the positions of its rows.
    pub content: Content,
}

impl Block {
    /// Creates a block whose size is correct.
    pub fn new(kind: u8, content: Content) -> Self {
        Block { kind, size: None, content }
    }

    /// Returns the bytes of a block that begins at `position` of the stream, and the positions of
    /// its parts.
    ///
    /// # Panics
    /// If the content has 16 MiB or more and `size` is `None`.
    pub fn encode(&self, position: usize) -> (Vec<u8>, Part) {
        let size = self.size.map_or_else(
            || {
                let size = count32(self.content.bytes.len());
                assert!(size < 1 << 24, "a version 6 block holds less than 16 MiB");
                size
            },
            |size| size & 0x00ff_ffff,
        );
        let mut sink = Sink::new();
        sink.u32(u32::from(self.kind) << 24 | size).raw(&self.content.bytes);
        let start = position + 4;
        let part = Part {
            kind: PartKind::from_block_kind(self.kind),
            start: position,
            name_length_field: None,
            size_field: Some(position),
            content: start..start + self.content.bytes.len(),
            rows: self.content.rows_at(start),
            end_tag: None,
            end: position + sink.len(),
        };
        (sink.into_vec(), part)
    }
}
