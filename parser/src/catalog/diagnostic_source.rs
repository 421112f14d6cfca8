//! Events of `Microsoft-Diagnostics-DiagnosticSource` as runtimes before .NET 5 write them
//! (FORMAT.md 15): with a name, but without a description of the fields.

use super::event::{CatalogEvent, event, sent_by_others};
use super::provider::{CatalogProvider, Key, Use};
use super::row::{FieldRow, counted_records, utf16};

const NAME: &str = "Microsoft-Diagnostics-DiagnosticSource";

pub(super) static PROVIDER: CatalogProvider = CatalogProvider {
    name: NAME,
    guid: None,
    keywords: &[(0x1, "Messages"), (0x2, "Events")],
    key: Key::Name,
    used: Use::WithoutFields,
    groups: &[&EVENTS],
    others: None,
};

const ARGUMENTS: FieldRow = counted_records("Arguments", &[utf16("Key"), utf16("Value")]);
const EVENT_FIELDS: &[FieldRow] = &[utf16("SourceName"), utf16("EventName"), ARGUMENTS];
const ACTIVITY_FIELDS: &[FieldRow] = &[utf16("SourceName"), utf16("ActivityName"), ARGUMENTS];

const fn named(
    id: u32,
    symbol: &'static str,
    name: &'static str,
    opcode: u8,
    rows: &'static [FieldRow],
) -> CatalogEvent {
    event(NAME, id, 0, symbol, name, sent_by_others(opcode, 4, 0x2), rows)
}

static EVENTS: [CatalogEvent; 9] = [
    named(2, "Event", "Event", 0, EVENT_FIELDS),
    named(4, "Activity1Start", "Activity1/Start", 1, EVENT_FIELDS),
    named(5, "Activity1Stop", "Activity1/Stop", 2, EVENT_FIELDS),
    named(6, "Activity2Start", "Activity2/Start", 1, EVENT_FIELDS),
    named(7, "Activity2Stop", "Activity2/Stop", 2, EVENT_FIELDS),
    named(8, "RecursiveActivity1Start", "RecursiveActivity1/Start", 1, EVENT_FIELDS),
    named(9, "RecursiveActivity1Stop", "RecursiveActivity1/Stop", 2, EVENT_FIELDS),
    // The package of .NET 5 also runs on older runtimes, which cannot describe this
    // event.
    named(11, "ActivityStart", "Activity/Start", 1, ACTIVITY_FIELDS),
    named(12, "ActivityStop", "Activity/Stop", 2, ACTIVITY_FIELDS),
];
