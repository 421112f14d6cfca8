//! Tests that the functions of `raw` find the rows that a reader finds.

use crate::invariants::rows::{all, assert_raw_rows_are_the_readers, blobs, blocks, is_whole};
use nettrace_parser::raw;
use nettrace_parser::{BlockKind, Field, FieldType, Reader, Version as Read};
use nettrace_testdata::synth::{
    Blob, EventBlock, PartKind, Session, Stream, Trace, Version, malformed, strategy,
};
use nettrace_testdata::{cases, corpus};
use nom::Parser;
use nom::combinator::map_parser;
use nom::multi::{count, many0};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::TestRunner;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Maximum size of a real trace that is read here, in compressed bytes.
const LARGEST: u64 = 1 << 20;

#[test]
fn raw_rows_of_real_traces_are_those_that_a_reader_gives() {
    let mut traces = 0;
    for trace in corpus::traces() {
        if std::fs::metadata(trace.path()).is_ok_and(|file| file.len() <= LARGEST) {
            let bytes = trace.bytes();
            let agreed = assert_raw_rows_are_the_readers(&bytes);
            assert!(agreed.rows > 0 && agreed.refused == 0, "{}: {agreed:?}", trace.name());
            traces += 1;
        }
    }
    assert!(traces > 10, "{traces} traces");
}

#[test]
fn raw_rows_of_malformed_streams_are_those_that_a_reader_gives_and_refused_where_and_why_it_refuses_them()
 {
    let (mut rows, mut refused) = (0, 0);
    for (name, bytes) in malformed() {
        let agreed = std::panic::catch_unwind(|| assert_raw_rows_are_the_readers(&bytes));
        let agreed = agreed.unwrap_or_else(|_| panic!("{name}"));
        rows += agreed.rows;
        refused += agreed.refused;
    }
    assert!(rows > 300 && refused > 20, "{rows} rows, {refused} refused");
}

#[test]
fn what_contradicts_other_rows_is_given_by_a_reader_with_its_damage_and_by_raw() {
    let rows = (1..=4).map(|number| Blob {
        sequence_number: number,
        ticks: if number == 2 { 9 } else { 1 },
        ..Blob::default()
    });
    let mut stream = Stream::new(Version::V4);
    stream.trace(&Trace::default());
    stream.event_block(&EventBlock { max_ticks: Some(5), ..EventBlock::new(rows) });
    stream.end();
    let mut reader = Reader::from_slice(&stream.bytes);
    reader.for_each(|_| {}).unwrap();
    assert_eq!((reader.statistics().events, reader.damage().loss_count()), (4, 1));
    let (version, blocks, _) = blocks(&stream.bytes).unwrap();
    let block = blocks.iter().find(|block| block.kind == BlockKind::Event).unwrap();
    let (blobs, refused) = blobs(version, block.content, block.span.start);
    assert_eq!((blobs.len(), refused), (4, None));
}

fn sessions() -> impl Strategy<Value = Session> {
    proptest::sample::select(Version::ALL.to_vec())
        .prop_flat_map(|version| strategy::sessions(version, 40))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(48)))]

    #[test]
    fn raw_rows_of_any_session_are_those_that_a_reader_gives(session in sessions()) {
        let recording = session.record();
        let bytes = &recording.stream.bytes;
        prop_assert!(is_whole(bytes));
        let agreed = assert_raw_rows_are_the_readers(bytes);
        prop_assert_eq!((agreed.rows, agreed.refused), (recording.events.len(), 0));
        assert_other_rows_are_the_readers(bytes);
    }
}

/// Overwrites bytes in event blocks, so that the framing stays intact.
#[test]
fn raw_rows_of_damaged_blocks_are_those_that_a_reader_gives_and_refused_where_and_why_it_refuses_them()
 {
    let changes = prop::collection::vec((any::<Index>(), any::<u8>(), 1_usize..6), 1..4);
    let (rows, refused) = (Cell::new(0), Cell::new(0));
    let mut runner = TestRunner::new(ProptestConfig::with_cases(cases(192)));
    runner
        .run(&(sessions(), changes), |(session, changes)| {
            let mut stream = session.record().stream;
            let blocks = stream.parts.iter().filter(|part| part.kind == PartKind::Event);
            let places: Vec<usize> = blocks.flat_map(|part| part.content.clone()).collect();
            for (at, value, count) in changes.into_iter().filter(|_| !places.is_empty()) {
                let at = at.index(places.len());
                for (step, place) in places[at..].iter().take(count).enumerate() {
                    stream.bytes[*place] = value.rotate_left(step as u32);
                }
            }
            let agreed = assert_raw_rows_are_the_readers(&stream.bytes);
            rows.set(rows.get() + agreed.rows);
            refused.set(refused.get() + agreed.refused);
            Ok(())
        })
        .unwrap();
    assert!(
        rows.get() > 500 && refused.get() > 25,
        "{} rows, {} refused",
        rows.get(),
        refused.get()
    );
}

/// Reads the rows of all other blocks of an undamaged stream. Compares their number by kind, and
/// the descriptions of event types, with the reader's.
fn assert_other_rows_are_the_readers(bytes: &[u8]) {
    let mut reader = Reader::from_slice(bytes);
    while reader.next_event().unwrap().is_some() {}
    let (version, blocks, is_ended) = blocks(bytes).unwrap();
    assert!(is_ended && reader.is_complete());
    let mut counts: BTreeMap<BlockKind, u64> = BTreeMap::new();
    let mut described = BTreeMap::new();
    for block in &blocks {
        let content = block.content;
        let rows = match (block.kind, version) {
            (BlockKind::Event, Read::V3) => {
                let blobs = blobs(version, content, 0).0.into_iter().map(|(_, blob)| blob);
                let payloads: Vec<&[u8]> = blobs
                    .filter(|blob| blob.header.metadata_id == 0)
                    .map(|blob| blob.payload())
                    .collect();
                described.extend(payloads.iter().map(|payload| described_v5(payload)));
                *counts.entry(BlockKind::Metadata).or_default() += payloads.len() as u64;
                continue;
            }
            (BlockKind::Metadata, Read::V4) => {
                let (blobs, refused) = blobs(version, content, 0);
                assert_eq!(refused, None);
                described.extend(blobs.iter().map(|(_, blob)| described_v5(blob.payload())));
                blobs.len()
            }
            (BlockKind::Metadata, _) => {
                let (rows, ()) = raw::metadata_block_header_v6(content).unwrap();
                let rows = all(raw::sized_row, rows);
                described.extend(rows.iter().map(|row| described_v6(row)));
                rows.len()
            }
            (BlockKind::Stack, _) => {
                let (rows, (_, count)) = raw::id_range(content).unwrap();
                let rows = all(raw::stack_row, rows);
                assert_eq!(count as usize, rows.len());
                rows.len()
            }
            (BlockKind::LabelList, _) => {
                let (rows, (_, count)) = raw::id_range(content).unwrap();
                let lists = all(raw::label_list, rows);
                assert_eq!(count as usize, lists.len());
                lists.len()
            }
            (BlockKind::Thread, _) => {
                let rows = all(raw::sized_row, content);
                for row in &rows {
                    drop(all(raw::thread_entry, raw::varuint64(row).unwrap().0));
                }
                rows.len()
            }
            (BlockKind::RemoveThread, _) => all(raw::sequence_entry_v6, content).len(),
            (BlockKind::SequencePoint, Read::V4) => {
                let (rows, point) = raw::sequence_point_v4(content).unwrap();
                // What is after them is skipped.
                let mut entries = count(raw::sequence_entry_v4, point.thread_count as usize);
                entries.parse(rows).unwrap().1.len()
            }
            (BlockKind::SequencePoint, _) => {
                let (rows, point) = raw::sequence_point_v6(content).unwrap();
                // What is after them is skipped.
                let mut entries = count(raw::sequence_entry_v6, point.thread_count as usize);
                entries.parse(rows).unwrap().1.len()
            }
            (BlockKind::Trace, Read::V6 { .. }) => {
                assert_eq!(&raw::trace_block_v6(content).unwrap().1, reader.trace().unwrap());
                continue;
            }
            (BlockKind::Trace, _) => {
                assert_eq!(&raw::trace_object(content).unwrap().1, reader.trace().unwrap());
                continue;
            }
            _ => continue,
        };
        *counts.entry(block.kind).or_default() += rows as u64;
    }
    for kind in BlockKind::all().filter(|kind| *kind != BlockKind::Event) {
        assert_eq!(
            counts.get(&kind).copied().unwrap_or(0),
            reader.statistics().rows(kind),
            "{kind}"
        );
    }
    for of_reader in reader.event_types() {
        let text = format!(
            "{}/{}/{} {:x} v{} l{} {:?} {}",
            of_reader.provider,
            of_reader.event_id,
            of_reader.name,
            of_reader.keywords,
            of_reader.version,
            of_reader.level,
            of_reader.opcode,
            fields_text(&of_reader.schema.fields),
        );
        assert_eq!(described.get(&of_reader.id), Some(&text));
    }
}

fn described_v5(payload: &[u8]) -> (u32, String) {
    let (rest, read) = raw::metadata_payload(payload).unwrap();
    let (mut opcode, mut fields) = (None, Vec::new());
    if !rest.is_empty() {
        let (tags, list) = raw::field_list_v1(rest).unwrap();
        fields = list;
        for tag in all(raw::metadata_tag, tags) {
            match tag.kind {
                1 => opcode = tag.payload.first().copied(),
                2 => {
                    fields = raw::field_list_v2(tag.payload).unwrap().1;
                }
                _ => {}
            }
        }
    }
    let raw::MetadataPayload { id, provider, event_id, name, keywords, version, level, .. } = read;
    let text = format!("{provider}/{event_id}/{name} {keywords:x} v{version} l{level} {opcode:?}");
    (id, format!("{text} {}", fields_text(&fields)))
}

fn described_v6(row: &[u8]) -> (u32, String) {
    let (rest, begin) = raw::metadata_row_v6(row).unwrap();
    let (rest, fields) = raw::field_list_v6(rest).unwrap();
    let mut optional = map_parser(raw::sized_row, many0(raw::optional_metadata));
    let (mut keywords, mut version, mut level, mut opcode) = (0, 0, 0, None);
    for entry in optional.parse(rest).unwrap().1 {
        match entry {
            raw::OptionalMetadata::Keywords(value) => keywords = value,
            raw::OptionalMetadata::Version(value) => version = value,
            raw::OptionalMetadata::Level(value) => level = value,
            raw::OptionalMetadata::Opcode(value) => opcode = Some(value),
            _ => {}
        }
    }
    let text = |bytes| String::from_utf8_lossy(bytes);
    let (provider, name) = (text(begin.provider), text(begin.name));
    let said =
        format!("{provider}/{}/{name} {keywords:x} v{version} l{level} {opcode:?}", begin.event_id);
    (begin.id, format!("{said} {}", fields_text(&fields)))
}

/// Returns names and types as text, without offsets that a reader computes.
fn fields_text(fields: &[Field]) -> String {
    let mut text = String::new();
    for field in fields {
        match &field.kind {
            FieldType::Object(members) => {
                write!(text, "{}{{{}}} ", field.name, fields_text(members))
            }
            kind => write!(text, "{}:{kind:?} ", field.name),
        }
        .unwrap();
    }
    text
}
