//! Counters in the OpenMetrics text format.

use super::CountersReport;
use super::series::{CounterBase, CounterKind, CounterPoint, CounterSeries};
use crate::hash::HashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{self, Write};

/// Returns the suffixes that names of samples may have in a family of this type.
fn endings(type_name: &str) -> &'static [&'static str] {
    match type_name {
        "counter" => &["", "_total", "_created"],
        "summary" => &["", "_count", "_sum", "_created"],
        _ => &[""],
    }
}

/// Series that share name, type and unit.
struct MetricFamily<'r> {
    name: String,
    type_name: &'static str,
    unit: Option<&'static str>,
    help: String,
    /// Series by labels; the quantiles of a distribution share an entry.
    metrics: BTreeMap<String, Vec<&'r CounterSeries>>,
}

impl CountersReport {
    /// Writes all points in the OpenMetrics text format, with the events' times.
    ///
    /// Counters and increments become counters, histograms become summaries with their quantiles
    /// (counts and sums are cumulative since the trace's start). Up-down counters without a known
    /// level, which is all but the observable ones, have the type `unknown`, because what was added
    /// since the session began is no level, and may be negative. Everything else becomes gauges.
    /// The format allows no negative quantiles, counts and sums, so these are left out: negative
    /// quantiles of a histogram, its sum once that has been negative, and totals of counters that
    /// are negative or not finite. Tags become labels; the label `provider` is the provider or
    /// meter. Units are part of the names: `By` becomes `_bytes`, `s` becomes `_seconds`.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_openmetrics(&self, out: &mut impl Write) -> io::Result<()> {
        for family in self.families() {
            writeln!(out, "# TYPE {} {}", family.name, family.type_name)?;
            if let Some(unit) = family.unit {
                writeln!(out, "# UNIT {} {unit}", family.name)?;
            }
            writeln!(out, "# HELP {} {}", family.name, escaped(&family.help, false))?;
            for (labels, series) in &family.metrics {
                match family.type_name {
                    "summary" => self.write_summary(out, &family.name, labels, series)?,
                    type_name => {
                        let end = if type_name == "counter" { "_total" } else { "" };
                        for point in series.iter().flat_map(|series| &series.points) {
                            let value = if type_name == "counter" {
                                point.total.unwrap_or(0.0)
                            } else {
                                point.value
                            };
                            if type_name == "counter" && !is_total(value) {
                                continue;
                            }
                            self.write_sample(
                                out,
                                &format!("{}{end}", family.name),
                                labels,
                                value,
                                point,
                            )?;
                        }
                    }
                }
            }
        }
        writeln!(out, "# EOF")
    }

    fn write_summary(
        &self,
        out: &mut impl Write,
        name: &str,
        labels: &str,
        series: &[&CounterSeries],
    ) -> io::Result<()> {
        let mut times: BTreeMap<(i64, u64), Vec<(f64, &CounterPoint)>> = BTreeMap::new();
        for series in series {
            let percentile = series.percentile().unwrap_or(0.0);
            for (at, point) in series.points.iter().enumerate() {
                times.entry((point.ts_ns, at as u64)).or_default().push((percentile, point));
            }
        }
        let (mut count, mut sum) = (0_i64, Some(0.0));
        for points in times.values() {
            for (percentile, point) in points {
                if point.value < 0.0 {
                    continue;
                }
                let quantile = percentile / 100.0;
                let label = format!("quantile=\"{quantile}\"");
                self.write_sample(out, name, &joined(labels, &label), point.value, point)?;
            }
            let Some((_, point)) = points.first() else { continue };
            count = count.saturating_add(point.count.unwrap_or(0).max(0));
            let more = point.sum.unwrap_or(0.0);
            // After a negative sum the cumulative sum cannot be written any more.
            sum = sum.filter(|_| is_total(more)).map(|sum: f64| sum + more);
            self.write_sample(out, &format!("{name}_count"), labels, count as f64, point)?;
            if let Some(sum) = sum {
                self.write_sample(out, &format!("{name}_sum"), labels, sum, point)?;
            }
        }
        Ok(())
    }

    fn write_sample(
        &self,
        out: &mut impl Write,
        name: &str,
        labels: &str,
        value: f64,
        point: &CounterPoint,
    ) -> io::Result<()> {
        let value = match value {
            value if value.is_nan() => "NaN".to_owned(),
            f64::INFINITY => "+Inf".to_owned(),
            f64::NEG_INFINITY => "-Inf".to_owned(),
            value => value.to_string(),
        };
        let nanos =
            i128::from(self.start_unix_ns.unwrap_or(0)).saturating_add(i128::from(point.ts_ns));
        let sign = if nanos < 0 { "-" } else { "" };
        let (seconds, fraction) =
            (nanos.unsigned_abs() / 1_000_000_000, nanos.unsigned_abs() % 1_000_000_000);
        writeln!(out, "{name}{{{labels}}} {value} {sign}{seconds}.{fraction:09}")
    }

    fn families(&self) -> Vec<MetricFamily<'_>> {
        let mut families: BTreeMap<(String, &'static str), MetricFamily<'_>> = BTreeMap::new();
        for series in self.series.iter().filter(|series| !series.points.is_empty()) {
            let type_name = match series.kind {
                CounterKind::Counter | CounterKind::Increment => "counter",
                CounterKind::Histogram => "summary",
                _ if series.base.is_some() => "unknown",
                _ => "gauge",
            };
            let unit = unit_name(&series.unit);
            let family = families
                .entry((family_name(&series.name, unit), type_name))
                .or_insert_with_key(|(name, _)| {
                    let text = if series.display_name.is_empty() {
                        &series.name
                    } else {
                        &series.display_name
                    };
                    let unit_text = if series.unit.is_empty() {
                        String::new()
                    } else {
                        format!(", in {}", series.unit)
                    };
                    MetricFamily {
                        name: name.clone(),
                        type_name,
                        unit,
                        help: format!("{text}{unit_text}{}", base_text(series.base)),
                        metrics: BTreeMap::new(),
                    }
                });
            family.metrics.entry(labels(series)).or_default().push(series);
        }
        // A name that another family's samples use is taken.
        let mut taken: BTreeSet<String> = BTreeSet::new();
        let mut families: Vec<MetricFamily<'_>> = families.into_values().collect();
        for family in &mut families {
            let ends = endings(family.type_name);
            let is_free =
                |name: &str| !ends.iter().any(|end| taken.contains(&format!("{name}{end}")));
            if !is_free(&family.name) {
                let unit = family.unit.map_or(String::new(), |unit| format!("_{unit}"));
                let stem = family.name.strip_suffix(&unit).unwrap_or(&family.name).to_owned();
                let other = |number: u32| format!("{stem}_{}{number}{unit}", family.type_name);
                family.name =
                    (2..1000).map(other).find(|name| is_free(name)).unwrap_or_else(|| other(0));
            }
            taken.extend(ends.iter().map(|end| format!("{}{end}", family.name)));
        }
        families
    }
}

/// Returns what the values of an up-down counter are, for the help text.
fn base_text(base: Option<CounterBase>) -> &'static str {
    match base {
        None => "",
        Some(CounterBase::SessionStart) => ", added since the session began",
        Some(CounterBase::Unknown) => ", added since the session began, or the level if observable",
    }
}

/// Returns whether the format allows this value for a counter or a sum. Readers refuse a document
/// with another value.
fn is_total(value: f64) -> bool {
    value.is_finite() && value >= 0.0
}

/// Returns the name of a family: letters, digits and underscores, with the unit at the end, and
/// without the suffix `_total`.
fn family_name(name: &str, unit: Option<&str>) -> String {
    let mut plain: String = name
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' })
        .collect();
    if plain.is_empty() || plain.starts_with(|first: char| first.is_ascii_digit()) {
        plain.insert(0, '_');
    }
    // The samples of a counter get the suffix back.
    while let Some(rest) = plain.strip_suffix("_total").filter(|rest| !rest.is_empty()) {
        plain.truncate(rest.len());
    }
    match unit {
        Some(unit) if !plain.ends_with(&format!("_{unit}")) => format!("{plain}_{unit}"),
        _ => plain,
    }
}

/// Returns the name of a unit; `None` for units that only the help text mentions.
fn unit_name(unit: &str) -> Option<&'static str> {
    Some(match unit {
        "By" | "B" => "bytes",
        "KB" => "kilobytes",
        "MB" => "megabytes",
        "s" => "seconds",
        "ms" => "milliseconds",
        "us" => "microseconds",
        "ns" => "nanoseconds",
        "%" => "percent",
        _ => return None,
    })
}

/// Maximum number of underscores that distinguish tags of one name.
const MAX_UNDERSCORES: usize = 8;

/// Returns the labels of a series, such as `provider="System.Runtime",kind="book"`, without the
/// percentile of a histogram.
fn labels(series: &CounterSeries) -> String {
    let mut text = format!("provider=\"{}\"", escaped(&series.provider, true));
    let mut names = BTreeSet::from(["provider".to_owned(), "quantile".to_owned()]);
    let mut numbers: HashMap<String, usize> = HashMap::default();
    for (key, value) in series.tags_without_percentile() {
        let mut name: String = key
            .chars()
            .map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' })
            .collect();
        if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) {
            name.insert(0, '_');
        }
        let (base, mut underscores) = (name.clone(), 0);
        while !names.insert(name.clone()) {
            if underscores < MAX_UNDERSCORES {
                underscores = underscores.saturating_add(1);
                name.push('_');
                continue;
            }
            // With many tags of one name, numbers are shorter than underscores.
            let number = numbers.entry(base.clone()).or_insert(MAX_UNDERSCORES);
            *number = number.saturating_add(1);
            name = format!("{base}_{number}");
        }
        // Writing to a String cannot fail.
        let _ = write!(text, ",{name}=\"{}\"", escaped(value, true));
    }
    text
}

fn joined(labels: &str, label: &str) -> String {
    if labels.is_empty() { label.to_owned() } else { format!("{labels},{label}") }
}

/// Escapes backslashes, line ends and, in labels, quotes.
fn escaped(text: &str, is_label: bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' => escaped.push_str("\\\\"),
            '\n' => escaped.push_str("\\n"),
            '"' if is_label => escaped.push_str("\\\""),
            // Some readers treat other line separators as line ends too.
            '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}' => {
                escaped.push(' ')
            }
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(series: Vec<CounterSeries>) -> String {
        let mut out = Vec::new();
        CountersReport {
            schema: 1,
            start_unix_ns: Some(1_000_000_000),
            series,
            ..CountersReport::default()
        }
        .write_openmetrics(&mut out)
        .unwrap();
        String::from_utf8(out).unwrap()
    }

    fn series(name: &str, kind: CounterKind, unit: &str, tags: &[(&str, &str)]) -> CounterSeries {
        let tags =
            tags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let mut series = CounterSeries::new("P", name, kind, unit, tags, "");
        let point = CounterPoint {
            ts_ns: 500_000_000,
            value: 2.5,
            count: Some(4),
            sum: Some(10.0),
            ..CounterPoint::default()
        };
        series.add(point, true);
        series
    }

    #[test]
    fn each_kind_has_its_type_and_samples() {
        let text = report(vec![
            series("cpu-usage", CounterKind::Mean, "%", &[]),
            series(
                "order.duration",
                CounterKind::Histogram,
                "ms",
                &[("kind", "a\"b\\c\nd"), ("Percentile", "50")],
            ),
            series("orders", CounterKind::Counter, "{order}", &[("1x", "y"), ("1x", "z")]),
        ]);
        let expected = "\
# TYPE cpu_usage_percent gauge
# UNIT cpu_usage_percent percent
# HELP cpu_usage_percent cpu-usage, in %
cpu_usage_percent{provider=\"P\"} 2.5 1.500000000
# TYPE order_duration_milliseconds summary
# UNIT order_duration_milliseconds milliseconds
# HELP order_duration_milliseconds order.duration, in ms
order_duration_milliseconds{provider=\"P\",kind=\"a\\\"b\\\\c\\nd\",quantile=\"0.5\"} 2.5 1.500000000
order_duration_milliseconds_count{provider=\"P\",kind=\"a\\\"b\\\\c\\nd\"} 4 1.500000000
order_duration_milliseconds_sum{provider=\"P\",kind=\"a\\\"b\\\\c\\nd\"} 10 1.500000000
# TYPE orders counter
# HELP orders orders, in {order}
orders_total{provider=\"P\",_1x=\"y\",_1x_=\"z\"} 2.5 1.500000000
# EOF
";
        assert_eq!(text, expected);
    }

    #[test]
    fn what_was_added_since_the_session_began_is_no_gauge() {
        let mut added = series("queue.length", CounterKind::UpDownCounter, "items", &[]);
        added.base = Some(CounterBase::SessionStart);
        added.add(CounterPoint { ts_ns: 1_500_000_000, value: -3.0, ..added.points[0] }, true);
        let unsure = series("x", CounterKind::UpDownCounter, "By", &[]);
        let level = series("y", CounterKind::ObservableUpDownCounter, "", &[]);
        let expected = "\
# TYPE queue_length unknown
# HELP queue_length queue.length, in items, added since the session began
queue_length{provider=\"P\"} 2.5 1.500000000
queue_length{provider=\"P\"} -3 2.500000000
# TYPE x_bytes unknown
# UNIT x_bytes bytes
# HELP x_bytes x, in By, added since the session began, or the level if observable
x_bytes{provider=\"P\"} 2.5 1.500000000
# TYPE y gauge
# HELP y y
y{provider=\"P\"} 2.5 1.500000000
# EOF
";
        assert_eq!(report(vec![added, unsure, level]), expected);
    }

    #[test]
    fn parts_that_strict_readers_refuse_are_left_out() {
        let mut delay = series("delay", CounterKind::Histogram, "", &[("Percentile", "50")]);
        let mut point = CounterPoint { ts_ns: 1_500_000_000, value: -2.0, ..delay.points[0] };
        point.sum = Some(-8.0);
        delay.add(point, true);
        let mut broken =
            CounterSeries::new("P", "broken", CounterKind::Counter, "", Vec::new(), "");
        for total in [3.0, f64::NAN, -1.0, f64::INFINITY] {
            broken.add(CounterPoint { total: Some(total), ..CounterPoint::default() }, true);
        }
        let text = report(vec![delay, broken]);
        let samples: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        let expected = [
            "broken_total{provider=\"P\"} 3 1.000000000",
            "delay{provider=\"P\",quantile=\"0.5\"} 2.5 1.500000000",
            "delay_count{provider=\"P\"} 4 1.500000000",
            "delay_sum{provider=\"P\"} 10 1.500000000",
            "delay_count{provider=\"P\"} 8 2.500000000",
        ];
        assert_eq!(samples, expected);
    }

    #[test]
    fn names_that_would_clash_get_another() {
        let text = report(vec![
            series("x", CounterKind::Counter, "", &[]),
            series("x.count", CounterKind::Gauge, "", &[]),
            series("x", CounterKind::Histogram, "", &[("Percentile", "50")]),
            series("y.count", CounterKind::Gauge, "", &[]),
            series("y_total", CounterKind::Histogram, "", &[("Percentile", "50")]),
        ]);
        let types: Vec<&str> = text.lines().filter(|line| line.starts_with("# TYPE")).collect();
        let expected = [
            "# TYPE x counter",
            "# TYPE x_summary2 summary",
            "# TYPE x_count gauge",
            "# TYPE y summary",
            "# TYPE y_count_gauge2 gauge",
        ];
        assert_eq!(types, expected);
    }

    #[test]
    fn tags_of_one_name_have_short_names_however_many_there_are() {
        let tags = vec![("a.b", "1"); 12];
        let text = report(vec![series("x", CounterKind::Mean, "", &tags)]);
        let names = ["a_b", "a_b_", "a_b__", "a_b________", "a_b_9", "a_b_10", "a_b_11"];
        for name in names {
            assert!(text.contains(&format!(",{name}=\"1\"")), "{name}: {text}");
        }
        // Quadratic, if each name were one character longer than the previous one.
        let tags = vec![("a", "1"); 20_000];
        assert!(report(vec![series("x", CounterKind::Mean, "", &tags)]).len() < 20_000 * 20);
    }
}
