//! Writes `report topN`, `tree`, `threads` and `modules` as tables.

use super::words::{id, ms, prose, thread, time};
use crate::args::{GroupByArg, ModulesArgs, TopNArgs, TreeArgs};
use crate::context::Context;
use crate::cut::{Text, fixed, main, other};
use crate::printable::printable;
use crate::style::Paint;
use crate::table::{Cell, Column, Table, first, layout_of, left, list, right};
use crate::{sparkline, units};
use nettrace_analysis::fact::SeenFact;
use nettrace_analysis::report::{
    CallTree, CountedSamples, GroupBy, MethodRow, ModuleKind, Modules, ModulesReport,
    ProcessorLimit, ProcessorTime, RunningSamples, StuckThread, ThreadRow, ThreadsReport, TopN,
    TopNOptions, TreeOptions,
};
use nettrace_analysis::{CountedStates, NameOrigin, SampleClock};
use std::io::{self, Write};

pub(super) fn top_options(args: &TopNArgs) -> TopNOptions {
    let mut options = TopNOptions::default();
    options.count = args.rows.number;
    options.is_inclusive = args.inclusive;
    options.is_by_thread = args.by_thread;
    options.is_by_endpoint = args.by_endpoint;
    options.group_by = match args.by {
        GroupByArg::Method => GroupBy::Method,
        GroupByArg::Module => GroupBy::Module,
        GroupByArg::Namespace => GroupBy::Namespace,
        GroupByArg::Type => GroupBy::Type,
    };
    options
}

pub(super) fn tree_options(args: &TreeArgs) -> TreeOptions {
    let mut options = TreeOptions::default();
    options.from.clone_from(&args.from);
    options.is_callers = args.callers;
    options.min_percent = args.min;
    options.is_hot_path = args.hot_path;
    options.is_by_endpoint = args.by_endpoint;
    options
}

pub(super) fn modules_of(args: &ModulesArgs) -> Modules {
    let mut modules = Modules::default();
    modules.processes.clone_from(&args.process);
    modules
}

fn summary(counted: &CountedSamples) -> String {
    let CountedSamples { samples, total_ns, period_ns, clock, .. } = *counted;
    if samples == 0 {
        return "0 samples: none matches the filters".to_owned();
    }
    let shown = |nanos: u64| units::duration(i64::try_from(nanos).unwrap_or(i64::MAX));
    let time = if clock == SampleClock::Cpu { "processor" } else { "thread" };
    let every = period_ns.map_or(String::new(), |period| format!(", one every {}", shown(period)));
    format!("{}, {} of {time} time{every}", units::counted(samples, "sample"), shown(total_ns))
}

pub(super) fn top(top: &TopN, context: &mut Context<'_>) -> io::Result<()> {
    let strong = context.style.strong();
    let parts = parts_of(top);
    if parts.is_empty() {
        rows(&top.methods, context).write(context)?;
    }
    // With very many threads, each table has its own layout, so that only one is held in memory.
    let layout = (1..=MAX_ALIKE_PARTS).contains(&parts.len()).then(|| {
        let tables = parts.iter().map(|(_, methods)| rows(methods, context));
        layout_of(&tables.collect::<Vec<_>>(), context)
    });
    for (head, methods) in parts {
        writeln!(context.out.buffer(), "{}", strong.over(head))?;
        let table = rows(methods, context);
        match &layout {
            _ if methods.is_empty() => {}
            Some(layout) => table.write_in(layout, context)?,
            None => table.write(context)?,
        }
        writeln!(context.out.buffer())?;
        context.out.hand_on()?;
    }
    sums(&top.counted, context)?;
    always_in(&top.always_in, context)?;
    processors(top.counted.processor_limit, context)?;
    waiting(&top.counted, context)?;
    spinning(top, context)?;
    nameless(top, context)?;
    guesses(top.counted.guessed_frames, context)
}

/// Maximum number of threads or endpoints whose tables are laid out with the same columns.
const MAX_ALIKE_PARTS: usize = 256;

/// Returns the headings and rows of the threads or endpoints that are shown separately.
fn parts_of(top: &TopN) -> Vec<(String, &[MethodRow])> {
    let head = |name: &str, samples: u64, nanos: u64| {
        let share = units::share(nanos, top.counted.total_ns);
        format!("{}: {}, {share} of all", printable(name), units::counted(samples, "sample"))
    };
    let threads = top.threads.iter().map(|thread| {
        (head(&thread.thread, thread.samples, thread.total_ns), thread.methods.as_slice())
    });
    let endpoints = top.endpoints.iter().map(|row| {
        let other = if row.is_left_out { "(requests left out)" } else { "(no request)" };
        let name = row.endpoint.as_deref().unwrap_or(other);
        let mut head = head(name, row.samples, row.total_ns);
        if row.requests_left_out > 0 {
            let requests = units::counted(row.requests_left_out, "request");
            head = match row.is_left_out {
                true => format!("{head}; or of no request; {requests}"),
                false => format!("{head}; without {requests}"),
            };
        }
        // Outside of requests, idle threads wait.
        if row.endpoint.is_some()
            && row.waiting_ns > 0
            && top.counted.state == CountedStates::Running
        {
            head = format!("{head}; {} ms waiting left out", ms(row.waiting_ns));
        }
        (head, row.methods.as_slice())
    });
    threads.chain(endpoints).collect()
}

/// Explains rows without names, if there are any.
fn nameless(top: &TopN, context: &mut Context<'_>) -> io::Result<()> {
    let mut rows = top.methods.iter().chain(parts_of(top).into_iter().flat_map(|(_, rows)| rows));
    if rows.all(|row| row.addresses < 2) {
        return Ok(());
    }
    prose(context, &Paint::default(), NAMELESS)
}

const NAMELESS: &str = "addresses without a name are one row per module; names come from a rundown \
                        at the session's end, from --perf-map or from --symbols";

/// Minimum width of a name in characters, for most methods with their types.
pub(super) const MIN_NAME_COLUMNS: usize = 40;

const TOP_COLUMNS: &[Column] = &[
    right("SELF %", 7, 0),
    right("TOTAL %", 7, 0),
    right("SELF ms", 11, 2),
    right("TOTAL ms", 11, 3),
    right("SAMPLES", 7, 1),
    left("NAME", 4, 0).at_least(MIN_NAME_COLUMNS),
];

/// Columns of a table with a line that shows when each method was on a stack.
const WHEN_COLUMNS: &[Column] = &[
    right("SELF %", 7, 0),
    right("TOTAL %", 7, 0),
    right("SELF ms", 11, 3),
    right("TOTAL ms", 11, 4),
    right("SAMPLES", 7, 2),
    left("WHEN", MANY_CELLS, 0),
    left("NAME", 4, 0).at_least(MIN_NAME_COLUMNS),
];

/// Width of the column `WHEN` in characters.
const MANY_CELLS: usize = 32;
/// Number of cells in the column `WHEN` on narrow terminals.
const FEW_CELLS: usize = 16;
/// Minimum width of a terminal that is not narrow, in characters.
const MIN_WIDE_COLUMNS: usize = 100;

pub(super) fn rows(rows: &[MethodRow], context: &Context<'_>) -> Table {
    let has_when = rows.iter().any(|row| !row.when.is_empty());
    let is_narrow = context.table_width().is_some_and(|width| width < MIN_WIDE_COLUMNS);
    let cells = if is_narrow { FEW_CELLS } else { MANY_CELLS };
    let mut table = Table::new(if has_when { WHEN_COLUMNS } else { TOP_COLUMNS });
    for row in rows {
        let when = has_when.then(|| sparkline::of_counts(&row.when, cells).into());
        let numbers = [
            format!("{:.2}", row.self_percent).into(),
            format!("{:.2}", row.total_percent).into(),
            ms(row.self_ns).into(),
            ms(row.total_ns).into(),
            units::count(row.self_samples).into(),
        ];
        table.add_row(numbers.into_iter().chain(when).chain([printable(row.shown()).into()]));
    }
    table
}

/// Maximum depth shown as indentation; deeper nodes have their depth in digits.
const MAX_INDENT: u32 = 60;

pub(super) fn tree(tree: &CallTree, context: &mut Context<'_>) -> io::Result<()> {
    // Leaves room for a name after its indentation.
    let deepest =
        context.table_width().map_or(MAX_INDENT, |width| u32::try_from(width / 6).unwrap_or(0));
    first(context, &tree.nodes, usize::MAX).columns([
        right("TOTAL %", 7, 0).fill(&|node| format!("{:.2}", node.total_percent).into()),
        right("SELF %", 7, 1).fill(&|node| format!("{:.2}", node.self_percent).into()),
        right("TOTAL ms", 11, 3).fill(&|node| ms(node.total_ns).into()),
        right("SAMPLES", 7, 2).fill(&|node| units::count(node.total_samples).into()),
        left("NAME", 4, 0).at_least(MIN_NAME_COLUMNS).fill(&|node| {
            let indent = match node.depth {
                depth if depth <= deepest => "  ".repeat(depth as usize),
                depth => format!("{}[{depth}] ", "  ".repeat(deepest as usize)),
            };
            Text::parts([fixed(&indent), main(node.shown())]).into()
        }),
    ])?;
    told(&tree.counted, context)
}

/// Writes what is told of the counted samples below a tree.
pub(super) fn told(counted: &CountedSamples, context: &mut Context<'_>) -> io::Result<()> {
    sums(counted, context)?;
    processors(counted.processor_limit, context)?;
    waiting(counted, context)?;
    guesses(counted.guessed_frames, context)
}

/// Writes the sums of the counted samples, and how certain they are.
fn sums(counted: &CountedSamples, context: &mut Context<'_>) -> io::Result<()> {
    prose(context, &context.style.strong(), &summary(counted))?;
    certainty(counted, context)?;
    cut_off(counted, context)?;
    without_async_callers(counted, context)
}

/// Explains names that are guesses, if there are any.
fn guesses(guessed_frames: u64, context: &mut Context<'_>) -> io::Result<()> {
    let line = match guessed_frames {
        0 => return Ok(()),
        1 => format!("the name of 1 frame is a guess (~): {GUESS}"),
        many => format!("the names of {} frames are guesses (~): {GUESS}", units::count(many)),
    };
    prose(context, &Paint::default(), &line)
}

const GUESS: &str = "of the method that begins less than 256 bytes below";

/// Writes how much of the time is measured and how much is estimated. Without readings, writes the
/// numbers of samples that certainly ran and that may not have run, if not all ran.
fn certainty(counted: &CountedSamples, context: &mut Context<'_>) -> io::Result<()> {
    if let Some(processor) = &counted.processor_time {
        return processor_time(processor, context);
    }
    let RunningSamples {
        managed, computing, taking_lock, native_calls, at_gc_poll, untold, ..
    } = counted.running;
    if untold > 0 {
        untold_states(context)?;
    }
    if taking_lock == 0 && native_calls == 0 && at_gc_poll == 0 {
        return Ok(());
    }
    let parts = [
        (managed, "ran managed code"),
        (computing, "ran native code that computes"),
        (at_gc_poll, "were caught at a GC poll (for the nearest own method)"),
        (taking_lock, "were taking a lock"),
        (native_calls, "in native calls, which may not have run"),
    ];
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> =
        parts.map(|(count, what)| format!("{} {what}", units::count(*count))).collect();
    let line = format!("of {}, {}", units::counted(counted.samples, "sample"), parts.join(", "));
    prose(context, &Paint::default(), &line)
}

/// Writes how the processor time of the process is divided.
fn processor_time(time: &ProcessorTime, context: &mut Context<'_>) -> io::Result<()> {
    let shown = |nanos: u64| units::duration(i64::try_from(nanos).unwrap_or(i64::MAX));
    let mut line = format!(
        "{} are measured and {} estimated, where threads ran in part between two readings",
        shown(time.measured_ns),
        shown(time.estimated_ns)
    );
    if let Some(process_ns) = time.process_ns {
        let recording = match time.recording_ns {
            0 => String::new(),
            nanos => format!(", of it {} for the recording, no part of 100 %", shown(nanos)),
        };
        line = format!("{line}; the process ran {}{recording}", shown(process_ns));
    }
    prose(context, &Paint::default(), &line)?;
    if time.ready_ns == 0 {
        return Ok(());
    }
    let ready = shown(time.ready_ns);
    let line =
        format!("threads were ready for {ready} without a processor: --state ready shows where");
    prose(context, &Paint::default(), &line)
}

/// Says that the states of threads are not those of the sampler.
fn untold_states(context: &mut Context<'_>) -> io::Result<()> {
    prose(context, &Paint::default(), &SeenFact::Untold.text())
}

/// Writes the number of samples that have lost their callers.
fn cut_off(counted: &CountedSamples, context: &mut Context<'_>) -> io::Result<()> {
    let (cut_off, repaired) = (counted.cut_off_samples, counted.repaired_samples);
    let lost = cut_off.saturating_add(repaired);
    if lost == 0 {
        return Ok(());
    }
    let got = match repaired {
        0 => String::new(),
        _ => format!(", {} of {} repaired", units::count(repaired), units::count(lost)),
    };
    let low = match cut_off {
        0 => "",
        _ => ", so totals of outer methods are too low",
    };
    let line = format!(
        "of {}, {} have lost their callers{got}: the runtime keeps 100 frames{low}",
        units::counted(counted.samples, "sample"),
        units::count(lost)
    );
    prose(context, &Paint::default(), &line)
}

/// Writes the number of samples of async code whose callers are not in the trace, and what records
/// them.
fn without_async_callers(counted: &CountedSamples, context: &mut Context<'_>) -> io::Result<()> {
    let without = counted.without_async_callers_samples;
    if without == 0 {
        return Ok(());
    }
    let line = format!(
        "of {}, {} of async code lack their callers: {ASYNC_CALLERS}",
        units::counted(counted.samples, "sample"),
        units::count(without)
    );
    prose(context, &Paint::default(), &line)
}

const ASYNC_CALLERS: &str = "collect --async records who awaits whom from the start on \
                             (System.Threading.Tasks.TplEventSource:0x1FF:5)";

/// Writes the threads whose samples all have the same innermost frame.
fn always_in(threads: &[StuckThread], context: &mut Context<'_>) -> io::Result<()> {
    let is_named = |row: &&StuckThread| {
        row.frames.first().is_some_and(|frame| frame.origin != NameOrigin::Address)
    };
    for row in threads.iter().filter(is_named).take(MAX_ALWAYS) {
        let place = row.frames.first().map_or("(no stack)", |frame| frame.qualified_name());
        let line = format!(
            "thread {} is always in {}, in all of its {}: its stack does not tell whether it runs or waits",
            thread(row.thread_id, row.name.as_deref()),
            printable(place),
            units::counted(row.samples, "sample")
        );
        prose(context, &Paint::default(), &line)?;
    }
    Ok(())
}

/// Maximum number of threads listed by [`always_in`].
const MAX_ALWAYS: usize = 3;

/// Writes the available processor time, if the threads' time exceeds it.
fn processors(limit: Option<ProcessorLimit>, context: &mut Context<'_>) -> io::Result<()> {
    let Some(ProcessorLimit { processors, most_ns, .. }) = limit else { return Ok(()) };
    let line = format!(
        "{} can have run {} at most: threads that wait for a processor are sampled too",
        units::counted(u64::from(processors), "processor"),
        units::duration(i64::try_from(most_ns).unwrap_or(i64::MAX))
    );
    prose(context, &Paint::default(), &line)
}

/// Writes the time and number of samples that are left out because their threads waited.
fn waiting(counted: &CountedSamples, context: &mut Context<'_>) -> io::Result<()> {
    let (samples, nanos) = (counted.waiting_samples, counted.waiting_ns);
    if counted.state != CountedStates::Running || samples == 0 {
        return Ok(());
    }
    let line = format!(
        "{} more in which threads waited ({}): --state waiting shows where, --state all counts both",
        units::duration(i64::try_from(nanos).unwrap_or(i64::MAX)),
        units::counted(samples, "sample"),
    );
    prose(context, &Paint::default(), &line)
}

/// Says how much of the waiting time idle workers of the thread pool spun.
fn spinning(top: &TopN, context: &mut Context<'_>) -> io::Result<()> {
    let spun = top.idle_spinning_ns.filter(|_| top.counted.state == CountedStates::Running);
    let Some(nanos) = spun else { return Ok(()) };
    let line = format!(
        "in {} of that, idle workers of the thread pool spun, which takes processor time",
        units::duration(i64::try_from(nanos).unwrap_or(i64::MAX)),
    );
    prose(context, &Paint::default(), &line)
}

/// Minimum width of a frame in characters, for most methods with types or modules with paths.
const MIN_FRAME_COLUMNS: usize = 42;

pub(super) fn threads(
    rows: usize,
    report: &ThreadsReport,
    context: &mut Context<'_>,
) -> io::Result<()> {
    let strong = context.style.strong();
    let list = list(context, &report.threads, rows);
    let name = left("NAME; TOP FRAME", 15, 0).at_least(MIN_FRAME_COLUMNS).fill(&name_and_top_frame);
    let read = |nanos: Option<u64>| nanos.map_or_else(String::new, ms).into();
    let is_throttled = report.threads.iter().any(|row| row.throttled_ns > Some(0));
    match report.threads.iter().any(|row| row.ran_ns.is_some()) {
        true => list.columns([
            right("THREAD", 7, 0).fill(&|row: &ThreadRow| id(row.thread_id).into()),
            right("RAN ms", 11, 0).fill(&|row| read(row.ran_ns)),
            right("READY ms", 11, 1).fill(&|row| read(row.ready_ns)),
            right("THROTTLED ms", 12, 2)
                .fill(&|row: &ThreadRow| read(row.throttled_ns))
                .only_if(is_throttled),
            right("SAMPLES", 7, 3).fill(&|row| units::count(row.samples).into()),
            right("EVENTS", 7, 5).fill(&|row| units::count(row.events).into()),
            right("FIRST ms", 11, 7).fill(&|row| time(row.first_ns).into()),
            right("LAST ms", 11, 6).fill(&|row| time(row.last_ns).into()),
            name,
        ])?,
        false => list.columns([
            right("THREAD", 7, 0).fill(&|row: &ThreadRow| id(row.thread_id).into()),
            right("SAMPLES", 7, 1).fill(&|row| units::count(row.samples).into()),
            right("MANAGED", 7, 0).fill(&|row| units::count(row.managed.samples).into()),
            right("NATIVE", 7, 2).fill(&|row| units::count(row.native.samples).into()),
            right("WAITING", 7, 0).fill(&|row| units::count(row.waiting.samples).into()),
            right("EVENTS", 7, 3).fill(&|row| units::count(row.events).into()),
            right("FIRST ms", 11, 5).fill(&|row| time(row.first_ns).into()),
            right("LAST ms", 11, 4).fill(&|row| time(row.last_ns).into()),
            name,
        ])?,
    }
    let summary = format!(
        "{} of {}",
        units::counted(report.samples, "sample"),
        units::counted(report.threads.len() as u64, "thread"),
    );
    writeln!(context.out.buffer(), "{}", strong.over(summary))?;
    if report.untold > 0 {
        untold_states(context)?;
    }
    guesses(report.guessed_frames, context)
}

/// Returns a thread's name, and the innermost frame with the most time.
fn name_and_top_frame(row: &ThreadRow) -> Cell {
    let name = row.name.as_deref().unwrap_or_default();
    let named = match row.is_recording {
        true => format!("{name} (recording)"),
        false => name.to_owned(),
    };
    let name = named.trim_start();
    let between = if name.is_empty() { "" } else { "; " };
    match &row.top_frame {
        Some(frame) => {
            let percent = format!(" {:.0} %", row.top_frame_percent);
            Text::parts([other(name), fixed(between), main(frame), fixed(&percent)]).into()
        }
        None => name.into(),
    }
}

pub(super) fn modules(
    rows: usize,
    report: &ModulesReport,
    context: &mut Context<'_>,
) -> io::Result<()> {
    let strong = context.style.strong();
    list(context, &report.modules, rows).columns([
        right("PRECOMPILED", 11, 1).fill(&|row| units::count(row.precompiled_methods).into()),
        right("JITTED", 7, 0).fill(&|row| units::count(row.jitted_methods).into()),
        right("BYTES", 7, 2).fill(&|row| units::bytes(row.jitted_bytes).into()),
        right("LOADED ms", 11, 3).fill(&|row| time(row.loaded_ns).into()),
        left("KIND", 7, 0).fill(&|row| match (row.kind, row.is_ready_to_run, row.is_dynamic) {
            (ModuleKind::Managed, true, _) => "r2r".into(),
            (ModuleKind::Managed, _, true) => "dynamic".into(),
            (ModuleKind::Managed, ..) => "il".into(),
            _ => "native".into(),
        }),
        left("NAME; PATH", 10, 0)
            .at_least(MIN_FRAME_COLUMNS)
            .fill(&|row| Text::parts([main(&row.name), fixed("; "), other(&row.path)]).into()),
    ])?;
    let summary = units::counted(report.modules.len() as u64, "module");
    writeln!(context.out.buffer(), "{}", strong.over(summary))
}
