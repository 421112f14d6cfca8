//! Files that `nettrace convert` writes, and files that it refuses to replace.

use crate::common;
use crate::common::Json;

use common::{file, nettrace, run};
use flate2::read::GzDecoder;
use std::fs;
use std::io::Read;
use std::path::Path;

const SAMPLES: &str = "testdata/traces/net10-linux-x64/samples-only.nettrace.gz";

/// Copies the trace to its own folder. Returns its path, and the path without `.nettrace.gz`.
fn trace() -> (String, String) {
    let bytes = fs::read(common::top().join(SAMPLES)).unwrap();
    let path = file("samples.nettrace.gz", &bytes);
    let stem = path.strip_suffix(".nettrace.gz").unwrap().to_owned();
    for ending in ["speedscope.json", "pb.gz", "folded", "folded.gz"] {
        let _ = fs::remove_file(format!("{stem}.{ending}"));
    }
    (path, stem)
}

#[test]
fn several_formats_are_written_beside_the_trace_in_one_pass() {
    let (path, stem) = trace();
    let ran = nettrace(&["convert", &path, "--format", "speedscope,pprof,folded"]);
    let names = ["speedscope.json", "pb.gz", "folded"]
        .map(|ending| format!("nettrace: wrote {stem}.{ending}\n"));
    assert_eq!((ran.code, &*ran.stderr), (Some(0), &*names.concat()));
    let speedscope: serde_json::Value =
        serde_json::from_slice(&fs::read(format!("{stem}.speedscope.json")).unwrap()).unwrap();
    let weights = speedscope["profiles"][0]["weights"].list();
    let total: u64 = weights.iter().map(|weight| weight.int()).sum();
    let top = nettrace(&["report", "topN", &path, "--json"]).json();
    assert_eq!(top["total_ns"], total);
    assert_eq!(top["samples"], 1720);
    let folded = fs::read_to_string(format!("{stem}.folded")).unwrap();
    let number = |line: &str| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap();
    assert_eq!(folded.lines().map(number).sum::<u64>(), total);
    let mut profile = Vec::new();
    let packed = fs::read(format!("{stem}.pb.gz")).unwrap();
    GzDecoder::new(&*packed).read_to_end(&mut profile).unwrap();
    assert!(profile.windows(4).any(|bytes| bytes == b"wall"));
}

#[test]
fn where_the_runtime_does_not_tell_managed_from_native_standard_error_says_so_once() {
    for (trace, is_untold) in [
        ("testdata/known/net9-sort.nettrace.gz", true),
        ("testdata/traces/net10-linux-x64/all.nettrace.gz", false),
    ] {
        let path = file("states.folded", b"");
        let converted = nettrace(&["convert", trace, "-o", &path, "--force"]);
        let out = file("states", b"");
        let exported = nettrace(&["export", "parquet", "-o", &format!("{out}.tables"), trace]);
        let events = ["--tables", "events", trace];
        let without_states = format!("{out}.events");
        let events = [&["export", "parquet", "-o", &without_states], &events[..]].concat();
        let lines = |ran: &common::Ran| {
            assert_eq!(ran.code, Some(0), "{}", ran.stderr);
            ran.stderr.matches("this runtime does not tell managed from native code").count()
        };
        let expected = usize::from(is_untold);
        assert_eq!([lines(&converted), lines(&exported)], [expected; 2], "{trace}");
        assert_eq!(lines(&nettrace(&events)), 0, "{trace}");
        let threads = nettrace(&["report", "threads", trace]);
        let said = threads.text().matches("does not tell managed from native").count();
        assert_eq!(said, expected, "{}", threads.text());
    }
}

#[test]
fn threads_that_waited_are_below_one_root_and_come_after_those_that_ran() {
    let trace = "testdata/traces/net10-linux-x64/all.nettrace.gz";
    let top = nettrace(&["report", "topN", trace, "--json"]).json();
    let (running, waiting) = (top["total_ns"].int(), top["waiting_ns"].int());
    assert!(running > 0 && waiting > 0);

    let path = file("waits.folded", b"");
    let _ = nettrace(&["convert", trace, "-o", &path, "--force"]);
    let folded = fs::read_to_string(&path).unwrap();
    let number = |line: &str| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap();
    let is_wait = |line: &&str| line.starts_with("(waiting);");
    let first = folded.lines().position(|line| is_wait(&line)).unwrap();
    assert_eq!(folded.lines().take(first).map(number).sum::<u64>(), running);
    assert!(folded.lines().skip(first).all(|line| is_wait(&line)));
    assert_eq!(folded.lines().skip(first).map(number).sum::<u64>(), waiting);

    let path = file("waits.speedscope.json", b"");
    let _ = nettrace(&["convert", trace, "-o", &path, "--force"]);
    let document: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let frames = document["shared"]["frames"].list();
    let root = frames.iter().position(|frame| frame["name"] == "(waiting)").unwrap() as u64;
    let profiles = document["profiles"].list();
    assert_eq!(profiles[0]["endValue"].int(), running, "those that ran come first");
    assert_eq!(profiles[1]["endValue"].int(), waiting);
    assert!(profiles[1]["samples"].list().iter().all(|stack| stack[0] == root));
    let of_threads: u64 = profiles[2..]
        .iter()
        .filter(|profile| profile["name"].text().starts_with("thread"))
        .flat_map(|profile| profile["samples"].list().iter().zip(profile["weights"].list()))
        .filter(|(stack, _)| stack[0] == root)
        .map(|(_, weight)| weight.int())
        .sum();
    assert_eq!(of_threads, waiting);

    let path = file("waits.cpuprofile", b"");
    let _ = nettrace(&["convert", trace, "-o", &path, "--force"]);
    let document: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let nodes = document["nodes"].list();
    let name = |node: &serde_json::Value| node["callFrame"]["functionName"].text().to_owned();
    let named: Vec<_> = nodes.iter().filter(|node| name(node) == "(waiting)").collect();
    assert_eq!(named.len(), 1);
    assert_eq!(nodes[0]["children"].list().last(), Some(&named[0]["id"]), "it comes last");
}

#[test]
fn nothing_is_overwritten_without_force() {
    let (path, stem) = trace();
    let out = format!("{stem}.folded.gz");
    fs::write(&out, "mine").unwrap();
    let ran = nettrace(&["convert", &path, "-o", &out]);
    assert_eq!(ran.code, Some(1));
    ran.assert_message("--force");
    assert_eq!(fs::read(&out).unwrap(), b"mine");
    let ran = nettrace(&["convert", &path, "-o", &out, "--force"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let mut text = String::new();
    GzDecoder::new(&*fs::read(&out).unwrap()).read_to_string(&mut text).unwrap();
    assert_eq!(text.lines().count(), 6);
}

#[test]
fn what_could_not_be_made_leaves_no_file() {
    let (_, stem) = trace();
    let out = format!("{stem}.none.folded");
    let ran = nettrace(&["convert", "testdata/traces/tiny-v4.nettrace.gz", "-o", &out]);
    assert_eq!(ran.code, Some(1));
    ran.assert_message("nothing to show");
    assert!(!Path::new(&out).exists());
}

#[test]
fn a_message_lists_the_kinds_that_the_trace_has_instead() {
    let alloc = "testdata/traces/net10-linux-x64/killed-1.nettrace.gz";
    let none = "testdata/traces/tiny-v4.nettrace.gz";
    let messages = |arguments: &[&str]| {
        let ran = nettrace(&[&["convert"], arguments, &["-o", "-"]].concat());
        assert_eq!((ran.code, &*ran.stdout), (Some(1), &b""[..]), "{arguments:?}");
        ran.stderr
    };
    let off_cpu = messages(&[alloc, "--format", "pprof", "--kind", "off-cpu"]);
    let (_, there) =
        off_cpu.split_once("the trace has no off cpu; it has --kind cpu (").expect(&off_cpu);
    let folded = |kind| {
        let ran = run(&format!(
            "convert {alloc} --format folded -o - --by-thread --unit samples --kind {kind}"
        ));
        let count = |line: &str| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap();
        ran.text().lines().map(count).sum::<u64>()
    };
    let number =
        |text: &str| text.split(')').next().unwrap().replace(',', "").parse::<u64>().unwrap();
    assert_eq!(number(there), folded("cpu"));
    let (_, there) = there.split_once("alloc (").expect(&off_cpu);
    assert_eq!(number(there), folded("alloc"));
    let events = messages(&[none, "--format", "svg"]);
    assert!(events.contains("no CPU samples; it has --kind Demo/Hi (2), Demo/Go (1)"), "{events}");
    let without = "testdata/traces/net10-linux-x64/metrics.nettrace.gz";
    let nothing = messages(&[without, "--format", "svg"]);
    assert!(
        nothing.contains("no CPU samples, and no event has a stack; `nettrace stats` lists them"),
        "{nothing}"
    );
    let samples = messages(&[SAMPLES, "--format", "heapprofile"]);
    let formats =
        "it has cpu (1,720); use --kind with one of the formats speedscope, pprof, folded, svg";
    assert!(samples.contains(formats), "{samples}");
    // Samples that the filters hide are not called missing.
    let hidden = messages(&[SAMPLES, "--format", "folded", "--frame", "no method is called so"]);
    assert!(!hidden.contains("--kind"), "{hidden}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_cannot_be_written_is_named() {
    let full = file("full.folded", b"");
    fs::remove_file(&full).unwrap();
    std::os::unix::fs::symlink("/dev/full", &full).unwrap();
    let ran = nettrace(&["convert", SAMPLES, "-o", &full, "--force"]);
    assert_eq!(ran.code, Some(1));
    let expected = format!("nettrace: error: {full}: cannot be written: no space left on device\n");
    assert_eq!(ran.stderr, expected);
    let ran = nettrace(&["convert", SAMPLES, "-o", "no/such/folder/x.folded"]);
    ran.assert_message("no/such/folder/x.folded: cannot be written: no such file");
}

#[test]
fn an_empty_file_of_stacks_is_never_the_answer() {
    let trace = "testdata/traces/net10-linux-x64/samples-only.nettrace.gz";
    for format in ["folded", "svg"] {
        let ran = nettrace(&[
            "convert",
            trace,
            "--format",
            format,
            "-o",
            "-",
            "--frame",
            "no method is called so",
        ]);
        assert_eq!((ran.code, &*ran.stdout), (Some(1), &b""[..]), "{format}");
        assert!(ran.stderr.contains("nothing to show"), "{format}: {}", ran.stderr);
    }
    // These events have no stacks.
    let ran = run(&format!("convert {trace} --format folded -o - --kind Method/DCStopVerbose"));
    assert_eq!((ran.code, &*ran.stdout), (Some(1), &b""[..]));
    ran.assert_message("none of them has a stack");
}

#[test]
fn events_to_count_are_known_by_any_of_their_names() {
    let trace = "testdata/traces/net10-linux-x64/all.nettrace.gz";
    let folded = |name: &str| {
        nettrace(&["convert", trace, "--format", "folded", "-o", "-", "--event", name])
    };
    let by_id = folded("Nettrace-Workload/4");
    assert_eq!(by_id.code, Some(0), "{}", by_id.stderr);
    let count = |line: &str| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap();
    assert_eq!(by_id.text().lines().map(count).sum::<u64>(), 376);
    for name in ["Request/Start", "requeststart", "Nettrace-Workload/Request/Start"] {
        assert_eq!(folded(name).text(), by_id.text(), "{name}");
    }
    let none = folded("Request/Strt");
    assert_eq!(none.code, Some(1));
    none.assert_message("no event is Request/Strt");
}

#[test]
fn ndjson_is_what_events_writes() {
    let (path, stem) = trace();
    let out = format!("{stem}.ndjson");
    let _ = fs::remove_file(&out);
    let ran =
        nettrace(&["convert", &path, "-o", &out, "-o", &format!("{stem}.jsonl.folded"), "--force"]);
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
    let events = nettrace(&["events", &path, "--format", "ndjson"]).stdout;
    assert_eq!(fs::read(&out).unwrap(), events);
    let range = ["--time", "0.5s..1s"];
    let ran = nettrace(&["convert", &path, "--format", "ndjson", "-o", "-", range[0], range[1]]);
    let events = nettrace(&["events", &path, "--format", "ndjson", range[0], range[1]]).stdout;
    assert_eq!(ran.stdout, events);
    assert!(!events.is_empty());
}

#[test]
fn a_name_that_may_be_several_formats_is_answered_with_all_of_them() {
    let (path, stem) = trace();
    let ran = nettrace(&["convert", &path, "-o", &format!("{stem}.json")]);
    assert_eq!(ran.code, Some(2));
    let expected = "could be speedscope or chromium or firefox; give --format with one of them, or name the file \
                .speedscope.json or .chromium.json or .firefox.json";
    ran.assert_message(expected);
    assert!(!Path::new(&format!("{stem}.json")).exists());
    let ran = nettrace(&["convert", &path, "-o", &format!("{stem}.txt")]);
    ran.assert_message("folded");
    let ran = nettrace(&["convert", &path, "-o", &format!("{stem}.nothing")]);
    ran.assert_message("matches no format");
}
