//! What the stream does not say: layouts and names of well-known events (format.md 14, 15).

use crate::schema::Schema;

/// A well-known event.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CatalogEvent {
    /// Provider.
    pub provider: &'static str,
    /// Event id.
    pub id: u32,
    /// Event version.
    pub version: u32,
    /// Name as the reference tools show it, such as `GC/Start`.
    pub name: &'static str,
    /// Name in the manifest, such as `GCStart_V2`.
    pub symbol: &'static str,
}

impl CatalogEvent {
    /// The payload's fields.
    pub fn schema(&self) -> &Schema {
        static EMPTY: std::sync::LazyLock<Schema> = std::sync::LazyLock::new(Schema::default);
        &EMPTY
    }
}

/// The layout of a native event: the newest known version not above `version`; whatever newer
/// versions append is surplus.
pub fn find(_provider: &str, _id: u32, _version: u32) -> Option<&'static CatalogEvent> {
    None
}

/// The event whose layout counts for a type, instead of the stream's description.
pub(crate) fn for_metadata(_metadata: &crate::block::metadata::Metadata) -> Option<&'static CatalogEvent> {
    None
}
