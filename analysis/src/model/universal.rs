//! Mapped files and symbols of a process, which come from events of the provider `Universal.System`
//! (version 6).
//!
//! Recorders report the kernel as another mapping of the process. The end address of a symbol is
//! the last one. The end address of a mapping is the first one after it, except for the last page,
//! which ends at `u64::MAX`.

use super::modules::short_name;
use super::ranges::{Ranges, ReportedRange};
use super::texts::Texts;
use crate::hash::HashMap;
use crate::model::handle::TextHandle;
use nettrace_parser::{Event, Value};

/// A file that is mapped into the memory of a process, or the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mapping {
    pub(crate) start: u64,
    /// Last address of the mapping.
    pub(crate) last: u64,
    /// Offset in the file of the first mapped byte.
    pub(crate) file_offset: u64,
    /// Path of the file, as the trace stores it.
    pub(crate) path: String,
    /// File name, as [`short_name`] shortens it.
    pub(crate) name: String,
    /// Id by which events describe the file; 0 if there is none.
    pub(crate) metadata_id: u64,
    /// Time at which the mapping was reported, in ticks.
    pub(crate) since_ticks: u64,
}

/// Mappings and symbols of one process.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mappings {
    rows: Vec<Mapping>,
    ranges: Ranges<u32>,
    symbols: Ranges<TextHandle>,
    /// Build id of each file, by metadata id.
    build_ids: HashMap<u64, String>,
}

/// First address of the kernel's half of the address space.
pub(crate) const KERNEL_START: u64 = 1 << 63;

impl Mappings {
    /// Takes an event `ProcessMapping`.
    pub(crate) fn learn_mapping(&mut self, event: &Event<'_>) -> Option<()> {
        let fields = &mut event.fields();
        let mut number = |name| fields.find(name)?.value.ok()?.as_u64();
        let (start, end) = (number("StartAddress")?, number("EndAddress")?);
        let file_offset = number("FileOffset")?;
        let path = text(fields.find("FileName")?.value.ok()?);
        let metadata_id =
            fields.find("MetadataId").and_then(|field| field.value.ok()?.as_u64()).unwrap_or(0);
        let last = if end == u64::MAX { end } else { end.checked_sub(1)? };
        let size = last.checked_sub(start)?.saturating_add(1);
        let row = u32::try_from(self.rows.len()).ok()?;
        let ticks = event.timestamp_ticks();
        self.ranges.add(ReportedRange::Begins, start, size, ticks, row);
        self.rows.push(Mapping {
            start,
            last,
            file_offset,
            name: short_name(&path).to_owned(),
            path,
            metadata_id,
            since_ticks: ticks,
        });
        Some(())
    }

    /// Takes an event `ProcessMappingMetadata`, which describes a file in JSON.
    pub(crate) fn learn_metadata(&mut self, event: &Event<'_>) -> Option<()> {
        let fields = &mut event.fields();
        let id = fields.find("Id")?.value.ok()?.as_u64()?;
        let json = text(fields.find("SymbolMetadata")?.value.ok()?);
        let (_, after) = json.split_once("\"build_id\"")?;
        let build_id = after.split('"').nth(1).filter(|id| !id.is_empty())?;
        self.build_ids.insert(id, build_id.to_owned());
        Some(())
    }

    /// Returns the build id of a mapping's file, as the recorder stored it.
    pub(crate) fn build_id(&self, mapping: &Mapping) -> Option<&str> {
        self.build_ids.get(&mapping.metadata_id).map(|id| &**id)
    }

    /// Takes an event `ProcessSymbol`.
    pub(crate) fn learn_symbol(&mut self, event: &Event<'_>, texts: &mut Texts) -> Option<()> {
        let fields = &mut event.fields();
        let mut number = |name| fields.find(name)?.value.ok()?.as_u64();
        let (start, last) = (number("StartAddress")?, number("EndAddress")?);
        let name = texts.intern(&text(fields.find("Name")?.value.ok()?));
        self.add_symbol(start, last, event.timestamp_ticks(), name)
    }

    /// Adds the name of the addresses up to and including `last`.
    pub(crate) fn add_symbol(
        &mut self,
        start: u64,
        last: u64,
        ticks: u64,
        name: TextHandle,
    ) -> Option<()> {
        let size = last.checked_sub(start)?.saturating_add(1);
        if let Some(known) = self.symbols.at_start(start)
            && known.value == name
            && known.last == last
        {
            return Some(());
        }
        self.symbols.add(ReportedRange::Begins, start, size, ticks, name);
        Some(())
    }

    pub(crate) fn sort(&mut self) {
        self.ranges.sort();
        self.symbols.sort();
    }

    /// Returns the mapping that was at an address at a time, and whether the answer is the same for
    /// all times.
    pub(crate) fn mapping(&self, address: u64, ticks: u64) -> Option<(&Mapping, bool)> {
        let (range, is_always) = self.ranges.find(address, ticks)?;
        Some((self.rows.get(range.value as usize)?, is_always))
    }

    /// Returns the symbol that was at an address at a time, and whether the answer is the same for
    /// all times.
    pub(crate) fn symbol(&self, address: u64, ticks: u64) -> Option<(TextHandle, bool)> {
        self.symbols.find(address, ticks).map(|(range, is_always)| (range.value, is_always))
    }

    /// Returns the first and last address of each mapping and symbol.
    pub(crate) fn extents(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.ranges.extents().chain(self.symbols.extents())
    }

    /// Returns all mappings, in the order in which they were reported.
    pub(crate) fn rows(&self) -> &[Mapping] {
        &self.rows
    }
}

pub(crate) fn text(value: Value<'_>) -> String {
    value.to_text().unwrap_or_default()
}
