//! What a fact tells first: its most important number, its method, and the findings that it makes
//! superfluous.

use super::collection::CollectionPlace;
use super::finding::{Fact, FindingKind};
use super::number::{Number, Unit};
use super::place::Place;

impl Fact {
    /// Returns the most important number, which is the first.
    pub fn headline(&self) -> Number {
        let first = self.numbers().first().map(|(_, number)| **number);
        first.unwrap_or_else(|| Number::count(0, Unit::Events))
    }

    /// Returns the method that the fact names; `None` if it names none.
    pub fn place(&self) -> Option<&Place> {
        match self {
            Fact::HottestMethod { place, .. }
            | Fact::OwnMethod { place, .. }
            | Fact::Finalizer { place, .. }
            | Fact::LockSpinning { place, .. }
            | Fact::SampledLockWaits { place, .. }
            | Fact::SyncOverAsync { place, .. }
            | Fact::Waiting { place, .. } => Some(place),
            Fact::Compilation { asked_by: place, .. }
            | Fact::LockContention { place, .. }
            | Fact::HandleWaits { place, .. }
            | Fact::Deadlock { place, .. }
            | Fact::EndlessLockWait { place, .. }
            | Fact::StuckInLock { place, .. }
            | Fact::StuckWorkers { place, .. }
            | Fact::StarvedPool { place, .. }
            | Fact::BlockedPool { place, .. }
            | Fact::StartedThreads { started_by: place, .. }
            | Fact::CutOff { last_method: place, .. } => place.as_ref(),
            Fact::EndlessAwaits { places, .. } => places.first(),
            Fact::Exceptions { thrown_by, .. } => thrown_by.as_ref().map(|by| &by.place),
            Fact::Allocations { largest, .. } => largest.as_ref()?.place.as_ref(),
            Fact::Collections { behind, .. } => match behind.as_ref()? {
                CollectionPlace::Allocates(most) => most.place.as_ref(),
                CollectionPlace::Begins(place) | CollectionPlace::Busiest(place) => Some(place),
            },
            _ => None,
        }
    }

    /// Returns the method in which threads wait for one lock; `None` if the fact is about something
    /// else.
    pub(crate) fn lock_place(&self) -> Option<&Place> {
        match self {
            Fact::SampledLockWaits { .. }
            | Fact::LockContention { .. }
            | Fact::EndlessLockWait { .. }
            | Fact::StuckInLock { .. } => self.place(),
            _ => None,
        }
    }

    /// Returns the method in which the thread is that holds a lock.
    fn holder_place(&self) -> Option<&Place> {
        match self {
            Fact::SampledLockWaits { holder, .. }
            | Fact::LockContention { holder, .. }
            | Fact::EndlessLockWait { holder, .. }
            | Fact::StuckInLock { holder, .. } => holder.as_ref().map(|holder| &holder.place),
            _ => None,
        }
    }

    /// Returns the method if the whole fact is about the method, such as a hot one; `None` if the
    /// method is only an example.
    pub(crate) fn subject_place(&self) -> Option<&Place> {
        match self.kind() {
            FindingKind::HottestMethod
            | FindingKind::OwnMethod
            | FindingKind::Finalizer
            | FindingKind::SampledLockWaits
            | FindingKind::SyncOverAsync
            | FindingKind::Waiting
            | FindingKind::Compilation => self.place(),
            _ => None,
        }
    }

    /// Returns whether this fact makes another one superfluous, because it tells as much.
    pub fn covers(&self, other: &Fact) -> bool {
        let kinds: &[FindingKind] = match self {
            Fact::Collections { behind: Some(CollectionPlace::Allocates(_)), .. } => {
                &[FindingKind::Allocations]
            }
            Fact::OwnMethod { .. } => &[FindingKind::HottestMethod],
            Fact::StarvedPool { .. } | Fact::BlockedPool { .. } => {
                &[FindingKind::NoStarvation, FindingKind::HandleWaits]
            }
            Fact::LockContention { .. } => &[FindingKind::SampledLockWaits],
            Fact::WaitsForProcess { .. } | Fact::EndlessAwaits { .. } => &[FindingKind::Waiting],
            _ => &[],
        };
        kinds.contains(&other.kind()) || self.tells_part_of(other)
    }

    /// Returns whether the method, the thread or the lock of another fact is part of this one.
    fn tells_part_of(&self, other: &Fact) -> bool {
        match (self, other) {
            // The main thread waits for the others, which wait for ever; who sleeps is a bystander.
            (Fact::Deadlock { .. }, Fact::Waiting { is_main, calls, .. }) => {
                *is_main || calls.iter().all(|call| call.name == "Thread.Sleep")
            }
            // A method that runs in the call in which it waits does one thing.
            (
                Fact::Waiting { place, calls, .. },
                Fact::OwnMethod { place: running, call: Some(call), .. },
            ) => place == running && calls.iter().any(|it| it.name == call.name),
            // Where the trace cannot tell which threads wait for a lock, its holder is one of them.
            (
                Fact::OwnMethod { place, may_have_run: Some(_), .. },
                Fact::Waiting { place: inside, is_one_at_a_time: true, .. },
            ) => place == inside,
            (Fact::OwnMethod { place, taking_lock: Some(_), .. }, spinning) => {
                spinning.spins_in(place)
            }
            _ => self.tells_of_lock(other),
        }
    }

    /// Returns whether another fact is about threads that take or hold the lock of this one.
    fn tells_of_lock(&self, other: &Fact) -> bool {
        let (Some(waiting), holding) = (self.lock_place(), self.holder_place()) else {
            return false;
        };
        let is_part = |place: &Place| place.frame == waiting.frame || Some(place) == holding;
        match (self, other) {
            (
                Fact::EndlessLockWait { earlier_waits: Some(_), .. },
                Fact::LockContention { place, .. },
            ) => place.as_ref() == Some(waiting),
            (_, Fact::Waiting { place, threads, is_one_at_a_time, .. }) => {
                Some(place) == holding && (*is_one_at_a_time || threads.whole() == 1)
                    || place.frame == waiting.frame && *is_one_at_a_time
            }
            (
                Fact::SampledLockWaits { running: Some(_), .. }
                | Fact::LockContention { running: Some(_), .. },
                Fact::OwnMethod { place, .. },
            ) => is_part(place),
            (
                Fact::SampledLockWaits { spun: Some(_), .. }
                | Fact::LockContention { spun: Some(_), .. },
                spinning,
            ) => spinning.spins_in(waiting),
            _ => false,
        }
    }

    /// Returns whether the fact is that a method spins to take a lock.
    fn spins_in(&self, method: &Place) -> bool {
        match self {
            Fact::LockSpinning { called_by: Some(called_by), .. } => {
                called_by.frame == method.frame
            }
            _ => false,
        }
    }

    /// Returns whether the fact is no fault, however large its numbers are.
    pub(crate) fn is_neutral(&self) -> bool {
        matches!(
            self,
            Fact::HeapHeld { .. }
                | Fact::HeapOwnTypes { .. }
                | Fact::WaitsForProcess { .. }
                | Fact::Waiting { .. }
        )
    }
}
