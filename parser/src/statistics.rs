//! Counts the blocks, bytes and rows that were read.

use crate::block::kinds::COUNT;
use crate::frame::BlockKind;

/// Numbers of events, blocks, bytes and rows in the part of the stream that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Statistics {
    /// Number of events that the reader delivered, in file order.
    pub events: u64,
    kinds: [KindCounts; COUNT],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct KindCounts {
    blocks: u64,
    bytes: u64,
    rows: u64,
}

impl Statistics {
    /// Returns the number of blocks of a kind. All unknown kinds are counted together.
    pub fn blocks(&self, kind: BlockKind) -> u64 {
        self.kind(kind).blocks
    }

    /// Returns the number of bytes of the blocks of a kind, including framing. Bytes that the
    /// stream lacks, or that belong to another block because a size is wrong, are not counted.
    pub fn bytes(&self, kind: BlockKind) -> u64 {
        self.kind(kind).bytes
    }

    /// Returns the number of rows in the blocks of a kind: events, definitions, stacks,
    /// threads, label lists, entries of sequence points.
    pub fn rows(&self, kind: BlockKind) -> u64 {
        self.kind(kind).rows
    }

    fn kind(&self, kind: BlockKind) -> KindCounts {
        self.kinds.get(kind.index()).copied().unwrap_or_default()
    }

    pub(crate) fn add_block(&mut self, kind: BlockKind, bytes: u64) {
        if let Some(entry) = self.kinds.get_mut(kind.index()) {
            entry.blocks = entry.blocks.saturating_add(1);
            entry.bytes = entry.bytes.saturating_add(bytes);
        }
    }

    /// Adds bytes, such as an end tag, to a kind without counting a block.
    pub(crate) fn add_bytes(&mut self, kind: BlockKind, bytes: u64) {
        if let Some(entry) = self.kinds.get_mut(kind.index()) {
            entry.bytes = entry.bytes.saturating_add(bytes);
        }
    }

    /// Subtracts bytes that turned out to belong to another block.
    pub(crate) fn take_bytes(&mut self, kind: BlockKind, bytes: u64) {
        if let Some(entry) = self.kinds.get_mut(kind.index()) {
            entry.bytes = entry.bytes.saturating_sub(bytes);
        }
    }

    pub(crate) fn add_rows(&mut self, kind: BlockKind, rows: u64) {
        if let Some(entry) = self.kinds.get_mut(kind.index()) {
            entry.rows = entry.rows.saturating_add(rows);
        }
    }
}
