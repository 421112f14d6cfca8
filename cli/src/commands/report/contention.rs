//! `report contention` for reading.

use super::words::{
    LEAST_PLACE, innermost, ms, prose, spread_row, spread_table, thread, wait_totals,
};
use crate::context::Context;
use crate::style::Paint;
use crate::table::{Cell, Detail, first, left, right};
use crate::units;
use nettrace_analysis::report::ContentionReport;
use std::io::{self, Write};

/// Stacks shown of each lock.
const SHOWN_STACKS: usize = 3;
/// Owners shown of each lock.
const SHOWN_OWNERS: usize = 3;

pub(super) fn text(
    rows: usize,
    report: &ContentionReport,
    context: &mut Context<'_>,
) -> io::Result<()> {
    deadlocks(report, context)?;
    open(rows, report, context)?;
    let (faint, name) = (context.style.faint(), context.style.name());
    let mut table = spread_table([right("WAITS", 7, 0)], &[left("LOCK", 4, 0)]);
    for lock in report.locks.iter().take(rows) {
        let id = lock.lock_id.as_deref().unwrap_or("(unknown lock)");
        let kind = if lock.is_native { " of the runtime" } else { "" };
        let count = units::count(lock.waits.count).into();
        let shown = Cell::new(format!("{id}{kind}"), &name);
        table.row(spread_row([count], &lock.waits, [shown]));
        for stack in lock.stacks.iter().filter(|stack| stack.count > 0).take(SHOWN_STACKS) {
            let head = format!("{:>20}  waited in ", super::words::ms(stack.count));
            table.detail(Detail::new(head, innermost(&stack.frames, 3)), &faint);
        }
        let owners = lock.owners.iter().take(SHOWN_OWNERS).map(|owner| {
            let thread = thread(owner.thread_id, owner.name.as_deref());
            format!("{thread} {}×", units::count(owner.count))
        });
        let owners: Vec<String> = owners.collect();
        if !owners.is_empty() {
            let more = lock.owners.len().saturating_sub(SHOWN_OWNERS);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let head = format!("{:>20}  held by ", "");
            table.detail(Detail::new(head, format!("{}{more}", owners.join(", "))), &faint);
        }
    }
    table.write(context)?;
    wait_totals(
        context,
        &report.totals,
        &format!(" for {}", units::counted(report.locks.len() as u64, "lock")),
    )
}

/// Who waits for whom in a circle.
fn deadlocks(report: &ContentionReport, context: &mut Context<'_>) -> io::Result<()> {
    for circle in &report.deadlocks {
        let threads: Vec<String> = circle.thread_ids.iter().map(u64::to_string).collect();
        let back = threads.first().cloned().unwrap_or_default();
        let line = format!(
            "deadlock: {} → {back}: each waits for a lock that the next one holds",
            threads.join(" → ")
        );
        prose(context, &context.style.strong(), &line)?;
        if !circle.victim_ids.is_empty() {
            let victims: Vec<String> = circle.victim_ids.iter().map(u64::to_string).collect();
            let line = format!("{} wait for them, and are not part of it", victims.join(", "));
            prose(context, &Paint::default(), &line)?;
        }
    }
    Ok(())
}

/// Threads that still wait at the end of the trace.
fn open(rows: usize, report: &ContentionReport, context: &mut Context<'_>) -> io::Result<()> {
    if report.open.is_empty() {
        return Ok(());
    }
    first(context, &report.open, rows).columns([
        right("AT LEAST ms", 11, 0).of(&|row| ms(row.wait.at_least_ns).into()),
        left("THREAD", 6, 0).of(&|row| thread(row.wait.thread_id, row.wait.name.as_deref()).into()),
        left("LOCK", 4, 3).of(&|row| row.lock_id.as_deref().unwrap_or("?").to_owned().into()),
        left("HELD BY", 7, 1).of(&|row| match (row.owner_thread_id, row.owner_managed_id) {
            (Some(owner), _) => owner.to_string().into(),
            (None, Some(owner)) => format!("managed thread {owner}").into(),
            (None, None) => "?".into(),
        }),
        left("STILL WAITS IN", 14, 0)
            .at_least(LEAST_PLACE)
            .of(&|row| innermost(&row.wait.frames, 3).into()),
    ])?;
    writeln!(context.out.buffer())
}
