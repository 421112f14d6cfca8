//! Streams and results of the tests of version 6.

pub(crate) use crate::described::field;
use crate::payloads;
use crate::snapshot::Outcome;
use crate::streams::{START, begun, row, shape};
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
    payloads::read_payloads(Version::V6, fields, payloads)
}

/// Reads a stream of one event with these values, and returns its fields as text.
pub(crate) fn decoded(fields: &[Field], values: &[Value]) -> Vec<String> {
    let outcome = with_payloads(fields, &[payload(values)]);
    assert!(outcome.is_flawless(), "{:?}", outcome.findings);
    outcome.events[0].fields.clone()
}

pub(crate) fn shape_of(outcome: &Outcome) -> String {
    shape(&outcome.events[0].metadata.as_ref().unwrap().schema)
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
