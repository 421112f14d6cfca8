//! Recognition of HTTP requests among activities.

use crate::model::activity_edge::ActivityEdge;
use crate::model::activity_edge::http_facts::{HttpDirection, HttpFacts};
use crate::model::activity_id::ActivityId;
use crate::model::intervals::{OpenActivities, OpenActivity, OpenActivityKey};
use crate::model::{Model, Moment, StackHandle, TextHandle, ThreadHandle, is_inside};
use nettrace_parser::Event;

/// Data of an open activity that may be a request.
pub(crate) trait MaybeRequest {
    /// Returns the facts of the request; `None` if the activity is not one.
    fn http(&self) -> Option<&HttpFacts>;

    /// Returns the request that this activity is a further layer of.
    fn layer_of(&self) -> Option<OpenActivityKey>;

    /// Returns the request around an outgoing one.
    fn caller(&self) -> Option<OpenActivityKey>;

    /// Returns the stack of the start; `None` if it is not known.
    fn stack(&self) -> Option<StackHandle>;
}

/// Maximum number of outgoing requests inside each other, such as a gRPC call and its HTTP request.
const MAX_OUTGOING: usize = 8;

/// Maximum number of innermost frames in which the stack of an event inside a request may differ
/// from the stack of the request's start: the frames that write the start.
pub(super) const MAX_OWN_FRAMES: usize = 32;

/// The open requests of a pass, which one report follows and others ask about.
pub(crate) trait FollowedRequests {
    /// Data of the open activities among which the requests are.
    type Begun: MaybeRequest;

    /// Returns the open activities.
    fn open(&self) -> &OpenActivities<Self::Begun>;

    /// Returns the last request that started on a thread.
    fn newest(&self, thread: ThreadHandle) -> Option<OpenActivityKey>;

    /// Returns the request that the ids of a start or stop tell.
    fn by_ids(&self, edge: &ActivityEdge, thread: ThreadHandle) -> Option<OpenActivityKey>;

    /// Returns the number of an open request, and its facts as far as they are known.
    fn number_and_facts(request: &OpenActivity<Self::Begun>) -> Option<(u64, &HttpFacts)>;

    /// Takes the requests whose end is known with an event, with their numbers and facts.
    fn requests_ended_by(
        &mut self,
        event: &Event<'_>,
        moment: &Moment,
        model: &mut Model,
    ) -> Vec<(u64, HttpFacts)>;

    /// Returns the number and the facts of the open request that an event belongs to: the one that its
    /// activity ids lead to, else the last one that started on its thread, if the stack shows that
    /// the call that wrote the start has not returned. `edge`: the event as a start or stop.
    fn request_for(
        &self,
        event: &Event<'_>,
        edge: Option<&ActivityEdge>,
        thread: ThreadHandle,
        stack: StackHandle,
        model: &Model,
    ) -> Option<(u64, &HttpFacts)> {
        let open = self.open();
        let is_request = |activity: &Self::Begun| activity.http().is_some();
        let by_ids = edge.and_then(|edge| self.by_ids(edge, thread));
        let by_path = || open.of_id(&ActivityId::of_event(event)?, thread, is_request);
        let on_thread = || {
            let newest = self.newest(thread)?;
            let stacks = model.stored_stacks();
            let start = stacks.addresses(open.at(newest)?.what.stack()?);
            is_inside(start, stacks.addresses(stack), MAX_OWN_FRAMES).then_some(newest)
        };
        let place = by_ids.or_else(by_path).or_else(on_thread)?;
        let mut request = open.at(outermost_layer(open, place)?)?;
        // Events inside an outgoing request belong to the request around it.
        for _ in 0..MAX_OUTGOING {
            if request.what.http()?.direction() != Some(HttpDirection::Out) {
                return Self::number_and_facts(request);
            }
            request = open.at(outermost_layer(open, request.what.caller()?)?)?;
        }
        None
    }
}

/// Returns the request that an open request is a layer of, or the request itself.
pub(super) fn outermost_layer<T: MaybeRequest>(
    open: &OpenActivities<T>,
    place: OpenActivityKey,
) -> Option<OpenActivityKey> {
    Some(open.at(place)?.what.layer_of().unwrap_or(place))
}

/// Returns the open requests around a starting activity: the one that it refers to by id, and the
/// one on its path. `thread`: thread of the start.
pub(crate) fn requests_around<T: MaybeRequest>(
    open: &OpenActivities<T>,
    edge: &ActivityEdge,
    thread: ThreadHandle,
) -> impl Iterator<Item = OpenActivityKey> {
    let is_request = |activity: &T| activity.http().is_some();
    let (id, parent) = (edge.id.as_ref(), edge.parent.as_ref());
    let reported = open.parent_among(id, parent, thread, is_request);
    reported.into_iter().chain(requests_on_path(open, edge, thread))
}

/// Returns the open request on the path of a starting activity. `thread`: thread of the start.
pub(crate) fn requests_on_path<T: MaybeRequest>(
    open: &OpenActivities<T>,
    edge: &ActivityEdge,
    thread: ThreadHandle,
) -> impl Iterator<Item = OpenActivityKey> {
    edge.path.iter().filter_map(move |path| {
        open.parent_among(Some(path), None, thread, |activity: &T| activity.http().is_some())
    })
}

/// Returns the open request that a starting activity reports as a further layer of the program. The
/// activity is inside the request by id or path or, without ids, on its thread; both have one
/// direction and target, and the layer has not reported the request before. `newest`: last request
/// that started on the thread; `inside`: requests around the start, as [`requests_around`] finds them.
pub(crate) fn request_of<T: MaybeRequest>(
    open: &OpenActivities<T>,
    newest: Option<OpenActivityKey>,
    edge: &ActivityEdge,
    name: TextHandle,
    facts: &HttpFacts,
    inside: impl Iterator<Item = OpenActivityKey>,
) -> Option<OpenActivityKey> {
    let on_thread = newest.filter(|place| {
        let of_thread = open.at(*place);
        of_thread.is_some_and(|request| {
            is_unrelated(
                edge.id.as_ref(),
                edge.path.as_ref(),
                request.id.as_ref(),
                request.path.as_ref(),
            )
        })
    });
    inside.chain(on_thread).find_map(|place| {
        let inside = open.at(place)?;
        let place = inside.what.layer_of().unwrap_or(place);
        let request = open.at(place)?;
        // A layer reports a request once, so a second start of its name is another request inside
        // it.
        let is_new = inside.name != name && request.name != name;
        let is_same = request.what.http().is_some_and(|outer| outer.is_same_request(facts));
        (is_new && is_same).then_some(place)
    })
}

/// Returns whether the ids of two activities cannot show that one is inside the other: they have
/// neither ids of one kind nor two paths.
fn is_unrelated(
    id: Option<&ActivityId>,
    path: Option<&ActivityId>,
    other_id: Option<&ActivityId>,
    other_path: Option<&ActivityId>,
) -> bool {
    let is_path = |id: &&ActivityId| id.is_path();
    let path = path.or(id.filter(is_path));
    let other_path = other_path.or(other_id.filter(is_path));
    let both_have_ids =
        id.is_some_and(|id| !id.is_path()) && other_id.is_some_and(|id| !id.is_path());
    !(both_have_ids || path.is_some() && other_path.is_some())
}
