//! What tests of version 6 begin with and read.

use crate::snapshot::{Outcome, read};
use crate::streams::{START, begun, event, events, opened, row, shape};
use nettrace_testdata::synth::*;

pub(crate) fn v6() -> Stream {
    begun(Version::V6)
}

/// Returns the last block written.
pub(crate) fn last_part(stream: &Stream) -> Part {
    stream.parts.last().unwrap().clone()
}

/// Reads a stream of events of one type with these fields, one for each payload.
pub(crate) fn with_payloads(fields: &[Field], payloads: &[Vec<u8>]) -> Outcome {
    let mut stream = opened(Version::V6);
    let described = MetadataRow { fields: fields.to_vec(), ..row(1) };
    stream.metadata_rows(&MetadataBlock::new(vec![described]));
    stream.thread_block(&ThreadBlock::new(vec![ThreadRow::new(11, 1234, 11)]));
    let blobs = payloads.iter().zip(1..);
    events(
        &mut stream,
        blobs.map(|(payload, number)| Blob { payload: payload.clone(), ..event(number, 1) }),
    );
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(outcome.events.len(), payloads.len());
    outcome
}

/// Returns the fields of the one event with these values, as text.
pub(crate) fn decoded(fields: &[Field], values: &[Value]) -> Vec<String> {
    let outcome = with_payloads(fields, &[payload(values)]);
    assert!(outcome.is_flawless(), "{:?}", outcome.findings);
    outcome.events[0].fields.clone()
}

pub(crate) fn shape_of(outcome: &Outcome) -> String {
    shape(&outcome.events[0].metadata.as_ref().unwrap().schema)
}

pub(crate) fn field(name: &str, field_type: FieldType) -> Field {
    Field::new(name, field_type)
}

pub(crate) fn text(text: &str) -> Value {
    Value::Text(text.into())
}

pub(crate) fn with_optional(optional: Vec<Optional>) -> MetadataRow {
    MetadataRow { optional, ..row(1) }
}

/// Writes a sequence point with flags and nothing listed.
pub(crate) fn flagged(stream: &mut Stream, flags: u32) {
    stream.sequence_point(&SequencePoint { ticks: START + 5, flags, ..SequencePoint::default() });
}
