//! `report waits` for reading.

use super::contention::unpaired;
use super::words::{SPREAD_HEADING, duration, innermost, ms, spread, thread};
use crate::args::ReportArgs;
use crate::commands::Context;
use crate::units;
use nettrace_analysis::report::WaitsReport;
use std::io::{self, Write};

/// Threads shown.
const THREADS: usize = 5;

pub(super) fn text(args: &ReportArgs, report: &WaitsReport, context: &mut Context<'_>) -> io::Result<()> {
    let (strong, faint) = (context.style.strong(), context.style.faint());
    let out = context.out.buffer();
    writeln!(out, "{}", faint.over(format!("  WAITS  {SPREAD_HEADING}  KIND     PLACE")))?;
    for place in report.places.iter().take(args.number) {
        let kind = if place.source == "MonitorWait" { "monitor" } else { "handle" };
        let count = units::count(place.waits.count);
        writeln!(out, "{count:>7}  {}  {kind:<7}  {}", spread(&place.waits), innermost(&place.frames, 3))?;
    }
    writeln!(out)?;
    writeln!(out, "{}", faint.over("  WAITS     TOTAL ms  THREAD"))?;
    for row in report.threads.iter().take(THREADS.min(args.number)) {
        let name = thread(row.thread_id, row.name.as_deref());
        writeln!(out, "{:>7}  {:>11}  {name}", units::count(row.count), ms(row.total_ns))?;
    }
    let summary = format!(
        "{}, {} together, longest {}",
        units::counted(report.stopped, "wait"),
        duration(report.waits.total_ns),
        duration(report.waits.max_ns),
    );
    writeln!(out, "{}", strong.over(summary))?;
    if let Some(line) = unpaired(report.still_waiting, report.starts_without_stop, report.stops_without_start)
    {
        writeln!(out, "{line}")?;
    }
    Ok(())
}
