//! Distinct stacks of a trace, each kept once.
//!
//! Stack ids of a stream are valid until the next sequence point, so one stack has many ids over
//! time. Here each stack is kept once, as addresses. Names are resolved after the last event, when
//! all are known.
//!
//! An address changes its meaning when code is unloaded and its memory reused. A stack with an
//! address in such memory gets a new handle from then on. So each handle has one meaning, which is
//! valid at the time of its first use.
//!
//! Each event may have a stack, which is compared with known stacks. To bound the work, only the
//! innermost 4,096 frames of a stack are kept; the last of them represents all outer frames. (.NET
//! writes at most 100 frames, recorders of operating systems usually 127.)

use super::handle::{ProcessHandle, StackHandle};
use super::reuses::Reuses;
use super::sample::Mode;
use crate::bytes;
use crate::hash::{HashMap, RandomState};
use nettrace_parser::Stack;
use std::hash::{BuildHasher, Hasher};

const NONE: u32 = u32::MAX;
/// Number of entries of [`Stacks::recent`]. The entry of a stream id is the id modulo this number.
const RECENT: usize = 1 << 16;

/// Maximum number of frames that are kept of a stack.
pub(crate) const MAX_FRAMES: usize = 4096;

/// The distinct stacks of a trace.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stacks {
    rows: Vec<StoredStack>,
    addresses: Vec<u64>,
    /// Newest row for each hash. Rows with equal hashes form a list by [`StoredStack::next`].
    newest: HashMap<u64, u32>,
    /// Row to which each stream id referred last. It is only a hint, because ids are reused.
    recent: Vec<u32>,
    reuses: Reuses,
    hashes: RandomState,
}

#[derive(Debug, Clone, Copy)]
struct StoredStack {
    process: ProcessHandle,
    /// Index of the first address in [`Stacks::addresses`].
    at: usize,
    count: u32,
    /// Time at which the stack was first used, in ticks.
    since: u64,
    /// Whether the stack has more frames than are kept.
    is_cut: bool,
    /// Whether the callers are complete, because they were taken from another stack, or because
    /// none are missing.
    is_repaired: bool,
    /// Whether the stack shares its addresses with an older row.
    is_again: bool,
    /// Whether only events of tasks have the stack so far, so that it need not be shown.
    is_of_task: bool,
    /// Number of reuses of memory after which the row was last checked.
    reuses_seen: usize,
    next: u32,
    /// Numbers of samples with this stack that the runtime's sampler took: those in managed code,
    /// and those that it calls external.
    sampled: [u32; 2],
}

impl Stacks {
    /// Returns the handle of a stack of `process` at the time `ticks`. `id` is the id by which the
    /// stream refers to the stack at present. If an equal stack had the same id before, it is found
    /// without hashing.
    #[inline(always)]
    pub(crate) fn intern(
        &mut self,
        process: ProcessHandle,
        id: u32,
        stack: Stack<'_>,
        ticks: u64,
    ) -> StackHandle {
        let handle = self.find_or_add(process, id, stack, ticks);
        if let Some(row) = self.rows.get_mut(handle.index())
            && row.is_of_task
        {
            row.is_of_task = false;
        }
        handle
    }

    #[inline(always)]
    fn find_or_add(
        &mut self,
        process: ProcessHandle,
        id: u32,
        stack: Stack<'_>,
        ticks: u64,
    ) -> StackHandle {
        // An address has at least four bytes.
        match stack.bytes().len() <= MAX_FRAMES.saturating_mul(4) {
            true => self.intern_cut(process, id, (stack, false), ticks),
            false => self.intern_long(process, id, stack, ticks),
        }
    }

    /// Returns the handle of a stack as [`Stacks::intern`] does. A stack that is only asked for here
    /// tells callers of others, and need not be shown.
    pub(super) fn intern_of_task(
        &mut self,
        process: ProcessHandle,
        id: u32,
        stack: Stack<'_>,
        ticks: u64,
    ) -> StackHandle {
        let known = self.rows.len();
        let handle = self.find_or_add(process, id, stack, ticks);
        if handle.index() >= known
            && let Some(row) = self.rows.get_mut(handle.index())
        {
            row.is_of_task = true;
        }
        handle
    }

    /// Returns whether a stack only tells callers of others.
    pub(super) fn is_of_task(&self, stack: StackHandle) -> bool {
        self.rows.get(stack.index()).is_some_and(|row| row.is_of_task)
    }

    #[cold]
    #[inline(never)]
    fn intern_long(
        &mut self,
        process: ProcessHandle,
        id: u32,
        stack: Stack<'_>,
        ticks: u64,
    ) -> StackHandle {
        self.intern_cut(process, id, cut(stack), ticks)
    }

    /// Returns the handle of a stack of at most [`MAX_FRAMES`] frames, and whether it had more.
    #[inline(always)]
    fn intern_cut(
        &mut self,
        process: ProcessHandle,
        id: u32,
        (stack, is_cut): (Stack<'_>, bool),
        ticks: u64,
    ) -> StackHandle {
        let place = id as usize % RECENT;
        if let Some(row) = self.recent.get(place).copied()
            && let Some(found) = self.rows.get(row as usize)
            && found.reuses_seen == self.reuses.count()
            && found.process == process
            && found.is_cut == is_cut
            && !found.is_repaired
            && is_same(self.addresses_of(found), stack)
        {
            return StackHandle(row);
        }
        let handle = self.look_up(process, stack, (is_cut, false), ticks);
        if self.recent.len() <= place {
            self.recent.resize(place.saturating_add(1), NONE);
        }
        if let Some(recent) = self.recent.get_mut(place) {
            *recent = handle.0;
        }
        handle
    }

    /// Returns the handle of the stack that results from appending `callers` to a stack. If there
    /// are no callers, the stack is marked as whole.
    pub(super) fn with_callers(
        &mut self,
        stack: StackHandle,
        callers: &[u64],
        ticks: u64,
    ) -> StackHandle {
        let Some(process) = self.process(stack) else { return stack };
        let addresses = self.addresses(stack).iter().chain(callers);
        let bytes: Vec<u8> = addresses.flat_map(|address| address.to_le_bytes()).collect();
        self.look_up(process, Stack::new(&bytes, 8), (false, true), ticks)
    }

    /// Returns whether a stack of 100 frames or more is known to have all its callers.
    pub(crate) fn is_repaired(&self, stack: StackHandle) -> bool {
        self.rows.get(stack.index()).is_some_and(|row| row.is_repaired)
    }

    /// Returns a new handle for the addresses of a stack. Looking up the stack does not find it.
    pub(super) fn share(&mut self, stack: StackHandle) -> StackHandle {
        let handle = StackHandle::next(self.rows.len());
        let Some(&row) = self.rows.get(stack.index()) else { return stack };
        let (is_again, is_of_task) = (true, false);
        let row = StoredStack { is_again, is_of_task, sampled: [0, 0], next: NONE, ..row };
        self.rows.push(row);
        handle
    }

    #[inline(never)]
    fn look_up(
        &mut self,
        process: ProcessHandle,
        stack: Stack<'_>,
        (is_cut, is_repaired): (bool, bool),
        ticks: u64,
    ) -> StackHandle {
        let mut hasher = self.hashes.build_hasher();
        hasher.write_u64(u64::from(process.0));
        stack.addresses().for_each(|address| hasher.write_u64(address));
        let hash = hasher.finish();
        let mut row = self.newest.get(&hash).copied().unwrap_or(NONE);
        while let Some(found) = self.rows.get(row as usize) {
            let is_like = found.process == process
                && found.is_cut == is_cut
                && found.is_repaired == is_repaired;
            if is_like && is_same(self.addresses_of(found), stack) {
                if found.reuses_seen == self.reuses.count() || self.pass_reuses(row) {
                    return StackHandle(row);
                }
                return self.add_again(hash, row, ticks);
            }
            row = found.next;
        }
        self.add(hash, process, stack, (is_cut, is_repaired), ticks)
    }

    #[cold]
    fn add(
        &mut self,
        hash: u64,
        process: ProcessHandle,
        stack: Stack<'_>,
        (is_cut, is_repaired): (bool, bool),
        ticks: u64,
    ) -> StackHandle {
        let at = self.addresses.len();
        self.addresses.extend(stack.addresses());
        let count = u32::try_from(stack.len()).unwrap_or(u32::MAX);
        self.put(
            hash,
            StoredStack {
                process,
                at,
                count,
                since: ticks,
                is_cut,
                is_repaired,
                is_again: false,
                is_of_task: false,
                reuses_seen: 0,
                next: 0,
                sampled: [0, 0],
            },
        )
    }

    /// Adds a stack that has the same addresses as `row`, some of which have a new meaning.
    #[cold]
    fn add_again(&mut self, hash: u64, row: u32, ticks: u64) -> StackHandle {
        let Some(&row) = self.rows.get(row as usize) else { return StackHandle(NONE) };
        let (is_again, is_of_task) = (true, false);
        self.put(hash, StoredStack { since: ticks, is_again, is_of_task, sampled: [0, 0], ..row })
    }

    fn put(&mut self, hash: u64, row: StoredStack) -> StackHandle {
        let handle = StackHandle::next(self.rows.len());
        let next = self.newest.insert(hash, handle.0).unwrap_or(NONE);
        self.rows.push(StoredStack { reuses_seen: self.reuses.count(), next, ..row });
        handle
    }

    /// Returns whether a row keeps its meaning after those reuses for which it was not checked yet.
    #[cold]
    fn pass_reuses(&mut self, row: u32) -> bool {
        let Some(found) = self.rows.get(row as usize) else { return false };
        let touched =
            |address: &u64| self.reuses.is_new_since(found.process, *address, found.reuses_seen);
        let is_same = !self.addresses_of(found).iter().any(touched);
        let seen = self.reuses.count();
        if is_same && let Some(found) = self.rows.get_mut(row as usize) {
            found.reuses_seen = seen;
        }
        is_same
    }

    /// Records that memory of a process has a new meaning from now on.
    pub(crate) fn reuse(&mut self, process: ProcessHandle, start: u64, size: u64) {
        // A return address may lie one byte after the code of its call.
        self.reuses.add(process, start, start.saturating_add(size.max(1)));
    }

    /// Returns the number of recorded reuses of memory.
    pub(crate) fn reuses(&self) -> usize {
        self.reuses.count()
    }

    fn addresses_of(&self, row: &StoredStack) -> &[u64] {
        let end = row.at.saturating_add(row.count as usize);
        self.addresses.get(row.at..end).unwrap_or_default()
    }

    /// Returns the number of distinct stacks.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns all handles, in the order of first use.
    pub(crate) fn handles(&self) -> impl ExactSizeIterator<Item = StackHandle> + use<> {
        (0..u32::try_from(self.rows.len()).unwrap_or(u32::MAX)).map(StackHandle)
    }

    /// Returns the addresses of a stack, innermost first. The first one is the thread's current
    /// instruction; all further ones are return addresses.
    pub(crate) fn addresses(&self, stack: StackHandle) -> &[u64] {
        self.rows.get(stack.index()).map_or(&[], |row| self.addresses_of(row))
    }

    /// Returns whether the last address of a stack represents all outer frames, because the stack
    /// has more frames than are kept.
    pub(crate) fn is_cut(&self, stack: StackHandle) -> bool {
        self.rows.get(stack.index()).is_some_and(|row| row.is_cut)
    }

    /// Returns the place of a stack's addresses if an older stack shares them; the two may differ
    /// in the meaning of some addresses.
    pub(crate) fn shared_place(&self, stack: StackHandle) -> Option<usize> {
        self.rows.get(stack.index()).filter(|row| row.is_again).map(|row| row.at)
    }

    /// Counts a sample of the runtime's sampler, by what the sampler says of the thread.
    #[inline]
    pub(super) fn count_sample(&mut self, stack: StackHandle, mode: Mode) {
        let state = match mode {
            Mode::Managed => 0,
            Mode::External => 1,
            _ => return,
        };
        let row = self.rows.get_mut(stack.index()).and_then(|row| row.sampled.get_mut(state));
        if let Some(count) = row {
            *count = count.saturating_add(1);
        }
    }

    /// Returns how many samples of a stack say "managed", and how many say "external".
    pub(super) fn sampled(&self, stack: StackHandle) -> [u32; 2] {
        self.rows.get(stack.index()).map_or([0, 0], |row| row.sampled)
    }

    /// Returns the process of a stack.
    pub(crate) fn process(&self, stack: StackHandle) -> Option<ProcessHandle> {
        self.rows.get(stack.index()).map(|row| row.process)
    }

    /// Returns the time of a stack's first use, in ticks.
    pub(crate) fn since_ticks(&self, stack: StackHandle) -> u64 {
        self.rows.get(stack.index()).map_or(0, |row| row.since)
    }
}

/// Returns the address of a frame's call. A return address may be the first address after its
/// method, because the call may be the last instruction.
pub(super) fn call_address(address: u64, is_leaf: bool) -> u64 {
    if is_leaf { address } else { address.saturating_sub(1) }
}

/// Returns a stack of the innermost [`MAX_FRAMES`] frames, and whether there are more frames.
fn cut(stack: Stack<'_>) -> (Stack<'_>, bool) {
    let frames = stack.len();
    let bytes = stack.bytes();
    if frames <= MAX_FRAMES {
        return (stack, false);
    }
    // The quotient is exact, because less than one address may be left over at the end.
    let pointer_size = if bytes.len() / 8 >= frames { 8 } else { 4 };
    let kept = bytes.get(..MAX_FRAMES.saturating_mul(pointer_size)).unwrap_or(bytes);
    (Stack::new(kept, if pointer_size == 8 { 8 } else { 4 }), true)
}

#[inline]
fn is_same(known: &[u64], stack: Stack<'_>) -> bool {
    match (bytes::as_words(known), stack.as_words()) {
        (Some(known), Some(words)) => known == words,
        _ => known.iter().copied().eq(stack.addresses()),
    }
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
            stacks
                .intern(process, u32::try_from(bytes.len()).unwrap(), Stack::new(bytes, 8), ticks)
                .index()
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

    #[test]
    fn of_a_stack_of_very_many_frames_the_innermost_are_kept() {
        let mut stacks = Stacks::default();
        for (pointer_size, width) in [(8u8, 8usize), (4, 4)] {
            let of = |count: u64, stacks: &mut Stacks| {
                let bytes: Vec<u8> =
                    (0..count).flat_map(|at| at.to_le_bytes()[..width].to_vec()).collect();
                stacks.intern(
                    ProcessHandle(u32::from(pointer_size)),
                    1,
                    Stack::new(&bytes, pointer_size),
                    1,
                )
            };
            let most = MAX_FRAMES as u64;
            let (whole, cut, longer) =
                (of(most, &mut stacks), of(most + 1, &mut stacks), of(100_000, &mut stacks));
            assert!(whole != cut && cut == longer);
            assert_eq!((stacks.is_cut(whole), stacks.is_cut(cut)), (false, true));
            assert!(stacks.addresses(cut).iter().copied().eq(0..most));
        }
    }

    #[test]
    fn a_stack_that_means_something_new_again_and_again_takes_little_room() {
        let mut stacks = Stacks::default();
        let deep = bytes(&(0..2000).collect::<Vec<u64>>());
        for ticks in 0..2000 {
            stacks.reuse(ProcessHandle(0), 1000, 10);
            stacks.intern(ProcessHandle(0), 1, Stack::new(&deep, 8), ticks);
        }
        assert_eq!((stacks.len(), stacks.addresses.len()), (2000, 2000));
        assert_eq!(stacks.shared_place(StackHandle(0)), None);
        assert_eq!(stacks.shared_place(StackHandle(1999)), Some(0));
    }
}
