//! `report topN`, `tree`, `threads` and `modules` as tables.

use super::words::prose;
use crate::args::{GroupByArg, ReportArgs};
use crate::commands::Context;
use crate::printable::printable;
use crate::style::Paint;
use crate::table::{Column, Table, left, left_out, right};
use crate::{sparkline, units};
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
        return "0 samples: none matches the filters".to_owned();
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
    let strong = context.style.strong();
    if top.threads.is_empty() {
        rows(&top.methods, context)?;
    }
    for thread in &top.threads {
        let share = units::share(thread.total_ns, top.total_ns);
        let head = format!(
            "{}: {}, {share} of all",
            printable(&thread.thread),
            units::counted(thread.samples, "sample")
        );
        writeln!(context.out.buffer(), "{}", strong.over(head))?;
        rows(&thread.methods, context)?;
        writeln!(context.out.buffer())?;
    }
    prose(context, &strong, &summary(top.samples, top.total_ns, top.period_ns, top.clock))?;
    waiting(&top.state, top.waiting_samples, top.waiting_ns, context)?;
    nameless(top, context)?;
    guesses(top.guessed_frames, context)
}

/// What the rows without names are, where there are any.
fn nameless(top: &TopN, context: &mut Context<'_>) -> io::Result<()> {
    let mut rows = top.methods.iter().chain(top.threads.iter().flat_map(|thread| &thread.methods));
    if rows.all(|row| row.addresses < 2) {
        return Ok(());
    }
    prose(context, &Paint::default(), NAMELESS)
}

const NAMELESS: &str = "addresses without a name are one row per module; names come from a rundown (stop the session \
                        before the process ends), from --perf-map or from --symbols";

const TOP_COLUMNS: &[Column] = &[
    right("SELF %", 7, 0),
    right("TOTAL %", 7, 0),
    right("SELF ms", 11, 2),
    right("TOTAL ms", 11, 3),
    right("SAMPLES", 7, 1),
    left("NAME", 4, 0),
];

/// The same with when each method was on a stack.
const WHEN_COLUMNS: &[Column] = &[
    right("SELF %", 7, 0),
    right("TOTAL %", 7, 0),
    right("SELF ms", 11, 3),
    right("TOTAL ms", 11, 4),
    right("SAMPLES", 7, 2),
    left("WHEN", WHEN_CELLS, 1),
    left("NAME", 4, 0),
];

const WHEN_CELLS: usize = 32;

fn rows(rows: &[MethodRow], context: &mut Context<'_>) -> io::Result<()> {
    let has_when = rows.iter().any(|row| !row.when.is_empty());
    let mut table = Table::new(if has_when { WHEN_COLUMNS } else { TOP_COLUMNS });
    for row in rows {
        let when = has_when.then(|| sparkline::of_counts(&row.when, WHEN_CELLS).into());
        let numbers = [
            format!("{:.2}", row.self_percent).into(),
            format!("{:.2}", row.total_percent).into(),
            ms(row.self_ns).into(),
            ms(row.total_ns).into(),
            units::count(row.self_samples).into(),
        ];
        table.row(numbers.into_iter().chain(when).chain([printable(&row.name).into()]));
    }
    table.write(context)
}

/// Deeper nodes are shown with their depth in digits.
const DEEPEST_INDENT: u32 = 60;

const TREE_COLUMNS: &[Column] = &[
    right("TOTAL %", 7, 0),
    right("SELF %", 7, 1),
    right("TOTAL ms", 11, 3),
    right("SAMPLES", 7, 2),
    left("NAME", 4, 0),
];

pub(super) fn tree(_: &ReportArgs, tree: &CallTree, context: &mut Context<'_>) -> io::Result<()> {
    let strong = context.style.strong();
    // A name needs room behind its indent, too.
    let deepest = context.table_width().map_or(DEEPEST_INDENT, |width| u32::try_from(width / 6).unwrap_or(0));
    let mut table = Table::new(TREE_COLUMNS);
    for node in &tree.nodes {
        let indent = match node.depth {
            depth if depth <= deepest => "  ".repeat(depth as usize),
            depth => format!("{}[{depth}] ", "  ".repeat(deepest as usize)),
        };
        table.row([
            format!("{:.2}", node.total_percent).into(),
            format!("{:.2}", node.self_percent).into(),
            ms(node.total_ns).into(),
            units::count(node.total_samples).into(),
            format!("{indent}{}", printable(&node.name)).into(),
        ]);
    }
    table.write(context)?;
    prose(context, &strong, &summary(tree.samples, tree.total_ns, tree.period_ns, tree.clock))?;
    waiting(&tree.state, tree.waiting_samples, tree.waiting_ns, context)?;
    guesses(tree.guessed_frames, context)
}

/// What the tildes in front of names mean, where there are any.
fn guesses(guessed_frames: u64, context: &mut Context<'_>) -> io::Result<()> {
    let line = match guessed_frames {
        0 => return Ok(()),
        1 => format!("the name of 1 frame is a guess (~): {GUESS}"),
        many => format!("the names of {} frames are guesses (~): {GUESS}", units::count(many)),
    };
    prose(context, &Paint::default(), &line)
}

const GUESS: &str = "of the method that begins less than 256 bytes below";

/// What was left out because it waited.
fn waiting(state: &str, samples: u64, nanos: u64, context: &mut Context<'_>) -> io::Result<()> {
    if state != "running" || samples == 0 {
        return Ok(());
    }
    let line = format!(
        "{} more in which threads waited ({}): --state waiting shows where, --state all counts both",
        units::duration(i64::try_from(nanos).unwrap_or(i64::MAX)),
        units::counted(samples, "sample"),
    );
    prose(context, &Paint::default(), &line)
}

const THREAD_COLUMNS: &[Column] = &[
    right("THREAD", 7, 0),
    right("SAMPLES", 7, 1),
    right("MANAGED", 7, 0),
    right("NATIVE", 7, 2),
    right("WAITING", 7, 0),
    right("EVENTS", 7, 3),
    right("FIRST ms", 11, 5),
    right("LAST ms", 11, 4),
    left("NAME; TOP FRAME", 15, 0),
];

pub(super) fn threads(
    args: &ReportArgs,
    report: &ThreadsReport,
    context: &mut Context<'_>,
) -> io::Result<()> {
    let strong = context.style.strong();
    let mut table = Table::new(THREAD_COLUMNS);
    for row in report.threads.iter().take(args.number) {
        let time = |nanos: Option<i64>| nanos.map_or_else(|| "-".to_owned(), units::milliseconds);
        let id = row.thread_id.map_or_else(|| "?".to_owned(), |id| id.to_string());
        let mut text = row.name.as_deref().map(printable).unwrap_or_default();
        if let Some(frame) = &row.top_frame {
            let between = if text.is_empty() { "" } else { "; " };
            text = format!("{text}{between}{} {:.0} %", printable(frame), row.top_frame_percent);
        }
        table.row([
            id.into(),
            units::count(row.samples).into(),
            units::count(row.managed.samples).into(),
            units::count(row.native.samples).into(),
            units::count(row.waiting.samples).into(),
            units::count(row.events).into(),
            time(row.first_ns).into(),
            time(row.last_ns).into(),
            text.into(),
        ]);
    }
    table.write(context)?;
    left_out(context, report.threads.len(), args.number)?;
    let summary = format!(
        "{} of {}",
        units::counted(report.samples, "sample"),
        units::counted(report.threads.len() as u64, "thread"),
    );
    writeln!(context.out.buffer(), "{}", strong.over(summary))?;
    guesses(report.guessed_frames, context)
}

pub(super) fn modules(
    args: &ReportArgs,
    report: &ModulesReport,
    context: &mut Context<'_>,
) -> io::Result<()> {
    let strong = context.style.strong();
    let mut table = Table::new([
        right("PRECOMPILED", 11, 1),
        right("JITTED", 7, 0),
        right("BYTES", 7, 2),
        right("LOADED ms", 11, 3),
        left("KIND", 7, 0),
        left("NAME; PATH", 10, 0),
    ]);
    for row in report.modules.iter().take(args.number) {
        let loaded = row.loaded_ns.map_or_else(|| "-".to_owned(), units::milliseconds);
        let kind = match (row.kind, row.is_ready_to_run, row.is_dynamic) {
            ("managed", true, _) => "r2r",
            ("managed", _, true) => "dynamic",
            ("managed", ..) => "il",
            (kind, ..) => kind,
        };
        table.row([
            units::count(row.precompiled_methods).into(),
            units::count(row.jitted_methods).into(),
            units::bytes(row.jitted_bytes).into(),
            loaded.into(),
            kind.into(),
            printable(&format!("{}; {}", row.name, row.path)).into(),
        ]);
    }
    table.write(context)?;
    left_out(context, report.modules.len(), args.number)?;
    let summary = units::counted(report.modules.len() as u64, "module");
    writeln!(context.out.buffer(), "{}", strong.over(summary))
}
