//! `report tasks` for reading.

use super::words::{duration, errors, innermost, ms, prose, spread_row, spread_table};
use crate::context::Context;
use crate::printable::printable;
use crate::table::{Cell, Detail, first, left, right};
use crate::units;
use nettrace_analysis::report::TasksReport;
use std::io::{self, Write};

pub(super) fn text(rows: usize, report: &TasksReport, context: &mut Context<'_>) -> io::Result<()> {
    let (strong, bad, name) = (context.style.strong(), context.style.bad(), context.style.name());
    first(context, &report.tasks, rows).columns_and_details(
        [
            right("SCHEDULED", 9, 0).of(&|row| units::count(row.scheduled).into()),
            right("STARTED", 7, 5).of(&|row| units::count(row.started).into()),
            right("DONE", 7, 4).of(&|row| units::count(row.completed).into()),
            right("FAILED", 7, 1).of(&|row| errors(row.faulted, &bad)),
            right("QUEUED ms", 11, 2).of(&|row| ms(row.queued.p50_ns).into()),
            right("P95 ms", 11, 6).of(&|row| ms(row.queued.p95_ns).into()),
            right("RAN ms", 11, 3).of(&|row| ms(row.ran.p50_ns).into()),
            right("P95 ms", 11, 6).of(&|row| ms(row.ran.p95_ns).into()),
            left("TASK", 4, 0).of(&|row| Cell::new(row.name.to_string(), &name)),
        ],
        |row| {
            let scheduled = row.stacks.iter().take(1).map(|stack| {
                let head = format!("{:>11}  scheduled in ", units::count(stack.count));
                Detail::new(head, innermost(&stack.frames, 3))
            });
            scheduled.collect()
        },
    )?;
    if !report.waits.is_empty() {
        writeln!(context.out.buffer())?;
        let after = [left("KIND", 8, 0), left("WAITED FOR", 10, 0)];
        let mut table = spread_table([right("WAITS", 7, 0)], &after);
        for row in report.waits.iter().take(rows) {
            let kind = if row.is_blocking { "blocking" } else { "await" };
            let count = units::count(row.waits.count).into();
            let after = [kind.into(), printable(&row.name).into()];
            table.row(spread_row([count], &row.waits, after));
        }
        table.write(context)?;
    }
    if report.activities.iter().any(|row| row.activity.is_some()) {
        writeln!(context.out.buffer())?;
        first(context, &report.activities, rows).columns([
            right("SCHEDULED", 9, 0).of(&|row| units::count(row.scheduled).into()),
            left("IN ACTIVITY", 11, 0)
                .of(&|row| row.activity.as_deref().unwrap_or("(none)").into()),
        ])?;
    }
    let failed = if report.faulted > 0 {
        format!(", {} failed", units::count(report.faulted))
    } else {
        String::new()
    };
    let summary = format!(
        "{} scheduled, {} completed{failed}; queued for {} in the median, at most {}",
        units::counted(report.scheduled, "task"),
        units::count(report.completed),
        duration(report.queued.p50_ns),
        duration(report.queued.max_ns),
    );
    prose(context, &strong, &summary)
}
