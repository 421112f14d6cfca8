//! What there is to see of the last seconds.

use super::named_stack::{NamedStack, Namer, OURS};
use super::processor_time::{SampleWeights, Seen, UsedTimes, WHOLE};
use super::slice::{Counted, Slice, Sum};
use super::{LiveTop, SECOND_NS};
use crate::document::SCHEMA;
use crate::document::percent;
use crate::fact::Verdicts;
use crate::live::verdict::{SeenThread, verdicts};
use crate::model::{Frame, Mode, NameOptions, ThreadState, WaitFor, rounded, type_text};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, PoisonError};

/// Methods of each thread.
const THREAD_METHODS: usize = 10;
/// A thread in native code that used less of a core is blocked there.
const LEAST_USED: f64 = 0.01;

/// The last seconds of a running process.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TopSnapshot {
    /// Version of this document.
    pub schema: u32,
    /// The moment, in nanoseconds since the session's start.
    pub now_ns: i64,
    /// How much of the past it is about, in nanoseconds: at most the window.
    pub window_ns: u64,
    /// What the stacks of all threads say together, as sentences: see
    /// [`verdicts`](crate::live::verdicts). Threads of sessions are left out.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub verdicts: Verdicts,
    /// Sums.
    pub header: TopHeader,
    /// Methods by self samples, most first, of threads that were running or in native
    /// code.
    pub methods: Vec<TopMethod>,
    /// Threads by how much they ran, most first.
    pub threads: Vec<TopThread>,
    /// Allocated types, most bytes first.
    pub allocations: Vec<TopAllocation>,
    /// Thrown types, most first.
    pub exceptions: Vec<TopException>,
    /// Places where threads waited for a lock, longest first.
    pub contention: Vec<TopContention>,
    /// Places where threads waited, most samples first.
    pub waits: Vec<TopWait>,
    /// HTTP requests by target, most time first.
    pub requests: Vec<TopRequest>,
}

/// Sums of the last seconds.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TopHeader {
    /// Number of CPU samples, and of those whose thread was not waiting.
    pub samples: u64,
    /// See `samples`.
    pub running_samples: u64,
    /// Threads that were sampled.
    pub threads: u64,
    /// Whether samples weigh as much as their thread ran, by the operating system's times
    /// ([`LiveTop::set_threads`]). Otherwise code that waits in native calls may be
    /// ranked like code that runs.
    pub is_by_processor_time: bool,
    /// Share of the time in which all threads were suspended for a collection; without
    /// events of collections, by the counter `total-pause-time-by-gc`, or `time-in-gc`, which
    /// is about the time since the last collection.
    pub gc_percent: f64,
    /// Collections that started, per second.
    pub collections_per_s: f64,
    /// Allocated bytes per second: by the counter `alloc-rate`, or by the runtime's ticks of
    /// about 100 KB until it comes.
    pub allocated_bytes_per_s: f64,
    /// Exceptions thrown per second, by the counter `exception-count` or by their events.
    pub exceptions_per_s: f64,
    /// Waits for a lock that ended, per second, by the counter
    /// `monitor-lock-contention-count` or by their events.
    pub contentions_per_s: f64,
    /// Requests that ended, per second.
    pub requests_per_s: f64,
    /// Of the machine's processors, by the counter `cpu-usage`; `None` until it comes.
    pub cpu_percent: Option<f64>,
    /// Memory of the process, by the counter `working-set` (bytes).
    pub working_set_bytes: Option<f64>,
    /// Work items that wait for a thread of the thread pool.
    pub threadpool_queue: Option<f64>,
    /// Threads of the thread pool.
    pub threadpool_threads: Option<f64>,
    /// How often in the window the thread pool got a thread because others were blocked:
    /// by starvation, or because they wait for tasks. Needs the runtime's events for it.
    pub threadpool_starvations: u64,
    /// Samples and occurrences that are not shown, because a second had too many distinct
    /// stacks.
    pub left_out: u64,
    /// Methods without a name, because there are too many.
    pub nameless_methods: u64,
}

/// A method.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TopMethod {
    /// Its name.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::document::as_text"))]
    pub name: Arc<Frame>,
    /// Samples with it as the innermost frame, as much as their threads ran.
    pub self_samples: u64,
    /// Samples with it on the stack.
    pub total_samples: u64,
    /// Percentage of all samples of threads that were not waiting.
    pub self_percent: f64,
    /// The same for `total_samples`.
    pub total_percent: f64,
}

/// A thread.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TopThread {
    /// OS id, in the namespace of the process.
    pub thread_id: u64,
    /// Samples.
    pub samples: u64,
    /// Samples in managed code, in native code or unknown, and waiting.
    pub managed_samples: u64,
    /// See `managed_samples`.
    pub native_samples: u64,
    /// See `managed_samples`.
    pub waiting_samples: u64,
    /// Its share of the samples of all threads that were not waiting.
    pub percent: f64,
    /// Its methods by self samples; percentages are of the thread's own samples in which
    /// it was not waiting.
    pub methods: Vec<TopMethod>,
}

/// An allocated type.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TopAllocation {
    /// Its name.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub type_name: String,
    /// Number of ticks: objects at which the allocator had given out another 100 KB.
    pub ticks: u64,
    /// Bytes allocated up to these ticks.
    pub bytes: u64,
    /// The same per second.
    pub bytes_per_s: f64,
    /// Percentage of all allocated bytes.
    pub percent: f64,
}

/// A thrown type.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TopException {
    /// Its name.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub type_name: String,
    /// How often it was thrown.
    pub count: u64,
    /// The same per second.
    pub per_s: f64,
}

/// Where threads waited for a lock.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TopContention {
    /// The method that takes the lock.
    pub place: String,
    /// Waits that ended.
    pub count: u64,
    /// Their total duration, in nanoseconds.
    pub total_ns: u64,
    /// The longest.
    pub max_ns: u64,
}

/// Where threads waited.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TopWait {
    /// The method that waits: the caller of the library's wait.
    pub place: String,
    /// What for.
    pub waits_for: WaitFor,
    /// Samples.
    pub samples: u64,
    /// Number of threads.
    pub threads: u64,
    /// Percentage of all samples.
    pub percent: f64,
}

/// Requests of one target.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TopRequest {
    /// Direction, method and target; numbers in paths are replaced by `#`.
    pub request: String,
    /// Number of requests that ended, and per second.
    pub count: u64,
    /// See `count`.
    pub per_s: f64,
    /// Those that failed.
    pub errors: u64,
    /// Mean duration, in nanoseconds.
    pub mean_ns: u64,
    /// The longest.
    pub max_ns: u64,
}

/// Methods with what they weigh alone and in total, and the weight of all samples; in
/// [`WHOLE`]s.
#[derive(Default)]
struct Methods(HashMap<Arc<Frame>, (u64, u64)>, u64);

/// As many samples as this weight is worth.
fn samples(weight: u64) -> u64 {
    weight.saturating_add(WHOLE / 2) / WHOLE
}

impl Methods {
    fn add(&mut self, stack: &NamedStack, count: u64) {
        self.1 = self.1.saturating_add(count);
        if let Some(leaf) = stack.frames.first() {
            let row = self.0.entry(Arc::clone(leaf)).or_default();
            row.0 = row.0.saturating_add(count);
        }
        let distinct: BTreeSet<&Arc<Frame>> = stack.frames.iter().collect();
        for frame in distinct {
            let row = self.0.entry(Arc::clone(frame)).or_default();
            row.1 = row.1.saturating_add(count);
        }
    }

    fn rows(self, limit: usize) -> Vec<TopMethod> {
        let Methods(rows, all) = self;
        let mut rows: Vec<TopMethod> = rows
            .into_iter()
            .filter(|(_, (_, total))| samples(*total) > 0)
            .map(|(name, (own, total))| TopMethod {
                name,
                self_samples: samples(own),
                total_samples: samples(total),
                self_percent: percent(own, all),
                total_percent: percent(total, all),
            })
            .collect();
        rows.sort_by(|a, b| {
            let by = |of: fn(&TopMethod) -> f64| of(b).total_cmp(&of(a));
            let by_self = by(|row| row.self_percent);
            let last = (a.name.text == OURS).cmp(&(b.name.text == OURS));
            last.then(by_self).then(by(|row| row.total_percent)).then_with(|| a.name.cmp(&b.name))
        });
        rows.truncate(limit);
        rows
    }
}

struct ThreadSums {
    seen: Seen,
    weights: SampleWeights,
    methods: Methods,
}

impl Default for ThreadSums {
    fn default() -> ThreadSums {
        let (seen, weights) = (Seen::default(), SampleWeights::UNKNOWN);
        ThreadSums { seen, weights, methods: Methods::default() }
    }
}

impl LiveTop {
    /// The window at a moment, in seconds since the session's start: its first second,
    /// and its length in nanoseconds.
    pub(super) fn span(&self, now: i64) -> (i64, u64) {
        let window = i64::try_from(self.seconds).unwrap_or(i64::MAX).saturating_mul(SECOND_NS);
        let from = now.saturating_sub(window);
        let first = from.div_euclid(SECOND_NS);
        // The second in which the window begins counts as a whole.
        let begin = first.saturating_mul(SECOND_NS).max(self.first_ns.unwrap_or(now));
        (first, u64::try_from(now.saturating_sub(begin)).unwrap_or(0).max(1))
    }

    /// What there is to see at a moment, in nanoseconds since the session's start.
    pub(super) fn look(&self, now_ns: i64) -> TopSnapshot {
        let (first, window_ns) = self.span(now_ns);
        let window = self.summed(first);
        let mut snapshot = TopSnapshot {
            schema: SCHEMA,
            now_ns,
            window_ns,
            verdicts: self.verdicts(&window),
            header: self.header(&window, window_ns),
            threads: thread_rows(window.threads, window.methods.1, self.rows),
            methods: window.methods.rows(self.rows),
            ..TopSnapshot::default()
        };
        snapshot.add_waits(window.waits, window.samples, self.rows);
        snapshot.add_counted(window.counted, window_ns as f64 / SECOND_NS as f64, self.rows);
        snapshot
    }

    /// Sums up the slices from a second on.
    fn summed(&self, first: i64) -> Window {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let mut window = Window { nameless_methods: names.left_out(), ..Window::default() };
        let mut namer = Namer::new(&mut names, self.process);
        let mut stacks_of = Vec::new();
        for slice in self.slices.iter().filter(|slice| slice.second >= first) {
            window.left_out = window.left_out.saturating_add(slice.left_out);
            window.pause_ns = window.pause_ns.saturating_add(slice.gc_pause_ns);
            window.collections = window.collections.saturating_add(slice.collections);
            window.starvations = window.starvations.saturating_add(slice.starvations);
            window.used.add(&slice.used_times);
            let stacks: Vec<NamedStack> =
                slice.stacks.things.iter().map(|stack| namer.stack(stack)).collect();
            window.count_states(slice, &stacks);
            count_labels(slice, &stacks, &mut window.counted);
            stacks_of.push((slice, stacks));
        }
        window.set_weights();
        for (slice, stacks) in &stacks_of {
            window.weigh(slice, stacks);
        }
        // The newest second has just begun.
        let latest = stacks_of.iter().nth_back(1).or_else(|| stacks_of.last());
        if let Some((slice, stacks)) = latest {
            window.look_at_threads(slice, stacks);
        }
        window
    }

    fn verdicts(&self, window: &Window) -> Verdicts {
        let UsedTimes { of_threads, span, .. } = &window.used;
        let name = |thread: &u64| match self.thread_names.get(thread) {
            Some(name) if !name.is_empty() => name.clone(),
            _ => thread.to_string(),
        };
        let names: Vec<String> = window.looks.keys().map(name).collect();
        let seen = window.looks.iter().zip(&names).map(|((thread, look), name)| {
            let mut seen = SeenThread::new(name, look.state, &look.frames);
            seen.waits_for = look.waits_for;
            let used = of_threads.get(thread).filter(|_| window.has_times);
            seen.used = used.map(|used| *used as f64 / (*span).max(1) as f64);
            seen.is_blocked = look.state == ThreadState::Native
                && seen.used.is_some_and(|used| used < LEAST_USED);
            seen
        });
        let queued = self.latest_counters.get("threadpool-queue-length");
        let queued = queued.map(|items| rounded(*items));
        verdicts(&seen.collect::<Vec<_>>(), &|| queued)
    }

    fn header(&self, window: &Window, window_ns: u64) -> TopHeader {
        let seconds = window_ns as f64 / SECOND_NS as f64;
        let total = |what: Counted, of: fn(&Sum) -> u64| window.total(what, of) as f64 / seconds;
        let counter = |name| self.latest_counters.get(name).copied();
        TopHeader {
            samples: window.samples,
            running_samples: samples(window.methods.1),
            threads: window.threads.len() as u64,
            is_by_processor_time: window.has_times,
            gc_percent: match window.collections {
                // Milliseconds a second; .NET 8 and later have it.
                0 => counter("total-pause-time-by-gc").map(|paused| paused / 10.0),
                _ => Some(percent(window.pause_ns.min(window_ns), window_ns)),
            }
            .or_else(|| counter("time-in-gc"))
            .unwrap_or(0.0),
            collections_per_s: window.collections as f64 / seconds,
            allocated_bytes_per_s: counter("alloc-rate")
                .unwrap_or_else(|| total(Counted::Allocation, |sum| sum.weight)),
            exceptions_per_s: counter("exception-count")
                .unwrap_or_else(|| total(Counted::Exception, |sum| sum.count)),
            contentions_per_s: counter("monitor-lock-contention-count")
                .unwrap_or_else(|| total(Counted::Contention, |sum| sum.count)),
            requests_per_s: total(Counted::Request, |sum| sum.count),
            cpu_percent: counter("cpu-usage"),
            working_set_bytes: counter("working-set").map(|megabytes| megabytes * 1e6),
            threadpool_queue: counter("threadpool-queue-length"),
            threadpool_threads: counter("threadpool-thread-count"),
            threadpool_starvations: window.starvations,
            left_out: window.left_out,
            nameless_methods: window.nameless_methods,
        }
    }
}

/// What happened in the window.
#[derive(Default)]
struct Window {
    samples: u64,
    methods: Methods,
    threads: BTreeMap<u64, ThreadSums>,
    waits: Waits,
    /// What each thread of the program did most in the latest whole second.
    looks: BTreeMap<u64, ThreadLook>,
    counted: BTreeMap<(Counted, String), Sum>,
    pause_ns: u64,
    collections: u64,
    starvations: u64,
    /// Processor time, if it is known.
    used: UsedTimes,
    has_times: bool,
    left_out: u64,
    nameless_methods: u64,
}

/// What a thread did.
struct ThreadLook {
    state: ThreadState,
    waits_for: Option<WaitFor>,
    frames: Vec<Arc<Frame>>,
}

/// Samples of waiting threads, and the threads, by place and what they wait for.
type Waits = BTreeMap<(String, WaitFor), (u64, BTreeSet<u64>)>;

impl Window {
    /// Counts what the threads of a second seemed to do.
    fn count_states(&mut self, slice: &Slice, stacks: &[NamedStack]) {
        for ((thread, stack, mode), count) in &slice.samples {
            let Some(stack) = stacks.get(*stack as usize) else { continue };
            self.samples = self.samples.saturating_add(*count);
            let sums = self.threads.entry(*thread).or_default();
            let state = stack.state(*mode);
            let sum = match state {
                // It spins, in managed code.
                ThreadState::Managed | ThreadState::TakingLock => &mut sums.seen.managed,
                ThreadState::Native => &mut sums.seen.native,
                ThreadState::Waiting => &mut sums.seen.waiting,
            };
            *sum = sum.saturating_add(*count);
            if state == ThreadState::Waiting {
                let place = (stack.waiting_place().to_owned(), stack.wait_for(*mode));
                let row = self.waits.entry(place).or_default();
                row.0 = row.0.saturating_add(*count);
                row.1.insert(*thread);
            }
        }
    }

    fn look_at_threads(&mut self, slice: &Slice, stacks: &[NamedStack]) {
        let mut most: BTreeMap<u64, (u64, u32, Mode)> = BTreeMap::new();
        let mut samples: BTreeMap<u64, u64> = BTreeMap::new();
        for ((thread, stack, mode), count) in &slice.samples {
            let seen = (*count, *stack, *mode);
            let all = samples.entry(*thread).or_default();
            *all = all.saturating_add(*count);
            let row = most.entry(*thread).or_insert(seen);
            if (seen.0, Reverse(seen.1)) > (row.0, Reverse(row.1)) {
                *row = seen;
            }
        }
        // The sampler's rounds: a thread that was there all the time is in each.
        let rounds = samples.values().copied().max().unwrap_or(0);
        let is_half = |count: u64| count.saturating_mul(2) >= rounds;
        for (thread, (count, stack, mode)) in most {
            let Some(stack) = stacks.get(stack as usize) else { continue };
            let is_short = !samples.get(&thread).is_some_and(|all| is_half(*all));
            if is_short || stack.frames.iter().any(|frame| frame.text == OURS) {
                continue;
            }
            let state = stack.state(mode);
            // A wait that is soon over is no news.
            let is_long = state == ThreadState::Waiting && is_half(count);
            let waits_for = is_long.then(|| stack.wait_for(mode));
            let frames = stack.frames.clone();
            self.looks.insert(thread, ThreadLook { state, waits_for, frames });
        }
    }

    /// What the samples of each thread weigh.
    fn set_weights(&mut self) {
        let UsedTimes { of_threads, of_others, span } = &self.used;
        // Without a thread in common they are those of another process.
        self.has_times =
            *span > 0 && self.threads.keys().any(|thread| of_threads.contains_key(thread));
        if !self.has_times {
            return;
        }
        // The sampler's rounds: a thread that was there all the time is in each.
        let rounds = self.threads.values().map(|sums| sums.seen.all()).max().unwrap_or(0);
        let mut others = Seen::default();
        for (thread, sums) in &mut self.threads {
            match of_threads.get(thread) {
                Some(used) => sums.weights = SampleWeights::of(sums.seen, rounds, *used, *span),
                None => others.add(sums.seen),
            }
        }
        let weights = SampleWeights::of(others, rounds, *of_others, *span);
        let ended = self.threads.iter_mut().filter(|(thread, _)| !of_threads.contains_key(thread));
        ended.for_each(|(_, sums)| sums.weights = weights);
    }

    /// Adds what ran to the methods, now that it is known what each thread's samples weigh.
    fn weigh(&mut self, slice: &Slice, stacks: &[NamedStack]) {
        for ((thread, stack, mode), count) in &slice.samples {
            let (Some(stack), Some(sums)) =
                (stacks.get(*stack as usize), self.threads.get_mut(thread))
            else {
                continue;
            };
            let weight = match stack.state(*mode) {
                ThreadState::Managed | ThreadState::TakingLock => sums.weights.managed,
                ThreadState::Native => sums.weights.native,
                ThreadState::Waiting => continue,
            };
            let weight = count.saturating_mul(weight);
            if weight > 0 {
                self.methods.add(stack, weight);
                sums.methods.add(stack, weight);
            }
        }
    }

    fn total(&self, what: Counted, of: fn(&Sum) -> u64) -> u64 {
        let rows = self.counted.iter().filter(|((kind, _), _)| *kind == what);
        rows.map(|(_, sum)| of(sum)).fold(0, u64::saturating_add)
    }
}

impl TopSnapshot {
    fn add_waits(&mut self, waits: Waits, all_samples: u64, limit: usize) {
        let rows = waits.into_iter().map(|((place, waits_for), (samples, threads))| TopWait {
            place,
            waits_for,
            samples,
            threads: threads.len() as u64,
            percent: percent(samples, all_samples),
        });
        self.waits = rows.collect();
        self.waits.sort_by_key(|row| Reverse(row.samples));
        self.waits.truncate(limit);
    }

    fn add_counted(
        &mut self,
        counted: BTreeMap<(Counted, String), Sum>,
        seconds: f64,
        limit: usize,
    ) {
        let allocated = counted.iter().filter(|((kind, _), _)| *kind == Counted::Allocation);
        let all_bytes = allocated.map(|(_, sum)| sum.weight).fold(0, u64::saturating_add);
        for ((kind, label), sum) in counted {
            let per_s = sum.count as f64 / seconds;
            match kind {
                Counted::Allocation => self.allocations.push(TopAllocation {
                    type_name: label,
                    ticks: sum.count,
                    bytes: sum.weight,
                    bytes_per_s: sum.weight as f64 / seconds,
                    percent: percent(sum.weight, all_bytes),
                }),
                Counted::Exception => {
                    let row = TopException { type_name: label, count: sum.count, per_s };
                    self.exceptions.push(row);
                }
                Counted::Contention => self.contention.push(TopContention {
                    place: label,
                    count: sum.count,
                    total_ns: sum.weight,
                    max_ns: sum.max,
                }),
                Counted::Request => self.requests.push(TopRequest {
                    request: label,
                    count: sum.count,
                    per_s,
                    errors: sum.errors,
                    mean_ns: sum.weight.checked_div(sum.count).unwrap_or(0),
                    max_ns: sum.max,
                }),
            }
        }
        self.allocations.sort_by_key(|row| Reverse(row.bytes));
        self.exceptions.sort_by_key(|row| Reverse(row.count));
        self.contention.sort_by_key(|row| Reverse(row.total_ns));
        self.requests.sort_by_key(|row| Reverse(row.mean_ns.saturating_mul(row.count)));
        self.allocations.truncate(limit);
        self.exceptions.truncate(limit);
        self.contention.truncate(limit);
        self.requests.truncate(limit);
    }
}

/// How a label is shown; a wait for a lock has the place that takes it.
pub(super) fn label_text(what: Counted, label: &str, stack: &NamedStack) -> String {
    match what {
        Counted::Allocation | Counted::Exception => type_text(label, NameOptions::default()),
        Counted::Request => label.to_owned(),
        Counted::Contention => stack.waiting_place().to_owned(),
    }
}

fn count_labels(
    slice: &Slice,
    stacks: &[NamedStack],
    counted: &mut BTreeMap<(Counted, String), Sum>,
) {
    for ((what, label, stack), sum) in &slice.counted {
        let label = slice.labels.things.get(*label as usize);
        let (Some(label), Some(stack)) = (label, stacks.get(*stack as usize)) else { continue };
        counted.entry((*what, label_text(*what, label, stack))).or_default().add(sum);
    }
}

fn thread_rows(threads: BTreeMap<u64, ThreadSums>, running: u64, limit: usize) -> Vec<TopThread> {
    let mut rows: Vec<TopThread> = threads
        .into_iter()
        .map(|(thread_id, sums)| {
            let Seen { managed, native, waiting } = sums.seen;
            TopThread {
                thread_id,
                samples: managed.saturating_add(native).saturating_add(waiting),
                managed_samples: managed,
                native_samples: native,
                waiting_samples: waiting,
                percent: percent(sums.methods.1, running),
                methods: sums.methods.rows(THREAD_METHODS),
            }
        })
        .collect();
    rows.sort_by(|a, b| b.percent.total_cmp(&a.percent).then(a.thread_id.cmp(&b.thread_id)));
    rows.truncate(limit);
    rows
}
