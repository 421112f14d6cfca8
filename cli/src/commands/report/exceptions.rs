//! `report exceptions` for reading.

use super::words::{innermost, ms, prose};
use crate::args::ReportArgs;
use crate::commands::Context;
use crate::printable::printable;
use crate::table::{Cell, Table, left, right};
use crate::{sparkline, units};
use nettrace_analysis::report::ExceptionsReport;
use std::io;

/// Messages, stacks and so on shown of each type.
const DETAILS: usize = 3;

pub(super) fn text(
    args: &ReportArgs,
    report: &ExceptionsReport,
    context: &mut Context<'_>,
) -> io::Result<()> {
    let (strong, faint, name) = (context.style.strong(), context.style.faint(), context.style.name());
    let mut table = Table::new([
        right("COUNT", 7, 0),
        right("SHARE", 7, 0),
        right("CAUGHT", 7, 1),
        right("TO CATCH ms", 11, 2),
        right("IN CATCH ms", 11, 3),
        left("TYPE", 4, 0),
    ]);
    for row in report.types.iter().take(args.number) {
        let caught = if report.is_handling_traced { units::count(row.caught) } else { "-".to_owned() };
        let median = |spread: &nettrace_analysis::report::Spread| {
            if spread.count == 0 { "-".to_owned() } else { ms(spread.p50_ns) }
        };
        table.row([
            units::count(row.count).into(),
            units::share(row.count, report.count).into(),
            caught.into(),
            median(&row.to_catch).into(),
            median(&row.in_catch).into(),
            Cell::new(printable(&row.type_name), &name),
        ]);
        let mut details = Vec::new();
        for message in row.messages.iter().take(DETAILS) {
            details.push(("message", message.count, printable(&message.message)));
        }
        for inner in row.inner.iter().take(DETAILS) {
            details.push(("inner", inner.count, printable(&inner.type_name)));
        }
        for stack in row.stacks.iter().take(DETAILS) {
            details.push(("thrown in", stack.count, innermost(&stack.frames, 3)));
        }
        for method in row.caught_in.iter().take(DETAILS) {
            details.push(("caught in", method.count, printable(&method.method)));
        }
        for (what, count, text) in details {
            table.detail(format!("{:>16}  {what:<10} {text}", units::count(count)), &faint);
        }
        let notes = [
            (row.rethrown, "thrown again"),
            (row.nested, "thrown while another was being handled"),
            (row.left_by_exception, "whose catch block was left by another exception"),
        ];
        let notes: Vec<String> = notes
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, text)| format!("{} {text}", units::count(*count)))
            .collect();
        if !notes.is_empty() {
            table.detail(format!("{:>16}  {}", "", notes.join(", ")), &faint);
        }
    }
    table.write(context)?;
    let line = sparkline::of_counts(&report.rate.counts, 40);
    let threads = units::counted(report.threads.len() as u64, "thread");
    let summary = format!(
        "{} on {threads}, at most {} a second",
        units::counted(report.count, "exception"),
        units::decimal(report.rate.peak_per_second(), 0)
    );
    prose(context, &strong, &format!("{summary}  {line}"))
}
