//! Collections of one process, and the collection that each event belongs to.
//!
//! At most one background collection runs at a time, and during it at most one blocking collection.
//! The runtime reports details of a collection before its end (204, 205) or directly after it (4).
//! .NET 10 may report all details of a background collection after its end, on the thread that
//! reported the end, while other collections start and end. A suspension of all threads belongs to
//! the collections that start in it; a suspension for a phase of the background collection belongs
//! to that collection.

use super::adaptation::Adapting;
use super::collection::Collection;
use super::figures::SettledCollections;
use super::reason::{GcKind, GcReason};
use super::totals::GcSums;
use crate::model::ThreadHandle;
use crate::model::intervals::{Edge, Interval, Suspension, Suspensions, nanos_between};
use crate::report::contract::Moment;
use nettrace_parser::Event;
use nettrace_parser::view::{
    self, GcAdaptation, GcEnd, GcGlobalHistory, GcHeapHistory, GcHeapStats, GcStart, View,
};
use std::collections::BTreeMap;

/// Maximum number of collections that are kept during one background collection.
const MAX_OPEN_COLLECTIONS: usize = 1000;
/// Maximum number of collections about which no more events will come that are not settled.
const MAX_UNSETTLED: usize = 256;
/// Type of frozen segments in runtime event 5.
const FROZEN_SEGMENT: u64 = 2;

#[derive(Debug, Default)]
pub(crate) struct Heap {
    rows: Vec<CollectionRow>,
    /// Number of the first collection in `rows`; earlier ones were taken.
    first: usize,
    /// Number of the blocking collection that has not ended.
    blocking: Option<usize>,
    background: Option<usize>,
    /// Number of the blocking collection that ended last, whose heap state is reported next.
    ended: Option<usize>,
    ended_background: Option<EndedBackground>,
    /// Suspensions of all threads, with the collections that share them.
    suspensions: Suspensions<Vec<Claim>>,
    /// Whether a suspension for a collection has started in the session.
    has_stopped: bool,
    /// Whether any event of a suspension was seen; Mono writes none.
    has_suspensions: bool,
    frozen: BTreeMap<u64, u64>,
    frozen_bytes: u64,
    last_start_ns: Option<i64>,
    /// State of the heap from which allocations are computed at the next collection.
    base: HeapBase,
    /// Whether the first collection started from an empty heap.
    is_from_start: bool,
    settled: SettledCollections,
    adapting: Adapting,
}

/// Background collection whose details may still arrive after its end.
#[derive(Debug, Clone, Copy)]
struct EndedBackground {
    row: usize,
    /// Thread that reported the end.
    thread: ThreadHandle,
    wants_stats: bool,
    wants_history: bool,
}

/// State of the heap at which the size of the generations that the program allocates in is known.
#[derive(Debug, Clone, Copy, Default)]
enum HeapBase {
    /// No such state has been seen.
    #[default]
    Unknown,
    /// Empty heap at the start of the process.
    Empty,
    /// State after the collection with this number.
    After(usize),
    /// State at the start of the background collection with this number, which does not collect the
    /// youngest generation until its end.
    Beginning(usize),
    /// State that is settled: size of the objects, if it is known.
    Left(Option<u64>),
}

#[derive(Debug)]
struct CollectionRow {
    collection: Collection,
    is_selected: bool,
    /// Whether threads were suspended for the collection before the session started.
    is_partial: bool,
    has_history: bool,
    is_taken: bool,
    base: HeapBase,
    /// Size of the objects before the collection, in the generations that the program allocates in.
    youngest_bytes: Option<u64>,
    collected_bytes: u64,
    survived_bytes: u64,
    /// Size of the objects after the collection, in the generations that the program allocates in.
    left_bytes: u64,
}

/// Part of a collection in a suspension.
#[derive(Debug, Clone, Copy)]
struct Claim {
    row: usize,
    /// Time at which the collection began to work in the suspension.
    from_ns: i64,
}

impl Heap {
    /// Processes an event; returns whether it is about a collection.
    pub(crate) fn event(&mut self, event: &Event<'_>, moment: &Moment) -> bool {
        match event.id() {
            1 => GcStart::from_event(event).map(|start| self.start(&start, moment)).is_some(),
            2 => GcEnd::from_event(event).map(|end| self.end(&end, moment)).is_some(),
            4 => {
                let Some(stats) = GcHeapStats::from_event(event) else { return false };
                let Some(row) = self.take_place_of_stats(moment.thread) else { return false };
                self.with(row, |row| row.collection.heap_stats(&stats));
                self.join_peaks(row);
                true
            }
            204 => {
                let Some(heap) = GcHeapHistory::from_event(event) else { return false };
                let row = self.place_of_history(moment.thread);
                row.is_some_and(|row| self.with(row, |row| row.heap_history(&heap)))
            }
            205 => {
                let Some(history) = GcGlobalHistory::from_event(event) else { return false };
                let Some(place) = self.place_of_history(moment.thread) else { return false };
                let is_about = self.with(place, |row| row.global_history(&history));
                let place = place.checked_sub(self.first);
                if let Some(row) = place.and_then(|place| self.rows.get(place)) {
                    self.adapting.heaps(&row.collection, row.is_selected);
                }
                is_about
            }
            39 => {
                let Some(record) = GcAdaptation::from_event(event) else { return false };
                self.adapting.record(&record, moment);
                true
            }
            5 | 6 => {
                let _ = self.segment(event);
                false
            }
            // The runtime starts: the session is older than the process.
            187 => {
                self.base = HeapBase::Empty;
                false
            }
            _ => {
                let Some(suspension) = view::Suspension::from_event(event) else { return false };
                self.has_suspensions = true;
                self.suspension(suspension, moment.edge(event));
                false
            }
        }
    }

    fn with(&mut self, row: usize, change: impl FnOnce(&mut CollectionRow)) -> bool {
        self.row_mut(row).map(change).is_some()
    }

    fn row(&self, number: usize) -> Option<&CollectionRow> {
        self.rows.get(number.checked_sub(self.first)?)
    }

    fn row_mut(&mut self, number: usize) -> Option<&mut CollectionRow> {
        self.rows.get_mut(number.checked_sub(self.first)?)
    }

    /// Returns the collections about which no more events will come, for callers that do not wait
    /// for the end of the trace. Only a few others are kept. The bytes allocated between
    /// collections are not computed.
    pub(crate) fn take_settled(&mut self) -> Vec<Collection> {
        let waits_for_stats = self.ended_background.filter(|ended| ended.wants_stats);
        let mut unsettled: Vec<usize> =
            self.ended.into_iter().chain(waits_for_stats.map(|ended| ended.row)).collect();
        for suspension in self.suspensions.open() {
            unsettled.extend(suspension.what.iter().map(|claim| claim.row));
        }
        let mut settled = Vec::new();
        for (number, row) in (self.first..).zip(&mut self.rows) {
            let is_settled = row.collection.duration_ns.is_some() && !unsettled.contains(&number);
            if is_settled && !std::mem::replace(&mut row.is_taken, true) {
                let mut collection = row.collection.clone();
                collection.complete();
                settled.push(collection);
            }
        }
        // A collection that neither runs nor waits for details has lost its end.
        unsettled.extend(self.blocking.into_iter().chain(self.background));
        let is_gone =
            |(number, row): &(usize, &CollectionRow)| row.is_taken || !unsettled.contains(number);
        let gone = (self.first..).zip(&self.rows).take_while(is_gone).count();
        let most = self.rows.len().saturating_sub(MAX_OPEN_COLLECTIONS);
        let gone = gone.max(most);
        self.rows.drain(..gone);
        self.first = self.first.saturating_add(gone);
        settled
    }

    /// Returns the collection whose history a thread reports: the running one, unless the thread
    /// reported the end of a background collection that still lacks its history.
    fn place_of_history(&self, thread: ThreadHandle) -> Option<usize> {
        let ended =
            self.ended_background.filter(|ended| ended.wants_history && ended.thread == thread);
        ended.map(|ended| ended.row).or(self.blocking).or(self.background)
    }

    /// Returns the collection for which a thread reports the state of the heap.
    fn take_place_of_stats(&mut self, thread: ThreadHandle) -> Option<usize> {
        let background = self.ended_background.as_mut();
        if let Some(ended) = background.filter(|ended| ended.wants_stats && ended.thread == thread)
        {
            ended.wants_stats = false;
            return Some(ended.row);
        }
        self.ended.take()
    }

    fn suspension(&mut self, event: view::Suspension, at: Edge) {
        if let Some(stop) = self.suspensions.event(event, at, Vec::new, |_| {}) {
            self.settle(&stop);
        }
        let stop = self.suspensions.in_force(at.thread).filter(|stop| stop.is_for_collection());
        self.has_stopped |= stop.is_some();
        if let (view::Suspension::SuspendStop, Some(row), Some(stop)) =
            (event, self.background, stop)
            && stop.is_for_step()
        {
            stop.what.push(Claim { row, from_ns: at.nanos });
        }
    }

    fn start(&mut self, start: &GcStart, moment: &Moment) {
        let place = self.first.saturating_add(self.rows.len());
        let since_last_ns =
            self.last_start_ns.replace(moment.nanos).map(|last| nanos_between(last, moment.nanos));
        let collection = Collection {
            number: start.number,
            generation: start.generation.unwrap_or(0),
            reason: GcReason::from_stored(start.reason),
            kind: GcKind::from_stored(start.kind),
            start_ns: moment.nanos,
            since_last_ns,
            frozen_bytes: self.frozen_bytes,
            ..Collection::default()
        };
        self.is_from_start |= place == 0 && matches!(self.base, HeapBase::Empty);
        self.rows.push(CollectionRow {
            collection,
            is_selected: moment.is_selected,
            is_partial: place == 0 && !self.has_stopped,
            has_history: false,
            is_taken: false,
            base: self.base,
            youngest_bytes: None,
            collected_bytes: 0,
            survived_bytes: 0,
            left_bytes: 0,
        });
        // A collection whose end was lost has ended when the next of its kind starts. No background
        // collection starts during a blocking collection.
        if start.kind == Some(1) {
            self.blocking = None;
            self.background = Some(place);
            self.base = HeapBase::Beginning(place);
        } else {
            self.blocking = Some(place);
        }
        self.ended = None;
        // Details are lost if the thread has not reported them before it starts the next
        // collection.
        self.ended_background = self.ended_background.filter(|ended| ended.thread != moment.thread);
        let stop = self.suspensions.in_force(moment.thread).filter(|stop| stop.is_for_collection());
        if let Some(stop) = stop {
            stop.what.push(Claim { row: place, from_ns: moment.nanos });
        }
    }

    fn end(&mut self, end: &GcEnd, moment: &Moment) {
        self.ended = None;
        let number_of = |row: Option<usize>| self.row(row?).map(|row| row.collection.number);
        let place = if number_of(self.blocking) == Some(end.number) {
            self.ended = self.blocking.take();
            self.ended
        } else if number_of(self.background) == Some(end.number) {
            self.background.take()
        } else {
            // The start was before the session, or was lost.
            None
        };
        let Some(place) = place else { return };
        self.base = HeapBase::After(place);
        let is_background = self.ended.is_none();
        let Some(row) = self.row_mut(place) else { return };
        row.collection.duration_ns = Some(nanos_between(row.collection.start_ns, moment.nanos));
        let wants_history = !row.has_history;
        if is_background {
            self.ended_background = Some(EndedBackground {
                row: place,
                thread: moment.thread,
                wants_stats: true,
                wants_history,
            });
        }
    }

    /// Raises the peak of the background collection to the peak of a collection during it.
    fn join_peaks(&mut self, row: usize) {
        let peak = self.row(row).and_then(|row| row.collection.heap_peak_bytes);
        if let Some(background) = self.background {
            self.with(background, |row| row.collection.raise_peak(peak));
        }
    }

    /// Divides a suspension among its collections. Each gets the time from its start until the next
    /// one starts; the first gets the time before it, too. A background collection may share a
    /// suspension with a blocking one.
    fn settle(&mut self, stop: &Interval<Suspension<Vec<Claim>>>) {
        let mut from_ns = stop.start.nanos;
        let claims = &stop.what.what;
        let nexts = claims.iter().skip(1).map(|claim| claim.from_ns).chain([stop.stop.nanos]);
        for (claim, to_ns) in claims.iter().zip(nexts) {
            self.with(claim.row, |row| {
                row.collection.pause(from_ns, to_ns, stop.what.stopped_nanos)
            });
            from_ns = to_ns;
        }
    }

    /// Tracks the size of frozen segments.
    fn segment(&mut self, event: &Event<'_>) -> Option<()> {
        let fields = &mut event.fields();
        let address = fields.find("Address")?.value.ok()?.as_u64()?;
        if event.id() == 5 {
            let bytes = fields.find("Size")?.value.ok()?.as_u64()?;
            if fields.find("Type")?.value.ok()?.as_u64()? == FROZEN_SEGMENT {
                let replaced = self.frozen.insert(address, bytes).unwrap_or(0);
                self.frozen_bytes =
                    self.frozen_bytes.saturating_sub(replaced).saturating_add(bytes);
            }
        } else if let Some(bytes) = self.frozen.remove(&address) {
            self.frozen_bytes = self.frozen_bytes.saturating_sub(bytes);
        }
        Some(())
    }

    /// Takes the decisions about the number of heaps.
    pub(super) fn take_adapting(&mut self) -> Adapting {
        std::mem::take(&mut self.adapting)
    }

    /// Returns whether the session saw all allocations of the process.
    pub(super) fn is_from_start(&self) -> bool {
        self.is_from_start
    }

    /// Settles collections about which no more events will come, if there are many. At most `most`
    /// keep their details.
    pub(super) fn settle_rows(&mut self, most: usize, sums: &mut GcSums) {
        if self.rows.len() < MAX_UNSETTLED {
            return;
        }
        let ended = self.ended_background.map(|ended| ended.row);
        let claimed = self.suspensions.open().flat_map(|stop| &stop.what).map(|claim| claim.row);
        let due = [self.blocking, self.background, self.ended, ended];
        let due = due.into_iter().flatten().chain(claimed).min();
        let count = due.map_or(self.rows.len(), |due| due.saturating_sub(self.first));
        self.settle_first(count, most, sums);
    }

    /// Returns the collections that the filter accepts.
    pub(super) fn finish(mut self, most: usize, sums: &mut GcSums) -> SettledCollections {
        self.settle_first(self.rows.len(), most, sums);
        self.settled
    }

    /// Settles the first `count` collections. The bytes allocated between collections are computed
    /// only now, as the history of a collection may be reported after the next collection.
    fn settle_first(&mut self, count: usize, most: usize, sums: &mut GcSums) {
        // What each collection started from, and what it left to the next ones.
        let mut bases: Vec<Option<u64>> = Vec::new();
        for place in 0..count {
            let base = self.rows.get(place).map_or(HeapBase::Unknown, |row| row.base);
            let bytes = self.base_bytes(base, &bases);
            bases.push(bytes);
            if let Some(row) = self.rows.get_mut(place) {
                row.compare_with(bytes);
            }
        }
        let end = self.first.saturating_add(count);
        let is_gone = |base: HeapBase| match base {
            HeapBase::After(row) | HeapBase::Beginning(row) => row < end,
            HeapBase::Unknown | HeapBase::Empty | HeapBase::Left(_) => false,
        };
        for place in count..self.rows.len() {
            let base = self.rows.get(place).map_or(HeapBase::Unknown, |row| row.base);
            if is_gone(base) {
                let left = HeapBase::Left(self.base_bytes(base, &bases));
                self.rows.get_mut(place).into_iter().for_each(|row| row.base = left);
            }
        }
        if is_gone(self.base) {
            self.base = HeapBase::Left(self.base_bytes(self.base, &bases));
        }
        for mut row in self.rows.drain(..count.min(self.rows.len())) {
            row.collection.complete();
            match (row.is_selected, row.is_partial && self.has_suspensions) {
                (false, _) => {}
                (true, true) => self.settled.partial.push(row.collection),
                (true, false) => self.settled.add(row.collection, most, sums),
            }
        }
        self.first = end;
    }

    /// Returns the size of the objects from which allocations are computed. `bases` has this size of
    /// the first collections of `rows`.
    fn base_bytes(&self, base: HeapBase, bases: &[Option<u64>]) -> Option<u64> {
        match base {
            HeapBase::Unknown => None,
            HeapBase::Empty => Some(0),
            HeapBase::Left(bytes) => bytes,
            HeapBase::After(before) => self.row(before).and_then(CollectionRow::left_bytes),
            // If that is missing, the state from which the background collection was computed.
            HeapBase::Beginning(before) => {
                let reported = self.row(before).and_then(|row| row.youngest_bytes);
                let place = before.checked_sub(self.first);
                reported.or_else(|| bases.get(place?).copied().flatten())
            }
        }
    }
}

impl CollectionRow {
    fn global_history(&mut self, history: &GcGlobalHistory) {
        self.has_history = true;
        self.collection.global_history(history);
    }

    fn heap_history(&mut self, heap: &GcHeapHistory) {
        self.has_history = true;
        self.collection.heap_history(heap);
        let collected = usize::try_from(self.collection.generation).unwrap_or(usize::MAX);
        for (place, reported) in heap.generations.iter().enumerate() {
            let Some(reported) = reported else { continue };
            let objects = reported.before_bytes.saturating_sub(reported.free_before_bytes);
            let left = reported.after_bytes.saturating_sub(reported.free_after_bytes);
            // The program allocates in generation 0, the large object heap and the pinned object
            // heap. The latter two are collected with generation 2.
            if place == 0 || place > 2 {
                self.youngest_bytes =
                    Some(self.youngest_bytes.unwrap_or(0).saturating_add(objects));
                self.left_bytes = self.left_bytes.saturating_add(left);
            }
            if place <= collected || collected == 2 {
                let survived =
                    reported.pinned_survived_bytes.saturating_add(reported.survived_bytes);
                self.collected_bytes = self.collected_bytes.saturating_add(objects);
                self.survived_bytes = self.survived_bytes.saturating_add(survived);
            }
        }
    }

    /// Returns `left_bytes`, or `None` if no heap history was reported.
    fn left_bytes(&self) -> Option<u64> {
        self.youngest_bytes.map(|_| self.left_bytes)
    }

    /// Computes survival, and the bytes allocated since the state of the heap with `base_bytes`.
    fn compare_with(&mut self, base_bytes: Option<u64>) {
        let row = &mut self.collection;
        let (Some(youngest), Some(_)) = (self.youngest_bytes, row.duration_ns) else { return };
        row.survival_percent = percent(self.survived_bytes, self.collected_bytes);
        row.allocated_bytes = base_bytes.map(|base| youngest.saturating_sub(base));
        if let (Some(bytes), Some(since @ 1..)) = (row.allocated_bytes, row.since_last_ns) {
            row.allocated_bytes_per_second = Some(bytes as f64 * 1e9 / since as f64);
        }
    }
}

fn percent(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 * 100.0 / whole as f64)
}
