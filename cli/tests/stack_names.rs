//! Names for the stacks of `nettrace events`.

use crate::common;
use crate::common::Json;

use common::{nettrace, run};
use serde_json::Value;
use std::collections::BTreeMap;

const ALL: &str = "testdata/traces/net10-linux-x64/all.nettrace.gz";
const WITH_FRAMES: [&str; 5] = ["--stacks", "--frames", "--format", "ndjson", "--quiet"];

fn events(more: &[&str]) -> Vec<Value> {
    let ran = nettrace(&[&["events", ALL], &WITH_FRAMES[..], more].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.lines()
}

fn texts<'v>(line: &'v Value, key: &str) -> Vec<&'v str> {
    line[key].list().iter().map(|text| text.text()).collect()
}

#[test]
fn stacks_have_the_names_that_converters_give_them() {
    let exceptions = events(&["--event", "Exception/Start"]);
    let mut stacks: BTreeMap<String, u64> = BTreeMap::new();
    for line in &exceptions {
        let mut frames = texts(line, "frames");
        assert_eq!(frames.len(), texts(line, "stack").len());
        // Frames that the runtime puts on top of the method that throws are left out by converters.
        let own = frames.iter().position(|frame| !frame.contains("System.Runtime.EH."));
        frames.drain(..own.unwrap_or(0));
        frames.reverse();
        *stacks.entry(frames.join(";")).or_default() += 1;
    }
    let ran = run(&format!("convert {ALL} --format folded --kind exceptions -o - --quiet"));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let mut folded: BTreeMap<String, u64> = BTreeMap::new();
    for (stack, count) in ran.text().lines().filter_map(|line| line.rsplit_once(' ')) {
        // The thrown type is a frame of its own.
        let (stack, _) = stack.split_once(";throw ").unwrap();
        *folded.entry(stack.to_owned()).or_default() += count.parse::<u64>().unwrap();
    }
    assert_eq!(stacks, folded);
    assert!(
        stacks.keys().any(|stack| stack.contains("workload!Workload.Program.Thrower(int,int)"))
    );
}

#[test]
fn text_has_a_name_or_with_raw_stacks_an_address_for_each_frame() {
    let lines = |more: &[&str]| -> Vec<String> {
        let args = ["events", ALL, "--event", "Exception/Start", "-n", "3", "--stacks", "--quiet"];
        let ran = nettrace(&[&args, more].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let frames = ran.text().lines().filter_map(|line| line.trim().strip_prefix("at "));
        frames.map(str::to_owned).collect()
    };
    let (mut names, mut addresses) = (Vec::new(), Vec::new());
    for line in &events(&["--event", "Exception/Start", "-n", "3"]) {
        names.extend(texts(line, "frames").into_iter().map(str::to_owned));
        let stack =
            texts(line, "stack").into_iter().map(|at| u64::from_str_radix(&at[2..], 16).unwrap());
        addresses.extend(stack.map(|at| format!("{at:#018x}")));
    }
    assert!(names.len() > 3);
    assert_eq!(lines(&[]), names);
    assert_eq!(lines(&["--raw-stacks"]), addresses);
}

#[test]
fn a_pipe_has_the_names_that_came_before_and_says_so_once() {
    let path = "testdata/traces/net10-linux-x64/killed-1.nettrace.gz";
    let trace = std::fs::read(common::top().join(path)).unwrap();
    let args = ["events", "-", "--stacks", "--frames", "--format", "ndjson"];
    let piped = common::nettrace_with_input(&args, &trace);
    assert_eq!(
        piped.stderr.matches("frames are named only if their method was loaded before").count(),
        1
    );
    let whole = nettrace(&["events", path, "--stacks", "--frames", "--format", "ndjson"]);
    assert!(!whole.stderr.contains("frames are named only"));
    let (piped, whole) = (piped.lines(), whole.lines());
    assert_eq!(piped.len(), whole.len());
    let (mut named, mut all) = (0u64, 0u64);
    for (piped, whole) in piped.iter().zip(&whole) {
        let names = texts(piped, "frames").into_iter().zip(texts(piped, "stack"));
        for ((name, at), known) in names.zip(texts(whole, "frames")) {
            all += 1;
            if name != at {
                assert_eq!(name, known);
                named += 1;
            }
        }
    }
    assert!(named > 1000 && named < all, "{named} of {all}");
}

#[test]
fn names_change_nothing_else_of_a_line() {
    let plain = ["events", ALL, "--stacks", "--format", "ndjson", "--quiet", "-n", "2000"];
    let plain = nettrace(&plain);
    for (with, without) in events(&["-n", "2000"]).iter_mut().zip(plain.text().lines()) {
        with.as_object_mut().unwrap().remove("frames").unwrap();
        assert_eq!(*with, serde_json::from_str::<Value>(without).unwrap());
    }
}
