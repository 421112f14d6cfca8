//! A row of the catalog: one event in one version.

use super::gc_dynamic;
use super::row::{self, FieldRow};
use crate::schema::Schema;
use std::sync::OnceLock;

/// A well-known event in one version.
#[derive(Debug)]
#[non_exhaustive]
pub struct CatalogEvent {
    /// Provider name.
    pub provider: &'static str,
    /// Event id within the provider.
    pub id: u32,
    /// Event version.
    pub version: u32,
    /// Name as the reference tools show it, such as `GC/Start`. Empty for the row of
    /// `Universal.Events` that describes events of any name.
    pub name: &'static str,
    /// Name in the manifest, such as `GCStart_V2`. For providers whose events are identified
    /// by name, the name that the stream stores.
    pub symbol: &'static str,
    /// Name of the manifest's task, such as `GarbageCollection`; empty if there is no
    /// manifest.
    pub task: &'static str,
    /// Opcode in the newest manifest.
    pub opcode: u8,
    /// Level in the newest manifest: 0 log always, 1 critical, 2 error, 3 warning, 4
    /// informational, 5 verbose. The level in the trace may differ.
    pub level: u8,
    /// Keywords in the newest manifest. The keywords in the trace may differ.
    pub keywords: u64,
    /// Whether the fields depend on the payload, as for GCDynamicEvent (event 39 of the runtime).
    /// Its field `Name` is the name of a type of records, and its field `Data` carries such a
    /// record. If the record has the size of that type, [`Event::fields`](crate::Event::fields)
    /// shows the record's fields in place of `Data`.
    pub has_records: bool,
    rows: &'static [FieldRow],
    /// Whether runtimes up to .NET 5 write nothing at all for a null text ([FORMAT.md
    /// Q11](crate::format_guide#Q11)).
    omits_null_texts: bool,
    schema: OnceLock<Schema>,
}

/// Facts about an event in a table of the catalog, besides its name and fields.
pub(super) struct Sent {
    pub(super) task: &'static str,
    pub(super) opcode: u8,
    pub(super) level: u8,
    pub(super) keywords: u64,
    omits_null_texts: bool,
}

/// Describes an event of the native runtime.
pub(super) const fn sent(task: &'static str, opcode: u8, level: u8, keywords: u64) -> Sent {
    Sent { task, opcode, level, keywords, omits_null_texts: true }
}

/// Describes an event of another provider, which has no task and writes a null text like any
/// other text.
pub(super) const fn sent_by_others(opcode: u8, level: u8, keywords: u64) -> Sent {
    Sent { omits_null_texts: false, ..sent("", opcode, level, keywords) }
}

/// Creates a row of a table.
pub(super) const fn event(
    provider: &'static str,
    id: u32,
    version: u32,
    symbol: &'static str,
    name: &'static str,
    sent: Sent,
    rows: &'static [FieldRow],
) -> CatalogEvent {
    CatalogEvent {
        provider,
        id,
        version,
        name,
        symbol,
        task: sent.task,
        opcode: sent.opcode,
        level: sent.level,
        keywords: sent.keywords,
        has_records: id == gc_dynamic::ID,
        rows,
        omits_null_texts: sent.omits_null_texts,
        schema: OnceLock::new(),
    }
}

/// Compares identity: rows are constants, so each is equal only to itself.
impl PartialEq for CatalogEvent {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for CatalogEvent {}

impl CatalogEvent {
    /// Returns the payload's fields. The schema is built on the first call and reused
    /// afterwards.
    pub fn schema(&self) -> &Schema {
        self.schema.get_or_init(|| row::schema(self.rows, self.omits_null_texts))
    }

    /// Returns the fields of one payload, including the fields of a record in it.
    #[inline(always)]
    pub(crate) fn schema_of(&'static self, payload: &[u8]) -> &'static Schema {
        if self.has_records
            && let Some(schema) = gc_dynamic::schema(self, payload)
        {
            return schema;
        }
        self.schema()
    }

    /// Returns whether `typed`, a name that a user entered in upper or lower case, names this
    /// event: it may be the shown name with or without its slash, or the symbol with or
    /// without its version.
    ///
    /// ```
    /// use nettrace_parser::catalog;
    /// let event = catalog::find("Microsoft-Windows-DotNETRuntime", 1, 2).unwrap();
    /// for typed in ["GC/Start", "GCStart", "gcstart", "GCStart_V2"] {
    ///     assert!(event.matches_name(typed));
    /// }
    /// assert!(!event.matches_name("GCStart_V1"));
    /// ```
    pub fn matches_name(&self, typed: &str) -> bool {
        if typed.is_empty() {
            return false;
        }
        let is = |name: &str| name.eq_ignore_ascii_case(typed);
        is(self.name)
            || is(self.symbol)
            || is(without_version(self.symbol))
            || self
                .name
                .bytes()
                .filter(|&byte| byte != b'/')
                .map(|byte| byte.to_ascii_lowercase())
                .eq(typed.bytes().map(|byte| byte.to_ascii_lowercase()))
    }
}

/// Returns a symbol without its version: `GCStart` for `GCStart_V2`.
fn without_version(symbol: &str) -> &str {
    match symbol.rsplit_once("_V") {
        Some((stem, version))
            if !version.is_empty() && version.bytes().all(|b| b.is_ascii_digit()) =>
        {
            stem
        }
        _ => symbol,
    }
}
