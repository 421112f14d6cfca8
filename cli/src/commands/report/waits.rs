//! `report waits` for reading.

use super::words::{SPREAD, innermost, ms, spread_cells, thread, wait_totals};
use crate::args::ReportArgs;
use crate::commands::Context;
use crate::table::{Table, left, right};
use crate::units;
use nettrace_analysis::report::WaitsReport;
use std::io::{self, Write};

/// Threads shown.
const THREADS: usize = 5;

pub(super) fn text(args: &ReportArgs, report: &WaitsReport, context: &mut Context<'_>) -> io::Result<()> {
    let [total, median, p95, max] = SPREAD;
    let columns = [right("WAITS", 7, 0), total, median, p95, max, left("KIND", 7, 5), left("PLACE", 5, 0)];
    let mut table = Table::new(columns);
    for place in report.places.iter().take(args.number) {
        let kind = if place.source == "MonitorWait" { "monitor" } else { "handle" };
        let [total, median, p95, max] = spread_cells(&place.waits);
        let count = units::count(place.waits.count).into();
        table.row([count, total, median, p95, max, kind.into(), innermost(&place.frames, 3).into()]);
    }
    table.write(context)?;
    writeln!(context.out.buffer())?;
    let mut table = Table::new([right("WAITS", 7, 0), right("TOTAL ms", 11, 0), left("THREAD", 6, 0)]);
    for row in report.threads.iter().take(THREADS.min(args.number)) {
        let name = thread(row.thread_id, row.name.as_deref());
        table.row([units::count(row.count).into(), ms(row.total_ns).into(), name.into()]);
    }
    table.write(context)?;
    wait_totals(context, &report.totals, "")
}
