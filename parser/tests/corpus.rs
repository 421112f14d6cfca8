//! Compares the events of every real trace with the events that the reference reader found.
//!
//! The lists of the reference reader lie in the folder that `NETTRACE_SHARED` names. Without the
//! folder the events are only counted.

use nettrace_parser::{Event, Reader, Version};
use nettrace_testdata::corpus::{self, GoldenEvent, TraceFile};
use nettrace_testdata::crc32;
use std::collections::BTreeSet;

const RUNTIME: &str = "Microsoft-Windows-DotNETRuntime";
const RUNDOWN: &str = "Microsoft-Windows-DotNETRuntimeRundown";

/// Losses of a trace, and whether its end is missing because the process was killed.
struct Known {
    events: Option<usize>,
    lost: u64,
    is_killed: bool,
}

fn known(name: &str) -> Known {
    let complete = |lost| Known { events: None, lost, is_killed: false };
    let killed = |events, lost| Known { events: Some(events), lost, is_killed: true };
    match name {
        "net10-linux-x64/killed-1.nettrace" => killed(19_042, 0),
        "net10-linux-x64/killed-2.nettrace" => killed(19_944, 3_018),
        "net3.1-linux-x64/killed-1.nettrace" => killed(3_496, 0),
        "net3.1-linux-x64/killed-2.nettrace" => killed(4_198, 0),
        "net11-linux-x64/killed-1.nettrace" => killed(12_884, 0),
        "net10-linux-x64/lossy.nettrace" => complete(19_785),
        "net11-linux-x64/lossy.nettrace" => complete(7_369),
        "net3.1-linux-x64/lossy.nettrace" => complete(15_093),
        "tiny-v4.nettrace" | "tiny-v6.nettrace" => complete(1),
        _ => complete(0),
    }
}

/// Returns the columns of an event. Columns that the reference reader makes up are empty.
fn row(event: &Event<'_>, is_v3: bool) -> GoldenEvent {
    let metadata = event.metadata().expect("every real event is typed");
    // In version 3 the reference reader reads related activities from a wrong place. The traces
    // have none.
    assert!(!is_v3 || event.related_activity_id().is_none());
    let shows_stack = shows_stack(event.provider(), event.id());
    let stack = if shows_stack { event.stack().bytes() } else { &[] };
    let is_native = metadata.name.is_empty();
    let implied = if is_native { 0 } else { event.implied_opcode() };
    GoldenEvent {
        ticks: event.timestamp_ticks(),
        thread_id: event.thread_id().map_or(-1, |id| id as i64),
        process_id: 0,
        processor: 0,
        provider: event.provider().to_owned(),
        event_id: renumbered(event),
        version: event.version(),
        level: metadata.level,
        keywords: metadata.keywords,
        opcode: u32::from(event.opcode().unwrap_or(implied)),
        activity_id: event.activity_id().map(|id| id.to_bytes()),
        related_activity_id: event.related_activity_id().map(|id| id.to_bytes()),
        payload_bytes: event.payload().len() as u64,
        payload_crc32: crc32(event.payload()),
        frame_count: if shows_stack { event.stack().len() as u64 } else { 0 },
        stack_crc32: crc32(stack),
        name: String::new(),
    }
}

/// Returns whether the reference reader shows the stack of an event. It shows none for rundown
/// events and for a few runtime events.
fn shows_stack(provider: &str, id: u32) -> bool {
    provider != RUNDOWN && !(provider == RUNTIME && matches!(id, 140..=144 | 190))
}

/// Returns the id that the reference reader gives the event. It numbers event 39 of the
/// runtime by the name in its payload.
fn renumbered(event: &Event<'_>) -> u32 {
    let is_dynamic = event.provider() == RUNTIME && event.id() == 39;
    let name: Vec<u8> = "CommittedUsage\0".encode_utf16().flat_map(u16::to_le_bytes).collect();
    if is_dynamic && event.payload().starts_with(&name) { 65_524 } else { event.id() }
}

/// Returns the events of a golden with the columns of [`row`].
fn comparable(golden: Vec<GoldenEvent>, is_v3: bool) -> Vec<GoldenEvent> {
    let mut rows: Vec<GoldenEvent> = golden
        .into_iter()
        .map(|event| GoldenEvent {
            process_id: 0,
            processor: 0,
            name: String::new(),
            related_activity_id: event.related_activity_id.filter(|_| !is_v3),
            ..event
        })
        .collect();
    rows.sort_unstable();
    rows
}

/// Returns the events of `of` that are missing in `from`, each as often as it is missing. Both
/// lists are sorted.
fn missing<'e>(from: &[GoldenEvent], of: &'e [GoldenEvent]) -> Vec<&'e GoldenEvent> {
    let mut at = 0;
    let mut missing = Vec::new();
    for event in of {
        while from.get(at).is_some_and(|other| other < event) {
            at += 1;
        }
        if from.get(at) == Some(event) {
            at += 1;
        } else {
            missing.push(event);
        }
    }
    missing
}

/// Reads a trace and makes the checks that need no golden.
fn read(trace: &TraceFile) -> (Vec<GoldenEvent>, bool) {
    let name = trace.name();
    let bytes = trace.bytes();
    let known = known(name);
    let mut reader = Reader::from_slice(&bytes);
    reader.trace().unwrap();
    let is_v3 = reader.version() == Some(Version::V3);
    let mut rows = Vec::new();
    while let Some(event) = reader.next_event().unwrap() {
        rows.push(row(&event, is_v3));
    }
    rows.sort_unstable();
    assert_eq!(reader.losses().total(), known.lost, "{name}");
    assert_eq!(reader.losses().restarts(), 0, "{name}");
    assert_eq!(reader.is_complete(), !known.is_killed, "{name}");
    assert_eq!(reader.end_offset(), Some(bytes.len() as u64), "{name}");
    assert!(!known.is_killed || known.events == Some(rows.len()), "{name}: {} events", rows.len());
    // The only damage of a real trace is a row that was cut off when the process was killed.
    let findings = reader.damage().findings();
    assert!(
        findings.iter().all(|finding| known.is_killed && finding.lost_bytes > 0),
        "{name}: {findings:?}"
    );
    (rows, is_v3)
}

#[test]
fn each_difference_to_the_reference_reader_is_met() {
    let (mut hidden_stacks, mut renumbered_events, mut implied_opcodes, mut native) = (0, 0, 0, 0);
    for trace in corpus::traces() {
        let bytes = trace.bytes();
        let mut reader = Reader::from_slice(&bytes);
        while let Some(event) = reader.next_event().unwrap() {
            hidden_stacks +=
                u32::from(!shows_stack(event.provider(), event.id()) && !event.stack().is_empty());
            renumbered_events += u32::from(renumbered(&event) != event.id());
            implied_opcodes += u32::from(event.opcode().is_none() && event.implied_opcode() != 0);
            native += u32::from(event.name().is_empty() && event.provider() == RUNTIME);
        }
    }
    let met = [hidden_stacks, renumbered_events, implied_opcodes, native];
    assert!(met.iter().all(|count| *count > 0), "{met:?}");
}

mod with_shared {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn every_real_trace_equals_what_the_reference_reader_saw_in_it() {
        let mut compared = BTreeSet::new();
        for trace in corpus::traces_with_goldens() {
            let name = trace.name().to_owned();
            let golden = corpus::golden_events(&name);
            let (rows, is_v3) = read(&trace);
            let lost = golden.lost().expect("the golden counts losses");
            let is_error = golden.error().is_some();
            let golden = comparable(golden.events, is_v3);
            let lacks = missing(&rows, &golden);
            assert!(
                lacks.is_empty(),
                "{name}: {} events are not there, the first {:?}",
                lacks.len(),
                lacks[0]
            );
            let known = known(&name);
            // The reference reader throws if the end of the stream is missing.
            assert_eq!(is_error, known.is_killed, "{name}");
            if known.is_killed {
                assert!(rows.len() > golden.len(), "{name}: {} and {}", rows.len(), golden.len());
            } else {
                let more = missing(&golden, &rows);
                assert!(
                    more.is_empty(),
                    "{name}: {} events too many, the first {:?}",
                    more.len(),
                    more[0]
                );
                assert_eq!(rows.len(), golden.len());
            }
            // Losses are equal, except where only sequence points show them (FORMAT.md 12).
            match name.as_str() {
                "net3.1-linux-x64/lossy.nettrace" => assert_eq!(lost, 14_419),
                "net10-linux-x64/lossy.nettrace" => assert_eq!(lost, 19_663),
                "net11-linux-x64/lossy.nettrace" => assert_eq!(lost, 6_831),
                _ if known.is_killed => {}
                _ => assert_eq!(lost, known.lost, "{name}"),
            }
            compared.insert(name);
        }
        assert!(compared.len() >= 29, "only {compared:?}");
    }
}
