//! Which of the questions apply to an input.

use super::mix::Mix;
use std::hash::Hasher;

/// The questions to ask of an input. A test asks all of them. A fuzzer asks the cheap
/// ones of every input and each of the others of one input in `count`, and so comes to
/// several times as many inputs.
#[derive(Clone, Copy)]
pub(crate) struct Questions {
    /// What is left of a number that follows from the input alone, so that a run can be
    /// repeated.
    lot: Option<u64>,
}

impl Questions {
    /// Returns every question.
    pub(crate) fn all() -> Questions {
        Questions { lot: None }
    }

    /// Returns the questions that the input draws.
    pub(crate) fn drawn_by(bytes: &[u8]) -> Questions {
        let mut mix = Mix::default();
        mix.write(bytes);
        Questions { lot: Some(mix.finish()) }
    }

    /// Returns whether the next question applies: always, or to one input in `count`.
    pub(crate) fn ask(&mut self, count: u64) -> bool {
        let Some(lot) = &mut self.lot else { return true };
        let drawn = *lot % count;
        *lot /= count;
        drawn == 0
    }
}
