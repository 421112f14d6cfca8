//! Choice of the checks that are made for an input.

use super::mix::Mix;
use std::hash::Hasher;

/// Checks to make for an input. Tests make all of them. A fuzzer makes each expensive check for one
/// input in `count` only, and so tries several times as many inputs.
#[derive(Clone, Copy)]
pub(crate) struct Questions {
    /// Number from which the next choices are drawn; `None` makes all checks. It depends on the
    /// input alone, so that a run can be repeated.
    lot: Option<u64>,
}

impl Questions {
    /// Returns all checks.
    pub(crate) fn all() -> Questions {
        Questions { lot: None }
    }

    /// Returns the checks for an input of a fuzzer.
    pub(crate) fn drawn_by(bytes: &[u8]) -> Questions {
        let mut mix = Mix::default();
        mix.write(bytes);
        Questions { lot: Some(mix.finish()) }
    }

    /// Returns whether to make the next check: always in tests, for one input in `count` in a
    /// fuzzer.
    pub(crate) fn ask(&mut self, count: u64) -> bool {
        let Some(lot) = &mut self.lot else { return true };
        let drawn = *lot % count;
        *lot /= count;
        drawn == 0
    }
}
