//! Distinct stacks.
//!
//! A stream gives stacks ids that die at the next sequence point; the same stack comes back under
//! many of them. Here each is kept once, as addresses, and named when the trace has told all names.
//!
//! An address may mean something else later, when code was unloaded and its memory used again. A
//! stack that touches such memory gets a new handle from then on, so that one handle has one
//! meaning, and the time of its first use tells which.

use super::handle::{ProcessHandle, StackHandle};
use super::hash::{NumberHasher, NumberMap};
use nettrace_parser::Stack;
use std::hash::Hasher;

const NONE: u32 = u32::MAX;
/// Ids of streams that are remembered; above that, ids share a place.
const RECENT: usize = 1 << 16;

/// Distinct stacks of a trace.
#[derive(Debug, Default)]
pub struct Stacks {
    rows: Vec<Row>,
    addresses: Vec<u64>,
    /// The newest row of each hash; rows of one hash form a list.
    newest: NumberMap<u64, u32>,
    /// The row that a stream's id stood for most recently. Ids die and come back, so that this is
    /// where to look first and no more.
    recent: Vec<u32>,
    reuses: Vec<Reuse>,
}

#[derive(Debug)]
struct Row {
    process: ProcessHandle,
    /// Place of its first address.
    at: usize,
    count: u32,
    /// Ticks of its first use.
    since: u64,
    /// Reuses of memory that are known not to touch it, or to have come before it.
    reuses_seen: usize,
    next: u32,
}

/// Memory that got a new meaning.
#[derive(Debug, Clone, Copy)]
struct Reuse {
    process: ProcessHandle,
    start: u64,
    last: u64,
}

impl Stacks {
    /// The handle of a stack that a thread of `process` had at `ticks`. `id` is what the stream
    /// calls it for now: equal stacks with equal ids are found without a look at the table.
    #[inline]
    pub fn intern(&mut self, process: ProcessHandle, id: u32, stack: Stack<'_>, ticks: u64) -> StackHandle {
        let place = id as usize % RECENT;
        if let Some(row) = self.recent.get(place).copied()
            && let Some(found) = self.rows.get(row as usize)
            && found.reuses_seen == self.reuses.len()
            && found.process == process
            && is_same(self.addresses_of(found), stack)
        {
            return StackHandle(row);
        }
        let handle = self.look_up(process, stack, ticks);
        if self.recent.len() <= place {
            self.recent.resize(place.saturating_add(1), NONE);
        }
        if let Some(recent) = self.recent.get_mut(place) {
            *recent = handle.0;
        }
        handle
    }

    fn look_up(&mut self, process: ProcessHandle, stack: Stack<'_>, ticks: u64) -> StackHandle {
        let mut hasher = NumberHasher::default();
        hasher.add(u64::from(process.0));
        stack.addresses().for_each(|address| hasher.add(address));
        let hash = hasher.finish();
        let mut row = self.newest.get(&hash).copied().unwrap_or(NONE);
        while let Some(found) = self.rows.get(row as usize) {
            if found.process == process && is_same(self.addresses_of(found), stack) {
                if found.reuses_seen == self.reuses.len() || self.pass_reuses(row) {
                    return StackHandle(row);
                }
                break;
            }
            row = found.next;
        }
        self.add(hash, process, stack, ticks)
    }

    #[cold]
    fn add(&mut self, hash: u64, process: ProcessHandle, stack: Stack<'_>, ticks: u64) -> StackHandle {
        let handle = StackHandle::next(self.rows.len());
        let at = self.addresses.len();
        self.addresses.extend(stack.addresses());
        let count = u32::try_from(stack.len()).unwrap_or(u32::MAX);
        let next = self.newest.insert(hash, handle.0).unwrap_or(NONE);
        let reuses_seen = self.reuses.len();
        self.rows.push(Row { process, at, count, since: ticks, reuses_seen, next });
        handle
    }

    /// Whether a row means the same after the reuses that it has not seen.
    #[cold]
    fn pass_reuses(&mut self, row: u32) -> bool {
        let Some(found) = self.rows.get(row as usize) else { return false };
        let (addresses, process) = (self.addresses_of(found), found.process);
        let new = self.reuses.get(found.reuses_seen..).unwrap_or_default();
        let touches = |reuse: &Reuse| {
            // Return addresses may be one behind what they belong to.
            let last = reuse.last.saturating_add(1);
            reuse.process == process && addresses.iter().any(|at| (reuse.start..=last).contains(at))
        };
        let is_same = !new.iter().any(touches);
        let seen = self.reuses.len();
        if is_same && let Some(found) = self.rows.get_mut(row as usize) {
            found.reuses_seen = seen;
        }
        is_same
    }

    /// Memory of a process means something new from now on.
    pub(crate) fn reuse(&mut self, process: ProcessHandle, start: u64, size: u64) {
        let last = start.saturating_add(size.saturating_sub(1));
        self.reuses.push(Reuse { process, start, last });
    }

    /// How often that happened.
    pub(crate) fn reuses(&self) -> usize {
        self.reuses.len()
    }

    fn addresses_of(&self, row: &Row) -> &[u64] {
        let end = row.at.saturating_add(row.count as usize);
        self.addresses.get(row.at..end).unwrap_or_default()
    }

    /// Number of distinct stacks.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// All handles, in the order of first use.
    pub fn handles(&self) -> impl ExactSizeIterator<Item = StackHandle> + use<> {
        (0..u32::try_from(self.rows.len()).unwrap_or(u32::MAX)).map(StackHandle)
    }

    /// The addresses, innermost first: frame 0 is where the thread was, the others are return
    /// addresses.
    pub fn addresses(&self, stack: StackHandle) -> &[u64] {
        self.rows.get(stack.index()).map_or(&[], |row| self.addresses_of(row))
    }

    /// The process whose stack it is.
    pub fn process(&self, stack: StackHandle) -> Option<ProcessHandle> {
        self.rows.get(stack.index()).map(|row| row.process)
    }

    /// Timestamp, in ticks, of its first use.
    pub fn since_ticks(&self, stack: StackHandle) -> u64 {
        self.rows.get(stack.index()).map_or(0, |row| row.since)
    }
}

#[inline]
fn is_same(known: &[u64], stack: Stack<'_>) -> bool {
    let (words, rest) = stack.bytes().as_chunks::<8>();
    // Eight bytes an address, or the lengths differ: those of four are compared one by one.
    if words.len() == known.len() && rest.is_empty() && stack.len() == words.len() {
        return known.iter().zip(words).all(|(known, word)| *known == u64::from_le_bytes(*word));
    }
    known.iter().copied().eq(stack.addresses())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(addresses: &[u64]) -> Vec<u8> {
        addresses.iter().flat_map(|address| address.to_le_bytes()).collect()
    }

    #[test]
    fn a_stack_has_one_handle_until_memory_below_it_is_used_again() {
        let mut stacks = Stacks::default();
        let (one, other) = (bytes(&[100, 200]), bytes(&[300]));
        let process = ProcessHandle(0);
        let intern = |stacks: &mut Stacks, bytes: &[u8], ticks| {
            stacks.intern(process, u32::try_from(bytes.len()).unwrap(), Stack::new(bytes, 8), ticks).index()
        };
        assert_eq!([&one, &other, &one].map(|bytes| intern(&mut stacks, bytes, 1)), [0, 1, 0]);
        stacks.reuse(ProcessHandle(1), 100, 10);
        assert_eq!(intern(&mut stacks, &one, 2), 0);
        stacks.reuse(process, 199, 1);
        assert_eq!((intern(&mut stacks, &one, 3), intern(&mut stacks, &other, 3)), (2, 1));
        assert_eq!((intern(&mut stacks, &one, 4), stacks.len()), (2, 3));
        assert_eq!(stacks.since_ticks(StackHandle(2)), 3);
        assert_eq!(stacks.addresses(StackHandle(2)), [100, 200]);
    }
}
