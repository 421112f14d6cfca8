//! `report contention` for reading.

use super::words::{SPREAD, duration, innermost, prose, spread_cells, thread};
use crate::args::ReportArgs;
use crate::commands::Context;
use crate::style::Paint;
use crate::table::{Cell, Table, left, right};
use crate::units;
use nettrace_analysis::report::ContentionReport;
use std::io;

/// Stacks shown of each lock.
const STACKS: usize = 3;
/// Owners shown of each lock.
const OWNERS: usize = 3;

pub(super) fn text(
    args: &ReportArgs,
    report: &ContentionReport,
    context: &mut Context<'_>,
) -> io::Result<()> {
    let (strong, faint, name) = (context.style.strong(), context.style.faint(), context.style.name());
    let [total, median, p95, max] = SPREAD;
    let columns = [right("WAITS", 7, 0), total, median, p95, max, left("LOCK", 4, 0)];
    let mut table = Table::new(columns);
    for lock in report.locks.iter().take(args.number) {
        let id = lock.lock_id.as_deref().unwrap_or("(lock not known)");
        let kind = if lock.is_native { " of the runtime" } else { "" };
        let [total, median, p95, max] = spread_cells(&lock.waits);
        let count = units::count(lock.waits.count).into();
        table.row([count, total, median, p95, max, Cell::new(format!("{id}{kind}"), &name)]);
        for stack in lock.stacks.iter().filter(|stack| stack.count > 0).take(STACKS) {
            let line =
                format!("{:>20}  waited in {}", super::words::ms(stack.count), innermost(&stack.frames, 3));
            table.detail(line, &faint);
        }
        let owners: Vec<String> = lock
            .owners
            .iter()
            .take(OWNERS)
            .map(|owner| {
                format!(
                    "{} {}×",
                    thread(Some(owner.thread_id), owner.name.as_deref()),
                    units::count(owner.count)
                )
            })
            .collect();
        if !owners.is_empty() {
            let more = lock.owners.len().saturating_sub(OWNERS);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            table.detail(format!("{:>20}  held by {}{more}", "", owners.join(", ")), &faint);
        }
    }
    table.write(context)?;
    let summary = format!(
        "{} for {}, {} together, longest {}",
        units::counted(report.stopped, "wait"),
        units::counted(report.locks.len() as u64, "lock"),
        duration(report.waits.total_ns),
        duration(report.waits.max_ns),
    );
    prose(context, &strong, &summary)?;
    if let Some(line) = unpaired(report.still_waiting, report.starts_without_stop, report.stops_without_start)
    {
        prose(context, &Paint::default(), &line)?;
    }
    Ok(())
}

/// What has no other end.
pub(super) fn unpaired(still_waiting: u64, no_stop: u64, no_start: u64) -> Option<String> {
    let parts = [
        (still_waiting, "not over at the trace's end"),
        (no_stop, "whose end was lost"),
        (no_start, "whose begin is not in the trace"),
    ];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, text)| format!("{} {text}", units::count(*count)))
        .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}
