//! Repair of stacks that have lost their callers.
//!
//! The runtime keeps the innermost 100 frames of a stack. The outer part of a stack does not change
//! while a thread calls deeper and returns. So the outermost frames of a cut stack are looked for
//! in the thread's previous stack: the frames that follow there are the lost callers. At least 32
//! frames must match, at one place only, because a method that calls itself has one return address
//! many times.

use super::handle::{StackHandle, ThreadHandle};
use super::names::RUNTIME_FRAMES;
use super::stacks::Stacks;
use crate::hash::HashMap;

/// What to do with stacks that have lost their callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
#[non_exhaustive]
pub enum CutStacks {
    /// Takes the callers from the thread's previous stack if they are certain, and marks other
    /// stacks.
    #[default]
    Repair,
    /// Marks the stacks: puts a frame `(callers cut off at 100 frames)` in the place of the
    /// callers.
    Mark,
    /// Leaves the stacks as they are.
    Keep,
}

/// Minimum number of a cut stack's outermost frames that the thread's previous stack must contain
/// for a repair.
const MIN_EQUAL_FRAMES: usize = 32;

/// Maximum number of frames of a repaired stack.
const MAX_REPAIRED_FRAMES: usize = 4096;

/// Repairs cut stacks. Memory is bounded by the number of threads and of distinct stacks.
#[derive(Debug, Clone, Default)]
pub(super) struct Repairs {
    pub(super) how: CutStacks,
    /// Latest stack of each thread: first of CPU samples, then of other events. They are kept
    /// separately, so that samples do not depend on which other events are read.
    latest: [Vec<Option<StackHandle>>; 2],
    /// Repaired stack, by the cut stack and the thread's previous stack.
    known: HashMap<(u32, u32), StackHandle>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StackOf {
    Sample,
    Event,
}

impl Repairs {
    /// Remembers the latest stack of a thread, which may complete the next one.
    #[inline]
    pub(super) fn whole(&mut self, of: StackOf, thread: ThreadHandle, stack: StackHandle) {
        if self.how == CutStacks::Repair
            && let Some(latest) = self.latest_of(of, thread)
        {
            *latest = Some(stack);
        }
    }

    #[inline]
    fn latest_of(&mut self, of: StackOf, thread: ThreadHandle) -> Option<&mut Option<StackHandle>> {
        let [samples, events] = &mut self.latest;
        let latest = if of == StackOf::Sample { samples } else { events };
        let index = thread.index();
        if latest.len() <= index {
            latest.resize(index.saturating_add(1), None);
        }
        latest.get_mut(index)
    }

    /// Returns the stack completed by its lost callers, if these are certain; otherwise returns
    /// `stack`.
    #[inline(always)]
    pub(super) fn with_callers(
        &mut self,
        stacks: &mut Stacks,
        (of, thread): (StackOf, ThreadHandle),
        stack: StackHandle,
        frames: usize,
        ticks: u64,
    ) -> StackHandle {
        if self.how != CutStacks::Repair || frames == 0 {
            return stack;
        }
        let before = self.latest_of(of, thread).and_then(|latest| *latest);
        let stack = match before.filter(|_| frames == RUNTIME_FRAMES) {
            Some(before) => self.repair(stacks, stack, before, ticks),
            None => stack,
        };
        self.whole(of, thread, stack);
        stack
    }

    #[cold]
    fn repair(
        &mut self,
        stacks: &mut Stacks,
        stack: StackHandle,
        before: StackHandle,
        ticks: u64,
    ) -> StackHandle {
        let key = (stack.0, before.0);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let is_whole =
            |stack| stacks.is_repaired(stack) || stacks.addresses(stack).len() != RUNTIME_FRAMES;
        let callers = callers(stacks.addresses(stack), stacks.addresses(before))
            .filter(|_| is_whole(before) && stacks.process(before) == stacks.process(stack));
        let repaired = match callers.map(<[u64]>::to_vec) {
            Some(callers) => stacks.with_callers(stack, &callers, ticks),
            None => stack,
        };
        self.known.insert(key, repaired);
        repaired
    }
}

/// Returns the callers of a cut stack if its outermost frames occur exactly once in the previous
/// stack. There are no callers if the stack turns out to be whole.
fn callers<'a>(cut: &[u64], before: &'a [u64]) -> Option<&'a [u64]> {
    let outermost = cut.get(cut.len().checked_sub(MIN_EQUAL_FRAMES)?..)?;
    let mut places = before.windows(MIN_EQUAL_FRAMES).enumerate();
    let mut places = places.by_ref().filter(|(_, frames)| *frames == outermost);
    let (place, _) = places.next()?;
    if places.next().is_some() {
        return None;
    }
    let callers = before.get(place.saturating_add(MIN_EQUAL_FRAMES)..)?;
    (cut.len().saturating_add(callers.len()) <= MAX_REPAIRED_FRAMES).then_some(callers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::handle::ProcessHandle;
    use nettrace_parser::Stack;

    fn stack(stacks: &mut Stacks, addresses: &[u64]) -> StackHandle {
        let bytes: Vec<u8> = addresses.iter().flat_map(|address| address.to_le_bytes()).collect();
        stacks.intern(ProcessHandle(0), 1, Stack::new(&bytes, 8), 0)
    }

    /// Returns the stacks of one thread after repair, in the order of time. Stacks have their
    /// innermost frame first.
    fn repaired(how: CutStacks, rows: &[Vec<u64>]) -> Vec<Vec<u64>> {
        let (mut stacks, mut repairs) = (Stacks::default(), Repairs { how, ..Repairs::default() });
        let of = |row: &Vec<u64>| {
            let handle = stack(&mut stacks, row);
            let of = (StackOf::Sample, ThreadHandle(0));
            let handle = repairs.with_callers(&mut stacks, of, handle, row.len(), 0);
            stacks.addresses(handle).to_vec()
        };
        rows.iter().map(of).collect()
    }

    /// Returns the innermost 100 frames of a stack that is `depth` frames deep.
    fn deep(depth: u64) -> Vec<u64> {
        (1..=depth).rev().take(RUNTIME_FRAMES).collect()
    }

    fn whole(depth: u64) -> Vec<u64> {
        (1..=depth).rev().collect()
    }

    #[test]
    fn a_cut_stack_gets_the_callers_of_the_stack_before() {
        let rows = repaired(CutStacks::Repair, &[whole(90), deep(120), deep(150), deep(95)]);
        assert_eq!(rows, [whole(90), whole(120), whole(150), whole(95)]);
        // A stack of exactly a hundred frames has lost none.
        assert_eq!(repaired(CutStacks::Repair, &[whole(99), whole(100)])[1], whole(100));
    }

    #[test]
    fn nothing_is_repaired_that_is_not_certain() {
        // Less than 32 frames in common, or a stack before that has lost its callers itself.
        let rows = [whole(90), deep(160)];
        assert_eq!(repaired(CutStacks::Repair, &rows), rows);
        let rows = [deep(150), deep(160)];
        assert_eq!(repaired(CutStacks::Repair, &rows), rows);
        // A method that calls itself has the same frame again and again.
        let rows = [[vec![7; 60], whole(10)].concat(), vec![7; 100]];
        assert_eq!(repaired(CutStacks::Repair, &rows), rows);
        for how in [CutStacks::Mark, CutStacks::Keep] {
            let rows = [whole(90), deep(120)];
            assert_eq!(repaired(how, &rows), rows);
        }
    }
}
