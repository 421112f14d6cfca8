//! Callers of async code: who awaits it, instead of what happens to lie below it on the thread.
//!
//! A method that was suspended is resumed by whatever completed what it awaited: a timer, the
//! thread pool, or the end of another async method. Those lie below it on the thread, and are no
//! callers of it. Events of `System.Threading.Tasks.TplEventSource` tell the callers:
//!
//! | id | event | what follows |
//! |---|---|---|
//! | 14, 7, 10 | TraceOperationBegin, TaskScheduled, TaskWaitBegin | the first one that mentions a task has the stack at which its method was called |
//! | 10 | TaskWaitBegin | the method of `ContinueWithTaskID` awaits `TaskID` |
//! | 12 | AwaitTaskContinuationScheduled | `Task.Yield`, or a context: the stack of the await |
//! | 16 | TraceOperationRelation | a task of several, `TaskID`, awaits the task that is complete |
//! | 17, 18 | TraceSynchronousWorkBegin, -End | between them the thread runs the method of the task |
//! | 11, 19 to 13 | TaskWaitEnd, TaskWaitContinuationStarted to -Complete | the same, for an await; also with fewer keywords |
//! | 8, 9 | TaskStarted, TaskCompleted | between them the thread runs the task's delegate |
//!
//! At each sample, [`AsyncStacks`] knows what the thread runs and who awaits that, and gives the
//! stack a handle of its own for each such chain of callers ([`chains`]). When names are known,
//! [`joining`] cuts the stack at the innermost method that was resumed, and puts the frames of the
//! callers in the place of what lay below. Without events the cut remains: the thread's own frames
//! are no callers.
//!
//! Ids of tasks are joined while they are open, so an id that is used again is another task.

mod chains;
mod events;
mod joining;
mod logical;
mod tasks;

use super::async_profiler::AsyncRuns;
use super::handle::{ProcessHandle, StackHandle, TextHandle, ThreadHandle};
use super::stacks::Stacks;
use crate::hash::HashMap;
use chains::Chains;
pub(super) use chains::{ChainId, Link};
use events::TaskId;
pub(crate) use events::{AwaitFields, TaskStep};
pub(super) use logical::{AsyncRole, LogicalFrames};
use nettrace_parser::Stack;
use std::sync::Arc;
use tasks::{AsyncKey, AsyncTaskPlace, AsyncTasks};

/// Maximum number of nested brackets of a thread; beyond it, the outermost half is dropped.
const MAX_BRACKETS: usize = 4096;
/// Maximum number of distinct pairs of a stack and its callers. Further stacks have no callers.
const MAX_JOINED: usize = 1 << 20;

/// Reason for which a bracket was opened, which its end must match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BracketOpening {
    /// Work of a kind: 0 completes a task, 2 runs its method.
    Work(u32),
    /// The continuation of an await of this task.
    Await(TaskId),
    /// The delegate of this task.
    Delegate(TaskId),
}

/// A task that runs.
#[derive(Debug, Clone, Copy)]
struct RunningTask {
    name: Option<TextHandle>,
    callers: ChainId,
}

/// What a thread runs.
#[derive(Debug, Clone, Copy)]
struct Bracket {
    opening: BracketOpening,
    task: TaskId,
    /// What runs; `None` if the bracket completes a task.
    runs: Option<RunningTask>,
}

#[derive(Debug, Clone, Default)]
struct RunningThread {
    brackets: Vec<Bracket>,
    /// Task for which the thread blocks.
    blocked: Option<TaskId>,
}

impl RunningThread {
    fn push(&mut self, bracket: Bracket) {
        if self.brackets.len() >= MAX_BRACKETS {
            self.brackets.drain(..MAX_BRACKETS / 2);
        }
        self.brackets.push(bracket);
    }

    /// Ends the innermost bracket with this opening, and all brackets inside of it, whose ends are
    /// missing.
    fn pop(&mut self, opening: BracketOpening) {
        if let Some(at) = self.brackets.iter().rposition(|it| it.opening == opening) {
            self.brackets.truncate(at);
        }
    }

    /// Returns the task that has run up to its end: the thread completes it inside of its run.
    fn completes(&self) -> Option<RunningTask> {
        let completed = self.brackets.last().filter(|bracket| bracket.runs.is_none())?;
        let runs = self.brackets.iter().rev().find(|bracket| bracket.runs.is_some())?;
        runs.runs.filter(|_| runs.task == completed.task)
    }

    #[inline]
    fn runs(&self) -> Option<RunningTask> {
        self.brackets.iter().rev().find_map(|bracket| bracket.runs)
    }
}

/// Follows the events of tasks, and joins stacks with their callers. See the [module](self).
#[derive(Debug, Clone, Default)]
pub(super) struct AsyncStacks {
    tasks: AsyncTasks,
    threads: Vec<RunningThread>,
    chains: Chains,
    joined: HashMap<(StackHandle, ChainId), StackHandle>,
    /// Stacks of the async profiler of .NET 11, and their links.
    runs: Option<Arc<AsyncRuns>>,
    profiled: HashMap<(ProcessHandle, u32), ChainId>,
    /// Names of the tasks of several that await what was made at a link.
    joins: HashMap<ChainId, TextHandle>,
    /// Callers of the stacks in `joined`.
    callers: HashMap<StackHandle, ChainId>,
    /// Awaiters on the way to the root while a chain is made, each with who made what it awaits.
    path: Vec<(AsyncTaskPlace, ChainId)>,
}

/// A thread at a time.
#[derive(Debug, Clone, Copy)]
pub(super) struct ThreadPlace {
    pub(super) thread: ThreadHandle,
    pub(super) process: ProcessHandle,
    /// OS id of the process.
    pub(super) id: Option<u64>,
    pub(super) os_thread: Option<u64>,
    pub(super) ticks: u64,
}

impl AsyncStacks {
    /// Follows the events of tasks, and knows the stacks of the async profiler of .NET 11.
    pub(super) fn new(runs: Option<Arc<AsyncRuns>>) -> AsyncStacks {
        AsyncStacks { runs, ..AsyncStacks::default() }
    }

    /// Returns what the async profiler says of threads.
    pub(super) fn profiled_runs(&self) -> Option<&Arc<AsyncRuns>> {
        self.runs.as_ref()
    }

    /// Takes an event of a task. `stack`: the stack of the event.
    pub(super) fn follow(
        &mut self,
        step: TaskStep,
        process: ProcessHandle,
        thread: ThreadHandle,
        stack: StackHandle,
    ) {
        let key = |id| AsyncKey::task(process, id);
        let await_of = |id| AsyncKey::await_of(process, id);
        match step {
            TaskStep::Created(id, name) => {
                let place = self.tasks.place_anew(key(id));
                self.make(place, name, stack, thread);
            }
            TaskStep::Queued(id) => {
                let place = self.tasks.place(key(id));
                self.make(place, None, stack, thread);
            }
            TaskStep::Ended(id) => self.tasks.remove(key(id)),
            TaskStep::Blocks(id) => {
                if let Some(row) = self.thread(thread) {
                    row.blocked = Some(id);
                }
            }
            TaskStep::Awaits { task, awaiter } => {
                let awaiter = match awaiter {
                    0 => self.tasks.place_anew(await_of(task)),
                    id => self.tasks.place(key(id)),
                };
                self.make(awaiter, None, stack, thread);
                let awaited = self.tasks.place(key(task));
                if let Some(row) = self.tasks.at_mut(awaited) {
                    row.awaiter.get_or_insert(awaiter);
                }
            }
            TaskStep::AwaitEnds(id) => {
                let awaiter = self.tasks.find(key(id)).and_then(|(task, _)| task.awaiter);
                match self.thread(thread) {
                    Some(row) if row.blocked == Some(id) => row.blocked = None,
                    _ => {
                        if let Some(awaiter) = awaiter {
                            let runs = self.runs_at(awaiter);
                            self.open(thread, BracketOpening::Await(id), id, runs);
                        }
                    }
                }
            }
            TaskStep::Yields(id) => {
                let place = self.tasks.place_anew(await_of(id));
                self.make(place, None, stack, thread);
            }
            TaskStep::ContinuationBegins(id) => {
                let runs = self.runs(await_of(id));
                self.open(thread, BracketOpening::Await(id), id, runs);
            }
            TaskStep::ContinuationEnds(id) => {
                self.pop(thread, BracketOpening::Await(id));
                self.tasks.remove(await_of(id));
                // What was only awaited is over with the await.
                if self.tasks.find(key(id)).is_some_and(|(task, _)| task.made.is_none()) {
                    self.tasks.remove(key(id));
                }
            }
            TaskStep::WorkBegins { task, work } => {
                let runs = (work == TaskStep::RUNS).then(|| self.runs(key(task)));
                self.push(thread, Bracket { opening: BracketOpening::Work(work), task, runs });
            }
            TaskStep::Joins(id) => {
                let completed = self.threads.get(thread.index()).and_then(RunningThread::completes);
                let name = self.tasks.find(key(id)).and_then(|(task, _)| task.name);
                if let (Some(completed), Some(name)) = (completed, name) {
                    self.joins.insert(completed.callers, name);
                }
            }
            TaskStep::WorkEnds(work) => self.pop(thread, BracketOpening::Work(work)),
            TaskStep::DelegateBegins(id) => {
                let runs = self.runs(key(id));
                self.open(thread, BracketOpening::Delegate(id), id, runs);
            }
            TaskStep::DelegateEnds(id) => {
                self.pop(thread, BracketOpening::Delegate(id));
                self.tasks.remove(key(id));
            }
        }
    }

    /// Returns the handle of a stack with the callers of what its thread runs.
    #[inline]
    pub(super) fn join(
        &mut self,
        place: &ThreadPlace,
        stack: StackHandle,
        stacks: &mut Stacks,
    ) -> StackHandle {
        let Some(runs) = self.profiled(place, stacks).or_else(|| self.by_tasks(place.thread))
        else {
            return stack;
        };
        if let Some(known) = self.joined.get(&(stack, runs)) {
            return *known;
        }
        if self.joined.len() >= MAX_JOINED || self.callers.contains_key(&stack) {
            return stack;
        }
        let joined = stacks.share(stack);
        self.joined.insert((stack, runs), joined);
        self.callers.insert(joined, runs);
        joined
    }

    /// Returns the link for what a thread runs by the events of tasks.
    fn by_tasks(&mut self, thread: ThreadHandle) -> Option<ChainId> {
        let RunningTask { name, callers } = self.threads.get(thread.index())?.runs()?;
        Some(self.chains.add(Link::Runs { name }, callers))
    }

    /// Returns the link for what a thread runs by the async profiler.
    fn profiled(&mut self, place: &ThreadPlace, stacks: &mut Stacks) -> Option<ChainId> {
        let runs = self.runs.as_ref()?;
        let stack = runs.stack_at(place.id, place.os_thread?, place.ticks)?;
        if let Some(known) = self.profiled.get(&(place.process, stack)) {
            return Some(*known);
        }
        let bytes: Vec<u8> =
            runs.addresses(stack).iter().flat_map(|address| address.to_le_bytes()).collect();
        let addresses = Stack::new(&bytes, 8);
        let handle = stacks.intern(place.process, u32::MAX, addresses, place.ticks);
        let link = self.chains.add(Link::Profiled { stack: handle }, ChainId::UNKNOWN);
        self.profiled.insert((place.process, stack), link);
        Some(link)
    }

    /// Returns what the thread of a stack ran; `None` if no event tells.
    pub(super) fn runs_of(&self, stack: StackHandle) -> Option<ChainId> {
        self.callers.get(&stack).copied()
    }

    /// Returns a link of a chain.
    pub(super) fn link(&self, link: ChainId) -> Link {
        self.chains.get(link)
    }

    /// Returns the links above a link.
    pub(super) fn above(&self, link: ChainId) -> ChainId {
        self.chains.above(link)
    }

    /// Returns the name of the task of several that awaits what was made at a link. All that was
    /// made there counts as awaited if one was, because the event comes only when that is complete.
    pub(super) fn joins(&self, link: ChainId) -> Option<TextHandle> {
        self.joins.get(&link).copied()
    }

    fn thread(&mut self, thread: ThreadHandle) -> Option<&mut RunningThread> {
        let index = thread.index();
        if self.threads.len() <= index {
            self.threads.resize_with(index.saturating_add(1), RunningThread::default);
        }
        self.threads.get_mut(index)
    }

    fn push(&mut self, thread: ThreadHandle, bracket: Bracket) {
        if let Some(row) = self.thread(thread) {
            row.push(bracket);
        }
    }

    /// Opens a bracket in which a thread runs a task.
    fn open(
        &mut self,
        thread: ThreadHandle,
        opening: BracketOpening,
        task: TaskId,
        runs: RunningTask,
    ) {
        self.push(thread, Bracket { opening, task, runs: Some(runs) });
    }

    fn pop(&mut self, thread: ThreadHandle, opening: BracketOpening) {
        if let Some(row) = self.thread(thread) {
            row.pop(opening);
        }
    }

    /// Notes where a task was made, unless that is known.
    fn make(
        &mut self,
        place: AsyncTaskPlace,
        name: Option<TextHandle>,
        stack: StackHandle,
        thread: ThreadHandle,
    ) {
        let Some(task) = self.tasks.at_mut(place).filter(|task| task.made.is_none()) else {
            return;
        };
        let runs = self.threads.get(thread.index()).and_then(RunningThread::runs);
        let above = runs.map_or(ChainId::UNKNOWN, |runs| runs.callers);
        let link = Link::Made { stack, name, is_await: place.key.is_await() };
        task.made_by = self.chains.add(link, above);
        (task.made, task.name) = (Some(stack), name);
    }

    /// Returns what runs with a task.
    fn runs(&mut self, key: AsyncKey) -> RunningTask {
        match self.tasks.find(key) {
            Some((_, place)) => self.runs_at(place),
            None => RunningTask { name: None, callers: ChainId::UNKNOWN },
        }
    }

    fn runs_at(&mut self, place: AsyncTaskPlace) -> RunningTask {
        let name = self.tasks.at(place).and_then(|task| task.name);
        RunningTask { name, callers: self.callers_of(place) }
    }

    /// Returns the callers of a task: who awaits it, or else who made it.
    fn callers_of(&mut self, place: AsyncTaskPlace) -> ChainId {
        self.path.clear();
        let mut at = place;
        let mut chain = loop {
            let Some(task) = self.tasks.at(at) else { break ChainId::UNKNOWN };
            let Some(awaiter) = task.awaiter else { break task.made_by };
            // A damaged trace may have a circle of awaits.
            if self.path.len() >= Chains::MAX_DEPTH {
                break ChainId::UNKNOWN;
            }
            self.path.push((awaiter, task.made_by));
            at = awaiter;
        };
        while let Some((awaiter, instead)) = self.path.pop() {
            chain = self.awaiting(awaiter, [chain, instead]);
        }
        chain
    }

    /// Returns the link for the method of a task that awaits another.
    fn awaiting(&mut self, place: AsyncTaskPlace, by: [ChainId; 2]) -> ChainId {
        let [above, instead] = by;
        let Some(task) = self.tasks.at_mut(place) else { return instead };
        if let Some((_, link)) = task.link.filter(|(known, _)| *known == by) {
            return link;
        }
        let link = match task.made {
            Some(stack) => self.chains.add(Link::Awaits { stack, name: task.name, instead }, above),
            None => instead,
        };
        task.link = Some((by, link));
        link
    }
}
