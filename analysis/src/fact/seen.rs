//! What the stacks of all threads of a running process say together.

/// What stands out in the stacks of all threads.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", tag = "kind"))]
#[non_exhaustive]
pub enum SeenFact {
    /// Threads wait for locks.
    #[non_exhaustive]
    LockWaits {
        /// The threads, by name or else by id.
        threads: Vec<String>,
        /// The program's own methods in which they wait, each once.
        methods: Vec<String>,
        /// Whether several threads wait and no thread runs: it may be a deadlock.
        is_nothing_running: bool,
    },
    /// All workers of the thread pool are blocked.
    #[non_exhaustive]
    BlockedPool {
        /// Number of workers.
        workers: u64,
        /// The call in which most are blocked.
        call: Option<String>,
        /// The program's own method that calls it.
        method: Option<String>,
        /// Number of work items that wait for a worker; `None` if that is not known.
        queued: Option<u64>,
    },
    /// A thread used much of a processor.
    #[non_exhaustive]
    BusyThread {
        /// The thread, by name or else by id.
        thread: String,
        /// Processor time that it used, as a percentage of the time of a whole core.
        core_percent: f64,
        /// Whether that counts as a whole core.
        is_whole_core: bool,
        /// The program's own method that it was in, else the innermost one.
        method: Option<String>,
    },
}

/// What stands out, most important first.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Verdicts {
    /// The facts.
    pub facts: Vec<SeenFact>,
}
