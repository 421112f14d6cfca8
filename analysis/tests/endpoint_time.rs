//! What threads did for the requests to one endpoint, in recordings of a web application whose
//! handlers are known.

use nettrace_analysis::model::EndpointSpans;
use nettrace_analysis::report::{
    CallTree, EndpointTime, EndpointTimeReport, Http, Report, ReportPass, RequestSpans, TopN,
    TopNOptions, TreeOptions,
};
use nettrace_analysis::{AnalysisOptions, ThreadState};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;
use std::collections::BTreeSet;

fn read<R: Report>(name: &str, report: R, options: AnalysisOptions) -> R::Output {
    let bytes = corpus::web(name).bytes();
    let mut pass = ReportPass::with_options(report, options);
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    pass.finish().output
}

fn spans(name: &str) -> EndpointSpans {
    read(name, RequestSpans::default(), AnalysisOptions::default())
}

fn time(name: &str, spans: &EndpointSpans, endpoint: &str) -> EndpointTimeReport {
    let http = Http::default().with_slowest_of(endpoint).top(15);
    let http = read(name, http, AnalysisOptions::default());
    let mut rows = http.activities.into_iter();
    let row = rows.find(|row| row.name == format!("in {endpoint}")).unwrap();
    let mut options = AnalysisOptions::default();
    options.filter.spans = spans.spans_of(endpoint);
    read(name, EndpointTime::new(row, http.slowest), options)
}

fn by_endpoint(spans: &EndpointSpans, states: &[ThreadState]) -> AnalysisOptions {
    let mut options = AnalysisOptions::default();
    options.endpoints = Some(spans.clone());
    options.filter.states = states.to_vec();
    options
}

fn top(name: &str, spans: &EndpointSpans, states: &[ThreadState]) -> TopN {
    let mut report = TopNOptions::default();
    report.is_by_endpoint = true;
    read(name, report, by_endpoint(spans, states))
}

#[test]
fn without_requests_all_work_is_outside_of_them() {
    let bytes = corpus::known("sort").bytes();
    let mut report = TopNOptions::default();
    report.is_by_endpoint = true;
    let options = by_endpoint(&EndpointSpans::default(), &[]);
    let mut pass = ReportPass::with_options(report, options);
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    let top = pass.finish().output;
    assert!(top.samples > 0);
    let [other] = top.endpoints.as_slice() else { panic!("{:?}", top.endpoints) };
    assert_eq!((other.endpoint.as_deref(), other.samples), (None, top.samples));
    assert_eq!(other.methods, top.methods);
}

mod with_shared {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn what_runs_and_waits_for_an_endpoint_is_all_that_its_requests_did() {
        let spans = spans("net11-full");
        let sync = time("net11-full", &spans, "GET /sync");
        // Each of 40 requests waits at least 200 ms for a task.
        let [call, ..] = sync.waiting.as_slice() else { panic!("{sync:?}") };
        assert_eq!((&*call.call, call.by.as_deref()), ("Task.Wait", Some("GET /sync")));
        assert!(call.total_percent > 99.0 && call.total_ns > 40 * 200_000_000, "{call:?}");
        assert_eq!((sync.endpoint.as_str(), sync.requests.durations.count), ("GET /sync", 40));
        // Each of the slowest has a key, because the ids of a connection's requests repeat.
        let slowest = sync.slowest.iter().filter(|row| row.name == "in GET /sync");
        let keys: BTreeSet<&str> =
            slowest.filter_map(|row| row.key.as_deref().or(row.id.as_deref())).collect();
        assert_eq!((keys.len(), sync.slowest.len()), (15, 15));
        assert_eq!(sync.slowest[0].duration_ns, sync.requests.durations.max_ns);
        assert!(sync.slowest.is_sorted_by(|one, other| one.duration_ns >= other.duration_ns));
        // The parts of the requests say the same.
        assert_parts(&sync);
        let regex = time("net11-full", &spans, "GET /regex");
        assert!(regex.running_ns > 10 * 70_000_000 && regex.waiting_ns == 0, "{regex:?}");
        let hottest = &regex.running[0];
        assert!(hottest.name.contains("RegexInterpreter.TryMatchAtCurrentPosition"), "{hottest:?}");
        assert!(hottest.self_percent > 85.0, "{hottest:?}");
        assert_parts(&regex);
        let lock = time("net11-full", &spans, "GET /lock");
        let by = lock.waiting[0].by.as_deref();
        assert_eq!(by, Some("Shop.Inventory.ReserveUnderLock"), "{:?}", lock.waiting);
        assert_parts(&lock);
        assert_eq!(spans.spans_of("GET /nothing"), None);
    }

    /// Asserts that the samples of an endpoint take the time of its requests in which threads worked.
    fn assert_parts(time: &EndpointTimeReport) {
        let parts = &time.requests.parts;
        let worked =
            [parts.running_ns, parts.native_ns, parts.waiting_ns, parts.gc_ns, parts.lock_ns];
        let worked = worked.iter().sum::<u64>() + parts.jit_ns + parts.unknown_ns;
        let sampled = time.running_ns + time.waiting_ns;
        let off = worked.abs_diff(sampled);
        assert!(off < worked / 20, "{}: {worked} ns worked, {sampled} sampled", time.endpoint);
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn each_sample_counts_for_one_endpoint_or_none() {
        let spans = spans("net11-full");
        let top = top("net11-full", &spans, &[]);
        let sum: u64 = top.endpoints.iter().map(|row| row.samples).sum();
        assert_eq!(sum, top.samples);
        let (last, others) = top.endpoints.split_last().unwrap();
        assert!(last.endpoint.is_none() && others.iter().all(|row| row.endpoint.is_some()));
        let first = &top.endpoints[0];
        assert_eq!(first.endpoint.as_deref(), Some("GET /regex"));
        assert!((40.0..50.0).contains(&first.total_percent), "{first:?}");
        let sync = others.iter().find(|row| row.endpoint.as_deref() == Some("GET /sync")).unwrap();
        assert!(sync.waiting_ns > 40 * 200_000_000, "{sync:?}");
        let mut tree = TreeOptions::default();
        tree.is_by_endpoint = true;
        let tree: CallTree = read("net11-full", tree, by_endpoint(&spans, &[]));
        let roots: Vec<_> = tree.nodes.iter().filter(|node| node.depth == 0).collect();
        assert_eq!(roots.len(), top.endpoints.len());
        for root in roots {
            let row = top.endpoints.iter();
            let mut row =
                row.filter(|row| root.name == row.endpoint.as_deref().unwrap_or("(no request)"));
            let row = row.next().unwrap();
            assert_eq!((root.total_samples, root.total_ns), (row.samples, row.total_ns));
        }
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn methods_that_were_not_inlined_are_named() {
        let spans = spans("dt-noinline");
        let sync = time("dt-noinline", &spans, "GET /sync");
        let [call, ..] = sync.waiting.as_slice() else { panic!("{sync:?}") };
        assert_eq!(&*call.call, "Task.Result");
        assert_eq!(call.by.as_deref(), Some("Shop.SyncOverAsync.GetSlow"));
        assert_parts(&sync);
    }
}
