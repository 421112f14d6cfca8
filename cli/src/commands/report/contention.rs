//! Writes `report contention` as text.

use super::words::{
    MIN_PLACE_COLUMNS, innermost, ms, prose, spread_row, spread_table, stuck, thread, wait_totals,
};
use crate::context::Context;
use crate::style::Paint;
use crate::table::{Cell, Detail, first, left, right};
use crate::units;
use nettrace_analysis::report::ContentionReport;
use std::io::{self, Write};

/// Maximum number of stacks shown for each lock.
const MAX_SHOWN_STACKS: usize = 3;
/// Maximum number of threads named in a deadlock.
const MAX_SHOWN_THREADS: usize = 20;
/// Maximum number of owners shown for each lock.
const MAX_SHOWN_OWNERS: usize = 3;

pub(super) fn text(
    rows: usize,
    report: &ContentionReport,
    context: &mut Context<'_>,
) -> io::Result<()> {
    deadlocks(rows, report, context)?;
    open(rows, report, context)?;
    stuck(rows, &report.stuck, context)?;
    let (faint, name) = (context.style.faint(), context.style.name());
    let mut table = spread_table([right("WAITS", 7, 0)], &[left("LOCK", 4, 0)]);
    for lock in report.locks.iter().take(rows) {
        let id = lock.lock_id.as_deref().unwrap_or("(unknown lock)");
        let kind = if lock.is_native { " of the runtime" } else { "" };
        let count = units::count(lock.waits.count).into();
        let shown = Cell::new(format!("{id}{kind}"), &name);
        table.add_row(spread_row([count], &lock.waits, [shown]));
        for stack in lock.stacks.iter().filter(|stack| stack.count > 0).take(MAX_SHOWN_STACKS) {
            let head = format!("{:>20}  waited in ", super::words::ms(stack.count));
            table.add_detail(Detail::new(head, innermost(&stack.frames, 3)), &faint);
        }
        let owners = lock.owners.iter().take(MAX_SHOWN_OWNERS).map(|owner| {
            let thread = thread(owner.thread_id, owner.name.as_deref());
            format!("{thread} {}×", units::count(owner.count))
        });
        let owners: Vec<String> = owners.collect();
        if !owners.is_empty() {
            let more = lock.owners.len().saturating_sub(MAX_SHOWN_OWNERS) as u64;
            let more = more.saturating_add(lock.owners_left_out);
            let more =
                if more > 0 { format!(" and {} more", units::count(more)) } else { String::new() };
            let head = format!("{:>20}  held by ", "");
            let held = match lock.held.count {
                0 => String::new(),
                _ => format!(", for a median of {} ms", ms(lock.held.p50_ns)),
            };
            let owners = format!("{}{more}{held}", owners.join(", "));
            table.add_detail(Detail::new(head, owners), &faint);
        }
        for stack in lock.owner_stacks.iter().take(MAX_SHOWN_STACKS) {
            let head = format!("{:>20}  owner was in ", units::counted(stack.count, "sample"));
            table.add_detail(Detail::new(head, innermost(&stack.frames, 3)), &faint);
        }
    }
    table.write(context)?;
    wait_totals(
        context,
        &report.totals,
        &format!(" for {}", units::counted(report.locks.len() as u64, "lock")),
    )
}

/// Returns the ids of the first [`MAX_SHOWN_THREADS`] threads, and the number of further threads.
fn ids(threads: &[u64], between: &str) -> String {
    let named = threads.iter().take(MAX_SHOWN_THREADS).map(u64::to_string);
    let more = threads.len().saturating_sub(MAX_SHOWN_THREADS);
    let more = (more > 0).then(|| format!("{} more", units::count(more as u64)));
    named.chain(more).collect::<Vec<_>>().join(between)
}

/// Writes the circles of threads that wait for each other.
fn deadlocks(rows: usize, report: &ContentionReport, context: &mut Context<'_>) -> io::Result<()> {
    for circle in report.deadlocks.iter().take(rows) {
        let back = circle.thread_ids.first().map(u64::to_string).unwrap_or_default();
        let threads = ids(&circle.thread_ids, " → ");
        let line =
            format!("deadlock: {threads} → {back}: each waits for a lock that the next one holds");
        prose(context, &context.style.strong(), &line)?;
        if !circle.victim_ids.is_empty() {
            let victims = ids(&circle.victim_ids, ", ");
            let line = format!("blocked by these, and no part of it: {victims}");
            prose(context, &Paint::default(), &line)?;
        }
    }
    Ok(())
}

/// Writes the threads that still wait at the end of the trace.
fn open(rows: usize, report: &ContentionReport, context: &mut Context<'_>) -> io::Result<()> {
    if report.open.is_empty() {
        return Ok(());
    }
    first(context, &report.open, rows).columns([
        right("AT LEAST ms", 11, 0).fill(&|row| ms(row.wait.at_least_ns).into()),
        left("THREAD", 6, 0)
            .fill(&|row| thread(row.wait.thread_id, row.wait.name.as_deref()).into()),
        left("LOCK", 4, 3).fill(&|row| row.lock_id.as_deref().unwrap_or("?").to_owned().into()),
        left("HELD BY", 7, 1).fill(&|row| match (row.owner_thread_id, row.owner_managed_id) {
            (Some(owner), _) => owner.to_string().into(),
            (None, Some(owner)) => format!("managed thread {owner}").into(),
            (None, None) => "?".into(),
        }),
        left("STILL WAITS IN", 14, 0)
            .at_least(MIN_PLACE_COLUMNS)
            .fill(&|row| innermost(&row.wait.frames, 3).into()),
    ])?;
    writeln!(context.out.buffer())
}
