//! Writes `report sql` as text.

use super::words::{errors, ms, prose, spread_row, spread_table};
use crate::context::Context;
use crate::printable::printable;
use crate::table::{Cell, first, left, right};
use crate::units;
use nettrace_analysis::report::{SqlPlace, SqlReport};
use std::io::{self, Write};

/// Maximum number of places listed below each statement.
const MAX_PLACES: usize = 5;

pub(super) fn text(rows: usize, report: &SqlReport, context: &mut Context<'_>) -> io::Result<()> {
    let (strong, faint) = (context.style.strong(), context.style.faint());
    statements(rows, report, context)?;
    if !report.requests.is_empty() {
        writeln!(context.out.buffer())?;
        first(context, &report.requests, rows).columns([
            right("COMMANDS", 8, 0).fill(&|row| units::count(row.commands).into()),
            right("TOTAL ms", 11, 1).fill(&|row| ms(row.total_ns).into()),
            right("UNITS", 7, 3).fill(&|row| count(row.units)),
            right("MOST IN ONE", 11, 2).fill(&|row| count(row.most_in_one)),
            right("STATEMENTS", 10, 4).fill(&|row| units::count(row.statements).into()),
            left("REQUEST, OR METHOD", 18, 0).fill(&|row| name(&row.name).into()),
        ])?;
    }
    let failed = match report.errors {
        0 => String::new(),
        errors => format!(", {} failed", units::count(errors)),
    };
    let different = units::counted(report.different, "statement");
    let total = ms(report.durations.total_ns);
    let commands = units::counted(report.count, "command");
    prose(context, &strong, &format!("{commands} of {different}{failed}, {total} ms in all"))?;
    if let Some((counted, others)) =
        report.sources.split_first().filter(|(_, others)| !others.is_empty())
    {
        let others: Vec<String> = others
            .iter()
            .map(|source| {
                format!("{} by {}", units::count(source.commands), printable(&source.name))
            })
            .collect();
        let text = format!(
            "as {} reports them; also reported: {}",
            printable(&counted.name),
            others.join(", ")
        );
        prose(context, &faint, &text)?;
    }
    Ok(())
}

fn statements(rows: usize, report: &SqlReport, context: &mut Context<'_>) -> io::Result<()> {
    let (bad, faint, strong) = (context.style.bad(), context.style.faint(), context.style.name());
    let before = [right("COUNT", 7, 0), right("FAILED", 7, 6), right("ROWS", 7, 5)];
    let mut table = spread_table(before, &[left("STATEMENT", 9, 0)]);
    for row in report.statements.iter().take(rows) {
        let read = row.rows.map_or_else(|| "-".to_owned(), units::count);
        let counts = [units::count(row.count).into(), errors(row.errors, &bad), read.into()];
        let text = if row.text.is_empty() { "(text not recorded)" } else { &row.text };
        table.add_row(spread_row(counts, &row.durations, [Cell::new(printable(text), &strong)]));
        for place in row.places.iter().take(MAX_PLACES) {
            let counts = [units::count(place.count).into(), "".into(), "".into()];
            let times = ["".into(), "".into(), "".into()];
            let shown = Cell::new(format!("  {}", of_place(place)), &faint);
            let cells = counts.into_iter().chain([Cell::from(ms(place.total_ns))]);
            table.add_row(cells.chain(times).chain([shown]));
        }
    }
    table.write(context)
}

/// Returns a place that executed a statement: `in GET /nplus1, up to 10 in one of 10 requests`.
fn of_place(place: &SqlPlace) -> String {
    let unit = if place.is_request { "request" } else { "connection" };
    let times = match (place.units, place.most_in_one) {
        (0, _) | (_, 1) => String::new(),
        (units, most) if most.saturating_mul(units) == place.count => {
            format!(", {} in each of {}", units::count(most), units::counted(units, unit))
        }
        (units, most) => {
            format!(", up to {} in one of {}", units::count(most), units::counted(units, unit))
        }
    };
    format!("in {}{times}", name(&place.name))
}

fn name(name: &str) -> String {
    if name.is_empty() { "(unknown)".to_owned() } else { printable(name) }
}

fn count(count: u64) -> Cell {
    if count == 0 { "-".into() } else { units::count(count).into() }
}
