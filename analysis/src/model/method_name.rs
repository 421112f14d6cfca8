//! Names of methods as the runtime stores them, and the async methods to which they belong.

use super::demangle::machine_method;
use super::type_name::rsplit_outside;
#[cfg(feature = "page")]
use std::hash::{DefaultHasher, Hash, Hasher};

/// Beginnings of the names of those types in `System.Runtime.CompilerServices` that run async
/// methods.
const ASYNC_SERVICES: &[&str] = &[
    "Async",
    "PoolingAsync",
    "TaskAwaiter",
    "ValueTaskAwaiter",
    "ConfiguredTaskAwaitable",
    "ConfiguredValueTaskAwaitable",
    "YieldAwaitable",
    "IAsyncStateMachine",
];

/// Types whose only purpose is to run async methods.
const ASYNC_TYPES: &[&str] = &[
    "System.Threading.ExecutionContext",
    "System.Threading.Tasks.AwaitTaskContinuation",
    "System.Threading.Tasks.SynchronizationContextAwaitTaskContinuation",
    "System.Threading.Tasks.TaskSchedulerAwaitTaskContinuation",
    "System.Threading.Tasks.TaskContinuation",
    "Microsoft.FSharp.Control.AsyncActivation",
    "Microsoft.FSharp.Control.AsyncBuilderImpl",
    "Microsoft.FSharp.Control.AsyncPrimitives",
    "Microsoft.FSharp.Control.AsyncResultCell",
    "Microsoft.FSharp.Control.FSharpAsyncBuilder",
    "Microsoft.FSharp.Control.Trampoline",
    "Microsoft.FSharp.Control.TrampolineHolder",
];

/// Methods of `Task` that resume the methods which await it.
const TASK_RESUMES: &[&str] = &[
    "RunContinuations",
    "FinishContinuations",
    "FinishSlow",
    "FinishStageTwo",
    "FinishStageThree",
    "TrySetResult",
    "TrySetException",
];

/// Name of a method in the runtime's notation.
pub(crate) struct MethodName<'t> {
    pub(crate) module: &'t str,
    /// Namespace and name of the type.
    pub(crate) type_name: &'t str,
    pub(crate) method: &'t str,
    pub(crate) signature: &'t str,
}

impl<'t> MethodName<'t> {
    /// Returns type and name of an async method or iterator, if this method runs its state machine.
    pub(super) fn machine(&self) -> Option<(&'t str, &'t str)> {
        if self.method != "MoveNext" {
            return None;
        }
        let (outer, own) = rsplit_outside(without_arguments(self.type_name), '+');
        machine_method(own).map(|method| (outer, method))
    }

    /// Returns a hash that an async method and its state machine share: see
    /// [`Frame::async_method`](super::names::Frame::async_method).
    #[cfg(feature = "page")]
    pub(super) fn async_method(&self) -> u64 {
        let own = || (without_arguments(self.type_name), without_arguments(self.method));
        let mut hasher = DefaultHasher::new();
        self.machine().unwrap_or_else(own).hash(&mut hasher);
        hasher.finish()
    }

    /// Returns whether the method only starts, suspends or resumes async methods.
    pub(super) fn carries_async(&self) -> bool {
        let type_name = self.type_name.split(['[', '`', '+']).next().unwrap_or_default();
        let service = type_name.strip_prefix("System.Runtime.CompilerServices.");
        service.is_some_and(|service| ASYNC_SERVICES.iter().any(|begin| service.starts_with(begin)))
            || ASYNC_TYPES.contains(&type_name)
            || type_name == "System.Threading.Tasks.Task" && TASK_RESUMES.contains(&self.method)
    }
}

/// Returns the name of a type or a method without its generic arguments.
pub(super) fn without_arguments(name: &str) -> &str {
    name.split('[').next().unwrap_or(name)
}
