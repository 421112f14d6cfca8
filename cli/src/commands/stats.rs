//! `nettrace stats`: writes a line for each event type.

use crate::args::{SortKey, StatsArgs};
use crate::context::Context;
use crate::cut::{Text, fixed, main, other};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::table::{Cell, end_page, first, left, right};
use crate::{survey, units};
use nettrace_analysis::info::{Survey, TraceStats, TypeStats};
use nettrace_export::EventType;
use nettrace_parser::{Clock, Limits};
use std::cmp::Reverse;
use std::io::Write;

pub(super) fn run(args: &StatsArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let mut trace = context.open(&args.input)?;
    let header = trace.reader.trace().cloned().map_err(|error| trace.failed(&error))?;
    let (survey, ended) =
        survey::survey_trace(&mut trace, args.threads, Limits::default(), Survey::unbounded)?;
    let mut stats = survey.stats(&header, &ended);
    let rows = &mut stats.types;
    match args.sort {
        SortKey::Name => {}
        SortKey::Count => rows.sort_by_key(|row| Reverse(row.events)),
        SortKey::Bytes => rows.sort_by_key(|row| Reverse(row.payload_bytes)),
        SortKey::Stacks => rows.sort_by_key(|row| Reverse(row.with_stack)),
        SortKey::First => rows.sort_by_key(|row| row.first_ticks),
        SortKey::Last => rows.sort_by_key(|row| row.last_ticks),
    }
    context.progress.end();
    if args.form.json {
        context.write_report(&stats, &ended)?;
    } else {
        text(context, &stats, header.clock(), args)?;
        end_page(context)?;
        context.out.finish()?;
        context.messages.losses(&trace.file, &ended);
    }
    context.out.finish()?;
    Ok(context.conclude(&trace.file, &ended, true))
}

/// Minimum width in characters of a terminal on which each row has the date.
const MIN_DATE_COLUMNS: usize = 110;

/// Minimum width in characters of the column `EVENT`.
const MIN_EVENT_COLUMNS: usize = 40;

/// Returns the date of all events, such as `2024-02-29`; `None` if they are of several days.
fn common_day(rows: &[TypeStats<'_>], clock: Clock) -> Option<String> {
    let day = |ticks| Some(units::instant(clock, ticks, true).split_once(' ')?.0.to_owned());
    let first = day(rows.first()?.first_ticks)?;
    let is_same = |ticks| day(ticks).as_ref() == Some(&first);
    let all = rows.iter().all(|row| is_same(row.first_ticks) && is_same(row.last_ticks));
    all.then_some(first)
}

fn text(
    context: &mut Context<'_>,
    stats: &TraceStats<'_>,
    clock: Clock,
    args: &StatsArgs,
) -> Result<(), Failure> {
    let (rows, events) = (stats.types.as_slice(), stats.events);
    let (strong, name) = (context.style.strong(), context.style.name());
    let (is_utc, sort) = (args.utc, args.sort);
    let (from, to) = if is_utc { ("FIRST", "LAST") } else { ("FIRST ms", "LAST ms") };
    // On a narrow terminal, names need the room of dates that are equal in all rows.
    let is_narrow = context.table_width().is_some_and(|width| width < MIN_DATE_COLUMNS);
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
        right("EVENTS", 9, 0).fill(&|row| units::count(row.events).into()),
        right("SHARE", 6, 1).fill(&|row| units::share(row.events, events).into()),
        right("PAYLOAD", 9, 2)
            .asked_for(sort == SortKey::Bytes)
            .fill(&|row| units::bytes(row.payload_bytes).into()),
        right("STACKS", 9, 3)
            .asked_for(sort == SortKey::Stacks)
            .fill(&|row| units::count(row.with_stack).into()),
        right(from, time, 5)
            .asked_for(is_utc || sort == SortKey::First)
            .fill(&|row| instant(row.first_ticks).into()),
        right(to, time, 4)
            .asked_for(is_utc || sort == SortKey::Last)
            .fill(&|row| instant(row.last_ticks).into()),
        left("EVENT", 5, 0)
            .at_least(MIN_EVENT_COLUMNS)
            .fill(&|row| Cell::new(event(row.event_type), &name)),
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

/// Returns `Provider/Name #1 v0`, a text that keeps the event's name longest when it is cut.
fn event(row: &EventType) -> Text {
    let (path, number) = (row.path(), format!(" {}", number(row)));
    match path.strip_prefix(&*row.provider) {
        Some(event) => Text::parts([other(&row.provider), main(event), fixed(&number)]),
        None => Text::parts([main(&path), fixed(&number)]),
    }
}

/// Returns id and version of a type, without the id if that is in the name.
pub(super) fn number(row: &EventType) -> String {
    match (row.has_name(), row.is_defined) {
        (_, false) => String::new(),
        (false, true) => format!("v{}", row.version),
        (true, true) => format!("#{} v{}", row.id, row.version),
    }
}
