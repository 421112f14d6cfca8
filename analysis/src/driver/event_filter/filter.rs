//! Decides for each event whether it is deferred, kept as a sample, or only counted.

use super::by_number::ByNumber;
use super::runs::EventRuns;
use crate::driver::Observer;
use crate::driver::sample_source::SampleSource;
use crate::hash::HashMap;
use crate::model::{AwaitFields, EventSelector, Kind, Mode, Model, TaskStep, ThreadHandle};
use nettrace_parser::Event;
use nettrace_parser::unstable::{Candidate, PendingFilter, Watermark};
use nettrace_parser::view::{self, KnownProvider};

/// Number of new samples that are gathered before the reader says up to which time all are complete.
const BATCH_SAMPLES: usize = 4096;
/// Number of new events that are gathered if those of tasks are wanted, of which there are many more.
const BATCH_TASKS: usize = 1 << 15;
/// Maximum number of pending records, which take 20 MiB at 40 bytes each.
const MAX_PENDING: usize = 1 << 19;
/// Bound of the numbers of types and stacks that are remembered. A damaged stream may use any
/// number, and a table is as long as its largest number, so larger numbers are looked up each time.
pub(super) const MAX_NUMBERS: usize = 1 << 20;
/// Maximum number of threads that take samples.
const MAX_SAMPLERS: usize = 8;
/// Number of threads that are remembered by the last bits of their numbers, which is faster than a
/// hash table.
const RECENT: usize = 256;

/// Treatment of the events of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FilterRole {
    /// Not known yet.
    New,
    /// The events are delivered in time order.
    Deferred,
    /// The events are deferred, and change which methods are known.
    Changes,
    /// The events belong to a rundown, and are deferred if they name a method that is not yet
    /// known.
    Lists,
    /// The events are of no use.
    Useless,
    /// The events are CPU samples of a runtime.
    Sample,
    /// The events are CPU samples of an operating system's recorder.
    OnCpuSample,
    /// The events tell the callers of async code.
    Task,
}

/// What is needed of an event that was read but not yet passed to the analysis.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pending {
    pub(super) ticks: u64,
    /// Position of the payload in the stream.
    pub(super) at: u64,
    /// Stream's id of the stack.
    pub(super) stack: u32,
    /// Index of the thread in [`EventFilter::threads`].
    pub(super) thread: u32,
    pub(super) what: PendingEvent,
}

impl Pending {
    /// Returns the place of the event in the order by time: ticks and stream position.
    #[inline(always)]
    pub(super) fn place(&self) -> (u64, u64) {
        (self.ticks, self.at)
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) enum PendingEvent {
    /// A CPU sample.
    Sample(Mode),
    /// An event of a task.
    Task(TaskStep),
}

/// A thread that has events in the stream.
#[derive(Debug)]
pub(super) struct CountedThread {
    pub(super) process_id: Option<u64>,
    pub(super) thread_id: Option<u64>,
    /// Time of the earliest event so far, in ticks.
    pub(super) first: u64,
    pub(super) last: u64,
    /// Number of events that were not deferred, which the model does not count.
    pub(super) events: u64,
    pub(super) handle: Option<ThreadHandle>,
}

/// Events that an analysis needs.
#[derive(Debug, Clone)]
pub(crate) struct WantedEvents {
    /// Kinds of samples.
    pub(crate) kinds: Vec<Kind>,
    /// Events that are samples of [`Kind::Event`].
    pub(crate) events: Vec<EventSelector>,
    /// Whether source lines are wanted.
    pub(crate) lines: bool,
    /// Whether events that tell the callers of async code are wanted.
    pub(crate) async_callers: bool,
}

impl WantedEvents {
    fn role_of(&self, event: &Event<'_>, observer: &dyn Observer) -> FilterRole {
        let is_selected =
            self.events.iter().any(|selector| selector.is_match(event)) || observer.wants(event);
        let is_method = matches!(event.id(), 141..=144);
        match event.known_provider() {
            // Old runtimes tell by the order of events to which code a map for lines belongs.
            KnownProvider::Rundown if is_method && !is_selected && !self.lines => FilterRole::Lists,
            KnownProvider::Rundown | KnownProvider::Runtime if is_method => FilterRole::Changes,
            _ if is_selected || Model::learns_from(event) => FilterRole::Deferred,
            _ if self.lines && Model::reports_lines(event) => FilterRole::Deferred,
            _ if self.async_callers && AwaitFields::of_type(event).is_some() => FilterRole::Task,
            _ => match SampleSource::for_event(event, &self.kinds) {
                Some(SampleSource::Sampler) => FilterRole::Sample,
                Some(SampleSource::Processor) => FilterRole::OnCpuSample,
                Some(SampleSource::SwitchedOut | SampleSource::Runtime(_)) => FilterRole::Deferred,
                None => FilterRole::Useless,
            },
        }
    }
}

/// Examines events in file order, and keeps samples and counts of the events that are not deferred.
#[derive(Debug)]
pub(super) struct EventFilter {
    wanted: WantedEvents,
    /// Whether threads have numbers instead of OS ids, and events may have labels.
    is_v6: bool,
    /// Treatment of each type, by the number of the type.
    pub(super) roles: ByNumber<FilterRole>,
    /// Fields of each type of tasks, by the number of the type.
    tasks: ByNumber<Option<AwaitFields>>,
    pub(super) threads: Vec<CountedThread>,
    /// Index of each thread's row, by the thread's number in the stream.
    by_number: HashMap<u64, u32>,
    /// Numbers of threads in the stream, each with the index of the row.
    recent: [(u64, u32); RECENT],
    pending: Vec<Pending>,
    runs: EventRuns,
    /// Numbers in the stream, and OS ids, of threads that took samples; at most [`MAX_SAMPLERS`].
    pub(super) samplers: Vec<(u64, Option<u64>)>,
    /// Number of `pending` events to gather before the reader says up to which time all are
    /// complete.
    room: usize,
    /// Whether an event that changes the known methods is deferred, so that the model is not up to
    /// date.
    changes_deferred: bool,
}

/// The filter with the model and the observer, which it needs for decisions.
pub(super) struct Filtering<'a> {
    pub(super) filter: &'a mut EventFilter,
    pub(super) model: &'a mut Model,
    pub(super) observer: &'a dyn Observer,
}

impl EventFilter {
    pub(super) fn new(wanted: WantedEvents, is_v6: bool) -> EventFilter {
        EventFilter {
            room: least_room(&wanted),
            wanted,
            is_v6,
            roles: ByNumber::new(FilterRole::New),
            tasks: ByNumber::new(None),
            threads: Vec::new(),
            by_number: HashMap::default(),
            recent: [(0, u32::MAX); RECENT],
            pending: Vec::new(),
            runs: EventRuns::default(),
            samplers: Vec::new(),
            changes_deferred: false,
        }
    }

    /// Returns the threads, and the pending events with the runs of those that are complete.
    pub(super) fn ready(
        &mut self,
        complete: Watermark,
    ) -> (&mut [CountedThread], &mut EventRuns, &[Pending]) {
        self.runs.find(&self.pending, complete);
        (&mut self.threads, &mut self.runs, &self.pending)
    }

    /// Returns the number of events that were not deferred.
    pub(super) fn passed(&self) -> u64 {
        self.threads.iter().fold(0, |sum, row| sum.saturating_add(row.events))
    }

    /// Prepares for the next batch, after the complete events were passed on. `has_deferred`: the
    /// reader still has deferred events.
    pub(super) fn go_on(&mut self, complete: Watermark, has_deferred: bool) {
        match complete {
            Watermark::UpTo(ticks) => self.pending.retain(|event| event.ticks > ticks),
            Watermark::All => self.pending.clear(),
        }
        self.changes_deferred &= has_deferred;
        let more = least_room(&self.wanted);
        self.room = self.pending.len().saturating_mul(2).saturating_add(more);
    }

    #[cold]
    #[inline(never)]
    fn learn_role(
        &mut self,
        number: Option<u32>,
        event: Event<'_>,
        observer: &dyn Observer,
    ) -> FilterRole {
        let role = self.wanted.role_of(&event, observer);
        // In version 6, a label may give an event another version with another name.
        let is_lasting = !self.is_v6 || self.wanted.events.is_empty();
        let number = number.filter(|number| (*number as usize) < MAX_NUMBERS);
        if let Some(number) = number.filter(|_| is_lasting) {
            self.roles.put(number, role);
            if role == FilterRole::Task {
                self.tasks.put(number, AwaitFields::of_type(&event));
            }
        }
        role
    }

    /// Forgets the types, because a sequence point gives their numbers a new meaning.
    pub(super) fn forget_types(&mut self) {
        self.roles.clear();
        self.tasks.clear();
    }

    /// Returns the index of a thread's row by the thread's number, if the row was used recently.
    #[inline(always)]
    fn recent(&self, number: u64) -> Option<u32> {
        let (known, place) = self.recent.get(recent_place(number))?;
        (*known == number && *place != u32::MAX).then_some(*place)
    }

    /// Notes the thread that took a sample, as the last one.
    #[cold]
    fn add_sampler(&mut self, event: &Event<'_>) {
        let number = event.capture_thread();
        self.samplers.retain(|(known, _)| *known != number);
        if self.samplers.len() < MAX_SAMPLERS {
            self.samplers.push((number, event.capture_thread_id()));
        }
    }

    /// Returns the index of the row of an event's thread. A new thread is added.
    #[inline(never)]
    fn find_or_add(&mut self, event: Event<'_>) -> u32 {
        let number = event.raw_thread();
        let (process_id, thread_id) = (event.process_id(), event.thread_id());
        let known = self.by_number.get(&number).copied().filter(|place| {
            let row = self.threads.get(*place as usize);
            row.is_some_and(|row| (row.process_id, row.thread_id) == (process_id, thread_id))
        });
        let place = known.unwrap_or_else(|| {
            let place = u32::try_from(self.threads.len()).unwrap_or(u32::MAX);
            self.by_number.insert(number, place);
            let (first, last, events) = (u64::MAX, 0, 0);
            let row = CountedThread { process_id, thread_id, first, last, events, handle: None };
            self.threads.push(row);
            place
        });
        // In version 6, a later thread may get the number of an earlier one.
        if let Some(recent) = self.recent.get_mut(recent_place(number)).filter(|_| !self.is_v6) {
            *recent = (number, place);
        }
        place
    }
}

/// Returns the number of events to gather before those that are complete are passed on.
fn least_room(wanted: &WantedEvents) -> usize {
    if wanted.async_callers { BATCH_TASKS } else { BATCH_SAMPLES }
}

#[inline(always)]
fn recent_place(number: u64) -> usize {
    usize::try_from(number.checked_rem(RECENT as u64).unwrap_or(0)).unwrap_or(0)
}

impl Filtering<'_> {
    /// Returns whether a rundown event may report a method that the model does not know. Most
    /// events do not, because a rundown lists methods that were already reported.
    #[inline]
    fn is_news(&mut self, event: Event<'_>) -> bool {
        self.filter.changes_deferred || !self.model.knows_method(&event)
    }
}

impl PendingFilter for Filtering<'_> {
    #[inline(always)]
    fn is_deferred(&mut self, candidate: &Candidate<'_>) -> bool {
        // Rarely called functions get a copy, so that the event itself can stay in registers.
        let (event, number) = (*candidate.event(), candidate.type_number());
        let role = number.and_then(|number| self.filter.roles.get(number)).copied();
        let role = match role {
            Some(role) if role != FilterRole::New => role,
            _ => self.filter.learn_role(number, event, self.observer),
        };
        match role {
            FilterRole::Deferred => return true,
            FilterRole::Lists if !self.is_news(event) => {}
            FilterRole::Changes | FilterRole::Lists => {
                self.filter.changes_deferred = true;
                return true;
            }
            FilterRole::New
            | FilterRole::Useless
            | FilterRole::Sample
            | FilterRole::OnCpuSample
            | FilterRole::Task => {}
        }
        let ticks = event.timestamp_ticks();
        let filter = &mut *self.filter;
        let is_sampler = |(number, _): &(u64, _)| *number == event.capture_thread();
        if role == FilterRole::Sample && !filter.samplers.last().is_some_and(is_sampler) {
            filter.add_sampler(&event);
        }
        let recent = filter.recent(event.raw_thread());
        let thread = recent.unwrap_or_else(|| filter.find_or_add(event));
        let Some(row) = filter.threads.get_mut(thread as usize) else { return true };
        // Threads are numbered by their first events in time order, so an event that is earlier
        // than all others of its thread must be sorted.
        if ticks < row.first {
            row.first = ticks;
            return true;
        }
        row.last = row.last.max(ticks);
        if matches!(role, FilterRole::Sample | FilterRole::OnCpuSample | FilterRole::Task) {
            // A late event belongs before events that were already delivered, and version 3 has no
            // stack ids. Both are deferred, which is always right.
            let Some(stack) = candidate.stack_number().filter(|_| !candidate.is_late()) else {
                return true;
            };
            let what = match role {
                FilterRole::Sample => {
                    let Some(sample) = view::Sample::from_payload(event.payload()) else {
                        return true;
                    };
                    PendingEvent::Sample(Mode::from_state(sample.state))
                }
                FilterRole::Task => {
                    let fields = number.and_then(|number| filter.tasks.get(number));
                    let Some(Some(fields)) = fields else { return true };
                    let step = match self.model.task_step_at_places(event.payload(), fields) {
                        None => self.model.task_step(event, fields),
                        step => step,
                    };
                    let Some(step) = step else { return true };
                    PendingEvent::Task(step)
                }
                _ => PendingEvent::Sample(Mode::OnCpu),
            };
            let at = event.payload_offset();
            filter.pending.push(Pending { ticks, at, stack, thread, what });
        }
        row.events = row.events.saturating_add(1);
        false
    }

    #[inline(always)]
    fn is_full(&self) -> bool {
        self.filter.pending.len() >= self.filter.room
    }

    fn flush_up_to(&self) -> Option<u64> {
        if self.filter.pending.len() < MAX_PENDING {
            return None;
        }
        self.filter.pending.iter().map(|row| row.ticks).max()
    }
}
