//! Stacks of all threads of a process now, from short sessions of the runtime's sampler.
//!
//! In a round, the sampler suspends the process, writes a sample for each thread with managed
//! frames, and resumes the process. A thread that is sampled again begins the next round, so the
//! round before is complete and had every live thread. A list of threads, which only the end of a
//! session has, is not needed.
//!
//! Names come with the rundown at the end of a session, so they are resolved last.

use super::top::ThreadNow;
use crate::document::SCHEMA;
use crate::model::intervals::LockWaits;
use crate::model::thread_times::{Elapsed, ReadState, SampleClass};
use crate::model::{
    Filter, Folding, Frame, MemoryMap, Mode, Model, NameOptions, Profile, Resolved, SessionSpan,
    StackHandle, ThreadHandle, ThreadState, WaitFor,
};
use crate::report::increase;
use crate::report::{guessed_of, shared_frames};
use nettrace_parser::view::{ContentionStart, KnownProvider, Sample, View};
use nettrace_parser::{Clock, Event};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

/// Maximum number of distinct stacks that are counted for each thread.
const MAX_STACKS: usize = 256;

/// Computes a [`ThreadStacksReport`], the stacks of all threads of one process. Memory is bounded
/// by the number of threads and stacks.
///
/// ```
/// use nettrace_analysis::NameOptions;
/// use nettrace_analysis::live::ThreadStacks;
/// use nettrace_parser::Reader;
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let mut stacks = ThreadStacks::default();
/// let mut events = Reader::from_slice(&bytes).time_ordered();
/// while let Some(event) = events.next_event()? {
///     stacks.event(&event);
///     // Each thread was seen: the session may be stopped. What still comes are names.
///     let _is_enough = stacks.rounds() >= 2;
/// }
/// let report = stacks.finish(NameOptions::default());
/// assert!(report.threads.is_empty());
/// # Ok::<(), nettrace_parser::Error>(())
/// ```
#[derive(Default)]
pub struct ThreadStacks {
    model: Model,
    memory: MemoryMap,
    clock: Option<Clock>,
    locks: LockWaits,
    threads: BTreeMap<ThreadHandle, KnownThread>,
    /// Threads that were sampled in the current round.
    round: BTreeSet<ThreadHandle>,
    /// Number of complete rounds of the current session.
    rounds: u64,
    /// Number of complete rounds of all sessions.
    all_rounds: u64,
    samples: u64,
    /// Number of the current session, from 0.
    session: u64,
    /// Whether the stacks of the session have been counted; later samples are ignored.
    is_counted: bool,
    /// Latest readings of the threads: time in ticks, and each thread by OS id.
    read: (u64, BTreeMap<u64, Elapsed>),
}

/// Writes how much the view holds, and nothing of what it has seen.
impl fmt::Debug for ThreadStacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadStacks")
            .field("threads", &self.threads.len())
            .field("rounds", &self.all_rounds)
            .field("samples", &self.samples)
            .finish_non_exhaustive()
    }
}

/// Samples of a thread.
#[derive(Debug)]
struct KnownThread {
    stack: StackHandle,
    mode: Mode,
    lock: Option<HeldLock>,
    /// Number of the session with the thread's latest sample.
    session: u64,
    /// Whether the latest complete round has a sample of the thread.
    is_newest: bool,
    /// Time of the latest sample, in ticks.
    ticks: u64,
    /// What the readings around the latest sample say, once they are known.
    read: ReadState,
    /// Latest stacks of sessions that have ended, with the number of sessions.
    counts: BTreeMap<(StackHandle, Mode, ReadState), u64>,
    /// Whether the latest stack is to be counted once the readings around it are known.
    is_waiting_for_times: bool,
}

impl KnownThread {
    /// Counts the latest stack of a session.
    fn count(&mut self) {
        if !std::mem::take(&mut self.is_waiting_for_times) {
            return;
        }
        let key = (self.stack, self.mode, self.read);
        if self.counts.len() < MAX_STACKS || self.counts.contains_key(&key) {
            increase(self.counts.entry(key).or_default(), 1);
        }
    }
}

/// Lock that a thread waits for, as the start of the wait reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct HeldLock {
    /// Id that the runtime gave to the lock; `None` before .NET 8.
    pub lock_id: Option<u64>,
    /// OS id of the thread that held the lock when the wait began; `None` if unknown.
    pub owner_thread_id: Option<u64>,
}

/// Stacks of all threads of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ThreadStacksReport {
    /// Version of this document: [`SCHEMA`].
    pub schema: u32,
    /// Number of times that stacks were taken ([`ThreadStacks::begin_session`]).
    pub taken: u64,
    /// Number of complete rounds of the sampler through all threads.
    pub rounds: u64,
    /// Number of samples.
    pub samples: u64,
    /// Stacks of threads with managed frames, by thread id. The latest stack of a thread comes
    /// first, then its earlier stacks, most frequent first.
    pub threads: Vec<SampledThread>,
}

/// Stack of a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SampledThread {
    /// OS id, in the namespace of the process.
    pub thread_id: u64,
    /// Purpose that the runtime reported, such as `Finalizer`; `None` if it reported none.
    pub name: Option<String>,
    /// Number of times that the thread had this stack when stacks were taken.
    pub count: u64,
    /// Whether this is the thread's latest stack.
    pub is_latest: bool,
    /// Whether the latest complete round had a sample of the thread.
    pub is_in_last_round: bool,
    /// State of the thread: `managed`, `native` or `waiting`.
    pub state: ThreadState,
    /// Whether the runtime does not tell managed from native code in its samples, so that `managed`
    /// only means that neither a wait nor a native call is known.
    pub is_untold: bool,
    /// Whether `state` follows from readings of the thread around the sample, where the stack does
    /// not tell ([`ThreadStacks::set_threads`]).
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_false"))]
    pub is_measured: bool,
    /// Kind of thing that the thread waits for; `None` unless the state is `waiting`.
    pub waits_for: Option<WaitFor>,
    /// Lock that the thread waits for; `None` if the wait began before the session.
    pub lock: Option<HeldLock>,
    /// Frames of the stack, innermost first.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::document::as_texts"))]
    pub frames: Vec<Arc<Frame>>,
    /// Addresses of the sample, innermost first, which need not be as many as frames. The native
    /// stack of a thread that still waits there has these addresses, too.
    pub addresses: Vec<u64>,
    /// Indices in `frames`, from 0, of frames with guessed names.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub guessed: Vec<usize>,
}

impl ThreadStacks {
    /// Begins another session with the process, which takes stacks once more. Its events come from
    /// now on.
    pub fn begin_session(&mut self) {
        self.threads.values_mut().for_each(KnownThread::count);
        self.is_counted = false;
        self.clock = None;
        self.locks = LockWaits::default();
        self.rounds = 0;
        self.round.clear();
        self.session = self.session.saturating_add(1);
    }

    /// Processes the next event; events must come in time order.
    pub fn event(&mut self, event: &Event<'_>) {
        let thread = self.model.learn(event);
        if self.is_counted {
            return;
        }
        match event.known_provider() {
            KnownProvider::SampleProfiler => {
                if let Some(sample) = Sample::from_event(event) {
                    self.sample(event, thread, Mode::from_state(sample.state));
                }
            }
            KnownProvider::Runtime if LockWaits::is_edge(event.id()) => {
                self.lock(event, thread);
            }
            _ => {}
        }
    }

    fn sample(&mut self, event: &Event<'_>, thread: ThreadHandle, mode: Mode) {
        let stack = self.model.stack_of(event, thread);
        // A sample does not say that its thread waits for a lock; the event at the start of the
        // wait does.
        let is_blocked = mode != Mode::OnCpu
            && !self.locks.is_empty()
            && self.locks.is_waiting(thread, event.stack().addresses());
        let mode = if is_blocked { Mode::Blocked } else { mode };
        self.samples = self.samples.saturating_add(1);
        if !self.round.insert(thread) {
            self.end_round();
            self.rounds = self.rounds.saturating_add(1);
            self.all_rounds = self.all_rounds.saturating_add(1);
            self.round.clear();
            self.round.insert(thread);
        }
        let session = self.session;
        let seen = self.threads.entry(thread).or_insert_with(|| KnownThread {
            stack,
            mode,
            lock: None,
            session: 0,
            is_newest: true,
            ticks: 0,
            read: ReadState::Unknown,
            counts: BTreeMap::new(),
            is_waiting_for_times: false,
        });
        (seen.stack, seen.mode, seen.session) = (stack, mode, session);
        (seen.ticks, seen.read) = (event.timestamp_ticks(), ReadState::Unknown);
    }

    /// Notes that a round is complete. A thread without a sample in it has ended, or has no managed
    /// frames any more.
    fn end_round(&mut self) {
        for (thread, seen) in &mut self.threads {
            seen.is_newest = self.round.contains(thread);
        }
    }

    fn lock(&mut self, event: &Event<'_>, thread: ThreadHandle) {
        let clock = *self.clock.get_or_insert_with(|| event.session().clock());
        let nanos = clock.nanos_since_start(event.timestamp_ticks()).unwrap_or(0);
        self.locks.event(event, thread, nanos);
        let start = ContentionStart::from_event(event).filter(|_| event.id() == 81);
        let lock = start.map(|start| HeldLock {
            lock_id: start.lock_id,
            owner_thread_id: start.owner_thread_id.filter(|owner| *owner != 0),
        });
        if let Some(seen) = self.threads.get_mut(&thread) {
            seen.lock = lock;
        }
    }

    /// Returns the number of complete rounds of the current session. One round has every live
    /// thread with managed frames; a second and a third cover lost samples and threads that were
    /// just starting.
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    /// Returns the number of samples.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Returns the OS ids of the sampled threads, in the namespace of the process.
    pub fn thread_ids(&self) -> impl Iterator<Item = u64> {
        self.threads.keys().filter_map(|thread| self.model.thread(*thread)?.os_thread_id)
    }

    /// Counts the latest stacks of the threads, once for each session. Later samples of the session
    /// are ignored; names are still learned.
    pub fn count_stacks(&mut self) {
        if std::mem::replace(&mut self.is_counted, true) {
            return;
        }
        // A thread without a sample in this session does not have its latest stack any more.
        for seen in self.threads.values_mut().filter(|seen| seen.session == self.session) {
            seen.is_waiting_for_times = true;
        }
    }

    /// Sets what the operating system says of all threads at a time, in ticks of the sessions. Call
    /// it for each round of readings, in time order. Then a thread whose stack does not tell whether
    /// it ran has the state that the readings before and after its sample show, if it is one.
    pub fn set_threads<'n>(&mut self, ticks: u64, threads: impl Iterator<Item = ThreadNow<'n>>) {
        let now = |thread: ThreadNow<'_>| {
            let ThreadNow { id, ran_ns: ran, ready_ns: ready, .. } = thread;
            (id, Elapsed { nanos: ticks, ran, ready })
        };
        let threads: BTreeMap<u64, Elapsed> = threads.map(now).collect();
        let (since, before) = std::mem::replace(&mut self.read, (ticks, threads));
        for (handle, seen) in &mut self.threads {
            if seen.read != ReadState::Unknown || !(since..ticks).contains(&seen.ticks) {
                continue;
            }
            let id = self.model.thread(*handle).and_then(|thread| thread.os_thread_id);
            let both = id.and_then(|id| Some((before.get(&id)?, self.read.1.get(&id)?)));
            if let Some((before, now)) = both {
                seen.read = now.since(*before).state();
            }
        }
    }

    /// Returns the model, so that the events of a session that lists methods can add their names.
    pub fn model_mut(&mut self) -> &mut Model {
        &mut self.model
    }

    /// Sets the memory map of the process: first and last address of each stretch with code, and
    /// its file. Code without a name is then shown by its file, as
    /// [`NamesSoFar::set_mappings`](crate::NamesSoFar::set_mappings) describes. Precompiled calls
    /// of native functions need it, as the runtime never reports their names.
    pub fn set_mappings(&mut self, mappings: &[(u64, u64, String)]) {
        let stretches = mappings.iter().map(|(first, last, file)| (*first, *last, file.as_str()));
        self.memory = MemoryMap::new(stretches);
    }

    /// Resolves names and returns the report.
    pub fn finish(mut self, names: NameOptions) -> ThreadStacksReport {
        self.threads.values_mut().for_each(KnownThread::count);
        self.model.complete(None, SessionSpan::default(), false);
        self.model.set_memory(&self.memory);
        let profile = Profile::default();
        let resolved =
            Resolved::new(&self.model, &profile, names, &Folding::default(), &Filter::default());
        let mut threads = Vec::new();
        for (handle, seen) in &self.threads {
            let Some(thread) = self.model.thread(*handle) else { continue };
            // Stacks that the readings do not tell apart are one.
            let key = (seen.stack, measured_mode((seen.stack, seen.mode, seen.read), &resolved));
            let mut counts: BTreeMap<(StackHandle, (Mode, bool)), u64> = BTreeMap::new();
            for (found, count) in &seen.counts {
                let key = (found.0, measured_mode(*found, &resolved));
                increase(counts.entry(key).or_default(), *count);
            }
            let row =
                |(stack, (mode, is_measured)): (StackHandle, (Mode, bool)), count, is_latest| {
                    let frames = resolved.frames(stack);
                    SampledThread {
                        thread_id: thread.os_thread_id.unwrap_or(0),
                        name: thread.name.clone(),
                        count,
                        is_latest,
                        is_in_last_round: seen.is_newest && seen.session == self.session,
                        state: resolved.state(stack, mode),
                        is_untold: resolved.is_untold(stack, mode),
                        is_measured,
                        waits_for: resolved.waits_for(stack, mode),
                        lock: seen.lock.filter(|_| is_latest && mode == Mode::Blocked),
                        frames: shared_frames(&resolved, frames),
                        addresses: self.model.addresses(stack).to_vec(),
                        guessed: guessed_of(&resolved, frames),
                    }
                };
            threads.push(row(key, counts.get(&key).copied().unwrap_or(1), true));
            let mut others: Vec<_> = counts.iter().filter(|(other, _)| **other != key).collect();
            others.sort_by_key(|(other, count)| (std::cmp::Reverse(**count), **other));
            threads.extend(others.into_iter().map(|(other, count)| row(*other, *count, false)));
        }
        threads.sort_by_key(|thread| thread.thread_id);
        ThreadStacksReport {
            schema: SCHEMA,
            taken: self.session.saturating_add(1),
            rounds: self.all_rounds,
            samples: self.samples,
            threads,
        }
    }
}

/// Returns the mode of a sample, and whether it follows from the readings around the sample. They
/// only decide where the stack does not tell whether the thread ran.
fn measured_mode(
    (stack, mode, read): (StackHandle, Mode, ReadState),
    resolved: &Resolved<'_>,
) -> (Mode, bool) {
    let class = SampleClass::new(resolved.running(stack, mode), resolved.is_untold(stack, mode));
    match read {
        _ if class != SampleClass::Unknown => (mode, false),
        ReadState::Ran => (Mode::Ran, true),
        ReadState::Ready => (Mode::Ready, true),
        ReadState::Waited => (Mode::Waited, true),
        ReadState::Unknown | ReadState::Part => (mode, false),
    }
}
