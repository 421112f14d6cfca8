//! Writes `report activities` and `report http` as text.

use super::words::{duration, errors, id, ms, prose, spread_row, spread_table};
use crate::args::ActivitiesArgs;
use crate::context::Context;
use crate::cut::{Text, fixed, main, other};
use crate::printable::printable;
use crate::table::{Cell, Detail, Table, first, layout_of, left, list, right};
use crate::units;
use nettrace_analysis::report::{
    Activities, ActivitiesReport, ActivityLine, ActivityRow, Doing, Http, HttpDirection, HttpPhase,
    HttpPhases, Parts, Report, ServingRequest, SlowActivity, StatusCount, StepKind, Unpaired,
};
use std::collections::BTreeMap;
use std::io::{self, Write};

pub(super) fn activities_of(args: &ActivitiesArgs) -> Activities {
    let report = Activities::default().top(args.rows.number);
    match &args.id {
        Some(id) => report.events_of(id),
        None => report,
    }
}

pub(super) fn requests_of(args: &ActivitiesArgs) -> Http {
    Http::from(activities_of(args))
}

pub(super) fn text(
    args: &ActivitiesArgs,
    report: &ActivitiesReport,
    context: &mut Context<'_>,
) -> io::Result<()> {
    match args.id {
        Some(_) => events(args.rows.number, report, context)?,
        None => overview(args, report, context)?,
    }
    match report.async_profiler {
        Some(false) => prose(context, &context.style.faint(), ASYNC_PROFILER),
        _ if report.lacks_turns => prose(context, &context.style.faint(), LACKS_TURNS),
        _ => Ok(()),
    }
}

/// What an await may be of code that writes no events.
const LACKS_TURNS: &str = "AWAIT: methods that .NET 11 itself suspends write no events when they go on, \
                           so it may have work of them; collect --async records it";

/// What to do with what the async profiler says of activities.
const ASYNC_PROFILER: &str = "the trace has .NET 11's async profiler: --async uses it to follow the threads of these activities";

fn overview(
    args: &ActivitiesArgs,
    report: &ActivitiesReport,
    context: &mut Context<'_>,
) -> io::Result<()> {
    let (strong, faint) = (context.style.strong(), context.style.faint());
    let rows: Vec<&ActivityRow> = report.activities.iter().take(args.rows.number).collect();
    names_table(&rows, context)?;
    let left_out = report.activities.len().saturating_sub(rows.len()) as u64;
    if left_out > 0 {
        let names = units::counted(left_out, "further name");
        prose(context, &faint, &format!("and {names} (-n)"))?;
    }
    parts_table(&rows, context)?;
    phases_table(&rows, context)?;
    tree_table(report, args.rows.number, context)?;
    slowest_table(&report.slowest, args.rows.number, context)?;
    let wrong = if report.errors > 0 {
        format!(", {} failed", units::count(report.errors))
    } else {
        String::new()
    };
    let open = report.started.saturating_sub(report.stopped);
    let open =
        if open > 0 { format!(", {} without a stop", units::count(open)) } else { String::new() };
    let lost = match report.stops_without_start {
        0 => String::new(),
        lost => format!(", {} without a start", units::counted(lost, "stop")),
    };
    let cut_short = match report.stops_cut_short {
        0 => String::new(),
        stops => format!(" ({} searched only among the newest)", units::count(stops)),
    };
    let what = match requests(report) {
        Some(requests) => requests,
        None => {
            let noun = if report.started == 1 { "activity" } else { "activities" };
            let outermost = match report.outermost {
                all if all == report.started => String::new(),
                outermost => {
                    format!(" ({} of them not nested in another)", units::count(outermost))
                }
            };
            format!("{} {noun}{outermost}", units::count(report.started))
        }
    };
    let refused = refusals(report);
    let unpaired = match report.unpaired {
        Some(unpaired) => format!(", {} of unknown length", units::count(unpaired.count)),
        None => String::new(),
    };
    let summary = format!("{what}{wrong}{refused}{open}{unpaired}{lost}{cut_short}");
    prose(context, &strong, &summary)?;
    if report.unpaired.is_some() {
        prose(context, &faint, UNPAIRED)?;
    }
    events_hint(&report.slowest, context)
}

/// Writes a table for each direction of requests, and one for other activities.
pub(super) fn names_table(rows: &[&ActivityRow], context: &mut Context<'_>) -> io::Result<()> {
    let (bad, faint, name) = (context.style.bad(), context.style.faint(), context.style.name());
    let mut groups: Vec<&[&ActivityRow]> =
        rows.chunk_by(|one, other| one.name.direction == other.name.direction).collect();
    if groups.is_empty() {
        groups.push(&[]);
    }
    let mut tables = Vec::new();
    for group in groups {
        let what = match group.first().and_then(|row| row.name.direction) {
            Some(HttpDirection::In) => "INCOMING REQUESTS",
            Some(_) => "OUTGOING REQUESTS",
            None => "ACTIVITY",
        };
        let counts = [right("STARTED", 7, 0), right("STOPPED", 7, 5), right("ERRORS", 7, 0)];
        let mut table = spread_table(counts, &[left(what, 8, 0)]);
        for row in group {
            let shown = format!("{}{}", printable(&row.name.to_string()), notes(row));
            let [started, stopped] = [row.started, row.stopped].map(|n| units::count(n).into());
            let counts = [started, stopped, errors(row.errors, &bad)];
            table.add_row(spread_row(counts, &row.durations, [Cell::new(shown, &name)]));
            for layer in &row.layers {
                let unpaired = layer.unpaired.as_ref().map(|it| unpaired_text("MEDIAN to MAX", it));
                let unpaired = unpaired.map(|text| format!("  {text}")).unwrap_or_default();
                let shown = format!("  {}{unpaired}", printable(&layer.name));
                let shown = Cell::new(shown, &faint);
                table.add_row(spread_row([(); 3].map(|()| "".into()), &layer.durations, [shown]));
            }
        }
        tables.push(table);
    }
    let layout = layout_of(&tables, context);
    for (at, table) in tables.iter().enumerate() {
        if at > 0 {
            writeln!(context.out.buffer())?;
        }
        table.write_in(&layout, context)?;
    }
    Ok(())
}

/// Writes the tree of activities that run inside others.
fn tree_table(report: &ActivitiesReport, most: usize, context: &mut Context<'_>) -> io::Result<()> {
    if report.tree.iter().all(|node| node.depth == 0) {
        return Ok(());
    }
    let (bad, name) = (context.style.bad(), context.style.name());
    writeln!(context.out.buffer())?;
    first(context, &report.tree, most).columns([
        right("STARTED", 7, 0).fill(&|node| units::count(node.started).into()),
        right("ERRORS", 7, 0).fill(&|node| errors(node.errors, &bad)),
        right("TOTAL ms", 11, 1).fill(&|node| ms(node.durations.total_ns).into()),
        right("P95 ms", 11, 2).fill(&|node| ms(node.durations.p95_ns).into()),
        left("INSIDE EACH OTHER", 17, 0).fill(&|node| {
            let unpaired = node.unpaired.as_ref().map(|it| unpaired_text("P95", it));
            let unpaired = unpaired.map(|text| format!("  {text}")).unwrap_or_default();
            let indent = "  ".repeat(node.depth.min(30));
            Cell::new(format!("{indent}{}{unpaired}", printable(&node.name)), &name)
        }),
    ])
}

/// Writes the slowest activities, with the parts of their time.
pub(super) fn slowest_table(
    slowest: &[SlowActivity],
    most: usize,
    context: &mut Context<'_>,
) -> io::Result<()> {
    if slowest.is_empty() {
        return Ok(());
    }
    let bad = context.style.bad();
    writeln!(context.out.buffer())?;
    first(context, slowest, most).columns_and_details(
        [
            right("START ms", 11, 0).fill(&|row| units::milliseconds(row.start_ns).into()),
            right("TOOK ms", 11, 0).fill(&|row| match row.is_error {
                true => Cell::new(ms(row.duration_ns), &bad),
                false => ms(row.duration_ns).into(),
            }),
            right("THREAD", 7, 1).fill(&|row| id(row.thread_id).into()),
            left("ID; FIELDS OF THE SLOWEST", 25, 0).fill(&|row| {
                let id = key_of(row).unwrap_or("-");
                Text::parts([main(id), fixed("  "), other(&row.fields)]).into()
            }),
        ],
        |row| {
            let phases = row.phases.as_ref().map(phases_text);
            let served = row.served_by.iter().map(|it| Text::from(served_text(it)));
            let texts = parts_text(&row.parts).into_iter().chain(phases).chain(served);
            texts.map(|text| Detail::new(" ".repeat(13), text)).collect()
        },
    )
}

/// Writes how to list the events of the slowest activity.
pub(super) fn events_hint(slowest: &[SlowActivity], context: &mut Context<'_>) -> io::Result<()> {
    let Some(key) = slowest.first().and_then(key_of) else { return Ok(()) };
    let faint = context.style.faint();
    prose(context, &faint, &format!("events of one of them: --id {}", printable(key)))
}

/// Returns the id of an activity, or its key if other activities may have the id.
fn key_of(row: &SlowActivity) -> Option<&str> {
    row.key.as_deref().or(row.id.as_deref())
}

/// Returns `11,841 requests incoming, 900 outgoing`; `None` if some activities have no direction.
fn requests(report: &ActivitiesReport) -> Option<String> {
    let sum = |direction| -> u64 {
        let rows = report.activities.iter();
        rows.filter(|row| row.name.direction == Some(direction)).map(|row| row.started).sum()
    };
    let (came, went) = (sum(HttpDirection::In), sum(HttpDirection::Out));
    if came.saturating_add(went) != report.started || report.started == 0 {
        return None;
    }
    Some(match (came, went) {
        (came, 0) => format!("{} came in", units::counted(came, "request")),
        (0, went) => format!("{} went out", units::counted(went, "request")),
        (came, went) => {
            format!("{} incoming, {} outgoing", units::counted(came, "request"), units::count(went))
        }
    })
}

/// Explanation of activities of unknown length.
const UNPAIRED: &str = "of unknown length: several with one id ran at once (.NET 10 and 11 give the \
                        children of an activity from the eleventh on one id), and no stop tells \
                        which of them it ends; medians, extremes and the slowest leave these out";

/// Returns the statuses of requests, as ` 200 ×15, 500 ×2`, the number of activities of unknown
/// length, and the number of those inside others of their name, whose time would count twice in a
/// sum.
fn notes(row: &ActivityRow) -> String {
    let mut counts: Vec<String> = row
        .statuses
        .iter()
        .map(|status| format!("{} ×{}", status_text(status.status), units::count(status.count)))
        .collect();
    counts.extend(row.unpaired.as_ref().map(|it| unpaired_text("MEDIAN to MAX", it)));
    if row.nested > 0 {
        let outermost = ms(row.outermost_ns);
        counts.push(format!(
            "{} nested in their own kind, {outermost} ms without them",
            units::count(row.nested)
        ));
    }
    if counts.is_empty() { String::new() } else { format!("  {}", counts.join(", ")) }
}

/// Returns how many activities of a row have an unknown length: `30 of unknown length, not in MEDIAN
/// to MAX, longest at least 909.166 ms`. `columns` are the columns that leave them out.
fn unpaired_text(columns: &str, unpaired: &Unpaired) -> String {
    let count = units::count(unpaired.count);
    let left_out = match unpaired.not_in_total {
        0 => String::new(),
        all if all == unpaired.count => " and TOTAL".to_owned(),
        some => format!(", {} of them not in TOTAL", units::count(some)),
    };
    let longest = ms(unpaired.longest_at_least_ns);
    format!("{count} of unknown length, not in {columns}{left_out}, longest at least {longest} ms")
}

/// Returns a status as `404`; `no answer` for -1, the status of a request that failed without one.
fn status_text(status: i64) -> String {
    if status < 0 { "no answer".to_owned() } else { status.to_string() }
}

/// Returns the counts of statuses from 400 to 499, as `, 2 with status 404`.
fn refusals(report: &ActivitiesReport) -> String {
    let mut counts: BTreeMap<i64, u64> = BTreeMap::new();
    let refused = |status: &&StatusCount| (400..500).contains(&status.status);
    for status in report.activities.iter().flat_map(|row| &row.statuses).filter(refused) {
        let count = counts.entry(status.status).or_default();
        *count = count.saturating_add(status.count);
    }
    let words = counts
        .into_iter()
        .map(|(status, count)| format!(", {} with status {status}", units::count(count)));
    words.collect()
}

/// Returns the names of a part of an activity's time: in a heading, in a sentence, and as a mark in
/// a timeline.
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

/// Returns whether any part of the time is not [`Doing::Unknown`].
fn is_known(parts: &Parts) -> bool {
    parts.unknown_ns < parts.total_ns()
}

/// Writes the parts of each row's time in percent.
pub(super) fn parts_table(rows: &[&ActivityRow], context: &mut Context<'_>) -> io::Result<()> {
    let name = context.style.name();
    let is_told =
        |row: &&ActivityRow| is_known(&row.parts) || !row.calls.is_empty() || row.sql_commands > 0;
    if !rows.iter().any(is_told) {
        return Ok(());
    }
    let mut columns = Parts::default().all().map(|(doing, _)| right(words(doing).0, 5, 0)).to_vec();
    // Calls and SQL commands are not further parts, because an awaited part may be one.
    let has_calls = rows.iter().any(|row| !row.calls.is_empty());
    let has_sql = rows.iter().any(|row| row.sql_commands > 0);
    columns.extend(has_calls.then(|| right("CALLS", 5, 0)));
    columns.extend(has_sql.then(|| right("SQL", 5, 0)));
    columns.push(left("WHERE THE TIME WENT", 26, 0));
    let mut table = Table::new(columns);
    for row in rows {
        let total = row.parts.total_ns();
        let percent = |nanos: u64| percent_of(nanos, total);
        let percents = row.parts.all().map(|(_, nanos)| percent(nanos));
        let calls_ns = row.calls.iter().map(|call| call.total_ns).sum();
        let more = [(has_calls, calls_ns), (has_sql, row.sql_ns)];
        let more = more.into_iter().filter(|(is_shown, _)| *is_shown);
        let more = more.map(|(_, nanos)| percent(nanos).into());
        let shown = Cell::new(printable(&row.name.to_string()), &name);
        table.add_row(percents.map(Cell::from).into_iter().chain(more).chain([shown]));
    }
    writeln!(context.out.buffer())?;
    table.write(context)?;
    let is_unknown = rows.iter().any(|row| row.parts.unknown_ns > 0);
    let is_sampled = rows.iter().any(|row| row.parts.running_ns > 0 || row.parts.native_ns > 0);
    if is_unknown && !is_sampled {
        let faint = context.style.faint();
        prose(context, &faint, UNKNOWN)?;
    }
    Ok(())
}

/// Returns the names of a phase of outgoing requests: in a heading, and in a sentence.
fn phase_words(phase: HttpPhase) -> (&'static str, &'static str) {
    match phase {
        HttpPhase::Queue => ("QUEUE %", "queue"),
        HttpPhase::NameResolution => ("DNS", "name resolution"),
        HttpPhase::Connect => ("CONNECT", "connect"),
        HttpPhase::Tls => ("TLS", "TLS"),
        HttpPhase::Send => ("SEND", "send"),
        HttpPhase::Server => ("SERVER", "server"),
        HttpPhase::Content => ("CONTENT", "content"),
        _ => ("OTHER", "other"),
    }
}

/// Writes the phases of each row's outgoing requests in percent, and how many connections opened.
pub(super) fn phases_table(rows: &[&ActivityRow], context: &mut Context<'_>) -> io::Result<()> {
    let name = context.style.name();
    if rows.iter().all(|row| row.phases.is_none()) {
        return Ok(());
    }
    let headings = HttpPhases::default().all().map(|(phase, _)| phase_words(phase).0);
    let mut columns: Vec<_> = headings.map(|heading| right(heading, 7, 0)).to_vec();
    columns.push(right("OPENED", 6, 0));
    columns.push(left("PHASES OF OUTGOING REQUESTS", 27, 0));
    let mut table = Table::new(columns);
    for row in rows {
        let Some(phases) = &row.phases else { continue };
        let total = phases.total_ns();
        let percents = phases.all().map(|(_, nanos)| percent_of(nanos, total).into());
        let opened = units::count(row.connections).into();
        let shown = Cell::new(printable(&row.name.to_string()), &name);
        table.add_row(percents.into_iter().chain([opened, shown]));
    }
    writeln!(context.out.buffer())?;
    table.write(context)
}

/// Returns the phases of an outgoing request in their order: `queue 406.256 ms, send 0.020 ms`.
fn phases_text(phases: &HttpPhases) -> Text {
    let known = phases.all().into_iter().filter(|(_, nanos)| *nanos > 0);
    let text = |(phase, nanos)| format!("{} {} ms", phase_words(phase).1, ms(nanos));
    Text::List(known.map(text).collect())
}

/// Returns a part of a time in percent: `12.3`, or `-` if there is none.
fn percent_of(nanos: u64, total: u64) -> String {
    match nanos {
        0 => "-".to_owned(),
        nanos => format!("{:.1}", nanos as f64 * 100.0 / total.max(1) as f64),
    }
}

/// Explanation of unknown time in a trace without samples.
const UNKNOWN: &str = "UNKNOWN: a thread was in the code of the activity; only CPU samples show \
                       whether it ran or was blocked (collect --profile web records them)";

/// Returns the parts of the time, longest first: `running 12.043 ms, await 3.100 ms`.
fn parts_text(parts: &Parts) -> Option<Text> {
    let mut known: Vec<(Doing, u64)> =
        parts.all().into_iter().filter(|(_, nanos)| *nanos > 0).collect();
    known.sort_by_key(|(_, nanos)| std::cmp::Reverse(*nanos));
    let texts: Vec<String> = known
        .iter()
        .map(|(doing, nanos)| format!("{} {} ms", words(*doing).1, ms(*nanos)))
        .collect();
    is_known(parts).then_some(Text::List(texts))
}

/// Maximum number of cells in a timeline.
const MAX_TIMELINE_CELLS: u64 = 60;

/// Writes the timeline of an activity, with a mark for each sixtieth of its time, and a legend of
/// the marks below.
fn line(line: &ActivityLine, context: &mut Context<'_>) -> io::Result<()> {
    let (strong, name) = (context.style.strong(), context.style.name());
    let out = context.out.buffer();
    writeln!(
        out,
        "{}  {} ms from {} on",
        name.over(printable(&line.name.to_string())),
        strong.over(ms(line.duration_ns)),
        units::milliseconds(line.start_ns),
    )?;
    let length: u64 = line.stretches.iter().map(|stretch| stretch.duration_ns).sum();
    let cells: String = (0..MAX_TIMELINE_CELLS.min(length))
        .filter_map(|cell| cell_of(line, length, cell))
        .collect();
    if !cells.is_empty() {
        writeln!(out, "|{cells}|")?;
    }
    for (doing, nanos) in line.parts.all().into_iter().filter(|(_, nanos)| *nanos > 0) {
        let (_, word, mark) = words(doing);
        let percent = nanos as f64 * 100.0 / line.duration_ns.max(1) as f64;
        writeln!(out, " {mark} {word:<8}  {:>11} ms  {percent:>5.1} %", ms(nanos))?;
    }
    for (phase, nanos) in line.phases.iter().flat_map(HttpPhases::all) {
        if nanos > 0 {
            writeln!(out, "   {:<15} {:>5} ms", phase_words(phase).1, ms(nanos))?;
        }
    }
    for serving in &line.served_by {
        writeln!(out, "   {}", served_text(serving))?;
    }
    writeln!(out)
}

/// Returns the incoming request that served a call: `served in 200.345 ms by GET /items, --id KEY`.
fn served_text(serving: &ServingRequest) -> String {
    let took =
        serving.duration_ns.map_or_else(String::new, |nanos| format!("in {} ms ", ms(nanos)));
    let key = serving.key.as_deref().or(serving.id.as_deref());
    let key = key.map(|key| format!(", --id {}", printable(key))).unwrap_or_default();
    format!("served {took}by {}{key}", printable(&serving.name.target))
}

/// Returns the mark of the part with most of a cell's time. Pauses, locks and JIT count three
/// times, so that a quarter of the cell is enough.
fn cell_of(line: &ActivityLine, length: u64, cell: u64) -> Option<char> {
    let edge = |cell: u64| {
        length.saturating_mul(cell).checked_div(MAX_TIMELINE_CELLS.min(length)).unwrap_or(0)
    };
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

/// Width of the scale on which steps are shown, in characters.
const SCALE_CELLS: usize = 30;

/// Writes the steps inside the request given with `--id`, on one scale of time.
fn steps(rows: usize, report: &ActivitiesReport, context: &mut Context<'_>) -> io::Result<()> {
    let Some(first_step) = report.steps.first() else { return Ok(()) };
    let begin = first_step.start_ns;
    let length = match first_step.duration_ns {
        Some(nanos) => nanos.max(1),
        None => {
            let last = report.steps.iter().map(|step| step.start_ns).max().unwrap_or(begin);
            u64::try_from(last.saturating_sub(begin)).unwrap_or(0).max(1)
        }
    };
    let (bad, name) = (context.style.bad(), context.style.name());
    list(context, &report.steps, rows).and_further(report.steps_left_out).columns([
        right("AT ms", 9, 0).fill(&|step| ms(since(begin, step.start_ns)).into()),
        right("TOOK ms", 9, 0)
            .fill(&|step| step.duration_ns.map_or_else(|| "-".to_owned(), ms).into()),
        left("ON ONE SCALE", 32, 1).fill(&|step| {
            let at = since(begin, step.start_ns);
            format!("|{}|", bar(at, step.duration_ns.unwrap_or(0), length)).into()
        }),
        left("WHAT", 7, 0).fill(&|step| kind_word(step.kind).into()),
        left("", 20, 0).fill(&|step| {
            let shown = format!("{}{}", "  ".repeat(step.depth.min(30)), printable(&step.text));
            Cell::new(shown, if step.is_error { &bad } else { &name })
        }),
    ])?;
    writeln!(context.out.buffer())
}

fn since(begin: i64, nanos: i64) -> u64 {
    u64::try_from(nanos.saturating_sub(begin)).unwrap_or(0)
}

/// Draws a step that began at `at` and took `took`, on a scale of `length`; all in nanoseconds.
fn bar(at: u64, took: u64, length: u64) -> String {
    let last = SCALE_CELLS.saturating_sub(1);
    let cell = |nanos: u64| {
        let share = nanos.min(length) as f64 / length as f64;
        ((share * SCALE_CELLS as f64) as usize).min(last)
    };
    let (from, to) = (cell(at), cell(at.saturating_add(took)));
    let mark = if took == 0 { '|' } else { '=' };
    (0..SCALE_CELLS).map(|at| if (from..=to).contains(&at) { mark } else { ' ' }).collect()
}

fn kind_word(kind: StepKind) -> &'static str {
    match kind {
        StepKind::Request => "request",
        StepKind::Call => "call",
        StepKind::Span => "span",
        StepKind::Sql => "SQL",
        StepKind::Await => "await",
        StepKind::Message => "message",
        StepKind::Exception => "throw",
        _ => "step",
    }
}

/// Writes the events of the activity given with `--id`.
fn events(rows: usize, report: &ActivitiesReport, context: &mut Context<'_>) -> io::Result<()> {
    if let Some(of) = &report.line {
        line(of, context)?;
    }
    steps(rows, report, context)?;
    let (strong, name) = (context.style.strong(), context.style.name());
    if report.events.is_empty() {
        let text = "no activity has this id; report activities lists those of the longest ones";
        return prose(context, &strong, text);
    }
    let mut table = Table::new([
        right("ms", 11, 0),
        right("SINCE ms", 9, 1),
        right("THREAD", 7, 2),
        left("EVENT", 5, 0),
    ]);
    let mut before = None;
    for event in report.events.iter().take(rows) {
        let since = event.ts_ns.saturating_sub(before.unwrap_or(event.ts_ns));
        before = Some(event.ts_ns);
        table.add_row([
            units::milliseconds(event.ts_ns).into(),
            units::milliseconds(since).into(),
            id(event.thread_id).into(),
            Cell::new(printable(&format!("{} {}", event.event, event.fields)), &name),
        ]);
    }
    table.write(context)?;
    let span = match (report.events.first(), report.events.last()) {
        (Some(first), Some(last)) => {
            u64::try_from(last.ts_ns.saturating_sub(first.ts_ns)).unwrap_or(0)
        }
        _ => 0,
    };
    let mut summary =
        format!("{} in {}", units::counted(report.events.len() as u64, "event"), duration(span));
    if report.events.len() > rows {
        summary = format!("{summary}, the first {} shown (-n)", units::count(rows as u64));
    }
    if report.events_left_out > 0 {
        summary = format!("{summary}, {} more left out", units::count(report.events_left_out));
    }
    prose(context, &strong, &summary)?;
    if report.same_id > 0 {
        let others = match report.same_id {
            1 => "another activity has this id".to_owned(),
            count => format!("{} other activities have this id", units::count(count)),
        };
        let text = format!("{others}: --id ID@START chooses one, as in the list of the slowest");
        prose(context, &context.style.faint(), &text)?;
    }
    Ok(())
}
