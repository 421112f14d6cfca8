//! Decides, event by event, what waits.

use super::by_number::ByNumber;
use crate::model::hash::NumberMap;
use crate::model::intervals::LockWaits;
use crate::model::{EventSelector, Kind, Mode, Model, ThreadHandle};
use nettrace_parser::Event;
use nettrace_parser::internal::{Complete, Met, Sift};
use nettrace_parser::view::{self, KnownProvider};

/// Samples that wait before the reader is asked which may go, beyond those that could not go the
/// last time.
const BATCH: usize = 4096;
/// Samples that may wait at most, 32 bytes each.
const MOST: usize = 1 << 19;
/// Types and stacks with larger numbers are looked up each time.
pub(super) const MOST_NUMBERS: usize = 1 << 20;
/// Threads that were met of late, by the last bits of their ids.
const RECENT: usize = 256;

/// What is done with the events of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
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
pub(super) struct Waiting {
    pub(super) ticks: u64,
    /// Stream position of its payload.
    pub(super) at: u64,
    /// Number of its stack.
    pub(super) stack: u32,
    /// Place of its thread's row.
    pub(super) thread: u32,
    pub(super) mode: Mode,
}

/// A thread, by the id that the stream gives.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) id: u64,
    /// The earliest of its events so far.
    since: u64,
    /// Events that nobody else counted.
    pub(super) events: u64,
    pub(super) handle: Option<ThreadHandle>,
}

/// What events are of use for.
#[derive(Debug, Clone)]
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
            // Who waits for a lock does not run.
            _ if LockWaits::is_edge(event) && self.wants(Kind::Cpu) => Role::Waits,
            KnownProvider::UniversalEvents => Role::Waits,
            _ => Role::Useless,
        }
    }
}

/// Takes events that need not wait.
#[derive(Debug)]
pub(super) struct Sifter {
    wanted: Wanted,
    /// By the number of the type.
    pub(super) roles: ByNumber<Role>,
    pub(super) threads: Vec<Row>,
    by_id: NumberMap<u64, u32>,
    /// Ids, and where their rows are.
    recent: [(u64, u32); RECENT],
    pub(super) samples: Vec<Waiting>,
    /// So many may be in `samples` before the reader is asked which may go.
    room: usize,
    /// Events wait that change which methods are known.
    changes_wait: bool,
}

/// Events as they are met: with what is known so far, if that is at hand.
pub(super) struct Sifting<'a> {
    pub(super) sifter: &'a mut Sifter,
    pub(super) model: Option<&'a mut Model>,
}

impl Sifter {
    pub(super) fn new(wanted: Wanted) -> Sifter {
        Sifter {
            wanted,
            roles: ByNumber::new(Role::New),
            threads: Vec::new(),
            by_id: NumberMap::default(),
            recent: [(0, u32::MAX); RECENT],
            samples: Vec::new(),
            room: BATCH,
            changes_wait: false,
        }
    }

    /// Begins again with another stretch of the stream; memory is kept.
    pub(super) fn begin_again(&mut self) {
        self.roles.clear();
        // A table that was large once takes long to clear.
        if self.by_id.capacity() / 16 > self.threads.len().saturating_add(64) {
            self.by_id = NumberMap::default();
        }
        self.by_id.clear();
        self.threads.clear();
        self.recent = [(0, u32::MAX); RECENT];
        self.samples.clear();
        (self.room, self.changes_wait) = (BATCH, false);
    }

    /// Puts samples into time order. Gives how many are complete.
    pub(super) fn sort(&mut self, complete: Complete) -> usize {
        if !self.samples.is_sorted_by_key(|sample| sample.ticks) {
            // Stable: what has the same time stays in file order.
            self.samples.sort_by_key(|sample| sample.ticks);
        }
        match complete {
            Complete::UpTo(ticks) => self.samples.partition_point(|sample| sample.ticks <= ticks),
            Complete::All => self.samples.len(),
        }
    }

    /// The threads, and the first `end` samples.
    pub(super) fn ready(&mut self, end: usize) -> (&mut [Row], &[Waiting]) {
        (&mut self.threads, self.samples.get(..end).unwrap_or_default())
    }

    /// Makes room when those that were complete are gone. `are_waiting`: events wait on.
    pub(super) fn go_on(&mut self, are_waiting: bool) {
        self.changes_wait &= are_waiting;
        self.room = self.samples.len().saturating_mul(2).saturating_add(BATCH);
    }

    #[cold]
    #[inline(never)]
    fn learn_role(&mut self, number: Option<u32>, event: &Event<'_>) -> Role {
        let role = self.wanted.role_of(event);
        if let Some(number) = number.filter(|number| (*number as usize) < MOST_NUMBERS) {
            self.roles.put(number, role);
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
    /// Whether an event of a list of methods tells something. What is there for long is reported at the end
    /// of each session, and at the end of each file that a long session is cut into.
    #[inline]
    fn is_news(&mut self, event: &Event<'_>) -> bool {
        let knows = |model: &mut &mut Model| model.knows_method(event);
        self.sifter.changes_wait || !self.model.as_mut().is_some_and(knows)
    }
}

impl Sift for Sifting<'_> {
    #[inline(always)]
    fn waits(&mut self, met: &Met<'_>) -> bool {
        let (event, number) = (met.event(), met.type_number());
        let role = number.and_then(|number| self.sifter.roles.get(number)).copied();
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
