//! `report activities` and `report http` for reading.

use super::words::{SPREAD_HEADING, duration, ms, spread};
use crate::args::ReportArgs;
use crate::commands::Context;
use crate::printable::printable;
use crate::units;
use nettrace_analysis::report::{ActivitiesReport, ActivityRow};
use std::io::{self, Write};

pub(super) fn text(
    args: &ReportArgs,
    report: &ActivitiesReport,
    context: &mut Context<'_>,
) -> io::Result<()> {
    let (strong, faint, name) = (context.style.strong(), context.style.faint(), context.style.name());
    let bad = context.style.bad();
    let out = context.out.buffer();
    let errors = |count: u64| {
        let text = format!("{:>7}", units::count(count));
        if count > 0 { bad.over(text) } else { text }
    };
    if args.id.is_some() {
        return events(report, context);
    }
    let rows: Vec<&ActivityRow> = report.activities.iter().take(args.number).collect();
    let mut groups = rows.chunk_by(|one, other| one.direction == other.direction).peekable();
    if groups.peek().is_none() {
        writeln!(out, "{}", faint.over(format!("STARTED  STOPPED   ERRORS  {SPREAD_HEADING}  ACTIVITY")))?;
    }
    while let Some(group) = groups.next() {
        let what = match group.first().and_then(|row| row.direction.as_deref()) {
            Some("in") => "REQUESTS THAT CAME IN",
            Some(_) => "REQUESTS THAT WENT OUT",
            None => "ACTIVITY",
        };
        writeln!(out, "{}", faint.over(format!("STARTED  STOPPED   ERRORS  {SPREAD_HEADING}  {what}")))?;
        for row in group {
            writeln!(
                out,
                "{:>7}  {:>7}  {}  {}  {}{}",
                units::count(row.started),
                units::count(row.stopped),
                errors(row.errors),
                spread(&row.durations),
                name.over(printable(&row.name)),
                notes(row),
            )?;
            for layer in &row.layers {
                let told = format!("{}    {}", spread(&layer.durations), printable(&layer.name));
                writeln!(out, "{:>25}  {}", "", faint.over(told))?;
            }
        }
        if groups.peek().is_some() {
            writeln!(out)?;
        }
    }
    if report.tree.iter().any(|node| node.depth > 0) {
        writeln!(out)?;
        writeln!(out, "{}", faint.over("STARTED   ERRORS     TOTAL ms       P95 ms  INSIDE EACH OTHER"))?;
        for node in report.tree.iter().take(args.number) {
            writeln!(
                out,
                "{:>7}  {}  {:>11}  {:>11}  {}{}",
                units::count(node.started),
                errors(node.errors),
                ms(node.durations.total_ns),
                ms(node.durations.p95_ns),
                "  ".repeat(node.depth.min(30)),
                name.over(printable(&node.name)),
            )?;
        }
    }
    if !report.slowest.is_empty() {
        writeln!(out)?;
        writeln!(out, "{}", faint.over("   START ms      TOOK ms   THREAD  ID; FIELDS OF THE SLOWEST"))?;
    }
    for row in report.slowest.iter().take(args.number) {
        let thread = row.thread_id.map_or_else(|| "?".to_owned(), |id| id.to_string());
        let took = format!("{:>11}", ms(row.duration_ns));
        writeln!(
            out,
            "{:>11}  {}  {thread:>7}  {}  {}",
            units::milliseconds(row.start_ns),
            if row.is_error { bad.over(took) } else { took },
            row.id.as_deref().map_or_else(|| "-".to_owned(), printable),
            faint.over(printable(&row.fields)),
        )?;
    }
    let wrong = if report.errors > 0 {
        format!(", {} went wrong", units::count(report.errors))
    } else {
        String::new()
    };
    let open = report.started.saturating_sub(report.stopped);
    let open = if open > 0 { format!(", {} without a stop", units::count(open)) } else { String::new() };
    let lost = match report.stops_without_start {
        0 => String::new(),
        lost => format!(", {} without a start", units::counted(lost, "stop")),
    };
    let cut_short = match report.stops_cut_short {
        0 => String::new(),
        stops => format!(" ({} looked for among the newest only)", units::count(stops)),
    };
    let what = match requests(report) {
        Some(requests) => requests,
        None => {
            let noun = if report.started == 1 { "activity" } else { "activities" };
            let outermost = match report.outermost {
                all if all == report.started => String::new(),
                outermost => format!(" ({} of them inside of no other)", units::count(outermost)),
            };
            format!("{} {noun}{outermost}", units::count(report.started))
        }
    };
    let summary = format!("{what}{wrong}{open}{lost}{cut_short}");
    writeln!(out, "{}", strong.over(summary))?;
    if let Some(id) = report.slowest.first().and_then(|row| row.id.as_deref()) {
        writeln!(out, "{}", faint.over(format!("events of one of them: --id {}", printable(id))))?;
    }
    Ok(())
}

/// `11,841 requests came in, 900 went out`, if it is known of all which way they went.
fn requests(report: &ActivitiesReport) -> Option<String> {
    let sum = |direction: &str| -> u64 {
        let rows = report.activities.iter();
        rows.filter(|row| row.direction.as_deref() == Some(direction)).map(|row| row.started).sum()
    };
    let (came, went) = (sum("in"), sum("out"));
    if came.saturating_add(went) != report.started || report.started == 0 {
        return None;
    }
    Some(match (came, went) {
        (came, 0) => format!("{} came in", units::counted(came, "request")),
        (0, went) => format!("{} went out", units::counted(went, "request")),
        (came, went) => {
            format!("{} came in, {} went out", units::counted(came, "request"), units::count(went))
        }
    })
}

/// `  200 ×15, 500 ×2`, and how many are inside of others of the name, whose time must not be added up.
fn notes(row: &ActivityRow) -> String {
    let mut counts: Vec<String> = row
        .statuses
        .iter()
        .map(|status| format!("{} ×{}", status.status, units::count(status.count)))
        .collect();
    if row.nested > 0 {
        let outermost = ms(row.outermost_ns);
        counts.push(format!(
            "{} inside of their own kind, {outermost} ms without them",
            units::count(row.nested)
        ));
    }
    if counts.is_empty() { String::new() } else { format!("  {}", counts.join(", ")) }
}

/// The events of the activity that was asked for.
fn events(report: &ActivitiesReport, context: &mut Context<'_>) -> io::Result<()> {
    let (strong, faint, name) = (context.style.strong(), context.style.faint(), context.style.name());
    let out = context.out.buffer();
    writeln!(out, "{}", faint.over("       ms     SINCE ms   THREAD  EVENT"))?;
    let mut before = None;
    for event in &report.events {
        let since = event.ts_ns.saturating_sub(before.unwrap_or(event.ts_ns));
        before = Some(event.ts_ns);
        writeln!(
            out,
            "{:>11}  {:>9}  {:>7}  {} {}",
            units::milliseconds(event.ts_ns),
            units::milliseconds(since),
            event.thread_id.map_or_else(|| "?".to_owned(), |id| id.to_string()),
            name.over(printable(&event.event)),
            printable(&event.fields),
        )?;
    }
    let span = match (report.events.first(), report.events.last()) {
        (Some(first), Some(last)) => u64::try_from(last.ts_ns.saturating_sub(first.ts_ns)).unwrap_or(0),
        _ => 0,
    };
    let mut summary =
        format!("{} in {}", units::counted(report.events.len() as u64, "event"), duration(span));
    if report.events_left_out > 0 {
        summary = format!("{summary}, {} more left out", units::count(report.events_left_out));
    }
    writeln!(out, "{}", strong.over(summary))
}
