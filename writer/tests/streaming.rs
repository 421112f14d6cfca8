//! Tests that a session has the same bytes whether it is written step by step or recorded as a
//! whole.

use nettrace_writer::{
    EventType, ExpectedEvent, FieldType, Session, SessionThread, SessionWriter, Step, Stream,
    Value, Version, strategy, tiny_v4, tiny_v6,
};
use proptest::prelude::*;

/// Writes a session step by step, and returns its bytes, events and number of lost events.
fn streamed(session: &Session) -> (Vec<u8>, Vec<ExpectedEvent>, u64) {
    let steps = session.steps.clone();
    let settings = Session { steps: Vec::new(), ..session.clone() };
    let mut writer = SessionWriter::new(settings, Vec::new()).unwrap();
    let mut events = Vec::new();
    for step in steps {
        events.append(&mut writer.step(step).unwrap());
    }
    let position = writer.position();
    let mut written = writer.finish().unwrap();
    assert!(written.bytes >= position);
    assert_eq!(written.bytes, written.out.len() as u64);
    events.append(&mut written.events);
    (written.out, events, written.lost)
}

fn assert_same(session: &Session) {
    let kept = session.record();
    assert_eq!(streamed(session), (kept.stream.bytes, kept.events, kept.lost));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_session_written_step_by_step_has_the_bytes_and_events_of_a_recorded_one(
        session in prop::sample::select(Version::ALL.to_vec())
            .prop_flat_map(|version| strategy::sessions(version, 120)),
        events_per_batch in 0_usize..9,
    ) {
        assert_same(&Session { events_per_batch, ..session });
    }
}

#[test]
fn steps_that_the_session_brings_come_first() {
    for version in Version::ALL {
        let mut session = Session {
            types: vec![EventType::new("Demo", 7, "Hi").field("n", FieldType::Int32)],
            threads: vec![SessionThread::new(11)],
            ..Session::new(version)
        };
        session.steps = (0..3).map(|n| Step::event(0, 0, 1, [Value::I32(n)])).collect();
        let mut writer = SessionWriter::new(session.clone(), Vec::new()).unwrap();
        assert_eq!(writer.step(Step::Flush).unwrap().len(), 3);
        let written = writer.finish().unwrap();
        session.steps.push(Step::Flush);
        assert_eq!(written.out, session.record().stream.bytes);
    }
}

#[test]
fn a_stream_that_is_flushed_part_by_part_keeps_its_places_and_padding() {
    for whole in [tiny_v4(), tiny_v6()] {
        for parts_per_flush in 1..4 {
            let mut out = Vec::new();
            let mut stream = Stream::with_header(whole.version, &[]);
            stream.parts.clear();
            let mut places = Vec::new();
            for (at, part) in whole.parts.iter().enumerate() {
                stream.raw(part.kind, &whole.bytes[part.start..part.end]);
                places.push((stream.parts.last().unwrap().start, stream.position() as usize));
                if at % parts_per_flush == 0 {
                    stream.flush_to(&mut out).unwrap();
                    assert!(stream.bytes.is_empty() && stream.parts.is_empty());
                }
            }
            stream.flush_to(&mut out).unwrap();
            assert_eq!(out, whole.bytes);
            assert_eq!(
                places,
                whole.parts.iter().map(|part| (part.start, part.end)).collect::<Vec<_>>()
            );
        }
    }
}

#[test]
fn a_thread_that_comes_back_has_the_lowest_free_index() {
    let steps = [0, 1, 2].map(|thread| Step::event(0, thread, 1, []));
    let session = Session {
        types: vec![EventType::new("Demo", 7, "Hi")],
        threads: vec![SessionThread::new(11), SessionThread::new(12), SessionThread::new(13)],
        steps: [&steps[..], &[Step::RemoveThread(1), Step::RemoveThread(0)], &steps[..]].concat(),
        ..Session::new(Version::V6)
    };
    let indices: Vec<u64> =
        session.record().events.iter().map(|event| event.blob.thread_id).collect();
    assert_eq!(indices, [0, 1, 2, 0, 1, 2]);
    let threads: Vec<u64> =
        session.record().events.iter().map(|event| event.os_thread_id).collect();
    assert_eq!(threads, [11, 12, 13, 11, 12, 13]);
}

#[test]
fn a_batch_larger_than_a_block_goes_into_several() {
    let session = Session {
        types: vec![EventType::new("Demo", 7, "Large").field("bytes", FieldType::Byte.array())],
        threads: vec![SessionThread::new(11)],
        // 24 MB, which is more than a block of version 6 can hold.
        steps: (0..400).map(|_| Step::event(0, 0, 1, [Value::Raw(vec![7; 60_000])])).collect(),
        ..Session::new(Version::V6)
    };
    let recording = session.record();
    let largest = recording.stream.parts.iter().map(|part| part.content.len()).max().unwrap();
    assert!((7 << 20..=8 << 20).contains(&largest), "{largest}");
    assert_eq!(recording.stream.parts.iter().map(|part| part.rows.len()).sum::<usize>(), 400 + 3);
}
