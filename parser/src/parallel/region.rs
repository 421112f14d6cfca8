//! Reads the events of a region, or of a portion of a stream.

use super::Order;
use crate::error::Error;
use crate::event::Event;
use crate::order::TimeOrdered;
use crate::reader::{Plan, Reader, Visit};
use crate::source::Source;

/// A reader in file order or in time order.
#[derive(Debug)]
pub(super) enum Events<S> {
    File(Box<Reader<S>>),
    Time(Box<TimeOrdered<S>>),
}

impl<S: Source> Events<S> {
    pub(super) fn new(reader: Reader<S>, order: Order) -> Events<S> {
        match order {
            Order::File => Events::File(Box::new(reader)),
            Order::Time => Events::Time(Box::new(reader.time_ordered())),
        }
    }

    #[inline]
    pub(super) fn next_event(&mut self) -> Result<Option<Event<'_>>, Error> {
        match self {
            Events::File(reader) => reader.next_event(),
            Events::Time(ordered) => ordered.next_event(),
        }
    }

    /// Starts over with a plan, but keeps the allocated memory.
    pub(super) fn begin_plan(&mut self, plan: &mut Plan) {
        match self {
            Events::File(reader) => reader.begin_plan(plan),
            Events::Time(ordered) => {
                ordered.reader_mut().begin_plan(plan);
                ordered.begin_again();
            }
        }
    }

    pub(super) fn reader_mut(&mut self) -> &mut Reader<S> {
        match self {
            Events::File(reader) => reader,
            Events::Time(ordered) => ordered.reader_mut(),
        }
    }

    pub(super) fn reader(&self) -> &Reader<S> {
        match self {
            Events::File(reader) => reader,
            Events::Time(ordered) => ordered.reader(),
        }
    }

    /// Returns whether nothing found so far requires that one thread reads the whole stream.
    pub(super) fn is_regular(&self) -> bool {
        let state = self.reader().state();
        !state.is_irregular && self.out_of_order() == 0 && state.damage.findings().is_empty()
    }

    pub(super) fn out_of_order(&self) -> u64 {
        match self {
            Events::File(_) => 0,
            Events::Time(ordered) => ordered.out_of_order(),
        }
    }

    pub(super) fn into_reader(self) -> (Reader<S>, u64) {
        match self {
            Events::File(reader) => (*reader, 0),
            Events::Time(ordered) => {
                let out_of_order = ordered.out_of_order();
                (ordered.into_reader(), out_of_order)
            }
        }
    }
}

/// Consecutive events of a stream: a region, or a portion of a stream that one thread reads.
/// Events that `work` does not read are skipped.
#[derive(Debug)]
pub struct Region<'r, S> {
    events: &'r mut Events<S>,
    left: u64,
    is_done: bool,
    is_portion: bool,
    /// Time of the oldest event returned, in ticks.
    pub(super) oldest: u64,
    /// Time of the newest event returned, in ticks.
    pub(super) youngest: u64,
    /// Number of events returned.
    pub(super) count: u64,
}

impl<'r, S: Source> Region<'r, S> {
    /// Creates a region of at most `left` events; `u64::MAX` for all events between two
    /// sequence points.
    pub(super) fn new(events: &'r mut Events<S>, left: u64) -> Region<'r, S> {
        Region {
            events,
            left,
            is_done: false,
            is_portion: left != u64::MAX,
            oldest: u64::MAX,
            youngest: 0,
            count: 0,
        }
    }

    /// Returns the next event of the region, or `None` after the last.
    ///
    /// # Errors
    /// The errors of [`Reader::next_event`](crate::Reader::next_event).
    #[inline]
    pub fn next_event(&mut self) -> Result<Option<Event<'_>>, Error> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left = self.left.saturating_sub(1);
        let Some(event) = self.events.next_event()? else {
            self.is_done = true;
            self.left = 0;
            return Ok(None);
        };
        let ticks = event.timestamp_ticks();
        self.oldest = self.oldest.min(ticks);
        self.youngest = self.youngest.max(ticks);
        self.count = self.count.saturating_add(1);
        Ok(Some(event))
    }

    /// Passes the remaining events of the region to `take`.
    ///
    /// # Errors
    /// The errors of [`Reader::next_event`](crate::Reader::next_event).
    #[inline]
    pub fn for_each(&mut self, mut take: impl FnMut(Event<'_>)) -> Result<(), Error> {
        self.visit(&mut take)
    }

    /// Passes the remaining events of the region to a visitor until it wants no more, like
    /// [`Reader::visit`](crate::Reader::visit). A further call passes the events after them.
    ///
    /// # Errors
    /// The errors of [`Reader::next_event`](crate::Reader::next_event).
    #[inline(always)]
    pub fn visit(&mut self, visitor: &mut impl Visit) -> Result<(), Error> {
        let before = self.left;
        let mut counted = CountingVisitor { visitor, left: before };
        let result = match &mut *self.events {
            Events::File(reader) => reader.visit(&mut counted),
            Events::Time(ordered) => {
                let (oldest, youngest) = (self.oldest, self.youngest);
                let mut timed = TimingVisitor { counted: &mut counted, oldest, youngest };
                let result = ordered.visit(&mut timed);
                (self.oldest, self.youngest) = (timed.oldest, timed.youngest);
                result
            }
        };
        let wants_more = counted.wants_more();
        self.left = counted.left;
        self.count = self.count.saturating_add(before.saturating_sub(self.left));
        result?;
        if wants_more {
            self.is_done = true;
            self.left = 0;
        }
        Ok(())
    }

    /// Returns whether reading with one thread would have passed the same events so far.
    pub(super) fn is_regular(&self) -> bool {
        self.is_portion || self.events.is_regular()
    }

    /// Returns the session of the stream: start time, process, pointer size and clock.
    pub fn session(&self) -> &crate::Trace {
        &self.events.reader().state().context.trace
    }

    /// Returns whether the stream has no more events.
    pub(super) fn is_done(&self) -> bool {
        self.is_done
    }

    /// Returns whether the region has no more events.
    pub(super) fn is_at_end(&self) -> bool {
        self.is_done || self.left == 0
    }
}

/// Visitor that counts events and passes them on, up to `left`.
struct CountingVisitor<'v, V> {
    visitor: &'v mut V,
    left: u64,
}

impl<V: Visit> Visit for CountingVisitor<'_, V> {
    #[inline(always)]
    fn event(&mut self, event: Event<'_>) {
        self.left = self.left.saturating_sub(1);
        self.visitor.event(event);
    }

    #[inline(always)]
    fn wants_more(&self) -> bool {
        self.left > 0 && self.visitor.wants_more()
    }
}

/// Visitor that notes the oldest and the newest time, and passes events on.
struct TimingVisitor<'c, V> {
    counted: &'c mut V,
    oldest: u64,
    youngest: u64,
}

impl<V: Visit> Visit for TimingVisitor<'_, V> {
    #[inline(always)]
    fn event(&mut self, event: Event<'_>) {
        let ticks = event.timestamp_ticks();
        self.oldest = self.oldest.min(ticks);
        self.youngest = self.youngest.max(ticks);
        self.counted.event(event);
    }

    #[inline(always)]
    fn wants_more(&self) -> bool {
        self.counted.wants_more()
    }
}
