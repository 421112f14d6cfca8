//! Writes `report threadpool` as tables.

use super::words::{duration, prose};
use crate::context::Context;
use crate::style::Paint;
use crate::table::{first, left, left_out, right};
use crate::units;
use nettrace_analysis::report::{PoolReason, Spread, ThreadPoolReport};
use std::io::{self, Write};

pub(super) fn text(
    rows: usize,
    report: &ThreadPoolReport,
    context: &mut Context<'_>,
) -> io::Result<()> {
    let (strong, warning) = (context.style.strong(), context.style.warning());
    if let Some(starvation) = &report.starvation {
        let text = format!(
            "Starvation: {}, up to a target of {} workers, between {} ms and {} ms, because the pool's workers were blocked. report waits, report tasks and report contention show by what.",
            units::counted(starvation.count, "adjustment"),
            units::count(starvation.most_workers),
            units::milliseconds(starvation.first_ns),
            units::milliseconds(starvation.last_ns),
        );
        prose(context, &warning, &text)?;
        writeln!(context.out.buffer())?;
    }
    if !report.adjustments.is_empty() {
        first(context, &report.adjustments, rows).columns([
            right("TIME ms", 10, 0).fill(&|row| units::milliseconds(row.ts_ns).into()),
            right("TARGET", 6, 0).fill(&|row| units::count(row.workers).into()),
            right("WORK/s", 10, 0).fill(&|row| units::decimal(row.throughput, 1).into()),
            left("REASON", 6, 0).fill(&|row| row.reason.to_string().into()),
        ])?;
    }
    let all = report
        .adjustments
        .len()
        .saturating_add(usize::try_from(report.adjustments_left_out).unwrap_or(0));
    left_out(context, all, rows)?;
    latency(context, "work waited", report.latency.as_ref())?;
    latency(context, "completed I/O and registered waits waited", report.io_latency.as_ref())?;
    if report.never_dequeued > 0 {
        let text = units::counted(report.never_dequeued, "work item");
        let line = format!("{text} had not been started at the end of the trace");
        prose(context, &Paint::default(), &line)?;
    }
    let workers = match (report.min_workers, report.max_workers) {
        (Some(min), Some(max)) if min == max => units::counted(max, "active worker"),
        (Some(min), Some(max)) => format!("{min} to {}", units::counted(max, "active worker")),
        _ => "number of active workers not known".to_owned(),
    };
    let target = report
        .max_target
        .map_or_else(String::new, |most| format!(", target at most {}", units::count(most)));
    let limits = report.limits.map_or_else(String::new, |limits| {
        format!(
            " (limits {} and {})",
            units::count(limits.min_workers),
            units::count(limits.max_workers)
        )
    });
    let reasons: Vec<String> = report
        .reasons
        .iter()
        .map(|row| format!("{} {}", units::count(row.count), row.reason))
        .collect();
    let reasons = if reasons.is_empty() {
        String::new()
    } else {
        format!("; adjustments: {}", reasons.join(", "))
    };
    let line = format!("{workers}{target}{limits}{reasons}");
    prose(context, &strong, &line)?;
    for row in &report.reasons {
        if let Some(meaning) = meaning(row.reason) {
            prose(context, &Paint::default(), &format!("  {}: {meaning}", row.reason))?;
        }
    }
    Ok(())
}

/// Returns what a reason for an adjustment means; `None` for an unknown one.
fn meaning(reason: PoolReason) -> Option<&'static str> {
    Some(match reason {
        PoolReason::WARMUP => "the pool measures before it compares numbers of workers",
        PoolReason::INITIALIZING => "the pool begins to measure",
        PoolReason::RANDOM_MOVE => "the pool tries another number",
        PoolReason::CLIMBING_MOVE => "the number with which more work is completed",
        PoolReason::CHANGE_POINT => "the rate of completed work changed, so measuring begins again",
        PoolReason::STABILIZING => "the number is good, and small changes do not matter",
        PoolReason::STARVATION => "work waited, and none was completed for half a second",
        PoolReason::THREAD_TIMED_OUT => "a worker found no work for 20 s and ended",
        PoolReason::COOPERATIVE_BLOCKING => "workers wait for tasks, so others take their place",
        _ => return None,
    })
}

fn latency(context: &mut Context<'_>, what: &str, latency: Option<&Spread>) -> io::Result<()> {
    let Some(latency) = latency else { return Ok(()) };
    let line = format!(
        "{what}: {} started; waited p50 {}, p90 {}, p99 {}, longest {}",
        units::count(latency.count),
        duration(latency.p50_ns),
        duration(latency.p90_ns),
        duration(latency.p99_ns),
        duration(latency.max_ns),
    );
    prose(context, &Paint::default(), &line)
}
