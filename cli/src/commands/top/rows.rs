//! The lists of `top` as rows of text, for the screen and for lines.

use super::board::Seen;
use crate::args::TopView;
use crate::context::Context;
use crate::cut::{self, Text};
use crate::printable::printable;
use crate::table::{Cell, Table, left, right};
use crate::units;
use nettrace_analysis::live::{TopMethod, TopSnapshot};
use std::io::{self, Write};
use unicode_width::UnicodeWidthStr;

/// A row: numbers, and what they are about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) cells: Vec<String>,
    /// What stands before the name and is never cut.
    pub(super) before: String,
    pub(super) name: String,
}

impl Row {
    fn new(cells: Vec<String>, name: &str) -> Row {
        Row { cells, before: String::new(), name: name.to_owned() }
    }

    /// What the row is about, and tells it from the others.
    pub(super) fn about(&self) -> String {
        format!("{}{}", self.before, self.name).trim_end().to_owned()
    }

    /// The same where there may not be room.
    pub(super) fn text(&self) -> Text {
        match self.before.is_empty() {
            true => Text::from(self.name.as_str()),
            false => Text::parts([cut::fixed(&self.before), cut::main(&self.name)]),
        }
    }
}

/// The headings of a view's numbers, and of what they are about.
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

pub(super) fn rows(snapshot: &TopSnapshot, view: TopView) -> Vec<Row> {
    match view {
        TopView::Methods => snapshot.methods.iter().map(method).collect(),
        TopView::Threads => {
            let rows = snapshot.threads.iter().map(|thread| {
                let top = thread.methods.first().map_or("", |method| &method.name);
                let cells = vec![
                    decimal(thread.percent),
                    units::count(thread.managed_samples),
                    units::count(thread.native_samples),
                    units::count(thread.waiting_samples),
                ];
                Row { before: format!("{} ", thread.thread_id), ..Row::new(cells, top) }
            });
            rows.collect()
        }
        TopView::Allocations => {
            let rows = snapshot.allocations.iter().map(|one| {
                let cells =
                    vec![decimal(one.percent), size(one.bytes_per_s), units::count(one.ticks)];
                Row::new(cells, &one.type_name)
            });
            rows.collect()
        }
        TopView::Exceptions => {
            let rows = snapshot.exceptions.iter();
            let cells = |per_s, count| vec![decimal(per_s), units::count(count)];
            rows.map(|one| Row::new(cells(one.per_s, one.count), &one.type_name)).collect()
        }
        TopView::Contention => {
            let rows = snapshot.contention.iter().map(|one| {
                let cells = vec![ms(one.total_ns), ms(one.max_ns), units::count(one.count)];
                Row::new(cells, &one.place)
            });
            rows.collect()
        }
        TopView::Waits => {
            let rows = snapshot.waits.iter().map(|one| {
                let cells = vec![
                    decimal(one.percent),
                    units::count(one.samples),
                    units::count(one.threads),
                    one.waits_for.name().to_owned(),
                ];
                Row::new(cells, &one.place)
            });
            rows.collect()
        }
        TopView::Http => {
            let rows = snapshot.requests.iter().map(|one| {
                let cells = vec![
                    decimal(one.per_s),
                    ms(one.mean_ns),
                    ms(one.max_ns),
                    units::count(one.errors),
                ];
                Row::new(cells, &one.request)
            });
            rows.collect()
        }
    }
}

pub(super) fn method(method: &TopMethod) -> Row {
    let TopMethod { name, self_percent, total_percent, total_samples, .. } = method;
    let cells = vec![decimal(*self_percent), decimal(*total_percent), units::count(*total_samples)];
    Row::new(cells, name)
}

/// A sum in two forms: in full, and where there is not much room.
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

/// The sums; a narrow screen may leave some out from the end.
pub(super) fn header(snapshot: &TopSnapshot) -> Vec<Sum> {
    let header = &snapshot.header;
    let number = |value: f64| units::count(whole(value));
    let mut sums = Vec::new();
    if let Some(cpu) = header.cpu_percent {
        sums.push(Sum {
            full: format!("CPU {} %", decimal(cpu)),
            short: format!("CPU {} %", brief(cpu)),
        });
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
    sums.push(Sum::new("threads seen", "threads", units::count(header.threads)));
    if let Some(memory) = header.working_set_bytes {
        sums.push(Sum::new("memory", "memory", size(memory)));
    }
    if header.requests_per_s > 0.0 {
        sums.push(Sum::per_second("requests", "requests", header.requests_per_s));
    }
    sums
}

/// The sums in a line of this width: in short words if there is no room for full ones.
pub(super) fn header_line(snapshot: &TopSnapshot, width: usize) -> String {
    let sums = header(snapshot);
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

/// What is missing from what is shown.
pub(super) fn missing(seen: &Seen) -> Option<String> {
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
    (!missing.is_empty()).then(|| missing.join(", "))
}

/// For standard output that is no terminal.
pub(super) fn write(seen: &Seen, view: TopView, context: &mut Context<'_>) -> io::Result<()> {
    let seconds = decimal(seen.snapshot.window_ns as f64 / 1e9);
    let samples = units::counted(seen.snapshot.header.samples, "sample");
    let strong = context.style.strong();
    let label = printable(&seen.label);
    let title = format!("{label}: last {seconds} s, {samples}");
    writeln!(context.out, "{}", strong.over(title))?;
    writeln!(context.out, "{}", header_line(&seen.snapshot, usize::MAX))?;
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
        table.row(row.cells.into_iter().map(Cell::from).chain([about.into()]));
    }
    table.write(context)?;
    writeln!(context.out)
}

pub(super) fn decimal(value: f64) -> String {
    format!("{value:.1}")
}

/// A digit behind the point where it matters.
fn brief(value: f64) -> String {
    if value < 100.0 { decimal(value) } else { units::count(whole(value.round())) }
}

fn whole(value: f64) -> u64 {
    // Counters are not negative; what is too large is shown as the largest number.
    value.max(0.0) as u64
}

fn size(bytes: f64) -> String {
    units::bytes(whole(bytes))
}

fn ms(nanos: u64) -> String {
    format!("{:.1}", nanos as f64 / 1e6)
}
