//! Counts steps of work, in unit tests only, so that tests can limit what a hostile
//! stream costs independently of the machine.

#[cfg(test)]
use std::cell::Cell;

#[cfg(test)]
thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

/// Counts this many bytes, rows or blocks as examined.
#[inline(always)]
pub(crate) fn count(_steps: usize) {
    #[cfg(test)]
    STEPS.with(|steps| steps.set(steps.get().saturating_add(_steps as u64)));
}

/// Returns the steps counted in this thread since the last call.
#[cfg(test)]
pub(crate) fn take() -> u64 {
    STEPS.with(Cell::take)
}
