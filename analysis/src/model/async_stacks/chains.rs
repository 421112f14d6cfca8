//! Chains of callers, each link kept once.

use crate::hash::HashMap;
use crate::model::handle::{StackHandle, TextHandle};

/// A link of a chain, from what runs to its callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(in crate::model) enum Link {
    /// Nothing is known about the callers.
    #[default]
    Unknown,
    /// A thread runs a task with this name, or an await without one.
    Runs { name: Option<TextHandle> },
    /// A thread runs a method of this stack of the async profiler, which has its callers.
    Profiled { stack: StackHandle },
    /// The callers of a task that nobody is known to await: those on the stack at which the task was
    /// made, up to the method that ran there.
    Made { stack: StackHandle, name: Option<TextHandle>, is_await: bool },
    /// The method of a task that awaits the previous one. It stands on the stack at which the task
    /// was made. If it does not, the callers are those of `instead`: who made the previous one.
    Awaits { stack: StackHandle, name: Option<TextHandle>, instead: ChainId },
}

/// A chain of callers, by its first link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(in crate::model) struct ChainId(u32);

impl ChainId {
    /// The chain of which nothing is known.
    pub(in crate::model) const UNKNOWN: ChainId = ChainId(0);

    pub(in crate::model) fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Row {
    link: Link,
    above: ChainId,
    depth: u32,
}

#[derive(Debug, Clone)]
pub(super) struct Chains {
    rows: Vec<Row>,
    known: HashMap<(Link, ChainId), ChainId>,
    /// Chains of the last calls, by [`recent_place`]. Most calls repeat.
    recent: Vec<ChainId>,
}

impl Default for Chains {
    fn default() -> Chains {
        let recent = vec![ChainId::UNKNOWN; RECENT];
        Chains { rows: vec![Row::default()], known: HashMap::default(), recent }
    }
}

/// Number of chains that are found without hashing.
const RECENT: usize = 1 << 10;

/// Returns the place of a chain among the recent ones. Chains that share a place take turns.
#[inline]
fn recent_place(link: Link, above: ChainId) -> usize {
    let of_link = match link {
        Link::Made { stack, .. } | Link::Awaits { stack, .. } | Link::Profiled { stack } => stack.0,
        Link::Runs { name } => name.map_or(0, |name| name.0),
        Link::Unknown => 0,
    };
    (of_link ^ above.0.rotate_left(5)) as usize % RECENT
}

impl Chains {
    /// Maximum number of links of a chain. Callers further above are unknown.
    pub(super) const MAX_DEPTH: usize = 1024;
    /// Maximum number of distinct links, which take 60 bytes each. Further chains are unknown.
    const MAX_LINKS: usize = 1 << 18;
    /// Number of links in which an await of a loop is looked for: a method that awaits in a loop is
    /// made anew by each of its awaits.
    const MAX_LOOP_AWAITS: usize = 8;

    /// Returns the chain that begins with `link` and goes on with `above`.
    pub(super) fn add(&mut self, link: Link, above: ChainId) -> ChainId {
        let place = recent_place(link, above);
        if let Some(recent) = self.recent.get(place)
            && self
                .rows
                .get(recent.index())
                .is_some_and(|row| (row.link, row.above) == (link, above))
        {
            return *recent;
        }
        let found = self.find_or_add(link, above);
        if let Some(recent) = self.recent.get_mut(place) {
            *recent = found;
        }
        found
    }

    #[inline(never)]
    fn find_or_add(&mut self, link: Link, above: ChainId) -> ChainId {
        if let Some(known) = self.known.get(&(link, above)) {
            return *known;
        }
        if let Link::Made { is_await: true, .. } = link
            && let Some(again) = self.await_in_loop(link, above)
        {
            return again;
        }
        let depth = self.rows.get(above.index()).map_or(0, |row| row.depth.saturating_add(1));
        let id = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        if depth as usize > Self::MAX_DEPTH || self.rows.len() >= Self::MAX_LINKS {
            return ChainId::UNKNOWN;
        }
        self.rows.push(Row { link, above, depth });
        self.known.insert((link, above), ChainId(id));
        ChainId(id)
    }

    fn await_in_loop(&self, link: Link, above: ChainId) -> Option<ChainId> {
        let mut at = above;
        for _ in 0..Self::MAX_LOOP_AWAITS {
            let row = self.rows.get(at.index())?;
            if row.link == link {
                return Some(at);
            }
            let Link::Made { is_await: true, .. } = row.link else { return None };
            at = row.above;
        }
        None
    }

    pub(super) fn get(&self, chain: ChainId) -> Link {
        self.rows.get(chain.index()).map_or(Link::Unknown, |row| row.link)
    }

    /// Returns the callers above a link.
    pub(super) fn above(&self, chain: ChainId) -> ChainId {
        self.rows.get(chain.index()).map_or(ChainId::UNKNOWN, |row| row.above)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn awaits(stack: u32) -> Link {
        Link::Made { stack: StackHandle(stack), name: None, is_await: true }
    }

    #[test]
    fn awaits_in_a_loop_are_one_chain() {
        let mut chains = Chains::default();
        let root = chains.add(
            Link::Made { stack: StackHandle(9), name: None, is_await: false },
            ChainId::UNKNOWN,
        );
        let mut at = root;
        for turn in 0..100_000 {
            at = chains.add(awaits(turn % 3), at);
        }
        assert!(chains.rows.len() < 12, "{}", chains.rows.len());
        let mut above = std::iter::successors(Some(at), |at| Some(chains.above(*at)));
        assert!(above.by_ref().take(4).any(|at| at == root));
    }

    #[test]
    fn a_chain_without_end_is_unknown_from_a_depth_on() {
        let mut chains = Chains::default();
        let mut at = ChainId::UNKNOWN;
        for stack in 0..2 * Chains::MAX_LINKS as u32 {
            at = chains.add(
                Link::Awaits { stack: StackHandle(stack), name: None, instead: ChainId::UNKNOWN },
                at,
            );
        }
        assert!(chains.rows.len() <= Chains::MAX_LINKS);
    }
}
