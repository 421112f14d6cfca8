//! Samples summed up: what most reports and formats are made of.

use super::handle::{StackHandle, TextHandle, ThreadHandle};
use super::hash::NumberMap;
use super::sample::{Kind, Mode, Sample, SampleClock};
use super::when::When;
use std::collections::BTreeMap;

/// What is summed up by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct ProfileKey {
    /// What is counted.
    pub kind: Kind,
    /// Whose stack it is.
    pub thread: ThreadHandle,
    /// The stack.
    pub stack: StackHandle,
    /// What is stored about the thread's state.
    pub mode: Mode,
    /// Name of the type that was allocated or thrown.
    pub label: Option<TextHandle>,
}

impl ProfileKey {
    /// What a sample is summed up with.
    #[inline]
    pub fn of(sample: &Sample) -> ProfileKey {
        let Sample { kind, thread, stack, mode, label, .. } = *sample;
        ProfileKey { kind, thread, stack, mode, label }
    }
}

/// Sums of samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Totals {
    /// Samples.
    pub samples: u64,
    /// Things they stand for; see [`Sample::count`].
    pub count: u64,
    /// Weight, in the kind's unit.
    pub weight: u64,
    /// The earliest, in nanoseconds since the session's start.
    pub first_nanos: i64,
    /// The latest.
    pub last_nanos: i64,
}

impl Totals {
    /// So many things of this weight together, at one time.
    pub(crate) fn at(nanos: i64, count: u64, weight: u64) -> Totals {
        Totals { samples: count, count, weight, first_nanos: nanos, last_nanos: nanos }
    }

    #[inline]
    pub(crate) fn of(sample: &Sample) -> Totals {
        Totals {
            samples: 1,
            count: sample.count,
            weight: sample.weight,
            first_nanos: sample.nanos,
            last_nanos: sample.nanos,
        }
    }

    /// Adds others.
    pub fn add(&mut self, other: &Totals) {
        if self.samples == 0 {
            *self = *other;
            return;
        }
        if other.samples > 0 {
            self.grow(other);
        }
    }

    /// The same where both have samples.
    #[inline]
    fn grow(&mut self, other: &Totals) {
        self.samples = self.samples.saturating_add(other.samples);
        self.count = self.count.saturating_add(other.count);
        self.weight = self.weight.saturating_add(other.weight);
        self.first_nanos = self.first_nanos.min(other.first_nanos);
        self.last_nanos = self.last_nanos.max(other.last_nanos);
    }
}

/// Samples summed up by kind, thread, stack, mode and label. Its size is bounded by how many
/// different ones there are.
#[derive(Debug, Clone, Default)]
pub struct Profile {
    rows: Vec<(ProfileKey, Totals)>,
    /// Where a key's row is.
    places: NumberMap<ProfileKey, u32>,
    /// Rows that were met of late, by thread and stack: threads do the same thing for many samples.
    recent: Vec<u32>,
    /// When CPU samples were taken, if that was asked for.
    when: Option<When>,
}

/// The same sums, in whatever order they were met. Handles are numbers of a model: profiles of two models that are equal
/// need not be of the same stacks.
impl PartialEq for Profile {
    fn eq(&self, other: &Profile) -> bool {
        let row = |profile: &Profile, key| {
            profile.places.get(key).and_then(|at| profile.rows.get(*at as usize)).map(|(_, totals)| *totals)
        };
        self.rows.len() == other.rows.len()
            && self.rows.iter().all(|(key, totals)| row(other, key) == Some(*totals))
    }
}

impl Eq for Profile {}

const RECENT: usize = 1024;

impl Profile {
    /// Keeps when CPU samples were taken.
    pub(crate) fn keep_when(&mut self, from_nanos: i64) {
        self.when = Some(When::new(from_nanos));
    }

    /// When CPU samples were taken, if that was asked for.
    pub(crate) fn when(&self) -> Option<&When> {
        self.when.as_ref()
    }

    pub(crate) fn when_mut(&mut self) -> Option<&mut When> {
        self.when.as_mut()
    }

    /// Adds a sample.
    #[inline]
    pub fn add(&mut self, sample: &Sample) {
        self.add_totals(ProfileKey::of(sample), &Totals::of(sample));
    }

    /// Adds several samples, at least one.
    #[inline]
    pub(crate) fn add_totals(&mut self, key: ProfileKey, sums: &Totals) {
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

    /// All sums, by kind, then thread and stack in the order in which they were first met.
    pub fn rows(&self) -> Vec<(ProfileKey, Totals)> {
        let mut rows = self.rows.clone();
        rows.sort_unstable_by_key(|(key, _)| *key);
        rows
    }

    /// Whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// What the weights of its CPU samples measure: [`SampleClock::Cpu`] if all were taken on processors.
    pub fn clock(&self) -> SampleClock {
        let mut cpu = self.rows.iter().filter(|(key, _)| key.kind == Kind::Cpu).peekable();
        match cpu.peek().is_some() && cpu.all(|(key, _)| key.mode == Mode::OnCpu) {
            true => SampleClock::Cpu,
            false => SampleClock::Wall,
        }
    }

    /// The kinds of samples that were met, and how many of each.
    pub fn kinds(&self) -> Vec<(Kind, u64)> {
        let mut counts: BTreeMap<Kind, u64> = BTreeMap::new();
        for (key, totals) in &self.rows {
            let count = counts.entry(key.kind).or_default();
            *count = count.saturating_add(totals.samples);
        }
        counts.into_iter().collect()
    }

    /// Whether samples of a kind were met.
    pub fn has(&self, kind: Kind) -> bool {
        self.rows.iter().any(|(key, _)| key.kind == kind)
    }
}
