//! Tests that ids of equal stacks and frames are equal in all traces.

use crate::memory_files::{files_of, rows_of, text, whole};
use nettrace_testdata::corpus;
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn equal_frames_of_different_traces_have_equal_ids_and_equal_ids_mean_equal_frames() {
    let (mut by_id, mut by_text) = (BTreeMap::new(), BTreeMap::new());
    let (mut traces, mut again) = (0, 0);
    for trace in corpus::traces() {
        traces += 1;
        for row in rows_of(&files_of(&trace.bytes()), "frames") {
            let id = whole(&row, "frame_id").unwrap();
            let name = format!("{:?} {:?}", text(&row, "kind"), text(&row, "text"));
            again += u32::from(by_id.contains_key(&id));
            assert_eq!(by_id.entry(id).or_insert_with(|| name.clone()), &name);
            assert_eq!(by_text.entry(name).or_insert(id), &id);
        }
    }
    assert!(traces > 3 && again > 100, "{traces} traces, {again} frames seen again");
}

#[test]
fn the_same_trace_gives_the_same_bytes() {
    let bytes = corpus::trace("net10-linux-x64/all.nettrace").bytes();
    assert!(files_of(&bytes) == files_of(&bytes));
}

/// Compares ids with constants, because existing data sets have these ids.
#[test]
fn ids_of_frames_and_stacks_are_documented_hashes() {
    let bytes = corpus::trace("net10-linux-x64/all.nettrace").bytes();
    let files = files_of(&bytes);
    let hash = |bytes: &[u8]| twox_hash::XxHash64::oneshot(0, bytes).cast_signed();
    for row in rows_of(&files, "frames") {
        let joined = [text(&row, "kind").unwrap(), text(&row, "text").unwrap()].join("\0");
        assert_eq!(whole(&row, "frame_id"), Some(hash(joined.as_bytes())));
    }
    let mut stacks: BTreeMap<i64, Vec<u8>> = BTreeMap::new();
    for row in rows_of(&files, "stacks") {
        let frames = stacks.entry(whole(&row, "stack_id").unwrap()).or_default();
        assert_eq!(frames.len() / 8, whole(&row, "depth").unwrap() as usize);
        frames.extend(whole(&row, "frame_id").unwrap().to_le_bytes());
    }
    assert!(stacks.len() > 10);
    for (id, frames) in stacks {
        assert_eq!(id, hash(&frames));
    }
    assert_eq!(hash(b"managed\0a"), 2_048_787_732_134_317_237);
}

#[test]
fn each_activity_has_a_key_that_no_other_has() {
    for (name, activities) in [("ids-open-twice", 41), ("http-ids-open-twice", 201)] {
        let rows = rows_of(&files_of(&corpus::known(name).bytes()), "activities");
        let keys: BTreeSet<&str> = rows.iter().filter_map(|row| text(row, "key")).collect();
        assert_eq!((rows.len(), keys.len()), (activities, activities), "{name}");
    }
    let rows = rows_of(&files_of(&corpus::known("ids-open-twice").bytes()), "activities");
    let shared = rows.iter().filter(|row| text(row, "ends") == Some("shared_stop"));
    let shared: Vec<_> = shared.collect();
    assert_eq!(shared.len(), 30);
    for row in shared {
        let key = format!("/#2866/1/1/0@{}", whole(row, "time_ns").unwrap());
        assert_eq!((text(row, "key"), whole(row, "duration_ns")), (Some(key.as_str()), None));
    }
}
