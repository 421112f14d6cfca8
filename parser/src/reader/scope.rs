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
    /// Only event blocks that were found before.
    Planned { blocks: Vec<PlannedBlock>, next: usize },
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
