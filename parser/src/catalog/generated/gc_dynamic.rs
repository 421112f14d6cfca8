//! Records in the field Data of GCDynamicEvent.
//!
//! Generated from `parser/catalog/clr-events.json`, the extract of the runtime's manifest, by
//! `cargo xtask catalog`; do not edit. After each event: the earliest manifest that has it, and the runtimes
//! whose payloads were read by this row.

use crate::catalog::event::{CatalogEvent, event, sent};
use crate::catalog::row::{u16, u64};
use super::runtime::NAME;

pub(in crate::catalog) static RECORDS: [CatalogEvent; 1] = [
    event(NAME, 39, 0, "CommittedUsage", "GC/CommittedUsage", sent("GarbageCollection", 41, 4, 0x3f00003), &[
        u16("Version"), u64("TotalCommittedInUse").bytes(), u64("TotalCommittedInGlobalDecommit").bytes(),
        u64("TotalCommittedInFree").bytes(), u64("TotalCommittedInGlobalFree").bytes(),
        u64("TotalBookkeepingCommitted").bytes(),
    ]),
];
