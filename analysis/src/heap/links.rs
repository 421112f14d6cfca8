//! Arrays of 32-bit numbers that refer to places of other arrays.

/// Refers to nothing.
pub(super) const NONE: u32 = u32::MAX;

/// Numbers by place. Behind the end there is [`NONE`], and nothing can be stored.
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

    pub(super) fn fill(&mut self, value: u32) {
        self.0.fill(value);
    }
}

/// The length of something that has at most so many elements as a `u32` can count.
#[inline]
pub(super) fn length(slice: &[impl Sized]) -> u32 {
    u32::try_from(slice.len()).unwrap_or(NONE)
}
