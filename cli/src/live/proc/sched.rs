//! Reads `/proc/PID/task/TID/schedstat`.

/// What the scheduler counted of a thread since its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SchedTimes {
    /// Time on a processor in nanoseconds.
    pub(crate) ran_ns: u64,
    /// Time in nanoseconds in which the thread was ready and had no processor.
    pub(crate) ready_ns: u64,
    /// Number of times that it was given a processor.
    pub(crate) slices: u64,
}

impl SchedTimes {
    /// Reads three numbers.
    pub(crate) fn parse(text: &str) -> Option<SchedTimes> {
        let mut numbers = text.split_whitespace().map(str::parse);
        let mut next = || numbers.next()?.ok();
        Some(SchedTimes { ran_ns: next()?, ready_ns: next()?, slices: next()? })
    }

    /// Returns whether nothing was counted, as on systems that do not count.
    pub(crate) fn is_zero(&self) -> bool {
        *self == SchedTimes::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_numbers_are_the_times_of_a_thread() {
        let times = SchedTimes { ran_ns: 1_697_890, ready_ns: 4_177_610, slices: 2 };
        assert_eq!(SchedTimes::parse("1697890 4177610 2\n"), Some(times));
        assert!(SchedTimes::parse("0 0 0\n").unwrap().is_zero());
        assert_eq!(SchedTimes::parse("1 2\n"), None);
        assert_eq!(SchedTimes::parse("1 -2 3\n"), None);
    }
}
