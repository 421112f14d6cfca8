use nettrace_writer::strategy::{damage, sessions, versions};
use nettrace_writer::{Damage, PartKind, Session, SessionWriter, Step, Version};
use property_tests::convert;
use proptest::prelude::*;

#[test]
fn every_event_of_any_session_is_a_line() {
    proptest!(|(session in versions().prop_flat_map(|version| sessions(version, 100)))| {
        let recording = session.record();
        let events = recording.time_order().into_iter().map(|at| &recording.events[at]);
        let expected: Vec<_> = events.map(|event| format!("{}/{}", event.provider, event.event_id)).collect();
        prop_assert_eq!(convert(&recording.stream.bytes)?, expected);
    });
}

#[test]
fn damage_makes_no_converter_panic() {
    proptest!(|(session in sessions(Version::V4, 50), damage in damage(5_000))| {
        let bytes = session.record().stream.bytes;
        let _ = convert(&damage.applied(&bytes));
    });
    for (name, bytes) in nettrace_writer::malformed() {
        println!("{name}");
        let _ = convert(&bytes);
    }
}

/// Checks that the property can fail, with a converter that forgets every seventh event. The
/// reported session has few events.
#[test]
fn a_converter_that_forgets_events_is_found_out() {
    use proptest::test_runner::{TestCaseError, TestError, TestRunner};
    let forgetful = |bytes: &[u8]| {
        let lines = convert(bytes).unwrap();
        lines.into_iter().enumerate().filter(|(at, _)| at % 7 != 6).count()
    };
    let failure = TestRunner::deterministic()
        .run(&sessions(Version::V6, 100), |session| {
            let recording = session.record();
            match forgetful(&recording.stream.bytes) == recording.events.len() {
                true => Ok(()),
                false => Err(TestCaseError::fail("events are missing")),
            }
        })
        .unwrap_err();
    let TestError::Fail(_, shrunk) = failure else { panic!("{failure}") };
    assert_eq!(shrunk.record().events.len(), 7);
}

/// Reads a session through a pipe while it is written.
#[test]
fn a_reader_at_the_other_end_of_a_pipe_sees_what_was_written() {
    let session = Session {
        types: vec![nettrace_writer::EventType::new("Shop", 1, "Sold")],
        threads: vec![nettrace_writer::SessionThread::new(11)],
        ..Session::new(Version::V4)
    };
    let (from, to) = std::io::pipe().unwrap();
    let written = std::thread::spawn(move || {
        let mut writer = SessionWriter::new(session, to).unwrap();
        let mut events = 0;
        for n in 0..100_000 {
            events += writer.step(Step::event(0, 0, n % 7, [])).unwrap().len();
        }
        events + writer.finish().unwrap().events.len()
    });
    let mut reader = nettrace_parser::Reader::from_read(from);
    let mut read = 0;
    reader.for_each(|_| read += 1).unwrap();
    assert!(reader.is_complete());
    assert_eq!(read, written.join().unwrap());
}

#[test]
fn damage_can_be_aimed() {
    let stream = nettrace_writer::tiny_v4();
    // The cut removes the third event and all later ones.
    let third = stream.nth(PartKind::Event, 0).rows[2].start;
    assert_eq!(
        convert(&Damage::Cut { at: third }.applied(&stream.bytes)).unwrap(),
        ["Demo/7", "Demo/7"]
    );
}
