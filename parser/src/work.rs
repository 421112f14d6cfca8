//! Steps of work, counted by unit tests only: what a hostile stream costs must not depend on the machine that
//! tells it.

#[cfg(test)]
use std::cell::Cell;

#[cfg(test)]
thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

/// So many steps were taken: bytes, rows or blocks were looked at.
#[inline(always)]
pub(crate) fn count(_steps: usize) {
    #[cfg(test)]
    STEPS.with(|steps| steps.set(steps.get().saturating_add(_steps as u64)));
}

/// What was counted in this thread since the last call.
#[cfg(test)]
pub(crate) fn take() -> u64 {
    STEPS.with(Cell::take)
}
