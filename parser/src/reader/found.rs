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
    /// Whether other blocks need it, or the stream ends in it.
    pub(crate) is_needed: bool,
    /// Losses found in the block.
    pub(crate) losses: Vec<FoundLoss>,
}

impl FoundBlock {
    /// Creates an instance without events.
    pub(super) fn new(kind: BlockKind, start: u64, is_needed: bool) -> FoundBlock {
        FoundBlock { kind, start, first: u64::MAX, last: 0, is_needed, losses: Vec::new() }
    }
}
