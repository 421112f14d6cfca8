//! Samples, states and events of each thread of a trace.

use super::contract::{Recording, Report, ReportInput, SCHEMA};
use super::counts::increase;
use crate::document::percent;
use crate::model::{FrameHandle, Kind, Resolved, SampleClock, ThreadHandle, ThreadState, Totals};
use crate::sorted::SortFew;
use nettrace_parser::Event;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Computes a [`ThreadsReport`].
#[derive(Debug, Clone, Copy, Default)]
pub struct Threads;

impl Report for Threads {
    type Output = ThreadsReport;

    const NAME: &'static str = "threads";
    const ABOUT: &'static str = "What each thread did";
    const RECORD: &'static [Recording] = &[Recording::SAMPLER];
    const INPUT: ReportInput = ReportInput::SamplesOfThreads;

    fn wants(&self, _: &Event<'_>) -> bool {
        // The model counts the events of threads.
        false
    }

    fn finish(self, resolved: &Resolved<'_>) -> ThreadsReport {
        ThreadsReport::new(resolved)
    }
}

/// Threads of a trace, with their samples and events.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ThreadsReport {
    /// Version of this document: [`SCHEMA`](super::SCHEMA).
    pub schema: u32,
    /// Number of CPU samples that pass the filter.
    pub samples: u64,
    /// Median time between consecutive samples of a thread, in nanoseconds; `None` without samples.
    pub period_ns: Option<u64>,
    /// Clock that measured the times: elapsed or CPU time.
    pub clock: SampleClock,
    /// Number of frames in the trace's distinct stacks whose name is a guess
    /// ([`Frame::is_guessed`](crate::Frame::is_guessed)).
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub guessed_frames: u64,
    /// Samples of a runtime that does not tell managed from native code: what is no known wait and
    /// no known native call counts as managed.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub untold: u64,
    /// Threads that ran longest first if there are readings, then threads with the most samples; among
    /// equals, the one that appeared first.
    pub threads: Vec<ThreadRow>,
}

/// Number and time of the samples of a thread in one state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct StateTotals {
    /// Number of samples.
    pub samples: u64,
    /// Wall time in nanoseconds.
    pub ns: u64,
}

impl StateTotals {
    fn and(self, other: StateTotals) -> StateTotals {
        let samples = self.samples.saturating_add(other.samples);
        StateTotals { samples, ns: self.ns.saturating_add(other.ns) }
    }
}

/// Thread of a [`ThreadsReport`].
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ThreadRow {
    /// OS id; `None` if the stream does not contain it.
    pub thread_id: Option<u64>,
    /// OS id of the process; `None` if the stream does not contain it.
    pub process_id: Option<u64>,
    /// Name that a recorder stored, or the purpose that the runtime reported, such as `Finalizer`.
    pub name: Option<String>,
    /// Number of events of all kinds about the thread that filters of threads and times accept.
    pub events: u64,
    /// Number of CPU samples.
    pub samples: u64,
    /// Time of the samples, in nanoseconds.
    pub total_ns: u64,
    /// Percentage of the time of all threads' samples.
    pub percent: f64,
    /// Samples in which the thread ran managed code or took a lock.
    pub managed: StateTotals,
    /// Samples in a native call, which may have run or blocked.
    pub native: StateTotals,
    /// Samples of `managed` in which the thread took a lock, which includes spinning for it.
    pub taking_lock: StateTotals,
    /// Samples in a method that only waits.
    pub waiting: StateTotals,
    /// Time on a processor, by the readings of the thread, in nanoseconds; `None` without readings.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub ran_ns: Option<u64>,
    /// Time in which the thread was ready and had no processor, by its readings, in nanoseconds;
    /// `None` without readings.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub ready_ns: Option<u64>,
    /// Part of `ready_ns` in which a control group of the process used up its limit of processor
    /// time, in nanoseconds; `None` without readings. The system counts throttled periods for a
    /// group, so this is the ready time between two readings of a group that was throttled meanwhile.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub throttled_ns: Option<u64>,
    /// Whether the thread is one of the recording, by its readings: the sampler, or the writer of
    /// events.
    #[cfg_attr(
        feature = "serde",
        serde(rename = "recording", skip_serializing_if = "crate::document::is_false")
    )]
    pub is_recording: bool,
    /// Time of the first sample, in nanoseconds since the session's start; `None` without samples.
    pub first_ns: Option<i64>,
    /// Time of the last sample, in nanoseconds since the session's start; `None` without samples.
    pub last_ns: Option<i64>,
    /// Innermost frame with the most time; `None` without samples.
    pub top_frame: Option<String>,
    /// Whether the name of `top_frame` is a guess.
    #[cfg_attr(
        feature = "serde",
        serde(rename = "guessed", skip_serializing_if = "crate::document::is_false")
    )]
    pub is_guessed: bool,
    /// Percentage of the thread's time with `top_frame` innermost.
    pub top_frame_percent: f64,
}

#[derive(Default)]
struct ThreadSums {
    totals: Totals,
    states: BTreeMap<ThreadState, StateTotals>,
    leaves: BTreeMap<FrameHandle, u64>,
}

impl ThreadsReport {
    /// Lists the threads of a trace. Threads without samples are listed too, unless a filter of
    /// stacks is set.
    fn new(resolved: &Resolved<'_>) -> ThreadsReport {
        let profile = resolved.profile();
        let mut sums: BTreeMap<ThreadHandle, ThreadSums> = BTreeMap::new();
        let (mut all, mut untold) = (Totals::default(), 0_u64);
        for (key, totals) in profile.rows().iter().filter(|(key, _)| key.kind == Kind::Cpu) {
            let Some(frames) = resolved.selected(key.stack, key.mode) else { continue };
            if resolved.is_unsampled(key.stack) {
                continue;
            }
            let row = sums.entry(key.thread).or_default();
            row.totals.add(totals);
            all.add(totals);
            if resolved.is_untold(key.stack, key.mode) {
                untold = untold.saturating_add(totals.samples);
            }
            let state = row.states.entry(resolved.state(key.stack, key.mode)).or_default();
            state.samples = state.samples.saturating_add(totals.samples);
            state.ns = state.ns.saturating_add(totals.weight);
            if let Some(leaf) = frames.first() {
                increase(row.leaves.entry(*leaf).or_default(), totals.weight);
            }
        }
        let model = resolved.model();
        let is_filtered = profile.is_filtered();
        let mut threads: Vec<(ThreadHandle, ThreadRow)> = model
            .threads()
            .filter(|(handle, thread)| {
                let is_listed = if is_filtered { thread.selected > 0 } else { true };
                is_listed && resolved.admits_all() || sums.contains_key(handle)
            })
            .map(|(handle, thread)| {
                let none = ThreadSums::default();
                let read = profile.processor().and_then(|sums| sums.threads.get(&handle));
                let sums = sums.get(&handle).unwrap_or(&none);
                let state = |state| sums.states.get(&state).copied().unwrap_or_default();
                let top = sums
                    .leaves
                    .iter()
                    .max_by_key(|(frame, ns)| (**ns, Reverse(resolved.text(**frame))));
                let row = ThreadRow {
                    thread_id: thread.os_thread_id,
                    process_id: model.process(thread.process).and_then(|process| process.id),
                    name: thread.name.clone(),
                    events: thread.selected,
                    samples: sums.totals.samples,
                    total_ns: sums.totals.weight,
                    percent: percent(sums.totals.weight, all.weight),
                    managed: state(ThreadState::Managed).and(state(ThreadState::TakingLock)),
                    native: state(ThreadState::Native),
                    taking_lock: state(ThreadState::TakingLock),
                    waiting: state(ThreadState::Waiting),
                    ran_ns: read.map(|read| read.ran_ns),
                    ready_ns: read.map(|read| read.ready_ns),
                    throttled_ns: read.map(|read| read.throttled_ns),
                    is_recording: read.is_some_and(|read| read.is_recording),
                    first_ns: (sums.totals.samples > 0).then_some(sums.totals.first_nanos),
                    last_ns: (sums.totals.samples > 0).then_some(sums.totals.last_nanos),
                    top_frame: top.map(|(frame, _)| resolved.text(*frame).to_owned()),
                    is_guessed: top
                        .and_then(|(frame, _)| resolved.frame(*frame))
                        .is_some_and(|frame| frame.is_guessed),
                    top_frame_percent: top.map_or(0.0, |(_, ns)| percent(*ns, sums.totals.weight)),
                };
                (handle, row)
            })
            .collect();
        threads.sort_few_by_key(|(handle, row)| {
            (Reverse(row.ran_ns), Reverse(row.samples), Reverse(row.total_ns), *handle)
        });
        ThreadsReport {
            schema: SCHEMA,
            samples: all.samples,
            period_ns: model.period_nanos(),
            clock: profile.clock(),
            guessed_frames: resolved.coverage().guessed,
            untold,
            threads: threads.into_iter().map(|(_, row)| row).collect(),
        }
    }
}
