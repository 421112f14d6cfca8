//! `nettrace diff`: what changed between two groups of traces.

use crate::analysed::Analysed;
use crate::args::{DiffArgs, InputArgs, PerArg};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::Ended;
use crate::new_file;
use crate::printable::printable;
use crate::samples::AnalysisArgs;
use crate::table::{end_page, left, list, right};
use crate::units;
use nettrace_analysis::diff::{
    self, ConditionOutcome, DiffPage, DiffReport, DiffRow, DiffSide, Per, Subject, TraceFacts,
};
use nettrace_analysis::report::OutcomeReport;
use serde::Serialize;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A trace that was read.
struct Read {
    name: String,
    ended: Ended,
}

/// The traces of a side, and the facts of each.
#[derive(Default)]
struct Side {
    reads: Vec<Read>,
    facts: Vec<TraceFacts>,
}

/// The document: the report, the traces it is of, conditions.
#[derive(Serialize)]
struct Document<'d> {
    #[serde(flatten)]
    report: &'d DiffReport,
    old_traces: Vec<TraceRow<'d>>,
    new_traces: Vec<TraceRow<'d>>,
    conditions: &'d [ConditionOutcome],
}

#[derive(Serialize)]
struct TraceRow<'d> {
    file: &'d str,
    duration_ns: u64,
    samples: u64,
    requests: u64,
    outcome: OutcomeReport,
}

pub(super) fn run(args: &DiffArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let (old, new) = files(args)?;
    let all: Vec<&Path> = old.iter().chain(&new).map(PathBuf::as_path).collect();
    if let Some(path) = &args.output {
        new_file::check(path, args.force, &all)?;
    }
    let old = read(&old, args, context)?;
    let new = read(&new, args, context)?;
    let per = match args.per {
        PerArg::Second => Per::Second,
        PerArg::Request => Per::Request,
        PerArg::Sample => Per::Sample,
    };
    divisible(per, &old)?;
    divisible(per, &new)?;
    let report = DiffReport::new(&old.facts, &new.facts, per);
    let outcomes: Vec<ConditionOutcome> =
        args.fail_if.iter().map(|condition| condition.outcome(&report)).collect();
    context.progress.end();
    if let Some(path) = &args.output {
        let names = |side: &Side| side.reads.iter().map(|read| read.name.clone()).collect();
        let page = DiffPage {
            report: &report,
            old: &old.facts,
            new: &new.facts,
            names: [names(&old), names(&new)],
            conditions: &outcomes,
        };
        new_file::write(path, args.force, &all, |out| page.write("nettrace diff", out))?;
    } else if args.form.json {
        let document = Document {
            report: &report,
            old_traces: trace_rows(&old),
            new_traces: trace_rows(&new),
            conditions: &outcomes,
        };
        context.write_json(&document)?;
    } else {
        text(args, &report, context)?;
        end_page(context)?;
    }
    context.out.finish()?;
    for text in &report.not_compared {
        context.messages.warning(&format!("not compared: {text}"));
    }
    for outcome in &outcomes {
        say(outcome, context);
    }
    let mut exit = Exit::Fine;
    for read in old.reads.iter().chain(&new.reads) {
        context.messages.losses(&read.name, &read.ended);
        let own = context.conclude(&read.name, &read.ended, true);
        exit = if matches!(exit, Exit::Fine) { own } else { exit };
    }
    let holds = outcomes.iter().any(|outcome| outcome.holds);
    Ok(if holds { Exit::Changed } else { exit })
}

fn files(args: &DiffArgs) -> Result<(Vec<PathBuf>, Vec<PathBuf>), Failure> {
    match (&args.old_file, &args.new_file) {
        (Some(old), Some(new)) => Ok((vec![old.clone()], vec![new.clone()])),
        _ if !args.old.is_empty() && !args.new.is_empty() => {
            Ok((args.old.clone(), args.new.clone()))
        }
        _ => Err(Failure::usage("give two traces: nettrace diff OLD NEW, or --old A B --new C D")),
    }
}

fn read(files: &[PathBuf], args: &DiffArgs, context: &mut Context<'_>) -> Result<Side, Failure> {
    let mut side = Side::default();
    for file in files {
        let (read, facts) = read_one(file, args, context)?;
        side.reads.push(read);
        side.facts.push(facts);
    }
    Ok(side)
}

fn read_one(
    file: &Path,
    args: &DiffArgs,
    context: &mut Context<'_>,
) -> Result<(Read, TraceFacts), Failure> {
    let input = InputArgs { file: file.to_owned(), read: args.read };
    let mut trace = Analysed::new(context.open(&input)?)?;
    let mut pass = diff::pass(args.samples.options());
    trace.read(|events| pass.read(events))?;
    for text in args.samples.add_names(pass.model_mut())? {
        context.messages.warning(&text);
    }
    Ok((Read { name: trace.file.clone(), ended: trace.ended() }, pass.finish().output))
}

/// A total divided by zero has no meaning.
fn divisible(per: Per, side: &Side) -> Result<(), Failure> {
    let lacks = |facts: &TraceFacts| match per {
        Per::Request => facts.requests == 0,
        Per::Sample => facts.samples == 0,
        _ => false,
    };
    let mut traces = side.reads.iter().zip(&side.facts);
    let Some((read, _)) = traces.find(|(_, facts)| lacks(facts)) else { return Ok(()) };
    let (what, per) =
        if per == Per::Request { ("requests", "request") } else { ("CPU samples", "sample") };
    let message =
        format!("it has no {what}, so totals cannot be divided --per {per}; use --per second");
    Err(Failure::input(read.name.clone(), message))
}

fn trace_rows(side: &Side) -> Vec<TraceRow<'_>> {
    side.reads.iter().zip(&side.facts).map(|(read, facts)| trace_row(read, facts)).collect()
}

fn trace_row<'d>(read: &'d Read, facts: &TraceFacts) -> TraceRow<'d> {
    TraceRow {
        file: &read.name,
        duration_ns: facts.duration_ns,
        samples: facts.samples,
        requests: facts.requests,
        outcome: read.ended.outcome(),
    }
}

/// Says whether a condition holds, and for what.
fn say(outcome: &ConditionOutcome, context: &mut Context<'_>) {
    let condition = &outcome.condition;
    if outcome.rows == 0 {
        let text = format!("{condition}: no data for this metric; the condition counts as false");
        context.messages.warning(&text);
    }
    for (name, unit) in outcome.incomparable.iter().take(5) {
        let (name, unit) = (printable(name), printable(unit));
        context.messages.warning(&format!(
            "{condition}: {name} is in {unit}, with which the limit cannot be compared"
        ));
    }
    for row in outcome.because.iter().take(5) {
        let (old, new, change) = (value(row, row.old), value(row, row.new), change(row));
        let name = printable(&name(row)).to_string();
        context.messages.warning(&format!("{condition} holds: {name}, {old} to {new} ({change})"));
    }
}

fn text(args: &DiffArgs, report: &DiffReport, context: &mut Context<'_>) -> io::Result<()> {
    let strong = context.style.strong();
    let out = context.out.buffer();
    for (word, side) in [("old", &report.old), ("new", &report.new)] {
        writeln!(out, "{word}  {}", about(side))?;
    }
    let shown: Vec<&DiffRow> =
        report.rows.iter().filter(|row| args.all || row.is_significant).collect();
    let line = match report.significant {
        0 => "Nothing changed beyond noise".to_owned(),
        count => format!("{} beyond noise", units::counted(count, "change")),
    };
    let within = (report.rows.len() as u64).saturating_sub(report.significant);
    let per = match report.per {
        Per::Request => "request",
        Per::Sample => "sample",
        _ => "second",
    };
    writeln!(
        out,
        "\n{}; {} within it. Sums are per {per}.",
        strong.over(line),
        units::count(within)
    )?;
    if shown.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    list(context, &shown, args.rows.number).columns([
        right("OLD", 10, 0).of(&|row| value(row, row.old).into()),
        right("NEW", 10, 0).of(&|row| value(row, row.new).into()),
        right("CHANGE", 8, 0).of(&|row| change(row).into()),
        right("WEIGHT", 7, 1).of(&|row| format!("{:.1} %", row.weight_percent).into()),
        left("", 5, 2).of(&|row| if row.is_significant { "" } else { "noise" }.into()),
        left("WHAT", 30, 0).of(&|row| name(row).into()),
    ])
}

/// `2 traces, 8.017 s, 81,554 samples, 11,841 requests`.
fn about(side: &DiffSide) -> String {
    let mut text = units::counted(side.traces, "trace");
    text.push_str(&format!(
        ", {}",
        units::duration(i64::try_from(side.duration_ns).unwrap_or(i64::MAX))
    ));
    if side.samples > 0 {
        text.push_str(&format!(", {}", units::counted(side.samples, "sample")));
    }
    if side.requests > 0 {
        text.push_str(&format!(", {}", units::counted(side.requests, "request")));
    }
    if side.lost > 0 {
        text.push_str(&format!(", {} lost", units::counted(side.lost, "event")));
    }
    text
}

fn name(row: &DiffRow) -> String {
    let name = &row.name;
    match row.subject {
        Subject::Method => name.clone(),
        Subject::MethodTotal => format!("{name} and what it calls"),
        Subject::Cpu => "running time, total".to_owned(),
        Subject::Type => format!("new {name}"),
        Subject::Alloc => "all allocations".to_owned(),
        Subject::GcCount if name.is_empty() => "collections".to_owned(),
        Subject::GcCount => format!("collections of {name}"),
        Subject::GcPause if name.is_empty() => "pauses of collections, together".to_owned(),
        Subject::GcPause => format!("pause of a collection, {name}"),
        Subject::Exception => format!("throw {name}"),
        Subject::Exceptions => "exceptions".to_owned(),
        Subject::Contention => "waiting for locks".to_owned(),
        Subject::ContentionCount => "waits for locks".to_owned(),
        Subject::Waits => "waiting for handles".to_owned(),
        Subject::Jit => "compiling".to_owned(),
        Subject::JitMethods => "methods compiled".to_owned(),
        Subject::Startup => startup(name),
        Subject::Counter => format!("counter {name}"),
        _ => name.clone(),
    }
}

fn startup(name: &str) -> String {
    let text = match name {
        "program" => "start of the process until the program's own assembly is loaded",
        "first_request" => "start of the process until the first request is answered",
        "jit" => "compiling in the first second of the process",
        "jit_methods" => "methods compiled in the first second of the process",
        "assemblies" => "assemblies loaded in the first second of the process",
        other => return format!("startup: {other}"),
    };
    text.to_owned()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float is cut off at the ends"
)]
fn value(row: &DiffRow, value: f64) -> String {
    match &*row.unit {
        "ns" if value >= 1000.0 => units::duration(value.round() as i64),
        "ns" => format!("{value:.1} ns"),
        "bytes" => units::bytes(value.round() as u64),
        _ if value.abs() >= 1000.0 => units::decimal(value, 0),
        _ => units::decimal(value, 2),
    }
}

fn change(row: &DiffRow) -> String {
    match row.change_percent {
        Some(change) => format!("{change:+.1} %"),
        None if row.new != 0.0 => "new".to_owned(),
        None => String::new(),
    }
}
