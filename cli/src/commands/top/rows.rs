//! The lists of `top` as rows of text, for the screen and for lines.

use super::Context;
use super::board::Seen;
use crate::args::TopView;
use crate::printable::printable;
use crate::table::{Table, left, right};
use crate::units;
use nettrace_analysis::live::{TopMethod, TopSnapshot};
use std::io::{self, Write};

/// A row: numbers, and what they are about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) cells: Vec<String>,
    pub(super) name: String,
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
    let row = |cells: Vec<String>, name: &str| Row { cells, name: name.to_owned() };
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
                row(cells, format!("{} {top}", thread.thread_id).trim_end())
            });
            rows.collect()
        }
        TopView::Allocations => {
            let rows = snapshot.allocations.iter().map(|row| Row {
                cells: vec![decimal(row.percent), size(row.bytes_per_s), units::count(row.ticks)],
                name: row.type_name.clone(),
            });
            rows.collect()
        }
        TopView::Exceptions => {
            let rows = snapshot.exceptions.iter();
            rows.map(|one| row(vec![decimal(one.per_s), units::count(one.count)], &one.type_name))
                .collect()
        }
        TopView::Contention => {
            let rows = snapshot.contention.iter().map(|one| {
                let cells = vec![ms(one.total_ns), ms(one.max_ns), units::count(one.count)];
                row(cells, &one.place)
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
                row(cells, &one.place)
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
                row(cells, &one.request)
            });
            rows.collect()
        }
    }
}

pub(super) fn method(method: &TopMethod) -> Row {
    let TopMethod { name, self_percent, total_percent, total_samples, .. } = method;
    let cells = vec![decimal(*self_percent), decimal(*total_percent), units::count(*total_samples)];
    Row { cells, name: name.to_string() }
}

/// The sums, as pieces that a narrow screen may leave out from the end.
pub(super) fn header(snapshot: &TopSnapshot) -> Vec<String> {
    let header = &snapshot.header;
    let mut pieces = Vec::new();
    if let Some(cpu) = header.cpu_percent {
        pieces.push(format!("CPU {} %", decimal(cpu)));
    }
    pieces.push(format!("GC {} %", decimal(header.gc_percent)));
    pieces.push(format!("alloc {}/s", size(header.allocated_bytes_per_s)));
    pieces.push(format!("exceptions {}/s", decimal(header.exceptions_per_s)));
    pieces.push(format!("contention {}/s", decimal(header.contentions_per_s)));
    if let Some(queue) = header.threadpool_queue {
        pieces.push(format!("pool queue {}", units::count(whole(queue))));
    }
    if let Some(threads) = header.threadpool_threads {
        pieces.push(format!("pool threads {}", units::count(whole(threads))));
    }
    pieces.push(format!("threads seen {}", units::count(header.threads)));
    if let Some(memory) = header.working_set_bytes {
        pieces.push(format!("memory {}", size(memory)));
    }
    if header.requests_per_s > 0.0 {
        pieces.push(format!("requests {}/s", decimal(header.requests_per_s)));
    }
    pieces
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
    writeln!(context.out, "{}", header(&seen.snapshot).join("  "))?;
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
        let cells = row.cells.into_iter().chain([row.name]);
        table.row(cells.map(Into::into));
    }
    table.write(context)?;
    writeln!(context.out)
}

pub(super) fn decimal(value: f64) -> String {
    format!("{value:.1}")
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
