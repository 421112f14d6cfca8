//! `report jit` as tables.

use super::words::{duration, left_out, ms};
use crate::args::ReportArgs;
use crate::commands::Context;
use crate::printable::printable;
use crate::units;
use nettrace_analysis::report::{JitDecisions, JitMethod, JitReport};
use std::cmp::Reverse;
use std::io::{self, Write};

pub(super) fn text(args: &ReportArgs, report: &JitReport, context: &mut Context<'_>) -> io::Result<()> {
    let (strong, faint) = (context.style.strong(), context.style.faint());
    let mut rows: Vec<&JitMethod> = report.methods.iter().collect();
    if !args.timeline && args.before.is_none() {
        rows.sort_by_key(|row| (Reverse(row.duration_ns), row.start_ns));
    }
    let out = context.out.buffer();
    let title = "   TIME ms    START ms      IL   NATIVE   THREAD  TIER                        METHOD";
    writeln!(out, "{}", faint.over(title))?;
    for row in rows.iter().take(args.number) {
        let mut tier = row.tier.to_owned();
        if row.background {
            tier.push('*');
        }
        if row.r2r_rejected {
            tier.push('!');
        }
        let module = row.module.strip_suffix(".dll").unwrap_or(&row.module);
        let mark = if module.is_empty() { "" } else { "!" };
        writeln!(
            out,
            "{:>10}  {:>10}  {:>6}  {:>7}  {:>7}  {tier:<26}  {}",
            if row.is_complete { ms(row.duration_ns) } else { "?".to_owned() },
            units::milliseconds(row.start_ns),
            units::count(u64::from(row.il_bytes)),
            units::count(u64::from(row.native_bytes)),
            row.thread.map_or_else(|| "?".to_owned(), |id| id.to_string()),
            printable(&format!("{module}{mark}{}", row.name)),
        )?;
    }
    left_out(context, rows.len(), args.number)?;
    let out = context.out.buffer();
    writeln!(out, "{}\n", faint.over("* compiled in the background, ! precompiled code was refused"))?;
    writeln!(out, "{}", faint.over("METHODS     TIME ms      NATIVE  TIER"))?;
    for row in &report.tiers {
        writeln!(
            out,
            "{:>7}  {:>10}  {:>10}  {}",
            units::count(row.methods),
            ms(row.duration_ns),
            units::bytes(row.native_bytes),
            row.tier,
        )?;
    }
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
    writeln!(out, "{}", strong.over(line))?;
    if totals.incomplete > 0 {
        let text = units::counted(totals.incomplete, "method");
        writeln!(out, "{text} without beginning or end in the trace")?;
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
