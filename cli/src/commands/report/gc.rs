//! `report gc` as a table.

use super::words::{duration, ms, prose};
use crate::args::ReportArgs;
use crate::commands::Context;
use crate::style::Paint;
use crate::table::{Cell, Column, Table, left, right};
use crate::units;
use nettrace_analysis::report::{Collection, GcReport};
use std::cmp::Reverse;
use std::io::{self, Write};

/// The last five: generations 0, 1 and 2, large objects, pinned objects.
const COLUMNS: &[Column] = &[
    right("GC", 7, 0),
    right("GEN", 3, 0),
    left("TYPE", 13, 7),
    left("REASON", 16, 1),
    right("START ms", 10, 0),
    right("PAUSE ms", 9, 0),
    right("BEFORE", 10, 3),
    right("AFTER", 10, 2),
    right("PROMOTED", 10, 5),
    right("ALLOCATED", 10, 4),
    right("FRAGM", 5, 6),
    right("GEN0", 10, 9),
    right("GEN1", 10, 9),
    right("GEN2", 10, 8),
    right("LOH", 10, 8),
    right("POH", 10, 9),
];

pub(super) fn text(args: &ReportArgs, report: &GcReport, context: &mut Context<'_>) -> io::Result<()> {
    let strong = context.style.strong();
    let mut rows: Vec<&Collection> = report.collections.iter().collect();
    if !args.timeline {
        rows.sort_by_key(|row| (Reverse(row.pause_ns), row.start_ns));
        writeln!(context.out.buffer(), "{}", strong.over("Longest pauses"))?;
    }
    rows.truncate(args.number);
    let mut table = Table::new(COLUMNS);
    for row in rows {
        let bytes = |bytes: Option<u64>| Cell::from(bytes.map_or_else(|| "-".to_owned(), units::bytes));
        let pause = if row.pauses.is_empty() { "?".to_owned() } else { ms(row.pause_ns) };
        // What each generation has behind it; nothing is known where that event was lost.
        let after = |place: usize| bytes(row.generations.get(place).and_then(|row| row.after_bytes));
        table.row([
            row.number.to_string().into(),
            row.generation.to_string().into(),
            kind(row).into(),
            (&*row.reason).into(),
            units::milliseconds(row.start_ns).into(),
            pause.into(),
            bytes(row.heap_before_bytes),
            bytes(row.heap_after_bytes),
            bytes(row.promoted_bytes),
            bytes(row.allocated_bytes),
            row.fragmentation_percent
                .map_or_else(|| "-".to_owned(), |percent| format!("{percent:.0} %"))
                .into(),
            after(0),
            after(1),
            after(2),
            after(3),
            after(4),
        ]);
    }
    table.write(context)?;
    writeln!(context.out.buffer(), "\n{}", strong.over("By generation"))?;
    totals(report, context)?;
    writeln!(context.out.buffer())?;
    let totals = &report.totals;
    let line = format!(
        "{}, {} paused in {}: {:.1} %; pause 50 % {}, 90 % {}, 99 % {}, longest {}",
        units::counted(totals.count, "collection"),
        duration(totals.pause_ns),
        duration(totals.seen_ns),
        totals.pause_percent,
        duration(totals.p50_pause_ns),
        duration(totals.p90_pause_ns),
        duration(totals.p99_pause_ns),
        duration(totals.max_pause_ns),
    );
    prose(context, &strong, &line)?;
    let line = format!(
        "{} compacting, {} background, {} induced; {} allocated, {} promoted, largest heap {}",
        units::count(totals.compacting),
        units::count(totals.background),
        units::count(totals.induced),
        units::bytes(totals.allocated_bytes),
        units::bytes(totals.promoted_bytes),
        units::bytes(totals.heap_peak_bytes),
    );
    prose(context, &Paint::default(), &line)?;
    if totals.incomplete > 0 {
        let text = format!(
            "{} without start, end or pause in the trace",
            units::counted(totals.incomplete, "collection")
        );
        prose(context, &Paint::default(), &text)?;
    }
    Ok(())
}

fn totals(report: &GcReport, context: &mut Context<'_>) -> io::Result<()> {
    const COLUMNS: &[Column] = &[
        right("GEN", 3, 0),
        right("COUNT", 5, 0),
        right("PAUSE ms", 11, 0),
        right("MEDIAN ms", 11, 1),
        right("MAX ms", 11, 0),
        right("PROMOTED", 10, 2),
    ];
    let mut table = Table::new(COLUMNS);
    for row in &report.totals.generations {
        table.row([
            row.generation.to_string().into(),
            units::count(row.count).into(),
            ms(row.pause_ns).into(),
            ms(row.p50_pause_ns).into(),
            ms(row.max_pause_ns).into(),
            units::bytes(row.promoted_bytes).into(),
        ]);
    }
    table.write(context)
}

fn kind(row: &Collection) -> &str {
    match row.kind.as_ref() {
        "NonConcurrentGC" => "blocking",
        "BackgroundGC" => "background",
        "ForegroundGC" => "foreground",
        other => other,
    }
}
