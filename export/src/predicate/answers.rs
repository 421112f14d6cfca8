//! Evaluates conditions for several events together, such as the start and the end of a request.

use super::compiled::Conditions;
use crate::event_types::{EventTypes, TypeIndex};
use nettrace_parser::Event;
use std::borrow::Cow;
use std::ops::{BitOr, BitOrAssign};

/// Bit in [`Answers`] of an event that passes a filter's providers, events, threads and times.
const PASSES: u128 = 1 << 127;

/// Property of an operation that is not a field of an event, such as its duration. Conditions refer
/// to it by a name, as to a field.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Fact<'t> {
    /// A text. Comparisons ignore the case of ASCII letters.
    Text(Cow<'t, str>),
    /// A number without a unit.
    Number(f64),
    /// A duration in nanoseconds, compared with values such as `10ms`.
    Nanos(u64),
    /// A size in bytes, compared with values such as `100KB`.
    Bytes(u64),
}

/// Comparisons in a filter's conditions that hold for an event, or for several events together.
/// `Path=/buy and duration > 1s` may hold for a request although only its start has the path, and
/// the duration is only known at its end. See [`Filter::answers`](crate::Filter::answers).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Answers(u128);

impl Answers {
    /// Maximum number of comparisons and names in all conditions of a filter that [`Answers`] can
    /// represent.
    pub const MAX_PARTS: usize = 127;

    /// Makes the answers from the bits that [`Answers::bits`] returned.
    pub fn from_bits(bits: u128) -> Answers {
        Answers(bits)
    }

    /// Returns the answers as bits. To combine the answers of several events, join their bits by
    /// `|`.
    pub fn bits(self) -> u128 {
        self.0
    }

    pub(crate) fn passing() -> Answers {
        Answers(PASSES)
    }

    pub(crate) fn passes(self) -> bool {
        self.0 & PASSES != 0
    }
}

impl BitOr for Answers {
    type Output = Answers;

    fn bitor(self, other: Answers) -> Answers {
        Answers(self.0 | other.0)
    }
}

impl BitOrAssign for Answers {
    fn bitor_assign(&mut self, other: Answers) {
        self.0 |= other.0;
    }
}

impl Conditions {
    pub(crate) fn leaf_count(&mut self) -> usize {
        self.iter_mut().map(|compiled| compiled.leaf_count()).fold(0, usize::saturating_add)
    }

    /// Evaluates all comparisons and names of the conditions for an event.
    pub(crate) fn answers(
        &mut self,
        event: &Event<'_>,
        place: TypeIndex,
        types: &EventTypes,
    ) -> Answers {
        let mut joined = Joined::default();
        for compiled in self.iter_mut() {
            joined.add(compiled.answer(event, place, types));
            joined.first = joined.first.saturating_add(compiled.leaf_count());
        }
        joined.answers
    }

    /// Evaluates all comparisons and names of the conditions for facts.
    pub(crate) fn answers_of(&mut self, facts: &[(&str, Fact<'_>)]) -> Answers {
        let mut joined = Joined::default();
        for compiled in self.iter_mut() {
            joined.add(compiled.answer_facts(facts));
            joined.first = joined.first.saturating_add(compiled.leaf_count());
        }
        joined.answers
    }

    /// Returns whether all conditions are true with these answers.
    pub(crate) fn hold_with(&mut self, answers: Answers) -> bool {
        let (mut hold, mut first) = (true, 0_usize);
        for compiled in self.iter_mut() {
            let is_so = |at: usize| answers.0 & bit(first.saturating_add(at)) != 0;
            hold &= compiled.holds_with(&is_so);
            first = first.saturating_add(compiled.leaf_count());
        }
        hold
    }
}

#[derive(Default)]
struct Joined {
    answers: Answers,
    first: usize,
}

impl Joined {
    fn add(&mut self, answers: &[bool]) {
        for (at, _) in answers.iter().enumerate().filter(|(_, is_so)| **is_so) {
            self.answers.0 |= bit(self.first.saturating_add(at));
        }
    }
}

/// Returns the bit for the leaf with this index, or zero if there are too many leaves.
fn bit(at: usize) -> u128 {
    if at >= Answers::MAX_PARTS {
        return 0;
    }
    u32::try_from(at).ok().and_then(|at| 1_u128.checked_shl(at)).unwrap_or(0)
}
