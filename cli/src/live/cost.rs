//! Measures what watching costs: the processor time of the process before and during sessions, of
//! sessions in the process, and of this command.

use super::os_threads::OsThreads;
use serde::Serialize;
use std::time::{Duration, Instant};

/// Minimum time for which the process is measured before the session: a shorter time says nothing
/// about its usual share of the processor.
const MIN_BASELINE: Duration = Duration::from_secs(2);
/// Maximum time in nanoseconds that an event with its stack takes on the thread that writes it
/// (docs/harmless.md).
const MAX_EVENT_NS: f64 = 3000.0;

/// Shares of one processor, in percent; `None` where the system does not tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Cost {
    /// Share of the process before the session began, if it was watched for some seconds.
    pub(crate) process_before_percent: Option<f64>,
    /// Share of the process since the last measurement.
    pub(crate) process_percent: Option<f64>,
    /// Events a second since the last measurement.
    pub(crate) events_per_s: Option<f64>,
    /// Estimated part of the process's processor time that events take: the time of the threads that
    /// sample and send, and [`MAX_EVENT_NS`] for each event.
    pub(crate) events_percent: Option<f64>,
    /// Share of this command since it began.
    pub(crate) own_percent: Option<f64>,
}

impl Cost {
    /// Returns the cost as a line of text.
    pub(crate) fn text(&self) -> String {
        let percent = |value: f64| format!("{value:.*} %", usize::from(value < 100.0));
        let mut parts = Vec::new();
        if let Some(rate) = self.events_per_s {
            let share = self.events_percent;
            let share = share.map(|share| format!(", ~{} of its time", percent(share)));
            let rate = crate::units::count(rate.max(0.0) as u64);
            parts.push(format!("{rate} events/s{}", share.unwrap_or_default()));
        }
        let before = self.process_before_percent;
        let before = before.map(|before| format!(", {} before", percent(before)));
        let process = self.process_percent.map_or("?".to_owned(), percent);
        parts.push(format!("process {process} of a core{}", before.unwrap_or_default()));
        parts.push(format!("nettrace {}", self.own_percent.map_or("?".to_owned(), percent)));
        format!("watching: {}", parts.join("; "))
    }
}

/// Measures the [`Cost`] of watching.
#[derive(Debug)]
pub(crate) struct Meter {
    pid: Option<u64>,
    cost: Cost,
    last: Option<(Instant, u64)>,
    own_start: Option<(Instant, u64)>,
    /// Time of the last measurement, and until then the number of events and the processor time in
    /// nanoseconds of the threads of sessions.
    last_events: Option<(Instant, u64, u64)>,
}

impl Meter {
    /// Begins to measure, before the session begins.
    pub(crate) fn new(pid: Option<u64>) -> Meter {
        let now = Instant::now();
        Meter {
            pid,
            cost: Cost::default(),
            last: pid.and_then(cpu_ns).map(|ns| (now, ns)),
            own_start: cpu_ns(u64::from(std::process::id())).map(|ns| (now, ns)),
            last_events: None,
        }
    }

    /// Takes the measurement until now as the baseline. Call it when the session is about to begin.
    pub(crate) fn begin(&mut self) {
        let is_enough = self.last.is_some_and(|(since, _)| since.elapsed() >= MIN_BASELINE);
        self.cost.process_before_percent = self.since_last().filter(|_| is_enough);
    }

    /// Measures the share of the process since the last measurement, and the share of this command
    /// since it began.
    pub(crate) fn look(&mut self) -> Cost {
        if let Some(percent) = self.since_last() {
            self.cost.process_percent = Some(percent);
        }
        let own = cpu_ns(u64::from(std::process::id()));
        self.cost.own_percent = self.own_start.zip(own).map(|(start, now)| share(start, now));
        self.cost
    }

    /// Measures what [`Meter::look`] does, and also the cost of events. `events` is the number of
    /// events so far.
    pub(crate) fn look_at_events(&mut self, events: u64, threads: Option<&OsThreads>) -> Cost {
        let sessions = threads.map_or(0, |threads| {
            let of_sessions = threads.values().filter(|thread| thread.is_of_sessions());
            of_sessions.map(|thread| thread.cpu_ns).sum()
        });
        let now = (Instant::now(), events, sessions);
        let cost = self.look();
        if let Some((since, events_before, sessions_before)) = self.last_events.replace(now) {
            let seconds = since.elapsed().as_secs_f64().max(f64::MIN_POSITIVE);
            let rate = events.saturating_sub(events_before) as f64 / seconds;
            self.cost.events_per_s = Some(rate);
            let sent_ns = sessions.saturating_sub(sessions_before) as f64 / seconds;
            // Percent of one processor, from nanoseconds a second.
            let all = (sent_ns + rate * MAX_EVENT_NS) / 1e7;
            let process = cost.process_percent.filter(|percent| *percent > 0.0);
            let process = process.filter(|_| threads.is_some());
            self.cost.events_percent = process.map(|process| (all * 100.0 / process).min(100.0));
        }
        self.cost
    }

    fn since_last(&mut self) -> Option<f64> {
        let now = cpu_ns(self.pid?)?;
        let last = self.last.replace((Instant::now(), now))?;
        Some(share(last, now))
    }
}

fn share((since, before): (Instant, u64), now: u64) -> f64 {
    let passed = since.elapsed().as_nanos().max(1) as f64;
    now.saturating_sub(before) as f64 * 100.0 / passed
}

/// Returns the processor time of a process in nanoseconds.
#[cfg(target_os = "linux")]
pub(crate) fn cpu_ns(pid: u64) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    super::os_threads::cpu_of_stat(&text)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn cpu_ns(_: u64) -> Option<u64> {
    None
}
