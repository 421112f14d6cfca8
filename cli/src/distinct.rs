//! How many different numbers there are, in bounded memory: exactly as long as they are
//! few, then at least.
//!
//! Beyond [`EXACT`] numbers each is counted by HyperLogLog: of many hashes, the longest
//! run of zeros at the beginning says how many there were. 16,384 such runs, a byte
//! each, tell it to 0.8 % (one standard deviation). What is given is 4 % less than that,
//! so that "at least" is true.

use std::collections::HashSet;

/// Up to this many numbers are kept as they are, in about a megabyte.
const EXACT: usize = 1 << 16;
/// Bits of a hash that choose a register.
const INDEX_BITS: u32 = 14;
const REGISTERS: usize = 1 << INDEX_BITS;

/// Different numbers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Distinct {
    few: HashSet<u64>,
    /// Empty as long as all are in `few`.
    registers: Vec<u8>,
}

/// A number that may be too small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) number: u64,
    /// There may be more.
    pub(crate) is_at_least: bool,
}

impl Distinct {
    /// Adds a number.
    #[inline]
    pub(crate) fn insert(&mut self, number: u64) {
        if self.registers.is_empty() {
            self.few.insert(number);
            if self.few.len() > EXACT {
                self.registers = vec![0; REGISTERS];
                for few in std::mem::take(&mut self.few) {
                    self.register(few);
                }
            }
        } else {
            self.register(number);
        }
    }

    fn register(&mut self, number: u64) {
        let hash = mixed(number);
        let index = usize::try_from(hash >> (u64::BITS - INDEX_BITS)).unwrap_or(0);
        let run = (hash << INDEX_BITS).leading_zeros().min(u64::BITS - INDEX_BITS) + 1;
        if let Some(register) = self.registers.get_mut(index) {
            *register = (*register).max(u8::try_from(run).unwrap_or(u8::MAX));
        }
    }

    /// Adds what others have met.
    pub(crate) fn join(&mut self, other: Distinct) {
        if !other.registers.is_empty() {
            if self.registers.is_empty() {
                self.registers = vec![0; REGISTERS];
                for few in std::mem::take(&mut self.few) {
                    self.register(few);
                }
            }
            for (register, other) in self.registers.iter_mut().zip(other.registers) {
                *register = (*register).max(other);
            }
        }
        for few in other.few {
            self.insert(few);
        }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> Count {
        if self.registers.is_empty() {
            return Count { number: self.few.len() as u64, is_at_least: false };
        }
        let sum: f64 = self.registers.iter().map(|run| 2f64.powi(-i32::from(*run))).sum();
        let registers = REGISTERS as f64;
        let estimate = 0.7213 / (1.0 + 1.079 / registers) * registers * registers / sum;
        let number = (estimate * 0.96) as u64;
        Count { number: number.max(EXACT as u64 + 1), is_at_least: true }
    }

    /// The number, if there is only one.
    pub(crate) fn only(&self) -> Option<u64> {
        let mut few = self.few.iter();
        few.next().copied().filter(|_| few.next().is_none() && self.registers.is_empty())
    }
}

/// The last step of SplitMix64: each bit of the result depends on all of the number.
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_numbers_are_counted_exactly_and_many_at_least_in_whatever_parts_they_come() {
        for (count, step) in
            [(0u64, 1), (1, 1), (65_536, 3), (65_537, 1), (100_000, 4), (1_000_000, 1 << 20)]
        {
            let mut all = Distinct::default();
            let mut parts = [Distinct::default(), Distinct::default(), Distinct::default()];
            for number in 0..count {
                // Each twice.
                all.insert(number * step);
                all.insert(number * step);
                parts[usize::try_from(number % 7 % 3).unwrap()].insert(number * step);
            }
            let mut joined = Distinct::default();
            parts.into_iter().for_each(|part| joined.join(part));
            let found = all.count();
            assert_eq!(joined.count(), found);
            assert_eq!(found.is_at_least, count > 65_536);
            let least = if found.is_at_least { count - count * 8 / 100 } else { count };
            assert!((least..=count).contains(&found.number), "{count}: {found:?}");
            assert_eq!(all.only(), (count == 1).then_some(0));
            assert!(all.few.len() <= EXACT && all.registers.len() <= REGISTERS);
        }
    }
}
