//! What a timeline shows in addition to samples: spans, instants, counters.

use crate::model::ThreadHandle;
use std::borrow::Cow;

/// One element of a timeline.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum TimelineMark {
    /// Something with a start and an end.
    Span(Span),
    /// A single point in time.
    Instant(Instant),
    /// A counter's value at a time.
    Counter(CounterMark),
}

/// The subject of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Category {
    /// All managed threads are suspended for a collection, from the request to suspend them
    /// until they run again.
    Pause,
    /// All managed threads are suspended by the sampler, which looks at their stacks.
    SamplerPause,
    /// All managed threads are suspended for something else, such as a debugger, or it is
    /// not known for what.
    OtherPause,
    /// Garbage collections.
    Collection,
    /// Compilation of methods, a span each.
    Jit,
    /// Batches of methods that the runtime compiles again in the background. The spans of
    /// [`Category::Jit`] lie within them.
    JitBatch,
    /// Waits for locks.
    Contention,
    /// Waits for handles.
    Wait,
    /// Exceptions and their handlers.
    Exception,
    /// The thread pool.
    ThreadPool,
    /// Tasks.
    Task,
    /// Activities: operations with starts and stops in event sources and activity
    /// sources.
    Activity,
    /// Assemblies being loaded.
    Loader,
}

impl Category {
    /// Returns the name for display.
    pub fn name(self) -> &'static str {
        match self {
            Category::Pause => "GC pauses",
            Category::SamplerPause => "Sampler pauses",
            Category::OtherPause => "Other pauses",
            Category::Collection => "GC",
            Category::Jit => "JIT",
            Category::JitBatch => "JIT batches",
            Category::Contention => "Contention",
            Category::Wait => "Waits",
            Category::Exception => "Exceptions",
            Category::ThreadPool => "Thread pool",
            Category::Task => "Tasks",
            Category::Activity => "Activities",
            Category::Loader => "Loader",
        }
    }
}

/// What a span belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SpanScope {
    /// To its thread: it is properly nested with the thread's other such spans, unless
    /// events were lost.
    Thread,
    /// To its process, whichever thread executed it.
    Process,
    /// To neither: it may start on one thread and end on another, and overlap other
    /// spans.
    Free,
}

/// How much is known about the ends of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ends {
    /// Both ends are known.
    Known,
    /// Both ends are known, but events of its threads were lost in between: it may in
    /// fact be two spans, with the end of the first and the start of the second missing.
    LossBetween,
    /// The start was lost, or happened before the session. The span has no length, unless
    /// its end contains it.
    NoStart,
    /// A block of code that an exception left, so there is no event for its end. It ends
    /// 1 ns before the catch block of that exception starts.
    Left,
    /// It was still open at the end of the trace, and ends there.
    OpenAtEnd,
    /// The end was lost: the same thing started again, the enclosing span ended, or the
    /// thread continued while events were lost. The span has no length.
    NoStop,
}

impl Ends {
    /// Returns an explanation for users; `None` if none is needed.
    pub fn note(self) -> Option<&'static str> {
        match self {
            Ends::Known => None,
            Ends::LossBetween => Some("events were lost in between"),
            Ends::NoStart => Some("its start is not in the trace"),
            Ends::Left => Some("it was left by another exception"),
            Ends::OpenAtEnd => Some("it had not ended at the end of the trace"),
            Ends::NoStop => Some("its end is not in the trace"),
        }
    }
}

/// An arrow between two marks with the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Flow {
    /// The arrow starts here.
    From(u64),
    /// The arrow ends here.
    To(u64),
}

/// The value of an argument.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Argument {
    /// A count, size or number.
    Number(u64),
    /// A measured value.
    Real(f64),
    /// An address or identifier, displayed in hexadecimal.
    Address(u64),
    /// A text.
    Text(String),
}

/// Names and values.
pub(crate) type Arguments = Vec<(Cow<'static, str>, Argument)>;

/// Something with a start and an end.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Span {
    /// Its subject.
    pub category: Category,
    /// What it belongs to.
    pub place: SpanScope,
    /// Its name, which is the same for all spans of a sort.
    pub name: String,
    /// The thread it started on; if the start is unknown, the thread it ended on.
    pub thread: ThreadHandle,
    /// The thread it ended on.
    pub end_thread: ThreadHandle,
    /// When it started, in nanoseconds since the session's start.
    pub start_nanos: i64,
    /// Its duration in nanoseconds.
    pub nanos: u64,
    /// How much is known about its ends.
    pub ends: Ends,
    /// An arrow to or from its start.
    pub flow: Option<Flow>,
    /// Further details: names and values.
    pub arguments: Vec<(Cow<'static, str>, Argument)>,
}

impl Span {
    /// Returns when the span ended, in nanoseconds since the session's start.
    pub(crate) fn end_nanos(&self) -> i64 {
        self.start_nanos.saturating_add_unsigned(self.nanos)
    }
}

/// A single point in time.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Instant {
    /// Its subject.
    pub category: Category,
    /// Its name, which is the same for all instants of a sort.
    pub name: String,
    /// Its thread.
    pub thread: ThreadHandle,
    /// The time, in nanoseconds since the session's start.
    pub nanos: i64,
    /// An arrow to or from it.
    pub flow: Option<Flow>,
    /// Further details: names and values.
    pub arguments: Vec<(Cow<'static, str>, Argument)>,
}

/// A counter's value at a time.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CounterMark {
    /// The counter: provider or meter, name, tags.
    pub name: String,
    /// Its unit; empty if unknown.
    pub unit: String,
    /// The thread that wrote it, which identifies the process.
    pub thread: ThreadHandle,
    /// The time, in nanoseconds since the session's start.
    pub nanos: i64,
    /// The value. For sums, the growth since the last point.
    pub value: f64,
}

impl TimelineMark {
    /// Returns the thread the mark belongs to.
    pub(crate) fn thread(&self) -> ThreadHandle {
        match self {
            TimelineMark::Span(span) => span.thread,
            TimelineMark::Instant(instant) => instant.thread,
            TimelineMark::Counter(point) => point.thread,
        }
    }

    /// Returns the mark's start and end, in nanoseconds since the session's start.
    pub(crate) fn extent_nanos(&self) -> (i64, i64) {
        match self {
            TimelineMark::Span(span) => (span.start_nanos, span.end_nanos()),
            TimelineMark::Instant(instant) => (instant.nanos, instant.nanos),
            TimelineMark::Counter(point) => (point.nanos, point.nanos),
        }
    }
}
