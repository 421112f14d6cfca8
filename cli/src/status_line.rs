//! One line on stderr that is rewritten in place, if stderr is a terminal.

use crate::style::takes_sequences;
use crate::unblocked::Unblocked;
use std::io::Write;
use std::time::{Duration, Instant};

const REWRITE_INTERVAL: Duration = Duration::from_millis(100);

/// Shows the progress of work. Does nothing if no line is wanted.
#[derive(Debug)]
pub(crate) struct StatusLine {
    /// When the line may be rewritten next; `None` if no line is wanted.
    next: Option<Instant>,
    is_shown: bool,
    stderr: Unblocked,
}

impl StatusLine {
    /// Creates a line that is not shown before `delay` has passed.
    pub(crate) fn after(delay: Duration, is_wanted: bool) -> StatusLine {
        let next = (is_wanted && takes_sequences()).then(|| Instant::now() + delay);
        // Standard error may have no reader, and must not block a session.
        StatusLine { next, is_shown: false, stderr: Unblocked::default() }
    }

    pub(crate) fn new(is_wanted: bool) -> StatusLine {
        StatusLine::after(Duration::ZERO, is_wanted)
    }

    /// Rewrites the line, at most once every [`REWRITE_INTERVAL`].
    pub(crate) fn show(&mut self, text: impl FnOnce() -> String) {
        let Some(next) = self.next else { return };
        let now = Instant::now();
        if now < next {
            return;
        }
        self.next = Some(now + REWRITE_INTERVAL);
        self.is_shown = true;
        // A line that cannot be shown is no reason to stop.
        let _ = self.stderr.write_all(format!("\r{}\x1b[K", text()).as_bytes());
    }

    /// Removes the line for a message.
    pub(crate) fn clear(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            let _ = self.stderr.write_all(b"\r\x1b[K");
        }
    }

    /// Removes the line for good.
    pub(crate) fn end(&mut self) {
        self.next = None;
        self.clear();
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        self.clear();
    }
}
