//! Converts ticks of the event clock to nanoseconds and UTC (FORMAT.md 10).

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const NANOS_PER_SECOND: i128 = 1_000_000_000;

/// Converts timestamps of a stream. Nanoseconds since its start are exact. UTC is as precise
/// as the start time, which is stored in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Clock {
    /// Ticks of the event clock at the session's start.
    sync_ticks: u64,
    /// Ticks per second; 0 if the stream's value is not usable.
    frequency: i64,
    /// Nanoseconds per tick if that is a whole number, such as 100 on Windows; else 0.
    tick_nanos: i64,
    sync_unix_nanos: Option<i128>,
}

impl Clock {
    /// Clock of an unknown stream, which converts no timestamp.
    pub(crate) const UNKNOWN: Clock =
        Clock { sync_ticks: 0, frequency: 0, tick_nanos: 0, sync_unix_nanos: None };

    /// Creates a clock. `sync_ticks` is the tick count at `start`; `tick_frequency` is in ticks
    /// per second.
    pub(crate) fn new(start: &DateTimeParts, sync_ticks: u64, tick_frequency: i64) -> Clock {
        let frequency = tick_frequency.max(0);
        let tick_nanos = match 1_000_000_000i64.checked_rem(frequency) {
            Some(0) => 1_000_000_000i64.checked_div(frequency).unwrap_or(0),
            _ => 0,
        };
        Clock { sync_ticks, frequency, tick_nanos, sync_unix_nanos: start.unix_nanos() }
    }

    /// Returns the nanoseconds from the session's start to `ticks`, rounded down;
    /// negative before the start. `None` if the stream's tick frequency is not positive.
    ///
    /// A result that does not fit 64 bits, which only hostile values produce, is clamped.
    #[inline]
    pub fn nanos_since_start(&self, ticks: u64) -> Option<i64> {
        // 128-bit arithmetic and division are avoided for the clocks in use and all
        // plausible times: ticks are nanoseconds on Linux and macOS, 100 ns on Windows.
        let since = ticks.wrapping_sub(self.sync_ticks).cast_signed();
        let fits = (since < 0) == (ticks < self.sync_ticks);
        match since.checked_mul(self.tick_nanos) {
            Some(nanos) if fits && self.tick_nanos != 0 => Some(nanos),
            _ => self.scaled(ticks).map(clamped),
        }
    }

    #[expect(clippy::arithmetic_side_effects, reason = "64 bits times 10^9 fits 128 bits")]
    fn scaled(&self, ticks: u64) -> Option<i128> {
        if self.frequency == 0 {
            return None;
        }
        let since = i128::from(ticks) - i128::from(self.sync_ticks);
        Some((since * NANOS_PER_SECOND).div_euclid(i128::from(self.frequency)))
    }

    /// Returns the first ticks that [`Clock::nanos_since_start`] converts to `nanos` or more. `None`
    /// if the stream's tick frequency is not positive.
    ///
    /// A result that does not fit 64 bits is clamped.
    #[expect(clippy::arithmetic_side_effects, reason = "64 bits times 64 bits fits 128 bits")]
    pub fn first_ticks_at(&self, nanos: i64) -> Option<u64> {
        if self.frequency == 0 {
            return None;
        }
        let scaled = i128::from(nanos) * i128::from(self.frequency);
        let ticks = i128::from(self.sync_ticks) - (-scaled).div_euclid(NANOS_PER_SECOND);
        Some(u64::try_from(ticks.max(0)).unwrap_or(u64::MAX))
    }

    /// Converts ticks to UTC. Returns nanoseconds since 1970-01-01, in steps of 100 ns. `None` if
    /// the start date or the frequency is unusable, and for the ticks `i64::MAX` and `u64::MAX`,
    /// which stand for an unknown end.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "64 bits times 10^9 fits 128 bits, with a date added"
    )]
    pub fn unix_nanos(&self, ticks: u64) -> Option<i128> {
        if ticks == u64::MAX || ticks == i64::MAX.cast_unsigned() {
            return None;
        }
        let nanos = self.sync_unix_nanos? + self.scaled(ticks)?;
        Some(nanos.div_euclid(100) * 100)
    }
}

#[inline]
fn clamped(nanos: i128) -> i64 {
    i64::try_from(nanos).unwrap_or(if nanos < 0 { i64::MIN } else { i64::MAX })
}

/// Date and time in UTC as streams store it: eight i16 fields ([FORMAT.md
/// 2](crate::format_guide#2), `systime`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct DateTimeParts {
    /// Year, such as 2026.
    pub year: i16,
    /// Month, 1 to 12.
    pub month: i16,
    /// Day of the week, 0 for Sunday. It is not verified.
    pub day_of_week: i16,
    /// Day of the month, from 1.
    pub day: i16,
    /// Hour, 0 to 23.
    pub hour: i16,
    /// Minute, 0 to 59.
    pub minute: i16,
    /// Second, 0 to 59.
    pub second: i16,
    /// Millisecond, 0 to 999.
    pub millisecond: i16,
}

impl DateTimeParts {
    /// Returns the nanoseconds since 1970-01-01 UTC, or `None` if the date does not
    /// exist.
    #[expect(clippy::arithmetic_side_effects, reason = "fields of 16 bits, each within its bounds")]
    pub fn unix_nanos(&self) -> Option<i128> {
        let days = days_since_1970(self.year, self.month, self.day)?;
        let within = |value: i16, end: i16| (0..end).contains(&value).then_some(i128::from(value));
        let seconds = within(self.hour, 24)? * 3600
            + within(self.minute, 60)? * 60
            + within(self.second, 60)?;
        let nanos = within(self.millisecond, 1000)? * 1_000_000;
        Some((i128::from(days) * 86_400 + seconds) * NANOS_PER_SECOND + nanos)
    }
}

/// Returns the days from 1970-01-01 to a Gregorian date. The year must be within 1601 to 9999,
/// the range of Windows' system time, whose type the format uses.
#[expect(clippy::arithmetic_side_effects, reason = "a year of four digits")]
fn days_since_1970(year: i16, month: i16, day: i16) -> Option<i32> {
    if !(1601..=9999).contains(&year) || !(1..=12).contains(&month) {
        return None;
    }
    let (year, month, day) = (i32::from(year), i32::from(month), i32::from(day));
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 31,
    };
    if !(1..=length).contains(&day) {
        return None;
    }
    // Years start in March, so that the leap day is the last day of its year.
    let (shifted_year, shifted_month) =
        if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days_before_year =
        shifted_year * 365 + shifted_year / 4 - shifted_year / 100 + shifted_year / 400;
    let days_before_month = (shifted_month * 153 + 2) / 5;
    Some(days_before_year + days_before_month + day - 1 - 719_468)
}

/// Converts an instant to [`SystemTime`]; `None` if its range does not contain the instant.
pub(crate) fn system_time(unix_nanos: i128) -> Option<SystemTime> {
    let distance = u64::try_from(unix_nanos.unsigned_abs()).ok().map(Duration::from_nanos)?;
    if unix_nanos < 0 { UNIX_EPOCH.checked_sub(distance) } else { UNIX_EPOCH.checked_add(distance) }
}

/// Returns a UTC instant for display, such as `2026-11-20 14:37:46.896`. `digits` is the
/// number of decimals of the seconds, at most 9.
///
/// ```
/// # use nettrace_parser::utc_text;
/// assert_eq!(utc_text(1_709_210_096_789_010_000, 6), "2024-02-29 12:34:56.789010");
/// ```
pub fn utc_text(unix_nanos: i128, digits: usize) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_utc(&mut text, unix_nanos, digits, ' ');
    text
}

/// Writes a UTC instant without allocating. `between` separates date and time.
pub(crate) fn write_utc(
    out: &mut impl fmt::Write,
    unix_nanos: i128,
    digits: usize,
    between: char,
) -> fmt::Result {
    let seconds = unix_nanos.div_euclid(NANOS_PER_SECOND);
    let fraction = unix_nanos.rem_euclid(NANOS_PER_SECOND);
    let (days, second_of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil_date(days);
    let (hour, minute, second) =
        (second_of_day / 3600, second_of_day / 60 % 60, second_of_day % 60);
    write!(out, "{year:04}-{month:02}-{day:02}{between}{hour:02}:{minute:02}:{second:02}")?;
    let digits = digits.min(9);
    if digits == 0 {
        return Ok(());
    }
    let unit = (digits..9).fold(1i128, |unit, _| unit.saturating_mul(10));
    write!(out, ".{:0digits$}", fraction.checked_div(unit).unwrap_or(0))
}

/// Returns year, month and day, given the number of days since 1970-01-01.
#[expect(clippy::arithmetic_side_effects, reason = "the days of 128 bits of nanoseconds")]
fn civil_date(days: i128) -> (i128, i128, i128) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i128::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_from_1601_to_9999_goes_there_and_back() {
        let mut expected = days_since_1970(1601, 1, 1).unwrap();
        for year in 1601..=9999 {
            for month in 1..=12 {
                for day in 1..=31 {
                    let Some(days) = days_since_1970(year, month, day) else { continue };
                    assert_eq!(days, expected, "{year}-{month}-{day}");
                    let date = civil_date(i128::from(days));
                    assert_eq!(date, (i128::from(year), i128::from(month), i128::from(day)));
                    expected += 1;
                }
            }
        }
        assert_eq!(days_since_1970(1970, 1, 1), Some(0));
        assert_eq!(days_since_1970(2023, 2, 29), None);
        assert_eq!(days_since_1970(1900, 2, 29), None);
    }
}
