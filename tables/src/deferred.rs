//! Values that depend on names of frames, which are complete only at the end of the trace. Until
//! then a row has a number by which its value is looked up.

use crate::batch::Batch;
use crate::column::Deferred;
use nettrace_analysis::model::StackHandle;
use nettrace_analysis::{Mode, Resolved, ThreadState};

/// Modes in which the sampler finds a thread. The thread's state follows from mode and stack.
const MODES: [Mode; 5] = [Mode::Managed, Mode::External, Mode::Blocked, Mode::OnCpu, Mode::Unknown];
/// Number of bits of a number that hold the place of a mode in [`MODES`].
const MODE_BITS: u32 = 8;

/// Returns the number of a stack, or -1 for none.
pub(crate) fn stack_number(stack: Option<StackHandle>) -> i64 {
    stack.and_then(|stack| i64::try_from(stack.index()).ok()).unwrap_or(-1)
}

/// Returns the number of a sampled thread's state.
pub(crate) fn state_number(stack: StackHandle, mode: Mode) -> i64 {
    let mode = MODES.iter().position(|known| *known == mode).unwrap_or(MODES.len());
    // Stack and mode share a number, because each column of numbers has one number a row.
    stack_number(Some(stack)) << MODE_BITS | i64::try_from(mode).unwrap_or(0)
}

/// The stacks of a trace that has been read.
#[derive(Default)]
pub(crate) struct ResolvedStacks {
    /// Ids by the stack's handle; `None` for stacks without frames.
    ids: Vec<Option<i64>>,
    /// States by the stack's handle, for each of [`MODES`].
    states: Vec<[ThreadState; MODES.len()]>,
}

impl ResolvedStacks {
    pub(crate) fn new(ids: Vec<Option<i64>>, resolved: &Resolved<'_>) -> ResolvedStacks {
        let states = |stack| MODES.map(|mode| resolved.state(stack, mode));
        ResolvedStacks { ids, states: resolved.model().stacks().map(states).collect() }
    }

    /// Adds the value that `number` stands for to a batch: a stack's id or a thread's state.
    pub(crate) fn add(&self, batch: &mut Batch, deferred: Deferred, number: i64) {
        match deferred {
            Deferred::StackId => batch.add_whole(self.id(number)),
            Deferred::State => {
                let state = self.state(number);
                batch.add_named(state as usize, state.name());
            }
        }
    }

    fn id(&self, number: i64) -> Option<i64> {
        self.ids.get(usize::try_from(number).ok()?).copied()?
    }

    fn state(&self, number: i64) -> ThreadState {
        let stack = usize::try_from(number >> MODE_BITS).ok();
        let mode = usize::try_from(number & ((1 << MODE_BITS) - 1)).ok();
        let states = stack.and_then(|stack| self.states.get(stack));
        let state = states.zip(mode).and_then(|(states, mode)| states.get(mode));
        state.copied().unwrap_or(ThreadState::Native)
    }
}
