//! Durations for which a condition must be true, and how often it must be true: `for 10s`, `5 times
//! in 1min`.

use crate::time_range::parse_nanos;
use std::collections::VecDeque;
use std::fmt;

/// The interval divided by this number is the time by which a counter's value may come early.
const SLACK_DIVISOR: i64 = 2;
/// Number of publication intervals without a value after which the time of `for 10s` starts again.
const MAX_GAP_INTERVALS: i64 = 3;
/// Maximum number in `5 times in 1min`.
const MAX_TIMES: u32 = 100_000;

/// The suffix of a condition, which says for how long or how often it must be true.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hold {
    /// Duration for which all values of the counters must satisfy the condition, in nanoseconds.
    For(i64),
    /// Number of events that must satisfy the condition, and the duration within which they must
    /// occur, in nanoseconds.
    Times(u32, i64),
}

impl fmt::Display for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = |nanos: i64| {
            [
                ("h", 3_600_000_000_000),
                ("min", 60_000_000_000),
                ("s", 1_000_000_000),
                ("ms", 1_000_000),
            ]
            .into_iter()
            .find(|(_, unit)| nanos.checked_rem(*unit) == Some(0))
            .and_then(|(name, unit)| Some(format!("{}{name}", nanos.checked_div(unit)?)))
            .unwrap_or_else(|| format!("{nanos}ns"))
        };
        match self {
            Hold::For(nanos) => write!(f, " for {}", time(*nanos)),
            Hold::Times(times, nanos) => write!(f, " {times} times in {}", time(*nanos)),
        }
    }
}

/// Splits off `for TIME` or `N times in TIME` at the end of a text.
pub(super) fn split(text: &str) -> Option<(&str, Hold)> {
    let (before, time) = text.trim_end().rsplit_once(char::is_whitespace)?;
    let nanos = parse_nanos(time).ok().filter(|nanos| *nanos > 0)?;
    let mut rest = before.trim_end();
    let mut word = || {
        let (before, last) = rest.rsplit_once(char::is_whitespace)?;
        rest = before.trim_end();
        Some(last)
    };
    let last = word()?;
    if last.eq_ignore_ascii_case("for") {
        return Some((rest, Hold::For(nanos)));
    }
    if !last.eq_ignore_ascii_case("in") || !word()?.eq_ignore_ascii_case("times") {
        return None;
    }
    let times = word()?.parse().ok().filter(|times| (1..=MAX_TIMES).contains(times))?;
    Some((rest, Hold::Times(times, nanos)))
}

/// Tracks for how long a condition has been true, or how often.
#[derive(Debug, Default)]
pub(super) struct Held {
    since: Option<i64>,
    last: Option<i64>,
    /// Times of the last events that satisfied the condition; no more are kept than the condition
    /// requires.
    times: VecDeque<i64>,
}

impl Held {
    /// Records whether new values of counters satisfy the condition. Returns whether they have done
    /// so for long enough, and starts again if they have.
    pub(super) fn take_counters(
        &mut self,
        hold: Option<Hold>,
        holds: bool,
        now: i64,
        interval: i64,
    ) -> bool {
        let gap = interval.saturating_mul(MAX_GAP_INTERVALS);
        let has_gap =
            self.last.is_some_and(|last| now.saturating_sub(last) > gap.max(1_000_000_000));
        self.last = Some(now);
        if !holds {
            self.since = None;
            return false;
        }
        let Some(Hold::For(wanted)) = hold else { return true };
        if has_gap {
            self.since = None;
        }
        // A value represents the interval before it.
        let since = *self.since.get_or_insert(now.saturating_sub(interval));
        let slack = interval / SLACK_DIVISOR;
        let is_long = now.saturating_sub(since).saturating_add(slack) >= wanted;
        if is_long {
            self.since = None;
        }
        is_long
    }

    /// Records an event that satisfies the condition. Returns whether that happened often enough,
    /// and starts again if it did.
    pub(super) fn take_event(&mut self, hold: Option<Hold>, now: i64) -> bool {
        let Some(Hold::Times(wanted, within)) = hold else { return true };
        while self.times.front().is_some_and(|time| now.saturating_sub(*time) >= within) {
            self.times.pop_front();
        }
        self.times.push_back(now);
        let is_enough = self.times.len() >= wanted as usize;
        if is_enough {
            self.times.clear();
        }
        is_enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: i64 = 1_000_000_000;

    #[test]
    fn the_end_of_a_condition_says_how_long_or_how_often() {
        assert_eq!(split("a/b > 1 for 10s"), Some(("a/b > 1", Hold::For(10 * S))));
        assert_eq!(
            split("A/B where c=1  5 TIMES IN 2min "),
            Some(("A/B where c=1", Hold::Times(5, 120 * S)))
        );
        for text in [
            "a/b > 1",
            "a/b > for",
            "for 10s",
            "x 0 times in 1s",
            "x times in 1s",
            "x for 0s",
            "x for y",
        ] {
            assert_eq!(split(text).filter(|(rest, _)| !rest.is_empty()), None, "{text}");
        }
        assert_eq!(
            format!("{}{}", Hold::For(90 * S), Hold::Times(2, 5_000_000)),
            " for 90s 2 times in 5ms"
        );
    }

    #[test]
    fn a_condition_holds_for_a_time_if_every_value_in_it_does() {
        let fired = |values: &[(i64, bool)]| -> Vec<i64> {
            let mut held = Held::default();
            let hold = Some(Hold::For(3 * S));
            values
                .iter()
                .filter(|(at, holds)| held.take_counters(hold, *holds, at * S, S))
                .map(|(at, _)| *at)
                .collect()
        };
        let all = |range: std::ops::Range<i64>| range.map(|at| (at, true)).collect::<Vec<_>>();
        assert_eq!(fired(&all(1..8)), [3, 6]);
        assert_eq!(
            fired(&[(1, true), (2, true), (3, false), (4, true), (5, true), (6, true)]),
            [6]
        );
        // Nothing is known about the time without values.
        assert_eq!(fired(&[(1, true), (2, true), (9, true), (10, true)]), [0_i64; 0]);
        // Values may come a little early.
        let mut held = Held::default();
        let early = [1000, 1990, 2980]
            .map(|ms| held.take_counters(Some(Hold::For(3 * S)), true, ms * 1_000_000, S));
        assert_eq!(early, [false, false, true]);
    }

    #[test]
    fn events_are_counted_within_a_time() {
        let mut held = Held::default();
        let hold = Some(Hold::Times(3, 2 * S));
        let fired = [0, 1, 2, 3, 3, 3].map(|at| held.take_event(hold, at * S));
        assert_eq!(fired, [false, false, false, false, true, false]);
    }
}
