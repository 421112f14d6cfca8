//! Finds the range that contains an address at a time, for traces in which very many ranges
//! overlap.
//!
//! A segment tree: the address space is divided at all ends of ranges, with a binary tree over the
//! pieces. A range is listed at the few nodes whose pieces it covers completely, so the ranges that
//! contain an address are in the lists on the path from a leaf to the root. Each list is sorted by
//! the starts of lifetimes, and the latest end in each part of a list is known. A lookup takes
//! O(log² n).

use std::cmp::Reverse;

/// A range with its lifetime: first and last address, and first and last tick.
#[derive(Debug, Clone, Copy)]
pub(super) struct Life {
    pub(super) start: u64,
    pub(super) last: u64,
    pub(super) from: u64,
    pub(super) end: u64,
}

/// Maximum length of lists that are searched linearly.
const SHORT: usize = 16;

/// Index of ranges, in which they are found by address and time.
#[derive(Debug, Clone)]
pub(super) struct Overlaps {
    lives: Vec<Life>,
    /// First addresses of the pieces into which the starts and ends of ranges divide all addresses.
    bounds: Vec<u64>,
    /// Index in `listed` at which the list of each node begins.
    lists: Vec<usize>,
    /// Indices into `lives`, node after node. In a node, the range whose life began first comes
    /// first.
    listed: Vec<u32>,
    /// For each entry of a list, the index in the list of the range that dies last among this entry
    /// and those before it. Of equal ones, it is the last.
    longest: Vec<u32>,
    /// Index in `deaths` at which the tree of latest deaths of each long list begins.
    trees: Vec<usize>,
    deaths: Vec<u64>,
}

/// How well a range fits a time: distance, age, place in the input. The lowest rank is best; of
/// equal ranks, the later range wins.
type Rank = (u64, Reverse<u64>, Reverse<usize>);

impl Overlaps {
    /// Builds the index. If several ranges fit equally well, the last of them in `lives` wins.
    pub(super) fn new(lives: Vec<Life>) -> Overlaps {
        let mut bounds: Vec<u64> = lives
            .iter()
            .flat_map(|life| [Some(life.start), life.last.checked_add(1)])
            .flatten()
            .collect();
        bounds.sort_unstable();
        bounds.dedup();
        let leaves = bounds.len().next_power_of_two();
        let place =
            |address: u64| bounds.partition_point(|bound| *bound < address).saturating_add(leaves);
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for (at, life) in (0u32..).zip(&lives) {
            let mut first = place(life.start);
            let mut end =
                life.last.checked_add(1).map_or(bounds.len().saturating_add(leaves), place);
            let mut list = |node: usize| pairs.extend(u32::try_from(node).map(|node| (node, at)));
            while first < end {
                if first % 2 == 1 {
                    list(first);
                    first = first.saturating_add(1);
                }
                if end % 2 == 1 {
                    end = end.saturating_sub(1);
                    list(end);
                }
                (first, end) = (first / 2, end / 2);
            }
        }
        let birth = |at: u32| lives.get(at as usize).map_or(0, |life| life.from);
        pairs.sort_unstable_by_key(|(node, at)| (*node, birth(*at), *at));
        let mut overlaps = Overlaps {
            lists: Vec::with_capacity(leaves.saturating_mul(2).saturating_add(1)),
            listed: pairs.iter().map(|(_, at)| *at).collect(),
            longest: Vec::with_capacity(pairs.len()),
            trees: Vec::new(),
            deaths: Vec::new(),
            bounds,
            lives,
        };
        let mut begin = 0usize;
        for node in 0..leaves.saturating_mul(2) {
            overlaps.lists.push(begin);
            let rest = pairs.get(begin..).unwrap_or_default();
            begin = begin.saturating_add(rest.partition_point(|(of, _)| *of as usize <= node));
        }
        overlaps.lists.push(begin);
        overlaps.look_ahead();
        overlaps
    }

    /// Computes which ranges of each list die last.
    fn look_ahead(&mut self) {
        for node in 0..self.lists.len().saturating_sub(1) {
            self.trees.push(self.deaths.len());
            let list = self.list(node);
            let ends: Vec<u64> = list.iter().map(|at| self.life(*at).end).collect();
            let mut longest = (0u64, 0u32);
            for (place, end) in (0u32..).zip(&ends) {
                if *end >= longest.0 {
                    longest = (*end, place);
                }
                self.longest.push(longest.1);
            }
            if ends.len() > SHORT {
                let leaves = ends.len().next_power_of_two();
                let begin = self.deaths.len();
                self.deaths.resize(begin.saturating_add(leaves), 0);
                self.deaths.extend(ends);
                self.deaths.resize(begin.saturating_add(leaves.saturating_mul(2)), 0);
                for at in (1..leaves).rev() {
                    let [left, right] =
                        [at.saturating_mul(2), at.saturating_mul(2).saturating_add(1)].map(|at| {
                            self.deaths.get(begin.saturating_add(at)).copied().unwrap_or(0)
                        });
                    if let Some(parent) = self.deaths.get_mut(begin.saturating_add(at)) {
                        *parent = left.max(right);
                    }
                }
            }
        }
    }

    fn list(&self, node: usize) -> &[u32] {
        let (from, to) = (self.lists.get(node), self.lists.get(node.saturating_add(1)));
        from.zip(to).and_then(|(from, to)| self.listed.get(*from..*to)).unwrap_or_default()
    }

    fn life(&self, at: u32) -> Life {
        self.lives.get(at as usize).copied().unwrap_or(Life { start: 0, last: 0, from: 0, end: 0 })
    }

    fn rank(&self, at: u32, ticks: u64) -> Rank {
        let Life { from, end, .. } = self.life(at);
        let distance =
            if ticks < from { from.saturating_sub(ticks) } else { ticks.saturating_sub(end) };
        (distance, Reverse(from), Reverse(at as usize))
    }

    /// Returns the index of the range that best fits an address and a time, and whether no other
    /// range contains the address. `steps` counts the examined entries.
    pub(super) fn find(&self, address: u64, ticks: u64, steps: &mut u64) -> Option<(usize, bool)> {
        let piece = self.bounds.partition_point(|bound| *bound <= address).checked_sub(1)?;
        let mut node = piece.saturating_add(self.bounds.len().next_power_of_two());
        let (mut best, mut count): (Option<u32>, usize) = (None, 0);
        while node > 0 {
            let list = self.list(node);
            count = count.saturating_add(list.len());
            *steps = steps.saturating_add(1);
            for at in self.candidates(node, list, ticks, steps) {
                if best.is_none_or(|best| self.rank(at, ticks) < self.rank(best, ticks)) {
                    best = Some(at);
                }
            }
            node /= 2;
        }
        best.map(|at| (at as usize, count == 1))
    }

    /// Returns those entries of a list that may be the best fit.
    fn candidates(&self, node: usize, list: &[u32], ticks: u64, steps: &mut u64) -> Vec<u32> {
        if list.len() <= SHORT {
            *steps = steps.saturating_add(list.len() as u64);
            return list.to_vec();
        }
        *steps = steps.saturating_add(u64::from(list.len().ilog2()).saturating_mul(4));
        let born = list.partition_point(|at| self.life(*at).from <= ticks);
        let mut found = Vec::with_capacity(3);
        // The youngest range alive at the time, or else the range that died last.
        let begin = self.lists.get(node).copied().unwrap_or(0);
        match self.youngest_alive(node, list.len(), born, ticks) {
            Some(place) => found.extend(list.get(place)),
            None => {
                let longest = born
                    .checked_sub(1)
                    .and_then(|last| self.longest.get(begin.saturating_add(last)));
                found.extend(longest.and_then(|place| list.get(*place as usize)));
            }
        }
        // The next range to be born.
        if let Some(next) = list.get(born) {
            let from = self.life(*next).from;
            let after = list.partition_point(|at| self.life(*at).from <= from);
            found.extend(after.checked_sub(1).and_then(|place| list.get(place)));
        }
        found
    }

    /// Returns the last of the first `born` entries whose range is alive at `ticks`.
    fn youngest_alive(&self, node: usize, len: usize, born: usize, ticks: u64) -> Option<usize> {
        let leaves = len.next_power_of_two();
        let begin = *self.trees.get(node)?;
        let lives =
            |at: usize| self.deaths.get(begin.saturating_add(at)).is_some_and(|end| *end >= ticks);
        // From the end of the first `born` entries, the path goes up to the first subtree on the
        // left with a living range.
        let mut at = born.saturating_add(leaves);
        if born == leaves {
            // All entries are born: the subtree is the whole tree.
            at = lives(1).then_some(1)?;
        } else {
            while at.is_multiple_of(2) || !lives(at.saturating_sub(1)) {
                at /= 2;
                // The leftmost subtree has no left neighbour.
                if at.is_power_of_two() {
                    return None;
                }
            }
            at = at.saturating_sub(1);
        }
        while at < leaves {
            let right = at.saturating_mul(2).saturating_add(1);
            at = if lives(right) { right } else { right.saturating_sub(1) };
        }
        at.checked_sub(leaves)
    }
}
