//! Threads that wait, for locks or for handles.

use crate::model::ThreadHandle;
use crate::model::intervals::{Edge, Interval, Matcher};

/// Waits that have begun and not ended, and how many have only one end. `P` is the place of a wait; `None`: the filter
/// did not let its start pass.
#[derive(Debug)]
pub(super) struct Waiting<P> {
    open: Matcher<ThreadHandle, Option<P>>,
    pub(super) stops_without_start: u64,
    pub(super) starts_without_stop: u64,
    last_nanos: i64,
}

impl<P> Default for Waiting<P> {
    fn default() -> Waiting<P> {
        Waiting { open: Matcher::default(), stops_without_start: 0, starts_without_stop: 0, last_nanos: 0 }
    }
}

impl<P> Waiting<P> {
    pub(super) fn start(&mut self, at: Edge, place: Option<P>) {
        self.last_nanos = at.nanos;
        let lost = |_| self.starts_without_stop = self.starts_without_stop.saturating_add(1);
        self.open.start_inside(at.thread, at, place, lost);
    }

    /// The wait that ends. `told`: how long it took, if its stop says so; `alone`: its place if the start is not known.
    pub(super) fn stop(
        &mut self,
        at: Edge,
        told: Option<u64>,
        alone: impl FnOnce() -> Option<P>,
    ) -> Interval<Option<P>> {
        self.last_nanos = at.nanos;
        let lost = |_| self.starts_without_stop = self.starts_without_stop.saturating_add(1);
        self.open.stop(at.thread, at, told, lost).unwrap_or_else(|| {
            self.stops_without_start = self.stops_without_start.saturating_add(1);
            Interval::without_start(at, told, alone())
        })
    }

    /// How many waits at places that pass have not ended.
    pub(super) fn still_waiting(&mut self, passes: impl Fn(&P) -> bool) -> u64 {
        let open = self.open.finish(self.last_nanos);
        open.filter(|wait| wait.what.as_ref().is_some_and(&passes)).count() as u64
    }
}
