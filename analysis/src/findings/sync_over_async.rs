//! The finding about handlers of requests that wait for tasks, by samples alone. Such a wait blocks
//! a worker of the thread pool, which the task itself may need to end.

use super::finding::{Finding, weight_of_lost_time};
use super::own::OwnModules;
use crate::document::percent;
use crate::fact::{Fact, Number, Place, Unit};
use crate::hash::HashMap;
use crate::model::{
    Frame, FrameHandle, Kind, Resolved, StackHandle, ThreadHandle, WaitFor, public_call,
};
use crate::report::is_pool_worker;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Minimum time of the waits in one method, summed over workers, in percent of the trace.
const MIN_BLOCKED_PERCENT: f64 = 5.0;
/// Minimum number of samples of the waits in one method.
const MIN_SAMPLES: u64 = 50;
/// Maximum weight of the finding: that of a pool whose events show that it was starved.
const MAX_WEIGHT: f64 = 80.0;
/// First words of the namespaces of ASP.NET Core.
const SERVER: &str = "Microsoft.AspNetCore.";
/// First words of the namespaces of ASP.NET Core that also call the program while it starts.
const STARTUP: [&str; 2] = ["Microsoft.AspNetCore.Builder", "Microsoft.AspNetCore.Hosting"];
/// Types that wait for the tasks among which they share out the work of one call.
const SHARERS: [&str; 3] = ["Parallel", "TaskReplicator", "SpoolingTask"];

/// What the name of a frame tells.
#[derive(Debug, Clone, Copy, Default)]
struct NamedFor {
    is_own: bool,
    is_handler: bool,
    /// Whether the method belongs to a server and runs for a request.
    is_server: bool,
    is_of_tasks: bool,
    /// Whether the method waits for tasks that share its work.
    is_sharer: bool,
}

impl NamedFor {
    fn new(resolved: &Resolved<'_>, own: &OwnModules, at: FrameHandle, frame: &Frame) -> NamedFor {
        let is_below = |words: &str| frame.namespace.starts_with(words);
        let type_name = frame.type_name.split(['<', '`', '.']).next().unwrap_or_default();
        NamedFor {
            is_own: own.has(resolved, at),
            is_handler: frame.is_handler,
            is_server: is_below(SERVER) && !STARTUP.iter().any(|words| is_below(words)),
            is_of_tasks: is_below("System.Threading.Tasks")
                || is_below("System.Runtime.CompilerServices")
                    && frame.type_name.contains("TaskAwaiter"),
            is_sharer: is_below("System.Threading.Tasks") && SHARERS.contains(&type_name)
                || is_below("System.Linq.Parallel"),
        }
    }
}

/// The frames of a stack, each with what its name tells.
#[derive(Debug)]
struct RequestStack<'r> {
    frames: &'r [FrameHandle],
    names: &'r [NamedFor],
}

impl RequestStack<'_> {
    fn name(&self, frame: FrameHandle) -> NamedFor {
        self.names.get(frame.index()).copied().unwrap_or_default()
    }

    /// Returns the index of the outermost frame that may be the program's entry into a request: its
    /// own code or a compiled handler, called by the server; `None` if the server calls neither.
    fn entry(&self) -> Option<usize> {
        let server = self.frames.iter().rposition(|frame| self.name(*frame).is_server)?;
        let below = self.frames.get(..server)?;
        below.iter().rposition(|frame| self.name(*frame).is_own || self.name(*frame).is_handler)
    }

    /// Returns the method of the program that waits for a task, and the call that waits. `entries`
    /// are the methods that a server was seen to call: after an `await`, the thread pool calls them.
    fn waiting(&self, entries: &BTreeSet<FrameHandle>) -> Option<(FrameHandle, FrameHandle)> {
        let own = self.frames.iter().position(|frame| self.name(*frame).is_own);
        let handler = || self.frames.iter().rposition(|frame| self.name(*frame).is_handler);
        let at = own.or_else(handler)?;
        let outermost = self.frames.iter().rfind(|frame| self.name(**frame).is_own);
        let is_resumed = || outermost.is_some_and(|frame| entries.contains(frame));
        let inner = self.frames.get(..at)?;
        let shares = inner.iter().any(|frame| self.name(*frame).is_sharer);
        if shares || self.entry().is_none_or(|entry| entry < at) && !is_resumed() {
            return None;
        }
        let waits = inner.iter().rfind(|frame| self.name(**frame).is_of_tasks).or(inner.last());
        Some((*self.frames.get(at)?, *waits?))
    }
}

/// Waits for tasks in one method of the program.
#[derive(Debug, Default)]
struct RequestWaits {
    nanos: u64,
    samples: u64,
    workers: BTreeSet<ThreadHandle>,
    calls: BTreeMap<FrameHandle, u64>,
}

/// Returns the finding about the method of the program in which requests waited most for tasks.
pub(super) fn sync_over_async(
    own: &OwnModules,
    resolved: &Resolved<'_>,
    trace_ns: u64,
) -> Option<Finding> {
    let all = (0_u32..).zip(resolved.all_frames());
    let names: Vec<NamedFor> =
        all.map(|(at, frame)| NamedFor::new(resolved, own, FrameHandle(at), frame)).collect();
    let stack = |stack| RequestStack { frames: resolved.frames(stack), names: &names };
    let profile = resolved.profile().rows();
    let rows = || profile.iter().filter(|(key, _)| key.kind == Kind::Cpu);
    // Most stacks do not wait for tasks, so entries are looked for only if some do.
    let waits = rows().filter(|(key, _)| {
        resolved.admits(key.stack, key.mode)
            && resolved.waits_for(key.stack, key.mode) == Some(WaitFor::Task)
            && is_pool_worker(resolved.frames(key.stack), resolved)
    });
    let waits: Vec<_> = waits.collect();
    if waits.is_empty() {
        return None;
    }
    let stacks: BTreeSet<StackHandle> = rows().map(|(key, _)| key.stack).collect();
    let entries = stacks.into_iter().map(stack).filter_map(|stack| {
        stack.frames.get(stack.entry()?).copied().filter(|frame| stack.name(*frame).is_own)
    });
    let entries: BTreeSet<FrameHandle> = entries.collect();
    let mut places: HashMap<StackHandle, Option<(FrameHandle, FrameHandle)>> = HashMap::default();
    let mut methods: BTreeMap<FrameHandle, RequestWaits> = BTreeMap::new();
    for (key, totals) in waits {
        let place = places.entry(key.stack).or_insert_with(|| stack(key.stack).waiting(&entries));
        let Some((method, call)) = *place else { continue };
        let row = methods.entry(method).or_default();
        row.nanos = row.nanos.saturating_add(totals.weight);
        row.samples = row.samples.saturating_add(totals.samples);
        row.workers.insert(key.thread);
        let nanos = row.calls.entry(call).or_default();
        *nanos = nanos.saturating_add(totals.weight);
    }
    let most = methods.iter().max_by_key(|(method, row)| (row.nanos, Reverse(**method)));
    let (method, row) = most.filter(|(_, row)| row.samples >= MIN_SAMPLES)?;
    let share = percent(row.nanos, trace_ns);
    let call = row.calls.iter().max_by_key(|(call, nanos)| (**nanos, Reverse(**call)));
    let fact = Fact::SyncOverAsync {
        blocked: Number::nanos(row.nanos).estimated(),
        workers: Number::count(row.workers.len() as u64, Unit::Threads),
        call: public_call(resolved.frame(*call?.0)?),
        place: Place::from_frame(resolved.frame(*method)?),
    };
    let weight = weight_of_lost_time(share).min(MAX_WEIGHT);
    (share >= MIN_BLOCKED_PERCENT).then(|| Finding::new(fact, weight))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the positions of the method that waits and of its call in a stack, innermost first.
    /// `entries` are methods that a server was seen to call.
    fn waiting(stack: &[NamedFor], entries: &[usize]) -> Option<(usize, usize)> {
        let frames: Vec<FrameHandle> = FrameHandle::all(stack.len()).collect();
        let entries = entries.iter().map(|at| frames[*at]).collect();
        let found = RequestStack { frames: &frames, names: stack }.waiting(&entries);
        found.map(|(method, call)| (method.index(), call.index()))
    }

    const OTHER: NamedFor = NamedFor {
        is_own: false,
        is_handler: false,
        is_server: false,
        is_of_tasks: false,
        is_sharer: false,
    };
    const WAIT: NamedFor = NamedFor { is_of_tasks: true, ..OTHER };
    const OWN: NamedFor = NamedFor { is_own: true, ..OTHER };
    const HANDLER: NamedFor = NamedFor { is_handler: true, ..OTHER };
    const SERVER: NamedFor = NamedFor { is_server: true, ..OTHER };

    #[test]
    fn what_a_server_calls_waits_for_a_request() {
        assert_eq!(waiting(&[OTHER, WAIT, WAIT, OWN, SERVER, OTHER], &[]), Some((3, 2)));
        assert_eq!(waiting(&[WAIT, HANDLER, SERVER], &[]), Some((1, 0)));
        assert_eq!(waiting(&[WAIT, OWN, HANDLER, SERVER], &[]), Some((1, 0)), "own code is nearer");
        assert_eq!(waiting(&[WAIT, OTHER, OWN, SERVER], &[]), Some((2, 0)), "through a package");
        assert_eq!(waiting(&[WAIT, OWN, OTHER], &[]), None, "no server");
        assert_eq!(waiting(&[WAIT, SERVER, OWN], &[]), None, "the program waits for its server");
        assert_eq!(waiting(&[WAIT, SERVER], &[]), None);
    }

    #[test]
    fn a_handler_that_goes_on_after_an_await_serves_a_request() {
        assert_eq!(waiting(&[WAIT, OWN, OTHER], &[1]), Some((1, 0)));
        assert_eq!(waiting(&[WAIT, OWN, OWN, OTHER], &[2]), Some((1, 0)));
        assert_eq!(waiting(&[WAIT, OWN, OWN, OTHER], &[1]), None, "something else called it");
    }

    #[test]
    fn a_loop_that_shares_out_its_work_is_not_sync_over_async() {
        let sharer = NamedFor { is_sharer: true, ..WAIT };
        assert_eq!(waiting(&[WAIT, sharer, OWN, SERVER], &[]), None);
    }
}
