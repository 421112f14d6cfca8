//! Microsoft-Windows-DotNETRuntimeStress: provider, value names, events.
//!
//! Generated from `parser/catalog/clr-events.json`, the extract of the runtime's manifest, by
//! `cargo xtask catalog`; do not edit. After each event: the earliest manifest that has it, and the runtimes
//! whose payloads were read by this row.

use crate::catalog::event::{CatalogEvent, event, sent};
use crate::catalog::provider::{CatalogProvider, Key, Use};
use crate::catalog::row::{ansi, pointer, u16, u32, u8};
use nettrace_guid::Guid;

pub(super) const NAME: &str = "Microsoft-Windows-DotNETRuntimeStress";

pub(super) static PROVIDER: CatalogProvider = CatalogProvider {
    name: NAME,
    // cc2bcbba-16b6-4cf3-8990-d74c2e8af500
    guid: Some(Guid::from_bytes([
        0xba, 0xcb, 0x2b, 0xcc, 0xb6, 0x16, 0xf3, 0x4c, 0x89, 0x90, 0xd7, 0x4c, 0x2e, 0x8a, 0xf5, 0x00,
    ])),
    keywords: &[
        (0x40000000, "StackKeyword"),
    ],
    key: Key::Id,
    used: Use::WithoutName,
    groups: &[&EVENTS],
    others: None,
};

pub(super) static EVENTS: [CatalogEvent; 3] = [
    event(NAME, 0, 0, "StressLogEvent", "StressLog/Start", sent("StressLogTask", 1, 4, 0x0), &[
        u32("Facility").hex(), u8("LogLevel"), ansi("Message"),
    ]), // since 2.1
    event(NAME, 0, 1, "StressLogEvent_V1", "StressLog/Start", sent("StressLogTask", 1, 4, 0x0), &[
        u32("Facility").hex(), u8("LogLevel"), ansi("Message"), u16("ClrInstanceID"),
    ]), // since 2.1
    // as CLRStackWalk
    event(NAME, 1, 0, "CLRStackWalkStress", "ClrStack/Walk", sent("CLRStackStress", 82, 0, 0x40000000), &[
        u16("ClrInstanceID"), u8("Reserved1"), u8("Reserved2"), u32("FrameCount").kept(0),
        pointer("Stack").times(0),
    ]), // since 2.1
];
