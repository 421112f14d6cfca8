//! Shows how far reading is, on stderr if that is a terminal and reading takes longer than a
//! second.

use crate::status_line::StatusLine;
use crate::units;
use std::cell::RefCell;
use std::time::{Duration, Instant};

/// Minimum duration of work whose progress is shown.
const SHOWN_AFTER: Duration = Duration::from_secs(1);

/// Shows how far reading is.
#[derive(Debug)]
pub(crate) struct Progress {
    begun: Instant,
    line: RefCell<StatusLine>,
}

impl Progress {
    pub(crate) fn new(is_wanted: bool) -> Progress {
        let line = RefCell::new(StatusLine::after(SHOWN_AFTER, is_wanted));
        Progress { begun: Instant::now(), line }
    }

    /// Removes the line for good: a message follows, or the work has ended.
    pub(crate) fn end(&self) {
        self.line.borrow_mut().end();
    }
}

impl nettrace_parser::Progress for Progress {
    fn reached(&self, done: u64, whole: Option<u64>) {
        self.line.borrow_mut().show(|| line(done, whole, self.begun.elapsed()));
    }
}

fn line(done: u64, whole: Option<u64>, since: Duration) -> String {
    match whole {
        Some(whole) if whole > 0 => {
            let percent = (u128::from(done) * 100 / u128::from(whole)).min(100);
            // Below 1 %, the time so far says nothing about the rest.
            let left = time_left(done, whole, since).filter(|_| percent > 0);
            let left = left.map_or(String::new(), |left| format!(", {left} left"));
            format!(
                "reading {percent:3} %  {} of {}{left}",
                units::bytes(done),
                units::bytes(whole)
            )
        }
        _ => format!("reading  {}", units::bytes(done)),
    }
}

/// Returns the time that the rest takes at the speed so far: `12 s`, `3 min`.
fn time_left(done: u64, whole: u64, since: Duration) -> Option<String> {
    let rest = u128::from(whole.saturating_sub(done));
    let seconds = (since.as_millis() * rest).checked_div(u128::from(done))?.div_ceil(1000);
    Some(match seconds {
        0..120 => format!("{seconds} s"),
        _ => format!("{} min", seconds.div_ceil(60)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_shows_how_far_reading_is() {
        let since = Duration::from_secs(2);
        assert_eq!(line(512, Some(2048), since), "reading  25 %  512 B of 2.0 KiB, 6 s left");
        assert_eq!(line(1, Some(2048), since), "reading   0 %  1 B of 2.0 KiB");
        assert_eq!(line(4096, None, since), "reading  4.0 KiB");
        assert_eq!(line(0, Some(5), since), "reading   0 %  0 B of 5 B");
        assert_eq!(line(5, Some(0), since), "reading  5 B");
    }
}
