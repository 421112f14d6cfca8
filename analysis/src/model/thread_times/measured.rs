//! Replaces the samples of a profile by the parts of their time in which their threads ran, were
//! ready, and waited, and adds rows for the processor time that no sample has.

use super::divided_intervals::{ClassShares, DividedInterval, ended_intervals};
use super::gathered::{GatheredSamples, RowPlace};
use super::rule::{Elapsed, GivenBack, SampleClass, SampleParts, divide, nearest};
use super::sample_times::{SampleTimes, modes_of};
use super::{HeldBack, ThreadTimes};
use crate::hash::HashMap;
use crate::model::profile::ProcessorSums;
use crate::model::recording::RECORDING;
use crate::model::{
    Filter, Folding, Kind, Mode, Model, NameOptions, ProcessHandle, Profile, ProfileKey, Resolved,
    StackHandle, ThreadHandle, Totals,
};
use std::collections::BTreeMap;

/// Name of the runtime's thread that writes events.
pub(crate) const EVENT_PIPE_THREAD: &str = ".NET EventPipe";

/// Processor time that no sample has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Unsampled {
    /// Time of a thread before its first sample.
    BeforeFirst,
    /// Other time of a thread with samples.
    Between,
    /// Time of threads without samples.
    NoSamples,
    /// Time of the process that no thread's readings have.
    Ended,
    /// Time of the threads that record.
    Recording,
}

impl Unsampled {
    /// Process whose stacks stand for time without samples. No process of a trace has the handle.
    pub(crate) const PROCESS: ProcessHandle = ProcessHandle(u32::MAX);
    const ALL: [Unsampled; 5] = [
        Unsampled::BeforeFirst,
        Unsampled::Between,
        Unsampled::NoSamples,
        Unsampled::Ended,
        Unsampled::Recording,
    ];

    /// Returns what an address in a stack of [`Unsampled::PROCESS`] stands for.
    pub(crate) fn from_address(address: u64) -> Option<Unsampled> {
        Unsampled::ALL.into_iter().find(|unsampled| unsampled.address() == address)
    }

    /// Returns the only address of the stack that stands for the time.
    pub(crate) fn address(self) -> u64 {
        self as u64
    }

    /// Returns the text of the frame that stands for the time.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Unsampled::BeforeFirst => "(before a thread's first sample)",
            Unsampled::Between => "(between samples)",
            Unsampled::NoSamples => "(threads without samples)",
            Unsampled::Ended => "(threads that ended between two readings)",
            Unsampled::Recording => RECORDING,
        }
    }
}

/// Time in nanoseconds, by how certain it is.
#[derive(Debug, Clone, Copy, Default)]
struct CertainTime {
    all: u64,
    estimated: u64,
}

impl CertainTime {
    fn add(&mut self, nanos: u64, is_measured: bool) {
        self.all = self.all.saturating_add(nanos);
        if !is_measured {
            self.estimated = self.estimated.saturating_add(nanos);
        }
    }

    /// Takes time away, first what is estimated.
    fn take(&mut self, nanos: u64) {
        self.all = self.all.saturating_sub(nanos);
        self.estimated = self.estimated.saturating_sub(nanos);
    }
}

/// Parts of the time of a row.
#[derive(Debug, Clone, Copy, Default)]
struct RowParts {
    ran: CertainTime,
    ready: CertainTime,
    waited: CertainTime,
}

impl RowParts {
    fn add(&mut self, parts: &SampleParts) {
        self.ran.add(parts.ran, parts.is_ran_measured);
        self.ready.add(parts.ready, parts.is_rest_measured);
        self.waited.add(parts.waited, parts.is_rest_measured);
    }
}

/// A row of the profile while its time is divided.
#[derive(Debug, Clone, Copy)]
struct DividedRow {
    class: SampleClass,
    thread: ThreadHandle,
    parts: RowParts,
}

/// Replaces the samples of a profile by the parts of their time, with the readings of their threads.
/// Does so once all samples are gathered, and all names are known. `keeps_times`: the profile
/// keeps how the time of single samples is divided.
pub(crate) fn measure(
    profile: &mut Profile,
    mut gathered: GatheredSamples,
    times: &ThreadTimes,
    model: &mut Model,
    (filter, keeps_times): (&Filter, bool),
) {
    gathered.complete();
    let mut rows = {
        let resolved = Resolved::new(
            model,
            profile,
            NameOptions::default(),
            &Folding::default(),
            &Filter::default(),
        );
        DividedRows {
            selected: divided_rows(profile, &resolved),
            refused: divided_rows(&gathered.refused, &resolved),
            over: BTreeMap::new(),
        }
    };
    let (mut left, shares) = divide_intervals(&gathered, &mut rows);
    let given_back = divide_by_thread(&gathered, &mut rows, model, &mut left);
    let read = gathered.intervals.iter().map(|seen| seen.interval.ran_ns);
    let read = read.fold(0, u64::saturating_add);
    let total = total_of(times);
    let unread = total.map(|total| divide_unread(&gathered, &mut rows, total.saturating_sub(read)));
    let held_back = HeldBack::new(times, total.unwrap_or(read));
    let total_ns = total.filter(|_| filter.admits_all_moments());
    let sums = ProcessorSums { total_ns, held_back, ..ProcessorSums::default() };
    let rest = BTreeMap::new();
    let mut of = RestOf { gathered: &gathered, left: &left, shares: &shares, filter, rest, sums };
    // Threads that had one id after another are one thread of the model.
    let threads = times.threads.iter().map(|thread| (thread.thread_id, &*thread.name));
    for (id, name) in threads.collect::<BTreeMap<u64, &str>>() {
        let thread = model.count_events(times.process_id, Some(id), 0);
        if !name.is_empty() {
            model.threads.name(thread, name);
        }
        let is_recording = of.gathered.is_sampler(id) || name == EVENT_PIPE_THREAD;
        of.add((thread, id), is_recording, model);
    }
    let RestOf { mut rest, mut sums, .. } = of;
    if let Some(unread) = unread.filter(|unread| *unread > 0 && filter.admits_all_moments()) {
        let nobody = model.count_events(times.process_id, None, 0);
        model.threads.name(nobody, Unsampled::Ended.text());
        sums.threads.entry(nobody).or_default().ran_ns = unread;
        sums.intervals.insert(nobody, ended_intervals(times, &gathered));
        rest.insert((Unsampled::Ended, nobody), unread);
    }
    if keeps_times {
        let unread = total.map_or(0, |total| total.saturating_sub(read));
        profile.set_sample_times(SampleTimes::new(
            (gathered, given_back),
            unread,
            &rows,
            profile,
            model,
        ));
    }
    let anchor = profile.unsorted_rows().iter().map(|(_, totals)| totals.first_nanos).min();
    let parts: Vec<_> = rows.selected.into_iter().map(|row| (row.class, row.parts)).collect();
    profile.replace_rows(|at, key, totals, add| match parts.get(at) {
        Some((class, parts)) if key.kind == Kind::Cpu => {
            for (mode, totals) in split(*class, parts, key.mode, totals) {
                add(ProfileKey { mode, ..*key }, totals);
            }
        }
        _ => add(*key, *totals),
    });
    for ((unsampled, thread), weight) in rest.into_iter().filter(|(_, nanos)| *nanos > 0) {
        let totals = Totals::at(anchor.unwrap_or(0), 0, weight);
        profile.add_totals(key(thread, model.unsampled_stack(unsampled)), &totals);
    }
    profile.set_processor(sums);
}

fn key(thread: ThreadHandle, stack: StackHandle) -> ProfileKey {
    ProfileKey { kind: Kind::Cpu, thread, stack, mode: Mode::Ran, label: None, endpoint: None }
}

/// Rows of the samples that the filter accepts, and of the others, by index.
#[derive(Debug)]
pub(super) struct DividedRows {
    selected: Vec<DividedRow>,
    refused: Vec<DividedRow>,
    /// Time of each thread's samples that can run, beyond what the thread ran and was ready for.
    over: BTreeMap<ThreadHandle, u64>,
}

impl DividedRows {
    fn get(&self, row: RowPlace) -> Option<&DividedRow> {
        let rows = if row.is_selected { &self.selected } else { &self.refused };
        rows.get(row.row as usize)
    }

    /// Returns what the samples of a row show of their thread.
    pub(super) fn class(&self, row: RowPlace) -> SampleClass {
        self.get(row).map_or(SampleClass::Unknown, |row| row.class)
    }

    fn change(&mut self, row: RowPlace, change: impl FnOnce(&mut RowParts)) {
        let rows = if row.is_selected { &mut self.selected } else { &mut self.refused };
        if let Some(row) = rows.get_mut(row.row as usize) {
            change(&mut row.parts);
        }
    }

    /// Returns all rows, thread by thread.
    pub(super) fn by_thread(&self) -> Vec<(ThreadHandle, RowPlace)> {
        let rows = |rows: &[DividedRow], is_selected| {
            let rows = (0..).zip(rows.iter().map(|row| row.thread));
            rows.map(|(row, thread)| (thread, RowPlace { row, is_selected })).collect::<Vec<_>>()
        };
        let mut all = rows(&self.selected, true);
        all.extend(rows(&self.refused, false));
        all.sort_unstable();
        all
    }

    /// Divides the time that a thread ran among rows. Returns the time that none of them can have.
    fn divide(&mut self, elapsed: Elapsed, of: &[(RowPlace, u64)], is_measured: bool) -> u64 {
        let samples: Vec<_> = of.iter().map(|(row, nanos)| (self.class(*row), *nanos)).collect();
        let mut parts = Vec::new();
        let left = divide(elapsed, &samples, &mut parts);
        let first = of.first().and_then(|(row, _)| self.get(*row));
        if let Some(thread) = first.map(|row| row.thread).filter(|_| !elapsed.is_full()) {
            let runs =
                samples.iter().zip(&parts).filter(|(sample, _)| sample.0 == SampleClass::Runs);
            let not_run = runs.map(|(_, part)| part.ready).fold(0, u64::saturating_add);
            add_to(self.over.entry(thread).or_default(), not_run.saturating_sub(elapsed.ready));
        }
        for ((row, _), parts) in of.iter().zip(&parts) {
            let parts = if is_measured { *parts } else { parts.estimated() };
            self.change(*row, |sums| sums.add(&parts));
        }
        left
    }

    /// Gives time that a thread ran in waits to its samples that can run.
    fn give_back(&mut self, of: &[(ThreadHandle, RowPlace)]) -> GivenBack {
        let over = of.first().and_then(|(thread, _)| self.over.get(thread)).copied().unwrap_or(0);
        let times = |class, part: fn(&RowParts) -> u64| -> Vec<(RowPlace, u64)> {
            let rows = of.iter().filter_map(|(_, row)| Some((*row, self.get(*row)?)));
            let rows = rows.filter(|(_, of_row)| of_row.class == class);
            rows.map(|(row, of_row)| (row, part(&of_row.parts))).collect()
        };
        let could_run = times(SampleClass::Runs, |parts| parts.ready.all);
        let in_waits = times(SampleClass::Waits, |parts| parts.ran.all);
        let sum = |times: &[(RowPlace, u64)]| {
            times.iter().map(|(_, nanos)| *nanos).fold(0, u64::saturating_add)
        };
        let given = GivenBack::new(sum(&could_run), sum(&in_waits), over);
        let mut of_rows = given;
        for (row, nanos) in could_run {
            let nanos = of_rows.runs_get(nanos);
            self.change(row, |parts| {
                parts.ready.take(nanos);
                parts.ran.add(nanos, false);
            });
        }
        for (row, nanos) in in_waits {
            let nanos = of_rows.waits_give(nanos);
            self.change(row, |parts| {
                parts.ran.take(nanos);
                parts.waited.add(nanos, false);
            });
        }
        given
    }
}

fn divided_rows(profile: &Profile, resolved: &Resolved<'_>) -> Vec<DividedRow> {
    let row = |(key, _): &(ProfileKey, Totals)| DividedRow {
        class: class_of(key.stack, key.mode, resolved),
        thread: key.thread,
        parts: RowParts::default(),
    };
    profile.unsorted_rows().iter().map(row).collect()
}

/// Returns what a sample shows of its thread.
pub(crate) fn class_of(stack: StackHandle, mode: Mode, resolved: &Resolved<'_>) -> SampleClass {
    SampleClass::new(resolved.running(stack, mode), resolved.is_untold(stack, mode))
}

/// Divides the intervals in which threads ran in part. Returns the time of each interval that no
/// sample has, and how each interval is divided.
fn divide_intervals(
    gathered: &GatheredSamples,
    rows: &mut DividedRows,
) -> (Vec<u64>, Vec<Option<ClassShares>>) {
    let intervals = &gathered.intervals;
    let mut left: Vec<u64> = intervals.iter().map(|seen| seen.interval.ran_ns).collect();
    let mut shares: Vec<Option<ClassShares>> = intervals.iter().map(ClassShares::of_one).collect();
    for of in gathered.pieces.chunk_by(|one, other| one.interval == other.interval) {
        let Some(place) = of.first().map(|piece| piece.interval as usize) else { continue };
        let Some(seen) = gathered.intervals.get(place).filter(|seen| !seen.is_merged) else {
            continue;
        };
        let of: Vec<_> = of.iter().map(|piece| (piece.row(), piece.nanos)).collect();
        let rest = rows.divide(seen.interval.elapsed(), &of, true);
        if let (Some(left), Some(shares)) = (left.get_mut(place), shares.get_mut(place)) {
            *left = rest;
            let classes = of.iter().map(|(row, nanos)| (rows.class(*row), *nanos));
            *shares = Some(ClassShares::new(seen.interval.elapsed(), classes));
        }
    }
    (left, shares)
}

/// Divides the times that are sums of many intervals of a thread. Returns the time that each thread
/// gave back from its waits, by the thread's OS id.
fn divide_by_thread(
    gathered: &GatheredSamples,
    rows: &mut DividedRows,
    model: &Model,
    left: &mut [u64],
) -> HashMap<u64, GivenBack> {
    let mut given_back = HashMap::default();
    let mut merged_pieces: HashMap<RowPlace, u64> = HashMap::default();
    for piece in &gathered.pieces {
        let seen = gathered.intervals.get(piece.interval as usize);
        if seen.is_some_and(|seen| seen.is_merged) {
            let sum = merged_pieces.entry(piece.row()).or_default();
            *sum = sum.saturating_add(piece.nanos);
        }
    }
    let by_thread = rows.by_thread();
    for of in by_thread.chunk_by(|one, other| one.0 == other.0) {
        let Some((thread, _)) = of.first() else { continue };
        let id = model.thread(*thread).and_then(|thread| thread.os_thread_id);
        let range = id.and_then(|id| gathered.of_thread.get(&id)).cloned().unwrap_or(0..0);
        let (mut full, mut merged) = (0_u64, Elapsed::default());
        let mut first_merged = None;
        for place in range {
            let (Some(seen), Some(left)) = (gathered.intervals.get(place), left.get_mut(place))
            else {
                continue;
            };
            let elapsed = seen.interval.elapsed();
            if seen.is_merged {
                merged.add(elapsed);
                first_merged = first_merged.or(Some(place));
                *left = 0;
            } else if elapsed.is_full() {
                let given = seen.seen.min(elapsed.ran);
                full = full.saturating_add(given);
                *left = elapsed.ran.saturating_sub(given);
            }
        }
        let times = |time: &dyn Fn(RowPlace) -> u64| -> Vec<(RowPlace, u64)> {
            let rows = of.iter().map(|(_, row)| (*row, time(*row)));
            rows.filter(|(_, nanos)| *nanos > 0).collect()
        };
        let of_full = times(&|row| gathered.row(row).full);
        rows.divide(Elapsed { nanos: full, ran: full, ready: 0 }, &of_full, true);
        let of_idle = times(&|row| gathered.row(row).idle);
        rows.divide(Elapsed::default(), &of_idle, true);
        let of_merged = times(&|row| {
            let of_pieces = merged_pieces.get(&row).copied().unwrap_or(0);
            gathered.row(row).merged.saturating_add(of_pieces)
        });
        let rest = rows.divide(merged, &of_merged, false);
        if let Some(left) = first_merged.and_then(|place| left.get_mut(place)) {
            *left = rest;
        }
        let given = rows.give_back(of);
        id.map(|id| given_back.insert(id, given));
    }
    given_back
}

/// Returns the processor time of the process in the session; `None` if it is not known.
fn total_of(times: &ThreadTimes) -> Option<u64> {
    let (first, last) = (times.process.first()?, times.process.last()?);
    let born = times.threads.iter().filter_map(|thread| thread.born_nanos).min();
    let is_of_session = born.is_some_and(|born| born >= times.earliest_birth());
    let before = if is_of_session { 0 } else { first.ran_ns() };
    Some(last.ran_ns().saturating_sub(before))
}

/// Divides the processor time that no thread's readings have among the samples of threads without
/// readings. Waits get none. Returns what is left.
fn divide_unread(gathered: &GatheredSamples, rows: &mut DividedRows, unread: u64) -> u64 {
    let all = rows.by_thread().into_iter().map(|(_, row)| (row, gathered.row(row).unread));
    let all = all.filter(|(_, nanos)| *nanos > 0);
    let (waits, others): (Vec<_>, Vec<_>) =
        all.partition(|(row, _)| rows.class(*row) == SampleClass::Waits);
    rows.divide(Elapsed::default(), &waits, false);
    let nanos = others.iter().map(|(_, nanos)| *nanos).fold(0, u64::saturating_add);
    rows.divide(Elapsed { nanos, ran: unread, ready: 0 }, &others, false)
}

/// Processor time that no sample has, while it is added up.
struct RestOf<'a> {
    gathered: &'a GatheredSamples,
    /// Time of each interval that no sample has.
    left: &'a [u64],
    /// How each interval is divided.
    shares: &'a [Option<ClassShares>],
    filter: &'a Filter,
    rest: BTreeMap<(Unsampled, ThreadHandle), u64>,
    sums: ProcessorSums,
}

impl RestOf<'_> {
    /// Adds the times of the threads with an OS id.
    fn add(&mut self, (thread, id): (ThreadHandle, u64), is_recording: bool, model: &Model) {
        let first = self.gathered.first_sample(thread);
        let range = self.gathered.of_thread.get(&id).cloned().unwrap_or(0..0);
        for place in range {
            let (Some(seen), Some(left)) =
                (self.gathered.intervals.get(place), self.left.get(place))
            else {
                continue;
            };
            let interval = seen.interval;
            if !self.filter.admits_moment(thread, interval.middle(), false, model) {
                continue;
            }
            let of_thread = self.sums.threads.entry(thread).or_default();
            add_to(&mut of_thread.ran_ns, interval.ran_ns);
            add_to(&mut of_thread.ready_ns, interval.ready_ns);
            add_to(&mut of_thread.throttled_ns, interval.throttled_ns);
            of_thread.is_recording = is_recording && first.is_none();
            let unsampled = match first {
                None if is_recording => Unsampled::Recording,
                None => Unsampled::NoSamples,
                Some(first) if interval.from_nanos < first => Unsampled::BeforeFirst,
                Some(_) => Unsampled::Between,
            };
            add_to(self.rest.entry((unsampled, thread)).or_default(), *left);
            let shares = self.shares.get(place).copied().flatten();
            let divided = DividedInterval::new(&interval, shares, (unsampled, *left));
            self.sums.intervals.entry(thread).or_default().push(divided);
        }
    }
}

/// Returns the parts of a row as rows of their own: time in which the thread ran, was ready, waited,
/// and time of which nothing is known. Samples are divided in proportion.
fn split(
    class: SampleClass,
    parts: &RowParts,
    mode: Mode,
    totals: &Totals,
) -> impl Iterator<Item = (Mode, Totals)> {
    let RowParts { ran, ready, waited } = *parts;
    let known = ran.all.saturating_add(ready.all).saturating_add(waited.all);
    let unknown = CertainTime { all: totals.weight.saturating_sub(known), estimated: 0 };
    let parts = modes_of(class, mode).into_iter().zip([ran, ready, waited, unknown]);
    let totals = *totals;
    let (mut time, mut samples) = (0_u64, 0_u64);
    parts.filter_map(move |(mode, part)| {
        time = time.saturating_add(part.all);
        // Rounding sums instead of parts makes the parts add up to the whole.
        let until = match totals.weight {
            0 => totals.samples,
            weight => nearest(totals.samples, time.min(weight), weight),
        };
        let count = until.saturating_sub(samples);
        samples = until;
        let is_part = part.all > 0 || count > 0;
        is_part.then_some((
            mode,
            Totals { samples: count, count, weight: part.all, estimated: part.estimated, ..totals },
        ))
    })
}

fn add_to(sum: &mut u64, nanos: u64) {
    *sum = sum.saturating_add(nanos);
}

#[cfg(test)]
mod tests {
    use super::super::{ProcessTotal, ThreadReading, TimedThread};
    use super::*;
    use proptest::prelude::*;

    const MS: u64 = 1_000_000;

    fn key_of(stack: u32, mode: Mode) -> ProfileKey {
        let stack = StackHandle(stack);
        ProfileKey { mode, ..key(ThreadHandle(0), stack) }
    }

    /// Returns the sums of all rows that ran, of all others, and of managed code that ran, and the
    /// number of samples. Samples of thread 7 stand for a millisecond each, from 0 on; `rows` are
    /// their stacks and modes. Readings are the times that the thread ran in each interval of
    /// `interval_ms`.
    fn measured(
        rows: impl Iterator<Item = (u32, Mode)>,
        interval_ms: u64,
        ran_ms: &[u64],
    ) -> ([u64; 3], u64) {
        let mut thread = TimedThread { born_nanos: Some(0), ..TimedThread::new(7) };
        let (mut at, mut ran) = (0, 0);
        for ran_here in ran_ms {
            at += interval_ms * MS;
            ran += ran_here * MS;
            let nanos = i64::try_from(at).unwrap();
            thread.readings.push(ThreadReading { nanos, ran_ns: ran, ready_ns: 0 });
        }
        let nanos = i64::try_from(at).unwrap();
        let process = vec![ProcessTotal { nanos, user_ns: ran, ..ProcessTotal::default() }];
        let times = ThreadTimes { threads: vec![thread], process, ..ThreadTimes::default() };
        let mut model = Model::default();
        let thread = model.count_events(None, Some(7), 0);
        let (mut profile, mut gathered) = (Profile::default(), GatheredSamples::new(&times));
        for (at, (stack, mode)) in (0..).zip(rows) {
            let nanos = at * 1_000_000;
            let row = profile.add_totals(key_of(stack, mode), &Totals::at(nanos, 1, MS));
            gathered.add(thread, Some(7), RowPlace { row, is_selected: true }, nanos, MS);
        }
        measure(&mut profile, gathered, &times, &mut model, (&Filter::default(), true));
        let resolved = Resolved::new(
            &model,
            &profile,
            NameOptions::default(),
            &Folding::default(),
            &Filter::default(),
        );
        let (mut sums, mut samples) = ([0; 3], 0);
        for (key, totals) in profile.rows() {
            sums[usize::from(resolved.running(key.stack, key.mode).is_none())] += totals.weight;
            sums[2] += if key.mode == Mode::Managed { totals.weight } else { 0 };
            samples += totals.samples;
        }
        (sums, samples)
    }

    #[test]
    fn intervals_beyond_the_bound_are_divided_as_one() {
        // Six rows in each interval: more than are kept.
        let modes = [Mode::Managed, Mode::External];
        let rows = (0..1_200_000).map(|at: u32| (at % 6, modes[(at % 2) as usize]));
        let ran = vec![3; 200_000];
        let ([ran, others, _], samples) = measured(rows, 6, &ran);
        assert_eq!((ran / MS, others / MS, samples), (600_000, 600_000, 1_200_000));
    }

    #[test]
    fn short_work_has_the_time_of_intervals_in_which_only_waits_were_seen() {
        // The thread works for a millisecond of every ten, and is seen doing so in two of ten.
        let modes =
            |at: u32| if matches!(at, 12..17 | 50..55) { Mode::Managed } else { Mode::Blocked };
        let rows = (0..100).map(|at| (u32::from(modes(at) == Mode::Blocked), modes(at)));
        let ([ran, others, managed], _) = measured(rows, 10, &[1; 10]);
        assert_eq!((ran / MS, others / MS, managed / MS), (10, 90, 10));
    }

    proptest! {
        #[test]
        fn rows_add_up_to_what_the_process_ran(
            rows in prop::collection::vec((0..4_u32, 0..3_usize), 0..300),
            ran in prop::collection::vec(0..=10_u64, 1..40),
        ) {
            let modes = [Mode::Managed, Mode::External, Mode::Blocked];
            let count = rows.len() as u64;
            let rows = rows.into_iter().map(|(stack, mode)| (stack, modes[mode]));
            let ([all, others, _], samples) = measured(rows, 10, &ran);
            let process = ran.iter().sum::<u64>() * MS;
            // Samples after the last reading are as they were.
            let late = (count * MS).saturating_sub(ran.len() as u64 * 10 * MS);
            prop_assert!((process..=process + late).contains(&all), "{all} {process} {late}");
            prop_assert!(all + others >= count * MS);
            prop_assert_eq!(samples, count);
        }
    }
}
