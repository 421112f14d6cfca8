//! Traces of other people's programs and runtimes, with the right results.

use super::common::{AT_END, method, sample, session, with_recording};
use nettrace_analysis::findings::{Summary, SummaryReport};
use nettrace_analysis::heap::{HeapNode, HeapReader, Retained};
use nettrace_analysis::model::NamesRemedy;
use nettrace_analysis::report::TopNOptions;
use nettrace_analysis::report::{Activities, Gc, Logs, Report, ReportPass};
use nettrace_analysis::{Analysis, AnalysisOptions, EventSelector};
use nettrace_parser::Reader;
use nettrace_testdata::corpus::{self, TraceFile};
use nettrace_testdata::synth::Session;

fn report<R: Report + Default>(trace: &TraceFile) -> R::Output {
    let mut pass = ReportPass::new(R::default());
    let bytes = trace.bytes();
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    pass.finish().output
}

#[test]
fn messages_of_net_core_3_1_have_their_text_without_a_name_that_is_null() {
    let trace = corpus::known("ilogger-core31");
    // Nothing proves that the open scopes belong to the messages.
    let messages = report::<Logs>(&trace).messages;
    let shown: Vec<_> = messages
        .iter()
        .map(|row| (row.event.as_str(), row.message.as_str(), row.scopes.len()))
        .collect();
    assert_eq!(
        shown,
        [
            ("", "Request starting GET /orders", 0),
            ("Executing", "Executing endpoint orders", 0),
            ("", "stock is low", 0),
        ]
    );
}

#[test]
fn scopes_of_net_core_3_1_are_paired_by_their_id() {
    let trace = corpus::known("ilogger-core31");
    let report = report::<Activities>(&trace);
    assert_eq!((report.started, report.stopped), (4, 4));
    let millis: Vec<u64> = report.slowest.iter().map(|row| row.duration_ns / 1_000_000).collect();
    assert_eq!(millis, [290, 250, 230, 200]);
}

#[test]
fn methods_of_mono_are_named_as_those_of_other_runtimes() {
    let trace = corpus::known("mono-cpu");
    let names = methods(&trace);
    assert_eq!(names[0], "wapp!Program.Fib(int)");
    let append = "System.Private.CoreLib!System.Text.StringBuilder.AppendWithExpansion(char&,int)";
    assert!(names.iter().any(|name| name == append), "{names:?}");
    assert!(names.iter().all(|name| !name.contains("intptr") && !name.contains("Span<System.")));
}

#[test]
fn a_collection_of_mono_is_reported_without_its_pause() {
    let trace = corpus::known("mono-gcdump");
    let report = report::<Gc>(&trace);
    let [collection] = &*report.collections else { panic!("{:?}", report.collections) };
    assert_eq!((collection.number, collection.generation), (1, 2));
    assert_eq!((collection.pauses.len(), collection.is_complete), (0, false));
    assert!(report.partial.is_empty() && report.totals.incomplete == 1);
}

fn methods(trace: &TraceFile) -> Vec<String> {
    let mut pass = ReportPass::with_options(TopNOptions::default(), with_recording());
    let bytes = trace.bytes();
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    pass.finish().output.methods.into_iter().map(|row| row.name).collect()
}

fn summary(trace: &TraceFile) -> SummaryReport {
    report::<Summary>(trace)
}

#[test]
fn the_summary_names_the_events_of_the_programs_own_sources() {
    let trace = corpus::known("own-provider");
    let summary = summary(&trace);
    assert_eq!(summary.kind, "events of Shop-Orders");
    let [row] = &*summary.own_events else { panic!("{:?}", summary.own_events) };
    assert_eq!(
        (row.event.as_str(), row.events, row.with_stack),
        ("Shop-Orders/OrderPlaced", 10, 10)
    );
    assert_eq!(row.fields, ["Id"]);
    assert!(row.per_second.is_some_and(|rate| (100.0..120.0).contains(&rate)));
}

#[test]
fn a_program_that_only_waits_for_another_one_is_told_about_children() {
    // One of 28 waiting threads waits for a process, so the program does other things, too.
    let trace = corpus::known("blocked/Block");
    let about: Vec<&str> = summary(&trace).findings.into_iter().map(|f| f.about()).collect();
    assert!(!about.contains(&"child_process"), "{about:?}");
    for (root, is_found) in
        [("N.Program.Main", true), ("System.Threading.Thread.StartCallback", false)]
    {
        let bytes = launcher(root).record().stream.bytes;
        let mut pass = ReportPass::new(Summary::default());
        assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
        let findings = pass.finish().output.findings;
        let found = findings.iter().find(|finding| finding.about() == "child_process");
        assert_eq!(found.is_some(), is_found, "{findings:?}");
        assert!(found.is_none_or(|finding| finding.text().contains("--children")));
    }
}

/// Makes a session of a thread that begins in `root` and waits for a process in all of 60 samples.
fn launcher(root: &str) -> Session {
    let mut steps = vec![sample(0, 1_000_000, &[0x3010, 0x2010, 0x1010]); 60];
    steps.push(method(AT_END, 3, 0x3000, 0x100, "System.Threading.WaitHandle.WaitOneNoCheck"));
    steps.push(method(AT_END, 1, 0x1000, 0x100, root));
    steps.push(method(AT_END, 2, 0x2000, 0x100, "System.Diagnostics.Process.WaitForExitCore"));
    session(steps)
}

#[test]
fn all_events_of_a_source_are_selected_by_a_pattern() {
    let trace = corpus::known("own-provider");
    let samples = |event: &str| {
        let mut options = AnalysisOptions::default();
        options.events =
            vec![EventSelector { event: event.to_owned(), ..EventSelector::default() }];
        let mut analysis = Analysis::new(options);
        let bytes = trace.bytes();
        assert!(analysis.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
        let rows = analysis.finish().unwrap().profile.rows();
        rows.iter().map(|(_, totals)| totals.samples).sum::<u64>()
    };
    for (event, expected) in [
        ("Shop-Orders/*", 10),
        ("shop-*", 10),
        ("*/Order*", 10),
        ("OrderPlace?", 10),
        ("Shop/*", 0),
    ] {
        assert_eq!(samples(event), expected, "{event}");
    }
}

#[test]
fn a_complete_trace_is_not_advised_to_stop_before_the_process_ends() {
    let trace = corpus::known("nativeaot");
    let mut analysis = Analysis::new(AnalysisOptions::default());
    let bytes = trace.bytes();
    let outcome = analysis.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap();
    let finished = analysis.finish().unwrap();
    let coverage = finished.resolved().coverage();
    let advice = coverage.advice(outcome.is_complete).unwrap();
    assert_eq!(advice.remedy, Some(NamesRemedy::RundownOrSymbols));
    assert_eq!(coverage.advice(false).unwrap().remedy, Some(NamesRemedy::EarlierStop));
}

fn heap(trace: &TraceFile) -> (HeapReader, bool) {
    let mut heap = HeapReader::default();
    let bytes = trace.bytes();
    assert!(heap.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    let is_mono = heap.is_mono();
    (heap, is_mono)
}

#[test]
fn the_heap_dump_of_monos_profiler_provider_is_read() {
    let trace = corpus::known("mono-heap");
    let (heap, is_mono) = heap(&trace);
    assert!(is_mono);
    let dumps = heap.finish();
    let [dump] = &*dumps else { panic!("{}", dumps.len()) };
    assert!(dump.losses.is_complete(), "{:?}", dump.losses);
    let object = |address| dump.find(address).unwrap();
    let roots: Vec<u32> = dump.roots.iter().map(|root| root.object).collect();
    assert_eq!(roots, [object(0x8000), object(0x8300)]);
    let objects = 0..dump.objects();
    let types: Vec<&str> = objects.clone().map(|object| dump.type_name(object)).collect();
    assert_eq!(
        types,
        ["App.Session", "System.String", "System.Byte[]", "App.Session", "System.String"]
    );
    assert_eq!(dump.types()[dump.type_of(0) as usize].module, "App");
    let bytes: u64 = objects.clone().map(|object| dump.bytes_of(object)).sum();
    assert_eq!(bytes, 4_244);
    assert_eq!(dump.references_of(object(0x8000)), [object(0x8100), object(0x8200)]);
    let retained = Retained::from_dump(dump);
    let reachable =
        objects.filter(|object| retained.dominator(HeapNode::Object(*object)).is_some());
    let bytes: u64 = reachable.map(|object| dump.bytes_of(object)).sum();
    assert_eq!(bytes, 4_184, "0x8400 is garbage");
}

#[test]
fn objects_of_a_real_heap_of_mono_are_counted() {
    let trace = corpus::known("mono-monoprof");
    let dumps = heap(&trace).0.finish();
    let [dump] = &*dumps else { panic!("{}", dumps.len()) };
    // The objects take 7,930 events, because a large array takes several.
    assert_eq!((dump.objects(), dump.losses.repeated_objects), (7_897, 0));
    assert!(dump.losses.is_complete(), "{:?}", dump.losses);
    assert_eq!(dump.losses.undescribed_objects, 0);
    assert!(!dump.roots.is_empty());
}
