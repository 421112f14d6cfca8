//! `--async`: the callers of async code are those that await it.

use crate::common;

use common::{file, gzip, nettrace, nettrace_with_input};
use nettrace_testdata::corpus;

const CHAIN: &str =
    "Program.Main;Program.Run;Orders.PlaceOrder;Orders.Validate;Orders.Price;Cpu.BurnA";
const MISSING: &str = "(async callers not in the trace)";

fn ran(name: &str, args: &[&str]) -> String {
    let trace = name.rsplit('/').next().unwrap();
    let path = file(&format!("async-{trace}.nettrace"), &corpus::known(name).bytes());
    let ran = nettrace(&[&args[..args.len() - 1], &[&path], &args[args.len() - 1..]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    String::from_utf8(ran.stdout).unwrap()
}

#[test]
fn every_format_of_stacks_has_the_callers() {
    for format in ["folded", "speedscope", "firefox"] {
        let args = ["convert", "--format", format, "--names", "short", "-o", "-", "--async"];
        let text = ran("async/shop-full", &args);
        if format == "folded" {
            assert!(text.lines().any(|line| line.contains(CHAIN)), "{text}");
        }
        assert!(text.contains("Orders.Price") && !text.contains("RunContinuations"), "{format}");
    }
}

#[test]
fn standard_input_has_the_same_callers_as_a_file_packed_or_not() {
    let bytes = corpus::known("async/shop-full").bytes();
    let path = file("async-shop-stdin.nettrace", &bytes);
    let args = |file| ["report", "tree", "--names", "short", "--async", "--json", file];
    let of_file = nettrace(&args(&path)).text().replace(&path, "FILE");
    assert!(of_file.contains("Orders.Price"), "{of_file}");
    for input in [bytes.clone(), gzip(&bytes)] {
        let ran = nettrace_with_input(&args("-"), &input);
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
        assert_eq!(ran.text(), of_file);
    }
}

#[test]
fn what_the_async_profiler_tells_is_read_before_the_trace_from_every_kind_of_input() {
    let bytes = corpus::known("http-profiler").bytes();
    let path = file("async-profiler.nettrace", &bytes);
    let packed = file("async-profiler.nettrace.gz", &gzip(&bytes));
    let args = |file| ["report", "http", "--id", "/#3636/1/5", "--async", "--json", file];
    let of_file = nettrace(&args(&path)).text().to_owned();
    assert!(of_file.contains("HttpConnection.FillAsync"), "{of_file}");
    assert_eq!(nettrace(&args(&packed)).text(), of_file);
    assert_eq!(nettrace_with_input(&args("-"), &bytes).text(), of_file);
    assert_eq!(nettrace(&[&args(&path)[..], &["--no-mmap"]].concat()).text(), of_file);
}

#[test]
fn what_is_chosen_by_time_or_by_an_activity_has_the_awaits_that_began_there() {
    let path = file("async-orders-profiler.nettrace", &corpus::known("orders-profiler").bytes());
    let waits = |args: &[&str]| {
        let ran = nettrace(&[&["report", "tasks", "--json", &path], args].concat());
        let document: serde_json::Value = serde_json::from_str(ran.text()).unwrap();
        let rows = document["waits"].as_array().unwrap();
        rows.iter().map(|row| row["waits"]["count"].as_u64().unwrap()).sum::<u64>()
    };
    let all = waits(&[]);
    // The buffers were written seconds later.
    let parts = [waits(&["--time", "..300ms"]), waits(&["--time", "300ms.."])];
    assert!(parts.iter().all(|part| *part > 20), "{parts:?}");
    assert_eq!(parts.iter().sum::<u64>(), all);
    assert_eq!(waits(&["--async", "--during", "Orders-Events/Order:id=1010"]), 2);
}

mod with_shared {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn standard_input_has_what_the_async_profiler_tells() {
        let bytes = corpus::trace("net11-linux-x64/async-profiler.nettrace").bytes();
        let path = file("async-profiler-stdin.nettrace", &bytes);
        let args = |file| ["report", "tree", "--async", "--json", file];
        let of_file = nettrace(&args(&path));
        assert!(of_file.text().contains("Program.Worker"), "{}", of_file.text());
        assert_eq!(nettrace_with_input(&args("-"), &bytes).text(), of_file.text());
    }
}

#[test]
fn what_lacks_its_callers_is_counted_and_says_what_records_them() {
    let args = ["report", "tree", "--names", "short", "--async"];
    let text = ran("async/rt-full", &args);
    assert!(text.contains(MISSING), "{text}");
    let line = text.lines().find(|line| line.contains("of async code lack their callers"));
    assert!(line.is_some_and(|line| line.contains("collect --async")), "{text}");
    let text = ran("async/rt-full", &["report", "topN", "--json", "--async"]);
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(document["without_async_callers_samples"].as_u64() > Some(2000), "{text}");
    // Without the option, nothing is said.
    let text = ran("async/rt-full", &["report", "topN", "--json"]);
    assert!(!text.contains("async_callers"), "{text}");
}
