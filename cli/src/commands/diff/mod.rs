//! `nettrace diff`: shows what changed between two groups of traces.

mod junit;
mod sides;
mod text;

use crate::args::{DiffArgs, DiffFormat, PerArg};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::new_file;
use crate::printable::printable;
use crate::table::end_page;
use nettrace_analysis::diff::{
    ConditionOutcome, DiffOptions, DiffPage, DiffReport, MeasuredTrace, Per,
};
use nettrace_analysis::report::OutcomeReport;
use serde::Serialize;
use sides::{Alone, ComparedFiles, Pair, Read, Side};
use std::path::Path;

/// Comparison with its traces.
struct Compared {
    pair: Pair,
    report: DiffReport,
    conditions: Vec<ConditionOutcome>,
}

/// JSON document of one comparison.
#[derive(Serialize)]
struct DiffDocument<'d> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'d str>,
    #[serde(flatten)]
    report: &'d DiffReport,
    old_traces: Vec<TraceRow<'d>>,
    new_traces: Vec<TraceRow<'d>>,
    conditions: &'d [ConditionOutcome],
}

/// JSON document of the comparison of two folders.
#[derive(Serialize)]
struct FoldersDocument<'d> {
    schema: u32,
    verdict: String,
    not_compared: Vec<String>,
    not_compared_facts: &'d [Alone],
    pairs: Vec<DiffDocument<'d>>,
}

#[derive(Serialize)]
struct TraceRow<'d> {
    file: &'d str,
    duration_ns: u64,
    is_whole_run: bool,
    samples: u64,
    requests: u64,
    outcome: OutcomeReport,
}

pub(super) fn run(args: &DiffArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let files = ComparedFiles::from_args(args)?;
    let all = files.all();
    if let Some(path) = &args.output {
        new_file::check(path, args.force, &all)?;
    }
    let (pairs, alone) = files.read(args, context)?;
    let mut compared = Vec::with_capacity(pairs.len());
    for pair in pairs {
        compared.push(compare(pair, args)?);
    }
    context.progress.end();
    match (&args.output, compared.as_slice()) {
        (Some(path), [one]) => write_page(path, one, args, &all)?,
        (Some(_), _) => {
            return Err(Failure::usage(
                "a page is of one comparison: give two traces, not two folders",
            ));
        }
        (None, compared) => write(args, compared, &alone, context)?,
    }
    context.out.finish()?;
    for text in &alone {
        context.messages.warning(&format!("not compared: {text}"));
    }
    conclude(args, &compared, !alone.is_empty(), context)
}

fn compare(pair: Pair, args: &DiffArgs) -> Result<Compared, Failure> {
    let mut options = DiffOptions::default();
    options.per = args.per.map(|per| match per {
        PerArg::Run => Per::Run,
        PerArg::Second => Per::Second,
        PerArg::Request => Per::Request,
        PerArg::Operation => Per::Operation,
        PerArg::Sample => Per::Sample,
    });
    options.threshold_percent = args.threshold;
    if let Some(per) = options.per {
        divisible(per, &pair.old)?;
        divisible(per, &pair.new)?;
    }
    let report = DiffReport::new(&pair.old.traces, &pair.new.traces, options);
    let conditions = args.fail_if.iter().map(|condition| condition.outcome(&report)).collect();
    Ok(Compared { pair, report, conditions })
}

/// Refuses to divide totals by a count that is 0 in one of the traces.
fn divisible(per: Per, side: &Side) -> Result<(), Failure> {
    let (what, word) = match per {
        Per::Request => ("requests", "request"),
        Per::Sample => ("CPU samples", "sample"),
        Per::Operation => ("operations of a benchmark", "operation"),
        _ => return Ok(()),
    };
    let lacks = |trace: &MeasuredTrace| match per {
        Per::Request => trace.requests == 0,
        Per::Sample => trace.samples == 0,
        _ => trace.benchmark.is_none(),
    };
    let mut traces = side.reads.iter().zip(&side.traces);
    let Some((read, _)) = traces.find(|(_, trace)| lacks(trace)) else { return Ok(()) };
    let message =
        format!("it has no {what}, so totals cannot be divided --per {word}; use --per second");
    Err(Failure::input(read.name.clone(), message))
}

fn write_page(
    path: &Path,
    compared: &Compared,
    args: &DiffArgs,
    inputs: &[&Path],
) -> Result<(), Failure> {
    let Compared { pair, report, conditions } = compared;
    let page = DiffPage {
        report,
        old: &pair.old.traces,
        new: &pair.new.traces,
        names: [pair.old.names(), pair.new.names()],
        conditions,
    };
    new_file::write(path, args.force, inputs, |out| page.write("nettrace diff", out))?;
    Ok(())
}

fn write(
    args: &DiffArgs,
    compared: &[Compared],
    alone: &[Alone],
    context: &mut Context<'_>,
) -> Result<(), Failure> {
    if args.form.json {
        let mut documents: Vec<DiffDocument<'_>> = compared.iter().map(document).collect();
        return match documents.pop() {
            Some(only) if documents.is_empty() && only.name.is_none() => context.write_json(&only),
            last => {
                documents.extend(last);
                context.write_json(&FoldersDocument {
                    schema: 1,
                    verdict: folders_verdict(compared),
                    not_compared: alone.iter().map(ToString::to_string).collect(),
                    not_compared_facts: alone,
                    pairs: documents,
                })
            }
        };
    }
    let has_names = compared.iter().any(|compared| compared.pair.name.is_some());
    match args.format {
        DiffFormat::Junit => junit::junit(compared, &mut context.out.buffer())?,
        DiffFormat::Markdown => {
            for one in compared {
                text::markdown(one, &mut context.out.buffer())?;
            }
        }
        DiffFormat::Text => {
            if has_names {
                use std::io::Write;
                writeln!(context.out.buffer(), "{}\n", folders_verdict(compared))?;
            }
            for one in compared {
                text::text(args, one, context)?;
                if has_names {
                    use std::io::Write;
                    writeln!(context.out.buffer())?;
                }
            }
            end_page(context)?;
        }
    }
    Ok(())
}

/// Returns the verdict about two folders: `1 of 3 have findings: Invoices.ParseLines`.
fn folders_verdict(compared: &[Compared]) -> String {
    let changed = compared.iter().filter(|compared| compared.report.significant > 0);
    let names: Vec<&str> = changed.filter_map(|compared| compared.pair.name.as_deref()).collect();
    let names_shown = names.iter().take(5).copied().collect::<Vec<_>>().join(", ");
    let more = if names.len() > 5 { ", …" } else { "" };
    match names.len() {
        0 => format!("{} compared; none has a finding", compared.len()),
        count => format!("{count} of {} have findings: {names_shown}{more}", compared.len()),
    }
}

fn document(compared: &Compared) -> DiffDocument<'_> {
    DiffDocument {
        name: compared.pair.name.as_deref(),
        report: &compared.report,
        old_traces: trace_rows(&compared.pair.old),
        new_traces: trace_rows(&compared.pair.new),
        conditions: &compared.conditions,
    }
}

fn trace_rows(side: &Side) -> Vec<TraceRow<'_>> {
    side.reads.iter().zip(&side.traces).map(|(read, trace)| trace_row(read, trace)).collect()
}

fn trace_row<'d>(read: &'d Read, trace: &MeasuredTrace) -> TraceRow<'d> {
    TraceRow {
        file: &read.name,
        duration_ns: trace.duration_ns,
        is_whole_run: trace.whole_run_ns.is_some(),
        samples: trace.samples,
        requests: trace.requests,
        outcome: read.ended.outcome(),
    }
}

/// Writes messages and returns the exit code. A condition that the traces cannot decide fails
/// unless `--allow-missing` is given, because it would otherwise always pass.
fn conclude(
    args: &DiffArgs,
    compared: &[Compared],
    is_incomplete: bool,
    context: &mut Context<'_>,
) -> Result<Exit, Failure> {
    let mut exit = Exit::Fine;
    let mut fails = is_incomplete && !args.fail_if.is_empty() && !args.allow_missing;
    for one in compared {
        for text in &one.report.not_compared {
            context.messages.warning(&format!("not compared: {text}"));
        }
        if let Some(reason) = one.report.missing().filter(|_| !args.fail_if.is_empty()) {
            let text = format!("a gate cannot rely on this comparison: {reason}");
            context.messages.warning(&printable(&text).to_string());
            fails |= !args.allow_missing;
        }
        for outcome in &one.conditions {
            say(outcome, context);
            fails |= outcome.holds || outcome.undecided.is_some() && !args.allow_missing;
        }
        for read in one.pair.old.reads.iter().chain(&one.pair.new.reads) {
            context.messages.losses(&read.name, &read.ended);
            let own = context.conclude(&read.name, &read.ended, true);
            exit = if matches!(exit, Exit::Fine) { own } else { exit };
        }
    }
    Ok(if fails { Exit::Changed } else { exit })
}

/// Warns of a condition that holds or cannot be decided, with the values that cause it.
fn say(outcome: &ConditionOutcome, context: &mut Context<'_>) {
    let condition = &outcome.condition;
    if let Some(reason) = &outcome.undecided {
        let reason = reason.to_string();
        let reason = printable(&reason);
        context.messages.warning(&format!("{condition} cannot be decided: {reason}"));
    }
    for (name, unit) in outcome.incomparable.iter().take(5) {
        let (name, unit) = (printable(name), printable(unit));
        context.messages.warning(&format!(
            "{condition}: {name} is in {unit}, with which the limit cannot be compared"
        ));
    }
    for row in outcome.because.iter().take(5) {
        let (old, new) = (text::value(row, row.old), text::value(row, row.new));
        let (name, change) = (printable(&row.key.to_string()).to_string(), text::change(row));
        context.messages.warning(&format!("{condition} holds: {name}, {old} to {new} ({change})"));
    }
}
