//! Why collections come, and why they are dear.

use super::own::OwnModules;
use crate::document::percent;
use crate::model::{Frame, rounded};
use crate::report::{AllocReport, Collection, GcReport};
use crate::words::frames::place_name;
use nettrace_export::units::{bytes, count, counted};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Promoted bytes that are worth a sentence, and the share that survives where few should.
const LEAST_PROMOTED: u64 = 50 << 20;
const LEAST_SURVIVAL: f64 = 30.0;
/// How many times as large a heap that only grows is at the end, and the collections that
/// show it.
const LEAST_GROWTH: u64 = 3;
const FEWEST_COLLECTIONS: usize = 4;
/// A heap of which so much is holes, by so many pinned objects.
const LEAST_HOLES: f64 = 50.0;
const LEAST_PINNED: u32 = 100;
/// The share of what is allocated that one type in one method has, in percent.
const LEAST_ALLOCATED: f64 = 20.0;
/// How a sentence says that large objects are why.
pub(super) const LARGE_OBJECTS: &str = "because large objects were allocated";
/// What shows which they are.
const RECORD_LARGE: &str = " (--profile gc-verbose records which, and where)";
/// Maximum number of reasons in a sentence.
const MOST_REASONS: usize = 2;

/// The program's own methods that are behind collections, as far as they are known.
#[derive(Debug, Default)]
pub(super) struct Places<'r> {
    /// Who calls `GC.Collect`.
    pub(super) collector: Option<&'r Arc<Frame>>,
    /// In which most collections begin.
    pub(super) begins: Option<&'r Arc<Frame>>,
    /// In which most samples are, if no other finding names it.
    pub(super) busiest: Option<&'r Arc<Frame>>,
    /// What most of the allocations are, and where.
    pub(super) allocates: Option<String>,
}

/// Reasons, each after a semicolon; empty if there is none that stands out.
pub(super) fn why(
    report: &GcReport,
    alloc: &AllocReport,
    places: &Places<'_>,
    own: &OwnModules,
) -> String {
    let asked = asked_for(report, places.collector);
    let place = match (&places.allocates, places.begins, places.busiest) {
        _ if asked.is_some() => None,
        (Some(what), ..) => Some(what.clone()),
        (None, Some(method), _) => Some(format!("most begin in {}", place_name(method))),
        (None, None, Some(method)) => Some(format!("most samples are in {}", place_name(method))),
        (None, None, None) => None,
    };
    let large = large_objects(&report.collections, large_type(alloc, own));
    // The sentence about large objects names their place itself.
    let place = place.filter(|_| !large.as_ref().is_some_and(|(_, has_place)| *has_place));
    let reasons = [
        asked,
        holes(&report.collections),
        growth(&report.collections),
        large.map(|(text, _)| text),
        promoted(report),
    ];
    let mut reasons: Vec<String> = reasons.into_iter().flatten().take(MOST_REASONS).collect();
    // A place comes last.
    reasons.sort_by_key(|reason| reason.contains(" in "));
    reasons.into_iter().chain(place).map(|reason| format!("; {reason}")).collect()
}

fn asked_for(report: &GcReport, collector: Option<&Arc<Frame>>) -> Option<String> {
    let (asked, all) = (report.totals.induced, report.totals.count);
    let by = collector.map_or(String::new(), |by| format!(" in {}", place_name(by)));
    let how_many = if asked == all { "all".to_owned() } else { count(asked) };
    // The collection of a heap dump was asked for by whoever wanted the dump.
    (all >= FEWEST_COLLECTIONS as u64 && asked.saturating_mul(2) >= all)
        .then(|| format!("{how_many} were induced: asked for by GC.Collect{by}"))
}

/// The sentence, and whether it names a place. `what`: what the large objects are.
fn large_objects(
    collections: &[Collection],
    what: Option<(String, bool)>,
) -> Option<(String, bool)> {
    let is_large = |row: &&Collection| row.reason.contains("Large");
    let large: Vec<&Collection> = collections.iter().filter(is_large).collect();
    if large.is_empty() || large.len().saturating_mul(2) < collections.len() {
        return None;
    }
    let how_many = match large.len() == collections.len() {
        true => "all".to_owned(),
        false => format!("{} of them", count(large.len() as u64)),
    };
    // Large objects are collected with generation 2.
    let old = if large.iter().all(|row| row.generation >= 2) { " of generation 2," } else { "" };
    let (what, has_place) = what.unwrap_or_else(|| (RECORD_LARGE.to_owned(), false));
    Some((format!("{how_many}{old} {LARGE_OBJECTS}{what}"), has_place))
}

/// `: 29.3 MiB in 100 allocations of up to 300.1 KiB, most of it System.Byte[] in Blobs.MakeBlob`,
/// and whether it names a place.
fn large_type(alloc: &AllocReport, own: &OwnModules) -> Option<(String, bool)> {
    let source = alloc.sources.first()?;
    let kind = source.kinds.iter().find(|row| row.kind == "large")?;
    let row = source.types.iter().max_by_key(|row| row.large_bytes)?;
    // Of one type, the stack with most bytes is that of its large objects.
    let stack = source.stacks.iter().find(|stack| stack.type_name == row.type_name)?;
    let place = own.frame(&stack.frames);
    let has_place = place.is_some();
    let place = place.map_or_else(String::new, |(_, frame)| format!(" in {}", place_name(frame)));
    let size =
        row.max_object_bytes.map_or_else(String::new, |most| format!(" of up to {}", bytes(most)));
    let text = format!(
        ": {} in {}{size}, most of it {}{place}",
        bytes(kind.bytes),
        counted(kind.events, "allocation"),
        row.type_name
    );
    Some((text, has_place))
}

/// `most of what is allocated is System.Byte[] in Blobs.MakeBlob`, if samples of allocations
/// say so.
pub(super) fn allocates(alloc: &AllocReport, own: &OwnModules) -> Option<String> {
    let source = alloc.sources.first()?;
    let mut places: BTreeMap<(&Frame, &str), u64> = BTreeMap::new();
    for stack in &source.stacks {
        let Some((_, frame)) = own.frame(&stack.frames) else { continue };
        let sum = places.entry((frame, &stack.type_name)).or_default();
        *sum = sum.saturating_add(stack.bytes);
    }
    let ((method, type_name), most) = places.into_iter().max_by_key(|(_, bytes)| *bytes)?;
    let share = percent(most, source.bytes);
    (share >= LEAST_ALLOCATED).then(|| {
        format!("{share:.0} % of what is allocated is {type_name} in {}", place_name(method))
    })
}

/// Young collections that copy what they should free: objects that live just long enough.
fn promoted(report: &GcReport) -> Option<String> {
    let young = report.collections.iter().filter(|row| row.generation < 2);
    let copied: Vec<u64> = young
        .filter(|row| row.survival_percent.is_some_and(|percent| percent >= LEAST_SURVIVAL))
        .filter_map(|row| row.promoted_bytes)
        .collect();
    let bytes_copied = copied.iter().fold(0_u64, |sum, bytes| sum.saturating_add(*bytes));
    let is_much = bytes_copied >= LEAST_PROMOTED
        && copied.len().saturating_mul(2) >= report.collections.len();
    is_much.then(|| {
        let allocated = report.totals.allocated_bytes;
        let of = match allocated > bytes_copied {
            true => format!(" of at least {} allocated", bytes(allocated)),
            false => String::new(),
        };
        format!(
            "{} of them copied {}{of}, as most of what is young survives and is promoted",
            count(copied.len() as u64),
            bytes(bytes_copied)
        )
    })
}

fn growth(collections: &[Collection]) -> Option<String> {
    let sizes: Vec<u64> = collections.iter().filter_map(|row| row.heap_after_bytes).collect();
    let (first, last) = (*sizes.first()?, *sizes.last()?);
    // Each of the later half is larger than each of the earlier one.
    let (early, late) = sizes.split_at_checked(sizes.len() / 2)?;
    let only_grows = sizes.len() >= FEWEST_COLLECTIONS
        && last >= first.saturating_mul(LEAST_GROWTH)
        && last >= LEAST_PROMOTED
        && late.iter().min() > early.iter().max();
    let grown = last.saturating_sub(first) as f64;
    let nanos = collections.last()?.start_ns.saturating_sub(collections.first()?.start_ns);
    let rate = match nanos {
        1.. => format!(", {}/s", bytes(rounded(grown * 1e9 / nanos as f64))),
        _ => String::new(),
    };
    only_grows
        .then(|| format!("the heap only grew, from {} to {}{rate}", bytes(first), bytes(last)))
}

fn holes(collections: &[Collection]) -> Option<String> {
    let last = collections.iter().rev().find(|row| row.fragmentation_percent.is_some())?;
    let (share, pinned) = (last.fragmentation_percent?, last.pinned_objects?);
    (share >= LEAST_HOLES && pinned >= LEAST_PINNED).then(|| {
        format!(
            "{share:.0} % of the heap is holes, between {} pinned objects",
            count(pinned.into())
        )
    })
}
