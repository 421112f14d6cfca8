//! Which events an analysis looks at, and when.
//!
//! Most events of a trace are of no use to it, and most of the others are CPU samples, of which a few
//! numbers tell everything. Neither need wait for their turn, which costs more than reading them. So
//! events are shown here in file order: what is of no use is counted for its thread, samples are kept
//! as numbers and put into time order among themselves, and the rest comes in time order from the
//! reader.
//!
//! The result is that of `Analysis::event` for each event in time order. Therefore the event by which
//! a thread is met first always waits: threads are numbered in the order in which they were met.

use crate::convert::ConvertError;
use crate::driver::{Analysis, AnalysisError};
use crate::model::hash::NumberMap;
use crate::model::{EventSelector, Kind, Mode, Model, StackHandle, ThreadHandle};
use nettrace_parser::view::{self, KnownProvider};
use nettrace_parser::{Complete, Event, Met, Sift, Source, TimeOrdered, Version};

/// Samples that wait before the reader is asked which may go, beyond those that could not go the
/// last time.
const BATCH: usize = 4096;
/// Samples that may wait at most, 32 bytes each.
const MOST: usize = 1 << 19;
/// Types and stacks with larger numbers are looked up each time.
const MOST_NUMBERS: usize = 1 << 20;
/// Threads that were met of late, by the last bits of their ids.
const RECENT: usize = 256;

/// What is done with the events of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Not known yet.
    New,
    /// They wait for their turn.
    Waits,
    /// They wait, and change which methods are known.
    Changes,
    /// They are of a list of methods, and wait if they tell something new.
    Lists,
    /// They are of no use.
    Useless,
    /// They are CPU samples of a runtime.
    Sample,
}

/// A CPU sample that waits for its turn.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    ticks: u64,
    /// Stream position of its payload.
    at: u64,
    stack: u32,
    thread: u32,
    mode: Mode,
}

/// A thread, by the id that the stream gives.
#[derive(Debug)]
struct Row {
    id: u64,
    /// The earliest of its events so far.
    since: u64,
    /// Events that nobody else counted.
    events: u64,
    handle: Option<ThreadHandle>,
}

/// What events are of use for.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// Kinds of samples.
    pub(crate) kinds: Vec<Kind>,
    /// Events that are samples of [`Kind::Event`].
    pub(crate) events: Vec<EventSelector>,
    /// Whether the model keeps which IL code comes from.
    pub(crate) keeps_il_offsets: bool,
}

impl Wanted {
    fn wants(&self, kind: Kind) -> bool {
        self.kinds.contains(&kind)
    }

    fn role_of(&self, event: &Event<'_>) -> Role {
        let is_selected = self.events.iter().any(|selector| selector.is_match(event));
        let is_sample = event.known_provider() == KnownProvider::SampleProfiler && event.id() == 0;
        let is_method = matches!(event.id(), 141..=144) && !self.keeps_il_offsets;
        match event.known_provider() {
            KnownProvider::Rundown if is_method && !is_selected => Role::Lists,
            KnownProvider::Rundown | KnownProvider::Runtime if is_method => Role::Changes,
            _ if is_selected || Model::learns_from(event, self.keeps_il_offsets) => Role::Waits,
            KnownProvider::SampleProfiler if is_sample && self.wants(Kind::Cpu) => Role::Sample,
            KnownProvider::Runtime if Kind::of_runtime(event.id()).is_some_and(|kind| self.wants(kind)) => {
                Role::Waits
            }
            KnownProvider::UniversalEvents => Role::Waits,
            _ => Role::Useless,
        }
    }
}

/// Takes events that need not wait.
#[derive(Debug)]
struct Sifter {
    wanted: Wanted,
    /// By the number of the type.
    roles: Vec<Role>,
    threads: Vec<Row>,
    by_id: NumberMap<u64, u32>,
    /// Ids, and where their rows are.
    recent: [(u64, u32); RECENT],
    samples: Vec<Waiting>,
    /// So many may be in `samples` before the reader is asked which may go.
    room: usize,
    /// Events wait that change which methods are known.
    changes_wait: bool,
}

/// Events as they are met: with what is known so far.
struct Sifting<'a> {
    sifter: &'a mut Sifter,
    model: &'a mut Model,
}

impl Sifter {
    fn new(wanted: Wanted) -> Sifter {
        Sifter {
            wanted,
            roles: Vec::new(),
            threads: Vec::new(),
            by_id: NumberMap::default(),
            recent: [(0, u32::MAX); RECENT],
            samples: Vec::new(),
            room: BATCH,
            changes_wait: false,
        }
    }

    #[cold]
    #[inline(never)]
    fn learn_role(&mut self, number: Option<u32>, event: &Event<'_>) -> Role {
        let role = self.wanted.role_of(event);
        if let Some(place) = number.map(|number| number as usize).filter(|place| *place < MOST_NUMBERS) {
            if self.roles.len() <= place {
                self.roles.resize(place.saturating_add(1), Role::New);
            }
            if let Some(known) = self.roles.get_mut(place) {
                *known = role;
            }
        }
        role
    }

    /// The place of a thread's row.
    #[inline(always)]
    fn place_of(&mut self, id: u64) -> u32 {
        match self.recent.get(recent_place(id)) {
            Some((known, place)) if *known == id && *place != u32::MAX => *place,
            _ => self.find_or_add(id),
        }
    }

    #[inline(never)]
    fn find_or_add(&mut self, id: u64) -> u32 {
        let next = u32::try_from(self.threads.len()).unwrap_or(u32::MAX);
        let place = *self.by_id.entry(id).or_insert(next);
        if place == next {
            self.threads.push(Row { id, since: u64::MAX, events: 0, handle: None });
        }
        if let Some(recent) = self.recent.get_mut(recent_place(id)) {
            *recent = (id, place);
        }
        place
    }
}

#[inline(always)]
fn recent_place(id: u64) -> usize {
    usize::try_from(id.checked_rem(RECENT as u64).unwrap_or(0)).unwrap_or(0)
}

impl Sifting<'_> {
    /// Whether an event of a list of methods tells something. What is there since long is told of at the end
    /// of each session, and at the end of each file that a long session is cut into.
    #[inline]
    fn is_news(&mut self, event: &Event<'_>) -> bool {
        self.sifter.changes_wait || !self.model.knows_method(event)
    }
}

impl Sift for Sifting<'_> {
    #[inline(always)]
    fn waits(&mut self, met: &Met<'_>) -> bool {
        let (event, number) = (met.event(), met.type_number());
        let role = number.and_then(|number| self.sifter.roles.get(number as usize)).copied();
        let role = match role {
            Some(role) if role != Role::New => role,
            _ => self.sifter.learn_role(number, event),
        };
        match role {
            Role::Waits => return true,
            Role::Lists if !self.is_news(event) => {}
            Role::Changes | Role::Lists => {
                self.sifter.changes_wait = true;
                return true;
            }
            Role::New | Role::Useless | Role::Sample => {}
        }
        let ticks = event.timestamp_ticks();
        let sifter = &mut *self.sifter;
        let thread = sifter.place_of(event.raw_thread());
        let Some(row) = sifter.threads.get_mut(thread as usize) else { return true };
        if ticks < row.since {
            row.since = ticks;
            return true;
        }
        if role == Role::Sample {
            let Some(stack) = met.stack_number().filter(|_| !met.is_late()) else { return true };
            let Some(sample) = view::Sample::of_payload(event.payload()) else { return true };
            let mode = Mode::of(sample.state);
            sifter.samples.push(Waiting { ticks, at: event.payload_offset(), stack, thread, mode });
        }
        row.events = row.events.saturating_add(1);
        false
    }

    #[inline(always)]
    fn is_full(&self) -> bool {
        self.sifter.samples.len() >= self.sifter.room
    }

    fn must_go(&self) -> Option<u64> {
        if self.sifter.samples.len() < MOST {
            return None;
        }
        self.sifter.samples.iter().map(|sample| sample.ticks).max()
    }
}

/// Handles of stacks by the numbers that the stream gives them for now.
#[derive(Debug, Default)]
struct Numbered {
    handles: Vec<StackHandle>,
    /// Reuses of memory when they were found: after one more, a stack may have a new handle.
    reuses: usize,
}

impl Numbered {
    const NONE: StackHandle = StackHandle(u32::MAX);

    fn put(&mut self, number: u32, handle: StackHandle) {
        let place = number as usize;
        if place >= MOST_NUMBERS {
            return;
        }
        if self.handles.len() <= place {
            self.handles.resize(place.saturating_add(1), Numbered::NONE);
        }
        if let Some(known) = self.handles.get_mut(place) {
            *known = handle;
        }
    }
}

/// Whether a stream's events can be sifted. Versions 3 and 6 tell of threads in other ways.
pub(crate) fn is_possible<S: Source>(events: &mut TimeOrdered<S>) -> Result<bool, AnalysisError> {
    events.trace()?;
    Ok(events.reader().version() == Some(Version::V4))
}

/// Reads all events that are left, as `Analysis::event` would take them in time order.
pub(crate) fn read<S: Source>(
    analysis: &mut Analysis<'_>,
    events: &mut TimeOrdered<S>,
    wanted: Wanted,
) -> Result<(), AnalysisError> {
    let mut sifter = Sifter::new(wanted);
    let mut numbered = Numbered::default();
    let trace = events.trace()?;
    analysis.begin(trace);
    let process_id = trace.process_id.map(u64::from);
    loop {
        let model = analysis.model_mut();
        let Some(complete) = events.advance(&mut Sifting { sifter: &mut sifter, model })? else { break };
        let mut samples = std::mem::take(&mut sifter.samples);
        if !samples.is_sorted_by_key(|sample| sample.ticks) {
            // Stable: what has the same time stays in file order.
            samples.sort_by_key(|sample| sample.ticks);
        }
        let end = match complete {
            Complete::UpTo(ticks) => samples.partition_point(|sample| sample.ticks <= ticks),
            Complete::All => samples.len(),
        };
        let (ready, _) = samples.split_at(end);
        let mut taken = Taken { sifter: &mut sifter, numbered: &mut numbered, process_id, at: 0 };
        while let Some(next) = events.peek() {
            taken.until(Some(next), ready, analysis, events)?;
            if let Some(event) = events.ready() {
                analysis.event(&event)?;
            }
        }
        taken.until(None, ready, analysis, events)?;
        samples.drain(..end);
        let waiting = samples.len();
        sifter.samples = samples;
        sifter.changes_wait &= events.waiting() > 0;
        sifter.room = waiting.saturating_mul(2).saturating_add(BATCH);
        if complete == Complete::All {
            sifter.roles.clear();
            numbered.handles.clear();
        }
    }
    for row in sifter.threads {
        if row.events > 0 {
            analysis.model_mut().count_events(process_id, row.id, row.events);
        }
    }
    Ok(())
}

/// Samples on their way to the analysis.
struct Taken<'a> {
    sifter: &'a mut Sifter,
    numbered: &'a mut Numbered,
    process_id: Option<u64>,
    at: usize,
}

impl Taken<'_> {
    /// Those before an event, or all.
    #[inline]
    fn until<S: Source>(
        &mut self,
        next: Option<(u64, u64)>,
        ready: &[Waiting],
        analysis: &mut Analysis<'_>,
        events: &TimeOrdered<S>,
    ) -> Result<(), ConvertError> {
        if self.numbered.reuses != analysis.model().reuses() {
            self.numbered.reuses = analysis.model().reuses();
            self.numbered.handles.clear();
        }
        let end = next.unwrap_or((u64::MAX, u64::MAX));
        for sample in ready.get(self.at..).unwrap_or_default() {
            if (sample.ticks, sample.at) > end {
                break;
            }
            self.at = self.at.saturating_add(1);
            let thread = match self.sifter.threads.get(sample.thread as usize) {
                Some(Row { handle: Some(handle), .. }) => *handle,
                _ => self.thread(sample.thread, analysis),
            };
            let stack = match self.numbered.handles.get(sample.stack as usize) {
                Some(handle) if *handle != Numbered::NONE => *handle,
                _ => {
                    let stack = events.stack(sample.stack);
                    let handle = analysis.model_mut().stack_at(thread, sample.stack, stack, sample.ticks);
                    self.numbered.put(sample.stack, handle);
                    handle
                }
            };
            analysis.cpu_sample(sample.ticks, thread, stack, sample.mode)?;
        }
        Ok(())
    }

    #[cold]
    fn thread(&mut self, place: u32, analysis: &mut Analysis<'_>) -> ThreadHandle {
        match self.sifter.threads.get_mut(place as usize) {
            Some(row) => {
                let handle = analysis.model_mut().count_events(self.process_id, row.id, 0);
                row.handle = Some(handle);
                handle
            }
            None => ThreadHandle(0),
        }
    }
}
