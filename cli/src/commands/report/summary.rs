//! `report summary`, which is also the output of `nettrace FILE`.

use super::pass::{Asked, Steps, show_in_steps};
use super::words::prose;
use crate::args::InputArgs;
use crate::context::Context;
use crate::cut::cut;
use crate::ending;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::Ended;
use crate::outer_types::{self, Modules};
use crate::printable::printable;
use crate::recommended::shell_word;
use crate::style::Paint;
use crate::table::wrapped;
use crate::units;
use nettrace_analysis::findings::{OwnEvents, Severity, Summary, SummaryReport};
use nettrace_analysis::heap::{HeapDump, HeapReader, HeapReport, Retained};
use nettrace_analysis::report::BenchmarkReport;
use std::io::{self, Write};
use unicode_width::UnicodeWidthStr;

pub(super) fn run(asked: Asked<'_>, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let complete =
        |report: &mut SummaryReport, _: &Ended, input: &InputArgs, context: &mut Context<'_>| {
            complete(report, input, context);
            true
        };
    let steps = Steps { each: None, complete, text: &text };
    show_in_steps(Summary::default(), asked, &steps, context)
}

/// Heap dumps of a trace, with the report about one.
pub(super) struct HeapOfTrace {
    pub(super) dumps: Vec<HeapDump>,
    /// Index of the dump that `report` is about, which `nettrace heap` shows without `--dump`.
    pub(super) usual: usize,
    pub(super) retained: Retained,
    pub(super) report: HeapReport,
}

/// Adds the heap and how the process ended to a summary. Returns the heap; `None` without a dump.
pub(super) fn complete(
    report: &mut SummaryReport,
    input: &InputArgs,
    context: &mut Context<'_>,
) -> Option<HeapOfTrace> {
    let heap = heap(report, input, context);
    if let Some(heap) = &heap {
        report.add_heap(&heap.report);
    }
    let beside = ending::read(&input.file, input.read.input_limit.0).unwrap_or_default();
    if let Some(end) = beside.end {
        report.set_process_end(end);
    }
    report.add_silent_sources(beside.silent());
    heap
}

/// Reads a trace once more for its heap, because a dump takes more memory than most summaries need.
/// Returns `None` if that fails, or if the trace can be read only once.
fn heap(
    report: &SummaryReport,
    input: &InputArgs,
    context: &mut Context<'_>,
) -> Option<HeapOfTrace> {
    if !report.has_heap_dump || input.is_stdin() {
        return None;
    }
    let mut events = context.open(input).ok()?.reader.time_ordered();
    let mut reader = HeapReader::default();
    let _ = reader.read(&mut events).ok()?;
    let modules = Modules::Of { folders: &[], trace: &input.file };
    outer_types::add(&mut reader, modules, &mut context.messages);
    let dumps = reader.finish();
    let usual = HeapDump::usual(&dumps)?;
    let dump = dumps.get(usual)?;
    let retained = Retained::from_dump(dump);
    let report = HeapReport::new(&dumps, dump, &retained);
    Some(HeapOfTrace { dumps, usual, retained, report })
}

/// Returns what an operation of a benchmark took.
fn operation(benchmark: &BenchmarkReport) -> String {
    let name = benchmark.benchmark.as_deref().map_or_else(String::new, |name| format!(" {name}"));
    let mut line = format!(
        "benchmark{}: {} in {}; an operation takes {}",
        printable(&name),
        units::counted(benchmark.operations, "operation"),
        units::counted(benchmark.iterations, "measured iteration"),
        units::duration(benchmark.mean_ns.round() as i64)
    );
    if let Some(bytes) = benchmark.allocated_bytes {
        match bytes {
            ..1.0 => line.push_str(", allocates under 1 B"),
            _ => line.push_str(&format!(", allocates {} B", units::count(bytes.round() as u64))),
        }
    }
    if let Some(collections) = benchmark.collections.filter(|count| *count > 0.0) {
        line.push_str(&format!(", makes {collections:.3} collections"));
    }
    line
}

fn text(input: &InputArgs, report: &SummaryReport, context: &mut Context<'_>) -> io::Result<()> {
    let (strong, faint, name) =
        (context.style.strong(), context.style.faint(), context.style.name());
    let (bad, good) = (context.style.bad(), context.style.good());
    let width = context.table_width();
    let out = context.out.buffer();
    writeln!(out, "{}", strong.over(printable(&input.name())))?;
    writeln!(out, "{}", strong.over(wrapped(&printable(&report.kind), width)))?;
    // Command lines may have thousands of arguments; --json has them all.
    let room = width.unwrap_or(MAX_PROCESS_COLUMNS).min(MAX_PROCESS_COLUMNS);
    let process = report
        .process
        .as_deref()
        .map_or_else(String::new, |process| format!(" of {}", cut(&printable(process), room)));
    let line = format!(
        "{}{process}, {}, {}",
        units::short_duration(report.duration_ns),
        units::counted(report.events, "event"),
        units::counted(report.threads, "thread"),
    );
    prose(context, &Paint::default(), &line)?;
    if let Some(benchmark) = &report.benchmark {
        prose(context, &Paint::default(), &operation(benchmark))?;
    }
    let out = context.out.buffer();
    let file = input.shell_word();
    if !report.findings.is_empty() {
        writeln!(out)?;
        writeln!(out, "{}", strong.over("What stands out"))?;
        let room = width.map_or(usize::MAX, |width| width.saturating_sub(2));
        for finding in &report.findings {
            let (word, paint) = match finding.severity {
                Severity::Severe => ("severe: ", &bad),
                Severity::Minor => ("minor: ", &faint),
                Severity::Good => ("good: ", &good),
                _ => ("", &faint),
            };
            let lines = in_lines(&format!("{word}{}", printable(&finding.text())), room);
            let sentence = lines.strip_prefix(word).unwrap_or(&lines);
            let word = if sentence.len() < lines.len() { word } else { "" };
            writeln!(out, "  {}{sentence}", paint.over(word))?;
            writeln!(out, "    {}", name.over(format!("nettrace {} {file}", finding.command())))?;
        }
    }
    if report.has_heap_dump {
        writeln!(out)?;
        writeln!(out, "{}", strong.over("The objects of its heap"))?;
        writeln!(out, "    {}", name.over(format!("nettrace heap {file}")))?;
    }
    if !report.answers.is_empty() {
        writeln!(out)?;
        writeln!(
            out,
            "{}",
            strong.over("What it can answer, from how many events: nettrace report NAME FILE")
        )?;
        for answer in &report.answers {
            let count = faint.over(format!("{:>10}", units::count(answer.events)));
            writeln!(
                out,
                "  {}{count}  {}",
                name.over(format!("{:<12}", answer.report)),
                answer.about
            )?;
        }
        if let Some(advice) = &report.advice {
            let room = width.map_or(usize::MAX, |width| width.saturating_sub(2));
            writeln!(out, "  {}", faint.over(in_lines(advice.text(), room)))?;
        }
    }
    if !report.own_events.is_empty() {
        own_events(&file, report, width, context)?;
    }
    let out = context.out.buffer();
    writeln!(out)?;
    writeln!(out, "{}", strong.over("All of it as a page in the browser"))?;
    writeln!(out, "    {}", name.over(format!("nettrace open {file}")))
}

/// Maximum characters of a process's command line.
const MAX_PROCESS_COLUMNS: usize = 160;

/// Writes the events of the program's own sources, and commands that show their stacks and values.
fn own_events(
    file: &str,
    report: &SummaryReport,
    width: Option<usize>,
    context: &mut Context<'_>,
) -> io::Result<()> {
    let (strong, faint, name) =
        (context.style.strong(), context.style.faint(), context.style.name());
    let out = context.out.buffer();
    writeln!(out)?;
    let title = "Events of its own sources, with their fields: nettrace events FILE --event NAME";
    writeln!(out, "{}", strong.over(wrapped(title, width)))?;
    let rows = &report.own_events;
    let room = width.map_or(usize::MAX, |width| width.saturating_sub(2 + NUMBERS_COLUMNS));
    let events: Vec<String> = rows.iter().map(|row| cut(&printable(&row.event), room)).collect();
    let columns = events.iter().map(|event| event.width()).max().unwrap_or(0);
    for (row, event) in rows.iter().zip(&events) {
        let room = width.map(|width| width.saturating_sub(4 + columns + NUMBERS_COLUMNS));
        let fields = printable(&row.fields.join(" "));
        let fields = match room {
            Some(room) if room < MIN_NAME_COLUMNS => String::new(),
            Some(room) => cut(&fields, room),
            None => fields,
        };
        let gap = " ".repeat(columns.saturating_sub(event.width()));
        let numbers = faint.over(format!("{:>10}{:>10}", units::count(row.events), rate(row)));
        let fields = if fields.is_empty() { fields } else { format!("  {fields}") };
        writeln!(out, "  {}{gap}{numbers}{fields}", name.over(event))?;
    }
    let further = report.own_types.saturating_sub(rows.len() as u64);
    if further > 0 {
        let types = units::counted(further, "more type");
        writeln!(out, "  {types}: {}", name.over(format!("nettrace stats {file}")))?;
    }
    let with_stacks = rows.iter().max_by_key(|row| row.with_stack);
    if let Some(row) = with_stacks.filter(|row| row.with_stack > 0) {
        let event = shell_word(&row.event);
        let command = format!("nettrace convert {file} --format svg --kind {event}");
        let start = format!("{} with stacks of", units::count(row.with_stack));
        let room = width.map_or(usize::MAX, |width| width.saturating_sub(2));
        writeln!(out, "  {}", fitted(&start, &printable(&row.event), room))?;
        writeln!(out, "    {}", name.over(command))?;
    }
    Ok(())
}

/// Width of the number of events and their rate, in characters.
const NUMBERS_COLUMNS: usize = 20;

/// Returns the rate of events: `110/s`, `0.5/s`.
fn rate(row: &OwnEvents) -> String {
    match row.per_second {
        Some(rate) if rate >= 9.95 => format!("{rate:.0}/s"),
        Some(rate) => format!("{rate:.1}/s"),
        None => String::new(),
    }
}

/// Wraps a sentence to lines of this width. Words longer than a line are cut.
fn in_lines(text: &str, width: usize) -> String {
    let most = width.saturating_sub(2).max(MIN_NAME_COLUMNS);
    let words: Vec<String> = text.split(' ').map(|word| cut(word, most)).collect();
    wrapped(&words.join(" "), Some(width)).replace('\n', "\n  ")
}

/// Minimum characters for the name at a sentence's end; with less room, the sentence is cut.
const MIN_NAME_COLUMNS: usize = 8;

/// Returns a sentence that fits a line: the name at its end is cut in its middle.
fn fitted(start: &str, name: &str, width: usize) -> String {
    match width.checked_sub(start.width() + 1) {
        Some(room) if room >= MIN_NAME_COLUMNS => format!("{start} {}", cut(name, room)),
        _ => cut(&format!("{start} {name}"), width),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_at_a_sentences_end_is_cut_in_its_middle() {
        assert_eq!(fitted("most in", "A.B", 11), "most in A.B");
        let cut = fitted("most in", "Namespace.Type.Method", 22);
        assert_eq!((cut.as_str(), cut.chars().count()), ("most in Name…pe.Method", 22));
        assert_eq!(fitted("no room for", "VeryLongName", 14), "no r…yLongName");
    }
}
