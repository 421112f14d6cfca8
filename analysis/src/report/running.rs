//! What is certain about samples of threads that are not known to have waited.

use crate::model::{Mode, Model, Resolved, Running, StackHandle};

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

impl RunningSamples {
    pub(crate) fn add(
        &mut self,
        resolved: &Resolved<'_>,
        stack: StackHandle,
        mode: Mode,
        samples: u64,
    ) {
        let sum = match resolved.running(stack, mode) {
            Some(Running::Managed) => &mut self.managed,
            Some(Running::Computing) => &mut self.computing,
            Some(Running::TakingLock) => &mut self.taking_lock,
            Some(Running::NativeCall) => &mut self.native_calls,
            None => return,
        };
        *sum = sum.saturating_add(samples);
    }
}

/// What the processors can have run at most in the selected part of a trace, if threads
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
    /// `running_ns`: the time of all threads that are not known to have waited.
    pub(crate) fn below(running_ns: u64, model: &Model) -> Option<ProcessorLimit> {
        let processors = model.processors()?;
        let most_ns = model.selected().nanos().saturating_mul(u64::from(processors));
        (most_ns > 0 && running_ns > most_ns).then_some(ProcessorLimit { processors, most_ns })
    }
}
