//! Excerpts of real traces: small streams with a few events of each type and the methods on their
//! stacks.

use nettrace_parser::{Event, FieldType, Reader};
use nettrace_testdata::synth::{
    self, Blob, Definition, EventBlock, Field, StackBlock, Stream, Tag, Trace, Version,
};
use std::collections::BTreeMap;

/// Number of events of each type that are kept.
const EVENTS_OF_TYPE: usize = 2;
/// Number of samples that are kept. It is larger than [`EVENTS_OF_TYPE`], because the time of a
/// sample ends with the next one.
const SAMPLES: usize = 8;
/// Maximum number of methods that are kept, of those on the stacks of kept events.
const METHODS: usize = 12;
/// Maximum number of frames of a stack.
const FRAMES: usize = 6;
/// Maximum size of a payload, in bytes.
const PAYLOAD_BYTES: usize = 500;
/// Maximum number of event types in one stream.
const TYPES: usize = 8;

struct Kept {
    blob: Blob,
    frames: Vec<u64>,
}

#[derive(Default)]
struct Excerpt {
    /// Event types by metadata id, with the number of events that are kept.
    definitions: BTreeMap<u32, (Definition, usize)>,
    events: Vec<Kept>,
}

/// Returns excerpts of a trace. Each has some event types of one provider, and all have the same
/// samples.
pub(crate) fn excerpts(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut whole = Excerpt::default();
    each(bytes, |event| {
        let most =
            if event.provider().contains("SampleProfiler") { SAMPLES } else { EVENTS_OF_TYPE };
        whole.keep(event, most);
    });
    let frames: Vec<u64> =
        whole.events.iter().flat_map(|event| event.frames.iter().copied()).collect();
    let mut methods = 0;
    each(bytes, |event| {
        let number = |name| event.field(name).and_then(|value| value.as_u64());
        let (Some(start), Some(size)) = (number("MethodStartAddress"), number("MethodSize")) else {
            return;
        };
        if methods < METHODS && frames.iter().any(|frame| frame.wrapping_sub(start) < size) {
            methods += 1;
            whole.keep(event, usize::MAX);
        }
    });
    whole.streams()
}

fn each(bytes: &[u8], mut with: impl FnMut(&Event<'_>)) {
    let mut reader = Reader::from_slice(bytes);
    while let Ok(Some(event)) = reader.next_event() {
        with(&event);
    }
}

impl Excerpt {
    fn keep(&mut self, event: &Event<'_>, most: usize) {
        let id = event.metadata_id();
        if event.payload().len() > PAYLOAD_BYTES {
            return;
        }
        let (_, kept) = self.definitions.entry(id).or_insert_with(|| (definition(event), 0));
        if *kept >= most {
            return;
        }
        *kept += 1;
        let thread_id = event.thread_id().unwrap_or(1);
        let blob = Blob {
            metadata_id: id,
            thread_id,
            capture_thread_id: thread_id,
            ticks: event.timestamp_ticks(),
            activity_id: event.activity_id().map_or([0; 16], |activity| activity.to_bytes()),
            is_sorted: true,
            payload: event.payload().to_vec(),
            ..Blob::default()
        };
        self.events.push(Kept { blob, frames: event.stack().addresses().take(FRAMES).collect() });
    }

    fn streams(mut self) -> Vec<Vec<u8>> {
        self.events.sort_by_key(|event| event.blob.ticks);
        let is_everywhere = |definition: &&Definition| {
            definition.provider.contains("SampleProfiler")
                || matches!(definition.event_id, 143 | 144)
        };
        let (everywhere, others): (Vec<_>, Vec<_>) =
            self.definitions.values().map(|(definition, _)| definition).partition(is_everywhere);
        let mut by_provider: BTreeMap<&str, Vec<&Definition>> = BTreeMap::new();
        for definition in others {
            by_provider.entry(&definition.provider).or_default().push(definition);
        }
        let groups = by_provider.values().flat_map(|definitions| definitions.chunks(TYPES));
        groups.map(|group| self.stream(&[group, &everywhere].concat())).collect()
    }

    fn stream(&self, definitions: &[&Definition]) -> Vec<u8> {
        let mut stream = Stream::new(Version::V5);
        let first = self.events.first().map_or(0, |event| event.blob.ticks);
        stream.trace(&Trace { sync_ticks: first, tick_frequency: 1_000_000_000, ..Trace::default() });
        let rows = definitions.iter().map(|definition| Blob::definition(1, 0, definition.encode()));
        stream.metadata_blobs(&EventBlock::new(rows));
        let is_wanted = |id| definitions.iter().any(|definition| definition.metadata_id == id);
        let (mut stacks, mut rows) = (Vec::new(), Vec::new());
        for event in self.events.iter().filter(|event| is_wanted(event.blob.metadata_id)) {
            stacks.push(event.frames.clone());
            let number = u32::try_from(stacks.len()).unwrap_or(u32::MAX);
            rows.push(Blob { stack_id: number, sequence_number: number, ..event.blob.clone() });
        }
        stream.stack_block(&StackBlock::new(1, 8, &stacks));
        stream.event_block(&EventBlock::new(rows)).end();
        stream.into_bytes()
    }
}

fn definition(event: &Event<'_>) -> Definition {
    let mut definition = Definition {
        metadata_id: event.metadata_id(),
        provider: event.provider().to_owned(),
        event_id: event.id(),
        version: event.version(),
        level: event.level(),
        keywords: event.keywords(),
        name: event.name().to_owned(),
        ..Definition::default()
    };
    // Events that the catalog knows are stored without fields.
    if let (None, Some(metadata)) = (event.catalog(), event.metadata()) {
        let fields = fields(&metadata.schema.fields);
        match fields.iter().any(|field| matches!(field.field_type, synth::FieldType::Array(_))) {
            true => definition.tags = vec![Tag::v2_params(&fields)],
            false => definition.fields = fields,
        }
    }
    definition
}

fn fields(of: &[nettrace_parser::Field]) -> Vec<Field> {
    of.iter().map(|field| Field::new(&field.name, kind(&field.kind))).collect()
}

fn kind(of: &FieldType) -> synth::FieldType {
    use synth::FieldType as To;
    match of {
        FieldType::Object(members) => To::Object(fields(members)),
        FieldType::Boolean32 => To::Boolean32,
        FieldType::Utf16CodeUnit => To::Char,
        FieldType::I8 => To::SByte,
        FieldType::I16 => To::Int16,
        FieldType::U16 => To::UInt16,
        FieldType::I32 => To::Int32,
        FieldType::U32 => To::UInt32,
        FieldType::I64 => To::Int64,
        FieldType::U64 => To::UInt64,
        FieldType::F32 => To::Single,
        FieldType::F64 => To::Double,
        FieldType::Decimal => To::Decimal,
        FieldType::DateTime => To::DateTime,
        FieldType::Guid => To::Guid,
        FieldType::Utf16Text => To::String,
        FieldType::Array(element) => kind(element).array(),
        _ => To::Byte,
    }
}
