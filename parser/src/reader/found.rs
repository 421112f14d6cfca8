//! Defines what an [index](crate::Index) needs to know of a block that was read.

use crate::frame::BlockKind;
use crate::loss::FoundLoss;

/// Block that was read.
#[derive(Debug)]
pub(crate) struct FoundBlock {
    pub(crate) kind: BlockKind,
    /// Stream position of the block's first byte.
    pub(crate) start: u64,
    /// Time of the earliest event in ticks; `u64::MAX` if there is none.
    pub(crate) first: u64,
    /// Time of the latest event in ticks; 0 if there is none.
    pub(crate) last: u64,
    pub(crate) need: Need,
    /// Losses found in the block.
    pub(crate) losses: Vec<FoundLoss>,
}

/// Which other blocks need a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Need {
    Nothing,
    /// Those up to the next sequence point, because it defines again what is known.
    Part,
    /// All, because it defines something, or the stream ends in it.
    All,
}

impl FoundBlock {
    /// Creates an instance without events.
    pub(super) fn new(kind: BlockKind, start: u64, need: Need) -> FoundBlock {
        FoundBlock { kind, start, first: u64::MAX, last: 0, need, losses: Vec::new() }
    }
}
