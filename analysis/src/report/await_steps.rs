//! Awaits inside the HTTP request that the user chose: what the request waited for, and in which
//! method.
//!
//! | id | event of a task | what follows |
//! |---|---|---|
//! | 14 | TraceOperationBegin | the name of a task |
//! | 10 | TaskWaitBegin | a method awaits a task |
//! | 11 | TaskWaitEnd | the await is over |
//!
//! The async profiler of .NET 11 tells when the code of the request is suspended, and what goes on, also
//! of methods that the runtime itself suspends, which have no events of tasks.
//!
//! Where a method awaits another async method that was suspended, only the innermost await is a
//! step: the others last as long, and are its callers.

use super::each_task::TaskName;
use super::stack_rows::{below, is_of_task_library};
use super::task_waits::TaskKey;
use super::tasks::{task_name, waiter};
use crate::hash::{HashMap, HashSet};
use crate::model::{Model, ProcessHandle, Resolved, StackHandle};
use nettrace_parser::Event;

/// Maximum number of tasks whose names are kept, and of methods that await. There are no more awaits
/// in progress than these.
const MAX_TASKS: usize = 65_536;
/// Maximum number of methods of a step: the one that awaits, and its callers.
const MAX_METHODS: usize = 8;

/// Collects the awaits of a request.
#[derive(Debug, Default)]
pub(super) struct AwaitSteps {
    names: HashMap<TaskKey, TaskName>,
    /// Awaits in progress, by the awaited task.
    open: HashMap<TaskKey, OpenAwait>,
    /// Tasks of methods that await.
    suspended: HashSet<TaskKey>,
    /// Awaited task and stacks of those that await, by the place of the step.
    steps: HashMap<usize, (Option<TaskName>, Vec<StackHandle>)>,
    /// Stacks that went on after awaits that the async profiler tells, by the place of the step.
    profiled: Vec<(usize, StackHandle)>,
}

#[derive(Debug, Clone, Copy)]
struct OpenAwait {
    /// Task of the method that awaits.
    awaiter: TaskKey,
    stack: StackHandle,
    /// Place of the step; `None` if another await is further inside.
    step: Option<usize>,
}

/// What an event tells of the awaits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AwaitEdge {
    /// A step begins: an await of this task.
    Begins(TaskKey),
    /// The step at this place ends.
    Ends(usize),
}

impl AwaitSteps {
    /// Takes an event of a task. `belongs`: whether it is inside the request.
    pub(super) fn event(
        &mut self,
        event: &Event<'_>,
        process: ProcessHandle,
        stack: StackHandle,
        belongs: bool,
        model: &mut Model,
    ) -> Option<AwaitEdge> {
        let number = |name| event.field(name)?.as_u64();
        let task = (process, number("TaskID")?);
        match event.id() {
            14 if belongs && self.names.len() < MAX_TASKS => {
                let name = event.field("OperationName")?;
                let name = model.texts_mut().intern_value(name)?;
                self.names.insert(task, (name, stack));
                None
            }
            // 2 is an `await`.
            10 if belongs && number("Behavior") == Some(2) && self.suspended.len() < MAX_TASKS => {
                let awaiter = (process, number("ContinueWithTaskID")?);
                self.suspended.insert(awaiter);
                self.open.insert(task, OpenAwait { awaiter, stack, step: None });
                (!self.suspended.contains(&task)).then_some(AwaitEdge::Begins(task))
            }
            11 => {
                let stacks = self.stacks(task);
                let ended = self.open.remove(&task)?;
                self.suspended.remove(&ended.awaiter);
                let place = ended.step?;
                self.steps.insert(place, (self.names.remove(&task), stacks));
                Some(AwaitEdge::Ends(place))
            }
            _ => None,
        }
    }

    /// Returns whether events of tasks have told an await.
    pub(super) fn has_any(&self) -> bool {
        !self.open.is_empty() || !self.steps.is_empty()
    }

    /// Takes an await that the async profiler tells: the stack that went on.
    pub(super) fn profiled(&mut self, place: usize, stack: StackHandle) {
        self.profiled.push((place, stack));
    }

    /// Notes the place of a step that began.
    pub(super) fn begun(&mut self, task: TaskKey, place: usize) {
        if let Some(open) = self.open.get_mut(&task) {
            open.step = Some(place);
        }
    }

    /// Returns the stacks of the method that awaits a task, and of those that await that method.
    fn stacks(&self, task: TaskKey) -> Vec<StackHandle> {
        let begun = self.open.get(&task);
        let chain = std::iter::successors(begun, |by| self.open.get(&by.awaiter));
        chain.take(MAX_METHODS).map(|by| by.stack).collect()
    }

    /// Returns the texts of the steps by their places: what was awaited, and the method that
    /// awaits, with its callers.
    pub(super) fn finish(mut self, resolved: &Resolved<'_>) -> Vec<(usize, String)> {
        let open: Vec<_> =
            self.open.iter().filter_map(|(task, it)| Some((*task, it.step?))).collect();
        for (task, place) in open {
            let stacks = self.stacks(task);
            self.steps.insert(place, (self.names.remove(&task), stacks));
        }
        let texts = resolved.model().texts();
        let text = |name: Option<TaskName>, methods: Vec<&str>| {
            let name = name.map(|(name, at)| task_name(texts.get(name), resolved, at));
            format!("{} in {}", name.as_deref().unwrap_or("a task"), methods.join(" ← "))
        };
        let of_tasks = self.steps.into_iter().map(|(at, (name, stacks))| {
            (at, text(name, stacks.iter().map(|it| waiter(resolved, *it)).collect()))
        });
        let of_profiler = self.profiled.into_iter().map(|(at, stack)| {
            let frames = below(resolved, stack, is_of_task_library).iter().take(MAX_METHODS);
            let frames = frames.filter_map(|frame| resolved.frame(*frame));
            (at, text(None, frames.map(|frame| frame.qualified_name()).collect()))
        });
        of_tasks.chain(of_profiler).collect()
    }
}
