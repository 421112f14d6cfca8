//! Time ranges in the notation of users: `1.5s..3s`.

use std::fmt;
use std::str::FromStr;

/// A range of time since the session's start, in nanoseconds. The start is inclusive, the
/// end exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeRange {
    from: Option<i64>,
    to: Option<i64>,
}

impl TimeRange {
    /// Creates the range from `from` to before `to`, in nanoseconds since the session's start. `None` is
    /// an end that is open.
    ///
    /// # Errors
    /// [`TimeRangeError::Empty`] if it ends before it begins, or there.
    pub fn new(from: Option<i64>, to: Option<i64>) -> Result<TimeRange, TimeRangeError> {
        match (from, to) {
            (Some(from), Some(to)) if to <= from => Err(TimeRangeError::Empty { to }),
            _ => Ok(TimeRange { from, to }),
        }
    }

    /// Returns the start in nanoseconds; `None` if the range has no start.
    pub fn from(self) -> Option<i64> {
        self.from
    }

    /// Returns the exclusive end in nanoseconds; `None` if the range has no end.
    pub fn to(self) -> Option<i64> {
        self.to
    }

    /// Returns whether a time, in nanoseconds since the session's start, is in the range.
    pub fn contains(self, nanos: i64) -> bool {
        self.from.is_none_or(|from| from <= nanos) && self.to.is_none_or(|to| nanos < to)
    }
}

impl FromStr for TimeRange {
    type Err = TimeRangeError;

    fn from_str(text: &str) -> Result<TimeRange, TimeRangeError> {
        let (from, to) = text.split_once("..").ok_or(TimeRangeError::NoRange)?;
        let end = |text: &str| (!text.is_empty()).then(|| parse_nanos(text)).transpose();
        TimeRange::new(end(from.trim())?, end(to.trim())?)
    }
}

/// Reason why a text is no time or no range of time.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeRangeError {
    /// The text has no `..`.
    NoRange,
    /// This text is no time.
    NoTime(String),
    /// The time in this text is longer than 292 years.
    TooLong(String),
    /// The range ends before it begins, or there.
    Empty {
        /// End of the range, in nanoseconds.
        to: i64,
    },
}

impl fmt::Display for TimeRangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TimeRangeError::NoRange => {
                f.write_str("expected FROM..TO, such as 1.5s..3s, 1s.. or ..3s")
            }
            TimeRangeError::NoTime(text) => {
                write!(f, "\"{text}\" is no time; write 1.5s, 200ms, 10us or 3 (seconds)")
            }
            TimeRangeError::TooLong(text) => write!(f, "\"{text}\" is too long"),
            TimeRangeError::Empty { to } => write!(f, "it ends at {to} ns, before it begins"),
        }
    }
}

impl std::error::Error for TimeRangeError {}

/// Units of time with their nanoseconds. Each name comes before names that are its suffixes.
const UNITS: [(&str, i128); 7] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("min", 60_000_000_000),
    ("s", 1_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Parses a time such as `1.5s`, `200ms`, `-10us` or `3` to nanoseconds, exactly. Digits below a
/// nanosecond are ignored.
///
/// # Errors
/// [`TimeRangeError::NoTime`], [`TimeRangeError::TooLong`].
pub fn parse_nanos(text: &str) -> Result<i64, TimeRangeError> {
    let wrong = || TimeRangeError::NoTime(text.to_owned());
    let (number, unit) = UNITS
        .iter()
        .find_map(|(name, unit)| Some((text.strip_suffix(name)?.trim_end(), *unit)))
        .unwrap_or((text, 1_000_000_000));
    let (is_negative, number) = match number.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, number.strip_prefix('+').unwrap_or(number)),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if (whole.is_empty() && fraction.is_empty()) || !is_digits(whole) || !is_digits(fraction) {
        return Err(wrong());
    }
    // 18 decimals are more precise than any unit.
    let fraction = fraction.get(..18).unwrap_or(fraction);
    let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| wrong())? };
    let scale = fraction.bytes().fold(1i128, |scale, _| scale.saturating_mul(10));
    let fraction: i128 =
        if fraction.is_empty() { 0 } else { fraction.parse().map_err(|_| wrong())? };
    let fraction = fraction.checked_mul(unit).and_then(|nanos| nanos.checked_div(scale));
    let nanos = whole.checked_mul(unit).and_then(|nanos| nanos.checked_add(fraction?));
    let nanos = nanos.map(|nanos| if is_negative { nanos.saturating_neg() } else { nanos });
    nanos
        .and_then(|nanos| i64::try_from(nanos).ok())
        .ok_or_else(|| TimeRangeError::TooLong(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_exactly_in_all_units() {
        let cases = [
            ("1.5s", 1_500_000_000),
            ("200ms", 200_000_000),
            ("10us", 10_000),
            ("10µs", 10_000),
            ("7ns", 7),
            ("3", 3_000_000_000),
            (".5", 500_000_000),
            ("2min", 120_000_000_000),
            ("1h", 3_600_000_000_000),
            ("-0.25 s", -250_000_000),
            ("0.123456789", 123_456_789),
            ("0.1234567894", 123_456_789),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_nanos(text), Ok(expected), "{text}");
        }
        for text in ["", "s", ".", "1.2.3", "1e3", "x", "1 2", "99999999999h", "--1"] {
            assert!(parse_nanos(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_range_holds_its_first_moment_and_not_its_last() {
        let range: TimeRange = "1s..2s".parse().unwrap();
        let held =
            [999_999_999, 1_000_000_000, 1_999_999_999, 2_000_000_000].map(|t| range.contains(t));
        assert_eq!(held, [false, true, true, false]);
    }

    #[test]
    fn both_ends_of_a_range_may_be_left_out() {
        assert!("..".parse::<TimeRange>().unwrap().contains(-5));
        assert!(!"1ns..".parse::<TimeRange>().unwrap().contains(0));
        assert!(!"..1ns".parse::<TimeRange>().unwrap().contains(1));
        let empty = Err(TimeRangeError::Empty { to: 1_000_000_000 });
        assert_eq!("3s..1s".parse::<TimeRange>(), empty);
        assert_eq!(TimeRange::new(Some(1_000_000_000), Some(1_000_000_000)), empty);
        assert!("3s".parse::<TimeRange>().is_err());
    }
}
