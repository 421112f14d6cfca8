//! What threads did for the requests to one endpoint, in recordings of a web application whose
//! handlers are known.

use crate::common::path;
use nettrace_analysis::convert::{Convert, ConvertError};
use nettrace_analysis::model::{EndpointSpans, Model, ServedRequest};
use nettrace_analysis::report::{
    ActivityChoice, CallTree, During, EndpointTime, EndpointTimeReport, EndpointTop, Http, Report,
    ReportPass, RequestSpans, TopN, TopNOptions, TreeOptions,
};
use nettrace_analysis::{Analysis, AnalysisOptions, Kind, Profile, Resolved, Sample, ThreadState};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;
use nettrace_testdata::synth::{
    EventType, Field, FieldType, Session, SessionEvent, SessionThread, Step, Value, Version,
};
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
    let http = Http::default().slowest_of(endpoint).top(15);
    let http = read(name, http, AnalysisOptions::default());
    let mut rows = http.activities.into_iter();
    let row = rows.find(|row| row.name.to_string() == format!("in {endpoint}")).unwrap();
    let mut options = AnalysisOptions::default();
    let found = During::new(ActivityChoice::Endpoint(endpoint.to_owned()));
    let found = read(name, found, AnalysisOptions::default());
    // They are those of the endpoint, and the stops of its requests, too.
    let of_it = spans.spans_of(endpoint).unwrap();
    let (chosen, of_it) = (found.spans.threads().as_slice(), of_it.as_slice());
    assert_eq!(chosen.len(), of_it.len());
    for (chosen, of_it) in chosen.iter().zip(of_it) {
        assert_eq!((chosen.thread_id, chosen.from_nanos), (of_it.thread_id, of_it.from_nanos));
        assert!((0..=1).contains(&(chosen.to_nanos - of_it.to_nanos)), "{chosen:?} {of_it:?}");
    }
    options.filter.spans = Some(found.spans);
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
    assert!(top.counted.samples > 0);
    let [other] = top.endpoints.as_slice() else { panic!("{:?}", top.endpoints) };
    assert_eq!((other.endpoint.as_deref(), other.samples), (None, top.counted.samples));
    assert_eq!(other.methods, top.methods);
}

/// Types of events: the start and the stop of an incoming request, and a request for a thread, which
/// is a sample.
const START: usize = 0;
const STOP: usize = 1;
const SAMPLE: usize = 2;

/// Returns a trace of one thread. Events: type, values, and activity id; each 1,000 ticks later.
fn recorded(events: impl IntoIterator<Item = (usize, Vec<Value>, [u8; 16])>) -> Vec<u8> {
    let fields = ["method", "path"].map(|name| Field::new(name, FieldType::Text));
    let edge = |event_id, name: &str, fields: Vec<Field>| EventType {
        provider: "Microsoft.AspNetCore.Hosting".into(),
        event_id,
        name: name.into(),
        level: 4,
        fields,
        ..EventType::default()
    };
    let sample = EventType {
        provider: "Microsoft-Windows-DotNETRuntime".into(),
        event_id: 70,
        ..EventType::default()
    };
    let mut session = Session::new(Version::V4);
    session.types =
        vec![edge(3, "RequestStart", fields.to_vec()), edge(4, "RequestStop", vec![]), sample];
    session.threads = vec![SessionThread::new(11)];
    let step = |(event_type, values, activity_id)| {
        let event = SessionEvent { event_type, values, activity_id, ..SessionEvent::default() };
        Step::Event(SessionEvent { ticks_later: 1000, ..event })
    };
    session.steps = events.into_iter().map(step).collect();
    session.record().stream.bytes
}

fn get(target: &str) -> Vec<Value> {
    vec![Value::Text("GET".into()), Value::Text(target.into())]
}

/// Returns a trace in which requests to `/a` and `/b` come in by turns, one after the other.
fn requests_by_turns(requests: u32) -> Vec<u8> {
    recorded((0..requests).flat_map(|number| {
        let target = if number % 2 == 0 { "/a" } else { "/b" };
        let mut id = path([0x12, 0, 0, 0]);
        id[1..3].copy_from_slice(&u16::try_from(number % 60_000).unwrap().to_be_bytes());
        [(START, get(target), id), (STOP, Vec::new(), id)]
    }))
}

fn requests_of(bytes: &[u8]) -> EndpointSpans {
    let mut pass = ReportPass::new(RequestSpans::default());
    assert!(pass.read(&mut Reader::from_slice(bytes).time_ordered()).unwrap().is_complete);
    pass.finish().output
}

/// Names the request of each sample, and the one around it.
struct Named<'n> {
    samples: Vec<Sample>,
    names: &'n mut Vec<(String, String)>,
}

impl Convert for Named<'_> {
    fn sample(&mut self, sample: &Sample, _: &Model) -> Result<(), ConvertError> {
        self.samples.push(*sample);
        Ok(())
    }

    fn finish(
        self: Box<Self>,
        resolved: &Resolved<'_>,
        profile: &Profile,
    ) -> Result<(), ConvertError> {
        for sample in &self.samples {
            let request = resolved.request_of(sample);
            let parent = request.and_then(|request| resolved.request(request.parent?));
            let endpoint = |it: Option<ServedRequest<'_>>| it.map_or("", |it| it.endpoint).into();
            self.names.push((endpoint(request), endpoint(parent)));
        }
        let rows = profile.rows();
        let endpoints = rows.iter().map(|(key, _)| resolved.endpoint_of(key));
        let endpoints: BTreeSet<_> = endpoints.collect();
        assert_eq!(endpoints, [None, Some("GET /inner"), Some("GET /outer")].into());
        Ok(())
    }
}

#[test]
fn a_sample_has_the_request_that_its_thread_worked_for_and_that_one_the_request_around_it() {
    let (outer, inner) = (path([0x11, 0, 0, 0]), path([0x11, 0x20, 0, 0]));
    let bytes = recorded([
        (START, get("/outer"), outer),
        (SAMPLE, Vec::new(), outer),
        (START, get("/inner"), inner),
        (SAMPLE, Vec::new(), inner),
        (STOP, Vec::new(), inner),
        (SAMPLE, Vec::new(), outer),
        (STOP, Vec::new(), outer),
        (SAMPLE, Vec::new(), [0; 16]),
    ]);
    let spans = requests_of(&bytes);
    let requests: Vec<_> = spans.requests().collect();
    let [(_, inner), (outer_handle, outer)] = requests[..] else { panic!("{requests:?}") };
    assert_eq!((inner.endpoint, inner.parent), ("GET /inner", Some(outer_handle)));
    assert_eq!((outer.endpoint, outer.parent), ("GET /outer", None));
    assert!(outer.start_nanos < inner.start_nanos && inner.end_nanos < outer.end_nanos);
    let mut options = AnalysisOptions::default();
    options.kinds = vec![Kind::ThreadStarts];
    options.endpoints = Some(spans);
    let mut names = Vec::new();
    let mut analysis = Analysis::new(options);
    analysis.add(Box::new(Named { samples: Vec::new(), names: &mut names }));
    assert!(analysis.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    analysis.finish().unwrap();
    let named = names.iter().map(|(endpoint, parent)| (&**endpoint, &**parent));
    let of_outer = ("GET /outer", "");
    let expected = [of_outer, ("GET /inner", "GET /outer"), of_outer, ("", "")];
    assert_eq!(named.collect::<Vec<_>>(), expected);
}

#[test]
fn spans_of_requests_are_kept_up_to_a_bound_and_the_others_counted() {
    let bytes = requests_by_turns(5000);
    let spans = |max: usize| {
        let mut pass = ReportPass::new(RequestSpans::new(max));
        assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
        pass.finish().output
    };
    let endpoints = ["GET /a", "GET /b"];
    let kept = |spans: &EndpointSpans| {
        endpoints.map(|name| spans.spans_of(name).unwrap().as_slice().len())
    };
    let left_out = |spans: &EndpointSpans| endpoints.map(|name| spans.left_out_of(name));
    let all = spans(RequestSpans::MAX_SPANS);
    assert_eq!((kept(&all), left_out(&all)), ([2500; 2], [0; 2]));
    let some = spans(1000);
    assert_eq!((kept(&some), left_out(&some), some.left_out()), ([500; 2], [2000; 2], 4000));
    assert_eq!(kept(&spans(0)), [0; 2]);
}

mod with_shared {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn samples_of_requests_that_are_left_out_have_a_row_of_their_own() {
        let all = spans("net11-full");
        let some = read("net11-full", RequestSpans::new(100), AnalysisOptions::default());
        let [all_rows, some_rows] =
            [&all, &some].map(|spans| top("net11-full", spans, &[]).endpoints);
        let samples = |rows: &[EndpointTop]| rows.iter().map(|row| row.samples).sum::<u64>();
        assert_eq!(samples(&all_rows), samples(&some_rows));
        let rest = some_rows.iter().find(|row| row.is_left_out).unwrap();
        assert_eq!((rest.requests_left_out, &rest.endpoint), (some.left_out(), &None));
        assert!(rest.requests_left_out > 100 && rest.samples > 0, "{rest:?}");
        let mut known = 0;
        for row in some_rows.iter().filter(|row| row.endpoint.is_some()) {
            let whole = all_rows.iter().find(|whole| whole.endpoint == row.endpoint).unwrap();
            assert!(row.samples <= whole.samples, "{row:?}");
            assert!(row.requests_left_out > 0 || row.samples == whole.samples, "{row:?}");
            known += row.samples;
        }
        // Whatever a left-out request did is in the row, with what its threads did in between.
        let in_requests: u64 =
            all_rows.iter().filter(|row| row.endpoint.is_some()).map(|row| row.samples).sum();
        assert!(known < in_requests && known + rest.samples >= in_requests);
    }

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
        let slowest = sync.slowest.iter().filter(|row| row.name.to_string() == "in GET /sync");
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

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn a_thread_that_waits_for_work_while_a_request_awaits_waits_for_no_request() {
        let spans = spans("net11-full");
        // Each of 5 requests awaits a call for 200 ms; its thread is back in the pool meanwhile.
        let checkout = time("net11-full", &spans, "GET /checkout");
        assert!(checkout.requests.parts.await_ns > 5 * 190_000_000, "{checkout:?}");
        assert_eq!((checkout.waiting.as_slice(), checkout.waiting_ns), (&[][..], 0));
        assert!(checkout.running_ns > 0, "{checkout:?}");
        let top = top("net11-full", &spans, &[ThreadState::Waiting]);
        let row = top.endpoints.iter().find(|row| row.endpoint.as_deref() == Some("GET /checkout"));
        assert!(row.is_none_or(|row| row.samples == 0), "{row:?}");
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
        assert_eq!(sum, top.counted.samples);
        let (last, others) = top.endpoints.split_last().unwrap();
        assert!(last.endpoint.is_none() && others.iter().all(|row| row.endpoint.is_some()));
        let first = &top.endpoints[0];
        assert_eq!(first.endpoint.as_deref(), Some("GET /regex"));
        assert!((40.0..50.0).contains(&first.total_percent), "{first:?}");
        let sync = others.iter().find(|row| row.endpoint.as_deref() == Some("GET /sync")).unwrap();
        assert!(sync.waiting_ns > 40 * 200_000_000, "{sync:?}");
        let mut tree = TreeOptions::default();
        tree.is_by_endpoint = true;
        tree.min_percent = 0.0;
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
