//! `report waits` for reading.

use super::words::{LEAST_PLACE, SPREAD, innermost, ms, spread_cells, thread, wait_totals};
use crate::context::Context;
use crate::table::{Table, first, left, right};
use crate::units;
use nettrace_analysis::report::WaitsReport;
use std::io::{self, Write};

/// Threads shown.
const THREADS: usize = 5;

pub(super) fn text(rows: usize, report: &WaitsReport, context: &mut Context<'_>) -> io::Result<()> {
    let [total, median, p95, max] = SPREAD;
    let columns = [
        right("WAITS", 7, 0),
        total,
        median,
        p95,
        max,
        left("KIND", 7, 5),
        left("PLACE", 5, 0).at_least(LEAST_PLACE),
    ];
    let mut table = Table::new(columns);
    for place in report.places.iter().take(rows) {
        let kind = if place.source == "MonitorWait" { "monitor" } else { "handle" };
        let [total, median, p95, max] = spread_cells(&place.waits);
        let count = units::count(place.waits.count).into();
        table.row([
            count,
            total,
            median,
            p95,
            max,
            kind.into(),
            innermost(&place.frames, 3).into(),
        ]);
    }
    table.write(context)?;
    writeln!(context.out.buffer())?;
    first(context, &report.threads, THREADS.min(rows)).columns([
        right("WAITS", 7, 0).of(&|row| units::count(row.count).into()),
        right("TOTAL ms", 11, 0).of(&|row| ms(row.total_ns).into()),
        left("THREAD", 6, 0).of(&|row| thread(row.thread_id, row.name.as_deref()).into()),
    ])?;
    wait_totals(context, &report.totals, "")
}
