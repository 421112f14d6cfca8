//! What the memory of a process holds where it has code. The operating system knows it,
//! the stream does not.

use super::modules::short_name;
use std::collections::BTreeMap;

/// Stretches of memory of one process.
const MOST: usize = 100_000;

/// Files and other memory with code, by first address: last address, and what is shown
/// for code in it that has no name.
#[derive(Debug, Clone, Default)]
pub(crate) struct MemoryMap(BTreeMap<u64, (u64, Box<str>)>);

impl MemoryMap {
    /// First and last address of each stretch, and its file; empty for memory that belongs
    /// to no file.
    pub(crate) fn new<'m>(stretches: impl IntoIterator<Item = (u64, u64, &'m str)>) -> MemoryMap {
        let shown = |(first, last, file): (u64, u64, &str)| {
            let text = match file {
                "" => "(generated code)".to_owned(),
                file => format!("{}!(no name)", short_name(file)),
            };
            (first, (last, text.into()))
        };
        MemoryMap(stretches.into_iter().take(MOST).map(shown).collect())
    }

    /// What an address without a name lies in.
    pub(crate) fn text(&self, address: u64) -> Option<&str> {
        let (_, (last, text)) = self.0.range(..=address).next_back()?;
        (address <= *last).then_some(text)
    }
}
