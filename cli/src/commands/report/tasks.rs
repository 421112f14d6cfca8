//! `report tasks` for reading.

use super::words::{SPREAD, duration, innermost, ms, prose, spread_cells};
use crate::args::ReportArgs;
use crate::commands::Context;
use crate::printable::printable;
use crate::table::{Cell, Table, left, right};
use crate::units;
use nettrace_analysis::report::TasksReport;
use std::io::{self, Write};

pub(super) fn text(args: &ReportArgs, report: &TasksReport, context: &mut Context<'_>) -> io::Result<()> {
    let (strong, faint, name) = (context.style.strong(), context.style.faint(), context.style.name());
    let bad = context.style.bad();
    let mut table = Table::new([
        right("SCHEDULED", 9, 0),
        right("STARTED", 7, 5),
        right("DONE", 7, 4),
        right("FAILED", 7, 1),
        right("QUEUED ms", 11, 2),
        right("P95 ms", 11, 6),
        right("RAN ms", 11, 3),
        right("P95 ms", 11, 6),
        left("TASK", 4, 0),
    ]);
    for row in report.tasks.iter().take(args.number) {
        let failed = units::count(row.faulted);
        table.row([
            units::count(row.scheduled).into(),
            units::count(row.started).into(),
            units::count(row.completed).into(),
            if row.faulted > 0 { Cell::new(failed, &bad) } else { failed.into() },
            ms(row.queued.p50_ns).into(),
            ms(row.queued.p95_ns).into(),
            ms(row.ran.p50_ns).into(),
            ms(row.ran.p95_ns).into(),
            Cell::new(printable(&row.name), &name),
        ]);
        if let Some(stack) = row.stacks.first() {
            let count = units::count(stack.count);
            table.detail(format!("{count:>11}  scheduled in {}", innermost(&stack.frames, 3)), &faint);
        }
    }
    table.write(context)?;
    if !report.waits.is_empty() {
        writeln!(context.out.buffer())?;
        let [total, median, p95, max] = SPREAD;
        let columns =
            [right("WAITS", 7, 0), total, median, p95, max, left("KIND", 8, 0), left("WAITED FOR", 10, 0)];
        let mut table = Table::new(columns);
        for row in report.waits.iter().take(args.number) {
            let kind = if row.is_blocking { "blocking" } else { "await" };
            let [total, median, p95, max] = spread_cells(&row.waits);
            let count = units::count(row.waits.count).into();
            table.row([count, total, median, p95, max, kind.into(), printable(&row.name).into()]);
        }
        table.write(context)?;
    }
    if report.activities.iter().any(|row| row.activity.is_some()) {
        writeln!(context.out.buffer())?;
        let mut table = Table::new([right("SCHEDULED", 9, 0), left("IN ACTIVITY", 11, 0)]);
        for row in report.activities.iter().take(args.number) {
            let activity = row.activity.as_deref().map_or_else(|| "(none)".to_owned(), printable);
            table.row([units::count(row.scheduled).into(), activity.into()]);
        }
        table.write(context)?;
    }
    let failed =
        if report.faulted > 0 { format!(", {} failed", units::count(report.faulted)) } else { String::new() };
    let summary = format!(
        "{} scheduled, {} completed{failed}; queued for {} in the median, at most {}",
        units::counted(report.scheduled, "task"),
        units::count(report.completed),
        duration(report.queued.p50_ns),
        duration(report.queued.max_ns),
    );
    prose(context, &strong, &summary)
}
