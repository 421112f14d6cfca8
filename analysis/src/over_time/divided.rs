//! Divides the time of CPU samples by the readings of their threads, interval by interval, and gives
//! processor time without samples the times at which it was counted.

use super::sample_rows::{KeyedSample, SampleKey, SampleRow, SampleRows};
use crate::model::{
    DividedInterval, DividedPart, Mode, Profile, Resolved, SampleClass, Unsampled, class_of, scaled,
};

/// Maximum number of rows for processor time that no sample has.
const MAX_UNSAMPLED_ROWS: usize = 1 << 14;
/// Minimum length of the slices of time of such rows, in nanoseconds.
const MIN_SLICE_NANOS: i64 = 1_000_000;

/// Divides the time of rows of CPU samples as the readings around each of them say. Over the whole
/// trace, the parts of a stack add up to those of the profile. Adds rows for the processor time that
/// no sample has. Without readings, the rows stay as they are.
pub(crate) fn divided(samples: SampleRows, resolved: &Resolved<'_>) -> SampleRows {
    let profile = resolved.profile();
    if profile.processor().is_none() {
        return samples;
    }
    let keys = samples.keys();
    let mut of_keys: Vec<Option<DividedKey<'_>>> =
        keys.iter().map(|key| DividedKey::new(key, resolved)).collect();
    for row in &samples.rows {
        if let Some(Some(of)) = of_keys.get_mut(row.key as usize) {
            of.count(row);
        }
    }
    let mut all = SampleRows::sliced(samples.slice_nanos);
    unsampled_rows(&samples.rows, resolved, &mut all);
    for row in &samples.rows {
        let Some(key) = keys.get(row.key as usize) else { continue };
        match of_keys.get_mut(row.key as usize).and_then(Option::as_mut) {
            Some(of) => of.divide(row, key, &mut all),
            None => {
                let KeyedSample { nanos, weight, count, samples, .. } = *row;
                let samples = samples.into();
                all.push(SampleRow { nanos, weight, samples, count, key: *key });
            }
        }
    }
    all.sort();
    all
}

/// Samples of one thread, stack and mode while their time is divided.
struct DividedKey<'p> {
    class: SampleClass,
    intervals: &'p [DividedInterval],
    parts: &'p [DividedPart],
    /// Time of all parts.
    whole: u64,
    /// Time of all samples, and of those so far.
    time: Progress,
    /// Times of each part as the readings say.
    of_parts: Vec<PartProgress>,
}

/// A sum, and the part of it that is reached.
#[derive(Debug, Clone, Copy, Default)]
struct Progress {
    all: u64,
    reached: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct PartProgress {
    time: Progress,
    /// Number of samples that the part got.
    samples: u64,
}

impl<'p> DividedKey<'p> {
    /// Returns `None` if the time is not divided.
    fn new(key: &SampleKey, resolved: &'p Resolved<'_>) -> Option<DividedKey<'p>> {
        let profile: &'p Profile = resolved.profile();
        let parts = profile.divided().parts(&(key.thread, key.stack, key.mode));
        let whole = parts.iter().map(|part| part.nanos).fold(0, u64::saturating_add);
        let intervals = profile.processor()?.intervals.get(&key.thread);
        (whole > 0).then(|| DividedKey {
            class: class_of(key.stack, key.mode, resolved),
            intervals: intervals.map_or(&[], Vec::as_slice),
            parts,
            whole,
            time: Progress::default(),
            of_parts: vec![PartProgress::default(); parts.len()],
        })
    }

    /// Returns the times of the parts of a row, as the readings say.
    fn times(&self, row: &KeyedSample) -> Vec<u64> {
        let (from, to) = (row.nanos, row.nanos.saturating_add_unsigned(row.weight));
        // Time in which the thread ran, was ready, and waited, and time without readings.
        let ([mut ran, mut ready, mut waited], mut unread) = ([0_u64; 3], row.weight);
        let first = self.intervals.partition_point(|interval| interval.to_nanos <= from);
        let within = self.intervals.get(first..).unwrap_or_default().iter();
        for interval in within.take_while(|interval| interval.from_nanos < to) {
            let Some(shares) = interval.shares else { continue };
            let nanos = interval.to_nanos.min(to).abs_diff(interval.from_nanos.max(from));
            let [ran_here, ready_here, waited_here] = shares.parts(self.class, nanos);
            ran = ran.saturating_add(ran_here);
            ready = ready.saturating_add(ready_here);
            waited = waited.saturating_add(waited_here);
            unread = unread.saturating_sub(nanos);
        }
        // Without readings, waits waited.
        if self.class == SampleClass::Waits {
            waited = waited.saturating_add(std::mem::take(&mut unread));
        }
        let times = self.parts.iter().map(|part| {
            let state = state_of(part.mode);
            let of_state = match state {
                0 => ran,
                1 => ready,
                _ => waited,
            };
            let alike = self.parts.iter().filter(|other| state == state_of(other.mode));
            let alike = alike.map(|other| other.nanos).fold(0, u64::saturating_add);
            let unread = scaled(unread, part.nanos, self.whole);
            scaled(of_state, part.nanos, alike).saturating_add(unread)
        });
        times.collect()
    }

    /// Adds a row to the sums of all.
    fn count(&mut self, row: &KeyedSample) {
        let times = self.times(row);
        self.time.all = self.time.all.saturating_add(row.weight);
        for (part, nanos) in self.of_parts.iter_mut().zip(times) {
            part.time.all = part.time.all.saturating_add(nanos);
        }
    }

    /// Adds the parts of a row to `all`.
    fn divide(&mut self, row: &KeyedSample, key: &SampleKey, all: &mut SampleRows) {
        let times = self.times(row);
        let before = self.time;
        self.time.reached = self.time.reached.saturating_add(row.weight);
        let mut weights = Vec::with_capacity(times.len());
        for ((sums, part), nanos) in self.of_parts.iter_mut().zip(self.parts).zip(times) {
            let was = sums.time;
            sums.time.reached = sums.time.reached.saturating_add(nanos);
            // A part of which the readings around the samples know nothing is spread evenly.
            let (was, is) = if was.all > 0 { (was, sums.time) } else { (before, self.time) };
            // Rounding sums makes the parts add up.
            let until = |of: Progress| scaled(part.nanos, of.reached, of.all);
            weights.push(until(is).saturating_sub(until(was)));
        }
        let given: Vec<u64> = self.of_parts.iter().map(|part| part.samples).collect();
        (0..row.samples).for_each(|_| self.give_sample(&weights));
        for (place, (part, weight)) in self.parts.iter().zip(weights).enumerate() {
            let samples = |of: Option<u64>| of.unwrap_or(0);
            let got = samples(self.of_parts.get(place).map(|part| part.samples));
            let samples = got.saturating_sub(samples(given.get(place).copied()));
            if weight > 0 || samples > 0 {
                let (nanos, key) = (row.nanos, SampleKey { mode: part.mode, ..*key });
                all.push(SampleRow { nanos, weight, samples, count: samples, key });
            }
        }
    }

    /// Gives a sample to the part that lacks most of its samples up to now, of those that have time
    /// of the row. In the end each part has its number.
    fn give_sample(&mut self, weights: &[u64]) {
        let lacks = |(part, sums): (&DividedPart, &PartProgress)| {
            let Progress { all, reached } = if sums.time.all > 0 { sums.time } else { self.time };
            let due = part.samples as f64 * (reached as f64 / all.max(1) as f64);
            (sums.samples < part.samples).then_some(due - sums.samples as f64)
        };
        let lacking = self.parts.iter().zip(&self.of_parts).map(lacks).zip(weights).enumerate();
        let lacking =
            lacking.filter_map(|(place, (lacks, weight))| Some((place, (*weight > 0, lacks?))));
        let most = lacking
            .max_by(|(_, one), (_, other)| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)));
        if let Some(sums) = most.and_then(|(place, _)| self.of_parts.get_mut(place)) {
            sums.samples = sums.samples.saturating_add(1);
        }
    }
}

/// Returns a number for what a thread did in a part: 0 if it ran, 1 if it was ready, 2 otherwise.
fn state_of(mode: Mode) -> u8 {
    match mode {
        Mode::Managed | Mode::Ran => 0,
        Mode::Ready => 1,
        _ => 2,
    }
}

/// Processor time of a thread that no sample has.
struct UnsampledTime {
    key: SampleKey,
    weight: u64,
    /// Times at which parts of it were counted.
    counted: Vec<(i64, u64)>,
}

/// Adds rows for the processor time that no sample has to `rows`.
fn unsampled_rows(samples: &[KeyedSample], resolved: &Resolved<'_>, rows: &mut SampleRows) {
    let ends = samples.first().zip(samples.last()).map(|(first, last)| (first.nanos, last.nanos));
    let all: Vec<UnsampledTime> = unsampled_times(ends.unwrap_or((0, 0)), resolved);
    let mut slice_nanos = MIN_SLICE_NANOS;
    let slices = |slice_nanos: i64| {
        let of_key = all.iter().map(|of| {
            of.counted.chunk_by(|one, other| is_in_one(one.0, other.0, slice_nanos)).count()
        });
        of_key.fold(0, usize::saturating_add)
    };
    while slices(slice_nanos) > MAX_UNSAMPLED_ROWS && slice_nanos < i64::MAX {
        slice_nanos = slice_nanos.saturating_mul(2);
    }
    for of in &all {
        let whole = of.counted.iter().map(|(_, nanos)| *nanos).fold(0, u64::saturating_add);
        let (mut reached, mut given) = (0_u64, 0_u64);
        for slice in of.counted.chunk_by(|one, other| is_in_one(one.0, other.0, slice_nanos)) {
            let Some((nanos, _)) = slice.first() else { continue };
            reached = slice.iter().fold(reached, |sum, (_, nanos)| sum.saturating_add(*nanos));
            let until = scaled(of.weight, reached, whole);
            let weight = until.saturating_sub(given);
            given = until;
            if weight > 0 {
                rows.push(SampleRow { nanos: *nanos, weight, samples: 0, count: 0, key: of.key });
            }
        }
    }
}

fn is_in_one(nanos: i64, other: i64, slice_nanos: i64) -> bool {
    nanos.div_euclid(slice_nanos) == other.div_euclid(slice_nanos)
}

/// Returns the processor time that no sample has, with times between the first and the last sample.
fn unsampled_times(ends: (i64, i64), resolved: &Resolved<'_>) -> Vec<UnsampledTime> {
    let profile = resolved.profile();
    let Some(processor) = profile.processor() else { return Vec::new() };
    let stacks = resolved.model().stored_stacks();
    let unsampled =
        |stack| stacks.addresses(stack).first().copied().and_then(Unsampled::from_address);
    let rows = profile.rows().into_iter().filter(|(key, _)| resolved.is_unsampled(key.stack));
    rows.map(|(key, totals)| {
        let why = unsampled(key.stack);
        let intervals = processor.intervals.get(&key.thread).into_iter().flatten();
        let intervals = intervals.filter(|it| Some(it.unsampled) == why && it.unsampled_ns > 0);
        let mut counted: Vec<(i64, u64)> = intervals
            .map(|it| (it.middle().clamp(ends.0, ends.1.max(ends.0)), it.unsampled_ns))
            .collect();
        if counted.is_empty() {
            counted.push((ends.0, totals.weight));
        }
        let key = SampleKey { thread: key.thread, stack: key.stack, mode: key.mode, label: None };
        UnsampledTime { key, weight: totals.weight, counted }
    })
    .collect()
}
