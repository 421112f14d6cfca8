//! What is certain about samples of threads that are not known to have waited.

use crate::model::{FrameHandle, Model, ProfileKey, Resolved, Running, Totals};

/// CPU samples by how certain it is that their thread ran.
///
/// The runtime's sampler stops all threads and then looks at each. One in a native call is
/// not stopped, and looks the same whether the call computes or blocks, so such samples
/// count for more than the time of a processor that they took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct RunningSamples {
    /// Samples of managed code, which ran.
    pub managed: u64,
    /// Samples of native code that computes, which ran.
    pub computing: u64,
    /// Samples of threads that were taking a lock.
    pub taking_lock: u64,
    /// Samples of native calls, which may have run or blocked.
    pub native_calls: u64,
}

/// Maximum time of the processors in the selected part of a trace, if threads
/// have more time: one that waits for a processor is sampled like one that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ProcessorLimit {
    /// Number of processors.
    pub processors: u32,
    /// Their time, in nanoseconds.
    pub most_ns: u64,
}

impl ProcessorLimit {
    /// Returns the limit that a running time above the machine's sets. `running_ns`: the time of
    /// all threads that are not known to have waited.
    fn below(running_ns: u64, model: &Model) -> Option<ProcessorLimit> {
        let processors = model.processors()?;
        let most_ns = model.selected().nanos().saturating_mul(u64::from(processors));
        (most_ns > 0 && running_ns > most_ns).then_some(ProcessorLimit { processors, most_ns })
    }
}

/// Sums over the CPU samples of a trace, for the head of the reports that list them.
#[derive(Debug, Default)]
pub(super) struct SampleSums {
    pub running: RunningSamples,
    /// Time of the threads that are not known to have waited, in nanoseconds.
    running_ns: u64,
    /// Samples of threads that waited, whether the filter selects them or not.
    pub waiting: Totals,
    /// Selected samples whose stack lost its callers.
    pub cut_off: u64,
    /// Selected samples whose stack got lost callers from the thread's stack before.
    pub repaired: u64,
}

impl SampleSums {
    /// Adds samples with one stack. Returns its frames, innermost first, if the filter selects them.
    pub(super) fn add<'r>(
        &mut self,
        resolved: &'r Resolved<'_>,
        key: &ProfileKey,
        totals: &Totals,
    ) -> Option<&'r [FrameHandle]> {
        if resolved.is_waiting(key.stack, key.mode) {
            self.waiting.add(totals);
        }
        let frames = resolved.selected(key.stack, key.mode)?;
        let add = |sum: &mut u64, samples: u64| *sum = sum.saturating_add(samples);
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
                Running::Computing => &mut self.running.computing,
                Running::TakingLock => &mut self.running.taking_lock,
                Running::NativeCall => &mut self.running.native_calls,
            };
            add(certain, totals.samples);
        }
        Some(frames)
    }

    pub(super) fn processor_limit(&self, model: &Model) -> Option<ProcessorLimit> {
        ProcessorLimit::below(self.running_ns, model)
    }
}
