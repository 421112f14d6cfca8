//! Compares the writer's output with blobs and positions that were worked out by hand.

use nettrace_writer::{Blob, PartKind, Sink, Value, payload, tiny_v4, tiny_v6};

fn hex(text: &str) -> Vec<u8> {
    text.split_whitespace()
        .map(|byte| u8::from_str_radix(byte, 16).expect("two hex digits"))
        .collect()
}

#[test]
fn an_uncompressed_v4_blob_is_written_as_by_hand() {
    let blob = Blob {
        metadata_id: 1,
        sequence_number: 2,
        thread_id: 11,
        capture_thread_id: 11,
        stack_id: 2,
        ticks: 1_000_110,
        payload: payload(&[Value::I32(5), Value::Text("A".into()), Value::U8(7)]),
        ..Blob::default()
    };
    let mut sink = Sink::new();
    blob.encode_v4(&mut sink, true);
    let expected = hex("58 00 00 00  01 00 00 80  02 00 00 00  0b 00 00 00 00 00 00 00
                        0b 00 00 00 00 00 00 00  ff ff ff ff  02 00 00 00  ae 42 0f 00 00 00 00 00
                        00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
                        00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
                        09 00 00 00  05 00 00 00  41 00 00 00  07  00 00 00");
    assert_eq!(sink.as_slice(), expected);
    assert_eq!(expected.len(), 92);
}

#[test]
fn a_v3_blob_is_written_as_by_hand() {
    let blob = Blob {
        metadata_id: 1,
        thread_id: 11,
        ticks: 1_000_110,
        payload: payload(&[Value::I32(5), Value::U8(7)]),
        stack: 0x7f00_0000_1000_u64.to_le_bytes().to_vec(),
        ..Blob::default()
    };
    let mut sink = Sink::new();
    blob.encode_v3(&mut sink);
    let expected = hex("48 00 00 00  01 00 00 00  0b 00 00 00  ae 42 0f 00 00 00 00 00
                        00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
                        00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
                        05 00 00 00  05 00 00 00  07  08 00 00 00  00 10 00 00 00 7f 00 00  00 00 00");
    assert_eq!(sink.as_slice(), expected);
    assert_eq!(expected.len(), 76);
}

#[test]
fn the_map_of_the_v4_stream_has_the_offsets_noted_by_hand() {
    let stream = tiny_v4();
    assert_eq!(stream.nth(PartKind::Trace, 0).content, 0x35..0x65);
    let metadata = stream.nth(PartKind::Metadata, 0);
    assert_eq!((metadata.start, metadata.size_field), (0x66, Some(0x83)));
    assert_eq!((metadata.content.clone(), metadata.end_tag), (0x88..0x138, Some(0x138)));
    assert_eq!(metadata.rows, [0x9c..0xe9, 0xe9..0x138]);
    let stacks = stream.nth(PartKind::Stack, 0);
    assert_eq!(stacks.rows, [0x160..0x164, 0x164..0x178]);
    let events = stream.nth(PartKind::Event, 0);
    assert_eq!(events.name_length_field, Some(0x184));
    assert_eq!(events.rows, [0x1ac..0x1c7, 0x1c7..0x1d5, 0x1d5..0x1e0, 0x1e0..0x1ff]);
    assert_eq!(stream.nth(PartKind::SequencePoint, 0).rows, [0x228..0x234, 0x234..0x240]);
    assert_eq!(stream.nth(PartKind::End, 0).start, 0x241);
}

#[test]
fn the_map_of_the_v6_stream_has_the_offsets_noted_by_hand() {
    let stream = tiny_v6();
    let kinds: Vec<_> = stream.parts.iter().map(|part| (part.kind, part.start)).collect();
    let expected = [
        (PartKind::StreamHeader, 0),
        (PartKind::Trace, 0x14),
        (PartKind::Metadata, 0x4d),
        (PartKind::Thread, 0x79),
        (PartKind::Stack, 0x88),
        (PartKind::LabelList, 0xa0),
        (PartKind::Event, 0xbb),
        (PartKind::RemoveThread, 0xed),
        (PartKind::SequencePoint, 0xf3),
        (PartKind::End, 0x107),
    ];
    assert_eq!(kinds, expected);
    assert_eq!(stream.nth(PartKind::LabelList, 0).rows, [0xac..0xb2, 0xb2..0xbb]);
    assert_eq!(stream.nth(PartKind::Event, 0).rows, [0xd3..0xe5, 0xe5..0xed]);
    assert_eq!(stream.nth(PartKind::Metadata, 0).rows.first(), Some(&(0x53..0x79)));
}
