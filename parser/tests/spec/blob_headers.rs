//! Tests of the headers of event blobs of versions 4 and 5, and of event rows of version 6
//! (FORMAT.md 6.2, 6.3, 7.4).

use crate::snapshot::{Outcome, Seen, ordered, read};
use crate::streams::{
    START, V4_AND_V6, at, begun, define, definition, event, events, on, opened, row,
};
use crate::streams::{block_of, last_event_block};
use nettrace_parser::{BlockKind, Class, Fault, Guid};
use nettrace_testdata::synth::*;

#[test]
fn t050_uncompressed_blobs_are_stepped_by_eventsize_with_and_without_padding() {
    let layouts = [BlobLayout::Uncompressed, BlobLayout::UncompressedUnpadded];
    for version in V4_AND_V6 {
        for layout in layouts {
            let mut stream = begun(version);
            let blobs = (1..=6).map(|number| Blob {
                payload: vec![number as u8; number as usize],
                // EventSize may count more bytes than the payload's.
                extra: if number == 4 { vec![0xee; 11] } else { vec![] },
                ..event(number, u64::from(number))
            });
            stream.event_block(&EventBlock::new(blobs).layout(layout));
            stream.end();
            let outcome = read(&stream.bytes);
            assert_eq!(outcome.numbers(), [1, 2, 3, 4, 5, 6]);
            for event in &outcome.events {
                assert_eq!(event.payload, vec![event.number as u8; event.number as usize]);
                let header = if version == Version::V6 { 52 } else { 80 };
                assert_eq!(event.payload_offset - event.offset, header);
            }
            let offsets: Vec<u64> = outcome.events.iter().map(|event| event.offset).collect();
            let steps: Vec<u64> = offsets.windows(2).map(|pair| pair[1] - pair[0]).collect();
            let expected = match (version, layout) {
                (Version::V6, _) => [53, 54, 55, 56 + 11, 57],
                (_, BlobLayout::Uncompressed) => [84, 84, 84, 96, 88],
                (_, _) => [81, 82, 83, 84 + 11, 85],
            };
            assert_eq!(steps, expected);
            assert!(outcome.is_flawless());
        }
    }
}

#[test]
fn t051_the_high_bit_of_an_uncompressed_metadata_id_means_not_sorted() {
    for version in V4_AND_V6 {
        let mut stream = begun(version);
        let blobs = [true, false, true].into_iter().zip(1..);
        let blobs =
            blobs.map(|(is_sorted, number)| Blob { is_sorted, ..event(number, u64::from(number)) });
        stream.event_block(&EventBlock::new(blobs).layout(BlobLayout::Uncompressed));
        let rows = last_event_block(&stream).rows.clone();
        stream.end();
        let high_bits: Vec<u8> = rows.iter().map(|row| stream.bytes[row.start + 7]).collect();
        assert_eq!(high_bits, [0, 0x80, 0]);
        let outcome = read(&stream.bytes);
        let seen: Vec<_> =
            outcome.events.iter().map(|event| (event.metadata_id, event.is_sorted)).collect();
        assert_eq!(seen, [(1, true), (1, false), (1, true)]);
        assert!(outcome.events.iter().all(|event| event.name == "Hi"));
        assert!(outcome.is_flawless());
    }
}

/// Creates a stream that defines two types, threads, stacks and label lists.
fn with_two_of_everything(version: Version) -> Stream {
    let mut stream = opened(version);
    if version == Version::V6 {
        stream.metadata_rows(&MetadataBlock::new(vec![row(1), row(2)]));
        let threads = [21, 22, 31, 32].map(|thread| ThreadRow::new(thread, 1234, thread));
        stream.thread_block(&ThreadBlock::new(threads.to_vec()));
        let lists = [5, 6].map(|version| vec![Label::Version(version)]);
        stream.label_list_block(&LabelListBlock::new(1, lists.to_vec()));
    } else {
        define(&mut stream, &[definition(1), definition(2)]);
    }
    stream.stack_block(&StackBlock::new(1, 8, &[[0xa], [0xb]]));
    stream
}

/// Fields of a compressed header: metadata id, sequence number, capture thread, processor, thread,
/// stack, activities, label list, sorted mark, payload.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Header {
    pub(crate) metadata_id: u32,
    pub(crate) capture: (u32, u64, Option<u32>),
    pub(crate) thread: Option<u64>,
    pub(crate) stack: Vec<u64>,
    pub(crate) ticks: u64,
    pub(crate) activity: Option<Guid>,
    pub(crate) related_activity: Option<Guid>,
    pub(crate) labels: Vec<String>,
    pub(crate) is_sorted: bool,
    pub(crate) payload: Vec<u8>,
}

impl Header {
    pub(crate) fn from_seen(seen: &Seen) -> Header {
        Header {
            metadata_id: seen.metadata_id,
            capture: (seen.number, seen.capture_thread, seen.processor),
            thread: seen.thread,
            stack: seen.stack.clone(),
            ticks: seen.ticks,
            activity: seen.activity,
            related_activity: seen.related_activity,
            labels: seen.labels.clone(),
            is_sorted: seen.is_sorted,
            payload: seen.payload.clone(),
        }
    }
}

fn first_of_two() -> Blob {
    Blob {
        metadata_id: 1,
        sequence_number: 1,
        thread_id: 21,
        capture_thread_id: 31,
        processor: 3,
        stack_id: 1,
        ticks: START,
        activity_id: [1; 16],
        related_activity_id: [2; 16],
        label_list_id: 1,
        is_sorted: false,
        payload: vec![1, 1],
        ..Blob::default()
    }
}

fn second_of_two() -> Blob {
    Blob {
        metadata_id: 2,
        sequence_number: 1,
        thread_id: 22,
        capture_thread_id: 32,
        processor: 4,
        stack_id: 2,
        ticks: START + 9,
        activity_id: [3; 16],
        related_activity_id: [4; 16],
        label_list_id: 2,
        payload: vec![2, 2],
        ..Blob::default()
    }
}

/// Returns two events, of which the second has exactly these flags.
fn two_with_flags(version: Version, flags: u8) -> (Header, Header, Outcome) {
    let mut stream = with_two_of_everything(version);
    let mut second = Blob { flags: Some(flags), ..second_of_two() };
    if flags & flag::PAYLOAD_SIZE != 0 {
        second.payload.push(2);
    }
    events(&mut stream, [first_of_two(), second]);
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(outcome.events.len(), 2);
    assert!(outcome.is_complete && !outcome.finding_counts.contains_key(&Class::RestOfBlockLost));
    (Header::from_seen(&outcome.events[0]), Header::from_seen(&outcome.events[1]), outcome)
}

/// Returns the second event that a reader must find if its header stores only the time.
fn nothing_said(first: &Header) -> Header {
    let (number, capture_thread, processor) = first.capture;
    Header {
        capture: (number + 1, capture_thread, processor),
        ticks: START + 9,
        is_sorted: false,
        payload: vec![2, 2],
        ..first.clone()
    }
}

#[test]
fn t052_each_flag_bit_alone_changes_exactly_its_fields() {
    for version in V4_AND_V6 {
        let is_v6 = version == Version::V6;
        for bit in 0..8 {
            let flags = 1 << bit;
            let (first, second, outcome) = two_with_flags(version, flags);
            let mut expected = nothing_said(&first);
            let mut findings = vec![];
            match flags {
                flag::METADATA_ID => expected.metadata_id = 2,
                flag::CAPTURE => expected.capture = (1, 32, Some(4)),
                flag::THREAD => expected.thread = Some(22),
                flag::STACK => expected.stack = vec![0xb],
                flag::ACTIVITY if is_v6 => expected.labels = vec!["Version(6)".into()],
                flag::ACTIVITY => expected.activity = Some(Guid::from_bytes([3; 16])),
                flag::RELATED_ACTIVITY if is_v6 => {
                    let at = outcome.events[1].offset;
                    findings.push((Class::Note, at, Fault::ReservedFlag(0x20)));
                }
                flag::RELATED_ACTIVITY => {
                    expected.related_activity = Some(Guid::from_bytes([4; 16]))
                }
                flag::SORTED => expected.is_sorted = true,
                _ => expected.payload = vec![2, 2, 2],
            }
            assert_eq!(second, expected, "{version:?} {flags:#x}");
            assert_eq!(outcome.damage(), findings);
        }
    }
}

#[test]
fn t053_with_flags_0_everything_is_inherited_and_the_number_grows_by_one() {
    for version in V4_AND_V6 {
        let (first, second, outcome) = two_with_flags(version, 0);
        let capture = (1, 31, Some(3));
        assert_eq!((first.capture, first.thread, first.metadata_id), (capture, Some(21), 1));
        assert_eq!(second, nothing_said(&first));
        assert_eq!(second.capture, (2, 31, Some(3)));
        assert!(outcome.is_flawless());
        // Two bytes of header, two of payload.
        assert_eq!(outcome.events[1].payload_offset - outcome.events[1].offset, 2);
    }
}

/// Reads a block of blobs, each with its flags and sequence number.
fn numbered(version: Version, blobs: &[(u8, u32)]) -> Outcome {
    let mut stream = begun(version);
    let first = flag::METADATA_ID | flag::CAPTURE | flag::THREAD | flag::PAYLOAD_SIZE;
    let blobs = blobs.iter().zip(0_u64..).map(|((flags, number), later)| {
        let flags = if later == 0 { first } else { *flags };
        Blob { flags: Some(flags), payload: vec![7], ..event(*number, later) }
    });
    events(&mut stream, blobs);
    stream.end();
    read(&stream.bytes)
}

#[test]
fn t054_with_flag_2_the_number_is_previous_plus_delta_plus_one() {
    for version in V4_AND_V6 {
        let blobs = [(flag::CAPTURE, 1), (0, 2), (flag::CAPTURE, 3), (flag::CAPTURE, 10), (0, 11)];
        let outcome = numbered(version, &blobs);
        assert_eq!(outcome.numbers(), [1, 2, 3, 10, 11]);
        assert_eq!((outcome.lost, outcome.restarts), (6, 0));
        assert!(outcome.is_flawless());
    }
    // By hand: delta 0 is the next number, delta 6 leaves out six.
    let mut stream = begun(Version::V4);
    let raw = |delta: u8| Row::Raw(vec![flag::CAPTURE, delta, 11, 0, 0, 0, 0, 0, 0]);
    let first = Blob { payload: vec![0; 4], ..event(1, 0) };
    stream.event_block(&block_of([first.into(), raw(0), raw(6)]));
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!((outcome.numbers(), outcome.lost), (vec![1, 2, 9], 6));
}

#[test]
fn t055_a_delta_of_2_32_1_leaves_the_number_as_it_is_and_goes_on_from_2_32_1_to_0() {
    for version in V4_AND_V6 {
        let outcome = numbered(version, &[(flag::CAPTURE, 1), (0, 2), (flag::CAPTURE, 2), (0, 3)]);
        assert_eq!(outcome.numbers(), [1, 2, 2, 3]);
        let row = outcome.events[2].offset as usize;
        // In version 4 a repeated number belongs to another thread with the same id, which began at
        // 1.
        if version == Version::V4 {
            assert_eq!((outcome.lost, outcome.restarts, outcome.damage()), (1, 1, vec![]));
        } else {
            let note = (Class::Contradiction, row as u64, Fault::NumberFell(2));
            assert_eq!((outcome.lost, outcome.restarts, outcome.damage()), (0, 0, vec![note]));
        }
        let outcome =
            numbered(version, &[(0, u32::MAX - 1), (0, u32::MAX), (0, 0), (flag::CAPTURE, 1)]);
        assert_eq!(outcome.numbers(), [u32::MAX - 1, u32::MAX, 0, 1]);
    }
    // The bytes that real metadata blobs begin with.
    let mut stream = begun(Version::V4);
    let raw = Row::Raw(vec![flag::CAPTURE, 0xff, 0xff, 0xff, 0xff, 0x0f, 11, 0, 0, 0, 0, 0, 0]);
    stream.event_block(&block_of([event(5, 0).into(), raw]));
    stream.end();
    assert_eq!(read(&stream.bytes).numbers(), [5, 5]);
}

#[test]
fn t056_a_ten_byte_timestamp_delta_goes_back_in_time() {
    for version in V4_AND_V6 {
        let mut stream = begun(version);
        events(&mut stream, [event(1, 400), event(2, 150), on(12, 1, 151)]);
        let row = last_event_block(&stream).rows[1].clone();
        stream.end();
        let back = [0x86, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert_eq!(stream.bytes[row.start + 1..][..10], back);
        assert_eq!(read(&stream.bytes).ticks(), at([400, 150, 151]));
        let outcome = ordered(&stream.bytes);
        assert_eq!((outcome.ticks(), outcome.out_of_order), (at([150, 151, 400]).to_vec(), 0));
        assert!(outcome.is_flawless());
    }
}

#[test]
fn t057_the_first_blob_of_a_block_inherits_zeros_not_the_last_block_s_values() {
    for version in V4_AND_V6 {
        let mut stream = with_two_of_everything(version);
        if version == Version::V6 {
            stream.thread_block(&ThreadBlock::new(vec![ThreadRow::new(0, 5, 6)]));
        }
        events(&mut stream, [first_of_two()]);
        // Metadata id 1, a timestamp, and nothing else.
        stream.event_block(&block_of([Row::Raw(vec![flag::METADATA_ID, 1, 5])]));
        stream.end();
        let outcome = read(&stream.bytes);
        let expected = Header {
            metadata_id: 1,
            capture: (1, 0, Some(0)),
            thread: Some(if version == Version::V6 { 6 } else { 0 }),
            stack: vec![],
            ticks: 5,
            activity: None,
            related_activity: None,
            labels: vec![],
            is_sorted: false,
            payload: vec![],
        };
        assert_eq!(Header::from_seen(&outcome.events[1]), expected);
        assert_eq!(outcome.lost, 0);
        assert!(outcome.is_flawless());
    }
}

#[test]
fn t058_metadata_blobs_do_not_count_numbers_and_may_carry_flag_2() {
    let mut stream = opened(Version::V4);
    let numbered = Blob {
        sequence_number: 77,
        capture_thread_id: 12,
        ..Blob::definition(12, START, definition(2).encode())
    };
    stream.metadata_blobs(&EventBlock::new([
        Blob::definition(11, START, definition(1).encode()),
        numbered,
        Blob { processor: 5, ..Blob::definition(11, START, definition(3).encode()) },
    ]));
    let first = stream.nth(PartKind::Metadata, 0).rows[0].start;
    let as_seen = [0xc6, 0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0xff, 0xff, 0xff, 0xff, 0x0f];
    assert_eq!(stream.bytes[first..][..12], as_seen);
    // Threads 0 and 12 begin at 1 all the same.
    events(&mut stream, [on(0, 1, 1), Blob { metadata_id: 2, ..on(12, 1, 2) }, on(0, 2, 3)]);
    define(&mut stream, &[definition(4)]);
    events(&mut stream, [Blob { metadata_id: 4, ..on(0, 3, 4) }]);
    stream.end();
    let outcome = read(&stream.bytes);
    let ids: Vec<u32> =
        outcome.events.iter().map(|event| event.metadata.as_ref().unwrap().id).collect();
    assert_eq!(ids, [1, 2, 1, 4]);
    assert_eq!((outcome.lost, outcome.restarts), (0, 0));
    assert!(outcome.is_flawless());
}

#[test]
fn t059_compressed_metadata_blocks_are_read_with_their_own_zero_state() {
    let second = Definition { name: "Ho".into(), ..definition(2) };
    assert_eq!(definition(1).encode().len(), second.encode().len());
    let mut stream = opened(Version::V4);
    // The second blob inherits the first one's payload size.
    let blobs = [definition(1), second].map(|definition| definition.encode());
    let [first, second] = blobs.map(|payload| Blob::definition(11, START, payload));
    stream.metadata_blobs(&EventBlock::new([first, Blob { flags: Some(0), ..second }]));
    events(&mut stream, [Blob { payload: vec![1; 60], ..event(1, 1) }]);
    // A block whose first blob says no payload size has an empty one, whatever came
    // before; the second blob is right.
    let third = Blob::definition(11, START, definition(3).encode());
    stream.metadata_blobs(&block_of([Row::Raw(vec![0, 9]), third.into()]));
    let empty = stream.nth(PartKind::Metadata, 1).rows[0].end as u64;
    // Events do not inherit from metadata either.
    stream.event_block(&block_of([Row::Raw(vec![flag::METADATA_ID, 2, 5])]));
    events(&mut stream, [Blob { metadata_id: 3, ..event(2, 2) }]);
    stream.end();
    let outcome = read(&stream.bytes);
    let seen: Vec<_> =
        outcome.events.iter().map(|event| (event.name.as_str(), event.thread)).collect();
    assert_eq!(seen, [("Hi", Some(11)), ("Ho", Some(0)), ("Hi", Some(11))]);
    assert_eq!(outcome.events[1].payload, []);
    assert_eq!(outcome.damage(), [(Class::RowLost, empty, Fault::Truncated)]);
    assert_eq!(outcome.findings[0].block, Some(BlockKind::Metadata));
    assert!(outcome.is_complete);
}
