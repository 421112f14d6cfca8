//! `nettrace stats`: a line for each event type.

use super::{Context, instant};
use crate::args::{SortKey, StatsArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::Ended;
use crate::printable::printable;
use crate::survey::{Survey, TypeCount};
use crate::table::{Cell, Table, left, right};
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
    let (survey, trace) = match trace.regions(args.threads) {
        Some(regions) => {
            let (survey, outcome) = Survey::of_regions(&regions).map_err(|error| trace.failed(&error))?;
            (survey, ReadTrace { file: trace.file, ended: outcome.into() })
        }
        None => {
            let mut survey = Survey::default();
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
    if args.json {
        json(context, &trace, &survey, &rows, clock)?;
    } else {
        text(context, &rows, survey.events(), clock, args.utc)?;
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
    super::write_report(context, &report, &trace.ended)
}

fn text(
    context: &mut Context<'_>,
    rows: &[(&EventType, &TypeCount)],
    events: u64,
    clock: Clock,
    is_utc: bool,
) -> Result<(), Failure> {
    let (strong, name) = (context.style.strong(), context.style.name());
    let time = if is_utc { 26 } else { 10 };
    let (first, last) = if is_utc { ("FIRST", "LAST") } else { ("FIRST ms", "LAST ms") };
    let mut table = Table::new([
        right("EVENTS", 9, 0),
        right("SHARE", 6, 1),
        right("PAYLOAD", 9, 2),
        right("STACKS", 9, 3),
        right(first, time, 5),
        right(last, time, 4),
        left("EVENT", 5, 0),
    ]);
    for (row, count) in rows {
        table.row([
            units::count(count.events).into(),
            units::share(count.events, events).into(),
            units::bytes(count.payload_bytes).into(),
            units::count(count.with_stack).into(),
            instant(clock, count.first_ticks, is_utc).into(),
            instant(clock, count.last_ticks, is_utc).into(),
            Cell::new(printable(&format!("{} {}", row.path(), number(row))), &name),
        ]);
    }
    table.write(context)?;
    let summary =
        format!("{} of {}", units::counted(events, "event"), units::counted(rows.len() as u64, "type"),);
    writeln!(context.out.buffer(), "{}", strong.over(summary))?;
    Ok(())
}

/// Id and version; the id only if it is not in the name.
pub(super) fn number(row: &EventType) -> String {
    match (row.has_name(), row.is_defined) {
        (_, false) => String::new(),
        (false, true) => format!("v{}", row.version),
        (true, true) => format!("#{} v{}", row.id, row.version),
    }
}
