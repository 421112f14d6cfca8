//! HTTP requests among the activities: what a request is a layer of, which one is around it, and
//! what its end adds to the view of requests.

use super::served::StoppedRequest;
use super::serving::Serving;
use super::view::{ActivitySite, OutgoingCalls, Slow, Wanted};
use super::{Activities, BegunActivity, Moment};
use crate::model::activity_edge::ActivityEdge;
use crate::model::activity_edge::http_facts::{HttpDirection, HttpFacts};
use crate::model::activity_id::ActivityId;
use crate::model::intervals::{Hint, OpenActivities, OpenActivity, OpenActivityKey};
use crate::model::{Model, StackHandle, TextHandle, ThreadHandle};
use crate::report::occurrence::Lasted;
use crate::report::requests::{
    ConnectionUse, FollowedRequests, HttpPhases, PhaseClock, PhaseMark, request_of,
    requests_around, requests_on_path,
};
use nettrace_parser::Event;

/// Maximum number of requests around a request that are searched.
const DEEPEST_REQUEST: usize = 32;

/// HTTP request, or a layer of one.
#[derive(Debug)]
pub(super) struct Request {
    /// Node in the tree of requests.
    pub(super) node: usize,
    pub(super) facts: HttpFacts,
    /// Facts of the request and of its layers.
    pub(super) joined: HttpFacts,
    /// Target under which the request is counted; `None` while unknown.
    pub(super) label: Option<TextHandle>,
    /// Request that this one is a layer of.
    pub(super) layer_of: Option<OpenActivityKey>,
    /// Request around this one.
    pub(super) around: Option<OpenActivityKey>,
    /// Key of the request among the open activities.
    pub(super) key: OpenActivityKey,
    /// Incoming request around an incoming one; `None` unless the times of threads are wanted.
    pub(super) inside: Option<OpenActivityKey>,
    /// Request around an outgoing one, by ids or else by thread.
    pub(super) caller: Option<OpenActivityKey>,
    pub(super) is_error: bool,
    /// Whether the times in which threads worked for the request are not known up to its end.
    pub(super) is_cut: bool,
    /// Incoming requests of the process that served this outgoing one.
    pub(super) served_by: Vec<Serving>,
    /// Whether this incoming request served an outgoing one of the process.
    pub(super) is_serving: bool,
    /// Outgoing requests inside this one.
    pub(super) calls: OutgoingCalls,
    /// What an outgoing request reports besides; `None` for incoming requests, layers, and if the
    /// events of several requests cannot be told apart.
    pub(super) outgoing: Option<Box<Outgoing>>,
}

/// Phases and connection of an outgoing request.
#[derive(Debug)]
pub(super) struct Outgoing {
    phases: PhaseClock,
    connection: ConnectionUse,
}

/// Phases and connection of an outgoing request that has stopped, or sums of several.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OutgoingSums {
    pub(super) phases: HttpPhases,
    /// Number of requests that opened a connection.
    pub(super) connections: u64,
    /// Number of those that could have used an open one.
    pub(super) needless_connections: u64,
}

impl OutgoingSums {
    pub(super) fn merge(&mut self, other: &OutgoingSums) {
        self.phases.merge(&other.phases);
        self.connections = self.connections.saturating_add(other.connections);
        self.needless_connections =
            self.needless_connections.saturating_add(other.needless_connections);
    }
}

impl Request {
    /// Returns whether this is an incoming request, and no layer of another.
    pub(super) fn is_incoming(&self) -> bool {
        self.layer_of.is_none() && self.facts.direction() == Some(HttpDirection::In)
    }

    pub(super) fn site(
        &self,
        label: TextHandle,
        is_nested: bool,
        stack: StackHandle,
    ) -> ActivitySite {
        let is_layer = self.layer_of.is_some();
        ActivitySite { node: self.node, label, is_layer, is_nested, stack }
    }
}

impl Activities {
    /// Returns a starting activity as an HTTP request. Requests are followed even if no view of them
    /// is wanted, because a stop without an id ends the request that its thread or layer tells.
    /// `reported`: request around it that its ids tell; `within`: innermost request around its parent.
    pub(super) fn begin_request(
        &mut self,
        edge: &ActivityEdge,
        name: TextHandle,
        facts: &HttpFacts,
        [reported, within]: [Option<OpenActivityKey>; 2],
        moment: &Moment,
        model: &mut Model,
    ) -> Request {
        let newest = self.requests.get(&moment.thread).copied();
        let on_path = requests_on_path(&self.open, edge, moment.thread);
        let mut inside = reported.into_iter().chain(on_path);
        let nearest = inside.next();
        let inside = nearest.into_iter().chain(inside);
        let layer_of = request_of(&self.open, newest, edge, name, facts, inside);
        let around = layer_of.or(nearest).or(within);
        let of_around = around.and_then(|place| self.open.at(place)?.what.request.as_ref());
        let above = of_around.map(|around| around.node);
        let node = self.http.as_mut().map_or(0, |http| http.tree.node(above, name));
        let label = facts.label_in(model.texts_mut());
        match layer_of {
            Some(place) => {
                if let Some(request) = self.request_mut(place) {
                    request.label = request.label.or(label);
                    request.joined.join(facts);
                }
            }
            None => {
                // The request is opened next, so its key is the next one.
                self.requests.insert(moment.thread, self.open.next_place(name));
            }
        }
        let has_phases = self.http.is_some()
            && layer_of.is_none()
            && facts.direction() == Some(HttpDirection::Out);
        let outgoing = has_phases.then(|| {
            let target = facts.target().unwrap_or_default();
            let connection = self.connections.start(target, moment.nanos);
            Box::new(Outgoing { phases: PhaseClock::new(moment.nanos), connection })
        });
        let is_inside = self.served.is_some()
            && layer_of.is_none()
            && facts.direction() == Some(HttpDirection::In);
        Request {
            node,
            key: self.open.next_place(name),
            inside: around.filter(|_| is_inside).and_then(|place| self.incoming_around(place)),
            facts: facts.clone(),
            joined: facts.clone(),
            label,
            layer_of,
            around,
            caller: around.or(newest).filter(|_| facts.direction() == Some(HttpDirection::Out)),
            is_error: edge.is_error,
            is_cut: false,
            served_by: Vec::new(),
            is_serving: false,
            calls: OutgoingCalls::default(),
            outgoing,
        }
    }

    /// Returns a hint at the request that a stop without an id ends.
    pub(super) fn hint(
        &mut self,
        event: &Event<'_>,
        edge: &ActivityEdge,
        moment: &Moment,
        model: &mut Model,
    ) -> Hint {
        let newest = self.requests.get(&moment.thread).copied();
        let start = newest.and_then(|place| Some((place, self.open.at(place)?.what.stack)));
        let is_unclear = edge.id.is_none() || edge.may_repeat;
        let stack = is_unclear.then(|| model.stack_of(event, moment.thread));
        self.stops.hint(moment.thread, start, stack, model)
    }

    /// Keeps a request that has ended for other reports. The facts of a layer are those of its
    /// request; if that has ended before, they are late. `facts`: those of the stop.
    pub(super) fn note_ended(
        &mut self,
        ended: &OpenActivity<BegunActivity>,
        facts: Option<&HttpFacts>,
    ) {
        let Some(request) = &ended.what.request else { return };
        match (request.layer_of, &mut self.ended_requests) {
            (Some(place), _) => {
                if let Some(outer) = self.request_mut(place) {
                    outer.joined.join(&request.joined);
                    facts.into_iter().for_each(|facts| outer.joined.join(facts));
                }
            }
            (None, Some(all)) => {
                let mut joined = request.joined.clone();
                facts.into_iter().for_each(|facts| joined.join(facts));
                all.push((ended.number, joined));
            }
            (None, None) => {}
        }
    }

    pub(super) fn request_mut(&mut self, place: OpenActivityKey) -> Option<&mut Request> {
        self.open.at_mut(place)?.what.request.as_mut()
    }

    /// Notes an event that begins or ends a phase of an outgoing request. If it may belong to one of
    /// several requests, the phases of none of them are known.
    pub(super) fn mark_phase(&mut self, event: &Event<'_>, mark: PhaseMark, moment: &Moment) {
        let Some(id) = ActivityId::of_event(event) else { return };
        let requests = self.open.all_of_id(&id, |activity| activity.request.is_some());
        let requests = requests.into_iter().filter_map(|place| {
            let request = self.open.at(place)?.what.request.as_ref()?;
            Some(request.layer_of.unwrap_or(place))
        });
        let mut requests: Vec<OpenActivityKey> = requests.collect();
        requests.sort_unstable();
        requests.dedup();
        let is_clear = requests.len() == 1;
        for place in requests {
            let request = self.open.at_mut(place).and_then(|open| open.what.request.as_mut());
            let Some(request) = request else { continue };
            match &mut request.outgoing {
                Some(outgoing) if is_clear => {
                    if mark.opens_connection() {
                        self.connections.opens(&mut outgoing.connection);
                    }
                    outgoing.phases.mark(mark, moment.nanos);
                }
                outgoing => {
                    if let Some(outgoing) = outgoing.take() {
                        self.connections.stop(&outgoing.connection, moment.nanos);
                    }
                }
            }
        }
    }

    /// Ends what an outgoing request reports of its phases and connection.
    pub(super) fn outgoing_stopped(&mut self, outgoing: Box<Outgoing>, nanos: i64) -> OutgoingSums {
        self.connections.stop(&outgoing.connection, nanos);
        let (has_opened, is_needless) = outgoing.connection.outcome();
        OutgoingSums {
            phases: outgoing.phases.stop(nanos).unwrap_or_default(),
            connections: u64::from(has_opened),
            needless_connections: u64::from(is_needless),
        }
    }

    pub(super) fn request_stopped(
        &mut self,
        mut request: Request,
        name: TextHandle,
        stack: StackHandle,
        slow: &Slow,
        wanted: Option<Box<Wanted>>,
    ) {
        let label = request.label.unwrap_or(name);
        let site = request.site(label, self.is_nested(&request, label), stack);
        let stop = slow.start.saturating_add_unsigned(slow.duration);
        let outgoing = request.outgoing.take().map(|it| self.outgoing_stopped(it, stop));
        let outgoing = outgoing.unwrap_or_default();
        if request.facts.direction() == Some(HttpDirection::Out) {
            self.count_call(request.around, label, slow.duration);
        }
        if request.facts.direction() == Some(HttpDirection::In)
            && let Some(served) = self.served.as_mut().filter(|it| it.is_of_requests())
        {
            let ended = StoppedRequest {
                label,
                key: request.key,
                inside: request.inside,
                start_nanos: slow.start,
                end_nanos: stop,
            };
            served.add(ended, &slow.threads, request.is_cut);
        }
        let Some(http) = &mut self.http else { return };
        let phases = (outgoing.phases.requests > 0).then_some(outgoing.phases);
        let served_by = request.served_by;
        let wanted = wanted
            .map(|wanted| Box::new(Wanted { phases, served_by: served_by.clone(), ..*wanted }));
        http.wanted = http.wanted.take().or(wanted);
        http.note(site, slow.start, Lasted::Nanos(slow.duration), request.is_error);
        let stats = http.count(site, request.facts.direction(), request.is_error);
        if let Some(kept) = stats.stopped(slow, request.facts.status, self.top) {
            (kept.is_error, kept.phases, kept.served_by) = (request.is_error, phases, served_by);
        }
        stats.calls.merge(&request.calls);
        stats.outgoing.merge(&outgoing);
    }

    /// Counts an outgoing call for the incoming request around it. A call inside another call is
    /// not counted.
    fn count_call(&mut self, around: Option<OpenActivityKey>, label: TextHandle, nanos: u64) {
        let mut around = around;
        for _ in 0..DEEPEST_REQUEST {
            let Some(request) = around.and_then(|place| self.request_mut(place)) else { return };
            if request.layer_of.is_some() {
                around = request.layer_of;
            } else {
                if request.facts.direction() == Some(HttpDirection::In) {
                    request.calls.add(label, nanos);
                }
                return;
            }
        }
    }

    /// Returns the incoming request that an open request is, is a layer of, or lies in.
    fn incoming_around(&self, place: OpenActivityKey) -> Option<OpenActivityKey> {
        let mut around = Some(place);
        for _ in 0..DEEPEST_REQUEST {
            let place = around?;
            let request = self.open.at(place)?.what.request.as_ref()?;
            if request.is_incoming() {
                return Some(place);
            }
            around = request.layer_of.or(request.around);
        }
        None
    }

    /// Returns whether a request is inside another one with the same label.
    pub(super) fn is_nested(&self, request: &Request, label: TextHandle) -> bool {
        let mut around = request.around;
        for _ in 0..DEEPEST_REQUEST {
            let of_around = around.and_then(|place| self.open.at(place)?.what.request.as_ref());
            let Some(of_around) = of_around else { return false };
            if of_around.label == Some(label) {
                return true;
            }
            around = of_around.layer_of.or(of_around.around);
        }
        false
    }

    /// Counts the duration of a request as one of its layers reports it, and adds the layer's other
    /// facts to the request.
    pub(super) fn layer_stopped(
        &mut self,
        request: OpenActivityKey,
        layer: &Request,
        name: TextHandle,
        stack: StackHandle,
        duration: u64,
        status: Option<i64>,
    ) {
        let mut label = layer.label;
        if let Some(request) = self.request_mut(request) {
            request.label = request.label.or(label);
            label = request.label;
            request.is_error |= layer.is_error;
            request.facts.status = request.facts.status.or(status);
        }
        if let Some(http) = &mut self.http {
            let site = layer.site(label.unwrap_or(name), false, stack);
            http.count(site, None, layer.is_error).durations.add(duration);
        }
    }
}

impl FollowedRequests for Activities {
    type Begun = BegunActivity;

    fn open(&self) -> &OpenActivities<BegunActivity> {
        &self.open
    }

    fn newest(&self, thread: ThreadHandle) -> Option<OpenActivityKey> {
        self.requests.get(&thread).copied()
    }

    fn by_ids(&self, edge: &ActivityEdge, thread: ThreadHandle) -> Option<OpenActivityKey> {
        let of_span = || {
            let span = self.open.parent_place(None, edge.parent.as_ref(), thread)?;
            self.open.at(span)?.what.within
        };
        requests_around(&self.open, edge, thread).next().or_else(of_span)
    }

    fn number_and_facts(activity: &OpenActivity<BegunActivity>) -> Option<(u64, &HttpFacts)> {
        Some((activity.number, &activity.what.request.as_ref()?.joined))
    }

    fn requests_ended_by(
        &mut self,
        _event: &Event<'_>,
        _moment: &Moment,
        _model: &mut Model,
    ) -> Vec<(u64, HttpFacts)> {
        self.ended_requests.as_mut().map(std::mem::take).unwrap_or_default()
    }
}
