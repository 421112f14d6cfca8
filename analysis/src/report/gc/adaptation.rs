//! How a collector adapts the number of heaps to the size of the program.

use super::collection::Collection;
use crate::report::contract::Moment;
use crate::report::counts::increase;
use nettrace_parser::view;
use std::collections::VecDeque;

/// Maximum number of decisions and of changes of a process that are listed.
const MAX_LISTED: usize = 1 << 14;
/// Maximum number of decisions that wait for details of later collections.
const MAX_RECENT: usize = 8;

/// How server GC adapted the number of heaps and the budget of generation 0 to the size of the
/// program (DATAS, from .NET 9 on): runtime events 39.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct GcAdaptation {
    /// Changes of the number of heaps, by process, then in the order of time.
    pub changes: Vec<HeapCountChange>,
    /// Decisions, by process, then in the order of time.
    pub decisions: Vec<GcDecision>,
    /// Number of collections that were measured for decisions.
    pub samples: u64,
    /// Number of changes and decisions that are not listed, as there are more than 16,384 of a
    /// process.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub left_out: u64,
}

/// Change of the number of heaps.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct HeapCountChange {
    /// OS id of the process; `None` if the stream does not contain it.
    pub process_id: Option<u64>,
    /// Number of the first collection with the new number of heaps.
    pub collection: u32,
    /// Start of that collection, in nanoseconds since the session's start.
    pub start_ns: i64,
    /// Number of heaps before.
    pub from_heaps: u32,
    /// Number of heaps after.
    pub to_heaps: u32,
    /// Time of the decision, in nanoseconds since the session's start; `None` if it is not in the
    /// trace.
    pub decided_ns: Option<i64>,
    /// Whether the cost of full collections alone led to the decision.
    #[cfg_attr(feature = "serde", serde(rename = "full"))]
    pub is_full: bool,
    /// Part of the time that collections cost before the decision, in percent.
    pub cost_percent: Option<f64>,
}

/// Decision about the number of heaps and the budget of generation 0, after three collections.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct GcDecision {
    /// OS id of the process; `None` if the stream does not contain it.
    pub process_id: Option<u64>,
    /// Time of the decision, in nanoseconds since the session's start.
    pub time_ns: i64,
    /// Number of the last collection before the decision.
    pub collection: u64,
    /// Whether the decision is about full collections alone.
    #[cfg_attr(feature = "serde", serde(rename = "full"))]
    pub is_full: bool,
    /// Number of heaps from the next collection on; `None` if not known.
    pub heaps: Option<u32>,
    /// Least and greatest number of heaps that the size of the objects allows; `None` if no change
    /// was considered.
    pub heaps_allowed: Option<[u32; 2]>,
    /// Part of the time that collections cost, in percent: the runtime's median of the three. It
    /// includes the time for which threads waited to allocate.
    pub cost_percent: f64,
    /// Size of the objects in generations 1 and 2 that are expected to stay, in bytes; `None` if no
    /// change was considered.
    pub stable_bytes: Option<u64>,
    /// Bytes that may be allocated in generation 0 of each heap until the next collection; `None` if
    /// no collection was measured.
    pub heap_budget_bytes: Option<u32>,
    /// What was changed; `None` for nothing.
    pub changed: Option<GcChange>,
    /// Number of collections since the last change; of full ones, if the decision is about these.
    pub since_change: u32,
}

/// What a decision changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum GcChange {
    /// The number of heaps.
    Heaps,
    /// The budget of generation 0.
    Budget,
}

impl GcChange {
    fn from_stored(stored: u32) -> Option<GcChange> {
        match stored {
            1 => Some(GcChange::Heaps),
            2 => Some(GcChange::Budget),
            _ => None,
        }
    }
}

/// Decisions of one process, and the changes that followed them.
#[derive(Debug, Default)]
pub(super) struct Adapting {
    found: GcAdaptation,
    /// The last decisions, of which only details of later collections say what they changed.
    recent: VecDeque<GcDecision>,
    heap_budget_bytes: Option<u32>,
    /// Number of the last collection whose number of heaps is known, and that number.
    heaps: Option<(u32, u32)>,
}

impl Adapting {
    /// Adds a record of the collector.
    pub(super) fn record(&mut self, record: &view::GcAdaptation, moment: &Moment) {
        match record {
            view::GcAdaptation::Sample(sample) => {
                self.heap_budget_bytes = Some(sample.heap_budget_bytes);
                increase(&mut self.found.samples, u64::from(moment.is_selected));
            }
            view::GcAdaptation::Decision(decision) => {
                if !moment.is_selected {
                    return;
                }
                while self.recent.len() >= MAX_RECENT {
                    self.list_first();
                }
                self.recent.push_back(GcDecision {
                    process_id: None,
                    time_ns: moment.nanos,
                    collection: decision.collection,
                    is_full: decision.is_full,
                    heaps: decision.heaps.or(self.heaps.map(|(_, heaps)| heaps)),
                    heaps_allowed: decision.heaps_allowed,
                    cost_percent: decision.cost_percent,
                    stable_bytes: decision.stable_bytes,
                    heap_budget_bytes: self.heap_budget_bytes,
                    changed: decision.changed.and_then(GcChange::from_stored),
                    since_change: decision.since_change,
                });
            }
            _ => {}
        }
    }

    /// Notes how many heaps a collection had. Details of background collections may come after
    /// those of later ones, which know better.
    pub(super) fn heaps(&mut self, collection: &Collection, is_selected: bool) {
        let (Some(heaps), number) = (collection.heaps, collection.number) else { return };
        let before = self.heaps.filter(|(last, _)| *last < number);
        if self.heaps.is_some() && before.is_none() {
            return;
        }
        self.heaps = Some((number, heaps));
        let Some((_, from_heaps)) = before.filter(|(_, from)| *from != heaps) else { return };
        let mut decision = self.decision_before(number);
        if let Some(decision) = &mut decision {
            decision.heaps = Some(heaps);
            decision.changed = Some(GcChange::Heaps);
        }
        let change = HeapCountChange {
            process_id: None,
            collection: number,
            start_ns: collection.start_ns,
            from_heaps,
            to_heaps: heaps,
            decided_ns: decision.as_ref().map(|decision| decision.time_ns),
            is_full: decision.as_ref().is_some_and(|decision| decision.is_full),
            cost_percent: decision.map(|decision| decision.cost_percent),
        };
        if !is_selected {
            return;
        }
        match self.found.changes.len() < MAX_LISTED {
            true => self.found.changes.push(change),
            false => increase(&mut self.found.left_out, 1),
        }
    }

    /// Returns the decision that led to another number of heaps at a collection: the last one before
    /// it. If there are two, about full collections and about all, it is the one that says so.
    fn decision_before(&mut self, collection: u32) -> Option<&mut GcDecision> {
        let is_before = |row: &GcDecision| row.collection < u64::from(collection);
        let last = self.recent.iter().rposition(is_before)?;
        let after = self.recent.get(last)?.collection;
        let says_so =
            |row: &GcDecision| row.collection == after && row.changed == Some(GcChange::Heaps);
        let place = self.recent.iter().rposition(says_so).unwrap_or(last);
        self.recent.get_mut(place)
    }

    fn list_first(&mut self) {
        let Some(first) = self.recent.pop_front() else { return };
        match self.found.decisions.len() < MAX_LISTED {
            true => self.found.decisions.push(first),
            false => increase(&mut self.found.left_out, 1),
        }
    }

    /// Adds what is known of the process to that of other ones.
    pub(super) fn finish(mut self, process_id: Option<u64>, all: &mut GcAdaptation) {
        while !self.recent.is_empty() {
            self.list_first();
        }
        let GcAdaptation { changes, decisions, samples, left_out } = self.found;
        all.changes.extend(changes.into_iter().map(|row| HeapCountChange { process_id, ..row }));
        all.decisions.extend(decisions.into_iter().map(|row| GcDecision { process_id, ..row }));
        increase(&mut all.samples, samples);
        increase(&mut all.left_out, left_out);
    }
}
