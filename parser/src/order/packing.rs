//! Times and places of events that wait, as integers that are sorted.

/// How times and places are packed into one integer each, so that equal times keep file order and nothing
/// but integers is moved.
#[derive(Debug, Default)]
pub(super) struct Packing {
    pub(super) place_bits: u32,
    /// The oldest time, from which the others count.
    pub(super) least: u64,
    /// Times by place, if they are too far apart to be packed, which no real stream has. Keys are places
    /// alone then.
    pub(super) times: Vec<u64>,
}

impl Packing {
    #[inline(always)]
    pub(super) fn mask(&self) -> u64 {
        (1u64 << self.place_bits).wrapping_sub(1)
    }

    #[inline(always)]
    pub(super) fn place(&self, key: u64) -> usize {
        place(key & self.mask())
    }

    #[inline]
    pub(super) fn time(&self, key: u64) -> u64 {
        if self.times.is_empty() {
            return self.least.saturating_add(key >> self.place_bits);
        }
        self.times.get(self.place(key)).copied().unwrap_or_default()
    }
}

/// An index into what waits, which is in memory.
#[inline(always)]
pub(super) fn place(packed: u64) -> usize {
    usize::try_from(packed).unwrap_or(usize::MAX)
}
