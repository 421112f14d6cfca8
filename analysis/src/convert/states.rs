//! States of threads over time, for formats that show them beside samples.
//!
//! With readings, a sample has the state of the largest part of its time, and a run of samples with
//! one state says how much of its time the thread ran, was ready and waited.

use crate::model::{
    Argument, Arguments, Mode, PartKind, Resolved, SampleDivider, ThreadHandle, ThreadState,
    TimePart, TimedSample, Track,
};

/// Times of samples by the readings of their thread, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PartTimes {
    pub(super) ran: u64,
    ready: u64,
    waited: u64,
    is_estimated: bool,
}

impl PartTimes {
    fn add(&mut self, other: &PartTimes) {
        self.ran = self.ran.saturating_add(other.ran);
        self.ready = self.ready.saturating_add(other.ready);
        self.waited = self.waited.saturating_add(other.waited);
        self.is_estimated |= other.is_estimated;
    }
}

/// Gives the samples of a thread, one after the other, their states.
#[derive(Debug)]
pub(super) struct SampleStates<'r> {
    /// Divides the time of samples; `None` without readings.
    divider: Option<SampleDivider<'r>>,
    parts: Vec<TimePart>,
}

impl<'r> SampleStates<'r> {
    pub(super) fn new(thread: ThreadHandle, resolved: &Resolved<'r>) -> SampleStates<'r> {
        SampleStates { divider: resolved.divider(thread), parts: Vec::new() }
    }

    /// Sets the mode of the thread's next sample to the one that it had for the largest part of the
    /// time. Returns the times of all parts; `None` without readings.
    pub(super) fn take(&mut self, sample: &mut TimedSample) -> Option<PartTimes> {
        let divider = self.divider.as_mut()?;
        self.parts.clear();
        let TimedSample { stack, mode, nanos, weight, .. } = *sample;
        divider.divide((stack, mode), nanos, weight, &mut self.parts);
        let mut times = PartTimes::default();
        let mut of_modes: [(Mode, u64); 4] = [(mode, 0); 4];
        for TimePart { kind, mode, nanos, is_measured } in self.parts.iter().copied() {
            let sum = match kind {
                PartKind::Ran => Some(&mut times.ran),
                PartKind::Ready => Some(&mut times.ready),
                PartKind::Waited => Some(&mut times.waited),
                PartKind::Unknown => None,
            };
            if let Some(sum) = sum {
                *sum = sum.saturating_add(nanos);
            }
            times.is_estimated |= !is_measured;
            if let Some((of, sum)) = of_modes.get_mut(kind as usize) {
                (*of, *sum) = (mode, sum.saturating_add(nanos));
            }
        }
        // Of equal parts, the first one counts: a thread that ran for half of the time ran.
        let largest = of_modes.into_iter().rev().max_by_key(|(_, nanos)| *nanos);
        sample.mode = largest.map_or(mode, |(mode, _)| mode);
        Some(times)
    }
}

/// Consecutive samples of a thread that have the same state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StateRun {
    pub(super) state: ThreadState,
    pub(super) start_nanos: i64,
    pub(super) end_nanos: i64,
    /// Times of the samples by the readings of the thread; `None` without readings.
    times: Option<PartTimes>,
}

impl StateRun {
    /// Returns the times of the samples as details of a mark.
    pub(super) fn arguments(&self) -> Arguments {
        let Some(PartTimes { ran, ready, waited, .. }) = self.times else { return Vec::new() };
        let times = [("ran_ns", ran), ("ready_ns", ready), ("waited_ns", waited)];
        times.map(|(name, nanos)| (name.into(), Argument::Number(nanos))).into()
    }

    /// Returns how certain the times are, if they do not follow from the readings alone.
    pub(super) fn note(&self) -> Option<&'static str> {
        self.times.filter(|times| times.is_estimated).map(|_| "the times are estimated")
    }
}

/// Joins samples of a thread with the same state, while they are added in time order.
#[derive(Debug, Default)]
pub(super) struct StateRuns {
    open: Option<StateRun>,
}

impl StateRuns {
    /// Adds the next sample. Returns the run before if the sample does not belong to it.
    pub(super) fn add(
        &mut self,
        state: ThreadState,
        sample: &TimedSample,
        times: Option<PartTimes>,
    ) -> Option<StateRun> {
        let end_nanos = sample.nanos.saturating_add_unsigned(sample.weight);
        match &mut self.open {
            Some(run) if run.state == state && sample.nanos <= run.end_nanos => {
                run.end_nanos = run.end_nanos.max(end_nanos);
                if let (Some(sum), Some(times)) = (&mut run.times, times) {
                    sum.add(&times);
                }
                None
            }
            open => open.replace(StateRun { state, start_nanos: sample.nanos, end_nanos, times }),
        }
    }

    /// Returns the last run.
    pub(super) fn finish(self) -> Option<StateRun> {
        self.open
    }
}

/// Sets the state of each sample of a thread by the readings of the thread, and passes the runs of
/// samples with one state to `out`. Without readings, nothing is changed or passed on.
pub(super) fn by_readings<E>(
    thread: ThreadHandle,
    track: Track,
    resolved: &Resolved<'_>,
    mut out: impl FnMut(&StateRun) -> Result<(), E>,
) -> Result<Track, E> {
    let mut states = SampleStates::new(thread, resolved);
    if states.divider.is_none() {
        return Ok(track);
    }
    let (mut stated, mut runs) = (Track::default(), StateRuns::default());
    for mut sample in track.samples() {
        let times = states.take(&mut sample);
        stated.push(&sample);
        if resolved.admits(sample.stack, sample.mode) {
            let state = resolved.state(sample.stack, sample.mode);
            if let Some(done) = runs.add(state, &sample, times) {
                out(&done)?;
            }
        }
    }
    runs.finish().iter().try_for_each(out)?;
    Ok(stated)
}
