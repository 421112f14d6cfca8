//! A sample: a stack with a weight.

use super::handle::{StackHandle, TextHandle, ThreadHandle};
use nettrace_parser::view::SampleState;

/// What is counted at a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Kind {
    /// A sampler found the thread there. Weight: wall time until the thread's next sample; of samples that an
    /// operating system took on a processor, the time for which each stands.
    Cpu,
    /// Runtime 10, after about each 100 KB. Weight: bytes allocated since the last one.
    AllocationTicks,
    /// Runtime 303 (.NET 10), at random. Weight: the bytes that the sample stands for.
    AllocationSamples,
    /// Runtime 80. Weight: 1.
    Exceptions,
    /// Runtime 81 to 91. Weight: how long the thread waited for the lock.
    Contention,
    /// Runtime 301 to 302. Weight: how long the thread waited.
    Waits,
    /// Runtime 70, a thread was asked for. Weight: 1.
    ThreadStarts,
    /// `Universal.Events` `cswitch`. Weight: how long the thread was switched out.
    OffCpu,
    /// Events that were asked for. Weight: 1, or the value of the field that was asked for.
    Event,
    /// Objects of a heap dump, on the path of those that keep them alive: see
    /// [`Retained`](crate::heap::Retained). Weight: their own bytes. Converters read them from the events themselves.
    Heap,
}

/// Unit of a weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Unit {
    /// Nanoseconds.
    Nanoseconds,
    /// Bytes.
    Bytes,
    /// Things.
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

    /// What events of the runtime's provider with this id are samples of, or a part of.
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

    /// Name as formats show it.
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

    /// The unit of its weights. For [`Kind::Event`] it is whatever the field counts.
    pub fn unit(self) -> Unit {
        match self {
            Kind::Cpu | Kind::Contention | Kind::Waits | Kind::OffCpu => Unit::Nanoseconds,
            Kind::AllocationTicks | Kind::AllocationSamples | Kind::Heap => Unit::Bytes,
            Kind::Exceptions | Kind::ThreadStarts | Kind::Event => Unit::Count,
        }
    }
}

/// What is said about a sample's thread, by the sample and by the events around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Mode {
    /// It ran managed code when it was stopped.
    Managed,
    /// It was in native code, or blocked: the runtime cannot tell which.
    External,
    /// It waited for a lock: the sample lies between the runtime's events that say so, whatever the sampler says.
    Blocked,
    /// It was on a processor: the sample comes from the operating system's sampler.
    OnCpu,
    /// Not said: the sampler failed, or the event is no sample of a sampler.
    Unknown,
}

impl Mode {
    /// What the runtime's sampler says.
    pub(crate) fn of(state: SampleState) -> Mode {
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
    /// Time that passed, whether the thread ran or not: the runtime's sampler stops all threads.
    Wall,
    /// Time on a processor: the samplers of operating systems ask processors what they run.
    Cpu,
}

impl SampleClock {
    /// Name, as sentences have it.
    pub fn name(self) -> &'static str {
        match self {
            SampleClock::Wall => "wall time",
            SampleClock::Cpu => "CPU time",
        }
    }

    /// Name, as JSON and pprof have it.
    pub fn key(self) -> &'static str {
        match self {
            SampleClock::Wall => "wall",
            SampleClock::Cpu => "cpu",
        }
    }
}

/// What a thread did, as far as mode and names tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum ThreadState {
    /// Managed code ran.
    Managed,
    /// Native code ran, or something blocked that is not known to wait.
    Native,
    /// It waited for a lock, or the innermost method is one that is known to wait: it only blocks, or native code that
    /// it called was running.
    Waiting,
}

impl ThreadState {
    /// All states.
    pub const ALL: [ThreadState; 3] = [ThreadState::Managed, ThreadState::Native, ThreadState::Waiting];

    /// Those in which a thread ran, or is not known to have waited.
    pub const RUNNING: [ThreadState; 2] = [ThreadState::Managed, ThreadState::Native];

    /// Name, as users type it.
    pub fn name(self) -> &'static str {
        match self {
            ThreadState::Managed => "managed",
            ThreadState::Native => "native",
            ThreadState::Waiting => "waiting",
        }
    }

    /// Names of several, as users type them: `all` of none and of all, `running`, `managed,waiting`.
    pub(crate) fn names(states: &[ThreadState]) -> String {
        let has = |state: &ThreadState| states.contains(state);
        let is_running = ThreadState::RUNNING.iter().all(has);
        if states.is_empty() || ThreadState::ALL.iter().all(has) {
            return "all".to_owned();
        }
        if is_running {
            return "running".to_owned();
        }
        let names: Vec<&str> =
            ThreadState::ALL.into_iter().filter(|state| has(state)).map(ThreadState::name).collect();
        names.join(",")
    }
}

/// A stack with a weight: one sample, allocation, exception, wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sample {
    /// What is counted.
    pub kind: Kind,
    /// Whose stack it is.
    pub thread: ThreadHandle,
    /// The stack; it may have no frames.
    pub stack: StackHandle,
    /// What is stored about the thread's state.
    pub mode: Mode,
    /// When, in nanoseconds since the session's start. Of waits: when they began.
    pub nanos: i64,
    /// How many things it stands for: 1, or the objects that a random sample stands for.
    pub count: u64,
    /// Weight, in the kind's [unit](Kind::unit).
    pub weight: u64,
    /// Name of the type that was allocated or thrown.
    pub label: Option<TextHandle>,
}
