//! Why collections come, and why they are dear.

use super::finding::without_arguments;
use crate::report::{Collection, GcReport};
use nettrace_export::units::{bytes, count};

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
/// Maximum number of reasons in a sentence.
const MOST_REASONS: usize = 2;

/// Reasons, each after a semicolon; empty if there is none that stands out. `collector` is
/// the method that calls `GC.Collect`, `allocator` the one that most samples are in, if no other
/// finding names it.
pub(super) fn why(report: &GcReport, collector: Option<&str>, allocator: Option<&str>) -> String {
    let reasons = [
        asked_for(report, collector),
        holes(&report.collections),
        growth(&report.collections),
        large_objects(&report.collections),
        promoted(report),
    ];
    let reasons = reasons.into_iter().flatten().take(MOST_REASONS);
    let place =
        allocator.map(|method| format!("most samples are in {}", without_arguments(method)));
    reasons.chain(place).map(|reason| format!("; {reason}")).collect()
}

fn asked_for(report: &GcReport, collector: Option<&str>) -> Option<String> {
    let (asked, all) = (report.totals.induced, report.totals.count);
    let by = collector.map_or(String::new(), |by| format!(" in {}", without_arguments(by)));
    let how_many = if asked == all { "all".to_owned() } else { count(asked) };
    // The collection of a heap dump was asked for by whoever wanted the dump.
    (all >= FEWEST_COLLECTIONS as u64 && asked.saturating_mul(2) >= all)
        .then(|| format!("{how_many} were asked for by GC.Collect{by}"))
}

fn large_objects(collections: &[Collection]) -> Option<String> {
    let is_large = |row: &&Collection| row.reason.contains("Large");
    let large = collections.iter().filter(is_large).count() as u64;
    let all = collections.len() as u64;
    (large > 0 && large.saturating_mul(2) >= all)
        .then(|| format!("{} of them because large objects were allocated", count(large)))
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
        format!(
            "{} of them copied {}, as most of what is young survives",
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
    only_grows.then(|| format!("the heap only grew, from {} to {}", bytes(first), bytes(last)))
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
