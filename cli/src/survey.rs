//! One pass over a trace that counts: what `info` and `stats` show.

use crate::distinct::{Count, Distinct};
use crate::input::{Regions, Work};
use crate::session::Session;
use nettrace_export::{EventType, EventTypes};
use nettrace_parser::parallel::{Order, Outcome};
use nettrace_parser::{Error, Event, Visit};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};
use std::ops::ControlFlow;

/// What was counted of one event type.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TypeCount {
    pub(crate) events: u64,
    pub(crate) payload_bytes: u64,
    pub(crate) with_stack: u64,
    /// Ticks of the oldest and the youngest.
    pub(crate) first_ticks: u64,
    pub(crate) last_ticks: u64,
    is_informative: bool,
}

/// A thread and its process.
type Place = (Option<u64>, Option<u64>);

const RECENT: usize = 64;

/// Threads that were counted of late, each in the place that its id leads to: a few threads take turns in most traces.
#[derive(Debug)]
struct Recent([Place; RECENT]);

impl Default for Recent {
    fn default() -> Recent {
        Recent([(None, None); RECENT])
    }
}

impl Recent {
    /// Whether a thread was not counted of late; it is from now on.
    #[inline(always)]
    fn is_new(&mut self, place: Place) -> bool {
        // Ids of threads that begin together are often multiples of 4.
        let id = place.0.unwrap_or(0);
        let at = usize::try_from((id ^ id >> 6) % RECENT as u64).unwrap_or(0);
        match self.0.get_mut(at) {
            Some(known) if *known == place => false,
            Some(known) => {
                *known = place;
                true
            }
            None => true,
        }
    }
}

/// Counts of a whole trace.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    types: EventTypes,
    counts: Vec<TypeCount>,
    threads: Distinct,
    processes: Distinct,
    recent: Recent,
    /// Hashes of stacks that events carry themselves (version 3).
    inline_stacks: Distinct,
    session: Session,
}

impl Survey {
    /// Counts an event.
    #[inline(always)]
    pub(crate) fn take(&mut self, event: &Event<'_>) {
        let number = self.types.index_of(event).number;
        if number >= self.counts.len() {
            self.add_type(number);
        }
        let Some(count) = self.counts.get_mut(number) else { return };
        let ticks = event.timestamp_ticks();
        if count.events == 0 {
            (count.first_ticks, count.last_ticks) = (ticks, ticks);
        }
        count.events += 1;
        count.payload_bytes = count.payload_bytes.saturating_add(event.payload().len() as u64);
        count.with_stack += u64::from(!event.stack().is_empty());
        count.first_ticks = count.first_ticks.min(ticks);
        count.last_ticks = count.last_ticks.max(ticks);
        if count.is_informative {
            self.session.take(event);
        }
        let place = (event.thread_id(), event.process_id());
        if self.recent.is_new(place) {
            self.add_thread(place);
        }
    }

    #[inline(never)]
    fn add_thread(&mut self, (thread, process): Place) {
        if let Some(id) = thread {
            self.threads.insert(id);
        }
        if let Some(id) = process {
            self.processes.insert(id);
        }
    }

    /// Counts the stack of an event that carries it itself.
    pub(crate) fn take_inline_stack(&mut self, event: &Event<'_>) {
        let stack = event.stack();
        if !stack.is_empty() {
            let mut hasher = DefaultHasher::new();
            hasher.write(stack.bytes());
            self.inline_stacks.insert(hasher.finish());
        }
    }

    /// Counts all events of a file with several threads.
    pub(crate) fn of_regions(regions: &Regions) -> Result<(Survey, Outcome), Error> {
        let mut survey = Survey::default();
        let outcome = regions.read(Order::File, Survey::default, |part| {
            survey.join(part);
            ControlFlow::Continue(())
        })?;
        Ok((survey, outcome))
    }

    /// Adds what was counted of the events that follow.
    fn join(&mut self, part: Part) {
        for (row, of_part) in part.counts {
            let number = self.types.number_of(row);
            if number >= self.counts.len() {
                self.counts.resize(number + 1, TypeCount::default());
            }
            let Some(count) = self.counts.get_mut(number) else { continue };
            if count.events == 0 {
                *count = of_part;
                continue;
            }
            count.events += of_part.events;
            count.payload_bytes = count.payload_bytes.saturating_add(of_part.payload_bytes);
            count.with_stack += of_part.with_stack;
            count.first_ticks = count.first_ticks.min(of_part.first_ticks);
            count.last_ticks = count.last_ticks.max(of_part.last_ticks);
        }
        self.threads.join(part.threads);
        self.processes.join(part.processes);
        self.inline_stacks.join(part.inline_stacks);
        self.session.join(part.session);
    }

    fn add_type(&mut self, number: usize) {
        let Some(row) = self.types.rows().get(number) else { return };
        let is_informative = Session::is_informative(&row.provider, row.id);
        self.counts.resize(number, TypeCount::default());
        self.counts.push(TypeCount { is_informative, ..TypeCount::default() });
    }

    /// The event types that were met, each with what was counted.
    pub(crate) fn types(&self) -> impl Iterator<Item = (&EventType, &TypeCount)> {
        self.types.rows().iter().zip(&self.counts)
    }

    pub(crate) fn type_count(&self) -> usize {
        self.counts.len()
    }

    /// Number of events.
    pub(crate) fn events(&self) -> u64 {
        self.counts.iter().map(|count| count.events).sum()
    }

    /// Number of OS threads that events are about.
    pub(crate) fn thread_count(&self) -> Count {
        self.threads.count()
    }

    /// OS processes that events are about.
    pub(crate) fn processes(&self) -> &Distinct {
        &self.processes
    }

    /// Events with a stack of at least one frame.
    pub(crate) fn events_with_stack(&self) -> u64 {
        self.counts.iter().map(|count| count.with_stack).sum()
    }

    /// Payload bytes of all events.
    pub(crate) fn payload_bytes(&self) -> u64 {
        self.counts.iter().map(|count| count.payload_bytes).sum()
    }

    pub(crate) fn inline_stack_count(&self) -> Count {
        self.inline_stacks.count()
    }

    /// Events by provider, most first.
    pub(crate) fn providers(&self) -> Vec<(&str, u64)> {
        let mut providers: BTreeMap<&str, u64> = BTreeMap::new();
        for (row, count) in self.types() {
            let name = if row.is_defined { &*row.provider } else { "(undefined)" };
            *providers.entry(name).or_default() += count.events;
        }
        let mut providers: Vec<(&str, u64)> = providers.into_iter().collect();
        providers.sort_by_key(|(_, events)| std::cmp::Reverse(*events));
        providers
    }

    /// Ticks of the youngest event.
    pub(crate) fn last_ticks(&self) -> Option<u64> {
        self.counts.iter().map(|count| count.last_ticks).max()
    }

    pub(crate) fn session(&self) -> &Session {
        &self.session
    }
}

/// What was counted of some events.
pub(crate) struct Part {
    counts: Vec<(EventType, TypeCount)>,
    threads: Distinct,
    processes: Distinct,
    inline_stacks: Distinct,
    session: Session,
}

/// Counts events as they come.
impl Visit for Survey {
    #[inline(always)]
    fn event(&mut self, event: Event<'_>) {
        self.take(&event);
    }
}

/// The types stay for the next region, the counts go.
impl Work for Survey {
    type Made = Part;

    #[inline]
    fn take(&mut self, event: &Event<'_>) {
        Survey::take(self, event);
        if event.stack_id() == 0 {
            self.take_inline_stack(event);
        }
    }

    fn made(&mut self) -> Part {
        self.recent = Recent::default();
        let counted = self.types.rows().iter().zip(&mut self.counts).filter(|(_, count)| count.events > 0);
        let counts = counted.map(|(row, count)| {
            let kept = TypeCount { is_informative: count.is_informative, ..TypeCount::default() };
            (row.clone(), std::mem::replace(count, kept))
        });
        Part {
            counts: counts.collect(),
            threads: std::mem::take(&mut self.threads),
            processes: std::mem::take(&mut self.processes),
            inline_stacks: std::mem::take(&mut self.inline_stacks),
            session: std::mem::take(&mut self.session),
        }
    }
}
