//! Matches starts and stops of spans, and keeps the description of a span until its end is known.

use super::mark::{Argument, Arguments, Category, Ends, Flow, Span, SpanScope, TimelineMark};
use super::mark_text::MarkText;
use crate::hash::HashMap;
use crate::model::activity_id::ActivityId;
use crate::model::intervals::{Bounds, Edge, Interval, Matcher};
use crate::sorted::SortFew;

/// Key of an open span: the sort of the span, and two numbers, such as process and task.
pub(super) type Key = (What, u64, u64);

/// The sorts of spans that are matched by a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum What {
    Collection,
    Method,
    Contention,
    Wait,
    /// A span between a pair of runtime events on one thread, of which the first has this id.
    OnThread(u32),
    Task,
    TaskWait,
}

/// What a span is about: its description without its times.
#[derive(Debug, Clone)]
pub(super) struct SpanSubject {
    pub(super) category: Category,
    pub(super) place: SpanScope,
    pub(super) name: MarkText,
    pub(super) flow: Option<Flow>,
    pub(super) arguments: Arguments,
    /// Id and time of the start event of an activity.
    pub(super) activity: Option<(Option<ActivityId>, i64)>,
}

impl SpanSubject {
    pub(super) fn new(
        category: Category,
        place: SpanScope,
        name: impl Into<MarkText>,
    ) -> SpanSubject {
        let (name, arguments) = (name.into(), Arguments::new());
        SpanSubject { category, place, name, flow: None, arguments, activity: None }
    }
}

/// Times at which events were lost.
#[derive(Debug, Default)]
pub(super) struct Losses {
    /// For each writing thread, the time at which events were last found to be missing.
    last: HashMap<u64, i64>,
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
            Bounds::StopShared => Ends::SharedStop,
            Bounds::LeftByException => Ends::Left,
            Bounds::StartLost | Bounds::StartReported => Ends::NoStart,
            // The thread wrote further events, so the stop event is among the lost ones.
            Bounds::OpenAtEnd
                if interval.what.place == SpanScope::Thread && self.is_lossy(interval) =>
            {
                Ends::NoStop
            }
            Bounds::OpenAtEnd => Ends::OpenAtEnd,
        }
    }

    fn mark(&self, interval: Interval<SpanSubject>) -> TimelineMark {
        TimelineMark::Span(self.span(interval))
    }

    /// Converts an interval to a span.
    fn span(&self, interval: Interval<SpanSubject>) -> Span {
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
                // One nanosecond less, because viewers compute the end in floating point, and might
                // see an overlap with the next span.
                Ends::Left => nanos.saturating_sub(1),
                _ => nanos,
            },
            ends,
            flow: subject.flow,
            arguments: subject.arguments,
            activity: subject.activity,
        }
    }
}

/// Matches starts and stops of spans, and collects the marks that are complete.
#[derive(Debug, Default)]
pub(super) struct Matched {
    matcher: Matcher<Key, SpanSubject>,
    pub(super) losses: Losses,
    /// Marks that are complete and were not taken yet.
    pub(super) ready: Vec<TimelineMark>,
}

impl Matched {
    /// Adds the span of an interval that ended elsewhere.
    pub(super) fn show(&mut self, interval: Interval<SpanSubject>) {
        self.ready.push(self.losses.mark(interval));
    }

    /// Starts a span that can only be open once. If one is already open, its stop was lost.
    pub(super) fn start_again(&mut self, key: Key, at: Edge, subject: SpanSubject) {
        let lost = |interval| self.ready.push(self.losses.mark(interval));
        self.matcher.start_again(key, at, subject, lost);
    }

    /// Starts a span inside the open spans with the same key.
    pub(super) fn start_inside(&mut self, key: Key, at: Edge, subject: SpanSubject) {
        let lost = |interval| self.ready.push(self.losses.mark(interval));
        self.matcher.start_inside(key, at, subject, lost);
    }

    /// Ends the innermost open span with a key; `None` if none is open.
    pub(super) fn stop(&mut self, key: Key, at: Edge) -> Option<Span> {
        let lost = |interval| self.ready.push(self.losses.mark(interval));
        Some(self.losses.span(self.matcher.stop(key, at, None, lost)?))
    }

    /// Ends the innermost open span with a key. `reported` is the duration in the stop, if it has
    /// one. `alone` describes the span if it has no start.
    pub(super) fn stop_or(
        &mut self,
        key: Key,
        at: Edge,
        reported: Option<u64>,
        alone: impl FnOnce() -> SpanSubject,
    ) -> Span {
        let lost = |interval| self.ready.push(self.losses.mark(interval));
        let interval = self.matcher.stop(key, at, reported, lost);
        self.losses.span(interval.unwrap_or_else(|| Interval::without_start(at, reported, alone())))
    }

    /// Ends one of several independent open spans with a key. `alone` describes the span if it has
    /// no start.
    pub(super) fn stop_one_or(
        &mut self,
        key: Key,
        at: Edge,
        alone: impl FnOnce() -> SpanSubject,
    ) -> Span {
        let interval = self.matcher.stop_one(key, at);
        self.losses.span(interval.unwrap_or_else(|| Interval::without_start(at, None, alone())))
    }

    /// Ends the open spans and `others` at the end of the trace, in the order of their starts.
    pub(super) fn finish(&mut self, nanos: i64, others: Vec<Interval<SpanSubject>>) {
        let mut open: Vec<_> = self.matcher.finish(nanos).chain(others).collect();
        // The sort is stable: spans with equal starts keep their order.
        open.sort_few_by_key(|interval| interval.start.nanos);
        self.ready.extend(open.into_iter().map(|interval| self.losses.mark(interval)));
    }
}

/// Adds a number to the arguments, unless the value is absent.
pub(super) fn number(arguments: &mut Arguments, name: &'static str, value: Option<u64>) {
    arguments.extend(value.map(|value| (name.into(), Argument::Number(value))));
}

/// Adds an address to the arguments, unless the value is absent.
pub(super) fn address(arguments: &mut Arguments, name: &'static str, value: Option<u64>) {
    arguments.extend(value.map(|value| (name.into(), Argument::Address(value))));
}

/// Adds a text to the arguments, unless the text is empty.
pub(super) fn text(arguments: &mut Arguments, name: &'static str, value: impl Into<MarkText>) {
    let value = value.into();
    if !value.is_empty() {
        arguments.push((name.into(), Argument::Text(value)));
    }
}
