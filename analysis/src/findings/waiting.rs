//! Findings about where threads wait: a thread that is most of the trace in one own method's waits
//! and native calls, and a program of which little ran.

use super::finding::Finding;
use super::own::OwnModules;
use crate::document::percent;
use crate::fact::{Base, Fact, Number, Place, Unit, WaitCall};
use crate::hash::HashMap;
use crate::model::{
    Frame, FrameHandle, Kind, Mode, ProfileKey, Resolved, Running as Certainty, StackHandle,
    ThreadHandle, Totals, WaitFor, is_for_recording, public_call,
};
use crate::report::is_pool_worker;
use std::collections::{BTreeMap, BTreeSet};

/// Minimum time of a thread in one method's waits and native calls, in percent of the trace.
const MIN_THREAD_PERCENT: f64 = 50.0;
/// Minimum number of samples of a thread in one method's waits and native calls.
const MIN_SAMPLES: u64 = 50;
/// Maximum number of methods that are findings.
const MAX_METHODS: usize = 3;
/// Minimum time of a call, in percent of its method's time, for the finding to name the call.
const MIN_CALL_PERCENT: f64 = 5.0;
/// Maximum number of calls that a finding names.
const MAX_CALLS: usize = 3;
/// Minimum time of native calls, or of what ran, in percent of the time of a call, for the finding to
/// say that the call may have run, or ran.
const MIN_NATIVE_PERCENT: f64 = 10.0;
/// Minimum time of waits and native calls, in percent of a method's calls, for what ran in the calls
/// to be left out.
const MIN_WAITING_PERCENT: f64 = 90.0;
/// Minimum ratio of the time in which any thread is in a method's waits to the longest time of one
/// thread for the finding to be about all threads, in percent.
const MIN_SPREAD_PERCENT: f64 = 110.0;
/// Maximum ratio of the time of several threads to the time in which at least one of them is in a
/// method's waits, for them to be there one at a time, in percent.
const MAX_PERCENT_OF_COVERED: f64 = 110.0;
/// Minimum time of a thread, in percent of the time of all threads in a method's waits, for the
/// finding to count the thread.
const MIN_PART_PERCENT: f64 = 1.0;
/// Maximum time that ran, in percent of the trace, of a program of which little ran.
const MAX_IDLE_PERCENT: f64 = 10.0;
/// Calls in which a program waits until somebody wants something from it.
const ACCEPTS: [&str; 15] = [
    "Socket.Accept",
    "TcpListener.AcceptTcpClient",
    "TcpListener.AcceptSocket",
    "HttpListener.GetContext",
    "HttpListener.EndGetContext",
    "NamedPipeServerStream.WaitForConnection",
    "UdpClient.Receive",
    "Console.Read",
    "Console.ReadKey",
    "Console.ReadLine",
    "ConsolePal.ReadKey",
    "StdInReader.ReadLine",
    "SyncTextReader.ReadLine",
    "SyncTextReader.Read",
    "SyncTextReader.ReadKey",
];
/// First words of namespaces that run an application in its main thread until it is stopped.
const HOSTS: [&str; 4] = [
    "Microsoft.Extensions.Hosting",
    "Microsoft.AspNetCore",
    "System.Windows",
    "System.ServiceProcess",
];
/// First words of namespaces in which a thread of the program waits for the next work.
const QUEUES: [&str; 4] =
    ["System.Threading", "System.Collections.Concurrent", "System.IO.Pipes", "System.Net.Sockets"];
/// Types of [`QUEUES`] whose waits are for the others of a group.
const GROUPS: [&str; 2] = ["Barrier", "CountdownEvent"];
/// First words of namespaces whose native calls may wait long.
const NATIVE: [&str; 5] =
    ["System.IO", "System.Net", "System.Diagnostics", "System.Data", "Microsoft.Data"];

/// Time of one thread in one method, in nanoseconds where nothing else is said.
#[derive(Debug, Default)]
struct ThreadWaits {
    /// Number of samples that waited or were in native calls.
    samples: u64,
    /// Time of waits and native calls.
    waited: u64,
    /// By the frame of other code that the method calls.
    calls: BTreeMap<FrameHandle, CallTimes>,
}

/// Time in a call, in nanoseconds.
#[derive(Debug, Clone, Copy, Default)]
struct CallTimes {
    all: u64,
    /// Time of waits and native calls.
    waited: u64,
    /// Time of native calls, which ran or waited.
    native: u64,
    /// Time of waits and native calls in which the thread ran, by its readings.
    ran: u64,
}

/// What the names of a frame tell about a wait.
#[derive(Debug, Clone, Copy)]
struct NameFacts {
    is_own: bool,
    is_main: bool,
    is_recording: bool,
    /// Whether the frame is that of a server's thread.
    is_server: bool,
    /// Whether the frame waits until somebody wants something.
    is_idle: bool,
    /// Whether the frame waits for the next work.
    is_queue: bool,
    /// Whether native code below the frame may wait.
    may_wait: bool,
}

impl NameFacts {
    fn new(resolved: &Resolved<'_>, own: &OwnModules, (at, frame): (u32, &Frame)) -> NameFacts {
        let is_below = |names: &[&str]| names.iter().any(|name| frame.namespace.starts_with(name));
        let type_name = frame.type_name.split('<').next().unwrap_or_default();
        let call = public_call(frame);
        let accepts = ACCEPTS.contains(&&*call);
        NameFacts {
            is_own: own.has(resolved, FrameHandle(at)),
            is_main: is_main_method(frame),
            is_recording: is_for_recording(frame),
            is_server: accepts || type_name == "SocketAsyncEngine",
            is_idle: accepts || is_below(&HOSTS),
            is_queue: is_below(&QUEUES)
                && !GROUPS.contains(&type_name)
                && !frame.bare_method().contains("Add"),
            may_wait: is_below(&NATIVE)
                || frame.type_name.starts_with("Interop")
                || frame.method.starts_with("IL_STUB_PInvoke"),
        }
    }
}

/// What the frames of a stack tell about a wait.
#[derive(Debug, Clone, Copy, Default)]
struct CallWaits {
    /// The innermost own method.
    method: Option<FrameHandle>,
    /// The frame of other code that the method calls; `None` if it calls none.
    call: Option<FrameHandle>,
    is_main: bool,
    is_in_pool: bool,
    is_recording: bool,
    /// Whether the stack is that of a server's thread.
    is_server: bool,
    /// Whether the wait is for somebody who wants something, on any thread.
    is_idle: bool,
    /// Whether the wait is for the next work, if the thread is not the main thread.
    is_queue: bool,
    /// Whether native code below the method may wait.
    may_wait: bool,
}

impl CallTimes {
    fn add(&mut self, other: CallTimes) {
        self.all = self.all.saturating_add(other.all);
        self.waited = self.waited.saturating_add(other.waited);
        self.native = self.native.saturating_add(other.native);
        self.ran = self.ran.saturating_add(other.ran);
    }
}

impl CallWaits {
    fn new(resolved: &Resolved<'_>, names: &[NameFacts], stack: StackHandle) -> CallWaits {
        let frames = resolved.frames(stack);
        let facts = |frames: &[FrameHandle], is_it: fn(&NameFacts) -> bool| {
            frames.iter().filter_map(|frame| names.get(frame.index())).any(is_it)
        };
        let fact = |frame: &FrameHandle| names.get(frame.index());
        let mut waits = CallWaits {
            is_main: frames.last().and_then(fact).is_some_and(|root| root.is_main),
            is_in_pool: is_pool_worker(frames, resolved),
            is_recording: facts(frames, |frame| frame.is_recording),
            is_server: facts(frames, |frame| frame.is_server),
            ..CallWaits::default()
        };
        let at = frames.iter().position(|frame| fact(frame).is_some_and(|frame| frame.is_own));
        let Some(at) = at else { return waits };
        waits.method = frames.get(at).copied();
        let inner = frames.get(..at).unwrap_or_default();
        let Some(outermost) = inner.last() else { return waits };
        waits.call = Some(*outermost);
        let is_join = resolved
            .frame(*outermost)
            .is_some_and(|frame| frame.type_name == "Thread" && frame.method.starts_with("Join"));
        waits.is_idle = is_join || facts(inner, |frame| frame.is_idle);
        waits.is_queue = fact(outermost).is_some_and(|frame| frame.is_queue);
        waits.may_wait = facts(inner, |frame| frame.may_wait);
        waits
    }
}

/// Adds up calls by their public names: several internal methods may stand behind one.
fn by_name(
    resolved: &Resolved<'_>,
    calls: &BTreeMap<FrameHandle, CallTimes>,
) -> BTreeMap<String, CallTimes> {
    let mut sums: BTreeMap<String, CallTimes> = BTreeMap::new();
    for (frame, call) in calls {
        let name = resolved.frame(*frame).map_or_else(String::new, |frame| public_call(frame));
        sums.entry(name).or_default().add(*call);
    }
    sums
}

/// Returns whether a frame is the main method, or the method that the compiler makes to wait for an
/// asynchronous one.
fn is_main_method(frame: &Frame) -> bool {
    frame.is_entry_point() || frame.bare_method() == "<Main>"
}

/// Threads in the waits and native calls of one method.
struct MethodWaits<'w> {
    method: FrameHandle,
    threads: Vec<(ThreadHandle, &'w ThreadWaits)>,
    /// Time in which any of several threads was there; `None` for a single thread.
    covered: Option<u64>,
    /// Time of which the threads spent this time there.
    elapsed: u64,
}

/// A finding about waits, and what decides whether another one explains it.
struct WaitFinding {
    finding: Finding,
    /// Whether the main method awaits what the trace does not show.
    is_main_that_awaits: bool,
    /// Whether all threads are workers of the thread pool.
    is_of_workers: bool,
}

/// Samples of waits and native calls, added up by thread and own method.
#[derive(Debug, Default)]
pub(super) struct OwnWaits {
    stays: BTreeMap<(FrameHandle, ThreadHandle), ThreadWaits>,
    /// Stacks of the waits and native calls of each method.
    stacks: BTreeMap<FrameHandle, BTreeSet<(StackHandle, Mode)>>,
    /// Time of each thread.
    threads: BTreeMap<ThreadHandle, u64>,
    main: BTreeSet<ThreadHandle>,
    in_pool: BTreeSet<ThreadHandle>,
    is_server: bool,
    /// Time that ran for certain, apart from recording.
    ran: u64,
    /// Number of all samples.
    sampled: u64,
}

impl OwnWaits {
    pub(super) fn new(resolved: &Resolved<'_>, own: &OwnModules) -> OwnWaits {
        let mut waiting = OwnWaits::default();
        // Stacks are many and deep, so each name is looked at once.
        let all = (0_u32..).zip(resolved.all_frames());
        let names: Vec<NameFacts> =
            all.map(|(at, frame)| NameFacts::new(resolved, own, (at, frame))).collect();
        let mut places: HashMap<StackHandle, CallWaits> = HashMap::default();
        let rows = resolved.profile().rows();
        for (key, totals) in rows.iter().filter(|(key, _)| key.kind == Kind::Cpu) {
            if !resolved.admits(key.stack, key.mode) {
                continue;
            }
            let place = *places
                .entry(key.stack)
                .or_insert_with(|| CallWaits::new(resolved, &names, key.stack));
            waiting.add(resolved, place, key, totals);
        }
        waiting
    }

    fn add(
        &mut self,
        resolved: &Resolved<'_>,
        place: CallWaits,
        key: &ProfileKey,
        totals: &Totals,
    ) {
        if resolved.is_recording(key.stack) {
            return;
        }
        if resolved.is_unsampled(key.stack) {
            self.ran = self.ran.saturating_add(totals.weight);
            return;
        }
        self.sampled = self.sampled.saturating_add(totals.samples);
        let of_thread = self.threads.entry(key.thread).or_default();
        *of_thread = of_thread.saturating_add(totals.weight);
        self.is_server |= place.is_server;
        if place.is_main {
            self.main.insert(key.thread);
        }
        if place.is_in_pool {
            self.in_pool.insert(key.thread);
        }
        let how = resolved.running(key.stack, key.mode);
        if how.is_some_and(|how| how != Certainty::NativeCall) && !place.is_recording {
            self.ran = self.ran.saturating_add(totals.weight);
        }
        let Some(method) = place.method.filter(|_| !place.is_recording) else { return };
        let what = resolved.waits_for(key.stack, key.mode);
        let is_for_work = match what {
            // Findings about locks tell of these.
            Some(WaitFor::Lock | WaitFor::Work) => true,
            Some(WaitFor::Sleep | WaitFor::Task) => false,
            Some(_) => place.is_queue && !place.is_main,
            None => false,
        };
        let is_native = how == Some(Certainty::NativeCall) && place.may_wait;
        // With readings, a wait or a native call is divided into what ran and what waited.
        let has_run =
            resolved.is_waking(key.stack, key.mode) || key.mode == Mode::Ran && place.may_wait;
        let is_in_wait = what.is_some() || is_native || has_run;
        let Some(call) = place.call.filter(|_| !place.is_idle && !is_for_work) else { return };
        let stay = self.stays.entry((method, key.thread)).or_default();
        if is_in_wait {
            self.stacks.entry(method).or_default().insert((key.stack, key.mode));
            stay.samples = stay.samples.saturating_add(totals.samples);
            stay.waited = stay.waited.saturating_add(totals.weight);
        }
        let call = stay.calls.entry(call).or_default();
        call.all = call.all.saturating_add(totals.weight);
        if is_in_wait {
            call.waited = call.waited.saturating_add(totals.weight);
        }
        call.native = call.native.saturating_add(if is_native { totals.weight } else { 0 });
        call.ran = call.ran.saturating_add(if has_run { totals.weight } else { 0 });
    }

    /// Returns the findings about the methods in whose waits and native calls threads are most of
    /// the trace. `has_tasks`: the trace shows what is awaited. `has_starvation`: another finding
    /// is about blocked workers of the thread pool, for which the other threads await.
    pub(super) fn methods(
        &self,
        resolved: &Resolved<'_>,
        trace_ns: u64,
        has_tasks: bool,
        has_starvation: bool,
    ) -> Vec<Finding> {
        let mut methods: BTreeMap<FrameHandle, Vec<(ThreadHandle, &ThreadWaits)>> = BTreeMap::new();
        for ((method, thread), stay) in self.stays.iter().filter(|(_, stay)| stay.samples > 0) {
            let is_entry = resolved.frame(*method).is_some_and(|frame| is_main_method(frame));
            let is_server = self.is_server && is_entry && self.main.contains(thread);
            let is_for_task = || {
                let calls = by_name(resolved, &stay.calls);
                let longest = calls.iter().max_by_key(|(_, call)| call.waited);
                longest.is_some_and(|(name, _)| name.starts_with("Task."))
            };
            let is_told = || has_starvation && (self.in_pool.contains(thread) || is_for_task());
            if !is_server && !is_told() {
                methods.entry(*method).or_default().push((*thread, stay));
            }
        }
        let mut found: Vec<WaitFinding> = methods
            .into_iter()
            .filter_map(|(method, all)| {
                self.method_waits(resolved, method, all, trace_ns, has_starvation)
            })
            .filter_map(|waits| self.finding(resolved, &waits, has_tasks))
            .collect();
        // What the main method awaits are workers that wait themselves.
        if found.iter().any(|it| it.is_of_workers) {
            found.retain(|it| !it.is_main_that_awaits);
        }
        let mut found: Vec<Finding> = found.into_iter().map(|it| it.finding).collect();
        found.sort_by(|one, other| other.weight.total_cmp(&one.weight));
        found.truncate(MAX_METHODS);
        found
    }

    /// Returns the threads that are most of the trace in a method's waits: each of them by itself,
    /// or all together. Handlers of a server are not added up, because they wait for each request
    /// anew.
    fn method_waits<'w>(
        &self,
        resolved: &Resolved<'_>,
        method: FrameHandle,
        all: Vec<(ThreadHandle, &'w ThreadWaits)>,
        trace_ns: u64,
        has_starvation: bool,
    ) -> Option<MethodWaits<'w>> {
        let add = |sum: u64, next: u64| sum.saturating_add(next);
        let samples = all.iter().map(|(_, stay)| stay.samples).fold(0, add);
        let waited = all.iter().map(|(_, stay)| stay.waited).fold(0, add);
        let longest = all.iter().map(|(_, stay)| stay.waited).max().unwrap_or(0);
        let covered = || {
            let stacks = self.stacks.get(&method).into_iter().flatten().copied();
            resolved.profile().presence().nanos_at(stacks)
        };
        let of_thread = |thread: &ThreadHandle| self.threads.get(thread).copied().unwrap_or(0);
        if !self.is_server && !has_starvation && all.len() > 1 && samples >= MIN_SAMPLES {
            let covered = covered();
            let is_long = percent(covered, trace_ns) >= MIN_THREAD_PERCENT;
            if is_long && percent(covered, longest) >= MIN_SPREAD_PERCENT {
                let is_part = |stay: &ThreadWaits| percent(stay.waited, waited) >= MIN_PART_PERCENT;
                let threads = all.into_iter().filter(|(_, stay)| is_part(stay)).collect();
                // The threads may have lived one after another, too.
                let elapsed = self.threads.values().copied().max().unwrap_or(0).max(covered);
                return Some(MethodWaits { method, threads, covered: Some(covered), elapsed });
            }
        }
        let is_long = |stay: &ThreadWaits| {
            percent(stay.waited, trace_ns) >= MIN_THREAD_PERCENT && stay.samples >= MIN_SAMPLES
        };
        let threads: Vec<_> = all.into_iter().filter(|(_, stay)| is_long(stay)).collect();
        let elapsed = threads.iter().map(|(thread, _)| of_thread(thread)).max()?;
        let covered = (threads.len() > 1).then(covered);
        Some(MethodWaits { method, threads, covered, elapsed })
    }

    fn finding(
        &self,
        resolved: &Resolved<'_>,
        waits: &MethodWaits<'_>,
        has_tasks: bool,
    ) -> Option<WaitFinding> {
        let MethodWaits { method, threads, covered, elapsed } = waits;
        let mut frames: BTreeMap<FrameHandle, CallTimes> = BTreeMap::new();
        let mut whole = CallTimes::default();
        for (frame, call) in threads.iter().flat_map(|(_, stay)| &stay.calls) {
            frames.entry(*frame).or_default().add(*call);
            whole.add(*call);
        }
        // Where a call runs for long, too, all of its time counts.
        let is_waiting = percent(whole.waited, whole.all) >= MIN_WAITING_PERCENT;
        let time = |call: CallTimes| if is_waiting { call.waited } else { call.all };
        let spent = time(whole);
        // Presence lacks what ran in the calls.
        let of_thread = |stay: &ThreadWaits| {
            stay.calls.values().map(|call| time(*call)).fold(0, u64::saturating_add)
        };
        let longest = threads.iter().map(|(_, stay)| of_thread(stay)).max().unwrap_or(0);
        let covered = covered.map(|covered| covered.max(longest).min(*elapsed));
        let mut calls: Vec<WaitCall> = by_name(resolved, &frames)
            .into_iter()
            .filter(|(_, call)| percent(time(*call), spent) >= MIN_CALL_PERCENT)
            .map(|(name, call)| {
                let long =
                    |part| Some(part).filter(|it| percent(*it, time(call)) >= MIN_NATIVE_PERCENT);
                let native_nanos = long(call.native).unwrap_or(0);
                let ran_nanos = long(call.ran).unwrap_or(0);
                WaitCall { name, nanos: time(call), native_nanos, ran_nanos }
            })
            .collect();
        calls.sort_by_key(|call| std::cmp::Reverse(call.nanos));
        calls.truncate(MAX_CALLS);
        let is_main = matches!(threads.as_slice(), [(thread, _)] if self.main.contains(thread));
        let is_for_task = calls.first().is_some_and(|call| call.name.starts_with("Task"));
        let is_little = percent(self.ran, *elapsed) <= MAX_IDLE_PERCENT;
        let method = resolved.frame(*method)?;
        // A main method that awaits the others is normal, unless these do not run, either.
        if is_for_task && is_main_method(method) && (!is_little || has_tasks) {
            return None;
        }
        let is_unknown = is_for_task && is_little && !has_tasks;
        let nanos = |nanos: u64| Number::nanos(nanos).estimated();
        let share = match covered {
            Some(covered) => Number::share(covered, *elapsed, Base::Elapsed),
            None => Number::share(spent, *elapsed, Base::OfThreads),
        };
        let share = share.estimated();
        let fact = Fact::Waiting {
            spent: nanos(spent),
            elapsed: nanos(*elapsed),
            share,
            covered: covered.map(nanos),
            threads: Number::count(threads.len() as u64, Unit::Threads),
            ran: is_unknown.then(|| nanos(self.ran)),
            place: Place::from_frame(method),
            calls,
            is_main,
            producers: None,
            is_one_at_a_time: covered
                .is_some_and(|covered| percent(spent, covered) <= MAX_PERCENT_OF_COVERED),
        };
        let weight = if is_main { 20.0 + 0.4 * share.value } else { 15.0 + 0.3 * share.value };
        Some(WaitFinding {
            finding: Finding::new(fact, weight),
            is_main_that_awaits: is_unknown && is_main && is_main_method(method),
            is_of_workers: threads.iter().all(|(thread, _)| self.in_pool.contains(thread)),
        })
    }

    /// Returns the finding that threads only wait for work; `None` without samples, or if much ran.
    pub(super) fn idle(&self, trace_ns: u64) -> Option<Finding> {
        let is_idle = percent(self.ran, trace_ns) <= MAX_IDLE_PERCENT;
        let ran = Number::nanos(self.ran).estimated();
        let fact = Fact::Idle { ran, elapsed: Number::nanos(trace_ns), is_idle };
        (self.sampled >= MIN_SAMPLES).then(|| Finding::new(fact, 0.0))
    }
}
