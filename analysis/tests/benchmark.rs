//! What an operation of a benchmark took, in streams made by hand and in recordings.

use nettrace_analysis::findings::Summary;
use nettrace_analysis::report::{BenchmarkReport, ReportPass};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;
use nettrace_testdata::synth::{
    EventType, Field, FieldType, Session, SessionThread, Step, Value, Version,
};

fn summary(bytes: &[u8]) -> Option<BenchmarkReport> {
    let mut pass = ReportPass::new(Summary::default());
    assert!(pass.read(&mut Reader::from_slice(bytes).time_ordered()).unwrap().is_complete);
    pass.finish().output.benchmark
}

#[test]
fn an_operation_takes_the_mean_of_the_measured_iterations_without_the_calls_alone() {
    let engine = |event_id, name: &str, field: Field| EventType {
        provider: "BenchmarkDotNet.EngineEventSource".into(),
        event_id,
        name: name.into(),
        fields: vec![field],
        ..EventType::default()
    };
    let operations = || Field::new("totalOperations", FieldType::Int64);
    let edge = |event_id, name: &str| engine(event_id, name, operations());
    let mut session = Session::new(Version::V4);
    session.trace.tick_frequency = 1_000_000_000;
    session.types = vec![
        engine(1, "BenchmarkStart", Field::new("benchmarkName", FieldType::Text)),
        edge(11, "OverheadActualStart"),
        edge(12, "OverheadActualStop"),
        edge(13, "WorkloadWarmupStart"),
        edge(14, "WorkloadWarmupStop"),
        edge(15, "WorkloadActualStart"),
        edge(16, "WorkloadActualStop"),
    ];
    session.threads = vec![SessionThread::new(11)];
    let pair = |start: usize, nanos: u32, operations: i64| {
        let values = || vec![Value::I64(operations)];
        [Step::event(start, 0, 10, values()), Step::event(start + 1, 0, nanos, values())]
    };
    session.steps = vec![Step::event(0, 0, 10, vec![Value::Text("Shop.Sum".into())])];
    session.steps.extend(pair(1, 100, 10));
    session.steps.extend(pair(3, 9_000, 10));
    session.steps.extend(pair(5, 1_000, 10));
    session.steps.extend(pair(5, 2_100, 10));
    let report = summary(&session.record().stream.bytes).unwrap();
    assert_eq!(report.benchmark.as_deref(), Some("Shop.Sum"));
    assert_eq!((report.iterations, report.operations), (2, 20));
    // 3,100 ns of 20 operations, of which a call that does nothing takes 10 ns.
    assert_eq!((report.mean_ns, report.allocated_bytes, report.collections), (145.0, None, None));
    session.steps.truncate(5);
    assert_eq!(summary(&session.record().stream.bytes), None);
}

mod with_shared {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn an_operation_takes_and_allocates_what_benchmarkdotnet_measured() {
        for (name, nanos, bytes) in [
            ("old/Invoices.ParseLines", 149_750.0, 0.0),
            ("new/Invoices.ParseLines", 210_070.0, 409_984.0),
            ("old/Invoices.Sum", 60_800.0, 0.0),
            ("new/Invoices.Sum", 57_080.0, 0.0),
        ] {
            let trace = corpus::trace(&format!("benchmarkdotnet/{name}.nettrace"));
            let report = summary(&trace.bytes()).unwrap();
            let (_, benchmark) = name.split_once('/').unwrap();
            assert_eq!(report.benchmark.as_deref(), Some(benchmark));
            assert!((report.mean_ns / nanos - 1.0).abs() < 5e-3, "{name}: {report:?}");
            let allocated = report.allocated_bytes.unwrap();
            assert!((allocated - bytes).abs() <= bytes * 0.01, "{name}: {report:?}");
        }
    }
}
