//! What was looked through for blocks of version 6, so that no stream makes it dear (FORMAT.md 13.3).

use super::rows::Rows;

/// Blocks that were passed over to see whether one surely begins behind a position.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Walked {
    /// The position.
    pub(crate) from: u64,
    /// None does before this one, which is this many blocks further on.
    pub(crate) at: u64,
    pub(crate) passed: u32,
}

/// What was looked through once is not looked through again for the same reason, so that the work is linear: blocks
/// and rows that a hostile stream is made of may belong to very many others. These are positions, which a call that
/// has to wait for bytes and is made again finds as they were, or sums that only a call that is done adds to.
#[derive(Debug, Default)]
pub(crate) struct LookedThrough {
    /// No blocks follow each other from a place before this position on.
    pub(crate) bytes: u64,
    /// Rows before this position were passed over to see whether a block's size is right.
    pub(crate) sizes: u64,
    /// Rows before this position were passed over to find other blocks behind them.
    pub(crate) ends: u64,
    /// The rows that are passed over for that, while they wait for bytes.
    pub(crate) waiting: Option<(u64, Rows)>,
    /// Rows before this position were passed over to see whether blocks are within a block.
    pub(crate) covered: u64,
    /// Whole blocks lead from the first position to the second: the last ones of which that was found.
    pub(crate) led: Option<(u64, u64)>,
    /// So many blocks were passed over to see where they lead.
    pub(crate) blocks: u64,
    /// So many bytes were read of blocks that reading went back into.
    pub(crate) left: u64,
    /// Whether blocks follow a position: the last one that was asked for.
    pub(crate) followed: Option<(u64, bool)>,
    /// What that took, for the block behind.
    pub(crate) walked: Option<Walked>,
}
