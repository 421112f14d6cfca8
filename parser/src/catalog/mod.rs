//! What the stream does not say: layouts and names of well-known events (format.md 14, 15).
//!
//! The events of the native runtime come without name and fields; both are in its manifest, of
//! which [`generated`] is the copy. `Universal.*` and old `Microsoft-Diagnostics-DiagnosticSource`
//! are entered by hand.
//!
//! # Which description counts
//! | provider | the catalog is used | otherwise |
//! |---|---|---|
//! | those of the native runtime | when the metadata has neither name nor fields | the stream's |
//! | `Universal.System` | always: its metadata is wrong about text (format.md Q12) | – |
//! | `Universal.Events` | when the metadata has no fields | the stream's |
//! | `Microsoft-Diagnostics-DiagnosticSource` | when the metadata has no fields | the stream's |
//! | all others | never | the stream's |
//!
//! - Managed providers describe themselves, also where they send events of the native provider's
//!   name (the thread pool of NativeAOT and Mono): then the stream is right.
//! - Recorders that read the runtime's events from Linux user_events write version 6 and have to
//!   name them: `Unknown(10)` for event 10. That is no name. They give the version with each event,
//!   as a label, not with the type.
//! - A version above the newest one known is read as the newest one: versions only ever append
//!   fields, the rest of the payload is surplus. A lower one that is not known is not guessed at.
//! - Level and keywords were changed under a version, names and fields never: take the former from
//!   the trace.

mod diagnostic_source;
mod event;
#[rustfmt::skip]
mod generated;
mod method_flags;
mod provider;
mod row;
mod universal;

pub use event::CatalogEvent;
pub use method_flags::{MethodFlags, Tier};
pub use provider::{CatalogProvider, guid, provider_guid};

use crate::block::metadata::Metadata;
use provider::{Key, Use};

/// The providers whose events the catalog knows.
pub fn providers() -> impl Iterator<Item = &'static CatalogProvider> {
    let by_hand = [&universal::SYSTEM_PROVIDER, &universal::EVENTS_PROVIDER, &diagnostic_source::PROVIDER];
    generated::PROVIDERS.iter().copied().chain(by_hand)
}

/// All events: each provider's, in all their versions.
pub fn events() -> impl Iterator<Item = &'static CatalogEvent> {
    providers().flat_map(CatalogProvider::events)
}

fn provider(name: &str) -> Option<&'static CatalogProvider> {
    providers().find(|provider| provider.name == name)
}

/// Names of a provider's keywords, lowest bit first; empty for an unknown provider.
pub fn keywords(provider_name: &str) -> &'static [(u64, &'static str)] {
    provider(provider_name).map_or(&[], |provider| provider.keywords)
}

/// The row for an event that is told by id and version: that of this version, or of the newest
/// known one if `version` is above it. `None` for other versions, and for providers whose events
/// are told by name.
///
/// ```
/// use nettrace_parser::catalog::find;
/// let runtime = "Microsoft-Windows-DotNETRuntime";
/// assert_eq!(find(runtime, 10, 3).unwrap().symbol, "GCAllocationTick_V3");
/// assert_eq!(find(runtime, 10, 99).unwrap().symbol, "GCAllocationTick_V4");
/// assert_eq!(find(runtime, 10, 4).unwrap().schema().fields[4].name, "TypeID");
/// ```
pub fn find(provider_name: &str, id: u32, version: u32) -> Option<&'static CatalogEvent> {
    let provider = provider(provider_name).filter(|provider| provider.key == Key::Id)?;
    let mut newest: Option<&CatalogEvent> = None;
    for event in provider.events().filter(|event| event.id == id) {
        if event.version == version {
            return Some(event);
        }
        if newest.is_none_or(|newest| newest.version < event.version) {
            newest = Some(event);
        }
    }
    newest.filter(|newest| newest.version < version)
}

/// The row for an event that is told by name: those of `Universal.Events` and
/// `Microsoft-Diagnostics-DiagnosticSource`. `None` for other providers.
///
/// `Universal.Events` has a row for every name.
///
/// ```
/// use nettrace_parser::catalog::find_by_name;
/// let event = find_by_name("Universal.Events", "cpu").unwrap();
/// assert_eq!(event.schema().fields[0].name, "Value");
/// ```
pub fn find_by_name(provider_name: &str, name: &str) -> Option<&'static CatalogEvent> {
    let provider = provider(provider_name).filter(|provider| provider.key == Key::Name)?;
    let known = provider.events().find(|event| event.symbol == name);
    known.or_else(|| (provider_name == universal::EVENTS_PROVIDER.name).then_some(&universal::OTHER_EVENT))
}

/// The record in the field `Data` of GCDynamicEvent (event 39 of the runtime), whose field `Name`
/// says which it is.
///
/// ```
/// let record = nettrace_parser::catalog::gc_dynamic("CommittedUsage").unwrap();
/// assert_eq!(record.name, "GC/CommittedUsage");
/// ```
pub fn gc_dynamic(name: &str) -> Option<&'static CatalogEvent> {
    generated::gc_dynamic::RECORDS.iter().find(|record| record.symbol == name)
}

/// The row that counts for events of a type, if the catalog's does: see the [module](self).
///
/// Events may carry a version of their own (version 6); see [`for_event`].
pub(crate) fn for_metadata(metadata: &Metadata) -> Option<&'static CatalogEvent> {
    for_event(metadata, metadata.version)
}

/// The row that counts for an event of the type `metadata` that has this version.
pub(crate) fn for_event(metadata: &Metadata, version: u32) -> Option<&'static CatalogEvent> {
    let provider = provider(&metadata.provider)?;
    let has_fields = !metadata.schema.fields.is_empty() || metadata.schema.opaque.is_some();
    let counts = match provider.used {
        Use::Always => true,
        Use::WithoutName => !has_fields && is_unnamed(metadata),
        Use::WithoutFields => !has_fields,
    };
    match provider.key {
        _ if !counts => None,
        Key::Id => find(provider.name, metadata.event_id, version),
        Key::Name => find_by_name(provider.name, &metadata.name),
    }
}

/// Whether the name is none: empty, or `Unknown(ID)`.
fn is_unnamed(metadata: &Metadata) -> bool {
    let id = metadata.name.strip_prefix("Unknown(").and_then(|rest| rest.strip_suffix(')'));
    metadata.name.is_empty() || id.is_some_and(|id| id.parse() == Ok(metadata.event_id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Fault;
    use crate::schema::{Field, FieldType, Schema};

    const RUNTIME: &str = "Microsoft-Windows-DotNETRuntime";

    fn metadata(provider: &str, event_id: u32, name: &str, version: u32, fields: &[FieldType]) -> Metadata {
        let fields = fields.iter().map(|kind| Field::new("F", kind.clone())).collect();
        Metadata {
            id: 1,
            provider: provider.into(),
            event_id,
            name: name.into(),
            keywords: 0,
            version,
            level: 4,
            opcode: None,
            schema: Schema::from_stream(fields, None, false),
            extra: None,
            catalog: None,
            known_provider: crate::view::KnownProvider::of_name(provider),
        }
    }

    fn symbol(metadata: &Metadata) -> Option<&'static str> {
        for_metadata(metadata).map(|event| event.symbol)
    }

    #[test]
    fn a_native_event_without_name_and_fields_is_read_by_the_catalog() {
        assert_eq!(symbol(&metadata(RUNTIME, 1, "", 2, &[])), Some("GCStart_V2"));
        assert_eq!(symbol(&metadata("Somebody-Else", 1, "", 2, &[])), None);
        assert_eq!(symbol(&metadata(RUNTIME, 9999, "", 0, &[])), None);
    }

    #[test]
    fn a_native_event_with_name_or_fields_describes_itself() {
        assert_eq!(symbol(&metadata(RUNTIME, 50, "ThreadPoolWorkerThreadStart", 0, &[])), None);
        assert_eq!(symbol(&metadata(RUNTIME, 1, "", 2, &[FieldType::U32])), None);
    }

    #[test]
    fn fields_that_cannot_be_read_are_not_no_fields() {
        let mut unreadable = metadata(RUNTIME, 1, "", 2, &[]);
        unreadable.schema.opaque = Some(Fault::Truncated);
        assert_eq!(symbol(&unreadable), None);
    }

    #[test]
    fn unknown_with_the_id_is_no_name_and_the_version_comes_with_the_event() {
        let tick = metadata(RUNTIME, 10, "Unknown(10)", 0, &[]);
        assert_eq!(symbol(&tick), Some("GCAllocationTick"));
        assert_eq!(for_event(&tick, 4).map(|event| event.symbol), Some("GCAllocationTick_V4"));
        assert_eq!(symbol(&metadata(RUNTIME, 10, "Unknown(11)", 0, &[])), None);
    }

    #[test]
    fn a_newer_version_is_read_as_the_newest_known_and_a_lower_unknown_one_is_not() {
        let symbol = |version| find(RUNTIME, 204, version).map(|event| event.symbol);
        assert_eq!(symbol(3), Some("GCPerHeapHistory_V3"));
        assert_eq!(symbol(4), Some("GCPerHeapHistory_V3"));
        assert_eq!(symbol(2), None);
    }

    #[test]
    fn universal_system_is_always_read_by_the_catalog() {
        let declared = [FieldType::VarUInt, FieldType::Utf8CodeUnit];
        let metadata = |id| metadata("Universal.System", id, "ProcessSymbol", 0, &declared);
        assert_eq!(symbol(&metadata(4)), Some("ProcessSymbol"));
        assert_eq!(symbol(&metadata(77)), None);
    }

    #[test]
    fn universal_events_describe_themselves_if_they_do() {
        let events = "Universal.Events";
        assert_eq!(symbol(&metadata(events, 1, "cpu", 0, &[])), Some("cpu"));
        assert_eq!(symbol(&metadata(events, 7, "sched_waking", 0, &[])), Some(""));
        assert_eq!(
            symbol(&metadata(events, 7, "sched_waking", 0, &[FieldType::VarUInt, FieldType::U32])),
            None
        );
    }

    #[test]
    fn old_diagnostic_source_is_read_by_name() {
        let provider = "Microsoft-Diagnostics-DiagnosticSource";
        let start = find_by_name(provider, "Activity1Start").unwrap();
        assert_eq!(start.name, "Activity1/Start");
        assert_eq!(symbol(&metadata(provider, 4, "Activity1Start", 0, &[])), Some("Activity1Start"));
        assert_eq!(symbol(&metadata(provider, 1, "Message", 0, &[])), None);
        assert_eq!(symbol(&metadata(provider, 4, "Activity1Start", 0, &[FieldType::Utf16Text])), None);
        assert!(find(provider, 4, 0).is_none());
    }
}
