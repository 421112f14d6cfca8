//! Findings that CPU samples alone give: the hottest method of any code, spinning for locks, and
//! frames without names.

use super::finding::{Finding, weight_of_running_time};
use super::own::OwnModules;
use crate::fact::{Base, Fact, Number, Place, Unit};
use crate::hash::HashMap;
use crate::model::{
    Frame, FrameCounts, FrameHandle, Kind, NameOrigin, Resolved, Running as Certainty, StackHandle,
    ThreadHandle, is_recording,
};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Minimum number of samples of a notable method: 50 ms at the usual rate.
const MIN_SAMPLES: u64 = 50;
/// Maximum ratio of all samples, waiting ones included, to those of a notable method. An idle
/// process has no hottest method.
const MAX_SAMPLES_PER_NOTABLE: u64 = 100;
/// Minimum time of a method that is a finding, in percent of the running time.
pub(super) const MIN_METHOD_PERCENT: f64 = 5.0;
/// Weight of the finding that frames have no names.
const MISSING_NAMES_WEIGHT: f64 = 14.0;
/// Weight of the finding that a process only waits for another one.
const WAITING_WEIGHT: f64 = 70.0;
/// Namespace of EventSources, which write events.
const TRACING: &str = "System.Diagnostics.Tracing";

/// Returns whether a frame waits for another process to end, as `WaitForExitCore` does.
fn is_wait_for_process(frame: &Frame) -> bool {
    frame.namespace == "System.Diagnostics"
        && frame.type_name == "Process"
        && frame.bare_method().starts_with("WaitForExit")
}

/// CPU samples that pass the filters on frames, added up by innermost frame and by thread.
#[derive(Debug, Default)]
pub(super) struct RunningFindings {
    /// Number of samples before filters on frames.
    pub(super) sampled: u64,
    /// Time in nanoseconds and number of samples that ran for certain, by innermost frame.
    ran: BTreeMap<FrameHandle, (u64, u64)>,
    /// Time in nanoseconds and number of samples that were taking a lock, by innermost frame.
    taking_locks: BTreeMap<FrameHandle, (u64, u64)>,
    /// Time of samples that are not known to have waited, in nanoseconds.
    all: u64,
    /// Number of samples of each thread, and number of those that wait for another process to end.
    threads: BTreeMap<ThreadHandle, (u64, u64)>,
    /// Frames of all distinct stacks.
    frames: FrameCounts,
}

impl RunningFindings {
    pub(super) fn new(resolved: &Resolved<'_>) -> RunningFindings {
        let mut running = RunningFindings::default();
        let mut waits_for_process: HashMap<StackHandle, bool> = HashMap::default();
        let rows = resolved.profile().rows();
        for (key, totals) in rows.iter().filter(|(key, _)| key.kind == Kind::Cpu) {
            running.sampled = running.sampled.saturating_add(totals.samples);
            let Some(frames) = resolved.selected(key.stack, key.mode) else { continue };
            let waits = *waits_for_process.entry(key.stack).or_insert_with(|| {
                running.frames.add(resolved.counted(key.stack));
                // Only the main thread counts: a program that goes on meanwhile waits on another
                // thread.
                let mut frames = frames.iter().filter_map(|frame| resolved.frame(*frame));
                frames.clone().next_back().is_some_and(|root| root.is_entry_point())
                    && frames.any(|frame| is_wait_for_process(frame))
            });
            let (all, waiting) = running.threads.entry(key.thread).or_default();
            *all = all.saturating_add(totals.samples);
            *waiting = waiting.saturating_add(if waits { totals.samples } else { 0 });
            let how = resolved.running(key.stack, key.mode);
            let Some(how) = how.filter(|_| !resolved.is_recording(key.stack)) else { continue };
            running.all = running.all.saturating_add(totals.weight);
            // A native call may have blocked, so it is never the hottest method.
            let leaves = match how {
                Certainty::Managed | Certainty::AtGcPoll | Certainty::Computing => &mut running.ran,
                Certainty::TakingLock => &mut running.taking_locks,
                _ => continue,
            };
            if let Some(leaf) = frames.first() {
                let (nanos, samples) = leaves.entry(*leaf).or_default();
                *nanos = nanos.saturating_add(totals.weight);
                *samples = samples.saturating_add(totals.samples);
            }
        }
        running
    }

    /// Returns the finding about frames without names.
    pub(super) fn missing_names(&self, resolved: &Resolved<'_>) -> Option<Finding> {
        let coverage = resolved.coverage().with_frames(self.frames);
        let (percent, why) = coverage.missing()?;
        let share = Number::percent(percent as f64, Base::Frames);
        Some(Finding::new(Fact::MissingNames { share, coverage, why }, MISSING_NAMES_WEIGHT))
    }

    /// Returns the finding about a process that only waits for another one to end, as a launcher
    /// does.
    pub(super) fn waits_for_process(&self) -> Option<Finding> {
        let ran = self.ran.values().chain(self.taking_locks.values());
        let ran = ran.fold(0_u64, |sum, (_, samples)| sum.saturating_add(*samples));
        if ran.saturating_mul(MAX_SAMPLES_PER_NOTABLE) >= self.sampled {
            return None;
        }
        let (all, waiting) = self.threads.values().max_by_key(|(_, waiting)| *waiting)?;
        let only_waits =
            *waiting >= MIN_SAMPLES && waiting.saturating_mul(5) >= all.saturating_mul(4);
        let samples = Number::count(*waiting, Unit::Samples).estimated();
        only_waits.then(|| Finding::new(Fact::WaitsForProcess { samples }, WAITING_WEIGHT))
    }

    /// Returns the findings about the method that ran most and about the method that spun most for
    /// a lock, each `None` if too few samples are in the method.
    pub(super) fn hottest(
        &self,
        own: &OwnModules,
        resolved: &Resolved<'_>,
    ) -> [Option<Finding>; 2] {
        let find = |leaves, fact: fn(Number, Number, Number, Place) -> Fact| {
            let (method, nanos, samples) = self.first(leaves, resolved)?;
            let share = Number::share(nanos, self.all, Base::Running).estimated();
            let ran = Number::nanos(nanos).estimated().in_member("methods[].self_ns");
            let samples = Number::count(samples, Unit::Samples).in_member("methods[].self_samples");
            (share.value >= MIN_METHOD_PERCENT).then(|| {
                let fact = fact(ran, share, samples, Place::from_frame(method));
                Finding::new(fact, weight_of_running_time(share.value))
            })
        };
        let ran = find(&self.ran, |ran, share, samples, place| Fact::HottestMethod {
            ran,
            share,
            samples,
            place,
        });
        let mut took = find(&self.taking_locks, |ran, share, samples, place| Fact::LockSpinning {
            ran,
            share,
            samples,
            place,
            called_by: None,
        });
        if let Some(Finding { fact: Fact::LockSpinning { ran, place, called_by, .. }, .. }) =
            &mut took
        {
            *called_by = takes_most(own, resolved, place, ran.whole());
        }
        [ran, took]
    }

    /// Returns the first notable one of the three heaviest methods, with its time in nanoseconds
    /// and its samples; `None` if these are few. Addresses are not notable because they mean
    /// nothing to a reader, and a method after three addresses is not hot.
    fn first<'r>(
        &self,
        leaves: &BTreeMap<FrameHandle, (u64, u64)>,
        resolved: &'r Resolved<'_>,
    ) -> Option<(&'r Arc<Frame>, u64, u64)> {
        let mut leaves: Vec<_> = leaves.iter().collect();
        leaves.sort_unstable_by_key(|(leaf, (nanos, _))| (Reverse(*nanos), **leaf));
        let mut named = leaves.into_iter().take(3).filter_map(|(leaf, sums)| {
            let frame = resolved.frame(*leaf)?;
            // Writing events and recording belong to the session, not to the program.
            let is_notable = frame.origin != NameOrigin::Address
                && !frame.namespace.starts_with(TRACING)
                && !is_recording(frame);
            is_notable.then_some((frame, sums))
        });
        let (frame, (nanos, samples)) = named.next()?;
        let is_enough = *samples >= MIN_SAMPLES
            && samples.saturating_mul(MAX_SAMPLES_PER_NOTABLE) >= self.sampled;
        is_enough.then_some((frame, *nanos, *samples))
    }
}

/// Returns the own method that takes a lock most in `leaf`, if it does so in half of these `nanos`.
fn takes_most(
    own: &OwnModules,
    resolved: &Resolved<'_>,
    leaf: &Place,
    nanos: u64,
) -> Option<Place> {
    let mut methods: BTreeMap<FrameHandle, u64> = BTreeMap::new();
    let rows = resolved.profile().rows();
    for (key, totals) in rows.iter().filter(|(key, _)| key.kind == Kind::Cpu) {
        let is_taking = resolved.running(key.stack, key.mode) == Some(Certainty::TakingLock);
        let frames = resolved.selected(key.stack, key.mode).filter(|_| is_taking);
        let first = frames.and_then(|frames| resolved.frame(*frames.first()?));
        if first.is_none_or(|frame| *frame != leaf.frame) {
            continue;
        }
        let mut frames = resolved.frames(key.stack).iter();
        if let Some(method) = frames.find(|frame| own.has(resolved, **frame)) {
            let sum = methods.entry(*method).or_default();
            *sum = sum.saturating_add(totals.weight);
        }
    }
    let (method, most) = methods.into_iter().max_by_key(|(at, nanos)| (*nanos, Reverse(*at)))?;
    let frame = resolved.frame(method).filter(|_| most.saturating_mul(2) >= nanos)?;
    Some(Place::from_frame(frame))
}
