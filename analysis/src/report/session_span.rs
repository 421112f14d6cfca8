//! The duration of the part of a session that a report is about.

use crate::model::intervals::nanos_between;

/// From the first to the last time.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SessionSpan {
    first_ns: Option<i64>,
    last_ns: i64,
}

impl SessionSpan {
    /// Adds a time in nanoseconds since the session's start, which must not be before the
    /// previous one.
    pub(crate) fn add(&mut self, nanos: i64) {
        self.first_ns.get_or_insert(nanos);
        self.last_ns = nanos;
    }

    /// From the session's start, or from the first time if that is before it, to the
    /// last.
    pub(crate) fn nanos_since_start(&self) -> u64 {
        self.first_ns.map_or(0, |first| nanos_between(first.min(0), self.last_ns))
    }

    /// The duration in nanoseconds; 0 if there are fewer than two times.
    pub(crate) fn nanos(&self) -> u64 {
        self.first_ns.map_or(0, |first| nanos_between(first, self.last_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_as_long_as_its_first_and_last_moments_are_apart() {
        let mut span = SessionSpan::default();
        assert_eq!(span.nanos(), 0);
        span.add(-5);
        assert_eq!(span.nanos(), 0);
        span.add(20);
        assert_eq!((span.nanos(), span.nanos_since_start()), (25, 25));
        span.add(i64::MAX);
        assert_eq!(span.nanos(), i64::MAX as u64);
    }

    #[test]
    fn since_the_start_a_span_has_what_was_before_its_first_moment_too() {
        let mut span = SessionSpan::default();
        assert_eq!(span.nanos_since_start(), 0);
        span.add(7);
        span.add(20);
        assert_eq!((span.nanos(), span.nanos_since_start()), (13, 20));
    }
}
