//! Lists of `top` as rows of text, for the screen and for lines.

use super::state::TopState;
use crate::args::TopView;
use crate::context::Context;
use crate::cut::{self, Text};
use crate::printable::printable;
use crate::table::{Cell, Table, left, right, wrapped};
use crate::units;
use nettrace_analysis::fact::SeenFact;
use nettrace_analysis::live::{TopMethod, TopSnapshot};
use std::io::{self, Write};
use unicode_width::UnicodeWidthStr;

/// Minimum nanoseconds of a window in which the times of threads were certainly read twice.
const MIN_TIMED_WINDOW_NS: u64 = 2_000_000_000;

/// Minimum time in which threads were ready and had no processor that is shown, in percent of one.
const MIN_READY_PERCENT: f64 = 10.0;

/// Row of a list: numbers, and the thing that they are about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TopRow {
    pub(super) cells: Vec<String>,
    /// Part before the name that is never cut, such as a thread id.
    pub(super) before: String,
    pub(super) name: String,
    /// Thread that the row is about; `None` for other rows.
    pub(super) thread_id: Option<u64>,
}

impl TopRow {
    fn new(cells: Vec<String>, name: &str) -> TopRow {
        TopRow { cells, before: String::new(), name: name.to_owned(), thread_id: None }
    }

    /// Returns the text after the numbers, which identifies the row when rows are sorted again.
    pub(super) fn about(&self) -> String {
        format!("{}{}", self.before, self.name).trim_end().to_owned()
    }

    /// Returns the text after the numbers in a form that can be cut.
    pub(super) fn text(&self) -> Text {
        match self.before.is_empty() {
            true => Text::from(self.name.as_str()),
            false => Text::parts([cut::fixed(&self.before), cut::main(&self.name)]),
        }
    }
}

/// Returns the headings of a view's columns of numbers, and of its last column.
pub(super) fn headings(view: TopView) -> (&'static [&'static str], &'static str) {
    match view {
        TopView::Methods => (&["SELF %", "TOTAL %", "SAMPLES"], "METHOD"),
        TopView::Threads => (&["SHARE %", "MANAGED", "NATIVE", "WAITING"], "THREAD, METHOD"),
        TopView::Allocations => (&["SHARE %", "BYTES/s", "TICKS"], "TYPE"),
        TopView::Exceptions => (&["PER s", "COUNT"], "EXCEPTION"),
        TopView::Contention => (&["TOTAL ms", "MAX ms", "WAITS"], "PLACE"),
        TopView::Waits => (&["SHARE %", "SAMPLES", "THREADS", "FOR"], "PLACE"),
        TopView::Http => (&["PER s", "MEAN ms", "MAX ms", "ERRORS"], "REQUEST"),
    }
}

pub(super) fn rows(snapshot: &TopSnapshot, view: TopView) -> Vec<TopRow> {
    fn all<T>(list: &[T], row: impl Fn(&T) -> TopRow) -> Vec<TopRow> {
        list.iter().map(row).collect()
    }
    let count = units::count;
    match view {
        TopView::Methods => all(&snapshot.methods, method),
        TopView::Threads => all(&snapshot.threads, |one| {
            let samples = [one.managed_samples, one.native_samples, one.waiting_samples];
            let cells = [decimal(one.percent)].into_iter().chain(samples.map(count));
            let top = one.methods.first().map_or("", |method| &*method.name.text);
            let before = format!("{} ", one.thread_id);
            let thread_id = Some(one.thread_id);
            TopRow { before, thread_id, ..TopRow::new(cells.collect(), top) }
        }),
        TopView::Allocations => all(&snapshot.allocations, |one| {
            let cells = vec![decimal(one.percent), size(one.bytes_per_s), count(one.ticks)];
            TopRow::new(cells, &one.type_name)
        }),
        TopView::Exceptions => all(&snapshot.exceptions, |one| {
            TopRow::new(vec![decimal(one.per_s), count(one.count)], &one.type_name)
        }),
        TopView::Contention => all(&snapshot.contention, |one| {
            TopRow::new(vec![ms(one.total_ns), ms(one.max_ns), count(one.count)], &one.place)
        }),
        TopView::Waits => all(&snapshot.waits, |one| {
            let waits_for = one.waits_for.name().to_owned();
            let (samples, threads) = (count(one.samples), count(one.threads));
            TopRow::new(vec![decimal(one.percent), samples, threads, waits_for], &one.place)
        }),
        TopView::Http => all(&snapshot.requests, |one| {
            let (mean, max) = (ms(one.mean_ns), ms(one.max_ns));
            let cells = vec![decimal(one.per_s), mean, max, count(one.errors)];
            TopRow::new(cells, &one.request)
        }),
    }
}

pub(super) fn method(method: &TopMethod) -> TopRow {
    let TopMethod { name, self_percent, total_percent, total_samples, .. } = method;
    let cells = vec![decimal(*self_percent), decimal(*total_percent), units::count(*total_samples)];
    TopRow::new(cells, &name.text)
}

/// Sum of the header line, in full and short for narrow terminals.
pub(super) struct Sum {
    pub(super) full: String,
    pub(super) short: String,
}

impl Sum {
    fn new(full: &str, short: &str, value: String) -> Sum {
        Sum { full: format!("{full} {value}"), short: format!("{short} {value}") }
    }

    fn per_second(full: &str, short: &str, value: f64) -> Sum {
        Sum {
            full: format!("{full} {}/s", decimal(value)),
            short: format!("{short} {}/s", brief(value)),
        }
    }
}

/// Returns the sums of the header line, the most important first.
pub(super) fn header(seen: &TopState) -> Vec<Sum> {
    let header = &seen.snapshot.header;
    let number = |value: f64| units::count(whole(value));
    let mut sums = Vec::new();
    // In percent of a core, as in the line of costs below, unless only the runtime's counter is
    // known, which is in percent of all cores.
    let of_one = seen.cost.process_percent.map(|cpu| (cpu, "a core"));
    if let Some((cpu, unit)) = of_one.or(header.cpu_percent.map(|cpu| (cpu, "all cores"))) {
        sums.push(Sum {
            full: format!("CPU {} % of {unit}", decimal(cpu)),
            short: format!("CPU {} %", brief(cpu)),
        });
    }
    if let Some(time) = &seen.snapshot.processor_time {
        let percent = time.ready_ns as f64 * 100.0 / seen.snapshot.window_ns.max(1) as f64;
        if percent >= MIN_READY_PERCENT {
            let value = format!("{} %", decimal(percent));
            sums.push(Sum::new("ready without a processor", "ready", value));
        }
    }
    sums.push(Sum::new("GC", "GC", format!("{} %", decimal(header.gc_percent))));
    sums.push(Sum::new("alloc", "alloc", format!("{}/s", size(header.allocated_bytes_per_s))));
    sums.push(Sum::per_second("exceptions", "exc", header.exceptions_per_s));
    sums.push(Sum::per_second("contention", "locks", header.contentions_per_s));
    if let Some(queue) = header.threadpool_queue {
        sums.push(Sum::new("pool queue", "queue", number(queue)));
    }
    if let Some(threads) = header.threadpool_threads {
        sums.push(Sum::new("pool threads", "pool", number(threads)));
    }
    if header.threadpool_starvations > 0 {
        let times = units::count(header.threadpool_starvations);
        sums.push(Sum::new("added as others blocked", "blocked", times));
    }
    sums.push(Sum::new("threads seen", "threads", units::count(header.threads)));
    if let Some(memory) = header.working_set_bytes {
        sums.push(Sum::new("memory", "memory", size(memory)));
    }
    if header.requests_per_s > 0.0 {
        sums.push(Sum::per_second("requests", "requests", header.requests_per_s));
    }
    sums
}

/// Returns the sums in a line of this width, in their short forms if the full ones do not fit.
pub(super) fn header_line(seen: &TopState, width: usize) -> String {
    let sums = header(seen);
    let full = sums.iter().map(|sum| &*sum.full).collect::<Vec<_>>().join("  ");
    if full.width() <= width {
        return full;
    }
    let mut line = String::new();
    for Sum { short, .. } in &sums {
        let gap = if line.is_empty() { "" } else { "  " };
        if line.is_empty() || line.width() + gap.width() + short.width() <= width {
            line.push_str(gap);
            line.push_str(short);
        }
    }
    line
}

/// Returns the sentence about what the lists lack.
pub(super) fn missing(seen: &TopState) -> Option<String> {
    let header = &seen.snapshot.header;
    let mut missing = Vec::new();
    if seen.lost > 0 {
        missing.push(format!("{} lost", units::counted(seen.lost, "event")));
    }
    if header.left_out > 0 {
        missing.push(format!("{} not shown: too many stacks", units::count(header.left_out)));
    }
    if header.nameless_methods > 0 {
        let methods = units::counted(header.nameless_methods, "method");
        missing.push(format!("{methods} without a name: too many"));
    }
    if header.samples > 0
        && !header.is_by_processor_time
        && seen.snapshot.window_ns > MIN_TIMED_WINDOW_NS
    {
        missing.push("CPU times of threads unknown: waits rank too".to_owned());
    }
    missing.extend(seen.trouble.clone());
    (!missing.is_empty()).then(|| missing.join(", "))
}

/// Writes a view as lines. What is true of the runtime is said only in the first of several views.
pub(super) fn write(
    seen: &TopState,
    view: TopView,
    is_first: bool,
    context: &mut Context<'_>,
) -> io::Result<()> {
    let seconds = decimal(seen.snapshot.window_ns as f64 / 1e9);
    let samples = units::counted(seen.snapshot.header.samples, "sample");
    let strong = context.style.strong();
    let label = printable(&seen.label);
    let title = format!("{label}: last {seconds} s, {samples}");
    writeln!(context.out, "{}", strong.over(title))?;
    let facts = seen.snapshot.verdicts.facts.iter();
    for verdict in facts.filter(|fact| is_first || **fact != SeenFact::Untold) {
        writeln!(context.out, "{}", wrapped(&printable(&verdict.text()), context.table_width()))?;
    }
    writeln!(context.out, "{}", header_line(seen, usize::MAX))?;
    writeln!(context.out, "{}", seen.cost.text())?;
    if let Some(missing) = missing(seen) {
        let warning = context.style.warning();
        writeln!(context.out, "{}", warning.over(missing))?;
    }
    let (numbers, about) = headings(view);
    let mut columns: Vec<_> = numbers.iter().map(|heading| right(heading, 8, 0)).collect();
    columns.push(left(about, 10, 0));
    let mut table = Table::new(columns);
    for row in rows(&seen.snapshot, view) {
        let about = row.text();
        table.add_row(row.cells.into_iter().map(Cell::from).chain([about.into()]));
    }
    table.write(context)?;
    writeln!(context.out)
}

pub(super) fn decimal(value: f64) -> String {
    format!("{value:.1}")
}

/// Returns a number with one decimal place below 100, without from 100 on.
fn brief(value: f64) -> String {
    if value < 100.0 { decimal(value) } else { units::count(whole(value.round())) }
}

fn whole(value: f64) -> u64 {
    // The cast saturates.
    value.max(0.0) as u64
}

fn size(bytes: f64) -> String {
    units::bytes(whole(bytes))
}

fn ms(nanos: u64) -> String {
    format!("{:.1}", nanos as f64 / 1e6)
}
