//! The activity that a user chose by an id, and the events of it and of activities inside it.

use super::Activities;
use super::document::ActivityEvent;
use super::fields::fields_text;
use super::parts::{PartTracker, ProfiledAwait};
use crate::hash::HashMap;
use crate::model::activity_edge::ActivityEdge;
use crate::model::activity_id::{ActivityId, WantedId};
use crate::model::intervals::OpenActivityKey;
use crate::model::{Model, TextHandle, short};
use crate::report::contract::Moment;
use crate::report::counts::increase;
use nettrace_parser::Event;

/// Maximum number of events kept for one activity.
const MAX_EVENTS: usize = 10_000;

/// The chosen activity: the first with the id, or the one with the id and the start.
#[derive(Debug)]
pub(super) struct ChosenActivity {
    pub(super) id: WantedId,
    /// The activity, once it has started.
    found: Option<BegunChoice>,
    /// Number of activities that started with the id, by name.
    with_id: HashMap<TextHandle, u64>,
    /// Whether the current event is the start or the stop of the activity.
    is_edge: bool,
    events: Vec<(ActivityId, ActivityEvent)>,
    left_out: u64,
}

/// The chosen activity after its start.
#[derive(Debug)]
struct BegunChoice {
    key: OpenActivityKey,
    id: ActivityId,
    /// Whether other open activities may have the id.
    may_repeat: bool,
    is_open: bool,
}

impl Activities {
    /// Takes the awaits of the chosen activity that the async profiler tells.
    pub(crate) fn take_awaits(&mut self) -> Vec<ProfiledAwait> {
        self.parts.as_mut().map(PartTracker::take_awaits).unwrap_or_default()
    }
}

impl ChosenActivity {
    pub(super) fn new(id: WantedId) -> ChosenActivity {
        ChosenActivity {
            id,
            found: None,
            with_id: HashMap::default(),
            is_edge: false,
            events: Vec::new(),
            left_out: 0,
        }
    }

    /// Notes the start of an activity. Returns whether it is the chosen one.
    pub(super) fn started(
        &mut self,
        edge: &ActivityEdge,
        key: OpenActivityKey,
        moment: &Moment,
    ) -> bool {
        let own = edge.id.as_ref().map(|id| (id, edge.may_repeat));
        let of_event = edge.path.as_ref().map(|id| (id, edge.path_may_repeat));
        let mut ids = own.into_iter().chain(of_event);
        let Some((id, may_repeat)) = ids.find(|(id, _)| self.id.is(id)) else { return false };
        increase(self.with_id.entry(key.0).or_default(), 1);
        if self.found.is_some() || !self.id.is_start(moment.nanos) {
            return false;
        }
        self.found = Some(BegunChoice { key, id: id.clone(), may_repeat, is_open: true });
        self.is_edge = true;
        true
    }

    /// Notes that an activity has stopped. Returns the id of the chosen one, if it is that.
    pub(super) fn stopped(&mut self, key: OpenActivityKey) -> Option<ActivityId> {
        let found = self.found.as_mut().filter(|found| found.key == key)?;
        found.is_open = false;
        self.is_edge = true;
        Some(found.id.clone())
    }

    /// Notes that an activity has stopped before the current event, at an unknown time.
    pub(super) fn has_stopped(&mut self, key: OpenActivityKey) {
        if let Some(found) = self.found.as_mut().filter(|found| found.key == key) {
            found.is_open = false;
        }
    }

    /// Keeps an event if it belongs to the chosen activity or to one inside it. `edge`: the event as
    /// a start or stop; `is_carried`: whether the event's thread works for the chosen activity.
    pub(super) fn keep(
        &mut self,
        event: &Event<'_>,
        edge: Option<&ActivityEdge>,
        is_carried: bool,
        moment: &Moment,
        model: &Model,
    ) {
        let is_edge = std::mem::take(&mut self.is_edge);
        let may_belong = match &self.found {
            Some(found) if found.may_repeat => is_edge || (found.is_open && is_carried),
            Some(_) => true,
            // Events with the id before the start are those of an activity that began earlier.
            None => !self.id.has_start(),
        };
        if !may_belong {
            return;
        }
        let wanted = &self.id;
        let own = ActivityId::of_event(event).filter(|id| wanted.holds(id));
        let reported = || {
            let edge = edge?;
            [&edge.id, &edge.parent].into_iter().flatten().find(|id| wanted.holds(id)).cloned()
        };
        let Some(id) = own.or_else(reported) else { return };
        if self.events.len() >= MAX_EVENTS {
            increase(&mut self.left_out, 1);
            return;
        }
        let kept = ActivityEvent {
            ts_ns: moment.nanos,
            thread_id: model.thread(moment.thread).and_then(|row| row.os_thread_id),
            id: String::new(),
            event: format!("{}/{}", short(event.provider()), short(event.display_name())),
            fields: fields_text(event),
        };
        self.events.push((id, kept));
    }

    /// Returns the number of further activities with the name of the chosen one and its id.
    pub(super) fn same_id(&self) -> u64 {
        let name = self.found.as_ref().map(|found| found.key.0);
        let with_id = name.and_then(|name| self.with_id.get(&name));
        with_id.map_or(0, |count| count.saturating_sub(1))
    }

    /// Returns the kept events, and the number of those that were not kept.
    pub(super) fn events(self, model: &Model) -> (Vec<ActivityEvent>, u64) {
        let event = |(id, event)| ActivityEvent { id: model.id_text(&id), ..event };
        (self.events.into_iter().map(event).collect(), self.left_out)
    }
}
