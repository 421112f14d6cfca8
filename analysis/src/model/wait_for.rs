//! Finds what a waiting thread waits for, by the methods on its stack.
//!
//! A wait is a chain of calls: `Task.Wait` calls `ManualResetEventSlim.Wait`, which calls
//! `Monitor.Wait`. The program called the outermost one.

use super::waits::written;
use std::fmt;

/// What a thread waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum WaitFor {
    /// A lock that another thread holds: `Monitor.Enter`, `Lock.Enter`,
    /// `ReaderWriterLockSlim`.
    Lock,
    /// A pulse of a monitor by another thread: `Monitor.Wait`.
    Pulse,
    /// A wait handle: an event, a mutex, a semaphore of the operating system.
    Handle,
    /// An event within the process: `ManualResetEventSlim`, `CountdownEvent`, `Barrier`.
    Event,
    /// A semaphore within the process: `SemaphoreSlim`.
    Semaphore,
    /// The end of a task, in a call that blocks: `Task.Wait`, `Task.Result`.
    Task,
    /// The end of another thread: `Thread.Join`.
    Thread,
    /// A time that passes: `Thread.Sleep`, `SpinWait`.
    Sleep,
    /// Work, in a thread of the thread pool, a timer or a poller.
    Work,
    /// Finalizers or a garbage collection.
    Collection,
    /// Input: a socket, a pipe, the console.
    Input,
    /// Something unknown: the method is known to wait, but not for what.
    Other,
}

impl WaitFor {
    /// Returns the name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            WaitFor::Lock => "lock",
            WaitFor::Pulse => "pulse",
            WaitFor::Handle => "handle",
            WaitFor::Event => "event",
            WaitFor::Semaphore => "semaphore",
            WaitFor::Task => "task",
            WaitFor::Thread => "thread",
            WaitFor::Sleep => "sleep",
            WaitFor::Work => "work",
            WaitFor::Collection => "collection",
            WaitFor::Input => "input",
            WaitFor::Other => "other",
        }
    }
}

impl fmt::Display for WaitFor {
    /// Writes the text that follows "waits for", such as "a lock".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WaitFor::Lock => "a lock",
            WaitFor::Pulse => "a pulse of a monitor",
            WaitFor::Handle => "a wait handle",
            WaitFor::Event => "an event",
            WaitFor::Semaphore => "a semaphore",
            WaitFor::Task => "a task",
            WaitFor::Thread => "the end of a thread",
            WaitFor::Sleep => "time to pass",
            WaitFor::Work => "work",
            WaitFor::Collection => "the garbage collector",
            WaitFor::Input => "input",
            WaitFor::Other => "something",
        })
    }
}

/// Returns what a method in a chain of waits waits for; `None` if it ends the chain. The answer has
/// a meaning only for methods that wait, and for their callers.
pub(super) fn wait_for(type_name: &str, method: &str) -> Option<WaitFor> {
    let method = written(method);
    if let Some(rest) = type_name.strip_prefix("System.Threading.") {
        return threading(rest, method);
    }
    let input = ["System.ConsolePal", "System.IO.StdInReader", "System.IO.SyncTextReader"];
    let is_stream = type_name.starts_with("System.IO.Pipes.")
        || type_name.starts_with("System.Net.Sockets.Socket")
        || type_name.starts_with("System.IO.FileSystemWatcher");
    match type_name {
        // Threads of the engine wait for any socket to become ready, not for the input of one.
        "System.Net.Sockets.SocketAsyncEngine" => Some(WaitFor::Work),
        "System.GC" => Some(WaitFor::Collection),
        "System.Diagnostics.Tracing.CounterGroup"
        | "System.Diagnostics.Tracing.EventPipeInternal"
        | "System.Diagnostics.Tracing.EventPipeEventDispatcher" => Some(WaitFor::Work),
        _ if is_stream || input.iter().any(|name| type_name.starts_with(name)) => {
            Some(WaitFor::Input)
        }
        _ => None,
    }
}

fn threading(type_name: &str, method: &str) -> Option<WaitFor> {
    Some(match (type_name, method) {
        // From .NET 11 on, `Monitor.Wait` waits for a condition, and may be inlined into its caller.
        ("Monitor", "Wait" | "ObjWait") | ("Condition", _) => WaitFor::Pulse,
        ("Monitor" | "Lock" | "ReaderWriterLockSlim" | "ReaderWriterLock", _) => WaitFor::Lock,
        ("Thread", "Join" | "JoinInternal") => WaitFor::Thread,
        ("Thread", "Sleep" | "SleepInternal" | "Yield" | "YieldInternal")
        | ("Thread", "UninterruptibleSleep0")
        | ("SpinWait", _) => WaitFor::Sleep,
        // Every thread starts in these methods.
        ("Thread" | "Thread+StartHelper" | "ThreadHelper" | "ExecutionContext", _) => return None,
        ("ManualResetEventSlim" | "CountdownEvent" | "Barrier", _) => WaitFor::Event,
        ("SemaphoreSlim", _) => WaitFor::Semaphore,
        ("TimerQueue", _) => WaitFor::Work,
        ("WaitHandle" | "Mutex" | "Semaphore" | "EventWaitHandle", _) => WaitFor::Handle,
        _ if type_name.starts_with("Tasks.Task") && is_task_wait(method) => WaitFor::Task,
        _ if type_name.starts_with("PortableThreadPool") => WaitFor::Work,
        _ if type_name.starts_with("LowLevel") || type_name.starts_with("WaitSubsystem") => {
            WaitFor::Other
        }
        _ => return None,
    })
}

fn is_task_wait(method: &str) -> bool {
    let waits = ["Wait", "InternalWait", "SpinThenBlockingWait", "GetResultCore", "get_Result"];
    waits.iter().any(|start| method.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_waits_for_what_the_program_called() {
        let of = |name: &str| {
            let (type_name, method) = name.rsplit_once('.').unwrap();
            wait_for(type_name, method)
        };
        assert_eq!(of("System.Threading.Monitor.Enter"), Some(WaitFor::Lock));
        assert_eq!(of("System.Threading.Monitor.Wait"), Some(WaitFor::Pulse));
        assert_eq!(of("System.Threading.Condition.Wait"), Some(WaitFor::Pulse));
        assert_eq!(of("System.Threading.Tasks.Task.InternalWaitCore"), Some(WaitFor::Task));
        assert_eq!(of("System.Threading.Tasks.Task.ExecuteWithThreadLocal"), None);
        assert_eq!(of("System.Threading.Thread.StartCallback"), None);
        assert_eq!(of("System.Threading.Thread.<Sleep>g____PInvoke|20_0"), Some(WaitFor::Sleep));
        assert_eq!(of("MyApp.Monitor.Enter"), None);
        let worker = "System.Threading.PortableThreadPool+WorkerThread.WorkerThreadStart";
        assert_eq!(of(worker), Some(WaitFor::Work));
    }
}
