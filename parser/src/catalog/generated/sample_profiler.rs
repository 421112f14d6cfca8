//! Microsoft-DotNETCore-SampleProfiler: provider, value names, events.
//!
//! Generated from `parser/catalog/clr-events.json`, the extract of the runtime's manifest, by
//! `cargo xtask catalog`; do not edit. After each event: the earliest manifest that has it, and the runtimes
//! whose payloads were read by this row.

use crate::catalog::event::{CatalogEvent, event, sent};
use crate::catalog::provider::{CatalogProvider, Key, Use};
use crate::catalog::row::{u32};
use crate::schema::ValueMap;
use nettrace_guid::Guid;

pub(super) const NAME: &str = "Microsoft-DotNETCore-SampleProfiler";

pub(super) static PROVIDER: CatalogProvider = CatalogProvider {
    name: NAME,
    // 3c530d44-97ae-513a-1e6d-783e8f8e03a9
    guid: Some(Guid::from_bytes([
        0x44, 0x0d, 0x53, 0x3c, 0xae, 0x97, 0x3a, 0x51, 0x1e, 0x6d, 0x78, 0x3e, 0x8f, 0x8e, 0x03, 0xa9,
    ])),
    keywords: &[
    ],
    key: Key::Id,
    used: Use::WithoutName,
    groups: &[&EVENTS],
    others: None,
};

static THREAD_SAMPLE_TYPE_MAP: ValueMap = ValueMap {
    name: "ThreadSampleTypeMap",
    is_bitmap: false,
    entries: &[
        (0, "Error"),
        (1, "External"),
        (2, "Managed"),
    ],
};

pub(super) static EVENTS: [CatalogEvent; 1] = [
    event(NAME, 0, 0, "ThreadSample", "Thread/Sample", sent("Thread", 0, 4, 0x0), &[
        u32("Type").named(&THREAD_SAMPLE_TYPE_MAP),
    ]), // since 2.0; seen 3.0-win 3.1-arm32 3.1 5.0-mac 8.0 9.0 10.0
];
