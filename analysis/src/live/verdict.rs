//! What the stacks of all threads say together: who looks at them wants to know that first.

use crate::model::{Folding, Frame, ThreadState, WaitFor};
use crate::report::is_pool_frame;
use crate::words::frames::{call_name, place_name};
use nettrace_export::units;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum number of threads or places that a sentence names.
const MOST_NAMES: usize = 4;
/// Maximum number of threads of which it is said how busy they are.
const MOST_BUSY: usize = 3;
/// From this part of the time on a thread has used a whole core.
const WHOLE_CORE: f64 = 0.8;
/// Less than this part of a core is not said.
const LEAST_OF_CORE: f64 = 0.3;
/// Fewer workers that wait may be all the work there is.
const FEWEST_WORKERS: usize = 2;

/// A thread as it was seen.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct SeenThread<'t> {
    /// How a sentence calls it: its name, or its id.
    pub name: &'t str,
    /// What it was doing.
    pub state: ThreadState,
    /// What it waited for.
    pub waits_for: Option<WaitFor>,
    /// Whether the operating system says that it sleeps, though its stack names no wait.
    pub is_blocked: bool,
    /// Names of its frames, innermost first.
    pub frames: &'t [Arc<Frame>],
    /// Processor time that it used while stacks were taken, as a part of that time; `None` if
    /// that is not known.
    pub used: Option<f64>,
}

impl<'t> SeenThread<'t> {
    /// A thread that was in this state.
    pub fn new(name: &'t str, state: ThreadState, frames: &'t [Arc<Frame>]) -> SeenThread<'t> {
        SeenThread { name, state, waits_for: None, is_blocked: false, frames, used: None }
    }

    /// `Program.Forward`: the innermost method of the program's own.
    fn own(&self) -> Option<String> {
        self.frames.iter().find(|frame| Folding::is_own(frame)).map(|frame| call_name(frame))
    }

    /// What that calls.
    fn call(&self) -> Option<String> {
        let at = self.frames.iter().position(|frame| Folding::is_own(frame))?;
        self.frames.get(at.checked_sub(1)?).map(|frame| call_name(frame))
    }

    fn runs(&self) -> bool {
        self.state != ThreadState::Waiting && !self.is_blocked
    }

    fn is_pool_worker(&self) -> bool {
        self.frames.iter().any(|frame| is_pool_frame(&frame.text))
    }
}

/// What stands out, most important first. `threads`: those of the program, without those that
/// exist because somebody looks; `queued`: how many work items wait for the thread pool, which
/// is asked if it matters.
pub fn verdicts(threads: &[SeenThread<'_>], queued: &dyn Fn() -> Option<u64>) -> Vec<String> {
    let mut busiest: Vec<&SeenThread<'_>> = threads.iter().collect();
    let used = |thread: &SeenThread<'_>| thread.used.unwrap_or(0.0);
    busiest.sort_by(|one, other| used(other).total_cmp(&used(one)));
    let busy = busiest.into_iter().filter_map(busy).take(MOST_BUSY);
    [locks(threads), workers(threads, queued)].into_iter().flatten().chain(busy).collect()
}

/// `threads forward and backward wait for locks in Program.Forward and Program.Backward, and
/// nothing runs: it may be a deadlock (stacks do not say who holds a lock)`.
fn locks(threads: &[SeenThread<'_>]) -> Option<String> {
    let waits = threads.iter().filter(|thread| thread.waits_for == Some(WaitFor::Lock));
    let waiting: Vec<&SeenThread<'_>> = waits.collect();
    let names: Vec<&str> = waiting.iter().map(|thread| thread.name).collect();
    let mut places: Vec<String> = Vec::new();
    for place in waiting.iter().filter_map(|thread| thread.own()) {
        if !places.contains(&place) {
            places.push(place);
        }
    }
    let in_places = match places.is_empty() {
        true => String::new(),
        false => format!(" in {}", listed(&places)),
    };
    let (threads_wait, locks) = match waiting.len() {
        0 => return None,
        1 => (format!("thread {} waits", listed(&names)), "a lock"),
        _ => (format!("threads {} wait", listed(&names)), "locks"),
    };
    let text = format!("{threads_wait} for {locks}{in_places}");
    let nothing_runs = waiting.len() > 1 && !threads.iter().any(SeenThread::runs);
    Some(match nothing_runs {
        true => format!(
            "{text}, and nothing runs: it may be a deadlock (stacks do not say who holds a lock)"
        ),
        false => text,
    })
}

/// `all 4 pool workers are blocked in Task.Result under Program.Main.lambda, 6 items wait: the pool
/// is starved`.
fn workers(threads: &[SeenThread<'_>], queued: &dyn Fn() -> Option<u64>) -> Option<String> {
    let workers: Vec<&SeenThread<'_>> =
        threads.iter().filter(|thread| thread.is_pool_worker()).collect();
    let is_blocked = |thread: &&SeenThread<'_>| {
        thread.state == ThreadState::Waiting
            && !matches!(
                thread.waits_for,
                None | Some(WaitFor::Work | WaitFor::Sleep | WaitFor::Input | WaitFor::Other)
            )
    };
    if workers.len() < FEWEST_WORKERS || !workers.iter().all(is_blocked) {
        return None;
    }
    let mut places: BTreeMap<(Option<String>, Option<String>), usize> = BTreeMap::new();
    for worker in &workers {
        let count = places.entry((worker.call(), worker.own())).or_default();
        *count = count.saturating_add(1);
    }
    let ((call, own), _) = places.into_iter().max_by_key(|(_, count)| *count)?;
    let call = call.map_or_else(String::new, |call| format!(" in {call}"));
    let own = own.map_or_else(String::new, |own| format!(" under {own}"));
    let count = workers.len();
    let items = match queued() {
        None | Some(0) => String::new(),
        Some(1) => ", 1 item waits".to_owned(),
        Some(many) => format!(", {} items wait", units::count(many)),
    };
    Some(format!("all {count} pool workers are blocked{call}{own}{items}: the pool is starved"))
}

/// `poller used a whole core, in Program.Poll`.
fn busy(thread: &SeenThread<'_>) -> Option<String> {
    let used = thread.used.filter(|used| *used >= LEAST_OF_CORE)?;
    let core = match used >= WHOLE_CORE {
        true => "a whole core".to_owned(),
        // Others may want the processors, too.
        false => format!("{:.0} % of a core", used * 100.0),
    };
    let place = thread.own().or_else(|| thread.frames.first().map(|it| place_name(it)));
    let place = place.map_or_else(String::new, |place| format!(", in {place}"));
    Some(format!("thread {} used {core}{place}", thread.name))
}

/// `a, b and c`.
fn listed<T: AsRef<str>>(names: &[T]) -> String {
    let shown: Vec<&str> = names.iter().take(MOST_NAMES).map(AsRef::as_ref).collect();
    match (names.len().saturating_sub(shown.len()), shown.split_last()) {
        (0, Some((last, []))) => (*last).to_owned(),
        (0, Some((last, before))) => format!("{} and {last}", before.join(", ")),
        (more, _) => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames by type and method, of the runtime's library if the type has a namespace.
    fn frames(methods: &[(&str, &str)]) -> Vec<Arc<Frame>> {
        let frame = |(type_name, method): &(&str, &str)| {
            let is_library = type_name.starts_with("System.");
            let module = if is_library { "System.Private.CoreLib" } else { "hang" };
            Arc::new(Frame::for_method(module, type_name, method, "void ()"))
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
        assert_eq!(verdicts(&threads, &none), [format!("{waits}, and nothing runs: {deadlock}")]);
        let runs = frames(&[("Program", "Poll")]);
        threads.push(SeenThread {
            used: Some(0.97),
            ..SeenThread::new("poller", ThreadState::Managed, &runs)
        });
        let busy = "thread poller used a whole core, in Program.Poll";
        assert_eq!(verdicts(&threads, &none), [waits, busy]);
    }

    #[test]
    fn a_pool_whose_workers_all_wait_for_tasks_is_starved() {
        let blocked = frames(&[RESULT, ("Program", "<Main>b__0_0"), DISPATCH]);
        let worker = SeenThread {
            waits_for: Some(WaitFor::Task),
            ..SeenThread::new("1", ThreadState::Waiting, &blocked)
        };
        assert_eq!(
            verdicts(&[worker; 4], &|| Some(6)),
            [
                "all 4 pool workers are blocked in Task.Result under Program.Main.lambda_0_0, 6 items \
                 wait: the pool is starved"
            ]
        );
        let idle = SeenThread { waits_for: Some(WaitFor::Work), ..worker };
        assert!(verdicts(&[worker, worker, idle], &|| Some(6)).is_empty());
    }
}
