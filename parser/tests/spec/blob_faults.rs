//! Tests of faulty blobs, and of the bytes that are lost with them (FORMAT.md 6.3, 13.2).

use crate::snapshot::read;
use crate::streams::{START, V4_AND_V6, begun, event, events};
use crate::streams::{block_of, last_event_block};
use nettrace_parser::{Class, Fault};
use nettrace_testdata::synth::*;

/// Reads a block of two good blobs, the blob `wrong`, and another good one. Asserts that exactly
/// the bytes from `wrong` on are lost. The block is tried with another block after it, close to the
/// end of the input and far from it.
fn assert_rest_is_lost(version: Version, layout: BlobLayout, wrong: &Row, fault: Fault) {
    for further in [0, 1, 20] {
        let mut stream = begun(version);
        let rows = [event(1, 1).into(), event(2, 2).into(), wrong.clone(), event(9, 9).into()];
        stream.event_block(&block_of(rows).layout(layout));
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

/// Asserts that the bytes `wrong` at the end of a block are lost, and nothing else.
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
            for layout in
                [BlobLayout::Compressed, BlobLayout::Overlong(9), BlobLayout::Uncompressed]
            {
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
        assert_rest_is_lost(
            version,
            BlobLayout::Uncompressed,
            &wrong.into(),
            Fault::PayloadSize(0),
        );
        // A payload that would need a byte from after the block.
        assert_cut_off_is_lost(
            version,
            &[flag::PAYLOAD_SIZE, 1, 4, 7, 7, 7],
            Fault::PayloadSize(4),
        );
    }
}

#[test]
fn t065_a_varuint_that_runs_off_the_block_keeps_the_blobs_before_it() {
    for version in V4_AND_V6 {
        for wrong in
            [&[flag::METADATA_ID, 0x80][..], &[0], &[0, 0xff, 0xff], &[flag::STACK, 0x80, 0x80]]
        {
            assert_cut_off_is_lost(version, wrong, Fault::Truncated);
        }
        // A header with everything in it, cut after each of its bytes.
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

/// Returns the rest of a blob around each field that is a varuint32: the bytes from the flags up to
/// the field, and the bytes after the field.
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

/// Returns the blob in which the varuint `field` has the bytes `value`. Four bytes follow, in which
/// an inherited payload has room.
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
                    assert_rest_is_lost(
                        version,
                        BlobLayout::Compressed,
                        &wrong,
                        Fault::VarintTooLong,
                    );
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
    // Whole blocks whose varuints have needless bytes.
    for version in V4_AND_V6 {
        for needless in [1, 4, 9] {
            let mut stream = begun(version);
            let blobs = (1..50).map(|number| event(number, u64::from(number) * 100));
            stream.event_block(&EventBlock::new(blobs).layout(BlobLayout::Overlong(needless)));
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
        for (fields, most, last) in
            [(varuint32_fields(version), 5, 0x0f), (varuint64_fields(), 10, 0x01)]
        {
            for field in fields {
                for excess in [last + 1, 0x20, 0x40, 0x7f] {
                    let wrong = [vec![0x80; most - 1], vec![excess]].concat();
                    let wrong = blob_with(&field, &wrong);
                    assert_rest_is_lost(
                        version,
                        BlobLayout::Compressed,
                        &wrong,
                        Fault::VarintOverflow,
                    );
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
        assert_eq!(
            (event.metadata_id, event.capture_thread, event.ticks),
            (u32::MAX, u64::MAX, u64::MAX)
        );
        let faults: Vec<Fault> = outcome.findings.iter().map(|finding| finding.fault).collect();
        assert!(faults.contains(&Fault::UndefinedStack(u32::MAX)));
        assert!(faults.contains(&Fault::UndefinedMetadata(u32::MAX)));
    }
}
