//! Numbers as people read them. Everything is the same in every locale.

/// `1,234,567`.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `22,177.5`: with this many digits behind the point.
pub(crate) fn decimal(number: f64, digits: usize) -> String {
    let text = format!("{number:.digits$}");
    let (sign, text) = text.strip_prefix('-').map_or(("", &*text), |text| ("-", text));
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let point = if fraction.is_empty() { "" } else { "." };
    // No number is what it is: NaN, inf.
    let whole = whole.parse().map_or_else(|_| whole.to_owned(), count);
    format!("{sign}{whole}{point}{fraction}")
}

/// `1 event`, `2 events`, `2 processes`.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    let ending = match number {
        1 => "",
        _ if noun.ends_with('s') => "es",
        _ => "s",
    };
    format!("{} {noun}{ending}", count(number))
}

/// `17 B`, `1.5 KiB`, `12.3 MiB`.
pub(crate) fn bytes(number: u64) -> String {
    const NAMES: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if number < 1024 {
        return format!("{} B", count(number));
    }
    let (mut value, mut name) = (number as f64 / 1024.0, NAMES[0]);
    for next in &NAMES[1..] {
        // What would be shown as 1024.0 is 1.0 of the next unit.
        if value < 1023.95 {
            break;
        }
        (value, name) = (value / 1024.0, next);
    }
    format!("{} {name}", decimal(value, 1))
}

/// A duration in nanoseconds, to three digits behind the point: `12.346 ms`, `3.214 s`, `2 min 3.214 s`.
pub(crate) fn duration(nanos: i64) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    let nanos = nanos.unsigned_abs();
    match nanos {
        0..1_000 => format!("{sign}{nanos} ns"),
        1_000..1_000_000 => format!("{sign}{} µs", thousandths(nanos, 1_000)),
        1_000_000..1_000_000_000 => format!("{sign}{} ms", thousandths(nanos, 1_000_000)),
        1_000_000_000..60_000_000_000 => format!("{sign}{} s", thousandths(nanos, 1_000_000_000)),
        _ => {
            let (minutes, rest) = (nanos / 60_000_000_000, nanos % 60_000_000_000);
            let seconds = thousandths(rest, 1_000_000_000);
            match minutes {
                0..60 => format!("{sign}{minutes} min {seconds} s"),
                _ => format!("{sign}{} h {} min {seconds} s", count(minutes / 60), minutes % 60),
            }
        }
    }
}

/// A time since the session's start in ms, cut to µs: `1,234.567`.
pub(crate) fn milliseconds(nanos: i64) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    format!("{sign}{}", thousandths(nanos.unsigned_abs(), 1_000_000))
}

/// `number / unit` with three digits behind the point, cut off, not rounded: nothing is shown as later than
/// it was, nor as 60 s.
fn thousandths(number: u64, unit: u64) -> String {
    format!("{}.{:03}", count(number / unit), number % unit / (unit / 1000))
}

/// `45.2 %` of a whole.
pub(crate) fn share(part: u64, whole: u64) -> String {
    let percent = if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 };
    format!("{percent:.1} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([0, 999, 1000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([1, 2].map(|n| counted(n, "event")), ["1 event", "2 events"]);
        let sizes = [0, 1023, 1024, 1536, 1_048_575, 1_048_576, u64::MAX];
        let expected = ["0 B", "1,023 B", "1.0 KiB", "1.5 KiB", "1.0 MiB", "1.0 MiB", "16,384.0 PiB"];
        assert_eq!(sizes.map(bytes), expected);
        let decimals = [22_177.54, -1_234.0, 0.06, f64::INFINITY].map(|number| decimal(number, 1));
        assert_eq!(decimals, ["22,177.5", "-1,234.0", "0.1", "inf"]);
        assert_eq!(decimal(1_234.6, 0), "1,235");
        assert_eq!(share(1, 3), "33.3 %");
        assert_eq!(share(0, 0), "0.0 %");
    }

    #[test]
    fn durations_are_cut_not_rounded() {
        let cases = [
            (0, "0 ns"),
            (-7, "-7 ns"),
            (1_500, "1.500 µs"),
            (12_345_678, "12.345 ms"),
            (59_999_999_999, "59.999 s"),
            (60_000_000_000, "1 min 0.000 s"),
            (3_723_500_000_000, "1 h 2 min 3.500 s"),
        ];
        for (nanos, text) in cases {
            assert_eq!(duration(nanos), text);
        }
        assert_eq!(milliseconds(1_234_567_899), "1,234.567");
        assert_eq!(milliseconds(-1), "-0.000");
    }
}
