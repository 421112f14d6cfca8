//! Memory that got a new meaning, and when.

use super::handle::ProcessHandle;
use std::collections::BTreeMap;

/// For each address of each process how many reuses there had been when its own last one had come.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reuses {
    /// By process and first address: the last address, and the number of the reuse. They do not overlap.
    newest: BTreeMap<(ProcessHandle, u64), (u64, usize)>,
    count: usize,
}

impl Reuses {
    /// How many there were.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Memory means something new from now on. Takes a few steps, however many reuses there were: what lies
    /// below the new one goes.
    pub(crate) fn add(&mut self, process: ProcessHandle, start: u64, last: u64) {
        self.count = self.count.saturating_add(1);
        let last = last.max(start);
        if let Some((_, (old_last, number))) = self.below(process, start)
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

    /// Ends what begins in front of `start` right there.
    fn cut_before(&mut self, process: ProcessHandle, start: u64) {
        let before = self.newest.range_mut((process, 0)..(process, start)).next_back();
        if let Some((_, (last, _))) = before {
            *last = start.saturating_sub(1);
        }
    }

    /// The range that begins nearest below an address, or at it.
    fn below(&self, process: ProcessHandle, address: u64) -> Option<(u64, (u64, usize))> {
        let (at, found) = self.newest.range((process, 0)..=(process, address)).next_back()?;
        Some((at.1, *found))
    }

    /// Whether an address got a new meaning after the first `seen` reuses.
    pub(crate) fn is_new_since(&self, process: ProcessHandle, address: u64, seen: usize) -> bool {
        self.below(process, address).is_some_and(|(_, (last, number))| address <= last && number > seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: ProcessHandle = ProcessHandle(1);

    /// A list of all, asked one by one.
    #[test]
    fn each_address_has_its_last_reuse_as_a_list_of_all_has() {
        let (mut reuses, mut list) = (Reuses::default(), Vec::new());
        let mut random = 1u64;
        let mut next = |most: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) % most
        };
        for _ in 0..400 {
            let (process, start, size) =
                (ProcessHandle(u32::try_from(next(2)).unwrap()), next(100), next(30));
            reuses.add(process, start, start + size);
            list.push((process, start, start + size));
            let seen = usize::try_from(next(list.len() as u64 + 1)).unwrap();
            for (address, process) in (0..140).flat_map(|at| [(at, ProcessHandle(0)), (at, ONE)]) {
                let expected = list[seen..]
                    .iter()
                    .any(|(of, start, last)| *of == process && (*start..=*last).contains(&address));
                assert_eq!(reuses.is_new_since(process, address, seen), expected, "{address} {list:?}");
            }
            assert!(reuses.newest.len() <= 2 * list.len() + 1);
        }
    }

    #[test]
    fn the_same_memory_again_and_again_is_one_range() {
        let mut reuses = Reuses::default();
        (0..100_000).for_each(|at| reuses.add(ONE, 100 - at % 3, u64::MAX - at));
        assert!(reuses.newest.len() < 2_000_000 && reuses.is_new_since(ONE, u64::MAX - 99_999, 99_999));
        reuses.add(ONE, 0, u64::MAX);
        assert_eq!((reuses.newest.len(), reuses.count()), (1, 100_001));
    }
}
