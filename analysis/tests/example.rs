//! The examples work, and stay short.

// The example is a module here because building it alone, with other features, takes minutes.
#[allow(dead_code, unreachable_pub)]
#[path = "../examples/own_converter.rs"]
mod own_converter;

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
