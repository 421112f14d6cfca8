//! Compares collections and compiled methods with the reference reader's.
//!
//! Where it differs and we are right:
//! - The first stop of a background collection. The reference reader counts it until all
//!   threads stand still; they stand still until they are let go, and that is what we
//!   count. It shows where that stop is long: a collection that was begun in the
//!   background and blocked after all (`alloc-sampled`, `heap`, `web` 30), one that began
//!   with a blocking one in the same stop (`heap-2`, `web` 23).
//! - The size before a background collection whose history is reported after its end (`web`
//!   23). The reference reader shows what the collection before left; it was 2.5 MB more
//!   when this one began.
//! - A collection of which events are lost. Where its end is, there is no duration; where
//!   its history is, no size before: the reference reader shows 0, and also where the
//!   history is there (net11's `lossy` 107). It leaves one out whose pause is lost
//!   (net11's `lossy` 12).
//! - A method compiled in the background whose end is lost (`lossy`) or after the end of the
//!   trace (`classic-async`): the reference reader says it is in the background only when it
//!   is done.
//! - `lossy` of net10: of one method the end is lost, of another on the same thread the beginning,
//!   a second and a half later. The reference reader makes one method of them.

use super::common;
use nettrace_analysis::AnalysisOptions;
use nettrace_analysis::report::{Gc, GcKind, GcReport, Jit, JitReport, Report, ReportPass};
use nettrace_parser::Reader;
use serde_json::Value;
use std::collections::BTreeMap;

fn report<R: Report>(report: R, bytes: &[u8]) -> R::Output {
    // The reference reader shows stored names.
    let mut options = AnalysisOptions::default();
    options.names.is_raw = true;
    let mut pass = ReportPass::with_options(report, options);
    assert!(pass.read(&mut Reader::from_slice(bytes).time_ordered()).unwrap().is_complete);
    pass.finish().output
}

/// Returns the goldens of a kind: name, rows and bytes of each trace.
fn goldens(ending: &str) -> Vec<(String, Vec<Value>, Vec<u8>)> {
    let parsed =
        |text: &str| text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    common::goldens(ending)
        .into_iter()
        .map(|(name, text, bytes)| (name, parsed(&text), bytes))
        .collect()
}

/// Returns a number of the golden in millionths of its unit: nanoseconds of milliseconds, bytes of
/// megabytes.
fn millionths(row: &Value, key: &str) -> i64 {
    (row[key].as_str().unwrap_or_else(|| panic!("{key} in {row}")).parse::<f64>().unwrap() * 1e6)
        .round() as i64
}

/// Returns whether a number is the golden's, which is -1 or NaN if events are lost.
fn agrees(ours: Option<u64>, golden: &Value, key: &str, within: u64) -> bool {
    let is_lost = matches!(golden[key].as_str(), Some("-1" | "NaN"));
    match ours {
        Some(ours) => !is_lost && is_near(ours, millionths(golden, key), within),
        None => is_lost,
    }
}

fn is_near(ours: u64, theirs: i64, within: u64) -> bool {
    i64::try_from(ours).unwrap().abs_diff(theirs) <= within
}

/// Name, IL bytes, native bytes, tier, background and thread of a method.
type Method = (String, u64, u64, String, bool, u64);

mod with_shared {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn collections_equal_the_reference_readers() {
        let (mut longer, mut larger, mut alone) = (Vec::new(), Vec::new(), Vec::new());
        for (name, mut lines, bytes) in goldens(".gc.jsonl.gz") {
            let total = lines.pop().unwrap()["total"].clone();
            let ours: GcReport = report(Gc::default(), &bytes);
            assert_eq!(ours.totals.count, total["count"].as_u64().unwrap(), "{name}");
            let mut lines = lines.iter().peekable();
            for row in &ours.collections {
                let place = format!("{name} {}", row.number);
                let is_this = |golden: &&Value| golden["number"] == u64::from(row.number);
                let Some(golden) = lines.next_if(is_this) else {
                    assert!(!row.is_complete, "{place}");
                    alone.push(place);
                    continue;
                };
                assert_eq!(
                    u64::from(row.generation),
                    golden["generation"].as_u64().unwrap(),
                    "{place}"
                );
                assert_eq!(row.reason.to_string(), golden["reason"].as_str().unwrap(), "{place}");
                assert_eq!(row.kind.to_string(), golden["type"].as_str().unwrap(), "{place}");
                assert_eq!(row.is_complete, golden["complete"].as_bool().unwrap(), "{place}");
                assert!(is_near(row.start_ns as u64, millionths(golden, "start_ms"), 1), "{place}");
                let duration = row.duration_ns.unwrap_or_else(|| {
                    assert!(!row.is_complete, "{place}");
                    0
                });
                assert!(is_near(duration, millionths(golden, "duration_ms"), 1000), "{place}");
                let is_equal = is_near(row.pause_ns, millionths(golden, "pause_ms"), 1000);
                if !is_equal {
                    assert_eq!(row.kind, GcKind::Background, "{place}");
                    assert!(millionths(golden, "pause_ms") < row.pause_ns as i64, "{place}");
                    longer.push(place.clone());
                }
                let before = row.heap_before_bytes.unwrap_or_else(|| {
                    assert!(!row.is_complete, "{place}");
                    0
                });
                if !is_near(before, millionths(golden, "heap_before_mb"), 0) {
                    assert!(row.kind == GcKind::Background || !row.is_complete, "{place}");
                    larger.push((place.clone(), before));
                }
                for (ours, key) in
                    [(row.heap_after_bytes, "heap_after_mb"), (row.promoted_bytes, "promoted_mb")]
                {
                    assert!(agrees(ours, golden, key, 0), "{place} {key}");
                }
                for (place_in_row, key) in
                    [(0, "gen0_after_mb"), (2, "gen2_after_mb"), (3, "loh_after_mb")]
                {
                    let after = row.generations.get(place_in_row).and_then(|row| row.after_bytes);
                    assert!(agrees(after, golden, key, 0), "{place} {key}");
                }
                let pinned = golden["pinned_objects"].as_i64().unwrap();
                assert_eq!(row.pinned_objects.map_or(-1, i64::from), pinned, "{place}");
            }
            assert_eq!(lines.next(), None, "{name}");
        }
        let expected = [
            "aspnet-net10-linux-x64/web 23",
            "aspnet-net10-linux-x64/web 30",
            "net10-linux-x64/alloc-sampled 236",
            "net10-linux-x64/heap-2 237",
            "net10-linux-x64/heap 237",
        ];
        assert_eq!(longer, expected);
        // This is the sum of the sizes in the collection's event 204, and equal to that of the
        // blocking collection that began with it.
        let background = ("aspnet-net10-linux-x64/web 23".to_owned(), 3_891_048);
        let incomplete = ("net11-linux-x64/lossy 107".to_owned(), 9_268_624);
        assert_eq!(larger, [background, incomplete]);
        assert_eq!(alone, ["net11-linux-x64/lossy 12"]);
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn compiled_methods_equal_the_reference_readers() {
        let mut unfinished = Vec::new();
        for (name, lines, bytes) in goldens(".jit.jsonl.gz") {
            let ours: JitReport = report(Jit::default(), &bytes);
            let is_lossy = name == "net10-linux-x64/lossy";
            assert_eq!(ours.methods.len(), lines.len() + usize::from(is_lossy), "{name}");
            let mut counted: BTreeMap<Method, i64> = BTreeMap::new();
            for row in &ours.methods {
                let is_unfinished = row.background && row.native_bytes == 0;
                if is_unfinished {
                    assert!(!row.is_complete, "{name} {}", row.name);
                    unfinished.push(name.clone());
                }
                let key = (
                    row.name.clone(),
                    u64::from(row.il_bytes),
                    u64::from(row.native_bytes),
                    row.tier.to_owned(),
                    row.background && !is_unfinished,
                    row.thread.unwrap(),
                );
                *counted.entry(key).or_default() += 1;
            }
            let (mut theirs_ns, mut modules) = (0, 0);
            for golden in &lines {
                let number = |key: &str| golden[key].as_u64().unwrap();
                let text = |key: &str| golden[key].as_str().unwrap().to_owned();
                let key = (
                    text("method"),
                    number("il_bytes"),
                    number("native_bytes"),
                    text("tier"),
                    golden["background"].as_bool().unwrap(),
                    number("thread"),
                );
                *counted.entry(key).or_default() -= 1;
                theirs_ns += millionths(golden, "compile_ms");
                let (file, is_module) =
                    (text("module"), |row: &str, file: &str| row == file.trim_end_matches(".dll"));
                modules +=
                    usize::from(ours.methods.iter().any(|row| is_module(&row.module, &file)));
            }
            counted.retain(|_, count| *count != 0);
            if is_lossy {
                let mut sizes: Vec<(u64, u64, i64)> = counted
                    .iter()
                    .map(|((_, il, native, ..), count)| (*il, *native, *count))
                    .collect();
                sizes.sort_unstable();
                assert_eq!(sizes, [(0, 980, 1), (42, 0, 1), (42, 980, -1)], "{counted:#?}");
                theirs_ns -= 1_472_749_707;
            } else {
                assert!(counted.is_empty(), "{name}: ours 1, theirs -1: {counted:#?}");
            }
            assert!(
                is_near(ours.totals.duration_ns, theirs_ns, 1_000_000),
                "{name}: {}",
                ours.totals.duration_ns
            );
            assert_eq!(modules, lines.len(), "{name}");
        }
        let expected =
            ["net10-linux-x64/lossy", "net11-linux-x64/classic-async", "net11-linux-x64/lossy"];
        assert_eq!(unfinished, expected);
    }
}
