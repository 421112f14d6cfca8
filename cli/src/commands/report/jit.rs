//! Writes `report jit` as tables.

use super::words::{duration, id, ms, prose};
use crate::args::TimelineArgs;
use crate::context::Context;
use crate::printable::printable;
use crate::style::Paint;
use crate::table::{first, left, list, right};
use crate::units;
use nettrace_analysis::report::{AsyncPart, JitDecisions, JitMethod, JitReport, JitTotals};
use std::cmp::Reverse;
use std::io::{self, Write};

pub(super) fn text(
    args: &TimelineArgs,
    is_by_time: bool,
    report: &JitReport,
    context: &mut Context<'_>,
) -> io::Result<()> {
    let faint = context.style.faint();
    let mut rows: Vec<&JitMethod> = report.methods.iter().collect();
    if !is_by_time {
        rows.sort_by_key(|row| (Reverse(row.duration_ns), row.start_ns));
    }
    list(context, &rows, args.rows()).columns([
        right("TIME ms", 10, 0).fill(&|row| match row.is_complete {
            true => ms(row.duration_ns).into(),
            false => "?".into(),
        }),
        right("START ms", 10, 1)
            .asked_for(args.timeline)
            .fill(&|row| units::milliseconds(row.start_ns).into()),
        right("IL", 6, 3).fill(&|row| units::count(u64::from(row.il_bytes)).into()),
        right("NATIVE", 7, 2).fill(&|row| units::count(u64::from(row.native_bytes)).into()),
        right("THREAD", 7, 5).fill(&|row| id(row.thread).into()),
        left("TIER", 26, 4).fill(&|row| {
            let background = if row.background { "*" } else { "" };
            let refused = if row.r2r_rejected { "!" } else { "" };
            format!("{}{background}{refused}", row.tier).into()
        }),
        left("METHOD", 6, 0).fill(&|row| {
            let mark = if row.module.is_empty() { "" } else { "!" };
            let part = match row.async_part {
                Some(AsyncPart::Thunk) => " [thunk]",
                Some(AsyncPart::Body) => " [async body]",
                _ => "",
            };
            format!("{}{mark}{}{part}", row.module, row.name).into()
        }),
    ])?;
    // A narrow terminal has no column with marks.
    if !context.is_left_out("TIER") {
        let marks = "* compiled in the background, ! precompiled code was refused";
        writeln!(context.out.buffer(), "{}", faint.over(marks))?;
    }
    writeln!(context.out.buffer())?;
    first(context, &report.tiers, usize::MAX).columns([
        right("METHODS", 7, 0).fill(&|row| units::count(row.methods).into()),
        right("TIME ms", 10, 0).fill(&|row| ms(row.duration_ns).into()),
        right("NATIVE", 10, 0).fill(&|row| units::bytes(row.native_bytes).into()),
        left("TIER", 4, 0).fill(&|row| row.tier.into()),
    ])?;
    let out = context.out.buffer();
    writeln!(out)?;
    decisions(out, "calls inlined", &report.inlining)?;
    decisions(out, "calls turned into jumps", &report.tail_calls)?;
    conclusion(&report.totals, context)
}

fn conclusion(totals: &JitTotals, context: &mut Context<'_>) -> io::Result<()> {
    if totals.r2r_found > 0 || totals.r2r_lookups > 0 {
        let looked = match totals.r2r_lookups {
            0 => String::new(),
            lookups => format!(" in {}", units::counted(lookups, "lookup")),
        };
        writeln!(
            context.out.buffer(),
            "precompiled code found {}{looked}",
            units::counted(totals.r2r_found, "time")
        )?;
    }
    let line = format!(
        "{} compiled in {} ({} in the background): {} of IL to {} of code; {} by on-stack replacement, {} although precompiled",
        units::counted(totals.methods, "method"),
        duration(totals.duration_ns),
        duration(totals.background_duration_ns),
        units::bytes(totals.il_bytes),
        units::bytes(totals.native_bytes),
        units::count(totals.osr),
        units::count(totals.r2r_rejected),
    );
    let strong = context.style.strong();
    prose(context, &strong, &line)?;
    if totals.incomplete > 0 {
        let text = units::counted(totals.incomplete, "method");
        prose(context, &Paint::default(), &format!("{text} without start or end in the trace"))?;
    }
    Ok(())
}

fn decisions(out: &mut Vec<u8>, what: &str, decisions: &JitDecisions) -> io::Result<()> {
    if decisions.done == 0 && decisions.refused == 0 {
        return Ok(());
    }
    writeln!(
        out,
        "{what}: {}, not: {}",
        units::count(decisions.done),
        units::count(decisions.refused)
    )?;
    for row in decisions.reasons.iter().take(5) {
        writeln!(out, "{:>10}  {}", units::count(row.count), printable(&row.reason))?;
    }
    Ok(())
}
