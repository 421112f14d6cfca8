//! What a report is: [`Report`], and how it says what it needs.

pub(super) use crate::document::SCHEMA;
pub use crate::model::Moment;
use crate::model::{Model, Resolved, ThreadState};
use nettrace_parser::Event;
use std::fmt;

/// A report: receives the events of a trace and computes a plain struct. [`ReportPass`](super::ReportPass)
/// drives it.
pub trait Report {
    /// The result.
    type Output;

    /// The name that users type.
    const NAME: &'static str;

    /// What it answers, in one line.
    const ABOUT: &'static str;

    /// What to record to get its events: one of these is enough. Empty if every trace has
    /// them.
    const RECORD: &'static [Recording];

    /// What it is computed from.
    const INPUT: ReportInput = ReportInput::Events;

    /// The states of samples that count unless the filter specifies others; empty for
    /// all. Rankings usually only count running samples, because most threads in a trace
    /// are idle.
    const STATES: &'static [ThreadState] = &[];

    /// Whether it wants to see events of this type: the others are skipped, which is
    /// several times as fast as sorting them by time. Asked once for each type, so the
    /// answer may only depend on what all its events have in common: provider, id, name.
    fn wants(&self, event: &Event<'_>) -> bool {
        let _ = event;
        true
    }

    /// Processes the next event of those that it wants, which is not older than the
    /// previous one. Returns whether the report is about this event. Only called if
    /// [`Report::INPUT`] requires events.
    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool {
        let _ = (event, moment, model);
        false
    }

    /// Whether there is something to show though the trace has no event that the report is
    /// about: what samples alone show.
    fn has_more(output: &Self::Output) -> bool {
        let _ = output;
        false
    }

    /// Computes the result at the end of the trace.
    fn finish(self, resolved: &Resolved<'_>) -> Self::Output;
}

/// What a report is computed from. This decides how a trace is read: reports of samples
/// and code do not need each event in time order, which is several times as fast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum ReportInput {
    /// Every event, in time order.
    Events,
    /// CPU samples, aggregated by stack.
    Samples,
    /// The same, and how many events of each thread a filter accepts.
    SamplesOfThreads,
    /// Processes and their code: [`Resolved::model`].
    Code,
    /// Events, and CPU samples where the trace has them.
    EventsAndSamples,
    /// Events and CPU samples, and the number of all events.
    Everything,
}

impl ReportInput {
    pub(super) fn has_events(self) -> bool {
        !matches!(self, ReportInput::Samples | ReportInput::Code)
    }

    pub(super) fn has_samples(self) -> bool {
        !matches!(self, ReportInput::Events | ReportInput::Code)
    }
}

/// A provider to record. `Display` writes `PROVIDER:KEYWORDS:LEVEL`, and `:ARGUMENTS` if
/// there are any, as for `--providers`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Recording {
    /// Name of the provider.
    pub provider: &'static str,
    /// Keywords.
    pub keywords: u64,
    /// Level.
    pub level: u8,
    /// `NAME=VALUE`, if the provider emits nothing without arguments; else empty.
    pub arguments: &'static str,
    /// First version of .NET that has the events; 0 for all versions with event pipes.
    pub since_version: u32,
}

impl Recording {
    /// The runtime's sampler: where each thread is, about every millisecond.
    pub(crate) const SAMPLER: Recording =
        Recording::new("Microsoft-DotNETCore-SampleProfiler", 0, 5);

    /// Events of a provider that needs no arguments, in all versions of .NET.
    pub const fn new(provider: &'static str, keywords: u64, level: u8) -> Recording {
        Recording { provider, keywords, level, arguments: "", since_version: 0 }
    }

    /// Events of the native runtime.
    pub const fn runtime(keywords: u64, level: u8) -> Recording {
        Recording::new("Microsoft-Windows-DotNETRuntime", keywords, level)
    }

    /// Sets the arguments.
    #[must_use]
    pub const fn arguments(mut self, arguments: &'static str) -> Recording {
        self.arguments = arguments;
        self
    }

    /// Sets the first version of .NET that has the events.
    #[must_use]
    pub const fn since(mut self, version: u32) -> Recording {
        self.since_version = version;
        self
    }
}

impl fmt::Display for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{:#x}:{}", self.provider, self.keywords, self.level)?;
        if self.arguments.is_empty() { Ok(()) } else { write!(f, ":{}", self.arguments) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_written_as_it_is_asked_for() {
        let text = Recording::runtime(0x8000, 2).to_string();
        assert_eq!(text, "Microsoft-Windows-DotNETRuntime:0x8000:2");
        let text = Recording::new("A", 0, 4).arguments("B=1;C=*").to_string();
        assert_eq!(text, "A:0x0:4:B=1;C=*");
    }
}
