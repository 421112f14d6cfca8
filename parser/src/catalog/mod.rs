//! What the stream does not say: layouts and names of well-known events (FORMAT.md 14, 15).
//!
//! The events of the native runtime come without name and fields; both are in its manifest, of
//! which `generated` is the copy. `Universal.*`, old `Microsoft-Diagnostics-DiagnosticSource` and the
//! records of GCDynamicEvent that the manifest does not have are entered by hand.
//!
//! # Which description counts
//! | provider | the catalog is used | otherwise |
//! |---|---|---|
//! | those of the native runtime | when the metadata has neither name nor fields | the stream's |
//! | `Universal.System` | always: its metadata is wrong about text (FORMAT.md Q12) | – |
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
mod gc_dynamic;
#[rustfmt::skip]
mod generated;
pub(crate) mod known;
mod provider;
mod row;
mod shown;
#[cfg(test)]
mod tests;
mod universal;

pub use event::CatalogEvent;
pub(crate) use known::KnownProvider;
pub use provider::{CatalogProvider, guid, provider_guid};
pub use shown::event_name;

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

/// The row for an event that is known by id and version: that of this version, or of the newest
/// known one if `version` is above it. `None` for other versions, and for providers whose events
/// are known by name.
///
/// ```
/// use nettrace_parser::catalog::find;
/// let runtime = "Microsoft-Windows-DotNETRuntime";
/// assert_eq!(find(runtime, 10, 3).unwrap().symbol, "GCAllocationTick_V3");
/// assert_eq!(find(runtime, 10, 99).unwrap().symbol, "GCAllocationTick_V4");
/// assert_eq!(find(runtime, 10, 4).unwrap().schema().fields[4].name, "TypeID");
/// ```
pub fn find(provider_name: &str, id: u32, version: u32) -> Option<&'static CatalogEvent> {
    provider(provider_name).filter(|provider| provider.key == Key::Id)?.version_of(id, version)
}

/// The row for an event that is known by name: those of `Universal.Events` and
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
    provider(provider_name).filter(|provider| provider.key == Key::Name)?.named(name)
}

/// The record in the field `Data` of GCDynamicEvent (event 39 of the runtime), whose field `Name`
/// says which it is. [`Event::fields`](crate::Event::fields) gives its fields in the place of `Data`
/// where it is of the size that is known.
///
/// ```
/// let record = nettrace_parser::catalog::gc_dynamic("CommittedUsage").unwrap();
/// assert_eq!(record.name, "GC/CommittedUsage");
/// ```
pub fn gc_dynamic(name: &str) -> Option<&'static CatalogEvent> {
    gc_dynamic::records().find(|record| record.symbol == name)
}

/// What a stream says about a type of event.
pub(crate) struct Described<'a> {
    pub(crate) provider: &'a str,
    pub(crate) event_id: u32,
    pub(crate) name: &'a str,
    pub(crate) version: u32,
    pub(crate) has_fields: bool,
}

/// The row that counts for events of a type, if the catalog's does: see the [module](self).
pub(crate) fn row_for(described: &Described<'_>) -> Option<&'static CatalogEvent> {
    let provider = provider(described.provider)?;
    let counts = match provider.used {
        Use::Always => true,
        Use::WithoutName => !described.has_fields && described.is_unnamed(),
        Use::WithoutFields => !described.has_fields,
    };
    match provider.key {
        _ if !counts => None,
        Key::Id => provider.version_of(described.event_id, described.version),
        Key::Name => provider.named(described.name),
    }
}

impl Described<'_> {
    /// Whether the name is none: empty, or `Unknown(ID)`.
    fn is_unnamed(&self) -> bool {
        let id = self.name.strip_prefix("Unknown(").and_then(|rest| rest.strip_suffix(')'));
        self.name.is_empty() || id.is_some_and(|id| id.parse() == Ok(self.event_id))
    }
}
