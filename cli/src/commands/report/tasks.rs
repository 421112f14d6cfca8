//! Writes `report tasks` as text.

use super::words::{
    MIN_OPEN_WAIT_NS, MIN_PLACE_COLUMNS, duration, errors, innermost, ms, prose, spread_row,
    spread_table, thread,
};
use crate::context::Context;
use crate::printable::printable;
use crate::style::Paint;
use crate::table::{Cell, Detail, first, left, right};
use crate::units;
use nettrace_analysis::report::{OpenTaskWait, TaskWaitRow, TasksReport};
use std::io::{self, Write};

pub(super) fn text(rows: usize, report: &TasksReport, context: &mut Context<'_>) -> io::Result<()> {
    open(rows, report, context)?;
    let (strong, bad, name) = (context.style.strong(), context.style.bad(), context.style.name());
    // Of awaits alone, there is nothing to say about when tasks ran.
    let has_tasks = !report.tasks.is_empty() || report.waits.is_empty();
    if has_tasks {
        first(context, &report.tasks, rows).columns_and_details(
            [
                right("SCHEDULED", 9, 0).fill(&|row| units::count(row.scheduled).into()),
                right("STARTED", 7, 5).fill(&|row| units::count(row.started).into()),
                right("DONE", 7, 4).fill(&|row| units::count(row.completed).into()),
                right("FAILED", 7, 1).fill(&|row| errors(row.faulted, &bad)),
                right("QUEUED ms", 11, 2).fill(&|row| ms(row.queued.p50_ns).into()),
                right("P95 ms", 11, 6).fill(&|row| ms(row.queued.p95_ns).into()),
                right("RAN ms", 11, 3).fill(&|row| ms(row.ran.p50_ns).into()),
                right("P95 ms", 11, 6).fill(&|row| ms(row.ran.p95_ns).into()),
                left("TASK", 4, 0).fill(&|row| Cell::new(row.name.to_string(), &name)),
            ],
            |row| {
                let scheduled = row.stacks.iter().take(1).map(|stack| {
                    let head = format!("{:>11}  scheduled in ", units::count(stack.count));
                    Detail::new(head, innermost(&stack.frames, 3))
                });
                scheduled.collect()
            },
        )?;
    }
    if !report.waits.is_empty() {
        if has_tasks {
            writeln!(context.out.buffer())?;
        }
        let not_over = right("OPEN", 5, 3);
        let after = [not_over, left("KIND", 8, 0), left("IN", 14, 5), left("WAITED FOR", 10, 0)];
        let mut table = spread_table([right("WAITS", 7, 0)], &after);
        for row in report.waits.iter().take(rows) {
            let kind = if row.is_blocking { "blocking" } else { "await" };
            let count = units::count(row.waits.count).into();
            let open = if row.still_waiting > 0 {
                units::count(row.still_waiting)
            } else {
                "-".to_owned()
            };
            let name = printable(&row.name).into();
            let after = [open.into(), kind.into(), waiters(row).into(), name];
            table.add_row(spread_row([count], &row.waits, after));
        }
        table.write(context)?;
    }
    if report.activities.iter().any(|row| row.activity.is_some()) {
        writeln!(context.out.buffer())?;
        first(context, &report.activities, rows).columns([
            right("SCHEDULED", 9, 0).fill(&|row| units::count(row.scheduled).into()),
            left("IN ACTIVITY", 11, 0)
                .fill(&|row| row.activity.as_deref().unwrap_or("(none)").into()),
        ])?;
    }
    if report.has_runtime_async {
        let line = "methods that the runtime itself suspends (runtime-async) write no events of what they \
                    await: these waits are not here";
        prose(context, &Paint::default(), line)?;
    }
    if report.awaits_left_out > 0 {
        let times = units::counted(report.awaits_left_out, "time");
        let line =
            format!("{times} that the async profiler tells found no room: awaits are missing");
        prose(context, &Paint::default(), &line)?;
    }
    if report.chains_without_begin > 0 {
        let chains = units::counted(report.chains_without_begin, "chain");
        let line = format!(
            "the begin of {chains} of async calls is not in the trace: awaits are missing, as the \
             runtime keeps what a thread tells until 16 KB are full or the thread is idle"
        );
        prose(context, &Paint::default(), &line)?;
    }
    if !has_tasks {
        let sum =
            |of: fn(&TaskWaitRow) -> u64| report.waits.iter().map(of).fold(0, u64::saturating_add);
        let ended = units::counted(sum(|row| row.waits.count), "wait");
        let open = match sum(|row| row.still_waiting) {
            0 => String::new(),
            open => format!(", {} still wait", units::count(open)),
        };
        return prose(context, &strong, &format!("{ended} for tasks ended{open}"));
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

/// Returns the method that waited longest, and the number of others.
fn waiters(row: &TaskWaitRow) -> String {
    let Some(first) = row.by.first() else { return String::new() };
    let others = (row.by.len() as u64).saturating_sub(1).saturating_add(row.by_left_out);
    let others =
        if others > 0 { format!(" and {} more", units::count(others)) } else { String::new() };
    format!("{}{others}", printable(&first.method))
}

/// Writes the long waits that are not over at the end of the trace.
fn open(rows: usize, report: &TasksReport, context: &mut Context<'_>) -> io::Result<()> {
    let is_long = |row: &&OpenTaskWait| row.wait.at_least_ns >= MIN_OPEN_WAIT_NS;
    let long: Vec<_> = report.open.iter().filter(is_long).collect();
    if long.is_empty() {
        return Ok(());
    }
    first(context, &long, rows).columns([
        right("AT LEAST ms", 11, 0).fill(&|row| ms(row.wait.at_least_ns).into()),
        left("THREAD", 6, 1).fill(&|row| match row.is_blocking {
            true => thread(row.wait.thread_id, row.wait.name.as_deref()).into(),
            false => "none: await".into(),
        }),
        left("STILL WAITS FOR", 15, 2).fill(&|row| printable(&row.task).into()),
        left("IN", 14, 0)
            .at_least(MIN_PLACE_COLUMNS)
            .fill(&|row| innermost(&row.wait.frames, 3).into()),
    ])?;
    writeln!(context.out.buffer())
}
