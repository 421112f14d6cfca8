//! Tests of damage, and of any input (FORMAT.md 13).

use crate::allocation::usage;
use crate::snapshot::examples::{Left, examples};
use crate::snapshot::{
    Pieces, assert_same, observe, observe_ordered, ordered, ordered_within, read, read_within,
};
use crate::streams::{
    EACH, OBJECTS, START, V4_AND_V6, at, begun, define, definition, event, events, on, opened,
    point,
};
use nettrace_parser::{BlockKind, Buffered, Class, Fault, Limits, Reader};
use nettrace_testdata::changed;
use nettrace_testdata::synth::*;

#[test]
fn t178_the_examples_of_17_give_the_expected_events_when_cut_at_every_length() {
    for example in examples() {
        for length in 0..=example.bytes.len() {
            let cut = &example.bytes[..length];
            for outcome in [read(cut), ordered(cut)] {
                let Some(left) = example.left(length) else {
                    let (offset, _, fault) = outcome.error.expect("it cannot be read");
                    assert_eq!(
                        (offset, fault),
                        (length as u64, Fault::HeaderTruncated),
                        "{length:#x}"
                    );
                    continue;
                };
                let found = Left {
                    events: outcome.events.len(),
                    lost: outcome.lost,
                    is_complete: outcome.is_complete,
                };
                assert_eq!((found, outcome.error), (left, None), "{length:#x}");
                // A cut is reported as such, and as nothing else, and what was read stays
                // as it is.
                let classes: Vec<_> =
                    outcome.findings.iter().map(|finding| finding.class).collect();
                assert!(
                    classes.iter().all(|class| *class == Class::Incomplete),
                    "{length:#x}: {classes:?}"
                );
                assert!(classes.len() <= 1, "{length:#x}: {classes:?}");
                assert_eq!(outcome.end_offset, Some(length as u64));
            }
        }
    }
}

/// Reads all events of a stream in both orders, with every field of every payload. Returns the
/// number of events.
fn survive(bytes: &[u8]) -> usize {
    let mut reader = Reader::from_slice(bytes);
    let mut events = 0;
    while let Ok(Some(event)) = reader.next_event() {
        events += 1;
        for field in event.fields() {
            if let Ok(nettrace_parser::Value::Array(array)) = field.value {
                events += array.iter().filter(|value| value.as_u64() == Some(u64::MAX - 3)).count();
            }
        }
        assert!(events <= bytes.len(), "this does not end");
    }
    let mut in_time = Reader::from_slice(bytes).time_ordered();
    let mut delivered = 0;
    while let Ok(Some(_)) = in_time.next_event() {
        delivered += 1;
        assert!(delivered <= bytes.len(), "this does not end");
    }
    events
}

#[test]
fn t179_flipping_any_one_byte_of_the_examples_never_panics_hangs_or_allocates_more_than_a_bound() {
    for example in examples() {
        let mut bytes = example.bytes;
        for place in 0..bytes.len() {
            let right = bytes[place];
            for mask in [1, 2, 4, 8, 16, 32, 64, 128, 0x7f, 0xfe, 0xff] {
                bytes[place] = right ^ mask;
                let (events, usage) = usage(|| survive(&bytes));
                assert!(
                    events <= 100 && usage.peak < 64 * 1024,
                    "{place:#x} ^ {mask:#x}: {usage:?}"
                );
            }
            bytes[place] = right;
            // A reader of a stream needs one of them only: its buffer is of a fixed size.
            bytes[place] = !right;
            let (_, usage) = usage(|| observe(Reader::from_read(&bytes[..])));
            assert!(usage.peak < 1 << 20, "{place:#x}: {usage:?}");
            bytes[place] = right;
        }
    }
}

#[test]
fn t180_feeding_in_pieces_of_any_size_gives_the_same_events_and_errors_as_feeding_at_once() {
    let examples = examples().map(|example| (String::new(), example.bytes));
    for (_, bytes) in &examples {
        let whole = observe(Reader::from_slice(bytes));
        for size in 1..=bytes.len() {
            let pieces = Pieces::new(bytes, size);
            assert_same(&observe(Reader::new(Buffered::new(pieces).at_rest())), &whole, &pieces);
            let paused = Pieces::with_pauses(bytes, size);
            assert_same(&observe(Reader::new(Buffered::new(paused).at_rest())), &whole, &paused);
        }
    }
    // Broken and odd streams of all kinds give the same events, the same damage, the same
    // errors.
    let mut refused = 0;
    for (name, bytes) in malformed() {
        let whole = observe(Reader::from_slice(&bytes));
        let in_time = observe_ordered(Reader::from_slice(&bytes));
        refused += u32::from(whole.error.is_some());
        for size in [1, 2, 3, 5, 8, 13, 64, 1000, 4096] {
            let pieces = Pieces::new(&bytes, size);
            assert_same(
                &observe(Reader::new(Buffered::new(pieces).at_rest())),
                &whole,
                &(&name, pieces),
            );
            let paused = Pieces::with_pauses(&bytes, size);
            assert_same(
                &observe(Reader::new(Buffered::new(paused).at_rest())),
                &whole,
                &(&name, paused),
            );
            assert_same(
                &observe_ordered(Reader::new(Buffered::new(paused).at_rest())),
                &in_time,
                &(&name, "in time order", paused),
            );
        }
    }
    assert!(refused > 5);
}

#[test]
fn t181_a_block_whose_endobject_is_missing_at_the_end_of_data_counts_in_full() {
    for version in OBJECTS {
        let mut stream = begun(version);
        events(&mut stream, [event(1, 1), event(2, 2)]);
        let end = stream.bytes.len() - 1;
        let outcome = read(&stream.bytes[..end]);
        assert_eq!((outcome.ticks(), outcome.is_complete), (at([1, 2]).to_vec(), false));
        assert_eq!((outcome.end_offset, outcome.damage()), (Some(end as u64), vec![]));
    }
    // Blocks that hold no events count in full, too.
    let mut stream = begun(Version::V4);
    events(&mut stream, [event(1, 1)]);
    point(&mut stream, 5, &[(11, 4)]);
    let end = stream.bytes.len() - 1;
    let outcome = read(&stream.bytes[..end]);
    assert_eq!((outcome.lost, outcome.is_complete, outcome.damage()), (3, false, vec![]));
    let mut stream = begun(Version::V4);
    stream.stack_block(&StackBlock::new(1, 8, &[[1], [2]]));
    let end = stream.bytes.len() - 1;
    let mut reader = Reader::from_slice(&stream.bytes[..end]);
    assert!(reader.next_event().unwrap().is_none());
    assert_eq!(reader.statistics().rows(BlockKind::Stack), 2);
    assert!(!reader.is_complete() && !reader.damage().is_damaged());
}

#[test]
fn t182_damage_in_one_block_leaves_all_others_as_they_are_and_its_offset_is_exact() {
    const BLOCKS: u32 = 4;
    const EVENTS: u32 = 3;
    for version in EACH {
        for broken in 0..BLOCKS {
            for broken_row in 0..EVENTS {
                let mut stream = begun(version);
                for block in 0..BLOCKS {
                    let blobs = (0..EVENTS).map(|nth| {
                        let number = block * EVENTS + nth + 1;
                        let is_wrong = (block, nth) == (broken, broken_row);
                        Blob {
                            payload_size: is_wrong.then_some(60_000),
                            ..event(number, u64::from(number))
                        }
                    });
                    events(&mut stream, blobs);
                    if version != Version::V3 {
                        stream.stack_block(&StackBlock::new(block + 1, 8, &[[u64::from(block)]]));
                    }
                }
                stream.end();
                let first = usize::from(version == Version::V3);
                let part = stream.nth(PartKind::Event, first + broken as usize);
                let row = part.rows[broken_row as usize].start as u64;
                let outcome = read(&stream.bytes);
                let fault = Fault::PayloadSize(60_000);
                assert_eq!(outcome.damage(), [(Class::RestOfBlockLost, row, fault)]);
                let finding = outcome.findings[0];
                assert_eq!(
                    (finding.block, finding.block_offset),
                    (Some(BlockKind::Event), part.start as u64)
                );
                assert_eq!(finding.lost_bytes, part.content.end as u64 - row);
                let lost = broken * EVENTS + broken_row + 1..(broken + 1) * EVENTS + 1;
                let expected = (1..=BLOCKS * EVENTS).filter(|number| !lost.contains(number));
                let expected: Vec<u64> = expected.map(|number| START + u64::from(number)).collect();
                assert_eq!(outcome.ticks(), expected);
                // The numbers tell of the lost events, if others follow.
                let known =
                    if version == Version::V3 || broken == BLOCKS - 1 { 0 } else { lost.len() };
                assert_eq!((outcome.lost, outcome.is_complete), (known as u64, true));
            }
        }
    }
}

#[test]
fn t183_after_a_lost_block_a_stack_block_that_starts_again_at_a_known_id_clears_the_stacks() {
    let broken = || EventBlock { header_size: Some(3), ..EventBlock::new([event(2, 2)]) };
    for version in V4_AND_V6 {
        for is_lost in [true, false] {
            let mut stream = begun(version);
            stream.stack_block(&StackBlock::new(1, 8, &[[0xa], [0xb]]));
            events(&mut stream, [Blob { stack_id: 2, ..event(1, 1) }]);
            if is_lost {
                stream.event_block(&broken());
            }
            stream.stack_block(&StackBlock::new(1, 8, &[[0xc]]));
            let again = stream.parts.last().unwrap().clone();
            events(
                &mut stream,
                [Blob { stack_id: 1, ..event(2, 3) }, Blob { stack_id: 2, ..event(3, 4) }],
            );
            stream.end();
            let outcome = read(&stream.bytes);
            let stacks: Vec<_> = outcome.events.iter().map(|event| &event.stack[..]).collect();
            let notes: Vec<_> =
                outcome.findings.iter().filter(|finding| finding.class == Class::Note).collect();
            if is_lost {
                // A sequence point may have been lost with the block, so the old stack 2 is not
                // used.
                assert_eq!(stacks, [&[0xb][..], &[0xc], &[]]);
                let seen: Vec<_> = notes.iter().map(|note| (note.offset, note.fault)).collect();
                assert_eq!(
                    seen,
                    [
                        (again.content.start as u64, Fault::StaleTable),
                        (outcome.events[2].offset, Fault::UndefinedStack(2)),
                    ]
                );
            } else {
                assert_eq!(stacks, [&[0xb][..], &[0xc], &[0xb]]);
                assert_eq!(
                    (notes[0].offset, notes[0].fault),
                    (again.rows[0].start as u64, Fault::Redefined(1))
                );
                assert_eq!(notes.len(), 1);
            }
        }
        // A block whose ids follow the known ones clears nothing.
        let mut stream = begun(version);
        stream.stack_block(&StackBlock::new(1, 8, &[[0xa], [0xb]]));
        stream.event_block(&broken());
        stream.stack_block(&StackBlock::new(3, 8, &[[0xc]]));
        events(
            &mut stream,
            [Blob { stack_id: 2, ..event(1, 3) }, Blob { stack_id: 3, ..event(2, 4) }],
        );
        stream.end();
        let outcome = read(&stream.bytes);
        let stacks: Vec<_> = outcome.events.iter().map(|event| event.stack[0]).collect();
        assert_eq!((stacks, outcome.findings.len()), (vec![0xb, 0xc], 1));
        // An event that waited keeps the stack it had.
        let mut stream = begun(version);
        stream.stack_block(&StackBlock::new(1, 8, &[[0xa]]));
        events(&mut stream, [Blob { stack_id: 1, ..event(1, 9) }]);
        stream.event_block(&broken());
        stream.stack_block(&StackBlock::new(1, 8, &[[0xc]]));
        events(&mut stream, [Blob { stack_id: 1, ..on(12, 1, 5) }]);
        stream.end();
        let outcome = ordered(&stream.bytes);
        let stacks: Vec<_> = outcome.events.iter().map(|event| event.stack[0]).collect();
        assert_eq!((outcome.ticks(), stacks), (at([5, 9]).to_vec(), vec![0xc, 0xa]));
    }
    // Label lists are treated alike.
    let mut stream = begun(Version::V6);
    stream.label_list_block(&LabelListBlock::new(
        1,
        vec![vec![Label::Level(1)], vec![Label::Level(2)]],
    ));
    stream.event_block(&broken());
    stream.label_list_block(&LabelListBlock::new(1, vec![vec![Label::Level(3)]]));
    events(&mut stream, [1, 2].map(|id| Blob { label_list_id: id, ..event(id, 3) }));
    stream.end();
    let outcome = read(&stream.bytes);
    let levels: Vec<_> = outcome.events.iter().map(|event| event.level).collect();
    assert_eq!(levels, [3, 4]);
    assert!(outcome.findings.iter().any(|finding| finding.fault == Fault::StaleTable));
}

#[test]
fn t184_notes_are_counted_by_kind_and_capped() {
    for version in V4_AND_V6 {
        let mut stream = begun(version);
        let with =
            |number, stack_id, metadata_id| Blob { stack_id, metadata_id, ..event(number, 1) };
        // Three in one block are a contradiction, and one is in version 6, unless blocks
        // were lost.
        if version == Version::V6 {
            stream.part(PartKind::Stack, Content::raw(vec![1, 0, 0]));
        }
        for number in (1..=200).step_by(2) {
            events(&mut stream, (number..number + 2).map(|number| with(number, 900 + number, 1)));
        }
        for number in (201..=210).step_by(2) {
            events(&mut stream, (number..number + 2).map(|number| with(number, 0, 900 + number)));
        }
        stream.end();
        let mut reader = Reader::from_slice(&stream.bytes);
        while reader.next_event().unwrap().is_some() {}
        let damage = reader.damage();
        // The first undefined type of each of the last five blocks is a contradiction.
        let sure = if version == Version::V6 { 0 } else { 5 };
        assert_eq!(damage.count(Class::Note), 210 - sure);
        let broken = if version == Version::V6 { 1 } else { 5 };
        let notes = 64 + 10 - sure as usize;
        assert_eq!((damage.notes().count(), damage.losses().count()), (notes, broken));
        assert!(damage.is_damaged());
        let of = |fault: fn(u32) -> Fault, ids: std::ops::RangeInclusive<u32>| {
            ids.map(fault).collect::<Vec<_>>()
        };
        let faults: Vec<_> = damage.notes().map(|finding| finding.fault).collect();
        assert_eq!(faults[..64], of(Fault::UndefinedStack, 901..=964));
        let mut types = of(Fault::UndefinedMetadata, 1101..=1110);
        let is_even = |fault: &Fault| matches!(fault, Fault::UndefinedMetadata(id) if id % 2 == 0);
        types.retain(|fault| sure == 0 || is_even(fault));
        assert_eq!(faults[64..], types);
        let notes: Vec<_> = damage.notes().collect();
        assert_eq!((damage.count_like(notes[0]), damage.count_like(notes[64])), (200, 10 - sure));
        assert_eq!(read(&stream.bytes).finding_counts[&Class::Note], 210 - sure);
    }
    // Losses beyond the limit of kept ones are counted, too. Everything readable is read, even
    // after a block without its end that follows more broken blocks than are kept.
    let mut stream = begun(Version::V4);
    for number in 1..=100 {
        let mut block = StackBlock::new(number, 8, &[[7], [8]]);
        block.stacks[1].size = Some(9999);
        stream.stack_block(&block);
        events(&mut stream, [Blob { stack_id: number, ..event(number, u64::from(number)) }]);
    }
    let mut block = StackBlock::new(200, 8, &[[7], [8]]);
    block.stacks[1].size = Some(9999);
    let object = Object::new(Version::V4, "StackBlock", block.content());
    stream.object(&Object { end_tag: None, ..object });
    events(&mut stream, [event(101, 101)]);
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(outcome.numbers(), (1..=101).collect::<Vec<_>>());
    assert_eq!(outcome.finding_counts[&Class::RestOfBlockLost], 101);
    assert_eq!(outcome.finding_counts[&Class::FramingLost], 1);
    assert_eq!(outcome.findings.len(), 64 + 1);
    assert!(outcome.is_complete);
    assert!(outcome.events[..100].iter().all(|event| event.stack == [7]));
}

#[test]
fn t185_a_stream_of_a_million_empty_metadata_definitions_stays_within_the_limits() {
    const COUNT: u32 = 1_100_000;
    const KNOWN: usize = 1 << 20;
    for (version, rows) in [(Version::V6, KNOWN), (Version::V4, 10_000)] {
        let mut stream = opened(version);
        if version == Version::V6 {
            stream.thread_block(&ThreadBlock::new(vec![ThreadRow::new(11, 1, 11)]));
            let mut content = Sink::new();
            content.u16(0);
            for id in 1..=COUNT {
                // No provider, no name, no fields; six to eight bytes.
                let mut row = Sink::new();
                row.varuint(u64::from(id)).raw(&[0, 0, 0]);
                content.u16(row.len() as u16).raw(row.as_slice());
            }
            stream.part(PartKind::Metadata, Content::raw(content.into_vec()));
        } else {
            let empty = Definition { ends_after_level: true, ..Definition::default() }.encode();
            let mut content = EventBlock::default().content(version).bytes;
            for id in 1..=COUNT {
                content.extend([flag::PAYLOAD_SIZE, 0, empty.len() as u8]);
                content.extend(id.to_le_bytes());
                content.extend(&empty[4..]);
            }
            stream.part(PartKind::Metadata, Content::raw(content));
        }
        let of = |id, number| Blob { metadata_id: id, ..event(number, u64::from(number)) };
        events(&mut stream, [of(1, 1), of(COUNT, 2), of(COUNT - rows as u32 / 2 + 1, 3)]);
        stream.end();
        let mut reader = Reader::with_limits(
            nettrace_parser::Whole::new(&stream.bytes),
            changed(|it: &mut Limits| it.table_rows = rows),
        );
        let mut known = vec![];
        let (_, usage) = usage(|| {
            while let Some(event) = reader.next_event().unwrap() {
                known.push(event.metadata().is_some());
            }
        });
        // The oldest are dropped, and at least half of the limit is kept.
        assert_eq!(known, [false, true, true]);
        let faults: Vec<_> =
            reader.damage().findings().iter().map(|finding| finding.fault).collect();
        assert!(
            faults.contains(&Fault::TableLimit) && faults.contains(&Fault::UndefinedMetadata(1))
        );
        assert_eq!(reader.statistics().rows(BlockKind::Metadata), u64::from(COUNT));
        assert!(!reader.damage().is_damaged() && reader.is_complete());
        // A row takes about 200 bytes, and a growing table exists twice for a moment.
        assert!(usage.peak < rows as u64 * 1024 + (10 << 20), "{usage:?}");
    }
}

#[test]
fn t186_a_stream_without_sequence_points_stays_within_the_limits() {
    const LIMIT: usize = 1 << 20;
    for version in V4_AND_V6 {
        let mut stream = begun(version);
        let frames = [0x42; 100];
        let mut first_id = 1;
        for number in 1..=100 {
            // 8 MB of stacks in all.
            let stacks: Vec<_> = (0..100).map(|_| frames).collect();
            stream.stack_block(&StackBlock::new(first_id, 8, &stacks));
            first_id += 100;
            let last = Blob { stack_id: first_id - 1, ..event(number * 2 - 1, u64::from(number)) };
            events(
                &mut stream,
                [last, Blob { stack_id: 1, ..event(number * 2, u64::from(number)) }],
            );
        }
        stream.end();
        let limits = changed(|it: &mut Limits| it.table_bytes = LIMIT);
        let mut reader =
            Reader::with_limits(nettrace_parser::Buffered::new(&stream.bytes[..]), limits);
        let mut seen = vec![];
        let (_, usage) = usage(|| {
            while let Some(event) = reader.next_event().unwrap() {
                seen.push(event.stack().len());
            }
        });
        // The newest stack is always there; the first one is gone at some time.
        assert!(seen.iter().step_by(2).all(|frames| *frames == 100));
        assert_eq!((seen[1], seen[199]), (100, 0));
        let faults: Vec<_> =
            reader.damage().findings().iter().map(|finding| finding.fault).collect();
        assert!(faults.contains(&Fault::TableLimit) && faults.contains(&Fault::UndefinedStack(1)));
        assert!(!reader.damage().is_damaged() && reader.is_complete());
        assert!(usage.peak < 4 * LIMIT as u64, "{usage:?}");
        // Labels, too.
        if version == Version::V6 {
            let mut stream = begun(version);
            for block in 0..50 {
                let list = vec![Label::Text("key".into(), "x".repeat(500))];
                stream.label_list_block(&LabelListBlock::new(block * 100 + 1, vec![list; 100]));
                events(
                    &mut stream,
                    [Blob { label_list_id: block * 100 + 100, ..event(block + 1, 1) }],
                );
            }
            stream.end();
            let outcome = read_within(&stream.bytes, limits);
            assert!(outcome.events.iter().all(|event| event.labels.len() == 1));
            assert!(outcome.findings.iter().all(|finding| finding.fault == Fault::TableLimit));
            assert!(!outcome.findings.is_empty());
        }
        // Events that nothing releases.
        let mut stream = begun(version);
        for block in 0..200_u32 {
            events(
                &mut stream,
                (1..=100).map(|nth| event(block * 100 + nth, u64::from(block * 100 + nth))),
            );
        }
        stream.end();
        let outcome =
            ordered_within(&stream.bytes, changed(|it: &mut Limits| it.queue_events = 500));
        assert_eq!(outcome.numbers(), (1..=20_000).collect::<Vec<_>>());
        assert_eq!(outcome.out_of_order, 0);
        assert!(outcome.findings.iter().all(|finding| finding.fault == Fault::QueueLimit));
        assert!(outcome.finding_counts[&Class::Note] >= 39, "{:?}", outcome.finding_counts);
        let (_, usage) =
            usage_of_order(&stream.bytes, changed(|it: &mut Limits| it.queue_events = 500));
        assert!(usage.peak < 1 << 20, "{usage:?}");
    }
    // The limits as they are: more events than may wait.
    let mut stream = begun(Version::V4);
    define(&mut stream, &[definition(2)]);
    let mut content = EventBlock::new([event(1, 1)]).content(Version::V4).bytes;
    // Each takes two bytes and a payload of four: flags, a delta of one.
    content.extend([0, 1, 0, 0, 0, 0].repeat(1_200_000));
    stream.part(PartKind::Event, Content::raw(content));
    stream.end();
    let (events, usage) = usage_of_order(&stream.bytes, Limits::default());
    assert_eq!(events, (1_200_001, 1));
    assert!(usage.peak < 300 << 20, "{usage:?}");
}

/// Reads a stream in time order. Returns the numbers of its events and notes, and what reading
/// allocated.
fn usage_of_order(bytes: &[u8], limits: Limits) -> ((u64, u64), crate::allocation::Usage) {
    let mut in_time =
        Reader::with_limits(nettrace_parser::Whole::new(bytes), limits).time_ordered();
    let (events, usage) = usage(|| {
        let mut events = 0;
        while in_time.next_event().unwrap().is_some() {
            events += 1;
        }
        events
    });
    ((events, in_time.reader().damage().count(Class::Note)), usage)
}
