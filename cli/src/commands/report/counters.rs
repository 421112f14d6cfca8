//! `report counters`: writes counters as a table, or all their values in other forms.

use super::pass::{Asked, Form, show};
use super::words::prose;
use crate::args::{CounterFormat, CounterFormatArgs};
use crate::context::Context;
use crate::counter_lines::ndjson;
use crate::counter_text::{ShownUnit, name_to_cut, number, short_tags, to_cut, what_added_means};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printable::{printable, printable_lines};
use crate::sparkline::sparkline;
use crate::style::Paint;
use crate::table::{Table, first, layout_of, left, right};
use crate::units;
use nettrace_analysis::report::{
    CounterKind, CounterSeries, Counters, CountersReport, OtherInterval,
};
use std::io::{self, Write};

pub(super) fn run(
    args: &CounterFormatArgs,
    mut asked: Asked<'_>,
    context: &mut Context<'_>,
) -> Result<Exit, Failure> {
    let format = match asked.form {
        Form::AlwaysJson => CounterFormat::Json,
        _ => args.format,
    };
    asked.form = match (asked.form, format) {
        (Form::Text, CounterFormat::Json) => Form::Json,
        // OpenMetrics needs its end mark even without counters, because text without it counts as
        // cut.
        (Form::Text, CounterFormat::Openmetrics) => Form::AlwaysText,
        (form, _) => form,
    };
    let counters = match format {
        CounterFormat::Table => Counters::default().without_points(),
        _ => Counters::default(),
    };
    show(counters, asked, context, |report, context| match format {
        // `show` writes JSON itself.
        CounterFormat::Table | CounterFormat::Json => table(report, context),
        CounterFormat::Csv => csv(args, report, context),
        CounterFormat::Openmetrics => openmetrics(report, context),
        CounterFormat::Ndjson => ndjson(context.out.buffer(), report, None),
    })
}

/// Writes all values as CSV. Names are escaped for spreadsheets as in `events --format csv`.
fn csv(
    args: &CounterFormatArgs,
    report: &CountersReport,
    context: &mut Context<'_>,
) -> io::Result<()> {
    let is_safe = args.csv_safe.unwrap_or(context.has_user);
    context.out.buffer().write_all(CountersReport::CSV_HEADER.as_bytes())?;
    report.write_csv(context.out.buffer(), is_safe)
}

/// Writes all values as OpenMetrics. For a terminal, control characters in tags are escaped.
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
    let (histograms, others): (Vec<_>, Vec<_>) =
        report.series.iter().partition(|series| series.kind == CounterKind::Histogram);
    let groups = || others.chunk_by(|one, other| one.provider == other.provider);
    let tables = groups().map(|group| {
        first(context, group, usize::MAX).table([
            left("", 0, 0).fill(&|_| "".into()),
            right("VALUES", 7, 6).fill(&|series| units::count(series.values).into()),
            right("TOTAL", 12, 5).fill(&|series| {
                series.total.map_or_else(String::new, |it| ShownUnit::new(series).total(it)).into()
            }),
            right("MIN", 12, 3).fill(&|series| ShownUnit::new(series).value(series.min).into()),
            right("MEAN", 12, 0).fill(&|series| ShownUnit::new(series).value(series.mean).into()),
            right("MAX", 12, 2).fill(&|series| ShownUnit::new(series).value(series.max).into()),
            right("LAST", 12, 1).fill(&|series| ShownUnit::new(series).value(series.last).into()),
            left("UNIT", 4, 0).fill(&|series| ShownUnit::new(series).name.into()),
            left("TREND", 5, 4).fill(&|series| sparkline(&series.shape()).into()),
            left("COUNTER", 7, 0).fill(&|series| name_to_cut(series).into()),
        ])
    });
    let tables: Vec<Table> = tables.collect();
    let layout = layout_of(&tables, context);
    for (group, table) in groups().zip(&tables) {
        let provider = group.first().map_or("", |series| &*series.provider);
        writeln!(context.out.buffer(), "{}", strong.over(printable(provider)))?;
        table.write_in(&layout, context)?;
        for total in totals(group) {
            writeln!(context.out.buffer(), "  {}", printable(&total))?;
        }
    }
    histogram_tables(&histograms, context)?;
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
    prose(context, &strong, &summary)?;
    let intervals = report.other_intervals.iter().map(OtherInterval::to_string);
    let notes = what_added_means(&report.series).into_iter().chain(intervals);
    notes.into_iter().try_for_each(|note| prose(context, &Paint::default(), &note))
}

/// Returns the total of each counter with several tag sets: `shop.orders: 40 in 2 tag sets`.
fn totals(group: &[&CounterSeries]) -> Vec<String> {
    let of_one = group.chunk_by(|one, other| {
        (&one.name, one.kind, one.process_id) == (&other.name, other.kind, other.process_id)
    });
    let several = of_one.filter(|of_one| of_one.len() > 1);
    let text = |of_one: &[&CounterSeries]| {
        let first = of_one.first().filter(|first| !first.total_is_level())?;
        let total: Option<f64> = of_one.iter().map(|series| series.total).sum();
        Some(format!("{}: {} in {} tag sets", first.name, number(total?), of_one.len()))
    };
    several.filter_map(text).collect()
}

/// Writes a row for each tag set of a histogram, from the series of its quantiles. Seconds are
/// shown as milliseconds.
fn histogram_tables(series: &[&CounterSeries], context: &mut Context<'_>) -> io::Result<()> {
    let strong = context.style.strong();
    let key = |series: &CounterSeries| {
        let tags = series.tags.iter().filter(|(name, _)| name != PERCENTILE);
        let tags: Vec<_> = tags.cloned().collect();
        (series.provider.clone(), series.name.clone(), series.process_id, tags)
    };
    let mut rows: Vec<Vec<&CounterSeries>> = Vec::new();
    for one in series {
        match rows.last_mut().filter(|row| row.first().is_some_and(|it| key(it) == key(one))) {
            Some(row) => row.push(one),
            None => rows.push(vec![one]),
        }
    }
    let groups = rows.chunk_by(|one, other| {
        let provider = |row: &[&CounterSeries]| row.first().map(|series| series.provider.clone());
        provider(one) == provider(other)
    });
    for group in groups {
        let provider = group.first().and_then(|row| row.first()).map_or("", |it| &*it.provider);
        writeln!(context.out.buffer(), "{}", strong.over(printable(provider)))?;
        let mut table = Table::new([
            left("", 0, 0),
            right("COUNT", 7, 1),
            right("MEAN", 12, 0),
            right("P50", 12, 3),
            right("P95", 12, 2),
            right("P99", 12, 4),
            left("UNIT", 4, 0),
            left("HISTOGRAM", 9, 0),
        ]);
        for row in group {
            let Some(one) = row.first() else { continue };
            let is_seconds = one.unit == "s";
            let shown = |value: f64| number(if is_seconds { value * 1e3 } else { value });
            let mean = one.sum.filter(|_| one.values > 0).map(|sum| sum / one.values as f64);
            let quantile = |wanted: &str| {
                let is_it = |series: &&&CounterSeries| {
                    series.tags.iter().any(|(name, value)| name == PERCENTILE && value == wanted)
                };
                row.iter().find(is_it).map_or_else(|| "-".to_owned(), |it| shown(it.mean))
            };
            let tags = one.tags.iter().filter(|(name, _)| name != PERCENTILE);
            let tags: String = tags.map(|(name, value)| format!(" {name}={value}")).collect();
            table.add_row([
                "".into(),
                units::count(one.values).into(),
                mean.map_or_else(|| "-".to_owned(), shown).into(),
                quantile("50").into(),
                quantile("95").into(),
                quantile("99").into(),
                if is_seconds { "ms".into() } else { printable(&one.unit).into() },
                to_cut(&one.name, &printable(&tags), &short_tags(&one.tags)).into(),
            ]);
        }
        table.write(context)?;
    }
    Ok(())
}

/// Name of the tag with a series' quantile in percent.
const PERCENTILE: &str = "Percentile";
