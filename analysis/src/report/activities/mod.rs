//! Activities: operations with a start and a stop, among them HTTP requests.
//!
//! Sources are events of any EventSource whose opcode is Start or Stop or whose name ends so, and
//! starts and stops of `Microsoft-Diagnostics-DiagnosticSource`, such as those of HTTP, Kestrel and
//! databases. Starts and stops of the runtime, of tasks and of metrics belong to other reports.
//!
//! [`OpenActivities`] matches stops with starts. The parent of an activity is the activity that its
//! start refers to (related activity id, `ParentId`), or the nearest open activity on the path that
//! its id encodes.
//!
//! The report of HTTP requests is another view of these matches: a request is counted by target,
//! and once, however many layers of the program report it.

mod awaiting;
mod chosen;
mod chosen_spans;
mod document;
mod fields;
mod name;
mod parts;
mod request;
mod served;
mod serving;
mod tree;
mod unpaired;
mod view;

pub use chosen_spans::ActivityChoice;
pub use document::{
    ActivitiesReport, ActivityCalls, ActivityEvent, ActivityLayer, ActivityLine, ActivityNode,
    ActivityRow, RequestStep, SlowActivity, StatusCount, StepKind, Unpaired,
};
pub use name::ActivityName;
pub(crate) use parts::ProfiledAwait;
pub use parts::{Doing, Parts, Stretch};
pub use serving::ServingRequest;

use super::contract::{DEFAULT_ROWS, Moment, Recording, Report};
use super::occurrence::{Lasted, Occurrence};
use super::requests::{Connections, LayerStops, MaybeRequest, PhaseMarks};
use crate::hash::HashMap;
use crate::model::activity_edge::ActivityEdge;
use crate::model::activity_edge::http_facts::{HttpDirection, HttpFacts};
use crate::model::activity_id::{ActivityId, WantedId};
use crate::model::intervals::{
    ActivityInterval, Bounds, Hint, Interval, OpenActivities, OpenActivityKey, StoppedActivities,
    TwinStop, Twins,
};
use crate::model::{Model, Resolved, StackHandle, TextHandle, ThreadHandle};
use awaiting::{AwaitingActivities, EndedActivity};
use chosen::ChosenActivity;
use chosen_spans::ChosenSpans;
use fields::KeptFields;
use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;
use parts::{AccountNumber, PartTracker};
use request::Request;
use served::{ServedRequests, StoppedRequest};
use serving::AnsweredCall;
use std::collections::BTreeSet;
use view::{ActivitySite, ActivityView, Slow, Wanted};

/// Computes an [`ActivitiesReport`]. Memory is bounded by the number of names, stacks and
/// open activities.
#[derive(Debug)]
pub struct Activities {
    open: OpenActivities<BegunActivity>,
    /// View of all activities; `None` if only requests are wanted.
    all: Option<ActivityView>,
    /// View of HTTP requests; `None` if they are not wanted.
    http: Option<ActivityView>,
    /// Last request that started on each thread.
    requests: HashMap<ThreadHandle, OpenActivityKey>,
    stops: LayerStops,
    connections: Connections,
    phase_marks: PhaseMarks,
    /// Requests that have ended and that no other report has taken; `None` if none asks.
    ended_requests: Option<Vec<(u64, HttpFacts)>>,
    /// Incoming requests that have stopped and served outgoing ones.
    answered: HashMap<OpenActivityKey, AnsweredCall>,
    twins: Twins,
    awaiting: AwaitingActivities,
    /// Tracker of the parts of activities' time; `None` if parts are not wanted.
    parts: Option<PartTracker>,
    /// Activity that the user chose; `None` if none is wanted.
    chosen: Option<ChosenActivity>,
    /// Times in which threads worked for incoming requests; `None` if they are not wanted.
    served: Option<ServedRequests>,
    /// Times of the activities to which a further pass is limited; `None` if they are not wanted.
    chosen_spans: Option<ChosenSpans>,
    /// Name of the activities whose slowest are listed; `None` lists those of all.
    slowest_of: Option<String>,
    top: usize,
    /// Whether the slowest activities have the fields of their starts as text.
    has_fields: bool,
    used: u64,
}

/// Maximum number of spans of threads of an activity that a page shows.
#[cfg_attr(not(feature = "page"), allow(dead_code, reason = "only the page shows them"))]
const MAX_PAGE_SPANS: usize = 50;

/// Open activity, without the members used for matching.
#[derive(Debug)]
pub(crate) struct BegunActivity {
    /// Node in the tree of all activities.
    node: usize,
    stack: StackHandle,
    is_selected: bool,
    is_error: bool,
    /// Whether a further pass is limited to the activity, as far as its start tells.
    is_chosen: bool,
    fields: KeptFields,
    /// Number in the tracker of parts.
    part: Option<AccountNumber>,
    request: Option<Request>,
    /// Innermost request around the activity.
    within: Option<OpenActivityKey>,
    /// Innermost activity around it whose name is chosen in place of requests.
    inside: Option<OpenActivityKey>,
    /// Id of the activity around it, which is not known to have started.
    awaited: Option<ActivityId>,
}

impl MaybeRequest for BegunActivity {
    fn http(&self) -> Option<&HttpFacts> {
        self.request.as_ref().map(|request| &request.facts)
    }

    fn layer_of(&self) -> Option<OpenActivityKey> {
        self.request.as_ref()?.layer_of
    }

    fn caller(&self) -> Option<OpenActivityKey> {
        self.request.as_ref()?.caller
    }

    fn stack(&self) -> Option<StackHandle> {
        Some(self.stack)
    }
}

impl Default for Activities {
    /// Reports all activities and lists the 20 slowest.
    fn default() -> Activities {
        Activities {
            open: OpenActivities::default(),
            all: Some(ActivityView::default()),
            http: None,
            requests: HashMap::default(),
            stops: LayerStops::default(),
            connections: Connections::default(),
            phase_marks: PhaseMarks::default(),
            ended_requests: None,
            answered: HashMap::default(),
            twins: Twins::default(),
            awaiting: AwaitingActivities::default(),
            parts: Some(PartTracker::default()),
            chosen: None,
            served: None,
            chosen_spans: None,
            slowest_of: None,
            top: DEFAULT_ROWS,
            has_fields: true,
            used: 0,
        }
    }
}

impl Activities {
    /// Reports only HTTP requests, by target.
    pub(crate) fn only_http(self) -> Activities {
        Activities { all: None, ..self.with_http() }
    }

    /// Reports HTTP requests, too, in [`ActivitiesReport::http`].
    #[must_use]
    pub(crate) fn with_http(self) -> Activities {
        Activities { http: Some(ActivityView::default()), ..self }
    }

    /// Lists only the slowest activities of this name.
    pub(crate) fn slowest_of(self, name: String) -> Activities {
        Activities { slowest_of: Some(name), ..self }
    }

    /// Returns the id of the activity whose events are listed.
    pub(crate) fn requested(&self) -> Option<&WantedId> {
        self.chosen.as_ref().map(|chosen| &chosen.id)
    }

    /// Keeps each activity and request that ends, for [`Activities::take_ended`].
    #[must_use]
    #[cfg_attr(not(feature = "page"), allow(dead_code, reason = "only the page shows them"))]
    pub(crate) fn with_each(mut self) -> Activities {
        for view in [&mut self.all, &mut self.http].into_iter().flatten() {
            view.ended = Some(Vec::new());
        }
        self.parts = self.parts.map(|parts| parts.with_threads(MAX_PAGE_SPANS));
        self
    }

    /// Keeps the times in which threads work for each incoming request, at most `max_spans`, in
    /// [`ActivitiesReport::request_spans`].
    #[must_use]
    pub(crate) fn with_request_spans(mut self, max_spans: usize) -> Activities {
        self.served = Some(ServedRequests::new(max_spans));
        self.parts = self.parts.map(|parts| parts.with_threads(usize::MAX));
        self
    }

    /// Keeps the times in which threads work for each activity of these names, as
    /// [`with_request_spans`](Activities::with_request_spans) does for requests.
    #[must_use]
    pub(crate) fn with_spans_of_names(
        mut self,
        max_spans: usize,
        names: BTreeSet<String>,
    ) -> Activities {
        self = self.with_request_spans(max_spans);
        self.served = self.served.map(|served| served.of_names(names));
        self
    }

    /// Keeps the times of the chosen activities in [`ActivitiesReport::chosen_spans`].
    #[must_use]
    pub(crate) fn with_spans_of(mut self, choice: ActivityChoice) -> Activities {
        self.chosen_spans = Some(ChosenSpans::new(choice));
        self.parts = self.parts.map(|parts| parts.with_threads(usize::MAX));
        self
    }

    /// Returns the activities and the requests that have ended since the last call. Unfinished ones
    /// are in the report.
    pub(crate) fn take_ended(&mut self) -> [Vec<Occurrence>; 2] {
        [&mut self.all, &mut self.http]
            .map(|view| view.as_mut().and_then(|view| view.ended.as_mut()))
            .map(|ended| ended.map(std::mem::take).unwrap_or_default())
    }

    /// Creates the report without the parts of activities' time.
    pub(crate) fn without_parts() -> Activities {
        Activities { parts: None, ..Activities::default() }
    }

    /// Keeps requests that end, for a report that takes them at each event.
    pub(crate) fn with_ended_requests(self) -> Activities {
        Activities { ended_requests: Some(Vec::new()), ..self }
    }

    /// Leaves out the fields of the slowest activities.
    pub(crate) fn without_fields(self) -> Activities {
        Activities { has_fields: false, ..self }
    }

    /// Lists the events of the first activity with this id and of activities inside it. The id is a
    /// path, a GUID, or an id of DiagnosticSource. With `@` and the start in nanoseconds after it,
    /// as in [`SlowActivity::key`], it is that of one of several activities with the id.
    #[must_use]
    pub fn events_of(self, id: &str) -> Activities {
        Activities { chosen: Some(ChosenActivity::new(WantedId::new(id))), ..self }
    }

    /// Returns the name of the open activity that an event belongs to.
    pub(crate) fn name_of(&self, event: &Event<'_>, thread: ThreadHandle) -> Option<TextHandle> {
        let place = self.open.of_id(&ActivityId::of_event(event)?, thread, |_| true)?;
        self.open.at(place).map(|activity| activity.name)
    }

    fn start(
        &mut self,
        event: &Event<'_>,
        edge: &ActivityEdge,
        facts: Option<&HttpFacts>,
        moment: &Moment,
        model: &mut Model,
    ) {
        let name = moment.activity_name(edge, model);
        let (parent, reported) = self.parents_of(edge, facts, moment.thread);
        let around = parent.and_then(|place| Some((place, self.open.at(place)?)));
        let within = around.and_then(|(place, around)| match around.what.request {
            Some(_) => Some(place),
            None => around.what.within,
        });
        let inside = self.served.as_ref().zip(around).and_then(|(served, (place, around))| {
            let is_chosen = served.is_of(around.name, model.texts());
            if is_chosen { Some(place) } else { around.what.inside }
        });
        let request = facts
            .map(|facts| self.begin_request(edge, name, facts, [reported, within], moment, model));
        let around = parent.and_then(|place| self.open.at(place)).map(|around| &around.what);
        let node = self.all.as_mut().map_or(0, |all| all.tree.node(around.map(|it| it.node), name));
        let is_shown =
            self.all.is_some() || request.as_ref().is_some_and(|it| it.layer_of.is_none());
        let key = self.open.next_place(name);
        let chosen = self.chosen.as_mut().filter(|_| is_shown);
        let is_wanted = chosen.is_some_and(|chosen| chosen.started(edge, key, moment));
        let may_repeat = if edge.path.is_some() { edge.path_may_repeat } else { edge.may_repeat };
        let above = around.and_then(|around| around.part);
        let part = self
            .parts
            .as_mut()
            // What a thread did before the stop is not known any more.
            .filter(|_| edge.whole_nanos.is_none())
            .map(|parts| {
                let id = edge.flowing_id().cloned();
                parts.start(event, moment, id, above, may_repeat, is_wanted)
            });
        let begun = BegunActivity {
            node,
            stack: model.stack_of(event, moment.thread),
            is_selected: moment.is_selected,
            is_error: edge.is_error,
            is_chosen: match &mut self.chosen_spans {
                Some(chosen) => chosen.started(event, edge, moment),
                None => false,
            },
            fields: match moment.is_selected && is_shown && self.has_fields && self.top > 0 {
                true => KeptFields::new(event, moment),
                false => KeptFields::None,
            },
            part,
            request,
            within,
            inside,
            awaited: edge.parent.clone().filter(|_| edge.whole_nanos.is_some() && parent.is_none()),
        };
        if !edge.is_listener && event.known_provider() == KnownProvider::DiagnosticSource {
            self.twins.span(edge, moment.thread, self.open.next_place(name));
        }
        let request = begun.request.as_ref();
        let incoming =
            request.filter(|request| request.facts.direction() == Some(HttpDirection::In));
        let incoming = incoming.map(|request| request.layer_of.unwrap_or(key));
        if let Some(lost) = self.open.start(edge, name, moment.edge(event), begun) {
            if let (Some(parts), Some(part)) = (&mut self.parts, lost.what.what.part) {
                parts.stop(part, event, moment);
            }
            self.never_stopped(&lost);
        }
        if let Some(incoming) = incoming {
            self.note_serving(edge, moment.thread, incoming);
        }
    }

    /// Returns the open activity that is the parent of a new one, and, if that is a request, the
    /// request around it that its ids tell.
    fn parents_of(
        &self,
        edge: &ActivityEdge,
        facts: Option<&HttpFacts>,
        thread: ThreadHandle,
    ) -> (Option<OpenActivityKey>, Option<OpenActivityKey>) {
        let (id, named) = (edge.id.as_ref(), edge.parent.as_ref());
        let is_request = |activity: &BegunActivity| activity.request.is_some();
        let (parent, request) = match facts {
            Some(_) => self.open.parents(id, named, thread, is_request),
            None => (self.open.parent_place(id, named, thread), None),
        };
        let on_path = || self.open.parent_place(edge.path.as_ref(), None, thread);
        (parent.or_else(on_path), request)
    }

    /// Adds what a listener reports of an activity that a span reports as well. Returns false if no
    /// span does.
    fn take_listener_event(
        &mut self,
        edge: &ActivityEdge,
        facts: Option<&HttpFacts>,
        moment: &Moment,
        model: &mut Model,
    ) -> bool {
        let place = match edge.is_start {
            true => self.twins.start(edge, moment.thread),
            false => match self.twins.stop(edge, moment.thread) {
                TwinStop::Of(place) => Some(place),
                TwinStop::Unclear => return true,
                TwinStop::Alone => None,
            },
        };
        let Some(place) = place else { return false };
        let Some(facts) = facts else { return true };
        let layer_of = self.request_mut(place).and_then(|request| request.layer_of);
        for place in [Some(place), layer_of].into_iter().flatten() {
            let Some(request) = self.request_mut(place) else { continue };
            request.is_error |= edge.is_error || facts.is_error();
            request.facts.join(facts);
            request.joined.join(facts);
            request.label = request.label.or_else(|| request.facts.label_in(model.texts_mut()));
        }
        true
    }

    fn stop(
        &mut self,
        event: &Event<'_>,
        edge: &ActivityEdge,
        facts: Option<&HttpFacts>,
        moment: &Moment,
        model: &mut Model,
    ) {
        let name = moment.activity_name(edge, model);
        if let Some((start, nanos)) = self.open.unseen_start(edge, name, moment.nanos) {
            self.start(event, &start, facts, &moment.at_nanos(nanos), model);
        }
        let hint = match facts.and_then(HttpFacts::direction) {
            Some(_) => self.hint(event, edge, moment, model),
            None => Hint::default(),
        };
        let stopped = self.open.stop_with(edge, name, moment.edge(event), hint);
        let StoppedActivities { has_start, own, others, shared } = stopped;
        for stopped in own.iter().chain(&others) {
            self.twins.span_stopped((name, stopped.what.number));
            let request = stopped.what.what.request.as_ref();
            if let Some(place) = request.and_then(|request| request.layer_of) {
                self.stops.stopped(moment.thread, place);
            }
        }
        if let Some(own) = &own {
            self.note_ended(&own.what, facts);
        }
        others.iter().for_each(|other| self.note_ended(&other.what, None));
        if moment.is_selected {
            let has_request = match &own {
                Some(own) => own.what.what.request.is_some(),
                None => has_start,
            };
            self.count_stop(has_start, facts.is_some(), has_request);
        }
        if let Some(own) = own {
            self.ended(own, event, Some((edge, facts)), moment, model);
        }
        if others.is_empty() {
            return;
        }
        let (unclear, known): (Vec<_>, Vec<_>) =
            others.into_iter().partition(|other| other.bounds == Bounds::StopShared);
        for other in known {
            self.ended(other, event, None, moment, model);
        }
        if !unclear.is_empty() {
            self.ended_unclearly(unclear, shared, event, moment);
        }
    }

    /// Counts an activity that has stopped. `stop`: its stop, if it is the event's.
    fn ended(
        &mut self,
        stopped: ActivityInterval<BegunActivity>,
        event: &Event<'_>,
        stop: Option<(&ActivityEdge, Option<&HttpFacts>)>,
        moment: &Moment,
        model: &mut Model,
    ) {
        let facts = stop.and_then(|(_, facts)| facts);
        let is_error = stop.is_some_and(|(edge, _)| edge.is_error);
        let Interval { start, nanos: duration, what: activity, .. } = stopped;
        let name = activity.name;
        let parts = self.parts.as_mut().zip(activity.what.part);
        let (parts, (threads, is_cut)) = parts
            .map(|(parts, part)| {
                let totals = parts.stop(part, event, moment);
                (Some(totals), parts.take_threads())
            })
            .unwrap_or_default();
        let begun = activity.what;
        if !begun.is_selected || (self.all.is_none() && begun.request.is_none()) {
            return;
        }
        let chosen = self.chosen.as_mut();
        let wanted = chosen.and_then(|chosen| chosen.stopped((name, activity.number)));
        let wanted = wanted.map(|id| {
            Box::new(Wanted {
                label: name,
                id,
                start: activity.at.nanos,
                duration,
                parts: parts.clone().unwrap_or_default(),
                phases: None,
                served_by: Vec::new(),
            })
        });
        let slow = Slow {
            duration,
            start: start.nanos,
            thread: start.thread,
            stop_thread: moment.thread,
            start_event: activity.at.nanos,
            may_repeat: activity.may_repeat,
            id: activity.id,
            is_error: begun.is_error || is_error,
            parts,
            phases: None,
            served_by: Vec::new(),
            threads,
            fields: stop
                .filter(|_| self.has_fields)
                .and_then(|_| KeptFields::at_stop(event))
                .unwrap_or(begun.fields),
        };
        if let Some(spans) = &mut self.chosen_spans {
            let request = begun.request.as_ref().filter(|request| request.is_incoming());
            let label = |request: &Request| {
                let at_stop = || facts.and_then(|facts| facts.label_in(model.texts_mut()));
                request.label.or_else(at_stop).unwrap_or(name)
            };
            let (request, stop) = (request.map(label), stop.map(|_| event));
            let end = match stop {
                Some(_) => moment.nanos,
                None => slow.start.saturating_add_unsigned(slow.duration),
            };
            if spans.is_chosen(begun.is_chosen, name, stop, request, model.texts()) {
                spans.add(slow.thread, (slow.start, end), &slow.threads, is_cut);
            }
        }
        if let Some(served) = self.served.as_mut().filter(|it| it.is_of(name, model.texts())) {
            let (start_nanos, end_nanos) =
                (slow.start, slow.start.saturating_add_unsigned(slow.duration));
            let key = (name, activity.number);
            let ended =
                StoppedRequest { label: name, key, inside: begun.inside, start_nanos, end_nanos };
            // If ids tell no work for it, it is that of the thread of its start.
            let own = [(slow.thread, start_nanos, end_nanos)];
            let threads = if slow.threads.is_empty() { &own } else { &*slow.threads };
            served.add(ended, threads, is_cut);
        }
        if let Some(mut request) = begun.request {
            request.is_cut = is_cut;
            let label = request.label.unwrap_or(name);
            let wanted = wanted.clone().map(|wanted| Box::new(Wanted { label, ..*wanted }));
            request.is_error |= is_error || facts.is_some_and(HttpFacts::is_error);
            let label = facts.and_then(|facts| facts.label_in(model.texts_mut()));
            request.label = request.label.or(label);
            if request.is_serving {
                let label = request.label.unwrap_or(name);
                let answered = AnsweredCall { label, nanos: duration };
                self.has_answered((name, activity.number), answered);
            }
            request.facts.status = facts.and_then(|facts| facts.status).or(request.facts.status);
            let status = facts.and_then(|facts| facts.status);
            match request.layer_of {
                Some(place) => {
                    self.layer_stopped(place, &request, name, begun.stack, duration, status)
                }
                None => self.request_stopped(request, name, begun.stack, &slow, wanted),
            }
        }
        if let Some(all) = &mut self.all {
            all.wanted = all.wanted.take().or(wanted);
            let (node, stack, is_error) = (begun.node, begun.stack, slow.is_error);
            let site = ActivitySite { node, label: name, is_layer: false, is_nested: false, stack };
            all.note(site, slow.start, Lasted::Nanos(slow.duration), is_error);
            if begun.awaited.is_none() && self.awaiting.is_empty() {
                all.count(site, None, is_error).stopped(&slow, None, self.top);
                return;
            }
            let ended = EndedActivity { name, stack, is_error, slow };
            self.count_ended(begun.awaited, node, ended);
        }
    }

    /// Counts a stop whose start is missing, for activities and for requests.
    fn count_stop(&mut self, has_start: bool, is_of_request: bool, has_request: bool) {
        let lacking = [
            self.all.as_mut().filter(|_| !has_start),
            self.http.as_mut().filter(|_| is_of_request && !has_request),
        ];
        for view in lacking.into_iter().flatten() {
            view.stops_without_start = view.stops_without_start.saturating_add(1);
        }
    }

    /// Keeps an event of the chosen activity, after its start and before what comes after its stop.
    fn keep(
        &mut self,
        event: &Event<'_>,
        edge: Option<&ActivityEdge>,
        moment: &Moment,
        model: &Model,
    ) {
        let Some(chosen) = &mut self.chosen else { return };
        let is_carried =
            self.parts.as_ref().is_some_and(|parts| parts.carries_wanted(moment.thread));
        chosen.keep(event, edge, is_carried, moment, model);
    }

    /// Processes an event that may start or stop an activity, or that belongs to the chosen one.
    #[inline(never)]
    fn edge_event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool {
        if self.http.is_some()
            && let Some(mark) = self.phase_marks.read(event)
        {
            self.mark_phase(event, mark, moment);
        }
        let edge = moment.activity_edge(event);
        let facts = moment.http_facts(event);
        let is_about = if self.all.is_some() { edge.is_some() } else { facts.is_some() };
        match edge {
            Some(edge)
                if edge.is_listener && self.take_listener_event(edge, facts, moment, model) => {}
            Some(edge) if edge.is_start => self.start(event, edge, facts, moment, model),
            Some(edge) => self.stop(event, edge, facts, moment, model),
            None => {
                if let Some(activity) = self.open.failed_mut(event, moment.thread) {
                    activity.what.is_error = true;
                    if let Some(request) = &mut activity.what.request {
                        request.is_error = true;
                    }
                }
            }
        }
        self.keep(event, edge.filter(|_| is_about), moment, model);
        self.used = self.used.saturating_add(u64::from(is_about && moment.is_selected));
        is_about
    }
}

impl Report for Activities {
    type Output = ActivitiesReport;

    const NAME: &'static str = "activities";
    const ABOUT: &'static str = "Activities with a start and a stop, such as requests";
    const RECORD: &'static [Recording] = &[
        // ActivitySources are recorded only if the arguments name them; `[AS]*` names all.
        Recording::new("Microsoft-Diagnostics-DiagnosticSource", 0x3, 5)
            .arguments("FilterAndPayloadSpecs=[AS]*")
            .since(5),
        Recording::new("System.Net.Http", u64::MAX, 4).since(5),
        Recording::new("Microsoft.AspNetCore.Hosting", u64::MAX, 4),
    ];

    fn top(mut self, rows: usize) -> Activities {
        self.top = rows;
        self
    }

    fn wants(&self, event: &Event<'_>) -> bool {
        match event.known_provider() {
            // Any event may belong to the requested activity.
            _ if self.chosen.is_some() => true,
            KnownProvider::DiagnosticSource | KnownProvider::Logging | KnownProvider::Other => true,
            KnownProvider::EventPipe
            | KnownProvider::Rundown
            | KnownProvider::UniversalSystem
            | KnownProvider::UniversalEvents => false,
            // Other providers tell the parts of an activity's time.
            _ => self.parts.is_some(),
        }
    }

    #[inline(always)]
    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool {
        if let Some(parts) = &mut self.parts {
            parts.event(event, moment, model);
        }
        // Most events only tell the parts of an activity's time.
        let is_edge = moment.edge_type().is_some() || self.chosen.is_some();
        is_edge && self.edge_event(event, moment, model)
    }

    fn finish(mut self, resolved: &Resolved<'_>) -> ActivitiesReport {
        let stops_cut_short = self.open.cut_short();
        // Open activities have no end.
        let open: Vec<_> = self.open.finish(0).collect();
        open.iter().for_each(|open| self.never_stopped(open));
        self.count_awaiting();
        let tracker = self.parts.unwrap_or_default();
        let report = |view: ActivityView, is_http| ActivitiesReport {
            stops_cut_short,
            ..view.finish(
                resolved,
                &tracker,
                &self.answered,
                (self.top, self.slowest_of.as_deref()),
                is_http,
            )
        };
        let http = self.http.map(|view| report(view, true));
        let (main, http) = match self.all {
            Some(all) => (report(all, false), http.map(Box::new)),
            None => (http.unwrap_or_else(|| report(ActivityView::default(), true)), None),
        };
        let request_spans = self.served.map(|served| served.finish(resolved)).unwrap_or_default();
        let chosen_spans = self.chosen_spans.map(|it| it.finish(resolved)).unwrap_or_default();
        let same_id = self.chosen.as_ref().map_or(0, ChosenActivity::same_id);
        let events = self.chosen.map(|chosen| chosen.events(resolved.model()));
        let ((events, events_left_out), used) = (events.unwrap_or_default(), self.used);
        ActivitiesReport {
            events,
            events_left_out,
            same_id,
            used,
            http,
            request_spans,
            chosen_spans,
            ..main
        }
    }
}
