//! `report counters`: a table, or all values in other forms.

use super::pass::{Asked, show};
use super::words::prose;
use crate::args::{CounterFormat, CounterFormatArgs};
use crate::context::Context;
use crate::counter_lines::ndjson;
use crate::counter_text::{name_to_cut, number, unit};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printable::{printable, printable_lines};
use crate::sparkline::sparkline;
use crate::table::{Table, first, layout_of, left, right};
use crate::units;
use nettrace_analysis::report::{Counters, CountersReport};
use std::io::{self, Write};

pub(super) fn run(
    args: &CounterFormatArgs,
    mut asked: Asked<'_>,
    context: &mut Context<'_>,
) -> Result<Exit, Failure> {
    // --json writes an empty document too, when there are no counters.
    let format = if asked.is_json { CounterFormat::Json } else { args.format };
    asked.is_json_of_something = format == CounterFormat::Json;
    // Without counters OpenMetrics is its end mark, or it would be a text that was cut.
    asked.is_text_of_nothing = format == CounterFormat::Openmetrics;
    let counters = match format {
        CounterFormat::Table => Counters::default().without_points(),
        _ => Counters::default(),
    };
    show(counters, asked, context, |report, context| match format {
        // JSON is written as that of all reports is.
        CounterFormat::Table | CounterFormat::Json => table(report, context),
        CounterFormat::Csv => csv(args, report, context),
        CounterFormat::Openmetrics => openmetrics(report, context),
        CounterFormat::Ndjson => ndjson(context.out.buffer(), report, None),
    })
}

/// As `events --format csv` does it.
fn csv(
    args: &CounterFormatArgs,
    report: &CountersReport,
    context: &mut Context<'_>,
) -> io::Result<()> {
    let is_safe = args.csv_safe.unwrap_or(context.has_user);
    context.out.buffer().write_all(CountersReport::CSV_HEADER.as_bytes())?;
    report.write_csv(context.out.buffer(), is_safe)
}

/// A terminal would obey what is in tags.
fn openmetrics(report: &CountersReport, context: &mut Context<'_>) -> io::Result<()> {
    if !context.has_user {
        return report.write_openmetrics(context.out.buffer());
    }
    let mut document = Vec::new();
    report.write_openmetrics(&mut document)?;
    context.out.write_all(&printable_lines(&document))
}

fn table(report: &CountersReport, context: &mut Context<'_>) -> io::Result<()> {
    let strong = context.style.strong();
    let groups = || report.series.chunk_by(|one, other| one.provider == other.provider);
    let tables = groups().map(|group| {
        first(context, group, usize::MAX).table([
            left("", 0, 0).of(&|_| "".into()),
            right("MIN", 12, 3).of(&|series| number(series.min).into()),
            right("MEAN", 12, 0).of(&|series| number(series.mean).into()),
            right("MAX", 12, 2).of(&|series| number(series.max).into()),
            right("LAST", 12, 1).of(&|series| number(series.last).into()),
            left("UNIT", 4, 0).of(&|series| unit(series).into()),
            left("TREND", 5, 4).of(&|series| sparkline(&series.shape()).into()),
            left("COUNTER", 7, 0).of(&|series| name_to_cut(series).into()),
        ])
    });
    let tables: Vec<Table> = tables.collect();
    let layout = layout_of(&tables, context);
    for (group, table) in groups().zip(&tables) {
        let provider = group.first().map_or("", |series| &*series.provider);
        writeln!(context.out.buffer(), "{}", strong.over(printable(provider)))?;
        table.write_in(&layout, context)?;
    }
    let values = report.series.iter().map(|series| series.count).sum();
    let left_out = match report.quantiles_left_out {
        0 => String::new(),
        left_out => {
            format!(
                "; {} left out: 16 of a histogram are shown",
                units::counted(left_out, "quantile")
            )
        }
    };
    let summary = format!(
        "{} of {}{left_out}",
        units::counted(values, "value"),
        units::counted(report.series.len() as u64, "counter")
    );
    prose(context, &strong, &summary)
}
