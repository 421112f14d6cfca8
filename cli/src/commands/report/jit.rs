//! `report jit` as tables.

use super::words::{duration, ms, prose};
use crate::args::ReportArgs;
use crate::commands::Context;
use crate::printable::printable;
use crate::style::Paint;
use crate::table::{Cell, Column, Table, left, left_out, right};
use crate::units;
use nettrace_analysis::report::{JitDecisions, JitMethod, JitReport};
use std::cmp::Reverse;
use std::io::{self, Write};

const COLUMNS: &[Column] = &[
    right("TIME ms", 10, 0),
    right("START ms", 10, 1),
    right("IL", 6, 3),
    right("NATIVE", 7, 2),
    right("THREAD", 7, 5),
    left("TIER", 26, 4),
    left("METHOD", 6, 0),
];

pub(super) fn text(args: &ReportArgs, report: &JitReport, context: &mut Context<'_>) -> io::Result<()> {
    let (strong, faint) = (context.style.strong(), context.style.faint());
    let mut rows: Vec<&JitMethod> = report.methods.iter().collect();
    if !args.timeline && args.before.is_none() {
        rows.sort_by_key(|row| (Reverse(row.duration_ns), row.start_ns));
    }
    let mut table = Table::new(COLUMNS);
    for row in rows.iter().take(args.number) {
        let mut tier = row.tier.to_owned();
        if row.background {
            tier.push('*');
        }
        if row.r2r_rejected {
            tier.push('!');
        }
        let module = &row.module;
        let mark = if module.is_empty() { "" } else { "!" };
        table.row([
            if row.is_complete { ms(row.duration_ns) } else { "?".to_owned() }.into(),
            units::milliseconds(row.start_ns).into(),
            units::count(u64::from(row.il_bytes)).into(),
            units::count(u64::from(row.native_bytes)).into(),
            row.thread.map_or_else(|| "?".to_owned(), |id| id.to_string()).into(),
            tier.into(),
            printable(&format!("{module}{mark}{}", row.name)).into(),
        ]);
    }
    table.write(context)?;
    left_out(context, rows.len(), args.number)?;
    let out = context.out.buffer();
    writeln!(out, "{}\n", faint.over("* compiled in the background, ! precompiled code was refused"))?;
    let mut table = Table::new([
        right("METHODS", 7, 0),
        right("TIME ms", 10, 0),
        right("NATIVE", 10, 0),
        left("TIER", 4, 0),
    ]);
    for row in &report.tiers {
        let time = ms(row.duration_ns);
        table.row([
            units::count(row.methods).into(),
            time.into(),
            units::bytes(row.native_bytes).into(),
            Cell::from(row.tier),
        ]);
    }
    table.write(context)?;
    let out = context.out.buffer();
    writeln!(out)?;
    decisions(out, "calls inlined", &report.inlining)?;
    decisions(out, "calls turned into jumps", &report.tail_calls)?;
    let totals = &report.totals;
    if totals.r2r_found > 0 || totals.r2r_lookups > 0 {
        let looked = match totals.r2r_lookups {
            0 => String::new(),
            lookups => format!(" in {}", units::counted(lookups, "lookup")),
        };
        writeln!(out, "precompiled code found {}{looked}", units::counted(totals.r2r_found, "time"))?;
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
    writeln!(out, "{what}: {}, not: {}", units::count(decisions.done), units::count(decisions.refused))?;
    for row in decisions.reasons.iter().take(5) {
        writeln!(out, "{:>10}  {}", units::count(row.count), printable(&row.reason))?;
    }
    Ok(())
}
