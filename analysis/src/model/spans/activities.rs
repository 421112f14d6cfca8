//! Activities: what sources start and stop.

use super::mark::{Argument, Arguments, Category, Mark, Place};
use super::subject::{self, What};
use super::{Moment, Spans, Subject};
use crate::model::short;
use nettrace_parser::view::{Activity, ActivityEdge};
use nettrace_parser::{Event, Value};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Opcodes of events that start and stop something.
const START: u8 = 1;
const STOP: u8 = 2;

/// What activity sources say of an activity that people want to see.
const SHOWN: &[&str] =
    &["DisplayName", "Kind", "Status", "StatusDescription", "Id", "ParentId", "Source.Name", "TagObjects"];

/// Arguments of an event source's activity, at most.
const MOST_ARGUMENTS: usize = 16;

impl Spans {
    /// A start or stop of `Microsoft-Diagnostics-DiagnosticSource`.
    pub(super) fn activity(&mut self, moment: Moment<'_, '_>) {
        let Some(activity) = Activity::of(moment.event) else { return };
        let mut id = None;
        let mut arguments = Arguments::new();
        subject::text(&mut arguments, "source", activity.source.to_string());
        for (name, value) in activity.arguments() {
            if name.equals("Id") || (id.is_none() && name.equals("ActivityId")) {
                id = Some(hash(&value));
            }
            if let Some(shown) = SHOWN.iter().find(|shown| name.equals(shown)) {
                subject::text(&mut arguments, shown, value.to_string());
            }
        }
        let name = activity.name.to_string();
        // Without an id, what tells activities apart is their name and thread.
        let (key, place) = match id {
            Some(id) => ((What::ActivitySource, moment.process, id), Place::Free),
            None => (
                (What::ActivitySource, u64::MAX.saturating_sub(u64::from(moment.thread.0)), hash(&name)),
                Place::Thread,
            ),
        };
        match activity.edge {
            ActivityEdge::Start => {
                let begun = Subject { arguments, ..Subject::new(Category::Activity, place, name) };
                match place {
                    Place::Thread => self.open.start_inside(key, moment.edge(), begun, &mut self.ready),
                    _ => self.open.start_again(key, moment.edge(), begun, &mut self.ready),
                }
            }
            ActivityEdge::Stop => {
                let span = self.open.stop(key, moment.edge(), &mut self.ready);
                let mut span = span.unwrap_or_else(|| {
                    let ended = Subject::new(Category::Activity, place, name);
                    self.open.without_start(moment.edge(), None, ended)
                });
                // At its end more is known than at its start.
                span.arguments = arguments;
                self.ready.push(Mark::Span(span));
            }
            _ => {
                let mut instant = moment.instant(Category::Activity, name);
                instant.arguments = arguments;
                self.instant(instant);
            }
        }
    }

    /// A start or stop of any event source, or a counter's value.
    pub(super) fn event_source(&mut self, moment: Moment<'_, '_>) {
        let event = moment.event;
        if event.name() == "EventCounters" {
            self.event_counter(moment);
            return;
        }
        let opcode = event.opcode().unwrap_or_else(|| event.implied_opcode());
        if opcode != START && opcode != STOP {
            return;
        }
        let (name, ending) = (event.name(), if opcode == START { "Start" } else { "Stop" });
        let stem = name.strip_suffix(ending).filter(|stem| !stem.is_empty()).unwrap_or(name);
        let stem = short(stem);
        let activity = event.activity_id().filter(|id| !id.is_zero());
        let (key, place) = match activity {
            Some(id) => ((What::EventSource, hash(&(short(event.provider()), stem)), hash(&id)), Place::Free),
            None => (
                (What::EventSource, hash(&(short(event.provider()), stem)), moment.thread.0.into()),
                Place::Thread,
            ),
        };
        if opcode == START {
            let mut begun = Subject::new(Category::Activity, place, stem);
            begun.arguments = arguments_of(event);
            match place {
                Place::Thread => self.open.start_inside(key, moment.edge(), begun, &mut self.ready),
                _ => self.open.start_again(key, moment.edge(), begun, &mut self.ready),
            }
            return;
        }
        let mut span = self.open.stop(key, moment.edge(), &mut self.ready).unwrap_or_else(|| {
            let ended = Subject::new(Category::Activity, place, stem);
            self.open.without_start(moment.edge(), None, ended)
        });
        for argument in arguments_of(event) {
            if !span.arguments.contains(&argument) {
                span.arguments.push(argument);
            }
        }
        self.ready.push(Mark::Span(span));
    }
}

/// The same for the same input in every run: the hasher has no seed.
fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Provider and payload.
fn arguments_of(event: &Event<'_>) -> Arguments {
    let mut arguments = Arguments::new();
    subject::text(&mut arguments, "provider", short(event.provider()).to_owned());
    for field in event.fields().take(MOST_ARGUMENTS) {
        let Ok(value) = field.value else { continue };
        let argument = match value {
            Value::Pointer(address) => Argument::Address(address),
            Value::Guid(guid) => Argument::Text(guid.to_string()),
            Value::Bool(truth) => Argument::Text(truth.to_string()),
            Value::F32(_) | Value::F64(_) | Value::Decimal(_) => {
                let Some(real) = value.as_f64() else { continue };
                Argument::Real(real)
            }
            _ => match (value.as_u64(), value.as_i64(), value.to_text()) {
                (Some(number), ..) => Argument::Number(number),
                (_, Some(number), _) => Argument::Text(number.to_string()),
                (.., Some(text)) => Argument::Text(text),
                _ => continue,
            },
        };
        arguments.push((short(field.name()).to_owned().into(), argument));
    }
    arguments
}
