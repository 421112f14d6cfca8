//! Remembers which bytes have been searched for version 6 blocks, so that no stream can
//! make the search expensive (FORMAT.md 13.3).

/// Blocks that were walked to find out whether a block certainly begins after a position.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Walked {
    /// The position.
    pub(crate) from: u64,
    /// None does before this position, which is this many blocks further on.
    pub(crate) at: u64,
    pub(crate) passed: u32,
}

/// What has been searched once is not searched again for the same reason, so that the
/// work is linear: in a hostile stream, the same blocks and rows may be part of very many
/// others. The fields are positions, which are the same when a decision that had to wait
/// for bytes starts over, or sums to which only completed decisions add.
#[derive(Debug, Default)]
pub(crate) struct LookedThrough {
    /// No chain of blocks begins before this position.
    pub(crate) bytes: u64,
    /// Rows before this position were walked to check a block's size.
    pub(crate) sizes: u64,
    /// Rows before this position were walked to see whether there are blocks within a
    /// block.
    pub(crate) covered: u64,
    /// Whole blocks lead from the first position to the second: the most recent such
    /// result.
    pub(crate) led: Option<(u64, u64)>,
    /// How many blocks were walked to see where they lead.
    pub(crate) blocks: u64,
    /// How many bytes were read of blocks that reading then went back into.
    pub(crate) left: u64,
    /// Whether blocks follow a position: the most recent result.
    pub(crate) followed: Option<(u64, bool)>,
    /// The blocks walked for that, to continue with the block after.
    pub(crate) walked: Option<Walked>,
}
