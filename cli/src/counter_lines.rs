//! Values of counters as NDJSON.

use crate::json_text;
use nettrace_analysis::report::{CounterKind, CountersReport};
use nettrace_parser::utc_text;
use serde::Serialize;
use std::io;

/// The process whose counters a live view shows.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct LiveProcess<'r> {
    pub(crate) process_id: Option<u64>,
    pub(crate) process: &'r str,
}

/// A value of a counter as one line.
#[derive(Serialize)]
struct CounterLine<'r> {
    ts_ns: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<String>,
    #[serde(flatten)]
    process: Option<LiveProcess<'r>>,
    provider: &'r str,
    name: &'r str,
    kind: CounterKind,
    unit: &'r str,
    tags: serde_json::Map<String, serde_json::Value>,
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    rate_per_second: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sum: Option<f64>,
}

/// Appends a line for each value. Lines of a live view have more keys, such as UTC time, rate and
/// sum, because their reader has no report to take these from.
pub(crate) fn ndjson(
    out: &mut Vec<u8>,
    report: &CountersReport,
    process: Option<LiveProcess<'_>>,
) -> io::Result<()> {
    for (series, point) in report.in_time_order() {
        let tags = series.tags.iter().map(|(key, value)| (key.clone(), value.clone().into()));
        let live = process.map(|_| point);
        let line = CounterLine {
            ts_ns: point.ts_ns,
            time: live.and(utc(report, point.ts_ns)).map(|text| text.replace(' ', "T") + "Z"),
            process,
            provider: &series.provider,
            name: &series.name,
            kind: series.kind,
            unit: &series.unit,
            tags: tags.collect(),
            value: point.value,
            rate_per_second: live.and_then(|point| point.rate_per_second),
            count: live.and_then(|point| point.count),
            sum: live.and_then(|point| point.sum),
        };
        json_text::line(&mut *out, &line)?;
        out.push(b'\n');
    }
    Ok(())
}

/// Returns a time since the session's start as UTC, such as `2026-11-21 00:13:41.014`, if the start
/// is known.
pub(crate) fn utc(report: &CountersReport, ts_ns: i64) -> Option<String> {
    let start = i128::from(report.start_unix_ns?);
    Some(utc_text(start + i128::from(ts_ns), 3))
}
