//! Tests of the framing of objects in versions 3 to 5 (FORMAT.md 3), and of finding the next object
//! after framing was lost (13.3).

use crate::allocation::{Usage, usage};
use crate::generated::{FILLER, Generated, large_blocks};
use crate::snapshot::{Outcome, Pieces, Seen, observe, read, read_within, refused};
use crate::streams::{
    EACH, OBJECTS, START, at, begun, define, definition, event, events, on, opened, point,
};
use nettrace_parser::{BlockKind, Class, Fault, Limits, Reader};
use nettrace_testdata::changed;
use nettrace_testdata::synth::*;
use std::collections::BTreeSet;

/// Maximum number of bytes that a reader may reserve because of a count or size in a stream.
const SMALL: u64 = 64 * 1024;

/// Reads a stream from a slice. Returns the outcome, and what reading allocated.
fn read_and_measure(bytes: &[u8]) -> (Outcome, Usage) {
    let (_, usage) = usage(|| {
        let mut reader = Reader::from_slice(bytes);
        while reader.next_event().is_ok_and(|event| event.is_some()) {}
    });
    (read(bytes), usage)
}

#[test]
fn t012_a_trace_object_is_found_at_32_and_its_fields_at_53() {
    for (version, trace, fields, next) in [(Version::V4, 32, 53, 102), (Version::V3, 24, 45, 94)] {
        let stream = begun(version);
        let mut reader = Reader::from_slice(&stream.bytes);
        let block = reader.next_block().unwrap().unwrap();
        assert_eq!((block.kind, block.offset), (BlockKind::Trace, trace));
        assert_eq!((block.span.start, block.span.len), (fields, 48));
        assert_eq!(block.content, &stream.bytes[fields as usize..][..48]);
        let block = reader.next_block().unwrap().unwrap();
        assert_eq!(block.offset, next);
    }
}

/// Returns a stream of event blocks that have all four sizes of padding, because unknown objects of
/// different sizes precede them. Also returns these sizes.
fn at_all_residues(version: Version, padding_byte: u8) -> (Stream, BTreeSet<usize>) {
    let mut stream = Stream::new(version);
    stream.padding_byte = padding_byte;
    stream.trace(&Trace::default());
    define(&mut stream, &[definition(1)]);
    let mut paddings = BTreeSet::new();
    for number in 1..=12 {
        stream.object(&Object::new(version, "Other", Content::raw(vec![7; number as usize % 5])));
        events(&mut stream, [event(number, u64::from(number))]);
        let block = stream.nth(PartKind::Event, stream.count(PartKind::Event) - 1);
        paddings.insert(block.content.start - block.size_field.unwrap() - 4);
    }
    stream.end();
    (stream, paddings)
}

fn assert_found_at_all_residues(outcome: &Outcome) {
    assert_eq!(outcome.ticks(), (1..=12).map(|later| 1_000_000 + later).collect::<Vec<_>>());
    let payloads: Vec<u8> = outcome.events.iter().map(|event| event.payload[0]).collect();
    assert_eq!(payloads, (1..=12).collect::<Vec<_>>());
    assert!(outcome.is_complete);
    assert!(
        outcome
            .damage()
            .iter()
            .all(|(class, _, fault)| { (*class, *fault) == (Class::Note, Fault::UnknownObject) })
    );
}

#[test]
fn t013_padding_is_counted_from_the_start_of_the_stream_for_block_starts_at_all_four_residues() {
    for version in OBJECTS {
        let (stream, paddings) = at_all_residues(version, 0);
        assert_eq!(paddings, BTreeSet::from([0, 1, 2, 3]));
        let outcome = observe(Reader::from_slice(&stream.bytes));
        assert_found_at_all_residues(&outcome);
        // The same bytes at an odd address: padding has nothing to do with memory.
        let moved: Vec<u8> = [&[0], stream.bytes.as_slice()].concat();
        assert_eq!(observe(Reader::from_slice(&moved[1..])), outcome);
    }
}

#[test]
fn t014_padding_is_counted_from_the_start_of_the_stream_also_when_it_is_fed_in_pieces_of_one_byte()
{
    for version in OBJECTS {
        let (stream, _) = at_all_residues(version, 0);
        for size in [1, 2, 3] {
            let outcome = observe(Reader::from_read(Pieces::new(&stream.bytes, size)));
            assert_found_at_all_residues(&outcome);
        }
    }
}

#[test]
fn t015_padding_bytes_that_are_not_zero_are_ignored() {
    for version in OBJECTS {
        for padding_byte in [0x06, 0x5a, 0xff] {
            let (stream, _) = at_all_residues(version, padding_byte);
            assert_found_at_all_residues(&read(&stream.bytes));
        }
    }
}

#[test]
fn t016_a_nullreference_where_an_object_may_begin_ends_the_stream() {
    for version in OBJECTS {
        let mut stream = begun(version);
        events(&mut stream, [event(1, 5)]);
        stream.end();
        let end = stream.bytes.len() as u64;
        let outcome = read(&stream.bytes);
        assert_eq!((outcome.ticks(), outcome.end_offset), (at([5]).to_vec(), Some(end)));
        assert!(outcome.is_flawless());
        // What follows is not part of the stream.
        let noted = [stream.bytes.as_slice(), b"more"].concat();
        let outcome = read(&noted);
        assert_eq!((outcome.ticks(), outcome.end_offset), (at([5]).to_vec(), Some(end)));
        assert_eq!(outcome.damage(), [(Class::Note, end, Fault::TrailingBytes(4))]);
        // A block after the mark shows that damage made the mark, because no writer puts one there.
        events(&mut stream, [event(2, 6)]);
        stream.end();
        let outcome = read(&stream.bytes);
        assert_eq!(outcome.ticks(), at([5, 6]));
        let fault = Fault::Tag { expected: 5, found: 1 };
        assert_eq!(outcome.damage(), [(Class::FramingLost, end - 1, fault)]);
        // Right after the Trace object.
        let mut empty = opened(version);
        empty.end();
        assert!(read(&empty.bytes).is_flawless());
    }
}

#[test]
fn t017_three_zero_bytes_after_the_nullreference_are_noted_and_ignored() {
    for version in OBJECTS {
        let mut stream = begun(version);
        events(&mut stream, [event(1, 5)]);
        stream.end().raw(PartKind::Other, &[0; 3]);
        let end = stream.bytes.len() as u64 - 3;
        let outcome = read(&stream.bytes);
        assert_eq!(outcome.ticks(), at([5]));
        assert!(outcome.is_complete);
        assert_eq!(outcome.end_offset, Some(end));
        assert_eq!(outcome.damage(), [(Class::Note, end, Fault::TrailingBytes(3))]);
    }
}

#[test]
fn t018_a_missing_endobject_tag_loses_the_framing_at_its_offset() {
    for (version, tag) in [(Version::V3, 4), (Version::V4, 5)] {
        let mut stream = begun(version);
        events(&mut stream, [event(1, 5)]);
        let block = EventBlock::new([event(2, 6)]);
        let object = Object::new(version, "EventBlock", block.content(version));
        stream.object(&Object { end_tag: None, ..object });
        let due = stream.parts.last().unwrap().end as u64;
        events(&mut stream, [event(3, 7)]);
        stream.end();
        let outcome = read(&stream.bytes);
        let fault = Fault::Tag { expected: 6, found: tag };
        assert_eq!(outcome.damage(), [(Class::FramingLost, due, fault)]);
        assert_eq!(outcome.findings[0].lost_bytes, 0);
        // The block's content had been read, and the next object begins right there.
        assert_eq!(outcome.ticks(), at([5, 6, 7]));
        assert!(outcome.is_complete);
    }
}

/// Creates a stream whose second event block is changed by `wrong`. Returns the stream and the
/// positions of the second and the third event block.
fn with_wrong_second_block(
    version: Version,
    wrong: impl Fn(&Part) -> Damage,
) -> (Vec<u8>, u64, u64) {
    let mut stream = begun(version);
    for number in 1..=3 {
        events(&mut stream, [event(number, u64::from(number))]);
    }
    stream.end();
    let first = if version == Version::V3 { 1 } else { 0 };
    let block = |nth: usize| stream.nth(PartKind::Event, first + nth);
    let bytes = wrong(block(1)).applied(&stream.bytes);
    (bytes, block(1).start as u64, block(2).start as u64)
}

fn assert_name_length_is_refused(length: i32) {
    for version in OBJECTS {
        let wrong = |block: &Part| Damage::i32(block.name_length_field.unwrap(), length);
        let (bytes, second, third) = with_wrong_second_block(version, wrong);
        let (outcome, usage) = read_and_measure(&bytes);
        let fault = Fault::NameLength(length);
        assert_eq!(outcome.damage(), [(Class::FramingLost, second + 11, fault)]);
        assert_eq!(outcome.findings[0].lost_bytes, third - second);
        assert_eq!(outcome.ticks(), at([1, 3]));
        assert!(usage.peak < SMALL, "{usage:?}");
        // In the first object it is fatal.
        let trace = opened(version);
        let field = trace.nth(PartKind::Trace, 0).name_length_field.unwrap();
        let bytes = Damage::i32(field, length).applied(&trace.bytes);
        assert_eq!(refused(&bytes), (field as u64, fault));
    }
}

#[test]
fn t019_a_negative_type_name_length_is_refused_without_allocating() {
    assert_name_length_is_refused(-1);
    assert_name_length_is_refused(i32::MIN);
}

#[test]
fn t020_a_type_name_length_of_2_31_1_is_refused_without_allocating() {
    assert_name_length_is_refused(i32::MAX);
    assert_name_length_is_refused(256);
}

#[test]
fn t021_a_negative_block_size_is_refused_without_allocating() {
    for version in OBJECTS {
        for size in [-1, -1000, i32::MIN] {
            let wrong = |block: &Part| Damage::i32(block.size_field.unwrap(), size);
            let (bytes, second, third) = with_wrong_second_block(version, wrong);
            let (outcome, usage) = read_and_measure(&bytes);
            // The size stands after 16 bytes and the name "EventBlock".
            assert_eq!(
                outcome.damage(),
                [(Class::FramingLost, second + 26, Fault::BlockSize(size))]
            );
            assert_eq!(outcome.findings[0].lost_bytes, third - second);
            assert_eq!(outcome.ticks(), at([1, 3]));
            assert!(usage.peak < SMALL, "{usage:?}");
        }
    }
}

#[test]
fn t022_a_block_size_beyond_the_input_ends_incomplete_not_in_a_panic_or_an_allocation() {
    for version in EACH {
        let mut stream = begun(version);
        events(&mut stream, [event(1, 1)]);
        let block = EventBlock::new([event(2, 2), event(3, 3)]);
        let content = block.content(version);
        let length = stream.bytes.len();
        // 60 MiB are announced, which is below the limits, and the two events are there.
        let announced = if version == Version::V6 { 0xff_ffff } else { 60 << 20 };
        if version == Version::V6 {
            stream.block(&Block { size: Some(announced as u32), ..Block::new(2, content) });
        } else {
            stream.object(&Object {
                size: Some(announced),
                end_tag: None,
                ..Object::new(version, "EventBlock", content)
            });
        }
        let end = stream.bytes.len() as u64;
        let (outcome, measured) = read_and_measure(&stream.bytes);
        assert_eq!(outcome.ticks(), at([1, 2, 3]));
        assert!(!outcome.is_complete);
        assert_eq!(outcome.end_offset, Some(end));
        assert_eq!(outcome.damage(), []);
        assert!(measured.peak < SMALL, "{measured:?}");
        let (_, measured) = usage(|| {
            let mut reader = Reader::from_read(&stream.bytes[..]);
            while reader.next_event().is_ok_and(|event| event.is_some()) {}
        });
        assert!(measured.peak < 1 << 20, "{measured:?}");
        if version == Version::V6 {
            continue;
        }
        // Above the limit, and as large as can be said: the block is given up, the next
        // is found.
        let block = stream.nth(PartKind::Event, stream.count(PartKind::Event) - 1).clone();
        let mut bytes = Damage::i32(block.size_field.unwrap(), i32::MAX).applied(&stream.bytes);
        let outcome = read(&bytes);
        let start = block.content.start as u64;
        assert_eq!(
            outcome.damage(),
            [(Class::BlockLost, start, Fault::BlockLimit(i32::MAX as u64))]
        );
        assert_eq!(outcome.findings[0].lost_bytes, block.content.len() as u64);
        assert_eq!((outcome.ticks(), outcome.is_complete), (at([1]).to_vec(), false));
        assert!(length < bytes.len());
        bytes.push(6);
        let mut rest = Stream::with_header(version, &bytes);
        events(&mut rest, [event(4, 4)]);
        rest.end();
        let outcome = read(&rest.bytes);
        assert_eq!((outcome.ticks(), outcome.is_complete), (at([1, 4]).to_vec(), true));
    }
}

#[test]
fn t023_a_block_larger_than_the_limit_is_skipped_and_noted_and_the_next_one_is_read() {
    for version in EACH {
        let mut stream = begun(version);
        events(&mut stream, (1..=3).map(|number| event(number, u64::from(number))));
        events(&mut stream, (4..=200).map(|number| event(number, u64::from(number))));
        events(&mut stream, [event(201, 201)]);
        stream.end();
        let large = stream.nth(PartKind::Event, stream.count(PartKind::Event) - 2);
        let content = large.content.clone();
        let limits = changed(|it: &mut Limits| it.block_bytes = content.len() as u32 - 1);
        let outcome = read_within(&stream.bytes, limits);
        let fault = Fault::BlockLimit(content.len() as u64);
        assert_eq!(outcome.damage(), [(Class::BlockLost, content.start as u64, fault)]);
        assert_eq!(outcome.findings[0].lost_bytes, content.len() as u64);
        assert_eq!(outcome.findings[0].block, Some(BlockKind::Event));
        assert_eq!(outcome.findings[0].block_offset, large.start as u64);
        assert_eq!(outcome.ticks(), at([1, 2, 3, 201]));
        assert!(outcome.is_complete);
        // A block of exactly the limit is read.
        let outcome = read_within(
            &stream.bytes,
            changed(|it: &mut Limits| it.block_bytes = content.len() as u32),
        );
        assert_eq!(outcome.events.len(), 201);
        assert!(outcome.is_flawless());
    }
}

#[test]
fn t024_an_unknown_object_type_with_a_block_layout_is_skipped() {
    for version in OBJECTS {
        for name in ["Future", "", "EventBlock2", "eventblock", &"x".repeat(255)] {
            let mut stream = begun(version);
            events(&mut stream, [event(1, 1)]);
            stream.object(&Object::new(version, name, Content::raw(vec![6; 77])));
            let content = stream.parts.last().unwrap().content.start as u64;
            events(&mut stream, [event(2, 2)]);
            // At the end of the stream it is followed by the end tag.
            stream.object(&Object::new(version, name, Content::raw(vec![1, 5, 6])));
            let last = stream.parts.last().unwrap().content.start as u64;
            stream.end();
            let outcome = read(&stream.bytes);
            let note = |offset| (Class::Note, offset, Fault::UnknownObject);
            assert_eq!(outcome.damage(), [note(content), note(last)]);
            assert_eq!(outcome.findings[0].block, Some(BlockKind::Unknown(0)));
            assert_eq!(outcome.ticks(), at([1, 2]));
            assert!(outcome.is_complete);
        }
    }
}

#[test]
fn t025_an_unknown_object_type_without_a_block_layout_stops_at_its_offset() {
    for version in OBJECTS {
        let mut stream = begun(version);
        events(&mut stream, [event(1, 1)]);
        // Its first four bytes would be a size of 100, and byte 100 is no end tag.
        let mut content = vec![0x55; 200];
        content[..4].copy_from_slice(&100_u32.to_le_bytes());
        let unsized_object =
            Object { is_sized: false, ..Object::new(version, "Future", Content::raw(content)) };
        stream.object(&unsized_object);
        let start = stream.parts.last().unwrap().start as u64;
        let outcome = read(&stream.bytes);
        let damage = [(Class::FramingLost, start, Fault::UnknownLayout)];
        assert_eq!(outcome.damage(), damage);
        assert_eq!(outcome.findings[0].lost_bytes, stream.bytes.len() as u64 - start);
        assert_eq!((outcome.ticks(), outcome.is_complete), (at([1]).to_vec(), false));
        // What can be found after it is read.
        let next = stream.bytes.len() as u64;
        events(&mut stream, [event(2, 2)]);
        stream.end();
        let outcome = read(&stream.bytes);
        assert_eq!(outcome.damage(), damage);
        assert_eq!(outcome.findings[0].lost_bytes, next - start);
        assert_eq!((outcome.ticks(), outcome.is_complete), (at([1, 2]).to_vec(), true));
    }
}

#[test]
fn t026_tagged_values_between_a_block_s_content_and_endobject_are_skipped() {
    let tagged = [
        TaggedValue::Byte(6),
        TaggedValue::Int16(0x0606),
        TaggedValue::Int32(0x0606_0606),
        TaggedValue::Int64(0x0606_0606_0606_0606),
        TaggedValue::String("six \u{6}".into()),
        TaggedValue::Blob(vec![6; 300]),
        TaggedValue::String(String::new()),
    ];
    for version in OBJECTS {
        let lists = tagged.iter().map(|value| vec![value.clone()]).chain([tagged.to_vec(), vec![]]);
        for tagged in lists {
            let mut stream = Stream::new(version);
            let trace = Object::new(version, "Trace", Trace::default().content(version));
            stream.object(&Object { tagged: tagged.clone(), ..trace });
            define(&mut stream, &[definition(1)]);
            for number in 1..=2 {
                let block = EventBlock::new([event(number, u64::from(number))]);
                let object = Object::new(version, "EventBlock", block.content(version));
                stream.object(&Object { tagged: tagged.clone(), ..object });
            }
            stream.end();
            let outcome = read(&stream.bytes);
            assert_eq!(outcome.ticks(), at([1, 2]), "{tagged:?}");
            assert!(outcome.is_flawless(), "{tagged:?}: {:?}", outcome.findings);
        }
    }
    // A value whose length is no length is where the end tag was due.
    let mut stream = begun(Version::V4);
    let block = EventBlock::new([event(1, 1)]).content(Version::V4);
    let raw = TaggedValue::Raw(vec![13, 0xff, 0xff, 0xff, 0xff]);
    stream.object(&Object { tagged: vec![raw], ..Object::new(Version::V4, "EventBlock", block) });
    let due = stream.parts.last().unwrap().content.end as u64;
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(outcome.ticks(), at([1]));
    assert_eq!(outcome.damage(), [(Class::FramingLost, due, Fault::BlockSize(-1))]);
}

#[test]
fn t027_a_higher_type_version_with_a_known_minimum_is_read_an_unknown_minimum_is_refused() {
    let with_versions = |trace: (i32, i32), block: (i32, i32)| {
        let mut stream = Stream::new(Version::V4);
        let object = Object::new(Version::V4, "Trace", Trace::default().content(Version::V4));
        stream.object(&Object { version: trace.0, minimum_version: trace.1, ..object });
        define(&mut stream, &[definition(1)]);
        let content = EventBlock::new([event(1, 1)]).content(Version::V4);
        let object = Object::new(Version::V4, "EventBlock", content);
        stream.object(&Object { version: block.0, minimum_version: block.1, ..object });
        events(&mut stream, [event(2, 2)]);
        stream.end();
        stream
    };
    for (trace, block) in [((5, 4), (3, 2)), ((99, 0), (99, 0)), ((4, 4), (i32::MAX, 1))] {
        let outcome = read(&with_versions(trace, block).bytes);
        assert_eq!(outcome.ticks(), at([1, 2]));
        assert!(outcome.is_flawless());
    }
    // Only the block that needs a newer reader is lost, because its size shows its end.
    for minimum in [3, i32::MAX] {
        let stream = with_versions((4, 4), (minimum, minimum));
        let block = stream.nth(PartKind::Event, 0);
        let outcome = read(&stream.bytes);
        let start = block.content.start as u64;
        assert_eq!(outcome.damage(), [(Class::BlockLost, start, Fault::MinimumVersion(minimum))]);
        assert_eq!(outcome.findings[0].lost_bytes, block.content.len() as u64);
        assert_eq!((outcome.ticks(), outcome.is_complete), (at([2]).to_vec(), true));
    }
    // One that is cut has lost what was there of it.
    let stream = with_versions((4, 4), (3, 3));
    let content = stream.nth(PartKind::Event, 0).content.clone();
    let outcome = read(&stream.bytes[..content.end - 5]);
    assert_eq!(
        outcome.damage(),
        [(Class::BlockLost, content.start as u64, Fault::MinimumVersion(3))]
    );
    assert_eq!(outcome.findings[0].lost_bytes, content.len() as u64 - 5);
    assert!(!outcome.is_complete);
    // A Trace that needs a newer reader makes the stream unreadable.
    let stream = with_versions((5, 5), (2, 2));
    assert_eq!(refused(&stream.bytes), (32 + 7, Fault::MinimumVersion(5)));
}

#[test]
fn t028_blocks_with_minimum_version_0_are_read() {
    let mut stream = Stream::new(Version::V4);
    stream.trace(&Trace::default());
    let zero = |name: &str, content: Content| Object {
        minimum_version: 0,
        ..Object::new(Version::V4, name, content)
    };
    let definitions = EventBlock::new([Blob::definition(11, 0, definition(1).encode())]);
    stream.object(&zero("MetadataBlock", definitions.content(Version::V4)));
    stream.object(&zero("StackBlock", StackBlock::new(1, 8, &[[0x42]]).content()));
    let blobs = EventBlock::new([Blob { stack_id: 1, ..event(1, 1) }]);
    stream.object(&zero("EventBlock", blobs.content(Version::V4)));
    let last = SequencePoint { threads: vec![(11, 3)], ..SequencePoint::default() };
    stream.object(&zero("SPBlock", last.content(Version::V4)));
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!((outcome.ticks(), outcome.lost), (at([1]).to_vec(), 2));
    assert_eq!(
        (outcome.events[0].name.as_str(), &outcome.events[0].stack[..]),
        ("Hi", &[0x42][..])
    );
    assert!(outcome.is_flawless());
}

#[test]
fn t029_the_first_object_must_be_trace() {
    for (version, first) in [(Version::V4, 32), (Version::V3, 24)] {
        let mut stream = Stream::new(version);
        events(&mut stream, [event(1, 1)]);
        assert_eq!(refused(&stream.bytes), (first, Fault::FirstIsNotTrace));
        let mut stream = Stream::new(version);
        stream.object(&Object::new(version, "Other", Content::default())).trace(&Trace::default());
        assert_eq!(refused(&stream.bytes), (first, Fault::FirstIsNotTrace));
        // The end is no Trace either.
        let mut stream = Stream::new(version);
        stream.end();
        assert_eq!(refused(&stream.bytes), (first, Fault::FirstIsNotTrace));
    }
}

#[test]
fn t030_a_second_trace_object_is_noted_and_ignored() {
    for version in EACH {
        let mut stream = begun(version);
        events(&mut stream, [event(1, 1)]);
        let other = Trace { pointer_size: 4, tick_frequency: 1, process_id: 9, ..Trace::default() };
        stream.trace(&other);
        let content = stream.parts.last().unwrap().content.start as u64;
        events(&mut stream, [event(2, 2)]);
        stream.end();
        let outcome = read(&stream.bytes);
        assert_eq!(outcome.damage(), [(Class::Note, content, Fault::SecondTrace)]);
        assert_eq!(outcome.findings[0].block, Some(BlockKind::Trace));
        assert_eq!(outcome.ticks(), at([1, 2]));
        let trace = outcome.trace.unwrap();
        assert_eq!((trace.pointer_size, trace.tick_frequency), (8, 10_000_000));
        assert_eq!(outcome.events[1].nanos, Some(200));
        assert!(outcome.is_complete);
    }
}

#[test]
fn t031_positions_above_4_gib_are_right() {
    for version in [Version::V6, Version::V4] {
        let mut near = begun(version);
        events(&mut near, [event(1, 1)]);
        let mut stream = Generated::default();
        stream.append(near.bytes);
        let last = large_blocks(&mut stream, version);
        let next = if version == Version::V6 { 2 } else { last + 1 };
        // One byte more, then a block with an event and a broken one; both must be found
        // at the right residue of the position.
        if version == Version::V4 {
            let other = Object::new(version, "Other", Content::raw([0]));
            stream.append(other.encode(stream.aligned()).0);
        }
        let stacks = StackBlock::new(1, 8, &[[0x42]]).content();
        stream.part(version, PartKind::Stack, stacks);
        let far = Blob { stack_id: 1, ..event(next, 3) };
        let broken = Blob { payload_size: Some(70_000), ..event(next + 1, 4) };
        let block = EventBlock::new([far, broken]).content(version);
        let rows = block.rows.clone();
        let content = stream.part(version, PartKind::Event, block);
        assert!(content > u64::from(u32::MAX));
        stream.append(if version == Version::V6 { vec![0; 4] } else { vec![1] });
        let length = stream.length;

        let mut reader = Reader::from_read(stream);
        let (mut numbers, mut payload_bytes, mut last_seen) = (0, 0, None);
        let (_, usage) = usage(|| {
            while let Some(event) = reader.next_event().unwrap() {
                numbers += u64::from(event.sequence_number());
                payload_bytes += event.payload().len() as u64;
                if event.sequence_number() == next {
                    last_seen = Some(Seen::from_event(&event));
                }
            }
        });
        let last_seen = last_seen.unwrap();
        assert_eq!(last_seen.offset, content + rows[0].start as u64);
        assert_eq!((last_seen.number, last_seen.payload[0]), (next, next.to_le_bytes()[0]));
        assert_eq!((last_seen.ticks, &last_seen.stack[..]), (START + 3, &[0x42][..]));
        assert_eq!(numbers, (1..=u64::from(next)).sum::<u64>());
        let large = if version == Version::V6 { 0 } else { u64::from(last - 1) * FILLER };
        assert_eq!(payload_bytes, 8 + large);
        let finding = reader.damage().losses().next().unwrap();
        assert_eq!(finding.offset, content + rows[1].start as u64);
        assert_eq!(
            (finding.class, finding.fault),
            (Class::RestOfBlockLost, Fault::PayloadSize(70_000))
        );
        assert!(reader.is_complete());
        assert_eq!((reader.end_offset(), reader.position()), (Some(length), length));
        // A block at a time, and only if it has to be read.
        assert!(
            usage.peak < if version == Version::V6 { 1 << 20 } else { 5 * FILLER },
            "{usage:?}"
        );
    }
}

#[test]
fn t032_after_framing_is_lost_the_next_known_object_header_is_found_and_events_after_it_are_delivered()
 {
    for version in OBJECTS {
        // Any byte of the header but the first, which alone is read over.
        for (at_byte, mask) in [(1, 0x40), (2, 0x02), (25, 0x01)] {
            let wrong = |block: &Part| Damage::Flip { at: block.start + at_byte, mask };
            let (bytes, second, third) = with_wrong_second_block(version, wrong);
            let outcome = read(&bytes);
            assert_eq!(outcome.findings.len(), 1, "{:?}", outcome.findings);
            let finding = outcome.findings[0];
            assert_eq!(
                (finding.class, finding.offset),
                (Class::FramingLost, second + at_byte as u64)
            );
            assert_eq!(finding.lost_bytes, third - second);
            assert!(matches!(finding.fault, Fault::Tag { .. }));
            assert_eq!(outcome.ticks(), at([1, 3]));
            assert!(outcome.is_complete);
        }
        // Noise of any length between two objects, that looks like the beginning of one.
        for length in [1, 2, 3, 1000, 70_000, 200_000] {
            let mut stream = begun(version);
            events(&mut stream, [event(1, 1)]);
            let from = stream.bytes.len() as u64;
            let header: Vec<u8> = stream.bytes[from as usize - 60..].to_vec();
            let noise: Vec<u8> =
                header.iter().take(20).chain(&[0xaa; 7]).copied().cycle().take(length).collect();
            stream.raw(PartKind::Other, &noise);
            let next = stream.bytes.len() as u64;
            // All four kinds of objects are found.
            match length % 4 {
                0 => events(&mut stream, [event(2, 2)]),
                _ if version == Version::V3 => {}
                1 => point(&mut stream, 2, &[(11, 1)]),
                2 => {
                    stream.stack_block(&StackBlock::new(1, 8, &[[1]]));
                }
                _ => define(&mut stream, &[definition(2)]),
            }
            events(&mut stream, [on(11, 3, 3)]);
            stream.end();
            let outcome = read(&stream.bytes);
            let finding = outcome.findings[0];
            assert_eq!(
                (finding.class, finding.offset, finding.lost_bytes),
                (Class::FramingLost, from, next - from)
            );
            assert_eq!(outcome.findings.len(), 1, "{:?}", outcome.findings);
            assert_eq!(outcome.ticks().last(), Some(&1_000_003));
            assert!(outcome.is_complete);
        }
    }
}
