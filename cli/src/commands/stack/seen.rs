//! Result of `stack`, from which its document and text are made.

use super::natives;
use super::take::Taken;
use super::threads::{self, StackGroup, StackedThread};
use super::verdict;
use crate::live::pool_queue;
use crate::live::target::Reached;
use nettrace_analysis::NameOptions;
use nettrace_analysis::fact::Verdicts;
use std::time::Duration;

/// Threads of a process, and how completely they were seen.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) process_id: Option<u64>,
    pub(super) process_name: Option<String>,
    /// Number of times that stacks were taken.
    pub(super) taken: u64,
    /// Number of complete rounds of the sampler.
    pub(super) rounds: u64,
    pub(super) samples: u64,
    /// Whether each thread was certainly seen.
    pub(super) is_complete: bool,
    pub(super) duration: Duration,
    /// Reason why the operating system's names, states and CPU times of threads are not known.
    pub(super) os: Result<(), String>,
    /// Number of threads with native frames, or the reason why none has; `None` without --native.
    pub(super) native: Option<String>,
    /// Findings as sentences.
    pub(super) verdicts: Verdicts,
    pub(super) threads: Vec<StackedThread>,
    /// Groups of threads with identical stacks; `None` without --merge.
    pub(super) groups: Option<Vec<StackGroup>>,
}

/// Options of merging identical stacks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Merge {
    /// Whether stacks of threads that have ended are included.
    pub(super) has_ended: bool,
}

impl Seen {
    /// Evaluates stacks. Queries the process for the length of its queue of work items, if the
    /// stacks suggest that workers are blocked.
    pub(super) fn new(
        reached: &Reached,
        taken: Taken,
        names: NameOptions,
        merge: Option<Merge>,
    ) -> Seen {
        let report = taken.stacks.finish(names);
        let (facts, natives) = (taken.os.as_ref().ok(), taken.native.as_ref());
        let mut threads = threads::sampled(report.threads, facts, natives);
        let verdicts = verdict::of_threads(&threads, &|| pool_queue::waiting_items(reached));
        threads::add_unmanaged(&mut threads, facts, natives);
        let of_threads = threads.iter().filter_map(|thread| thread.native.as_ref());
        let native = natives.map(|natives| natives::summary(natives, of_threads));
        Seen {
            process_id: reached.pid,
            process_name: Some(reached.name.clone()).filter(|name| !name.is_empty()),
            taken: report.taken,
            rounds: report.rounds,
            samples: report.samples,
            is_complete: taken.is_complete,
            duration: taken.duration,
            native,
            os: taken.os.map(|_| ()),
            verdicts,
            groups: merge.map(|merge| threads::merged(&threads, merge.has_ended)),
            threads,
        }
    }
}
