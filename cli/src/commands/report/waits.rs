//! Writes `report waits` as text.

use super::words::{
    MIN_OPEN_WAIT_NS, MIN_PLACE_COLUMNS, innermost, ms, prose, spread_row, spread_table, stuck,
    thread, wait_totals,
};
use crate::context::Context;
use crate::style::Paint;
use crate::table::{first, left, right};
use crate::units;
use nettrace_analysis::report::WaitsReport;
use std::io::{self, Write};

/// Maximum number of rows in the table of threads.
const MAX_SHOWN_THREADS: usize = 5;

pub(super) fn text(rows: usize, report: &WaitsReport, context: &mut Context<'_>) -> io::Result<()> {
    open(rows, report, context)?;
    stuck(rows, &report.stuck, context)?;
    let place = left("PLACE", 5, 0).at_least(MIN_PLACE_COLUMNS);
    let mut table = spread_table([right("WAITS", 7, 0)], &[left("KIND", 7, 5), place]);
    for place in report.places.iter().take(rows) {
        let kind = match &*place.source {
            _ if place.is_idle => "idle",
            "MonitorWait" => "monitor",
            _ => "handle",
        };
        let count = units::count(place.waits.count).into();
        let frames = innermost(&place.frames, 3).into();
        table.add_row(spread_row([count], &place.waits, [kind.into(), frames]));
    }
    table.write(context)?;
    writeln!(context.out.buffer())?;
    first(context, &report.threads, MAX_SHOWN_THREADS.min(rows)).columns([
        right("WAITS", 7, 0).fill(&|row| units::count(row.count).into()),
        right("TOTAL ms", 11, 0).fill(&|row| ms(row.total_ns).into()),
        left("THREAD", 6, 0).fill(&|row| thread(row.thread_id, row.name.as_deref()).into()),
    ])?;
    wait_totals(context, &report.totals, "")?;
    if report.idle > 0 {
        let are = if report.idle == 1 { "is" } else { "are" };
        let line = format!("{} of those that are not over {are} idle", units::count(report.idle));
        prose(context, &Paint::default(), &line)?;
    }
    Ok(())
}

/// Writes the long waits that are not over at the end of the trace.
fn open(rows: usize, report: &WaitsReport, context: &mut Context<'_>) -> io::Result<()> {
    let long: Vec<_> =
        report.open.iter().filter(|wait| wait.at_least_ns >= MIN_OPEN_WAIT_NS).collect();
    if long.is_empty() {
        return Ok(());
    }
    first(context, &long, rows).columns([
        right("AT LEAST ms", 11, 0).fill(&|row| ms(row.at_least_ns).into()),
        left("THREAD", 6, 0).fill(&|row| thread(row.thread_id, row.name.as_deref()).into()),
        left("STILL WAITS IN", 14, 0)
            .at_least(MIN_PLACE_COLUMNS)
            .fill(&|row| innermost(&row.frames, 3).into()),
    ])?;
    writeln!(context.out.buffer())
}
