//! Tests that recorded sessions keep the guarantees of the format, and that their bytes contain the
//! expected events.

use std::collections::HashMap;

use nettrace_writer::{
    Blob, BlobLayout, EventType, Field, FieldType, Label, PartKind, Recording, Session,
    SessionThread, Step, Value, Version, strategy,
};
use proptest::prelude::*;

fn assert_guarantees(session: &Session, recording: &Recording) {
    let events = &recording.events;
    let mut last_of_thread: HashMap<u64, u64> = HashMap::new();
    for (at, event) in events.iter().enumerate() {
        let blob = &event.blob;
        if session.version == Version::V3 {
            assert!(
                events[at..].iter().all(|later| later.blob.ticks >= blob.ticks),
                "file order is time order"
            );
            continue;
        }
        // In version 6 another thread may have the index later, but time does not go back.
        let last = last_of_thread.insert(blob.capture_thread_id, blob.ticks);
        assert!(
            last.is_none_or(|last| last <= blob.ticks),
            "a capture thread's timestamps never fall"
        );
        if blob.is_sorted {
            assert!(
                events[at..].iter().all(|later| later.blob.ticks >= blob.ticks),
                "nothing later is older"
            );
        }
    }
}

/// Decodes the events of all event blocks from the bytes of the stream. Only the positions of the
/// rows come from the writer.
fn stored_blobs(session: &Session, recording: &Recording) -> Vec<Blob> {
    let stream = &recording.stream;
    let mut blobs = Vec::new();
    for part in stream.parts.iter().filter(|part| part.kind == PartKind::Event) {
        let mut before = Before::default();
        for row in &part.rows {
            let bytes = &stream.bytes[row.clone()];
            let blob = match session.layout {
                _ if session.version == Version::V3 => read_v3(bytes),
                BlobLayout::Compressed | BlobLayout::Overlong(_) => {
                    before.read(session.version, bytes)
                }
                _ => read_uncompressed(session.version, bytes),
            };
            if blob.metadata_id != 0 {
                blobs.push(blob);
            }
        }
    }
    blobs
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

fn read_v3(bytes: &[u8]) -> Blob {
    assert_eq!(u32_at(bytes, 0) as usize + 4, bytes.len());
    let payload_size = u32_at(bytes, 52) as usize;
    let stack_at = 60 + payload_size;
    let stack_size = u32_at(bytes, stack_at - 4) as usize;
    Blob {
        metadata_id: u32_at(bytes, 4),
        thread_id: u64::from(u32_at(bytes, 8)),
        ticks: u64_at(bytes, 12),
        activity_id: bytes[20..36].try_into().unwrap(),
        related_activity_id: bytes[36..52].try_into().unwrap(),
        payload: bytes[56..56 + payload_size].to_vec(),
        stack: bytes[stack_at..stack_at + stack_size].to_vec(),
        ..Blob::default()
    }
}

fn read_uncompressed(version: Version, bytes: &[u8]) -> Blob {
    assert_eq!(u32_at(bytes, 0) as usize + 4, bytes.len());
    let mut blob = Blob {
        metadata_id: u32_at(bytes, 4) & 0x7fff_ffff,
        is_sorted: u32_at(bytes, 4) & 0x8000_0000 == 0,
        sequence_number: u32_at(bytes, 8),
        thread_id: u64_at(bytes, 12),
        capture_thread_id: u64_at(bytes, 20),
        processor: u32_at(bytes, 28),
        stack_id: u32_at(bytes, 32),
        ticks: u64_at(bytes, 36),
        ..Blob::default()
    };
    let payload_at = if version == Version::V6 {
        blob.label_list_id = u32_at(bytes, 44);
        52
    } else {
        blob.activity_id = bytes[44..60].try_into().unwrap();
        blob.related_activity_id = bytes[60..76].try_into().unwrap();
        80
    };
    let size = u32_at(bytes, payload_at - 4) as usize;
    blob.payload = bytes[payload_at..payload_at + size].to_vec();
    blob
}

/// The previous blob, from which a compressed one differs, and the size of its payload.
struct Before(Blob, usize);

impl Default for Before {
    fn default() -> Self {
        Before(Blob { processor: 0, ..Blob::default() }, 0)
    }
}

impl Before {
    fn read(&mut self, version: Version, bytes: &[u8]) -> Blob {
        let mut rest = bytes;
        let flags = rest[0];
        rest = &rest[1..];
        let Before(blob, payload_size) = self;
        if flags & 1 != 0 {
            blob.metadata_id = varuint(&mut rest) as u32;
        }
        if flags & 2 != 0 {
            let delta = varuint(&mut rest) as u32;
            blob.sequence_number = blob.sequence_number.wrapping_add(delta).wrapping_add(1);
            blob.capture_thread_id = varuint(&mut rest);
            blob.processor = varuint(&mut rest) as u32;
        } else if blob.metadata_id != 0 {
            blob.sequence_number = blob.sequence_number.wrapping_add(1);
        }
        if flags & 4 != 0 {
            blob.thread_id = varuint(&mut rest);
        }
        if flags & 8 != 0 {
            blob.stack_id = varuint(&mut rest) as u32;
        }
        blob.ticks = blob.ticks.wrapping_add(varuint(&mut rest));
        if flags & 0x10 != 0 && version == Version::V6 {
            blob.label_list_id = varuint(&mut rest) as u32;
        } else if flags & 0x10 != 0 {
            blob.activity_id = rest[..16].try_into().unwrap();
            rest = &rest[16..];
        }
        if flags & 0x20 != 0 {
            blob.related_activity_id = rest[..16].try_into().unwrap();
            rest = &rest[16..];
        }
        blob.is_sorted = flags & 0x40 != 0;
        if flags & 0x80 != 0 {
            *payload_size = varuint(&mut rest) as usize;
        }
        assert_eq!(rest.len(), *payload_size, "the payload ends the row");
        Blob { payload: rest.to_vec(), ..blob.clone() }
    }
}

fn varuint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0_u64;
    for shift in (0..70).step_by(7) {
        let byte = bytes[0];
        *bytes = &bytes[1..];
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return value;
        }
    }
    panic!("a varuint of more than ten bytes");
}

/// Returns the number of lost events, counted from the stream by the rules that readers follow.
fn counted_losses(recording: &Recording, version: Version) -> u64 {
    let stream = &recording.stream;
    let mut events = recording.events.iter().map(|event| &event.blob);
    let (mut last, mut lost) = (HashMap::<u64, u32>::new(), 0);
    for part in &stream.parts {
        for row in &part.rows {
            let mut bytes = &stream.bytes[row.clone()];
            match part.kind {
                PartKind::Event => {
                    let blob = events.next().expect("as many events as rows");
                    let last = last.entry(blob.capture_thread_id).or_default();
                    let gap = blob.sequence_number.wrapping_sub(*last).wrapping_sub(1);
                    // A number that falls belongs to a new thread with the same id, whose numbers
                    // begin at 1.
                    assert!(gap as i32 >= 0 || blob.sequence_number == 1);
                    lost += u64::from(if (gap as i32) < 0 { 0 } else { gap });
                    *last = blob.sequence_number;
                }
                PartKind::SequencePoint | PartKind::RemoveThread => {
                    let (thread, number) = match version {
                        Version::V6 => (varuint(&mut bytes), varuint(&mut bytes) as u32),
                        _ => (u64_at(bytes, 0), u32_at(bytes, 8)),
                    };
                    let known = last.entry(thread).or_default();
                    lost += u64::from(number - *known);
                    *known = number;
                    if part.kind == PartKind::RemoveThread {
                        last.remove(&thread);
                    }
                }
                _ => {}
            }
        }
        let forgets_threads = part.kind == PartKind::SequencePoint
            && version == Version::V6
            && u32_at(&stream.bytes, part.content.start + 8) & 1 != 0;
        if forgets_threads {
            last.clear();
        }
    }
    lost
}

fn check(session: &Session) {
    let recording = session.record();
    assert_guarantees(session, &recording);
    let expected: Vec<Blob> = recording.events.iter().map(|event| event.blob.clone()).collect();
    assert_eq!(stored_blobs(session, &recording), expected);
    if session.version == Version::V3 {
        assert_eq!(recording.lost, 0);
    } else {
        assert_eq!(counted_losses(&recording, session.version), recording.lost);
    }
    let stream = &recording.stream;
    assert!(
        stream.parts.windows(2).all(|pair| pair[0].end == pair[1].start),
        "parts lie side by side"
    );
    assert_eq!(stream.parts.last().unwrap().end, stream.bytes.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn v3_sessions_hold_what_they_say(session in strategy::sessions(Version::V3, 40)) {
        check(&session);
    }

    #[test]
    fn v4_sessions_hold_what_they_say(session in strategy::sessions(Version::V4, 40)) {
        check(&session);
    }

    #[test]
    fn v5_sessions_hold_what_they_say(session in strategy::sessions(Version::V5, 40)) {
        check(&session);
    }

    #[test]
    fn v6_sessions_hold_what_they_say(session in strategy::sessions(Version::V6, 40)) {
        check(&session);
    }
}

fn one_type(version: Version) -> Session {
    Session {
        types: vec![EventType {
            provider: "Synth".into(),
            event_id: 1,
            fields: vec![Field::new("n", FieldType::Int32)],
            ..EventType::default()
        }],
        threads: vec![SessionThread::new(11), SessionThread::new(12)],
        ..Session::new(version)
    }
}

fn event(thread: usize) -> Step {
    Step::event(0, thread, 1, vec![Value::I32(5)])
}

#[test]
fn a_batch_is_written_as_metadata_stacks_events() {
    let steps = vec![event(0), event(1), Step::sequence_point(), event(0)];
    let kinds = |version| -> Vec<PartKind> {
        let session = Session { steps: steps.clone(), ..one_type(version) };
        session.record().stream.parts.iter().skip(2).map(|part| part.kind).collect()
    };
    use PartKind::*;
    assert_eq!(kinds(Version::V3), [Event, Event, End]);
    assert_eq!(kinds(Version::V4), [Metadata, Stack, Event, SequencePoint, Stack, Event, End]);
    assert_eq!(
        kinds(Version::V6),
        [Metadata, Thread, Stack, Event, SequencePoint, Stack, Event, End]
    );
}

#[test]
fn ids_start_again_when_they_have_been_forgotten() {
    let all =
        Step::SequencePoint { lists_threads: false, forgets_threads: true, forgets_metadata: true };
    let steps = vec![event(0), event(1), all, event(1)];
    let recording = Session { steps, ..one_type(Version::V6) }.record();
    let ids = |at: usize| {
        let blob = &recording.events[at].blob;
        (blob.metadata_id, blob.stack_id, blob.thread_id, blob.sequence_number)
    };
    assert_eq!([ids(0), ids(1), ids(2)], [(1, 1, 0, 1), (1, 1, 1, 1), (1, 1, 0, 1)]);
    assert_eq!(recording.events[2].os_thread_id, 12);
}

#[test]
fn losses_count_only_when_something_later_tells_of_them() {
    let lost = |version, steps: Vec<Step>| Session { steps, ..one_type(version) }.record().lost;
    let lose = Step::Lose { thread: 0, count: 3 };
    for version in [Version::V4, Version::V6] {
        assert_eq!(lost(version, vec![event(0), lose.clone()]), 0);
        assert_eq!(lost(version, vec![event(0), lose.clone(), event(1)]), 0);
        assert_eq!(lost(version, vec![event(0), lose.clone(), event(0)]), 3);
        assert_eq!(lost(version, vec![lose.clone(), Step::sequence_point()]), 3);
        let twice = vec![
            lose.clone(),
            Step::sequence_point(),
            lose.clone(),
            event(0),
            Step::sequence_point(),
        ];
        assert_eq!(lost(version, twice), 6);
    }
    assert_eq!(lost(Version::V6, vec![lose.clone(), Step::RemoveThread(0)]), 3);
    assert_eq!(lost(Version::V6, vec![event(0), lose, Step::RemoveThread(0)]), 3);
}

#[test]
fn an_ended_thread_is_listed_once_more_and_then_starts_at_one() {
    let steps = vec![
        event(0),
        event(0),
        Step::RemoveThread(0),
        Step::sequence_point(),
        event(1),
        Step::sequence_point(),
        event(0),
    ];
    let recording = Session { steps, ..one_type(Version::V4) }.record();
    let listed = |nth| recording.stream.nth(PartKind::SequencePoint, nth).rows.len();
    assert_eq!((listed(0), listed(1)), (1, 1));
    assert_eq!(recording.events[3].blob.sequence_number, 1);
}

#[test]
fn versions_describe_what_they_can() {
    let mut session = one_type(Version::V4);
    session.types[0].fields.push(Field::new("a", FieldType::Byte.array()));
    session.types[0].opcode = Some(1);
    session.steps = vec![event(0)];
    let told = |version| {
        let events = Session { version, ..session.clone() }.record().events;
        (events[0].fields.len(), events[0].opcode)
    };
    assert_eq!(Version::ALL.map(told), [(0, None), (0, None), (2, Some(1)), (2, Some(1))]);
}

#[test]
fn labels_override_metadata() {
    let mut session = one_type(Version::V6);
    session.types[0].level = 4;
    let Step::Event(mut labelled) = event(0) else { unreachable!() };
    labelled.activity_id = [1; 16];
    labelled.labels = vec![Label::Level(0), Label::OpCode(9)];
    session.steps = vec![event(0), Step::Event(labelled)];
    let events = session.record().events;
    assert_eq!((events[0].level, events[0].opcode, events[0].activity_id), (4, None, None));
    assert_eq!(
        (events[1].level, events[1].opcode, events[1].activity_id),
        (0, Some(9), Some([1; 16]))
    );
    assert_eq!((events[0].blob.label_list_id, events[1].blob.label_list_id), (0, 1));
}
