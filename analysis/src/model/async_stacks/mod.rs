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

use super::async_profiler::AsyncRuns;
use super::handle::{ProcessHandle, StackHandle, TextHandle, ThreadHandle};
use super::stacks::Stacks;
use crate::hash::HashMap;
use chains::Chains;
pub(super) use chains::{ChainId, Link};
pub(crate) use events::AwaitFields;
pub(super) use events::TaskStep;
pub(super) use logical::{AsyncRole, LogicalFrames};
use nettrace_parser::Stack;
use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// Maximum number of tasks that are kept; beyond it, the oldest is dropped.
const MAX_TASKS: usize = 1 << 18;
/// Maximum number of nested brackets of a thread; beyond it, the outermost half is dropped.
const MAX_BRACKETS: usize = 4096;
/// Maximum number of distinct pairs of a stack and its callers. Further stacks have no callers.
const MAX_JOINED: usize = 1 << 20;

/// A task, or an await that stands for one: of `Task.Yield`, or of a method whose builder has no
/// tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct AsyncKey {
    process: ProcessHandle,
    id: u64,
    is_await: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct AsyncTask {
    name: Option<TextHandle>,
    /// Stack of the first event that mentions the task.
    made: Option<StackHandle>,
    /// Callers by that stack.
    made_by: ChainId,
    /// Task whose method awaits this one. The first one counts.
    awaiter: Option<AsyncKey>,
    /// Latest link for this task as an awaiter, by the chain above it and who made the awaited.
    link: Option<([ChainId; 2], ChainId)>,
}

/// Reason for which a bracket was opened, which its end must match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BracketOpening {
    /// Work of a kind: 0 completes a task, 2 runs its method.
    Work(u64),
    /// The continuation of an await of this task.
    Await(u64),
    /// The delegate of this task.
    Delegate(u64),
}

/// What a thread runs.
#[derive(Debug, Clone, Copy)]
struct Bracket {
    opening: BracketOpening,
    task: u64,
    /// What runs, and its callers; `None` if the bracket completes a task.
    runs: Option<ChainId>,
}

#[derive(Debug, Clone, Default)]
struct RunningThread {
    brackets: Vec<Bracket>,
    /// Task for which the thread blocks.
    blocked: Option<u64>,
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
    fn completes(&self) -> Option<ChainId> {
        let completed = self.brackets.last().filter(|bracket| bracket.runs.is_none())?;
        let runs = self.brackets.iter().rev().find(|bracket| bracket.runs.is_some())?;
        runs.runs.filter(|_| runs.task == completed.task)
    }

    fn runs(&self) -> Option<ChainId> {
        self.brackets.iter().rev().find_map(|bracket| bracket.runs)
    }
}

/// Follows the events of tasks, and joins stacks with their callers. See the [module](self).
#[derive(Debug, Clone, Default)]
pub(super) struct AsyncStacks {
    tasks: HashMap<AsyncKey, AsyncTask>,
    /// Keys of `tasks` in the order of addition, and of some that are gone.
    order: VecDeque<AsyncKey>,
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
    path: Vec<(AsyncKey, ChainId)>,
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

    /// Takes an event of a task. `stack`: the stack of the event.
    pub(super) fn follow(
        &mut self,
        step: TaskStep,
        process: ProcessHandle,
        thread: ThreadHandle,
        stack: StackHandle,
    ) {
        let key = |id| AsyncKey { process, id, is_await: false };
        let await_of = |id| AsyncKey { process, id, is_await: true };
        match step {
            TaskStep::Created(id, name) => {
                self.tasks.remove(&key(id));
                self.make(key(id), name, stack, thread);
            }
            TaskStep::Queued(id) => self.make(key(id), None, stack, thread),
            TaskStep::Ended(id) => {
                self.tasks.remove(&key(id));
            }
            TaskStep::Blocks(id) => {
                if let Some(row) = self.thread(thread) {
                    row.blocked = Some(id);
                }
            }
            TaskStep::Awaits { task, awaiter } => {
                let awaiter = awaiter.map_or(await_of(task), key);
                if awaiter.is_await {
                    self.tasks.remove(&awaiter);
                }
                self.make(awaiter, None, stack, thread);
                self.task(key(task)).awaiter.get_or_insert(awaiter);
            }
            TaskStep::AwaitEnds(id) => {
                let awaiter = self.tasks.get(&key(id)).and_then(|task| task.awaiter);
                match self.thread(thread) {
                    Some(row) if row.blocked == Some(id) => row.blocked = None,
                    _ => {
                        if let Some(awaiter) = awaiter {
                            self.run(thread, BracketOpening::Await(id), awaiter);
                        }
                    }
                }
            }
            TaskStep::Yields(id) => {
                self.tasks.remove(&await_of(id));
                self.make(await_of(id), None, stack, thread);
            }
            TaskStep::ContinuationBegins(id) => {
                self.run(thread, BracketOpening::Await(id), await_of(id));
            }
            TaskStep::ContinuationEnds(id) => {
                self.pop(thread, BracketOpening::Await(id));
                self.tasks.remove(&await_of(id));
                // What was only awaited is over with the await.
                if self.tasks.get(&key(id)).is_some_and(|task| task.made.is_none()) {
                    self.tasks.remove(&key(id));
                }
            }
            TaskStep::WorkBegins { task, work: TaskStep::RUNS } => {
                self.run(thread, BracketOpening::Work(TaskStep::RUNS), key(task));
            }
            TaskStep::WorkBegins { work, task } => {
                self.push(
                    thread,
                    Bracket { opening: BracketOpening::Work(work), task, runs: None },
                );
            }
            TaskStep::Joins(id) => {
                let completed = self.threads.get(thread.index()).and_then(RunningThread::completes);
                let name = self.tasks.get(&key(id)).and_then(|task| task.name);
                if let (Some(completed), Some(name)) = (completed, name) {
                    self.joins.insert(self.chains.above(completed), name);
                }
            }
            TaskStep::WorkEnds(work) => self.pop(thread, BracketOpening::Work(work)),
            TaskStep::DelegateBegins(id) => self.run(thread, BracketOpening::Delegate(id), key(id)),
            TaskStep::DelegateEnds(id) => {
                self.pop(thread, BracketOpening::Delegate(id));
                self.tasks.remove(&key(id));
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
        let by_tasks =
            |this: &Self| this.threads.get(place.thread.index()).and_then(RunningThread::runs);
        let Some(runs) = self.profiled(place, stacks).or_else(|| by_tasks(self)) else {
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
    fn run(&mut self, thread: ThreadHandle, opening: BracketOpening, key: AsyncKey) {
        let runs = Some(self.runs(key));
        self.push(thread, Bracket { opening, task: key.id, runs });
    }

    fn pop(&mut self, thread: ThreadHandle, opening: BracketOpening) {
        if let Some(row) = self.thread(thread) {
            row.pop(opening);
        }
    }

    fn task(&mut self, key: AsyncKey) -> &mut AsyncTask {
        if self.tasks.len() >= MAX_TASKS || self.order.len() >= MAX_TASKS.saturating_mul(2) {
            self.make_room();
        }
        match self.tasks.entry(key) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                self.order.push_back(key);
                new.insert(AsyncTask::default())
            }
        }
    }

    fn make_room(&mut self) {
        while self.tasks.len() >= MAX_TASKS
            && let Some(oldest) = self.order.pop_front()
        {
            self.tasks.remove(&oldest);
        }
        if self.order.len() >= MAX_TASKS.saturating_mul(2) {
            let tasks = &self.tasks;
            self.order.retain(|key| tasks.contains_key(key));
        }
    }

    /// Notes where a task was made, unless that is known.
    fn make(
        &mut self,
        key: AsyncKey,
        name: Option<TextHandle>,
        stack: StackHandle,
        thread: ThreadHandle,
    ) {
        if self.tasks.get(&key).is_some_and(|task| task.made.is_some()) {
            return;
        }
        let runs = self.threads.get(thread.index()).and_then(RunningThread::runs);
        let above = runs.map_or(ChainId::UNKNOWN, |runs| self.chains.above(runs));
        let link = Link::Made { stack, name, is_await: key.is_await };
        let made_by = self.chains.add(link, above);
        let task = self.task(key);
        (task.made, task.name, task.made_by) = (Some(stack), name, made_by);
    }

    /// Returns the link of a task that runs, whose callers stand above it.
    fn runs(&mut self, key: AsyncKey) -> ChainId {
        let name = self.tasks.get(&key).and_then(|task| task.name);
        let callers = self.callers_of(key);
        self.chains.add(Link::Runs { name }, callers)
    }

    /// Returns the callers of a task: who awaits it, or else who made it.
    fn callers_of(&mut self, key: AsyncKey) -> ChainId {
        let mut path = std::mem::take(&mut self.path);
        path.clear();
        let mut at = key;
        let above = loop {
            let Some(task) = self.tasks.get(&at) else { break ChainId::UNKNOWN };
            let Some(awaiter) = task.awaiter else { break task.made_by };
            // A damaged trace may have a circle of awaits.
            if path.len() >= Chains::MAX_DEPTH {
                break ChainId::UNKNOWN;
            }
            path.push((awaiter, task.made_by));
            at = awaiter;
        };
        let chain = path
            .iter()
            .rev()
            .fold(above, |above, (key, instead)| self.awaiting(*key, [above, *instead]));
        self.path = path;
        chain
    }

    /// Returns the link for the method of a task that awaits another.
    fn awaiting(&mut self, key: AsyncKey, by: [ChainId; 2]) -> ChainId {
        let [above, instead] = by;
        let Some(task) = self.tasks.get_mut(&key) else { return instead };
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
