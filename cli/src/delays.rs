//! Delays that tests change, so that they depend on no clock.

use std::time::Duration;

/// Maximum time to wait after a signal for answers that are not saved. With the time to notice the
/// signal, and a last request, the command ends within 2 s.
pub(crate) const SIGNAL_PATIENCE: Duration = Duration::from_millis(1500);

/// Time without bytes after which a burst is over; there are about ten a second. Then events that
/// were held back for sorting by time are released.
pub(crate) const BURST_PAUSE: Duration = Duration::from_millis(50);

/// Delays after which the command does something by itself, and which a test would have to wait
/// for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Delays {
    /// Time within which several signals count as one request to stop.
    pub(crate) same_signal: Duration,
    /// Maximum time to wait after a signal for answers that are not saved.
    pub(crate) signal_patience: Duration,
    /// Maximum processor time of a process for the first values of its metrics. A process that uses
    /// no processor is waited for this long by the clock.
    pub(crate) first_values: Duration,
    /// Maximum time, when a second signal exits, to resume processes that wait at startup.
    pub(crate) last_resume: Duration,
    /// Time without a new collection after which the heap dump of a process is requested again.
    pub(crate) heap_dump: Duration,
    /// Time after which a reader of standard output counts as stalled, if it takes nothing while
    /// the queue is full.
    pub(crate) stdout_stall: Duration,
    /// Time without a value of its counters after which a rule is reported.
    pub(crate) silent_rule: Duration,
    /// Minimum time between two documents for programs that scrape.
    pub(crate) publication: Duration,
    /// Time without bytes after which a burst is over.
    pub(crate) burst_pause: Duration,
}

impl Delays {
    /// Reads the variable `NETTRACE_DELAYS`, which only tests of this crate set: `same-signal=0,…`,
    /// in milliseconds. Delays that the variable does not name keep their defaults.
    pub(crate) fn from_variable(variable: Option<&str>) -> Delays {
        let mut delays = Delays::default();
        for (name, milliseconds) in
            variable.unwrap_or_default().split(',').filter_map(|pair| pair.split_once('='))
        {
            let Ok(time) = milliseconds.parse().map(Duration::from_millis) else { continue };
            match name {
                "same-signal" => delays.same_signal = time,
                "signal-patience" => delays.signal_patience = time,
                "first-values" => delays.first_values = time,
                "last-resume" => delays.last_resume = time,
                "heap-dump" => delays.heap_dump = time,
                "stdout-stall" => delays.stdout_stall = time,
                "silent-rule" => delays.silent_rule = time,
                "publication" => delays.publication = time,
                "burst-pause" => delays.burst_pause = time,
                _ => {}
            }
        }
        delays
    }
}

impl Default for Delays {
    fn default() -> Delays {
        Delays {
            same_signal: Duration::from_millis(500),
            signal_patience: SIGNAL_PATIENCE,
            first_values: Duration::from_millis(1500),
            last_resume: Duration::from_secs(1),
            heap_dump: Duration::from_secs(10),
            stdout_stall: Duration::from_secs(1),
            silent_rule: Duration::from_secs(10),
            publication: Duration::from_millis(250),
            burst_pause: BURST_PAUSE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_changes_what_it_names() {
        assert_eq!(Delays::from_variable(None), Delays::default());
        let delays = Delays::from_variable(Some("same-signal=0,nonsense,other=1,silent-rule=x"));
        assert_eq!(delays, Delays { same_signal: Duration::ZERO, ..Delays::default() });
    }
}
