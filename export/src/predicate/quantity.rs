//! Amounts in the unit of a counter: `80%`, `500MB`, `250ms`.

use super::literal::{Amount, Number};
use std::str::FromStr;

/// A number as people write it, with or without its unit.
///
/// Durations are `ns`, `us`, `µs`, `ms`, `s`, `min` or `h`; sizes are `B`, `KB`, `MB`,
/// `GB` and `TB`, which are powers of 1,000, and `KiB` to `TiB`, which are powers of
/// 1,024. `80%` is 80.
///
/// ```
/// use nettrace_export::Quantity;
///
/// let limit: Quantity = "500MB".parse().unwrap();
/// // As `System.Runtime/gc-heap-size` is published.
/// assert_eq!(limit.in_unit("MB"), Some(500.0));
/// assert_eq!(limit.in_unit("bytes"), Some(5e8));
/// assert_eq!(limit.in_unit("ms"), None);
/// assert!("a lot".parse::<Quantity>().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantity(Amount);

/// The error for a text that is not a number with a known unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuantityError;

impl std::fmt::Display for QuantityError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("it is not a number; write 80, 80%, 500MB or 250ms")
    }
}

impl std::error::Error for QuantityError {}

impl FromStr for Quantity {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Quantity, QuantityError> {
        let text = text.trim();
        let literal = match text.strip_suffix('%') {
            Some(number) => Number::parse(number.trim_end()).map(Amount::Plain),
            None => Amount::parse(text),
        };
        literal.map(Quantity).ok_or(QuantityError)
    }
}

impl Quantity {
    /// Returns the number to compare with values in `unit`, which may be spelt as runtimes or as
    /// instruments spell it. Returns `None` if the amount is a duration or a size, and `unit` is a
    /// unit of something else.
    pub fn in_unit(self, unit: &str) -> Option<f64> {
        let (number, divisor) = match self.0 {
            Amount::Plain(number) => (number, 1.0),
            Amount::Duration(nanos) => {
                let divisor = match unit {
                    "ns" => 1.0,
                    "us" | "µs" => 1e3,
                    "ms" => 1e6,
                    "s" | "sec" => 1e9,
                    "min" => 6e10,
                    _ => return None,
                };
                (nanos, divisor)
            }
            Amount::Size(bytes) => {
                let divisor = match unit {
                    "B" | "By" | "bytes" | "{bytes}" | "" => 1.0,
                    "KB" | "kB" | "kBy" => 1e3,
                    "MB" | "MBy" => 1e6,
                    "GB" | "GBy" => 1e9,
                    "KiB" | "KiBy" => 1024.0,
                    "MiB" | "MiBy" => 1024.0 * 1024.0,
                    "GiB" | "GiBy" => 1024.0 * 1024.0 * 1024.0,
                    _ => return None,
                };
                (bytes, divisor)
            }
        };
        Some(number.to_f64() / divisor)
    }

    /// Returns whether the amount has no unit that is converted, as in `80` or `80%`.
    pub fn is_plain(self) -> bool {
        matches!(self.0, Amount::Plain(_))
    }
}
