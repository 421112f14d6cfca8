//! `report activities` and `report http` for reading.

use super::words::{SPREAD_HEADING, duration, ms, spread};
use crate::args::ReportArgs;
use crate::commands::Context;
use crate::printable::printable;
use crate::units;
use nettrace_analysis::report::{ActivitiesReport, ActivityLine, ActivityRow, Doing, Parts};
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
    parts_table(&rows, context)?;
    let out = context.out.buffer();
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
        if let Some(parts) = parts_text(&row.parts) {
            writeln!(out, "{:>24}  {}", "", faint.over(parts))?;
        }
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

/// How a part of an activity's time is called, in a heading, in a sentence, and on the line of time.
fn words(doing: Doing) -> (&'static str, &'static str, char) {
    match doing {
        Doing::Running => ("RUN %", "running", '#'),
        Doing::Native => ("NATIVE", "native", 'n'),
        Doing::Waiting => ("WAIT", "waiting", 'w'),
        Doing::Gc => ("GC", "GC pause", 'G'),
        Doing::Lock => ("LOCK", "lock", 'L'),
        Doing::Jit => ("JIT", "JIT", 'J'),
        Doing::Await => ("AWAIT", "await", '.'),
        _ => ("UNKNOWN", "unknown", '?'),
    }
}

/// Whether more is known than nothing.
fn is_known(parts: &Parts) -> bool {
    parts.unknown_ns < parts.total_ns()
}

/// What the time of each row was spent on, in percent.
fn parts_table(rows: &[&ActivityRow], context: &mut Context<'_>) -> io::Result<()> {
    let (faint, name) = (context.style.faint(), context.style.name());
    let out = context.out.buffer();
    if !rows.iter().any(|row| is_known(&row.parts)) {
        return Ok(());
    }
    let cells = |texts: Vec<String>| -> String {
        let widths = [5, 7, 6, 6, 6, 6, 6, 8];
        texts.iter().zip(widths).map(|(text, width)| format!("{text:>width$}")).collect()
    };
    let headings = Parts::default().all().map(|(doing, _)| words(doing).0.to_owned());
    writeln!(out, "\n{}  {}", faint.over(cells(headings.into())), faint.over("WHAT THE TIME WAS SPENT ON"))?;
    for row in rows {
        let total = row.parts.total_ns();
        let percents = row.parts.all().map(|(_, nanos)| match nanos {
            0 => "-".to_owned(),
            nanos => format!("{:.1}", nanos as f64 * 100.0 / total as f64),
        });
        writeln!(out, "{}  {}", cells(percents.into()), name.over(printable(&row.name)))?;
    }
    Ok(())
}

/// `running 12.043 ms, await 3.100 ms`: the longest first.
fn parts_text(parts: &Parts) -> Option<String> {
    let mut known: Vec<(Doing, u64)> = parts.all().into_iter().filter(|(_, nanos)| *nanos > 0).collect();
    known.sort_by_key(|(_, nanos)| std::cmp::Reverse(*nanos));
    let texts: Vec<String> =
        known.iter().map(|(doing, nanos)| format!("{} {} ms", words(*doing).1, ms(*nanos))).collect();
    is_known(parts).then(|| texts.join(", "))
}

/// Cells of a line of time.
const CELLS: u64 = 60;

/// What an activity did when: a character for each sixtieth of its time, and below what they mean.
fn line(line: &ActivityLine, context: &mut Context<'_>) -> io::Result<()> {
    let (strong, name) = (context.style.strong(), context.style.name());
    let out = context.out.buffer();
    writeln!(
        out,
        "{}  {} ms from {} on",
        name.over(printable(&line.name)),
        strong.over(ms(line.duration_ns)),
        units::milliseconds(line.start_ns),
    )?;
    let length: u64 = line.stretches.iter().map(|stretch| stretch.duration_ns).sum();
    let cells: String = (0..CELLS.min(length)).filter_map(|cell| cell_of(line, length, cell)).collect();
    if !cells.is_empty() {
        writeln!(out, "|{cells}|")?;
    }
    for (doing, nanos) in line.parts.all().into_iter().filter(|(_, nanos)| *nanos > 0) {
        let (_, word, mark) = words(doing);
        let percent = nanos as f64 * 100.0 / line.duration_ns.max(1) as f64;
        writeln!(out, " {mark} {word:<8}  {:>11} ms  {percent:>5.1} %", ms(nanos))?;
    }
    writeln!(out)
}

/// What was done for most of a cell's time. What is rare and counts, such as a pause, wins when it has a quarter.
fn cell_of(line: &ActivityLine, length: u64, cell: u64) -> Option<char> {
    let edge = |cell: u64| length.saturating_mul(cell).checked_div(CELLS.min(length)).unwrap_or(0);
    let (from, to) = (edge(cell), edge(cell.saturating_add(1)));
    let mut at = 0_u64;
    let mut sums: Vec<(Doing, u64)> = Vec::new();
    for stretch in &line.stretches {
        let end = at.saturating_add(stretch.duration_ns);
        let inside = end.min(to).saturating_sub(at.max(from));
        match sums.iter_mut().find(|(doing, _)| *doing == stretch.doing) {
            Some((_, sum)) => *sum = sum.saturating_add(inside),
            None => sums.push((stretch.doing, inside)),
        }
        at = end;
    }
    let weight = |(doing, sum): &(Doing, u64)| match doing {
        Doing::Gc | Doing::Lock | Doing::Jit => sum.saturating_mul(3),
        _ => *sum,
    };
    let most = sums.into_iter().filter(|(_, sum)| *sum > 0).max_by_key(weight)?;
    Some(words(most.0).2)
}

/// The events of the activity that was asked for.
fn events(report: &ActivitiesReport, context: &mut Context<'_>) -> io::Result<()> {
    if let Some(of) = &report.line {
        line(of, context)?;
    }
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
