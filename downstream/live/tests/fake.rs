use nettrace_ipc::Runtime;
use nettrace_ipc::fake::{FakeConfig, FakeRuntime};
use nettrace_writer::{
    EventType, FieldType, Session, SessionEvent, SessionThread, Step, Value, Version,
};

/// Returns the stream of a runtime in which two exceptions are thrown. It has two parts, of which
/// the second has the end mark.
fn stream() -> (Vec<u8>, Vec<u8>) {
    let thrown =
        EventType { keywords: 0x8000, level: 2, version: 1, ..EventType::new(RUNTIME, 80, "") }
            .field("ExceptionType", FieldType::Text)
            .field("ExceptionMessage", FieldType::Text)
            .field("ExceptionEIP", FieldType::UInt64)
            .field("ExceptionHRESULT", FieldType::UInt32)
            .field("ExceptionFlags", FieldType::UInt16)
            .field("ClrInstanceID", FieldType::UInt16);
    let event = |message: &str| {
        let texts = ["Shop.SoldOut", message].map(|text| Value::Text(text.into()));
        let numbers =
            [Value::U64(0x7f00_0000_1000), Value::U32(0x8013_1500), Value::U16(0), Value::U16(9)];
        Step::event(0, 0, 10, texts.into_iter().chain(numbers))
    };
    let session = Session {
        types: vec![thrown],
        threads: vec![SessionThread::new(11)],
        steps: vec![
            event("bread"),
            Step::Flush,
            Step::Lose { thread: 0, count: 3 },
            event("butter"),
            Step::sequence_point(),
        ],
        ..Session::new(Version::V5)
    };
    let mut bytes = session.record().stream.into_bytes();
    let end = bytes.split_off(bytes.len() - 1);
    (bytes, end)
}

const RUNTIME: &str = "Microsoft-Windows-DotNETRuntime";

#[test]
fn a_cookie_of_the_protocol_and_an_activity_of_a_trace_are_of_one_type() {
    let fake = FakeRuntime::start(FakeConfig::default()).unwrap();
    let cookie = Runtime::new(fake.endpoint()).info().unwrap().cookie;
    let tagged =
        Step::Event(SessionEvent { activity_id: cookie.into(), ..SessionEvent::default() });
    let session = Session {
        types: vec![EventType::new("Shop", 1, "Sold")],
        threads: vec![SessionThread::new(11)],
        steps: vec![tagged],
        ..Session::new(Version::V5)
    };
    let recording = session.record();
    let mut events = nettrace_parser::Reader::from_slice(&recording.stream.bytes);
    let activity = events.next_event().unwrap().unwrap().activity_id().unwrap();
    assert_eq!(activity, cookie);
    assert_eq!(activity, recording.events[0].activity_id.unwrap());
    assert_eq!(cookie.to_string().parse(), Ok(activity));
}

#[test]
fn exceptions_come_as_they_are_thrown_and_the_session_ends_when_it_is_stopped() {
    let (stream, tail) = stream();
    let fake = FakeRuntime::start(FakeConfig { stream, tail, ..FakeConfig::default() }).unwrap();
    let mut seen = Vec::new();
    let watched = live::watch(&Runtime::new(fake.endpoint()), |type_name, message, stop| {
        seen.push(format!("{type_name}: {message}"));
        if seen.len() == 2 {
            stop.stop()?;
        }
        Ok(())
    })
    .unwrap();
    assert_eq!(seen, ["Shop.SoldOut: bread", "Shop.SoldOut: butter"]);
    assert_eq!(watched, live::Watched { exceptions: 2, lost: 3, is_complete: true });
}
