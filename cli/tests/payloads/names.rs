//! `--provider` and `--event` take names as people know them; a message says when no event of the
//! trace has such a name.

use crate::ALL;
use crate::common::nettrace;

fn count(args: &[&str]) -> usize {
    let ran = nettrace(&[&["events", ALL, "--format", "ndjson"], args].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{args:?}");
    ran.text().lines().count()
}

#[test]
fn an_event_has_many_names_that_all_find_it() {
    let native = ["--provider", "Microsoft-Windows-DotNETRuntime", "--event"];
    let starts = count(&[&native[..], &["1"]].concat());
    assert!(starts > 10);
    for name in
        ["GC/Start", "gc/start", "GCStart", "gcstart", "GCStart_V2", "GC/St?rt", "*/GC/Start"]
    {
        assert_eq!(count(&["--event", name]), starts, "{name}");
    }
    for name in ["Microsoft-Windows-DotNETRuntime/GC/Start", "Microsoft-Windows-DotNETRuntime/1"] {
        assert_eq!(count(&["--event", name]), starts, "{name}");
    }
    assert!(count(&["--event", "GC/*"]) > starts);
    let requests = count(&["--event", "RequestStart"]);
    assert!(requests > 100);
    for name in
        ["Request/Start", "request/start", "Nettrace-Workload/RequestStart", "Nettrace-Workload/4"]
    {
        assert_eq!(count(&["--event", name]), requests, "{name}");
    }
    assert_eq!(count(&["--provider", "*workload", "--event", "4"]), requests);
}

#[test]
fn a_name_that_no_event_has_is_reported_with_the_nearest_and_is_no_failure() {
    for (args, expected) in [
        (["--event", "GC/Strat"], "no event is GC/Strat; did you mean GC/Start"),
        (["--event", "GCStrt_V2"], "did you mean GCStart_V2"),
        (["--event", "RequestStrt"], "did you mean RequestStart"),
        (
            ["--provider", "Microsoft-Windows-DotNETRuntme"],
            "did you mean Microsoft-Windows-DotNETRuntime",
        ),
        (["--provider", "Runtime"], "did you mean Microsoft-Windows-DotNETRuntime"),
        (["--event", "MethodLoadVerbose"], "sends it at level 4 with keyword JitKeyword (0x10)"),
        (["--where", "Coutn=1"], "no event has a field Coutn; did you mean Count"),
        (["--where", "Depth=77"], "no event"),
        (["--fields", "ExceptionMesage"], "did you mean ExceptionMessage?"),
    ] {
        let ran = nettrace(&[&["events", ALL], &args[..]].concat());
        assert!(ran.stderr.contains(expected), "{args:?}: {}", ran.stderr);
        assert_eq!(ran.code, Some(0), "{args:?}");
        let ran =
            nettrace(&[&["events", ALL, "--format", "ndjson", "--quiet"], &args[..]].concat());
        assert_eq!((ran.stderr.as_str(), ran.code), ("", Some(0)), "{args:?}");
    }
    for args in [["--event", "GC/Strat"], ["--provider", "Runtime"]] {
        let ran = nettrace(&[&["schema", ALL], &args[..]].concat());
        assert!(ran.stderr.contains("did you mean ") && ran.code == Some(0), "{}", ran.stderr);
        assert_eq!(ran.text(), "0 types, 0 events\n");
    }
}

#[test]
fn a_condition_that_cannot_be_is_wrong_usage() {
    for wrong in ["Count", "=1", "Name~(", "Count<", "Count>="] {
        let ran = nettrace(&["events", ALL, "--where", wrong]);
        assert_eq!((ran.code, ran.text()), (Some(2), ""), "{wrong}: {}", ran.stderr);
        ran.assert_message("--where");
    }
}
