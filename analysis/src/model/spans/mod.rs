//! Turns events into the spans, instants and counters of a timeline.
//!
//! | events | mark |
//! |---|---|
//! | runtime 9, 8, 7, 3 (suspend, suspended, restart, restarted) | a pause of its process |
//! | runtime 1, 2 (GC start, end), by number | a collection of its process |
//! | runtime 145, 143 (jitting started, method loaded), by method | a compilation; a load without a start is an instant |
//! | runtime 81, 91 (contention) | a wait for a lock |
//! | runtime 301, 302 | a wait for a handle |
//! | runtime 80 | an instant: the exception's type and message |
//! | runtime 250 to 255 (catch, finally, filter) | spans of their thread; one that is left by an exception ends where that is caught |
//! | runtime 290, 291 | an assembly that is loaded |
//! | runtime 283, 284; 14, 13 | background compilation; finalizers |
//! | runtime 50, 51, 57; 54, 55 | counters of the thread pool; an adjustment is an instant too |
//! | runtime 4 | a counter: the heap's size |
//! | tasks 7, 8, 9, 10, 11 (scheduled, started, completed, wait) | an instant with an arrow to the task's span; a wait |
//! | starts and stops of DiagnosticSource and of other sources, by id, else by fields, else by thread | an activity |
//! | `EventCounters`, `System.Diagnostics.Metrics` | counters |
//!
//! [`Ends`] describes missing ends of a span. Memory is bounded by the number of open spans, at
//! most 65,536. More indicate lost ends: the oldest spans are then returned without an end.

mod activities;
mod counters;
mod handlers;
mod last_numbers;
mod mark;
mod mark_text;
mod runtime;
mod shown_names;
mod subject;
mod tasks;

pub(crate) use mark::Arguments;
pub use mark::{
    Argument, Category, CounterMark, Ends, Flow, Instant, Span, SpanScope, TimelineMark,
};
pub use mark_text::MarkText;

use super::activity_edge::ActivityEdge;
use super::intervals::{Edge, OpenActivities, Suspensions};
use super::recent_texts::RecentTexts;
use super::{Model, Texts, ThreadHandle};
use crate::hash::HashMap;
use crate::model;
use handlers::SpanHandlers;
use last_numbers::LastNumbers;
use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;
use shown_names::ShownNames;
use std::collections::BTreeMap;
use subject::{Matched, SpanSubject};

/// Takes all events in time order and makes [`TimelineMark`]s of them: instants and counters
/// immediately, spans when they end.
#[derive(Debug, Default)]
pub(crate) struct Spans {
    open: Matched,
    handlers: BTreeMap<ThreadHandle, SpanHandlers>,
    activities: OpenActivities<SpanSubject>,
    names: Texts,
    /// Names of tasks that have not ended, by process and number.
    task_names: HashMap<(u64, u64), MarkText>,
    /// Suspensions of all threads, each with the name of its reason, by process.
    suspensions: BTreeMap<u64, Suspensions<String>>,
    numbers: LastNumbers,
    /// Names of types, of methods that events of the runtime name, and of tasks.
    type_names: ShownNames,
    method_names: ShownNames,
    shown_task_names: ShownNames,
    /// Names of fields, providers and activities.
    plain_names: ShownNames,
    /// Texts of events that are shown as they are.
    values: RecentTexts<MarkText>,
    /// Memory for a text while it is decoded.
    decoded: String,
    last_nanos: i64,
    choice: MarkChoice,
}

/// Which marks are made of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum MarkChoice {
    #[default]
    All,
    /// Waits for locks and handles, and compilations.
    WaitsAndCompilations,
}

/// An event with its thread, process and time.
#[derive(Clone, Copy)]
struct SpanMoment<'e, 'r> {
    event: &'e Event<'r>,
    at: &'e model::Moment,
    thread: ThreadHandle,
    /// Handle of the process, as a number for keys.
    process: u64,
    nanos: i64,
}

impl SpanMoment<'_, '_> {
    fn edge(&self) -> Edge {
        self.at.edge(self.event)
    }

    /// Returns the start or stop of an activity that the event reports.
    fn activity_edge(&self) -> Option<&ActivityEdge> {
        self.at.activity_edge(self.event)
    }

    fn instant(&self, category: Category, name: impl Into<MarkText>) -> Instant {
        Instant {
            category,
            name: name.into(),
            thread: self.thread,
            nanos: self.nanos,
            flow: None,
            arguments: Arguments::new(),
        }
    }
}

impl Spans {
    pub(crate) fn new(choice: MarkChoice) -> Spans {
        Spans { choice, ..Spans::default() }
    }

    /// Takes the next event. This must be called for all events, in time order.
    pub(crate) fn event(&mut self, event: &Event<'_>, at: &model::Moment, model: &Model) {
        let model::Moment { thread, nanos, .. } = *at;
        self.last_nanos = nanos;
        self.count(event, nanos);
        if self.choice == MarkChoice::WaitsAndCompilations {
            let is_chosen = event.known_provider() == KnownProvider::Runtime
                && matches!(event.id(), 81 | 91 | 143 | 145 | 301 | 302);
            if !is_chosen {
                return;
            }
        }
        let process = model.thread(thread).map_or(0, |row| u64::from(row.process.0));
        let moment = SpanMoment { event, at, thread, process, nanos };
        match event.known_provider() {
            KnownProvider::Runtime => self.runtime(moment),
            KnownProvider::Tasks => self.tasks(moment),
            KnownProvider::Metrics => self.metric(moment),
            KnownProvider::DiagnosticSource => self.diagnostic_source(moment),
            KnownProvider::Other | KnownProvider::Logging => self.event_source(moment),
            _ => {}
        }
    }

    /// Ends the spans that are still open at the end of the trace.
    pub(crate) fn finish(&mut self) {
        let mut others = self.finish_handlers();
        others.extend(self.finish_activities());
        for stops in self.suspensions.values_mut() {
            others.extend(stops.finish(self.last_nanos).map(runtime::pause));
        }
        self.open.finish(self.last_nanos, others);
    }

    /// Returns whether marks are complete.
    #[inline]
    pub(crate) fn is_any_ready(&self) -> bool {
        !self.open.ready.is_empty()
    }

    /// Takes the marks that are complete.
    pub(crate) fn ready(&mut self) -> std::vec::Drain<'_, TimelineMark> {
        self.open.ready.drain(..)
    }

    /// Detects missing events by the sequence numbers of the writing thread.
    fn count(&mut self, event: &Event<'_>, nanos: i64) {
        let (writer, number) = (event.capture_thread(), event.sequence_number());
        let Some(last) = self.numbers.replace(writer, number) else { return };
        let step = number.wrapping_sub(last).cast_signed();
        if step > 1 {
            self.open.losses.lost(writer, nanos);
        }
    }

    fn instant(&mut self, instant: Instant) {
        self.open.ready.push(TimelineMark::Instant(instant));
    }

    fn span(&mut self, span: Span) {
        self.open.ready.push(TimelineMark::Span(span));
    }

    fn counter(
        &mut self,
        SpanMoment { thread, nanos, .. }: SpanMoment<'_, '_>,
        name: impl Into<MarkText>,
        unit: impl Into<MarkText>,
        value: f64,
    ) {
        let (name, unit) = (name.into(), unit.into());
        let mark = CounterMark { name, unit, thread, nanos, value };
        self.open.ready.push(TimelineMark::Counter(mark));
    }
}
