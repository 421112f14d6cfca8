//! Steps inside the HTTP request that the user chose by an id: calls, spans, SQL commands, awaits,
//! log messages and exceptions.
//!
//! An event belongs to the request by the ids of its activity, of its span or of the spans around
//! it; else by the stack of its thread or the connection of an earlier command, as in the SQL
//! report.

use super::activities::{ProfiledAwait, RequestStep, StepKind};
use super::await_steps::{AwaitEdge, AwaitSteps};
use super::contract::Moment;
use super::counts::increase;
use super::logs::{Form, LogLevel, LoggedMessage};
use super::requests::{FollowedRequests, OpenRequests};
use super::sql::{CommandEvent, CommandPhase};
use crate::hash::{HashMap, HashSet};
use crate::model::activity_edge::ActivityEdge;
use crate::model::activity_edge::http_facts::HttpDirection;
use crate::model::activity_id::{ActivityId, WantedId};
use crate::model::activity_path::PathForm;
use crate::model::{Model, Resolved, ThreadHandle};
use crate::sorted::SortFew;
use nettrace_parser::Event;
use nettrace_parser::view::{Exception, KnownProvider, View};
use std::cmp::Reverse;

const MAX_STEPS: usize = 10_000;
/// Maximum number of ids of activities and spans inside the request, and of connections.
const MAX_IDS: usize = 65_536;
/// Maximum number of characters of a step's text.
const MAX_TEXT_CHARACTERS: usize = 1_000;
/// Id of the runtime's event of a thrown exception.
const THROWN: u32 = 80;

/// Collects the steps of the chosen request.
#[derive(Debug)]
pub(super) struct Steps {
    /// Id by which the request was chosen.
    id: WantedId,
    requests: OpenRequests,
    /// Whether the request, or another activity with the id, has started.
    has_begun: bool,
    /// Numbers of the request and of the requests that it sent to its own process.
    numbers: HashSet<u64>,
    /// Ids of activities and spans inside the request.
    ids: HashSet<ActivityId>,
    /// Hashes of the ids of connections on which the request ran commands.
    connections: HashSet<u64>,
    steps: Vec<Found>,
    awaits: AwaitSteps,
    left_out: u64,
    open_requests: HashMap<u64, usize>,
    /// Open spans and commands, each with its name or source.
    open: HashMap<(StepKey, String), usize>,
    last_message: Option<LastMessage>,
    is_over: bool,
}

/// What tells the end of a step.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum StepKey {
    Activity(Option<ActivityId>),
    /// Hash of a command's id.
    Command(u64),
    /// Hash of the id of a command's connection.
    Connection(u64),
}

#[derive(Debug)]
struct Found {
    step: RequestStep,
    /// Source of the events: several sources may report one command.
    source: String,
}

/// Last message, which is compared with the next one because a message comes in up to three forms.
#[derive(Debug, PartialEq, Eq)]
struct LastMessage {
    thread: ThreadHandle,
    level: LogLevel,
    logger: String,
    event_id: String,
    form: Form,
    place: usize,
}

impl Steps {
    pub(super) fn new(id: WantedId) -> Steps {
        Steps {
            id,
            requests: OpenRequests::default(),
            has_begun: false,
            numbers: HashSet::default(),
            ids: HashSet::default(),
            connections: HashSet::default(),
            steps: Vec::new(),
            awaits: AwaitSteps::default(),
            left_out: 0,
            open_requests: HashMap::default(),
            open: HashMap::default(),
            last_message: None,
            is_over: false,
        }
    }

    #[inline(never)]
    pub(super) fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) {
        let provider = event.known_provider();
        if provider == KnownProvider::Tasks && !self.is_over {
            return self.task(event, moment, model);
        }
        let is_exception = provider == KnownProvider::Runtime && event.id() == THROWN;
        let may_tell = matches!(
            provider,
            KnownProvider::DiagnosticSource | KnownProvider::Logging | KnownProvider::Other
        );
        if self.is_over || !(may_tell || is_exception) {
            return;
        }
        let edge = moment.activity_edge(event);
        let stack = model.stack_of(event, moment.thread);
        let wanted = edge.filter(|edge| edge.is_start && self.is_wanted(edge, moment));
        let number = self.requests.next_number();
        let ended = self.requests.event(event, moment, 0, Some(stack), model);
        if let Some(wanted) = wanted {
            // If the id is that of a layer, the steps are those of its request.
            let of_all = || self.requests.request_for(event, edge, moment.thread, stack, model);
            let of_layer = || of_all().map(|(number, _)| number);
            let is_request = self.requests.next_number() > number;
            let number = match self.requests.was_layer() {
                true => of_layer(),
                false => Some(number).filter(|_| is_request),
            };
            self.learn(wanted);
            self.has_begun = true;
            match number {
                Some(number) => {
                    self.numbers.insert(number);
                    self.request(number, event, wanted, moment, model);
                }
                None => self.span(wanted, moment, model),
            }
            return;
        }
        let mut is_end = false;
        for ended in ended {
            let Some(place) = self.open_requests.remove(&ended.number) else { continue };
            let own = self.steps.get_mut(place).map(|found| &mut found.step);
            if let Some(step) = own {
                (step.start_ns, step.duration_ns) = (ended.start_ns, ended.duration_ns);
                step.is_error |= ended.is_error;
                let status = ended.facts.status.filter(|status| *status >= 0);
                let status = status.map_or_else(String::new, |status| format!("  {status}"));
                let name = ended.facts.name().map_or_else(|| step.text.clone(), str::to_owned);
                step.text = format!("{name}{status}");
            }
            self.is_over |= place == 0;
            is_end = true;
        }
        if is_end {
            return;
        }
        if !self.has_begun {
            return;
        }
        let has_started = self.requests.next_number() > number;
        let form = model.path_form(moment.thread);
        let belongs = edge.is_some_and(|edge| self.is_inside(edge, form))
            || self.has_id(event, form)
            || self
                .requests
                .request_for(event, edge, moment.thread, stack, model)
                .is_some_and(|(number, _)| self.numbers.contains(&number));
        match provider {
            _ if is_exception && belongs => self.exception(event, moment, model),
            _ if self.command(event, edge, belongs, moment, model) => {}
            KnownProvider::Logging if edge.is_none() => {
                self.message(event, belongs, moment, model);
            }
            _ => {
                let Some(edge) = edge.filter(|_| belongs) else { return };
                self.learn(edge);
                if has_started && !self.requests.was_layer() {
                    self.request(number, event, edge, moment, model);
                } else if !has_started && !self.requests.was_layer() {
                    self.span(edge, moment, model);
                }
            }
        }
    }

    fn is_wanted(&self, edge: &ActivityEdge, moment: &Moment) -> bool {
        let mut ids = [&edge.id, &edge.path].into_iter().flatten();
        !self.has_begun && self.id.is_start(moment.nanos) && ids.any(|id| self.id.is(id))
    }

    /// Returns whether an id is the request's, belongs to an activity inside it, or is a path below
    /// it.
    fn has(&self, id: &ActivityId) -> bool {
        self.ids.contains(id) || self.id.holds(id)
    }

    /// Returns whether an id shows that something is inside the request. An id that several open
    /// activities may have shows nothing.
    fn shows(&self, id: &ActivityId, form: PathForm) -> bool {
        !id.may_repeat(form) && self.has(id)
    }

    fn has_id(&self, event: &Event<'_>, form: PathForm) -> bool {
        ActivityId::of_event(event).is_some_and(|id| self.shows(&id, form))
    }

    fn is_inside(&self, edge: &ActivityEdge, form: PathForm) -> bool {
        let ids = [&edge.id, &edge.parent, &edge.path];
        ids.into_iter().flatten().any(|id| self.shows(id, form))
    }

    /// Keeps the ids of an activity inside the request, to find activities that refer to them.
    fn learn(&mut self, edge: &ActivityEdge) {
        for id in [&edge.id, &edge.path].into_iter().flatten() {
            if self.ids.len() < MAX_IDS {
                if let ActivityId::Trace { span, .. } = id {
                    // Messages have only the span's part of an id.
                    self.ids.insert(ActivityId::Span(*span));
                }
                self.ids.insert(id.clone());
            }
        }
    }

    fn push(
        &mut self,
        kind: StepKind,
        text: &str,
        source: &str,
        moment: &Moment,
        model: &Model,
    ) -> Option<usize> {
        self.push_at(kind, text, source, (moment.nanos, moment.thread), model)
    }

    /// Adds a step that begins at a time on a thread.
    fn push_at(
        &mut self,
        kind: StepKind,
        text: &str,
        source: &str,
        (start_ns, thread): (i64, ThreadHandle),
        model: &Model,
    ) -> Option<usize> {
        if self.steps.len() >= MAX_STEPS {
            self.left_out = self.left_out.saturating_add(1);
            return None;
        }
        let thread = model.thread(thread);
        let step = RequestStep {
            kind,
            start_ns,
            duration_ns: None,
            depth: 0,
            text: text.chars().take(MAX_TEXT_CHARACTERS).collect(),
            is_error: false,
            thread_id: thread.and_then(|row| row.os_thread_id),
        };
        self.steps.push(Found { step, source: source.to_owned() });
        self.steps.len().checked_sub(1)
    }

    fn step_mut(&mut self, place: Option<usize>) -> Option<&mut RequestStep> {
        self.steps.get_mut(place?).map(|found| &mut found.step)
    }

    /// Adds a step for a request that starts: the chosen one, one that it sends, or one that its
    /// own process receives from it.
    fn request(
        &mut self,
        number: u64,
        event: &Event<'_>,
        edge: &ActivityEdge,
        moment: &Moment,
        model: &Model,
    ) {
        let facts = moment.http_facts(event).cloned().unwrap_or_default();
        let kind = if facts.direction() == Some(HttpDirection::Out) {
            StepKind::Call
        } else {
            StepKind::Request
        };
        let text = facts.name().map_or_else(|| edge.name.to_string(), str::to_owned);
        let Some(place) = self.push(kind, &text, "", moment, model) else { return };
        self.open_requests.insert(number, place);
        if kind == StepKind::Request && self.numbers.len() < MAX_IDS {
            self.numbers.insert(number);
        }
    }

    fn span(&mut self, edge: &ActivityEdge, moment: &Moment, model: &Model) {
        let id = edge.id.as_ref().or(edge.path.as_ref()).cloned();
        let key = (StepKey::Activity(id), edge.name.to_string());
        if edge.is_start {
            if let Some(place) = self.push(StepKind::Span, &edge.name, "", moment, model) {
                self.open.insert(key, place);
            }
            return;
        }
        let place = self.open.remove(&key);
        self.end(place, edge.reported_nanos, edge.is_error, moment);
        self.is_over |= place == Some(0);
    }

    fn end(
        &mut self,
        place: Option<usize>,
        reported: Option<u64>,
        is_error: bool,
        moment: &Moment,
    ) {
        let Some(step) = self.step_mut(place) else { return };
        let measured = u64::try_from(moment.nanos.saturating_sub(step.start_ns)).unwrap_or(0);
        step.duration_ns = Some(reported.unwrap_or(measured));
        step.is_error |= is_error;
    }

    /// Processes an event of an SQL command. Returns false for other events.
    fn command(
        &mut self,
        event: &Event<'_>,
        edge: Option<&ActivityEdge>,
        belongs: bool,
        moment: &Moment,
        model: &Model,
    ) -> bool {
        let Some(command) = CommandEvent::from_event(event, edge) else { return false };
        // The start may lack the command's id, and the stop the activity's. The connection
        // identifies a command too, as it runs one at a time.
        let ids = [
            command.command.map(StepKey::Command),
            edge.and_then(|edge| edge.id.clone()).map(|id| StepKey::Activity(Some(id))),
            command.connection.map(StepKey::Connection),
        ];
        let keys: Vec<(StepKey, String)> =
            ids.into_iter().flatten().map(|id| (id, command.source.clone())).collect();
        let open = keys.iter().find_map(|key| self.open.get(key)).copied();
        let is_known = command.connection.is_some_and(|it| self.connections.contains(&it));
        if !belongs && !is_known && open.is_none() {
            return true;
        }
        if let Some(connection) = command.connection.filter(|_| self.connections.len() < MAX_IDS) {
            self.connections.insert(connection);
        }
        let text = command.text.as_deref().map(one_line).unwrap_or_default();
        match command.phase {
            // The start was reported before, in another form.
            CommandPhase::Start if command.command.is_some() && open.is_some() => {}
            CommandPhase::Start => {
                let place = self.push(StepKind::Sql, &text, &command.source, moment, model);
                let keys = keys.into_iter().filter(|_| place.is_some());
                self.open.extend(keys.zip(std::iter::repeat(place.unwrap_or(0))));
            }
            CommandPhase::Rows => {}
            CommandPhase::Stop | CommandPhase::Whole => {
                // Searched only if there is a start: without it the search would be in vain for
                // each stop.
                if open.is_some() {
                    self.open.retain(|_, place| Some(*place) != open);
                }
                let is_new = open.is_none();
                let place = open
                    .or_else(|| self.push(StepKind::Sql, &text, &command.source, moment, model));
                if let Some(step) = self.step_mut(place)
                    && is_new
                {
                    let nanos = i64::try_from(command.nanos.unwrap_or(0)).unwrap_or(0);
                    step.start_ns = step.start_ns.saturating_sub(nanos);
                }
                if let Some(step) = self.step_mut(place)
                    && step.text.is_empty()
                {
                    step.text = text;
                }
                self.end(place, command.nanos, command.is_error, moment);
            }
        }
        true
    }

    fn message(&mut self, event: &Event<'_>, belongs: bool, moment: &Moment, model: &Model) {
        let Some(message) = LoggedMessage::from_event(event) else { return };
        let span = message.span.as_deref().and_then(ActivityId::from_text);
        let is_of_span = span.is_some_and(|span| self.has(&span));
        // The thread decides only for messages without a span.
        if !(is_of_span || belongs && message.span.is_none()) {
            return;
        }
        let text = match message.text.is_empty() {
            true => message.template.clone().unwrap_or_default(),
            false => message.text.clone(),
        };
        let last = self.last_message.take().filter(|last| {
            last.form < message.form
                && (last.thread, last.level) == (moment.thread, message.level)
                && (&last.logger, &last.event_id) == (&message.logger, &message.event_id)
        });
        let text =
            format!("{} {}: {}", message.level.short_name(), message.logger, one_line(&text));
        let place = match last {
            Some(last) => Some(last.place),
            None => self.push(StepKind::Message, &text, "", moment, model),
        };
        if let Some(step) = self.step_mut(place) {
            step.is_error = message.level >= LogLevel::Error;
        }
        self.last_message = place.map(|place| LastMessage {
            thread: moment.thread,
            level: message.level,
            logger: message.logger,
            event_id: message.event_id,
            form: message.form,
            place,
        });
    }

    fn task(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) {
        if !self.has_begun || !matches!(event.id(), 10 | 11 | 14) {
            return;
        }
        let Some(process) = model.thread(moment.thread).map(|row| row.process) else { return };
        let stack = model.stack_of(event, moment.thread);
        let of_stack = self.requests.request_for(event, None, moment.thread, stack, model);
        let belongs = self.has_id(event, model.path_form(moment.thread))
            || of_stack.is_some_and(|(number, _)| self.numbers.contains(&number));
        match self.awaits.event(event, process, stack, belongs, model) {
            Some(AwaitEdge::Begins(task)) => {
                if let Some(place) = self.push(StepKind::Await, "", "", moment, model) {
                    self.awaits.begun(task, place);
                }
            }
            Some(AwaitEdge::Ends(place)) => self.end(Some(place), None, false, moment),
            None => {}
        }
    }

    /// Takes an await of the request that the async profiler tells, unless events of tasks tell it.
    pub(super) fn profiled(&mut self, awaited: ProfiledAwait, model: &Model) {
        if self.is_over || awaited.is_of_task && self.awaits.has_any() {
            return;
        }
        let ProfiledAwait { from, to, thread, stack, .. } = awaited;
        let Some(place) = self.push_at(StepKind::Await, "", "", (from, thread), model) else {
            return;
        };
        self.awaits.profiled(place, stack);
        if let Some(step) = self.step_mut(Some(place)) {
            step.duration_ns = u64::try_from(to.saturating_sub(from)).ok();
        }
    }

    fn exception(&mut self, event: &Event<'_>, moment: &Moment, model: &Model) {
        let Some(exception) = Exception::from_event(event) else { return };
        let message = one_line(&exception.message.to_string());
        let text = format!("{}: {message}", exception.type_name);
        let place = self.push(StepKind::Exception, &text, "", moment, model);
        if let Some(step) = self.step_mut(place) {
            step.is_error = true;
        }
    }

    /// Returns the steps in the order in which they began, and the number of steps that were not
    /// kept. Of several sources of commands, only the one with most commands counts.
    pub(super) fn finish(mut self, resolved: &Resolved<'_>) -> (Vec<RequestStep>, u64) {
        for (place, text) in std::mem::take(&mut self.awaits).finish(resolved) {
            if let Some(step) = self.step_mut(Some(place)) {
                step.text = text.chars().take(MAX_TEXT_CHARACTERS).collect();
            }
        }
        let mut sources: HashMap<&str, u64> = HashMap::default();
        for found in self.steps.iter().filter(|found| found.step.kind == StepKind::Sql) {
            increase(sources.entry(&found.source).or_default(), 1);
        }
        let most = sources.into_iter().max_by_key(|(source, count)| (*count, Reverse(*source)));
        let most = most.map(|(source, _)| source.to_owned());
        let is_counted = |found: &Found| {
            found.step.kind != StepKind::Sql || Some(&found.source) == most.as_ref()
        };
        let mut steps: Vec<RequestStep> =
            self.steps.into_iter().filter(is_counted).map(|found| found.step).collect();
        steps.sort_few_by_key(|step| (step.start_ns, Reverse(step.duration_ns)));
        let mut ends: Vec<i64> = Vec::new();
        for step in &mut steps {
            let length = i64::try_from(step.duration_ns.unwrap_or(0)).unwrap_or(i64::MAX);
            let end = step.start_ns.saturating_add(length);
            ends.retain(|around| *around >= end && *around > step.start_ns);
            step.depth = ends.len();
            let holds = matches!(step.kind, StepKind::Request | StepKind::Call | StepKind::Span);
            if holds && step.duration_ns.is_some() {
                ends.push(end);
            }
        }
        (steps, self.left_out)
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
