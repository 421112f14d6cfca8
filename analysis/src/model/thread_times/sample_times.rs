//! Divides the time of single samples by the readings of their threads, for what shows samples over
//! time.
//!
//! Samples are closer to each other than readings. So all samples of a class between two readings
//! have the same share of the time that their thread ran, and their parts add up to those of the
//! profile.

use super::gathered::{GatheredSamples, SeenInterval};
use super::measured::DividedRows;
use super::rule::{Elapsed, GivenBack, SampleClass, SampleParts, Shares};
use crate::hash::HashMap;
use crate::model::{Mode, Model, Profile, StackHandle};
use std::ops::Range;

/// What a thread did in a part of the time of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PartKind {
    /// It ran.
    Ran,
    /// It could have run, and had no processor or was stopped by the runtime.
    Ready,
    /// It waited.
    Waited,
    /// The readings do not tell, because they ended before.
    Unknown,
}

/// Part of the time of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TimePart {
    /// What the thread did.
    pub kind: PartKind,
    /// State of the thread, as in the rows of a [`Profile`].
    pub mode: Mode,
    /// Length of the part, in nanoseconds.
    pub nanos: u64,
    /// Whether the part follows from the readings alone.
    pub is_measured: bool,
}

/// Returns the modes of the time in which a thread ran, was ready, waited, and of which nothing is
/// known.
pub(super) fn modes_of(class: SampleClass, mode: Mode) -> [Mode; 4] {
    let is_managed = class == SampleClass::Runs && mode == Mode::Managed;
    let ran = if is_managed { Mode::Managed } else { Mode::Ran };
    // A wait that the frames or events show is known better than by its time.
    let waited = if class == SampleClass::Waits { mode } else { Mode::Waited };
    [ran, Mode::Ready, waited, mode]
}

/// How the readings of a process divide the time of single samples.
#[derive(Debug, Clone)]
pub struct SampleTimes {
    /// Intervals between readings, and the time that samples of each class have in each.
    intervals: Vec<(SeenInterval, [u64; 3])>,
    /// Intervals of each thread, by OS id.
    of_thread: HashMap<u64, Range<usize>>,
    /// Shares in the intervals that are divided as one, by the OS id of their thread.
    merged: HashMap<u64, Shares>,
    /// Time that each thread gave back from its waits, by OS id of the thread.
    given_back: HashMap<u64, GivenBack>,
    classes: HashMap<(StackHandle, Mode), SampleClass>,
    /// Shares of samples of threads without readings, but of waits.
    unread: Shares,
    last_total_nanos: i64,
}

impl SampleTimes {
    /// Keeps what the division of a profile's rows was made of, with the time that each thread gave
    /// back from its waits. `unread`: time that the process ran and that no thread's readings have.
    pub(super) fn new(
        (gathered, given_back): (GatheredSamples, HashMap<u64, GivenBack>),
        unread: u64,
        rows: &DividedRows,
        profile: &Profile,
        model: &Model,
    ) -> SampleTimes {
        let mut classes = HashMap::default();
        for (profile, is_selected) in [(profile, true), (&gathered.refused, false)] {
            for (row, (key, _)) in (0..).zip(profile.unsorted_rows()) {
                let class = rows.class(super::RowPlace { row, is_selected });
                classes.insert((key.stack, key.mode), class);
            }
        }
        let id_of = |thread| model.thread(thread).and_then(|thread| thread.os_thread_id);
        let mut of_merged: HashMap<u64, (Elapsed, [u64; 3])> = HashMap::default();
        let mut of_unread = [0_u64; 3];
        for (thread, row) in rows.by_thread() {
            let (class, gathered) = (rows.class(row), gathered.row(row));
            add(&mut of_unread, class, gathered.unread);
            if let Some(id) = id_of(thread).filter(|_| gathered.merged > 0) {
                add(&mut of_merged.entry(id).or_default().1, class, gathered.merged);
            }
        }
        let mut intervals: Vec<_> = gathered.intervals.iter().map(|seen| (*seen, [0; 3])).collect();
        for piece in &gathered.pieces {
            if let Some((_, wholes)) = intervals.get_mut(piece.interval as usize) {
                add(wholes, rows.class(piece.row()), piece.nanos);
            }
        }
        for (id, range) in &gathered.of_thread {
            for (seen, wholes) in intervals.get_mut(range.clone()).unwrap_or_default() {
                let elapsed = seen.interval.elapsed();
                if seen.is_merged {
                    let (sum, all) = of_merged.entry(*id).or_default();
                    sum.add(elapsed);
                    all.iter_mut().zip(*wholes).for_each(|(all, of)| *all = all.saturating_add(of));
                } else if elapsed.is_full() {
                    // All samples share the time, whatever they show.
                    *wholes = [seen.seen, 0, 0];
                }
            }
        }
        let merged = of_merged.into_iter().map(|(id, (sum, all))| (id, Shares::new(sum, all)));
        let [runs, unknown, _] = of_unread;
        let nanos = runs.saturating_add(unknown);
        SampleTimes {
            merged: merged.collect(),
            given_back,
            intervals,
            classes,
            unread: Shares::new(Elapsed { nanos, ran: unread, ready: 0 }, [runs, unknown, 0]),
            last_total_nanos: gathered.last_total_nanos,
            of_thread: gathered.of_thread,
        }
    }

    /// Returns what divides the samples of the thread with an OS id.
    pub fn divider(&self, id: Option<u64>) -> SampleDivider<'_> {
        let range = id.and_then(|id| self.of_thread.get(&id)).cloned().unwrap_or(0..0);
        SampleDivider {
            intervals: self.intervals.get(range).unwrap_or_default(),
            shares: None,
            merged: id.and_then(|id| self.merged.get(&id)).copied(),
            given_back: id.and_then(|id| self.given_back.get(&id)).copied(),
            unread: self.unread,
            times: self,
        }
    }
}

fn add(wholes: &mut [u64; 3], class: SampleClass, nanos: u64) {
    if let Some(whole) = wholes.get_mut(class as usize) {
        *whole = whole.saturating_add(nanos);
    }
}

/// Divides the time of the samples of a thread, which are passed to it in time order.
#[derive(Debug, Clone)]
pub struct SampleDivider<'t> {
    times: &'t SampleTimes,
    /// Intervals from the one of the latest sample on.
    intervals: &'t [(SeenInterval, [u64; 3])],
    /// Shares in the first of `intervals`, once there was a sample in it.
    shares: Option<Shares>,
    merged: Option<Shares>,
    given_back: Option<GivenBack>,
    unread: Shares,
}

impl SampleDivider<'_> {
    /// Adds the parts of the next sample, given its stack and mode, its time, and the time for which
    /// it stands. Together they have all of that time.
    pub fn divide(
        &mut self,
        (stack, mode): (StackHandle, Mode),
        from: i64,
        weight: u64,
        parts: &mut Vec<TimePart>,
    ) {
        if mode == Mode::OnCpu {
            let (kind, nanos) = (PartKind::Ran, weight);
            parts.push(TimePart { kind, mode, nanos, is_measured: true });
            return;
        }
        let class = self.times.classes.get(&(stack, mode)).copied();
        let class = class.unwrap_or(SampleClass::Unknown);
        let mut add = |of: SampleParts| {
            let known = [of.ran, of.ready, of.waited].into_iter().fold(0, u64::saturating_add);
            debug_assert!(known > 0, "a part without time");
            let kinds = [PartKind::Ran, PartKind::Ready, PartKind::Waited];
            let nanos = kinds.into_iter().zip([of.ran, of.ready, of.waited]);
            for ((kind, nanos), mode) in nanos.zip(modes_of(class, mode)).filter(|it| it.0.1 > 0) {
                let is_ran = kind == PartKind::Ran;
                let is_measured = if is_ran { of.is_ran_measured } else { of.is_rest_measured };
                parts.push(TimePart { kind, mode, nanos, is_measured });
            }
        };
        let (mut from, to) = (from, from.saturating_add_unsigned(weight));
        let mut late = 0_u64;
        while from < to {
            let next = self.intervals.first().map(|(seen, wholes)| (seen, *wholes));
            if let Some((seen, wholes)) = next.filter(|(seen, _)| seen.interval.from_nanos <= from)
            {
                let end = to.min(seen.interval.to_nanos);
                if end <= from {
                    self.intervals = self.intervals.get(1..).unwrap_or_default();
                    self.shares = None;
                    continue;
                }
                let nanos = end.abs_diff(from);
                let elapsed = seen.interval.elapsed();
                let parts = match self.merged.as_mut().filter(|_| seen.is_merged) {
                    Some(merged) => merged.next(class, nanos).estimated(),
                    None => {
                        let shares =
                            self.shares.get_or_insert_with(|| Shares::new(elapsed, wholes));
                        shares.next(class, nanos)
                    }
                };
                add(match &mut self.given_back {
                    Some(given_back) => given_back.change(class, parts),
                    None => parts,
                });
                from = end;
                continue;
            }
            let end = next.map_or(to, |(seen, _)| to.min(seen.interval.from_nanos));
            let read_to = self.times.last_total_nanos.clamp(from, end);
            if read_to > from {
                let nanos = read_to.abs_diff(from);
                add(match class {
                    SampleClass::Waits => SampleParts { waited: nanos, ..SampleParts::default() },
                    _ => self.unread.next(class, nanos).estimated(),
                });
            }
            late = late.saturating_add(end.abs_diff(read_to));
            from = end;
        }
        if late > 0 || weight == 0 {
            let kind = PartKind::Unknown;
            parts.push(TimePart { kind, mode, nanos: late, is_measured: false });
        }
    }
}
