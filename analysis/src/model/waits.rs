//! Tables of the methods and functions in which a thread waits, computes or spins.
//!
//! The sampler cannot tell waiting from work in native code, but the innermost managed method may
//! be known to wait. Methods that only call native code (P/Invoke stubs, `Interop`) are skipped:
//! their caller decides.

/// Whether and how a method waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Wait {
    /// The method does not wait, or is unknown.
    No,
    /// The method waits in native code. Its managed code counts as work, such as looking for
    /// something to do.
    InNative,
    /// The method takes a lock. In native code the thread is blocked, in managed code it spins.
    Lock,
    /// The method only blocks, or spins until there is work. In its managed code, the thread is
    /// about to block or was just woken.
    Always,
    /// The method computes in native code.
    Computes,
}

type WaitingMethods = &'static [(&'static str, &'static [&'static str])];

/// Types and names of methods that only block, by runtime and platform. A type is listed by its
/// stored name without generic arguments.
const BLOCKS: &[WaitingMethods] = &[
    // CoreCLR, all versions.
    &[
        ("System.Threading.Monitor", &["Wait", "ObjWait"]),
        (
            "System.Threading.WaitHandle",
            &[
                "WaitOne",
                "WaitOneNoCheck",
                "WaitOneCore",
                "WaitAny",
                "WaitAnyMultiple",
                "WaitAll",
                "WaitMultiple",
                "WaitMultipleIgnoringSyncContext",
                "WaitForMultipleObjectsIgnoringSyncContext",
                "SignalAndWait",
                "SignalAndWaitCore",
                "SignalAndWaitNative",
                "WaitForSingleObject",
            ],
        ),
        ("System.Threading.Thread", &["Sleep", "SleepInternal", "Join", "JoinInternal"]),
        ("System.Threading.Condition", &["Wait"]),
        ("System.Threading.ReaderWriterLockSlim", &["WaitEvent"]),
        (
            "System.GC",
            &["WaitForPendingFinalizers", "WaitForFullGCApproach", "WaitForFullGCComplete"],
        ),
        // An idle worker spins before it blocks. The spinning is no work.
        (
            "System.Threading.LowLevelLifoSemaphore",
            &["Wait", "WaitForSignal", "WaitNative", "WaitCore"],
        ),
        // The event that a worker writes before it waits.
        (
            "System.Diagnostics.Tracing.NativeRuntimeEventSource",
            &["ThreadPoolWorkerThreadWait", "LogThreadPoolWorkerThreadWait"],
        ),
    ],
    // Code that is managed since .NET 11, and in NativeAOT on Unix.
    &[
        ("System.Threading.LowLevelThreadBlocker", &["Wait", "TimedWait"]),
        (
            "System.Threading.LowLevelLifoSemaphore",
            &["Block", "WaitAsWaiter", "WaitSlow", "WaitNoSpin"],
        ),
        (
            "System.Threading.LowLevelFutex",
            &["WaitOnAddress", "WaitOnAddressTimeout", "WaitNoSpin"],
        ),
        ("System.Threading.LowLevelLock", &["WaitAndAcquire"]),
        ("System.Threading.LowLevelMonitor", &["Wait", "WaitCore"]),
        ("System.Threading.WaitSubsystem", &["Wait", "Sleep", "SignalAndWait"]),
        (
            "System.Threading.WaitSubsystem+ThreadWaitInfo",
            &["Wait", "Sleep", "UninterruptibleSleep0"],
        ),
    ],
    // Mono.
    &[
        ("System.Threading.Monitor", &["Monitor_wait"]),
        ("System.Threading.WaitHandle", &["Wait_internal"]),
        ("System.Threading.LowLevelLifoSemaphore", &["TimedWaitInternal"]),
        ("System.Threading.LowLevelLifoAsyncWaitSemaphore", &["PrepareAsyncWait"]),
    ],
    // NativeAOT.
    &[
        ("System.Runtime.InternalCalls", &["RhpWaitForFinalizerRequest"]),
        ("System.Runtime.RuntimeImports", &["RhWaitForPendingFinalizers"]),
    ],
];

const USER32: &[&str] = &[
    "GetMessage",
    "GetMessageA",
    "GetMessageW",
    "IntGetMessageW",
    "IntWaitMessage",
    "MsgWaitForMultipleObjectsEx",
    "WaitMessage",
];

/// Types and names of methods that wait in native code and work in managed code.
const WAITS: &[WaitingMethods] = &[
    &[
        ("System.Threading.Thread", &["UninterruptibleSleep0", "Yield", "YieldInternal"]),
        ("System.Threading.SpinWait", &["SpinOnce", "SpinOnceCore"]),
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
    ],
    // Threads of the runtime's libraries that sleep until there is something to do. Blocking calls
    // are inlined into these methods.
    &[
        ("System.Threading.PortableThreadPool+WorkerThread", &["WorkerThreadStart"]),
        ("System.Threading.PortableThreadPool+GateThread", &["GateThreadStart"]),
        ("System.Threading.PortableThreadPool+WaitThread", &["WaitThreadStart"]),
        ("System.Threading.PortableThreadPool+IOCompletionPoller", &["Poll"]),
        ("System.Threading.TimerQueue", &["TimerThread"]),
        ("System.Diagnostics.Tracing.CounterGroup", &["PollForValues"]),
        ("System.Diagnostics.Tracing.EventPipeInternal", &["WaitForSessionSignal"]),
        ("System.Net.Sockets.SocketAsyncEngine", &["EventLoop"]),
        ("System.Runtime.__Finalizer", &["ProcessFinalizers"]),
    ],
    // Input, connections and watched files, on all systems.
    &[
        ("System.IO.FileSystemWatcher+RunningInstance", &["ProcessEvents", "TryReadEvent"]),
        ("System.IO.FileSystemWatcher+INotify", &["ProcessEvents", "TryReadEvent"]),
        (
            "System.IO.FileSystemWatcher+RunningInstance+StaticWatcherRunLoopManager",
            &["WatchForFileSystemEventsThreadStart"],
        ),
        ("System.ConsolePal", &["Read", "ReadKey", "ReadLine"]),
        ("System.ConsolePal+WindowsConsoleStream", &["ReadFileNative"]),
        ("System.ConsolePal+UnixConsoleStream", &["Read"]),
        ("System.IO.StdInReader", &["ReadStdin", "ReadKey", "ReadLine"]),
        ("System.IO.Pipes.NamedPipeServerStream", &["WaitForConnection", "WaitForConnectionCore"]),
        ("System.IO.Pipes.NamedPipeClientStream", &["TryConnect", "ConnectInternal"]),
        ("System.IO.Pipes.PipeStream", &["Read", "ReadByte", "ReadCore", "ReadFileNative"]),
        // Synchronous calls. Asynchronous operations are called `ReceiveAsync` and so on.
        (
            "System.Net.Sockets.Socket",
            &[
                "Accept",
                "Connect",
                "DoConnect",
                "Poll",
                "Receive",
                "ReceiveFrom",
                "ReceiveMessageFrom",
                "Select",
            ],
        ),
        ("System.Net.Sockets.SocketPal", &["Poll", "Select", "SelectViaPoll", "SelectViaSelect"]),
        ("System.Net.Sockets.SocketAsyncContext", &["Accept", "Connect", "PerformSyncOperation"]),
        ("System.Net.NameResolutionPal", &["TryGetAddrInfo", "GetHostByName"]),
    ],
    // Linux and macOS.
    &[(
        "Interop+Sys",
        &[
            "GetHostEntryForName",
            "LowLevelMonitor_TimedWait",
            "LowLevelMonitor_Wait",
            "Open",
            "Poll",
            "ReadStdin",
            "ReceiveMessage",
            "WaitForSocketEvents",
            "WaitIdAnyExitedNoHangNoWait",
        ],
    )],
    &[("Interop+RunLoop", &["CFRunLoopRun"])],
    // Windows.
    &[
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
                "WaitNamedPipe",
                "ReadConsole",
            ],
        ),
        // Message loops of windows.
        ("Interop+User32", USER32),
        ("Windows.Win32.PInvoke", USER32),
        ("MS.Win32.UnsafeNativeMethods", USER32),
        ("Interop+Winsock", &["select", "WSAPoll", "accept", "recv", "recvfrom", "GetAddrInfoW"]),
    ],
];

/// Methods that take a lock.
const LOCKS: &[WaitingMethods] = &[
    &[
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
                "SynchronizedMethodEnter",
            ],
        ),
        (
            "System.Threading.Lock",
            &["Enter", "EnterSlow", "TryEnterSlow", "EnterAndGetCurrentThreadId"],
        ),
        (
            "System.Threading.ReaderWriterLockSlim",
            &[
                "EnterReadLock",
                "EnterUpgradeableReadLock",
                "EnterWriteLock",
                "TryEnterReadLock",
                "TryEnterReadLockCore",
                "TryEnterUpgradeableReadLock",
                "TryEnterUpgradeableReadLockCore",
                "TryEnterWriteLock",
                "TryEnterWriteLockCore",
            ],
        ),
        ("System.Threading.SpinLock", &["ContinueTryEnter", "ContinueTryEnterWithThreadTracking"]),
    ],
    // Mono.
    &[("System.Threading.Monitor", &["try_enter_with_atomic_var", "enter_with_atomic_var"])],
];

/// Types whose methods all compute in native code. Only the name can say so, because the sampler
/// reports waiting and computing in native code alike.
const COMPUTING_TYPES: &[&str] = &[
    "Interop+AppleCrypto",
    "Interop+BCrypt",
    "Interop+Brotli",
    "Interop+Crypto",
    "Interop+Globalization",
    "Interop+NCrypt",
    "Interop+Normaliz",
    "Interop+OpenSsl",
    "Interop+Ssl",
    "Interop+ZLib",
    "Interop+Zstd",
    "System.IO.Compression.BrotliDecoder",
    "System.IO.Compression.BrotliEncoder",
    "System.IO.Compression.Deflater",
    "System.IO.Compression.Inflater",
    "System.IO.Compression.ZLibNative+ZLibStreamHandle",
];

/// Beginnings of the names of types and methods: these methods compute in native code.
const COMPUTING_METHODS: &[(&str, &str)] = &[
    ("SQLitePCL.", "sqlite3_"),
    ("System.Data.SQLite.", "sqlite3_"),
    ("System.Globalization.CompareInfo", "Icu"),
    ("System.Globalization.CompareInfo", "Nls"),
    ("System.Globalization.TextInfo", "Icu"),
    ("System.Globalization.TextInfo", "Nls"),
];

/// Methods in which the runtime catches a thread that it wants to stop.
const GC_POLLS: WaitingMethods = &[("System.Threading.Thread", &["PollGC", "PollGCWorker"])];

/// Types and names of methods that spin for their caller.
const SPINS: WaitingMethods = &[
    ("System.Threading.Thread", &["LongSpinWait", "SpinWait", "SpinWaitInternal"]),
    ("System.Threading.LowLevelSpinWaiter", &["Wait", "SpinWaitForCondition"]),
    ("System.Threading.Backoff", &["Exponential"]),
];

/// Types all of whose methods are plumbing, as in [`PLUMBING`].
const PLUMBING_TYPES: &[&str] = &[
    "System.Diagnostics.Tracing.NativeRuntimeEventSource",
    "System.Runtime.EH",
    "System.Runtime.StackFrameIterator",
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
    // NativeAOT: the finalizer thread, whose method also has a native name.
    "ProcessFinalizers",
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

/// Returns a method's name in source code: `Sleep` for `<Sleep>g____PInvoke|20_0`, the compiler's
/// name of a P/Invoke.
pub(super) fn written(method: &str) -> &str {
    method.strip_prefix('<').map_or(method, |inner| inner.split('>').next().unwrap_or(inner))
}

fn is_in(table: &[WaitingMethods], type_name: &str, method: &str) -> bool {
    let has = |methods: &WaitingMethods| {
        methods.iter().any(|(name, names)| *name == type_name && names.contains(&method))
    };
    table.iter().any(has)
}

/// Returns the stored name of a nested type in the tables: `A+B` for `A.B`, the name in code that
/// was compiled ahead of time.
#[cfg(feature = "symbols")]
pub(super) fn stored_type(dotted: &str) -> Option<&'static str> {
    let tables = BLOCKS.iter().chain(WAITS).chain(LOCKS).chain([&SPINS, &GC_POLLS]);
    let types = tables.flat_map(|table| table.iter().map(|(name, _)| *name));
    let nested = types.filter(|name| name.contains('+'));
    nested.into_iter().find(|name| name.replace('+', ".") == dotted)
}

/// Returns whether and how a method waits, given its stored name.
pub(crate) fn wait_of(type_name: &str, method: &str) -> Wait {
    let method = written(method);
    let tables = [(BLOCKS, Wait::Always), (LOCKS, Wait::Lock), (WAITS, Wait::InNative)];
    let found = tables.into_iter().find(|(table, _)| is_in(table, type_name, method));
    let other = if computes(type_name, method) { Wait::Computes } else { Wait::No };
    found.map_or(other, |(_, wait)| wait)
}

fn computes(type_name: &str, method: &str) -> bool {
    // An explicit implementation has the name of its interface:
    // `SQLitePCL.ISQLite3Provider.sqlite3_step`.
    let last = method.rsplit('.').next().unwrap_or(method);
    let is_method =
        |(of, start): &(&str, &str)| type_name.starts_with(of) && last.starts_with(start);
    COMPUTING_TYPES.contains(&type_name) || COMPUTING_METHODS.iter().any(is_method)
}

/// Returns whether a method only calls native code, so that the caller decides what the thread
/// does.
pub(crate) fn only_calls(type_name: &str, method: &str) -> bool {
    type_name == "Interop"
        || type_name.starts_with("Interop+")
        || method.contains(">g____PInvoke|")
        || method.starts_with("IL_STUB_PInvoke")
}

/// Returns whether the methods of a type are used for synchronous and asynchronous operations
/// alike, as those that read sockets. Then the caller decides whether they wait.
pub(crate) fn is_on_behalf(type_name: &str) -> bool {
    matches!(
        type_name,
        "System.Net.Sockets.SocketPal"
            | "System.Net.Sockets.SocketAsyncContext"
            | "System.Net.Sockets.NetworkStream"
            | "System.Runtime.InteropServices.SafeHandle"
    )
}

/// Returns whether a method spins for its caller.
pub(crate) fn is_spinning(type_name: &str, method: &str) -> bool {
    is_in(&[SPINS], type_name, written(method))
}

/// Returns whether a method is the runtime's own work, such as throwing or writing events, so that
/// reports show the caller instead.
pub(crate) fn is_plumbing(type_name: &str, method: &str) -> bool {
    // Helpers that throw: `ArgumentNullException.ThrowIfNull`.
    let is_thrower = method.starts_with("Throw")
        && (type_name.starts_with("System.") || type_name.starts_with("Microsoft."));
    is_thrower || PLUMBING_TYPES.contains(&type_name)
}

/// Returns whether a method is a poll, in which a thread stops for a sample or a collection.
pub(crate) fn is_gc_poll(type_name: &str, method: &str) -> bool {
    is_in(&[GC_POLLS], type_name, written(method))
}

/// Returns whether a native function only waits.
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
        assert_eq!(wait_of("System.Threading.Monitor", "Enter"), Wait::Lock);
        assert_eq!(wait_of("System.Threading.Monitor", "Pulse"), Wait::No);
        assert_eq!(wait_of("MyApp.Monitor", "Wait"), Wait::No);
        assert!(is_native_wait("__epoll_wait") && is_native_wait("pthread_cond_wait@@GLIBC_2.3.2"));
        assert!(is_native_wait("futex_wait_queue") && !is_native_wait("memset"));
    }

    #[test]
    fn native_calls_that_compute_are_in_the_table() {
        for (type_name, method) in [
            ("Interop+Crypto", "EvpDigestUpdate"),
            ("Interop+ZLib", "Deflate"),
            ("Interop+Brotli", "BrotliEncoderCompress"),
            ("Interop+Globalization", "CompareString"),
            ("System.Globalization.CompareInfo", "IcuCompareString"),
            ("SQLitePCL.SQLite3Provider_e_sqlite3+NativeMethods", "sqlite3_step"),
            ("SQLitePCL.SQLite3Provider_e_sqlite3", "SQLitePCL.ISQLite3Provider.sqlite3_step"),
            ("SQLitePCL.raw", "sqlite3_prepare_v2"),
            ("System.Data.SQLite.UnsafeNativeMethods", "sqlite3_step"),
        ] {
            assert_eq!(wait_of(type_name, method), Wait::Computes, "{type_name}.{method}");
        }
        assert_eq!(wait_of("MyApp.Store", "sqlite3_step"), Wait::No);
    }

    #[test]
    fn interop_is_looked_through() {
        assert!(only_calls("Interop+Sys", "Read") && only_calls("A.B", "<Do>g____PInvoke|3_0"));
        assert!(!only_calls("InteropTests", "Read") && !only_calls("A.B", "Do"));
    }
}
