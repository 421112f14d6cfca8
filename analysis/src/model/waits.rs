//! Methods in which a thread waits.
//!
//! The sampler cannot tell waiting from work in native code. What can be told is the innermost
//! managed method: one that is known to do nothing but wait.

/// Type and name of methods that wait. The type is matched whole, without generic arguments.
const WAITS: &[(&str, &[&str])] = &[
    (
        "System.Threading.Monitor",
        &[
            "Wait",
            "ObjWait",
            "Enter",
            "ReliableEnter",
            "Enter_Slowpath",
            "TryEnter_Slowpath",
            "ReliableEnterTimeout",
        ],
    ),
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
    (
        "System.Threading.Thread",
        &[
            "Sleep",
            "SleepInternal",
            "Join",
            "JoinInternal",
            "UninterruptibleSleep0",
            "Yield",
            "YieldInternal",
        ],
    ),
    ("System.Threading.Lock", &["Enter", "EnterSlow", "TryEnterSlow", "EnterAndGetCurrentThreadId"]),
    ("System.Threading.Condition", &["Wait"]),
    ("System.Threading.WaitSubsystem", &["Wait", "Sleep"]),
    ("System.Threading.WaitSubsystem+ThreadWaitInfo", &["Wait"]),
    ("System.Threading.LowLevelMonitor", &["Wait", "WaitCore"]),
    ("System.Threading.LowLevelLifoSemaphore", &["Wait", "WaitForSignal", "WaitNative", "WaitCore"]),
    ("System.Threading.ManualResetEventSlim", &["Wait"]),
    ("System.Threading.SemaphoreSlim", &["Wait", "WaitUntilCountOrTimeout"]),
    ("System.Threading.CountdownEvent", &["Wait"]),
    ("System.Threading.Barrier", &["SignalAndWait"]),
    ("System.Threading.ReaderWriterLockSlim", &["WaitEvent"]),
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
    ("System.Net.Sockets.SocketAsyncEngine", &["EventLoop"]),
    ("System.IO.FileSystemWatcher+RunningInstance", &["ProcessEvents"]),
];

/// Functions of native code in which a thread waits; only the innermost frame is asked.
const NATIVE_WAITS: &[&str] = &[
    "epoll_wait",
    "poll",
    "ppoll",
    "select",
    "pselect",
    "nanosleep",
    "clock_nanosleep",
    "sem_wait",
    "futex_wait",
    "pthread_cond_wait",
    "pthread_cond_timedwait",
    "pthread_mutex_lock",
    "sigwait",
    "wait4",
];

/// Whether a method, by its stored name, only waits.
pub(crate) fn is_wait(type_name: &str, method: &str) -> bool {
    let method = method.strip_prefix('<').map_or(method, |inner| inner.split('>').next().unwrap_or(inner));
    WAITS.iter().any(|(waiting, methods)| *waiting == type_name && methods.contains(&method))
}

/// Whether a native function only waits.
pub(crate) fn is_native_wait(name: &str) -> bool {
    let name = name.trim_start_matches('_').split(['@', '(']).next().unwrap_or(name);
    NATIVE_WAITS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_told_by_the_method() {
        assert!(is_wait("System.Threading.Monitor", "Wait"));
        assert!(is_wait("System.Threading.Thread", "<Sleep>g____PInvoke|20_0"));
        assert!(!is_wait("System.Threading.Monitor", "Pulse"));
        assert!(!is_wait("MyApp.Monitor", "Wait"));
        assert!(is_native_wait("__epoll_wait") && is_native_wait("pthread_cond_wait@@GLIBC_2.3.2"));
    }
}
