//! What an operation of a benchmark took, in streams made by hand and in recordings.

use crate::common::{RUNTIME, native};
use nettrace_analysis::findings::Summary;
use nettrace_analysis::report::{BenchmarkReport, ReportPass};
use nettrace_analysis::{AnalysisOptions, page};
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

/// Returns a session with one measured iteration of 4 operations and this many collections, each of which
/// pauses the threads.
fn with_collections(count: usize) -> Vec<u8> {
    let engine = |event_id| EventType {
        provider: "BenchmarkDotNet.EngineEventSource".into(),
        event_id,
        fields: vec![Field::new("totalOperations", FieldType::Int64)],
        ..EventType::default()
    };
    let mut session = Session::new(Version::V4);
    session.trace.tick_frequency = 1_000_000_000;
    session.types = vec![engine(15), engine(16)];
    session.types.extend([9, 8, 1, 2, 7, 3].map(|id| native(RUNTIME, id, 1)));
    session.threads = vec![SessionThread::new(11)];
    session.steps = vec![Step::event(0, 0, 10, vec![Value::I64(4)])];
    for number in 0..count {
        let number = number as u32;
        // The threads are suspended, the collection starts and ends, and they go on.
        let edges: [(usize, &[u32]); 6] = [
            (2, &[1, number]),
            (3, &[]),
            (4, &[number, 0, 0, 0]),
            (5, &[number, 0]),
            (6, &[]),
            (7, &[]),
        ];
        for (event, values) in edges {
            let values = values.iter().map(|value| Value::U32(*value)).chain([Value::U16(0)]);
            session.steps.push(Step::event(event, 0, 10, values));
        }
    }
    session.steps.push(Step::event(1, 0, 10, vec![Value::I64(4)]));
    session.record().stream.bytes
}

#[test]
fn collections_of_an_operation_are_all_that_began_in_iterations_however_many() {
    // Reports keep the figures of some thousand collections.
    for count in [4, 20_000] {
        let bytes = with_collections(count);
        let report = summary(&bytes).unwrap();
        assert_eq!(report.collections, Some(count as f64 / 4.0));
        let mut pass = page::pass(AnalysisOptions::default());
        assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
        let of_page = pass.finish().output.summary.unwrap().benchmark;
        assert_eq!(of_page, Some(report));
    }
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
