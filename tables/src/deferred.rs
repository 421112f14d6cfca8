//! Values that depend on names of frames, which are complete only at the end of the trace. Until
//! then a row has a key, which is a number, by which its value is looked up.

use crate::batch::Batch;
use crate::column::Deferred;
use nettrace_analysis::model::StackHandle;
use nettrace_analysis::{Mode, Resolved, ThreadState};

/// Modes in which the sampler finds a thread. The state of the thread follows from its mode and its
/// stack.
const MODES: [Mode; 5] = [Mode::Managed, Mode::External, Mode::Blocked, Mode::OnCpu, Mode::Unknown];
/// Number of bits in a key that hold the index of a mode in [`MODES`].
const MODE_BITS: u32 = 8;

/// Returns the key for the id of a stack, or -1 if there is no stack.
pub(crate) fn stack_number(stack: Option<StackHandle>) -> i64 {
    stack.and_then(|stack| i64::try_from(stack.index()).ok()).unwrap_or(-1)
}

/// Returns the key for the state of a sampled thread.
pub(crate) fn state_number(stack: StackHandle, mode: Mode) -> i64 {
    let mode = MODES.iter().position(|known| *known == mode).unwrap_or(MODES.len());
    // Stack and mode share a number, because each column of numbers has one number a row.
    stack_number(Some(stack)) << MODE_BITS | i64::try_from(mode).unwrap_or(0)
}

/// Ids and states for all stacks of a trace that has been read completely.
#[derive(Default)]
pub(crate) struct ResolvedStacks {
    /// Id of each stack, by its handle; `None` for a stack without frames.
    ids: Vec<Option<i64>>,
    /// State of a thread with each stack, by the stack's handle and the index of the mode in
    /// [`MODES`].
    states: Vec<[ThreadState; MODES.len()]>,
}

impl ResolvedStacks {
    pub(crate) fn new(ids: Vec<Option<i64>>, resolved: &Resolved<'_>) -> ResolvedStacks {
        let states = |stack| MODES.map(|mode| resolved.state(stack, mode));
        ResolvedStacks { ids, states: resolved.model().stacks().map(states).collect() }
    }

    /// Looks up the value for the key `number`, which is a stack's id or a thread's state, and adds
    /// it to a batch.
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
