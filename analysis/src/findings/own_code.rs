//! CPU time of the program's own methods, and of what they call. A sample counts for the innermost
//! own method on its stack, because that method caused what the framework does below it.

use super::finding::{Finding, is_worth_naming, weight_of_lost_time, weight_of_running_time};
use super::hangs::Blocked;
use super::own::{OwnModules, is_package};
use super::pool::PoolTime;
use super::running::MIN_METHOD_PERCENT;
use crate::document::percent;
use crate::fact::{Base, Fact, HotCall, MethodCaller, Number, Place, Unit};
use crate::hash::HashMap;
use crate::model::{
    Folding, Frame, FrameHandle, Kind, ProfileKey, Resolved, Running as Certainty, StackHandle,
    ThreadHandle, Totals, WaitFor, is_behind_public_call, is_for_recording, is_framework,
    public_call,
};
use crate::report::{ProcessorLimit, is_pool_worker, notable_spinning};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Minimum number of samples of a notable method: 50 ms at the usual rate.
const MIN_SAMPLES: u64 = 50;
/// Maximum ratio of all samples, waiting ones included, to those of a notable method.
const MAX_SAMPLES_PER_NOTABLE: u64 = 100;
/// Minimum time of a method, in percent of the trace, at which it is notable however many samples
/// waited.
const MIN_TRACE_PERCENT: f64 = 5.0;
/// Minimum number of samples of the hottest method of a short run that ran for certain.
const MIN_CERTAIN_SAMPLES: u64 = 5;
/// Minimum time of a call, in percent of its caller's time, for the finding to name the call.
const MIN_CALL_PERCENT: f64 = 20.0;
/// Minimum time of sampled waits for a lock, in percent of the trace.
const MIN_LOCK_WAITS_PERCENT: f64 = 5.0;
/// Maximum ratio of the longest wait of pool workers to their longest wait for tasks; up to it, the
/// finding names the wait for tasks.
const MAX_TIMES_LONGER: u64 = 10;
/// Minimum number of dynamic methods for the finding to count them.
const MIN_DYNAMIC: u64 = 100;
/// Type name of dynamic methods: the ones that a program makes while it runs.
const DYNAMIC: &str = "dynamicClass";
/// Outermost methods of the finalizer's thread, which depend on the runtime's version.
const FINALIZERS: [&str; 2] = ["RunFinalizers", "Finalize"];
/// First words of namespaces whose methods do input and output.
const IO: [&str; 2] = ["System.Net", "System.IO"];
/// Types whose methods are native calls for input and output.
const IO_TYPES: [&str; 2] = ["Interop.Sys", "Interop.Winsock"];

/// Time of one of the program's own methods, in nanoseconds where nothing else is said.
#[derive(Debug, Default)]
struct Method {
    nanos: u64,
    samples: u64,
    /// Number of samples that ran for certain; taking a lock counts as running.
    certain: u64,
    /// Time of each method of other code that this method calls.
    calls: BTreeMap<FrameHandle, u64>,
    /// Time on the finalizer's thread.
    finalizing: u64,
    /// Time below a timer.
    in_timers: u64,
    /// Time throwing exceptions.
    throwing: u64,
    /// Time making dynamic methods.
    emitting: u64,
}

/// Waits of pool workers in one of the program's own methods.
#[derive(Debug, Default)]
struct PoolWait {
    nanos: u64,
    calls: BTreeMap<FrameHandle, u64>,
}

impl Method {
    /// Returns the call into other code that takes most time. If most is in a helper, whose caller
    /// was inlined, the call is the most frequent one that is no helper, as an example.
    fn call(&self, resolved: &Resolved<'_>) -> Option<HotCall> {
        let calls = || {
            let calls = self.calls.iter();
            calls.filter_map(|(call, nanos)| Some((resolved.frame(*call)?, *nanos, Reverse(*call))))
        };
        let (frame, nanos, _) = calls().max_by_key(|(_, nanos, at)| (*nanos, *at))?;
        let (frame, nanos, is_example) = match is_helper(frame) {
            false => (frame, nanos, false),
            true => {
                let others = calls().filter(|(frame, ..)| !is_helper(frame));
                let (example, ..) = others.max_by_key(|(_, nanos, at)| (*nanos, *at))?;
                let all = self.calls.values().fold(0, |sum: u64, it| sum.saturating_add(*it));
                (example, all, true)
            }
        };
        let percent = percent(nanos, self.nanos);
        (percent >= MIN_CALL_PERCENT).then(|| HotCall {
            name: public_call(frame),
            percent,
            is_example,
        })
    }
}

/// Returns whether a frame is a method that only the framework calls, or stands for a native call,
/// and no public call is known for it.
fn is_helper(frame: &Frame) -> bool {
    if is_behind_public_call(frame) {
        return false;
    }
    let type_name = frame.type_name.split('<').next().unwrap_or_default();
    let innermost = type_name.rsplit('.').next().unwrap_or(type_name);
    innermost.contains("Helper")
        || INNER_TYPES.contains(&innermost)
        || frame.bare_method().starts_with("Throw")
        || frame.method.contains("Slow")
        || frame.call.is_some()
}

/// Returns whether a frame is a helper whose only purpose is to throw.
fn is_thrower(frame: &Frame) -> bool {
    frame.bare_method().starts_with("Throw") && !Folding::is_own(frame)
}

/// Returns whether a frame throws what a task holds, for the method that awaits the task.
fn is_rethrower(frame: &Frame) -> bool {
    let method = frame.bare_method();
    frame.namespace == "System.Runtime.CompilerServices"
        && (method.starts_with("ThrowForNonSuccess") || method.starts_with("HandleNonSuccess"))
        || frame.is_method_of("ExceptionDispatchInfo", "Throw")
}

/// Framework types whose methods are called only by other framework methods.
const INNER_TYPES: [&str; 11] = [
    "Buffer",
    "Number",
    "RuntimeTypeHandle",
    "MethodTable",
    "Marvin",
    "SR",
    "GC",
    "Utf8Utility",
    "Utf16Utility",
    "DefaultBinder",
    "EH",
];

/// CPU samples, added up by the program's own methods.
#[derive(Debug, Default)]
pub(super) struct OwnCode {
    methods: BTreeMap<FrameHandle, Method>,
    /// Time of samples that are not known to have waited.
    nanos: u64,
    /// Number of samples that are not known to have waited.
    samples: u64,
    /// Time of samples that may have run, of runtimes that do not tell managed from native code;
    /// native calls are left out.
    untold: u64,
    /// Number of all samples.
    pub(super) sampled: u64,
    /// Time of the thread pool's workers.
    pub(super) pool_time: PoolTime,
    /// Time of waits for a lock, and the waiting threads, by method.
    lock_waits: BTreeMap<FrameHandle, (u64, BTreeSet<ThreadHandle>)>,
    /// Time in which threads slept, by method.
    sleeps: BTreeMap<FrameHandle, u64>,
    /// Number of samples in `GC.Collect`, by the method that calls it.
    collects: BTreeMap<FrameHandle, u64>,
    /// Number of samples in `Thread.Start`, by the method that calls it.
    starts: BTreeMap<FrameHandle, u64>,
    /// Waits of pool workers for anything but work, by whether they wait for a task and by method.
    pool_waits: BTreeMap<(bool, FrameHandle), PoolWait>,
    /// Time in which pool workers waited, or may have: waits for anything but work, and samples
    /// whose code has no name.
    may_be_blocked: u64,
    /// Time in which idle pool workers spun.
    spun_idly: u64,
    /// Time in which exceptions were thrown; a part of `nanos`.
    throwing: u64,
    /// Samples that ran, by the frame under which `report topN --my-code` counts them.
    shown: BTreeMap<FrameHandle, u64>,
    /// Time and method of the latest sample that has an own method.
    latest: Option<(i64, FrameHandle)>,
}

impl OwnCode {
    pub(super) fn new(resolved: &Resolved<'_>, own: &OwnModules) -> OwnCode {
        // Names are long and stacks share frames, so each frame is judged once.
        let all = (0_u32..).zip(resolved.all_frames());
        let facts: Vec<FrameFacts> =
            all.map(|(at, _)| FrameFacts::new(resolved, own, FrameHandle(at))).collect();
        let mut code = OwnCode::default();
        let mut places: HashMap<StackHandle, OwnPlace> = HashMap::default();
        let rows = resolved.profile().rows();
        for (key, totals) in rows.iter().filter(|(key, _)| key.kind == Kind::Cpu) {
            code.sampled = code.sampled.saturating_add(totals.samples);
            if !resolved.admits(key.stack, key.mode) || resolved.is_recording(key.stack) {
                continue;
            }
            let place = *places
                .entry(key.stack)
                .or_insert_with(|| OwnPlace::new(resolved, key.stack, &facts));
            if let Some(method) = place.method {
                let latest = (totals.last_nanos, method);
                code.latest = code.latest.max(Some(latest));
                for (is_called, callers) in
                    [(place.collects, &mut code.collects), (place.starts, &mut code.starts)]
                {
                    if is_called {
                        let samples = callers.entry(method).or_default();
                        *samples = samples.saturating_add(totals.samples);
                    }
                }
            }
            let Some(how) = resolved.running(key.stack, key.mode) else {
                code.add_wait(resolved, &place, key, totals);
                continue;
            };
            if place.is_nameless {
                code.may_be_blocked = code.may_be_blocked.saturating_add(totals.weight);
            }
            code.nanos = code.nanos.saturating_add(totals.weight);
            code.samples = code.samples.saturating_add(totals.samples);
            if place.is_in_pool {
                code.pool_time.ran = code.pool_time.ran.saturating_add(totals.weight);
            }
            if resolved.is_untold(key.stack, key.mode) && how != Certainty::NativeCall {
                code.untold = code.untold.saturating_add(totals.weight);
            }
            if place.throws {
                code.throwing = code.throwing.saturating_add(totals.weight);
            }
            if let Some(shown) = place.shown.filter(|_| !place.records) {
                let samples = code.shown.entry(shown).or_default();
                *samples = samples.saturating_add(totals.samples);
            }
            let Some(method) = place.method.filter(|_| !place.records) else { continue };
            let is_certain = place.compiles || how != Certainty::NativeCall;
            let row = code.methods.entry(method).or_default();
            // A native call for input or output probably waited.
            if !is_certain && place.does_io {
                continue;
            }
            row.nanos = row.nanos.saturating_add(totals.weight);
            row.samples = row.samples.saturating_add(totals.samples);
            if is_certain {
                row.certain = row.certain.saturating_add(totals.samples);
            }
            for (is_so, nanos) in [
                (place.finalizes, &mut row.finalizing),
                (place.is_in_timer, &mut row.in_timers),
                (place.throws, &mut row.throwing),
                (place.emits, &mut row.emitting),
            ] {
                *nanos = nanos.saturating_add(if is_so { totals.weight } else { 0 });
            }
            if let Some(call) = place.calls {
                let nanos = row.calls.entry(call).or_default();
                *nanos = nanos.saturating_add(totals.weight);
            }
        }
        code
    }

    fn add_wait(
        &mut self,
        resolved: &Resolved<'_>,
        place: &OwnPlace,
        key: &ProfileKey,
        totals: &Totals,
    ) {
        let what = resolved.waits_for(key.stack, key.mode);
        let spins = resolved.spins_idly(key.stack, key.mode);
        if spins {
            self.spun_idly = self.spun_idly.saturating_add(totals.weight);
        }
        let is_blocked = what != Some(WaitFor::Work) && place.is_in_pool;
        if is_blocked {
            self.may_be_blocked = self.may_be_blocked.saturating_add(totals.weight);
        }
        if is_blocked && !spins {
            self.pool_time.blocked = self.pool_time.blocked.saturating_add(totals.weight);
        }
        let Some(method) = place.method else { return };
        if is_blocked {
            let is_for_task = what == Some(WaitFor::Task);
            let row = self.pool_waits.entry((is_for_task, method)).or_default();
            row.nanos = row.nanos.saturating_add(totals.weight);
            if let Some(call) = place.calls {
                let nanos = row.calls.entry(call).or_default();
                *nanos = nanos.saturating_add(totals.weight);
            }
        }
        match what {
            Some(WaitFor::Lock) => {
                let (nanos, threads) = self.lock_waits.entry(method).or_default();
                *nanos = nanos.saturating_add(totals.weight);
                threads.insert(key.thread);
            }
            Some(WaitFor::Sleep) => {
                let nanos = self.sleeps.entry(method).or_default();
                *nanos = nanos.saturating_add(totals.weight);
            }
            _ => {}
        }
    }

    /// Returns the method in which pool workers waited most for anything but work; `None` if that
    /// is little of the time in which they may have waited.
    pub(super) fn blocked_workers<'r>(&self, resolved: &'r Resolved<'_>) -> Option<Blocked<'r>> {
        // Waits for tasks starve a pool, unless they are short beside other waits.
        let most = |is: &dyn Fn(bool) -> bool| {
            let rows = self.pool_waits.iter().filter(|((for_task, _), _)| is(*for_task));
            rows.max_by_key(|((_, method), row)| (row.nanos, Reverse(*method)))
        };
        let all = most(&|_| true)?;
        let for_task = most(&|for_task| for_task);
        let is_enough = |row: &PoolWait| row.nanos.saturating_mul(MAX_TIMES_LONGER) >= all.1.nanos;
        let ((_, method), row) = for_task.filter(|(_, row)| is_enough(row)).unwrap_or(all);
        if !is_worth_naming(row.nanos, self.may_be_blocked) {
            return None;
        }
        let call = row.calls.iter().max_by_key(|(call, nanos)| (**nanos, Reverse(**call)));
        let call = call.and_then(|(call, _)| resolved.frame(*call));
        Some(Blocked {
            nanos: row.nanos,
            call: call.map(|frame| public_call(frame)),
            method: resolved.frame(*method)?,
        })
    }

    /// Returns the time of throwing and catching exceptions in percent of the running time, as far
    /// as stacks show it.
    pub(super) fn throwing_percent(&self) -> f64 {
        percent(self.throwing, self.nanos)
    }

    /// Returns the finding about the method that ran most on the finalizer's thread; `None` if the
    /// method is the hottest of all, too.
    pub(super) fn finalizer(&self, resolved: &Resolved<'_>) -> Option<Finding> {
        let most = self.methods.iter().max_by_key(|(it, row)| (row.finalizing, Reverse(**it)));
        let (method, row) = most.filter(|(_, row)| row.finalizing > 0)?;
        let is_enough = row.certain >= MIN_CERTAIN_SAMPLES;
        let share = Number::share(row.nanos, self.nanos, Base::Running).estimated();
        if !is_enough
            || share.value < MIN_METHOD_PERCENT
            || self.hottest_row().is_some_and(|(hottest, _)| hottest == method)
        {
            return None;
        }
        let ran = Number::nanos(row.nanos).estimated().in_member("methods[].self_ns");
        let place = Place::from_frame(resolved.frame(*method)?);
        let weight = weight_of_running_time(share.value);
        Some(Finding::new(Fact::Finalizer { ran, share, place }, weight))
    }

    /// Returns the finding about waits for a lock that only samples show, for traces without events
    /// of locks.
    pub(super) fn lock_waits(&self, resolved: &Resolved<'_>, trace_ns: u64) -> Option<Finding> {
        let most =
            self.lock_waits.iter().max_by_key(|(method, (nanos, _))| (*nanos, Reverse(**method)));
        let (method, (nanos, threads)) = most?;
        let share = percent(*nanos, trace_ns);
        let fact = Fact::SampledLockWaits {
            // The report's row has all waits of the method, such as the holder's sleep.
            waited: Number::nanos(*nanos).estimated(),
            threads: Number::count(threads.len() as u64, Unit::Threads),
            spun: None,
            running: None,
            holder: None,
            place: Place::from_frame(resolved.frame(*method)?),
            is_holder_asleep: self.sleeps.contains_key(method),
        };
        (share >= MIN_LOCK_WAITS_PERCENT).then(|| Finding::new(fact, weight_of_lost_time(share)))
    }

    /// Returns the finding about the method with most running time, and its heaviest call; `None`
    /// if too few samples are in it.
    pub(super) fn hottest(&self, resolved: &Resolved<'_>, trace_ns: u64) -> Option<Finding> {
        let (method, row) = self.hottest_row()?;
        // Most samples of a server are of waiting threads, so a busy method may have few of all
        // samples.
        let is_some_time = row.certain.saturating_mul(2) >= row.samples
            && percent(row.nanos, trace_ns) >= MIN_TRACE_PERCENT;
        // An idle process has a few running samples, too, and no hottest method.
        let is_much =
            is_some_time || row.samples.saturating_mul(MAX_SAMPLES_PER_NOTABLE) >= self.sampled;
        let is_enough = row.certain >= MIN_SAMPLES;
        let is_short = self.samples < MIN_SAMPLES * 4 && row.certain >= MIN_CERTAIN_SAMPLES;
        if !is_much || !is_enough && !is_short {
            return None;
        }
        let native = row.samples.saturating_sub(row.certain);
        // Spinning takes processor time, too, so a method is notable only beside it.
        let spinning = notable_spinning(self.spun_idly, self.nanos);
        let all = self.nanos.saturating_add(spinning.unwrap_or(0));
        if percent(row.nanos, all) < MIN_METHOD_PERCENT {
            return None;
        }
        let share = Number::share(row.nanos, self.nanos, Base::Running).estimated();
        let is_most = |nanos: u64| nanos.saturating_mul(2) >= row.nanos;
        let dynamic = match percent(row.emitting, row.nanos) >= MIN_CALL_PERCENT {
            true => dynamic_methods(resolved),
            false => None,
        };
        let samples = |count: u64| Number::count(count, Unit::Samples);
        let limit = ProcessorLimit::below(self.untold, resolved.model());
        let frame = resolved.frame(*method)?;
        // The report's row has native calls for input and output, too, and there packages are own.
        let is_row = self.shown.get(method) == Some(&row.samples);
        let in_row = |number: Number, member| match is_row {
            true => number.in_member(member),
            false => number,
        };
        let fact = Fact::OwnMethod {
            ran: in_row(Number::nanos(row.nanos).estimated(), "methods[].self_ns"),
            share: in_row(share, "methods[].self_percent"),
            samples: in_row(samples(row.samples), "methods[].self_samples"),
            native_samples: (is_enough && native > row.certain).then(|| samples(native)),
            idle_spinning: spinning
                .map(|nanos| Number::nanos(nanos).estimated().in_member("idle_spinning_ns")),
            dynamic_methods: dynamic.map(|methods| Number::count(methods, Unit::Methods)),
            taking_lock: None,
            may_have_run: limit.map(|_| Number::nanos(self.untold).estimated()),
            processors_can: limit
                .map(|limit| Number::nanos(limit.most_ns).in_member("processor_limit.most_ns")),
            place: Place::from_frame(frame),
            is_few: !is_enough,
            called_by: match (is_most(row.finalizing), is_most(row.in_timers)) {
                (true, _) => Some(MethodCaller::Finalizer),
                (_, true) => Some(MethodCaller::Timer),
                _ => None,
            },
            call: row.call(resolved),
            producers: None,
        };
        Some(Finding::new(fact, weight_of_running_time(share.value)))
    }

    /// Returns the method with most time, of the methods with at least a tenth of their samples
    /// running for certain. The others may only have waited in native code.
    fn hottest_row(&self) -> Option<(&FrameHandle, &Method)> {
        let ran =
            self.methods.iter().filter(|(_, row)| row.certain.saturating_mul(10) >= row.samples);
        ran.max_by_key(|(method, row)| (row.nanos, Reverse(**method)))
    }

    /// Returns the method with most time that is not known to be waiting, native calls such as
    /// allocating included.
    pub(super) fn busiest<'r>(&self, resolved: &'r Resolved<'_>) -> Option<&'r Arc<Frame>> {
        let most = self.methods.iter().max_by_key(|(method, row)| (row.nanos, Reverse(**method)));
        let (method, _) = most.filter(|(_, row)| row.samples >= MIN_CERTAIN_SAMPLES)?;
        resolved.frame(*method)
    }

    /// Returns the own method that was seen last.
    pub(super) fn latest<'r>(&self, resolved: &'r Resolved<'_>) -> Option<&'r Arc<Frame>> {
        self.latest.and_then(|(_, method)| resolved.frame(method))
    }

    /// Returns the own method with most samples in `GC.Collect`.
    pub(super) fn collector<'r>(&self, resolved: &'r Resolved<'_>) -> Option<&'r Arc<Frame>> {
        most_sampled(&self.collects, resolved)
    }

    /// Returns the own method with most samples in `Thread.Start`.
    pub(super) fn starter<'r>(&self, resolved: &'r Resolved<'_>) -> Option<&'r Arc<Frame>> {
        most_sampled(&self.starts, resolved)
    }
}

/// Returns whether a dynamic method that is innermost in native code is being compiled. Dynamic
/// methods call no native code themselves, except for stubs of native calls; the runtime compiles
/// them at their first call.
fn is_being_compiled(frame: &Frame) -> bool {
    frame.type_name == DYNAMIC && !frame.bare_method().starts_with("IL_STUB")
}

/// Returns the number of dynamic methods, if there are at least [`MIN_DYNAMIC`].
fn dynamic_methods(resolved: &Resolved<'_>) -> Option<u64> {
    let texts = resolved.model().texts();
    let processes = resolved.model().processes();
    let methods = processes.flat_map(|(_, process)| process.methods());
    let count = methods.filter(|method| texts.get(method.namespace) == DYNAMIC).count() as u64;
    (count >= MIN_DYNAMIC).then_some(count)
}

/// Returns the method with most samples.
fn most_sampled<'r>(
    callers: &BTreeMap<FrameHandle, u64>,
    resolved: &'r Resolved<'_>,
) -> Option<&'r Arc<Frame>> {
    let most = callers.iter().max_by_key(|(method, samples)| (**samples, Reverse(**method)));
    most.and_then(|(method, _)| resolved.frame(*method))
}

/// What the frames of a stack tell together.
#[derive(Debug, Clone, Copy, Default)]
struct OwnPlace {
    /// The innermost own frame.
    method: Option<FrameHandle>,
    /// The innermost frame that is not the framework's, which is the row of the report.
    shown: Option<FrameHandle>,
    /// The frame of other code that `method` calls; `None` if `method` is innermost.
    calls: Option<FrameHandle>,
    records: bool,
    collects: bool,
    starts: bool,
    does_io: bool,
    throws: bool,
    emits: bool,
    compiles: bool,
    finalizes: bool,
    is_in_timer: bool,
    is_in_pool: bool,
    /// Whether the innermost frame has no name, and no frame is own.
    is_nameless: bool,
}

/// What the names of a frame tell.
#[derive(Debug, Clone, Copy, Default)]
struct FrameFacts {
    is_own: bool,
    is_shown: bool,
    /// Whether nothing is known about the frame.
    is_unknown: bool,
    is_handler: bool,
    is_package: bool,
    records: bool,
    collects: bool,
    starts: bool,
    does_io: bool,
    throws: bool,
    emits: bool,
    compiles: bool,
    finalizes: bool,
    is_timer: bool,
    is_of_tasks: bool,
    is_nameless: bool,
}

impl FrameFacts {
    fn new(resolved: &Resolved<'_>, own: &OwnModules, handle: FrameHandle) -> FrameFacts {
        let Some(frame) = resolved.frame(handle) else { return FrameFacts::default() };
        let is_in = |namespace: &str, type_name: &str| {
            frame.namespace == namespace && frame.type_name == type_name
        };
        let is_below = |begin: &str| frame.namespace.starts_with(begin);
        let method = frame.bare_method();
        let is_unknown = !frame.is_named() && frame.module.is_empty();
        FrameFacts {
            is_own: own.has(resolved, handle),
            is_shown: match resolved.my_code() {
                Some(chosen) => chosen.is_match(&frame.text),
                None => !is_framework(frame) && !is_unknown,
            },
            is_unknown,
            is_handler: frame.is_handler,
            is_package: is_package(frame),
            records: is_for_recording(frame),
            collects: is_in("System", "GC") && method == "Collect",
            starts: is_in("System.Threading", "Thread") && method.starts_with("Start"),
            does_io: IO.iter().any(|begin| is_below(begin))
                || IO_TYPES.contains(&&*frame.type_name),
            throws: is_in("System.Runtime", "EH")
                || frame.type_name.ends_with("Exception") && method == ".ctor"
                || is_thrower(frame)
                || is_rethrower(frame),
            emits: is_in("System.Reflection.Emit", "DynamicMethod"),
            compiles: is_being_compiled(frame),
            finalizes: FINALIZERS.contains(&method),
            is_timer: is_in("System.Threading", "TimerQueueTimer"),
            is_of_tasks: is_below("System.Threading.Tasks"),
            is_nameless: !frame.is_named(),
        }
    }
}

/// Returns the frame under which `report topN --my-code` counts a stack, innermost first. An address
/// about which nothing is known is folded only if the framework calls it.
fn shown(frames: &[FrameHandle], fact: &dyn Fn(&FrameHandle) -> FrameFacts) -> Option<FrameHandle> {
    let at = frames.iter().position(|frame| fact(frame).is_shown)?;
    let callee = at.checked_sub(1).and_then(|at| frames.get(at));
    callee.filter(|callee| fact(callee).is_unknown).or(frames.get(at)).copied()
}

impl OwnPlace {
    fn new(resolved: &Resolved<'_>, stack: StackHandle, facts: &[FrameFacts]) -> OwnPlace {
        let frames = resolved.frames(stack);
        let fact = |frame: &FrameHandle| facts.get(frame.index()).copied().unwrap_or_default();
        let at = frames.iter().position(|frame| fact(frame).is_own);
        let at = at.or_else(|| frames.iter().rposition(|frame| fact(frame).is_handler));
        let at = at.or_else(|| frames.iter().position(|frame| fact(frame).is_package));
        let inner = match frames.get(..at.unwrap_or(0)).unwrap_or_default() {
            [] => resolved.caught_frames(stack),
            inner => inner,
        };
        OwnPlace {
            method: at.and_then(|at| frames.get(at)).copied(),
            shown: shown(frames, &fact),
            calls: inner.last().copied(),
            records: frames.iter().any(|frame| fact(frame).records),
            collects: inner.iter().any(|frame| fact(frame).collects),
            starts: inner.iter().any(|frame| fact(frame).starts),
            does_io: inner.iter().any(|frame| fact(frame).does_io),
            throws: inner.iter().any(|frame| fact(frame).throws),
            emits: inner.iter().any(|frame| fact(frame).emits),
            compiles: frames.first().is_some_and(|leaf| fact(leaf).compiles),
            // Older runtimes call finalizers from native code, so `Finalize` itself may be
            // outermost.
            finalizes: frames.last().is_some_and(|root| fact(root).finalizes),
            // A method that awaits `Task.Delay` continues below a timer, too, but no timer called
            // it.
            is_in_timer: frames.iter().any(|frame| fact(frame).is_timer)
                && !frames.iter().any(|frame| fact(frame).is_of_tasks),
            is_in_pool: is_pool_worker(frames, resolved),
            is_nameless: at.is_none() && frames.first().is_some_and(|leaf| fact(leaf).is_nameless),
        }
    }
}
