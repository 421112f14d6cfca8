//! Puts the frames of async callers in the place of what lies below a resumed method.

use super::{ChainId, Link};
use crate::hash::hash_of;
use crate::model::demangle::{machine_method, mangled};
use crate::model::handle::{FrameHandle, TextHandle};
use crate::model::method_name::{MethodName, without_arguments};
use crate::model::texts::Texts;
use crate::model::type_name::rsplit_outside;

/// Part that a method has in resuming async code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::model) enum AsyncRole {
    /// Any other method.
    Other,
    /// A state machine of the async method whose name has this hash.
    Machine(u64),
    /// A step of an async iterator, which starts or resumes its state machine.
    Step,
    /// A method that resumes a state machine.
    Resumes,
    /// A method of the task library or the thread pool. It runs what waited, and is the caller of a
    /// state machine in optimised code, where the methods between are inlined.
    Continues,
    /// A method that runs the delegate of a task.
    RunsDelegate,
    /// A method that resumes methods which the runtime itself suspends.
    Dispatches,
    /// A method that only passes the context on, between a resumption and what is resumed.
    Passes,
    /// A method that starts async methods, or traces.
    Library,
}

impl AsyncRole {
    pub(in crate::model) fn of_method(name: &MethodName<'_>) -> AsyncRole {
        if let Some((_, method)) = name.machine() {
            return AsyncRole::Machine(hash_of(method));
        }
        let type_name = without_arguments(name.type_name);
        if let Some(rest) = type_name.strip_prefix("System.Runtime.CompilerServices.") {
            return AsyncRole::of_service(rest, name.method);
        }
        if let Some(rest) = type_name.strip_prefix("System.Threading.") {
            return match (rest, name.method) {
                ("ExecutionContext", method) if method.starts_with("Run") => AsyncRole::Passes,
                (_, "InnerInvoke" | "ExecuteWithThreadLocal") if rest.starts_with("Tasks.") => {
                    AsyncRole::RunsDelegate
                }
                _ if rest.starts_with("Tasks.") || rest.starts_with("ThreadPool") => {
                    AsyncRole::Continues
                }
                _ => AsyncRole::Other,
            };
        }
        let (_, own) = rsplit_outside(type_name, '+');
        if name.method.ends_with("MoveNextAsync") && mangled(own).is_some() {
            return AsyncRole::Step;
        }
        match type_name.starts_with("System.Diagnostics.Tracing.") {
            true => AsyncRole::Library,
            false => AsyncRole::Other,
        }
    }

    /// Returns the part of a method of `System.Runtime.CompilerServices`.
    fn of_service(type_name: &str, method: &str) -> AsyncRole {
        let is_box = type_name.contains("StateMachineBox");
        match method {
            "MoveNext"
            | "MoveNextAsDispatcher"
            | "ExecutionContextCallback"
            | "ExecuteFromThreadPool"
            | "ExecuteDirectly"
                if is_box =>
            {
                AsyncRole::Resumes
            }
            _ if is_box && method.ends_with("IThreadPoolWorkItem.Execute") => AsyncRole::Resumes,
            "MoveNext"
            | "DispatchContinuations"
            | "InstrumentedDispatchContinuations"
            | "ResumeContinuation"
                if type_name.starts_with("AsyncHelpers+") =>
            {
                AsyncRole::Dispatches
            }
            _ if type_name == "AsyncProfiler+ContinuationWrapper" => AsyncRole::Dispatches,
            "Start" | "MoveNext" => AsyncRole::Library,
            _ => AsyncRole::Continues,
        }
    }

    fn is_library(self) -> bool {
        matches!(self, AsyncRole::Library | AsyncRole::Passes | AsyncRole::Continues)
    }
}

/// Where a thread's stack ends for async code: at a frame that was resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::model) struct Cut {
    /// Index of the resumed frame. All further frames only resumed it.
    pub(in crate::model) at: usize,
    kind: CutKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CutKind {
    /// The frame is a state machine of the method whose name has this hash.
    Machine(u64),
    /// The frame is the delegate of a task.
    Delegate,
    /// The frame is a method that the runtime itself suspends and resumes.
    Runtime,
}

impl Cut {
    /// Finds the innermost resumed frame. `roles` are the parts of a stack's frames, innermost first.
    pub(in crate::model) fn find(roles: impl Iterator<Item = AsyncRole>) -> Option<Cut> {
        let mut inner: Option<(usize, AsyncRole)> = None;
        for (index, role) in roles.enumerate() {
            let kind = match (role, inner) {
                (AsyncRole::Passes, Some(_)) => continue,
                (
                    AsyncRole::Resumes | AsyncRole::Continues,
                    Some((at, AsyncRole::Machine(method))),
                ) => Some((at, CutKind::Machine(method))),
                (AsyncRole::RunsDelegate, Some((at, inner)))
                    if !inner.is_library() && inner != AsyncRole::RunsDelegate =>
                {
                    Some((at, CutKind::Delegate))
                }
                (AsyncRole::Dispatches, Some((at, inner)))
                    if inner != AsyncRole::Dispatches && inner != AsyncRole::Resumes =>
                {
                    Some((at, CutKind::Runtime))
                }
                _ => None,
            };
            if let Some((at, kind)) = kind {
                return Some(Cut { at, kind });
            }
            inner = Some((index, role));
        }
        None
    }

    /// Returns whether the frame belongs to what the events of tasks say that the thread runs. A
    /// sample may lie between such an event and the call.
    pub(in crate::model) fn fits(self, runs: Link, texts: &Texts) -> bool {
        let Link::Runs { name } = runs else { return false };
        let method = name.map(|name| method_of(name, texts));
        match self.kind {
            CutKind::Machine(resumed) => {
                method.is_none_or(|name| name.is_some_and(|name| hash_of(name) == resumed))
            }
            CutKind::Delegate => method.is_none_or(|name| name.is_none()),
            CutKind::Runtime => false,
        }
    }
}

/// Returns the name of the async method of a task: `Price` for `Async: <Price>d__2`. `None` if the
/// task is not that of an async method.
pub(in crate::model) fn method_of(name: TextHandle, texts: &Texts) -> Option<&str> {
    let machine = texts.get(name).strip_prefix("Async: ")?;
    Some(machine_method(machine).unwrap_or(machine))
}

/// The frames of a link of a chain, and how the chain goes on.
#[derive(Debug, Clone, Default)]
pub(in crate::model) struct Segment {
    pub(in crate::model) frames: Vec<FrameHandle>,
    pub(in crate::model) then: Then,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::model) enum Then {
    /// The callers above follow.
    #[default]
    Above,
    /// The callers of another chain follow.
    Instead(ChainId),
    /// The stack has all callers.
    Whole,
    /// The trace does not tell the callers.
    Unknown,
}

/// The frames of links, each found once.
#[derive(Debug, Default)]
pub(in crate::model) struct LogicalFrames {
    segments: Vec<Option<Segment>>,
}

impl LogicalFrames {
    pub(in crate::model) fn known(&self, chain: ChainId) -> Option<&Segment> {
        self.segments.get(chain.index())?.as_ref()
    }

    pub(in crate::model) fn keep(&mut self, chain: ChainId, segment: Segment) {
        let index = chain.index();
        if self.segments.len() <= index {
            self.segments.resize(index.saturating_add(1), None);
        }
        if let Some(known) = self.segments.get_mut(index) {
            *known = Some(segment);
        }
    }
}

/// Finds the frames of a link in its stack. `frames` are those of the stack with their parts,
/// innermost first; `method` is the name of the async method, if the task has one.
pub(in crate::model) fn segment(
    link: Link,
    frames: &[(FrameHandle, AsyncRole)],
    method: Option<&str>,
) -> Segment {
    let is_own = |role: AsyncRole| match (role, method) {
        (AsyncRole::Machine(hash), Some(name)) => hash == hash_of(name),
        (AsyncRole::Machine(_), None) => true,
        _ => false,
    };
    let own = frames.iter().position(|(_, role)| is_own(*role));
    let unknown = Segment { frames: Vec::new(), then: Then::Unknown };
    match (link, own) {
        (Link::Awaits { .. }, Some(at)) => {
            let frame = frames.get(at).map(|(frame, _)| *frame);
            Segment { frames: frame.into_iter().collect(), then: Then::Above }
        }
        (Link::Awaits { instead, .. }, None) => {
            Segment { frames: Vec::new(), then: Then::Instead(instead) }
        }
        (Link::Made { is_await, name, .. }, own) => {
            // A task without a method of its own begins outside of the task library.
            let is_method = is_await || name.is_none() || method.is_some();
            let library = frames.iter().take_while(|(_, role)| role.is_library()).count();
            let from = match own {
                Some(at) if is_method => at,
                _ if is_await || method.is_some() => return unknown,
                _ => library,
            };
            callers(frames.get(from..).unwrap_or_default(), own == Some(from))
        }
        _ => unknown,
    }
}

/// Returns the frames up to the next one that was resumed. If the first frame is the task's own
/// method, it is left out.
fn callers(frames: &[(FrameHandle, AsyncRole)], is_own: bool) -> Segment {
    let skipped = usize::from(is_own);
    let roles = frames.iter().map(|(_, role)| *role);
    let shown = |end: usize| {
        let frames = frames.get(skipped..end).unwrap_or_default().iter();
        frames.filter(|(_, role)| *role != AsyncRole::Step).map(|(frame, _)| *frame).collect()
    };
    match Cut::find(roles) {
        Some(cut) => {
            // Events of tasks do not tell what a method that the runtime suspends awaits.
            let is_told = cut.kind != CutKind::Runtime;
            let then = if is_told { Then::Above } else { Then::Unknown };
            Segment { frames: shown(cut.at.saturating_add(1)), then }
        }
        None => Segment { frames: shown(frames.len()), then: Then::Whole },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns where a stack is cut, innermost frame first.
    fn cut(stack: &[(&str, &str)]) -> Option<usize> {
        let roles = stack.iter().map(|(type_name, method)| {
            let name = MethodName { module: "", type_name, method, signature: "" };
            AsyncRole::of_method(&name)
        });
        Cut::find(roles).map(|cut| cut.at)
    }

    #[test]
    fn a_state_machine_is_resumed_by_its_box_or_by_what_the_box_is_inlined_in() {
        let burn = ("Program", "Burn");
        let machine = ("Program+<Deep>d__7", "MoveNext");
        let run = ("System.Threading.ExecutionContext", "RunInternal");
        let services = "System.Runtime.CompilerServices.";
        let of = |name: &str| format!("{services}{name}");
        let (boxed, start, wrapper) = (
            of("AsyncTaskMethodBuilder`1+AsyncStateMachineBox`1"),
            of("AsyncMethodBuilderCore"),
            of("AsyncMethodBuilderCore+ContinuationWrapper"),
        );
        let (continuation, pool) = (
            "System.Threading.Tasks.AwaitTaskContinuation",
            "System.Threading.ThreadPoolWorkQueue",
        );
        assert_eq!(cut(&[burn, machine, run, (&boxed, "MoveNext")]), Some(1));
        assert_eq!(cut(&[burn, machine, run, (continuation, "RunOrScheduleAction")]), Some(1));
        assert_eq!(cut(&[burn, machine, (pool, "Dispatch")]), Some(1));
        assert_eq!(cut(&[burn, machine, (&wrapper, "Invoke")]), Some(1));
        // What is started belongs to its caller.
        assert_eq!(cut(&[burn, machine, (&start, "Start"), ("Program", "Deep")]), None);
        assert_eq!(cut(&[burn, machine, ("Program", "Deep"), ("Program", "Main")]), None);
        let started =
            [machine, (&start, "Start"), ("Program", "Deep"), machine, (&boxed, "MoveNext")];
        assert_eq!(cut(&started), Some(3));
    }
}
