//! Hash maps whose keys are numbers. They are faster than the standard ones, and as hard to attack.
//!
//! Keys are addresses and ids from a trace. If the hash function were known, a hostile trace could
//! contain keys that all collide, and reading a megabyte would take minutes. So each map has random
//! secrets, as in the standard library. Therefore the order of the keys differs from run to run, so
//! no output may depend on it.

use nettrace_parser::internal::numbers;
use std::hash::{BuildHasher, Hasher, RandomState};

/// A map that uses [`NumberHasher`].
pub(crate) type NumberMap<K, V> = std::collections::HashMap<K, V, NumberState>;

/// The secrets of a map, on which its hashes depend.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NumberState {
    start: u64,
    factor: u64,
}

impl Default for NumberState {
    fn default() -> NumberState {
        let random = RandomState::new();
        // An odd factor keeps all bits of a key.
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

#[derive(Debug, Clone, Copy)]
pub(crate) struct NumberHasher {
    sum: u64,
    factor: u64,
}

impl NumberHasher {
    #[inline]
    pub(crate) fn add(&mut self, word: u64) {
        // Both halves of the product are needed: a bit of one half depends only on lower or only on
        // higher bits of the key.
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
