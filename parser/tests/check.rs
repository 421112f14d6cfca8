//! Tests that a check finds each broken rule at its place, names an existing section, and finds
//! nothing in the streams of runtimes.

#[path = "spec/streams.rs"]
#[allow(dead_code)]
mod streams;

use nettrace_parser::check::{Findings, Severity};
use nettrace_parser::{BlockKind, Reader};
use nettrace_testdata::corpus;
use nettrace_testdata::synth::{self, *};
use streams::{START, V4_AND_V6, begun, events, on, point, sorted};

const FORMAT: &str = include_str!("../FORMAT.md");

fn check(bytes: &[u8]) -> Findings {
    Findings::read(&mut Reader::from_slice(bytes)).expect("the header can be read")
}

fn counts(findings: &Findings) -> Vec<(&'static str, u64)> {
    findings.counts().collect()
}

#[test]
fn complete_traces_of_runtimes_keep_to_the_format() {
    for trace in corpus::traces() {
        let findings = check(&trace.bytes());
        let found = counts(&findings);
        if trace.name().contains("killed") {
            let cut: Vec<_> =
                found.into_iter().filter(|(kind, _)| *kind != "events_lost").collect();
            assert_eq!(cut, [("truncated", 1)], "{}", trace.name());
        } else if trace.name().contains("lossy") || trace.name().starts_with("tiny") {
            assert!(matches!(found[..], [("events_lost", _)]), "{}: {found:?}", trace.name());
        } else {
            assert!(
                findings.counts().next().is_none(),
                "{}: {:?}",
                trace.name(),
                findings.violations().first()
            );
        }
        assert!(findings.events() > 0);
    }
}

#[test]
fn every_finding_of_every_malformed_stream_cites_a_section_that_is_there() {
    let mut sections = std::collections::BTreeSet::new();
    for (name, bytes) in synth::malformed() {
        let Ok(findings) = Findings::read(&mut Reader::from_slice(&bytes)) else { continue };
        for violation in findings.violations() {
            let section = violation.section;
            let is_there = FORMAT.lines().filter_map(|line| line.strip_prefix("##")).any(|title| {
                title.trim_start_matches('#').trim_start().starts_with(&format!("{section} "))
            });
            assert!(is_there, "{name}: {violation}");
            assert!(violation.offset <= bytes.len() as u64, "{name}: {violation}");
            sections.insert(section);
        }
    }
    assert!(sections.len() > 20, "{sections:?}");
}

#[test]
fn a_stream_is_damaged_for_a_check_exactly_if_it_is_for_its_reader() {
    for (name, bytes) in synth::malformed() {
        let mut reader = Reader::from_slice(&bytes);
        let Ok(findings) = Findings::read(&mut reader) else { continue };
        let is_damaged = reader.damage().is_damaged() || !reader.is_complete();
        assert_eq!(findings.is_damaged(), is_damaged, "{name}: {:?}", findings.violations());
    }
}

#[test]
fn an_event_older_than_its_threads_last_is_found() {
    for version in V4_AND_V6 {
        let mut stream = begun(version);
        events(&mut stream, [on(11, 1, 8), on(12, 1, 3), on(11, 2, 7)]);
        stream.end();
        let findings = check(&stream.bytes);
        // In version 4 the reader itself reports this fault.
        let told = if version == Version::V4 { ("time_falls", 1) } else { ("thread_time", 1) };
        assert_eq!(counts(&findings), [told]);
        if version == Version::V4 {
            assert!(findings.is_damaged());
            continue;
        }
        let violation = &findings.violations()[0];
        assert_eq!((violation.section, violation.severity), ("11", Severity::Note));
        assert_eq!(violation.block, Some(BlockKind::Event));
        assert!(violation.message.contains("thread 11"), "{violation}");
    }
}

#[test]
fn an_event_older_than_a_sorted_one_is_found() {
    for version in V4_AND_V6 {
        let mut stream = begun(version);
        events(&mut stream, [sorted(on(11, 1, 8)), on(12, 1, 3)]);
        stream.end();
        assert_eq!(counts(&check(&stream.bytes)), [("sorted_time", 1)]);
    }
}

#[test]
fn events_on_the_wrong_side_of_a_sequence_point_and_points_that_fall_are_found() {
    for version in V4_AND_V6 {
        let mut stream = begun(version);
        events(&mut stream, [on(11, 1, 12)]);
        point(&mut stream, 10, &[(11, 1)]);
        stream.end();
        let findings = check(&stream.bytes);
        assert_eq!(counts(&findings), [("sequence_point_time", 1)]);
        assert_eq!(findings.violations()[0].block, Some(BlockKind::SequencePoint));

        let mut stream = begun(version);
        point(&mut stream, 10, &[]);
        events(&mut stream, [on(11, 1, 9)]);
        stream.end();
        assert_eq!(counts(&check(&stream.bytes)), [("sequence_point_time", 1)]);

        let mut stream = begun(version);
        point(&mut stream, 10, &[]);
        point(&mut stream, 9, &[]);
        stream.end();
        assert_eq!(counts(&check(&stream.bytes)), [("sequence_point_time", 1)]);
    }
}

#[test]
fn events_outside_the_times_of_their_blocks_header_are_found_unless_these_are_zero() {
    for version in V4_AND_V6 {
        for (times, expected) in
            [((START + 2, START + 5), 1), ((0, 0), 0), ((START + 1, START + 5), 0)]
        {
            let mut stream = begun(version);
            let block = EventBlock::new([on(11, 1, 1), on(11, 2, 5)]);
            stream.event_block(&EventBlock {
                min_ticks: Some(times.0),
                max_ticks: Some(times.1),
                ..block
            });
            stream.end();
            let findings = check(&stream.bytes);
            let found: u64 = findings.counts().map(|(_, count)| count).sum();
            assert_eq!(found, expected, "{:?}", findings.violations());
        }
    }
}

#[test]
fn payloads_are_held_against_their_fields() {
    for version in V4_AND_V6 {
        let mut stream = begun(version);
        let short = Blob { payload: vec![1, 2], ..on(11, 1, 1) };
        let long = Blob { payload: vec![1, 0, 0, 0, 9], ..on(11, 2, 2) };
        let empty = Blob { payload: vec![], ..on(11, 3, 3) };
        events(&mut stream, [short, long, empty]);
        stream.end();
        let findings = check(&stream.bytes);
        assert_eq!(counts(&findings), [("payload_field", 1), ("payload_surplus", 1)]);
        let surplus = &findings.violations()[1];
        assert_eq!(stream.bytes[usize::try_from(surplus.offset).expect("small")], 9);
        assert!(!findings.is_damaged());
    }
}

#[test]
fn of_one_kind_64_are_kept_and_all_are_counted() {
    let mut stream = begun(Version::V4);
    events(&mut stream, (1..=200).map(|n| on(11, n, 1000 - u64::from(n))));
    stream.end();
    let findings = check(&stream.bytes);
    assert_eq!(counts(&findings), [("thread_time", 199)]);
    assert_eq!(findings.violations().len(), 64);

    let mut stream = begun(Version::V4);
    events(
        &mut stream,
        (1..=200).map(|n| Blob { metadata_id: 100 + n, ..on(11, n, u64::from(n)) }),
    );
    stream.end();
    assert_eq!(counts(&check(&stream.bytes)), [("undefined_metadata", 200)]);
}
