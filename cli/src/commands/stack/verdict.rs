//! Finds what stands out in the stacks of a process.

use super::threads::StackedThread;
use nettrace_analysis::fact::Verdicts;
use nettrace_analysis::live::{SampledThread, SeenThread, verdicts};

/// Returns the findings about the latest stacks of the program's threads. `queued` queries the
/// process for the number of queued work items.
pub(super) fn of_threads(threads: &[StackedThread], queued: &dyn Fn() -> Option<u64>) -> Verdicts {
    let is_of_program = |thread: &&StackedThread| {
        thread.is_current() && thread.is_latest() && !thread.is_of_sessions()
    };
    let of_program: Vec<(&StackedThread, &SampledThread, String)> = threads
        .iter()
        .filter(is_of_program)
        .filter_map(|thread| {
            let name = thread.name().map_or_else(|| thread.id.to_string(), str::to_owned);
            Some((thread, thread.sampled.as_ref()?, name))
        })
        .collect();
    let seen = of_program.iter().map(|(thread, row, name)| {
        let mut seen = SeenThread::new(name, row.state, &row.frames);
        seen.waits_for = row.waits_for;
        seen.is_blocked = thread.is_blocked() == Some(true);
        seen.is_untold = row.is_untold;
        seen.used = thread.used;
        seen
    });
    verdicts(&seen.collect::<Vec<_>>(), queued)
}
