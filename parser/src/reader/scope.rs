//! Which blocks of a stream a reader reads. With several threads, one finds blocks and
//! others read them.

use crate::context::Context;
use crate::frame::Frame;
use crate::tables::Covered;

/// Which blocks a reader reads.
#[derive(Debug)]
pub(crate) enum Scope {
    /// All blocks.
    All,
    /// All blocks, but event blocks are only found, and their content is not read.
    Index,
    /// Only the events of blocks that were found before.
    Planned { blocks: Vec<PlannedBlock>, next: usize },
}

/// An event block that was found, and the definitions at that point.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlannedBlock {
    pub(crate) frame: Frame,
    pub(crate) covered: Covered,
}

/// Event blocks that were found, and everything needed to read them.
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
