//! Which of the program's own methods ran, and what they call: a sample belongs to its
//! innermost frame of own code, as what the framework does there was asked for there.

use super::Finding;
use super::hangs::Blocked;
use super::own::{OwnModules, is_package};
use crate::document::percent;
use crate::model::{
    Frame, FrameHandle, Kind, Mode, ProfileKey, Resolved, Running as Certainty, StackHandle,
    ThreadHandle, Totals, WaitFor, is_compiled_handler, is_for_recording,
};
use crate::report::is_pool_worker;
use crate::words::frames::call_name;
use nettrace_export::units::count;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// A method is notable if it has as many samples, which is 50 ms at the usual rate, and one
/// in so many of all samples, waiting ones included.
const LEAST_SAMPLES: u64 = 50;
const LEAST_SHARE: u64 = 100;
/// or has so much of the time of the trace, in percent.
const LEAST_OF_TRACE: f64 = 5.0;
/// Of a shorter run the method that ran most is named all the same, from so many samples
/// on.
const FEW_SAMPLES: u64 = 5;
/// What takes a smaller percentage of a method's time is not named beside it.
const LEAST_CALL: f64 = 20.0;
/// Other waits of workers must be so many times as long to be named instead of those for tasks.
const MOST_TIMES_LONGER: u64 = 10;
/// Time of idle workers that spin is named if it has this percentage.
const LEAST_SPINNING: f64 = 10.0;
/// Dynamic methods that are worth a word, and the frames below which they are made.
const LEAST_DYNAMIC: usize = 100;
const EMITS: &str = "System.Reflection.Emit.DynamicMethod.";
/// Frames below which the finalizer's thread runs, by runtime.
const FINALIZERS: [&str; 3] = ["System.GC.RunFinalizers", "RunFinalizers(", ".Finalize()"];
/// The frame in which an idle worker of the thread pool looks for work, and that below which it
/// spins.
const IDLE: &str = "System.Threading.LowLevelLifoSemaphore.Wait(";
const IDLE_SPIN: &str = "System.Threading.LowLevelSpinWaiter.Wait(";
/// The frame below which a timer's callback runs.
const TIMER: &str = "System.Threading.TimerQueueTimer.";
/// Frames below which an exception is thrown, or searches for its catch block.
const THROWS: [&str; 2] = ["System.Runtime.EH.", "Exception..ctor("];

/// Frames of input and output.
const IO: [&str; 4] = ["System.Net.", "System.IO.", "Interop.Sys.", "Interop.Winsock."];

/// Time of a method, by how certain it is that it ran.
#[derive(Debug, Default)]
struct Method {
    nanos: u64,
    samples: u64,
    /// Samples that ran for certain, those that took a lock among them.
    certain: u64,
    /// Of the methods that it calls and that are not own.
    calls: BTreeMap<FrameHandle, u64>,
    /// What of it was on the finalizer's thread, below a timer, and throwing exceptions.
    finalizing: u64,
    in_timers: u64,
    throwing: u64,
    /// What of it was making dynamic methods.
    emitting: u64,
}

/// Waits of workers of the thread pool in a method of the program's own, for tasks.
#[derive(Debug, Default)]
struct PoolWait {
    nanos: u64,
    calls: BTreeMap<FrameHandle, u64>,
}

impl Method {
    /// `, of it 94 % in Regex.IsMatch`: the call into other code that takes most, by a method
    /// that a user may have written. Where the compiler has put that into its caller, only
    /// helpers of it are seen there; then the call that is seen elsewhere is an example.
    fn call(&self, resolved: &Resolved<'_>) -> Option<String> {
        let most = |is: &dyn Fn(&str) -> bool| {
            let calls = self.calls.iter().filter(|(call, _)| is(&called(resolved, **call)));
            calls.max_by_key(|(call, nanos)| (**nanos, Reverse(**call)))
        };
        let (call, nanos) = most(&|_| true)?;
        let name = called(resolved, *call);
        if !is_helper(&name) {
            let share = percent(*nanos, self.nanos);
            return (share >= LEAST_CALL).then(|| format!(", of it {share:.0} % in {name}"));
        }
        let all =
            percent(self.calls.values().fold(0, |sum, it| sum.saturating_add(*it)), self.nanos);
        let (example, _) = most(&|name| !is_helper(name))?;
        let example = called(resolved, *example);
        (all >= LEAST_CALL).then(|| format!(", of it {all:.0} % in calls such as {example}"))
    }
}

fn called(resolved: &Resolved<'_>, frame: FrameHandle) -> String {
    resolved.frame(frame).map_or_else(String::new, |frame| call_name(frame))
}

/// Whether a method is one that only the framework calls.
fn is_helper(name: &str) -> bool {
    let (type_name, method) = name.rsplit_once('.').unwrap_or(("", name));
    let type_name = type_name.split('<').next().unwrap_or_default();
    let is_inner = |name: &str| name.contains("Helper") || INNER_TYPES.contains(&name);
    is_inner(type_name)
        || type_name.rsplit('.').next().is_some_and(is_inner)
        || method.starts_with("Throw")
        || method.contains("Slow")
        || name.contains('→')
}

/// Whether a frame is a helper whose only purpose is to throw.
fn is_thrower(frame: &str) -> bool {
    let name = frame.split_once('(').map_or(frame, |(name, _)| name);
    let is_helper = name.rsplit('.').next().is_some_and(|method| method.starts_with("Throw"));
    is_helper && crate::model::Folding::is_framework(frame)
}

/// Types whose methods stand behind others that users call.
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

/// The program's own methods.
#[derive(Debug, Default)]
pub(super) struct OwnCode {
    methods: BTreeMap<FrameHandle, Method>,
    /// Time and samples that are not known to have waited.
    nanos: u64,
    samples: u64,
    /// All samples.
    sampled: u64,
    /// Methods in which threads waited for a lock: how long, and which threads.
    lock_waits: BTreeMap<FrameHandle, (u64, BTreeSet<ThreadHandle>)>,
    /// Methods in which threads slept.
    sleeps: BTreeMap<FrameHandle, u64>,
    /// Methods in which `GC.Collect` and `Thread.Start` were called, by their samples.
    collects: BTreeMap<FrameHandle, u64>,
    starts: BTreeMap<FrameHandle, u64>,
    /// Methods in which workers of the thread pool waited for something but work, and whether
    /// that was for tasks.
    pool_waits: BTreeMap<(bool, FrameHandle), PoolWait>,
    /// Time in which idle workers spun for work.
    spun_idly: u64,
    /// Of `nanos`, what was throwing exceptions.
    throwing: u64,
    /// The latest sample in a method: when, and in which.
    latest: Option<(i64, FrameHandle)>,
}

impl OwnCode {
    pub(super) fn new(resolved: &Resolved<'_>, own: &OwnModules) -> OwnCode {
        // Names may be long and stacks deep, so each name is looked at once.
        let all = (0_u32..).zip(resolved.all_frames());
        let facts: Vec<FrameFacts> =
            all.map(|(at, _)| FrameFacts::of(resolved, own, FrameHandle(at))).collect();
        let mut code = OwnCode::default();
        let mut places: HashMap<StackHandle, Place> = HashMap::new();
        let rows = resolved.profile().rows();
        for (key, totals) in rows.iter().filter(|(key, _)| key.kind == Kind::Cpu) {
            code.sampled = code.sampled.saturating_add(totals.samples);
            if !resolved.admits(key.stack, key.mode) {
                continue;
            }
            let place =
                *places.entry(key.stack).or_insert_with(|| Place::of(resolved, key.stack, &facts));
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
            code.nanos = code.nanos.saturating_add(totals.weight);
            code.samples = code.samples.saturating_add(totals.samples);
            if place.throws {
                code.throwing = code.throwing.saturating_add(totals.weight);
            }
            let Some(method) = place.method.filter(|_| !place.records) else { continue };
            let is_certain = place.compiles
                || matches!(how, Certainty::Managed | Certainty::Computing | Certainty::TakingLock);
            // A native call for input or output may well have waited.
            if !is_certain && place.does_io {
                continue;
            }
            let row = code.methods.entry(method).or_default();
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
        place: &Place,
        key: &ProfileKey,
        totals: &Totals,
    ) {
        let what = resolved.waits_for(key.stack, key.mode);
        if key.mode == Mode::Managed && place.spins_idly {
            self.spun_idly = self.spun_idly.saturating_add(totals.weight);
        }
        let Some(method) = place.method else { return };
        if what != Some(WaitFor::Work) && place.is_in_pool {
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

    /// Where workers of the thread pool waited most for something but work: the time, the
    /// call that waits, and the own method that calls it.
    pub(super) fn blocked_workers<'r>(&self, resolved: &'r Resolved<'_>) -> Option<Blocked<'r>> {
        // What waits for tasks is what starves a pool, unless it hardly waits.
        let most = |is: &dyn Fn(bool) -> bool| {
            let rows = self.pool_waits.iter().filter(|((for_task, _), _)| is(*for_task));
            rows.max_by_key(|((_, method), row)| (row.nanos, Reverse(*method)))
        };
        let all = most(&|_| true)?;
        let for_task = most(&|for_task| for_task);
        let is_enough = |row: &PoolWait| row.nanos.saturating_mul(MOST_TIMES_LONGER) >= all.1.nanos;
        let ((_, method), row) = for_task.filter(|(_, row)| is_enough(row)).unwrap_or(all);
        let call = row.calls.iter().max_by_key(|(call, nanos)| (**nanos, Reverse(**call)));
        let call = call.map(|(call, _)| called(resolved, *call));
        Some(Blocked { nanos: row.nanos, call, method: resolved.frame(*method)? })
    }

    /// The percentage of the running time in which exceptions were thrown and caught, as far
    /// as stacks show it.
    pub(super) fn throwing_percent(&self) -> f64 {
        percent(self.throwing, self.nanos)
    }

    /// What the finalizer's thread ran most, unless that is the hottest method of all.
    pub(super) fn finalizer(&self, resolved: &Resolved<'_>) -> Option<Finding> {
        let most = self.methods.iter().max_by_key(|(it, row)| (row.finalizing, Reverse(**it)));
        let (method, row) = most.filter(|(_, row)| row.finalizing > 0)?;
        let is_enough = row.certain >= FEW_SAMPLES;
        if !is_enough || self.hottest_row().is_some_and(|(hottest, _)| hottest == method) {
            return None;
        }
        Finding::finalizer(resolved.frame(*method)?, (row.nanos, self.nanos))
    }

    /// Waits for a lock, by samples alone: for traces without the events of locks.
    pub(super) fn lock_waits(&self, resolved: &Resolved<'_>, trace_ns: u64) -> Option<Finding> {
        let most =
            self.lock_waits.iter().max_by_key(|(method, (nanos, _))| (*nanos, Reverse(**method)));
        let (method, (nanos, threads)) = most?;
        let held =
            if self.sleeps.contains_key(method) { ", in which the holder sleeps" } else { "" };
        Finding::sampled_lock_waits(
            resolved.frame(*method)?,
            held,
            (*nanos, trace_ns),
            threads.len() as u64,
        )
    }

    /// The method in which most of the running time is, with what it calls; `None` if there
    /// are too few samples to say so.
    pub(super) fn hottest(&self, resolved: &Resolved<'_>, trace_ns: u64) -> Option<Finding> {
        let (method, row) = self.hottest_row()?;
        // A server has many threads that wait, and all of them are sampled.
        let is_some_time = row.certain.saturating_mul(2) >= row.samples
            && percent(row.nanos, trace_ns) >= LEAST_OF_TRACE;
        // Of an idle process there are a few samples, too.
        let is_much = is_some_time || row.samples.saturating_mul(LEAST_SHARE) >= self.sampled;
        let is_enough = row.certain >= LEAST_SAMPLES;
        let is_short = self.samples < LEAST_SAMPLES * 4 && row.certain >= FEW_SAMPLES;
        if !is_much || !is_enough && !is_short {
            return None;
        }
        let native = row.samples.saturating_sub(row.certain);
        let how = match (is_enough, native > row.certain) {
            (false, _) => ", which are few".to_owned(),
            (true, true) => format!(", {} in native calls, which may not have run", count(native)),
            (true, false) => String::new(),
        };
        // Spinning takes processors, too.
        let all = self.nanos.saturating_add(self.spun_idly);
        let (how, of) = match percent(self.spun_idly, all) >= LEAST_SPINNING {
            true => (
                format!(
                    "{how}; {:.0} % without the spinning of idle workers",
                    percent(row.nanos, self.nanos)
                ),
                all,
            ),
            false => (how, self.nanos),
        };
        let is_most = |nanos: u64| nanos.saturating_mul(2) >= row.nanos;
        let where_from = match (is_most(row.finalizing), is_most(row.in_timers)) {
            (true, _) => ", on the finalizer's thread",
            (_, true) => ", called by timers",
            _ => "",
        };
        let emitted = match percent(row.emitting, row.nanos) >= LEAST_CALL {
            true => dynamic_methods(resolved),
            false => String::new(),
        };
        Finding::own_method(
            resolved.frame(*method)?,
            &format!("{where_from}{}{emitted}", row.call(resolved).unwrap_or_default()),
            (row.nanos, of),
            (row.samples, &how),
        )
    }

    /// The method with most time that ran for certain: what may only have waited in native
    /// code leads nothing.
    fn hottest_row(&self) -> Option<(&FrameHandle, &Method)> {
        let ran =
            self.methods.iter().filter(|(_, row)| row.certain.saturating_mul(10) >= row.samples);
        ran.max_by_key(|(method, row)| (row.nanos, Reverse(**method)))
    }

    /// The method that most samples are in which are not known to have waited. Those in native
    /// calls are among them: allocating is one.
    pub(super) fn busiest<'r>(&self, resolved: &'r Resolved<'_>) -> Option<&'r Arc<Frame>> {
        let most = self.methods.iter().max_by_key(|(method, row)| (row.nanos, Reverse(**method)));
        let (method, _) = most.filter(|(_, row)| row.samples >= FEW_SAMPLES)?;
        resolved.frame(*method)
    }

    /// The own method of the latest sample that has one.
    pub(super) fn latest<'r>(&self, resolved: &'r Resolved<'_>) -> Option<&'r Arc<Frame>> {
        self.latest.and_then(|(_, method)| resolved.frame(method))
    }

    /// The method that asks for collections.
    pub(super) fn collector<'r>(&self, resolved: &'r Resolved<'_>) -> Option<&'r Arc<Frame>> {
        most(&self.collects, resolved)
    }

    /// The method that starts threads.
    pub(super) fn starter<'r>(&self, resolved: &'r Resolved<'_>) -> Option<&'r Arc<Frame>> {
        most(&self.starts, resolved)
    }
}

/// Whether a frame is a dynamic method. It calls no native code itself: where it is in some, the
/// runtime compiles it, at its first call. Stubs of native calls are such methods, too, and do.
fn is_being_compiled(frame: &str) -> bool {
    frame.contains("dynamicClass.") && !frame.contains("IL_STUB")
}

/// `; 3,012 dynamic methods are loaded`.
fn dynamic_methods(resolved: &Resolved<'_>) -> String {
    let texts = resolved.model().texts();
    let processes = resolved.model().processes();
    let methods = processes.flat_map(|(_, process)| process.methods());
    match methods.filter(|method| texts.get(method.namespace) == "dynamicClass").count() {
        many @ LEAST_DYNAMIC.. => format!("; {} dynamic methods are loaded", count(many as u64)),
        _ => String::new(),
    }
}

fn most<'r>(
    callers: &BTreeMap<FrameHandle, u64>,
    resolved: &'r Resolved<'_>,
) -> Option<&'r Arc<Frame>> {
    let most = callers.iter().max_by_key(|(method, samples)| (**samples, Reverse(**method)));
    most.and_then(|(method, _)| resolved.frame(*method))
}

/// What a stack is about.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    /// Its innermost own frame.
    method: Option<FrameHandle>,
    /// What that calls, if it is not own.
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
    spins_idly: bool,
}

/// What the name of a frame says.
#[derive(Debug, Clone, Copy, Default)]
struct FrameFacts {
    is_own: bool,
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
    is_idle: bool,
    is_idle_spin: bool,
}

impl FrameFacts {
    fn of(resolved: &Resolved<'_>, own: &OwnModules, frame: FrameHandle) -> FrameFacts {
        let text = resolved.text(frame);
        FrameFacts {
            is_own: own.has(resolved, frame),
            is_handler: resolved.frame(frame).is_some_and(|frame| is_compiled_handler(frame)),
            is_package: resolved.frame(frame).is_some_and(|frame| is_package(frame)),
            records: is_for_recording(text),
            collects: text.contains("System.GC.Collect("),
            starts: text.contains("System.Threading.Thread.Start"),
            does_io: IO.iter().any(|word| text.contains(word)),
            throws: THROWS.iter().any(|word| text.contains(word)) || is_thrower(text),
            emits: text.contains(EMITS),
            compiles: is_being_compiled(text),
            finalizes: FINALIZERS.iter().any(|word| text.contains(word)),
            is_timer: text.contains(TIMER),
            is_of_tasks: text.contains("System.Threading.Tasks."),
            is_idle: text.contains(IDLE),
            is_idle_spin: text.contains(IDLE_SPIN),
        }
    }
}

impl Place {
    fn of(resolved: &Resolved<'_>, stack: StackHandle, facts: &[FrameFacts]) -> Place {
        let frames = resolved.frames(stack);
        let fact = |frame: &FrameHandle| facts.get(frame.index()).copied().unwrap_or_default();
        let at = frames.iter().position(|frame| fact(frame).is_own);
        let at = at.or_else(|| frames.iter().position(|frame| fact(frame).is_handler));
        let at = at.or_else(|| frames.iter().position(|frame| fact(frame).is_package));
        let inner = frames.get(..at.unwrap_or(0)).unwrap_or_default();
        Place {
            method: at.and_then(|at| frames.get(at)).copied(),
            calls: inner.last().copied(),
            records: frames.iter().any(|frame| fact(frame).records),
            collects: inner.iter().any(|frame| fact(frame).collects),
            starts: inner.iter().any(|frame| fact(frame).starts),
            does_io: inner.iter().any(|frame| fact(frame).does_io),
            throws: inner.iter().any(|frame| fact(frame).throws),
            emits: inner.iter().any(|frame| fact(frame).emits),
            compiles: frames.first().is_some_and(|leaf| fact(leaf).compiles),
            // Older runtimes call finalizers from native code.
            finalizes: frames.last().is_some_and(|root| fact(root).finalizes),
            // An await of `Task.Delay` goes on below a timer, too.
            is_in_timer: frames.iter().any(|frame| fact(frame).is_timer)
                && !frames.iter().any(|frame| fact(frame).is_of_tasks),
            is_in_pool: is_pool_worker(frames, resolved),
            spins_idly: frames.first().is_some_and(|leaf| fact(leaf).is_idle)
                || frames.iter().any(|frame| fact(frame).is_idle_spin),
        }
    }
}
