//! Tests of events that the catalog finds by name.

use nettrace_parser::{Reader, Value as Read};
use nettrace_testdata::synth::{
    EventType, Field, FieldType, Label, Session, SessionEvent, SessionThread, Step, Value, Version,
};

/// Returns a stream with one event of one type.
fn one_event(
    version: Version,
    event_type: EventType,
    labels: Vec<Label>,
    values: Vec<Value>,
) -> Vec<u8> {
    let event = SessionEvent { labels, values, ..SessionEvent::default() };
    let session = Session {
        types: vec![event_type],
        threads: vec![SessionThread::new(11)],
        steps: vec![Step::Event(event)],
        ..Session::new(version)
    };
    session.record().stream.bytes
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

#[test]
fn an_old_diagnostic_source_event_has_texts_and_pairs_of_texts() {
    let event_type = EventType {
        provider: "Microsoft-Diagnostics-DiagnosticSource".into(),
        event_id: 4,
        name: "Activity1Start".into(),
        ..EventType::default()
    };
    let pairs =
        vec![Value::Object(vec![text("Id"), text("1")]), Value::Object(vec![text("語"), text("")])];
    let values = vec![text("HttpHandlerDiagnosticListener"), text("Request"), Value::Array(pairs)];
    let bytes = one_event(Version::V4, event_type, vec![], values);
    let mut reader = Reader::from_slice(&bytes);
    let event = reader.next_event().unwrap().unwrap();
    assert_eq!(event.catalog().unwrap().name, "Activity1/Start");
    assert_eq!(event.field("SourceName").unwrap().to_string(), "HttpHandlerDiagnosticListener");
    assert_eq!(event.field("EventName").unwrap().to_string(), "Request");
    assert_eq!(
        event.field("Arguments").unwrap().to_string(),
        "[{Key=Id, Value=1}, {Key=語, Value=}]"
    );
    let mut fields = event.fields();
    assert_eq!(fields.by_ref().count(), 3);
    assert!(fields.rest().is_empty());
}

#[test]
fn a_recorder_names_native_events_by_id_and_says_their_version_with_each() {
    let event_type = EventType {
        provider: "Microsoft-Windows-DotNETRuntime".into(),
        event_id: 2,
        name: "Unknown(2)".into(),
        ..EventType::default()
    };
    for (version, values) in [
        (0, vec![Value::U32(7), Value::U16(1)]),
        (1, vec![Value::U32(7), Value::U32(1), Value::U16(9)]),
        (4, vec![Value::U32(7), Value::U32(1), Value::U16(9)]),
    ] {
        let labels = vec![Label::Version(version)];
        let bytes = one_event(Version::V6, event_type.clone(), labels, values.clone());
        let mut reader = Reader::from_slice(&bytes);
        let event = reader.next_event().unwrap().unwrap();
        assert_eq!(event.catalog().unwrap().version, u32::from(version.min(1)));
        let mut fields = event.fields();
        assert_eq!(fields.by_ref().count(), values.len());
        assert!(fields.rest().is_empty());
    }
}

#[test]
fn an_event_of_a_recorder_keeps_the_fields_that_the_stream_gives_it() {
    let event_type = EventType {
        provider: "Universal.Events".into(),
        event_id: 9,
        name: "sched_waking".into(),
        fields: vec![Field::new("Value", FieldType::VarUInt), Field::new("pid", FieldType::Int32)],
        ..EventType::default()
    };
    let values = vec![Value::VarUInt(1), Value::I32(77)];
    let bytes = one_event(Version::V6, event_type.clone(), vec![], values.clone());
    let mut reader = Reader::from_slice(&bytes);
    let event = reader.next_event().unwrap().unwrap();
    assert!(event.catalog().is_none());
    assert!(matches!(event.field("pid"), Some(Read::I32(77))));

    let bytes = one_event(Version::V6, EventType { fields: vec![], ..event_type }, vec![], values);
    let mut reader = Reader::from_slice(&bytes);
    let event = reader.next_event().unwrap().unwrap();
    assert!(matches!(event.field("Value"), Some(Read::U64(1))));
    let mut fields = event.fields();
    fields.by_ref().for_each(drop);
    assert_eq!(fields.rest(), 77i32.to_le_bytes());
}
