//! Gathers the times for which samples stand, by the readings between which they lie.
//!
//! Names come last, so what a sample shows of its thread is not known yet. Where a thread ran all
//! the time or not at all, a sum for each row of the profile is enough. Where it ran in part, each
//! interval keeps the times of its rows; beyond a bound, such intervals of a thread are divided as
//! one, by proportion.

use super::{ThreadInterval, ThreadTimes};
use crate::hash::HashMap;
use crate::model::{Profile, ThreadHandle};
use std::ops::Range;

/// Maximum number of times that are kept for intervals in which a thread ran in part: 16 MiB of
/// them.
const MAX_PIECES: usize = 1 << 20;
/// Maximum number of times that are gathered for one interval before they are kept.
const MAX_OPEN: usize = 1 << 12;
/// Maximum number of threads that take samples.
const MAX_SAMPLERS: usize = 8;
/// Number of rows of an interval among which the row of the next sample is looked for.
const RECENT_ROWS: usize = 8;

/// Row of the profile to which samples belong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct RowPlace {
    /// Index of the row.
    pub(crate) row: u32,
    /// Whether the filter accepts the samples. The row is one of [`GatheredSamples::refused`]
    /// otherwise.
    pub(crate) is_selected: bool,
}

/// Time for which samples of a row stand between two readings.
#[derive(Debug, Clone, Copy)]
pub(super) struct SamplePiece {
    /// Index of the interval.
    pub(super) interval: u32,
    /// Twice the index of the row; one more if the filter refuses the samples.
    row: u32,
    pub(super) nanos: u64,
}

impl SamplePiece {
    pub(super) fn row(&self) -> RowPlace {
        RowPlace { row: self.row / 2, is_selected: self.row.is_multiple_of(2) }
    }
}

/// Times for which the samples of a row stand, in nanoseconds, apart from those in
/// [`GatheredSamples::pieces`].
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct GatheredRow {
    /// Time in which the thread ran nearly always.
    pub(super) full: u64,
    /// Time in which the thread neither ran nor was ready.
    pub(super) idle: u64,
    /// Time in intervals in which the thread ran in part, and that are divided as one.
    pub(super) merged: u64,
    /// Time without readings of the thread, up to the last total of the process.
    pub(super) unread: u64,
    /// Time after the last total of the process.
    pub(super) late: u64,
}

/// An interval, and the time in it for which samples stand.
#[derive(Debug, Clone, Copy)]
pub(super) struct SeenInterval {
    pub(super) interval: ThreadInterval,
    pub(super) seen: u64,
    /// Whether it is divided as one with others of its thread.
    pub(super) is_merged: bool,
}

/// Times for which the samples of a process stand, by the readings between which they lie.
#[derive(Debug, Default)]
pub(crate) struct GatheredSamples {
    pub(super) intervals: Vec<SeenInterval>,
    /// Intervals of each thread, by OS id.
    pub(super) of_thread: HashMap<u64, Range<usize>>,
    /// Threads with samples, by index.
    threads: Vec<Option<GatheredThread>>,
    pub(super) pieces: Vec<SamplePiece>,
    selected_rows: Vec<GatheredRow>,
    refused_rows: Vec<GatheredRow>,
    /// Samples that the filter refuses. They share the processor time of their threads.
    pub(crate) refused: Profile,
    /// Time of the last total of the process, in nanoseconds since the session's start.
    pub(super) last_total_nanos: i64,
    /// OS ids of the threads that took samples.
    samplers: Vec<u64>,
}

#[derive(Debug)]
struct GatheredThread {
    /// Intervals of the thread.
    intervals: Range<usize>,
    /// Index of the interval with the thread's latest sample.
    at: usize,
    first_nanos: i64,
    /// Rows and times of the samples in that interval, if the thread ran in part.
    open: Vec<(u32, u64)>,
}

impl GatheredSamples {
    pub(crate) fn new(times: &ThreadTimes) -> GatheredSamples {
        let mut gathered = GatheredSamples {
            last_total_nanos: times.process.last().map_or(i64::MIN, |total| total.nanos),
            ..GatheredSamples::default()
        };
        for (id, intervals) in times.intervals() {
            let first = gathered.intervals.len();
            let seen = intervals.into_iter();
            let seen = seen.map(|interval| SeenInterval { interval, seen: 0, is_merged: false });
            gathered.intervals.extend(seen);
            gathered.of_thread.insert(id, first..gathered.intervals.len());
        }
        gathered
    }

    /// Notes the thread that took a sample.
    pub(crate) fn add_sampler(&mut self, id: u64) {
        if self.samplers.len() < MAX_SAMPLERS && !self.samplers.contains(&id) {
            self.samplers.push(id);
        }
    }

    /// Returns whether a thread took samples.
    pub(super) fn is_sampler(&self, id: u64) -> bool {
        self.samplers.contains(&id)
    }

    /// Adds samples of a thread, which stand for the time `weight` from `from` on. `id`: OS id of
    /// the thread.
    pub(crate) fn add(
        &mut self,
        thread: ThreadHandle,
        id: Option<u64>,
        row: RowPlace,
        from: i64,
        weight: u64,
    ) {
        if self.threads.len() <= thread.index() {
            self.threads.resize_with(thread.index().saturating_add(1), || None);
        }
        let Some(slot) = self.threads.get_mut(thread.index()) else { return };
        let of_thread = id.and_then(|id| self.of_thread.get(&id));
        let mut sampled = slot.take().unwrap_or_else(|| {
            let intervals = of_thread.cloned().unwrap_or(0..0);
            GatheredThread { at: intervals.start, intervals, first_nanos: from, open: Vec::new() }
        });
        self.spread(&mut sampled, row, from, from.saturating_add_unsigned(weight));
        if let Some(slot) = self.threads.get_mut(thread.index()) {
            *slot = Some(sampled);
        }
    }

    /// Spreads the time of samples over the intervals of their thread.
    fn spread(&mut self, thread: &mut GatheredThread, row: RowPlace, from: i64, to: i64) {
        let mut from = from;
        while from < to {
            let found = self.intervals.get(thread.at).filter(|_| thread.at < thread.intervals.end);
            let Some(SeenInterval { interval, .. }) = found.copied() else {
                return self.add_unread(row, from, to);
            };
            if interval.to_nanos <= from {
                self.close(thread);
                thread.at = thread.at.saturating_add(1);
                continue;
            }
            if from < interval.from_nanos {
                let end = to.min(interval.from_nanos);
                self.add_unread(row, from, end);
                from = end;
                continue;
            }
            let end = to.min(interval.to_nanos);
            self.add_between(thread, row, end.abs_diff(from));
            from = end;
        }
    }

    /// Adds time within the interval of the thread's latest sample.
    fn add_between(&mut self, thread: &mut GatheredThread, row: RowPlace, nanos: u64) {
        let Some(seen) = self.intervals.get_mut(thread.at) else { return };
        seen.seen = seen.seen.saturating_add(nanos);
        let elapsed = seen.interval.elapsed();
        if elapsed.is_full() {
            self.add_to_row(row, |gathered| add_to(&mut gathered.full, nanos));
        } else if elapsed.ran == 0 && elapsed.ready == 0 {
            self.add_to_row(row, |gathered| add_to(&mut gathered.idle, nanos));
        } else {
            let row = row.row.saturating_mul(2).saturating_add(u32::from(!row.is_selected));
            let mut recent = thread.open.iter_mut().rev().take(RECENT_ROWS);
            match recent.find(|(known, _)| *known == row) {
                Some((_, sum)) => add_to(sum, nanos),
                None => thread.open.push((row, nanos)),
            }
            if thread.open.len() >= MAX_OPEN {
                self.close(thread);
            }
        }
    }

    /// Keeps the times of the interval of the thread's latest sample.
    fn close(&mut self, thread: &mut GatheredThread) {
        let interval = u32::try_from(thread.at).unwrap_or(u32::MAX);
        let keeps = self.pieces.len().saturating_add(thread.open.len()) <= MAX_PIECES;
        if let Some(seen) = self.intervals.get_mut(thread.at).filter(|_| !keeps) {
            seen.is_merged = true;
        }
        for (row, nanos) in thread.open.drain(..) {
            let piece = SamplePiece { interval, row, nanos };
            if keeps {
                self.pieces.push(piece);
            } else {
                self.add_to_row(piece.row(), |gathered| add_to(&mut gathered.merged, nanos));
            }
        }
    }

    /// Adds time of a thread that has no readings then.
    fn add_unread(&mut self, row: RowPlace, from: i64, to: i64) {
        let end = self.last_total_nanos.clamp(from, to);
        self.add_to_row(row, |gathered| {
            add_to(&mut gathered.unread, end.abs_diff(from));
            add_to(&mut gathered.late, to.abs_diff(end));
        });
    }

    /// Closes all intervals.
    pub(super) fn complete(&mut self) {
        let threads = std::mem::take(&mut self.threads);
        self.threads = threads
            .into_iter()
            .map(|mut thread| {
                if let Some(thread) = &mut thread {
                    self.close(thread);
                }
                thread
            })
            .collect();
        self.pieces.sort_unstable_by_key(|piece| (piece.interval, piece.row));
    }

    /// Returns the time of a thread's first sample, in nanoseconds since the session's start; `None`
    /// if the thread has none.
    pub(super) fn first_sample(&self, thread: ThreadHandle) -> Option<i64> {
        self.threads.get(thread.index())?.as_ref().map(|thread| thread.first_nanos)
    }

    /// Returns the times of a row.
    pub(super) fn row(&self, row: RowPlace) -> GatheredRow {
        let rows = if row.is_selected { &self.selected_rows } else { &self.refused_rows };
        rows.get(row.row as usize).copied().unwrap_or_default()
    }

    fn add_to_row(&mut self, row: RowPlace, add: impl FnOnce(&mut GatheredRow)) {
        let rows = if row.is_selected { &mut self.selected_rows } else { &mut self.refused_rows };
        let place = row.row as usize;
        if rows.len() <= place {
            rows.resize(place.saturating_add(1), GatheredRow::default());
        }
        if let Some(gathered) = rows.get_mut(place) {
            add(gathered);
        }
    }
}

fn add_to(sum: &mut u64, nanos: u64) {
    *sum = sum.saturating_add(nanos);
}
