//! HTTP requests from start to stop, and the request that another event belongs to.
//!
//! Several layers of a program may report a request, such as Kestrel and ASP.NET Core's hosting. It
//! counts once, with the facts of all layers.

use super::facts::{
    FollowedRequests, MAX_OWN_FRAMES, MaybeRequest, outermost_layer, request_of, requests_around,
};
use crate::hash::HashMap;
use crate::model::activity_edge::ActivityEdge;
use crate::model::activity_edge::http_facts::{HttpDirection, HttpFacts};
use crate::model::activity_id::ActivityId;
use crate::model::intervals::{
    ActivityInterval, Edge, Hint, OpenActivities, OpenActivity, OpenActivityKey, StoppedActivities,
    TwinStop, Twins,
};
use crate::model::{Model, Moment, StackHandle, TextHandle, Texts, ThreadHandle, is_inside};
use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;

/// Maximum number of different names of activities that are requests.
const MAX_NAMES: usize = 1000;

/// Maximum number of threads whose last request is kept.
const MAX_THREADS: usize = 10_000;

/// Maximum number of spans inside requests that are kept.
const MAX_SPANS: usize = 65_536;

/// Requests that have started and not stopped, and the spans inside them.
#[derive(Debug, Default)]
pub(crate) struct OpenRequests {
    open: OpenActivities<BegunRequest>,
    /// Last request that started on each thread.
    newest: HashMap<ThreadHandle, OpenActivityKey>,
    names: Texts,
    /// Requests by the id of a span inside them.
    spans: HashMap<ActivityId, OpenActivityKey>,
    twins: Twins,
    stops: LayerStops,
    started: u64,
    /// Whether the last event was of a further layer of a known request.
    is_layer: bool,
}

/// Requests whose layer has just stopped, by thread: in all traces, Kestrel's stop has an id, but
/// the stop of hosting around it may not.
#[derive(Debug, Default)]
pub(crate) struct LayerStops(HashMap<ThreadHandle, OpenActivityKey>);

impl LayerStops {
    /// Notes the stop of a request's layer.
    pub(crate) fn stopped(&mut self, thread: ThreadHandle, request: OpenActivityKey) {
        if self.0.len() >= MAX_THREADS {
            self.0.clear();
        }
        self.0.insert(thread, request);
    }

    /// Returns a hint at the request that a stop without an id ends: the one whose layer has just
    /// stopped on the thread, else the last one that started there, if the call that wrote the
    /// start has not returned. `newest`: last request of the thread, and the stack of its start.
    pub(crate) fn hint(
        &mut self,
        thread: ThreadHandle,
        newest: Option<(OpenActivityKey, StackHandle)>,
        stack: Option<StackHandle>,
        model: &Model,
    ) -> Hint {
        let layer = self.0.remove(&thread);
        let addresses = |stack| model.addresses(stack);
        let stacks =
            newest.zip(stack).map(|((key, start), stop)| (key, addresses(start), addresses(stop)));
        let known = stacks.filter(|(_, start, stop)| !start.is_empty() && !stop.is_empty());
        let (here, is_elsewhere) = match known {
            Some((key, start, stop)) if is_inside(start, stop, MAX_OWN_FRAMES) => {
                (Some(key), false)
            }
            Some(_) => (None, true),
            None => (None, false),
        };
        Hint { ends: layer.or(here), is_elsewhere, is_only: true }
    }
}

/// Open request, or a layer of one.
#[derive(Debug)]
pub(crate) struct BegunRequest {
    number: u64,
    facts: HttpFacts,
    layer_of: Option<OpenActivityKey>,
    is_error: bool,
    mark: u128,
    /// Stack of the start; `None` if the caller gave none.
    stack: Option<StackHandle>,
    /// Request around an outgoing one.
    around: Option<OpenActivityKey>,
}

impl MaybeRequest for BegunRequest {
    fn http(&self) -> Option<&HttpFacts> {
        Some(&self.facts)
    }

    fn layer_of(&self) -> Option<OpenActivityKey> {
        self.layer_of
    }

    fn caller(&self) -> Option<OpenActivityKey> {
        self.around
    }

    fn stack(&self) -> Option<StackHandle> {
        self.stack
    }
}

/// Request that has stopped.
#[derive(Debug)]
pub(crate) struct EndedRequest {
    /// Number of the request, in the order of starts.
    pub(crate) number: u64,
    pub(crate) facts: HttpFacts,
    pub(crate) start_ns: i64,
    /// Duration in nanoseconds; `None` if unknown.
    pub(crate) duration_ns: Option<u64>,
    pub(crate) is_error: bool,
    /// Bits of the marks of all events about the request.
    pub(crate) mark: u128,
}

impl OpenRequests {
    /// Processes the next event. Returns the requests whose end is known with it: one, or several
    /// that have one id and have all stopped now. `mark`: bits of the caller's choice, which a
    /// request collects from its events; `stack`: stack of the event, needed for
    /// [`request_for`](Self::request_for).
    pub(crate) fn event(
        &mut self,
        event: &Event<'_>,
        moment: &Moment,
        mark: u128,
        stack: Option<StackHandle>,
        model: &Model,
    ) -> Vec<EndedRequest> {
        self.is_layer = false;
        let at = moment.edge(event);
        let Some(edge) = moment.activity_edge(event) else {
            if let Some(request) = self.open.failed_mut(event, at.thread) {
                request.what.is_error = true;
                request.what.mark |= mark;
            }
            return Vec::new();
        };
        let facts = moment.http_facts(event);
        if edge.is_listener && self.listener(edge, facts, at.thread, mark) {
            self.is_layer = true;
            return Vec::new();
        }
        let Some(facts) = facts else {
            self.span(edge, at.thread);
            return Vec::new();
        };
        let Some(name) = self.names.intern_up_to(&edge.name, MAX_NAMES) else { return Vec::new() };
        if edge.is_start {
            self.start(event, edge, name, facts, at, mark, stack);
            Vec::new()
        } else {
            self.stop(edge, name, facts, at, mark, stack, model)
        }
    }

    /// Returns the number of the next request or layer that starts.
    pub(crate) fn next_number(&self) -> u64 {
        self.started
    }

    /// Returns whether the last event was of a further layer of a known request.
    pub(crate) fn was_layer(&self) -> bool {
        self.is_layer
    }

    /// Adds what a listener reports of a request that a span reports as well. Returns false if no
    /// span does.
    fn listener(
        &mut self,
        edge: &ActivityEdge,
        facts: Option<&HttpFacts>,
        thread: ThreadHandle,
        mark: u128,
    ) -> bool {
        let place = match edge.is_start {
            true => self.twins.start(edge, thread),
            false => match self.twins.stop(edge, thread) {
                TwinStop::Of(place) => Some(place),
                TwinStop::Unclear => return true,
                TwinStop::Alone => None,
            },
        };
        let Some(place) = place else { return false };
        let Some(facts) = facts else { return true };
        for place in [Some(place), outermost_layer(&self.open, place)].into_iter().flatten() {
            if let Some(request) = self.open.at_mut(place) {
                request.what.is_error |= edge.is_error || facts.is_error();
                request.what.facts.join(facts);
                request.what.mark |= mark;
            }
        }
        true
    }

    #[allow(clippy::too_many_arguments, reason = "all that is known of a start")]
    fn start(
        &mut self,
        event: &Event<'_>,
        edge: &ActivityEdge,
        name: TextHandle,
        facts: &HttpFacts,
        at: Edge,
        mark: u128,
        stack: Option<StackHandle>,
    ) {
        let newest = self.newest.get(&at.thread).copied();
        let inside = requests_around(&self.open, edge, at.thread);
        let layer_of = request_of(&self.open, newest, edge, name, facts, inside);
        if layer_of.is_none() {
            self.newest.insert(at.thread, self.open.next_place(name));
            // A process may run for days and start many threads.
            if self.newest.len() >= MAX_THREADS {
                let open = &self.open;
                self.newest.retain(|_, place| open.at(*place).is_some());
                if self.newest.len() >= MAX_THREADS / 2 {
                    self.newest.clear();
                }
            }
        }
        self.is_layer = layer_of.is_some();
        let number = self.started;
        self.started = self.started.saturating_add(1);
        if let Some(request) = layer_of.and_then(|place| self.open.at_mut(place)) {
            request.what.facts.join(facts);
        }
        let is_error = edge.is_error;
        let is_out = facts.direction() == Some(HttpDirection::Out);
        let around = if is_out { self.by_ids(edge, at.thread).or(newest) } else { None };
        let facts = facts.clone();
        let begun = BegunRequest { number, facts, layer_of, is_error, mark, stack, around };
        if !edge.is_listener && event.known_provider() == KnownProvider::DiagnosticSource {
            self.twins.span(edge, at.thread, self.open.next_place(name));
        }
        // A request that makes room has lost its stop.
        let _ = self.open.start(edge, name, at, begun);
    }

    #[allow(clippy::too_many_arguments, reason = "all that is known of a stop")]
    fn stop(
        &mut self,
        edge: &ActivityEdge,
        name: TextHandle,
        facts: &HttpFacts,
        at: Edge,
        mark: u128,
        stack: Option<StackHandle>,
        model: &Model,
    ) -> Vec<EndedRequest> {
        let newest = self.newest.get(&at.thread).copied();
        let start = newest.and_then(|place| Some((place, self.open.at(place)?.what.stack?)));
        let hint = match facts.direction() {
            Some(_) => self.stops.hint(at.thread, start, stack, model),
            None => Hint::default(),
        };
        let StoppedActivities { own, others, .. } = self.open.stop_with(edge, name, at, hint);
        let own = own.and_then(|own| self.ended(own, (edge.is_error, facts.clone(), mark)));
        let mut all: Vec<EndedRequest> = own.into_iter().collect();
        // Nothing tells which of the stops was that of each of these.
        let nothing = || (false, HttpFacts::default(), 0);
        all.extend(others.into_iter().filter_map(|other| self.ended(other, nothing())));
        all
    }

    /// Returns a request that has stopped; `None` if it is a layer, whose facts its request takes.
    /// `result`: failure, facts and mark of its stop, as far as they are known.
    fn ended(
        &mut self,
        ended: ActivityInterval<BegunRequest>,
        result: (bool, HttpFacts, u128),
    ) -> Option<EndedRequest> {
        let (is_error, facts, mark) = result;
        let name = ended.what.name;
        self.twins.span_stopped((name, ended.what.number));
        let thread = ended.stop.thread;
        let duration_ns = ended.measured_nanos();
        let begun = ended.what.what;
        let is_error = begun.is_error || is_error || facts.is_error();
        let (mut joined, mark) = (begun.facts, begun.mark | mark);
        joined.join(&facts);
        let facts = joined;
        if let Some(place) = begun.layer_of {
            self.stops.stopped(thread, place);
        }
        let request = begun.layer_of.and_then(|place| self.open.at_mut(place));
        if let Some(request) = request {
            request.what.facts.join(&facts);
            request.what.is_error |= is_error;
            request.what.mark |= mark;
            return None;
        }
        // The stop of a layer may come after the stop of its request, which then counts nothing.
        let is_late = begun.layer_of.is_some();
        let start_ns = ended.start.nanos;
        let number = begun.number;
        (!is_late).then_some(EndedRequest { number, facts, start_ns, duration_ns, is_error, mark })
    }

    /// Keeps a span that may be inside a request.
    fn span(&mut self, edge: &ActivityEdge, thread: ThreadHandle) {
        let Some(id) = edge.id.as_ref().filter(|id| !id.is_path()) else { return };
        if !edge.is_start {
            self.spans.remove(id);
            return;
        }
        let Some(request) = self.by_ids(edge, thread) else { return };
        if self.spans.len() >= MAX_SPANS {
            // The stops of so many spans were lost.
            self.spans.clear();
        }
        self.spans.insert(id.clone(), request);
    }
}

impl FollowedRequests for OpenRequests {
    type Begun = BegunRequest;

    fn open(&self) -> &OpenActivities<BegunRequest> {
        &self.open
    }

    fn newest(&self, thread: ThreadHandle) -> Option<OpenActivityKey> {
        self.newest.get(&thread).copied()
    }

    fn by_ids(&self, edge: &ActivityEdge, thread: ThreadHandle) -> Option<OpenActivityKey> {
        let parent = edge.parent.as_ref();
        let of_span = || parent.and_then(|parent| self.spans.get(parent)).copied();
        requests_around(&self.open, edge, thread).next().or_else(of_span)
    }

    fn number_and_facts(request: &OpenActivity<BegunRequest>) -> Option<(u64, &HttpFacts)> {
        Some((request.what.number, &request.what.facts))
    }

    fn requests_ended_by(
        &mut self,
        event: &Event<'_>,
        moment: &Moment,
        model: &mut Model,
    ) -> Vec<(u64, HttpFacts)> {
        let edge = moment.activity_edge(event);
        let stack = edge.map(|_| model.stack_of(event, moment.thread));
        let ended = self.event(event, moment, 0, stack, model);
        ended.into_iter().map(|ended| (ended.number, ended.facts)).collect()
    }
}
