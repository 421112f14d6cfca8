//! Aggregated samples, the basis of most reports and formats.

use super::handle::{StackHandle, TextHandle, ThreadHandle};
use super::hash::NumberMap;
use super::sample::{Kind, Mode, Sample, SampleClock};
use super::when::When;
use std::collections::BTreeMap;

/// The key by which samples are aggregated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct ProfileKey {
    /// The kind of sample.
    pub kind: Kind,
    /// The thread.
    pub thread: ThreadHandle,
    /// The stack.
    pub stack: StackHandle,
    /// What is stored about the thread's state.
    pub mode: Mode,
    /// Name of the type that was allocated or thrown; `(still waiting)` for waits that are
    /// not over.
    pub label: Option<TextHandle>,
}

impl ProfileKey {
    /// Returns the key of a sample.
    #[inline]
    pub(crate) fn from_sample(sample: &Sample) -> ProfileKey {
        let Sample { kind, thread, stack, mode, label, .. } = *sample;
        ProfileKey { kind, thread, stack, mode, label }
    }
}

/// Totals of samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Totals {
    /// Number of samples.
    pub samples: u64,
    /// Number of things they represent; see [`Sample::count`].
    pub count: u64,
    /// Total weight, in the kind's unit.
    pub weight: u64,
    /// Time of the earliest one, in nanoseconds since the session's start.
    pub first_nanos: i64,
    /// Time of the latest one.
    pub last_nanos: i64,
}

impl Totals {
    /// Creates a single entry: `count` things at one time, with a total weight.
    pub(crate) fn at(nanos: i64, count: u64, weight: u64) -> Totals {
        Totals { samples: count, count, weight, first_nanos: nanos, last_nanos: nanos }
    }

    #[inline]
    pub(crate) fn from_sample(sample: &Sample) -> Totals {
        Totals {
            samples: 1,
            count: sample.count,
            weight: sample.weight,
            first_nanos: sample.nanos,
            last_nanos: sample.nanos,
        }
    }

    /// Adds other totals.
    pub(crate) fn add(&mut self, other: &Totals) {
        if self.samples == 0 {
            *self = *other;
            return;
        }
        if other.samples > 0 {
            self.grow(other);
        }
    }

    /// Adds the totals of a place that has samples to one that has samples too.
    #[inline]
    fn grow(&mut self, other: &Totals) {
        self.samples = self.samples.saturating_add(other.samples);
        self.count = self.count.saturating_add(other.count);
        self.weight = self.weight.saturating_add(other.weight);
        self.first_nanos = self.first_nanos.min(other.first_nanos);
        self.last_nanos = self.last_nanos.max(other.last_nanos);
    }
}

/// Samples aggregated by kind, thread, stack, mode and label. Its size is bounded by the
/// number of distinct keys.
#[derive(Debug, Clone, Default)]
pub struct Profile {
    rows: Vec<(ProfileKey, Totals)>,
    /// The row of each key.
    places: NumberMap<ProfileKey, u32>,
    /// Recently used rows, by thread and stack: consecutive samples of a thread are often
    /// the same.
    recent: Vec<u32>,
    /// The times of CPU samples, if they are kept.
    when: Option<When>,
    /// Whether there are threads, processes or times whose samples were left out.
    is_filtered: bool,
    refused: u64,
}

/// Equal if the totals are equal, regardless of order. Handles belong to a model: equal
/// profiles of two models need not have the same stacks.
impl PartialEq for Profile {
    fn eq(&self, other: &Profile) -> bool {
        let row = |profile: &Profile, key| {
            profile
                .places
                .get(key)
                .and_then(|at| profile.rows.get(*at as usize))
                .map(|(_, totals)| *totals)
        };
        self.rows.len() == other.rows.len()
            && self.rows.iter().all(|(key, totals)| row(other, key) == Some(*totals))
    }
}

impl Eq for Profile {}

const RECENT: usize = 1024;

impl Profile {
    /// Creates an empty profile. `is_filtered`: there are threads, processes or times whose samples
    /// will be left out.
    pub(crate) fn new(is_filtered: bool) -> Profile {
        Profile { is_filtered, ..Profile::default() }
    }

    /// Counts CPU samples that a filter of threads and times leaves out.
    pub(crate) fn refuse(&mut self, samples: u64) {
        self.refused = self.refused.saturating_add(samples);
    }

    /// Returns the number of CPU samples that such filters leave out.
    pub(crate) fn refused(&self) -> u64 {
        self.refused
    }

    pub(crate) fn is_filtered(&self) -> bool {
        self.is_filtered
    }

    /// Keeps the times of CPU samples.
    pub(crate) fn keep_when(&mut self, from_nanos: i64) {
        self.when = Some(When::new(from_nanos));
    }

    /// Returns the times of CPU samples, if they are kept.
    pub(crate) fn when(&self) -> Option<&When> {
        self.when.as_ref()
    }

    pub(crate) fn when_mut(&mut self) -> Option<&mut When> {
        self.when.as_mut()
    }

    /// Adds a sample.
    #[inline]
    pub(crate) fn add(&mut self, sample: &Sample) {
        self.add_totals(ProfileKey::from_sample(sample), &Totals::from_sample(sample));
    }

    /// Adds the totals of one or more samples that have the same key.
    #[inline]
    pub(crate) fn add_totals(&mut self, key: ProfileKey, sums: &Totals) {
        // Threads that wait at the same place have the same stack, so the stack alone would
        // make them push each other out.
        let place = (key.stack.0.wrapping_mul(31).wrapping_add(key.thread.0)) as usize % RECENT;
        if let Some(row) = self.recent.get(place)
            && let Some((known, totals)) = self.rows.get_mut(*row as usize)
            && *known == key
        {
            return totals.grow(sums);
        }
        self.add_elsewhere(key, place, sums);
    }

    #[inline(never)]
    fn add_elsewhere(&mut self, key: ProfileKey, place: usize, totals: &Totals) {
        // One look into the map finds the row or makes it.
        let next = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        let row = *self.places.entry(key).or_insert(next);
        if row == next {
            self.rows.push((key, Totals::default()));
        }
        if let Some((_, sums)) = self.rows.get_mut(row as usize) {
            sums.add(totals);
        }
        if self.recent.is_empty() {
            self.recent = vec![u32::MAX; RECENT];
        }
        if let Some(recent) = self.recent.get_mut(place) {
            *recent = row;
        }
    }

    /// Returns all totals, by kind, then thread and stack in the order in which they first
    /// appeared.
    pub fn rows(&self) -> Vec<(ProfileKey, Totals)> {
        let mut rows = self.rows.clone();
        rows.sort_unstable_by_key(|(key, _)| *key);
        rows
    }

    /// Returns whether there are no samples.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns what the weights of the CPU samples measure: [`SampleClock::Cpu`] if all were
    /// taken on processors.
    pub(crate) fn clock(&self) -> SampleClock {
        let mut cpu = self.rows.iter().filter(|(key, _)| key.kind == Kind::Cpu).peekable();
        match cpu.peek().is_some() && cpu.all(|(key, _)| key.mode == Mode::OnCpu) {
            true => SampleClock::Cpu,
            false => SampleClock::Wall,
        }
    }

    /// Returns the kinds of samples that occurred, and the number of each.
    pub fn kinds(&self) -> Vec<(Kind, u64)> {
        let mut counts: BTreeMap<Kind, u64> = BTreeMap::new();
        for (key, totals) in &self.rows {
            let count = counts.entry(key.kind).or_default();
            *count = count.saturating_add(totals.samples);
        }
        counts.into_iter().collect()
    }

    /// Returns whether there are samples of a kind.
    pub(crate) fn has(&self, kind: Kind) -> bool {
        self.rows.iter().any(|(key, _)| key.kind == kind)
    }
}
