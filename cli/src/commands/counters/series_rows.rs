//! Rows of the screen of `counters`: one for each series, or one for all tag sets of a counter.

use crate::counter_text::{added, number, per_second, short_tags, to_cut, unit_per_second};
use crate::cut::Text;
use crate::printable::printable;
use crate::units;
use nettrace_analysis::live::LiveSeries;
use nettrace_analysis::report::{CounterKind, CounterSeries};

/// Counter of one process: index of the process, provider, name.
pub(super) type Group = (usize, String, String);

/// Row of the table.
#[derive(Debug, Clone)]
pub(super) struct SeriesRow {
    pub(super) group: Group,
    /// Name of the counter with its tags, for filtering and sorting.
    pub(super) name: String,
    /// Part of the name that is shown.
    pub(super) shown: Text,
    /// Whether rows of the counter's tag sets follow.
    pub(super) is_heading: bool,
    pub(super) value: String,
    pub(super) unit: String,
    pub(super) history: Vec<f64>,
    pub(super) is_stopped: bool,
    /// Value by which rows are sorted.
    pub(super) size: f64,
    /// Difference from the mean of earlier values as a share of that mean, to sort by change.
    pub(super) change: f64,
    /// Tags in full and in short.
    tags: [String; 2],
}

impl SeriesRow {
    /// Shows only the tags, for a row below the counter's name.
    pub(super) fn below_its_name(mut self) -> SeriesRow {
        self.shown = Text::Forms(self.tags.iter().map(|tags| format!(" {tags}")).collect());
        self
    }

    /// Shows only the name, for a row above the counter's tag sets.
    pub(super) fn above_its_tags(mut self) -> SeriesRow {
        self.name.clone_from(&self.group.2);
        self.shown = to_cut(&self.name, "", "");
        self.is_heading = true;
        self
    }
}

/// Groups the series that have the same tags except for the quantile.
pub(super) fn distributions(group: &[LiveSeries]) -> Vec<Vec<&LiveSeries>> {
    let mut lines: Vec<Vec<&LiveSeries>> = Vec::new();
    for live in group {
        let is_histogram = live.series.kind == CounterKind::Histogram;
        let same = |line: &Vec<&LiveSeries>| {
            line.first().is_some_and(|first| {
                first.series.tags_without_percentile() == live.series.tags_without_percentile()
            })
        };
        match lines.iter_mut().find(|line| is_histogram && same(line)) {
            Some(line) => line.push(live),
            None => lines.push(vec![live]),
        }
    }
    lines
}

pub(super) fn row(group: &Group, line: &[&LiveSeries]) -> SeriesRow {
    let Some(first) = line.first() else { return folded(group, &[]) };
    let tags = first.series.tags_without_percentile();
    let short = short_tags(tags);
    let tags: String = tags.iter().map(|(key, value)| format!(" {key}={value}")).collect();
    let (value, unit) = match first.series.kind {
        CounterKind::Histogram => (distribution(line), unit_per_second(&first.series)),
        _ => scaled(&first.series, first.shown()),
    };
    let history = first.history();
    let size = first.shown();
    SeriesRow {
        group: group.clone(),
        name: format!("{}{tags}", first.series.name),
        shown: to_cut(&first.series.name, &printable(&tags), &short),
        is_heading: false,
        value,
        unit,
        change: change(&history),
        history,
        is_stopped: line.iter().all(|live| live.is_stopped),
        size,
        tags: [printable(&tags), short],
    }
}

/// Returns a value and its unit. Bytes are in the fitting multiple, such as `1.5` and `MiB`;
/// growth of seconds is a share of a core.
fn scaled(series: &CounterSeries, value: f64) -> (String, String) {
    let unit = unit_per_second(series);
    let bytes = match series.unit.as_str() {
        "By" | "B" | "bytes" => value,
        "MB" => value * 1e6,
        "s" if unit == "s/s" => return (number(value * 100.0), "% of a core".to_owned()),
        _ => return (number(value), unit),
    };
    if !bytes.is_finite() {
        return (number(value), unit);
    }
    let (size, multiple) = units::bytes_and_unit(bytes.abs().round() as u64);
    let sign = if bytes < 0.0 { "-" } else { "" };
    let unit = format!("{multiple}{} {}", per_second(series), added(series));
    (format!("{sign}{size}"), unit.trim().to_owned())
}

/// Returns the number of values since the session's start, and the newest quantiles of a
/// distribution: `count 900 p50 9.88 p95 18.9 p99 19.8`.
fn distribution(line: &[&LiveSeries]) -> String {
    let count = line.iter().map(|live| live.total_count).max().unwrap_or(0);
    let mut sorted: Vec<(f64, String)> = line
        .iter()
        .filter_map(|live| {
            let percentile = live.series.percentile()?;
            Some((percentile, format!("p{percentile} {}", number(live.series.last))))
        })
        .collect();
    sorted.sort_by(|one, other| one.0.total_cmp(&other.0));
    let count = format!("count {}", units::count(u64::try_from(count).unwrap_or(0)));
    let quantiles = sorted.into_iter().map(|(_, text)| text);
    std::iter::once(count).chain(quantiles).collect::<Vec<String>>().join(" ")
}

/// Returns one row for all tag sets of a counter: the sum of values that can be added, otherwise
/// the smallest and the largest. Series that have stopped count only if all have stopped.
pub(super) fn folded(group: &Group, lines: &[Vec<&LiveSeries>]) -> SeriesRow {
    let all: Vec<&LiveSeries> = lines.iter().filter_map(|line| line.first().copied()).collect();
    let is_stopped = all.iter().all(|live| live.is_stopped);
    let counted: Vec<&LiveSeries> =
        all.into_iter().filter(|live| is_stopped || !live.is_stopped).collect();
    let first = lines.first().and_then(|line| line.first());
    let adds = first.is_some_and(|live| {
        use CounterKind::{ObservableUpDownCounter, UpDownCounter};
        live.series.kind.is_rate()
            || matches!(live.series.kind, UpDownCounter | ObservableUpDownCounter)
    });
    let values = || counted.iter().map(|live| live.shown());
    let (least, most) =
        (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    let sum: f64 = values().sum();
    let plain_unit = first.map_or(String::new(), |live| unit_per_second(&live.series));
    let (value, unit) = match (adds, first) {
        (true, Some(first)) if !counted.is_empty() => scaled(&first.series, sum),
        (false, _) if !counted.is_empty() => {
            (format!("{}…{}", number(least), number(most)), plain_unit)
        }
        _ => ("-".to_owned(), plain_unit),
    };
    let mut history = Vec::new();
    if adds {
        let histories: Vec<Vec<f64>> = counted.iter().map(|live| live.history()).collect();
        let longest = histories.iter().map(Vec::len).max().unwrap_or(0);
        history = vec![0.0; longest];
        for one in &histories {
            let skipped = longest - one.len();
            for (sum, value) in history.iter_mut().skip(skipped).zip(one) {
                *sum += value;
            }
        }
    }
    let count = format!(" ({})", units::counted(lines.len() as u64, "tag set"));
    SeriesRow {
        group: group.clone(),
        name: format!("{}{count}", group.2),
        shown: to_cut(&group.2, &count, &count),
        is_heading: false,
        value,
        unit,
        change: change(&history),
        history,
        is_stopped,
        size: if adds { sum } else { most },
        tags: Default::default(),
    }
}

/// Returns the difference of the last value from the mean of the values before, as a share of that
/// mean.
fn change(history: &[f64]) -> f64 {
    let Some((last, before)) = history.split_last().filter(|(_, before)| !before.is_empty()) else {
        return 0.0;
    };
    let mean = before.iter().sum::<f64>() / before.len() as f64;
    let difference = (last - mean).abs();
    if difference == 0.0 { 0.0 } else { difference / mean.abs().max(1e-9) }
}

/// Returns the tags of a name from the first tag on that differs from all other names: a text that
/// distinguishes rows whose cut names are equal.
pub(super) fn distinct(names: &[&str], at: usize) -> Option<String> {
    let own = names.get(at)?;
    let others = names.iter().enumerate().filter(|(other, _)| *other != at);
    let common = |other: &str| {
        let same = own.char_indices().zip(other.chars()).take_while(|((_, a), b)| a == b);
        same.last().map_or(0, |((at, a), _)| at + a.len_utf8())
    };
    let differs = others.map(|(_, other)| common(other)).max()?;
    let start = own.get(..differs)?.rfind(' ').map_or(0, |space| space + 1);
    (start > 0).then(|| format!("…{}", printable(own.get(start..).unwrap_or_default())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_would_read_the_same_show_the_tag_that_differs() {
        let names = ["a.long.name host=x path=/one", "a.long.name host=x path=/two", "b"];
        assert_eq!(distinct(&names, 0).unwrap(), "…path=/one");
        assert_eq!(distinct(&names, 1).unwrap(), "…path=/two");
        assert_eq!(distinct(&names, 2), None);
    }
}
