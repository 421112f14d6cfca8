//! Formats quantities for people, in reports and in the sentences of the summary. The format does
//! not depend on the locale.

/// Formats a count with separators: `1,234,567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len().saturating_sub(at)).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a number with `digits` decimals and separators: `22,177.5`.
pub fn decimal(number: f64, digits: usize) -> String {
    let text = format!("{number:.digits$}");
    let (sign, text) = text.strip_prefix('-').map_or(("", &*text), |text| ("-", text));
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let point = if fraction.is_empty() { "" } else { "." };
    // Not a number: NaN, inf.
    let whole = whole.parse().map_or_else(|_| whole.to_owned(), count);
    format!("{sign}{whole}{point}{fraction}")
}

/// Formats a count and its noun: `1 event`, `2 events`, `2 processes`.
pub fn counted(number: u64, noun: &str) -> String {
    let ending = match number {
        1 => "",
        _ if noun.ends_with('s') => "es",
        _ => "s",
    };
    format!("{} {noun}{ending}", count(number))
}

/// Formats a size in bytes: `17 B`, `1.5 KiB`, `12.3 MiB`.
pub fn bytes(number: u64) -> String {
    let (size, unit) = bytes_and_unit(number);
    format!("{size} {unit}")
}

/// Formats a size in bytes as a number and its unit: `12.3`, `MiB`.
pub fn bytes_and_unit(number: u64) -> (String, &'static str) {
    if number < 1024 {
        return (count(number), "B");
    }
    let (mut value, mut name) = (number as f64 / 1024.0, "KiB");
    for next in ["MiB", "GiB", "TiB", "PiB"] {
        // 1024.0 of a unit should be shown as 1.0 of the next.
        if value < 1023.95 {
            break;
        }
        (value, name) = (value / 1024.0, next);
    }
    (decimal(value, 1), name)
}

/// Formats a duration in nanoseconds, with three decimals: `12.346 ms`, `3.214 s`, `2 min 3.214 s`.
/// Further decimals are truncated.
pub fn duration(nanos: u64) -> String {
    match nanos {
        0..1_000 => format!("{nanos} ns"),
        1_000..1_000_000 => format!("{} µs", thousandths(nanos, 1)),
        1_000_000..1_000_000_000 => format!("{} ms", thousandths(nanos, 1_000)),
        1_000_000_000..60_000_000_000 => format!("{} s", thousandths(nanos, 1_000_000)),
        _ => {
            let (minutes, rest) = (nanos / 60_000_000_000, nanos % 60_000_000_000);
            let seconds = thousandths(rest, 1_000_000);
            match minutes {
                0..60 => format!("{minutes} min {seconds} s"),
                _ => format!("{} h {} min {seconds} s", count(minutes / 60), minutes % 60),
            }
        }
    }
}

/// Formats a duration as [`duration`] does, with a minus sign if it is negative.
pub fn signed_duration(nanos: i64) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    format!("{sign}{}", duration(nanos.unsigned_abs()))
}

/// Formats a time in nanoseconds since the session's start, in milliseconds with three decimals:
/// `1,234.567`. Further decimals are truncated.
pub fn milliseconds(nanos: i64) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    format!("{sign}{}", thousandths(nanos.unsigned_abs(), 1_000))
}

/// Formats a quantity of which a unit has a thousand `steps`, with three decimals. The result is
/// truncated, so that no time is shown as later than it was, or as 60 s.
pub fn thousandths(number: u64, steps: u64) -> String {
    let thousandths = number.checked_div(steps).unwrap_or(0);
    format!("{}.{:03}", count(thousandths / 1000), thousandths % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([0, 999, 1000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([1, 2].map(|n| counted(n, "event")), ["1 event", "2 events"]);
        let sizes = [0, 1023, 1024, 1536, 1_048_575, 1_048_576, u64::MAX];
        let expected =
            ["0 B", "1,023 B", "1.0 KiB", "1.5 KiB", "1.0 MiB", "1.0 MiB", "16,384.0 PiB"];
        assert_eq!(sizes.map(bytes), expected);
        let decimals = [22_177.54, -1_234.0, 0.06, f64::INFINITY].map(|number| decimal(number, 1));
        assert_eq!(decimals, ["22,177.5", "-1,234.0", "0.1", "inf"]);
        assert_eq!(decimal(1_234.6, 0), "1,235");
    }

    #[test]
    fn durations_are_cut_not_rounded() {
        let cases = [
            (0, "0 ns"),
            (1_500, "1.500 µs"),
            (12_345_678, "12.345 ms"),
            (59_999_999_999, "59.999 s"),
            (60_000_000_000, "1 min 0.000 s"),
            (3_723_500_000_000, "1 h 2 min 3.500 s"),
        ];
        for (nanos, text) in cases {
            assert_eq!(duration(nanos), text);
        }
    }
}
