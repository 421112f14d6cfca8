//! Some consecutive events.

use super::Order;
use crate::block::stack::Stack;
use crate::error::Error;
use crate::event::Event;
use crate::order::{Candidate, FilteredEvents, PendingFilter, TimeOrdered, Watermark};
use crate::reader::{Plan, Reader};
use crate::source::Source;

/// A reader in one of the two orders.
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

    /// Begins again with a plan; memory is kept.
    pub(super) fn plan(&mut self, plan: &mut Plan) {
        match self {
            Events::File(reader) => reader.plan(plan),
            Events::Time(ordered) => {
                ordered.reader_mut().plan(plan);
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

/// Some consecutive events of a stream: those between two sequence points, or a portion of a stream
/// that is read by one thread. Events that are not asked for are passed over, unless [`Region::stop_here`]
/// says that they are still wanted.
#[derive(Debug)]
pub struct Region<'r, S> {
    events: &'r mut Events<S>,
    left: u64,
    is_done: bool,
    is_portion: bool,
    is_stopped: bool,
    /// Times of the oldest and the youngest event given.
    pub(super) oldest: u64,
    pub(super) youngest: u64,
    pub(super) count: u64,
}

impl<'r, S: Source> Region<'r, S> {
    /// At most `left` events; `u64::MAX`: all, and no portion.
    pub(super) fn new(events: &'r mut Events<S>, left: u64) -> Region<'r, S> {
        Region {
            events,
            left,
            is_done: false,
            is_portion: left != u64::MAX,
            is_stopped: false,
            oldest: u64::MAX,
            youngest: 0,
            count: 0,
        }
    }

    /// The next event of the region, or `None` behind the last.
    ///
    /// # Errors
    /// As [`Reader::next_event`](crate::Reader::next_event).
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

    /// Gives the events that are left in the region to `take`.
    ///
    /// # Errors
    /// As [`Reader::next_event`](crate::Reader::next_event).
    #[inline]
    pub fn for_each(&mut self, mut take: impl FnMut(Event<'_>)) -> Result<(), Error> {
        // A whole region goes the fastest way.
        if self.left == u64::MAX {
            let (oldest, youngest, count) = (&mut self.oldest, &mut self.youngest, &mut self.count);
            let each = |event: Event<'_>| {
                let ticks = event.timestamp_ticks();
                *oldest = (*oldest).min(ticks);
                *youngest = (*youngest).max(ticks);
                *count = count.saturating_add(1);
                take(event);
            };
            match &mut *self.events {
                Events::File(reader) => reader.for_each(each),
                Events::Time(ordered) => ordered.for_each(each),
            }?;
            self.left = 0;
            self.is_done = true;
            return Ok(());
        }
        while let Some(event) = self.next_event()? {
            take(event);
        }
        Ok(())
    }

    /// Whether this is a portion, which ends wherever [`Region::stop_here`] is called. Otherwise it is all between two
    /// sequence points, read by a worker before it is known whether what was made of it can be taken.
    pub fn is_portion(&self) -> bool {
        self.is_portion
    }

    /// Says that enough was made for now. What is left comes with further calls of the work, in portions. Of a region
    /// that is no portion what was made so far is dropped, and all of it comes again on the caller's thread when its turn
    /// has come: a work that calls this bounds what it holds, whatever the stream makes of a few bytes.
    pub fn stop_here(&mut self) {
        self.is_stopped = true;
    }

    /// Whether [`Region::stop_here`] was called.
    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    /// What is known of the session.
    pub fn session(&self) -> &crate::Trace {
        &self.events.reader().state().context.trace
    }

    /// Whether the stream has no more events.
    pub(super) fn is_done(&self) -> bool {
        self.is_done
    }
}

/// In file order nothing waits, and nothing is shown.
impl<S: Source> FilteredEvents for Region<'_, S> {
    #[inline]
    fn advance(&mut self, filter: &mut impl PendingFilter) -> Result<Option<Watermark>, Error> {
        let Events::Time(ordered) = &mut *self.events else { return Ok(None) };
        let mut counted = Counted { filter, oldest: self.oldest, youngest: self.youngest, count: self.count };
        let complete = ordered.advance(&mut counted);
        (self.oldest, self.youngest, self.count) = (counted.oldest, counted.youngest, counted.count);
        complete
    }

    #[inline]
    fn ready(&mut self) -> Option<Event<'_>> {
        match &mut *self.events {
            Events::Time(ordered) => ordered.ready(),
            Events::File(_) => None,
        }
    }

    #[inline]
    fn peek(&self) -> Option<(u64, u64)> {
        match &*self.events {
            Events::Time(ordered) => ordered.peek(),
            Events::File(_) => None,
        }
    }

    fn stack(&self, number: u32) -> Stack<'_> {
        match &*self.events {
            Events::Time(ordered) => ordered.stack(number),
            Events::File(_) => Stack::new(&[], 8),
        }
    }
}

/// Counts what is shown, and its times.
struct Counted<'s, F> {
    filter: &'s mut F,
    oldest: u64,
    youngest: u64,
    count: u64,
}

impl<F: PendingFilter> PendingFilter for Counted<'_, F> {
    #[inline(always)]
    fn is_deferred(&mut self, candidate: &Candidate<'_>) -> bool {
        let ticks = candidate.event().timestamp_ticks();
        self.oldest = self.oldest.min(ticks);
        self.youngest = self.youngest.max(ticks);
        self.count = self.count.saturating_add(1);
        self.filter.is_deferred(candidate)
    }

    #[inline(always)]
    fn is_full(&self) -> bool {
        self.filter.is_full()
    }

    fn flush_up_to(&self) -> Option<u64> {
        self.filter.flush_up_to()
    }
}
