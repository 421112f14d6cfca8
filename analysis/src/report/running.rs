//! How certain it is that the threads of samples ran.

use crate::document::percent;
use crate::model::{
    CountedStates, FrameHandle, Model, Profile, ProfileKey, Resolved, Running, SampleClock, Totals,
};

/// Minimum time that idle pool workers spin, in percent of this and the running time together, for
/// a document to state the time.
const MIN_SPINNING_PERCENT: f64 = 10.0;

/// Returns the time for which idle pool workers spun; `None` if it is less than a tenth of this and
/// the running time together.
pub(crate) fn notable_spinning(spun_ns: u64, running_ns: u64) -> Option<u64> {
    let all = spun_ns.saturating_add(running_ns);
    (percent(spun_ns, all) >= MIN_SPINNING_PERCENT).then_some(spun_ns)
}

/// Numbers of CPU samples, by how certain it is that their thread ran.
///
/// The runtime's sampler stops all threads and then looks at each. It cannot stop a thread in a
/// native call, which looks the same whether the call computes or blocks. So samples of native
/// calls may stand for more time than the processors ran.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct RunningSamples {
    /// Number of samples of managed code, which ran.
    pub managed: u64,
    /// Number of samples of native code that is known to compute.
    pub computing: u64,
    /// Number of samples of threads that were taking a lock.
    pub taking_lock: u64,
    /// Number of samples of native calls, which may have run or blocked.
    pub native_calls: u64,
    /// Samples that ran and were caught at a poll of the runtime. They count for the nearest own
    /// method.
    pub at_gc_poll: u64,
    /// Samples, among the others, of a runtime that does not tell managed from native code: what is
    /// no known wait and no known native call counts as managed.
    pub untold: u64,
}

/// Upper limit of the time that the processors can have run in the selected part of a trace.
/// Samples may add up to more, because a thread that waits for a processor is sampled like one that
/// runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ProcessorLimit {
    /// Number of processors.
    pub processors: u32,
    /// Time that all processors can have run together, in nanoseconds.
    pub most_ns: u64,
}

impl ProcessorLimit {
    /// Returns the limit if `running_ns`, the time of all threads that are not known to have
    /// waited, exceeds it.
    pub(crate) fn below(running_ns: u64, model: &Model) -> Option<ProcessorLimit> {
        let processors = model.processors()?;
        let most_ns = model.selected().nanos().saturating_mul(u64::from(processors));
        (most_ns > 0 && running_ns > most_ns).then_some(ProcessorLimit { processors, most_ns })
    }
}

/// Processor time of a process, as the operating system counted it, and how it is divided among the
/// rows of a report. The time of counted samples is part of the report's time, and so is time of
/// rows without samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ProcessorTime {
    /// Processor time of the process in the session, in nanoseconds.
    /// `None` if the readings do not have it, or the filter leaves out threads or times.
    pub process_ns: Option<u64>,
    /// Part of the report's time that follows from the readings alone, in nanoseconds.
    pub measured_ns: u64,
    /// Part of the report's time that was estimated because threads ran in a part of the time
    /// between two readings, in nanoseconds.
    pub estimated_ns: u64,
    /// Part of the report's time that no sample has, in nanoseconds. It is measured, and has rows of
    /// its own.
    pub unsampled_ns: u64,
    /// Processor time of the row `(recording)`, in nanoseconds: of the threads that record, and of
    /// what the recording does on other threads. It is no part of the report's time, to which
    /// percentages are relative.
    pub recording_ns: u64,
    /// Time in which threads were ready and had no processor, in nanoseconds.
    pub ready_ns: u64,
}

/// What a report of CPU samples says of the samples that it counts.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct CountedSamples {
    /// Number of CPU samples that pass the filter.
    pub samples: u64,
    /// Time of the samples, in nanoseconds, to which percentages are relative. With readings, the
    /// row `(recording)` is no part of it.
    pub total_ns: u64,
    /// Median time between consecutive samples of a thread, in nanoseconds; `None` without samples.
    pub period_ns: Option<u64>,
    /// States of threads whose samples are counted.
    pub state: CountedStates,
    /// Number of counted samples, by how certain it is that their thread ran.
    pub running: RunningSamples,
    /// Number of counted samples whose stack lacks its outermost frames, because the runtime keeps
    /// 100 frames.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub cut_off_samples: u64,
    /// Number of counted samples whose stack lacked its outermost frames and got them from an
    /// earlier stack of the thread.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub repaired_samples: u64,
    /// Number of counted samples of async code whose callers are not in the trace. It is 0 unless
    /// [`AnalysisOptions::async_callers`](crate::AnalysisOptions::async_callers).
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub without_async_callers_samples: u64,
    /// Upper limit of the time that the processors can have run; `None` if the samples' time is
    /// below it.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub processor_limit: Option<ProcessorLimit>,
    /// Processor time by the readings of the process; `None` without readings.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub processor_time: Option<ProcessorTime>,
    /// Number of samples of waiting threads that the rest of the filter accepts, whether or not
    /// they are counted.
    pub waiting_samples: u64,
    /// Time of the waiting samples, in nanoseconds.
    pub waiting_ns: u64,
    /// Clock that measured the times: elapsed or CPU time.
    pub clock: SampleClock,
    /// Number of frames in the trace's distinct stacks whose name is a guess
    /// ([`Frame::is_guessed`](crate::Frame::is_guessed)).
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub guessed_frames: u64,
}

/// Sums of a trace's CPU samples, which reports of samples show above their rows.
#[derive(Debug, Default)]
pub(super) struct SampleSums {
    pub running: RunningSamples,
    /// Time of threads that are not known to have waited, in nanoseconds.
    running_ns: u64,
    /// Time for which idle pool workers spun, in nanoseconds.
    spun_ns: u64,
    /// Samples of threads that waited, whether or not the filter selects them.
    pub waiting: Totals,
    /// Totals of the selected samples.
    selected: Totals,
    /// Time of selected rows without samples, in nanoseconds.
    unsampled_ns: u64,
    /// Time of selected rows that are work of the recording, in nanoseconds.
    recording_ns: u64,
    /// Number of selected samples whose stack lacks its outermost frames.
    pub cut_off: u64,
    /// Number of samples of async code whose callers are not in the trace.
    pub without_async_callers: u64,
    /// Number of selected samples whose stack got its outermost frames from an earlier stack of the
    /// thread.
    pub repaired: u64,
}

impl SampleSums {
    /// Adds the samples of one stack. Returns the stack's frames, innermost first; `None` if the
    /// filter does not select the samples.
    pub(super) fn add<'r>(
        &mut self,
        resolved: &'r Resolved<'_>,
        key: &ProfileKey,
        totals: &Totals,
    ) -> Option<&'r [FrameHandle]> {
        if resolved.is_waiting(key.stack, key.mode) {
            self.waiting.add(totals);
            if resolved.spins_idly(key.stack, key.mode) {
                self.spun_ns = self.spun_ns.saturating_add(totals.weight);
            }
        }
        let frames = resolved.selected(key.stack, key.mode)?;
        let add = |sum: &mut u64, samples: u64| *sum = sum.saturating_add(samples);
        if resolved.is_recording(key.stack) {
            add(&mut self.recording_ns, totals.weight);
            return Some(frames);
        }
        self.selected.add(totals);
        if resolved.is_unsampled(key.stack) {
            add(&mut self.unsampled_ns, totals.weight);
        }
        if resolved.lacks_async_callers(key.stack) {
            add(&mut self.without_async_callers, totals.samples);
        }
        if resolved.is_cut_off(key.stack) {
            add(&mut self.cut_off, totals.samples);
        }
        if resolved.is_repaired(key.stack) {
            add(&mut self.repaired, totals.samples);
        }
        if let Some(running) = resolved.running(key.stack, key.mode) {
            add(&mut self.running_ns, totals.weight);
            let certain = match running {
                Running::Managed => &mut self.running.managed,
                Running::AtGcPoll => &mut self.running.at_gc_poll,
                Running::Computing => &mut self.running.computing,
                Running::TakingLock => &mut self.running.taking_lock,
                Running::NativeCall => &mut self.running.native_calls,
            };
            add(certain, totals.samples);
            if resolved.is_untold(key.stack, key.mode) {
                add(&mut self.running.untold, totals.samples);
            }
        }
        Some(frames)
    }

    pub(super) fn idle_spinning_ns(&self) -> Option<u64> {
        notable_spinning(self.spun_ns, self.running_ns)
    }

    /// Returns how the readings of the process divide the report's time; `None` without readings.
    fn processor_time(&self, profile: &Profile) -> Option<ProcessorTime> {
        let sums = profile.processor()?;
        let threads = sums.threads.values().filter(|thread| !thread.is_recording);
        Some(ProcessorTime {
            process_ns: sums.total_ns,
            measured_ns: self.selected.weight.saturating_sub(self.selected.estimated),
            estimated_ns: self.selected.estimated,
            unsampled_ns: self.unsampled_ns,
            recording_ns: self.recording_ns,
            ready_ns: threads.map(|thread| thread.ready_ns).fold(0, u64::saturating_add),
        })
    }

    /// Returns what a report says of the samples. `samples`, `total_ns`: their number and time
    /// without the rows that are no part of it.
    pub(super) fn counted(
        &self,
        samples: u64,
        total_ns: u64,
        resolved: &Resolved<'_>,
        profile: &Profile,
    ) -> CountedSamples {
        let model = resolved.model();
        CountedSamples {
            samples,
            total_ns,
            period_ns: model.period_nanos(),
            state: resolved.counted_states(),
            running: self.running,
            cut_off_samples: self.cut_off,
            repaired_samples: self.repaired,
            without_async_callers_samples: self.without_async_callers,
            processor_limit: ProcessorLimit::below(self.running_ns, model),
            processor_time: self.processor_time(profile),
            waiting_samples: self.waiting.samples,
            waiting_ns: self.waiting.weight,
            clock: resolved.clock(profile),
            guessed_frames: resolved.coverage().guessed,
        }
    }
}
