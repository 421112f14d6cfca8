//! HTTP requests of a running process, from their starts to their stops.
//!
//! A request may go through several layers that each report it, such as Kestrel and
//! ASP.NET Core's hosting. It counts once, with what all of them say.

use crate::model::activity_edge::{ActivityEdge, id_text, is_failure};
use crate::model::intervals::{Edge, OpenActivities, OpenActivityKey};
use crate::model::{TextHandle, ThreadHandle, short};
use crate::report::activities::http::{HttpFacts, MaybeRequest, request_of};
use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;
use std::collections::HashMap;

/// Maximum number of different names of activities. Few event sources have requests.
const MOST_NAMES: usize = 1000;

/// Threads whose last request is known.
const MOST_THREADS: usize = 10_000;

/// Requests that have started and not stopped.
#[derive(Debug, Default)]
pub(super) struct Requests {
    open: OpenActivities<Begun>,
    /// The last request that started on each thread.
    newest: HashMap<ThreadHandle, OpenActivityKey>,
    names: HashMap<String, TextHandle>,
}

/// A request, or a layer of one.
#[derive(Debug)]
struct Begun {
    /// The event source.
    source: Box<str>,
    facts: HttpFacts,
    layer_of: Option<OpenActivityKey>,
    is_error: bool,
    mark: u128,
}

impl MaybeRequest for Begun {
    fn http(&self) -> Option<&HttpFacts> {
        Some(&self.facts)
    }

    fn layer_of(&self) -> Option<OpenActivityKey> {
        self.layer_of
    }
}

/// A request that has stopped.
#[derive(Debug)]
pub(super) struct EndedRequest {
    pub(super) facts: HttpFacts,
    pub(super) start_ns: i64,
    /// `None` if it is unknown.
    pub(super) duration_ns: Option<u64>,
    pub(super) is_error: bool,
    /// Of all events about it.
    pub(super) mark: u128,
}

impl Requests {
    /// Processes the next event. `mark` is of the caller's choice; the request has the
    /// bits of all its events.
    pub(super) fn event(
        &mut self,
        event: &Event<'_>,
        at: Edge,
        mark: u128,
    ) -> Option<EndedRequest> {
        let edge = ActivityEdge::of(event);
        let facts = edge.as_ref().and_then(|edge| HttpFacts::of(event, edge));
        let (Some(edge), Some(facts)) = (edge, facts) else {
            self.failure(event, mark);
            return None;
        };
        let name = self.name(&edge.name)?;
        if edge.is_start {
            self.start(event, &edge, name, facts, at, mark);
            None
        } else {
            self.stop(&edge, name, facts, at, mark)
        }
    }

    fn start(
        &mut self,
        event: &Event<'_>,
        edge: &ActivityEdge,
        name: TextHandle,
        facts: HttpFacts,
        at: Edge,
        mark: u128,
    ) {
        let newest = self.newest.get(&at.thread).copied();
        let layer_of = request_of(&self.open, newest, edge, name, &facts);
        if layer_of.is_none() {
            self.newest.insert(at.thread, self.open.next_place(name));
            // Threads come and go for days.
            if self.newest.len() >= MOST_THREADS {
                let open = &self.open;
                self.newest.retain(|_, place| open.at(*place).is_some());
                if self.newest.len() >= MOST_THREADS / 2 {
                    self.newest.clear();
                }
            }
        }
        let source = short(event.provider()).into();
        let begun = Begun { source, facts, layer_of, is_error: edge.is_error, mark };
        // One that will never be stopped has nothing to say.
        let _ = self.open.start(edge, name, at, begun);
    }

    fn stop(
        &mut self,
        edge: &ActivityEdge,
        name: TextHandle,
        facts: HttpFacts,
        at: Edge,
        mark: u128,
    ) -> Option<EndedRequest> {
        let ended = self.open.stop(edge, name, at)?;
        let duration_ns = edge.reported_nanos.or(ended.measured_nanos());
        let begun = ended.what.what;
        let is_error = begun.is_error || edge.is_error || facts.is_error();
        let (facts, mark) = (begun.facts.joined(facts), begun.mark | mark);
        let request = begun.layer_of.and_then(|place| self.open.at_mut(place));
        if let Some(request) = request {
            request.what.facts = std::mem::take(&mut request.what.facts).joined(facts);
            request.what.is_error |= is_error;
            request.what.mark |= mark;
            return None;
        }
        // The stop of a layer may come after that of its request.
        let is_late = begun.layer_of.is_some();
        let start_ns = ended.start.nanos;
        (!is_late).then_some(EndedRequest { facts, start_ns, duration_ns, is_error, mark })
    }

    /// An event that says that its request has failed.
    fn failure(&mut self, event: &Event<'_>, mark: u128) {
        if event.known_provider() != KnownProvider::Other || !is_failure(event) {
            return;
        }
        let Some(id) = event.activity_id().filter(|id| !id.is_zero()) else { return };
        if let Some(activity) = self.open.with_id_mut(&id_text(id, event.process_id()))
            && *activity.what.source == *short(event.provider())
        {
            activity.what.is_error = true;
            activity.what.mark |= mark;
        }
    }

    fn name(&mut self, name: &str) -> Option<TextHandle> {
        if let Some(known) = self.names.get(name) {
            return Some(*known);
        }
        let next = self.names.len();
        let handle = TextHandle(u32::try_from(next).ok()?);
        (next < MOST_NAMES).then(|| {
            self.names.insert(name.to_owned(), handle);
            handle
        })
    }
}
