//! `report alloc` and `report types` as tables.

use crate::args::ReportArgs;
use crate::commands::Context;
use crate::printable::printable;
use crate::table::{Column, Table, left, left_out, right};
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
        "AllocationTick" => "ticks, about one per 100 KB; the error is not known",
        _ => "sampled objects",
    };
    format!(
        "{}{error} allocated{rate}; {} of {} ({how})",
        units::bytes(source.bytes),
        units::counted(source.events, "event"),
        source.source,
    )
}

const TYPE_COLUMNS: &[Column] = &[
    right("%", 6, 0),
    right("BYTES", 10, 0),
    right("ERROR", 9, 4),
    right("OBJECTS", 10, 1),
    right("LARGE", 10, 3),
    right("PINNED", 9, 5),
    right("EVENTS", 6, 2),
    left("TYPE", 4, 0),
];

fn types_table(args: &ReportArgs, types: &[AllocType], context: &mut Context<'_>) -> io::Result<()> {
    let mut table = Table::new(TYPE_COLUMNS);
    for row in types.iter().take(args.number) {
        let bytes = |bytes: u64| if bytes == 0 { "-".to_owned() } else { units::bytes(bytes) };
        table.row([
            format!("{:.2}", row.percent).into(),
            units::bytes(row.bytes).into(),
            row.bytes_error.map_or_else(|| "-".to_owned(), units::bytes).into(),
            row.objects.map_or_else(|| "-".to_owned(), units::count).into(),
            bytes(row.large_bytes).into(),
            bytes(row.pinned_bytes).into(),
            units::count(row.events).into(),
            printable(&row.type_name).into(),
        ]);
    }
    table.write(context)?;
    left_out(context, types.len(), args.number)?;
    writeln!(context.out.buffer())
}

fn stacks(args: &ReportArgs, source: &AllocSource, context: &mut Context<'_>) -> io::Result<()> {
    if source.stacks.iter().all(|row| row.frames.is_empty()) {
        return Ok(());
    }
    let (strong, faint) = (context.style.strong(), context.style.faint());
    writeln!(context.out.buffer(), "{}", strong.over("By stack and type, innermost frame first"))?;
    let shown = args.number.div_ceil(4);
    let mut table = Table::new([right("%", 6, 0), right("BYTES", 10, 0), left("TYPE; FRAMES", 12, 0)]);
    for row in source.stacks.iter().take(shown) {
        let percent = format!("{:.2}", row.percent);
        table.row([percent.into(), units::bytes(row.bytes).into(), printable(&row.type_name).into()]);
        for frame in row.frames.iter().take(FRAMES) {
            table.detail(format!("{:20}{}", "", printable(frame)), &faint);
        }
        if row.frames.len() > FRAMES {
            table.detail(
                format!("{:20}… {} more", "", units::count((row.frames.len() - FRAMES) as u64)),
                &faint,
            );
        }
    }
    table.write(context)?;
    left_out(context, source.stacks.len(), shown)?;
    writeln!(context.out.buffer())
}

fn threads(args: &ReportArgs, source: &AllocSource, context: &mut Context<'_>) -> io::Result<()> {
    let mut table = Table::new([
        right("%", 6, 0),
        right("BYTES", 10, 0),
        right("EVENTS", 7, 1),
        right("THREAD", 7, 0),
        left("", 0, 0),
    ]);
    for row in source.threads.iter().take(args.number) {
        table.row([
            format!("{:.2}", row.percent).into(),
            units::bytes(row.bytes).into(),
            units::count(row.events).into(),
            row.thread.map_or_else(|| "?".to_owned(), |id| id.to_string()).into(),
            row.name.as_deref().map(printable).unwrap_or_default().into(),
        ]);
    }
    table.write(context)?;
    left_out(context, source.threads.len(), args.number)
}
