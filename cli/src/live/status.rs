//! How a recording goes: one line on stderr, rewritten in place, if stderr is a terminal.

use crate::unblocked::Unblocked;
use crate::units;
use std::io::Write;
use std::time::{Duration, Instant};

const BETWEEN: Duration = Duration::from_millis(100);
/// Events per second are counted over this window.
const WINDOW: Duration = Duration::from_secs(1);

/// What the line says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct StatusLine {
    pub(crate) bytes: u64,
    pub(crate) events: u64,
    pub(crate) lost: u64,
    pub(crate) sessions: usize,
    /// The processes are being asked for the rest.
    pub(crate) is_stopping: bool,
    /// A Ctrl-C ends us at once.
    pub(crate) gives_up: bool,
}

/// Shows how recording goes. Does nothing if stderr is not a terminal.
#[derive(Debug)]
pub(crate) struct Status {
    is_wanted: bool,
    is_shown: bool,
    start: Instant,
    last: Option<Instant>,
    window: (Instant, u64),
    rate: u64,
    buffer_megabytes: u32,
    stderr: Unblocked,
}

impl Status {
    pub(crate) fn new(is_wanted: bool, buffer_megabytes: u32) -> Status {
        let now = Instant::now();
        Status {
            is_wanted,
            is_shown: false,
            start: now,
            last: None,
            window: (now, 0),
            rate: 0,
            buffer_megabytes,
            stderr: Unblocked::new(|| Box::new(std::io::stderr())),
        }
    }

    /// Shows how it goes now, if it is time to.
    pub(crate) fn show(&mut self, state: StatusLine) {
        if !self.is_wanted || self.last.is_some_and(|last| last.elapsed() < BETWEEN) {
            return;
        }
        self.last = Some(Instant::now());
        let (since, events) = self.window;
        if since.elapsed() >= WINDOW {
            let seconds = since.elapsed().as_secs_f64();
            // A rate for reading needs no fractions.
            self.rate = (state.events.saturating_sub(events) as f64 / seconds) as u64;
            self.window = (Instant::now(), state.events);
        }
        self.is_shown = true;
        let text = line(self.start.elapsed(), state, self.rate, self.buffer_megabytes);
        // A line that cannot be shown is no reason to stop.
        let _ = self.stderr.write_all(format!("\r{text}\x1b[K").as_bytes());
    }

    /// Takes the line away, for something to be said.
    pub(crate) fn clear(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            let _ = self.stderr.write_all(b"\r\x1b[K");
        }
    }
}

impl Drop for Status {
    fn drop(&mut self) {
        self.clear();
    }
}

fn line(elapsed: Duration, state: StatusLine, rate: u64, buffer_megabytes: u32) -> String {
    let seconds = elapsed.as_secs();
    let clock = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    let what = if state.is_stopping { "stopping " } else { "recording" };
    let several =
        if state.sessions > 1 { format!("  {} sessions", state.sessions) } else { String::new() };
    let mut text = format!(
        "{what} {clock}{several}  {}  {}/s  {} lost",
        units::bytes(state.bytes),
        units::counted(rate, "event"),
        units::count(state.lost)
    );
    if state.lost > 0 && !state.is_stopping {
        text.push_str(&format!(" ({})", advice(buffer_megabytes)));
    } else if state.is_stopping && state.gives_up {
        text.push_str("  (Ctrl-C gives up)");
    }
    text
}

/// What helps against lost events.
pub(crate) fn advice(buffer_megabytes: u32) -> String {
    format!("--buffersize {} or fewer events would help", buffer_megabytes.saturating_mul(4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_tells_time_size_rate_and_losses() {
        let state = StatusLine {
            bytes: 3 << 20,
            events: 100,
            lost: 0,
            sessions: 1,
            is_stopping: false,
            gives_up: false,
        };
        let after = Duration::from_secs(3725);
        assert_eq!(
            line(after, state, 1234, 256),
            "recording 01:02:05  3.0 MiB  1,234 events/s  0 lost"
        );
        let lossy = StatusLine { lost: 7, sessions: 2, ..state };
        assert_eq!(
            line(after, lossy, 1, 4),
            "recording 01:02:05  2 sessions  3.0 MiB  1 event/s  7 lost (--buffersize 16 or fewer events would help)"
        );
        // A second Ctrl-C right after the first is the same.
        let stopping = StatusLine { is_stopping: true, ..state };
        assert!(line(after, stopping, 0, 4).ends_with("0 lost"));
        let stopping = StatusLine { gives_up: true, ..stopping };
        assert!(line(after, stopping, 0, 4).ends_with("0 lost  (Ctrl-C gives up)"));
    }
}
