//! `report gc` as a table.

use super::words::{duration, ms};
use crate::args::ReportArgs;
use crate::commands::Context;
use crate::units;
use nettrace_analysis::report::{Collection, GcReport};
use std::cmp::Reverse;
use std::io::{self, Write};

/// Generations 0, 1 and 2, large objects, pinned objects.
const GENERATIONS: usize = 5;

pub(super) fn text(args: &ReportArgs, report: &GcReport, context: &mut Context<'_>) -> io::Result<()> {
    let (strong, faint) = (context.style.strong(), context.style.faint());
    let out = context.out.buffer();
    let mut rows: Vec<&Collection> = report.collections.iter().collect();
    if !args.timeline {
        rows.sort_by_key(|row| (Reverse(row.pause_ns), row.start_ns));
        writeln!(out, "{}", strong.over("Longest pauses"))?;
    }
    rows.truncate(args.number);
    let heading = "     GC  GEN  TYPE           REASON             START ms   PAUSE ms      BEFORE       AFTER    PROMOTED   ALLOCATED  FRAGM        GEN0        GEN1        GEN2         LOH         POH";
    writeln!(out, "{}", faint.over(heading))?;
    for row in rows {
        let bytes = |bytes: Option<u64>| bytes.map_or_else(|| "-".to_owned(), units::bytes);
        let pause = match row.pauses.is_empty() {
            true => "?".to_owned(),
            false => units::milliseconds(i64::try_from(row.pause_ns).unwrap_or(i64::MAX)),
        };
        write!(
            out,
            "{:>7}  {:>3}  {:<13}  {:<16} {:>10}  {pause:>9}  {:>10}  {:>10}  {:>10}  {:>10}  {:>5}",
            row.number,
            row.generation,
            kind(row),
            row.reason,
            units::milliseconds(row.start_ns),
            bytes(row.heap_before_bytes),
            bytes(row.heap_after_bytes),
            bytes(row.promoted_bytes),
            bytes(row.allocated_bytes),
            row.fragmentation_percent.map_or_else(|| "-".to_owned(), |percent| format!("{percent:.0} %")),
        )?;
        // What each generation has behind it; nothing is told where that event was lost.
        for place in 0..GENERATIONS {
            let after = row.generations.get(place).and_then(|generation| generation.after_bytes);
            write!(out, "  {:>10}", bytes(after))?;
        }
        writeln!(out)?;
    }
    writeln!(out)?;
    totals(
        report,
        out,
        strong.over("By generation"),
        faint.over("GEN  COUNT     PAUSE ms    MEDIAN ms       MAX ms    PROMOTED"),
    )?;
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
    writeln!(out, "{}", strong.over(line))?;
    let line = format!(
        "{} compacting, {} background, {} induced; {} allocated, {} promoted, largest heap {}",
        units::count(totals.compacting),
        units::count(totals.background),
        units::count(totals.induced),
        units::bytes(totals.allocated_bytes),
        units::bytes(totals.promoted_bytes),
        units::bytes(totals.heap_peak_bytes),
    );
    writeln!(out, "{line}")?;
    if totals.incomplete > 0 {
        let text = format!(
            "{} without start, end or pause in the trace",
            units::counted(totals.incomplete, "collection")
        );
        writeln!(out, "{text}")?;
    }
    Ok(())
}

fn totals(
    report: &GcReport,
    out: &mut Vec<u8>,
    title: impl std::fmt::Display,
    heading: impl std::fmt::Display,
) -> io::Result<()> {
    writeln!(out, "{title}\n{heading}")?;
    for row in &report.totals.generations {
        writeln!(
            out,
            "{:>3}  {:>5}  {:>11}  {:>11}  {:>11}  {:>10}",
            row.generation,
            units::count(row.count),
            ms(row.pause_ns),
            ms(row.p50_pause_ns),
            ms(row.max_pause_ns),
            units::bytes(row.promoted_bytes),
        )?;
    }
    writeln!(out)
}

fn kind(row: &Collection) -> &str {
    match row.kind.as_ref() {
        "NonConcurrentGC" => "blocking",
        "BackgroundGC" => "background",
        "ForegroundGC" => "foreground",
        other => other,
    }
}
