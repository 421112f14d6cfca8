//! Sub-events of .NET 11's async profiler, in each form.

use nettrace_export::{EventForm, EventWriter, WriteOptions};
use nettrace_parser::Reader;
use nettrace_testdata::synth::{
    EventType, Session, SessionEvent, SessionThread, Step, Value, Version,
};

const PROVIDER: &str = "System.Runtime.CompilerServices.AsyncProfilerEventSource";

/// Returns a buffer that states a number of sub-events and has these bytes of them.
fn buffer(count: u32, events: &[u8]) -> Vec<u8> {
    let mut bytes = vec![1];
    bytes.extend([u32::try_from(events.len() + 37).unwrap(), 7].map(u32::to_le_bytes).concat());
    bytes.extend(99u64.to_le_bytes());
    bytes.extend(count.to_le_bytes());
    bytes.extend([1000u64, 2000].map(u64::to_le_bytes).concat());
    bytes.extend(events);
    bytes
}

/// Returns what a form has of one event with this buffer.
fn written(form: EventForm, buffer: &[u8]) -> String {
    let length = Value::U32(u32::try_from(buffer.len()).unwrap());
    let bytes = buffer.iter().map(|byte| Value::U8(*byte));
    let values = [length].into_iter().chain(bytes).collect();
    let session = Session {
        types: vec![EventType { version: 1, ..EventType::new(PROVIDER, 1, "AsyncEvents") }],
        threads: vec![SessionThread::new(11)],
        steps: vec![Step::Event(SessionEvent { values, ..SessionEvent::default() })],
        ..Session::new(Version::V4)
    };
    let stream = session.record().stream.bytes;
    let mut writer = EventWriter::new(form, WriteOptions::default());
    let (mut out, mut reader) = (Vec::new(), Reader::from_slice(&stream));
    let event = reader.next_event().unwrap().unwrap();
    writer.write(&mut out, &event);
    String::from_utf8(out).unwrap()
}

/// A context is resumed, 10 ticks later a state machine with its call stack, and it is complete.
const EVENTS: [u8; 18] = [2, 5, 1, 3, 16, 10, 8, 0, 0, 4, 1, 3, 0x80, 0x80, 1, 3, 14, 0];

#[test]
fn sub_events_are_objects_with_their_names_and_what_they_say() {
    let json = written(EventForm::Ndjson, &buffer(3, &EVENTS));
    let json: serde_json::Value = serde_json::from_str(json.lines().last().unwrap()).unwrap();
    let buffer = &json["payload"]["Buffer"];
    assert_eq!((&buffer["context"], &buffer["tid"]), (&7.into(), &99.into()), "{json}");
    let events = buffer["events"].as_array().unwrap();
    assert_eq!(events.len(), 3);
    assert_eq!(events[0]["event"], "ResumeRuntimeAsyncContext");
    assert_eq!(events[0]["dispatcher"], 3);
    assert_eq!(events[1]["frames"], serde_json::json!(["0x4000"]));
    assert_eq!((&events[1]["continuation"], &events[1]["states"][0]), (&4.into(), &(-2).into()));
    assert!(events[1]["ts_ns"].as_i64() > events[0]["ts_ns"].as_i64());
    assert_eq!(json["payload_faults"], serde_json::Value::Null);
}

#[test]
fn text_and_tables_of_text_have_them_too() {
    let text = written(EventForm::Text, &buffer(3, &EVENTS));
    let stack = "{id=16 event=ResumeStateMachineAsyncCallstack ticks=1015 dispatcher=3 \
                 continuation=4 frames=[0x4000] states=[-2]}";
    assert!(text.contains(stack), "{text}");
    let csv = written(EventForm::Csv, &buffer(3, &EVENTS));
    assert!(csv.contains("CompleteStateMachineAsyncContext"), "{csv}");
}

#[test]
fn what_cannot_be_read_of_a_buffer_is_said() {
    let fault = |buffer: &[u8]| {
        let json = written(EventForm::Ndjson, buffer);
        let json: serde_json::Value = serde_json::from_str(json.lines().last().unwrap()).unwrap();
        json["payload_faults"][0]["fault"].as_str().unwrap_or_default().to_owned()
    };
    let cut = buffer(3, &EVENTS[..9]);
    assert_eq!(fault(&cut), "1 of 3 sub-events are read, and 5 bytes are left");
    assert_eq!(fault(&buffer(4, &EVENTS)), "3 of 4 sub-events are read, and 0 bytes are left");
    assert_eq!(fault(&[1, 2]), "the buffer is of an unknown version, or cut off");
    let text = written(EventForm::Text, &cut);
    assert!(text.contains("]}<1 of 3 sub-events are read, and 5 bytes are left>"), "{text}");
}

mod with_shared {
    use super::*;
    use nettrace_parser::view::{AsyncBuffer, View};
    use nettrace_testdata::corpus;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn each_buffer_of_a_program_is_read_to_its_last_byte() {
        let bytes = corpus::trace("net11-linux-x64/async-profiler.nettrace").bytes();
        let mut reader = Reader::from_slice(&bytes);
        let (mut buffers, mut all) = (0, 0);
        while let Some(event) = reader.next_event().unwrap() {
            let Some(buffer) = AsyncBuffer::from_event(&event) else { continue };
            let mut events = buffer.events();
            let count = events.by_ref().count();
            assert_eq!((count, events.unread()), (buffer.event_count as usize, &[][..]));
            (buffers, all) = (buffers + 1, all + count);
        }
        assert_eq!(buffers, 112);
        assert!(all > 100_000, "{all}");
    }
}
