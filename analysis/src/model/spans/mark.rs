//! What a timeline shows besides samples: spans, instants, counters.

use crate::model::ThreadHandle;
use std::borrow::Cow;

/// One thing that a timeline shows.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum TimelineMark {
    /// Something with a beginning and an end.
    Span(Span),
    /// Something that happened.
    Instant(Instant),
    /// A value at a time.
    Counter(CounterPoint),
}

/// What a mark is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Category {
    /// All managed threads stand still, from the wish to suspend them until they run again.
    Pause,
    /// Garbage collections.
    Collection,
    /// Compilation of methods.
    Jit,
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
    /// Activities: what event sources and activity sources start and stop.
    Activity,
    /// Assemblies that are loaded.
    Loader,
}

impl Category {
    /// All categories.
    pub const ALL: [Category; 10] = [
        Category::Pause,
        Category::Collection,
        Category::Jit,
        Category::Contention,
        Category::Wait,
        Category::Exception,
        Category::ThreadPool,
        Category::Task,
        Category::Activity,
        Category::Loader,
    ];

    /// Name as formats show it.
    pub fn name(self) -> &'static str {
        match self {
            Category::Pause => "GC pauses",
            Category::Collection => "GC",
            Category::Jit => "JIT",
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

/// Where a span belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SpanScope {
    /// To its thread: it lies wholly inside or outside of the thread's other such spans, unless
    /// events were lost.
    Thread,
    /// To its process, whichever thread did it.
    Process,
    /// To none: it may begin on one thread and end on another, and cross other spans.
    Free,
}

/// How much of a span is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ends {
    /// Beginning and end are known.
    Known,
    /// Both are known, but events of its threads were lost in between: it may be two spans, of
    /// which one's end and the other's beginning are lost.
    LossBetween,
    /// The beginning was lost, or came before the session. The span has no length, unless its end tells it.
    NoStart,
    /// It is a block of code that an exception left: no event tells its end. It ends 1 ns before the catch block
    /// of that exception begins.
    Left,
    /// The trace ends first, and so does the span.
    OpenAtEnd,
    /// The end was lost: the same thing began again, what it lies in ended, or the thread went on while events were
    /// lost. The span has no length.
    NoStop,
}

impl Ends {
    /// What to tell people; `None` if there is nothing to tell.
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

/// An arrow between two marks; both have the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Flow {
    /// It begins here.
    From(u64),
    /// It ends here.
    To(u64),
}

/// A value that tells more.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Argument {
    /// A count, size, number.
    Number(u64),
    /// A measured value.
    Real(f64),
    /// An address or identifier, for people in hexadecimal.
    Address(u64),
    /// A text.
    Text(String),
}

/// Names and values.
pub type Arguments = Vec<(Cow<'static, str>, Argument)>;

/// Something with a beginning and an end.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Span {
    /// What it is about.
    pub category: Category,
    /// Where it belongs.
    pub place: SpanScope,
    /// Its name: the same for things of the same sort.
    pub name: String,
    /// The thread it began on; of a span without a start: the thread it ended on.
    pub thread: ThreadHandle,
    /// The thread it ended on.
    pub end_thread: ThreadHandle,
    /// When it began, in nanoseconds since the session's start.
    pub start_nanos: i64,
    /// How long it took, in nanoseconds.
    pub nanos: u64,
    /// How much of it is known.
    pub ends: Ends,
    /// An arrow to or from its beginning.
    pub flow: Option<Flow>,
    /// Further details.
    pub arguments: Arguments,
}

impl Span {
    /// When it ended, in nanoseconds since the session's start.
    pub fn end_nanos(&self) -> i64 {
        self.start_nanos.saturating_add_unsigned(self.nanos)
    }
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Instant {
    /// What it is about.
    pub category: Category,
    /// Its name: the same for things of the same sort.
    pub name: String,
    /// Its thread.
    pub thread: ThreadHandle,
    /// When, in nanoseconds since the session's start.
    pub nanos: i64,
    /// An arrow to or from it.
    pub flow: Option<Flow>,
    /// Further details.
    pub arguments: Arguments,
}

/// A value at a time.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CounterPoint {
    /// The counter: provider or meter, name, tags.
    pub name: String,
    /// Its unit; empty if none is reported.
    pub unit: String,
    /// The thread that wrote it: it tells the process.
    pub thread: ThreadHandle,
    /// When, in nanoseconds since the session's start.
    pub nanos: i64,
    /// The value. Of sums: the growth since the last point.
    pub value: f64,
}

impl TimelineMark {
    /// The thread that it is about.
    pub fn thread(&self) -> ThreadHandle {
        match self {
            TimelineMark::Span(span) => span.thread,
            TimelineMark::Instant(instant) => instant.thread,
            TimelineMark::Counter(point) => point.thread,
        }
    }

    /// Its first and last nanosecond since the session's start.
    pub fn extent_nanos(&self) -> (i64, i64) {
        match self {
            TimelineMark::Span(span) => (span.start_nanos, span.end_nanos()),
            TimelineMark::Instant(instant) => (instant.nanos, instant.nanos),
            TimelineMark::Counter(point) => (point.nanos, point.nanos),
        }
    }
}
