//! Writes `report exceptions` as text.

use super::words::{innermost, ms, prose};
use crate::context::Context;
use crate::cut::Text;
use crate::table::{Cell, Detail, first, left, right};
use crate::{sparkline, units};
use nettrace_analysis::report::{ExceptionType, ExceptionsReport, Spread};
use std::io;

/// Maximum number of messages, inner exceptions, stacks and catching methods shown for each type.
const MAX_SHOWN_DETAILS: usize = 3;

/// Minimum width of the column `TYPE` in characters: a type with its namespace.
const MIN_TYPE_COLUMNS: usize = 40;

pub(super) fn text(
    rows: usize,
    report: &ExceptionsReport,
    context: &mut Context<'_>,
) -> io::Result<()> {
    let (strong, name) = (context.style.strong(), context.style.name());
    let median = |spread: &Spread| match spread.count {
        0 => Cell::from("-"),
        _ => ms(spread.p50_ns).into(),
    };
    first(context, &report.types, rows).columns_and_details(
        [
            right("COUNT", 7, 0).fill(&|row| units::count(row.count).into()),
            right("SHARE", 7, 0).fill(&|row| units::share(row.count, report.count).into()),
            right("CAUGHT", 7, 1).fill(&|row| match report.is_handling_traced {
                true => units::count(row.caught).into(),
                false => "-".into(),
            }),
            right("TO CATCH ms", 11, 2).fill(&|row| median(&row.to_catch)),
            right("IN CATCH ms", 11, 3).fill(&|row| median(&row.in_catch)),
            left("TYPE", 4, 0)
                .at_least(MIN_TYPE_COLUMNS)
                .fill(&|row| Cell::new(row.type_name.to_string(), &name)),
        ],
        details,
    )?;
    let line = sparkline::of_counts(&report.rate.counts, 40);
    let threads = units::counted(report.threads.len() as u64, "thread");
    let summary = format!(
        "{} on {threads}, at most {} a second",
        units::counted(report.count, "exception"),
        units::decimal(report.rate.peak_per_second(), 0)
    );
    prose(context, &strong, &format!("{summary}  {line}"))
}

/// Returns the lines below a type: messages, inner exceptions, stacks, catching methods.
fn details(row: &ExceptionType) -> Vec<Detail> {
    let line = |what: &str, count: u64, text: Text| {
        Detail::new(format!("{:>16}  {what:<10} ", units::count(count)), text)
    };
    let messages = row.messages.iter().take(MAX_SHOWN_DETAILS);
    let inner = row.inner.iter().take(MAX_SHOWN_DETAILS);
    let stacks = row.stacks.iter().take(MAX_SHOWN_DETAILS);
    let caught_in = row.caught_in.iter().take(MAX_SHOWN_DETAILS);
    let mut lines: Vec<Detail> = messages
        .map(|message| line("message", message.count, (&*message.message).into()))
        .chain(inner.map(|inner| line("inner", inner.count, (&*inner.type_name).into())))
        .chain(stacks.map(|stack| line("thrown in", stack.count, innermost(&stack.frames, 3))))
        .chain(caught_in.map(|place| line("caught in", place.count, (&*place.method).into())))
        .collect();
    let notes = [
        (row.rethrown.saturating_add(row.rethrown_without_event), "thrown again"),
        (row.nested, "thrown while another was being handled"),
        (row.left_by_exception, "whose catch block was left by another exception"),
    ];
    let notes: Vec<String> = notes
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, text)| format!("{} {text}", units::count(*count)))
        .collect();
    // Further stacks share one line, because there may be hundreds.
    let shown = row.stacks.iter().take(MAX_SHOWN_DETAILS);
    let shown = shown.fold(0_u64, |sum, stack| sum.saturating_add(stack.count));
    let stacks = row.stacks.len().saturating_sub(MAX_SHOWN_DETAILS) as u64;
    let stacks = stacks.saturating_add(row.stacks_left_out);
    if stacks > 0 {
        let count = row.count.saturating_sub(shown);
        let text = format!("at {} (-n, --json)", units::counted(stacks, "further stack"));
        lines.push(line("thrown", count, (&*text).into()));
    }
    if !notes.is_empty() {
        lines.push(Detail::new(" ".repeat(18), notes.join(", ")));
    }
    lines
}
