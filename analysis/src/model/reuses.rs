//! Records when memory with code is reused for other methods, after which addresses have a new
//! meaning. [`Stacks`](super::stacks) uses this.

use super::handle::ProcessHandle;
use std::collections::BTreeMap;

/// Number of the last reuse that affected each address of each process. Reuses are numbered from 1,
/// across all processes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reuses {
    /// Last address of a range and number of its reuse, by process and first address. Ranges do not
    /// overlap.
    newest: BTreeMap<(ProcessHandle, u64), (u64, usize)>,
    count: usize,
}

impl Reuses {
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Records that the memory `start..=last` has a new meaning from now on. Older ranges within it
    /// are removed, so that later searches take few steps.
    pub(crate) fn add(&mut self, process: ProcessHandle, start: u64, last: u64) {
        self.count = self.count.saturating_add(1);
        let last = last.max(start);
        if let Some((at, (old_last, number))) = self.below(process, start)
            && at < start
            && old_last >= start
        {
            self.cut_before(process, start);
            if old_last > last {
                self.newest.insert((process, last.saturating_add(1)), (old_last, number));
            }
        }
        while let Some((at, (old_last, number))) = self.below(process, last)
            && at >= start
        {
            self.newest.remove(&(process, at));
            if old_last > last {
                self.newest.insert((process, last.saturating_add(1)), (old_last, number));
            }
        }
        self.newest.insert((process, start), (last, self.count));
    }

    /// Shortens the range that contains `start`, so that it ends before `start`.
    fn cut_before(&mut self, process: ProcessHandle, start: u64) {
        let before = self.newest.range_mut((process, 0)..(process, start)).next_back();
        if let Some((_, (last, _))) = before {
            *last = start.saturating_sub(1);
        }
    }

    /// Returns the nearest range that starts at or below an address.
    fn below(&self, process: ProcessHandle, address: u64) -> Option<(u64, (u64, usize))> {
        let (at, found) = self.newest.range((process, 0)..=(process, address)).next_back()?;
        Some((at.1, *found))
    }

    /// Returns whether a reuse with a number above `seen` affected an address.
    pub(crate) fn is_new_since(&self, process: ProcessHandle, address: u64, seen: usize) -> bool {
        self.below(process, address)
            .is_some_and(|(_, (last, number))| address <= last && number > seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: ProcessHandle = ProcessHandle(1);

    /// Compares the result with that of a list of all reuses, which is searched linearly. Dense
    /// ranges cover each other; sparse ones leave gaps that were never reused.
    #[test]
    fn each_address_has_its_last_reuse_as_a_list_of_all_has() {
        for (reuses, addresses, sizes) in [(400, 100, 30), (60, 300, 6), (30, 1_000, 3)] {
            compare_with_a_list(reuses, addresses, sizes);
        }
    }

    fn compare_with_a_list(count: usize, addresses: u64, sizes: u64) {
        let (mut reuses, mut list) = (Reuses::default(), Vec::new());
        let mut random = 1u64;
        let mut next = |most: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) % most
        };
        for _ in 0..count {
            let process = ProcessHandle(u32::try_from(next(2)).unwrap());
            // A third of the ranges begin where another one does, like code that is compiled again.
            let start = match list.is_empty() || next(3) > 0 {
                true => next(addresses),
                false => {
                    let at = usize::try_from(next(list.len() as u64)).unwrap();
                    let (_, start, _): (ProcessHandle, u64, u64) = list[at];
                    start
                }
            };
            let last = start + next(sizes);
            reuses.add(process, start, last);
            list.push((process, start, last));
            let seen = usize::try_from(next(list.len() as u64 + 1)).unwrap();
            let all = 0..addresses + sizes;
            for (address, process) in all.flat_map(|at| [(at, ProcessHandle(0)), (at, ONE)]) {
                let expected = list[seen..]
                    .iter()
                    .any(|(of, start, last)| *of == process && (*start..=*last).contains(&address));
                assert_eq!(
                    reuses.is_new_since(process, address, seen),
                    expected,
                    "{address} {list:?}"
                );
            }
            assert!(reuses.newest.len() <= 2 * list.len() + 1);
        }
    }

    #[test]
    fn a_range_that_is_reused_from_its_beginning_leaves_others_as_they_are() {
        let mut reuses = Reuses::default();
        for (start, last) in [(0, 5), (10, 20), (10, 12)] {
            reuses.add(ONE, start, last);
        }
        let numbers = [0, 5, 6, 9, 10, 12, 13, 20, 21];
        let is_new = numbers.map(|address| reuses.is_new_since(ONE, address, 0));
        assert_eq!(is_new, [true, true, false, false, true, true, true, true, false]);
        assert!(reuses.is_new_since(ONE, 12, 2) && !reuses.is_new_since(ONE, 13, 2));
    }

    #[test]
    fn a_range_over_everything_replaces_all_others() {
        let mut reuses = Reuses::default();
        (0..100_000).for_each(|at| reuses.add(ONE, 100 - at % 3, u64::MAX - at));
        assert!(reuses.is_new_since(ONE, u64::MAX - 99_999, 99_999));
        reuses.add(ONE, 0, u64::MAX);
        assert_eq!((reuses.newest.len(), reuses.count()), (1, 100_001));
    }
}
