//! A hash for small keys of numbers: faster than the standard one, and as hard to
//! foresee.
//!
//! Keys are numbers that a trace gives: addresses, ids. A hash that is the same in each
//! run could be turned around, and a trace made whose keys all collide; a map is then a
//! list, and a megabyte takes minutes. So each map has secrets of its own, drawn as the
//! standard library draws them. The order of such a map differs from run to run: nothing
//! that is shown may depend on it.

use nettrace_parser::internal::numbers;
use std::hash::{BuildHasher, Hasher, RandomState};

/// A map with [`NumberHasher`].
pub(crate) type NumberMap<K, V> = std::collections::HashMap<K, V, NumberState>;

/// The secrets of a map.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NumberState {
    start: u64,
    factor: u64,
}

impl Default for NumberState {
    fn default() -> NumberState {
        let random = RandomState::new();
        // Odd: no bit of a key is lost in a product.
        NumberState { start: random.hash_one(0u8), factor: random.hash_one(1u8) | 1 }
    }
}

impl BuildHasher for NumberState {
    type Hasher = NumberHasher;

    #[inline]
    fn build_hasher(&self) -> NumberHasher {
        NumberHasher { sum: self.start, factor: self.factor }
    }
}

/// Multiplies and folds, a word at a time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NumberHasher {
    sum: u64,
    factor: u64,
}

impl NumberHasher {
    #[inline]
    pub(crate) fn add(&mut self, word: u64) {
        // Both halves of the product: each of its bits depends on bits of the key on both
        // sides.
        let product =
            u128::from(self.sum.rotate_left(23) ^ word).wrapping_mul(u128::from(self.factor));
        #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
        let (low, high) = (product as u64, (product >> 64) as u64);
        self.sum = low ^ high;
    }
}

impl Hasher for NumberHasher {
    #[inline]
    fn finish(&self) -> u64 {
        self.sum
    }

    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        numbers(words.as_flattened()).for_each(|word| self.add(word));
        rest.iter().for_each(|byte| self.add(u64::from(*byte)));
    }

    #[inline]
    fn write_u8(&mut self, value: u8) {
        self.add(u64::from(value));
    }

    #[inline]
    fn write_u32(&mut self, value: u32) {
        self.add(u64::from(value));
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        self.add(value);
    }

    #[inline]
    fn write_usize(&mut self, value: usize) {
        self.add(value as u64);
    }
}
