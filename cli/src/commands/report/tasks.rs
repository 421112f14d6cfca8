//! `report tasks` for reading.

use super::words::{SPREAD_HEADING, duration, innermost, ms, spread};
use crate::args::ReportArgs;
use crate::commands::Context;
use crate::printable::printable;
use crate::units;
use nettrace_analysis::report::TasksReport;
use std::io::{self, Write};

pub(super) fn text(args: &ReportArgs, report: &TasksReport, context: &mut Context<'_>) -> io::Result<()> {
    let (strong, faint, name) = (context.style.strong(), context.style.faint(), context.style.name());
    let bad = context.style.bad();
    let out = context.out.buffer();
    let heading =
        "SCHEDULED  STARTED     DONE   FAILED    QUEUED ms      P95 ms       RAN ms       P95 ms  TASK";
    writeln!(out, "{}", faint.over(heading))?;
    for row in report.tasks.iter().take(args.number) {
        let faulted = format!("{:>7}", units::count(row.faulted));
        writeln!(
            out,
            "{:>9}  {:>7}  {:>7}  {}  {:>11} {:>11}  {:>11}  {:>11}  {}",
            units::count(row.scheduled),
            units::count(row.started),
            units::count(row.completed),
            if row.faulted > 0 { bad.over(faulted) } else { faulted },
            ms(row.queued.p50_ns),
            ms(row.queued.p95_ns),
            ms(row.ran.p50_ns),
            ms(row.ran.p95_ns),
            name.over(printable(&row.name)),
        )?;
        if let Some(stack) = row.stacks.first() {
            let line =
                format!("{:>20}  scheduled in {}", units::count(stack.count), innermost(&stack.frames, 3));
            writeln!(out, "{}", faint.over(line))?;
        }
    }
    if !report.waits.is_empty() {
        writeln!(out)?;
        writeln!(out, "{}", faint.over(format!("  WAITS  {SPREAD_HEADING}  KIND      WAITED FOR")))?;
        for row in report.waits.iter().take(args.number) {
            let kind = if row.is_blocking { "blocking" } else { "await" };
            let count = units::count(row.waits.count);
            writeln!(out, "{count:>7}  {}  {kind:<8}  {}", spread(&row.waits), printable(&row.name))?;
        }
    }
    if report.activities.iter().any(|row| row.activity.is_some()) {
        writeln!(out)?;
        writeln!(out, "{}", faint.over("SCHEDULED  IN ACTIVITY"))?;
        for row in report.activities.iter().take(args.number) {
            let activity = row.activity.as_deref().map_or_else(|| "(none)".to_owned(), printable);
            writeln!(out, "{:>9}  {activity}", units::count(row.scheduled))?;
        }
    }
    let failed =
        if report.faulted > 0 { format!(", {} failed", units::count(report.faulted)) } else { String::new() };
    let summary = format!(
        "{} scheduled, {} done{failed}; queued {} in the median, longest {}",
        units::counted(report.scheduled, "task"),
        units::count(report.completed),
        duration(report.queued.p50_ns),
        duration(report.queued.max_ns),
    );
    writeln!(out, "{}", strong.over(summary))
}
