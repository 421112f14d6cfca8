//! Timelines, opened by the programs for which they are made: Perfetto's trace processor,
//! speedscope in Chromium with its schema, Firefox Profiler's command line.
//! `analysis/consumers/install` gets them.

use crate::common;
use crate::consumers_stacks::ran;
use nettrace_analysis::convert::{ConvertOptions, Format};
use nettrace_analysis::model::{Category, TimelineMark};
use nettrace_analysis::report::{Report, Threads, TopNOptions};
use nettrace_analysis::{Analysis, AnalysisOptions, Finished};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const TRACE: &str = "net10-linux-x64/all.nettrace";

fn trace(name: &str) -> Vec<u8> {
    corpus::trace(name).bytes()
}

/// Writes a trace in a format. Returns the file and the finished analysis.
fn converted(bytes: &[u8], format: &str, name: &str) -> (PathBuf, Finished) {
    let format = Format::by_name(format).unwrap();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut options = AnalysisOptions::default();
    options.kinds = format.kinds.to_vec();
    let mut analysis = Analysis::new(options);
    let file = std::fs::File::create(&path).unwrap();
    analysis.add_format(format, file, &ConvertOptions::default());
    assert!(analysis.read(&mut Reader::from_slice(bytes).time_ordered()).unwrap().is_complete);
    (path, analysis.finish().unwrap())
}

fn marks(bytes: &[u8]) -> Vec<TimelineMark> {
    let (complete, others) = common::marks_of(bytes);
    [complete, others].concat()
}

/// Returns the folder of `analysis/consumers/install`.
fn consumers() -> PathBuf {
    std::env::var_os("NETTRACE_CONSUMERS").map_or_else(
        || PathBuf::from(std::env::var_os("HOME").unwrap()).join(".cache/nettrace-consumers"),
        PathBuf::from,
    )
}

/// Runs a script of `analysis/consumers`, and returns the JSON documents that it prints, one a
/// line.
fn script(name: &str, arguments: &[&str]) -> Vec<Json> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("consumers").join(name);
    let text = ran("node", &[&[script.to_str().unwrap()], arguments].concat());
    // The engine prints other lines, too.
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn map(rows: &Json) -> BTreeMap<String, Vec<Json>> {
    let row = |row: &Json| {
        let cells = row.as_array().unwrap();
        (cells[0].as_str().map_or_else(|| cells[0].to_string(), str::to_owned), cells[1..].to_vec())
    };
    rows.as_array().unwrap().iter().map(row).collect()
}

/// Returns count and length of our spans and instants, by category.
fn expected_slices(marks: &[TimelineMark], instant_nanos: u64) -> BTreeMap<String, Vec<Json>> {
    let mut sums: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for mark in marks {
        let (category, nanos) = match mark {
            TimelineMark::Span(span) => (span.category, span.nanos),
            TimelineMark::Instant(instant) => {
                (instant.category, if instant.flow.is_some() { instant_nanos } else { 0 })
            }
            _ => continue,
        };
        let sum = sums.entry(category.name()).or_default();
        *sum = (sum.0 + 1, sum.1 + nanos);
    }
    sums.into_iter()
        .map(|(name, (count, nanos))| (name.to_owned(), vec![json!(count), json!(nanos)]))
        .collect()
}

/// Returns count and sum of our counters' points, by name.
fn expected_counters(marks: &[TimelineMark]) -> BTreeMap<String, (u64, f64)> {
    let mut sums: BTreeMap<String, (u64, f64)> = BTreeMap::new();
    for mark in marks {
        if let TimelineMark::Counter(point) = mark {
            let sum = sums.entry(point.name.to_string()).or_default();
            *sum = (sum.0 + 1, sum.1 + point.value);
        }
    }
    sums
}

const ERRORS: &str =
    "select name, value, severity from stats where value > 0 and severity != 'info'";
const SLICES: &str =
    "select category, count(*), sum(dur) from slice where category != 'sample' group by category";
/// Query of all counters but `cpu-clock`, which Perfetto makes from samples.
const COUNTERS: &str = "select t.name, count(*), sum(c.value) from counter c \
                        join counter_track t on c.track_id = t.id where t.name != 'cpu-clock' group by t.name";
const FLOWS: &str = "select count(*) from flow f join slice a on f.slice_out = a.id join slice b on f.slice_in = b.id \
                     where a.name = 'task scheduled' and b.name != a.name";

mod with_node {
    use super::*;

    #[test]
    #[ignore = "needs node"]
    fn perfetto_counts_what_we_wrote_for_it() {
        let home = consumers();
        let bytes = trace(TRACE);
        let (path, finished) = converted(&bytes, "perfetto", "all.pftrace");
        let by_thread =
            "select t.tid, count(*) from perf_sample s join thread t using (utid) group by t.tid";
        let by_leaf = "select f.name, count(*) from perf_sample s join stack_profile_callsite c on s.callsite_id = c.id \
                   join stack_profile_frame f on c.frame_id = f.id group by f.name";
        let folder = home.join("perfetto");
        let queries = [ERRORS, SLICES, COUNTERS, FLOWS, by_thread, by_leaf];
        let mut arguments = vec![folder.to_str().unwrap(), path.to_str().unwrap()];
        arguments.extend(queries);
        let printed = script("perfetto.cjs", &arguments);
        let marks = marks(&bytes);
        assert_eq!(printed[0], json!([]), "error statistics");
        assert_eq!(map(&printed[1]), expected_slices(&marks, 0));
        let (counters, expected) = (map(&printed[2]), expected_counters(&marks));
        assert_eq!(counters.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        for (name, (count, sum)) in &expected {
            let theirs = counters[name][1].as_f64().unwrap();
            assert_eq!(counters[name][0], *count, "{name}");
            // The sums are added in different orders.
            assert!((theirs - sum).abs() <= sum.abs() * 1e-9, "{name}: {theirs} {sum}");
        }
        assert_eq!(printed[3], json!([[376]]));
        let threads = Threads.finish(&finished.resolved());
        let ours: BTreeMap<String, Vec<Json>> = threads
            .threads
            .iter()
            .filter(|thread| thread.samples > 0)
            .map(|thread| (thread.thread_id.unwrap().to_string(), vec![json!(thread.samples)]))
            .collect();
        assert_eq!(map(&printed[4]), ours);
        let mut options = TopNOptions::default();
        options.count = usize::MAX;
        let top = options.finish(&finished.resolved());
        let ours: BTreeMap<String, Vec<Json>> = top
            .methods
            .iter()
            .filter(|row| row.self_samples > 0)
            .map(|row| (row.name.clone(), vec![json!(row.self_samples)]))
            .collect();
        assert_eq!(map(&printed[5]), ours);
    }

    #[test]
    #[ignore = "needs node"]
    fn perfetto_counts_what_we_wrote_for_chrome() {
        let home = consumers();
        let bytes = trace(TRACE);
        let (path, finished) = converted(&bytes, "chromium", "all.chromium.json");
        let counters = "select replace(replace(t.name, ' bytes', ''), ' value', ''), count(*) from counter c \
                    join counter_track t on c.track_id = t.id group by t.name";
        let sampled = "select sum(dur) from slice where category = 'sample' and depth = 0";
        let folder = home.join("perfetto");
        let mut arguments = vec![folder.to_str().unwrap(), path.to_str().unwrap()];
        arguments.extend([ERRORS, SLICES, counters, FLOWS, sampled]);
        let printed = script("perfetto.cjs", &arguments);
        let marks = marks(&bytes);
        assert_eq!(printed[0], json!([]), "error statistics");
        assert_eq!(map(&printed[1]), expected_slices(&marks, 1));
        let points = marks.iter().filter(|mark| matches!(mark, TimelineMark::Counter(_))).count();
        let counted: u64 = map(&printed[2]).values().map(|cells| cells[0].as_u64().unwrap()).sum();
        assert_eq!(counted, points as u64);
        assert_eq!(map(&printed[2])["GC heap size"], [json!(62)]);
        assert_eq!(printed[3], json!([[376]]));
        let threads = Threads.finish(&finished.resolved());
        assert!(threads.threads.iter().any(|thread| thread.samples > 0));
        let mut options = TopNOptions::default();
        options.count = usize::MAX;
        let top = options.finish(&finished.resolved());
        // Stacks without frames have no span.
        let with_frames: u64 = top.methods.iter().map(|row| row.self_ns).sum();
        assert_eq!(printed[4], json!([[with_frames]]));
    }

    #[test]
    #[ignore = "needs node"]
    fn speedscope_opens_its_own_and_chromes_format_without_a_complaint() {
        let home = consumers();
        let bytes = trace(TRACE);
        let own = converted(&bytes, "speedscope", "timelines.speedscope.json").0;
        let chromium = converted(&bytes, "chromium", "timelines.chromium.json").0;
        let home = home.to_str().unwrap();
        let files = [own.to_str().unwrap(), chromium.to_str().unwrap()];
        let all = script("speedscope.cjs", &[home, "-", files[0], files[1]]);
        assert_eq!(all.len(), files.len());
        for opened in all {
            assert_eq!(opened["ok"], true, "{opened}");
            let log = opened["log"].as_array().unwrap();
            let complaint = |line: &&Json| line.as_str().unwrap().contains("Tried to");
            assert_eq!(log.iter().filter(complaint).count(), 0, "{opened}");
        }
    }

    #[test]
    #[ignore = "needs node"]
    fn speedscopes_schema_is_kept() {
        let home = consumers();
        let names = ["net10-linux-x64/all", "net3.1-linux-x64/all", "one-collect-v6/cpu"];
        let files: Vec<PathBuf> = names
            .iter()
            .map(|name| {
                let file = format!("{}.speedscope.json", name.replace('/', "-"));
                converted(&trace(&format!("{name}.nettrace")), "speedscope", &file).0
            })
            .collect();
        let mut arguments = vec![home.to_str().unwrap()];
        arguments.extend(files.iter().map(|file| file.to_str().unwrap()));
        let printed = script("schema.cjs", &arguments);
        assert_eq!(printed, [json!([]), json!([]), json!([])]);
    }

    #[cfg(feature = "firefox")]
    #[test]
    #[ignore = "needs node"]
    fn firefox_profiler_counts_what_we_wrote_for_it() {
        let home = consumers();
        let bytes = trace(TRACE);
        let (path, finished) = converted(&bytes, "firefox", "all.firefox.json");
        let marks = marks(&bytes);
        let mut markers: BTreeMap<&str, u64> = BTreeMap::new();
        for mark in &marks {
            match mark {
                TimelineMark::Span(span) => *markers.entry(span.category.name()).or_default() += 1,
                TimelineMark::Instant(instant) => {
                    *markers.entry(instant.category.name()).or_default() += 1
                }
                _ => {}
            }
        }
        // The filter takes every category whose name contains the text.
        markers.remove("GC");
        let searches: Vec<String> = markers
            .keys()
            .chain([&"Thread state"])
            .map(|name| format!("profile markers --limit 1 --category {}", name.replace(' ', "_")))
            .collect();
        let mut arguments = vec![home.to_str().unwrap(), path.to_str().unwrap()];
        arguments.extend(["thread info --thread t-0", "counter list", "thread list"]);
        arguments.extend(searches.iter().map(String::as_str));
        let printed = script("firefox.cjs", &arguments);
        let first: u64 = printed[0]["tid"].as_str().unwrap().parse().unwrap();
        let threads = Threads.finish(&finished.resolved());
        let row = threads.threads.iter().find(|row| row.thread_id == Some(first)).unwrap();
        assert!(row.samples > 1000);
        assert_eq!(printed[0]["sampleCount"], row.samples);
        let heap = printed[1]["counters"]
            .as_array()
            .unwrap()
            .iter()
            .find(|row| row["name"] == "GC heap size");
        assert_eq!(heap.unwrap()["rangeSampleCount"], 62);
        let sum = |key| {
            printed[2]["threads"]
                .as_array()
                .unwrap()
                .iter()
                .map(|row| row[key].as_u64().unwrap())
                .sum::<u64>()
        };
        let states = printed.last().unwrap()["totalCount"].as_u64().unwrap();
        assert!(states > 100);
        assert_eq!(
            sum("markerCount"),
            marks.iter().filter(|mark| !matches!(mark, TimelineMark::Counter(_))).count() as u64
                + states
        );
        // Pauses belong to no thread.
        let pauses = |name: &str| {
            let rows = printed[2]["threads"].as_array().unwrap();
            let row = rows
                .iter()
                .find(|row| row["name"] == name)
                .unwrap_or_else(|| panic!("{name}: {}", printed[2]));
            row["markerCount"].as_u64().unwrap()
        };
        let is_pause = |mark: &&TimelineMark, for_gc: bool| matches!(mark, TimelineMark::Span(span) if span.category == if for_gc { Category::Pause } else { Category::SamplerPause });
        for (name, for_gc) in [("GC pauses", true), ("Sampler pauses", false)] {
            assert_eq!(
                pauses(name),
                marks.iter().filter(|mark| is_pause(mark, for_gc)).count() as u64,
                "{name}"
            );
        }
        for ((name, count), printed) in markers.iter().zip(&printed[3..]) {
            assert_eq!(printed["totalCount"], *count, "{name}");
        }
    }
}
