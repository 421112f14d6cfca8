//! What watching costs: processor time of the process before and now, and our own.

use serde::Serialize;
use std::time::Instant;

/// Shares of one processor, in percent; `None` where the system does not tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Cost {
    /// The process before the session began, and since the last look.
    pub(crate) process_before_percent: Option<f64>,
    pub(crate) process_percent: Option<f64>,
    /// This command since it began.
    pub(crate) own_percent: Option<f64>,
}

impl Cost {
    /// For people.
    pub(crate) fn text(&self) -> String {
        let percent = |value: Option<f64>| {
            value
                .map_or("?".to_owned(), |value| format!("{value:.digits$}", digits = digits(value)))
        };
        format!(
            "watching: process {} % of a core, {} % before; nettrace {} %",
            percent(self.process_percent),
            percent(self.process_before_percent),
            percent(self.own_percent)
        )
    }
}

/// With one decimal place for small numbers.
fn digits(value: f64) -> usize {
    usize::from(value < 100.0)
}

/// Measures it.
#[derive(Debug)]
pub(crate) struct Meter {
    pid: Option<u64>,
    cost: Cost,
    last: Option<(Instant, u64)>,
    own_start: Option<(Instant, u64)>,
}

impl Meter {
    /// Begins, before the session does.
    pub(crate) fn new(pid: Option<u64>) -> Meter {
        let now = Instant::now();
        Meter {
            pid,
            cost: Cost::default(),
            last: pid.and_then(cpu_ns).map(|ns| (now, ns)),
            own_start: cpu_ns(u64::from(std::process::id())).map(|ns| (now, ns)),
        }
    }

    /// The session is about to begin; what was measured until now is the baseline.
    pub(crate) fn begin(&mut self) {
        self.cost.process_before_percent = self.since_last();
    }

    pub(crate) fn look(&mut self) -> Cost {
        if let Some(percent) = self.since_last() {
            self.cost.process_percent = Some(percent);
        }
        let own = cpu_ns(u64::from(std::process::id()));
        self.cost.own_percent = self.own_start.zip(own).map(|(start, now)| share(start, now));
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

/// Processor time of a process.
#[cfg(target_os = "linux")]
fn cpu_ns(pid: u64) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    super::os_threads::cpu_of_stat(&text)
}

#[cfg(not(target_os = "linux"))]
fn cpu_ns(_: u64) -> Option<u64> {
    None
}
