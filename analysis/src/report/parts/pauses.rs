//! For how long a process was paused for collections.

use crate::model::ThreadHandle;

/// Longest pause during which events of managed code are believed to be of threads that were about to stop. A longer one has lost
/// its end.
const LONGEST: i64 = 1_000_000_000;

/// The pauses of a process so far. A pause begins and ends on one thread; the sampler suspends the process on another
/// one meanwhile.
#[derive(Debug, Default)]
pub(super) struct Pauses {
    ended: u64,
    open: Option<(ThreadHandle, i64)>,
}

impl Pauses {
    /// SuspendEEStart for a collection.
    pub(super) fn begin(&mut self, thread: ThreadHandle, nanos: i64) {
        self.ended = self.until(nanos);
        self.open = Some((thread, nanos));
    }

    /// RestartEEStop. Gives when the pause began that ends.
    pub(super) fn end(&mut self, thread: ThreadHandle, nanos: i64) -> Option<i64> {
        let (_, begun) = self.open.filter(|(of, _)| *of == thread)?;
        self.ended = self.until(nanos);
        self.open = None;
        Some(begun)
    }

    /// Managed code runs: a pause that has lasted for very long has lost its end.
    pub(super) fn is_running(&mut self, nanos: i64) {
        if self.open.is_some_and(|(_, begun)| nanos.saturating_sub(begun) > LONGEST) {
            self.ended = self.until(nanos);
            self.open = None;
        }
    }

    /// Nanoseconds of pauses before this time, which is not before the last one.
    pub(super) fn until(&self, nanos: i64) -> u64 {
        let open = self.open.map_or(0, |(_, begun)| nanos.saturating_sub(begun).min(LONGEST));
        self.ended.saturating_add(u64::try_from(open).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_ends_on_its_own_thread_and_a_lost_end_does_not_pause_for_ever() {
        let mut pauses = Pauses::default();
        pauses.begin(ThreadHandle(1), 100);
        assert_eq!((pauses.end(ThreadHandle(2), 150), pauses.until(160)), (None, 60));
        assert_eq!((pauses.end(ThreadHandle(1), 200), pauses.until(900)), (Some(100), 100));
        pauses.begin(ThreadHandle(1), 1000);
        pauses.is_running(1_000_000);
        pauses.is_running(9 * LONGEST);
        assert_eq!(pauses.until(99 * LONGEST), 100 + LONGEST.unsigned_abs());
        pauses.begin(ThreadHandle(1), 100 * LONGEST);
        pauses.begin(ThreadHandle(2), 100 * LONGEST + 10);
        pauses.end(ThreadHandle(2), 100 * LONGEST + 30);
        assert_eq!(pauses.until(200 * LONGEST), 130 + LONGEST.unsigned_abs());
    }
}
