//! Formats quantities for people, in reports and in the sentences of the summary. The format does
//! not depend on the locale.

/// Formats a count with separators: `1,234,567`.
pub fn count(number: u64) -> String {
    let mut digits = Digits::default();
    digits.put_count(number);
    digits.text().to_owned()
}

/// Digits of a number with separators, which are put from the last one to the first one.
#[derive(Debug, Default)]
pub(crate) struct Digits {
    bytes: [u8; Digits::MAX_BYTES],
    length: usize,
}

impl Digits {
    /// Maximum length of a text, in bytes.
    pub(crate) const MAX_BYTES: usize = 32;

    /// Returns the digits of a duration and its unit, as [`exact_duration`] formats it.
    pub(crate) fn from_exact_duration(nanos: u64) -> Digits {
        let (places, name) = match nanos {
            0..1_000 => (0, "ns"),
            1_000..1_000_000 => (3, "µs"),
            1_000_000..1_000_000_000 => (6, "ms"),
            _ => (9, "s"),
        };
        let mut digits = Digits::default();
        name.bytes().rev().for_each(|byte| digits.put(byte));
        digits.put(b' ');
        let (mut left, mut has_point) = (nanos, false);
        for _ in 0..places {
            // Zeros at the end are left out.
            if has_point || left % 10 > 0 {
                left = digits.put_digit(left);
                has_point = true;
            } else {
                left /= 10;
            }
        }
        if has_point {
            digits.put(b'.');
        }
        digits.put_count(left);
        digits
    }

    /// Returns the digits of an instant in ms, as [`milliseconds`] formats it.
    pub(crate) fn from_milliseconds(nanos: i64) -> Digits {
        let mut digits = Digits::default();
        digits.put_thousandths(nanos.unsigned_abs() / 1_000);
        if nanos < 0 {
            digits.put(b'-');
        }
        digits
    }

    /// Returns the text so far.
    pub(crate) fn text(&self) -> &str {
        let at = self.bytes.len().saturating_sub(self.length);
        self.bytes.get(at..).and_then(|bytes| str::from_utf8(bytes).ok()).unwrap_or_default()
    }

    /// Puts a character before the others. There is room for each u64 with separators.
    #[inline]
    fn put(&mut self, character: u8) {
        if let Some(place) = self.bytes.iter_mut().rev().nth(self.length) {
            *place = character;
            self.length = self.length.saturating_add(1);
        }
    }

    /// Puts the last digit of a number, and returns the number without it.
    #[inline]
    fn put_digit(&mut self, number: u64) -> u64 {
        self.put(b'0'.saturating_add(u8::try_from(number % 10).unwrap_or(0)));
        number / 10
    }

    fn put_count(&mut self, number: u64) {
        let mut left = self.put_digit(number);
        let mut group = 1_u32;
        while left > 0 {
            if group.is_multiple_of(3) {
                self.put(b',');
            }
            left = self.put_digit(left);
            group = group.wrapping_add(1);
        }
    }

    fn put_thousandths(&mut self, number: u64) {
        let mut left = number;
        for _ in 0..3 {
            left = self.put_digit(left);
        }
        self.put(b'.');
        self.put_count(left);
    }
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

/// Formats a size in bytes with the three digits that matter: `17 B`, `1.50 MiB`, `300 KiB`.
pub fn short_bytes(number: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if number < 1024 {
        return bytes(number);
    }
    let (mut value, mut name) = (number as f64 / 1024.0, "KiB");
    for next in UNITS.into_iter().skip(1) {
        // 1024 of a unit should be shown as 1.00 of the next.
        if value < 1023.5 {
            break;
        }
        (value, name) = (value / 1024.0, next);
    }
    let digits = match value {
        value if value < 9.995 => 2,
        value if value < 99.95 => 1,
        _ => 0,
    };
    format!("{} {name}", decimal(value, digits))
}

/// Formats a duration in nanoseconds, rounded to three decimals: `12.346 ms`, `3.214 s`,
/// `2 min 3.214 s`.
pub fn duration(nanos: u64) -> String {
    match nanos {
        0..1_000 => format!("{nanos} ns"),
        1_000..1_000_000 => format!("{} µs", thousandths(nanos)),
        // 1,000.000 of a unit should be shown as 1.000 of the next.
        1_000_000..999_999_500 => format!("{} ms", duration_in_ms(nanos)),
        _ => {
            let millis = rounded(nanos, 1_000_000);
            let (minutes, rest) = (millis / 60_000, millis % 60_000);
            let seconds = thousandths(rest);
            match minutes {
                0 => format!("{seconds} s"),
                1..60 => format!("{minutes} min {seconds} s"),
                _ => format!("{} h {} min {seconds} s", count(minutes / 60), minutes % 60),
            }
        }
    }
}

/// Formats a duration in nanoseconds with the three digits that matter: `1.50 µs`, `12.3 ms`,
/// `2.66 s`; longer ones in whole seconds: `2 min 3 s`.
pub fn short_duration(nanos: u64) -> String {
    /// Nanoseconds of each unit, with its name.
    const UNITS: [(u64, &str); 3] = [(1_000, "µs"), (1_000_000, "ms"), (1_000_000_000, "s")];
    if nanos < 1_000 {
        return format!("{nanos} ns");
    }
    for (unit, name) in UNITS {
        // 1,000 of a unit should be shown as 1.00 of the next.
        let hundredths = rounded(nanos, unit / 100);
        if hundredths < 1_000 {
            return format!("{}.{:02} {name}", hundredths / 100, hundredths % 100);
        }
        let (tenths, whole) = (rounded(nanos, unit / 10), rounded(nanos, unit));
        let (most_tenths, most) = if name == "s" { (600, 60) } else { (1_000, 1_000) };
        if tenths < most_tenths {
            return format!("{}.{} {name}", tenths / 10, tenths % 10);
        }
        if whole < most {
            return format!("{whole} {name}");
        }
    }
    let seconds = rounded(nanos, 1_000_000_000);
    let (minutes, seconds) = (seconds / 60, seconds % 60);
    match minutes {
        0..60 => format!("{minutes} min {seconds} s"),
        _ => format!("{} h {} min", count(minutes / 60), minutes % 60),
    }
}

/// Formats a duration in nanoseconds with all its digits, in a fitting unit: `148.008512 ms`.
pub fn exact_duration(nanos: u64) -> String {
    Digits::from_exact_duration(nanos).text().to_owned()
}

/// Formats a duration as [`duration`] does, with a minus sign if it is negative.
pub fn signed_duration(nanos: i64) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    format!("{sign}{}", duration(nanos.unsigned_abs()))
}

/// Formats an instant, the time since the session's start, in ms: `1,234.567`. It is cut to µs, so
/// that no instant is shown as later than it was, and a range from there on has its event.
pub fn milliseconds(nanos: i64) -> String {
    Digits::from_milliseconds(nanos).text().to_owned()
}

/// Formats a duration in ms, rounded to µs: `1,234.568`.
pub fn duration_in_ms(nanos: u64) -> String {
    thousandths(rounded(nanos, 1_000))
}

/// Formats `number` in units of a thousand, with three decimals: `1.234`.
fn thousandths(number: u64) -> String {
    let mut digits = Digits::default();
    digits.put_thousandths(number);
    digits.text().to_owned()
}

/// Returns a number in units of `steps`, rounded.
fn rounded(number: u64, steps: u64) -> u64 {
    number.saturating_add(steps / 2).checked_div(steps).unwrap_or(0)
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
    fn durations_are_rounded() {
        let cases = [
            (0, "0 ns"),
            (1_500, "1.500 µs"),
            (12_345_678, "12.346 ms"),
            (999_999_499, "999.999 ms"),
            (999_999_500, "1.000 s"),
            (2_655_960_000, "2.656 s"),
            (59_999_499_999, "59.999 s"),
            (59_999_999_999, "1 min 0.000 s"),
            (60_000_000_000, "1 min 0.000 s"),
            (3_723_500_000_000, "1 h 2 min 3.500 s"),
        ];
        for (nanos, text) in cases {
            assert_eq!(duration(nanos), text);
        }
    }

    #[test]
    fn short_quantities_have_the_three_digits_that_matter() {
        let cases = [
            (999, "999 ns"),
            (1_500, "1.50 µs"),
            (99_949, "99.9 µs"),
            (99_950, "100 µs"),
            (999_600, "1.00 ms"),
            (276_960_000, "277 ms"),
            (2_655_960_000, "2.66 s"),
            (59_940_000_000, "59.9 s"),
            (59_960_000_000, "1 min 0 s"),
            (123_214_000_000, "2 min 3 s"),
            (3_723_500_000_000, "1 h 2 min"),
        ];
        for (nanos, text) in cases {
            assert_eq!(short_duration(nanos), text);
        }
        let exact = [999, 1_500, 148_008_512, 2_000_000_000].map(exact_duration);
        assert_eq!(exact, ["999 ns", "1.5 µs", "148.008512 ms", "2 s"]);
        let sizes = [1023, 1024, 307_302, 1_048_000, 30_723_276, u64::MAX];
        let texts = ["1,023 B", "1.00 KiB", "300 KiB", "1,023 KiB", "29.3 MiB", "16,384 PiB"];
        assert_eq!(sizes.map(short_bytes), texts);
    }
}
