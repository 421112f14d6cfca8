//! Times of a process and its threads, which the operating system counted beside the events.
//!
//! A recording may carry them as a second stream of the provider `Nettrace-Clock`, behind the end of
//! the first one. [`ThreadTimes`] reads it, and with
//! [`AnalysisOptions::thread_times`](crate::AnalysisOptions::thread_times) the samples of an analysis
//! count the time that their threads ran.

mod counters;
mod divided_intervals;
mod gathered;
mod held_back;
mod intervals;
mod measured;
mod process;
mod rule;
mod sample_times;
mod stream;

pub(crate) use counters::counter_marks;
pub(crate) use divided_intervals::DividedInterval;
pub(crate) use gathered::{GatheredSamples, RowPlace};
pub(crate) use held_back::HeldBack;
pub use intervals::ThreadInterval;
pub(crate) use measured::class_of;
pub(crate) use measured::{EVENT_PIPE_THREAD, Unsampled, measure};
pub use process::{GroupLimits, MachineTotal, ProcessTotal, RecordingEnd};
pub(crate) use rule::{Elapsed, ReadState, SampleClass, Shares, scaled};
pub use sample_times::{PartKind, SampleDivider, SampleTimes, TimePart};

use nettrace_parser::{Error, Reader, Source};
use stream::StreamState;

/// Maximum time from the birth of a process to the session's start, in nanoseconds, for the time that
/// its threads ran to count from their births, as in a program that was started to be recorded. It
/// holds if the recording does not say that the process ran before.
const MAX_BEFORE_SESSION_NANOS: i64 = 1_000_000_000;
/// Maximum error of a birth, in nanoseconds: the system's unit.
const MAX_BIRTH_ERROR_NANOS: i64 = 10_000_000;

/// Times of a process and its threads, as the operating system counted them while the process was
/// recorded.
///
/// ```
/// use nettrace_analysis::report::TopNOptions;
/// use nettrace_analysis::{Analysis, AnalysisOptions, ThreadTimes};
/// use nettrace_parser::Reader;
/// use nettrace_parser::following::Following;
/// use std::sync::Arc;
/// # let synth = nettrace_testdata::synth::tiny_v4().bytes;
/// # let readings = nettrace_testdata::Readings::new(&nettrace_testdata::synth::Session::new(
/// #     nettrace_testdata::synth::Version::V4,
/// # ));
/// # let file = readings.behind(&synth);
/// let mut options = AnalysisOptions::default();
/// if let Some(following) = Following::from_slice(&file) {
///     let times = ThreadTimes::read(&mut Reader::from_slice(following.bytes(&file)))?;
///     for thread in &times.threads {
///         let ran_ns = thread.readings.last().map_or(0, |reading| reading.ran_ns);
///         println!("{} {}: {ran_ns} ns", thread.thread_id, thread.name);
///     }
///     options.thread_times = Some(Arc::new(times));
/// }
/// # assert!(options.thread_times.is_some());
/// let mut analysis = Analysis::new(options);
/// let outcome = analysis.read(&mut Reader::from_slice(&file).time_ordered())?;
/// assert!(outcome.is_complete);
/// let finished = analysis.finish()?;
/// let top = finished.report(TopNOptions::default());
/// println!("{:?}", top.counted.processor_time);
/// # Ok::<(), nettrace_analysis::AnalysisError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThreadTimes {
    /// OS id of the process; `None` if the stream does not contain it.
    pub process_id: Option<u64>,
    /// Threads of the process, in the order of their first rows. If the system gives the id of a
    /// thread again, the new thread has a row of its own.
    pub threads: Vec<TimedThread>,
    /// Totals of the process, in time order.
    pub process: Vec<ProcessTotal>,
    /// Totals of the machine, in time order.
    pub machine: Vec<MachineTotal>,
    /// Limits and throttling of the process's control groups, in time order.
    pub groups: Vec<GroupLimits>,
    /// How the recording ended; `None` if the stream does not contain it.
    pub ending: Option<RecordingEnd>,
}

impl ThreadTimes {
    /// Reads a stream of the provider `Nettrace-Clock` to its end. Unknown events are skipped. Of
    /// very many readings, neighbours are merged.
    ///
    /// # Errors
    /// If the bytes are no trace, or cannot be read.
    pub fn read<S: Source>(reader: &mut Reader<S>) -> Result<ThreadTimes, Error> {
        let mut state = StreamState::default();
        reader.for_each(|event| state.event(&event))?;
        Ok(state.finish())
    }

    /// Returns the earliest birth of a thread whose time counts from its birth, in nanoseconds since
    /// the session's start. The time that older threads ran before their first reading is not of the
    /// session.
    fn earliest_birth(&self) -> i64 {
        let is_attached = self.ending.as_ref().is_some_and(|ending| ending.is_attached);
        let first = self.threads.iter().filter_map(|thread| thread.born_nanos).min();
        match is_attached || first.is_some_and(|first| first < -MAX_BEFORE_SESSION_NANOS) {
            true => -MAX_BIRTH_ERROR_NANOS,
            false => -MAX_BEFORE_SESSION_NANOS,
        }
    }
}

/// A thread and its readings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TimedThread {
    /// OS id of the thread.
    pub thread_id: u64,
    /// Latest name of the thread; empty if unknown.
    pub name: String,
    /// Time of the thread's birth, in nanoseconds since the session's start, exact to 10 ms.
    pub born_nanos: Option<i64>,
    /// Time at which the thread was found to have ended, in nanoseconds since the session's start.
    pub ended_nanos: Option<i64>,
    /// Readings, in time order.
    pub readings: Vec<ThreadReading>,
    /// Number of times that the thread got a processor, up to the last reading.
    pub slices: u64,
    /// Number of pages that had to be read from a disk, up to the last reading.
    pub major_faults: u64,
}

/// Numbers of a thread at one time, which count from the thread's birth.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThreadReading {
    /// Time of the reading, in nanoseconds since the session's start.
    pub nanos: i64,
    /// Time on a processor, in nanoseconds.
    pub ran_ns: u64,
    /// Time in which the thread was ready and had no processor, in nanoseconds.
    pub ready_ns: u64,
}

impl TimedThread {
    fn new(thread_id: u64) -> TimedThread {
        TimedThread { thread_id, ..TimedThread::default() }
    }
}
