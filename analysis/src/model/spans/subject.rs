//! The description of a span, until its interval is known.

use super::mark::{Argument, Arguments, Category, Ends, Flow, Span, SpanScope, TimelineMark};
use crate::model::hash::NumberMap;
use crate::model::intervals::{Bounds, Edge, Interval, Matcher};
use crate::sorted::SortFew;

/// Identifies an open span: its sort, and two numbers, such as process and task.
pub(super) type Key = (What, u64, u64);

/// Sorts of spans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum What {
    Collection,
    Method,
    Contention,
    Wait,
    /// A pair of events on one thread; the number is the start event's id.
    OnThread(u32),
    Task,
    TaskWait,
}

/// The description of a span.
#[derive(Debug, Clone)]
pub(super) struct SpanSubject {
    pub(super) category: Category,
    pub(super) place: SpanScope,
    pub(super) name: String,
    pub(super) flow: Option<Flow>,
    pub(super) arguments: Arguments,
}

impl SpanSubject {
    pub(super) fn new(
        category: Category,
        place: SpanScope,
        name: impl Into<String>,
    ) -> SpanSubject {
        SpanSubject { category, place, name: name.into(), flow: None, arguments: Arguments::new() }
    }
}

/// Where events were lost.
#[derive(Debug, Default)]
pub(super) struct Losses {
    /// When events of a writing thread were last found to be missing.
    last: NumberMap<u64, i64>,
}

impl Losses {
    /// Records that events of a thread are missing before `nanos`.
    pub(super) fn lost(&mut self, writer: u64, nanos: i64) {
        self.last.insert(writer, nanos);
    }

    fn is_lossy<T>(&self, interval: &Interval<T>) -> bool {
        let is_lossy =
            |writer: u64| self.last.get(&writer).is_some_and(|at| *at > interval.start.nanos);
        is_lossy(interval.start.writer) || is_lossy(interval.stop.writer)
    }

    fn ends(&self, interval: &Interval<SpanSubject>) -> Ends {
        match interval.bounds {
            Bounds::Stopped if self.is_lossy(interval) => Ends::LossBetween,
            Bounds::Stopped => Ends::Known,
            Bounds::StopLost => Ends::NoStop,
            Bounds::LeftByException => Ends::Left,
            Bounds::StartLost | Bounds::StartReported => Ends::NoStart,
            // A suspended thread writes nothing. It continued, so the stop event was
            // lost.
            Bounds::OpenAtEnd
                if interval.what.place == SpanScope::Thread && self.is_lossy(interval) =>
            {
                Ends::NoStop
            }
            Bounds::OpenAtEnd => Ends::OpenAtEnd,
        }
    }

    /// Converts an interval to a span.
    pub(super) fn span(&self, interval: Interval<SpanSubject>) -> Span {
        let ends = self.ends(&interval);
        let Interval { start, stop, nanos, what: subject, .. } = interval;
        Span {
            category: subject.category,
            place: subject.place,
            name: subject.name,
            thread: start.thread,
            end_thread: stop.thread,
            start_nanos: start.nanos,
            nanos: match ends {
                Ends::NoStop => 0,
                // Not exactly the same time: viewers compute the end in floating point,
                // and might find that this span ends after the start of the next one, and
                // overlaps it.
                Ends::Left => nanos.saturating_sub(1),
                _ => nanos,
            },
            ends,
            flow: subject.flow,
            arguments: subject.arguments,
        }
    }
}

/// Matches starts and stops, and returns the resulting spans.
#[derive(Debug, Default)]
pub(super) struct Matched {
    matcher: Matcher<Key, SpanSubject>,
    pub(super) losses: Losses,
}

impl Matched {
    /// Starts a span that can only be open once: if it is already open, its stop was
    /// lost.
    pub(super) fn start_again(
        &mut self,
        key: Key,
        at: Edge,
        subject: SpanSubject,
        ready: &mut Vec<TimelineMark>,
    ) {
        let lost = |interval| ready.push(TimelineMark::Span(self.losses.span(interval)));
        self.matcher.start_again(key, at, subject, lost);
    }

    /// Starts a span inside those that are open with the same key.
    pub(super) fn start_inside(
        &mut self,
        key: Key,
        at: Edge,
        subject: SpanSubject,
        ready: &mut Vec<TimelineMark>,
    ) {
        let lost = |interval| ready.push(TimelineMark::Span(self.losses.span(interval)));
        self.matcher.start_inside(key, at, subject, lost);
    }

    /// Ends what is open with a key. `None` if nothing is.
    pub(super) fn stop(
        &mut self,
        key: Key,
        at: Edge,
        ready: &mut Vec<TimelineMark>,
    ) -> Option<Span> {
        let lost = |interval| ready.push(TimelineMark::Span(self.losses.span(interval)));
        Some(self.losses.span(self.matcher.stop(key, at, None, lost)?))
    }

    /// Ends what is open with a key. `reported`: the duration that the stop contains, if
    /// any; `alone` describes the span if its start is missing.
    pub(super) fn stop_or(
        &mut self,
        key: Key,
        at: Edge,
        reported: Option<u64>,
        ready: &mut Vec<TimelineMark>,
        alone: impl FnOnce() -> SpanSubject,
    ) -> Span {
        let lost = |interval| ready.push(TimelineMark::Span(self.losses.span(interval)));
        let interval = self.matcher.stop(key, at, reported, lost);
        self.losses.span(interval.unwrap_or_else(|| Interval::without_start(at, reported, alone())))
    }

    /// Ends one of several independent spans that are open with a key.
    pub(super) fn stop_one_or(
        &mut self,
        key: Key,
        at: Edge,
        alone: impl FnOnce() -> SpanSubject,
    ) -> Span {
        let interval = self.matcher.stop_one(key, at);
        self.losses.span(interval.unwrap_or_else(|| Interval::without_start(at, None, alone())))
    }

    /// Ends everything that is open here and elsewhere at the end of the trace, in the order of
    /// starts.
    pub(super) fn finish(
        &mut self,
        nanos: i64,
        others: Vec<Interval<SpanSubject>>,
        ready: &mut Vec<TimelineMark>,
    ) {
        let mut open: Vec<_> = self.matcher.finish(nanos).chain(others).collect();
        // Stable: spans that started at the same time keep their order.
        open.sort_few_by_key(|interval| interval.start.nanos);
        for interval in open {
            ready.push(TimelineMark::Span(self.losses.span(interval)));
        }
    }
}

/// Adds a number, if it is present.
pub(super) fn number(arguments: &mut Arguments, name: &'static str, value: Option<u64>) {
    arguments.extend(value.map(|value| (name.into(), Argument::Number(value))));
}

/// Adds an address, if it is present.
pub(super) fn address(arguments: &mut Arguments, name: &'static str, value: Option<u64>) {
    arguments.extend(value.map(|value| (name.into(), Argument::Address(value))));
}

/// Adds a text, unless it is empty.
pub(super) fn text(arguments: &mut Arguments, name: &'static str, value: String) {
    if !value.is_empty() {
        arguments.push((name.into(), Argument::Text(value)));
    }
}
