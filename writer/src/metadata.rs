//! Definitions of event types in versions 3 to 5.

use crate::bytes::{Sink, count32};
use crate::field::{Field, FieldForm, encode_fields};

/// A definition of an event type in versions 3 to 5: the payload of a blob with metadata id 0.
///
/// [FORMAT.md 6.4] to 6.7:
///
/// | size | field |
/// |---|---|
/// | 4 | MetadataId |
/// | 2(n+1) | ProviderName, utf16z |
/// | 4 | EventId |
/// | 2(n+1) | EventName, utf16z |
/// | 8, 4, 4 | Keywords, Version, Level |
/// | … | V1 field list |
/// | … | tags: i32 size of the payload, u8 kind, payload (version 5) |
///
/// ```
/// use nettrace_writer::{Blob, Definition, EventBlock, Field, FieldType, Stream, Trace, Version};
/// let hi = Definition {
///     metadata_id: 1,
///     provider: "Demo".into(),
///     event_id: 7,
///     fields: vec![Field::new("n", FieldType::Int32)],
///     ..Definition::default()
/// };
/// let mut stream = Stream::new(Version::V4);
/// stream
///     .trace(&Trace::default())
///     .metadata_blobs(&EventBlock::new([Blob::definition(11, 1_000_000, hi.encode())]));
/// ```
///
/// [FORMAT.md 6.4]: https://docs.rs/nettrace-parser/latest/nettrace_parser/format_guide/#6.4
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Definition {
    /// Metadata id that events of this type refer to.
    pub metadata_id: u32,
    /// Name of the provider.
    pub provider: String,
    /// Id of the event within the provider.
    pub event_id: u32,
    /// Name of the event; may be empty.
    pub name: String,
    /// Keywords of the event.
    pub keywords: u64,
    /// Version of the event.
    pub version: u32,
    /// Level of the event, 0 to 5.
    pub level: u32,
    /// Fields in the V1 field list.
    pub fields: Vec<Field>,
    /// Number of fields to write instead of the correct one.
    pub field_count: Option<u32>,
    /// Whether to leave out everything after the level: `fields`, their count and `tags`.
    pub ends_after_level: bool,
    /// Tags after the field list (version 5).
    pub tags: Vec<Tag>,
}

/// A tag after the definition of an event type (version 5, [FORMAT.md 6.6]).
///
/// [FORMAT.md 6.6]: https://docs.rs/nettrace-parser/latest/nettrace_parser/format_guide/#6.6
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    /// Size to write instead of the length of `payload`.
    pub size: Option<u32>,
    /// Kind of the tag: 1 for OpCode, 2 for V2Params.
    pub kind: u8,
    /// Bytes of the tag's payload.
    pub payload: Vec<u8>,
}

impl Tag {
    /// Creates a tag of any kind.
    pub fn new(kind: u8, payload: impl Into<Vec<u8>>) -> Self {
        Tag { size: None, kind, payload: payload.into() }
    }

    /// Creates an OpCode tag.
    pub fn opcode(opcode: u8) -> Self {
        Tag::new(1, [opcode])
    }

    /// Creates a V2Params tag, which describes these fields.
    pub fn v2_params(fields: &[Field]) -> Self {
        let mut payload = Sink::new();
        encode_fields(&mut payload, fields, None, FieldForm::V2);
        Tag::new(2, payload.into_vec())
    }
}

impl Definition {
    /// Returns the bytes of the definition, which are the payload of its blob.
    pub fn encode(&self) -> Vec<u8> {
        let mut sink = Sink::new();
        sink.u32(self.metadata_id).utf16z(&self.provider).u32(self.event_id).utf16z(&self.name);
        sink.u64(self.keywords).u32(self.version).u32(self.level);
        if self.ends_after_level {
            return sink.into_vec();
        }
        encode_fields(&mut sink, &self.fields, self.field_count, FieldForm::V1);
        for tag in &self.tags {
            sink.u32(tag.size.unwrap_or_else(|| count32(tag.payload.len())))
                .u8(tag.kind)
                .raw(&tag.payload);
        }
        sink.into_vec()
    }
}
