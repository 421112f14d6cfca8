//! Counters as CSV in the format of dotnet-counters, with the events' own times.

use super::CountersReport;
use super::series::{CounterKind, CounterPoint, CounterSeries};
use crate::sorted::SortFew;
use nettrace_export::{write_csv_value, write_csv_value_safe};
use nettrace_parser::utc_text;
use std::io::{self, Write};

impl CountersReport {
    /// Header for [`CountersReport::write_csv`], as dotnet-counters writes it.
    pub const CSV_HEADER: &'static str =
        "Timestamp,Provider,Counter Name,Counter Type,Mean/Increment\n";

    /// Writes all points in time order as rows of CSV, without the header.
    ///
    /// Times are UTC with milliseconds; milliseconds since the session's start if the stream does
    /// not contain its date. A name is followed by unit and interval in parentheses and tags in
    /// brackets, and quoted as [`write_csv_value`] does it. With `is_safe`, a name that a
    /// spreadsheet would execute as a formula gets an apostrophe ([`write_csv_value_safe`]).
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_csv(&self, out: &mut impl Write, is_safe: bool) -> io::Result<()> {
        let value = if is_safe { write_csv_value_safe } else { write_csv_value };
        let mut names = Vec::new();
        for (series, point) in self.in_time_order() {
            let kind = if series.kind.is_rate() { "Rate" } else { "Metric" };
            names.clear();
            value(&mut names, series.provider.as_bytes());
            names.push(b',');
            value(&mut names, counter_name(series).as_bytes());
            write!(out, "{},", self.time_text(point.ts_ns))?;
            out.write_all(&names)?;
            writeln!(out, ",{kind},{}", point.value)?;
        }
        Ok(())
    }

    /// Returns all points of all series by time, and at equal times in the order of events.
    pub fn in_time_order(&self) -> impl Iterator<Item = (&CounterSeries, &CounterPoint)> {
        let all = self
            .series
            .iter()
            .flat_map(|series| series.points.iter().map(move |point| (series, point)));
        let mut all: Vec<_> = all.collect();
        all.sort_few_by_key(|(_, point)| (point.ts_ns, point.order));
        all.into_iter()
    }

    fn time_text(&self, ts_ns: i64) -> String {
        match self.start_unix_ns {
            Some(start) => utc_text(i128::from(start).saturating_add(i128::from(ts_ns)), 3),
            None => format!("{:.3}", ts_ns as f64 / 1e6),
        }
    }
}

/// Returns a counter's name with unit and tags, such as `orders ({order} / 1 sec)[kind=book]`.
fn counter_name(series: &CounterSeries) -> String {
    let name = match series.kind {
        CounterKind::Mean | CounterKind::Increment if !series.display_name.is_empty() => {
            &series.display_name
        }
        _ => &series.name,
    };
    let seconds = series.interval_seconds.unwrap_or(1.0);
    let unit = match (series.kind.is_rate(), series.unit.as_str()) {
        (false, "") => String::new(),
        (false, unit) => format!(" ({unit})"),
        (true, "") => format!(" (Count / {seconds} sec)"),
        (true, unit) => format!(" ({unit} / {seconds} sec)"),
    };
    let tags = series.tags_text(";");
    let tags = if tags.is_empty() { tags } else { format!("[{tags}]") };
    format!("{name}{unit}{tags}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_units_intervals_and_tags() {
        let tags = vec![
            ("kind".to_owned(), "book".to_owned()),
            ("Percentile".to_owned(), "50".to_owned()),
        ];
        let mut series =
            CounterSeries::new("P", "order.duration", CounterKind::Histogram, "ms", tags, "");
        assert_eq!(counter_name(&series), "order.duration (ms)[kind=book;Percentile=50]");
        series.tags.clear();
        series.kind = CounterKind::Counter;
        assert_eq!(counter_name(&series), "order.duration (ms / 1 sec)");
        series.interval_seconds = Some(5.0);
        series.unit.clear();
        assert_eq!(counter_name(&series), "order.duration (Count / 5 sec)");
        series.kind = CounterKind::Mean;
        series.display_name = "Order, \"all\"".to_owned();
        assert_eq!(counter_name(&series), "Order, \"all\"");
    }

    #[test]
    fn safe_csv_puts_an_apostrophe_before_formulas() {
        let mut series = CounterSeries::new("+P", "=1+2", CounterKind::Gauge, "", Vec::new(), "");
        series.points.push(CounterPoint { value: 7.0, ..CounterPoint::default() });
        let report = CountersReport { series: vec![series], ..CountersReport::default() };
        let (mut plain, mut safe) = (Vec::new(), Vec::new());
        report.write_csv(&mut plain, false).unwrap();
        report.write_csv(&mut safe, true).unwrap();
        assert_eq!(String::from_utf8(plain).unwrap(), "0.000,+P,=1+2,Metric,7\n");
        assert_eq!(String::from_utf8(safe).unwrap(), "0.000,'+P,'=1+2,Metric,7\n");
    }
}
