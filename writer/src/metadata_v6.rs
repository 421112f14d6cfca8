//! Metadata blocks of version 6.

use crate::bytes::{GuidBytes, Sink, count16};
use crate::field::{Field, FieldForm, encode_fields};
use crate::layout::Content;

/// A metadata block of version 6 ([FORMAT.md 7.3]): the header size as a u16, which does not count
/// itself, then header bytes and rows.
///
/// [FORMAT.md 7.3]: https://docs.rs/nettrace-parser/latest/nettrace_parser/format_guide/#7.3
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MetadataBlock {
    /// Header size to write instead of the length of `header`.
    pub header_size: Option<u16>,
    /// Bytes of the header. The format defines none yet.
    pub header: Vec<u8>,
    /// Definitions of event types.
    pub rows: Vec<MetadataRow>,
    /// Bytes after the last row.
    pub trailing: Vec<u8>,
}

/// A definition of an event type in version 6.
///
/// [FORMAT.md 7.3]:
///
/// | size | field of a row |
/// |---|---|
/// | 2 | size of the rest |
/// | 1–5 | MetadataId, varuint32 |
/// | … | ProviderName, string |
/// | 1–5 | EventId, varuint32 |
/// | … | EventName, string |
/// | … | V6 field list |
/// | 2 + n | size of the optional metadata, entries of u8 kind and content |
/// | … | reserved |
///
/// ```
/// use nettrace_writer::{Field, FieldType, MetadataBlock, MetadataRow, Stream, Trace, Version};
/// let hi = MetadataRow {
///     metadata_id: 1,
///     provider: "Demo".into(),
///     event_id: 7,
///     fields: vec![Field::new("n", FieldType::VarUInt)],
///     ..MetadataRow::default()
/// };
/// let mut stream = Stream::new(Version::V6);
/// stream.trace(&Trace::default()).metadata_rows(&MetadataBlock::new(vec![hi]));
/// ```
///
/// [FORMAT.md 7.3]: https://docs.rs/nettrace-parser/latest/nettrace_parser/format_guide/#7.3
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MetadataRow {
    /// Row size to write instead of the correct one.
    pub size: Option<u16>,
    /// Metadata id that events of this type refer to.
    pub metadata_id: u32,
    /// Name of the provider.
    pub provider: String,
    /// Id of the event within the provider; 0 if there is none.
    pub event_id: u32,
    /// Name of the event.
    pub name: String,
    /// Fields of the payload.
    pub fields: Vec<Field>,
    /// Number of fields to write instead of the correct one.
    pub field_count: Option<u16>,
    /// Whether to leave out the optional metadata and its size.
    pub ends_after_fields: bool,
    /// Size of the optional metadata to write instead of the correct one.
    pub optional_size: Option<u16>,
    /// Entries of the optional metadata, in order.
    pub optional: Vec<Optional>,
    /// Bytes to append to the row.
    pub extra: Vec<u8>,
}

/// An entry of the optional metadata (version 6, [FORMAT.md 7.3]): its kind as a u8, then its
/// content.
///
/// [FORMAT.md 7.3]: https://docs.rs/nettrace-parser/latest/nettrace_parser/format_guide/#7.3
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Optional {
    /// Kind 1: opcode of the event.
    OpCode(u8),
    /// Kind 3: keywords of the event.
    Keywords(u64),
    /// Kind 4: template of a message about the event.
    MessageTemplate(String),
    /// Kind 5: description of the event.
    Description(String),
    /// Kind 6: a key and its value.
    KeyValue(String, String),
    /// Kind 7: guid of the provider.
    ProviderGuid(GuidBytes),
    /// Kind 8: level of the event.
    Level(u8),
    /// Kind 9: version of the event.
    Version(u8),
    /// Bytes to write unchanged. The first one is the kind.
    Raw(Vec<u8>),
}

impl Optional {
    fn encode(&self, sink: &mut Sink) {
        match self {
            Optional::OpCode(value) => sink.u8(1).u8(*value),
            Optional::Keywords(value) => sink.u8(3).u64(*value),
            Optional::MessageTemplate(text) => sink.u8(4).string(text),
            Optional::Description(text) => sink.u8(5).string(text),
            Optional::KeyValue(key, value) => sink.u8(6).string(key).string(value),
            Optional::ProviderGuid(guid) => sink.u8(7).guid(guid),
            Optional::Level(value) => sink.u8(8).u8(*value),
            Optional::Version(value) => sink.u8(9).u8(*value),
            Optional::Raw(bytes) => sink.raw(bytes),
        };
    }
}

impl MetadataRow {
    /// Returns the bytes of the row, including its size.
    pub fn encode(&self) -> Vec<u8> {
        let mut rest = Sink::new();
        rest.varuint(u64::from(self.metadata_id)).string(&self.provider);
        rest.varuint(u64::from(self.event_id)).string(&self.name);
        encode_fields(&mut rest, &self.fields, self.field_count.map(u32::from), FieldForm::V6);
        if !self.ends_after_fields {
            let mut optional = Sink::new();
            for entry in &self.optional {
                entry.encode(&mut optional);
            }
            rest.u16(self.optional_size.unwrap_or_else(|| count16(optional.len())))
                .raw(optional.as_slice());
        }
        rest.raw(&self.extra);
        let mut row = Sink::new();
        row.u16(self.size.unwrap_or_else(|| count16(rest.len()))).raw(rest.as_slice());
        row.into_vec()
    }
}

impl MetadataBlock {
    /// Creates a block with these rows.
    pub fn new(rows: Vec<MetadataRow>) -> Self {
        MetadataBlock { rows, ..MetadataBlock::default() }
    }

    /// Returns the content of the block.
    pub fn content(&self) -> Content {
        let mut header = Sink::new();
        header
            .u16(self.header_size.unwrap_or_else(|| count16(self.header.len())))
            .raw(&self.header);
        let mut content = Content::raw(header.into_vec());
        for row in &self.rows {
            content.row(&row.encode());
        }
        content.bytes.extend_from_slice(&self.trailing);
        content
    }
}
