//! Represents dates and decimal numbers.

use crate::clock::{DateTimeParts, system_time, write_utc};
use std::fmt;
use std::time::SystemTime;

/// Date and time of a payload, in units of 100 ns since 1601-01-01 UTC (FILETIME). 0 stands for
/// all earlier dates.
///
/// Quirk: streams of version 6 may store eight i16 instead ([FORMAT.md
/// Q1](crate::format_guide#Q1)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DateTime {
    file_time: u64,
}

/// Time from 1601-01-01 to 1970-01-01 in units of 100 ns.
const UNIX_EPOCH: i128 = 116_444_736_000_000_000;

impl DateTime {
    /// Creates a date from units of 100 ns since 1601-01-01 UTC.
    pub fn from_file_time(file_time: u64) -> DateTime {
        DateTime { file_time }
    }

    /// Creates a date from eight i16: year, month, day of week, day, hour, minute,
    /// second, millisecond. A date that does not exist becomes 0.
    pub(crate) fn from_system_time(parts: [i16; 8]) -> DateTime {
        let [year, month, day_of_week, day, hour, minute, second, millisecond] = parts;
        let date =
            DateTimeParts { year, month, day_of_week, day, hour, minute, second, millisecond };
        let file_time =
            date.unix_nanos().map_or(0, |nanos| (nanos / 100).saturating_add(UNIX_EPOCH));
        DateTime { file_time: u64::try_from(file_time).unwrap_or(0) }
    }

    /// Returns the nanoseconds since 1970-01-01 UTC.
    pub fn unix_nanos(self) -> i128 {
        i128::from(self.file_time).saturating_sub(UNIX_EPOCH).saturating_mul(100)
    }

    /// Converts the date to [`SystemTime`]; `None` if its range does not contain the date.
    pub(super) fn to_system_time(self) -> Option<SystemTime> {
        system_time(self.unix_nanos())
    }
}

impl fmt::Display for DateTime {
    /// Writes the date as `2024-02-29T12:34:56.0080000Z`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_utc(f, self.unix_nanos(), 7, 'T')?;
        f.write_str("Z")
    }
}

/// .NET decimal, which is an integer of 96 bits, and the number of its digits after the decimal
/// point.
///
/// | offset | bytes | |
/// |---|---|---|
/// | 0 | 4 | bits 16–23 digits after the point, bit 31 sign |
/// | 4 | 4 | high digits |
/// | 8 | 8 | low digits |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Decimal {
    high: u32,
    low: u64,
    scale: u8,
    is_negative: bool,
}

impl Decimal {
    /// Creates a decimal number from the four words of its 16 bytes.
    pub(crate) fn from_words([flags, high, low, middle]: [u32; 4]) -> Decimal {
        let [sign, scale, ..] = flags.to_be_bytes();
        let low = u64::from(middle) << 32 | u64::from(low);
        Decimal { high, low, scale, is_negative: sign & 0x80 != 0 }
    }

    /// Returns the integer, without the decimal point.
    fn digits(self) -> u128 {
        u128::from(self.high) << 64 | u128::from(self.low)
    }
}

/// Converts the decimal number to the nearest double.
impl From<Decimal> for f64 {
    fn from(decimal: Decimal) -> f64 {
        let value = decimal.digits() as f64 / 10f64.powi(i32::from(decimal.scale));
        if decimal.is_negative { -value } else { value }
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scale = usize::from(self.scale);
        let digits = format!("{:0width$}", self.digits(), width = scale.saturating_add(1));
        let (whole, fraction) = digits.split_at(digits.len().saturating_sub(scale));
        if self.is_negative {
            f.write_str("-")?;
        }
        f.write_str(whole)?;
        if !fraction.is_empty() {
            write!(f, ".{fraction}")?;
        }
        Ok(())
    }
}
