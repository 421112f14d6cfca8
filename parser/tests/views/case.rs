//! An event of any type, for tests of a view.

use super::RUNTIME;
use nettrace_parser::{Event, Reader};
use nettrace_testdata::synth::{
    Blob, Definition, EventBlock, Field, FieldType, Stream, Tag, Trace, Value, Version, payload,
};

/// An event type, described or native, and a payload.
pub(crate) struct Case<'c> {
    pub(crate) provider: &'c str,
    pub(crate) id: u32,
    pub(crate) version: u32,
    pub(crate) name: &'c str,
    pub(crate) fields: Vec<Field>,
    pub(crate) pointer_size: i32,
    pub(crate) values: Vec<Value>,
}

impl<'c> Case<'c> {
    pub(crate) fn native(id: u32, version: u32, values: Vec<Value>) -> Case<'c> {
        Case {
            provider: RUNTIME,
            id,
            version,
            name: "",
            fields: Vec::new(),
            pointer_size: 8,
            values,
        }
    }

    pub(crate) fn with_provider(self, provider: &'c str) -> Case<'c> {
        Case { provider, ..self }
    }

    pub(crate) fn named(
        provider: &'c str,
        name: &'c str,
        fields: &[(&str, FieldType)],
        values: Vec<Value>,
    ) -> Case<'c> {
        let fields = fields.iter().map(|(name, kind)| Field::new(name, kind.clone())).collect();
        Case { name, fields, ..Case::native(1, 0, values).with_provider(provider) }
    }

    /// Calls `with` for the event.
    pub(crate) fn show<T>(&self, with: impl FnOnce(&Event<'_>) -> T) -> T {
        let definition = Definition {
            metadata_id: 1,
            provider: self.provider.into(),
            event_id: self.id,
            version: self.version,
            name: self.name.into(),
            tags: if self.fields.is_empty() { vec![] } else { vec![Tag::v2_params(&self.fields)] },
            ..Definition::default()
        };
        let event = Blob {
            metadata_id: 1,
            sequence_number: 1,
            payload: payload(&self.values),
            ..Blob::default()
        };
        let mut stream = Stream::new(Version::V5);
        stream
            .trace(&Trace { pointer_size: self.pointer_size, ..Trace::default() })
            .metadata_blobs(&EventBlock::new([Blob::definition(0, 0, definition.encode())]))
            .event_block(&EventBlock::new([event]))
            .end();
        let mut reader = Reader::from_slice(&stream.bytes);
        let event = reader.next_event().expect("a readable stream").expect("an event");
        with(&event)
    }
}

pub(crate) fn text(text: &str) -> Value {
    Value::Text(text.into())
}
