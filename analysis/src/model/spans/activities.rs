//! Makes the marks for activities, from starts and stops of event sources and activity sources.

use super::mark::{Argument, Arguments, Category, SpanScope};
use super::mark_text::MarkText;
use super::subject;
use super::{SpanMoment, SpanSubject, Spans};
use crate::model::activity_edge::ActivityEdge;
use crate::model::intervals::{ActivityInterval, Interval};
use crate::model::short;
use nettrace_parser::view::{Activity, View};
use nettrace_parser::{Event, Utf16, Value};

/// Names of those arguments of activity sources that are shown.
const SHOWN: &[&str] = &[
    "DisplayName",
    "Kind",
    "Status",
    "StatusDescription",
    "Id",
    "ParentId",
    "Source.Name",
    "TagObjects",
];

/// Maximum number of arguments that are shown of an event source's activity.
const MAX_ARGUMENTS: usize = 16;

impl Spans {
    /// Takes an event of `Microsoft-Diagnostics-DiagnosticSource`.
    pub(super) fn diagnostic_source(&mut self, moment: SpanMoment<'_, '_>) {
        let Some(activity) = Activity::from_event(moment.event) else { return };
        let mut arguments = Arguments::new();
        subject::text(&mut arguments, "source", self.value(activity.source));
        for (name, value) in activity.arguments() {
            if let Some(shown) = SHOWN.iter().find(|shown| name == **shown) {
                subject::text(&mut arguments, shown, self.value(value));
            }
        }
        if let Some(edge) = moment.activity_edge() {
            self.activity(moment, edge, arguments);
            return;
        }
        let mut instant = moment.instant(Category::Activity, activity.name.to_string());
        instant.arguments = arguments;
        self.instant(instant);
    }

    /// Takes an event of any other source: a start, a stop, or the value of a counter.
    pub(super) fn event_source(&mut self, moment: SpanMoment<'_, '_>) {
        if moment.event.name() == "EventCounters" {
            self.event_counter(moment);
        } else if let Some(edge) = moment.activity_edge() {
            let arguments = self.arguments_of(moment.event);
            self.activity(moment, edge, arguments);
        }
    }

    fn activity(&mut self, moment: SpanMoment<'_, '_>, edge: &ActivityEdge, arguments: Arguments) {
        let subject = SpanSubject::new(
            Category::Activity,
            SpanScope::Thread,
            self.plain_names.plain(edge.task()),
        );
        let name = self.names.intern(&edge.name);
        if edge.is_start {
            let begun = SpanSubject { arguments, ..subject };
            let lost = self.activities.start(edge, name, moment.edge(), begun).map(shown);
            lost.into_iter().for_each(|lost| self.open.show(lost));
            return;
        }
        if let Some((start, nanos)) = self.activities.unseen_start(edge, name, moment.nanos) {
            let begun = SpanSubject { arguments: Arguments::new(), ..subject.clone() };
            let at = moment.at.at_nanos(nanos).edge(moment.event);
            let lost = self.activities.start(&start, name, at, begun).map(shown);
            lost.into_iter().for_each(|lost| self.open.show(lost));
        }
        let stopped = self.activities.stop(edge, name, moment.edge());
        stopped.others.into_iter().map(shown).for_each(|other| self.open.show(other));
        if stopped.has_start && stopped.own.is_none() {
            // It is one of several, which are shown when all have stopped.
            return;
        }
        let mut stopped = stopped.own.map(shown).unwrap_or_else(|| {
            let place = if edge.id.is_some() { SpanScope::Free } else { SpanScope::Thread };
            let activity = Some((edge.id.clone(), moment.nanos));
            let alone = SpanSubject { place, activity, ..subject };
            Interval::without_start(moment.edge(), None, alone)
        });
        // The stop knows more than the start.
        for argument in arguments {
            let known = stopped.what.arguments.iter_mut().find(|(name, _)| *name == argument.0);
            match known {
                Some(known) => *known = argument,
                None => stopped.what.arguments.push(argument),
            }
        }
        self.open.show(stopped);
    }

    /// Takes the activities that are open at the end of the trace.
    pub(super) fn finish_activities(
        &mut self,
    ) -> impl Iterator<Item = Interval<SpanSubject>> + use<> {
        self.activities.finish(self.last_nanos).map(shown)
    }
}

/// Sets to what the span of an activity belongs. It belongs to a thread if start and stop were
/// matched by thread, and the activity was the innermost one.
fn shown(interval: ActivityInterval<SpanSubject>) -> Interval<SpanSubject> {
    let is_on_thread = interval.start.thread == interval.stop.thread;
    interval.map(|activity| {
        let is_on_thread = is_on_thread && activity.is_innermost && activity.id.is_none();
        let place = if is_on_thread { SpanScope::Thread } else { SpanScope::Free };
        let of_activity = Some((activity.id, activity.at.nanos));
        SpanSubject { place, activity: of_activity, ..activity.what }
    })
}

impl Spans {
    /// Returns the provider and the fields of an event as arguments.
    fn arguments_of(&mut self, event: &Event<'_>) -> Arguments {
        let fields = event.schema().map_or(0, |schema| schema.payload_fields().len());
        let mut arguments = Arguments::with_capacity(fields.min(MAX_ARGUMENTS).saturating_add(1));
        let provider = self.plain_names.plain(short(event.provider()));
        subject::text(&mut arguments, "provider", provider);
        for field in event.fields().take(MAX_ARGUMENTS) {
            let Ok(value) = field.value else { continue };
            let argument = match value {
                Value::Pointer(address) => Argument::Address(address),
                Value::Utf16(text) => Argument::Text(self.value(text)),
                Value::Guid(guid) => Argument::Text(guid.to_string().into()),
                Value::Bool(truth) => Argument::Text(if truth { "true" } else { "false" }.into()),
                Value::F32(_) | Value::F64(_) | Value::Decimal(_) => {
                    let Some(real) = value.as_f64() else { continue };
                    Argument::Real(real)
                }
                _ => match (value.as_u64(), value.as_i64(), value.to_text()) {
                    (Some(number), ..) => Argument::Number(number),
                    (_, Some(number), _) => Argument::Text(number.to_string().into()),
                    (.., Some(text)) => Argument::Text(text.into()),
                    _ => continue,
                },
            };
            arguments.push((self.plain_names.plain(short(field.name())), argument));
        }
        arguments
    }

    /// Returns a text of an event as it is.
    pub(super) fn value(&mut self, text: Utf16<'_>) -> MarkText {
        let decoded = &mut self.decoded;
        self.values.meaning_of(text, |text| {
            decoded.clear();
            Value::Utf16(text).append_to(decoded);
            MarkText::copied(decoded)
        })
    }
}
