//! Samples: stacks with a weight, their kinds, and the states of their threads.

use super::handle::{RequestHandle, StackHandle, TextHandle, ThreadHandle};
use nettrace_parser::view::SampleState;

/// Kind of a sample, which says from which events it comes, and what its weight means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Kind {
    /// A CPU sample. Its weight is the time until the thread's next sample. If an operating system
    /// took the sample on a processor, the weight is the sampling period instead.
    Cpu,
    /// Runtime event 10, which is written for about every 100 KB allocated. The weight is the
    /// number of bytes allocated since the previous event of the kind.
    AllocationTicks,
    /// Runtime event 303 (.NET 10), which is written for objects picked at random. The weight is
    /// the number of bytes that the sample represents.
    AllocationSamples,
    /// Runtime event 80, a thrown exception. The weight is 1.
    Exceptions,
    /// Runtime events 81 (start) and 91 (stop), a wait for a lock. The weight is its duration.
    Contention,
    /// Runtime events 301 (start) and 302 (stop), a wait for a handle. The weight is its duration.
    Waits,
    /// Runtime event 70, a request to create a thread. The weight is 1.
    ThreadStarts,
    /// Event `cswitch` of `Universal.Events`. The weight is the time for which the thread was
    /// switched out.
    OffCpu,
    /// An event that an [`EventSelector`](super::EventSelector) selects. The weight is 1, or the
    /// value of the field that the selector names.
    Event,
    /// Objects of a heap dump. The stack is the path of objects that keep them alive: see
    /// [`Retained`](crate::heap::Retained). The weight is the size of the objects themselves.
    Heap,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub(crate) enum WeightUnit {
    Nanoseconds,
    Bytes,
    Count,
}

impl Kind {
    /// All kinds of samples.
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

    /// Returns the kind of sample that runtime events with this id belong to.
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

    /// Returns whether another kind of samples represents the same things. Ticks are left out of a
    /// trace with random samples of allocations, because both represent all allocations.
    pub(crate) fn is_represented(self, has: impl FnOnce(Kind) -> bool) -> bool {
        self == Kind::AllocationTicks && has(Kind::AllocationSamples)
    }

    /// Returns the name of the kind for display.
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

    /// Returns the unit of weights of this kind. The weights of [`Kind::Event`] have no unit,
    /// because the unit of the selected field is unknown.
    pub(crate) fn unit(self) -> WeightUnit {
        match self {
            Kind::Cpu | Kind::Contention | Kind::Waits | Kind::OffCpu => WeightUnit::Nanoseconds,
            Kind::AllocationTicks | Kind::AllocationSamples | Kind::Heap => WeightUnit::Bytes,
            Kind::Exceptions | Kind::ThreadStarts | Kind::Event => WeightUnit::Count,
        }
    }
}

/// State of the thread of a sample, as the sample and the events around it report it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Mode {
    /// The thread was running managed code.
    Managed,
    /// The thread was in native code or blocked; the runtime cannot tell the two apart.
    External,
    /// The thread was waiting for a lock, because the sample lies between the runtime's events for
    /// the start and the stop of a wait. This takes precedence over the sampler's state.
    Blocked,
    /// The thread was on a processor, where the operating system took the sample.
    OnCpu,
    /// The state is unknown, because the sampler failed or the event is not from a sampler.
    Unknown,
    /// The readings of the thread show that it ran: see
    /// [`ThreadTimes`](crate::model::ThreadTimes).
    Ran,
    /// The readings of the thread show that it did not run although it could.
    Ready,
    /// The readings of the thread show that it waited.
    Waited,
}

impl Mode {
    const ALL: [Mode; 8] = [
        Mode::Managed,
        Mode::External,
        Mode::OnCpu,
        Mode::Unknown,
        Mode::Blocked,
        Mode::Ran,
        Mode::Ready,
        Mode::Waited,
    ];

    /// Returns a number below 8 that stands for the mode when it is stored compactly.
    #[inline]
    pub(super) fn number(self) -> u32 {
        match self {
            Mode::Managed => 0,
            Mode::External => 1,
            Mode::OnCpu => 2,
            Mode::Unknown => 3,
            Mode::Blocked => 4,
            Mode::Ran => 5,
            Mode::Ready => 6,
            Mode::Waited => 7,
        }
    }

    /// Returns the mode for which a number stands.
    pub(super) fn from_number(number: u32) -> Mode {
        Mode::ALL.get(number as usize).copied().unwrap_or(Mode::Unknown)
    }

    /// Returns the mode for a state that the runtime's sampler reports.
    pub(crate) fn from_state(state: SampleState) -> Mode {
        match state {
            SampleState::Managed => Mode::Managed,
            SampleState::External => Mode::External,
            _ => Mode::Unknown,
        }
    }
}

/// Clock by which the weights of CPU samples are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum SampleClock {
    /// Elapsed time, whether the thread was running or not. The runtime's sampler samples all
    /// threads.
    Wall,
    /// CPU time. The samplers of operating systems sample processors.
    Cpu,
}

impl SampleClock {
    /// Returns the name of the clock for use in sentences.
    pub(crate) fn name(self) -> &'static str {
        match self {
            SampleClock::Wall => "wall time",
            SampleClock::Cpu => "CPU time",
        }
    }

    /// Returns the name of the clock for use in pprof.
    #[cfg(feature = "gzip")]
    pub(crate) fn key(self) -> &'static str {
        match self {
            SampleClock::Wall => "wall",
            SampleClock::Cpu => "cpu",
        }
    }
}

/// How certain it is that a sampled thread ran. This is for threads that are not known to have
/// waited.
///
/// The runtime's sampler stops all threads and then reads each stack. It does not stop a thread in
/// a native call, which has the same mode whether the call computes or blocks. So the weights of
/// such samples may exceed the processor time that the thread took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Running {
    /// The thread ran managed code.
    Managed,
    /// The thread ran, and a poll of the runtime caught it. It ran in the method that polled, in a
    /// method called by it, or in one that its callers had called before.
    AtGcPoll,
    /// The thread ran native code: the call is known to compute, such as compression, or the sample
    /// was taken on a processor.
    Computing,
    /// The thread was taking a lock.
    TakingLock,
    /// The thread was in a native call, and may have run or have been blocked.
    NativeCall,
}

/// State of a sampled thread, which follows from its [`Mode`] and the names of its frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum ThreadState {
    /// The thread was running managed code.
    Managed,
    /// The thread was in a native call, and either ran, or was blocked in code that is not known to
    /// wait.
    Native,
    /// The thread was spinning to take a lock. A thread that is blocked for a lock is
    /// [`Waiting`](ThreadState::Waiting).
    TakingLock,
    /// The thread was waiting: for a lock, or in a method that is known to wait.
    Waiting,
    /// The thread could run, and had no processor, or the runtime had stopped it. Only readings of
    /// the thread show this state.
    Ready,
}

impl ThreadState {
    /// All states of sampled threads.
    pub const ALL: [ThreadState; 5] = [
        ThreadState::Managed,
        ThreadState::Native,
        ThreadState::TakingLock,
        ThreadState::Waiting,
        ThreadState::Ready,
    ];

    /// States of threads that ran, or are not known to have waited.
    pub const RUNNING: [ThreadState; 3] =
        [ThreadState::Managed, ThreadState::Native, ThreadState::TakingLock];

    /// Returns the name of the state in commands, such as `taking_lock`.
    pub fn name(self) -> &'static str {
        match self {
            ThreadState::Managed => "managed",
            ThreadState::Native => "native",
            ThreadState::TakingLock => "taking_lock",
            ThreadState::Waiting => "waiting",
            ThreadState::Ready => "ready",
        }
    }
}

/// States whose samples a report counts. JSON has it as one text, such as `managed,waiting`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CountedStates {
    /// All states; the text is `all`.
    All,
    /// The states of [`ThreadState::RUNNING`]; the text is `running`.
    Running,
    /// Some states, in the order of [`ThreadState::ALL`]; the text is, for example,
    /// `managed,waiting`.
    Some(Vec<ThreadState>),
}

impl CountedStates {
    /// Returns the states that a filter accepts. An empty filter accepts all.
    pub(crate) fn new(states: &[ThreadState]) -> CountedStates {
        let has = |state: &ThreadState| states.contains(state);
        let has_all = || {
            let waiting = [ThreadState::Waiting];
            ThreadState::RUNNING.iter().chain(&waiting).all(has)
        };
        if states.is_empty() || has_all() {
            return CountedStates::All;
        }
        if ThreadState::RUNNING.iter().all(has) {
            return CountedStates::Running;
        }
        // Managed code includes spinning for a lock.
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
    /// Kind of the sample.
    pub kind: Kind,
    /// Thread that the sample is about.
    pub thread: ThreadHandle,
    /// Stack of that thread; it may have no frames.
    pub stack: StackHandle,
    /// State of that thread, as the trace reports it.
    pub mode: Mode,
    /// Time of the sample, in nanoseconds since the session's start. For a wait it is the start.
    pub nanos: i64,
    /// Number of things that the sample represents. It is 1, except for random samples of objects.
    pub count: u64,
    /// Weight, in the unit of its [`Kind`]. A wait that is not over counts up to the end of the
    /// trace.
    pub weight: u64,
    /// Name of the type that was allocated or thrown; `(still waiting)` for waits that are
    /// not over.
    pub label: Option<TextHandle>,
    /// Incoming request, or activity of a chosen name
    /// ([`RequestSpans::activities`](crate::report::RequestSpans::activities)), that the thread
    /// worked for last, by the activity ids of events:
    /// [`Resolved::request_of`](crate::Resolved::request_of) tells more, and whether the thread still
    /// did. `None` for other work, and unless
    /// [`AnalysisOptions::endpoints`](crate::AnalysisOptions::endpoints) has them.
    pub request: Option<RequestHandle>,
}

/// Label of waits that are not over when the trace ends.
pub(crate) const STILL_WAITING: &str = "(still waiting)";

impl Sample {
    /// Creates a sample that represents one thing, with the weight 1.
    pub(crate) fn new(kind: Kind, thread: ThreadHandle, stack: StackHandle, nanos: i64) -> Sample {
        Sample {
            kind,
            thread,
            stack,
            mode: Mode::Unknown,
            nanos,
            count: 1,
            weight: 1,
            label: None,
            request: None,
        }
    }

    /// Returns whether the sample is a wait for a lock or a handle that is not over at the end of
    /// the trace. Such a wait took at least as long as its weight.
    pub fn is_open_wait(&self) -> bool {
        self.kind.is_open_wait(self.label)
    }
}

impl Kind {
    /// Returns whether a sample of this kind and label is a wait that is not over at the end of the
    /// trace. Other waits have no label.
    pub(crate) fn is_open_wait(self, label: Option<TextHandle>) -> bool {
        matches!(self, Kind::Contention | Kind::Waits) && label.is_some()
    }
}
