//! Names and fields of well-known events that streams do not describe (FORMAT.md 14, 15).
//!
//! Events of the native runtime arrive without names and descriptions of fields. `generated`
//! takes both from the runtime's manifest. Tables for `Universal.*`, for old versions of
//! `Microsoft-Diagnostics-DiagnosticSource` and `Microsoft-Extensions-Logging`, and for records
//! of GCDynamicEvent that the manifest lacks were entered by hand.
//!
//! # Which description is used
//! | provider | the catalog is used | otherwise |
//! |---|---|---|
//! | native runtime | when the metadata has neither name nor fields | the stream's |
//! | `Universal.System` | always: its metadata is wrong about text (FORMAT.md Q12) | – |
//! | `Universal.Events` | when the metadata has no fields | the stream's |
//! | `Microsoft-Diagnostics-DiagnosticSource`, `Microsoft-Extensions-Logging`, the async profiler of .NET 11 | when the metadata has no fields | the stream's |
//! | all others | never | the stream's |
//!
//! - The thread pool of NativeAOT and Mono is managed code that uses the native provider's
//!   name. It describes its events, and the stream's description is used.
//! - Recorders that read the runtime's events from Linux user_events write version 6,
//!   which requires a name, so they call event 10 `Unknown(10)`, which counts as no name.
//!   They store the event's version with each event, as a label, not with the type.
//! - Versions above the newest known version are read like it, because new versions only
//!   append fields; the rest of the payload is surplus. Other unknown versions have no row.
//! - Names and fields never change within a version, but levels and keywords do: take these
//!   from the trace.

mod async_profiler;
mod diagnostic_source;
mod event;
mod gc_dynamic;
#[rustfmt::skip]
mod generated;
pub(crate) mod known;
mod logging;
mod provider;
mod row;
pub(crate) mod shown;
#[cfg(test)]
mod tests;
mod universal;

pub use event::CatalogEvent;
pub(crate) use known::KnownProvider;
pub(crate) use provider::provider_guid;

use provider::{CatalogProvider, Key, Use};

/// Returns the providers whose events the catalog knows.
fn providers() -> impl Iterator<Item = &'static CatalogProvider> {
    let by_hand = [
        &universal::SYSTEM_PROVIDER,
        &universal::EVENTS_PROVIDER,
        &diagnostic_source::PROVIDER,
        &logging::PROVIDER,
        &async_profiler::PROVIDER,
    ];
    generated::PROVIDERS.iter().copied().chain(by_hand)
}

/// Returns all events of all providers, in all their versions.
pub fn events() -> impl Iterator<Item = &'static CatalogEvent> {
    providers().flat_map(CatalogProvider::events)
}

fn provider(name: &str) -> Option<&'static CatalogProvider> {
    providers().find(|provider| provider.name == name)
}

/// Returns the names of a provider's keywords, lowest bit first; empty if the provider is
/// unknown.
pub fn keywords(provider_name: &str) -> &'static [(u64, &'static str)] {
    provider(provider_name).map_or(&[], |provider| provider.keywords)
}

/// Returns the row for an event of a provider whose events are identified by id and
/// version: the newest row if `version` is above all known versions. `None` for other unknown
/// versions, and for providers whose events are identified by name.
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

/// Facts about an event type that its stream stores.
pub(crate) struct Described<'a> {
    pub(crate) provider: &'a str,
    pub(crate) event_id: u32,
    pub(crate) name: &'a str,
    pub(crate) version: u32,
    pub(crate) has_fields: bool,
}

/// Returns the row that describes events of a type, if the [rules above](self) choose the
/// catalog over the stream.
pub(crate) fn row_for(described: &Described<'_>) -> Option<&'static CatalogEvent> {
    let provider = provider(described.provider)?;
    let counts = match provider.used {
        Use::Always => true,
        Use::WithoutName => {
            !described.has_fields && shown::is_unnamed(described.name, described.event_id)
        }
        Use::WithoutFields => !described.has_fields,
    };
    match provider.key {
        _ if !counts => None,
        Key::Id => provider.version_of(described.event_id, described.version),
        Key::Name => provider.named(described.name),
    }
}
