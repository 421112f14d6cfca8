//! Small streams that most tests begin with: one event type, two threads.

use nettrace_parser::Class;
use nettrace_testdata::synth::*;

/// Returns the class of the finding about the first undefined id of a block. It is a contradiction
/// in version 6, which requires a definition before each use.
pub(crate) fn undefined_in(version: Version) -> Class {
    if version == Version::V6 { Class::Contradiction } else { Class::Note }
}

/// Versions that store metadata and stacks in separate blocks.
pub(crate) const V4_AND_V6: [Version; 2] = [Version::V4, Version::V6];
/// Versions whose blocks are objects.
pub(crate) const OBJECTS: [Version; 2] = [Version::V3, Version::V4];
/// One version of each framing and blob layout.
pub(crate) const EACH: [Version; 3] = [Version::V3, Version::V4, Version::V6];

/// Time in ticks at which the sessions of these tests start.
pub(crate) const START: u64 = 1_000_000;

/// Returns the definition of an event type of the provider Demo: id 7, name `Hi`, keywords 1, level
/// 4, and a field `n` of type Int32.
pub(crate) fn definition(metadata_id: u32) -> Definition {
    Definition {
        metadata_id,
        provider: "Demo".into(),
        event_id: 7,
        name: "Hi".into(),
        keywords: 1,
        level: 4,
        fields: vec![Field::new("n", FieldType::Int32)],
        ..Definition::default()
    }
}

/// Returns the row of version 6 that defines the event type of [`definition`].
pub(crate) fn row(metadata_id: u32) -> MetadataRow {
    MetadataRow {
        metadata_id,
        provider: "Demo".into(),
        event_id: 7,
        name: "Hi".into(),
        fields: vec![Field::new("n", FieldType::Int32)],
        optional: vec![Optional::Keywords(1), Optional::Level(4)],
        ..MetadataRow::default()
    }
}

/// Writes definitions in the form of versions 3 to 5.
pub(crate) fn define(stream: &mut Stream, definitions: &[Definition]) {
    let blobs =
        definitions.iter().map(|definition| Blob::definition(11, START, definition.encode()));
    stream.metadata_blobs(&EventBlock::new(blobs));
}

/// Returns a stream with its header and Trace only.
pub(crate) fn opened(version: Version) -> Stream {
    let mut stream = Stream::new(version);
    stream.trace(&Trace::default());
    stream
}

/// Returns a stream that has defined metadata id 1 and, in version 6, threads 11 and 12
/// (indices as OS ids) of process 1234.
pub(crate) fn begun(version: Version) -> Stream {
    let mut stream = opened(version);
    introduce(&mut stream);
    stream
}

/// Adds the event type and the threads of a [`begun`] stream to an [`opened`] one.
pub(crate) fn introduce(stream: &mut Stream) {
    if stream.version == Version::V6 {
        stream.metadata_rows(&MetadataBlock::new(vec![row(1)]));
        let threads = vec![ThreadRow::new(11, 1234, 11), ThreadRow::new(12, 1234, 12)];
        stream.thread_block(&ThreadBlock::new(threads));
    } else {
        define(stream, &[definition(1)]);
    }
}

/// Returns an event of thread 11, `later` ticks after the start. Its payload is its sequence
/// number.
pub(crate) fn event(number: u32, later: u64) -> Blob {
    on(11, number, later)
}

/// Returns an event of any thread, `later` ticks after the start. Its payload is its sequence
/// number.
pub(crate) fn on(thread: u64, number: u32, later: u64) -> Blob {
    Blob {
        metadata_id: 1,
        sequence_number: number,
        thread_id: thread,
        capture_thread_id: thread,
        ticks: START + later,
        payload: payload(&[Value::U32(number)]),
        ..Blob::default()
    }
}

/// Marks an event as sorted, which promises that no later event is older.
pub(crate) fn sorted(blob: Blob) -> Blob {
    Blob { is_sorted: true, ..blob }
}

/// Writes an event block.
pub(crate) fn events(stream: &mut Stream, blobs: impl IntoIterator<Item = Blob>) {
    stream.event_block(&EventBlock::new(blobs));
}

/// Writes a sequence point that lists threads.
pub(crate) fn point(stream: &mut Stream, later: u64, threads: &[(u64, u32)]) {
    stream.sequence_point(&SequencePoint {
        ticks: START + later,
        threads: threads.to_vec(),
        ..SequencePoint::default()
    });
}

/// Returns the timestamps of events that are `later` ticks after the start.
pub(crate) fn at<const N: usize>(later: [u64; N]) -> [u64; N] {
    later.map(|later| START + later)
}

/// Returns a whole schema as text, such as `n: I32, o: {s: Utf16Text}, a: [U16]; opaque`.
pub(crate) fn shape(schema: &nettrace_parser::Schema) -> String {
    let mut text = fields_shape(&schema.fields);
    if let Some(fault) = schema.opaque {
        text += &format!("; {fault:?}");
    }
    text
}

fn fields_shape(fields: &[nettrace_parser::Field]) -> String {
    let fields: Vec<String> =
        fields.iter().map(|field| format!("{}: {}", field.name, type_shape(&field.kind))).collect();
    fields.join(", ")
}

fn type_shape(kind: &nettrace_parser::FieldType) -> String {
    use nettrace_parser::FieldType::*;
    match kind {
        Object(fields) => format!("{{{}}}", fields_shape(fields)),
        Array(element) => format!("[{}]", type_shape(element)),
        FixedArray(element, count) => format!("[{}; {count}]", type_shape(element)),
        RelLoc(element) => format!("rel [{}]", type_shape(element)),
        DataLoc(element) => format!("data [{}]", type_shape(element)),
        simple => format!("{simple:?}"),
    }
}

/// Returns an event block of these rows, which may be blobs or any bytes.
pub(crate) fn block_of(rows: impl IntoIterator<Item = Row>) -> EventBlock {
    EventBlock { rows: rows.into_iter().collect(), ..EventBlock::default() }
}

pub(crate) fn last_event_block(stream: &Stream) -> &Part {
    stream.nth(PartKind::Event, stream.count(PartKind::Event) - 1)
}
