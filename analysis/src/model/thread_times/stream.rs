//! Reads the events of the provider `Nettrace-Clock`. Memory is bounded, however long the recording
//! is: beyond a bound, every second reading of each thread is left out, which merges intervals
//! pairwise.

use super::process::{GroupLimits, MachineTotal, ProcessTotal, RecordingEnd, number, text};
use super::{ThreadReading, ThreadTimes, TimedThread};
use crate::hash::HashMap;
use crate::model::names::shorten;
use nettrace_parser::Event;
use std::collections::BTreeMap;

/// Name of the provider of the events.
const PROVIDER: &str = "Nettrace-Clock";
/// Maximum number of readings that are kept of all threads: 12 MiB of them.
const MAX_READINGS: usize = 1 << 19;
/// Maximum number of threads with readings.
const MAX_THREADS: usize = 1 << 16;
/// Maximum number of totals of the process, and of the machine.
const MAX_TOTALS: usize = 1 << 16;
/// Maximum number of readings of control groups.
const MAX_GROUPS: usize = 1 << 12;
/// Minimum difference between the births of two threads with one id, in nanoseconds.
const MIN_BIRTHS_APART_NANOS: u64 = 10_000_001;

/// What the events of a stream said so far.
#[derive(Debug, Default)]
pub(super) struct StreamState {
    times: ThreadTimes,
    /// Living threads, by OS id.
    living: HashMap<u64, LivingThread>,
    /// Number of rounds that have ended.
    rounds: u64,
    /// Time at which the last round that has ended began, in nanoseconds since the session's start.
    round_nanos: i64,
    readings: usize,
    /// Number of readings at which neighbours are merged next.
    merge_at: usize,
}

/// A thread that has not ended.
#[derive(Debug, Clone, Copy)]
struct LivingThread {
    /// Index in [`ThreadTimes::threads`].
    place: usize,
    /// Round of the thread's latest row.
    round: u64,
}

impl StreamState {
    /// Takes the next event.
    pub(super) fn event(&mut self, event: &Event<'_>) {
        if event.provider() != PROVIDER {
            return;
        }
        self.times.process_id = self.times.process_id.or(event.process_id());
        let Some(nanos) = event.nanos() else { return };
        match (event.id(), event.thread_id()) {
            (1, Some(id)) => self.time(event, id, nanos),
            (2, Some(id)) => self.name(event, id),
            (3, _) => {
                add_total(&mut self.times.process, ProcessTotal::from_event(event, nanos));
                self.rounds = self.rounds.saturating_add(1);
                let began = number(event, "RoundTicks");
                let began = event.session().clock().nanos_since_start(began);
                self.round_nanos = began.unwrap_or(nanos).min(nanos);
            }
            (4, _) => add_total(&mut self.times.machine, MachineTotal::from_event(event, nanos)),
            (5, _) => {
                let groups = &mut self.times.groups;
                groups.push(GroupLimits::from_event(event, nanos));
                if groups.len() >= MAX_GROUPS {
                    leave_out_every_second(groups, |group| group.level);
                }
            }
            (6, _) => self.times.ending = Some(RecordingEnd::from_event(event)),
            (7, Some(id)) => self.end(id, nanos),
            _ => {}
        }
    }

    fn time(&mut self, event: &Event<'_>, id: u64, nanos: i64) {
        let reading = ThreadReading {
            nanos,
            ran_ns: number(event, "RanNS"),
            ready_ns: number(event, "ReadyNS"),
        };
        self.repeat_latest(id);
        let last = self.thread(id).and_then(|thread| thread.readings.last().copied());
        if let Some(last) = last.filter(|last| reading.ran_ns < last.ran_ns) {
            // The system gave the id to a new thread.
            self.living.remove(&id);
            if let Some(thread) = self.thread(id) {
                thread.born_nanos = Some(last.nanos);
            }
        }
        let round = self.rounds;
        if let Some(living) = self.living_mut(id) {
            living.round = round;
        }
        if let Some(thread) = self.thread(id) {
            thread.slices = number(event, "Slices");
            thread.major_faults = number(event, "MajorFaults");
        }
        self.add_reading(id, reading);
    }

    /// Adds the reading that a thread had in the last round, if the round has no row of the thread
    /// because its numbers were those of its latest row.
    fn repeat_latest(&mut self, id: u64) {
        let (rounds, nanos) = (self.rounds, self.round_nanos);
        let is_left_out = |living: &LivingThread| rounds > living.round.saturating_add(1);
        if !self.living.get(&id).is_some_and(is_left_out) {
            return;
        }
        let last = self.thread(id).and_then(|thread| thread.readings.last().copied());
        if let Some(last) = last {
            self.add_reading(id, ThreadReading { nanos, ..last });
        }
    }

    fn add_reading(&mut self, id: u64, reading: ThreadReading) {
        let Some(thread) = self.thread(id) else { return };
        if thread.readings.last().is_some_and(|last| last.nanos >= reading.nanos) {
            return;
        }
        thread.readings.push(reading);
        self.readings = self.readings.saturating_add(1);
        if self.readings >= self.merge_at.max(MAX_READINGS) {
            self.merge();
        }
    }

    /// Merges neighbouring intervals of each thread.
    fn merge(&mut self) {
        self.times
            .threads
            .iter_mut()
            .for_each(|thread| leave_out_every_second(&mut thread.readings, |_| 0));
        let left = self.times.threads.iter().map(|thread| thread.readings.len());
        self.readings = left.fold(0, usize::saturating_add);
        // Threads with few readings keep them. Without a distance, each reading would merge.
        self.merge_at = self.readings.saturating_add(MAX_READINGS / 4);
    }

    fn name(&mut self, event: &Event<'_>, id: u64) {
        let ticks = number(event, "BornTicks");
        let born = event.session().clock().nanos_since_start(ticks).filter(|_| ticks > 0);
        let known = self.thread(id).map(|thread| (thread.born_nanos, thread.readings.is_empty()));
        if let (Some((Some(known), false)), Some(born)) = (known, born)
            && known.abs_diff(born) >= MIN_BIRTHS_APART_NANOS
        {
            self.living.remove(&id);
        }
        if let Some(thread) = self.thread(id) {
            thread.name = text(event, "Name");
            shorten(&mut thread.name);
            thread.born_nanos = thread.born_nanos.or(born);
        }
    }

    fn end(&mut self, id: u64, nanos: i64) {
        self.repeat_latest(id);
        let living = self.living.remove(&id);
        let thread = living.and_then(|living| self.times.threads.get_mut(living.place));
        if let Some(thread) = thread {
            thread.ended_nanos = Some(nanos);
        }
    }

    fn living_mut(&mut self, id: u64) -> Option<&mut LivingThread> {
        if !self.living.contains_key(&id) {
            let place = self.times.threads.len();
            if place >= MAX_THREADS {
                return None;
            }
            self.times.threads.push(TimedThread::new(id));
            self.living.insert(id, LivingThread { place, round: self.rounds });
        }
        self.living.get_mut(&id)
    }

    /// Returns the living thread with an OS id. A new thread is added; `None` if there are too many.
    fn thread(&mut self, id: u64) -> Option<&mut TimedThread> {
        let place = self.living_mut(id)?.place;
        self.times.threads.get_mut(place)
    }

    /// Ends the stream. Threads that live have their latest numbers in the last round.
    pub(super) fn finish(mut self) -> ThreadTimes {
        let ids: Vec<u64> = self.living.keys().copied().collect();
        ids.into_iter().for_each(|id| self.repeat_latest(id));
        self.times.threads.retain(|thread| !thread.readings.is_empty());
        self.times
    }
}

/// Adds a total. Of very many, every second one is left out.
fn add_total<T>(totals: &mut Vec<T>, total: T) {
    totals.push(total);
    if totals.len() >= MAX_TOTALS {
        leave_out_every_second(totals, |_| 0);
    }
}

/// Leaves out every second row of each kind, but neither the first nor the last. `kind`: number of
/// the kind.
fn leave_out_every_second<T>(rows: &mut Vec<T>, kind: impl Fn(&T) -> u32) {
    let mut left: BTreeMap<u32, usize> = BTreeMap::new();
    for row in rows.iter() {
        let left = left.entry(kind(row)).or_default();
        *left = left.saturating_add(1);
    }
    let mut is_next_kept: BTreeMap<u32, bool> = BTreeMap::new();
    rows.retain(|row| {
        let kind = kind(row);
        let left = left.entry(kind).or_default();
        *left = left.saturating_sub(1);
        let is_next_kept = is_next_kept.entry(kind).or_insert(true);
        let is_kept = *is_next_kept || *left == 0;
        *is_next_kept = !*is_next_kept;
        is_kept
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_very_many_readings_neighbours_are_merged() {
        let mut state = StreamState::default();
        for at in 1..=2_000_000 {
            let ran_ns = u64::try_from(at / 2).unwrap();
            state.add_reading(7, ThreadReading { nanos: at, ran_ns, ready_ns: 0 });
        }
        for id in 0..100_000 {
            state.add_reading(id + 10, ThreadReading::default());
        }
        assert!(state.readings <= MAX_READINGS && state.times.threads.len() == MAX_THREADS);
        let times = state.finish();
        let readings = &times.threads[0].readings;
        assert_eq!((readings[0].nanos, readings.last().unwrap().ran_ns), (1, 1_000_000));
    }

    #[test]
    fn of_very_many_readings_of_groups_each_level_keeps_its_first_and_its_last() {
        let level = |level| GroupLimits { level, ..GroupLimits::default() };
        let mut groups: Vec<GroupLimits> =
            [0, 1].iter().cycle().map(|it| level(*it)).take(20).collect();
        for (at, group) in groups.iter_mut().enumerate() {
            group.periods = at as u64;
        }
        leave_out_every_second(&mut groups, |group| group.level);
        let of_level = |level| {
            let groups = groups.iter().filter(move |group| group.level == level);
            groups.map(|group| group.periods).collect::<Vec<_>>()
        };
        assert_eq!(of_level(0), [0, 4, 8, 12, 16, 18]);
        assert_eq!(of_level(1), [1, 5, 9, 13, 17, 19]);
    }
}
