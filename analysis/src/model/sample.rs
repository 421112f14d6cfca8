//! A sample: a stack with a weight.

use super::handle::{StackHandle, TextHandle, ThreadHandle};
use nettrace_parser::view::SampleState;

/// What a sample counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Kind {
    /// A CPU sample. Weight: wall time until the thread's next sample; for samples taken
    /// on a processor by the operating system, the time that each represents.
    Cpu,
    /// Runtime 10, for about every 100 KB allocated. Weight: bytes allocated since the
    /// last one.
    AllocationTicks,
    /// Runtime 303 (.NET 10), at random. Weight: the bytes that the sample represents.
    AllocationSamples,
    /// Runtime 80. Weight: 1.
    Exceptions,
    /// Runtime 81 to 91. Weight: how long the thread waited for the lock.
    Contention,
    /// Runtime 301 to 302. Weight: how long the thread waited.
    Waits,
    /// Runtime 70: the creation of a thread was requested. Weight: 1.
    ThreadStarts,
    /// `Universal.Events` `cswitch`. Weight: how long the thread was switched out.
    OffCpu,
    /// Requested events. Weight: 1, or the value of the requested field.
    Event,
    /// Objects of a heap dump, on the path of those that keep them alive: see
    /// [`Retained`](crate::heap::Retained). Weight: their own bytes. Converters read them
    /// directly from the events.
    Heap,
}

/// The unit of a weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub(crate) enum WeightUnit {
    /// Nanoseconds.
    Nanoseconds,
    /// Bytes.
    Bytes,
    /// A number of things.
    Count,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 10] = [
        Kind::Cpu,
        Kind::AllocationTicks,
        Kind::AllocationSamples,
        Kind::Exceptions,
        Kind::Contention,
        Kind::Waits,
        Kind::ThreadStarts,
        Kind::OffCpu,
        Kind::Event,
        Kind::Heap,
    ];

    /// Returns the kind of sample that runtime events with this id represent, or are part of.
    pub(crate) fn of_runtime(id: u32) -> Option<Kind> {
        Some(match id {
            10 => Kind::AllocationTicks,
            303 => Kind::AllocationSamples,
            80 => Kind::Exceptions,
            81 | 91 => Kind::Contention,
            301 | 302 => Kind::Waits,
            70 => Kind::ThreadStarts,
            _ => return None,
        })
    }

    /// Returns whether another kind of samples represents the same things: where there are random
    /// samples of allocations, ticks are left out, because both represent all allocations.
    pub(crate) fn is_represented(self, has: impl FnOnce(Kind) -> bool) -> bool {
        self == Kind::AllocationTicks && has(Kind::AllocationSamples)
    }

    /// Returns the name for display.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Cpu => "CPU samples",
            Kind::AllocationTicks => "allocation ticks",
            Kind::AllocationSamples => "allocations",
            Kind::Exceptions => "exceptions",
            Kind::Contention => "contention",
            Kind::Waits => "waits",
            Kind::ThreadStarts => "thread starts",
            Kind::OffCpu => "off cpu",
            Kind::Event => "events",
            Kind::Heap => "heap dump",
        }
    }

    /// Returns the unit of weights of this kind. For [`Kind::Event`], it is the unit of the field.
    pub(crate) fn unit(self) -> WeightUnit {
        match self {
            Kind::Cpu | Kind::Contention | Kind::Waits | Kind::OffCpu => WeightUnit::Nanoseconds,
            Kind::AllocationTicks | Kind::AllocationSamples | Kind::Heap => WeightUnit::Bytes,
            Kind::Exceptions | Kind::ThreadStarts | Kind::Event => WeightUnit::Count,
        }
    }
}

/// What is known about a sample's thread, from the sample and the events around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Mode {
    /// It was running managed code.
    Managed,
    /// It was in native code, or blocked: the runtime does not know which.
    External,
    /// It was waiting for a lock: the sample is between the runtime's events for the
    /// wait. Takes precedence over the sampler's state.
    Blocked,
    /// It was on a processor: the sample was taken by the operating system.
    OnCpu,
    /// Unknown: the sampler failed, or the event is not from a sampler.
    Unknown,
}

impl Mode {
    /// Returns the state reported by the runtime's sampler.
    pub(crate) fn from_state(state: SampleState) -> Mode {
        match state {
            SampleState::Managed => Mode::Managed,
            SampleState::External => Mode::External,
            _ => Mode::Unknown,
        }
    }
}

/// What the weights of CPU samples measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum SampleClock {
    /// Elapsed time, whether the thread was running or not: the runtime's sampler samples
    /// all threads.
    Wall,
    /// CPU time: the samplers of operating systems sample processors.
    Cpu,
}

impl SampleClock {
    /// Returns the name for use in sentences.
    pub(crate) fn name(self) -> &'static str {
        match self {
            SampleClock::Wall => "wall time",
            SampleClock::Cpu => "CPU time",
        }
    }

    /// Returns the name for use in pprof.
    #[cfg(feature = "gzip")]
    pub(crate) fn key(self) -> &'static str {
        match self {
            SampleClock::Wall => "wall",
            SampleClock::Cpu => "cpu",
        }
    }
}

/// How certain it is that a sampled thread ran, if it is not known to have waited.
///
/// The runtime's sampler stops all threads and then looks at each. One in a native call is
/// not stopped, and its mode is the same whether the call computes or blocks, so such
/// samples count for more than the time of a processor that they took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Running {
    /// It ran managed code.
    Managed,
    /// It ran native code: a call that is known to compute, such as compression, or a
    /// sample of a processor.
    Computing,
    /// It was taking a lock.
    TakingLock,
    /// It was in a native call, which may have run or blocked.
    NativeCall,
}

/// The state of a thread, as far as mode and names reveal it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum ThreadState {
    /// It was running managed code.
    Managed,
    /// It was in a native call: running, or blocked in code that is not known to wait.
    Native,
    /// It was taking a lock, and spinning for it: blocked threads are waiting.
    TakingLock,
    /// It was waiting for a lock, or the innermost method is known to wait: one that only
    /// blocks, or one whose native callee was running.
    Waiting,
}

impl ThreadState {
    /// All states.
    pub const ALL: [ThreadState; 4] =
        [ThreadState::Managed, ThreadState::Native, ThreadState::TakingLock, ThreadState::Waiting];

    /// The states in which a thread was running, or is not known to have been waiting.
    pub const RUNNING: [ThreadState; 3] =
        [ThreadState::Managed, ThreadState::Native, ThreadState::TakingLock];

    /// Returns the name that users type.
    pub fn name(self) -> &'static str {
        match self {
            ThreadState::Managed => "managed",
            ThreadState::Native => "native",
            ThreadState::TakingLock => "taking_lock",
            ThreadState::Waiting => "waiting",
        }
    }
}

/// The states whose samples a report counts. In JSON they are one text, as users type them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CountedStates {
    /// All states: `all`.
    All,
    /// The states of [`ThreadState::RUNNING`]: `running`.
    Running,
    /// Some: `managed,waiting`.
    Some(Vec<ThreadState>),
}

impl CountedStates {
    /// Returns the states that a filter accepts; without any it accepts all.
    pub(crate) fn new(states: &[ThreadState]) -> CountedStates {
        let has = |state: &ThreadState| states.contains(state);
        if states.is_empty() || ThreadState::ALL.iter().all(has) {
            return CountedStates::All;
        }
        if ThreadState::RUNNING.iter().all(has) {
            return CountedStates::Running;
        }
        // Who asks for managed code gets those that spin for a lock in it, too.
        let is_shown = |state: &ThreadState| {
            has(state) && (*state != ThreadState::TakingLock || !has(&ThreadState::Managed))
        };
        CountedStates::Some(ThreadState::ALL.into_iter().filter(is_shown).collect())
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for CountedStates {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            CountedStates::All => to.serialize_str("all"),
            CountedStates::Running => to.serialize_str("running"),
            CountedStates::Some(states) => {
                let names: Vec<&str> = states.iter().map(|state| state.name()).collect();
                to.serialize_str(&names.join(","))
            }
        }
    }
}

/// A stack with a weight: a CPU sample, an allocation, an exception, a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sample {
    /// The kind of sample.
    pub kind: Kind,
    /// The thread.
    pub thread: ThreadHandle,
    /// The stack; it may have no frames.
    pub stack: StackHandle,
    /// What is stored about the thread's state.
    pub mode: Mode,
    /// Time in nanoseconds since the session's start. For waits, when they started.
    pub nanos: i64,
    /// How many things it represents: 1, or the number of objects that a random sample
    /// represents.
    pub count: u64,
    /// Weight, in the unit that [`Kind`] says. For waits that are not over at the end of
    /// the trace, until there.
    pub weight: u64,
    /// Name of the type that was allocated or thrown; `(still waiting)` for waits that are
    /// not over.
    pub label: Option<TextHandle>,
}

/// The label of waits that are not over at the end of the trace.
pub(crate) const STILL_WAITING: &str = "(still waiting)";

impl Sample {
    /// Returns whether the sample is a wait for a lock or a handle that is not over at the end of
    /// the trace, so that it took at least as long as its weight.
    pub fn is_open_wait(&self) -> bool {
        self.kind.is_open_wait(self.label)
    }
}

impl Kind {
    /// Returns whether a sample with this label is a wait that is not over at the end of the trace.
    /// Other waits have no label.
    pub(crate) fn is_open_wait(self, label: Option<TextHandle>) -> bool {
        matches!(self, Kind::Contention | Kind::Waits) && label.is_some()
    }
}
