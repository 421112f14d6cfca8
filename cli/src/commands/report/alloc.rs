//! Writes `report alloc` and `report types` as tables.

use super::words::id;
use crate::context::Context;
use crate::printable::printable;
use crate::table::{Detail, left, list, right};
use crate::units;
use nettrace_analysis::report::{AllocEvent, AllocReport, AllocSource, AllocType, TypesReport};
use std::io::{self, Write};

/// Maximum number of frames shown for each stack.
const MAX_SHOWN_FRAMES: usize = 8;

pub(super) fn text(rows: usize, report: &AllocReport, context: &mut Context<'_>) -> io::Result<()> {
    let strong = context.style.strong();
    // All sources measure the same allocations, and the first is the most exact.
    let Some(source) = report.sources.first() else { return Ok(()) };
    writeln!(context.out.buffer(), "{}", strong.over(heading(source)))?;
    let kinds: Vec<String> = source
        .kinds
        .iter()
        .map(|row| {
            format!("{} {} ({:.1} %)", row.kind.name(), units::bytes(row.bytes), row.percent)
        })
        .collect();
    writeln!(context.out.buffer(), "{}\n", kinds.join(", "))?;
    types_table(rows, &source.types, context)?;
    stacks(rows, source, context)?;
    threads(rows, source, context)?;
    for other in report.sources.iter().skip(1) {
        writeln!(context.out.buffer(), "also measured, not added: {}", heading(other))?;
    }
    Ok(())
}

pub(super) fn types(
    rows: usize,
    report: &TypesReport,
    context: &mut Context<'_>,
) -> io::Result<()> {
    types_table(rows, &report.types, context)?;
    let strong = context.style.strong();
    let line = format!(
        "{}, {} by {} of {}",
        units::counted(report.types.len() as u64, "type"),
        units::bytes(report.bytes),
        units::counted(report.events, "event"),
        report.source.map_or_else(|| "?".to_owned(), |source| source.to_string()),
    );
    writeln!(context.out.buffer(), "{}", strong.over(line))
}

fn heading(source: &AllocSource) -> String {
    let error = match source.bytes_error {
        Some(error) => format!(" ± {} (standard error)", units::bytes(error)),
        None => String::new(),
    };
    let rate = match source.bytes_per_second {
        Some(rate) if rate.is_finite() && rate >= 1.0 => {
            format!(", {}/s", units::bytes(rate as u64))
        }
        _ => String::new(),
    };
    let how = match source.source {
        AllocEvent::AllocationSampled => "objects sampled at random",
        AllocEvent::AllocationTick => "ticks, about one per 100 KB; the error is not known",
        _ => "sampled objects",
    };
    format!(
        "{}{error} allocated{rate}; {} of {} ({how})",
        units::bytes(source.bytes),
        units::counted(source.events, "event"),
        source.source,
    )
}

fn types_table(rows: usize, types: &[AllocType], context: &mut Context<'_>) -> io::Result<()> {
    let dash = || "-".to_owned();
    let bytes = |bytes: u64| if bytes == 0 { dash() } else { units::bytes(bytes) };
    list(context, types, rows).columns([
        right("%", 6, 0).fill(&|row| format!("{:.2}", row.percent).into()),
        right("BYTES", 10, 0).fill(&|row| units::bytes(row.bytes).into()),
        right("ERROR", 9, 4).fill(&|row| row.bytes_error.map_or_else(dash, units::bytes).into()),
        right("OBJECTS", 10, 1).fill(&|row| row.objects.map_or_else(dash, units::count).into()),
        right("LARGE", 10, 3).fill(&|row| bytes(row.large_bytes).into()),
        right("PINNED", 9, 5).fill(&|row| bytes(row.pinned_bytes).into()),
        right("EVENTS", 6, 2).fill(&|row| units::count(row.events).into()),
        left("TYPE", 4, 0).fill(&|row| (&*row.type_name).into()),
    ])?;
    writeln!(context.out.buffer())
}

fn stacks(rows: usize, source: &AllocSource, context: &mut Context<'_>) -> io::Result<()> {
    if source.stacks.iter().all(|row| row.frames.is_empty()) {
        return Ok(());
    }
    let strong = context.style.strong();
    writeln!(context.out.buffer(), "{}", strong.over("By stack and type, innermost frame first"))?;
    list(context, &source.stacks, rows.div_ceil(4)).columns_and_details(
        [
            right("%", 6, 0).fill(&|row| format!("{:.2}", row.percent).into()),
            right("BYTES", 10, 0).fill(&|row| units::bytes(row.bytes).into()),
            left("TYPE; FRAMES", 12, 0).fill(&|row| (&*row.type_name).into()),
        ],
        |row| {
            let frames =
                row.frames.iter().take(MAX_SHOWN_FRAMES).map(|frame| printable(&frame.text));
            let more = row.frames.len().saturating_sub(MAX_SHOWN_FRAMES);
            let more = (more > 0).then(|| format!("… {} more", units::count(more as u64)));
            frames.chain(more).map(|text| Detail::new(" ".repeat(20), text)).collect()
        },
    )?;
    writeln!(context.out.buffer())
}

fn threads(rows: usize, source: &AllocSource, context: &mut Context<'_>) -> io::Result<()> {
    list(context, &source.threads, rows).columns([
        right("%", 6, 0).fill(&|row| format!("{:.2}", row.percent).into()),
        right("BYTES", 10, 0).fill(&|row| units::bytes(row.bytes).into()),
        right("EVENTS", 7, 1).fill(&|row| units::count(row.events).into()),
        right("THREAD", 7, 0).fill(&|row| id(row.thread).into()),
        left("", 0, 0).fill(&|row| row.name.as_deref().unwrap_or_default().into()),
    ])
}
