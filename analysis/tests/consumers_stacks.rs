//! Formats of stacks, opened by the programs for which they are made: `go tool pprof`, speedscope
//! and Chromium. `analysis/consumers/install` gets them.

use nettrace_analysis::convert::{ConvertOptions, Format};
use nettrace_analysis::report::{Report, Threads, TopN, TopNOptions};
use nettrace_analysis::{Analysis, AnalysisOptions, Finished, Kind};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

const TRACE: &str = "net10-linux-x64/samples-only.nettrace";

/// Writes a trace in a format. Returns the file and the finished analysis.
fn converted(trace: &str, format: &str, name: &str) -> (PathBuf, Finished) {
    let bytes = corpus::trace(trace).bytes();
    let format = Format::by_name(format).unwrap();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut options = AnalysisOptions::default();
    options.kinds = format.kinds.to_vec();
    let mut analysis = Analysis::new(options);
    let file = std::fs::File::create(&path).unwrap();
    analysis.add_format(format, file, &ConvertOptions::default());
    let _ = analysis.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap();
    (path, analysis.finish().unwrap())
}

fn top(finished: &Finished) -> TopN {
    let mut options = TopNOptions::default();
    options.count = usize::MAX;
    options.finish(&finished.resolved())
}

/// Runs a program, and returns its output.
pub(crate) fn ran(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{program} {arguments:?} (analysis/consumers/install gets what it needs): {message}"
    );
    String::from_utf8(output.stdout).unwrap()
}

/// Runs a script of `analysis/consumers`, and returns its output.
pub(crate) fn script(name: &str, file: &Path, arguments: &[&str]) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("consumers").join(name);
    let words = [script.to_str().unwrap(), file.to_str().unwrap()];
    ran("node", &[&words, arguments].concat())
}

/// Returns the first number of a line: 12 of `  12.0 (3%): x`.
fn first_number(line: &str) -> u64 {
    line.split_whitespace().next().unwrap().parse::<f64>().unwrap() as u64
}

/// Returns self weights by frame of a profile that speedscope exported.
fn self_weights(document: &Json) -> BTreeMap<String, u64> {
    let frames = document["shared"]["frames"].as_array().unwrap();
    let name = |frame: &Json| {
        frames[frame.as_u64().unwrap() as usize]["name"].as_str().unwrap().to_owned()
    };
    let mut sums = BTreeMap::new();
    let profile = &document["profiles"][0];
    if profile["type"] == "sampled" {
        let weights = profile["weights"].as_array().unwrap();
        for (sample, weight) in profile["samples"].as_array().unwrap().iter().zip(weights) {
            let leaf = sample.as_array().unwrap().last().unwrap();
            *sums.entry(name(leaf)).or_insert(0) += weight.as_u64().unwrap();
        }
        return sums;
    }
    let mut open: Vec<String> = Vec::new();
    let mut before = 0;
    for event in profile["events"].as_array().unwrap() {
        let at = event["at"].as_u64().unwrap();
        if let Some(leaf) = open.last() {
            *sums.entry(leaf.clone()).or_insert(0) += at - before;
        }
        before = at;
        match event["type"].as_str().unwrap() {
            "O" => open.push(name(&event["frame"])),
            _ => assert_eq!(open.pop(), Some(name(&event["frame"]))),
        }
    }
    sums.retain(|_, sum| *sum > 0);
    sums
}

mod with_go {
    use super::*;

    #[test]
    #[ignore = "needs go"]
    fn pprof_shows_the_reports_values() {
        let (path, finished) = converted(TRACE, "pprof", "consumers.pb.gz");
        let (path, top) = (path.to_str().unwrap(), top(&finished));
        let arguments =
            ["tool", "pprof", "-top", "-unit=ns", "-nodecount=100000", "-nodefraction=0", path];
        let text = ran("go", &arguments);
        let nanos =
            |text: &str| text.strip_suffix("ns").unwrap_or(text).parse::<f64>().unwrap() as u64;
        let mut theirs = BTreeMap::new();
        for line in text.lines().skip_while(|line| !line.contains("flat%")).skip(1) {
            // Columns: flat, flat%, sum%, cum, cum%, name.
            let mut rest = line;
            let columns: Vec<&str> = std::iter::repeat_with(|| {
                let (column, after) = rest.trim_start().split_once(' ').unwrap();
                rest = after;
                column
            })
            .take(5)
            .collect();
            let name = rest.trim_start().to_owned();
            theirs.insert(name, (nanos(columns[0]), nanos(columns[3])));
        }
        let ours: BTreeMap<String, (u64, u64)> =
            top.methods.iter().map(|row| (row.name.clone(), (row.self_ns, row.total_ns))).collect();
        assert_eq!(theirs, ours);
        assert!(text.contains("Type: wall"), "{text}");

        let raw = ran("go", &["tool", "pprof", "-raw", path]);
        assert!(raw.contains("samples/count wall/nanoseconds"), "{raw}");
        let samples = raw.lines().skip_while(|line| !line.contains("wall/nanoseconds")).skip(1);
        let sums = samples.take_while(|line| *line != "Locations").fold((0, 0), |sums, line| {
            let numbers = line.split(':').next().unwrap();
            match numbers
                .split_whitespace()
                .map(str::parse)
                .collect::<Result<Vec<u64>, _>>()
                .as_deref()
            {
                Ok([samples, nanos]) => (sums.0 + samples, sums.1 + nanos),
                _ => sums,
            }
        });
        assert_eq!(sums, (top.counted.samples, top.counted.total_ns));

        let tags = ran("go", &["tool", "pprof", "-tags", "-sample_index=samples", path]);
        let threads = Threads.finish(&finished.resolved());
        for thread in threads.threads.iter().filter(|thread| thread.samples > 0) {
            let label = format!("thread {}", thread.thread_id.unwrap());
            let line = tags
                .lines()
                .find(|line| line.contains(&label))
                .unwrap_or_else(|| panic!("{label}: {tags}"));
            assert_eq!(first_number(line), thread.samples, "{line}");
        }
        for state in ["managed", "waiting", "native"] {
            let samples: u64 = threads
                .threads
                .iter()
                .map(|thread| match state {
                    "managed" => thread.managed.samples,
                    "native" => thread.native.samples,
                    _ => thread.waiting.samples,
                })
                .sum();
            let line = tags.lines().find(|line| line.ends_with(&format!(": {state}")));
            assert_eq!(line.map_or(0, first_number), samples, "{state}: {tags}");
        }
    }
}

mod with_node {
    use super::*;

    #[test]
    #[ignore = "needs node"]
    fn speedscope_imports_the_cpuprofile_with_all_of_its_time() {
        let (path, finished) = converted(TRACE, "cpuprofile", "consumers.cpuprofile");
        let text = script("reexport.cjs", &path, &[]);
        let document: Json = serde_json::from_str(&text).unwrap();
        assert_eq!(document["profiles"][0]["unit"], "microseconds");
        let theirs = self_weights(&document);
        let top = top(&finished);
        let ours: BTreeMap<&str, u64> = top
            .methods
            .iter()
            .filter(|row| row.self_ns > 0)
            .map(|row| (&*row.name, row.self_ns))
            .collect();
        for (name, nanos) in &ours {
            // Each piece of the time is rounded to microseconds.
            let micros = theirs.get(*name).copied().unwrap_or(0);
            assert!(
                micros.abs_diff(nanos / 1000) <= top.counted.samples,
                "{name}: {micros} µs and {nanos} ns"
            );
        }
        assert_eq!(theirs.values().sum::<u64>(), top.counted.total_ns / 1000);
    }

    #[test]
    #[ignore = "needs node"]
    fn speedscope_imports_the_heapprofile_with_all_of_its_bytes() {
        let (path, finished) =
            converted("net10-linux-x64/killed-1.nettrace", "heapprofile", "consumers.heapprofile");
        let text = script("reexport.cjs", &path, &[]);
        let document: Json = serde_json::from_str(&text).unwrap();
        assert_eq!(document["profiles"][0]["unit"], "bytes");
        let rows = finished.profile.rows();
        let kind = match rows.iter().any(|(key, _)| key.kind == Kind::AllocationSamples) {
            true => Kind::AllocationSamples,
            false => Kind::AllocationTicks,
        };
        let bytes: u64 =
            rows.iter().filter(|(key, _)| key.kind == kind).map(|(_, totals)| totals.weight).sum();
        assert!(bytes > 0);
        assert_eq!(self_weights(&document).values().sum::<u64>(), bytes);
    }

    #[test]
    #[ignore = "needs node"]
    fn a_flame_graph_in_a_browser_is_searched_and_zoomed() {
        let (path, finished) = converted(TRACE, "svg", "consumers.svg");
        let top = top(&finished);
        let row =
            top.methods.iter().find(|row| row.self_ns > 0 && row.self_ns == row.total_ns).unwrap();
        let wanted = row.name.split('(').next().unwrap().replace('.', "\\.");
        let picture = Path::new(env!("CARGO_TARGET_TMPDIR")).join("consumers-svg.png");
        let text = script("flame.cjs", &path, &[&wanted, picture.to_str().unwrap()]);
        let seen: Json = serde_json::from_str(&text).unwrap();
        assert_eq!(
            (&seen["errors"], &seen["requests"]),
            (&serde_json::json!([]), &serde_json::json!([]))
        );
        let matched = seen["matched"].as_str().unwrap();
        let percent: f64 =
            matched.strip_prefix("Matched: ").unwrap().strip_suffix(" %").unwrap().parse().unwrap();
        // Widths are in millionths, and boxes below a ten-thousandth are not drawn.
        assert!((percent - row.total_percent).abs() < 0.1, "{percent} and {}", row.total_percent);
        assert!(seen["hits"].as_u64().unwrap() > 0);
        assert_eq!(seen["zoomedWidth"], 1400);
        assert!(
            seen["zoomedText"].as_str().unwrap().contains(row.name.split('(').next().unwrap()),
            "{seen}"
        );
        assert!(seen["detail"].as_str().unwrap().starts_with(&row.name), "{seen}");
        assert!(seen["shownZoomed"].as_u64() < seen["shown"].as_u64(), "{seen}");
        assert_eq!((&seen["shownAgain"], &seen["hitsAgain"]), (&seen["shown"], &0.into()));
        assert_eq!(
            seen["reset"],
            serde_json::json!({ "isWhole": true, "hidden": false }),
            "{seen}"
        );
        assert_eq!(seen["ground"], serde_json::json!(["rgb(253, 253, 251)", "rgb(28, 29, 32)"]));
    }

    #[test]
    #[ignore = "needs node"]
    fn a_flame_graph_in_a_browser_shows_what_waited_at_a_click() {
        let (path, finished) =
            converted("net10-linux-x64/all.nettrace", "svg", "consumers-all.svg");
        let picture = Path::new(env!("CARGO_TARGET_TMPDIR")).join("consumers-all-svg.png");
        let text = script("flame.cjs", &path, &["Main", picture.to_str().unwrap()]);
        let seen: Json = serde_json::from_str(&text).unwrap();
        assert_eq!(seen["errors"], serde_json::json!([]));
        let top = top(&finished);
        let [running, all] = ["running", "all"].map(|view| seen[view][1].as_str().unwrap());
        let samples =
            |text: &str| text.split(' ').next().unwrap().replace(',', "").parse::<u64>().unwrap();
        assert_eq!(
            (samples(running), samples(all)),
            (top.counted.samples - top.counted.waiting_samples, top.counted.samples)
        );
        assert!(top.counted.waiting_samples > 0);
        assert!(running.contains("of what ran") && !all.contains("of what ran"), "{seen}");
        let [hidden, shown] = ["running", "all"].map(|view| seen[view][0].as_str().unwrap());
        assert!(
            hidden.ends_with("not shown: click to show") && shown.ends_with(": click to hide"),
            "{seen}"
        );
        assert!(seen["waitingShown"].as_u64() > Some(0), "{seen}");
        assert_eq!(seen["shownRunning"], seen["shown"]);
        let broken = "Not a regular expression (Unterminated group), searched as text. Matched: ";
        assert!(seen["broken"].as_str().unwrap().starts_with(broken), "{seen}");
        assert!(seen["brokenHits"].as_u64() > Some(0), "{seen}");
    }
}
