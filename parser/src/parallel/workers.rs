//! Workers that read regions, and the caller's thread that finds them and collects.

use super::index::{Index, Next};
use super::region::{Events, Region};
use super::{Options, Order, Outcome, in_portions};
use crate::error::Error;
use crate::loss;
use crate::reader::{Plan, Reader};
use crate::source::Source;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};

/// How reading with several threads ended.
pub(super) enum End {
    /// With the stream's end, or because the collector stopped it.
    Whole(Box<Outcome>),
    /// So many events were collected; the rest is for one thread.
    Irregular { events: u64 },
}

/// What became of a region.
struct Done<T> {
    number: u64,
    /// `None`: it asks for too much; the region is to be read again, in portions.
    made: Result<Option<T>, Error>,
    losses: Vec<loss::Step>,
    /// What was read.
    plan: Box<Plan>,
    events: u64,
    oldest: u64,
    youngest: u64,
    is_irregular: bool,
}

/// Regions on their way, per thread: one that is read, one that is ready to be.
const REGIONS_PER_THREAD: u64 = 2;
/// Event bytes of regions on their way, above which no other is sent: what is made of them may be much larger.
const BYTES_PER_THREAD: u64 = 16 << 20;

pub(super) fn read<S: Source, T: Send>(
    source: &(impl Fn() -> S + Sync),
    options: Options,
    work: &(impl Fn(&mut Region<'_, S>) -> Result<T, Error> + Sync),
    collect: &mut impl FnMut(T) -> ControlFlow<()>,
) -> Result<End, Error> {
    let (to_workers, jobs) = channel::<(u64, Box<Plan>)>();
    let (to_collector, results) = channel::<Done<T>>();
    let jobs = Mutex::new(jobs);
    std::thread::scope(|scope| {
        for _ in 0..options.threads {
            let (jobs, to_collector) = (&jobs, to_collector.clone());
            scope.spawn(move || worker(source, options, jobs, &to_collector, work));
        }
        drop(to_collector);
        // Workers end when nothing can be sent to them any more, which is when this returns.
        Collector::new(source(), options, to_workers).run(source, &results, work, collect)
    })
}

/// Reads one region after the other.
fn worker<S: Source, T>(
    source: &impl Fn() -> S,
    options: Options,
    jobs: &Mutex<Receiver<(u64, Box<Plan>)>>,
    results: &Sender<Done<T>>,
    work: &impl Fn(&mut Region<'_, S>) -> Result<T, Error>,
) {
    // Source, tables and queue of one region are those of the next: memory that is touched for the first
    // time costs more than what is read into it.
    let mut events = Events::new(Reader::with_limits(source(), options.limits), options.order);
    loop {
        // A worker that panicked leaves the queue as it was.
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((number, mut plan)) = job else { return };
        events.plan(&mut plan);
        let mut region = Region::new(&mut events, u64::MAX);
        let made = work(&mut region);
        let is_stopped = region.is_stopped();
        let made = made.map(|made| Some(made).filter(|_| !is_stopped));
        // What the work did not ask for must be counted all the same.
        let rest = region.for_each(|_| {});
        let (count, oldest, youngest) = (region.count, region.oldest, region.youngest);
        let out_of_order = events.out_of_order();
        let reader = events.reader_mut();
        let state = reader.state_mut();
        let is_irregular = state.is_irregular || out_of_order > 0 || !state.damage.findings().is_empty();
        let losses = state.losses.take_log();
        reader.end_plan(&mut plan);
        let done = Done {
            number,
            made: made.and_then(|made| rest.map(|()| made)),
            losses,
            plan,
            events: count,
            oldest,
            youngest,
            is_irregular,
        };
        if results.send(done).is_err() {
            return;
        }
    }
}

/// Finds regions, hands them out, and takes back what was made of them.
struct Collector<S> {
    index: Index<S>,
    options: Options,
    to_workers: Sender<(u64, Box<Plan>)>,
    /// What the count of losses must know before each region on its way, by its number, and the region's bytes.
    before: BTreeMap<u64, (Vec<loss::Step>, u64)>,
    /// Event bytes of the regions on their way.
    bytes: u64,
    found: u64,
    collected: u64,
    losses: loss::Losses,
    events: u64,
    youngest: u64,
}

impl<S: Source> Collector<S> {
    fn new(source: S, options: Options, to_workers: Sender<(u64, Box<Plan>)>) -> Collector<S> {
        Collector {
            index: Index::new(source, options.limits, options.order == Order::File),
            options,
            to_workers,
            before: BTreeMap::new(),
            bytes: 0,
            found: 0,
            collected: 0,
            losses: loss::Losses::default(),
            events: 0,
            youngest: 0,
        }
    }

    fn run<T>(
        mut self,
        source: &impl Fn() -> S,
        results: &Receiver<Done<T>>,
        work: &impl Fn(&mut Region<'_, S>) -> Result<T, Error>,
        collect: &mut impl FnMut(T) -> ControlFlow<()>,
    ) -> Result<End, Error> {
        // For regions that are read again.
        let mut again: Option<Events<S>> = None;
        let mut early: BTreeMap<u64, Done<T>> = BTreeMap::new();
        let mut is_all_found = false;
        let mut is_irregular = false;
        let threads = self.options.threads as u64;
        let (ahead, ahead_bytes) =
            (threads.saturating_mul(REGIONS_PER_THREAD), threads.saturating_mul(BYTES_PER_THREAD));
        loop {
            while !is_all_found
                && self.found.saturating_sub(self.collected) < ahead
                && self.bytes < ahead_bytes
            {
                match self.index.next()? {
                    Next::Job(job) => {
                        self.bytes = self.bytes.saturating_add(job.bytes);
                        self.before.insert(self.found, (job.before, job.bytes));
                        // Workers live as long as this sender does.
                        let _ = self.to_workers.send((self.found, job.plan));
                        self.found = self.found.saturating_add(1);
                    }
                    Next::Irregular => (is_irregular, is_all_found) = (true, true),
                    Next::End => is_all_found = true,
                }
            }
            if self.collected == self.found {
                break;
            }
            // No worker is left only if all panicked, which the scope passes on.
            let Ok(done) = results.recv() else { break };
            early.insert(done.number, done);
            while let Some(mut done) = early.remove(&self.collected) {
                if !self.is_regular(&done) {
                    return Ok(End::Irregular { events: self.events });
                }
                self.collected = self.collected.saturating_add(1);
                self.events = self.events.saturating_add(done.events);
                self.youngest = self.youngest.max(done.youngest);
                let flow = match done.made? {
                    Some(made) => collect(made),
                    None => {
                        let options = self.options;
                        let events = again.get_or_insert_with(|| {
                            Events::new(Reader::with_limits(source(), options.limits), options.order)
                        });
                        events.plan(&mut done.plan);
                        let flow = in_portions(events, work, collect)?;
                        events.reader_mut().end_plan(&mut done.plan);
                        flow
                    }
                };
                self.index.take_back(done.plan);
                if flow.is_break() {
                    return Ok(End::Whole(Box::new(self.outcome())));
                }
            }
        }
        if is_irregular {
            return Ok(End::Irregular { events: self.events });
        }
        let is_v6 = self.index.is_v6();
        let steps = self.index.take_log();
        if !self.losses.replay(&steps, is_v6, self.options.limits.table_rows) {
            return Ok(End::Irregular { events: self.events });
        }
        Ok(End::Whole(Box::new(self.outcome())))
    }

    /// Counts a region's losses; `false` if the region cannot be taken as it is.
    fn is_regular<T>(&mut self, done: &Done<T>) -> bool {
        // In time order a region may not reach back before those that were collected.
        let reaches_back =
            self.options.order == Order::Time && done.events > 0 && done.oldest < self.youngest;
        let (before, bytes) = self.before.remove(&done.number).unwrap_or_default();
        self.bytes = self.bytes.saturating_sub(bytes);
        let (is_v6, limit) = (self.index.is_v6(), self.options.limits.table_rows);
        !done.is_irregular
            && !reaches_back
            && self.losses.replay(&before, is_v6, limit)
            && self.losses.replay(&done.losses, is_v6, limit)
    }

    fn outcome(self) -> Outcome {
        let mut reader = self.index.into_reader();
        let state = reader.state_mut();
        state.losses = self.losses;
        state.statistics.events = self.events;
        Outcome::of(&reader, 0)
    }
}
