//! The collections of one process: which event belongs to which.
//!
//! At most one background collection runs, and within it one that blocks; what the runtime tells of
//! a collection it tells before its end (204, 205) or right behind it (4). A stop of all threads
//! belongs to the collections that begin in it; one for a step of the background collection to that.

use super::collection::{Collection, kind, reason};
use super::suspension::{Change, FOR_COLLECTION, FOR_COLLECTION_STEP, Stop, Suspensions};
use crate::report::Moment;
use nettrace_parser::Event;
use nettrace_parser::view::{self, GcEnd, GcGlobalHistory, GcHeapHistory, GcHeapStats, GcStart};
use std::collections::{BTreeMap, VecDeque};

/// A heap segment of frozen objects: the type in runtime 5.
const FROZEN_SEGMENT: u64 = 2;

#[derive(Debug, Default)]
pub(super) struct Heap {
    rows: Vec<Row>,
    /// Places of those that have not ended.
    blocking: Option<usize>,
    background: Option<usize>,
    /// The one that ended last: what the heap is like behind it is told next.
    ended: Option<usize>,
    suspensions: Suspensions,
    /// Who has a part in which stop.
    claims: VecDeque<Claim>,
    frozen: BTreeMap<u64, u64>,
    frozen_bytes: u64,
    last_start_ns: Option<i64>,
    /// Bytes of objects in generation 0, of large and of pinned objects behind the last collection.
    left_bytes: Option<u64>,
}

#[derive(Debug)]
struct Row {
    collection: Collection,
    is_selected: bool,
    /// Whether the threads were stopped for it before the session began.
    is_partial: bool,
    /// Bytes of objects before it where the program allocates, and in the generations it collects.
    youngest_bytes: Option<u64>,
    collected_bytes: u64,
    survived_bytes: u64,
    left_bytes: u64,
}

/// A collection's part in a stop.
#[derive(Debug, Clone, Copy)]
struct Claim {
    stop: u64,
    row: usize,
    /// When it began to work in it.
    from_ns: i64,
}

impl Heap {
    /// Takes an event; tells whether it is about a collection.
    pub(super) fn event(&mut self, event: &Event<'_>, moment: &Moment) -> bool {
        match event.id() {
            1 => GcStart::of(event).map(|start| self.start(&start, moment)).is_some(),
            2 => GcEnd::of(event).map(|end| self.end(&end, moment.nanos)).is_some(),
            4 => {
                let (Some(stats), Some(row)) = (GcHeapStats::of(event), self.ended.take()) else {
                    return false;
                };
                self.with(row, |row| row.collection.heap_stats(&stats));
                self.join_peaks(row);
                true
            }
            204 => {
                let Some(heap) = GcHeapHistory::of(event) else { return false };
                self.current().is_some_and(|row| self.with(row, |row| row.heap_history(&heap)))
            }
            205 => {
                let Some(history) = GcGlobalHistory::of(event) else { return false };
                self.current()
                    .is_some_and(|row| self.with(row, |row| row.collection.global_history(&history)))
            }
            5 | 6 => {
                let _ = self.segment(event);
                false
            }
            _ => {
                let Some(suspension) = view::Suspension::of(event) else { return false };
                match self.suspensions.event(suspension, moment.thread, moment.nanos) {
                    Change::Restarted(stop, end_ns) => self.settle(stop, end_ns),
                    Change::Stopped(stop) if stop.reason == FOR_COLLECTION_STEP => {
                        if let Some(row) = self.background {
                            self.claims.push_back(Claim { stop: stop.id, row, from_ns: moment.nanos });
                        }
                    }
                    _ => {}
                }
                false
            }
        }
    }

    fn with(&mut self, row: usize, change: impl FnOnce(&mut Row)) -> bool {
        self.rows.get_mut(row).map(change).is_some()
    }

    /// The collection that works now.
    fn current(&self) -> Option<usize> {
        self.blocking.or(self.background)
    }

    fn start(&mut self, start: &GcStart, moment: &Moment) {
        let place = self.rows.len();
        let since_last_ns = self.last_start_ns.replace(moment.nanos).map(|last| length(last, moment.nanos));
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
        self.rows.push(Row {
            collection,
            is_selected: moment.is_selected,
            is_partial: place == 0 && self.suspensions.is_unheard(),
            youngest_bytes: None,
            collected_bytes: 0,
            survived_bytes: 0,
            left_bytes: 0,
        });
        // One whose end was lost is over when the next of its kind begins.
        if start.kind == Some(1) {
            self.background = Some(place);
        } else {
            self.blocking = Some(place);
        }
        self.ended = None;
        if let Some(stop) = self.suspensions.in_force().filter(is_for_collection) {
            self.claims.push_back(Claim { stop: stop.id, row: place, from_ns: moment.nanos });
        }
    }

    fn end(&mut self, end: &GcEnd, nanos: i64) {
        let is_it = |row: &Option<usize>| {
            row.and_then(|row| self.rows.get(row)).is_some_and(|row| row.collection.number == end.number)
        };
        let place = if is_it(&self.blocking) {
            self.blocking.take()
        } else if is_it(&self.background) {
            self.background.take()
        } else {
            // Its start was before the session or was lost.
            None
        };
        self.ended = place;
        let Some(place) = place else { return };
        let left_before = self.left_bytes;
        let mut left_behind = None;
        self.with(place, |row| left_behind = row.end(nanos, left_before));
        self.left_bytes = left_behind;
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
    fn settle(&mut self, stop: Stop, end_ns: i64) {
        let mut claims: Vec<Claim> = Vec::new();
        // A stop whose end was lost is not settled; its claims go with the next. Stops are numbered, and claims
        // are made for the newest: those of older ones are in front.
        while let Some(claim) = self.claims.front().copied().filter(|claim| claim.stop <= stop.id) {
            self.claims.pop_front();
            if claim.stop == stop.id {
                claims.push(claim);
            }
        }
        let mut from_ns = stop.start_nanos;
        let nexts = claims.iter().skip(1).map(|claim| claim.from_ns).chain([end_ns]);
        for (claim, to_ns) in claims.iter().zip(nexts) {
            self.with(claim.row, |row| row.collection.pause(from_ns, to_ns, stop.stopped_nanos));
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
    pub(super) fn finish(self) -> impl Iterator<Item = (Collection, bool)> {
        self.rows.into_iter().filter(|row| row.is_selected).map(|mut row| {
            row.collection.complete();
            (row.collection, row.is_partial)
        })
    }
}

impl Row {
    fn heap_history(&mut self, heap: &GcHeapHistory) {
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

    /// Gives the bytes of objects that it left where the program allocates.
    fn end(&mut self, nanos: i64, left_before: Option<u64>) -> Option<u64> {
        let row = &mut self.collection;
        row.duration_ns = Some(length(row.start_ns, nanos));
        let youngest = self.youngest_bytes?;
        row.survival_percent = percent(self.survived_bytes, self.collected_bytes);
        row.allocated_bytes = left_before.map(|left| youngest.saturating_sub(left));
        if let (Some(bytes), Some(since @ 1..)) = (row.allocated_bytes, row.since_last_ns) {
            row.allocated_bytes_per_second = Some(bytes as f64 * 1e9 / since as f64);
        }
        Some(self.left_bytes)
    }
}

fn is_for_collection(stop: &Stop) -> bool {
    matches!(stop.reason, FOR_COLLECTION | FOR_COLLECTION_STEP)
}

fn length(from_ns: i64, to_ns: i64) -> u64 {
    u64::try_from(to_ns.saturating_sub(from_ns)).unwrap_or(0)
}

fn percent(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 * 100.0 / whole as f64)
}
