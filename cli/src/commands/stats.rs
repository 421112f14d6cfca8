//! `nettrace stats`: a line for each event type.

use crate::args::{SortKey, StatsArgs};
use crate::context::Context;
use crate::cut::{Text, fixed, main, other};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::Ended;
use crate::survey::{Survey, TypeCount};
use crate::table::{Cell, end_page, first, left, right};
use crate::units;
use nettrace_export::EventType;
use nettrace_parser::Clock;
use serde::Serialize;
use std::cmp::Reverse;
use std::io::Write;

pub(super) fn run(args: &StatsArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let mut trace = context.open(&args.input)?;
    let clock = trace.reader.trace().map(|header| header.clock());
    let clock = clock.map_err(|error| trace.failed(&error))?;
    let of_regions = trace
        .regions(args.threads)
        .map(|regions| Survey::of_regions(&regions, Survey::of_all_types))
        .transpose()
        .map_err(|error| trace.failed(&error))?;
    let (survey, trace) = match of_regions.flatten() {
        Some((survey, outcome)) => (survey, ReadTrace { file: trace.file, ended: outcome.into() }),
        None => {
            let mut survey = Survey::of_all_types();
            trace.reader.visit(&mut survey).map_err(|error| trace.failed(&error))?;
            (survey, ReadTrace { file: trace.file, ended: (&trace.reader).into() })
        }
    };
    let mut rows: Vec<(&EventType, &TypeCount)> = survey.types().collect();
    rows.sort_by(|a, b| a.0.sort_key().cmp(&b.0.sort_key()));
    match args.sort {
        SortKey::Name => {}
        SortKey::Count => rows.sort_by_key(|(_, count)| Reverse(count.events)),
        SortKey::Bytes => rows.sort_by_key(|(_, count)| Reverse(count.payload_bytes)),
        SortKey::Stacks => rows.sort_by_key(|(_, count)| Reverse(count.with_stack)),
        SortKey::First => rows.sort_by_key(|(_, count)| count.first_ticks),
        SortKey::Last => rows.sort_by_key(|(_, count)| count.last_ticks),
    }
    context.progress.end();
    if args.form.json {
        json(context, &trace, &survey, &rows, clock)?;
    } else {
        text(context, &rows, survey.events(), clock, args)?;
        end_page(context)?;
        context.out.finish()?;
        context.messages.losses(&trace.file, &trace.ended);
    }
    context.out.finish()?;
    Ok(context.conclude(&trace.file, &trace.ended, true))
}

/// A trace that was read.
struct ReadTrace {
    file: String,
    ended: Ended,
}

/// `--json`, whole.
#[derive(Serialize)]
struct StatsReport<'a> {
    schema: u32,
    events: u64,
    lost: u64,
    types: Vec<TypeReport<'a>>,
}

#[derive(Serialize)]
struct TypeReport<'a> {
    provider: &'a str,
    id: u32,
    version: u32,
    name: String,
    events: u64,
    payload_bytes: u64,
    with_stack: u64,
    first_ns: Option<i64>,
    last_ns: Option<i64>,
}

fn json(
    context: &mut Context<'_>,
    trace: &ReadTrace,
    survey: &Survey,
    rows: &[(&EventType, &TypeCount)],
    clock: Clock,
) -> Result<(), Failure> {
    let types = rows.iter().map(|(row, count)| TypeReport {
        provider: &row.provider,
        id: row.id,
        version: row.version,
        name: row.event_name(),
        events: count.events,
        payload_bytes: count.payload_bytes,
        with_stack: count.with_stack,
        first_ns: clock.nanos_since_start(count.first_ticks),
        last_ns: clock.nanos_since_start(count.last_ticks),
    });
    let report = StatsReport {
        schema: 1,
        events: survey.events(),
        lost: trace.ended.losses().total(),
        types: types.collect(),
    };
    context.write_report(&report, &trace.ended)
}

/// Below this many columns dates are not repeated.
const NARROW: usize = 110;

/// Room that an event's own name mostly needs.
const LEAST_EVENT: usize = 40;

/// The date of all events, if there is one: `2024-02-29`.
fn common_day(rows: &[(&EventType, &TypeCount)], clock: Clock) -> Option<String> {
    let day = |ticks| Some(units::instant(clock, ticks, true).split_once(' ')?.0.to_owned());
    let first = day(rows.first()?.1.first_ticks)?;
    let is_same = |ticks| day(ticks).as_ref() == Some(&first);
    let all = rows.iter().all(|(_, count)| is_same(count.first_ticks) && is_same(count.last_ticks));
    all.then_some(first)
}

fn text(
    context: &mut Context<'_>,
    rows: &[(&EventType, &TypeCount)],
    events: u64,
    clock: Clock,
    args: &StatsArgs,
) -> Result<(), Failure> {
    let (strong, name) = (context.style.strong(), context.style.name());
    let (is_utc, sort) = (args.utc, args.sort);
    let (from, to) = if is_utc { ("FIRST", "LAST") } else { ("FIRST ms", "LAST ms") };
    // On a narrow terminal, names need the room of two dates that are the same in each
    // row.
    let is_narrow = context.table_width().is_some_and(|width| width < NARROW);
    let day = if is_utc && is_narrow { common_day(rows, clock) } else { None };
    let time = match (is_utc, &day) {
        (false, _) => 10,
        (true, Some(_)) => 15,
        (true, None) => 26,
    };
    let instant = |ticks| {
        let text = units::instant(clock, ticks, is_utc);
        match day.as_ref().and_then(|day| text.strip_prefix(day.as_str())) {
            Some(time) => time.trim_start().to_owned(),
            None => text,
        }
    };
    first(context, rows, usize::MAX).columns([
        right("EVENTS", 9, 0).of(&|(_, count)| units::count(count.events).into()),
        right("SHARE", 6, 1).of(&|(_, count)| units::share(count.events, events).into()),
        right("PAYLOAD", 9, 2)
            .asked_for(sort == SortKey::Bytes)
            .of(&|(_, count)| units::bytes(count.payload_bytes).into()),
        right("STACKS", 9, 3)
            .asked_for(sort == SortKey::Stacks)
            .of(&|(_, count)| units::count(count.with_stack).into()),
        right(from, time, 5)
            .asked_for(is_utc || sort == SortKey::First)
            .of(&|(_, count)| instant(count.first_ticks).into()),
        right(to, time, 4)
            .asked_for(is_utc || sort == SortKey::Last)
            .of(&|(_, count)| instant(count.last_ticks).into()),
        left("EVENT", 5, 0).at_least(LEAST_EVENT).of(&|(row, _)| Cell::new(event(row), &name)),
    ])?;
    let summary = format!(
        "{} of {}{}",
        units::counted(events, "event"),
        units::counted(rows.len() as u64, "type"),
        day.map_or_else(String::new, |day| format!(", on {day} (UTC)")),
    );
    writeln!(context.out.buffer(), "{}", strong.over(summary))?;
    Ok(())
}

/// `Provider/Name #1 v0`: its own name stays longest.
fn event(row: &EventType) -> Text {
    let (path, number) = (row.path(), format!(" {}", number(row)));
    match path.strip_prefix(&*row.provider) {
        Some(event) => Text::parts([other(&row.provider), main(event), fixed(&number)]),
        None => Text::parts([main(&path), fixed(&number)]),
    }
}

/// Id and version; the id only if it is not in the name.
pub(super) fn number(row: &EventType) -> String {
    match (row.has_name(), row.is_defined) {
        (_, false) => String::new(),
        (false, true) => format!("v{}", row.version),
        (true, true) => format!("#{} v{}", row.id, row.version),
    }
}
