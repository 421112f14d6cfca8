//! Arrays of 32-bit indices into other arrays.

/// The index that stands for nothing.
pub(super) const NONE: u32 = u32::MAX;

/// An array of indices. Reading beyond its end returns [`NONE`], and writing there is ignored.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Links(Vec<u32>);

impl From<Vec<u32>> for Links {
    fn from(numbers: Vec<u32>) -> Links {
        Links(numbers)
    }
}

impl Links {
    pub(super) fn filled(len: usize, value: u32) -> Links {
        Links(vec![value; len])
    }

    #[inline(always)]
    pub(super) fn get(&self, at: u32) -> u32 {
        self.0.get(at as usize).copied().unwrap_or(NONE)
    }

    #[inline(always)]
    pub(super) fn set(&mut self, at: u32, value: u32) {
        if let Some(slot) = self.0.get_mut(at as usize) {
            *slot = value;
        }
    }

    #[inline(always)]
    pub(super) fn add(&mut self, at: u32, value: u32) {
        if let Some(slot) = self.0.get_mut(at as usize) {
            *slot = slot.wrapping_add(value);
        }
    }
}

/// A set of numbers that are below a limit.
#[derive(Debug, Clone, Default)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    /// Creates a set without numbers.
    pub(super) fn new(limit: usize) -> Bits {
        Bits(vec![0; limit.div_ceil(64)])
    }

    /// Creates a set of all numbers below the limit.
    pub(super) fn filled(limit: usize) -> Bits {
        Bits(vec![u64::MAX; limit.div_ceil(64)])
    }

    #[inline(always)]
    pub(super) fn has(&self, number: u32) -> bool {
        self.0.get(number as usize / 64).is_some_and(|bits| bits >> (number % 64) & 1 == 1)
    }

    /// Inserts a number. Returns whether the number was not in the set before.
    #[inline(always)]
    pub(super) fn insert(&mut self, number: u32) -> bool {
        let Some(bits) = self.0.get_mut(number as usize / 64) else { return false };
        let bit = 1u64 << (number % 64);
        let is_new = *bits & bit == 0;
        *bits |= bit;
        is_new
    }

    pub(super) fn clear(&mut self) {
        self.0.fill(0);
    }
}

/// Returns the length of a slice as a number of 32 bits; [`NONE`] if it is larger.
#[inline]
pub(super) fn length(slice: &[impl Sized]) -> u32 {
    u32::try_from(slice.len()).unwrap_or(NONE)
}
