//! Notable facts in the stacks of all threads.

use crate::fact::{SeenFact, Verdicts};
use crate::model::{Folding, Frame, ThreadState, WaitFor, public_call};
use crate::report::is_pool_frame;
use crate::words::frames::place_name;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum number of threads that are reported as busy.
const MAX_BUSY: usize = 3;
/// Minimum part of a core that counts as a whole core.
const MIN_WHOLE_CORE: f64 = 0.8;
/// Minimum part of a core that is reported.
const MIN_CORE: f64 = 0.3;
/// Minimum number of waiting workers that are reported: fewer may be normal for little work.
const MIN_WORKERS: usize = 2;

/// Thread as it was seen.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct SeenThread<'t> {
    /// Name or id of the thread in a sentence.
    pub name: &'t str,
    /// State of the thread.
    pub state: ThreadState,
    /// Kind of thing that the thread waited for; `None` if it did not wait.
    pub waits_for: Option<WaitFor>,
    /// Whether the operating system says that the thread sleeps though its stack shows no wait.
    pub is_blocked: bool,
    /// Frames of the thread, innermost first.
    pub frames: &'t [Arc<Frame>],
    /// Whether the runtime does not tell managed from native code in its samples, so that `state`
    /// may be wrong.
    pub is_untold: bool,
    /// Processor time of the thread while stacks were taken, as a part of that time; `None` if
    /// unknown.
    pub used: Option<f64>,
}

impl<'t> SeenThread<'t> {
    /// Describes a thread that was in this state.
    pub fn new(name: &'t str, state: ThreadState, frames: &'t [Arc<Frame>]) -> SeenThread<'t> {
        SeenThread {
            name,
            state,
            waits_for: None,
            is_blocked: false,
            frames,
            is_untold: false,
            used: None,
        }
    }

    /// Returns the innermost method of the program's own code, by its public name.
    fn own(&self) -> Option<String> {
        let frame = self.frames.get(Folding::own_at(self.frames)?)?;
        Some(frame.handler_name().unwrap_or_else(|| public_call(frame)))
    }

    /// Returns the method that the innermost own method calls, by its public name.
    fn call(&self) -> Option<String> {
        let at = Folding::own_at(self.frames)?;
        self.frames.get(at.checked_sub(1)?).map(|frame| public_call(frame))
    }

    fn runs(&self) -> bool {
        self.state != ThreadState::Waiting && !self.is_blocked
    }

    fn is_pool_worker(&self) -> bool {
        self.frames.iter().any(|frame| is_pool_frame(frame))
    }
}

/// Returns the notable facts. `threads`: threads of the program, without those of diagnostic
/// sessions; `queued`: returns the number of work items that wait for the thread pool, called only
/// if needed.
pub fn verdicts(threads: &[SeenThread<'_>], queued: &dyn Fn() -> Option<u64>) -> Verdicts {
    let mut busiest: Vec<&SeenThread<'_>> = threads.iter().collect();
    let used = |thread: &SeenThread<'_>| thread.used.unwrap_or(0.0);
    busiest.sort_by(|one, other| used(other).total_cmp(&used(one)));
    let busy = busiest.into_iter().filter_map(busy).take(MAX_BUSY);
    let stuck = [lock_waits(threads), blocked_pool(threads, queued)];
    let untold = threads.iter().any(|thread| thread.is_untold).then_some(SeenFact::Untold);
    Verdicts { facts: stuck.into_iter().flatten().chain(busy).chain(untold).collect() }
}

fn lock_waits(threads: &[SeenThread<'_>]) -> Option<SeenFact> {
    let waits = threads.iter().filter(|thread| thread.waits_for == Some(WaitFor::Lock));
    let waiting: Vec<&SeenThread<'_>> = waits.collect();
    let mut methods: Vec<String> = Vec::new();
    for method in waiting.iter().filter_map(|thread| thread.own()) {
        if !methods.contains(&method) {
            methods.push(method);
        }
    }
    (!waiting.is_empty()).then(|| SeenFact::LockWaits {
        threads: waiting.iter().map(|thread| thread.name.to_owned()).collect(),
        methods,
        is_nothing_running: waiting.len() > 1 && !threads.iter().any(SeenThread::runs),
    })
}

fn blocked_pool(threads: &[SeenThread<'_>], queued: &dyn Fn() -> Option<u64>) -> Option<SeenFact> {
    let workers: Vec<&SeenThread<'_>> =
        threads.iter().filter(|thread| thread.is_pool_worker()).collect();
    let is_blocked = |thread: &&SeenThread<'_>| {
        thread.state == ThreadState::Waiting
            && !matches!(
                thread.waits_for,
                None | Some(WaitFor::Work | WaitFor::Sleep | WaitFor::Input | WaitFor::Other)
            )
    };
    if workers.len() < MIN_WORKERS || !workers.iter().all(is_blocked) {
        return None;
    }
    let mut places: BTreeMap<(Option<String>, Option<String>), usize> = BTreeMap::new();
    for worker in &workers {
        let count = places.entry((worker.call(), worker.own())).or_default();
        *count = count.saturating_add(1);
    }
    let ((call, method), _) = places.into_iter().max_by_key(|(_, count)| *count)?;
    let workers = workers.len() as u64;
    Some(SeenFact::BlockedPool { workers, call, method, queued: queued() })
}

fn busy(thread: &SeenThread<'_>) -> Option<SeenFact> {
    let used = thread.used.filter(|used| *used >= MIN_CORE)?;
    let innermost = || thread.frames.first().map(|frame| place_name(frame));
    Some(SeenFact::BusyThread {
        thread: thread.name.to_owned(),
        core_percent: used * 100.0,
        is_whole_core: used >= MIN_WHOLE_CORE,
        method: thread.own().or_else(innermost),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes frames by type and method, of the runtime's library if the type has a namespace.
    fn frames(methods: &[(&str, &str)]) -> Vec<Arc<Frame>> {
        let frame = |(type_name, method): &(&str, &str)| {
            let is_library = type_name.starts_with("System.");
            let module = if is_library { "System.Private.CoreLib" } else { "hang" };
            Arc::new(Frame::from_names(module, type_name, method, "void ()"))
        };
        methods.iter().map(frame).collect()
    }

    const ENTER: (&str, &str) = ("System.Threading.Monitor", "Enter_Slowpath");
    const RESULT: (&str, &str) = ("System.Threading.Tasks.Task`1", "GetResultCore");
    const DISPATCH: (&str, &str) = ("System.Threading.ThreadPoolWorkQueue", "Dispatch");

    #[test]
    fn threads_that_wait_for_locks_while_nothing_runs_may_be_a_deadlock() {
        let stacks = ["Forward", "Backward"].map(|method| frames(&[ENTER, ("Program", method)]));
        let main = frames(&[("System.Threading.Thread", "Join")]);
        let mut threads: Vec<SeenThread<'_>> = ["forward", "backward"]
            .iter()
            .zip(&stacks)
            .map(|(name, frames)| SeenThread {
                waits_for: Some(WaitFor::Lock),
                ..SeenThread::new(name, ThreadState::Waiting, frames)
            })
            .collect();
        threads.push(SeenThread {
            waits_for: Some(WaitFor::Thread),
            ..SeenThread::new("17", ThreadState::Waiting, &main)
        });
        let waits = "threads forward and backward wait for locks in Program.Forward and \
                     Program.Backward";
        let deadlock = "it may be a deadlock (stacks do not say who holds a lock)";
        let none = || None;
        let texts = |threads: &[SeenThread<'_>]| -> Vec<String> {
            verdicts(threads, &none).facts.iter().map(SeenFact::text).collect()
        };
        assert_eq!(texts(&threads), [format!("{waits}, and nothing runs: {deadlock}")]);
        let runs = frames(&[("Program", "Poll")]);
        threads.push(SeenThread {
            used: Some(0.97),
            ..SeenThread::new("poller", ThreadState::Managed, &runs)
        });
        let busy = "thread poller used a whole core, in Program.Poll";
        assert_eq!(texts(&threads), [waits, busy]);
    }

    #[test]
    fn a_pool_whose_workers_all_wait_for_tasks_is_starved() {
        let blocked = frames(&[RESULT, ("Program", "<Main>b__0_0"), DISPATCH]);
        let worker = SeenThread {
            waits_for: Some(WaitFor::Task),
            ..SeenThread::new("1", ThreadState::Waiting, &blocked)
        };
        let starved = verdicts(&[worker; 4], &|| Some(6)).facts;
        assert_eq!(
            starved.iter().map(SeenFact::text).collect::<Vec<_>>(),
            [
                "all 4 pool workers are blocked in Task.Result under Program.Main.lambda_0_0, 6 items \
                 wait: the pool is starved"
            ]
        );
        let idle = SeenThread { waits_for: Some(WaitFor::Work), ..worker };
        assert!(verdicts(&[worker, worker, idle], &|| Some(6)).facts.is_empty());
    }
}
