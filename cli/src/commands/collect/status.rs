//! Status line of recordings.

use crate::live::driver::Received;
use crate::status_line::StatusLine;
use crate::units;
use std::time::{Duration, Instant};

/// Minimum time between two updates of the rate, over which events are counted.
const MIN_RATE_WINDOW: Duration = Duration::from_secs(1);

/// Values that the line shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RecordingState {
    pub(crate) received: Received,
    pub(crate) sessions: usize,
    pub(crate) is_stopping: bool,
    /// Whether the next Ctrl-C exits at once.
    pub(crate) next_exits_now: bool,
}

/// Status line of all recordings of a command.
#[derive(Debug)]
pub(crate) struct Status {
    line: StatusLine,
    start: Instant,
    window: (Instant, u64),
    rate: u64,
    buffer_megabytes: u32,
}

impl Status {
    pub(crate) fn new(is_wanted: bool, buffer_megabytes: u32) -> Status {
        let now = Instant::now();
        let line = StatusLine::new(is_wanted);
        Status { line, start: now, window: (now, 0), rate: 0, buffer_megabytes }
    }

    /// Shows a state, with the time since the start and the rate of events.
    pub(crate) fn show(&mut self, state: RecordingState) {
        let ((since, events), now) = (self.window, state.received.events);
        let passed = since.elapsed();
        if passed >= MIN_RATE_WINDOW {
            // A rate that people read needs no fractions.
            self.rate = (now.saturating_sub(events) as f64 / passed.as_secs_f64()) as u64;
            self.window = (Instant::now(), now);
        }
        self.line.show(|| text(self.start.elapsed(), state, self.rate, self.buffer_megabytes));
    }

    /// Removes the line before a message is printed.
    pub(crate) fn clear(&mut self) {
        self.line.clear();
    }
}

fn text(elapsed: Duration, state: RecordingState, rate: u64, buffer_megabytes: u32) -> String {
    let seconds = elapsed.as_secs();
    let clock = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    let what = if state.is_stopping { "stopping " } else { "recording" };
    let several =
        if state.sessions > 1 { format!("  {} sessions", state.sessions) } else { String::new() };
    let mut text = format!(
        "{what} {clock}{several}  {}  {}/s  {} lost",
        units::bytes(state.received.bytes),
        units::counted(rate, "event"),
        units::count(state.received.lost)
    );
    if state.received.lost > 0 && !state.is_stopping {
        text.push_str(&format!(" ({})", advice(buffer_megabytes)));
    } else if state.is_stopping && state.next_exits_now {
        text.push_str("  (Ctrl-C exits at once)");
    }
    text
}

/// Returns advice against lost events.
pub(crate) fn advice(buffer_megabytes: u32) -> String {
    format!("--buffersize {} or fewer events would help", buffer_megabytes.saturating_mul(4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_shows_time_size_rate_and_losses() {
        let state = RecordingState {
            received: Received { bytes: 3 << 20, events: 100, lost: 0 },
            sessions: 1,
            is_stopping: false,
            next_exits_now: false,
        };
        let after = Duration::from_secs(3725);
        assert_eq!(
            text(after, state, 1234, 256),
            "recording 01:02:05  3.0 MiB  1,234 events/s  0 lost"
        );
        let received = Received { lost: 7, ..state.received };
        let lossy = RecordingState { received, sessions: 2, ..state };
        assert_eq!(
            text(after, lossy, 1, 4),
            "recording 01:02:05  2 sessions  3.0 MiB  1 event/s  7 lost (--buffersize 16 or fewer events would help)"
        );
        // `next_exits_now` is false right after the first Ctrl-C.
        let stopping = RecordingState { is_stopping: true, ..state };
        assert!(text(after, stopping, 0, 4).ends_with("0 lost"));
        let stopping = RecordingState { next_exits_now: true, ..stopping };
        assert!(text(after, stopping, 0, 4).ends_with("0 lost  (Ctrl-C exits at once)"));
    }
}
