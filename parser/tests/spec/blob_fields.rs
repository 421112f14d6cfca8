//! Tests of single fields of a blob header (FORMAT.md 6.2, 6.3, 7.4).

use crate::blob_headers::Header;
use crate::snapshot::{ordered, read};
use crate::streams::{START, V4_AND_V6, at, begun, event, events};
use crate::streams::{block_of, last_event_block};
use nettrace_parser::{BlockKind, Guid, Reader, raw};
use nettrace_testdata::synth::*;

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
            stream.event_block(&EventBlock::new(blobs).layout(layout));
            stream.end();
            let outcome = read(&stream.bytes);
            let captured: Vec<_> =
                outcome.events.iter().map(|event| event.capture_thread).collect();
            assert_eq!(captured, threads);
            let about: Vec<_> =
                outcome.events.iter().rev().map(|event| event.thread.unwrap()).collect();
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
            stream.event_block(&EventBlock::new(blobs).layout(layout));
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
        let blobs = expected
            .iter()
            .zip(1..)
            .map(|((activity, related), number)| with(number, *activity, *related));
        stream.event_block(&EventBlock::new(blobs).layout(layout));
        // The next block begins without.
        events(&mut stream, [event(8, 8)]);
        stream.end();
        let guid = |byte: u8| (byte != 0).then(|| Guid::from_bytes([byte; 16]));
        for outcome in [read(&stream.bytes), ordered(&stream.bytes)] {
            let seen: Vec<_> = outcome
                .events
                .iter()
                .map(|event| (event.activity, event.related_activity))
                .collect();
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
    let number =
        |value: i64| vec![format!("Number {{ key: [110], value: {value}, raw: {} }}", value * 2)];
    let labels: Vec<_> = outcome.events.iter().map(|event| event.labels.clone()).collect();
    assert_eq!(labels, [number(0), number(0), number(299), vec![], number(1)]);
    assert!(
        outcome
            .events
            .iter()
            .all(|event| event.activity.is_none() && event.related_activity.is_none())
    );
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
    stream
        .event_block(&block_of([Row::Raw(row), Row::Raw(second)]).layout(BlobLayout::Uncompressed));
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
    assert_eq!(Header::from_seen(first), expected);
    assert_eq!(
        Header::from_seen(second),
        Header { capture: (2, 11, Some(2)), is_sorted: true, ..expected }
    );
    assert_eq!((first.payload_offset - first.offset, second.offset - first.offset), (52, 55));
    assert!(outcome.is_flawless());
}

#[test]
fn t073_min_and_max_in_the_block_header_are_reported_and_never_used_to_drop_events() {
    for version in V4_AND_V6 {
        let said = [
            (0, 0),
            (START + 100, START + 50),
            (i64::MAX as u64, u64::MAX),
            (START + 1, START + 2),
        ];
        for (min, max) in said {
            let mut stream = begun(version);
            let block = EventBlock::new([event(1, 1), event(2, 2), event(3, 3)]);
            stream.event_block(&EventBlock { min_ticks: Some(min), max_ticks: Some(max), ..block });
            stream.end();
            // Impossible times in a block's header are ignored; possible ones are a contradiction
            // if a row lies outside of them.
            let fits = max < min || max == 0;
            for outcome in [read(&stream.bytes), ordered(&stream.bytes)] {
                assert_eq!(outcome.ticks(), at([1, 2, 3]));
                assert_eq!(outcome.is_flawless(), fits);
            }
            let mut reader = Reader::from_slice(&stream.bytes);
            let mut headers = vec![];
            while let Some(block) = reader.next_block().unwrap() {
                if block.kind == BlockKind::Event {
                    headers.push(raw::event_block_header(block.content).unwrap().1);
                }
            }
            let header = headers[0];
            assert_eq!((header.min_ticks, header.max_ticks), (min as i64, max as i64));
            assert_eq!((header.size, header.is_compressed, headers.len()), (20, true, 1));
        }
    }
}
