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
    /// Name as the reference tools show it, such as `GC/Start`. Empty for the single row
    /// of `Universal.Events` that serves every name.
    pub name: &'static str,
    /// Name in the manifest, such as `GCStart_V2`; the event's own name for providers
    /// whose events are identified by name.
    pub symbol: &'static str,
    /// Name of the manifest's task, such as `GarbageCollection`; empty if there is no
    /// manifest.
    pub task: &'static str,
    /// Opcode in the newest manifest.
    pub opcode: u8,
    /// Level in the newest manifest: 0 log always, 1 critical, 2 error, 3 warning, 4
    /// informational, 5 verbose. The level that was actually sent is in the trace and may
    /// differ.
    pub level: u8,
    /// Keywords in the newest manifest. The keywords that were actually sent are in the
    /// trace and may differ.
    pub keywords: u64,
    /// Whether payloads of this event can differ in their fields. GCDynamicEvent (event
    /// 39 of the runtime) carries a record in its field `Data`, which its field `Name`
    /// names. If the record has the expected size,
    /// [`Event::fields`](crate::Event::fields) shows its fields in place of `Data`.
    pub has_records: bool,
    rows: &'static [FieldRow],
    /// Whether its writer, up to .NET 5, writes nothing at all for a null text
    /// ([FORMAT.md Q11](crate::format_guide#Q11)).
    omits_null_texts: bool,
    schema: OnceLock<Schema>,
}

/// How an event is sent, according to the manifest.
pub(super) struct Sent {
    pub(super) task: &'static str,
    pub(super) opcode: u8,
    pub(super) level: u8,
    pub(super) keywords: u64,
    omits_null_texts: bool,
}

/// Describes how an event of the native runtime is sent.
pub(super) const fn sent(task: &'static str, opcode: u8, level: u8, keywords: u64) -> Sent {
    Sent { task, opcode, level, keywords, omits_null_texts: true }
}

/// Describes how an event of another provider is sent: it has no task, and null texts are
/// written like others.
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

    /// Returns the fields of one payload. If it carries a record, the payload tells which
    /// one.
    #[inline(always)]
    pub(crate) fn schema_of(&'static self, payload: &[u8]) -> &'static Schema {
        if self.has_records
            && let Some(schema) = gc_dynamic::schema(self, payload)
        {
            return schema;
        }
        self.schema()
    }

    /// Returns whether `typed` names this event, ignoring case: the shown name with or
    /// without its slash, or the symbol with or without its version.
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

/// Returns `GCStart_V2` without `_V2`.
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
