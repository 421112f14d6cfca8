//! Counts steps of work in unit tests, which limit the steps that a hostile stream may cause.

#[cfg(test)]
use std::cell::Cell;

#[cfg(test)]
thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

/// Counts examined bytes, rows or blocks; does nothing outside of unit tests.
#[inline(always)]
pub(crate) fn count(_steps: usize) {
    #[cfg(test)]
    STEPS.with(|steps| steps.set(steps.get().saturating_add(_steps as u64)));
}

/// Returns the number of steps that this thread counted since the last call.
#[cfg(test)]
pub(crate) fn take() -> u64 {
    STEPS.with(Cell::take)
}
