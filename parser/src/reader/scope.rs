//! Selects the blocks of a stream that a reader reads. With several threads, one of them finds
//! blocks, and all of them read events.

use crate::context::Context;
use crate::frame::Frame;
use crate::tables::Covered;

/// Blocks that a reader reads.
#[derive(Debug)]
pub(crate) enum Scope {
    /// All blocks.
    All,
    /// All blocks, but not the content of event blocks.
    Index,
    /// All blocks, except for parts of the stream.
    Skipping(Skips),
    /// Only event blocks that were found before.
    Planned { blocks: Vec<PlannedBlock>, next: usize },
}

/// Parts of the stream that are not read, in its order. Each begins and ends between two blocks.
#[derive(Debug, Default)]
pub(crate) struct Skips {
    parts: Vec<(u64, u64)>,
    next: usize,
}

impl Skips {
    /// Creates an instance from pairs of the start and the end of a part.
    pub(crate) fn new(parts: Vec<(u64, u64)>) -> Skips {
        Skips { parts, next: 0 }
    }

    /// Returns where reading goes on at a position between two blocks.
    pub(super) fn skip_from(&mut self, position: u64) -> u64 {
        while let Some((start, end)) = self.parts.get(self.next).copied() {
            if start > position {
                break;
            }
            self.next = self.next.saturating_add(1);
            if start == position && end > start {
                return end;
            }
        }
        position
    }
}

/// Event block that was found, with the ids that are defined there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlannedBlock {
    pub(crate) frame: Frame,
    pub(crate) covered: Covered,
}

/// Event blocks that were found, with the tables to read them.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) blocks: Vec<PlannedBlock>,
    pub(crate) context: Context,
}

impl Plan {
    /// Returns a plan without blocks.
    pub(crate) fn empty() -> Plan {
        Plan { blocks: Vec::new(), context: Context::new() }
    }
}
