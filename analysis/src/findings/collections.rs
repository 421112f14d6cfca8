//! Findings about collections and allocations: why collections came, and why they took long.

use super::finding::{Finding, is_worth_naming, weight_of_lost_time};
use super::own::OwnModules;
use crate::document::percent;
use crate::fact::{
    AllocatedType, Base, CollectionPlace, CollectionReason, Fact, LargeObjects, Number, Place, Unit,
};
use crate::model::Frame;
use crate::report::{
    AllocReport, CollectionCounts, CollectionFigures, GcReason, GcReport, ObjectKind,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Minimum time of pauses in a finding, in percent of the trace.
const MIN_PAUSES_PERCENT: f64 = 1.0;
/// Minimum number of collections that large objects caused. Two are enough, however short, because
/// each collects the whole heap, and takes longer when the heap grows.
const MIN_OF_LARGE_OBJECTS: u64 = 2;
/// Minimum size of promoted objects, or of a heap that grows, in bytes: 50 MiB.
const MIN_PROMOTED_BYTES: u64 = 50 << 20;
/// Minimum factor by which a heap that only grows is larger at the end.
const MIN_GROWTH: u64 = 3;
/// Minimum number of collections from which a trend is read.
const MIN_COLLECTIONS: usize = 4;
/// Maximum difference of the sizes that a heap at its limit has after collections, in percent.
const MAX_CHANGE_AT_LIMIT_PERCENT: f64 = 5.0;
/// Minimum weight of the finding that a heap is at its limit, which ends in an
/// `OutOfMemoryException`.
const AT_LIMIT_WEIGHT: f64 = 65.0;
/// Minimum size of holes, in percent of the heap.
const MIN_HOLES_PERCENT: f64 = 50.0;
/// Minimum number of pinned objects to which holes are attributed.
const MIN_PINNED: u32 = 100;
/// Minimum bytes of one type in one method, in percent of all allocated bytes.
const MIN_ALLOCATED_PERCENT: f64 = 20.0;
/// Minimum rate of allocations, in bytes a second: 100 MiB.
const MIN_ALLOCATED_PER_SECOND: f64 = 104_857_600.0;
/// Maximum number of reasons that a finding gives.
const MAX_REASONS: usize = 2;

/// Own methods that may be behind collections, and whether memory ran out.
#[derive(Debug, Default)]
pub(super) struct Places<'r> {
    /// The method that calls `GC.Collect`.
    pub(super) collector: Option<&'r Arc<Frame>>,
    /// The method in which most collections begin.
    pub(super) begins: Option<&'r Arc<Frame>>,
    /// The method with most samples, if no other finding names it.
    pub(super) busiest: Option<&'r Arc<Frame>>,
    /// The type with most allocated bytes, and the method that allocates it.
    pub(super) allocates: Option<AllocatedType>,
    /// Whether an `OutOfMemoryException` was thrown.
    pub(super) is_out_of_memory: bool,
}

/// Returns the finding about collections, with why they came or took long.
pub(super) fn collections(
    report: &GcReport,
    alloc: &AllocReport,
    places: &Places<'_>,
    own: &OwnModules,
) -> Option<Finding> {
    let totals = &report.totals;
    let (reasons, behind) = reasons(report, alloc, places, own);
    let is_of_large =
        reasons.iter().any(|reason| matches!(reason, CollectionReason::LargeObjects { .. }));
    let is_at_limit =
        reasons.iter().any(|reason| matches!(reason, CollectionReason::AtLimit { .. }));
    let is_notable = is_at_limit
        || totals.pause_percent >= MIN_PAUSES_PERCENT
        || totals.count >= MIN_OF_LARGE_OBJECTS && is_of_large;
    let fact = Fact::Collections {
        paused: Number::nanos(totals.pause_ns).in_member("totals.pause_ns"),
        collections: Number::count(totals.count, Unit::Collections).in_member("totals.count"),
        share: Number::percent(totals.pause_percent, Base::Elapsed)
            .in_member("totals.pause_percent"),
        longest: Number::nanos(totals.max_pause_ns).in_member("totals.max_pause_ns"),
        reasons,
        behind,
    };
    let least = if is_at_limit { AT_LIMIT_WEIGHT } else { 0.0 };
    is_notable.then(|| Finding::new(fact, weight_of_lost_time(totals.pause_percent).max(least)))
}

/// Returns the finding about allocations. `most` is the type with most allocated bytes.
pub(super) fn allocations(report: &AllocReport, most: Option<AllocatedType>) -> Option<Finding> {
    let source = report.sources.first()?;
    let rate = source
        .bytes_per_second
        .filter(|rate| *rate >= MIN_ALLOCATED_PER_SECOND && rate.is_finite())?;
    let largest = most.or_else(|| {
        let first = source.types.first()?;
        Some(AllocatedType { type_name: first.type_name.clone(), percent: None, place: None })
    });
    let fact = Fact::Allocations {
        allocated: Number::bytes(source.bytes).in_member("sources[].bytes"),
        rate: Number::new(rate, Unit::BytesPerSecond).in_member("sources[].bytes_per_second"),
        largest,
    };
    let weight = 10.0 + 10.0 * (rate / MIN_ALLOCATED_PER_SECOND).log10();
    Some(Finding::new(fact, weight))
}

/// Returns why collections came or took long, and the method behind them.
fn reasons(
    report: &GcReport,
    alloc: &AllocReport,
    places: &Places<'_>,
    own: &OwnModules,
) -> (Vec<CollectionReason>, Option<CollectionPlace>) {
    let asked = induced(report, places.collector.map(Place::from_frame));
    let large = large_objects(report.counts, || large_type(alloc, own));
    // `GC.Collect` and large objects have a place of their own.
    let has_place = |reason: &CollectionReason| match reason {
        CollectionReason::LargeObjects { objects: Some(objects), .. } => objects.place.is_some(),
        _ => false,
    };
    let behind = match (&places.allocates, places.begins, places.busiest) {
        _ if asked.is_some() || large.as_ref().is_some_and(has_place) => None,
        (Some(most), ..) => Some(CollectionPlace::Allocates(most.clone())),
        (None, Some(method), _) => Some(CollectionPlace::Begins(Place::from_frame(method))),
        (None, None, Some(method)) => Some(CollectionPlace::Busiest(Place::from_frame(method))),
        (None, None, None) => None,
    };
    let rows = &report.figures;
    let all = [
        at_limit(rows, report.counts, places.is_out_of_memory),
        asked,
        holes(rows),
        growth(rows),
        large,
        survival(report),
    ];
    let mut reasons: Vec<CollectionReason> = all.into_iter().flatten().take(MAX_REASONS).collect();
    // A reason with a place comes last, because the place may be long.
    reasons.sort_by_key(CollectionReason::names_place);
    (reasons, behind)
}

fn induced(report: &GcReport, by: Option<Place>) -> Option<CollectionReason> {
    let (induced, of) = (report.totals.induced, report.totals.count);
    // A heap dump induces a collection or two, which are not the program's.
    (of >= MIN_COLLECTIONS as u64 && induced.saturating_mul(2) >= of)
        .then_some(CollectionReason::Induced { induced, of, by })
}

fn large_objects(
    counts: CollectionCounts,
    objects: impl FnOnce() -> Option<LargeObjects>,
) -> Option<CollectionReason> {
    let CollectionCounts { all, for_large, for_large_young, .. } = counts;
    if for_large == 0 || for_large.saturating_mul(2) < all {
        return None;
    }
    Some(CollectionReason::LargeObjects {
        collections: for_large,
        of: all,
        is_generation_2: for_large_young == 0,
        objects: objects(),
    })
}

fn large_type(alloc: &AllocReport, own: &OwnModules) -> Option<LargeObjects> {
    let source = alloc.sources.first()?;
    let kind = source.kinds.iter().find(|row| row.kind == ObjectKind::Large)?;
    let row = source.types.iter().max_by_key(|row| row.large_bytes)?;
    let of_type = source.stacks.iter().filter(|stack| stack.type_name == row.type_name);
    let mut places: BTreeMap<&Arc<Frame>, u64> = BTreeMap::new();
    for stack in of_type.filter(|stack| stack.large_bytes > 0) {
        let Some((_, frame)) = own.frame(&stack.frames) else { continue };
        let sum = places.entry(frame).or_default();
        *sum = sum.saturating_add(stack.large_bytes);
    }
    let place = places.into_iter().max_by_key(|(_, bytes)| *bytes);
    Some(LargeObjects {
        bytes: kind.bytes,
        allocations: kind.events,
        max_object_bytes: row.max_object_bytes,
        type_name: row.type_name.clone(),
        place: place
            .filter(|(_, bytes)| is_worth_naming(*bytes, row.large_bytes))
            .map(|(frame, _)| Place::from_frame(frame)),
    })
}

/// Returns the type with most allocated bytes, and the own method that allocates it; `None` if no
/// type and method has [`MIN_ALLOCATED_PERCENT`].
pub(super) fn most_allocated(alloc: &AllocReport, own: &OwnModules) -> Option<AllocatedType> {
    let source = alloc.sources.first()?;
    let mut places: BTreeMap<(&Arc<Frame>, &str), u64> = BTreeMap::new();
    for stack in &source.stacks {
        let Some((_, frame)) = own.frame(&stack.frames) else { continue };
        let sum = places.entry((frame, &stack.type_name)).or_default();
        *sum = sum.saturating_add(stack.bytes);
    }
    let ((method, type_name), most) = places.into_iter().max_by_key(|(_, bytes)| *bytes)?;
    let share = percent(most, source.bytes);
    (share >= MIN_ALLOCATED_PERCENT).then(|| AllocatedType {
        type_name: type_name.to_owned(),
        percent: Some(share),
        place: Some(Place::from_frame(method)),
    })
}

/// Returns whether young collections copied objects that they should have freed, because these
/// lived just long enough.
fn survival(report: &GcReport) -> Option<CollectionReason> {
    let CollectionCounts { all, copying, copied_bytes, .. } = report.counts;
    let is_much = copied_bytes >= MIN_PROMOTED_BYTES && copying.saturating_mul(2) >= all;
    let allocated = report.totals.allocated_bytes;
    is_much.then(|| CollectionReason::Survival {
        collections: copying,
        copied_bytes,
        allocated_bytes: (allocated > copied_bytes).then_some(allocated),
    })
}

fn growth(collections: &[CollectionFigures]) -> Option<CollectionReason> {
    let sizes: Vec<u64> = collections.iter().filter_map(|row| row.heap_after_bytes).collect();
    let (first, last) = (*sizes.first()?, *sizes.last()?);
    // The heap grows if each size of the later half is larger than each of the earlier half.
    let (early, late) = sizes.split_at_checked(sizes.len() / 2)?;
    let only_grows = sizes.len() >= MIN_COLLECTIONS
        && last >= first.saturating_mul(MIN_GROWTH)
        && last >= MIN_PROMOTED_BYTES
        && late.iter().min() > early.iter().max();
    let grown = last.saturating_sub(first) as f64;
    let nanos = collections.last()?.start_ns.saturating_sub(collections.first()?.start_ns);
    only_grows.then(|| CollectionReason::Growth {
        from_bytes: first,
        to_bytes: last,
        bytes_per_second: (nanos > 0).then(|| grown * 1e9 / nanos as f64),
    })
}

/// Returns whether collections came because there was no room, and left a heap of the same size
/// each time, or memory ran out. The first ones may still have freed much.
fn at_limit(
    collections: &[CollectionFigures],
    counts: CollectionCounts,
    is_out_of_memory: bool,
) -> Option<CollectionReason> {
    let is_full = |row: &&CollectionFigures| {
        matches!(row.reason, GcReason::OutOfSpaceSmall | GcReason::OutOfSpaceLarge)
    };
    let full = collections.iter().filter(is_full);
    let sizes: Vec<u64> = full.filter_map(|row| row.heap_after_bytes).collect();
    let (_, late) = sizes.split_at_checked(sizes.len() / 2)?;
    let (least, most) = (*late.iter().min()?, *late.iter().max()?);
    let is_level = percent(most.saturating_sub(least), most) <= MAX_CHANGE_AT_LIMIT_PERCENT;
    // A single object that is too large for any heap ends with that exception, too.
    let is_out_of_memory = is_out_of_memory && counts.full_small > 0;
    let is_at_limit = is_out_of_memory || sizes.len() >= MIN_COLLECTIONS && is_level;
    is_at_limit.then(|| CollectionReason::AtLimit {
        collections: counts.full,
        after_bytes: late.last().copied().unwrap_or(most),
        is_out_of_memory,
    })
}

fn holes(collections: &[CollectionFigures]) -> Option<CollectionReason> {
    let last = collections.iter().rev().find(|row| row.fragmentation_percent.is_some())?;
    let (percent, pinned_objects) = (last.fragmentation_percent?, last.pinned_objects?);
    (percent >= MIN_HOLES_PERCENT && pinned_objects >= MIN_PINNED)
        .then_some(CollectionReason::Holes { percent, pinned_objects })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Collection, GcTotals};

    fn collection(reason: GcReason, heap_after_bytes: u64) -> CollectionFigures {
        let heap_after_bytes = Some(heap_after_bytes);
        let row = Collection { reason, generation: 2, heap_after_bytes, ..Collection::default() };
        CollectionFigures::from(&row)
    }

    #[test]
    fn a_heap_at_its_limit_says_so() {
        let full = [90, 100, 99, 100].map(|mib| collection(GcReason::OutOfSpaceSmall, mib << 20));
        let of = |figures: Vec<CollectionFigures>| GcReport {
            schema: 1,
            totals: GcTotals { count: 4, ..GcTotals::default() },
            collections: Vec::new(),
            partial: Vec::new(),
            adaptation: None,
            counts: CollectionCounts::from_figures(&figures),
            figures,
            ended: Vec::new(),
        };
        let mut full: Vec<CollectionFigures> = full.into();
        let report = of(full.clone());
        let alloc = AllocReport { schema: 1, sources: Vec::new() };
        let own = OwnModules::default();
        let finding = |report: &GcReport| collections(report, &alloc, &Places::default(), &own);
        let text = finding(&report).unwrap().text();
        let words = "4 came because there was no room, and left 100 MiB each time: the heap is";
        assert!(text.contains(words), "{text}");
        // If memory ran out, a single collection is enough.
        let last = of(full.split_off(3));
        assert_eq!(finding(&last), None);
        let ran_out = Places { is_out_of_memory: true, ..Places::default() };
        let text = collections(&last, &alloc, &ran_out, &own).unwrap().text();
        let words = "1 came because there was no room, and left 100 MiB, until an OutOfMemory";
        assert!(text.contains(words), "{text}");
        full.extend(last.figures);
        // A heap that the last collections empty has room, and so has one that need not ask.
        full[3].heap_after_bytes = Some(20 << 20);
        assert_eq!(finding(&of(full)), None);
        let small = [90, 100, 99, 100].map(|mib| collection(GcReason::AllocSmall, mib << 20));
        assert_eq!(finding(&of(small.into())), None);
    }
}
