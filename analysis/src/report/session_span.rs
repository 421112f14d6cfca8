//! How long the part of a session is that a report is about.

use crate::model::intervals::nanos_between;

/// From the first moment until the last.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SessionSpan {
    first_ns: Option<i64>,
    last_ns: i64,
}

impl SessionSpan {
    /// Takes the next moment, in nanoseconds since the session's start; not before the one before.
    pub(crate) fn add(&mut self, nanos: i64) {
        self.first_ns.get_or_insert(nanos);
        self.last_ns = nanos;
    }

    /// Its length in nanoseconds; 0 of less than two moments.
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
        assert_eq!(span.nanos(), 25);
        span.add(i64::MAX);
        assert_eq!(span.nanos(), i64::MAX as u64);
    }
}
