//! Threads that wait, for locks or for handles: where, how often, how long.

use super::distribution::{Distribution, Spread};
use crate::model::ThreadHandle;
use crate::model::intervals::{Edge, Interval, Matcher};
use crate::sorted::SortFew;
use std::collections::HashMap;
use std::hash::Hash;

/// Waits by place. `P` is the place of a wait, `X` what else is known of a place.
#[derive(Debug)]
pub(super) struct Waiting<P, X> {
    sites: HashMap<P, WaitSite<X>>,
    /// Without a place: the filter did not let the start pass.
    open: Matcher<ThreadHandle, Option<P>>,
    totals: WaitTotals,
    last_nanos: i64,
    /// Most rows of a sort that are shown.
    pub(super) top: usize,
}

/// The waits at a place.
#[derive(Debug, Default)]
pub(super) struct WaitSite<X> {
    pub(super) started: u64,
    /// Those whose length is known.
    pub(super) waits: Distribution,
    pub(super) more: X,
}

/// All waits of a report together, for locks or for handles.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct WaitTotals {
    /// Waits that began.
    pub started: u64,
    /// Waits that ended.
    pub stopped: u64,
    /// Waits that had not ended when the trace did.
    pub still_waiting: u64,
    /// Stops whose start is not in the trace. The lock is not known; the length is, if the stop reports it.
    pub stops_without_start: u64,
    /// Starts whose stop was lost.
    pub starts_without_stop: u64,
    /// How long the waits took that ended.
    pub waits: Spread,
}

impl<P: Copy + Ord + Hash, X: Default> Waiting<P, X> {
    pub(super) fn new(top: usize) -> Waiting<P, X> {
        let (sites, open, totals) = (HashMap::new(), Matcher::default(), WaitTotals::default());
        Waiting { sites, open, totals, last_nanos: 0, top }
    }

    /// A wait starts. Gives what else is known of its place, if the filter lets it pass.
    pub(super) fn start(&mut self, at: Edge, place: Option<P>) -> Option<&mut X> {
        self.last_nanos = at.nanos;
        self.open.start_inside(at.thread, at, place, |_| once(&mut self.totals.starts_without_stop));
        let site = self.sites.entry(place?).or_default();
        once(&mut site.started);
        Some(&mut site.more)
    }

    /// A wait ends. `told`: the duration that its stop reports, if any; `alone`: its place if the start is not known. Gives
    /// its length, and what else is known of its place.
    pub(super) fn stop(
        &mut self,
        at: Edge,
        told: Option<u64>,
        alone: impl FnOnce() -> Option<P>,
    ) -> Option<(u64, &mut X)> {
        self.last_nanos = at.nanos;
        let wait = self.open.stop(at.thread, at, told, |_| once(&mut self.totals.starts_without_stop));
        let wait = wait.unwrap_or_else(|| {
            once(&mut self.totals.stops_without_start);
            Interval::without_start(at, told, alone())
        });
        let nanos = wait.measured_nanos()?;
        let site = self.sites.entry(wait.what?).or_default();
        site.waits.add(nanos);
        Some((nanos, &mut site.more))
    }

    /// The places that pass, in their order, and all waits there together.
    pub(super) fn finish(mut self, passes: impl Fn(&P) -> bool) -> (WaitTotals, Vec<(P, WaitSite<X>)>) {
        let (mut totals, open) = (self.totals, self.open.finish(self.last_nanos));
        let mut waits = Distribution::default();
        totals.still_waiting = open.filter(|wait| wait.what.as_ref().is_some_and(&passes)).count() as u64;
        let mut sites: Vec<_> = self.sites.into_iter().filter(|(place, _)| passes(place)).collect();
        sites.sort_few_by_key(|(place, _)| *place);
        for (_, site) in &sites {
            totals.started = totals.started.saturating_add(site.started);
            waits.merge(&site.waits);
        }
        (totals.stopped, totals.waits) = (waits.count(), waits.spread());
        (totals, sites)
    }
}

fn once(count: &mut u64) {
    *count = count.saturating_add(1);
}
