//! The first times of runs, the least of which is at hand.

/// The time of a run's first event and, below it, the number of the run: of equal times the one goes first that stands
/// first in the stream. Times count from a base that all have in common.
pub(super) trait Head: Copy + Ord {
    /// Greater than any other; no run has its number.
    const NONE: Self;
    /// The greatest time that there may be.
    const MOST: u64;

    fn new(time: u64, run: usize) -> Self;
    fn time(self) -> u64;
    fn run(self) -> usize;
}

const RUN_BITS: u32 = 24;

/// Most streams': what waits spans less than 2^40 ticks, and there are fewer than 2^24 runs.
impl Head for u64 {
    const NONE: u64 = u64::MAX;
    const MOST: u64 = (u64::MAX >> RUN_BITS) - 1;

    #[inline(always)]
    fn new(time: u64, run: usize) -> u64 {
        time << RUN_BITS | run as u64
    }

    #[inline(always)]
    fn time(self) -> u64 {
        self >> RUN_BITS
    }

    #[inline(always)]
    fn run(self) -> usize {
        usize::try_from(self & ((1 << RUN_BITS) - 1)).unwrap_or(usize::MAX)
    }
}

impl Head for u128 {
    const NONE: u128 = u128::MAX;
    const MOST: u64 = u64::MAX;

    #[inline(always)]
    fn new(time: u64, run: usize) -> u128 {
        u128::from(time) << u64::BITS | run as u128
    }

    #[inline(always)]
    fn time(self) -> u64 {
        (self >> u64::BITS) as u64
    }

    #[inline(always)]
    fn run(self) -> usize {
        self as usize
    }
}

/// A binary heap: below the one in place n lie those in places 2n + 1 and 2n + 2, which are greater.
#[derive(Debug)]
pub(super) struct Heads<H>(Vec<H>);

impl<H> Default for Heads<H> {
    fn default() -> Heads<H> {
        Heads(Vec::new())
    }
}

impl<H: Head> Heads<H> {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// The least, and the least of the others.
    #[inline(always)]
    pub(super) fn first_two(&self) -> (H, H) {
        match *self.0.as_slice() {
            [first, one, other, ..] => (first, one.min(other)),
            [first, one] => (first, one),
            [first] => (first, H::NONE),
            [] => (H::NONE, H::NONE),
        }
    }

    pub(super) fn add(&mut self, head: H) {
        let mut at = self.0.len();
        self.0.push(head);
        while let Some(above) = at.checked_sub(1).map(|at| at / 2) {
            match (self.0.get(above).copied(), self.0.get_mut(at)) {
                (Some(greater), Some(place)) if head < greater => *place = greater,
                _ => break,
            }
            at = above;
        }
        self.put(at, head);
    }

    /// Another one in the place of the least.
    #[inline(always)]
    pub(super) fn replace_first(&mut self, head: H) {
        let heads = self.0.as_mut_slice();
        let mut at = 0usize;
        loop {
            let below = at.wrapping_mul(2).wrapping_add(1);
            let (least, from) = match heads.get(below..) {
                Some(&[one, other, ..]) => (one.min(other), below.wrapping_add(usize::from(other < one))),
                Some(&[one]) => (one, below),
                _ => break,
            };
            if head <= least {
                break;
            }
            if let Some(place) = heads.get_mut(at) {
                *place = least;
            }
            at = from;
        }
        self.put(at, head);
    }

    pub(super) fn remove_first(&mut self) {
        if let Some(last) = self.0.pop().filter(|_| !self.0.is_empty()) {
            self.replace_first(last);
        }
    }

    #[inline(always)]
    fn put(&mut self, at: usize, head: H) {
        if let Some(place) = self.0.get_mut(at) {
            *place = head;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn the_two_least_are_at_hand<H: Head + std::fmt::Debug>() {
        let (mut heads, mut plain, mut state) = (Heads::<H>::default(), Vec::new(), 7u64);
        for step in 0..5000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let new = H::new(state >> 50, step);
            match state >> 33 & 3 {
                // More are added than removed at first, and fewer later.
                choice if choice == 0 || choice == 1 && step < 2500 => {
                    heads.add(new);
                    plain.push(new);
                }
                2 if !plain.is_empty() => {
                    heads.replace_first(new);
                    plain[0] = new;
                }
                _ if !plain.is_empty() => {
                    heads.remove_first();
                    plain.remove(0);
                }
                _ => heads.remove_first(),
            }
            plain.sort_unstable();
            let at = |place: usize| plain.get(place).copied().unwrap_or(H::NONE);
            assert_eq!(heads.first_two(), (at(0), at(1)), "step {step}");
        }
        let most = H::new(H::MOST, 9);
        assert_eq!((most.time(), most.run()), (H::MOST, 9));
        assert!(most < H::NONE);
    }

    #[test]
    fn the_two_least_are_at_hand_whatever_is_added_replaced_and_removed() {
        the_two_least_are_at_hand::<u64>();
        the_two_least_are_at_hand::<u128>();
    }
}
