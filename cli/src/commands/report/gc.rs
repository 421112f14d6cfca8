//! Writes `report gc` as a table.

use super::words::{duration, ms, prose};
use crate::args::TimelineArgs;
use crate::context::Context;
use crate::style::Paint;
use crate::table::{Cell, first, left, list, right};
use crate::units;
use nettrace_analysis::report::{
    Collection, GcAdaptation, GcChange, GcDecision, GcKind, GcReport, HeapCountChange,
};
use std::cmp::Reverse;
use std::io::{self, Write};

pub(super) fn text(
    args: &TimelineArgs,
    report: &GcReport,
    context: &mut Context<'_>,
) -> io::Result<()> {
    let strong = context.style.strong();
    let mut rows: Vec<&Collection> = report.collections.iter().collect();
    if !args.timeline {
        rows.sort_by_key(|row| (Reverse(row.pause_ns), row.start_ns));
        writeln!(context.out.buffer(), "{}", strong.over("Longest pauses"))?;
    }
    let bytes = |bytes: Option<u64>| Cell::from(bytes.map_or_else(|| "-".to_owned(), units::bytes));
    // Bytes of a generation after the collection; unknown if the event with them was lost.
    let after = |row: &Collection, place: usize| {
        bytes(row.generations.get(place).and_then(|row| row.after_bytes))
    };
    first(context, &rows, args.rows()).columns([
        right("GC", 7, 0).fill(&|row| row.number.to_string().into()),
        right("GEN", 3, 0).fill(&|row| row.generation.to_string().into()),
        left("TYPE", 13, 7).fill(&|row| kind(row).into()),
        left("REASON", 16, 1).fill(&|row| row.reason.to_string().into()),
        right("START ms", 10, 0).fill(&|row| units::milliseconds(row.start_ns).into()),
        right("PAUSE ms", 9, 0).fill(&|row| match row.pauses.is_empty() {
            true => "?".into(),
            false => ms(row.pause_ns).into(),
        }),
        right("BEFORE", 10, 3).fill(&|row| bytes(row.heap_before_bytes)),
        right("AFTER", 10, 2).fill(&|row| bytes(row.heap_after_bytes)),
        right("PROMOTED", 10, 5).fill(&|row| bytes(row.promoted_bytes)),
        right("ALLOCATED", 10, 4).fill(&|row| bytes(row.allocated_bytes)),
        right("FRAGM", 5, 6).fill(&|row| match row.fragmentation_percent {
            Some(percent) => format!("{percent:.0} %").into(),
            None => "-".into(),
        }),
        right("GEN0", 10, 9).fill(&|row| after(row, 0)),
        right("GEN1", 10, 9).fill(&|row| after(row, 1)),
        right("GEN2", 10, 8).fill(&|row| after(row, 2)),
        right("LOH", 10, 8).fill(&|row| after(row, 3)),
        right("POH", 10, 9).fill(&|row| after(row, 4)),
    ])?;
    writeln!(context.out.buffer(), "\n{}", strong.over("By generation"))?;
    totals(report, context)?;
    writeln!(context.out.buffer())?;
    let totals = &report.totals;
    let line = format!(
        "{}, {} paused in {}: {:.1} %; pauses p50 {}, p90 {}, p99 {}, longest {}",
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
        "{} compacting, {} background, {} induced; at least {} allocated, {} promoted, largest heap {}",
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
    match &report.adaptation {
        Some(adaptation) => adapted(args, adaptation, context),
        None => Ok(()),
    }
}

/// Writes how the number of heaps was adapted: a row for each decision, those that changed something
/// first unless all are listed in the order of time, and a sentence for each change.
fn adapted(
    args: &TimelineArgs,
    adaptation: &GcAdaptation,
    context: &mut Context<'_>,
) -> io::Result<()> {
    let strong = context.style.strong();
    if !adaptation.decisions.is_empty() {
        writeln!(context.out.buffer(), "\n{}", strong.over("Decisions about the number of heaps"))?;
    }
    let mut rows: Vec<&GcDecision> = adaptation.decisions.iter().collect();
    if !args.timeline {
        rows.sort_by(|a, b| {
            let rank = |row: &GcDecision| row.changed.is_none();
            rank(a).cmp(&rank(b)).then_with(|| b.cost_percent.total_cmp(&a.cost_percent))
        });
    }
    let bytes = |bytes: Option<u64>| Cell::from(bytes.map_or_else(|| "-".to_owned(), units::bytes));
    list(context, &rows, args.rows()).columns([
        right("AFTER GC", 8, 0).fill(&|row| row.collection.to_string().into()),
        right("TIME ms", 10, 0).fill(&|row| units::milliseconds(row.time_ns).into()),
        left("ABOUT", 5, 3).fill(&|row| if row.is_full { "full" } else { "all" }.into()),
        right("COST", 7, 1).fill(&|row| format!("{:.1} %", row.cost_percent).into()),
        right("HEAPS", 5, 0).fill(&|row| match row.heaps {
            Some(heaps) => heaps.to_string().into(),
            None => "?".into(),
        }),
        right("ALLOWED", 7, 4).fill(&|row| match row.heaps_allowed {
            Some([least, greatest]) => format!("{least}-{greatest}").into(),
            None => "-".into(),
        }),
        right("BUDGET/HEAP", 11, 2).fill(&|row| bytes(row.heap_budget_bytes.map(u64::from))),
        right("STABLE", 10, 5).fill(&|row| bytes(row.stable_bytes)),
        left("CHANGED", 7, 0).fill(&|row| match row.changed {
            Some(GcChange::Heaps) => "heaps".into(),
            Some(GcChange::Budget) => "budget".into(),
            _ => "-".into(),
        }),
    ])?;
    for change in adaptation.changes.iter().take(args.rows()) {
        prose(context, &strong, &change_sentence(change))?;
    }
    let more = adaptation.changes.len().saturating_sub(args.rows()) as u64;
    if more > 0 {
        let line = format!("and {}", units::counted(more, "further change"));
        prose(context, &Paint::default(), &line)?;
    }
    if adaptation.left_out > 0 {
        let line = format!(
            "{} and changes are not listed: there are more than 16,384 of a process",
            units::counted(adaptation.left_out, "decision")
        );
        prose(context, &Paint::default(), &line)?;
    }
    Ok(())
}

fn change_sentence(change: &HeapCountChange) -> String {
    let why = match change.cost_percent {
        Some(percent) if change.is_full => {
            format!("full collections cost {percent:.1} % of the time")
        }
        Some(percent) => format!("collections cost {percent:.1} % of the time"),
        None => "the decision is not in the trace".to_owned(),
    };
    format!(
        "The number of heaps changed from {} to {} before GC {}, at {} ms: {why}",
        change.from_heaps,
        change.to_heaps,
        change.collection,
        units::milliseconds(change.start_ns),
    )
}

fn totals(report: &GcReport, context: &mut Context<'_>) -> io::Result<()> {
    first(context, &report.totals.generations, usize::MAX).columns([
        right("GEN", 3, 0).fill(&|row| row.generation.to_string().into()),
        right("COUNT", 5, 0).fill(&|row| units::count(row.count).into()),
        right("PAUSE ms", 11, 0).fill(&|row| ms(row.pause_ns).into()),
        right("MEDIAN ms", 11, 1).fill(&|row| ms(row.p50_pause_ns).into()),
        right("MAX ms", 11, 0).fill(&|row| ms(row.max_pause_ns).into()),
        right("PROMOTED", 10, 2).fill(&|row| units::bytes(row.promoted_bytes).into()),
    ])
}

fn kind(row: &Collection) -> String {
    match row.kind {
        GcKind::Blocking => "blocking".to_owned(),
        GcKind::Background => "background".to_owned(),
        GcKind::Foreground => "foreground".to_owned(),
        other => other.to_string(),
    }
}
