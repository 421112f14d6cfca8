//! Collections and compiled methods against what the reference reader saw.
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
//! - `lossy`: of one method the end is lost, of another on the same thread the beginning,
//!   a second and a half later. The reference reader makes one method of them.

use flate2::read::GzDecoder;
use nettrace_analysis::AnalysisOptions;
use nettrace_analysis::report::{Gc, GcReport, Jit, JitReport, Report, ReportPass};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;

fn report<R: Report>(report: R, bytes: &[u8]) -> R::Output {
    // The reference reader shows names as they are stored.
    let mut options = AnalysisOptions::default();
    options.names.is_raw = true;
    let mut pass = ReportPass::with_options(report, options);
    assert!(pass.read(&mut Reader::from_slice(bytes).time_ordered()).unwrap().is_complete);
    pass.finish().output
}

/// The goldens of a kind: name of the trace, its lines, its bytes.
fn goldens(ending: &str) -> Vec<(String, Vec<Value>, Vec<u8>)> {
    let Some(shared) = corpus::shared_folder() else { return Vec::new() };
    let mut found = Vec::new();
    for trace in corpus::traces() {
        let Some(name) = trace.name().strip_suffix(".nettrace") else { continue };
        let path = shared.join("golden").join(format!("{name}{ending}"));
        let Ok(file) = std::fs::File::open(path) else { continue };
        let mut text = String::new();
        GzDecoder::new(file).read_to_string(&mut text).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        found.push((name.to_owned(), lines, trace.bytes()));
    }
    found
}

/// A number that the golden has as a text, in millionths of its unit: nanoseconds of
/// milliseconds, bytes of megabytes.
fn millionths(row: &Value, key: &str) -> i64 {
    (row[key].as_str().unwrap_or_else(|| panic!("{key} in {row}")).parse::<f64>().unwrap() * 1e6)
        .round() as i64
}

fn is_near(ours: u64, theirs: i64, within: u64) -> bool {
    i64::try_from(ours).unwrap().abs_diff(theirs) <= within
}

#[test]
fn collections_equal_the_reference_readers() {
    let goldens = goldens(".gc.jsonl.gz");
    let (mut longer, mut larger) = (Vec::new(), Vec::new());
    for (name, mut lines, bytes) in goldens {
        let total = lines.pop().unwrap()["total"].clone();
        let ours: GcReport = report(Gc::default(), &bytes);
        assert_eq!(ours.collections.len(), lines.len(), "{name}");
        assert_eq!(ours.totals.count, total["count"].as_u64().unwrap(), "{name}");
        for (row, golden) in ours.collections.iter().zip(&lines) {
            let place = format!("{name} {}", row.number);
            assert_eq!(u64::from(row.number), golden["number"].as_u64().unwrap(), "{place}");
            assert_eq!(
                u64::from(row.generation),
                golden["generation"].as_u64().unwrap(),
                "{place}"
            );
            assert_eq!(row.reason, golden["reason"].as_str().unwrap(), "{place}");
            assert_eq!(row.kind, golden["type"].as_str().unwrap(), "{place}");
            assert_eq!(row.is_complete, golden["complete"].as_bool().unwrap(), "{place}");
            assert!(is_near(row.start_ns as u64, millionths(golden, "start_ms"), 1), "{place}");
            assert!(
                is_near(row.duration_ns.unwrap(), millionths(golden, "duration_ms"), 1000),
                "{place}"
            );
            let is_equal = is_near(row.pause_ns, millionths(golden, "pause_ms"), 1000);
            if !is_equal {
                assert_eq!(row.kind, "BackgroundGC", "{place}");
                assert!(millionths(golden, "pause_ms") < row.pause_ns as i64, "{place}");
                longer.push(place.clone());
            }
            if !is_near(row.heap_before_bytes.unwrap(), millionths(golden, "heap_before_mb"), 0) {
                assert_eq!(row.kind, "BackgroundGC", "{place}");
                larger.push((place.clone(), row.heap_before_bytes.unwrap()));
            }
            assert!(
                is_near(row.heap_after_bytes.unwrap(), millionths(golden, "heap_after_mb"), 0),
                "{place}"
            );
            assert!(
                is_near(row.promoted_bytes.unwrap(), millionths(golden, "promoted_mb"), 0),
                "{place}"
            );
            for (place_in_row, key) in
                [(0, "gen0_after_mb"), (2, "gen2_after_mb"), (3, "loh_after_mb")]
            {
                let after = row.generations[place_in_row].after_bytes.unwrap();
                assert!(is_near(after, millionths(golden, key), 0), "{place} {key}");
            }
            assert_eq!(
                u64::from(row.pinned_objects.unwrap()),
                golden["pinned_objects"].as_u64().unwrap()
            );
        }
    }
    if corpus::shared_folder().is_some() {
        let expected = [
            "aspnet-net10-linux-x64/web 23",
            "aspnet-net10-linux-x64/web 30",
            "net10-linux-x64/alloc-sampled 236",
            "net10-linux-x64/heap-2 237",
            "net10-linux-x64/heap 237",
        ];
        assert_eq!(longer, expected);
        // The sum of the sizes in its runtime 204, the same as of the blocking collection
        // that began with it.
        assert_eq!(larger, [("aspnet-net10-linux-x64/web 23".to_owned(), 3_891_048)]);
    }
}

/// A method's name, IL bytes, native bytes, tier, background and thread.
type Method = (String, u64, u64, String, bool, u64);

#[test]
fn compiled_methods_equal_the_reference_readers() {
    let goldens = goldens(".jit.jsonl.gz");
    if corpus::shared_folder().is_some() {
        assert_eq!(goldens.len(), 4);
    }
    for (name, lines, bytes) in goldens {
        let ours: JitReport = report(Jit::default(), &bytes);
        let is_lossy = name == "net10-linux-x64/lossy";
        assert_eq!(ours.methods.len(), lines.len() + usize::from(is_lossy), "{name}");
        let mut counted: BTreeMap<Method, i64> = BTreeMap::new();
        for row in &ours.methods {
            let key = (
                row.name.clone(),
                u64::from(row.il_bytes),
                u64::from(row.native_bytes),
                row.tier.to_owned(),
                row.background,
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
            modules += usize::from(ours.methods.iter().any(|row| is_module(&row.module, &file)));
        }
        counted.retain(|_, count| *count != 0);
        if is_lossy {
            let mut sizes: Vec<(u64, u64, i64)> =
                counted.iter().map(|((_, il, native, ..), count)| (*il, *native, *count)).collect();
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
}
