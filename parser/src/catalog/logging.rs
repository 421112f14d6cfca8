//! Scopes of `Microsoft-Extensions-Logging` as .NET Core 3.1 writes them (FORMAT.md 15): with a
//! name, but without a description of the fields, because one field is a list.

use super::event::{CatalogEvent, event, sent_by_others};
use super::provider::{CatalogProvider, Key, Use};
use super::row::{FieldRow, counted_records, i32, utf16};

const NAME: &str = "Microsoft-Extensions-Logging";

pub(super) static PROVIDER: CatalogProvider = CatalogProvider {
    name: NAME,
    guid: None,
    keywords: &[(0x1, "Meta"), (0x2, "Message"), (0x4, "FormattedMessage"), (0x8, "JsonMessage")],
    key: Key::Name,
    used: Use::WithoutFields,
    groups: &[&EVENTS],
    others: None,
};

const ARGUMENTS: FieldRow = counted_records("Arguments", &[utf16("Key"), utf16("Value")]);
const START_FIELDS: &[FieldRow] = &[i32("ID"), i32("FactoryID"), utf16("LoggerName"), ARGUMENTS];
const STOP_FIELDS: &[FieldRow] = &[i32("ID"), i32("FactoryID"), utf16("LoggerName")];

static EVENTS: [CatalogEvent; 2] = [
    event(NAME, 3, 0, "ActivityStart", "Activity/Start", sent_by_others(1, 0, 0x6), START_FIELDS),
    event(NAME, 4, 0, "ActivityStop", "Activity/Stop", sent_by_others(2, 0, 0x6), STOP_FIELDS),
];
