//! Waiting for a moment without being deaf to signals.

use super::signals::Signals;
use super::target::TICK;
use std::time::Instant;

/// Sleeps until a moment; false: a signal came before.
pub(crate) fn sleep_until(moment: Instant, signals: &Signals) -> bool {
    while signals.seen().is_none() {
        let left = moment.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        std::thread::sleep(left.min(TICK));
    }
    false
}
