//! Awaits that the async profiler of .NET 11 tells, for the report of tasks.

use super::contract::Moment;
use super::each_task::EachTask;
use super::task_waits::TaskWaits;
use crate::model::{AsyncPauses, Model, Resolved, StackHandle};
use nettrace_parser::{Clock, Event};

/// Awaits by the async profiler.
#[derive(Debug)]
pub(super) struct ProfiledAwaits {
    pauses: AsyncPauses,
    /// Handles of its stacks, by their numbers.
    stacks: Vec<StackHandle>,
    clock: Clock,
}

/// Numbers of what is not known of the awaits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UnknownAwaits {
    /// Number of what found no room.
    pub(super) left_out: u64,
    /// Number of chains of async calls that went on, and whose begin is not in the trace.
    pub(super) chains_without_begin: u64,
}

impl ProfiledAwaits {
    pub(super) fn new(clock: Clock) -> ProfiledAwaits {
        ProfiledAwaits { pauses: AsyncPauses::default(), stacks: Vec::new(), clock }
    }

    pub(super) fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) {
        self.pauses.event(event);
        for addresses in self.pauses.stacks_from(self.stacks.len()) {
            self.stacks.push(model.stack_of_addresses(event, moment.thread, addresses));
        }
    }

    /// Adds the awaits that began where and when the filter accepts it to those by tasks, unless their own
    /// events have told them.
    pub(super) fn finish(
        self,
        resolved: &Resolved<'_>,
        waits: &mut TaskWaits,
        mut each: Option<&mut EachTask>,
    ) -> UnknownAwaits {
        let found = self.pauses.finish();
        let has_awaits = waits.has_awaits();
        for pause in found.pauses.iter().filter(|pause| !(pause.is_of_task && has_awaits)) {
            let nanos = |ticks| self.clock.nanos_since_start(ticks);
            let times = nanos(pause.from).zip(nanos(pause.to));
            let Some(((from, to), stack)) = times.zip(self.stacks.get(pause.stack)) else {
                continue;
            };
            // The buffer's own time is later, and its thread may be another.
            let (begun_by, ended_by) = pause.os_threads;
            if !resolved.admits_await(pause.process, (begun_by, from), (ended_by, to)) {
                continue;
            }
            let lasted = u64::try_from(to.saturating_sub(from)).unwrap_or(0);
            waits.add(((None, *stack), false), (from, lasted), each.as_deref_mut());
        }
        UnknownAwaits { left_out: found.left_out, chains_without_begin: found.chains_without_begin }
    }
}
