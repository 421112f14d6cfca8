//! Finds a process that reported the code of the kernel at an address.
//!
//! All processes share the kernel, so a recorder may report a part of it for one process only.
//! Searching all processes for each address would take too long, so their ranges are merged first.

use super::handle::ProcessHandle;
use super::universal::KERNEL_START;
use std::collections::BTreeMap;

/// The first two processes that reported each address of the kernel. Two are enough, because at
/// most one of them is the process whose stack is resolved.
#[derive(Debug, Default)]
pub(crate) struct KernelOwners {
    /// First address of each stretch of addresses that the same processes reported, sorted.
    bounds: Vec<u64>,
    owners: Vec<[Option<ProcessHandle>; 2]>,
}

impl KernelOwners {
    /// Creates the table of owners from ranges: a process, and a first and a last address.
    pub(crate) fn new(ranges: impl Iterator<Item = (ProcessHandle, u64, u64)>) -> KernelOwners {
        let mut edges: Vec<(u64, ProcessHandle, bool)> = Vec::new();
        for (process, start, last) in ranges.filter(|(_, _, last)| *last >= KERNEL_START) {
            edges.push((start.max(KERNEL_START), process, true));
            edges.extend(last.checked_add(1).map(|end| (end, process, false)));
        }
        edges.sort_unstable();
        let mut found = KernelOwners::default();
        let mut there: BTreeMap<ProcessHandle, usize> = BTreeMap::new();
        for edges in edges.chunk_by(|one, other| one.0 == other.0) {
            // In reverse order, starts of a process come before ends, so that no count becomes
            // negative.
            for (_, process, is_begin) in edges.iter().rev() {
                let count = there.entry(*process).or_default();
                *count = if *is_begin { count.saturating_add(1) } else { count.saturating_sub(1) };
                if *count == 0 {
                    there.remove(process);
                }
            }
            let mut first = there.keys().copied();
            found.bounds.extend(edges.first().map(|edge| edge.0));
            found.owners.push([first.next(), first.next()]);
        }
        found
    }

    /// Returns the first process other than `process` that reported an address.
    pub(crate) fn other_than(&self, process: ProcessHandle, address: u64) -> Option<ProcessHandle> {
        let after = self.bounds.partition_point(|bound| *bound <= address);
        let owners = self.owners.get(after.checked_sub(1)?)?;
        owners.iter().flatten().copied().find(|owner| *owner != process)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_belongs_to_the_first_other_process_that_reported_it() {
        let mut random = 3u64;
        let mut next = |most: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) % most
        };
        for count in [0, 1, 5, 60] {
            let ranges: Vec<(ProcessHandle, u64, u64)> = (0..count)
                .map(|_| {
                    let near_end = next(8) == 0;
                    let start =
                        if near_end { u64::MAX - next(20) } else { KERNEL_START - 5 + next(60) };
                    (
                        ProcessHandle(u32::try_from(next(6)).unwrap()),
                        start,
                        start.saturating_add(next(12)),
                    )
                })
                .collect();
            let owners = KernelOwners::new(ranges.iter().copied());
            let addresses = (KERNEL_START..KERNEL_START + 80).chain(u64::MAX - 25..=u64::MAX);
            for (address, own) in
                addresses.flat_map(|at| (0..7).map(move |own| (at, ProcessHandle(own))))
            {
                let there =
                    ranges.iter().filter(|(_, start, last)| (*start..=*last).contains(&address));
                let expected =
                    there.map(|(process, ..)| *process).filter(|process| *process != own).min();
                assert_eq!(
                    owners.other_than(own, address),
                    expected,
                    "{address:#x} {own:?} {ranges:?}"
                );
            }
        }
    }
}
