//! Numbers, durations and sizes, as users write them and as fields store them.

use nettrace_parser::{Unit, Value};
use std::cmp::Ordering;

/// A number. Integers are compared exactly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Number {
    Whole(i128),
    Fraction(f64),
}

impl Number {
    pub(super) fn parse(text: &str) -> Option<Number> {
        let (is_negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
            let hex = Some(hex).filter(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
            let number = i128::from_str_radix(hex, 16).ok()?;
            return Some(Number::Whole(if is_negative { number.saturating_neg() } else { number }));
        }
        if let Ok(number) = text.parse() {
            return Some(Number::Whole(number));
        }
        text.parse().ok().map(Number::Fraction)
    }

    pub(super) fn from_value(value: &Value<'_>) -> Option<Number> {
        Some(match value {
            Value::Bool(_) | Value::Char(_) => return None,
            Value::F32(number) => Number::Fraction(f64::from(*number)),
            Value::F64(number) => Number::Fraction(*number),
            Value::Decimal(number) => Number::Fraction(f64::from(*number)),
            value => match (value.as_i64(), value.as_u64()) {
                (Some(number), _) => Number::Whole(i128::from(number)),
                (None, Some(number)) => Number::Whole(i128::from(number)),
                (None, None) => return None,
            },
        })
    }

    pub(super) fn to_f64(self) -> f64 {
        match self {
            Number::Whole(number) => number as f64,
            Number::Fraction(number) => number,
        }
    }

    pub(super) fn compare(self, other: Number) -> Option<Ordering> {
        match (self, other) {
            (Number::Whole(a), Number::Whole(b)) => Some(a.cmp(&b)),
            (a, b) => a.to_f64().partial_cmp(&b.to_f64()),
        }
    }

    fn times(self, factor: f64) -> Number {
        let product = self.to_f64() * factor;
        let is_exact = product.fract() == 0.0 && product.abs() < 9e15;
        #[expect(clippy::cast_possible_truncation, reason = "whole, and below 2^53")]
        if is_exact { Number::Whole(product as i128) } else { Number::Fraction(product) }
    }
}

/// A number as the user wrote it, with the kind of its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Amount {
    Plain(Number),
    /// A duration in nanoseconds.
    Duration(Number),
    /// A size in bytes.
    Size(Number),
}

/// Names of units of time, with their nanoseconds.
const DURATIONS: [(&str, f64); 7] =
    [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("min", 6e10), ("s", 1e9), ("h", 3.6e12)];
/// Names of units of size in lower case, with their bytes. The powers of 1,024 have an `i`. The
/// runtime shows its counters in megabytes of a million bytes, and `> 500MB` must mean what is
/// shown.
const SIZES: [(&str, f64); 9] = [
    ("kib", 1024.0),
    ("kb", 1e3),
    ("mib", 1048576.0),
    ("mb", 1e6),
    ("gib", 1073741824.0),
    ("gb", 1e9),
    ("tib", 1099511627776.0),
    ("tb", 1e12),
    ("b", 1.0),
];

impl Amount {
    /// Parses a number with or without a unit: `17`, `0x1f`, `10ms`, `1.5 MiB`.
    pub(super) fn parse(text: &str) -> Option<Amount> {
        if let Some(number) = Number::parse(text) {
            return Some(Amount::Plain(number));
        }
        let ends = |units: &[(&str, f64)], text: &str| {
            units.iter().find_map(|(name, factor)| {
                let number = text.strip_suffix(name)?.trim_end();
                let is_number = number.ends_with(|c: char| c.is_ascii_digit() || c == '.');
                Some(Number::parse(number).filter(|_| is_number)?.times(*factor))
            })
        };
        let duration = ends(&DURATIONS, text).map(Amount::Duration);
        duration.or_else(|| ends(&SIZES, &text.to_ascii_lowercase()).map(Amount::Size))
    }

    /// Returns the number to compare with a field in `unit`, or `None` if the field has another
    /// kind of unit or a unit that is not known.
    pub(super) fn in_unit(self, unit: Option<Unit>) -> Option<Number> {
        match (self, unit) {
            (Amount::Plain(number), _) => Some(number),
            (Amount::Duration(number), Some(Unit::Nanoseconds)) => Some(number),
            (Amount::Duration(number), Some(Unit::Seconds)) => Some(number.times(1e-9)),
            // Most sizes in described events have no unit.
            (Amount::Size(number), Some(Unit::Bytes) | None) => Some(number),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_decimal_and_hexadecimal() {
        let number = |text: &str| Number::parse(text).map(Number::to_f64);
        assert_eq!(number("17"), Some(17.0));
        assert_eq!(number("-0x1F"), Some(-31.0));
        assert_eq!(number("2.5e1"), Some(25.0));
        assert_eq!(
            (number("x"), number(""), number("0x"), number("0x-1")),
            (None, None, None, None)
        );
        let large = Number::parse("18446744073709551615").unwrap();
        let next = Number::from_value(&Value::U64(u64::MAX - 1)).unwrap();
        assert_eq!(next.compare(large), Some(Ordering::Less));
    }

    #[test]
    fn durations_and_sizes_are_numbers_of_the_fields_unit() {
        let of = |text: &str, unit| {
            Amount::parse(text).and_then(|l| l.in_unit(unit)).map(Number::to_f64)
        };
        assert_eq!(of("10ms", Some(Unit::Nanoseconds)), Some(1e7));
        assert_eq!(of("1.5 s", Some(Unit::Seconds)), Some(1.5));
        assert_eq!(
            (of("100KB", Some(Unit::Bytes)), of("1.5MiB", None)),
            (Some(100_000.0), Some(1_572_864.0))
        );
        assert_eq!((of("10ms", None), of("10ms", Some(Unit::Bytes))), (None, None));
        assert_eq!((of("ms", None), of("a B", None), of("5 bananas", None)), (None, None, None));
    }
}
