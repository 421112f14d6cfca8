//! `report contention` for reading.

use super::words::{innermost, spread_row, spread_table, thread, wait_totals};
use crate::context::Context;
use crate::table::{Cell, Detail, left, right};
use crate::units;
use nettrace_analysis::report::ContentionReport;
use std::io;

/// Stacks shown of each lock.
const SHOWN_STACKS: usize = 3;
/// Owners shown of each lock.
const SHOWN_OWNERS: usize = 3;

pub(super) fn text(
    rows: usize,
    report: &ContentionReport,
    context: &mut Context<'_>,
) -> io::Result<()> {
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
