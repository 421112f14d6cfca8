//! Events of the two providers of Linux recorders that write version 6 (FORMAT.md 15).
//!
//! For `Universal.System` these tables replace the stream's description, which declares text
//! as type 23, one UTF-8 code unit, although payloads hold a u16 length and UTF-8 (FORMAT.md
//! Q12). Events of `Universal.Events` begin with the field `Value`; recorders describe it and
//! the fields after it correctly, or describe no fields.

use super::event::{CatalogEvent, event, sent_by_others};
use super::provider::{CatalogProvider, Key, Use};
use super::row::{FieldRow, counted_utf8, var_uint};

const SYSTEM: &str = "Universal.System";
const EVENTS: &str = "Universal.Events";

pub(super) static SYSTEM_PROVIDER: CatalogProvider = CatalogProvider {
    name: SYSTEM,
    guid: None,
    keywords: &[],
    key: Key::Id,
    used: Use::Always,
    groups: &[&SYSTEM_EVENTS],
    others: None,
};

pub(super) static EVENTS_PROVIDER: CatalogProvider = CatalogProvider {
    name: EVENTS,
    guid: None,
    keywords: &[],
    key: Key::Name,
    used: Use::WithoutFields,
    groups: &[&NAMED_EVENTS],
    others: Some(&OTHER_EVENT),
};

const fn system(id: u32, name: &'static str, rows: &'static [FieldRow]) -> CatalogEvent {
    event(SYSTEM, id, 0, name, name, sent_by_others(0, 0, 0), rows)
}

const PROCESS: &[FieldRow] =
    &[var_uint("NamespaceId"), counted_utf8("Name"), counted_utf8("NamespaceName")];

static SYSTEM_EVENTS: [CatalogEvent; 6] = [
    system(0, "ExistingProcess", PROCESS),
    system(1, "ProcessCreate", PROCESS),
    system(2, "ProcessExit", &[]),
    // The two texts of ProcessMappingMetadata may follow (FORMAT.md Q13), as surplus bytes.
    system(
        3,
        "ProcessMapping",
        &[
            var_uint("Id"),
            var_uint("StartAddress").hex(),
            var_uint("EndAddress").hex(),
            var_uint("FileOffset").hex(),
            counted_utf8("FileName"),
            var_uint("MetadataId"),
        ],
    ),
    system(
        4,
        "ProcessSymbol",
        &[
            var_uint("Id"),
            var_uint("MappingId"),
            var_uint("StartAddress").hex(),
            var_uint("EndAddress").hex(),
            counted_utf8("Name"),
        ],
    ),
    system(
        5,
        "ProcessMappingMetadata",
        &[var_uint("Id"), counted_utf8("SymbolMetadata"), counted_utf8("VersionMetadata")],
    ),
];

const fn named(name: &'static str) -> CatalogEvent {
    event(EVENTS, 0, 0, name, name, sent_by_others(0, 0, 0), VALUE)
}

/// Fields of events of `Universal.Events`. `Value` is the weight of a sample, or the number of
/// ticks for which a thread was switched out.
const VALUE: &[FieldRow] = &[var_uint("Value")];

static NAMED_EVENTS: [CatalogEvent; 2] = [named("cpu"), named("cswitch")];

/// Row for events of `Universal.Events` with any other name.
static OTHER_EVENT: CatalogEvent = named("");
