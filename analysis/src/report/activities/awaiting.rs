//! Activities that are counted when the activity around them is known. Where the trace has stops
//! alone, an activity stops before the one around it, which then is not known to have started.

use super::Activities;
use super::view::{ActivitySite, Slow};
use crate::hash::{HashMap, HashSet};
use crate::model::activity_id::ActivityId;
use crate::model::{StackHandle, TextHandle};
use std::collections::BTreeMap;

/// Maximum number of activities that await the one around them. The oldest of more activities has
/// none around it: the caller may be in another process.
const MAX_AWAITING: usize = 10_000;

/// An activity that has stopped and is not counted yet.
#[derive(Debug)]
pub(super) struct EndedActivity {
    pub(super) name: TextHandle,
    pub(super) stack: StackHandle,
    pub(super) is_error: bool,
    pub(super) slow: Slow,
}

/// Activities that have stopped, by the activity around them.
#[derive(Debug, Default)]
pub(super) struct AwaitingActivities {
    /// Id of the activity around, and the activity, in the order in which they stopped.
    rows: BTreeMap<u64, (ActivityId, EndedActivity)>,
    inside: HashMap<ActivityId, Vec<u64>>,
    added: u64,
}

impl AwaitingActivities {
    /// Returns whether no activity awaits the one around it.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds an activity. Returns the oldest one if there are too many.
    fn add(&mut self, around: ActivityId, ended: EndedActivity) -> Option<EndedActivity> {
        self.inside.entry(around.clone()).or_default().push(self.added);
        self.rows.insert(self.added, (around, ended));
        self.added = self.added.saturating_add(1);
        let oldest = self.rows.keys().next().filter(|_| self.rows.len() > MAX_AWAITING).copied();
        oldest.and_then(|oldest| self.remove(oldest))
    }

    fn remove(&mut self, number: u64) -> Option<EndedActivity> {
        let (around, ended) = self.rows.remove(&number)?;
        let inside = self.inside.get_mut(&around)?;
        inside.retain(|other| *other != number);
        if inside.is_empty() {
            self.inside.remove(&around);
        }
        Some(ended)
    }

    /// Takes the activities inside the one with an id.
    fn take_inside(&mut self, id: Option<&ActivityId>) -> Vec<EndedActivity> {
        let inside = id.and_then(|id| self.inside.remove(id)).unwrap_or_default();
        let rows = inside.iter().filter_map(|number| self.rows.remove(number));
        rows.map(|(_, ended)| ended).collect()
    }

    /// Takes an activity that none of the others is around; any if there is no such activity.
    fn take_outermost(&mut self, ids: &HashSet<ActivityId>) -> Option<EndedActivity> {
        let is_outermost = |around: &ActivityId| !ids.contains(around);
        let mut rows = self.rows.iter();
        let outermost = rows.find(|(_, (around, _))| is_outermost(around)).map(|row| *row.0);
        let number = outermost.or_else(|| self.rows.keys().next().copied())?;
        self.remove(number)
    }
}

impl Activities {
    /// Counts an activity at its node, and those inside it that awaited it. With `around`, the id of
    /// the activity around it, the activity waits for that one.
    pub(super) fn count_ended(
        &mut self,
        around: Option<ActivityId>,
        node: usize,
        ended: EndedActivity,
    ) {
        match around {
            None => self.count_with_inner(Some(node), None, ended),
            Some(around) => {
                if let Some(oldest) = self.awaiting.add(around, ended) {
                    self.count_with_inner(None, None, oldest);
                }
            }
        }
    }

    /// Counts the activities of which the one around did not stop in the trace.
    pub(super) fn count_awaiting(&mut self) {
        let rows = self.awaiting.rows.values();
        let ids: HashSet<ActivityId> = rows.filter_map(|(_, it)| it.slow.id.clone()).collect();
        while let Some(outermost) = self.awaiting.take_outermost(&ids) {
            self.count_with_inner(None, None, outermost);
        }
    }

    /// Counts an activity at its node, or else below the node of the activity around it, and those
    /// inside it that awaited it.
    fn count_with_inner(
        &mut self,
        node: Option<usize>,
        around: Option<usize>,
        ended: EndedActivity,
    ) {
        let mut due = vec![(node, around, ended)];
        while let Some((node, around, ended)) = due.pop() {
            let Some(all) = &mut self.all else { return };
            let node = node.unwrap_or_else(|| all.tree.node(around, ended.name));
            let inside = self.awaiting.take_inside(ended.slow.id.as_ref());
            self.count_alone(node, &ended);
            due.extend(inside.into_iter().map(|ended| (None, Some(node), ended)));
        }
    }

    fn count_alone(&mut self, node: usize, ended: &EndedActivity) {
        let Some(all) = &mut self.all else { return };
        let EndedActivity { name, stack, is_error, ref slow } = *ended;
        let site = ActivitySite { node, label: name, is_layer: false, is_nested: false, stack };
        all.count(site, None, is_error).stopped(slow, None, self.top);
    }
}
