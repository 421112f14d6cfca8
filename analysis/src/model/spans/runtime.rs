//! Makes the marks for the runtime's own events.

use super::mark::{Argument, Arguments, Category, SpanScope};
use super::subject::{self, What};
use super::{SpanMoment, SpanSubject, Spans};
use crate::model::intervals::{self, Clause, Interval, nanos_between, reported_nanos};
use crate::model::{NameOptions, handler_text, method_frame};
use nettrace_parser::view::{ContentionStart, GcEnd, GcStart, Method, Suspension, View};
use nettrace_parser::{Event, Utf16};

/// Pairs of runtime events that begin and end a span on one thread: ids of start and stop, category
/// and name of the span.
const PAIRS: &[(u32, u32, Category, &str)] = &[
    (14, 13, Category::ThreadPool, "finalizers"),
    (283, 284, Category::JitBatch, "compile in the background"),
    (290, 291, Category::Loader, "load"),
];

impl Spans {
    pub(super) fn runtime(&mut self, moment: SpanMoment<'_, '_>) {
        match moment.event.id() {
            1 | 2 => self.collection(moment),
            3 | 7..=9 => self.suspension(moment),
            4 => self.heap(moment),
            50 | 51 | 54 | 55 | 57 => self.thread_pool(moment),
            80 => self.exception(moment),
            81 | 91 => self.contention(moment),
            143 | 145 => self.method(moment),
            301 | 302 => self.wait(moment),
            id => {
                if let Some((clause, begins)) = Clause::of_runtime(id) {
                    self.clause(moment, clause, begins);
                } else if let Some(pair) =
                    PAIRS.iter().find(|(start, stop, ..)| *start == id || *stop == id)
                {
                    self.pair(moment, *pair);
                }
            }
        }
    }

    fn collection(&mut self, moment: SpanMoment<'_, '_>) {
        if let Some(start) = GcStart::from_event(moment.event) {
            let generation = start.generation;
            let kind = value_name(moment.event, "Type").unwrap_or_default();
            let mut name = generation
                .map_or_else(|| "GC".to_owned(), |generation| format!("GC gen {generation}"));
            if start.kind == Some(1) {
                name.push_str(" background");
            }
            let mut begun = SpanSubject::new(Category::Collection, SpanScope::Process, name);
            subject::number(&mut begun.arguments, "number", Some(start.number.into()));
            subject::number(&mut begun.arguments, "generation", generation.map(u64::from));
            subject::text(
                &mut begun.arguments,
                "reason",
                named(moment.event, "Reason", start.reason),
            );
            subject::text(&mut begun.arguments, "kind", kind);
            let key = (What::Collection, moment.process, u64::from(start.number));
            self.open.start_again(key, moment.edge(), begun);
        }
        if let Some(end) = GcEnd::from_event(moment.event) {
            let key = (What::Collection, moment.process, u64::from(end.number));
            let span = self.open.stop_or(key, moment.edge(), None, || {
                let name = format!("GC gen {}", end.generation);
                let mut ended = SpanSubject::new(Category::Collection, SpanScope::Process, name);
                subject::number(&mut ended.arguments, "number", Some(end.number.into()));
                subject::number(&mut ended.arguments, "generation", Some(end.generation.into()));
                ended
            });
            self.span(span);
        }
    }

    /// Takes an event of a suspension of all threads (ids 9, 8, 7 and 3).
    fn suspension(&mut self, moment: SpanMoment<'_, '_>) {
        let Some(event) = Suspension::from_event(moment.event) else { return };
        let reason = || match event {
            Suspension::SuspendStart(reason) => named(moment.event, "Reason", reason),
            _ => String::new(),
        };
        let suspensions = self.suspensions.entry(moment.process).or_default();
        let lost = |stop| self.open.show(pause(stop));
        let ended = suspensions.event(event, moment.edge(), reason, lost).map(pause);
        if event != Suspension::RestartStop {
            return;
        }
        let ended = ended.unwrap_or_else(|| {
            let alone =
                SpanSubject::new(Category::OtherPause, SpanScope::Process, "pause, reason unknown");
            Interval::without_start(moment.edge(), None, alone)
        });
        self.open.show(ended);
    }

    fn heap(&mut self, moment: SpanMoment<'_, '_>) {
        const SIZES: [&str; 5] = [
            "GenerationSize0",
            "GenerationSize1",
            "GenerationSize2",
            "GenerationSize3",
            "GenerationSize4",
        ];
        let fields = moment.event.fields().filter(|field| SIZES.contains(&field.name()));
        let sizes: Vec<u64> = fields.filter_map(|field| field.value.ok()?.as_u64()).collect();
        if !sizes.is_empty() {
            let bytes = sizes.iter().fold(0u64, |sum, size| sum.saturating_add(*size));
            self.counter(moment, "GC heap size", "bytes", bytes as f64);
        }
    }

    fn thread_pool(&mut self, moment: SpanMoment<'_, '_>) {
        let field = |name| moment.event.field(name).and_then(|value| value.as_f64());
        let number = |name| moment.event.field(name).and_then(|value| value.as_u64());
        match moment.event.id() {
            // NaN and infinity can be neither drawn nor written as JSON.
            54 => {
                if let Some(value) = field("Throughput").filter(|value| value.is_finite()) {
                    self.counter(moment, "ThreadPool throughput", "work items/s", value);
                }
            }
            55 => {
                let Some(count) = number("NewWorkerThreadCount") else { return };
                let mut instant = moment.instant(Category::ThreadPool, "adjustment");
                subject::number(&mut instant.arguments, "threads", Some(count));
                let reason = value_name(moment.event, "Reason").unwrap_or_default();
                subject::text(&mut instant.arguments, "reason", reason);
                self.instant(instant);
                self.counter(moment, "ThreadPool wanted threads", "threads", count as f64);
            }
            _ => {
                if let Some(count) = number("ActiveWorkerThreadCount") {
                    self.counter(moment, "ThreadPool threads", "threads", count as f64);
                }
            }
        }
    }

    fn contention(&mut self, moment: SpanMoment<'_, '_>) {
        let key = (What::Contention, moment.thread.0.into(), 0);
        if moment.event.id() == 81 {
            let mut begun =
                SpanSubject::new(Category::Contention, SpanScope::Thread, "lock contention");
            if let Some(start) = ContentionStart::from_event(moment.event) {
                subject::address(&mut begun.arguments, "lock", start.lock_id);
                subject::address(&mut begun.arguments, "object", start.object_id);
                subject::number(&mut begun.arguments, "owner_thread", start.owner_thread_id);
            }
            self.open.start_inside(key, moment.edge(), begun);
            return;
        }
        let reported = reported_nanos(moment.event);
        let span = self.open.stop_or(key, moment.edge(), reported, || {
            SpanSubject::new(Category::Contention, SpanScope::Thread, "lock contention")
        });
        self.span(span);
    }

    fn wait(&mut self, moment: SpanMoment<'_, '_>) {
        let key = (What::Wait, moment.thread.0.into(), 0);
        if moment.event.id() == 301 {
            let mut begun = SpanSubject::new(Category::Wait, SpanScope::Thread, "wait");
            let source = value_name(moment.event, "WaitSource").unwrap_or_default();
            subject::text(&mut begun.arguments, "source", source);
            let object = moment.event.field("AssociatedObjectID").and_then(|value| value.as_u64());
            subject::address(&mut begun.arguments, "object", object.filter(|object| *object != 0));
            self.open.start_inside(key, moment.edge(), begun);
            return;
        }
        let span = self.open.stop_or(key, moment.edge(), None, || {
            SpanSubject::new(Category::Wait, SpanScope::Thread, "wait")
        });
        self.span(span);
    }

    /// Takes an event that starts the compilation of a method (id 145), or that reports the load of
    /// a method (id 143).
    fn method(&mut self, moment: SpanMoment<'_, '_>) {
        if moment.event.id() == 145 {
            let fields = &mut moment.event.fields();
            let mut next = |name| fields.find(name)?.value.ok();
            let id = next("MethodID").and_then(|value| value.as_u64()).unwrap_or(0);
            let bytes = next("MethodILSize").and_then(|value| value.as_u64());
            let mut text = |name| next(name).and_then(|value| value.as_utf16()).unwrap_or_default();
            let name =
                method_name(text("MethodNamespace"), text("MethodName"), text("MethodSignature"));
            let mut begun = SpanSubject::new(Category::Jit, SpanScope::Thread, name);
            subject::number(&mut begun.arguments, "il_bytes", bytes);
            let key = (What::Method, moment.thread.0.into(), id);
            self.open.start_again(key, moment.edge(), begun);
            return;
        }
        let Some(method) = Method::from_event(moment.event) else { return };
        let mut arguments = Arguments::new();
        subject::number(&mut arguments, "code_bytes", Some(method.size.into()));
        let made = if method.is_jitted() { method.tier().as_str() } else { "ready to run" };
        subject::text(&mut arguments, "code", made);
        let key = (What::Method, moment.thread.0.into(), method.method_id);
        if let Some(mut span) = self.open.stop(key, moment.edge()) {
            span.arguments.append(&mut arguments);
            self.span(span);
            return;
        }
        let name = method_name(method.namespace, method.name, method.signature);
        let mut instant = moment.instant(Category::Jit, "method loaded");
        instant.arguments.push(("method".into(), Argument::Text(name.into())));
        instant.arguments.append(&mut arguments);
        self.instant(instant);
    }

    fn pair(&mut self, moment: SpanMoment<'_, '_>, pair: (u32, u32, Category, &'static str)) {
        let (start, _, category, name) = pair;
        let key = (What::OnThread(start), moment.thread.0.into(), 0);
        if moment.event.id() == start {
            let mut begun = SpanSubject::new(category, SpanScope::Thread, name);
            self.texts_of(moment.event, &mut begun.arguments);
            // A load may cause another load.
            self.open.start_inside(key, moment.edge(), begun);
            return;
        }
        let mut span = self.open.stop_or(key, moment.edge(), None, || {
            SpanSubject::new(category, SpanScope::Thread, name)
        });
        if start == 283 || start == 14 {
            let count = |name| moment.event.field(name).and_then(|value| value.as_u64());
            subject::number(&mut span.arguments, "methods", count("JittedMethodCount"));
            subject::number(&mut span.arguments, "objects", count("Count"));
        }
        self.span(span);
    }

    /// Adds the method and the assembly of an event, if there are any.
    pub(super) fn texts_of(&mut self, event: &Event<'_>, arguments: &mut Arguments) {
        let text = |field| event.field(field).and_then(|value| value.as_utf16());
        if let Some(name) = text("MethodName") {
            let show = |name: &str| handler_text(name, NameOptions::default());
            subject::text(arguments, "method", self.method_names.text(name, show));
        }
        if let Some(name) = text("AssemblyName") {
            let name = self.value(name);
            subject::text(arguments, "assembly", name);
        }
    }
}

/// Converts a suspension of all threads to a span.
pub(super) fn pause(stop: Interval<intervals::Suspension<String>>) -> Interval<SpanSubject> {
    let start_nanos = stop.start.nanos;
    stop.map(|stop| {
        let (category, name) = match stop.is_for_collection() {
            true => (Category::Pause, "pause for GC"),
            // The sampler has no reason of its own.
            false if stop.what == "SuspendOther" => (Category::SamplerPause, "pause"),
            false => (Category::OtherPause, "pause"),
        };
        let mut subject = SpanSubject::new(category, SpanScope::Process, name);
        let until_stopped = stop.stopped_nanos.map(|at| nanos_between(start_nanos, at));
        subject::text(&mut subject.arguments, "reason", stop.what);
        subject::number(&mut subject.arguments, "suspended_after_ns", until_stopped);
        subject
    })
}

fn value_name(event: &Event<'_>, field: &str) -> Option<String> {
    Some(event.fields().find(field)?.value_name()?.to_string())
}

/// Returns the name that a value of a field has, or else the number.
fn named(event: &Event<'_>, field: &str, value: u32) -> String {
    value_name(event, field).unwrap_or_else(|| value.to_string())
}

fn method_name(type_name: Utf16<'_>, method: Utf16<'_>, signature: Utf16<'_>) -> String {
    let [type_name, method, signature] =
        [type_name, method, signature].map(|text| text.to_string());
    method_frame(&type_name, &method, &signature, NameOptions::default()).text
}
