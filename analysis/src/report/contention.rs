//! Waits for locks: events 81 Contention/Start and 91 Contention/Stop of the runtime.
//!
//! A thread that waits for a lock may begin to wait for another before it gets the first. From .NET
//! 5 on, a stop contains the duration of the wait, which shows the start that it belongs to even if
//! other stops were lost.

use super::contract::{DEFAULT_ROWS, Moment, Recording, Report, ReportInput, SCHEMA};
use super::counts::{ThreadCount, increase};
use crate::hash::{HashMap, HashSet};

use super::deadlock::{Deadlock, deadlocks};
use super::distribution::{Distribution, Spread};
use super::stack_rows::{ShownFrames, StackRow, stack_rows};
use super::stuck::{StuckThread, StuckThreads};
use super::waiting::{MAX_OPEN, OpenWait, WaitSite, WaitTotals, Waited, Waiting};
use crate::model::intervals::reported_nanos;
use crate::model::{Mode, Model, Resolved, StackHandle, ThreadHandle, WaitFor};
use crate::sorted::SortFew;
use nettrace_parser::Event;
use nettrace_parser::view::{ContentionStart, ContentionStop, KnownProvider, View};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Waits of threads for locks, by lock.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ContentionReport {
    /// Version of this document: [`SCHEMA`](super::SCHEMA).
    pub schema: u32,
    /// Totals of all waits. In JSON they are members of the report itself.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub totals: WaitTotals,
    /// Circles of threads that wait for each other's locks.
    pub deadlocks: Vec<Deadlock>,
    /// Threads that still wait at the end of the trace, longest wait first; at most 100.
    pub open: Vec<OpenLockWait>,
    /// Threads whose samples alone show that they wait for a lock, at most 100: the wait began
    /// before the session, or its events were not recorded.
    pub stuck: Vec<StuckThread>,
    /// Waits by lock, longest total first, including waits that are not over.
    pub locks: Vec<Lock>,
}

/// A thread that still waits for a lock at the end of the trace.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct OpenLockWait {
    /// Thread, place and duration of the wait. In JSON they are members of the row itself.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub wait: OpenWait,
    /// Id of the lock, as in [`Lock::lock_id`].
    pub lock_id: Option<String>,
    /// Address that the locked object had when the wait began, such as `0x7f1c2801d6e8`; `None` if
    /// the runtime did not report it.
    pub object_id: Option<String>,
    /// OS id of the thread that held the lock when the wait began; `None` if unknown.
    pub owner_thread_id: Option<u64>,
    /// Managed id of the thread that held the lock when the wait began, if its OS id is unknown:
    /// .NET 11 and later write the managed id, and a thread that was created before the session has
    /// no OS id in the trace.
    pub owner_managed_id: Option<u64>,
}

/// Waits for one lock.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Lock {
    /// Id of the lock, such as `0x7f9bd8001208`; `None` before .NET 6, and if the start of the wait
    /// is unknown.
    pub lock_id: Option<String>,
    /// Whether the lock belongs to the runtime's native code.
    pub is_native: bool,
    /// Durations of completed waits.
    pub waits: Spread,
    /// Number of waits that are not over at the end of the trace.
    pub open: u64,
    /// Time that unfinished waits have taken at the end of the trace, in nanoseconds.
    pub open_ns: u64,
    /// Threads that held the lock when a wait began, most frequent first.
    pub owners: Vec<ThreadCount>,
    /// Times that threads held the lock: from the moment at which a waiting thread gets it until
    /// the next waiting thread does.
    pub held: Spread,
    /// Stacks of the lock's owners while others waited, most frequent first; `count` is a number of
    /// samples.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub owner_stacks: Vec<StackRow>,
    /// Number of owners beyond those in `owners`.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub owners_left_out: u64,
    /// Stacks of the waiting threads, longest wait first; `count` is in nanoseconds.
    pub stacks: Vec<StackRow>,
    /// Number of stacks beyond those in `stacks`.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub stacks_left_out: u64,
}

/// A lock, and the stack of a thread that waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct LockPlace {
    lock_id: Option<u64>,
    is_native: bool,
    stack: StackHandle,
}

/// Computes a [`ContentionReport`]. Memory is bounded by the number of locks and stacks.
#[derive(Debug)]
pub struct Contention {
    /// Waits by lock and stack; for each, how often each thread held the lock, by the owner's id in
    /// the events.
    waits: Waiting<LockPlace, BTreeMap<u64, u64>>,
    newest: HashMap<ThreadHandle, Newest>,
    /// Locks that threads wait for now, by id.
    contended: HashMap<u64, Contended>,
    held: HashMap<u64, Distribution>,
    /// Number of samples of owners while others waited, by lock and stack.
    owner_stacks: HashMap<(u64, StackHandle), u64>,
    looks_at_owners: bool,
}

/// Lock that threads wait for now.
#[derive(Debug, Default)]
struct Contended {
    waiting: u64,
    /// OS id of the thread that holds the lock.
    owner: Option<u64>,
    /// Time at which the owner got the lock; `None` if it did not have to wait, as no event tells.
    since: Option<i64>,
}

/// Maximum number of contended locks whose owners are observed at a time: each sample searches all
/// of them.
const MAX_CONTENDED: usize = 1_000;
/// Maximum number of locks with a distribution of the times that they were held.
const MAX_HELD: usize = 10_000;
const MAX_OWNER_STACKS: usize = 100_000;

/// Newest wait of a thread.
#[derive(Debug, Clone, Copy)]
struct Newest {
    since_nanos: i64,
    lock_id: Option<u64>,
    object_id: Option<u64>,
    owner: Option<u64>,
}

impl Default for Contention {
    /// Lists the top 20 stacks and owners of each lock.
    fn default() -> Contention {
        Contention {
            waits: Waiting::new(DEFAULT_ROWS),
            newest: HashMap::default(),
            contended: HashMap::default(),
            held: HashMap::default(),
            owner_stacks: HashMap::default(),
            looks_at_owners: true,
        }
    }
}

impl Contention {
    /// Leaves out the stacks of owners, so that the report does not want samples, which are most
    /// events of many traces.
    pub(crate) fn without_owner_stacks(mut self) -> Contention {
        self.looks_at_owners = false;
        self
    }

    fn start(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) {
        let start = ContentionStart::from_event(event);
        let stack = model.stack_of(event, moment.thread);
        let place = LockPlace {
            lock_id: start.and_then(|start| start.lock_id),
            is_native: start.is_some_and(|start| start.flags == 1),
            stack,
        };
        let owners = self.waits.start(moment.edge(event), moment.is_selected.then_some(place));
        let owner = start.and_then(|start| start.owner_thread_id).filter(|owner| *owner != 0);
        if let Some((owners, owner)) = owners.zip(owner) {
            increase(owners.entry(owner).or_default(), 1);
        }
        let object_id = start.and_then(|start| start.object_id).filter(|object| *object != 0);
        let lock_id = start.and_then(|start| start.lock_id).filter(|id| *id != 0);
        let newest = Newest { since_nanos: moment.nanos, lock_id, object_id, owner };
        self.newest.insert(moment.thread, newest);
        if let Some(lock) = lock_id
            && (self.contended.len() < MAX_CONTENDED || self.contended.contains_key(&lock))
        {
            let lock = self.contended.entry(lock).or_default();
            lock.waiting = lock.waiting.saturating_add(1);
            let owner = owner.and_then(|owner| LockOwners::os_id(model, moment.thread, owner));
            if owner.is_some() && owner != lock.owner {
                (lock.owner, lock.since) = (owner, None);
            }
        }
    }

    /// Notes that a thread has got the lock for which it waited.
    fn got(&mut self, moment: &Moment, model: &Model) {
        let Some(newest) = self.newest.get(&moment.thread) else { return };
        let Some(id) = newest.lock_id else { return };
        let Some(lock) = self.contended.get_mut(&id) else { return };
        // The owner held the lock all the time: had it become free since this thread began to wait,
        // this thread would have got it then.
        if let Some(since) = lock.since.filter(|since| newest.since_nanos <= *since)
            && moment.is_selected
            && (self.held.len() < MAX_HELD || self.held.contains_key(&id))
        {
            let nanos = u64::try_from(moment.nanos.saturating_sub(since)).unwrap_or(0);
            self.held.entry(id).or_default().add(nanos);
        }
        lock.waiting = lock.waiting.saturating_sub(1);
        lock.owner = model.thread(moment.thread).and_then(|row| row.os_thread_id);
        lock.since = Some(moment.nanos);
        if lock.waiting == 0 {
            self.contended.remove(&id);
        }
    }

    /// Counts a sample of a thread for each contended lock that the thread holds.
    fn sampled(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) {
        if self.contended.is_empty() || !moment.is_selected {
            return;
        }
        let Some(thread) = model.thread(moment.thread) else { return };
        let Some(id) = thread.os_thread_id else { return };
        let locks = self.contended.iter().filter(|(_, lock)| lock.owner == Some(id));
        let locks: Vec<u64> = locks.map(|(lock, _)| *lock).collect();
        if locks.is_empty() {
            return;
        }
        let stack = model.stack_of(event, moment.thread);
        for lock in locks {
            let key = (lock, stack);
            if self.owner_stacks.len() < MAX_OWNER_STACKS || self.owner_stacks.contains_key(&key) {
                increase(self.owner_stacks.entry(key).or_default(), 1);
            }
        }
    }

    fn stop(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) {
        self.got(moment, model);
        let (at, reported) = (moment.edge(event), reported_nanos(event));
        self.waits.stop(at, reported, moment.is_selected, || {
            let is_native = ContentionStop::from_event(event).is_some_and(|stop| stop.flags == 1);
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

    fn top(mut self, rows: usize) -> Contention {
        self.waits.top = rows;
        self
    }

    fn wants(&self, event: &Event<'_>) -> bool {
        match event.known_provider() {
            KnownProvider::Runtime => matches!(event.id(), 81 | 91),
            KnownProvider::SampleProfiler => self.looks_at_owners,
            _ => false,
        }
    }

    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool {
        match event.id() {
            _ if event.known_provider() == KnownProvider::SampleProfiler => {
                self.sampled(event, moment, model);
                return false;
            }
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
        let (newest, held) = (self.newest, self.held);
        let mut owner_stacks = by_lock(self.owner_stacks);
        let Waited { totals, sites, open } = self.waits.finish(passes);
        // Names are looked up at the end, as a thread's purpose may be reported after its waits.
        let owners = LockOwners::new(resolved.model());
        let mut locks: BTreeMap<LockKey, LockSums> = BTreeMap::new();
        for (place, site) in sites {
            locks.entry((place.lock_id, place.is_native)).or_default().add(place.stack, site);
        }
        let mut frames = ShownFrames::new(resolved);
        let mut still: Vec<OpenLockWait> = Vec::new();
        let (mut waits_for, mut waiting) = (BTreeMap::new(), HashSet::default());
        for begun in &open {
            let at_least_ns = begun.at_least_ns(resolved.model());
            let lock = locks.entry((begun.place.lock_id, begun.place.is_native)).or_default();
            lock.open = lock.open.saturating_add(1);
            lock.open_ns = lock.open_ns.saturating_add(at_least_ns);
            lock.stacks.push((begun.place.stack, at_least_ns));
            let newest = newest.get(&begun.thread);
            // `newest` is another wait if this one is older and the thread began to wait again
            // inside of it.
            let newest = newest.filter(|newest| newest.since_nanos == begun.since_nanos);
            let owner = newest.and_then(|newest| newest.owner);
            let os_owner =
                owner.and_then(|owner| LockOwners::os_id(resolved.model(), begun.thread, owner));
            let thread = resolved.model().thread(begun.thread);
            let thread = thread.and_then(|row| row.os_thread_id);
            waiting.extend(thread);
            if let (Some(thread), Some(owner)) = (thread, os_owner) {
                waits_for.insert(thread, (owner, begun.since_nanos));
            }
            // Unlisted waits still count for their lock and for deadlocks.
            if still.len() >= MAX_OPEN {
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
        let locks = longest_first(locks)
            .into_iter()
            .map(|((id, is_native), sums)| {
                let lock_id = id.map(|id| format!("{id:#x}"));
                let did = id.and_then(|id| owner_stacks.remove(&id)).unwrap_or_default();
                let (owner_stacks, _) = stack_rows(&mut frames, did, |_| false, top);
                let held = id.and_then(|id| held.get(&id)).map(Distribution::spread);
                let (owners, owners_left_out) = sums.owners(&owners, top);
                let (stacks, stacks_left_out) =
                    stack_rows(&mut frames, sums.stacks, |_| false, top);
                Lock {
                    lock_id,
                    is_native,
                    waits: sums.waits.spread(),
                    open: sums.open,
                    open_ns: sums.open_ns,
                    owners,
                    held: held.unwrap_or_default(),
                    owner_stacks,
                    owners_left_out,
                    stacks,
                    stacks_left_out,
                }
            })
            .collect();
        let deadlocks =
            deadlocks(&waits_for, resolved.model().selected().last_nanos().unwrap_or(0));
        let stuck = StuckThreads::new(resolved).waiting(
            |what| what == WaitFor::Lock,
            |thread| waiting.contains(&thread),
            MAX_OPEN,
        );
        ContentionReport { schema: SCHEMA, totals, deadlocks, open: still, stuck, locks }
    }
}

/// Id of a lock, if the runtime reported it, and whether the lock belongs to native code.
type LockKey = (Option<u64>, bool);

/// Returns the stacks of each lock's owners, with their number of samples.
fn by_lock(
    owner_stacks: HashMap<(u64, StackHandle), u64>,
) -> HashMap<u64, Vec<(StackHandle, u64)>> {
    let mut sampled: Vec<_> = owner_stacks.into_iter().collect();
    sampled.sort_few_by_key(|(key, _)| *key);
    let mut by_lock: HashMap<u64, Vec<(StackHandle, u64)>> = HashMap::default();
    for ((lock, stack), count) in sampled {
        by_lock.entry(lock).or_default().push((stack, count));
    }
    by_lock
}

fn longest_first(locks: BTreeMap<LockKey, LockSums>) -> Vec<(LockKey, LockSums)> {
    let mut locks: Vec<(LockKey, LockSums)> = locks.into_iter().collect();
    let total = |sums: &LockSums| Reverse(sums.waits.sum().saturating_add(sums.open_ns));
    locks.sort_few_by(|((one_id, _), one), ((other_id, _), other)| {
        total(one).cmp(&total(other)).then_with(|| one_id.cmp(other_id))
    });
    locks
}

/// Sums of the waits for one lock.
#[derive(Default)]
struct LockSums {
    waits: Distribution,
    owners: BTreeMap<u64, u64>,
    stacks: Vec<(StackHandle, u64)>,
    open: u64,
    open_ns: u64,
}

impl LockSums {
    fn add(&mut self, stack: StackHandle, site: WaitSite<BTreeMap<u64, u64>>) {
        self.waits.merge(&site.waits);
        self.stacks.push((stack, site.waits.sum()));
        for (owner, count) in site.more {
            increase(self.owners.entry(owner).or_default(), count);
        }
    }

    /// Returns the threads that held the lock most often, and the number of further owners.
    fn owners(&self, owners: &LockOwners, top: usize) -> (Vec<ThreadCount>, u64) {
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

/// Names of the threads that own locks.
struct LockOwners {
    /// Names by OS id.
    names: BTreeMap<u64, String>,
}

impl LockOwners {
    fn new(model: &Model) -> LockOwners {
        let named = |(_, thread): (ThreadHandle, &crate::model::Thread)| {
            Some((thread.os_thread_id?, thread.name.clone()?))
        };
        LockOwners { names: model.threads().filter_map(named).collect() }
    }

    /// Returns the OS id of an owner. `owner`: the id in the event of the waiting thread.
    fn os_id(model: &Model, waiting: ThreadHandle, owner: u64) -> Option<u64> {
        let thread = model.thread(waiting)?;
        let process = model.process(thread.process)?;
        if process.has_managed_owners() { process.os_thread_of(owner) } else { Some(owner) }
    }
}
