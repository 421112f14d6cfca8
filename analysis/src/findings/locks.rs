//! What threads do about one lock: they wait for it, spin to take it, and hold it. Samples and
//! events show that as several findings, which are one here.

use super::finding::{Finding, is_worth_naming};
use super::own::OwnModules;
use crate::document::percent;
use crate::fact::{Base, Fact, HolderState, LockHolder, Number, Place};
use crate::model::{
    Frame, FrameHandle, Kind, Mode, ProfileKey, Resolved, Running as Certainty, StackHandle,
    Totals, WaitFor, is_for_recording, public_call,
};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Minimum time of threads in a method that may hold the lock, in percent of the time in which any
/// thread waits for it.
const MIN_HOLDER_PERCENT: f64 = 50.0;
/// Maximum of the same time. It is not far above 100 % because one thread at a time holds a lock.
const MAX_HOLDER_PERCENT: f64 = 130.0;
/// Minimum time of spinning, in percent of the waits, for the finding to tell it.
const MIN_SPINNING_PERCENT: f64 = 5.0;

/// Time of threads that are in one own method, below the method whose lock others wait for.
#[derive(Debug, Default)]
struct TimeInside {
    nanos: u64,
    /// By what the threads do, and the frame of other code that the method calls.
    calls: BTreeMap<(HolderState, Option<FrameHandle>), u64>,
}

/// What threads do in a method in which threads wait for a lock.
#[derive(Debug, Default)]
struct LockUses {
    /// Stacks of threads that wait for the lock.
    waiting: BTreeSet<(StackHandle, Mode)>,
    spun: u64,
    /// Time of threads that do something else, by the innermost own method.
    inside: BTreeMap<FrameHandle, TimeInside>,
}

impl LockUses {
    fn new(resolved: &Resolved<'_>, own: &OwnModules, method: &Frame) -> LockUses {
        let mut uses = LockUses::default();
        let frames = (0_u32..).zip(resolved.all_frames());
        let is_method: Vec<bool> = frames.map(|(_, frame)| **frame == *method).collect();
        let is_it = |frame: &FrameHandle| is_method.get(frame.index()).copied().unwrap_or(false);
        let rows = resolved.profile().rows();
        for (key, totals) in rows.iter().filter(|(key, _)| key.kind == Kind::Cpu) {
            if resolved.admits(key.stack, key.mode) && resolved.frames(key.stack).iter().any(is_it)
            {
                uses.add(resolved, own, is_it, key, totals);
            }
        }
        uses
    }

    fn add(
        &mut self,
        resolved: &Resolved<'_>,
        own: &OwnModules,
        is_it: impl Fn(&FrameHandle) -> bool,
        key: &ProfileKey,
        totals: &Totals,
    ) {
        let frames = resolved.frames(key.stack);
        let is_recording = |frame: &FrameHandle| {
            resolved.frame(*frame).is_some_and(|frame| is_for_recording(frame))
        };
        let Some(at) = frames.iter().position(|frame| is_it(frame) || own.has(resolved, *frame))
        else {
            return;
        };
        let (inner, outer) = frames.split_at(at);
        let Some(method) = outer.first().filter(|_| !frames.iter().any(is_recording)) else {
            return;
        };
        let what = resolved.waits_for(key.stack, key.mode);
        let how = resolved.running(key.stack, key.mode);
        if what == Some(WaitFor::Lock) {
            // A thread below the method may wait for another lock, and hold this one.
            if is_it(method) {
                self.waiting.insert((key.stack, key.mode));
            }
            return;
        }
        if how == Some(Certainty::TakingLock) && is_it(method) {
            self.spun = self.spun.saturating_add(totals.weight);
            return;
        }
        let state = match (what, how) {
            (Some(WaitFor::Sleep), _) => HolderState::Sleeps,
            (Some(_), _) => HolderState::Waits,
            (None, Some(Certainty::NativeCall)) => HolderState::NativeCall,
            (None, _) => HolderState::Runs,
        };
        let row = self.inside.entry(*method).or_default();
        row.nanos = row.nanos.saturating_add(totals.weight);
        let nanos = row.calls.entry((state, inner.last().copied())).or_default();
        *nanos = nanos.saturating_add(totals.weight);
    }

    /// Returns the method in which the thread is that holds the lock; `None` if it is not known.
    fn holder(&self, resolved: &Resolved<'_>) -> Option<LockHolder> {
        let most = self.inside.iter().max_by_key(|(method, row)| (row.nanos, Reverse(**method)));
        let (method, row) = most?;
        let waiting = resolved.profile().presence().nanos_at(self.waiting.iter().copied());
        let share = percent(row.nanos, waiting);
        if !(MIN_HOLDER_PERCENT..=MAX_HOLDER_PERCENT).contains(&share) {
            return None;
        }
        let mut states: BTreeMap<HolderState, u64> = BTreeMap::new();
        for ((state, _), nanos) in &row.calls {
            let sum = states.entry(*state).or_default();
            *sum = sum.saturating_add(*nanos);
        }
        let (state, _) = states.into_iter().max_by_key(|(_, nanos)| *nanos)?;
        let calls = row.calls.iter().filter(|((of, _), _)| *of == state);
        let call = calls.max_by_key(|(_, nanos)| **nanos).and_then(|((_, call), _)| *call);
        let call = call.and_then(|call| resolved.frame(call)).map(|frame| public_call(frame));
        Some(LockHolder { place: Place::from_frame(resolved.frame(*method)?), state, call })
    }
}

/// Puts what runs, spins and holds the lock into the findings about waits for locks. The findings
/// that told it are [covered](Fact::covers) then.
pub(super) fn join(findings: &mut [Finding], resolved: &Resolved<'_>, own: &OwnModules) {
    let runs = findings.iter().find_map(|finding| match &finding.fact {
        Fact::OwnMethod { ran, share, place, .. } => {
            Some((place.clone(), ran.whole(), share.value, finding.weight))
        }
        _ => None,
    });
    let spins = findings.iter().find_map(|finding| match &finding.fact {
        Fact::LockSpinning { ran, called_by, .. } => Some((called_by.clone()?, ran.whole())),
        _ => None,
    });
    let ended = findings.iter().find_map(|finding| match &finding.fact {
        Fact::LockContention { waited, waits, place: Some(place), .. } => {
            Some((place.clone(), *waits, *waited))
        }
        _ => None,
    });
    for finding in findings.iter_mut() {
        if let Fact::EndlessLockWait { earlier_waits, earlier_waited, place, .. } =
            &mut finding.fact
            && let Some((_, waits, waited)) =
                ended.as_ref().filter(|(ended, ..)| place.as_ref() == Some(ended))
        {
            (*earlier_waits, *earlier_waited) = (Some(*waits), Some(*waited));
        }
        let weight = join_lock(&mut finding.fact, resolved, own, runs.as_ref());
        finding.raise(weight);
        if let Fact::OwnMethod { ran, place, taking_lock, .. } = &mut finding.fact
            && let Some((_, spun)) = spins.as_ref().filter(|(called_by, _)| called_by == place)
        {
            *taking_lock = Some(Number::share(*spun, ran.whole(), Base::OfMethod).estimated());
        }
    }
}

/// Puts what is known about a lock into the fact about waits for it. `runs`: the method that ran
/// most, its time in nanoseconds, its percentage and the weight of its finding. Returns that weight
/// if the method is now part of the fact, else 0.
fn join_lock(
    fact: &mut Fact,
    resolved: &Resolved<'_>,
    own: &OwnModules,
    runs: Option<&(Place, u64, f64, f64)>,
) -> f64 {
    let Some(method) = fact.lock_place().map(|place| place.frame.clone()) else { return 0.0 };
    let uses = LockUses::new(resolved, own, &method);
    let found = uses.holder(resolved);
    let is_part = |place: &Place| {
        place.frame == method || found.as_ref().is_some_and(|found| found.place == *place)
    };
    match fact {
        Fact::StuckInLock { holder, .. } | Fact::EndlessLockWait { holder, .. } => {
            *holder = found;
            0.0
        }
        Fact::SampledLockWaits { waited, spun, running, holder, .. }
        | Fact::LockContention { waited, spun, running, holder, .. } => {
            let runs = runs.filter(|(place, nanos, ..)| {
                is_part(place) && is_worth_naming(waited.whole(), *nanos)
            });
            *running =
                runs.map(|(_, _, share, _)| Number::percent(*share, Base::Running).estimated());
            *spun = (percent(uses.spun, waited.whole()) >= MIN_SPINNING_PERCENT)
                .then(|| Number::nanos(uses.spun).estimated());
            *holder = found;
            runs.map_or(0.0, |(.., weight)| *weight)
        }
        _ => 0.0,
    }
}
