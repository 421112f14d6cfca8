//! What the memory of a process holds where it has code. The operating system knows it,
//! the stream does not.

use super::modules::short_name;
use std::collections::BTreeMap;

/// Maximum number of ranges of memory of one process.
const MAX_RANGES: usize = 100_000;

/// Files and other memory with code, by first address: last address, and the module's short
/// name, which is empty for memory that belongs to no file.
#[derive(Debug, Clone, Default)]
pub(crate) struct MemoryMap(BTreeMap<u64, (u64, Box<str>)>);

impl MemoryMap {
    /// Creates a map from stretches: the first and last address of each, and its file, which is
    /// empty for memory that belongs to no file.
    pub(crate) fn new<'m>(stretches: impl IntoIterator<Item = (u64, u64, &'m str)>) -> MemoryMap {
        let named = |(first, last, file): (u64, u64, &str)| {
            let module = if file.is_empty() { "" } else { short_name(file) };
            (first, (last, module.into()))
        };
        MemoryMap(stretches.into_iter().take(MAX_RANGES).map(named).collect())
    }

    /// Returns the module that an address without a name lies in.
    pub(crate) fn module(&self, address: u64) -> Option<&str> {
        let (_, (last, module)) = self.0.range(..=address).next_back()?;
        (address <= *last).then_some(module)
    }
}
