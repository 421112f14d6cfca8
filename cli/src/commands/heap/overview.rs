//! `nettrace heap FILE`: shows types, modules, roots or generations of a heap dump.

use super::trace::HeapTrace;
use crate::args::{HeapArgs, HeapBy, HeapSort};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printable::printable;
use crate::style::Paint;
use crate::table::{left, list, prose, right};
use crate::units;
use nettrace_analysis::heap::{GcDumpAbout, HeapDump, HeapGeneration, HeapReport, Retained};
use std::cmp::Reverse;
use std::io::{self, Write};

pub(super) fn run(
    args: &HeapArgs,
    trace: &HeapTrace,
    context: &mut Context<'_>,
) -> Result<Exit, Failure> {
    if let Some(dump) = trace.dump_for(args.form) {
        let report = report(args, &trace.dumps, dump);
        context.progress.end();
        if args.form.json {
            context.write_report(&report, trace.ended())?;
        } else {
            text(args, &report, context)?;
        }
    }
    trace.conclude(context)
}

/// Creates the report with the types of `--type`, in the order of `--sort`.
pub(super) fn report(args: &HeapArgs, dumps: &[HeapDump], dump: &HeapDump) -> HeapReport {
    let retained = Retained::from_dump(dump);
    let mut report = HeapReport::new(dumps, dump, &retained);
    if let Some(wanted) = &args.type_name {
        report.types.retain(|row| wanted.is_match(&row.name));
    }
    // The report is sorted by bytes, and sorting is stable.
    match args.sort {
        HeapSort::Bytes => {}
        HeapSort::Count => {
            report.types.sort_by_key(|row| Reverse(row.count));
            report.modules.sort_by_key(|row| Reverse(row.count));
        }
        HeapSort::Retained => {
            report.types.sort_by_key(|row| Reverse(row.retained_bytes));
            report.modules.sort_by_key(|row| Reverse(row.retained_bytes));
        }
    }
    report
}

pub(super) fn text(
    args: &HeapArgs,
    report: &HeapReport,
    context: &mut Context<'_>,
) -> io::Result<()> {
    let strong = context.style.strong();
    let sentences = report.sentences().into_iter();
    first_sentences(sentences, context)?;
    heading(report, &strong, context)?;
    let rows = args.rows().unwrap_or(usize::MAX);
    match args.by {
        HeapBy::Types => types(args.sort, rows, report, context),
        HeapBy::Modules => modules(args.sort, rows, report, context),
        HeapBy::Roots => roots(rows, report, context),
        HeapBy::Generations => generations(report, context),
    }
}

/// Writes sentences about the largest parts of the heap, before the numbers.
pub(super) fn first_sentences(
    sentences: impl Iterator<Item = String>,
    context: &mut Context<'_>,
) -> io::Result<()> {
    let mut has_some = false;
    for text in sentences {
        prose(context, &Paint::default(), &printable(&text))?;
        has_some = true;
    }
    if has_some { writeln!(context.out.buffer()) } else { Ok(()) }
}

fn heading(report: &HeapReport, strong: &Paint, context: &mut Context<'_>) -> io::Result<()> {
    let of = match report.dumps.len() {
        1 => String::new(),
        count => format!("dump {} of {count}: ", report.dump),
    };
    let title = format!(
        "{of}{}, {} in {}",
        units::counted(report.objects, "object"),
        units::bytes(report.bytes),
        // The number of all types, also without those that `--type` removed.
        units::counted(report.modules.iter().map(|row| row.types).sum(), "type"),
    );
    writeln!(context.out.buffer(), "{}", strong.over(title))?;
    for text in report.gcdump.iter().flat_map(GcDumpAbout::sentences) {
        prose(context, &Paint::default(), &printable(&text))?;
    }
    let shown = report.dumps.iter().find(|row| row.index == report.dump);
    let younger = shown.filter(|row| !row.is_of_all_generations());
    if let Some(generation) = younger.and_then(|row| row.collected_generation) {
        let text = format!(
            "of a collection up to generation {generation}: objects of older ones may be garbage"
        );
        prose(context, &Paint::default(), &text)?;
    }
    let unreachable = report.bytes.saturating_sub(report.reachable_bytes);
    let mut facts = vec![format!("{} reachable", units::bytes(report.reachable_bytes))];
    if unreachable > 0 {
        facts.push(format!("{} not reachable from a root", units::bytes(unreachable)));
    }
    facts.push(units::counted(report.edges, "reference"));
    if let Some(pause) = report.pause_ns {
        facts.push(format!("paused for {}", units::duration(pause)));
    }
    prose(context, &Paint::default(), &facts.join(", "))?;
    let roots: Vec<String> =
        report.roots.iter().map(|row| units::counted(row.count, &row.kind.to_string())).collect();
    let roots = if roots.is_empty() { "none".to_owned() } else { roots.join(", ") };
    prose(context, &Paint::default(), &format!("roots: {roots}"))?;
    let generations: Vec<String> = report
        .generations
        .iter()
        .map(|row| format!("{} {}", row.generation, units::bytes(row.bytes)))
        .collect();
    let is_known = report.generations.iter().any(|row| row.generation != HeapGeneration::Unknown);
    if is_known {
        prose(context, &Paint::default(), &format!("generations: {}", generations.join(", ")))?;
    }
    writeln!(context.out.buffer())
}

fn types(
    sort: HeapSort,
    rows: usize,
    report: &HeapReport,
    context: &mut Context<'_>,
) -> io::Result<()> {
    list(context, &report.types, rows).columns([
        right("%", 6, 3).fill(&|row| format!("{:.2}", row.percent).into()),
        right("BYTES", 10, 0).fill(&|row| units::bytes(row.bytes).into()),
        right("COUNT", 10, 0).fill(&|row| units::count(row.count).into()),
        right("RETAINED", 10, 1)
            .asked_for(sort == HeapSort::Retained)
            .fill(&|row| units::bytes(row.retained_bytes).into()),
        right("LARGEST", 10, 4).fill(&|row| units::bytes(row.largest_bytes).into()),
        left("MODULE", 6, 2).fill(&|row| module(&row.module).into()),
        left("TYPE", 4, 0).fill(&|row| (&*row.name).into()),
    ])
}

fn modules(
    sort: HeapSort,
    rows: usize,
    report: &HeapReport,
    context: &mut Context<'_>,
) -> io::Result<()> {
    list(context, &report.modules, rows).columns([
        right("%", 6, 2).fill(&|row| format!("{:.2}", row.percent).into()),
        right("BYTES", 10, 0).fill(&|row| units::bytes(row.bytes).into()),
        right("COUNT", 10, 0).fill(&|row| units::count(row.count).into()),
        right("RETAINED", 10, 1)
            .asked_for(sort == HeapSort::Retained)
            .fill(&|row| units::bytes(row.retained_bytes).into()),
        right("TYPES", 7, 3).fill(&|row| units::count(row.types).into()),
        left("MODULE", 6, 0).fill(&|row| module(&row.module).into()),
    ])
}

fn roots(rows: usize, report: &HeapReport, context: &mut Context<'_>) -> io::Result<()> {
    list(context, &report.roots, usize::MAX).columns([
        right("ROOTS", 9, 0).fill(&|row| units::count(row.count).into()),
        right("OBJECTS", 9, 2).fill(&|row| units::count(row.objects).into()),
        right("BYTES", 10, 1).fill(&|row| units::bytes(row.bytes).into()),
        right("RETAINED", 10, 0).fill(&|row| units::bytes(row.retained_bytes).into()),
        left("KIND", 4, 0).fill(&|row| row.kind.to_string().into()),
    ])?;
    if report.statics.is_empty() {
        return Ok(());
    }
    let strong = context.style.strong();
    writeln!(context.out.buffer(), "\n{}", strong.over("Static variables"))?;
    list(context, &report.statics, rows).columns([
        right("RETAINED", 10, 0).fill(&|row| units::bytes(row.retained_bytes).into()),
        right("BYTES", 10, 1).fill(&|row| units::bytes(row.bytes).into()),
        left("VARIABLE", 8, 0).fill(&|row| {
            let each = if row.is_thread_static { " (of each thread)" } else { "" };
            format!("{}{each}", row.name).into()
        }),
        left("TYPE OF THE OBJECT", 4, 0).fill(&|row| row.type_name.as_str().into()),
    ])
}

fn generations(report: &HeapReport, context: &mut Context<'_>) -> io::Result<()> {
    list(context, &report.generations, usize::MAX).columns([
        right("%", 6, 1).fill(&|row| format!("{:.2}", row.percent).into()),
        right("BYTES", 10, 0).fill(&|row| units::bytes(row.bytes).into()),
        right("REACHABLE", 10, 0).fill(&|row| units::bytes(row.reachable_bytes).into()),
        right("COUNT", 10, 0).fill(&|row| units::count(row.count).into()),
        left("GENERATION", 10, 0).fill(&|row| row.generation.to_string().into()),
    ])
}

/// Returns the name of a module as tables show it.
pub(super) fn module(name: &str) -> String {
    if name.is_empty() { "-".to_owned() } else { printable(name) }
}
