//! Streams of definitions of versions 3 to 5.

use crate::snapshot::{Outcome, read};
use crate::streams::{define, definition, event, events, opened, shape};
use nettrace_testdata::synth::*;

/// Reads a stream with one event of each definition, all with this payload. The
/// definitions' ids must be 1, 2 ….
pub(crate) fn described(version: Version, definitions: &[Definition], payload: &[u8]) -> Outcome {
    let stream = stream_of(version, definitions, payload);
    read(&stream.bytes)
}

pub(crate) fn stream_of(version: Version, definitions: &[Definition], payload: &[u8]) -> Stream {
    let mut stream = opened(version);
    define(&mut stream, definitions);
    let blobs = definitions.iter().zip(1..).map(|(definition, number)| Blob {
        metadata_id: definition.metadata_id,
        payload: payload.to_vec(),
        ..event(number, u64::from(number))
    });
    events(&mut stream, blobs);
    stream.end();
    stream
}

/// Returns the start and the end of the payload of the definition with index `nth`.
pub(crate) fn definition_payload(
    stream: &Stream,
    definitions: &[Definition],
    nth: usize,
) -> (usize, usize) {
    let length = definitions[nth].encode().len();
    if stream.version == Version::V3 {
        let start = stream.nth(PartKind::Event, 0).rows[nth].start + 56;
        return (start, start + length);
    }
    let end = stream.nth(PartKind::Metadata, 0).rows[nth].end;
    (end - length, end)
}

/// Returns `name: type` of each of an event's fields.
pub(crate) fn shape_of(outcome: &Outcome, nth: usize) -> String {
    shape(&outcome.events[nth].metadata.as_ref().expect("the event is typed").schema)
}

pub(crate) fn field(name: &str, field_type: FieldType) -> Field {
    Field::new(name, field_type)
}

/// Returns a definition with a V2Params tag of these fields.
pub(crate) fn v2(fields: &[Field]) -> Definition {
    Definition { fields: vec![], tags: vec![Tag::v2_params(fields)], ..definition(1) }
}
