use nettrace_writer::{EventType, FieldType, Session, SessionThread, Step, Value, Version};

fn shop(version: Version) -> Session {
    Session {
        types: vec![EventType::new("Shop", 1, "Sold").field("pieces", FieldType::Int32)],
        threads: vec![SessionThread::new(11), SessionThread::new(12)],
        steps: vec![
            Step::event(0, 1, 100, [Value::I32(3)]),
            Step::event(0, 0, 100, [Value::I32(5)]),
            Step::Lose { thread: 1, count: 2 },
            Step::sequence_point(),
        ],
        ..Session::new(version)
    }
}

#[test]
fn every_event_is_a_line_in_order_of_time() {
    for version in Version::ALL {
        let recording = shop(version).record();
        let mut csv = Vec::new();
        let is_whole = converter::convert(&recording.stream.bytes, &mut csv).unwrap();
        assert_eq!(is_whole, recording.lost == 0, "{version:?}");
        let csv = String::from_utf8(csv).unwrap();
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(lines.len(), 2, "{csv}");
        assert!(lines[0].starts_with("event,10000,") && lines[0].contains("12"), "{csv}");
        assert!(lines[1].starts_with("event,20000,") && lines[1].ends_with(",Shop/1"), "{csv}");
    }
}

#[test]
fn a_trace_that_was_cut_is_not_whole() {
    let bytes = shop(Version::V4).record().stream.bytes;
    assert!(!converter::convert(&bytes[..bytes.len() - 1], std::io::sink()).unwrap());
    assert!(converter::convert(b"not a trace", std::io::sink()).is_err());
}
