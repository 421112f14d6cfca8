//! What stands out in the stacks of a process, in sentences.

use super::document::ThreadDocument;
use nettrace_analysis::live::{SampledThread, SeenThread, verdicts};

/// `rows` and `threads`: the same threads, as the sampler and the document have them; `queued`:
/// asks the process how many work items wait.
pub(super) fn of(
    rows: &[SampledThread],
    threads: &[ThreadDocument],
    queued: &dyn Fn() -> Option<u64>,
) -> Vec<String> {
    let of_program =
        |(_, thread): &(&SampledThread, &ThreadDocument)| thread.is_current() && thread.latest;
    let of_program: Vec<_> = rows
        .iter()
        .zip(threads)
        .filter(of_program)
        .filter(|(_, thread)| !thread.of_sessions)
        .collect();
    let names: Vec<String> = of_program
        .iter()
        .map(|(row, thread)| thread.name.clone().unwrap_or_else(|| row.thread_id.to_string()))
        .collect();
    let seen = of_program.iter().zip(&names).map(|((row, thread), name)| {
        let mut seen = SeenThread::new(name, row.state, &row.frames);
        seen.waits_for = row.waits_for;
        seen.is_blocked = thread.blocked == Some(true);
        seen.used = thread.used;
        seen
    });
    verdicts(&seen.collect::<Vec<_>>(), queued)
}
