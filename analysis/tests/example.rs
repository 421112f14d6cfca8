//! The examples work, and stay short.

// The example is a module here because building it alone, with other features, takes minutes.
#[allow(dead_code, unreachable_pub)]
#[path = "../examples/own_converter.rs"]
mod own_converter;

#[allow(dead_code, unreachable_pub)]
#[path = "../examples/endpoint_stacks.rs"]
mod endpoint_stacks;

use nettrace_analysis::{Analysis, AnalysisOptions};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;
use own_converter::HeaviestLeaf;
use std::fs::File;
use std::path::Path;

#[test]
fn the_example_converter_is_short_and_works() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = std::fs::read_to_string(package.join("examples/own_converter.rs")).unwrap();
    assert!(source.lines().count() <= 60, "{} lines", source.lines().count());
    let csv = Path::new(env!("CARGO_TARGET_TMPDIR")).join("example.csv");
    let trace = corpus::trace("net10-linux-x64/samples-only.nettrace").bytes();
    let mut analysis = Analysis::new(AnalysisOptions::default());
    analysis.add(Box::new(HeaviestLeaf(File::create(&csv).unwrap())));
    let outcome = analysis.read(&mut Reader::from_slice(&trace).time_ordered()).unwrap();
    assert!(outcome.is_intact());
    analysis.finish().unwrap();
    let text = std::fs::read_to_string(&csv).unwrap();
    let expected =
        "thread,milliseconds,frame\nthread 19440,1901,\"workload!Workload.Program.Spin(int)\"\n";
    assert_eq!(text, expected);
}

#[test]
fn the_example_of_live_counters_is_short() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = std::fs::read_to_string(package.join("examples/live_counters.rs")).unwrap();
    assert!(source.lines().count() <= 60, "{} lines", source.lines().count());
}

#[test]
fn stacks_of_a_trace_without_requests_belong_to_no_endpoint() {
    let trace = corpus::trace("net10-linux-x64/samples-only.nettrace").bytes();
    let mut stacks = Vec::new();
    endpoint_stacks::write_stacks(&trace, &mut stacks).unwrap();
    let stacks = String::from_utf8(stacks).unwrap();
    assert!(stacks.starts_with("other work;"), "{stacks}");
    assert!(stacks.contains("workload!Workload.Program.Spin(int) 19"), "{stacks}");
}

mod with_shared {
    use super::*;
    use nettrace_analysis::report::{ReportPass, RequestSpans, TopNOptions};
    use std::collections::BTreeMap;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn stacks_by_endpoint_have_the_time_that_the_report_of_methods_has() {
        let bytes = corpus::web("net11-full").bytes();
        let mut stacks = Vec::new();
        endpoint_stacks::write_stacks(&bytes, &mut stacks).unwrap();
        let mut nanos: BTreeMap<String, u64> = BTreeMap::new();
        for line in String::from_utf8(stacks).unwrap().lines() {
            let (stack, weight) = line.rsplit_once(' ').unwrap();
            let (endpoint, _) = stack.split_once(';').unwrap();
            *nanos.entry(endpoint.to_owned()).or_default() += weight.parse::<u64>().unwrap();
        }
        let mut pass = ReportPass::new(RequestSpans::default());
        assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
        let (mut options, mut report) = (AnalysisOptions::default(), TopNOptions::default());
        options.endpoints = Some(pass.finish().output);
        report.is_by_endpoint = true;
        let mut pass = ReportPass::with_options(report, options);
        assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
        let rows = pass.finish().output.endpoints.into_iter();
        let name = |endpoint: Option<String>| endpoint.unwrap_or_else(|| "other work".to_owned());
        let expected: BTreeMap<_, _> = rows.map(|row| (name(row.endpoint), row.total_ns)).collect();
        assert!(expected.len() > 15, "{expected:?}");
        assert_eq!(nanos, expected);
    }
}
