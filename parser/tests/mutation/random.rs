//! Random choices, bytes and ranges for damage.

pub(crate) use crate::splitmix::Random;
use std::ops::Range;

impl Random {
    pub(crate) fn one<'t, T>(&mut self, of: &'t [T]) -> &'t T {
        &of[self.below(of.len())]
    }

    /// Keeps at most `most` random elements.
    pub(crate) fn some<T>(&mut self, mut of: Vec<T>, most: u32) -> Vec<T> {
        while of.len() > most as usize {
            of.swap_remove(self.below(of.len()));
        }
        of
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }

    /// Draws a range of at most `most` bytes before `end`.
    pub(crate) fn stretch(&mut self, end: usize, most: usize) -> Range<usize> {
        let start = self.below(end);
        start..end.min(start + 1 + self.below(most))
    }
}
