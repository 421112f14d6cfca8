//! Events that are kept after the reader has moved on.
//!
//! The reader's slots and ids change their meaning at a sequence point, so an event
//! cannot be kept by them. Types and threads are identified by their serial numbers,
//! which no two rows share; stacks and labels are compared byte by byte with the copy.

use crate::blob::BlobHeader;
use crate::context::{Context, Resolved};
use crate::event::Event;
use crate::limits::Room;
use crate::serial::Serial;
use crate::tables::{ByteTable, NO_SLOT, Slot, Table, Weigh};
use std::sync::Arc;

/// Copies of events, in the order in which they were pushed, to look at later or on
/// another thread. A copy equals the original [`Event`], except that its
/// [`stack_id`](Event::stack_id) numbers the kept stacks.
///
/// Events may come from both sides of a sequence point, from several regions and from
/// several streams. Each keeps its own type, thread, stack, labels and clock.
///
/// ```
/// use nettrace_parser::{KeptEvents, Reader};
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let mut kept = KeptEvents::new();
/// Reader::from_slice(&bytes).for_each(|event| kept.push(&event))?;
/// assert_eq!(kept.len(), 4);
/// let names: Vec<&str> = kept.iter().map(|event| event.name()).collect();
/// assert_eq!(names.first(), Some(&"Hi"));
/// // The youngest comes first.
/// let mut by_time: Vec<_> = (&kept).into_iter().collect();
/// by_time.sort_by_key(|event| std::cmp::Reverse(event.timestamp_ticks()));
/// # Ok::<(), nettrace_parser::Error>(())
/// ```
///
/// An event takes about 200 bytes plus its payload. Types, threads and stacks that events
/// share are kept once, if the stream also stores them once.
#[derive(Debug, Clone)]
pub struct KeptEvents {
    /// What the events refer to. Usually one part is enough, see [`KeptEvents::part`].
    first: SessionTables,
    others: Vec<SessionTables>,
    rows: Vec<KeptEvent>,
    payloads: Vec<u8>,
}

/// What the events of one session refer to.
#[derive(Debug, Clone)]
struct SessionTables {
    context: Context,
    stacks: Copied,
    labels: Copied,
}

#[derive(Debug, Clone)]
struct KeptEvent {
    header: BlobHeader,
    resolved: Resolved,
    payload_at: u64,
    /// Its offset in `payloads`.
    at: usize,
    /// Index of its part: 0 for the first.
    part: usize,
}

impl Default for KeptEvents {
    fn default() -> Self {
        KeptEvents {
            first: SessionTables::new(Context::new()),
            others: Vec::new(),
            rows: Vec::new(),
            payloads: Vec::new(),
        }
    }
}

impl KeptEvents {
    /// No events yet.
    pub fn new() -> KeptEvents {
        KeptEvents::default()
    }

    /// Keeps an event.
    pub fn push(&mut self, event: &Event<'_>) {
        let (header, theirs) = (event.header, event.context);
        let resolved = event.resolved.unwrap_or_else(|| theirs.resolved(header));
        let mut place = self.place(theirs);
        let resolved = match self.part_mut(place).keep(theirs, resolved) {
            Some(resolved) => resolved,
            None => {
                // This part is full; further events get a new one.
                self.others.push(SessionTables::new(theirs.of_session()));
                place = self.others.len();
                self.part_mut(place).keep(theirs, resolved).unwrap_or(Resolved::NOTHING)
            }
        };
        let at = self.payloads.len();
        self.payloads.extend_from_slice(event.bytes());
        self.rows.push(KeptEvent {
            header: *header,
            resolved,
            payload_at: event.payload_at,
            at,
            part: place,
        });
    }

    /// The index of the newest part for events of a session.
    #[inline]
    fn place(&mut self, theirs: &Context) -> usize {
        if self.rows.is_empty() {
            self.first.context.begin_session_of(theirs);
            return 0;
        }
        // Consecutive events usually belong to the same session.
        let last = self.rows.last().map_or(0, |row| row.part);
        if self.part(last).context.is_of_session(theirs) {
            return last;
        }
        match self.others.iter().rposition(|part| part.context.is_of_session(theirs)) {
            Some(index) => index.saturating_add(1),
            None if self.first.context.is_of_session(theirs) => 0,
            None => {
                self.others.push(SessionTables::new(theirs.of_session()));
                self.others.len()
            }
        }
    }

    #[inline]
    fn part(&self, place: usize) -> &SessionTables {
        place.checked_sub(1).and_then(|index| self.others.get(index)).unwrap_or(&self.first)
    }

    #[inline]
    fn part_mut(&mut self, place: usize) -> &mut SessionTables {
        place.checked_sub(1).and_then(|index| self.others.get_mut(index)).unwrap_or(&mut self.first)
    }

    /// Discards all events but keeps the allocated memory.
    pub fn clear(&mut self) {
        self.first.clear();
        self.others.clear();
        self.rows.clear();
        self.payloads.clear();
    }

    /// Number of events.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no events.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The event with this index, counted from 0 in the order of pushing.
    pub fn get(&self, index: usize) -> Option<Event<'_>> {
        self.rows.get(index).map(|row| self.event(row))
    }

    /// The events.
    pub fn iter(&self) -> KeptIter<'_> {
        KeptIter { kept: self, rows: self.rows.iter() }
    }

    fn event<'k>(&'k self, row: &'k KeptEvent) -> Event<'k> {
        let context = &self.part(row.part).context;
        Event {
            header: &row.header,
            resolved: Some(row.resolved),
            row: context.tables.metadata.row(row.resolved.metadata),
            context,
            rest: self.payloads.get(row.at..).unwrap_or_default(),
            payload_at: row.payload_at,
        }
    }
}

impl<'k> IntoIterator for &'k KeptEvents {
    type Item = Event<'k>;
    type IntoIter = KeptIter<'k>;

    fn into_iter(self) -> KeptIter<'k> {
        self.iter()
    }
}

/// The events of [`KeptEvents`], in the order in which they were pushed.
#[derive(Debug, Clone)]
pub struct KeptIter<'k> {
    kept: &'k KeptEvents,
    rows: std::slice::Iter<'k, KeptEvent>,
}

impl<'k> Iterator for KeptIter<'k> {
    type Item = Event<'k>;

    fn next(&mut self) -> Option<Event<'k>> {
        self.rows.next().map(|row| self.kept.event(row))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.rows.size_hint()
    }

    fn nth(&mut self, n: usize) -> Option<Event<'k>> {
        self.rows.nth(n).map(|row| self.kept.event(row))
    }
}

impl DoubleEndedIterator for KeptIter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.rows.next_back().map(|row| self.kept.event(row))
    }
}

impl ExactSizeIterator for KeptIter<'_> {}

impl std::iter::FusedIterator for KeptIter<'_> {}

impl SessionTables {
    fn new(context: Context) -> SessionTables {
        SessionTables { context, stacks: Copied::default(), labels: Copied::default() }
    }

    fn clear(&mut self) {
        self.context.forget();
        self.stacks.clear();
        self.labels.clear();
    }

    /// Copies what an event refers to, unless it is already here. `None` if there is no
    /// room.
    fn keep(&mut self, theirs: &Context, resolved: Resolved) -> Option<Resolved> {
        let (from, ours) = (&theirs.tables, &mut self.context.tables);
        Some(Resolved {
            metadata: keep_row(&from.metadata, resolved.metadata, &mut ours.metadata),
            stack: self.stacks.keep(&from.stacks, resolved.stack, &mut ours.stacks)?,
            thread: keep_row(&from.threads, resolved.thread, &mut ours.threads),
            labels: self.labels.keep(&from.labels, resolved.labels, &mut ours.labels)?,
        })
    }
}

/// A row with a unique number.
trait Numbered {
    fn serial(&self) -> Serial;
}

impl Numbered for crate::Metadata {
    fn serial(&self) -> Serial {
        self.serial
    }
}

impl Numbered for crate::Thread {
    fn serial(&self) -> Serial {
        self.serial
    }
}

/// Copies a row, unless it is already there, to a table that uses serial numbers as ids.
#[inline]
fn keep_row<T: Numbered + Weigh + Clone>(
    from: &Table<T>,
    slot: Slot,
    into: &mut Arc<Table<T>>,
) -> Slot {
    let Some(row) = from.row(slot) else { return NO_SLOT };
    let id = row.serial().number();
    let slot = into.slot(id);
    if slot != NO_SLOT {
        return slot;
    }
    Arc::make_mut(into).define(id, row.clone(), Room::ANY);
    into.slot(id)
}

/// Maps slots of the reader to copies. The reader reuses slots, so a copy is used only if
/// it has the same bytes.
#[derive(Debug, Clone, Default)]
struct Copied {
    /// Slots and their copies, indexed by the lowest bits of the slot.
    places: Vec<(Slot, Slot)>,
}

/// Consecutive events mostly use recently copied stacks.
const PLACES: usize = 512;

impl Copied {
    #[inline]
    fn keep(&mut self, from: &ByteTable, slot: Slot, into: &mut ByteTable) -> Option<Slot> {
        let Some(row) = from.row(slot) else { return Some(NO_SLOT) };
        if self.places.is_empty() {
            self.places.resize(PLACES, (NO_SLOT, NO_SLOT));
        }
        let place = self.places.get_mut(slot as usize % PLACES)?;
        if place.0 == slot && into.row(place.1) == Some(row) {
            return Some(place.1);
        }
        *place = (slot, into.add(row)?);
        Some(place.1)
    }

    fn clear(&mut self) {
        self.places.clear();
    }
}
