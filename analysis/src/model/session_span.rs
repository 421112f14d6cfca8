//! Number and times of the events that a filter selects.

use super::intervals::nanos_between;

/// Number of the selected events, and the times of the first and the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SessionSpan {
    pub(crate) events: u64,
    /// First and last time, in nanoseconds since the session's start. Without events the first one is
    /// the later one.
    first: i64,
    last: i64,
}

impl Default for SessionSpan {
    fn default() -> SessionSpan {
        SessionSpan { events: 0, first: i64::MAX, last: i64::MIN }
    }
}

impl SessionSpan {
    /// Adds one event.
    #[inline]
    pub(crate) fn add(&mut self, nanos: i64) {
        self.add_all(1, nanos, nanos);
    }

    /// Adds events whose times lie between two times.
    #[inline]
    pub(crate) fn add_all(&mut self, events: u64, first: i64, last: i64) {
        self.events = self.events.saturating_add(events);
        self.first = self.first.min(first);
        self.last = self.last.max(last);
    }

    /// Returns the first and the last time.
    fn extent(&self) -> Option<(i64, i64)> {
        (self.first <= self.last).then_some((self.first, self.last))
    }

    /// Returns the time from the session's start to the last event, in nanoseconds. If the first
    /// event is earlier than the start, the time begins with that event.
    pub(crate) fn nanos_since_start(&self) -> u64 {
        self.extent().map_or(0, |(first, last)| nanos_between(first.min(0), last))
    }

    /// Returns the time of the last event, in nanoseconds since the session's start.
    pub(crate) fn last_nanos(&self) -> Option<i64> {
        self.extent().map(|(_, last)| last)
    }

    /// Returns the time from the first event to the last, in nanoseconds.
    pub(crate) fn nanos(&self) -> u64 {
        self.extent().map_or(0, |(first, last)| nanos_between(first, last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_as_long_as_its_first_and_last_moments_or_the_start_are_apart() {
        let mut span = SessionSpan::default();
        assert_eq!((span.nanos(), span.nanos_since_start()), (0, 0));
        span.add(7);
        span.add(20);
        assert_eq!((span.nanos(), span.nanos_since_start()), (13, 20));
        span.add(-5);
        assert_eq!((span.nanos(), span.nanos_since_start()), (25, 25));
        span.add_all(7, 3, i64::MAX);
        assert_eq!((span.nanos(), span.events), (i64::MAX as u64, 10));
    }
}
