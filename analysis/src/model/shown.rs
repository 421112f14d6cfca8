//! Shows names of types, methods and tasks outside of stacks in the same notation as in stacks.

use super::demangle::demangle_alone;
use super::method_name::MethodName;
use super::names::{Frame, NameOptions, NameStyle, shorten};
use super::type_name::full_name;

/// Returns the display name of a type, with its namespace.
pub(crate) fn type_text(stored: &str, options: NameOptions) -> String {
    let mut name = if options.is_raw { stored.to_owned() } else { full_name(stored) };
    shorten(&mut name);
    name
}

/// Returns the frame of a method, with the text `Namespace.Type.Method(arguments)`.
pub(crate) fn method_frame(
    type_name: &str,
    method: &str,
    signature: &str,
    options: NameOptions,
) -> Frame {
    let name = MethodName { module: "", type_name, method, signature };
    Frame::managed(&name, NameOptions { style: NameStyle::Signature, ..options }).shortened()
}

/// Returns the text for a method that an exception event names: `Workload.Program.Thrower` for
/// `void [workload] Workload.Program::Thrower(int32,int32)`.
pub(crate) fn handler_text(stored: &str, options: NameOptions) -> String {
    let mut text = match stored.split_once("::") {
        Some((before, method)) => {
            let type_name = before.rsplit_once("] ").map_or(before, |(_, name)| name);
            // Generic arguments or the signature follow the name.
            let method = method.split(['(', '[']).next().unwrap_or(method);
            let name = MethodName { module: "", type_name, method, signature: "" };
            Frame::managed(&name, NameOptions { style: NameStyle::Full, ..options }).text
        }
        None => stored.to_owned(),
    };
    shorten(&mut text);
    text
}

/// What completes a task, according to the name that the runtime gives the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskKind {
    /// A delegate returns: `Task: <Run>b__0`.
    Delegate,
    /// An async method returns: `Async: <Run>d__14`.
    AsyncMethod,
    /// Time passes: `Task.Delay`.
    Delay,
    /// Something else completes the task, or it is unknown what does.
    Other,
}

impl TaskKind {
    /// Splits a stored name into the kind of the task and its method. If the task has no method,
    /// the whole name is returned.
    pub(crate) fn split(stored: &str) -> (TaskKind, &str) {
        match stored.split_once(": ") {
            Some(("Task", method)) => (TaskKind::Delegate, method),
            Some(("Async", method)) => (TaskKind::AsyncMethod, method),
            _ if stored.starts_with("Task.Delay") => (TaskKind::Delay, stored),
            _ => (TaskKind::Other, stored),
        }
    }

    /// Returns the text of a task, given the text of its method.
    pub(crate) fn text(self, method: &str) -> String {
        match self {
            TaskKind::Delegate => format!("Task: {method}"),
            TaskKind::AsyncMethod => format!("Async: {method}"),
            TaskKind::Delay | TaskKind::Other => method.to_owned(),
        }
    }
}

/// Returns the display text for a task's name in task events: `Async: Run` for `Async: <Run>d__14`.
pub(crate) fn task_text(stored: &str, options: NameOptions) -> String {
    let (kind, method) = TaskKind::split(stored);
    kind.text(&task_method(method, options))
}

/// Returns the display name of the method in a task's name: `Run` for `<Run>d__14`.
pub(crate) fn task_method(stored: &str, options: NameOptions) -> String {
    if options.is_raw { stored.to_owned() } else { demangle_alone(stored) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOWN: NameOptions = NameOptions { style: NameStyle::Signature, is_raw: false };
    const RAW: NameOptions = NameOptions { style: NameStyle::Signature, is_raw: true };

    #[test]
    fn a_catching_method_is_spelled_as_in_stacks() {
        let cases = [
            ("void [workload] Workload.Program::Thrower(int32,int32)", "Workload.Program.Thrower"),
            ("class System.String[] [app] N.T::Get(class X[])", "N.T.Get"),
            ("instance void [web] N.Http+<Run>d__237`1[System.__Canon]::MoveNext()", "N.Http.Run"),
            ("void [a] N.T::Get[System.__Canon](int32)", "N.T.Get"),
            ("x", "x"),
            ("", ""),
        ];
        for (stored, expected) in cases {
            assert_eq!(handler_text(stored, SHOWN), expected, "{stored}");
        }
        assert_eq!(
            handler_text("void [web] N.Http+<Run>d__2::MoveNext()", RAW),
            "N.Http+<Run>d__2.MoveNext"
        );
    }

    #[test]
    fn a_task_is_named_by_user_code() {
        let cases = [
            ("Task: <TaskRound>b__0", "Task: TaskRound.lambda_0"),
            ("Async: <TaskRound>d__14", "Async: TaskRound"),
            ("Task.WhenAll", "Task.WhenAll"),
            ("Task: Run", "Task: Run"),
            ("", ""),
        ];
        for (stored, expected) in cases {
            assert_eq!(task_text(stored, SHOWN), expected);
            assert_eq!(task_text(stored, RAW), stored);
        }
    }

    #[test]
    fn compiled_methods_and_types_are_spelled_as_in_stacks() {
        let method =
            method_frame("N.T+<Run>d__1", "MoveNext", "instance void  (pMT: 0x7f00,int32)", SHOWN);
        assert_eq!(method.text, "N.T.Run(?,int)");
        let raw = method_frame("N.T+<Run>d__1", "MoveNext", "instance void  (int32)", RAW);
        assert_eq!(raw.text, "N.T+<Run>d__1.MoveNext(int32)");
        assert_eq!(type_text("N.Box`1[N.T]", SHOWN), "N.Box<T>");
        assert_eq!(type_text("N.Box`1[N.T]", RAW), "N.Box`1[N.T]");
    }
}
