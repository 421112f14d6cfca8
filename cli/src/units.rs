//! Formats numbers for people, in the same way in every locale.

pub(crate) use nettrace_export::units::{
    bytes, bytes_and_unit, count, counted, decimal, duration_in_ms, milliseconds, short_duration,
    signed_duration as duration,
};
use nettrace_parser::{Clock, utc_text};

/// Returns an instant as text: in UTC, or since the session's start; `?` if the trace lacks the
/// start or the frequency of its clock.
pub(crate) fn instant(clock: Clock, ticks: u64, is_utc: bool) -> String {
    let text = match is_utc {
        true => clock.unix_nanos(ticks).map(|nanos| utc_text(nanos, 6)),
        false => clock.nanos_since_start(ticks).map(milliseconds),
    };
    text.unwrap_or_else(|| "?".to_owned())
}

/// Returns a share of a whole as text, such as `45.2 %`.
pub(crate) fn share(part: u64, whole: u64) -> String {
    let percent = if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 };
    format!("{percent:.1} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_percent() {
        assert_eq!(share(1, 3), "33.3 %");
        assert_eq!(share(0, 0), "0.0 %");
    }

    #[test]
    fn durations_are_rounded_and_instants_cut() {
        assert_eq!([-7, 12_345_678].map(duration), ["-7 ns", "12.346 ms"]);
        assert_eq!(milliseconds(1_234_567_899), "1,234.567");
        assert_eq!(milliseconds(-1), "-0.000");
    }
}
