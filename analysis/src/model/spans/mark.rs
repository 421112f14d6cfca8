//! Marks that a timeline shows in addition to samples: spans, instants, counters.

use super::mark_text::MarkText;
use crate::model::activity_id::ActivityId;
use crate::model::{Model, ThreadHandle};

/// A mark that a timeline shows.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum TimelineMark {
    /// A time with a start and an end.
    Span(Span),
    /// A single point in time.
    Instant(Instant),
    /// The value of a counter at a time.
    Counter(CounterMark),
}

/// What a mark is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Category {
    /// A suspension of all managed threads for a garbage collection, from the request until the
    /// threads run again.
    Pause,
    /// A suspension of all managed threads by the sampler, which reads their stacks.
    SamplerPause,
    /// A suspension of all managed threads for another or an unknown reason, such as a debugger.
    OtherPause,
    /// A garbage collection.
    Collection,
    /// The compilation of a method.
    Jit,
    /// A batch of methods that the runtime compiles again in the background. It contains spans of
    /// [`Category::Jit`].
    JitBatch,
    /// A wait for a lock.
    Contention,
    /// A wait for a handle.
    Wait,
    /// An exception, or a block of code that runs because of one.
    Exception,
    /// An event of the thread pool.
    ThreadPool,
    /// The run of a task, or a wait for a task.
    Task,
    /// An activity, from its start and stop in an event source or activity source.
    Activity,
    /// The load of an assembly.
    Loader,
}

impl Category {
    /// Returns the name of the category for display.
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

/// What a span belongs to: a thread, a process, or neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SpanScope {
    /// The span belongs to its thread. Such spans of one thread are properly nested, unless events
    /// were lost.
    Thread,
    /// The span belongs to its process, whichever thread executed it.
    Process,
    /// The span belongs to neither: it may start on one thread and end on another, and overlap
    /// other spans.
    Free,
}

/// What is known about the two ends of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ends {
    /// Both ends are known.
    Known,
    /// Both ends are known, but events of the threads were lost in between. The span may in fact be
    /// two, without the end of the first and the start of the second.
    LossBetween,
    /// The start was lost, or happened before the session. The length is 0, unless the event of the
    /// stop contains the duration.
    NoStart,
    /// An exception left the block of code, so there is no stop event. The span ends 1 ns before
    /// the catch block of the exception starts.
    Left,
    /// The span was still open at the end of the trace, and ends there.
    OpenAtEnd,
    /// The span has ended, but several activities with its id were open, and nothing tells which of
    /// their stops is its own. The length is 0.
    SharedStop,
    /// The end was lost: the same thing started again, the enclosing span ended, or the thread
    /// continued while events were lost. The length is 0.
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
            Ends::SharedStop => {
                Some("several with its id ran at once, and no stop tells which of them it ends")
            }
            Ends::NoStop => Some("its end is not in the trace"),
        }
    }
}

/// One end of an arrow between two marks. Both ends have the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Flow {
    /// The arrow starts at this mark.
    From(u64),
    /// The arrow ends at this mark.
    To(u64),
}

/// The value of an argument, which is a detail of a mark.
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
    Text(MarkText),
}

/// Details of a mark: names and values.
pub(crate) type Arguments = Vec<(MarkText, Argument)>;

/// A time with a start and an end.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Span {
    /// What the span is about.
    pub category: Category,
    /// What the span belongs to: the thread, the process, or neither.
    pub place: SpanScope,
    /// Name, which is common to all spans of the same sort.
    pub name: MarkText,
    /// Thread on which the span starts; if the start is unknown, that on which it ends.
    pub thread: ThreadHandle,
    /// Thread on which the span ends.
    pub end_thread: ThreadHandle,
    /// Time of the start, in nanoseconds since the session's start.
    pub start_nanos: i64,
    /// Duration, in nanoseconds.
    pub nanos: u64,
    /// What is known about the two ends.
    pub ends: Ends,
    /// Arrow that begins or ends at the start of the span, if there is one.
    pub flow: Option<Flow>,
    /// Details: names and values.
    pub arguments: Vec<(MarkText, Argument)>,
    /// Id and time of the start event of an activity.
    pub(crate) activity: Option<(Option<ActivityId>, i64)>,
}

impl Span {
    /// Returns the key of an activity, which no other activity has: its id, or its name if it has
    /// none, `@`, and the time of its start in nanoseconds since the session's start. `None` for
    /// other spans.
    pub fn activity_key(&self, model: &Model) -> Option<String> {
        let (id, start_nanos) = self.activity.as_ref()?;
        let id = id.as_ref().map(|id| model.id_text(id));
        Some(ActivityId::key(id.as_deref().unwrap_or(&self.name), *start_nanos))
    }

    /// Returns the time of the end, in nanoseconds since the session's start.
    pub(crate) fn end_nanos(&self) -> i64 {
        self.start_nanos.saturating_add_unsigned(self.nanos)
    }
}

/// A single point in time.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Instant {
    /// What the instant is about.
    pub category: Category,
    /// Name, which is common to all instants of the same sort.
    pub name: MarkText,
    /// Thread to which the instant belongs.
    pub thread: ThreadHandle,
    /// Time, in nanoseconds since the session's start.
    pub nanos: i64,
    /// Arrow that begins or ends at the instant, if there is one.
    pub flow: Option<Flow>,
    /// Details: names and values.
    pub arguments: Vec<(MarkText, Argument)>,
}

/// The value of a counter at a time.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CounterMark {
    /// Name of the counter, with the provider or meter before it and the tags after it.
    pub name: MarkText,
    /// Unit of the value; empty if unknown.
    pub unit: MarkText,
    /// Thread that wrote the value, which identifies the process.
    pub thread: ThreadHandle,
    /// Time, in nanoseconds since the session's start.
    pub nanos: i64,
    /// Value of the counter; for sums, the growth since the last value.
    pub value: f64,
}

impl TimelineMark {
    /// Returns the thread to which the mark belongs.
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
