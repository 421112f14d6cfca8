//! `--async`: the callers of async code are those that await it.

use crate::common;

use common::{file, nettrace};
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
