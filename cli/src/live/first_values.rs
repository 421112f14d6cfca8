//! Delays the stop of a session with metrics until their first values have come.
//!
//! On .NET 8 to 10, a stop while a process collects values for the first time can block it for
//! ever: the runtime holds the lock of its event sources and waits for the thread that collects,
//! which needs that lock the first time (docs/harmless.md). EventCounters that begin at that time
//! can block it, too.
//!
//! The first values take a certain processor time, which a process with 3 % of a processor gets in
//! half a minute. So the limit is processor time of the process. The clock decides only for a
//! process that uses none, because it is idle, stopped or blocked.

use super::cost;
use super::counters::{METRICS, TIME_SERIES_KEYWORD};
use super::end_rule::SIGNAL_CHECK;
use nettrace_ipc::SessionConfig;
use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Id of `CollectionStop` of the metrics' provider: values have been collected.
const COLLECTED: u32 = 3;

/// State of the first values of a process, for all of its sessions that began together.
#[derive(Debug, Default)]
pub(crate) struct FirstValues {
    pid: Option<u64>,
    /// Maximum processor time for the first values:
    /// [`Delays::first_values`](crate::delays::Delays::first_values).
    limit: Duration,
    /// Whether the sessions want values of metrics, not only the list of instruments.
    are_wanted: bool,
    /// Whether metrics are on, as far as is known.
    are_on: AtomicBool,
    have_come: AtomicBool,
    /// Whether the wait for the first values took too long.
    are_given_up: AtomicBool,
}

impl FirstValues {
    /// Creates the state for sessions with this configuration.
    pub(crate) fn new(pid: Option<u64>, config: &SessionConfig, limit: Duration) -> FirstValues {
        let are_wanted = config.providers().iter().any(|provider| {
            provider.name().eq_ignore_ascii_case(METRICS)
                && provider.wire_keywords() & TIME_SERIES_KEYWORD != 0
        });
        FirstValues { pid, limit, are_wanted, ..FirstValues::default() }
    }

    /// Notes that the process is about to turn metrics on, before any event says so: a process with
    /// little processor time sends late.
    pub(crate) fn expect(&self) {
        self.are_on.fetch_or(self.are_wanted, Ordering::Relaxed);
    }

    /// Learns from an event of the sessions whether metrics are on and first values have come.
    pub(crate) fn see(&self, event: &Event<'_>) {
        if event.known_provider() == KnownProvider::Metrics {
            self.are_on.store(true, Ordering::Relaxed);
            self.have_come.fetch_or(event.id() == COLLECTED, Ordering::Relaxed);
        }
    }

    /// Returns whether EventCounters may begin.
    pub(crate) fn let_counters_begin(&self) -> bool {
        let known = if self.are_wanted { &self.have_come } else { &self.are_on };
        known.load(Ordering::Relaxed)
    }

    /// Returns whether a stop has to wait for first values.
    pub(crate) fn are_awaited(&self) -> bool {
        let is = |known: &AtomicBool| known.load(Ordering::Relaxed);
        self.are_wanted && is(&self.are_on) && !is(&self.have_come) && !is(&self.are_given_up)
    }

    /// Waits until the sessions may be stopped. `is_over` says that they have ended, `hurries` that
    /// only the clock counts.
    pub(crate) fn wait(&self, is_over: impl Fn() -> bool, hurries: impl Fn() -> bool) {
        let cpu = || self.pid.and_then(cost::cpu_ns).map(Duration::from_nanos);
        let (begun, mut work) = (Instant::now(), Work::new(self.limit, cpu()));
        while self.are_awaited() && !is_over() {
            let cpu = cpu().filter(|_| !hurries());
            if work.goes_on(begun.elapsed(), cpu) {
                std::thread::sleep(SIGNAL_CHECK);
            } else {
                self.are_given_up.store(true, Ordering::Relaxed);
            }
        }
    }
}

/// Progress of a process that collects its first values.
#[derive(Debug)]
struct Work {
    limit: Duration,
    cpu_at_start: Option<Duration>,
    cpu: Option<Duration>,
    /// Time from the start until the processor time last grew.
    grown_at: Duration,
}

impl Work {
    fn new(limit: Duration, cpu: Option<Duration>) -> Work {
        Work { limit, cpu_at_start: cpu, cpu, grown_at: Duration::ZERO }
    }

    /// Returns whether to wait on. `passed` is the time since the start, `cpu` the processor time
    /// of the process, if that is known.
    fn goes_on(&mut self, passed: Duration, cpu: Option<Duration>) -> bool {
        if cpu > self.cpu {
            (self.cpu, self.grown_at) = (cpu, passed);
        }
        if passed < self.limit {
            return true;
        }
        let used = cpu.zip(self.cpu_at_start).map(|(now, start)| now.saturating_sub(start));
        let is_busy = passed.saturating_sub(self.grown_at) < self.limit;
        is_busy && used.is_some_and(|used| used < self.limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    /// Returns when a wait ends, in milliseconds, for a process whose processor time is `cpu`.
    fn ends_at(cpu: impl Fn(u64) -> Option<Duration>) -> u64 {
        let mut work = Work::new(ms(1500), cpu(0));
        (0..).step_by(50).find(|at| !work.goes_on(ms(*at), cpu(*at))).unwrap()
    }

    #[test]
    fn a_process_is_waited_for_as_long_as_it_has_not_had_the_processor_time_that_values_take() {
        // The process has a whole processor, 3 % of a processor in ticks of 10 ms, or 16
        // processors.
        assert_eq!(ends_at(|at| Some(ms(at))), 1500);
        assert_eq!(ends_at(|at| Some(ms(at * 3 / 1000 * 10))), 50_000);
        assert_eq!(ends_at(|at| Some(ms(at * 16))), 1500);
    }

    #[test]
    fn a_process_that_uses_no_processor_is_waited_for_by_the_clock() {
        assert_eq!(ends_at(|_| Some(ms(700))), 1500);
        assert_eq!(ends_at(|_| None), 1500);
        // The process worked for 4 s, and was then stopped or blocked.
        assert_eq!(ends_at(|at| Some(ms(at.min(4000) / 10))), 5500);
        // The process worked for 4 s, and has ended.
        assert_eq!(ends_at(|at| (at < 4000).then(|| ms(at / 10))), 4000);
    }

    #[test]
    fn counters_begin_after_values_or_where_none_are_wanted_after_the_first_event() {
        let values = FirstValues { are_wanted: true, ..FirstValues::default() };
        values.expect();
        assert!(values.are_awaited() && !values.let_counters_begin());
        values.have_come.store(true, Ordering::Relaxed);
        assert!(!values.are_awaited() && values.let_counters_begin());
        let others = FirstValues::default();
        others.expect();
        assert!(!others.are_awaited() && !others.let_counters_begin());
        others.are_on.store(true, Ordering::Relaxed);
        // No values come, so no stop waits for them.
        assert!(others.let_counters_begin() && !others.are_awaited());
    }
}
