//! The memory map of a process, as the operating system reports it.

use super::modules::short_name;
use std::collections::BTreeMap;

/// Maximum number of stretches of memory that are kept for one process.
const MAX_RANGES: usize = 100_000;

/// Stretches of memory that contain code. Each first address has the last address, and the short
/// name of the module, which is empty for memory without a file.
#[derive(Debug, Clone, Default)]
pub(crate) struct MemoryMap(BTreeMap<u64, (u64, Box<str>)>);

impl MemoryMap {
    /// Creates a map from stretches of memory: the first address, the last address, and the file,
    /// which is empty for memory without one.
    pub(crate) fn new<'m>(stretches: impl IntoIterator<Item = (u64, u64, &'m str)>) -> MemoryMap {
        let named = |(first, last, file): (u64, u64, &str)| {
            let module = if file.is_empty() { "" } else { short_name(file) };
            (first, (last, module.into()))
        };
        MemoryMap(stretches.into_iter().take(MAX_RANGES).map(named).collect())
    }

    /// Returns the short name of the module at an address; empty for memory without a file.
    pub(crate) fn module(&self, address: u64) -> Option<&str> {
        let (_, (last, module)) = self.0.range(..=address).next_back()?;
        (address <= *last).then_some(module)
    }
}
