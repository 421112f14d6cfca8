//! Event blobs of versions 4 and 5, and event rows of version 6 (format.md 6.1 to 6.3, 7.4).

use crate::observed::{Outcome, Seen, ordered, read};
use crate::streams::{START, V4_AND_V6, at, begun, define, definition, event, events, on, opened, row};
use nettrace_parser::{BlockKind, Class, EventBlockHeader, Fault, Guid, Reader};
use nettrace_testdata::synth::*;

/// A block with bytes of its own among the blobs.
fn block_of(rows: impl IntoIterator<Item = Row>) -> EventBlock {
    EventBlock { rows: rows.into_iter().collect(), ..EventBlock::default() }
}

fn last_event_block(stream: &Stream) -> &Part {
    stream.nth(PartKind::Event, stream.count(PartKind::Event) - 1)
}

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
            stream.event_block(&EventBlock::new(blobs).with_layout(layout));
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
        let blobs = blobs.map(|(is_sorted, number)| Blob { is_sorted, ..event(number, u64::from(number)) });
        stream.event_block(&EventBlock::new(blobs).with_layout(BlobLayout::Uncompressed));
        let rows = last_event_block(&stream).rows.clone();
        stream.end();
        let high_bits: Vec<u8> = rows.iter().map(|row| stream.bytes[row.start + 7]).collect();
        assert_eq!(high_bits, [0, 0x80, 0]);
        let outcome = read(&stream.bytes);
        let seen: Vec<_> = outcome.events.iter().map(|event| (event.metadata_id, event.is_sorted)).collect();
        assert_eq!(seen, [(1, true), (1, false), (1, true)]);
        assert!(outcome.events.iter().all(|event| event.name == "Hi"));
        assert!(outcome.is_flawless());
    }
}

/// A stream in which everything two different events may refer to is defined.
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

/// What compressed headers say: metadata id, number, capture thread, processor, thread, stack, activities,
/// label, sorted, payload.
#[derive(Clone, Debug, PartialEq)]
struct Header {
    metadata_id: u32,
    capture: (u32, u64, Option<u32>),
    thread: Option<u64>,
    stack: Vec<u64>,
    ticks: u64,
    activity: Option<Guid>,
    related_activity: Option<Guid>,
    labels: Vec<String>,
    is_sorted: bool,
    payload: Vec<u8>,
}

impl Header {
    fn of(seen: &Seen) -> Header {
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

/// The two events when the second has just these flags.
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
    (Header::of(&outcome.events[0]), Header::of(&outcome.events[1]), outcome)
}

/// The second event if its header says nothing but the time.
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
                flag::RELATED_ACTIVITY => expected.related_activity = Some(Guid::from_bytes([4; 16])),
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

/// Numbers that a block's blobs get, when each has its own flags.
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
    let raw = |delta: u8| Row::Raw(vec![flag::CAPTURE, delta, 11, 0, 1, 0, 0, 0, 0]);
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
        // A number that comes again: in version 4 another thread of the same id, which began at 1.
        if version == Version::V4 {
            assert_eq!((outcome.lost, outcome.restarts, outcome.damage()), (1, 1, vec![]));
        } else {
            let note = (Class::Note, row as u64, Fault::NumberFell(2));
            assert_eq!((outcome.lost, outcome.restarts, outcome.damage()), (0, 0, vec![note]));
        }
        let outcome = numbered(version, &[(0, u32::MAX - 1), (0, u32::MAX), (0, 0), (flag::CAPTURE, 1)]);
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
        assert_eq!(Header::of(&outcome.events[1]), expected);
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
    let ids: Vec<u32> = outcome.events.iter().map(|event| event.metadata.as_ref().unwrap().id).collect();
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
    // A block whose first blob says no payload size has an empty one, whatever came before; the
    // second blob is right.
    let third = Blob::definition(11, START, definition(3).encode());
    stream.metadata_blobs(&block_of([Row::Raw(vec![0, 9]), third.into()]));
    let empty = stream.nth(PartKind::Metadata, 1).rows[0].end as u64;
    // Nor do events inherit from metadata.
    stream.event_block(&block_of([Row::Raw(vec![flag::METADATA_ID, 2, 5])]));
    events(&mut stream, [Blob { metadata_id: 3, ..event(2, 2) }]);
    stream.end();
    let outcome = read(&stream.bytes);
    let seen: Vec<_> = outcome.events.iter().map(|event| (event.name.as_str(), event.thread)).collect();
    assert_eq!(seen, [("Hi", Some(11)), ("Ho", Some(0)), ("Hi", Some(11))]);
    assert_eq!(outcome.events[1].payload, []);
    assert_eq!(outcome.damage(), [(Class::RowLost, empty, Fault::Truncated)]);
    assert_eq!(outcome.findings[0].block, Some(BlockKind::Metadata));
    assert!(outcome.is_complete);
}

#[test]
fn t060_a_header_size_of_28_is_skipped_to_its_end_in_event_and_metadata_blocks() {
    for version in V4_AND_V6 {
        for layout in [BlobLayout::Compressed, BlobLayout::Uncompressed] {
            for extra in [8, 1, 3000] {
                let longer =
                    |block: EventBlock| EventBlock { layout, header_extra: vec![0xff; extra], ..block };
                let mut stream = if version == Version::V6 { begun(version) } else { opened(version) };
                if version == Version::V4 {
                    let blobs = [Blob::definition(11, START, definition(1).encode())];
                    stream.metadata_blobs(&longer(EventBlock::new(blobs)));
                }
                stream.event_block(&longer(EventBlock::new([event(1, 1), event(2, 2)])));
                stream.end();
                let content = last_event_block(&stream).content.clone();
                assert_eq!(stream.bytes[content.start..][..2], (20 + extra as u16).to_le_bytes());
                let outcome = read(&stream.bytes);
                assert_eq!((outcome.ticks(), outcome.numbers()), (at([1, 2]).to_vec(), vec![1, 2]));
                assert!(outcome.events.iter().all(|event| event.name == "Hi"));
                assert!(outcome.is_flawless());
            }
        }
    }
}

#[test]
fn t061_a_header_size_below_20_loses_the_block_and_not_the_next_one() {
    for version in V4_AND_V6 {
        for header_size in [19, 2, 0] {
            let mut stream = begun(version);
            events(&mut stream, [event(1, 1)]);
            let block = EventBlock::new([event(2, 2)]);
            stream.event_block(&EventBlock { header_size: Some(header_size), ..block });
            let lost = last_event_block(&stream).clone();
            events(&mut stream, [event(3, 3)]);
            stream.end();
            let outcome = read(&stream.bytes);
            let start = lost.content.start as u64;
            assert_eq!(outcome.damage(), [(Class::BlockLost, start, Fault::HeaderSize(header_size))]);
            let finding = outcome.findings[0];
            assert_eq!(
                (finding.lost_bytes, finding.block_offset),
                (lost.content.len() as u64, lost.start as u64)
            );
            assert_eq!((outcome.ticks(), outcome.lost), (at([1, 3]).to_vec(), 1));
            assert!(outcome.is_complete);
        }
        // A header that says to be longer than the block.
        let mut stream = begun(version);
        let block = EventBlock { header_size: Some(5000), ..EventBlock::new([event(1, 1)]) };
        stream.event_block(&block);
        let start = last_event_block(&stream).content.start as u64;
        stream.end();
        assert_eq!(read(&stream.bytes).damage(), [(Class::BlockLost, start, Fault::HeaderSize(5000))]);
    }
    // In a metadata block: its definitions are lost, the events are there.
    let mut stream = opened(Version::V4);
    let block = EventBlock::new([Blob::definition(11, START, definition(1).encode())]);
    stream.metadata_blobs(&EventBlock { header_size: Some(18), ..block });
    let start = stream.nth(PartKind::Metadata, 0).content.start as u64;
    define(&mut stream, &[definition(2)]);
    events(&mut stream, [event(1, 1), Blob { metadata_id: 2, ..event(2, 2) }]);
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(
        outcome.damage(),
        [
            (Class::BlockLost, start, Fault::HeaderSize(18)),
            (Class::Note, outcome.events[0].offset, Fault::UndefinedMetadata(1)),
        ]
    );
    let names: Vec<_> = outcome.events.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(names, ["", "Hi"]);
}

#[test]
fn t062_unknown_block_flags_are_ignored() {
    for version in V4_AND_V6 {
        for (layout, flags) in [(BlobLayout::Compressed, 0xffff), (BlobLayout::Uncompressed, 0xfffe)] {
            let flagged = |block: EventBlock| EventBlock { flags: Some(flags), layout, ..block };
            let mut stream = if version == Version::V6 { begun(version) } else { opened(version) };
            if version == Version::V4 {
                let blobs = [Blob::definition(11, START, definition(1).encode())];
                stream.metadata_blobs(&flagged(EventBlock::new(blobs)));
            }
            stream.event_block(&flagged(EventBlock::new([event(1, 1), event(2, 2)])));
            stream.end();
            let outcome = read(&stream.bytes);
            assert_eq!((outcome.ticks(), outcome.numbers()), (at([1, 2]).to_vec(), vec![1, 2]));
            assert!(outcome.is_flawless());
        }
    }
}

#[test]
fn t063_an_event_block_without_blobs_is_accepted() {
    for version in V4_AND_V6 {
        let mut stream = begun(version);
        events(&mut stream, []);
        events(&mut stream, [event(1, 1)]);
        stream.event_block(&EventBlock::default().with_layout(BlobLayout::Uncompressed));
        events(&mut stream, [event(2, 2)]);
        stream.end();
        for outcome in [read(&stream.bytes), ordered(&stream.bytes)] {
            assert_eq!(outcome.ticks(), at([1, 2]));
            assert!(outcome.is_flawless());
        }
        let mut reader = Reader::from_slice(&stream.bytes);
        let mut blocks = 0;
        while let Some(block) = reader.next_block().unwrap() {
            blocks += u32::from(block.kind() == BlockKind::Event);
        }
        assert_eq!(blocks, 4);
    }
}

/// Two good blobs, then `wrong` and one more good blob in one block; the rest must be lost from `wrong` on,
/// and nothing else: with another block behind it, close to the end of the input, and far from it.
fn assert_rest_is_lost(version: Version, layout: BlobLayout, wrong: &Row, fault: Fault) {
    for further in [0, 1, 20] {
        let mut stream = begun(version);
        let rows = [event(1, 1).into(), event(2, 2).into(), wrong.clone(), event(9, 9).into()];
        stream.event_block(&block_of(rows).with_layout(layout));
        assert_lost_from_third_row(stream, further, fault);
    }
}

fn assert_lost_from_third_row(mut stream: Stream, further: u32, fault: Fault) {
    let block = last_event_block(&stream).clone();
    let (row, end) = (block.rows[2].start as u64, block.content.end as u64);
    events(&mut stream, (3..3 + further).map(|number| event(number, u64::from(number))));
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(outcome.damage(), [(Class::RestOfBlockLost, row, fault)], "{further} events behind");
    assert_eq!(outcome.findings[0].lost_bytes, end - row);
    assert_eq!(outcome.findings[0].block_offset, block.start as u64);
    assert_eq!(outcome.numbers(), (1..3 + further).collect::<Vec<_>>());
    assert_eq!((outcome.lost, outcome.is_complete), (0, true));
}

/// The same with `wrong` as the last bytes of the block.
fn assert_cut_off_is_lost(version: Version, wrong: &[u8], fault: Fault) {
    for further in [0, 1, 20] {
        let mut stream = begun(version);
        let rows = [event(1, 1).into(), event(2, 2).into(), Row::Raw(wrong.to_vec())];
        stream.event_block(&block_of(rows));
        assert_lost_from_third_row(stream, further, fault);
    }
}

#[test]
fn t064_a_payload_size_beyond_the_block_keeps_the_blobs_before_it() {
    for version in V4_AND_V6 {
        for size in [200, 5000, 70_000, u32::MAX] {
            let wrong = Blob { payload_size: Some(size), ..event(3, 3) };
            let fault = Fault::PayloadSize(size);
            for layout in [BlobLayout::Compressed, BlobLayout::Overlong(9), BlobLayout::Uncompressed] {
                assert_rest_is_lost(version, layout, &wrong.clone().into(), fault);
            }
        }
        for size in [200, 5000, u32::MAX] {
            let wrong = Blob { event_size: Some(size), ..event(3, 3) };
            let fault = Fault::RowSize(u64::from(size));
            assert_rest_is_lost(version, BlobLayout::Uncompressed, &wrong.into(), fault);
        }
        // EventSize has no room for the header itself.
        let wrong = Blob { event_size: Some(40), payload: vec![], ..event(3, 3) };
        assert_rest_is_lost(version, BlobLayout::Uncompressed, &wrong.into(), Fault::PayloadSize(0));
        // A payload that would fit if it took a byte of what follows the block.
        assert_cut_off_is_lost(version, &[flag::PAYLOAD_SIZE, 1, 4, 7, 7, 7], Fault::PayloadSize(4));
    }
}

#[test]
fn t065_a_varuint_that_runs_off_the_block_keeps_the_blobs_before_it() {
    for version in V4_AND_V6 {
        for wrong in [&[flag::METADATA_ID, 0x80][..], &[0], &[0, 0xff, 0xff], &[flag::STACK, 0x80, 0x80]] {
            assert_cut_off_is_lost(version, wrong, Fault::Truncated);
        }
        // A header with everything in it, cut behind each of its bytes.
        let whole = Blob {
            flags: Some(0xff),
            ticks: START + (1 << 40),
            metadata_id: 1 << 20,
            stack_id: 300,
            label_list_id: 300,
            thread_id: 1 << 50,
            capture_thread_id: 1 << 50,
            payload: vec![],
            payload_size: Some(200),
            ..event(3, 0)
        };
        let mut sink = Sink::new();
        let mut compressor = Compressor::new(version);
        compressor.encode(&event(2, 2), &mut Sink::new());
        compressor.encode(&whole, &mut sink);
        let header = sink.into_vec();
        assert!(header.len() > 30);
        for length in 1..header.len() {
            assert_cut_off_is_lost(version, &header[..length], Fault::Truncated);
        }
        assert_cut_off_is_lost(version, &header, Fault::PayloadSize(200));
    }
}

/// Flags byte and what comes before and behind a varuint32 of each field that has one.
fn varuint32_fields(version: Version) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut fields = vec![
        (vec![flag::METADATA_ID], vec![0]),
        (vec![flag::CAPTURE], vec![11, 0, 0]),
        (vec![flag::CAPTURE, 0, 11], vec![0]),
        (vec![flag::STACK], vec![0]),
        (vec![flag::PAYLOAD_SIZE, 0], vec![]),
    ];
    if version == Version::V6 {
        fields.push((vec![flag::ACTIVITY, 0], vec![]));
    }
    fields
}

fn varuint64_fields() -> Vec<(Vec<u8>, Vec<u8>)> {
    vec![(vec![flag::CAPTURE, 0], vec![0, 0]), (vec![flag::THREAD], vec![0]), (vec![0], vec![])]
}

/// The blob with `value` in the place of the varuint, and room for an inherited payload.
fn blob_with(field: &(Vec<u8>, Vec<u8>), value: &[u8]) -> Row {
    Row::Raw([&field.0, value, &field.1, &[0; 4]].concat())
}

#[test]
fn t066_a_varuint32_of_six_bytes_and_a_varuint64_of_eleven_are_refused_80_00_is_zero() {
    let zero = |length: usize| [vec![0x80; length - 1], vec![0]].concat();
    for version in V4_AND_V6 {
        for (fields, most) in [(varuint32_fields(version), 5), (varuint64_fields(), 10)] {
            for field in fields {
                for wrong in [zero(most + 1), vec![0x80; most], vec![0xff; 12]] {
                    let wrong = blob_with(&field, &wrong);
                    assert_rest_is_lost(version, BlobLayout::Compressed, &wrong, Fault::VarintTooLong);
                }
                // Over-long zeros are zeros.
                for length in 1..=most {
                    let mut stream = begun(version);
                    let row = blob_with(&field, &zero(length));
                    let first = Blob { flags: Some(0x87), ..event(1, 1) };
                    stream.event_block(&block_of([first.into(), row]));
                    stream.end();
                    let outcome = read(&stream.bytes);
                    let second = &outcome.events[1];
                    let header = second.payload_offset - second.offset;
                    assert_eq!(header, (field.0.len() + length + field.1.len()) as u64);
                    assert_eq!(second.stack, []);
                    assert_eq!(outcome.finding_counts.get(&Class::RestOfBlockLost), None);
                }
            }
        }
    }
    // The whole of real looking blocks with needless bytes.
    for version in V4_AND_V6 {
        for needless in [1, 4, 9] {
            let mut stream = begun(version);
            let blobs = (1..50).map(|number| event(number, u64::from(number) * 100));
            stream.event_block(&EventBlock::new(blobs).with_layout(BlobLayout::Overlong(needless)));
            stream.end();
            let outcome = read(&stream.bytes);
            assert_eq!(outcome.numbers(), (1..50).collect::<Vec<_>>());
            assert!(outcome.is_flawless());
        }
    }
}

#[test]
fn t067_excess_bits_in_the_last_byte_of_a_varuint_are_refused() {
    for version in V4_AND_V6 {
        for (fields, most, last) in [(varuint32_fields(version), 5, 0x0f), (varuint64_fields(), 10, 0x01)] {
            for field in fields {
                for excess in [last + 1, 0x20, 0x40, 0x7f] {
                    let wrong = [vec![0x80; most - 1], vec![excess]].concat();
                    let wrong = blob_with(&field, &wrong);
                    assert_rest_is_lost(version, BlobLayout::Compressed, &wrong, Fault::VarintOverflow);
                }
            }
        }
        // All bits that fit are kept.
        let mut stream = begun(version);
        let most = Blob {
            metadata_id: u32::MAX,
            stack_id: u32::MAX,
            thread_id: u64::MAX,
            capture_thread_id: u64::MAX,
            sequence_number: 1,
            ticks: u64::MAX,
            ..event(1, 0)
        };
        events(&mut stream, [most]);
        stream.end();
        let outcome = read(&stream.bytes);
        let event = &outcome.events[0];
        assert_eq!((event.metadata_id, event.capture_thread, event.ticks), (u32::MAX, u64::MAX, u64::MAX));
        let faults: Vec<Fault> = outcome.findings.iter().map(|finding| finding.fault).collect();
        assert!(faults.contains(&Fault::UndefinedStack(u32::MAX)));
        assert!(faults.contains(&Fault::UndefinedMetadata(u32::MAX)));
    }
}

#[test]
fn t068_thread_ids_and_capture_thread_ids_keep_64_bits() {
    // Four threads whose low 32 bits are the same.
    let threads = [11, 0x1_0000_000b, 0x7fff_ffff_0000_000b, u64::MAX << 32 | 11];
    for version in V4_AND_V6 {
        for layout in [BlobLayout::Compressed, BlobLayout::Uncompressed] {
            let mut stream = begun(version);
            if version == Version::V6 {
                let rows = threads[1..].iter().map(|thread| ThreadRow::new(*thread, 1234, *thread));
                stream.thread_block(&ThreadBlock::new(rows.collect()));
            }
            let blobs = threads.iter().rev().zip(threads).zip(1..);
            let blobs = blobs.map(|((thread, capture_thread_id), later)| Blob {
                thread_id: *thread,
                capture_thread_id,
                ..event(1, later)
            });
            stream.event_block(&EventBlock::new(blobs).with_layout(layout));
            stream.end();
            let outcome = read(&stream.bytes);
            let captured: Vec<_> = outcome.events.iter().map(|event| event.capture_thread).collect();
            assert_eq!(captured, threads);
            let about: Vec<_> = outcome.events.iter().rev().map(|event| event.thread.unwrap()).collect();
            assert_eq!(about, threads);
            // Each is a thread of its own that begins at 1.
            assert_eq!((outcome.lost, outcome.restarts), (0, 0));
            assert!(outcome.is_flawless());
        }
    }
}

#[test]
fn t069_processor_number_0xffffffff_is_unknown() {
    for version in V4_AND_V6 {
        for layout in [BlobLayout::Compressed, BlobLayout::Uncompressed] {
            let mut stream = begun(version);
            let processors = [0, 1, 300, u32::MAX, u32::MAX - 1];
            let blobs = processors.into_iter().zip(1..);
            let blobs = blobs.map(|(processor, number)| Blob { processor, ..event(number, 1) });
            stream.event_block(&EventBlock::new(blobs).with_layout(layout));
            stream.end();
            let outcome = read(&stream.bytes);
            let seen: Vec<_> = outcome.events.iter().map(|event| event.processor).collect();
            assert_eq!(seen, [Some(0), Some(1), Some(300), None, Some(u32::MAX - 1)]);
            assert!(outcome.is_flawless());
        }
    }
    // Version 3 stores none.
    let mut stream = begun(Version::V3);
    events(&mut stream, [event(0, 1)]);
    stream.end();
    assert_eq!(read(&stream.bytes).events[0].processor, None);
}

#[test]
fn t070_activity_ids_and_related_activity_ids_are_inherited_until_replaced() {
    let with = |number, activity: u8, related: u8| Blob {
        activity_id: [activity; 16],
        related_activity_id: [related; 16],
        ..event(number, u64::from(number))
    };
    let expected = [(1, 2), (1, 2), (3, 2), (3, 4), (0, 4), (0, 0), (5, 0)];
    for layout in [BlobLayout::Compressed, BlobLayout::Uncompressed] {
        let mut stream = begun(Version::V4);
        let blobs =
            expected.iter().zip(1..).map(|((activity, related), number)| with(number, *activity, *related));
        stream.event_block(&EventBlock::new(blobs).with_layout(layout));
        // The next block begins without.
        events(&mut stream, [event(8, 8)]);
        stream.end();
        let guid = |byte: u8| (byte != 0).then(|| Guid::from_bytes([byte; 16]));
        for outcome in [read(&stream.bytes), ordered(&stream.bytes)] {
            let seen: Vec<_> =
                outcome.events.iter().map(|event| (event.activity, event.related_activity)).collect();
            let expected = expected.iter().chain(&[(0, 0)]).map(|(a, b)| (guid(*a), guid(*b)));
            assert_eq!(seen, expected.collect::<Vec<_>>());
            assert!(outcome.is_flawless());
        }
    }
    let mut stream = begun(Version::V3);
    events(&mut stream, [with(0, 9, 8), with(0, 0, 0)]);
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(outcome.events[0].activity, Some(Guid::from_bytes([9; 16])));
    assert_eq!(outcome.events[0].related_activity, Some(Guid::from_bytes([8; 16])));
    assert_eq!((outcome.events[1].activity, outcome.events[1].related_activity), (None, None));
}

#[test]
fn t071_v6_flag_0x10_is_a_label_list_id_and_not_a_guid() {
    let mut stream = begun(Version::V6);
    let lists = (0..300).map(|n| vec![Label::Number("n".into(), n)]).collect();
    stream.label_list_block(&LabelListBlock::new(1, lists));
    let with = |number, label_list_id| Blob { label_list_id, ..event(number, u64::from(number)) };
    events(&mut stream, [with(1, 1), with(2, 1), with(3, 300), with(4, 0), with(5, 2)]);
    let row = last_event_block(&stream).rows[2].clone();
    stream.end();
    // Flags, a delta of 1, the list's id in two bytes, the payload.
    assert_eq!(stream.bytes[row.clone()], [0x10, 1, 0xac, 2, 3, 0, 0, 0]);
    let outcome = read(&stream.bytes);
    let number = |value: i64| vec![format!("Number {{ key: [110], value: {value}, raw: {} }}", value * 2)];
    let labels: Vec<_> = outcome.events.iter().map(|event| event.labels.clone()).collect();
    assert_eq!(labels, [number(0), number(0), number(299), vec![], number(1)]);
    assert!(outcome.events.iter().all(|event| event.activity.is_none() && event.related_activity.is_none()));
    assert!(outcome.is_flawless());
}

#[test]
fn t072_v6_an_uncompressed_row_is_52_bytes_and_payload() {
    let mut stream = begun(Version::V6);
    stream.label_list_block(&LabelListBlock::new(4, vec![vec![Label::OpCode(9)]]));
    stream.stack_block(&StackBlock::new(6, 8, &[[0x77]]));
    let row = [
        &(48_u32 + 3).to_le_bytes()[..],
        &0x8000_0001_u32.to_le_bytes(),
        &1_u32.to_le_bytes(),
        &12_u64.to_le_bytes(),
        &11_u64.to_le_bytes(),
        &2_u32.to_le_bytes(),
        &6_u32.to_le_bytes(),
        &(START + 5).to_le_bytes(),
        &4_u32.to_le_bytes(),
        &3_u32.to_le_bytes(),
        b"abc",
    ]
    .concat();
    assert_eq!(row.len(), 55);
    let mut second = row.clone();
    second[7] = 0;
    second[8] = 2;
    stream.event_block(&block_of([Row::Raw(row), Row::Raw(second)]).with_layout(BlobLayout::Uncompressed));
    stream.end();
    let outcome = read(&stream.bytes);
    let [first, second] = &outcome.events[..] else { panic!("two events") };
    let expected = Header {
        metadata_id: 1,
        capture: (1, 11, Some(2)),
        thread: Some(12),
        stack: vec![0x77],
        ticks: START + 5,
        activity: None,
        related_activity: None,
        labels: vec!["Opcode(9)".into()],
        is_sorted: false,
        payload: b"abc".to_vec(),
    };
    assert_eq!(Header::of(first), expected);
    assert_eq!(Header::of(second), Header { capture: (2, 11, Some(2)), is_sorted: true, ..expected });
    assert_eq!((first.payload_offset - first.offset, second.offset - first.offset), (52, 55));
    assert!(outcome.is_flawless());
}

#[test]
fn t073_min_and_max_in_the_block_header_are_reported_and_never_used_to_drop_events() {
    for version in V4_AND_V6 {
        let said = [(0, 0), (START + 100, START + 50), (i64::MAX as u64, u64::MAX), (START + 1, START + 2)];
        for (min, max) in said {
            let mut stream = begun(version);
            let block = EventBlock::new([event(1, 1), event(2, 2), event(3, 3)]);
            stream.event_block(&EventBlock { min_ticks: Some(min), max_ticks: Some(max), ..block });
            stream.end();
            for outcome in [read(&stream.bytes), ordered(&stream.bytes)] {
                assert_eq!(outcome.ticks(), at([1, 2, 3]));
                assert!(outcome.is_flawless());
            }
            let mut reader = Reader::from_slice(&stream.bytes);
            let mut headers = vec![];
            while let Some(block) = reader.next_block().unwrap() {
                if block.kind() == BlockKind::Event {
                    headers.push(EventBlockHeader::parse(block.content()).unwrap());
                }
            }
            let header = headers[0];
            assert_eq!((header.min_ticks, header.max_ticks), (min as i64, max as i64));
            assert_eq!((header.size, header.is_compressed, headers.len()), (20, true, 1));
        }
    }
}
