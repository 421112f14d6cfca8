//! Values that depend on names of frames, which are complete only at the end of the trace. Until
//! then a row has a key, which is one or more numbers, by which its value is looked up.

use crate::batch::Batch;
use crate::column::Deferred;
use nettrace_analysis::model::{PartKind, SampleDivider, SampleTimes, StackHandle, TimePart};
use nettrace_analysis::{Kind, Mode, Resolved, Sample, ThreadState};
use std::collections::HashMap;
use std::sync::Arc;

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
    // Stack and mode share a number, because most keys are one.
    stack_number(Some(stack)) << MODE_BITS | i64::try_from(mode).unwrap_or(0)
}

/// Returns the key for what a thread ran during a sample, given the thread's OS id.
pub(crate) fn ran_key(sample: &Sample, thread: Option<u64>) -> [i64; 4] {
    // Only samples of threads that the runtime stopped are divided.
    let weight = match sample.kind {
        Kind::Cpu => i64::try_from(sample.weight).unwrap_or(i64::MAX),
        _ => -1,
    };
    let thread = thread.map_or(-1, u64::cast_signed);
    [sample.nanos, weight, state_number(sample.stack, sample.mode), thread]
}

/// Ids and states for all stacks of a trace that has been read completely.
#[derive(Default)]
pub(crate) struct ResolvedStacks {
    /// Id of each stack, by its handle; `None` for a stack without frames.
    ids: Vec<Option<i64>>,
    /// State of a thread with each stack, by the stack's handle and the index of the mode in
    /// [`MODES`].
    states: Vec<[ThreadState; MODES.len()]>,
    /// All stacks, by their handles.
    stacks: Vec<StackHandle>,
    /// How readings divide the time of samples; `None` without readings.
    times: Option<Arc<SampleTimes>>,
}

impl ResolvedStacks {
    pub(crate) fn new(
        ids: Vec<Option<i64>>,
        resolved: &Resolved<'_>,
        times: Option<Arc<SampleTimes>>,
    ) -> ResolvedStacks {
        let states = |stack| MODES.map(|mode| resolved.state(stack, mode));
        let stacks: Vec<StackHandle> = resolved.model().stacks().collect();
        let states = stacks.iter().copied().map(states).collect();
        ResolvedStacks { ids, states, stacks, times }
    }

    fn id(&self, number: i64) -> Option<i64> {
        self.ids.get(usize::try_from(number).ok()?).copied()?
    }

    fn state(&self, number: i64) -> ThreadState {
        let (stack, mode) = stack_and_mode(number);
        let states = stack.and_then(|stack| self.states.get(stack));
        let state = states.zip(mode).and_then(|(states, mode)| states.get(mode));
        state.copied().unwrap_or(ThreadState::Native)
    }
}

/// Returns the index of the stack, and the index of the mode in [`MODES`], that the key of a state
/// contains.
fn stack_and_mode(number: i64) -> (Option<usize>, Option<usize>) {
    let stack = usize::try_from(number >> MODE_BITS).ok();
    (stack, usize::try_from(number & ((1 << MODE_BITS) - 1)).ok())
}

/// Looks up the values of one column, row by row.
pub(crate) struct Lookup<'s> {
    stacks: &'s ResolvedStacks,
    /// What divides the samples of each thread, by the thread's number in keys.
    dividers: HashMap<i64, SampleDivider<'s>>,
    parts: Vec<TimePart>,
}

impl<'s> Lookup<'s> {
    pub(crate) fn new(stacks: &'s ResolvedStacks) -> Lookup<'s> {
        Lookup { stacks, dividers: HashMap::new(), parts: Vec::new() }
    }

    /// Looks up the value for the key of the next row, and adds it to a batch.
    pub(crate) fn add(&mut self, batch: &mut Batch, deferred: Deferred, key: &[i64]) {
        let number = key.first().copied().unwrap_or(-1);
        match deferred {
            Deferred::StackId => batch.add_whole(self.stacks.id(number)),
            Deferred::State => {
                let state = self.stacks.state(number);
                batch.add_named(state as usize, state.name());
            }
            Deferred::RanTime => {
                let ran = self.ran(key).map(|(ran_ns, _)| ran_ns);
                batch.add_whole(ran.map(|ran_ns| i64::try_from(ran_ns).unwrap_or(i64::MAX)));
            }
            Deferred::IsRanEstimated => {
                let ran = self.ran(key);
                batch.add_flag(ran.map(|(_, is_estimated)| is_estimated));
            }
        }
    }

    /// Returns what a thread ran during a sample, in nanoseconds, and whether that is estimated;
    /// `None` if no readings tell.
    fn ran(&mut self, key: &[i64]) -> Option<(u64, bool)> {
        let &[nanos, weight, state, thread] = key else { return None };
        let (times, weight) = (self.stacks.times.as_deref()?, u64::try_from(weight).ok()?);
        let (stack, mode) = stack_and_mode(state);
        let stack = *self.stacks.stacks.get(stack?)?;
        let mode = mode.and_then(|mode| MODES.get(mode)).copied().unwrap_or(Mode::Unknown);
        let id = (thread != -1).then(|| thread.cast_unsigned());
        let divider = self.dividers.entry(thread).or_insert_with(|| times.divider(id));
        self.parts.clear();
        divider.divide((stack, mode), nanos, weight, &mut self.parts);
        let known = self.parts.iter().filter(|part| part.kind != PartKind::Unknown);
        let ran = known.clone().filter(|part| part.kind == PartKind::Ran);
        let ran_ns = ran.map(|part| part.nanos).fold(0, u64::saturating_add);
        let is_estimated = known.clone().any(|part| !part.is_measured);
        (known.count() > 0).then_some((ran_ns, is_estimated))
    }
}
