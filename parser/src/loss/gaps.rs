//! What numbers left out since the last sequence point, for as long as it may turn out that other numbers were wrong.
//!
//! An id or a number that damage changed looks like a thread that lost its beginning, or like a loss and a restart. A
//! sequence point tells which it was: it lists every thread that wrote, with the last number of each.

use crate::frame::Frame;
use std::collections::HashMap;

/// A row of a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) frame: Frame,
    pub(crate) position: u64,
}

/// A number that is not the next of its thread.
#[derive(Debug, Clone, Copy)]
pub(super) struct Jump {
    /// The number that was to come.
    pub(super) from: u32,
    /// The first that is missing.
    pub(super) first: u32,
    /// The one that came.
    pub(super) to: u32,
    pub(super) is_restart: bool,
    pub(super) place: Option<Place>,
}

/// Numbers of a thread that no event has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gap {
    pub(super) thread: u64,
    pub(super) from: u32,
    pub(super) lost: u32,
}

/// What is kept; more is taken at its word.
const MOST: usize = 4096;

#[derive(Debug, Clone, Default)]
pub(super) struct Gaps {
    /// The last of each thread.
    jumps: HashMap<u64, Jump>,
    gaps: Vec<Gap>,
    /// Those before this place are not of the block that is being read.
    block_from: usize,
}

impl Gaps {
    pub(super) fn begin_block(&mut self) {
        self.block_from = self.gaps.len();
    }

    /// What was left out in the block that is being read.
    pub(super) fn take_of_block(&mut self) -> Vec<Gap> {
        self.gaps.split_off(self.block_from.min(self.gaps.len()))
    }

    pub(super) fn lose(&mut self, gap: Gap) {
        if self.gaps.len() < MOST {
            self.gaps.push(gap);
        }
    }

    pub(super) fn jump(&mut self, thread: u64, jump: Jump) {
        if self.jumps.len() < MOST || self.jumps.contains_key(&thread) {
            self.jumps.insert(thread, jump);
        }
    }

    pub(super) fn jump_of(&self, thread: u64) -> Option<Jump> {
        self.jumps.get(&thread).copied()
    }

    /// The jump is right, or was told.
    pub(super) fn settle(&mut self, thread: u64) {
        if !self.jumps.is_empty() {
            self.jumps.remove(&thread);
        }
    }

    /// The gap that a jump of a thread made.
    pub(super) fn take_gap(&mut self, thread: u64, from: u32) -> Option<Gap> {
        let at = self.gaps.iter().rposition(|gap| (gap.thread, gap.from) == (thread, from))?;
        self.block_from = self.block_from.saturating_sub(usize::from(at < self.block_from));
        Some(self.gaps.remove(at))
    }

    /// The gap of any thread in which a number lies.
    pub(super) fn take_gap_around(&mut self, number: u32) -> Option<Gap> {
        let is_in = |gap: &Gap| number.wrapping_sub(gap.from) < gap.lost;
        let at = self.gaps.iter().rposition(is_in)?;
        Some(self.gaps.remove(at))
    }

    /// A sequence point was passed: the jumps of threads that it did not list.
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
