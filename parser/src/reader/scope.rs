//! Which of a stream's blocks a reader reads: for several threads, one finds what others read.

use crate::context::Context;
use crate::frame::Frame;
use crate::tables::Covered;

/// Which blocks a reader reads.
#[derive(Debug)]
pub(crate) enum Scope {
    /// All of them.
    All,
    /// All but the content of event blocks: those are only found.
    Index,
    /// The events of blocks that were found before.
    Planned { blocks: Vec<PlannedBlock>, next: usize },
}

/// An event block that was found, and what was defined when it was.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlannedBlock {
    pub(crate) frame: Frame,
    pub(crate) covered: Covered,
}

/// Event blocks that were found, and all that is needed to read them.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) blocks: Vec<PlannedBlock>,
    pub(crate) context: Context,
}

impl Plan {
    /// A plan of nothing.
    pub(crate) fn empty() -> Plan {
        Plan { blocks: Vec::new(), context: Context::new() }
    }
}
