//! Keeps the gaps in sequence numbers since the last sequence point, because their losses may
//! have to be taken back.
//!
//! A damaged thread id looks like a thread that lost its first events. A damaged sequence number
//! looks like a loss and a restart. The next sequence point decides, because it lists every thread
//! that wrote, with its last sequence number.

use crate::frame::Frame;
use crate::work;
use std::collections::HashMap;

#[cfg(test)]
#[path = "../../tests/steps/gaps.rs"]
mod steps;

/// Place of a row in a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowPlace {
    pub(crate) frame: Frame,
    pub(crate) position: u64,
}

/// Sequence number that does not follow the previous number of its thread.
#[derive(Debug, Clone, Copy)]
pub(super) struct Jump {
    /// Sequence number that was expected.
    pub(super) from: u32,
    /// First missing sequence number.
    pub(super) first: u32,
    /// Sequence number that was found.
    pub(super) to: u32,
    pub(super) is_restart: bool,
    /// Index of the gap that the jump caused.
    pub(super) gap: usize,
    pub(super) place: Option<RowPlace>,
}

/// Consecutive sequence numbers of a thread without events. `lost` is 0 after the gap was
/// taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gap {
    pub(super) thread: u64,
    pub(super) from: u32,
    pub(super) lost: u32,
}

/// Maximum number of gaps, and of jumps, that are kept. Losses of further gaps cannot be taken
/// back.
const MAX_GAPS: usize = 4096;

/// Maximum number of threads, for each sequence point, that are compared with the gaps of other
/// threads. Each comparison walks over all gaps, so a sequence point costs at most 2^20 steps. A
/// stream needs at least 4,096 rows to cause so many.
pub(super) const MAX_STRAYS: usize = 256;

#[derive(Debug, Clone, Default)]
pub(super) struct Gaps {
    /// Last jump of each thread.
    jumps: HashMap<u64, Jump>,
    gaps: Vec<Gap>,
    /// Index of the first gap that was found in the current block.
    block_from: usize,
}

impl Gaps {
    pub(super) fn begin_block(&mut self) {
        self.block_from = self.gaps.len();
    }

    /// Takes the gaps found in the current block.
    pub(super) fn take_of_block(&mut self) -> Vec<Gap> {
        self.gaps.split_off(self.block_from.min(self.gaps.len()))
    }

    /// Adds a gap. Returns its index, for [`Jump::gap`].
    pub(super) fn add_gap(&mut self, gap: Gap) -> usize {
        let place = self.gaps.len();
        if place < MAX_GAPS {
            self.gaps.push(gap);
        }
        place
    }

    pub(super) fn note_jump(&mut self, thread: u64, jump: Jump) {
        if self.jumps.len() < MAX_GAPS || self.jumps.contains_key(&thread) {
            self.jumps.insert(thread, jump);
        }
    }

    pub(super) fn jump_of(&self, thread: u64) -> Option<Jump> {
        self.jumps.get(&thread).copied()
    }

    /// Forgets a thread's jump, which was confirmed or reported.
    pub(super) fn settle(&mut self, thread: u64) {
        if !self.jumps.is_empty() {
            self.jumps.remove(&thread);
        }
    }

    /// Takes the gap that a thread's jump caused.
    pub(super) fn take_gap(&mut self, thread: u64, jump: &Jump) -> Option<Gap> {
        let place = self.gaps.get_mut(jump.gap)?;
        let is_its_own = (place.thread, place.from) == (thread, jump.first) && place.lost > 0;
        let gap = is_its_own.then(|| Self::take(place))?;
        // Removes gaps at the end, where no index changes. Otherwise jumps that are all taken
        // back would fill the list, and later gaps would not be kept.
        while self.gaps.len() > self.block_from && self.gaps.last().is_some_and(|gap| gap.lost == 0)
        {
            self.gaps.pop();
        }
        Some(gap)
    }

    /// Takes the last gap of any thread that consists of `count` sequence numbers from `from` on.
    pub(super) fn take_gap_of(&mut self, from: u32, count: u32) -> Option<Gap> {
        let is_in = |gap: &&mut Gap| {
            work::count(1);
            (gap.from, gap.lost) == (from, count)
        };
        self.gaps.iter_mut().rev().find(is_in).map(Self::take)
    }

    fn take(place: &mut Gap) -> Gap {
        std::mem::replace(place, Gap { lost: 0, ..*place })
    }

    /// Takes the jumps that are left after a sequence point. Their threads were not listed by it.
    pub(super) fn pass_point(&mut self) -> Vec<(u64, Jump)> {
        let mut left: Vec<(u64, Jump)> = self.jumps.drain().collect();
        left.sort_unstable_by_key(|(_, jump)| jump.place.map(|place| place.position));
        left
    }

    pub(super) fn forget(&mut self) {
        self.jumps.clear();
        self.gaps.clear();
        self.block_from = 0;
    }
}
