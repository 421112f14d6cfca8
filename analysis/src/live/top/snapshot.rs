//! Snapshots of the last seconds.

use super::methods::samples;
use super::named_stack::{NamedStack, Namer};
use super::processor_time::{RanTimes, SampleWeights, Seen, UsedTimes};
use super::rows::{
    TopAllocation, TopContention, TopException, TopHeader, TopRequest, TopSnapshot, TopThread,
    TopWait,
};
use super::slice::{CountedEvent, EventSum, Slice};
use super::window::{ThreadMethods, Window, WindowWaits, class_counts};
use super::{LiveTop, SECOND_NS};
use crate::document::{SCHEMA, percent};
use crate::fact::Verdicts;
use crate::live::verdict::{SeenThread, verdicts};
use crate::model::thread_times::EVENT_PIPE_THREAD;
use crate::model::{Mode, NamesSoFar, RunningCandidates, RuntimeVersion, ThreadState, rounded};
use crate::report::ProcessorTime;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::PoisonError;

/// Maximum number of methods of each thread.
const MAX_THREAD_METHODS: usize = 10;
/// Minimum part of a core that a thread in native code must use to count as running.
const MIN_USED: f64 = 0.01;

impl LiveTop {
    /// Returns the window at a moment: its first second since the session's start, and its length
    /// in nanoseconds.
    pub(super) fn span(&self, now: i64) -> (i64, u64) {
        let window = i64::try_from(self.seconds).unwrap_or(i64::MAX).saturating_mul(SECOND_NS);
        let from = now.saturating_sub(window);
        let first = from.div_euclid(SECOND_NS);
        let begin = first.saturating_mul(SECOND_NS).max(self.first_ns.unwrap_or(now));
        (first, u64::try_from(now.saturating_sub(begin)).unwrap_or(0).max(1))
    }

    /// Returns the state at a moment, in nanoseconds since the session's start.
    pub(super) fn look(&self, now_ns: i64) -> TopSnapshot {
        let (first, window_ns) = self.span(now_ns);
        let window = self.summed(first);
        let mut snapshot = TopSnapshot {
            schema: SCHEMA,
            now_ns,
            window_ns,
            verdicts: self.verdicts(&window),
            header: self.header(&window, window_ns),
            processor_time: window.has_times.then(|| processor_time(&window)),
            threads: thread_rows(
                window.threads,
                Some(&window.used).filter(|_| window.has_times),
                window.methods.weight(),
                self.rows,
            ),
            methods: window.methods.rows(self.rows),
            ..TopSnapshot::default()
        };
        snapshot.add_waits(window.waits, window.samples, self.rows);
        snapshot.add_counted(window.counted, window_ns as f64 / SECOND_NS as f64, self.rows);
        snapshot
    }

    /// Returns the slices from a second on, with names for their stacks.
    pub(super) fn named(&self, names: &mut NamesSoFar, first: i64) -> NamedSlices<'_> {
        let version = names.runtime(self.process).version;
        let mut namer = Namer::new(names, self.process);
        let slices = self.slices.iter().filter(|slice| slice.second >= first);
        let mut slices: Vec<(&Slice, Vec<NamedStack>)> = slices
            .map(|slice| {
                let stacks = slice.stacks.things.iter().map(|stack| namer.stack(stack));
                (slice, stacks.collect())
            })
            .collect();
        let is_untold = match version.and_then(RuntimeVersion::tells_managed) {
            Some(tells) => !tells,
            None => candidates(&slices).are_untold(),
        };
        for stack in slices.iter_mut().flat_map(|(_, stacks)| stacks) {
            stack.leaf.is_untold = is_untold;
        }
        NamedSlices { slices, is_untold }
    }

    /// Sums up the slices from a second on.
    fn summed(&self, first: i64) -> Window {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let mut window = Window { nameless_methods: names.left_out(), ..Window::default() };
        let NamedSlices { slices, is_untold } = self.named(&mut names, first);
        window.is_untold = is_untold;
        for (slice, stacks) in &slices {
            window.left_out = window.left_out.saturating_add(slice.left_out);
            window.pause_ns = window.pause_ns.saturating_add(slice.gc_pause_ns);
            window.collections = window.collections.saturating_add(slice.collections);
            window.starvations = window.starvations.saturating_add(slice.starvations);
            window.count_states(slice, stacks);
            window.count_labels(slice, stacks);
        }
        let counts: Vec<_> = slices.iter().map(|it| class_counts(it.0, &it.1)).collect();
        for ((slice, _), counts) in slices.iter().zip(&counts) {
            window.add_times(counts, &slice.used_times);
        }
        let is_recording = |thread: u64| self.is_recording(thread);
        let of_window = window
            .has_times
            .then(|| SampleWeights::new(&window.counts, &window.used, is_recording));
        for ((slice, stacks), counts) in slices.iter().zip(&counts) {
            // A second without a reading is divided like the window.
            let has_own = window.has_times && slice.used_times.span > 0;
            let own = has_own.then(|| SampleWeights::new(counts, &slice.used_times, is_recording));
            if let Some(own) = &own {
                window.ran.add(&own.ran);
            }
            window.weigh(slice, stacks, own.as_ref().or(of_window.as_ref()));
        }
        // The newest second is not complete, so the one before is looked at.
        let latest = slices.iter().nth_back(1).or_else(|| slices.last());
        if let Some((slice, stacks)) = latest {
            window.look_at_threads(slice, stacks);
        }
        window
    }

    /// Returns whether a thread exists only for the recording.
    fn is_recording(&self, thread: u64) -> bool {
        let name = self.thread_names.get(&thread);
        self.samplers.contains(&thread) || name.is_some_and(|name| name == EVENT_PIPE_THREAD)
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
            seen.used = used.map(|used| used.ran as f64 / (*span).max(1) as f64);
            seen.is_untold = window.is_untold && !window.has_times;
            // Where managed code is not told from native code, either may be a wait.
            let may_wait = match window.is_untold {
                true => look.state != ThreadState::Waiting,
                false => look.state == ThreadState::Native,
            };
            seen.is_blocked = may_wait && seen.used.is_some_and(|used| used < MIN_USED);
            seen
        });
        let queued = self.latest_counters.get("threadpool-queue-length");
        let queued = queued.map(|items| rounded(*items));
        verdicts(&seen.collect::<Vec<_>>(), &|| queued)
    }

    fn header(&self, window: &Window, window_ns: u64) -> TopHeader {
        let seconds = window_ns as f64 / SECOND_NS as f64;
        let total =
            |what: CountedEvent, of: fn(&EventSum) -> u64| window.total(what, of) as f64 / seconds;
        let counter = |name| self.latest_counters.get(name).copied();
        TopHeader {
            samples: window.samples,
            running_samples: samples(window.methods.weight()),
            threads: window.threads.len() as u64,
            is_by_processor_time: window.has_times,
            is_untold: window.is_untold && !window.has_times,
            gc_percent: match window.collections {
                // The counter is in milliseconds per second; .NET 8 and later have it.
                0 => counter("total-pause-time-by-gc").map(|paused| paused / 10.0),
                _ => Some(percent(window.pause_ns.min(window_ns), window_ns)),
            }
            .or_else(|| counter("time-in-gc"))
            .unwrap_or(0.0),
            collections_per_s: window.collections as f64 / seconds,
            allocated_bytes_per_s: counter("alloc-rate")
                .unwrap_or_else(|| total(CountedEvent::Allocation, |sum| sum.weight)),
            exceptions_per_s: counter("exception-count")
                .unwrap_or_else(|| total(CountedEvent::Exception, |sum| sum.count)),
            contentions_per_s: counter("monitor-lock-contention-count")
                .unwrap_or_else(|| total(CountedEvent::Contention, |sum| sum.count)),
            requests_per_s: total(CountedEvent::Request, |sum| sum.count),
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

/// Slices of the window, each with its named stacks.
pub(super) struct NamedSlices<'s> {
    pub(super) slices: Vec<(&'s Slice, Vec<NamedStack>)>,
    /// Whether the sampler of the process does not tell managed from native code.
    is_untold: bool,
}

/// Counts the samples whose frames alone show a thread that runs managed code.
fn candidates(slices: &[(&Slice, Vec<NamedStack>)]) -> RunningCandidates {
    let mut candidates = RunningCandidates::default();
    for (slice, stacks) in slices {
        for ((_, stack, mode), count) in &slice.samples {
            let stack = stacks.get(*stack as usize);
            if stack.is_some_and(|stack| stack.leaf.may_run_managed()) {
                match mode {
                    Mode::Managed => candidates.add(*count, 0),
                    Mode::External => candidates.add(0, *count),
                    _ => {}
                }
            }
        }
    }
    candidates
}

impl TopSnapshot {
    fn add_waits(&mut self, waits: WindowWaits, all_samples: u64, limit: usize) {
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
        counted: BTreeMap<(CountedEvent, String), EventSum>,
        seconds: f64,
        limit: usize,
    ) {
        let allocated = counted.iter().filter(|((kind, _), _)| *kind == CountedEvent::Allocation);
        let all_bytes = allocated.map(|(_, sum)| sum.weight).fold(0, u64::saturating_add);
        for ((kind, label), sum) in counted {
            let per_s = sum.count as f64 / seconds;
            match kind {
                CountedEvent::Allocation => self.allocations.push(TopAllocation {
                    type_name: label,
                    ticks: sum.count,
                    bytes: sum.weight,
                    bytes_per_s: sum.weight as f64 / seconds,
                    percent: percent(sum.weight, all_bytes),
                }),
                CountedEvent::Exception => {
                    let row = TopException { type_name: label, count: sum.count, per_s };
                    self.exceptions.push(row);
                }
                CountedEvent::Contention => self.contention.push(TopContention {
                    place: label,
                    count: sum.count,
                    total_ns: sum.weight,
                    max_ns: sum.max,
                }),
                CountedEvent::Request => self.requests.push(TopRequest {
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

/// Returns how the times of threads are divided among the samples of a window that has times.
fn processor_time(window: &Window) -> ProcessorTime {
    let RanTimes { measured, estimated, unsampled, recording, ready } = window.ran;
    ProcessorTime {
        process_ns: Some(window.used.of_process),
        // Time without samples is measured, as in reports of recordings.
        measured_ns: measured.saturating_add(unsampled),
        estimated_ns: estimated,
        unsampled_ns: unsampled,
        recording_ns: recording,
        ready_ns: ready,
    }
}

fn thread_rows(
    threads: BTreeMap<u64, ThreadMethods>,
    used: Option<&UsedTimes>,
    running: u64,
    limit: usize,
) -> Vec<TopThread> {
    let mut rows: Vec<TopThread> = threads
        .into_iter()
        .map(|(thread_id, sums)| {
            let Seen { managed, native, waiting } = sums.seen;
            let used = used.and_then(|used| used.of_threads.get(&thread_id));
            TopThread {
                thread_id,
                ran_ns: used.map(|used| used.ran),
                ready_ns: used.map(|used| used.ready),
                samples: managed.saturating_add(native).saturating_add(waiting),
                managed_samples: managed,
                native_samples: native,
                waiting_samples: waiting,
                percent: percent(sums.methods.weight(), running),
                methods: sums.methods.rows(MAX_THREAD_METHODS),
            }
        })
        .collect();
    rows.sort_by(|a, b| b.percent.total_cmp(&a.percent).then(a.thread_id.cmp(&b.thread_id)));
    rows.truncate(limit);
    rows
}
