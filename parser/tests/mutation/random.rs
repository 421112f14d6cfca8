//! What damage is drawn by: random choices, bytes and places.

pub(crate) use crate::splitmix::Random;
use std::ops::Range;

impl Random {
    pub(crate) fn one<'t, T>(&mut self, of: &'t [T]) -> &'t T {
        &of[self.below(of.len())]
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }

    /// A stretch of at most `most` bytes before `end`.
    pub(crate) fn stretch(&mut self, end: usize, most: usize) -> Range<usize> {
        let start = self.below(end);
        start..end.min(start + 1 + self.below(most))
    }
}
