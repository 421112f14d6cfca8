//! Names, units and values of counters for people.

use crate::cut::Text;
use crate::printable::printable;
use crate::units;
use nettrace_analysis::report::{CounterBase, CounterSeries};

/// Returns the name of a series with its tags.
pub(crate) fn name(series: &CounterSeries) -> String {
    let tags = series.tags_text(" ");
    let tags = if tags.is_empty() { tags } else { format!(" {tags}") };
    printable(&format!("{}{tags}", series.name))
}

/// Returns the name of a series with its tags, and shorter forms of it. First the keys of tags lose
/// the part before their last dot, then the name loses its beginning, so that its last word and the
/// values of tags stay.
pub(crate) fn name_to_cut(series: &CounterSeries) -> Text {
    let whole = name(series);
    let tags = whole.get(printable(&series.name).len()..).unwrap_or_default();
    to_cut(&series.name, tags, &short_tags(&series.tags))
}

/// Returns tags with the last part of their keys: ` generation=gen0` for the tag
/// `gc.heap.generation`.
pub(crate) fn short_tags(tags: &[(String, String)]) -> String {
    let last = |text: &str| printable(text.rsplit('.').next().unwrap_or(text));
    tags.iter().map(|(key, value)| format!(" {}={}", last(key), printable(value))).collect()
}

/// Returns a name with `after` behind it, and shorter forms: first with `after_in_short`, then
/// without the beginning of the name.
pub(crate) fn to_cut(name: &str, after: &str, after_in_short: &str) -> Text {
    let own = printable(name);
    let ends = own.match_indices('.').map(|(at, _)| format!("…{}{after_in_short}", &own[at + 1..]));
    let forms = [format!("{own}{after}"), format!("{own}{after_in_short}")];
    Text::Forms(forms.into_iter().chain(ends).collect())
}

/// Returns the unit of values as they are stored: `ms`, `By/s`, `/60s` for a count in an interval
/// of 60 s.
pub(crate) fn unit(series: &CounterSeries) -> String {
    if !series.kind.is_rate() {
        return unit_per_second(series);
    }
    match series.interval_seconds {
        Some(seconds) if seconds != 1.0 => format!("{}/{seconds}s", printable(&series.unit)),
        _ => format!("{}/s", printable(&series.unit)),
    }
}

/// Returns the unit of values as they are shown: `ms`, `By/s`, `items added` for what an up-down
/// counter added since the session began.
pub(crate) fn unit_per_second(series: &CounterSeries) -> String {
    let unit = format!("{}{}", printable(&series.unit), per_second(series));
    format!("{unit} {}", added(series)).trim().to_owned()
}

/// Returns what follows the unit of an up-down counter whose level is unknown.
pub(crate) fn added(series: &CounterSeries) -> &'static str {
    match series.base {
        None => "",
        Some(CounterBase::SessionStart) => "added",
        Some(_) => "added?",
    }
}

/// Returns the sentences that explain [`added`] below the tables of these series.
pub(crate) fn what_added_means(series: &[CounterSeries]) -> Vec<String> {
    let has = |base| series.iter().any(|series| series.base == Some(base));
    let mut texts = Vec::new();
    if has(CounterBase::SessionStart) {
        texts.push(
            "added: by an UpDownCounter since the metrics session began; the level at that time is \
             not known"
                .to_owned(),
        );
    }
    if has(CounterBase::Unknown) {
        texts.push(
            "added?: by an UpDownCounter since the metrics session began, or the level of an \
             ObservableUpDownCounter: the trace began later, and does not tell which"
                .to_owned(),
        );
    }
    texts
}

/// Unit in which a report shows the values of a series.
pub(crate) struct ShownUnit {
    factor: f64,
    pub(crate) name: String,
    /// Writes a total, whose unit is not per second; `None` if it is in the unit of the values.
    total: Option<fn(f64) -> String>,
}

impl ShownUnit {
    /// Returns the unit of a series: growth of seconds is a share of a core, growth of bytes is in
    /// the multiple that fits the largest value; all others are in the series' own.
    pub(crate) fn new(series: &CounterSeries) -> ShownUnit {
        let own = ShownUnit { factor: 1.0, name: unit(series), total: None };
        if per_second(series).is_empty() {
            return own;
        }
        let seconds = series.interval_seconds.unwrap_or(1.0);
        match &*series.unit {
            "s" => ShownUnit {
                factor: 100.0 / seconds,
                name: "% of a core".to_owned(),
                total: Some(|total| format!("{} s", number(total))),
            },
            "By" | "B" | "bytes" => {
                let most = (series.max.abs() / seconds).round() as u64;
                let (_, multiple) = units::bytes_and_unit(most);
                let names = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
                let power = names.iter().position(|name| *name == multiple).unwrap_or(0);
                ShownUnit {
                    factor: 1.0 / seconds / 1024_f64.powi(power as i32),
                    name: format!("{multiple}/s"),
                    total: Some(|total| units::bytes(total.max(0.0).round() as u64)),
                }
            }
            _ => own,
        }
    }

    pub(crate) fn value(&self, value: f64) -> String {
        number(value * self.factor)
    }

    pub(crate) fn total(&self, total: f64) -> String {
        self.total.map_or_else(|| number(total), |write| write(total))
    }
}

/// Returns `/s` for a series that is shown as its growth per second, else an empty text.
pub(crate) fn per_second(series: &CounterSeries) -> &'static str {
    if series.kind.is_rate() && !series.total_is_level() { "/s" } else { "" }
}

/// Returns a number with five digits, or more where they matter: `0.0084`, `12.35`, `39,669,760`.
pub(crate) fn number(value: f64) -> String {
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
        let values =
            [0.0, -3.0, 39_669_760.0, 0.008_428_6, 12.345_67, 1234.567, 1e-9, 1e20, f64::NAN];
        let texts = [
            "0",
            "-3",
            "39,669,760",
            "0.00843",
            "12.346",
            "1,234.6",
            "1.000e-9",
            "1.000e20",
            "NaN",
        ];
        assert_eq!(values.map(number), texts);
    }
}
