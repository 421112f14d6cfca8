//! `report contention` for reading.

use super::words::{SPREAD, innermost, spread_cells, thread, wait_totals};
use crate::context::Context;
use crate::table::{Cell, Detail, Table, left, right};
use crate::units;
use nettrace_analysis::report::ContentionReport;
use std::io;

/// Stacks shown of each lock.
const STACKS: usize = 3;
/// Owners shown of each lock.
const OWNERS: usize = 3;

pub(super) fn text(
    rows: usize,
    report: &ContentionReport,
    context: &mut Context<'_>,
) -> io::Result<()> {
    let (faint, name) = (context.style.faint(), context.style.name());
    let [total, median, p95, max] = SPREAD;
    let columns = [right("WAITS", 7, 0), total, median, p95, max, left("LOCK", 4, 0)];
    let mut table = Table::new(columns);
    for lock in report.locks.iter().take(rows) {
        let id = lock.lock_id.as_deref().unwrap_or("(unknown lock)");
        let kind = if lock.is_native { " of the runtime" } else { "" };
        let [total, median, p95, max] = spread_cells(&lock.waits);
        let count = units::count(lock.waits.count).into();
        table.row([count, total, median, p95, max, Cell::new(format!("{id}{kind}"), &name)]);
        for stack in lock.stacks.iter().filter(|stack| stack.count > 0).take(STACKS) {
            let head = format!("{:>20}  waited in ", super::words::ms(stack.count));
            table.detail(Detail::new(head, innermost(&stack.frames, 3)), &faint);
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
