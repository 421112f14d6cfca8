//! Counts a trace's events, types, threads, processes and stacks in one pass.

use super::distinct::{Count, Distinct};
use super::further::{self, Further};
use super::runtime::RuntimeFacts;
use super::type_count::{EventTypeCount, MAX_TYPES};
use crate::hash::HashMap;
use nettrace_export::{EventType, EventTypes};
use nettrace_parser::{Event, Limits, Visit};
use std::hash::{DefaultHasher, Hasher};

/// Maximum number of bytes that the reader of a bounded survey may keep for event types, for
/// threads, and for stacks. That is enough for 60,000 types, and for stacks, because runtimes forget
/// them every 10 MiB.
const MAX_TABLE_BYTES: usize = 14 << 20;

/// Id of a thread, and id of its process.
type ThreadKey = (Option<u64>, Option<u64>);

/// Number of threads that are remembered, a power of two up to 256.
const RECENT: usize = 64;

/// Recently counted threads, each at an index that is computed from its id. They make most
/// insertions into the set of threads unnecessary, because a few threads write most events.
#[derive(Debug)]
struct Recent([ThreadKey; RECENT]);

impl Default for Recent {
    fn default() -> Recent {
        Recent([(None, None); RECENT])
    }
}

impl Recent {
    /// Remembers a thread. Returns whether it was not remembered before.
    #[inline(always)]
    fn remember(&mut self, key: ThreadKey) -> bool {
        // Ids of threads that begin together are often multiples of 4.
        let id = key.0.unwrap_or(0);
        let at = usize::from((id ^ id >> 6).to_le_bytes()[0]) & (RECENT - 1);
        match self.0.get_mut(at) {
            Some(known) if *known == key => false,
            Some(known) => {
                *known = key;
                true
            }
            None => true,
        }
    }
}

/// Counts the events of a whole trace, for [`TraceInfo`](super::TraceInfo) and
/// [`TraceStats`](super::TraceStats).
///
/// ```
/// use nettrace_analysis::info::Survey;
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let mut reader = nettrace_parser::Reader::from_slice(&bytes);
/// let header = reader.trace()?.clone();
/// let mut survey = Survey::unbounded();
/// reader.visit(&mut survey)?;
/// let info = survey.info(&header, &reader.outcome());
/// assert_eq!((info.version, info.events, info.lost), (4, 4, 1));
/// assert_eq!(survey.stats(&header, &reader.outcome()).types.len() as u64, info.types);
/// # Ok::<(), nettrace_parser::Error>(())
/// ```
#[derive(Debug)]
pub struct Survey {
    types: EventTypes,
    counts: Vec<EventTypeCount>,
    most_types: usize,
    /// Totals of the types beyond the first `most_types`.
    further: Option<Box<Further>>,
    threads: Distinct,
    processes: Distinct,
    recent: Recent,
    /// Hashes of the stacks that events contain themselves (version 3).
    inline_stacks: Distinct,
    runtime: RuntimeFacts,
}

impl Survey {
    /// Makes a survey that counts any number of event types separately.
    pub fn unbounded() -> Survey {
        Survey::within(usize::MAX)
    }

    /// Makes a survey that needs little memory for any trace. Counts of types, threads and stacks
    /// beyond its limits are lower bounds. Read the trace with [`Survey::limits`].
    pub fn bounded() -> Survey {
        Survey::within(MAX_TYPES)
    }

    fn within(most_types: usize) -> Survey {
        Survey {
            types: EventTypes::default(),
            counts: Vec::new(),
            most_types,
            further: None,
            threads: Distinct::default(),
            processes: Distinct::default(),
            recent: Recent::default(),
            inline_stacks: Distinct::default(),
            runtime: RuntimeFacts::default(),
        }
    }

    /// Returns limits with which a reader needs little memory for any trace.
    pub fn limits() -> Limits {
        let mut limits = Limits::default();
        limits.table_bytes = MAX_TABLE_BYTES;
        limits
    }

    /// Counts an event.
    #[inline(always)]
    pub fn event(&mut self, event: &Event<'_>) {
        let has_stack = match self.types.number_within(self.most_types, event) {
            Some(number) => {
                if number >= self.counts.len() {
                    self.add_type(number);
                }
                let Some(count) = self.counts.get_mut(number) else { return };
                let has_stack = count.take(event);
                if count.is_informative {
                    self.runtime.take(event);
                }
                has_stack
            }
            None => self.take_further(event),
        };
        let place = (event.thread_id(), event.process_id());
        if self.recent.remember(place) {
            self.add_thread(place);
        }
        // Stacks with an id are rows of stack blocks, which the reader counts.
        if has_stack && event.stack_id() == 0 {
            self.take_inline_stack(event);
        }
    }

    /// Counts an event whose type is beyond the limit for separate counts.
    #[inline(never)]
    fn take_further(&mut self, event: &Event<'_>) -> bool {
        let known = self.types.rows().iter().map(|row| &*row.provider);
        if RuntimeFacts::is_informative(event.provider(), event.id()) {
            self.runtime.take(event);
        }
        self.further.get_or_insert_with(|| Box::new(Further::new(known))).take(event)
    }

    #[inline(never)]
    fn add_thread(&mut self, (thread, process): ThreadKey) {
        if let Some(id) = thread {
            self.threads.insert(id);
        }
        if let Some(id) = process {
            self.processes.insert(id);
        }
    }

    /// Counts the stack that an event contains itself (version 3).
    #[inline(never)]
    fn take_inline_stack(&mut self, event: &Event<'_>) {
        let mut hasher = DefaultHasher::new();
        hasher.write(event.stack().bytes());
        self.inline_stacks.insert(hasher.finish());
    }

    /// Returns the counts since the last call. Several threads can read a trace if each has a
    /// survey, and gives the part for each region to the survey that joins all parts.
    pub fn part(&mut self) -> SurveyPart {
        self.recent = Recent::default();
        let counted =
            self.types.rows().iter().zip(&mut self.counts).filter(|(_, count)| count.events > 0);
        let counts = counted.map(|(row, count)| {
            let kept = EventTypeCount {
                is_informative: count.is_informative,
                ..EventTypeCount::default()
            };
            (row.clone(), std::mem::replace(count, kept))
        });
        SurveyPart {
            counts: counts.collect(),
            further: self.further.take(),
            threads: std::mem::take(&mut self.threads),
            processes: std::mem::take(&mut self.processes),
            inline_stacks: std::mem::take(&mut self.inline_stacks),
            runtime: std::mem::take(&mut self.runtime),
        }
    }

    /// Adds the counts of a part, which are those of the events that follow. Returns whether each
    /// type of the part was counted separately. If not, parts cannot be joined, because the order
    /// of all events decides which types are counted separately.
    pub fn join(&mut self, part: SurveyPart) -> bool {
        self.further = self.further.take().or(part.further);
        for (row, of_part) in part.counts {
            let number = self.types.number_of(row);
            if number >= self.counts.len() {
                self.counts.resize(number.saturating_add(1), EventTypeCount::default());
            }
            let Some(count) = self.counts.get_mut(number) else { continue };
            if count.events == 0 {
                *count = of_part;
                continue;
            }
            count.events = count.events.saturating_add(of_part.events);
            count.payload_bytes = count.payload_bytes.saturating_add(of_part.payload_bytes);
            count.with_stack = count.with_stack.saturating_add(of_part.with_stack);
            count.first_ticks = count.first_ticks.min(of_part.first_ticks);
            count.last_ticks = count.last_ticks.max(of_part.last_ticks);
        }
        self.threads.join(part.threads);
        self.processes.join(part.processes);
        self.inline_stacks.join(part.inline_stacks);
        self.runtime.join(part.runtime);
        self.further.is_none() && self.types.rows().len() <= self.most_types
    }

    fn add_type(&mut self, number: usize) {
        let Some(row) = self.types.rows().get(number) else { return };
        let is_informative = RuntimeFacts::is_informative(&row.provider, row.id);
        self.counts.resize(number, EventTypeCount::default());
        self.counts.push(EventTypeCount { is_informative, ..EventTypeCount::default() });
    }

    /// Returns the event types that occurred, each with its counts.
    pub(super) fn types(&self) -> impl Iterator<Item = (&EventType, &EventTypeCount)> {
        self.types.rows().iter().zip(&self.counts)
    }

    pub(super) fn type_count(&self) -> Count {
        let further = self.further.as_ref().map(|further| further.type_count());
        let few = Count { number: 0, is_at_least: false };
        let Count { number, is_at_least } = further.unwrap_or(few);
        Count { number: number.saturating_add(self.counts.len() as u64), is_at_least }
    }

    /// Returns the counts of each type, and those of all further types together.
    fn all_counts(&self) -> impl Iterator<Item = &EventTypeCount> {
        self.counts.iter().chain(self.further.as_ref().map(|further| further.count()))
    }

    /// Returns the number of events that were counted.
    pub(super) fn events(&self) -> u64 {
        self.all_counts().map(|count| count.events).sum()
    }

    /// Returns the number of OS threads that events are about.
    pub(super) fn thread_count(&self) -> Count {
        self.threads.count()
    }

    /// Returns the ids of the OS processes that events are about.
    pub(super) fn processes(&self) -> &Distinct {
        &self.processes
    }

    /// Returns the number of events with a stack of at least one frame.
    pub(super) fn events_with_stack(&self) -> u64 {
        self.all_counts().map(|count| count.with_stack).sum()
    }

    /// Returns the total size of all payloads, in bytes.
    pub(super) fn payload_bytes(&self) -> u64 {
        self.all_counts().map(|count| count.payload_bytes).sum()
    }

    pub(super) fn inline_stack_count(&self) -> Count {
        self.inline_stacks.count()
    }

    /// Returns the number of events of each provider that is listed, the largest number first.
    pub(super) fn providers(&self) -> Vec<(&str, u64)> {
        let mut providers: HashMap<&str, u64> = HashMap::default();
        let of_types = self
            .types()
            .map(|(row, count)| (further::name(row.is_defined, &row.provider), count.events));
        let further = self.further.iter().flat_map(|further| further.providers());
        for (name, events) in of_types.chain(further) {
            let sum: &mut u64 = providers.entry(name).or_default();
            *sum = sum.saturating_add(events);
        }
        let mut providers: Vec<(&str, u64)> = providers.into_iter().collect();
        providers.sort_unstable_by_key(|(name, events)| (std::cmp::Reverse(*events), *name));
        providers
    }

    /// Returns the number of providers that are not listed, and the number of their events.
    pub(super) fn other_providers(&self) -> Option<(Count, u64)> {
        self.further.as_ref().and_then(|further| further.other_providers())
    }

    /// Returns the timestamp of the newest event, in ticks.
    pub(super) fn last_ticks(&self) -> Option<u64> {
        self.all_counts().map(|count| count.last_ticks).max()
    }

    pub(super) fn runtime(&self) -> &RuntimeFacts {
        &self.runtime
    }
}

/// Counts of a part of a trace's events, to be joined with others.
#[derive(Debug)]
pub struct SurveyPart {
    counts: Vec<(EventType, EventTypeCount)>,
    further: Option<Box<Further>>,
    threads: Distinct,
    processes: Distinct,
    inline_stacks: Distinct,
    runtime: RuntimeFacts,
}

impl Visit for Survey {
    #[inline(always)]
    fn event(&mut self, event: Event<'_>) {
        Survey::event(self, &event);
    }
}
