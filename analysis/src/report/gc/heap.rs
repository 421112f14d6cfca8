//! The collections of one process: which event belongs to which.
//!
//! At most one background collection runs, and within it one that blocks; what the runtime reports
//! a collection it tells before its end (204, 205) or right behind it (4). Of a background collection
//! .NET 10 may report all of it behind the end, on the thread that reported the end; others may begin and
//! end meanwhile. A stop of all threads belongs to the collections that begin in it; one for a step of
//! the background collection to that.

use super::collection::{Collection, kind, reason};
use crate::model::ThreadHandle;
use crate::model::intervals::{Edge, Interval, Suspension, Suspensions, nanos_between};
use crate::report::Moment;
use nettrace_parser::Event;
use nettrace_parser::view::{self, GcEnd, GcGlobalHistory, GcHeapHistory, GcHeapStats, GcStart};
use std::collections::BTreeMap;

/// A heap segment of frozen objects: the type in runtime 5.
const FROZEN_SEGMENT: u64 = 2;

#[derive(Debug, Default)]
pub(super) struct Heap {
    rows: Vec<CollectionRow>,
    /// Places of those that have not ended.
    blocking: Option<usize>,
    background: Option<usize>,
    /// The blocking one that ended last: what the heap is like behind it is reported next.
    ended: Option<usize>,
    /// The background one that ended last.
    ended_background: Option<EndedBackground>,
    /// Stops of all threads, each with those that have a part in it.
    suspensions: Suspensions<Vec<Claim>>,
    /// Whether a thread has begun to stop the others for a collection since the session began.
    has_stopped: bool,
    frozen: BTreeMap<u64, u64>,
    frozen_bytes: u64,
    last_start_ns: Option<i64>,
    /// What the program went on allocating from.
    base: Base,
}

/// A background collection of which something may be reported behind its end.
#[derive(Debug, Clone, Copy)]
struct EndedBackground {
    row: usize,
    /// The thread that reported the end.
    thread: ThreadHandle,
    wants_stats: bool,
    wants_history: bool,
}

/// When it was last known how much lies where the program allocates.
#[derive(Debug, Clone, Copy, Default)]
enum Base {
    /// Never.
    #[default]
    Unknown,
    /// Behind the collection in this place.
    Behind(usize),
    /// When the background collection in this place began: it collects nothing there until it ends.
    Beginning(usize),
}

#[derive(Debug)]
struct CollectionRow {
    collection: Collection,
    is_selected: bool,
    /// Whether the threads were stopped for it before the session began.
    is_partial: bool,
    has_history: bool,
    base: Base,
    /// Bytes of objects before it where the program allocates, and in the generations it collects.
    youngest_bytes: Option<u64>,
    collected_bytes: u64,
    survived_bytes: u64,
    /// Bytes of objects behind it where the program allocates.
    left_bytes: u64,
}

/// A collection's part in a stop.
#[derive(Debug, Clone, Copy)]
struct Claim {
    row: usize,
    /// When it began to work in it.
    from_ns: i64,
}

impl Heap {
    /// Takes an event; tells whether it is about a collection.
    pub(super) fn event(&mut self, event: &Event<'_>, moment: &Moment) -> bool {
        match event.id() {
            1 => GcStart::of(event).map(|start| self.start(&start, moment)).is_some(),
            2 => GcEnd::of(event).map(|end| self.end(&end, moment)).is_some(),
            4 => {
                let Some(stats) = GcHeapStats::of(event) else { return false };
                let Some(row) = self.take_place_of_stats(moment.thread) else { return false };
                self.with(row, |row| row.collection.heap_stats(&stats));
                self.join_peaks(row);
                true
            }
            204 => {
                let Some(heap) = GcHeapHistory::of(event) else { return false };
                let row = self.place_of_history(moment.thread);
                row.is_some_and(|row| self.with(row, |row| row.heap_history(&heap)))
            }
            205 => {
                let Some(history) = GcGlobalHistory::of(event) else { return false };
                let row = self.place_of_history(moment.thread);
                row.is_some_and(|row| self.with(row, |row| row.global_history(&history)))
            }
            5 | 6 => {
                let _ = self.segment(event);
                false
            }
            _ => {
                let Some(suspension) = view::Suspension::of(event) else { return false };
                self.suspension(suspension, moment.edge(event));
                false
            }
        }
    }

    fn with(&mut self, row: usize, change: impl FnOnce(&mut CollectionRow)) -> bool {
        self.rows.get_mut(row).map(change).is_some()
    }

    /// The collection whose history a thread reports: the one that works now, unless the thread reported the end
    /// of a background one that lacks its history.
    fn place_of_history(&self, thread: ThreadHandle) -> Option<usize> {
        let ended = self.ended_background.filter(|ended| ended.wants_history && ended.thread == thread);
        ended.map(|ended| ended.row).or(self.blocking).or(self.background)
    }

    /// The collection behind which a thread tells what the heap is like.
    fn take_place_of_stats(&mut self, thread: ThreadHandle) -> Option<usize> {
        let background = self.ended_background.as_mut();
        if let Some(ended) = background.filter(|ended| ended.wants_stats && ended.thread == thread) {
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
        if let (view::Suspension::SuspendStop, Some(row), Some(stop)) = (event, self.background, stop)
            && stop.is_for_step()
        {
            stop.what.push(Claim { row, from_ns: at.nanos });
        }
    }

    fn start(&mut self, start: &GcStart, moment: &Moment) {
        let place = self.rows.len();
        let since_last_ns =
            self.last_start_ns.replace(moment.nanos).map(|last| nanos_between(last, moment.nanos));
        let collection = Collection {
            number: start.number,
            generation: start.generation.unwrap_or(0),
            reason: reason(start.reason),
            kind: kind(start.kind),
            start_ns: moment.nanos,
            since_last_ns,
            frozen_bytes: self.frozen_bytes,
            ..Collection::default()
        };
        self.rows.push(CollectionRow {
            collection,
            is_selected: moment.is_selected,
            is_partial: place == 0 && !self.has_stopped,
            has_history: false,
            base: self.base,
            youngest_bytes: None,
            collected_bytes: 0,
            survived_bytes: 0,
            left_bytes: 0,
        });
        // One whose end was lost is over when the next of its kind begins.
        // No background one begins within one that blocks.
        if start.kind == Some(1) {
            self.blocking = None;
            self.background = Some(place);
            self.base = Base::Beginning(place);
        } else {
            self.blocking = Some(place);
        }
        self.ended = None;
        // What was not reported behind the end is lost when the thread turns to the next collection.
        self.ended_background = self.ended_background.filter(|ended| ended.thread != moment.thread);
        let stop = self.suspensions.in_force(moment.thread).filter(|stop| stop.is_for_collection());
        if let Some(stop) = stop {
            stop.what.push(Claim { row: place, from_ns: moment.nanos });
        }
    }

    fn end(&mut self, end: &GcEnd, moment: &Moment) {
        let number_of = |row: Option<usize>| self.rows.get(row?).map(|row| row.collection.number);
        self.ended = None;
        let place = if number_of(self.blocking) == Some(end.number) {
            self.ended = self.blocking.take();
            self.ended
        } else if number_of(self.background) == Some(end.number) {
            self.background.take()
        } else {
            // Its start was before the session or was lost.
            None
        };
        let Some(place) = place else { return };
        self.base = Base::Behind(place);
        let Some(row) = self.rows.get_mut(place) else { return };
        row.collection.duration_ns = Some(nanos_between(row.collection.start_ns, moment.nanos));
        if self.ended.is_none() {
            self.ended_background = Some(EndedBackground {
                row: place,
                thread: moment.thread,
                wants_stats: true,
                wants_history: !row.has_history,
            });
        }
    }

    /// What a foreground collection sees is a peak of the background one around it.
    fn join_peaks(&mut self, row: usize) {
        let peak = self.rows.get(row).and_then(|row| row.collection.heap_peak_bytes);
        if let Some(background) = self.background {
            self.with(background, |row| row.collection.raise_peak(peak));
        }
    }

    /// Divides a stop among those that had a part in it: each has it from its beginning until the next
    /// begins, the first from the stop's beginning. A background collection may begin with one that
    /// blocks.
    fn settle(&mut self, stop: &Interval<Suspension<Vec<Claim>>>) {
        let mut from_ns = stop.start.nanos;
        let claims = &stop.what.what;
        let nexts = claims.iter().skip(1).map(|claim| claim.from_ns).chain([stop.stop.nanos]);
        for (claim, to_ns) in claims.iter().zip(nexts) {
            self.with(claim.row, |row| row.collection.pause(from_ns, to_ns, stop.what.stopped_nanos));
            from_ns = to_ns;
        }
    }

    /// Segments of frozen objects come and go.
    fn segment(&mut self, event: &Event<'_>) -> Option<()> {
        let fields = &mut event.fields();
        let address = fields.find("Address")?.value.ok()?.as_u64()?;
        if event.id() == 5 {
            let bytes = fields.find("Size")?.value.ok()?.as_u64()?;
            if fields.find("Type")?.value.ok()?.as_u64()? == FROZEN_SEGMENT {
                let replaced = self.frozen.insert(address, bytes).unwrap_or(0);
                self.frozen_bytes = self.frozen_bytes.saturating_sub(replaced).saturating_add(bytes);
            }
        } else if let Some(bytes) = self.frozen.remove(&address) {
            self.frozen_bytes = self.frozen_bytes.saturating_sub(bytes);
        }
        Some(())
    }

    /// The collections that were selected, and whether each was under way when the session began.
    pub(super) fn finish(mut self) -> impl Iterator<Item = (Collection, bool)> {
        self.compare_with_bases();
        self.rows.into_iter().filter(|row| row.is_selected).map(|mut row| {
            row.collection.complete();
            (row.collection, row.is_partial)
        })
    }

    /// What was allocated between collections can be said when all is reported: the history of one may come
    /// behind the next.
    fn compare_with_bases(&mut self) {
        let mut bases: Vec<Option<u64>> = Vec::new();
        for place in 0..self.rows.len() {
            let base = self.rows.get(place).map(|row| row.base).unwrap_or_default();
            let bytes = match base {
                Base::Unknown => None,
                Base::Behind(before) => self.rows.get(before).and_then(CollectionRow::left_bytes),
                // Where that is lost, what was known when that one began.
                Base::Beginning(before) => {
                    let told = self.rows.get(before).and_then(|row| row.youngest_bytes);
                    told.or_else(|| bases.get(before).copied().flatten())
                }
            };
            bases.push(bytes);
            self.with(place, |row| row.compare_with(bytes));
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
        for (place, told) in heap.generations.iter().enumerate() {
            let Some(told) = told else { continue };
            let objects = told.before_bytes.saturating_sub(told.free_before_bytes);
            let left = told.after_bytes.saturating_sub(told.free_after_bytes);
            // The program allocates in generation 0 and among large and pinned objects; those two are
            // collected with generation 2.
            if place == 0 || place > 2 {
                self.youngest_bytes = Some(self.youngest_bytes.unwrap_or(0).saturating_add(objects));
                self.left_bytes = self.left_bytes.saturating_add(left);
            }
            if place <= collected || collected == 2 {
                let survived = told.pinned_survived_bytes.saturating_add(told.survived_bytes);
                self.collected_bytes = self.collected_bytes.saturating_add(objects);
                self.survived_bytes = self.survived_bytes.saturating_add(survived);
            }
        }
    }

    /// Bytes of objects behind it where the program allocates, if that was reported.
    fn left_bytes(&self) -> Option<u64> {
        self.youngest_bytes.map(|_| self.left_bytes)
    }

    /// Compares what it found with what lay there before.
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
