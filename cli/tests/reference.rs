//! Compares the events of `events --raw --stacks` with those of the reference reader.
//!
//! The tests compare ticks, thread, provider, id, version, level, keywords, opcode, activities,
//! size and checksum of the payload, and number and checksum of the stack's frames. The goldens are
//! in a folder beside the checkout; without that folder the tests compare nothing, and a note says
//! so.

use crate::common;

use nettrace_testdata::corpus::{self, GoldenEvent, GoldenEvents, TraceFile};
use nettrace_testdata::crc32;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

/// A line of `events --format ndjson --raw --stacks`.
#[derive(Deserialize)]
struct Line<'a> {
    tid: i64,
    provider: &'a str,
    id: u32,
    version: u32,
    level: u32,
    activity: Option<&'a str>,
    related: Option<&'a str>,
    #[serde(borrow)]
    stack: Vec<&'a str>,
    ticks: u64,
    keywords: &'a str,
    opcode: u32,
    payload_hex: &'a str,
}

/// The compared values of an event, in the order of the goldens' columns.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct EventRow {
    ticks: u64,
    tid: i64,
    provider: String,
    id: u32,
    version: u32,
    level: u32,
    keywords: u64,
    opcode: u32,
    activity: Option<String>,
    related: Option<String>,
    payload: (u64, u32),
    stack: (u64, u32),
}

fn hex(text: &str) -> u64 {
    u64::from_str_radix(text.strip_prefix("0x").expect("it begins with 0x"), 16)
        .expect("it is hexadecimal")
}

fn bytes_of(hex: &str) -> Vec<u8> {
    // Some hundred million digits are decoded here without optimisation, so a table is worth it.
    const VALUES: [u8; 256] = {
        let mut values = [0xff; 256];
        let mut digit = 0;
        while digit < 16 {
            values[b"0123456789abcdef"[digit] as usize] = digit as u8;
            digit += 1;
        }
        values
    };
    let (digits, mut bytes, mut at) = (hex.as_bytes(), vec![0; hex.len() / 2], 0);
    assert_eq!(bytes.len() * 2, digits.len());
    while at < bytes.len() {
        let (high, low) = (VALUES[digits[at * 2] as usize], VALUES[digits[at * 2 + 1] as usize]);
        assert!(high < 16 && low < 16);
        bytes[at] = high << 4 | low;
        at += 1;
    }
    bytes
}

impl EventRow {
    /// Creates the row of a line. `pointer_size` is the size of the traced process's pointers in
    /// bytes.
    fn of_line(line: &Line<'_>, pointer_size: usize) -> EventRow {
        let payload = bytes_of(line.payload_hex);
        let mut stack = Vec::new();
        for address in &line.stack {
            let bytes = hex(address).to_le_bytes();
            let (stored, rest) = bytes.split_at(pointer_size);
            assert!(rest.iter().all(|byte| *byte == 0), "{address}");
            stack.extend_from_slice(stored);
        }
        EventRow {
            ticks: line.ticks,
            tid: line.tid,
            provider: line.provider.to_owned(),
            id: line.id,
            version: line.version,
            level: line.level,
            keywords: hex(line.keywords),
            opcode: line.opcode,
            activity: line.activity.map(str::to_owned),
            related: line.related.map(str::to_owned),
            payload: (payload.len() as u64, crc32(&payload)),
            stack: (line.stack.len() as u64, crc32(&stack)),
        }
    }

    fn of_golden(event: &GoldenEvent) -> EventRow {
        let text = |guid: &[u8; 16]| nettrace_parser::Guid::from_bytes(*guid).to_string();
        EventRow {
            ticks: event.ticks,
            tid: event.thread_id,
            provider: event.provider.clone(),
            id: event.event_id,
            version: event.version,
            level: event.level,
            keywords: event.keywords,
            opcode: event.opcode,
            activity: event.activity_id.as_ref().map(text),
            related: event.related_activity_id.as_ref().map(text),
            payload: (event.payload_bytes, event.payload_crc32),
            stack: (event.frame_count, event.stack_crc32),
        }
    }
}

const RUNTIME: &str = "Microsoft-Windows-DotNETRuntime";

/// Returns a row of ours without the stacks that the stream holds and the reference reader hides:
/// those of all rundown events and of some runtime events.
fn as_the_reader_shows(mut row: EventRow) -> EventRow {
    let hides_stack = row.provider.ends_with("Rundown")
        || (row.provider == RUNTIME && matches!(row.id, 140..=144 | 190));
    if hides_stack {
        row.stack = (0, 0);
    }
    row
}

/// Returns a row of the reference reader without the values that the reader makes up.
fn as_the_stream_says(mut row: EventRow, is_netperf: bool) -> EventRow {
    // The reader renumbers GCDynamicEvent by the name in its payload.
    if row.provider == RUNTIME && row.id >= 0xff00 {
        row.id = 39;
    }
    // The reader reads related activities of version 3 from a wrong place: version 3 has none.
    if is_netperf {
        row.related = None;
    }
    row
}

fn ours(trace: &TraceFile, pointer_size: usize) -> Vec<EventRow> {
    let path = trace.path().display().to_string();
    let args = ["events", "--format", "ndjson", "--raw", "--stacks", "--quiet", &path];
    let mut child =
        common::command(&args).stdout(Stdio::piped()).spawn().expect("the binary starts");
    let mut stdout = BufReader::new(child.stdout.take().expect("it is piped"));
    let (mut rows, mut text) = (Vec::new(), String::new());
    while stdout.read_line(&mut text).expect("it is UTF-8") > 0 {
        let line = serde_json::from_str(&text).expect("each line is JSON");
        rows.push(EventRow::of_line(&line, pointer_size));
        text.clear();
    }
    let code = child.wait().expect("it ends").code();
    assert_eq!(code, Some(if trace.name().contains("killed") { 3 } else { 0 }), "{}", trace.name());
    rows
}

fn compare(trace: &TraceFile, golden: &GoldenEvents) {
    let is_netperf = trace.name().ends_with(".netperf");
    let pointer_size = golden.trailer_value("pointer").and_then(|size| size.parse().ok());
    let pointer_size = pointer_size.expect("the golden has the size of pointers");
    let mut counts: BTreeMap<EventRow, i64> = BTreeMap::new();
    for row in ours(trace, pointer_size) {
        *counts.entry(as_the_reader_shows(row)).or_default() += 1;
    }
    for event in &golden.events {
        let row = as_the_stream_says(EventRow::of_golden(event), is_netperf);
        *counts.entry(row).or_default() -= 1;
    }
    // At the end of a trace without an end mark the reference reader stops, and this command reads
    // on.
    let is_superset = golden.error().is_some();
    let different: Vec<_> = counts
        .iter()
        .filter(|(_, count)| if is_superset { **count < 0 } else { **count != 0 })
        .collect();
    assert!(
        different.is_empty(),
        "{}: {} rows differ (positive: only ours), such as {:#?}",
        trace.name(),
        different.len(),
        different.iter().take(4).collect::<Vec<_>>()
    );
}

fn compare_all(is_mine: impl Fn(usize) -> bool) {
    let mut compared = 0;
    let traces = corpus::traces_with_goldens();
    for (_, trace) in traces.iter().enumerate().filter(|(at, _)| is_mine(*at)) {
        compare(trace, &corpus::golden_events(trace.name()));
        compared += 1;
    }
    assert!(compared > 5, "only {compared} traces were compared");
}

#[test]
fn traces_of_killed_processes_have_exactly_their_events_and_losses() {
    for (name, events, lost) in [
        ("net10-linux-x64/killed-1.nettrace", 19_042, 0),
        ("net3.1-linux-x64/killed-1.nettrace", 3_496, 0),
        ("net3.1-linux-x64/killed-2.nettrace", 4_198, 0),
    ] {
        assert_killed(name, events, lost);
    }
}

fn assert_killed(name: &str, events: u64, lost: u64) {
    let trace = corpus::trace(name);
    let ran = common::nettrace(&["info", "--json", &trace.path().display().to_string()]);
    let json = ran.json();
    let found = (&json["events"], &json["lost"], &json["complete"], ran.code);
    assert_eq!(found, (&events.into(), &lost.into(), &false.into(), Some(3)), "{name}");
}

mod with_shared {
    use super::*;

    // Two tests share the traces, so that they use two processors.

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn every_event_is_as_the_reference_reader_saw_it_in_the_traces_of_even_places() {
        compare_all(|at| at % 2 == 0);
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn every_event_is_as_the_reference_reader_saw_it_in_the_traces_of_odd_places() {
        compare_all(|at| at % 2 == 1);
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn a_trace_of_a_killed_process_that_lost_events_has_exactly_its_events_and_losses() {
        assert_killed("net10-linux-x64/killed-2.nettrace", 19_944, 3_018);
    }
}
