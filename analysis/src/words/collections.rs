//! Parts of sentences about why collections came and what was allocated.

use super::frames::{after, name};
use crate::fact::{AllocatedType, CollectionPlace, CollectionReason, LargeObjects};
use crate::model::rounded;
use nettrace_export::units::{count, counted, short_bytes as bytes};

/// Writes the reasons and the method behind them, each after a semicolon.
pub(super) fn reasons(reasons: &[CollectionReason], behind: Option<&CollectionPlace>) -> String {
    let place = behind.map(|place| match place {
        CollectionPlace::Allocates(most) => most_allocated(most),
        CollectionPlace::Begins(place) => format!("most begin in {}", name(place)),
        CollectionPlace::Busiest(place) => format!("most samples are in {}", name(place)),
    });
    let texts = reasons.iter().map(reason).chain(place);
    texts.map(|text| format!("; {text}")).collect()
}

/// Writes the type with most allocated bytes: `43 % of what is allocated is System.Byte[] in
/// Blobs.MakeBlob`.
pub(super) fn most_allocated(most: &AllocatedType) -> String {
    format!(
        "{:.0} % of what is allocated is {}{}",
        most.percent.unwrap_or(0.0),
        most.type_name,
        after(" in ", most.place.as_ref())
    )
}

fn reason(reason: &CollectionReason) -> String {
    match reason {
        CollectionReason::Induced { induced, of, by } => format!(
            "{} were induced: asked for by GC.Collect{}",
            if induced == of { "all".to_owned() } else { count(*induced) },
            after(" in ", by.as_ref())
        ),
        CollectionReason::AtLimit { collections, after_bytes, is_out_of_memory } => {
            let each = if *collections == 1 { "" } else { " each time" };
            let thrown = match is_out_of_memory {
                true => ", until an OutOfMemoryException was thrown",
                false => "",
            };
            format!(
                "{} came because there was no room, and left {}{each}{thrown}: the heap is at its \
                 limit (GCHeapHardLimit, or the container's memory)",
                count(*collections),
                bytes(*after_bytes)
            )
        }
        CollectionReason::Holes { percent, pinned_objects } => format!(
            "{percent:.0} % of the heap is holes, between {} pinned objects",
            count((*pinned_objects).into())
        ),
        CollectionReason::Growth { from_bytes, to_bytes, bytes_per_second } => {
            let rate = bytes_per_second
                .map_or_else(String::new, |rate| format!(", {}/s", bytes(rounded(rate))));
            let (from, to) = (bytes(*from_bytes), bytes(*to_bytes));
            format!("the heap only grew, from {from} to {to}{rate}")
        }
        CollectionReason::LargeObjects { collections, of, is_generation_2, objects } => {
            let how_many = match collections == of {
                true => "all".to_owned(),
                false => format!("{} of them", count(*collections)),
            };
            let old = if *is_generation_2 { " of generation 2," } else { "" };
            let objects = objects.as_ref().map_or_else(
                || " (--profile gc-verbose records which, and where)".to_owned(),
                large_objects,
            );
            format!("{how_many}{old} because large objects were allocated{objects}")
        }
        CollectionReason::Survival { collections, copied_bytes, allocated_bytes } => {
            let of = allocated_bytes.map_or_else(String::new, |allocated| {
                format!(" of at least {} allocated", bytes(allocated))
            });
            format!(
                "{} of them copied {}{of}, as most of what is young survives and is promoted",
                count(*collections),
                bytes(*copied_bytes)
            )
        }
    }
}

/// Writes `: 29.3 MiB in 100 allocations of up to 300 KiB, most of it System.Byte[] in
/// Blobs.MakeBlob`.
fn large_objects(objects: &LargeObjects) -> String {
    let size = objects
        .max_object_bytes
        .map_or_else(String::new, |most| format!(" of up to {}", bytes(most)));
    format!(
        ": {} in {}{size}, most of it {}{}",
        bytes(objects.bytes),
        counted(objects.allocations, "allocation"),
        objects.type_name,
        after(" in ", objects.place.as_ref())
    )
}
