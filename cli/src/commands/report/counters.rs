//! `report counters`: a table, or all values in other forms.

use super::pass::show;
use super::words::prose;
use crate::args::{CounterFormat, ReportArgs};
use crate::commands::{Context, Trace};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json_text;
use crate::printable::printable;
use crate::sparkline::sparkline;
use crate::table::{Column, Table, left, right};
use crate::units;
use nettrace_analysis::report::{CounterKind, CounterSeries, Counters, CountersReport};
use serde::Serialize;
use std::io::{self, Write};

pub(super) fn run(args: &ReportArgs, trace: Trace, context: &mut Context<'_>) -> Result<Exit, Failure> {
    // --json writes an empty document too, when there are no counters.
    let format = if args.json { CounterFormat::Json } else { args.format };
    let counters = match format {
        CounterFormat::Table => Counters::new().without_points(),
        _ => Counters::new(),
    };
    let text: fn(&ReportArgs, &CountersReport, &mut Context<'_>) -> io::Result<()> = match format {
        // JSON is written as that of all reports is.
        CounterFormat::Table | CounterFormat::Json => table,
        CounterFormat::Csv => csv,
        CounterFormat::Openmetrics => |_, report, context| report.write_openmetrics(context.out.buffer()),
        CounterFormat::Ndjson => ndjson,
    };
    show(counters, text, args, trace, context)
}

/// As `events --format csv` does it.
fn csv(args: &ReportArgs, report: &CountersReport, context: &mut Context<'_>) -> io::Result<()> {
    match args.csv_safe.unwrap_or(context.has_user) {
        true => report.write_csv_safe(context.out.buffer()),
        false => report.write_csv(context.out.buffer()),
    }
}

/// A value as one line of NDJSON.
#[derive(Serialize)]
struct CounterLine<'r> {
    ts_ns: i64,
    provider: &'r str,
    name: &'r str,
    kind: CounterKind,
    unit: &'r str,
    tags: serde_json::Map<String, serde_json::Value>,
    value: f64,
}

fn ndjson(_: &ReportArgs, report: &CountersReport, context: &mut Context<'_>) -> io::Result<()> {
    let out = context.out.buffer();
    for (series, point) in report.in_time_order() {
        let tags = series.tags.iter().map(|(key, value)| (key.clone(), value.clone().into())).collect();
        let line = CounterLine {
            ts_ns: point.ts_ns,
            provider: &series.provider,
            name: &series.name,
            kind: series.kind,
            unit: &series.unit,
            tags,
            value: point.value,
        };
        json_text::line(&mut *out, &line)?;
        out.push(b'\n');
    }
    Ok(())
}

const COLUMNS: &[Column] = &[
    left("", 0, 0),
    right("MIN", 12, 3),
    right("MEAN", 12, 0),
    right("MAX", 12, 2),
    right("LAST", 12, 1),
    left("UNIT", 4, 0),
    left("TREND", 5, 4),
    left("COUNTER", 7, 0),
];

fn table(_: &ReportArgs, report: &CountersReport, context: &mut Context<'_>) -> io::Result<()> {
    let strong = context.style.strong();
    for group in report.series.chunk_by(|one, other| one.provider == other.provider) {
        let provider = group.first().map_or("", |series| &*series.provider);
        writeln!(context.out.buffer(), "{}", strong.over(printable(provider)))?;
        let mut table = Table::new(COLUMNS);
        for series in group {
            table.row([
                "".into(),
                number(series.min).into(),
                number(series.mean).into(),
                number(series.max).into(),
                number(series.last).into(),
                unit(series).into(),
                sparkline(&series.shape()).into(),
                name(series).into(),
            ]);
        }
        table.write(context)?;
    }
    let values = report.series.iter().map(|series| series.count).sum();
    let left_out = match report.quantiles_left_out {
        0 => String::new(),
        left_out => {
            format!("; {} left out: 16 of a histogram are shown", units::counted(left_out, "quantile"))
        }
    };
    let summary = format!(
        "{} of {}{left_out}",
        units::counted(values, "value"),
        units::counted(report.series.len() as u64, "counter")
    );
    prose(context, &strong, &summary)
}

fn name(series: &CounterSeries) -> String {
    let tags = series.tags_text(" ");
    let tags = if tags.is_empty() { tags } else { format!(" {tags}") };
    printable(&format!("{}{tags}", series.name))
}

/// `ms`, `By/s`, `/60s`.
fn unit(series: &CounterSeries) -> String {
    if !series.kind.is_rate() {
        return printable(&series.unit);
    }
    match series.interval_seconds {
        seconds if seconds <= 0.0 || seconds == 1.0 => format!("{}/s", printable(&series.unit)),
        seconds => format!("{}/{seconds}s", printable(&series.unit)),
    }
}

/// Five digits and more where they matter: `0.0084`, `12.35`, `39,669,760`.
fn number(value: f64) -> String {
    if !value.is_finite() {
        return value.to_string();
    }
    let (size, sign) = (value.abs(), if value < 0.0 { "-" } else { "" });
    if value.fract() == 0.0 && size < 1e15 {
        return format!("{sign}{}", units::count(size as u64));
    }
    match size {
        size if !(0.0001..1e15).contains(&size) => format!("{value:.3e}"),
        size if size >= 1000.0 => {
            let tenths = (size * 10.0).round() as u64;
            format!("{sign}{}.{}", units::count(tenths / 10), tenths % 10)
        }
        size if size >= 1.0 => format!("{value:.3}"),
        _ => format!("{value:.5}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_the_digits_that_matter() {
        let values = [0.0, -3.0, 39_669_760.0, 0.008_428_6, 12.345_67, 1234.567, 1e-9, 1e20, f64::NAN];
        let texts = ["0", "-3", "39,669,760", "0.00843", "12.346", "1,234.6", "1.000e-9", "1.000e20", "NaN"];
        assert_eq!(values.map(number), texts);
    }
}
