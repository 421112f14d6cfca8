//! `report alloc` and `report types` as tables.

use super::words::left_out;
use crate::args::ReportArgs;
use crate::commands::Context;
use crate::printable::printable;
use crate::units;
use nettrace_analysis::report::{AllocReport, AllocSource, AllocType, TypesReport};
use std::io::{self, Write};

/// Frames of a stack that are shown.
const FRAMES: usize = 8;

pub(super) fn text(args: &ReportArgs, report: &AllocReport, context: &mut Context<'_>) -> io::Result<()> {
    let strong = context.style.strong();
    // They measure the same; the first is the most exact.
    let Some(source) = report.sources.first() else { return Ok(()) };
    writeln!(context.out.buffer(), "{}", strong.over(heading(source)))?;
    let kinds: Vec<String> = source
        .kinds
        .iter()
        .map(|row| format!("{} {} ({:.1} %)", row.kind, units::bytes(row.bytes), row.percent))
        .collect();
    writeln!(context.out.buffer(), "{}\n", kinds.join(", "))?;
    types_table(args, &source.types, context)?;
    stacks(args, source, context)?;
    threads(args, source, context)?;
    for other in report.sources.iter().skip(1) {
        writeln!(context.out.buffer(), "also measured, not added: {}", heading(other))?;
    }
    Ok(())
}

pub(super) fn types(args: &ReportArgs, report: &TypesReport, context: &mut Context<'_>) -> io::Result<()> {
    types_table(args, &report.types, context)?;
    let strong = context.style.strong();
    let line = format!(
        "{}, {} by {} of {}",
        units::counted(report.types.len() as u64, "type"),
        units::bytes(report.bytes),
        units::counted(report.events, "event"),
        report.source.unwrap_or("?"),
    );
    writeln!(context.out.buffer(), "{}", strong.over(line))
}

fn heading(source: &AllocSource) -> String {
    let error = match source.bytes_error {
        Some(error) => format!(" ± {} (standard error)", units::bytes(error)),
        None => String::new(),
    };
    let rate = match source.bytes_per_second {
        Some(rate) if rate.is_finite() && rate >= 1.0 => format!(", {}/s", units::bytes(rate as u64)),
        _ => String::new(),
    };
    let how = match source.source {
        "AllocationSampled" => "objects sampled at random",
        "AllocationTick" => "ticks, one about every 100 KB; no known error",
        _ => "sampled objects",
    };
    format!(
        "{}{error} allocated{rate}; {} of {} ({how})",
        units::bytes(source.bytes),
        units::counted(source.events, "event"),
        source.source,
    )
}

fn types_table(args: &ReportArgs, types: &[AllocType], context: &mut Context<'_>) -> io::Result<()> {
    let faint = context.style.faint();
    let title = "     %       BYTES      ERROR     OBJECTS       LARGE     PINNED  EVENTS  TYPE";
    let out = context.out.buffer();
    writeln!(out, "{}", faint.over(title))?;
    for row in types.iter().take(args.number) {
        let bytes = |bytes: u64| if bytes == 0 { "-".to_owned() } else { units::bytes(bytes) };
        writeln!(
            out,
            "{:>6.2}  {:>10}  {:>9}  {:>10}  {:>10}  {:>9}  {:>6}  {}",
            row.percent,
            units::bytes(row.bytes),
            row.bytes_error.map_or_else(|| "-".to_owned(), units::bytes),
            row.objects.map_or_else(|| "-".to_owned(), units::count),
            bytes(row.large_bytes),
            bytes(row.pinned_bytes),
            units::count(row.events),
            printable(&row.type_name),
        )?;
    }
    left_out(context, types.len(), args.number)?;
    writeln!(context.out.buffer())
}

fn stacks(args: &ReportArgs, source: &AllocSource, context: &mut Context<'_>) -> io::Result<()> {
    if source.stacks.iter().all(|row| row.frames.is_empty()) {
        return Ok(());
    }
    let (strong, faint) = (context.style.strong(), context.style.faint());
    let out = context.out.buffer();
    writeln!(out, "{}", strong.over("By stack and type, innermost frame first"))?;
    let shown = args.number.div_ceil(4);
    for row in source.stacks.iter().take(shown) {
        let line =
            format!("{:>6.2}  {:>10}  {}", row.percent, units::bytes(row.bytes), printable(&row.type_name));
        writeln!(out, "{line}")?;
        for frame in row.frames.iter().take(FRAMES) {
            writeln!(out, "{:20}{}", "", faint.over(printable(frame)))?;
        }
        if row.frames.len() > FRAMES {
            writeln!(out, "{:20}{}", "", faint.over(format!("… {} more", row.frames.len() - FRAMES)))?;
        }
    }
    left_out(context, source.stacks.len(), shown)?;
    writeln!(context.out.buffer())
}

fn threads(args: &ReportArgs, source: &AllocSource, context: &mut Context<'_>) -> io::Result<()> {
    let faint = context.style.faint();
    let out = context.out.buffer();
    writeln!(out, "{}", faint.over("     %       BYTES   EVENTS   THREAD"))?;
    for row in source.threads.iter().take(args.number) {
        writeln!(
            out,
            "{:>6.2}  {:>10}  {:>7}  {:>7}  {}",
            row.percent,
            units::bytes(row.bytes),
            units::count(row.events),
            row.thread.map_or_else(|| "?".to_owned(), |id| id.to_string()),
            row.name.as_deref().map(printable).unwrap_or_default(),
        )?;
    }
    left_out(context, source.threads.len(), args.number)
}
