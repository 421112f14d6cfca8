//! `report contention` for reading.

use super::words::{SPREAD_HEADING, duration, innermost, spread, thread};
use crate::args::ReportArgs;
use crate::commands::Context;
use crate::units;
use nettrace_analysis::report::ContentionReport;
use std::io::{self, Write};

/// Stacks shown of each lock.
const STACKS: usize = 3;
/// Owners shown of each lock.
const OWNERS: usize = 3;

pub(super) fn text(
    args: &ReportArgs,
    report: &ContentionReport,
    context: &mut Context<'_>,
) -> io::Result<()> {
    let (strong, faint, name) = (context.style.strong(), context.style.faint(), context.style.name());
    let out = context.out.buffer();
    writeln!(out, "{}", faint.over(format!("  WAITS  {SPREAD_HEADING}  LOCK")))?;
    for lock in report.locks.iter().take(args.number) {
        let id = lock.lock_id.as_deref().unwrap_or("(lock not told)");
        let kind = if lock.is_native { " of the runtime" } else { "" };
        writeln!(
            out,
            "{:>7}  {}  {}{kind}",
            units::count(lock.waits.count),
            spread(&lock.waits),
            name.over(id)
        )?;
        for stack in lock.stacks.iter().filter(|stack| stack.count > 0).take(STACKS) {
            let line =
                format!("{:>20}  waited in {}", super::words::ms(stack.count), innermost(&stack.frames, 3));
            writeln!(out, "{}", faint.over(line))?;
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
            writeln!(out, "{}", faint.over(format!("{:>20}  held by {}{more}", "", owners.join(", "))))?;
        }
    }
    let summary = format!(
        "{} for {}, {} together, longest {}",
        units::counted(report.stopped, "wait"),
        units::counted(report.locks.len() as u64, "lock"),
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

/// What has no other end.
pub(super) fn unpaired(still_waiting: u64, no_stop: u64, no_start: u64) -> Option<String> {
    let parts = [
        (still_waiting, "not over at the trace's end"),
        (no_stop, "whose end was lost"),
        (no_start, "whose begin is not in the trace"),
    ];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, text)| format!("{} {text}", units::count(*count)))
        .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}
