//! `report topN`, `tree`, `threads` and `modules` as tables.

use super::words::left_out;
use crate::args::{GroupByArg, ReportArgs};
use crate::commands::Context;
use crate::printable::printable;
use crate::units;
use nettrace_analysis::report::{
    CallTree, GroupBy, MethodRow, Modules, ModulesReport, ThreadsReport, TopN, TopNOptions, TreeOptions,
};
use std::io::{self, Write};

pub(super) fn top_options(args: &ReportArgs) -> TopNOptions {
    let mut options = TopNOptions::default();
    options.count = args.number;
    options.is_inclusive = args.inclusive;
    options.is_by_thread = args.by_thread;
    options.group_by = match args.by {
        GroupByArg::Method => GroupBy::Method,
        GroupByArg::Module => GroupBy::Module,
        GroupByArg::Namespace => GroupBy::Namespace,
        GroupByArg::Type => GroupBy::Type,
    };
    options
}

pub(super) fn tree_options(args: &ReportArgs) -> TreeOptions {
    let mut options = TreeOptions::default();
    options.from.clone_from(&args.from);
    options.is_callers = args.callers;
    options.min_percent = args.min;
    options
}

pub(super) fn modules_of(args: &ReportArgs) -> Modules {
    let mut modules = Modules::default();
    modules.processes.clone_from(&args.samples.process);
    modules
}

/// Nanoseconds as milliseconds.
fn ms(nanos: u64) -> String {
    units::milliseconds(i64::try_from(nanos).unwrap_or(i64::MAX))
}

fn summary(samples: u64, total_ns: u64, period_ns: u64, clock: &str) -> String {
    if samples == 0 {
        return "0 samples: none is as the filters ask".to_owned();
    }
    let time = if clock == "cpu" { "CPU" } else { "wall" };
    format!(
        "{}, {} of {time} time summed over threads, one every {}",
        units::counted(samples, "sample"),
        units::duration(i64::try_from(total_ns).unwrap_or(i64::MAX)),
        units::duration(i64::try_from(period_ns).unwrap_or(i64::MAX)),
    )
}

pub(super) fn top(_: &ReportArgs, top: &TopN, context: &mut Context<'_>) -> io::Result<()> {
    let (strong, faint) = (context.style.strong(), context.style.faint());
    let out = context.out.buffer();
    if top.threads.is_empty() {
        rows(out, &faint.over(HEADING), &top.methods)?;
    }
    for thread in &top.threads {
        let share = units::share(thread.total_ns, top.total_ns);
        let head = format!(
            "{}: {}, {share} of all",
            printable(&thread.thread),
            units::counted(thread.samples, "sample")
        );
        writeln!(out, "{}", strong.over(head))?;
        rows(out, &faint.over(HEADING), &thread.methods)?;
        writeln!(out)?;
    }
    writeln!(out, "{}", strong.over(summary(top.samples, top.total_ns, top.period_ns, top.clock)))?;
    waiting(out, &top.state, top.waiting_samples, top.waiting_ns)?;
    guesses(out, top.guessed_frames)
}

const HEADING: &str = " SELF %  TOTAL %      SELF ms     TOTAL ms  SAMPLES  NAME";

fn rows(out: &mut Vec<u8>, heading: &str, rows: &[MethodRow]) -> io::Result<()> {
    writeln!(out, "{heading}")?;
    for row in rows {
        writeln!(
            out,
            "{:>7.2}  {:>7.2}  {:>11}  {:>11}  {:>7}  {}",
            row.self_percent,
            row.total_percent,
            ms(row.self_ns),
            ms(row.total_ns),
            units::count(row.self_samples),
            printable(&row.name),
        )?;
    }
    Ok(())
}

/// Deeper nodes are shown with their depth in digits.
const DEEPEST_INDENT: u32 = 60;

pub(super) fn tree(_: &ReportArgs, tree: &CallTree, context: &mut Context<'_>) -> io::Result<()> {
    let (strong, faint) = (context.style.strong(), context.style.faint());
    let out = context.out.buffer();
    writeln!(out, "{}", faint.over("TOTAL %   SELF %     TOTAL ms  SAMPLES  NAME"))?;
    for node in &tree.nodes {
        let indent = match node.depth {
            depth @ 0..=DEEPEST_INDENT => "  ".repeat(depth as usize),
            depth => format!("{}[{depth}] ", "  ".repeat(DEEPEST_INDENT as usize)),
        };
        writeln!(
            out,
            "{:>7.2}  {:>7.2}  {:>11}  {:>7}  {indent}{}",
            node.total_percent,
            node.self_percent,
            ms(node.total_ns),
            units::count(node.total_samples),
            printable(&node.name),
        )?;
    }
    writeln!(out, "{}", strong.over(summary(tree.samples, tree.total_ns, tree.period_ns, tree.clock)))?;
    waiting(out, &tree.state, tree.waiting_samples, tree.waiting_ns)?;
    guesses(out, tree.guessed_frames)
}

/// What the tildes in front of names mean, where there are any.
fn guesses(out: &mut Vec<u8>, guessed_frames: u64) -> io::Result<()> {
    match guessed_frames {
        0 => Ok(()),
        1 => writeln!(out, "the name of 1 frame is a guess (~): {GUESS}"),
        many => writeln!(out, "the names of {} frames are guesses (~): {GUESS}", units::count(many)),
    }
}

const GUESS: &str = "of the method that begins less than 256 bytes below";

/// What was left out because it waited.
fn waiting(out: &mut Vec<u8>, state: &str, samples: u64, nanos: u64) -> io::Result<()> {
    if state != "running" || samples == 0 {
        return Ok(());
    }
    writeln!(
        out,
        "{} more in which threads waited ({}): --state waiting shows where, --state all counts both",
        units::duration(i64::try_from(nanos).unwrap_or(i64::MAX)),
        units::counted(samples, "sample"),
    )
}

pub(super) fn threads(
    args: &ReportArgs,
    report: &ThreadsReport,
    context: &mut Context<'_>,
) -> io::Result<()> {
    let (strong, faint) = (context.style.strong(), context.style.faint());
    let out = context.out.buffer();
    let heading =
        " THREAD  SAMPLES  MANAGED   NATIVE  WAITING   EVENTS     FIRST ms      LAST ms  NAME; TOP FRAME";
    writeln!(out, "{}", faint.over(heading))?;
    for row in report.threads.iter().take(args.number) {
        let time = |nanos: Option<i64>| nanos.map_or_else(|| "-".to_owned(), units::milliseconds);
        let id = row.thread_id.map_or_else(|| "?".to_owned(), |id| id.to_string());
        let mut text = row.name.as_deref().map(printable).unwrap_or_default();
        if let Some(frame) = &row.top_frame {
            let between = if text.is_empty() { "" } else { "; " };
            text = format!("{text}{between}{} {:.0} %", printable(frame), row.top_frame_percent);
        }
        writeln!(
            out,
            "{id:>7}  {:>7}  {:>7}  {:>7}  {:>7}  {:>7}  {:>11}  {:>11}  {text}",
            units::count(row.samples),
            units::count(row.managed.samples),
            units::count(row.native.samples),
            units::count(row.waiting.samples),
            units::count(row.events),
            time(row.first_ns),
            time(row.last_ns),
        )?;
    }
    left_out(context, report.threads.len(), args.number)?;
    let summary = format!(
        "{} of {}",
        units::counted(report.samples, "sample"),
        units::counted(report.threads.len() as u64, "thread"),
    );
    writeln!(context.out.buffer(), "{}", strong.over(summary))?;
    guesses(context.out.buffer(), report.guessed_frames)
}

pub(super) fn modules(
    args: &ReportArgs,
    report: &ModulesReport,
    context: &mut Context<'_>,
) -> io::Result<()> {
    let (strong, faint) = (context.style.strong(), context.style.faint());
    let out = context.out.buffer();
    let heading = "PRECOMPILED   JITTED    BYTES    LOADED ms  KIND     NAME; PATH";
    writeln!(out, "{}", faint.over(heading))?;
    for row in report.modules.iter().take(args.number) {
        let loaded = row.loaded_ns.map_or_else(|| "-".to_owned(), units::milliseconds);
        let kind = match (row.kind, row.is_ready_to_run, row.is_dynamic) {
            ("managed", true, _) => "r2r",
            ("managed", _, true) => "dynamic",
            ("managed", ..) => "il",
            (kind, ..) => kind,
        };
        writeln!(
            out,
            "{:>11}  {:>7}  {:>7}  {loaded:>11}  {kind:<7}  {}; {}",
            units::count(row.precompiled_methods),
            units::count(row.jitted_methods),
            units::bytes(row.jitted_bytes),
            printable(&row.name),
            faint.over(printable(&row.path)),
        )?;
    }
    left_out(context, report.modules.len(), args.number)?;
    let summary = units::counted(report.modules.len() as u64, "module");
    writeln!(context.out.buffer(), "{}", strong.over(summary))
}
