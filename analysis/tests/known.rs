//! Programs whose right answer is known by construction.

use nettrace_analysis::findings::{Finding, Summary};
use nettrace_analysis::report::{ReportPass, TopN};
use nettrace_analysis::{AnalysisOptions, NameStyle, TopNOptions};
use nettrace_parser::Reader;
use nettrace_testdata::corpus::{self, TraceFile};

fn top(trace: &TraceFile) -> TopN {
    let mut options = AnalysisOptions::new();
    options.names.style = NameStyle::Short;
    let mut rows = TopNOptions::default();
    rows.count = usize::MAX;
    let mut pass = ReportPass::with_options(rows, options);
    let bytes = trace.bytes();
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete());
    pass.finish().output
}

fn findings(trace: &TraceFile) -> Vec<Finding> {
    let mut pass = ReportPass::new(Summary::new());
    let bytes = trace.bytes();
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete());
    pass.finish().output.findings
}

/// Own and total milliseconds of all rows whose name is this.
fn millis(top: &TopN, name: &str) -> (f64, f64) {
    let rows = top.methods.iter().filter(|row| row.name == name);
    rows.fold((0.0, 0.0), |(own, total), row| {
        (own + row.self_ns as f64 / 1e6, total + row.total_ns as f64 / 1e6)
    })
}

#[test]
fn blocked_threads_do_not_run() {
    let Some(trace) = corpus::known("blocked/Block") else { return };
    let top = top(&trace);
    assert!(top.total_ns < 100_000_000, "{} of {}", top.total_ns, top.waiting_ns);
    assert!(top.waiting_ns > 28 * 2_500_000_000, "{}", top.waiting_ns);
    let hot = findings(&trace).into_iter().find(|finding| finding.about == "hottest_method");
    assert_eq!(hot, None);
}

#[test]
fn an_idle_process_has_no_hottest_method() {
    let Some(trace) = corpus::known("processexited10") else { return };
    assert_eq!(top(&trace).samples, 0);
    assert!(findings(&trace).iter().all(|finding| finding.about != "hottest_method"));
}

#[test]
fn native_calls_that_compute_run_and_those_that_wait_do_not() {
    let Some(trace) = corpus::known("native/native10") else { return };
    let top = top(&trace);
    let close = |name: &str, expected: f64| {
        let (own, _) = millis(&top, name);
        assert!((own - expected).abs() < expected * 0.05, "{name}: {own}");
    };
    close("Deflater.Deflate → native call", 989.0);
    close("Interop.Crypto.EvpDigestUpdate", 447.0);
    close("Program.Managed", 409.0);
    assert!(top.methods.iter().all(|row| !row.name.contains("Sys.Read") && row.addresses == 0));
    assert!(top.running.computing > 1_200 && top.running.native_calls < 100, "{:?}", top.running);
    // Reading a pipe and sleeping.
    assert!(top.waiting_ns > 1_300_000_000, "{}", top.waiting_ns);
}

#[test]
fn the_time_of_late_samples_goes_to_what_ran() {
    let Some(trace) = corpus::known("async/shop-full") else { return };
    let top = top(&trace);
    for (method, expected) in [
        ("Cpu.BurnA", 400.0),
        ("Cpu.BurnB", 300.0),
        ("Cpu.BurnC", 300.0),
        ("Cpu.BurnD", 300.0),
        ("Cpu.BurnE", 600.0),
        ("Cpu.BurnF", 300.0),
        ("Cpu.BurnG", 300.0),
        ("Cpu.BurnH", 300.0),
        ("Cpu.BurnI", 400.0),
    ] {
        let (_, total) = millis(&top, method);
        assert!((total - expected).abs() < expected * 0.05, "{method}: {total}");
    }
}

#[test]
fn threads_have_more_time_than_processors_can_have_run() {
    let Some(trace) = corpus::known("parallel/parallel10") else { return };
    let top = top(&trace);
    let limit = top.processor_limit.expect("eight threads, two processors");
    assert_eq!(limit.processors, 2);
    assert!((2_500_000_000..2_800_000_000).contains(&limit.most_ns), "{limit:?}");
    assert!(top.total_ns > 9_000_000_000, "{}", top.total_ns);
}

#[test]
fn a_busy_servers_samples_are_told_apart() {
    let Some(trace) = corpus::known("webload/server10") else { return };
    let top = top(&trace);
    let near = |count: u64, expected: u64| count.abs_diff(expected) * 20 <= expected;
    assert!(near(top.running.taking_lock, 525), "{:?}", top.running);
    assert!(top.running.native_calls.abs_diff(1_233) < 100, "{:?}", top.running);
    assert!(top.methods.iter().all(|row| row.addresses == 0), "no row without a name");
    let hottest = &top.methods[0].name;
    assert_eq!(hottest, "SocketPal.TryCompleteSendTo → native call");
    for finding in findings(&trace) {
        assert!(!finding.text.contains("native call"), "{}", finding.text);
    }
}
