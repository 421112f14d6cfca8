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
    /// Name as the reference tools show it, such as `GC/Start`. Empty for the one row of
    /// `Universal.Events` that stands for every name.
    pub name: &'static str,
    /// Name in the manifest, such as `GCStart_V2`; the event's name where events are told apart by
    /// name.
    pub symbol: &'static str,
    /// Name of the manifest's task, such as `GarbageCollection`; empty where there is no manifest.
    pub task: &'static str,
    /// Opcode in the newest manifest.
    pub opcode: u8,
    /// Level in the newest manifest: 0 log always, 1 critical, 2 error, 3 warning, 4
    /// informational, 5 verbose. What was sent is in the trace and may differ.
    pub level: u8,
    /// Keywords in the newest manifest; what was sent is in the trace and may differ.
    pub keywords: u64,
    rows: &'static [FieldRow],
    /// Whether its writer, up to .NET 5, leaves out a null text altogether
    /// ([FORMAT.md Q11](crate::format_guide#Q11)).
    omits_null_texts: bool,
    /// Whether payloads say by a name what is in them.
    names_records: bool,
    schema: OnceLock<Schema>,
}

/// What the manifest says of how an event is sent.
pub(super) struct Sent {
    pub(super) task: &'static str,
    pub(super) opcode: u8,
    pub(super) level: u8,
    pub(super) keywords: u64,
    omits_null_texts: bool,
}

/// How the native runtime sends an event.
pub(super) const fn sent(task: &'static str, opcode: u8, level: u8, keywords: u64) -> Sent {
    Sent { task, opcode, level, keywords, omits_null_texts: true }
}

/// How others send an event: without task, and all texts are there.
pub(super) const fn sent_by_others(opcode: u8, level: u8, keywords: u64) -> Sent {
    Sent { omits_null_texts: false, ..sent("", opcode, level, keywords) }
}

/// A row of a table.
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
        rows,
        omits_null_texts: sent.omits_null_texts,
        names_records: id == gc_dynamic::ID,
        schema: OnceLock::new(),
    }
}

/// Rows are constants: one is equal only to itself.
impl PartialEq for CatalogEvent {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for CatalogEvent {}

impl CatalogEvent {
    /// The payload's fields. The first call makes the schema, later ones find it made.
    pub fn schema(&self) -> &Schema {
        self.schema.get_or_init(|| row::schema(self.rows, self.omits_null_texts))
    }

    /// The fields of one payload: what a record in it is made of, the payload itself says.
    #[inline(always)]
    pub(crate) fn schema_of(&'static self, payload: &[u8]) -> &'static Schema {
        if self.names_records
            && let Some(schema) = gc_dynamic::schema(self, payload)
        {
            return schema;
        }
        self.schema()
    }

    /// Whether payloads of this event may have different fields each: see [`gc_dynamic`](super::gc_dynamic()).
    pub fn has_records(&self) -> bool {
        self.names_records
    }

    /// Whether `typed` names this event, whatever the case of its letters: the shown name with or
    /// without slash, the symbol with or without its version.
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

/// `GCStart_V2` without `_V2`.
fn without_version(symbol: &str) -> &str {
    match symbol.rsplit_once("_V") {
        Some((stem, version)) if !version.is_empty() && version.bytes().all(|b| b.is_ascii_digit()) => stem,
        _ => symbol,
    }
}
