//! Tests that the memory for a hostile stream is bounded by limits, not by numbers in the stream.

use crate::allocation::usage;
use nettrace_parser::{Buffered, Fault, Limits, Reader, Schema, Whole};
use nettrace_testdata::changed;
use nettrace_testdata::synth::{
    Blob, Definition, EventBlock, Field, FieldType, MetadataBlock, MetadataRow, Stream, Tag,
    ThreadBlock, ThreadEntry, ThreadRow, Trace, Version,
};

/// Maximum number of fields of a description.
const FIELDS: usize = 1024;

fn opened(version: Version) -> Stream {
    let mut stream = Stream::new(version);
    stream.trace(&Trace::default());
    stream
}

/// Returns an event of type 1 on thread `thread`.
fn event(thread: u64, number: u32) -> Blob {
    Blob {
        metadata_id: 1,
        sequence_number: number,
        thread_id: thread,
        capture_thread_id: thread,
        ticks: 1_000_000,
        ..Blob::default()
    }
}

/// Reads a stream with this one definition. Returns the schema of the type and the memory it took.
fn described(version: Version, definition: &Definition) -> (Schema, u64, usize) {
    let mut stream = opened(version);
    stream.metadata_blobs(&EventBlock::new([Blob::definition(7, 1_000_000, definition.encode())]));
    stream.event_block(&EventBlock::new([event(7, 1)])).end();
    let mut reader = Reader::from_slice(&stream.bytes);
    let (schema, usage) = usage(|| {
        let event = reader.next_event().unwrap().expect("the event is delivered");
        event.metadata().expect("its type is known").schema.clone()
    });
    assert!(reader.next_event().unwrap().is_none() && reader.is_complete());
    (schema, usage.peak, stream.bytes.len())
}

#[test]
fn a_field_list_beyond_the_limit_makes_the_event_opaque_from_there_on() {
    let nameless = |count: usize| vec![Field::new("", FieldType::Byte); count];
    for version in [Version::V4, Version::V5] {
        for (count, is_whole) in [(FIELDS, true), (FIELDS + 1, false), (4 * FIELDS, false)] {
            let fields = nameless(count);
            let definition = match version {
                Version::V4 => Definition { metadata_id: 1, fields, ..Definition::default() },
                _ => Definition {
                    metadata_id: 1,
                    tags: vec![Tag::v2_params(&fields)],
                    ..Definition::default()
                },
            };
            let (schema, peak, _) = described(version, &definition);
            assert_eq!(schema.fields.len(), FIELDS.min(count));
            assert_eq!(schema.opaque, (!is_whole).then_some(Fault::FieldLimit));
            // Enough for two growing vectors, the schema and its copy here, and independent of
            // `count`.
            assert!(peak < 48 << 20, "{count} fields: {peak} bytes");
        }
        // The limit includes fields of objects.
        let object = Field::new("o", FieldType::Object(nameless(FIELDS)));
        let fields = vec![Field::new("first", FieldType::Byte), object];
        let definition = Definition { metadata_id: 1, fields, ..Definition::default() };
        let (schema, _, _) = described(Version::V4, &definition);
        assert_eq!((schema.fields.len(), schema.opaque), (1, Some(Fault::FieldLimit)));
    }
}

#[test]
fn event_types_are_bounded_in_bytes() {
    const LIMIT: usize = 1 << 20;
    const COUNT: u32 = 400;
    for version in [Version::V4, Version::V5, Version::V6] {
        let mut stream = opened(version);
        if version == Version::V6 {
            stream.thread_block(&ThreadBlock::new(vec![ThreadRow::new(7, 1, 7)]));
        }
        // 8 MB of names and fields in total.
        for id in 1..=COUNT {
            let name = format!("{id}{}", "x".repeat(10_000));
            let fields = vec![Field::new("field", FieldType::Byte); 100];
            if version == Version::V6 {
                let row = MetadataRow {
                    metadata_id: id,
                    provider: "P".into(),
                    name,
                    fields,
                    ..MetadataRow::default()
                };
                stream.metadata_rows(&MetadataBlock::new(vec![row]));
            } else {
                let definition = Definition {
                    metadata_id: id,
                    provider: "P".into(),
                    name,
                    fields,
                    ..Definition::default()
                };
                stream.metadata_blobs(&EventBlock::new([Blob::definition(
                    7,
                    1_000_000,
                    definition.encode(),
                )]));
            }
        }
        let of = |id, number| Blob { metadata_id: id, ..event(7, number) };
        stream.event_block(&EventBlock::new([of(1, 1), of(COUNT, 2)])).end();
        let mut reader = Reader::with_limits(
            Whole::new(&stream.bytes),
            changed(|it: &mut Limits| it.table_bytes = LIMIT),
        );
        let mut known = Vec::new();
        let (_, usage) = usage(|| {
            while let Some(event) = reader.next_event().unwrap() {
                known.push(event.metadata().is_some());
            }
        });
        assert_eq!(known, [false, true], "{version:?}");
        assert!(
            reader.damage().findings().iter().any(|finding| finding.fault == Fault::TableLimit)
        );
        assert!(usage.peak < 2 * LIMIT as u64, "{version:?}: {usage:?}");
        // All types within the limit are known.
        let mut reader = Reader::from_slice(&stream.bytes);
        assert!(reader.next_event().unwrap().is_some_and(|event| event.metadata().is_some()));
    }
}

#[test]
fn threads_are_bounded_in_bytes() {
    const LIMIT: usize = 1 << 20;
    let mut stream = opened(Version::V6);
    for index in 1..=400 {
        let mut row = ThreadRow::new(index, 1, index);
        row.entries.push(ThreadEntry::Name("x".repeat(20_000)));
        stream.thread_block(&ThreadBlock::new(vec![row]));
    }
    stream.event_block(&EventBlock::new([event(1, 1), event(400, 1)])).end();
    let mut reader = Reader::with_limits(
        Whole::new(&stream.bytes),
        changed(|it: &mut Limits| it.table_bytes = LIMIT),
    );
    let mut known = Vec::new();
    let (_, usage) = usage(|| {
        while let Some(event) = reader.next_event().unwrap() {
            known.push(event.thread().is_some());
        }
    });
    assert_eq!(known, [false, true]);
    assert!(usage.peak < 2 * LIMIT as u64, "{usage:?}");
}

#[test]
fn threads_that_only_events_name_do_not_make_the_count_of_losses_grow() {
    const ROWS: usize = 1000;
    for version in [Version::V4, Version::V6] {
        let mut stream = opened(version);
        for block in 0..100u64 {
            let threads = 1000 * block..1000 * (block + 1);
            stream.event_block(&EventBlock::new(threads.map(|thread| event(thread, 3))));
        }
        stream.end();
        for in_order in [false, true] {
            let limits = changed(|it: &mut Limits| (it.table_rows, it.queue_events) = (ROWS, ROWS));
            let reader = Reader::with_limits(Buffered::new(&stream.bytes[..]), limits);
            let (count, usage) = usage(|| {
                let mut count = 0;
                if in_order {
                    let mut reader = reader.time_ordered();
                    while reader.next_event().unwrap().is_some() {
                        count += 1;
                    }
                } else {
                    let mut reader = reader;
                    while reader.next_event().unwrap().is_some() {
                        count += 1;
                    }
                    assert!(reader.losses().by_thread().len() <= ROWS);
                }
                count
            });
            assert_eq!(count, 100_000);
            // A hundred thousand states would be 4 MB.
            assert!(usage.peak < 2 << 20, "{version:?}, {in_order}: {usage:?}");
        }
    }
}

#[test]
fn an_event_that_waits_does_not_hold_a_stream_that_goes_on_without_events() {
    const LIMIT: u64 = 256 * 1024;
    for version in [Version::V4, Version::V6] {
        let mut stream = opened(version);
        stream.event_block(&EventBlock::new([event(7, 1)]));
        for id in 0..2000u32 {
            // 20 MB of definitions of one type, each of which replaces the previous one.
            let name = "x".repeat(5_000);
            if version == Version::V6 {
                let row = MetadataRow { metadata_id: 1 + id % 2, name, ..MetadataRow::default() };
                stream.metadata_rows(&MetadataBlock::new(vec![row]));
            } else {
                let definition =
                    Definition { metadata_id: 1 + id % 2, name, ..Definition::default() };
                stream.metadata_blobs(&EventBlock::new([Blob::definition(
                    7,
                    1_000_000,
                    definition.encode(),
                )]));
            }
        }
        stream.event_block(&EventBlock::new([event(7, 2)])).end();
        let limits = changed(|it: &mut Limits| it.queue_bytes = LIMIT);
        let mut reader =
            Reader::with_limits(Buffered::new(&stream.bytes[..]), limits).time_ordered();
        let (numbers, usage) = usage(|| {
            let mut numbers = Vec::new();
            while let Some(event) = reader.next_event().unwrap() {
                numbers.push(event.sequence_number());
            }
            numbers
        });
        assert_eq!((numbers, reader.reader().is_complete()), (vec![1, 2], true));
        assert!(
            reader
                .reader()
                .damage()
                .findings()
                .iter()
                .any(|finding| finding.fault == Fault::QueueLimit)
        );
        assert!(usage.peak < 4 * LIMIT, "{version:?}: {usage:?}");
    }
}
