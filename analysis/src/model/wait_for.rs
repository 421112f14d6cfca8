//! What a waiting thread waits for, by the methods on its stack.
//!
//! A wait is a chain of calls: `Task.Wait` calls `ManualResetEventSlim.Wait`, which calls
//! `Monitor.Wait`. The outermost call says what the program asked for.

use std::fmt;

/// What a waiting thread waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum WaitFor {
    /// A lock that another thread holds: `Monitor.Enter`, `Lock.Enter`,
    /// `ReaderWriterLockSlim`.
    Lock,
    /// `Monitor.Wait`: another thread has to pulse the monitor.
    Pulse,
    /// A wait handle: an event, a mutex, a semaphore of the operating system.
    Handle,
    /// `ManualResetEventSlim`, `CountdownEvent`, `Barrier`.
    Event,
    /// `SemaphoreSlim`.
    Semaphore,
    /// `Task.Wait` and its relatives: the thread is blocked until a task has ended.
    Task,
    /// `Thread.Join`: another thread has to end.
    Thread,
    /// `Thread.Sleep`, `SpinWait`: time has to pass.
    Sleep,
    /// A thread of the thread pool, a timer or a poller, without work.
    Work,
    /// Finalizers or a collection.
    Collection,
    /// Input: a socket, a pipe, the console.
    Input,
    /// A method that is known to wait, but not for what.
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
    /// Writes the wait as it stands in sentences: "waits for a lock".
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

/// Returns what a caller in a chain of waits requested; `None` if it is not part of one. It is only
/// meaningful for callers of a method that waits.
pub(super) fn wait_for(type_name: &str, method: &str) -> Option<WaitFor> {
    let method =
        method.strip_prefix('<').map_or(method, |inner| inner.split('>').next().unwrap_or(inner));
    if let Some(rest) = type_name.strip_prefix("System.Threading.") {
        return threading(rest, method);
    }
    let input = ["System.ConsolePal", "System.IO.StdInReader", "System.IO.SyncTextReader"];
    let is_stream = type_name.starts_with("System.IO.Pipes.")
        || type_name.starts_with("System.Net.Sockets.Socket")
        || type_name.starts_with("System.IO.FileSystemWatcher");
    match type_name {
        // Before the streams: its threads wait for any socket to become ready, not for the
        // input of one.
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
        ("Monitor", "Wait" | "ObjWait") => WaitFor::Pulse,
        ("Monitor" | "Lock" | "ReaderWriterLockSlim" | "ReaderWriterLock", _) => WaitFor::Lock,
        ("Thread", "Join" | "JoinInternal") => WaitFor::Thread,
        ("Thread", "Sleep" | "SleepInternal" | "Yield" | "YieldInternal")
        | ("Thread", "UninterruptibleSleep0")
        | ("SpinWait", _) => WaitFor::Sleep,
        // Every thread starts there.
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
        assert_eq!(of("System.Threading.Tasks.Task.InternalWaitCore"), Some(WaitFor::Task));
        assert_eq!(of("System.Threading.Tasks.Task.ExecuteWithThreadLocal"), None);
        assert_eq!(of("System.Threading.Thread.StartCallback"), None);
        assert_eq!(of("System.Threading.Thread.<Sleep>g____PInvoke|20_0"), Some(WaitFor::Sleep));
        assert_eq!(of("MyApp.Monitor.Enter"), None);
        let worker = "System.Threading.PortableThreadPool+WorkerThread.WorkerThreadStart";
        assert_eq!(of(worker), Some(WaitFor::Work));
    }
}
