//! A number of a finding, with what makes it comparable: unit, base, certainty and source.

/// Unit of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Unit {
    /// Hundredths of the number's [`Base`].
    Percent,
    /// Nanoseconds.
    Nanoseconds,
    /// Bytes.
    Bytes,
    /// Bytes a second.
    BytesPerSecond,
    /// Occurrences a second.
    PerSecond,
    /// Events.
    Events,
    /// Samples of stacks.
    Samples,
    /// Garbage collections.
    Collections,
    /// Allocations.
    Allocations,
    /// Objects of a heap.
    Objects,
    /// Methods.
    Methods,
    /// Exceptions.
    Exceptions,
    /// Threads.
    Threads,
    /// Processes.
    Processes,
    /// Work items of the thread pool.
    WorkItems,
    /// Changes of the number of workers that the thread pool aims at.
    Adjustments,
    /// Waits for a lock, a handle or a task.
    Waits,
    /// Activities, requests among them.
    Activities,
    /// SQL commands.
    Commands,
    /// Units of work that ran SQL commands: requests, or uses of a connection.
    UnitsOfWork,
    /// Log messages.
    Messages,
    /// EventSources.
    Sources,
}

impl Unit {
    /// Returns the name in JSON documents.
    pub const fn name(self) -> &'static str {
        match self {
            Unit::Percent => "percent",
            Unit::Nanoseconds => "ns",
            Unit::Bytes => "bytes",
            Unit::BytesPerSecond => "bytes_per_second",
            Unit::PerSecond => "per_second",
            Unit::Events => "events",
            Unit::Samples => "samples",
            Unit::Collections => "collections",
            Unit::Allocations => "allocations",
            Unit::Objects => "objects",
            Unit::Methods => "methods",
            Unit::Exceptions => "exceptions",
            Unit::Threads => "threads",
            Unit::Processes => "processes",
            Unit::WorkItems => "work_items",
            Unit::Adjustments => "adjustments",
            Unit::Waits => "waits",
            Unit::Activities => "activities",
            Unit::Commands => "commands",
            Unit::UnitsOfWork => "units_of_work",
            Unit::Messages => "messages",
            Unit::Sources => "sources",
        }
    }

    /// Returns whether numbers of the unit may have a fraction.
    pub const fn has_fraction(self) -> bool {
        matches!(self, Unit::Percent | Unit::BytesPerSecond | Unit::PerSecond)
    }
}

/// Whole of which a percentage is a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Base {
    /// Time of the trace.
    Elapsed,
    /// Time of all samples that are not known to have waited.
    Running,
    /// Running time of the method that the finding is about.
    OfMethod,
    /// Time of the threads that the finding is about.
    OfThreads,
    /// Time of the requests that the finding is about.
    OfRequests,
    /// Events, lost ones included.
    Events,
    /// Frames of all distinct stacks.
    Frames,
    /// Allocated bytes.
    Allocated,
    /// Bytes of the heap.
    Heap,
    /// Bytes of the heap that roots reach.
    Reachable,
}

impl Base {
    /// Returns the name in JSON documents.
    pub const fn name(self) -> &'static str {
        match self {
            Base::Elapsed => "elapsed",
            Base::Running => "running",
            Base::OfMethod => "method",
            Base::OfThreads => "threads",
            Base::OfRequests => "requests",
            Base::Events => "events",
            Base::Frames => "frames",
            Base::Allocated => "allocated",
            Base::Heap => "heap",
            Base::Reachable => "reachable",
        }
    }
}

/// Degree to which a number can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Certainty {
    /// Counted or timed by events, each of which is in the trace.
    Exact,
    /// A lower bound, such as the time of a wait that was not over when the trace ended.
    AtLeast,
    /// Read from the operating system.
    Measured,
    /// Derived from samples.
    Estimated,
}

impl Certainty {
    /// Returns the name in JSON documents.
    pub const fn name(self) -> &'static str {
        match self {
            Certainty::Exact => "exact",
            Certainty::AtLeast => "at_least",
            Certainty::Measured => "measured",
            Certainty::Estimated => "estimated",
        }
    }
}

/// A number with its unit, certainty and source.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Number {
    /// Value; a whole number if the unit has no fraction.
    pub value: f64,
    /// Unit of the value.
    pub unit: Unit,
    /// Whole of a percentage; `None` for other units.
    pub base: Option<Base>,
    /// Degree to which the value can be trusted.
    pub certainty: Certainty,
    /// Path of the number, or of its summands, in the JSON document of the finding's command, such
    /// as `totals.pause_ns`, or `methods[].self_ns` for the row that the finding is about. Empty if
    /// the document does not have it.
    pub member: &'static str,
}

impl Number {
    /// Makes an exact number that no report shows.
    pub(crate) fn new(value: f64, unit: Unit) -> Number {
        Number { value, unit, base: None, certainty: Certainty::Exact, member: "" }
    }

    /// Makes an exact whole number that no report shows.
    pub(crate) fn count(value: u64, unit: Unit) -> Number {
        Number::new(value as f64, unit)
    }

    /// Makes a time in nanoseconds.
    pub(crate) fn nanos(value: u64) -> Number {
        Number::count(value, Unit::Nanoseconds)
    }

    /// Makes a number of bytes.
    pub(crate) fn bytes(value: u64) -> Number {
        Number::count(value, Unit::Bytes)
    }

    /// Makes a percentage of a base.
    pub(crate) fn percent(value: f64, base: Base) -> Number {
        Number { base: Some(base), ..Number::new(value, Unit::Percent) }
    }

    /// Makes the percentage that a part is of a whole.
    pub(crate) fn share(part: u64, whole: u64, base: Base) -> Number {
        Number::percent(crate::document::percent(part, whole), base)
    }

    /// Marks the number as a lower bound.
    pub(crate) fn at_least(self) -> Number {
        Number { certainty: Certainty::AtLeast, ..self }
    }

    /// Marks the number as read from the operating system.
    pub(crate) fn measured(self) -> Number {
        Number { certainty: Certainty::Measured, ..self }
    }

    /// Marks the number as derived from samples.
    pub(crate) fn estimated(self) -> Number {
        Number { certainty: Certainty::Estimated, ..self }
    }

    /// Sets the path of the number in the document of the finding's command.
    pub(crate) fn in_member(self, member: &'static str) -> Number {
        Number { member, ..self }
    }

    /// Returns the value, rounded to a whole number.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates")]
    pub fn whole(&self) -> u64 {
        self.value.round() as u64
    }
}

/// A number with the command that shows it, as JSON documents have it.
#[cfg(feature = "serde")]
pub(crate) struct ReportedNumber<'n> {
    pub(crate) number: &'n Number,
    pub(crate) command: &'static str,
}

#[cfg(feature = "serde")]
impl serde::Serialize for ReportedNumber<'_> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let Number { value, unit, base, certainty, member } = self.number;
        let mut map = to.serialize_map(None)?;
        match unit.has_fraction() {
            true => map.serialize_entry("value", value)?,
            false => map.serialize_entry("value", &self.number.whole())?,
        }
        map.serialize_entry("unit", unit.name())?;
        if let Some(base) = base {
            map.serialize_entry("base", base.name())?;
        }
        map.serialize_entry("certainty", certainty.name())?;
        if !member.is_empty() {
            map.serialize_entry("report", self.command)?;
            map.serialize_entry("member", member)?;
        }
        map.end()
    }
}
