//! Keeps the first times of all runs in a heap.

/// Time of a run's first event, relative to a base. The low bits hold the number of the run. So if
/// the times of two heads are equal, the head whose run comes first in the stream is smaller.
pub(super) trait Head: Copy + Ord {
    /// Head that is greater than every other head.
    const NONE: Self;
    /// Maximum time that can be represented, in ticks.
    const MAX_TIME: u64;
    /// Number that no run has. It is greater than the numbers of all runs.
    const NO_RUN: usize;

    fn new(time: u64, run: usize) -> Self;
    fn run(self) -> usize;
    /// Returns the time up to which this run can deliver events before the run of `next`, which is
    /// a greater head, must deliver its first event.
    fn goes_up_to(self, next: Self) -> u64;
}

const RUN_BITS: u32 = 24;

/// Heads of 64 bits suffice for most streams: queued events span less than 2^40 ticks and
/// form fewer than 2^24 runs.
impl Head for u64 {
    const NONE: u64 = u64::MAX;
    const MAX_TIME: u64 = (u64::MAX >> RUN_BITS) - 1;
    const NO_RUN: usize = (1 << RUN_BITS) - 1;

    #[inline(always)]
    fn new(time: u64, run: usize) -> u64 {
        time << RUN_BITS | run as u64
    }

    #[inline(always)]
    fn run(self) -> usize {
        usize::try_from(self & ((1 << RUN_BITS) - 1)).unwrap_or(usize::MAX)
    }

    #[inline(always)]
    fn goes_up_to(self, next: u64) -> u64 {
        next.wrapping_sub(self & ((1 << RUN_BITS) - 1)).wrapping_sub(1) >> RUN_BITS
    }
}

impl Head for u128 {
    const NONE: u128 = u128::MAX;
    const MAX_TIME: u64 = u64::MAX;
    const NO_RUN: usize = usize::MAX - 1;

    #[inline(always)]
    fn new(time: u64, run: usize) -> u128 {
        u128::from(time) << u64::BITS | run as u128
    }

    #[inline(always)]
    fn run(self) -> usize {
        self as usize
    }

    #[inline(always)]
    fn goes_up_to(self, next: u128) -> u64 {
        (next.wrapping_sub(self.run() as u128).wrapping_sub(1) >> u64::BITS) as u64
    }
}

/// Binary heap that stores siblings as pairs, which lie in one cache line.
#[derive(Debug)]
pub(super) struct Heads<H> {
    first: H,
    /// Pair 0 holds the children of `first`. Pair 2n + 1 + side holds the children of that side
    /// of pair n. No child is less than its parent.
    pairs: Vec<[H; 2]>,
    count: usize,
}

impl<H: Head> Default for Heads<H> {
    fn default() -> Heads<H> {
        Heads { first: H::NONE, pairs: Vec::new(), count: 0 }
    }
}

/// Converts the index of an element to its pair and its side.
#[inline(always)]
fn pair_and_side(place: usize) -> (usize, usize) {
    (place / 2, place % 2)
}

impl<H: Head> Heads<H> {
    pub(super) fn clear(&mut self) {
        self.first = H::NONE;
        self.pairs.clear();
        self.count = 0;
    }

    /// Returns the smallest element.
    #[inline(always)]
    pub(super) fn first(&self) -> H {
        self.first
    }

    /// Returns the second smallest element.
    #[inline(always)]
    pub(super) fn second(&self) -> H {
        self.pairs.first().map_or(H::NONE, |[one, other]| *one.min(other))
    }

    pub(super) fn add(&mut self, head: H) {
        let Some(place) = self.count.checked_sub(1) else {
            (self.first, self.count) = (head, 1);
            return;
        };
        self.count = self.count.saturating_add(1);
        let (mut pair, mut side) = pair_and_side(place);
        if side == 0 {
            self.pairs.push([H::NONE; 2]);
        }
        while let Some(above) = pair.checked_sub(1) {
            let (above, above_side) = pair_and_side(above);
            let greater = self.get(above, above_side);
            if head >= greater {
                return self.put(pair, side, head);
            }
            self.put(pair, side, greater);
            (pair, side) = (above, above_side);
        }
        if head < self.first {
            let greater = std::mem::replace(&mut self.first, head);
            self.put(pair, side, greater);
        } else {
            self.put(pair, side, head);
        }
    }

    /// Replaces the smallest element. [`Head::NONE`] removes it.
    #[inline(always)]
    pub(super) fn replace_first(&mut self, head: H) {
        let mut hole = &mut self.first;
        let mut number = 0usize;
        // The pairs from the children of the hole on. A slice that gets shorter needs one bounds
        // check a level, indexing all pairs would need two.
        let mut rest = self.pairs.as_mut_slice();
        while let Some((pair, after)) = rest.split_first_mut() {
            let [one, other] = pair;
            // No branch, because no processor can predict which of two runs is older.
            let is_other = *other < *one;
            let smallest = if is_other { other } else { one };
            if head <= *smallest {
                break;
            }
            *hole = *smallest;
            hole = smallest;
            let skipped = number.wrapping_add(usize::from(is_other));
            number = number.wrapping_add(skipped).wrapping_add(1);
            rest = after.get_mut(skipped..).unwrap_or_default();
        }
        *hole = head;
    }

    fn get(&self, pair: usize, side: usize) -> H {
        self.pairs.get(pair).and_then(|pair| pair.get(side)).copied().unwrap_or(H::NONE)
    }

    fn put(&mut self, pair: usize, side: usize, head: H) {
        if let Some(place) = self.pairs.get_mut(pair).and_then(|pair| pair.get_mut(side)) {
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
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let new = H::new(state >> 50, step);
            match state >> 33 & 3 {
                // At first more elements are added than removed, later fewer.
                choice if choice == 0 || choice == 1 && step < 2500 => {
                    heads.add(new);
                    plain.push(new);
                }
                2 if !plain.is_empty() => {
                    heads.replace_first(new);
                    plain[0] = new;
                }
                _ => {
                    heads.replace_first(H::NONE);
                    if !plain.is_empty() {
                        plain.remove(0);
                    }
                }
            }
            plain.sort_unstable();
            let at = |place: usize| plain.get(place).copied().unwrap_or(H::NONE);
            assert_eq!((heads.first(), heads.second()), (at(0), at(1)), "step {step}");
        }
    }

    #[test]
    fn the_two_least_are_at_hand_whatever_is_added_replaced_and_removed() {
        the_two_least_are_at_hand::<u64>();
        the_two_least_are_at_hand::<u128>();
    }

    fn a_run_goes_as_far_as_another_lets_it<H: Head + std::fmt::Debug>() {
        let most = H::new(H::MAX_TIME, H::NO_RUN);
        assert!(most.run() == H::NO_RUN && most < H::NONE);
        let last = H::new(H::MAX_TIME, 9);
        assert_eq!((last.run(), last.goes_up_to(most)), (9, H::MAX_TIME));
        // Of equal times, the earlier run comes first.
        assert_eq!(H::new(3, 9).goes_up_to(H::new(7, 10)), 7);
        assert_eq!(H::new(3, 9).goes_up_to(H::new(7, 8)), 6);
        assert_eq!(H::new(7, 8).goes_up_to(H::new(7, 9)), 7);
        assert_eq!(H::new(0, 0).goes_up_to(H::new(0, H::NO_RUN)), 0);
    }

    #[test]
    fn a_run_goes_as_far_as_the_next_one_lets_it() {
        a_run_goes_as_far_as_another_lets_it::<u64>();
        a_run_goes_as_far_as_another_lets_it::<u128>();
    }
}
