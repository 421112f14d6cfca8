//! Microsoft-DotNETCore-EventPipe: provider, value names, events.
//!
//! Generated from `parser/catalog/clr-events.json`, the extract of the runtime's manifest, by
//! `cargo xtask catalog`; do not edit. After each event: the earliest manifest that has it, and the runtimes
//! whose payloads were read by this row.

use crate::catalog::event::{CatalogEvent, event, sent};
use crate::catalog::provider::{CatalogProvider, Key, Use};
use crate::catalog::row::{utf16};
use nettrace_guid::Guid;

pub(super) const NAME: &str = "Microsoft-DotNETCore-EventPipe";

pub(super) static PROVIDER: CatalogProvider = CatalogProvider {
    name: NAME,
    // 92f528a6-f5b8-5160-a7ee-b33da7739e29
    guid: Some(Guid::from_bytes([
        0xa6, 0x28, 0xf5, 0x92, 0xb8, 0xf5, 0x60, 0x51, 0xa7, 0xee, 0xb3, 0x3d, 0xa7, 0x73, 0x9e, 0x29,
    ])),
    keywords: &[
    ],
    key: Key::Id,
    used: Use::WithoutName,
    groups: &[&EVENTS],
    others: None,
};

pub(super) static EVENTS: [CatalogEvent; 2] = [
    // trace metadata carries name and fields
    event(NAME, 1, 0, "ProcessInfo", "ProcessInfo", sent("", 0, 0, 0x0), &[
        utf16("CommandLine"),
    ]), // since 3.0
    // trace metadata carries name and fields
    event(NAME, 1, 1, "ProcessInfo_V1", "ProcessInfo", sent("", 0, 0, 0x0), &[
        utf16("CommandLine"), utf16("OSInformation"), utf16("ArchInformation"),
    ]), // since 5.0; seen 8.0 9.0 10.0
];
