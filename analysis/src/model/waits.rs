//! Methods in which a thread waits.
//!
//! The sampler cannot distinguish waiting from work in native code, but the innermost
//! managed method may be known to do nothing but wait. Methods that only call native code
//! (P/Invoke stubs, `Interop`) are skipped in favour of their caller.

/// Whether and how a method waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Wait {
    /// It does not, or it is unknown.
    No,
    /// It waits in native code. Its own managed code is work: it spins, or looks for
    /// something to do.
    InNative,
    /// It only blocks. If it is sampled in its managed code, it is about to block, or was
    /// just woken.
    Always,
}

/// Types and names of methods that only block. Types must match completely, without
/// generic arguments.
const BLOCKS: &[(&str, &[&str])] = &[
    ("System.Threading.Monitor", &["Wait", "ObjWait"]),
    (
        "System.Threading.WaitHandle",
        &[
            "WaitOne",
            "WaitOneNoCheck",
            "WaitOneCore",
            "WaitAny",
            "WaitAll",
            "WaitMultiple",
            "WaitMultipleIgnoringSyncContext",
            "WaitForMultipleObjectsIgnoringSyncContext",
            "SignalAndWait",
            "WaitForSingleObject",
        ],
    ),
    ("System.Threading.Thread", &["Sleep", "SleepInternal", "Join", "JoinInternal"]),
    ("System.Threading.Condition", &["Wait"]),
    ("System.Threading.WaitSubsystem", &["Wait", "Sleep"]),
    ("System.Threading.WaitSubsystem+ThreadWaitInfo", &["Wait"]),
    ("System.Threading.LowLevelMonitor", &["Wait", "WaitCore"]),
    ("System.Threading.LowLevelLifoSemaphore", &["WaitForSignal", "WaitNative", "WaitCore"]),
    ("System.Threading.ReaderWriterLockSlim", &["WaitEvent"]),
    ("System.GC", &["WaitForPendingFinalizers", "WaitForFullGCApproach", "WaitForFullGCComplete"]),
];

/// The same for methods that wait in native code and work in managed code.
const WAITS: &[(&str, &[&str])] = &[
    (
        "System.Threading.Monitor",
        &[
            "Enter",
            "ReliableEnter",
            "Enter_Slowpath",
            "TryEnter",
            "TryEnter_Slowpath",
            "TryEnter_Timeout_Slowpath",
            "ReliableEnterTimeout",
        ],
    ),
    ("System.Threading.Thread", &["UninterruptibleSleep0", "Yield", "YieldInternal"]),
    ("System.Threading.SpinWait", &["SpinOnce", "SpinOnceCore"]),
    ("System.Threading.LowLevelSpinWaiter", &["Wait", "SpinWaitForCondition"]),
    (
        "System.Threading.Lock",
        &["Enter", "EnterSlow", "TryEnterSlow", "EnterAndGetCurrentThreadId"],
    ),
    ("System.Threading.LowLevelLifoSemaphore", &["Wait"]),
    ("System.Threading.ManualResetEventSlim", &["Wait"]),
    ("System.Threading.SemaphoreSlim", &["Wait", "WaitUntilCountOrTimeout"]),
    ("System.Threading.CountdownEvent", &["Wait"]),
    ("System.Threading.Barrier", &["SignalAndWait"]),
    (
        "System.Threading.Tasks.Task",
        &[
            "SpinThenBlockingWait",
            "InternalWait",
            "InternalWaitCore",
            "Wait",
            "WaitAll",
            "WaitAny",
            "WaitAllBlockingCore",
        ],
    ),
    // Threads of the runtime's libraries that sleep until there is something to do. The
    // blocking calls are inlined into them.
    ("System.Threading.PortableThreadPool+WorkerThread", &["WorkerThreadStart"]),
    ("System.Threading.PortableThreadPool+GateThread", &["GateThreadStart"]),
    ("System.Threading.PortableThreadPool+WaitThread", &["WaitThreadStart"]),
    ("System.Threading.PortableThreadPool+IOCompletionPoller", &["Poll"]),
    ("System.Threading.TimerQueue", &["TimerThread"]),
    ("System.Diagnostics.Tracing.CounterGroup", &["PollForValues"]),
    ("System.Diagnostics.Tracing.EventPipeInternal", &["WaitForSessionSignal"]),
    ("System.Net.Sockets.SocketAsyncEngine", &["EventLoop"]),
    ("System.IO.FileSystemWatcher+RunningInstance", &["ProcessEvents", "TryReadEvent"]),
    // Waiting for input or a connection.
    ("System.ConsolePal", &["Read", "ReadKey", "ReadLine"]),
    ("System.ConsolePal+WindowsConsoleStream", &["ReadFileNative"]),
    ("System.ConsolePal+UnixConsoleStream", &["Read"]),
    ("System.IO.StdInReader", &["ReadStdin", "ReadKey", "ReadLine"]),
    ("System.IO.Pipes.NamedPipeServerStream", &["WaitForConnection"]),
    ("Interop+Sys", &["WaitForSocketEvents", "Poll", "ReadStdin"]),
    (
        "Interop+Kernel32",
        &[
            "WaitForSingleObject",
            "WaitForMultipleObjects",
            "WaitForMultipleObjectsEx",
            "GetQueuedCompletionStatus",
            "GetQueuedCompletionStatusEx",
            "Sleep",
            "SleepConditionVariableCS",
            "ConnectNamedPipe",
            "ReadConsole",
        ],
    ),
    ("Interop+Winsock", &["select", "WSAPoll", "accept"]),
];

/// Native functions in which a thread waits.
const NATIVE_WAITS: &[&str] = &[
    // Linux and other Unixes.
    "epoll_wait",
    "epoll_pwait",
    "epoll_pwait2",
    "poll",
    "ppoll",
    "select",
    "pselect",
    "nanosleep",
    "clock_nanosleep",
    "sem_wait",
    "sem_timedwait",
    "sem_clockwait",
    "futex_wait",
    "pthread_cond_wait",
    "pthread_cond_timedwait",
    "pthread_cond_clockwait",
    "pthread_mutex_lock",
    "pthread_mutex_timedlock",
    "pthread_join",
    "sigwait",
    "sigwaitinfo",
    "sigtimedwait",
    "wait4",
    "waitid",
    "waitpid",
    // Linux's kernel.
    "ep_poll",
    "do_epoll_wait",
    "do_poll",
    "do_nanosleep",
    "hrtimer_nanosleep",
    "futex_wait_queue",
    "futex_wait_queue_me",
    "inotify_read",
    // macOS.
    "kevent",
    "psynch_cvwait",
    "psynch_mutexwait",
    "semwait_signal",
    "ulock_wait",
    "semaphore_wait_trap",
    "semaphore_timedwait_trap",
    // Windows.
    "NtWaitForSingleObject",
    "NtWaitForMultipleObjects",
    "NtWaitForAlertByThreadId",
    "NtWaitForKeyedEvent",
    "NtWaitForWorkViaWorkerFactory",
    "NtDelayExecution",
    "NtSignalAndWaitForSingleObject",
    "NtRemoveIoCompletion",
    "NtRemoveIoCompletionEx",
];

/// How a method waits, by its stored name.
pub(crate) fn wait_of(type_name: &str, method: &str) -> Wait {
    // `<Sleep>g____PInvoke|20_0` is the compiler's name for a P/Invoke called `Sleep`.
    let method =
        method.strip_prefix('<').map_or(method, |inner| inner.split('>').next().unwrap_or(inner));
    let is_in = |table: &[(&str, &[&str])]| {
        table.iter().any(|(waiting, methods)| *waiting == type_name && methods.contains(&method))
    };
    match () {
        () if is_in(BLOCKS) => Wait::Always,
        () if is_in(WAITS) => Wait::InNative,
        () => Wait::No,
    }
}

/// Whether a method only calls native code, so that its caller shows the purpose.
pub(crate) fn only_calls(type_name: &str, method: &str) -> bool {
    type_name == "Interop"
        || type_name.starts_with("Interop+")
        || method.contains(">g____PInvoke|")
        || method.starts_with("IL_STUB_PInvoke")
}

/// Whether a native function only waits.
pub(crate) fn is_native_wait(name: &str) -> bool {
    let name = name.trim_start_matches('_').split(['@', '(', '.']).next().unwrap_or(name);
    NATIVE_WAITS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_methods_are_recognised() {
        assert_eq!(wait_of("System.Threading.Monitor", "Wait"), Wait::Always);
        assert_eq!(wait_of("System.Threading.Thread", "<Sleep>g____PInvoke|20_0"), Wait::Always);
        assert_eq!(wait_of("System.Threading.Monitor", "Enter"), Wait::InNative);
        assert_eq!(wait_of("System.Threading.Monitor", "Pulse"), Wait::No);
        assert_eq!(wait_of("MyApp.Monitor", "Wait"), Wait::No);
        assert!(is_native_wait("__epoll_wait") && is_native_wait("pthread_cond_wait@@GLIBC_2.3.2"));
        assert!(is_native_wait("futex_wait_queue") && !is_native_wait("memset"));
    }

    #[test]
    fn interop_is_looked_through() {
        assert!(only_calls("Interop+Sys", "Read") && only_calls("A.B", "<Do>g____PInvoke|3_0"));
        assert!(!only_calls("InteropTests", "Read") && !only_calls("A.B", "Do"));
    }
}
