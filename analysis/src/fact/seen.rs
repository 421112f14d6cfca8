//! Facts about a running process that the stacks of all its threads show.

/// A notable fact about a running process that the stacks of all its threads show.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", tag = "kind"))]
#[non_exhaustive]
pub enum SeenFact {
    /// Threads wait for locks.
    #[non_exhaustive]
    LockWaits {
        /// Name of each waiting thread, or its id.
        threads: Vec<String>,
        /// The program's own methods in which the threads wait, each once.
        methods: Vec<String>,
        /// Whether several threads wait and no thread runs, which may be a deadlock.
        is_nothing_running: bool,
    },
    /// All workers of the thread pool are blocked.
    #[non_exhaustive]
    BlockedPool {
        /// Number of workers.
        workers: u64,
        /// Call in which most workers are blocked.
        call: Option<String>,
        /// The program's own method that makes the call.
        method: Option<String>,
        /// Number of work items that wait for a worker; `None` if it is not known.
        queued: Option<u64>,
    },
    /// A thread used much of a processor.
    #[non_exhaustive]
    BusyThread {
        /// Name of the thread, or its id.
        thread: String,
        /// Processor time of the thread, in percent of one core.
        core_percent: f64,
        /// Whether the processor time counts as a whole core.
        is_whole_core: bool,
        /// The innermost own method on the thread's stack, else the innermost method.
        method: Option<String>,
    },
    /// The runtime does not tell managed from native code in its samples.
    Untold,
}

/// Notable facts about a running process.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Verdicts {
    /// Facts, most important first.
    pub facts: Vec<SeenFact>,
}
