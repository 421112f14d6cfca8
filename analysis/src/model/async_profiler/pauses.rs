//! When dispatchers were suspended, which is known at the end.

use super::reading::{AsyncReading, AsyncThread, KeepAsync};
use super::stack_list::NO_STACK;
use crate::hash::HashMap;
use nettrace_parser::Event;

/// Maximum number of times at which dispatchers are suspended or resumed, which take 56 bytes each.
const MAX_EDGES: usize = 1 << 19;

/// Times in which async code was suspended, by what the async profiler says.
#[derive(Debug, Default)]
pub(crate) struct AsyncPauses {
    pub(super) reading: AsyncReading<KeptEdges>,
}

/// Time in which a chain of async calls was suspended, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AsyncPause {
    pub(crate) process: Option<u64>,
    /// Threads that left the chain and that resumed it.
    pub(crate) os_threads: (u64, u64),
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// Number of the stack that was resumed; its innermost method had awaited.
    pub(crate) stack: usize,
    /// Whether the chain is one of tasks, which write events of their awaits, too.
    pub(crate) is_of_task: bool,
}

/// What is known at the end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct AsyncPausesFound {
    pub(crate) pauses: Vec<AsyncPause>,
    /// Number of chains of calls that went on, and of which the trace has no begin: the buffer of the
    /// thread that made them did not come.
    pub(crate) chains_without_begin: u64,
    /// Number of what found no room.
    pub(crate) left_out: u64,
}

/// Time at which something happens to a dispatcher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PauseEdge {
    process: Option<u64>,
    dispatcher: u64,
    ticks: u64,
    what: EdgeOf,
    /// Thread that did it.
    os_thread: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EdgeOf {
    /// It is made, with the stack that it will go on with, if that was told.
    Created(Option<u32>),
    /// It is suspended, with the stack that it will go on with, if that was told.
    Suspended(Option<u32>),
    /// It goes on with a stack.
    Resumed { stack: u32, is_of_task: bool },
}

#[derive(Debug, Default)]
pub(super) struct KeptEdges {
    edges: Vec<PauseEdge>,
    /// Place of the edge at which each thread made a dispatcher last.
    made: HashMap<AsyncThread, usize>,
    left_out: u64,
}

impl KeptEdges {
    fn add(&mut self, thread: AsyncThread, dispatcher: u64, ticks: u64, what: EdgeOf) {
        let AsyncThread { process, os_thread, .. } = thread;
        if self.edges.len() < MAX_EDGES {
            self.edges.push(PauseEdge { process, dispatcher, ticks, what, os_thread });
        } else {
            self.left_out = self.left_out.saturating_add(1);
        }
    }
}

impl KeepAsync for KeptEdges {
    fn created(&mut self, thread: AsyncThread, dispatcher: u64, ticks: u64) {
        self.made.insert(thread, self.edges.len());
        self.add(thread, dispatcher, ticks, EdgeOf::Created(None));
    }

    fn will_run(&mut self, thread: AsyncThread, dispatcher: u64, stack: u32) {
        let made = self.made.get(&thread).and_then(|place| self.edges.get_mut(*place));
        if let Some(made) = made.filter(|made| made.dispatcher == dispatcher && stack != NO_STACK) {
            made.what = EdgeOf::Created(Some(stack));
        }
    }

    fn suspended(&mut self, thread: AsyncThread, dispatcher: u64, stack: Option<u32>, ticks: u64) {
        self.add(thread, dispatcher, ticks, EdgeOf::Suspended(stack));
    }

    fn resumed(
        &mut self,
        thread: AsyncThread,
        dispatcher: u64,
        (stack, is_of_task): (u32, bool),
        ticks: u64,
    ) {
        self.add(thread, dispatcher, ticks, EdgeOf::Resumed { stack, is_of_task });
    }

    fn completed(&mut self, _: AsyncThread, _: u64, _: u64) {}

    fn goes_on(&mut self, _: AsyncThread, _: Option<(u64, u32)>, _: u64) {}
}

impl AsyncPauses {
    /// Takes a buffer of the async profiler.
    pub(crate) fn event(&mut self, event: &Event<'_>) {
        self.reading.event(event);
    }

    /// Returns the addresses of the stacks from a number on, innermost first.
    pub(crate) fn stacks_from(&self, number: usize) -> impl Iterator<Item = &[u64]> {
        self.reading.stacks.stacks.iter().skip(number).map(|stack| &**stack)
    }

    /// Returns the pauses that have ended. They are known at the end, as buffers of several threads come in
    /// any order.
    pub(crate) fn finish(mut self) -> AsyncPausesFound {
        let mut edges = std::mem::take(&mut self.reading.kept.edges);
        // What a thread does at one time stays in its order.
        edges.sort_by_key(|edge| (edge.process, edge.dispatcher, edge.ticks, edge.os_thread));
        let (lost, stacks) = (LostChains::find(&edges), &self.reading.stacks);
        let pauses = edges.windows(2).filter_map(|pair| {
            let [one, other] = pair else { return None };
            let is_same = (one.process, one.dispatcher) == (other.process, other.dispatcher);
            let EdgeOf::Resumed { stack, is_of_task } = other.what else { return None };
            let is_pause = is_same
                && match one.what {
                    // If it goes on elsewhere, it has done so meanwhile on a thread whose buffer did not
                    // come.
                    EdgeOf::Created(Some(told)) | EdgeOf::Suspended(Some(told)) => {
                        is_same_code(stacks.addresses(told), stacks.addresses(stack))
                    }
                    EdgeOf::Created(None) => true,
                    EdgeOf::Suspended(None) => !lost.may_hide(one, other),
                    EdgeOf::Resumed { .. } => false,
                };
            let stack = usize::try_from(stack).ok().filter(|_| is_pause && stack != NO_STACK)?;
            Some(AsyncPause {
                process: one.process,
                os_threads: (one.os_thread, other.os_thread),
                from: one.ticks,
                to: other.ticks,
                stack,
                is_of_task,
            })
        });
        let left_out = [
            self.reading.kept.left_out,
            self.reading.stacks.left_out,
            self.reading.buffers_left_out,
        ];
        AsyncPausesFound {
            pauses: pauses.collect(),
            chains_without_begin: lost.chains,
            left_out: left_out.into_iter().fold(0, u64::saturating_add),
        }
    }
}

/// Returns whether two stacks of a dispatcher are at the same place. One of them lacks the callers of what
/// made it if they were told later.
fn is_same_code(one: &[u64], other: &[u64]) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

/// Chains of calls whose begin is in no buffer that came.
#[derive(Debug, Default)]
struct LostChains {
    chains: u64,
    /// Times in which threads made them whose buffers did not come, by process, in order. They do not
    /// overlap.
    holes: HashMap<Option<u64>, Vec<(u64, u64)>>,
}

impl LostChains {
    /// Finds the lost chains among edges in order. Ids of dispatchers count up. One below the first that is
    /// made in the trace was made before it. Any other was made between its neighbours by id, and before
    /// it was resumed.
    fn find(edges: &[PauseEdge]) -> LostChains {
        let mut lost = LostChains::default();
        for of_process in edges.chunk_by(|one, other| one.process == other.process) {
            let mut holes: Vec<(u64, u64)> = Vec::new();
            let (mut last_made, mut since_made) = (None, 0);
            for of_dispatcher in
                of_process.chunk_by(|one, other| one.dispatcher == other.dispatcher)
            {
                let made =
                    of_dispatcher.iter().find(|edge| matches!(edge.what, EdgeOf::Created(_)));
                if let Some(made) = made {
                    for (_, to) in holes.iter_mut().skip(since_made) {
                        *to = made.ticks.min(*to);
                    }
                    (last_made, since_made) = (Some(made.ticks), holes.len());
                } else if let Some((from, first)) = last_made.zip(of_dispatcher.first()) {
                    holes.push((from, first.ticks));
                }
            }
            let process = of_process.first().and_then(|edge| edge.process);
            lost.chains = lost.chains.saturating_add(holes.len() as u64);
            lost.holes.insert(process, joined(holes));
        }
        lost
    }

    /// Returns whether the buffer of a thread may be missing that did something between two edges.
    fn may_hide(&self, one: &PauseEdge, other: &PauseEdge) -> bool {
        let holes = self.holes.get(&one.process).map_or(&[][..], Vec::as_slice);
        let first = holes.partition_point(|(_, to)| *to <= one.ticks);
        holes.get(first).is_some_and(|(from, _)| *from < other.ticks)
    }
}

/// Puts times in order, and joins those that overlap.
fn joined(mut times: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    times.sort_unstable();
    let mut all: Vec<(u64, u64)> = Vec::new();
    for (from, to) in times.into_iter().filter(|(from, to)| from < to) {
        match all.last_mut() {
            Some((_, last)) if from <= *last => *last = to.max(*last),
            _ => all.push((from, to)),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::step::{AsyncStep, HiddenFrames, StackMoment};
    use super::*;

    fn stack(of: StackMoment, dispatcher: u64, address: u64) -> AsyncStep {
        AsyncStep::Stack {
            dispatcher,
            of,
            is_of_task: false,
            addresses: vec![address],
            hidden: HiddenFrames::default(),
        }
    }

    fn found(steps: impl IntoIterator<Item = (u64, u64, AsyncStep)>) -> AsyncPausesFound {
        let mut pauses = AsyncPauses::default();
        for (thread, ticks, step) in steps {
            let thread = pauses.reading.thread(None, thread).unwrap();
            pauses.reading.step(thread, ticks, step);
        }
        pauses.finish()
    }

    fn times(found: &AsyncPausesFound) -> Vec<(u64, u64)> {
        found.pauses.iter().map(|pause| (pause.from, pause.to)).collect()
    }

    #[test]
    fn a_pause_ends_when_its_dispatcher_goes_on_though_another_thread_tells_it_first() {
        // The second thread's buffer comes first.
        let found = found([
            (2, 50, AsyncStep::Resumed(7)),
            (2, 51, stack(StackMoment::Resumed, 7, 0x40)),
            (2, 60, AsyncStep::Left { is_over: true }),
            (1, 10, AsyncStep::Created { parent: 0, dispatcher: 7 }),
            (1, 20, AsyncStep::Resumed(7)),
            (1, 21, stack(StackMoment::Resumed, 7, 0x40)),
            (1, 30, AsyncStep::Left { is_over: false }),
            (1, 90, AsyncStep::Created { parent: 0, dispatcher: 8 }),
        ]);
        assert_eq!(times(&found), [(10, 21), (30, 51)]);
        assert_eq!((found.chains_without_begin, found.left_out), (0, 0));
    }

    #[test]
    fn a_pause_in_which_a_thread_without_a_buffer_may_have_gone_on_is_left_out() {
        let turn = |ticks, dispatcher, suspends_at, resumes_at| {
            [
                (1, ticks, AsyncStep::Resumed(dispatcher)),
                (1, ticks, stack(StackMoment::Resumed, dispatcher, resumes_at)),
                (1, ticks + 1, stack(StackMoment::Suspended, dispatcher, suspends_at)),
                (1, ticks + 1, AsyncStep::Left { is_over: false }),
            ]
        };
        let made = |ticks, dispatcher| {
            [(1, ticks, AsyncStep::Created { parent: 0, dispatcher })].into_iter()
        };
        // It goes on elsewhere than where it was suspended: another turn is between.
        let other = made(5, 1).chain(turn(10, 1, 0x40, 0x50)).chain(turn(20, 1, 0x60, 0x50));
        assert_eq!(times(&found(other)), [(5, 10)]);
        // Without stacks, turns are known up to the first dispatcher that a lost buffer made.
        let plain = |ticks| {
            let resumed = stack(StackMoment::Resumed, 1, 0x40);
            let left = AsyncStep::Left { is_over: false };
            let steps = [AsyncStep::Resumed(1), resumed, left];
            (ticks..).zip(steps).map(|(ticks, step)| (1, ticks, step))
        };
        let known = made(5, 1).chain(plain(10)).chain(plain(20)).chain(made(25, 2));
        let lost = known.chain(plain(30)).chain(turn(40, 3, 0x40, 0x40)).chain(plain(50));
        let found = found(lost);
        assert_eq!(times(&found), [(5, 11), (12, 21)], "another was made between 25 and 40");
        assert_eq!(found.chains_without_begin, 1);
    }

    #[test]
    fn what_a_thread_does_in_one_tick_stays_in_its_order() {
        let turn = |ticks| {
            let resumed = stack(StackMoment::Resumed, 7, 0x40);
            let left = AsyncStep::Left { is_over: false };
            [AsyncStep::Resumed(7), resumed, left].map(|step| (1, ticks, step))
        };
        let made = (1, 10, AsyncStep::Created { parent: 0, dispatcher: 7 });
        let found = found([made].into_iter().chain(turn(20)).chain(turn(30)));
        assert_eq!(times(&found), [(10, 20), (20, 30)]);
    }

    #[test]
    fn a_dispatcher_that_goes_on_elsewhere_than_it_was_made_for_has_run_meanwhile() {
        let resumed_at = |address| {
            found([
                (1, 5, AsyncStep::Created { parent: 0, dispatcher: 1 }),
                (1, 5, stack(StackMoment::Created, 1, 0x40)),
                (1, 9, AsyncStep::Resumed(1)),
                (1, 9, stack(StackMoment::Resumed, 1, address)),
            ])
        };
        assert_eq!(times(&resumed_at(0x40)), [(5, 9)]);
        assert_eq!(times(&resumed_at(0x50)), []);
    }

    #[test]
    fn edges_that_find_no_room_are_counted() {
        let created = |dispatcher| (1, dispatcher, AsyncStep::Created { parent: 0, dispatcher });
        let found = found((0..MAX_EDGES as u64 + 3).map(created));
        assert_eq!((found.pauses.len(), found.left_out), (0, 3));
    }
}
