//! Requests in timelines of other programs: each is there once, and none has an invented length.

use nettrace_analysis::convert::{ConvertOptions, Format};
use nettrace_analysis::report::{Activities, Report, ReportPass, SlowActivity};
use nettrace_analysis::{Analysis, AnalysisOptions};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;
use serde_json::Value as Json;
use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// Name, start and length of a span. Times are in nanoseconds, and a format may round them.
type Shown = (String, i64, i64);

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn converted(bytes: &[u8], format: &str) -> Vec<u8> {
    let format = Format::by_name(format).unwrap();
    let written = Shared::default();
    let mut options = AnalysisOptions::default();
    options.kinds = format.kinds.to_vec();
    let mut analysis = Analysis::new(options);
    analysis.add_format(format, written.clone(), &ConvertOptions::default());
    assert!(analysis.read(&mut Reader::from_slice(bytes).time_ordered()).unwrap().is_complete);
    analysis.finish().unwrap();
    std::mem::take(&mut *written.0.lock().unwrap())
}

fn nanos(micros: &Json) -> i64 {
    (micros.as_f64().unwrap() * 1e3).round() as i64
}

fn of_chromium(bytes: &[u8]) -> Vec<Shown> {
    let document: Json = serde_json::from_slice(&converted(bytes, "chromium")).unwrap();
    let events = document["traceEvents"].as_array().unwrap();
    let spans = events.iter().filter(|event| event["ph"] == "X" && event["cat"] == "Activities");
    let span = |event: &Json| {
        let name = event["name"].as_str().unwrap().to_owned();
        (name, nanos(&event["ts"]), nanos(&event["dur"]))
    };
    spans.map(span).collect()
}

fn of_firefox(bytes: &[u8]) -> Vec<Shown> {
    let document: Json = serde_json::from_slice(&converted(bytes, "firefox")).unwrap();
    let categories = document["meta"]["categories"].as_array().unwrap();
    let activities = categories.iter().position(|it| it["name"] == "Activities").unwrap();
    let strings = |thread: &'_ Json| -> Vec<String> {
        let of_thread = thread["stringArray"].as_array();
        let all = of_thread.or_else(|| document["shared"]["stringArray"].as_array()).unwrap();
        all.iter().map(|text| text.as_str().unwrap().to_owned()).collect()
    };
    let mut shown = Vec::new();
    for thread in document["threads"].as_array().unwrap() {
        let (markers, strings) = (&thread["markers"], strings(thread));
        for at in 0..markers["length"].as_u64().unwrap() as usize {
            // 1: a marker with a start and an end.
            if markers["category"][at] == activities && markers["phase"][at] == 1 {
                let time = |column: &str| nanos(&markers[column][at]) * 1_000;
                let name = markers["name"][at].as_u64().unwrap() as usize;
                let start = time("startTime");
                shown.push((strings[name].clone(), start, time("endTime") - start));
            }
        }
    }
    shown
}

/// A field of a message of Protocol Buffers: its number, and its value or bytes.
enum Part<'b> {
    Number(u64),
    Bytes(&'b [u8]),
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first().unwrap();
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            break;
        }
    }
    value
}

fn parts(mut bytes: &[u8]) -> Vec<(u64, Part<'_>)> {
    let mut parts = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let length = match key & 7 {
            0 => {
                parts.push((key >> 3, Part::Number(varint(&mut bytes))));
                continue;
            }
            1 => 8,
            2 => varint(&mut bytes) as usize,
            5 => 4,
            kind => panic!("wire type {kind}"),
        };
        let (own, rest) = bytes.split_at(length);
        parts.push((key >> 3, Part::Bytes(own)));
        bytes = rest;
    }
    parts
}

fn number(parts: &[(u64, Part<'_>)], field: u64) -> Option<u64> {
    parts.iter().find_map(|(at, part)| match part {
        Part::Number(number) if *at == field => Some(*number),
        _ => None,
    })
}

fn messages<'b>(parts: &'b [(u64, Part<'b>)], field: u64) -> impl Iterator<Item = &'b [u8]> {
    parts.iter().filter_map(move |(at, part)| match part {
        Part::Bytes(bytes) if *at == field => Some(*bytes),
        _ => None,
    })
}

/// Reads slices of Perfetto's trace packets: begins and ends on tracks, with interned names.
fn of_perfetto(bytes: &[u8]) -> Vec<Shown> {
    const CATEGORIES: u64 = 1;
    const NAMES: u64 = 2;
    let bytes = converted(bytes, "perfetto");
    let mut interned: HashMap<(u64, u64), String> = HashMap::new();
    let mut open: HashMap<u64, Vec<(bool, String, i64)>> = HashMap::new();
    let mut shown = Vec::new();
    for packet in messages(&parts(&bytes), 1) {
        let packet = parts(packet);
        for data in messages(&packet, 12) {
            let data = parts(data);
            for kind in [CATEGORIES, NAMES] {
                for row in messages(&data, kind) {
                    let row = parts(row);
                    let text = messages(&row, 2).next().unwrap_or_default();
                    let text = String::from_utf8(text.to_vec()).unwrap();
                    interned.insert((kind, number(&row, 1).unwrap()), text);
                }
            }
        }
        let Some(event) = messages(&packet, 11).next() else { continue };
        let event = parts(event);
        let at = number(&packet, 8).unwrap().cast_signed();
        let track = open.entry(number(&event, 11).unwrap_or(0)).or_default();
        match number(&event, 9) {
            Some(1) => {
                let category = number(&event, 3).map(|iid| &interned[&(CATEGORIES, iid)]);
                let name = number(&event, 10).map(|iid| interned[&(NAMES, iid)].clone());
                let is_activity = category.is_some_and(|category| category == "Activities");
                track.push((is_activity, name.unwrap_or_default(), at));
            }
            Some(2) => {
                let (is_activity, name, start) = track.pop().unwrap();
                shown.extend(is_activity.then(|| (name, start, at - start)));
            }
            _ => {}
        }
    }
    shown
}

/// Returns the activities that stopped by their own stops.
fn stopped(bytes: &[u8], names: &[&str]) -> Vec<SlowActivity> {
    let mut pass = ReportPass::new(Activities::default().top(10_000));
    assert!(pass.read(&mut Reader::from_slice(bytes).time_ordered()).unwrap().is_complete);
    let slowest = pass.finish().output.slowest;
    slowest.into_iter().filter(|row| names.contains(&row.name.target.as_str())).collect()
}

/// Asserts that each format shows `all` spans of a task: those that stopped by their own stops with
/// their lengths, and those of unknown length without one. `names`: the task in reports.
fn assert_each_is_shown_once(
    bytes: &[u8],
    (names, task): (&[&str], &str),
    all: usize,
    unknown: usize,
) {
    let mut lengths: Vec<(i64, i64)> = stopped(bytes, names)
        .into_iter()
        .map(|row| (row.start_ns, row.duration_ns.cast_signed()))
        .collect();
    lengths.sort_unstable();
    assert_eq!(lengths.len(), all - unknown);
    for (format, shown) in [
        ("chromium", of_chromium(bytes)),
        ("firefox", of_firefox(bytes)),
        ("perfetto", of_perfetto(bytes)),
    ] {
        let mut shown: Vec<(i64, i64)> = shown
            .into_iter()
            .filter(|(name, ..)| name == task)
            .map(|(_, start, length)| (start, length))
            .collect();
        shown.sort_unstable();
        assert_eq!(shown.len(), all, "{format}");
        // Formats have microseconds, or milliseconds as binary fractions.
        let is = |one: i64, other: i64| one.abs_diff(other) <= 2_000;
        let (known, others): (Vec<_>, Vec<_>) = shown.into_iter().partition(|(start, length)| {
            lengths.iter().any(|(other, took)| is(*start, *other) && is(*length, *took))
        });
        assert_eq!((known.len(), others.len()), (all - unknown, unknown), "{format}");
        assert!(others.iter().all(|(_, length)| *length == 0), "{format}: {others:?}");
    }
}

#[test]
fn requests_with_one_id_at_once_are_spans_without_invented_lengths() {
    let bytes = corpus::known("http-ids-open-twice").bytes();
    assert_each_is_shown_once(&bytes, (&["System.Net.Http/Request"], "Request"), 40, 30);
}

mod with_shared {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn each_request_that_came_in_is_one_span_though_ids_repeat() {
        let bytes = corpus::web("net11-full").bytes();
        let task = "Microsoft.AspNetCore.Hosting.HttpRequestIn";
        let incoming = ["Microsoft.AspNetCore/Microsoft.AspNetCore.Hosting.HttpRequestIn"];
        assert_each_is_shown_once(&bytes, (&incoming, task), 289, 0);
        // Of 289 stops of Hosting, 46 have no id.
        let all = ["Microsoft.AspNetCore.Hosting/Request", "System.Net.Http/Request"];
        assert_each_is_shown_once(&bytes, (&all, "Request"), 289 + 15, 0);
    }
}
