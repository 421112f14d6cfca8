//! Waits for locks: runtime 81 Contention/Start and 91 Contention/Stop.
//!
//! A thread that waits for a lock may start to wait for another before it gets the first.
//! From .NET 5 on, the stop contains the duration; if another stop was lost, the duration
//! shows which start this one belongs to.

use super::contract::{Moment, Recording, Report, ReportInput, SCHEMA};
use super::counts::ThreadCount;
use super::deadlock::{Deadlock, deadlocks};
use super::distribution::{Distribution, Spread};
use super::stack_rows::{ShownFrames, StackRow, stack_rows};
use super::stuck::{StuckThread, StuckThreads};
use super::waiting::{MOST_OPEN, OpenWait, WaitTotals, Waited, Waiting};
use crate::model::intervals::reported_nanos;
use crate::model::{Mode, Model, Resolved, StackHandle, ThreadHandle, WaitFor};
use crate::sorted::SortFew;
use nettrace_parser::Event;
use nettrace_parser::view::{ContentionStart, ContentionStop, KnownProvider, View};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

/// How long threads waited for locks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ContentionReport {
    /// Version of this document.
    pub schema: u32,
    /// Totals of all waits. In JSON these are members of the report itself.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub totals: WaitTotals,
    /// Circles of threads that wait for each other.
    pub deadlocks: Vec<Deadlock>,
    /// Threads that still wait at the end of the trace, longest first: at most 100.
    pub open: Vec<OpenLockWait>,
    /// Further threads that wait for a lock, of which only their samples say so: the wait is
    /// older than the session, or the events were not recorded. At most 100.
    pub stuck: Vec<StuckThread>,
    /// By lock, longest total first, waits that are not over included.
    pub locks: Vec<Lock>,
}

/// A thread that still waits for a lock at the end of the trace.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct OpenLockWait {
    /// Who, where, and for how long. In JSON these are members of the row itself.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub wait: OpenWait,
    /// Identifies the lock, as in [`Lock::lock_id`].
    pub lock_id: Option<String>,
    /// Address of the object that is the lock, when the wait began.
    pub object_id: Option<String>,
    /// OS id of the thread that held the lock when the wait began.
    pub owner_thread_id: Option<u64>,
    /// That thread's managed id, if only this is known: .NET 11 and later write it, and the
    /// thread was created before the session.
    pub owner_managed_id: Option<u64>,
}

/// Waits for one lock.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Lock {
    /// Identifies the lock, such as `0x7f9bd8001208`; `None` before .NET 6, and if the
    /// start of the wait is unknown.
    pub lock_id: Option<String>,
    /// Whether it is a lock of the runtime's native code.
    pub is_native: bool,
    /// Completed waits.
    pub waits: Spread,
    /// Number of waits that are not over at the end of the trace.
    pub open: u64,
    /// Their time until then, in nanoseconds.
    pub open_ns: u64,
    /// Threads that held it when a wait started, most frequent first.
    pub owners: Vec<ThreadCount>,
    /// Number of further owners.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub owners_left_out: u64,
    /// Where threads waited; `count` is in nanoseconds. Longest first.
    pub stacks: Vec<StackRow>,
    /// Number of further stacks.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub stacks_left_out: u64,
}

/// A lock, and where a thread waited for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct LockPlace {
    lock_id: Option<u64>,
    is_native: bool,
    stack: StackHandle,
}

/// Computes a [`ContentionReport`]. Memory is bounded by the number of locks and stacks.
#[derive(Debug)]
pub struct Contention {
    /// With the number of times that each thread held the lock.
    waits: Waiting<LockPlace, BTreeMap<u64, u64>>,
    /// What each thread's newest wait is for.
    newest: HashMap<ThreadHandle, Newest>,
}

/// What is known of a wait besides its place.
#[derive(Debug, Clone, Copy)]
struct Newest {
    since_nanos: i64,
    object_id: Option<u64>,
    owner: Option<u64>,
}

impl Default for Contention {
    /// Lists the top 10 stacks and owners of each lock.
    fn default() -> Contention {
        Contention { waits: Waiting::new(10), newest: HashMap::new() }
    }
}

impl Contention {
    /// Sets the maximum number of stacks and owners per lock.
    #[must_use]
    pub fn top(mut self, count: usize) -> Contention {
        self.waits.top = count;
        self
    }

    fn start(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) {
        let start = ContentionStart::of(event);
        let stack = model.stack_of(event, moment.thread);
        let place = LockPlace {
            lock_id: start.and_then(|start| start.lock_id),
            is_native: start.is_some_and(|start| start.flags == 1),
            stack,
        };
        let owners = self.waits.start(moment.edge(event), moment.is_selected.then_some(place));
        let owner = start.and_then(|start| start.owner_thread_id).filter(|owner| *owner != 0);
        if let Some((owners, owner)) = owners.zip(owner) {
            let count = owners.entry(owner).or_default();
            *count = count.saturating_add(1);
        }
        let object_id = start.and_then(|start| start.object_id).filter(|object| *object != 0);
        let newest = Newest { since_nanos: moment.nanos, object_id, owner };
        self.newest.insert(moment.thread, newest);
    }

    fn stop(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) {
        let (at, reported) = (moment.edge(event), reported_nanos(event));
        self.waits.stop(at, reported, moment.is_selected, || {
            let is_native = ContentionStop::of(event).is_some_and(|stop| stop.flags == 1);
            let stack = model.stack_of(event, moment.thread);
            Some(LockPlace { lock_id: None, is_native, stack })
        });
    }
}

impl Report for Contention {
    type Output = ContentionReport;

    const NAME: &'static str = "contention";
    const ABOUT: &'static str = "Locks that threads waited for";
    const RECORD: &'static [Recording] = &[Recording::runtime(0x4000, 4)];
    const INPUT: ReportInput = ReportInput::EventsAndSamples;

    fn wants(&self, event: &Event<'_>) -> bool {
        event.known_provider() == KnownProvider::Runtime && matches!(event.id(), 81 | 91)
    }

    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool {
        match event.id() {
            81 => self.start(event, moment, model),
            _ => self.stop(event, moment, model),
        }
        true
    }

    fn has_more(output: &ContentionReport) -> bool {
        !output.stuck.is_empty()
    }

    fn finish(self, resolved: &Resolved<'_>) -> ContentionReport {
        let top = self.waits.top;
        let passes = |place: &LockPlace| resolved.selected(place.stack, Mode::Unknown).is_some();
        let newest = self.newest;
        let Waited { totals, sites, open } = self.waits.finish(passes);
        // At the end: a thread's purpose may be reported after its waits.
        let owners = Owners::new(resolved.model());
        let mut locks: BTreeMap<(Option<u64>, bool), Sums> = BTreeMap::new();
        for (place, site) in sites {
            let lock = locks.entry((place.lock_id, place.is_native)).or_default();
            lock.waits.merge(&site.waits);
            lock.stacks.push((place.stack, site.waits.sum()));
            for (owner, count) in site.more {
                let sum = lock.owners.entry(owner).or_default();
                *sum = sum.saturating_add(count);
            }
        }
        let mut frames = ShownFrames::new(resolved);
        let mut still: Vec<OpenLockWait> = Vec::new();
        let (mut waits_for, mut waiting) = (BTreeMap::new(), HashSet::new());
        for begun in &open {
            let at_least_ns = begun.at_least_ns(resolved.model());
            let lock = locks.entry((begun.place.lock_id, begun.place.is_native)).or_default();
            lock.open = lock.open.saturating_add(1);
            lock.open_ns = lock.open_ns.saturating_add(at_least_ns);
            lock.stacks.push((begun.place.stack, at_least_ns));
            let newest = newest.get(&begun.thread);
            // Only the newest wait of a thread is kept with its owner. An older one, inside
            // of which it waits, has another.
            let newest = newest.filter(|newest| newest.since_nanos == begun.since_nanos);
            let owner = newest.and_then(|newest| newest.owner);
            let os_owner = owner.and_then(|owner| owners.os_id(begun.thread, owner));
            let thread = resolved.model().threads().get(begun.thread);
            let thread = thread.and_then(|row| row.os_thread_id);
            waiting.extend(thread);
            if let (Some(thread), Some(owner)) = (thread, os_owner) {
                waits_for.insert(thread, (owner, begun.since_nanos));
            }
            // After it has counted for its lock and for deadlocks.
            if still.len() >= MOST_OPEN {
                continue;
            }
            still.push(OpenLockWait {
                wait: OpenWait::at(
                    begun,
                    WaitFor::Lock,
                    resolved.frames(begun.place.stack),
                    &mut frames,
                ),
                lock_id: begun.place.lock_id.map(|id| format!("{id:#x}")),
                object_id: newest.and_then(|newest| newest.object_id).map(|id| format!("{id:#x}")),
                owner_thread_id: os_owner,
                owner_managed_id: owner.filter(|_| os_owner.is_none()),
            });
        }
        let mut locks: Vec<(Option<String>, bool, Sums)> = locks
            .into_iter()
            .map(|((id, is_native), sums)| (id.map(|id| format!("{id:#x}")), is_native, sums))
            .collect();
        locks.sort_few_by(|(one_id, _, one), (other_id, _, other)| {
            let total = |sums: &Sums| Reverse(sums.waits.sum().saturating_add(sums.open_ns));
            total(one).cmp(&total(other)).then_with(|| one_id.cmp(other_id))
        });
        let locks = locks
            .into_iter()
            .map(|(lock_id, is_native, sums)| {
                let (owners, owners_left_out) = sums.owners(&owners, top);
                let (stacks, stacks_left_out) = stack_rows(&mut frames, sums.stacks, &[], top);
                Lock {
                    lock_id,
                    is_native,
                    waits: sums.waits.spread(),
                    open: sums.open,
                    open_ns: sums.open_ns,
                    owners,
                    owners_left_out,
                    stacks,
                    stacks_left_out,
                }
            })
            .collect();
        let end_nanos = resolved.model().selected().last_nanos().unwrap_or(0);
        let deadlocks = deadlocks(&waits_for, end_nanos);
        let is_known = |thread| waiting.contains(&thread);
        let is_lock = |what| what == WaitFor::Lock;
        let stuck = StuckThreads::of(resolved).waiting(is_lock, is_known, MOST_OPEN);
        ContentionReport { schema: SCHEMA, totals, deadlocks, open: still, stuck, locks }
    }
}

/// All waits for a lock.
#[derive(Default)]
struct Sums {
    waits: Distribution,
    owners: BTreeMap<u64, u64>,
    stacks: Vec<(StackHandle, u64)>,
    /// Waits that are not over, and their time.
    open: u64,
    open_ns: u64,
}

impl Sums {
    /// The threads that held the lock most often, and the number of the others.
    fn owners(&self, owners: &Owners<'_>, top: usize) -> (Vec<ThreadCount>, u64) {
        let count = |(id, count): (&u64, &u64)| ThreadCount {
            thread_id: Some(*id),
            name: owners.names.get(id).cloned(),
            count: *count,
        };
        let mut counts: Vec<ThreadCount> = self.owners.iter().map(count).collect();
        counts.sort_few_by_key(|owner| (Reverse(owner.count), owner.thread_id));
        let left_out = counts.len().saturating_sub(top) as u64;
        counts.truncate(top);
        (counts, left_out)
    }
}

/// Who holds locks.
struct Owners<'m> {
    model: &'m Model,
    /// By OS id.
    names: BTreeMap<u64, String>,
}

impl<'m> Owners<'m> {
    fn new(model: &'m Model) -> Owners<'m> {
        let named = |(_, thread): (ThreadHandle, &crate::model::Thread)| {
            Some((thread.os_thread_id?, thread.name.clone()?))
        };
        Owners { model, names: model.threads().iter().filter_map(named).collect() }
    }

    /// The OS id of the owner that a wait of a thread names. From .NET 11 on, that is a
    /// managed id.
    fn os_id(&self, waiting: ThreadHandle, owner: u64) -> Option<u64> {
        let thread = self.model.threads().get(waiting)?;
        let process = self.model.process(thread.process)?;
        match process.runtime_major {
            Some(major) if major >= MANAGED_OWNERS_SINCE => process.os_thread_of(owner),
            _ => Some(owner),
        }
    }
}

/// The first version of the runtime that names owners of locks by their managed ids.
const MANAGED_OWNERS_SINCE: u32 = 11;
