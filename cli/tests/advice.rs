//! Advice in messages is given only if it is true for the trace.

use crate::common::{file, nettrace};

fn stderr(args: &[&str]) -> String {
    nettrace(args).stderr
}

#[test]
fn a_heap_dump_of_mono_is_recorded_with_monos_own_provider() {
    let text = stderr(&["heap", "testdata/known/mono-cpu.nettrace.gz"]);
    assert!(text.contains("Microsoft-DotNETRuntimeMonoProfiler:0xc900001:4"), "{text}");
    assert!(!text.contains("1980001"), "{text}");
    let text = stderr(&["heap", "testdata/traces/net10-linux-x64/samples-only.nettrace.gz"]);
    assert!(text.contains("Microsoft-Windows-DotNETRuntime:0x1980001:5"), "{text}");
}

#[test]
fn a_keyword_that_was_on_is_not_asked_for() {
    let text = stderr(&["report", "gc", "testdata/known/flush.nettrace.gz"]);
    assert!(text.contains("though Microsoft-Windows-DotNETRuntime:0x1:4 was recorded"), "{text}");
    let off = "testdata/traces/net10-linux-x64/samples-only.nettrace.gz";
    let text = stderr(&["report", "gc", off]);
    assert!(
        text.contains("record with --providers Microsoft-Windows-DotNETRuntime:0x1:4"),
        "{text}"
    );
    // Samples of allocations need another level of the same keyword.
    let text = stderr(&["report", "alloc", "testdata/known/flush.nettrace.gz"]);
    assert!(text.contains("Microsoft-Windows-DotNETRuntime:0x1:5"), "{text}");
}

#[test]
fn times_as_utc_are_refused_in_csv() {
    for words in [vec!["events", "testdata/traces/tiny-v4.nettrace.gz"], vec!["watch", "-p", "1"]] {
        let ran = nettrace(&[&words[..], &["--utc", "--format", "csv"]].concat());
        assert!(ran.stderr.contains("--utc is for text"), "{}", ran.stderr);
    }
}

#[test]
fn a_larger_buffer_helps_where_one_can_have_been_full() {
    let larger = "record with a larger buffer";
    let text = stderr(&["stats", "testdata/traces/net3.1-linux-x64/lossy.nettrace.gz"]);
    assert!(text.contains(larger), "{text}");
    let text = stderr(&["stats", "testdata/traces/tiny-v4.nettrace.gz"]);
    assert!(text.contains("1 event of 1 thread lost") && !text.contains(larger), "{text}");
    assert!(text.contains("64 KiB"), "{text}");
}

#[test]
fn a_complete_trace_was_not_stopped_too_late() {
    let early = "stop the session before the process ends";
    let text = stderr(&["report", "topN", "testdata/known/nativeaot.nettrace.gz"]);
    assert!(text.contains("have no name") && !text.contains(early), "{text}");
    let killed = "testdata/traces/net3.1-linux-x64/killed-1.nettrace.gz";
    let text = stderr(&["report", "topN", killed]);
    assert!(text.contains(early), "{text}");
}

#[test]
fn where_events_have_stacks_they_are_named() {
    let trace = "testdata/known/own-provider.nettrace.gz";
    let text = stderr(&["convert", trace, "--format", "svg", "-o", "-"]);
    assert!(text.contains("it has --kind Shop-Orders/OrderPlaced (10)"), "{text}");
    let folded = ["convert", trace, "--format", "folded", "-o", "-", "--kind"];
    for kind in ["Shop-Orders/*", "Shop-Orders/OrderPlaced"] {
        let ran = nettrace(&[&folded[..], &[kind]].concat());
        assert_eq!(ran.text().lines().count(), 2, "{kind}: {}", ran.text());
    }
}

#[test]
fn stacks_of_exceptions_end_in_their_type() {
    let trace = "testdata/traces/net10-linux-x64/all.nettrace.gz";
    let ran =
        nettrace(&["convert", trace, "--format", "folded", "-o", "-", "--kind", "exceptions"]);
    assert!(ran.text().lines().count() > 1);
    assert!(ran.text().lines().all(|line| line.contains(";throw ")), "{}", ran.text());
}

#[test]
fn files_of_other_tools_are_called_what_they_are() {
    let gcdump =
        b"\x14\0\0\0!FastSerialization.1\x04\x04\x01\x0a\0\0\0\x08\0\0\0\x0a\0\0\0GCHeapDump\x06";
    let zip = b"PK\x03\x04\x14\0\0\0\x08\0";
    let json = b"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\"}";
    for (name, bytes, words) in [
        ("other-a.gcdump", &gcdump[..], "a heap graph of dotnet-gcdump"),
        ("other-b.bin", gcdump, "a heap graph of dotnet-gcdump"),
        ("other-c.diagsession", zip, "a recording of Visual Studio"),
        ("other-d.speedscope.json", json, "a speedscope profile"),
        ("other-e.json", json, "a speedscope profile"),
        ("other-f.etlx", b"\x14\0\0\0!FastSerialization.1", "PerfView"),
    ] {
        let path = file(name, bytes);
        let ran = nettrace(&[&path]);
        assert_eq!(ran.code, Some(1), "{name}: {}", ran.stderr);
        assert!(ran.stderr.contains(words), "{name}: {}", ran.stderr);
    }
}
