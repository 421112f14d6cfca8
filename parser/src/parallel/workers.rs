//! Runs the threads that read regions. The caller's thread also finds regions and collects
//! their results.

use super::desk::{CloseOnPanic, Counted, Desk, DeskMessage, Done, Task};
use super::index::{Next, RegionFinder};
use super::parts::{Part, Work};
use super::region::{Events, Region};
use super::{Options, Order, Outcome};
use crate::error::Error;
use crate::loss;
use crate::reader::{Plan, Reader};
use crate::source::Source;
use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;

/// End of reading with several threads.
pub(super) enum End {
    /// The stream's end, or a stop by `collect`.
    Whole(Box<Outcome>),
    /// A place, after this many events, from which on one thread must read the stream.
    Irregular { events: u64 },
}

/// Maximum number of regions in flight for each thread: one being read, and one waiting.
const MAX_REGIONS_PER_THREAD: u64 = 2;
/// Number of event bytes in flight, for each thread, at which no further region is sent to a
/// thread. It is limited because results may be much larger than the events.
const MAX_BYTES_PER_THREAD: u64 = 16 << 20;

pub(super) fn read<S: Source, W: Work<S, Made: Send> + Sync>(
    source: &(impl Fn() -> S + Sync),
    options: Options,
    work: &W,
    collect: &mut impl FnMut(W::Made) -> ControlFlow<()>,
) -> Result<End, Error> {
    let desk = Desk::new(options.threads.max(1), options.held_bytes);
    let may_cut = options.order == Order::File;
    let index = RegionFinder::new(source(), options.limits, may_cut.then_some(W::CUT_BYTES));
    let mut caller = Caller::new(index, options, &desk, collect);
    caller.find();
    let others = caller.wanted_workers();
    std::thread::scope(|scope| {
        let _close = CloseOnPanic(&desk);
        for _ in 0..others {
            scope.spawn(|| worker(source, options, &desk, work));
        }
        let end = caller.run(source, work);
        desk.close();
        end
    })
}

/// Reads regions one after the other.
fn worker<S: Source, W: Work<S>>(
    source: &impl Fn() -> S,
    options: Options,
    desk: &Desk<W::Made>,
    work: &W,
) {
    let _close = CloseOnPanic(desk);
    // Source, tables and queue are reused, because new memory costs more than reading into it.
    let mut events = Events::new(Reader::with_limits(source(), options.limits), options.order);
    while let Some((number, plan)) = desk.next_job() {
        let done = read_region(&mut events, plan, work, &mut |part| desk.hand_over(number, part));
        desk.finish(number, done);
    }
}

/// Reads a region and passes on its result.
fn read_region<S: Source, W: Work<S>>(
    events: &mut Events<S>,
    mut plan: Box<Plan>,
    work: &W,
    give: &mut dyn FnMut(Part<W::Made>) -> ControlFlow<()>,
) -> Box<Done> {
    events.begin_plan(&mut plan);
    let mut region = Region::new(events, u64::MAX);
    let result = work.work(&mut region, give);
    let (count, oldest, youngest) = (region.count, region.oldest, region.youngest);
    let is_irregular = !events.is_regular();
    let reader = events.reader_mut();
    let losses = reader.state_mut().losses.take_log();
    reader.end_plan(&mut plan);
    Box::new(Done { result, losses, plan, events: count, oldest, youngest, is_irregular })
}

/// Parts of a region that were made before its turn, and its end.
struct Early<T> {
    parts: VecDeque<(Part<T>, Counted)>,
    done: Option<Box<Done>>,
}

/// State of the caller's thread.
struct Caller<'a, S, T, C> {
    index: RegionFinder<S>,
    options: Options,
    desk: &'a Desk<T>,
    collect: &'a mut C,
    /// Observations to count before each region in flight, and the region's size in bytes, by
    /// its number.
    before: BTreeMap<u64, (Vec<loss::Observation>, u64)>,
    early: BTreeMap<u64, Early<T>>,
    /// Number of event bytes of the regions in flight.
    bytes: u64,
    found: u64,
    collected: u64,
    losses: loss::Losses,
    /// Number of events of regions that were collected completely.
    events: u64,
    /// Number of events of the current region whose parts were collected.
    collected_events: u64,
    /// Number of bytes of the current region's parts that were collected.
    collected_bytes: usize,
    youngest: u64,
    is_all_found: bool,
    is_irregular: bool,
    /// Reason why nothing more is collected.
    end: Option<Result<End, Error>>,
    /// Whether `collect` stopped reading.
    is_stopped: bool,
}

impl<'a, S: Source, T: Send, C: FnMut(T) -> ControlFlow<()>> Caller<'a, S, T, C> {
    fn new(
        index: RegionFinder<S>,
        options: Options,
        desk: &'a Desk<T>,
        collect: &'a mut C,
    ) -> Self {
        Caller {
            index,
            options,
            desk,
            collect,
            before: BTreeMap::new(),
            early: BTreeMap::new(),
            bytes: 0,
            found: 0,
            collected: 0,
            losses: loss::Losses::default(),
            events: 0,
            collected_events: 0,
            collected_bytes: 0,
            youngest: 0,
            is_all_found: false,
            is_irregular: false,
            end: None,
            is_stopped: false,
        }
    }

    /// Finds regions, as many as may be in flight.
    fn find(&mut self) {
        let threads = self.options.threads.max(1) as u64;
        let (ahead, ahead_bytes) = (
            threads.saturating_mul(MAX_REGIONS_PER_THREAD),
            threads.saturating_mul(MAX_BYTES_PER_THREAD),
        );
        while !self.is_all_found
            && !self.is_ended()
            && self.found.saturating_sub(self.collected) < ahead
            && self.bytes < ahead_bytes
        {
            match self.index.next() {
                Ok(Next::Job(job)) => {
                    self.bytes = self.bytes.saturating_add(job.bytes);
                    self.before.insert(self.found, (job.before, job.bytes));
                    self.desk.add_job(self.found, job.plan);
                    self.found = self.found.saturating_add(1);
                }
                Ok(Next::Irregular) => (self.is_irregular, self.is_all_found) = (true, true),
                Ok(Next::End) => self.is_all_found = true,
                Err(error) => self.end = Some(Err(error)),
            }
        }
    }

    /// Returns the number of further threads for the regions found so far: a small trace is read
    /// faster by one thread.
    fn wanted_workers(&self) -> usize {
        let others = self.options.threads.saturating_sub(1);
        others.min(usize::try_from(self.found).unwrap_or(usize::MAX).saturating_sub(1))
    }

    fn is_ended(&self) -> bool {
        self.end.is_some() || self.is_stopped
    }

    fn run<W: Work<S, Made = T>>(
        mut self,
        source: &impl Fn() -> S,
        work: &W,
    ) -> Result<End, Error> {
        let options = self.options;
        let new = || Events::new(Reader::with_limits(source(), options.limits), options.order);
        let mut own: Option<Events<S>> = None;
        loop {
            self.find();
            if self.is_ended() || self.collected == self.found {
                break;
            }
            match self.desk.next_task() {
                Task::Messages(messages) => self.take_all(messages),
                Task::Job(number, plan) => {
                    let events = own.get_or_insert_with(new);
                    let done =
                        read_region(events, plan, work, &mut |part| self.take_own(number, part));
                    self.take(number, DeskMessage::Done(done));
                }
                // The scope propagates the panic.
                Task::Over => break,
            }
        }
        if let Some(end) = self.end.take() {
            return end;
        }
        let steps = self.index.take_log();
        if !self.is_stopped && (self.is_irregular || !self.replay(&steps)) {
            return Ok(self.irregular());
        }
        Ok(End::Whole(Box::new(self.outcome())))
    }

    /// Takes a part of a region that this thread reads. Meanwhile serves the other threads.
    fn take_own(&mut self, number: u64, part: Part<T>) -> ControlFlow<()> {
        let (mut has_room, mut counted) = (true, Counted::Not);
        if number > self.collected {
            has_room = self.desk.count_own(part.bytes);
            counted = Counted::Ahead;
        }
        self.take(number, DeskMessage::Part(part, counted));
        self.take_all(self.desk.take_messages(false));
        self.find();
        while !has_room && number > self.collected && !self.is_ended() {
            self.take_all(self.desk.take_messages(true));
            self.find();
            has_room = self.desk.has_room();
        }
        if self.is_ended() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn take_all(&mut self, messages: VecDeque<(u64, DeskMessage<T>)>) {
        for (number, message) in messages {
            self.take(number, message);
        }
    }

    /// Takes a message from a thread, and collects all parts that are in turn.
    fn take(&mut self, number: u64, message: DeskMessage<T>) {
        if self.is_ended() {
            return;
        }
        let early = self
            .early
            .entry(number)
            .or_insert_with(|| Early { parts: VecDeque::new(), done: None });
        match message {
            DeskMessage::Part(part, counted) => early.parts.push_back((part, counted)),
            DeskMessage::Done(done) => early.done = Some(done),
        }
        self.collect_early();
    }

    fn collect_early(&mut self) {
        while !self.is_ended()
            && let Some(early) = self.early.get_mut(&self.collected)
        {
            if let Some((part, counted)) = early.parts.pop_front() {
                self.collect_part(part, counted);
            } else if let Some(done) = early.done.take() {
                self.early.remove(&self.collected);
                self.finish_region(*done);
            } else {
                return;
            }
        }
    }

    fn collect_part(&mut self, part: Part<T>, counted: Counted) {
        if self.reaches_back(part.events, part.oldest) {
            self.end = Some(Ok(self.irregular()));
            return;
        }
        self.collected_events = part.events;
        self.is_stopped = (self.collect)(part.made).is_break();
        self.collected_bytes = self.collected_bytes.saturating_add(part.bytes);
        self.desk.count_collected(counted, part.bytes, self.collected_bytes);
    }

    fn finish_region(&mut self, done: Done) {
        let (before, bytes) = self.before.remove(&self.collected).unwrap_or_default();
        self.bytes = self.bytes.saturating_sub(bytes);
        let is_regular = !done.is_irregular
            && !self.reaches_back(done.events, done.oldest)
            && self.replay(&before)
            && self.replay(&done.losses);
        if !is_regular {
            self.end = Some(Ok(self.irregular()));
            return;
        }
        if let Err(error) = done.result {
            self.end = Some(Err(error));
            return;
        }
        self.collected_events = done.events;
        self.youngest = self.youngest.max(done.youngest);
        self.index.take_back(done.plan);
        self.events = self.events.saturating_add(std::mem::take(&mut self.collected_events));
        self.collected_bytes = 0;
        self.collected = self.collected.saturating_add(1);
        self.desk.set_turn(self.collected);
    }

    /// Returns whether a region, in time order, has events older than collected ones.
    fn reaches_back(&self, events: u64, oldest: u64) -> bool {
        self.options.order == Order::Time && events > 0 && oldest < self.youngest
    }

    /// Counts losses. Returns `false` if one thread must read the stream to count them.
    fn replay(&mut self, steps: &[loss::Observation]) -> bool {
        self.losses.replay(steps, self.index.is_v6(), self.options.limits.table_rows)
    }

    fn irregular(&self) -> End {
        End::Irregular { events: self.events.saturating_add(self.collected_events) }
    }

    fn outcome(self) -> Outcome {
        let mut reader = self.index.into_reader();
        let state = reader.state_mut();
        state.losses = self.losses;
        // The index may have reached the end before reading was stopped.
        state.is_complete &= !self.is_stopped;
        state.statistics.events = self.events.saturating_add(self.collected_events);
        Outcome::from_reader(&reader, 0)
    }
}
