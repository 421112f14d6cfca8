//! Decides how often processes are read, by what that costs.

use std::time::Duration;

/// Maximum processor time of all readings, in thousandths of a processor.
const MAX_COST: u64 = 5;
/// Minimum number of rounds by which the cost of an interval is judged.
const MIN_ROUNDS: u64 = 4;
/// Maximum interval between two rounds.
const MAX_INTERVAL: Duration = Duration::from_secs(10);
/// Part of [`MAX_COST`] below which a lengthened interval is halved again.
const RETURN_PART: u64 = 4;

/// Interval between two rounds.
#[derive(Debug)]
pub(super) struct Pace {
    asked: Duration,
    interval: Duration,
    rounds: u64,
    cost_ns: u64,
}

impl Pace {
    pub(super) fn new(asked: Duration) -> Pace {
        Pace { asked, interval: asked, rounds: 0, cost_ns: 0 }
    }

    pub(super) fn interval(&self) -> Duration {
        self.interval
    }

    /// Adds a round that took this processor time.
    pub(super) fn add(&mut self, cost_ns: u64) {
        self.rounds += 1;
        self.cost_ns = self.cost_ns.saturating_add(cost_ns);
        if self.rounds < MIN_ROUNDS {
            return;
        }
        let interval_ns = u64::try_from(self.interval.as_nanos()).unwrap_or(u64::MAX);
        let allowed = interval_ns.saturating_mul(self.rounds).saturating_mul(MAX_COST) / 1000;
        if self.cost_ns > allowed {
            self.interval = self.interval.saturating_mul(2).min(MAX_INTERVAL.max(self.asked));
        } else if self.interval > self.asked && self.cost_ns < allowed / RETURN_PART {
            self.interval = (self.interval / 2).max(self.asked);
        }
        (self.rounds, self.cost_ns) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(asked_ms: u64, cost_us: u64) -> u64 {
        let mut pace = Pace::new(Duration::from_millis(asked_ms));
        (0..100).for_each(|_| pace.add(cost_us * 1000));
        u64::try_from(pace.interval().as_millis()).unwrap()
    }

    #[test]
    fn the_interval_doubles_while_readings_take_more_than_half_a_percent() {
        assert_eq!(settled(50, 200), 50, "0.4 %");
        assert_eq!(settled(50, 300), 100, "0.6 %");
        assert_eq!(settled(50, 900), 200);
        assert_eq!(settled(50, 7000), 1600);
        assert_eq!(settled(50, 1_000_000), 10_000);
        assert_eq!(settled(60_000, 1_000_000), 60_000);
    }

    #[test]
    fn the_interval_returns_when_threads_have_ended() {
        let mut pace = Pace::new(Duration::from_millis(50));
        (0..40).for_each(|_| pace.add(7_000_000));
        (0..40).for_each(|_| pace.add(10_000));
        assert_eq!(pace.interval(), Duration::from_millis(50));
    }

    #[test]
    fn one_dear_round_such_as_the_first_changes_nothing() {
        let mut pace = Pace::new(Duration::from_millis(50));
        pace.add(900_000);
        (0..3).for_each(|_| pace.add(20_000));
        assert_eq!(pace.interval(), Duration::from_millis(50));
    }
}
