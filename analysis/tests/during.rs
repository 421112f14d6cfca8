//! What happened inside the spans of chosen activities, in streams made by hand and in recordings.

use crate::common::{RUNTIME, SAMPLER, native, path};
use nettrace_analysis::report::{
    ActivityChoice, ChosenActivities, During, Exceptions, Gc, ReportPass, Reports, RequestSpans,
    TopNOptions,
};
use nettrace_analysis::{AnalysisOptions, Filter};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;
use nettrace_testdata::synth::{
    EventType, Field, FieldType, Session, SessionEvent, SessionThread, Step, Value, Version,
};

const START: usize = 0;
const STOP: usize = 1;
const THROWN: usize = 2;
const GC_START: usize = 3;
const GC_STOP: usize = 4;
const SAMPLE: usize = 5;
const COUNTER: usize = 6;

/// Makes a session in which each step comes 100 ns after the one before.
fn session(steps: Vec<Step>) -> Vec<u8> {
    let edge = |event_id, name: &str, fields: Vec<Field>| EventType {
        provider: "Shop".into(),
        event_id,
        name: name.into(),
        level: 4,
        fields,
        ..EventType::default()
    };
    let number = || vec![Field::new("number", FieldType::Int32)];
    let mut session = Session::new(Version::V4);
    session.trace.tick_frequency = 1_000_000_000;
    session.types = vec![
        edge(1, "OrderStart", number()),
        edge(2, "OrderStop", vec![]),
        native(RUNTIME, 80, 1),
        native(RUNTIME, 1, 2),
        native(RUNTIME, 2, 1),
        native(SAMPLER, 0, 0),
        EventType { provider: "System.Runtime".into(), ..edge(3, "EventCounters", vec![]) },
    ];
    session.threads = vec![SessionThread::new(11), SessionThread::new(12), SessionThread::new(13)];
    session.steps = steps;
    session.record().stream.bytes
}

fn step(event_type: usize, thread: usize, activity_id: [u8; 16], values: Vec<Value>) -> Step {
    Step::Event(SessionEvent {
        event_type,
        thread,
        capture_thread: thread,
        ticks_later: 100,
        values,
        activity_id,
        ..SessionEvent::default()
    })
}

fn start(thread: usize, id: [u8; 16], number: i32) -> Step {
    step(START, thread, id, vec![Value::I32(number)])
}

fn stop(thread: usize, id: [u8; 16]) -> Step {
    step(STOP, thread, id, vec![])
}

fn thrown(thread: usize, id: [u8; 16]) -> Step {
    let text = |text: &str| Value::Text(text.to_owned());
    let flags = [Value::U16(0), Value::U16(0)];
    let values = [&[text("E"), text(""), Value::U64(0), Value::U32(0)][..], &flags].concat();
    step(THROWN, thread, id, values)
}

fn collection(thread: usize, number: u32) -> [Step; 2] {
    let [count, reason, kind] = [number, 0, 0].map(Value::U32);
    let begun = vec![count.clone(), Value::U32(1), reason, kind, Value::U16(0), Value::U64(0)];
    let ended = vec![count, Value::U32(1), Value::U16(0)];
    [step(GC_START, thread, [0; 16], begun), step(GC_STOP, thread, [0; 16], ended)]
}

fn sample(thread: usize) -> Step {
    step(SAMPLE, thread, [0; 16], vec![Value::U32(2)])
}

fn read<R: Reports>(bytes: &[u8], reports: R, options: AnalysisOptions) -> R::Outputs {
    let mut pass = ReportPass::with_options(reports, options);
    assert!(pass.read(&mut Reader::from_slice(bytes).time_ordered()).unwrap().is_complete);
    pass.finish().output
}

fn named(text: &str) -> ActivityChoice {
    let Ok(choice) = text.parse();
    choice
}

fn found(bytes: &[u8], choice: ActivityChoice) -> ChosenActivities {
    read(bytes, During::new(choice), AnalysisOptions::default())
}

fn inside(found: &ChosenActivities, is_on_all_threads: bool) -> AnalysisOptions {
    let mut options = AnalysisOptions::default();
    let spans = found.spans.clone();
    options.filter.spans = Some(if is_on_all_threads { spans.on_all_threads() } else { spans });
    options
}

/// Returns the numbers of exceptions, collections and samples that a choice leaves.
fn counts(
    bytes: &[u8],
    choice: ActivityChoice,
    is_on_all_threads: bool,
) -> (u64, usize, u64, ChosenActivities) {
    let found = found(bytes, choice);
    let reports = (Exceptions::default(), Gc::default(), TopNOptions::default());
    let (exceptions, gc, top) = read(bytes, reports, inside(&found, is_on_all_threads));
    (exceptions.count, gc.collections.len(), top.counted.samples, found)
}

/// Makes a trace in which an order hops from one thread to another, beside work of a third. Before,
/// inside and after it each thread throws and is sampled, and there is a collection. `last`: thread
/// of the stop.
fn hopping(order: [u8; 16], other: [u8; 16], last: usize) -> Vec<u8> {
    let around = |number: u32| {
        let own = (0..3).flat_map(|thread| [thrown(thread, other), sample(thread)]);
        own.chain(collection(2, number)).collect::<Vec<_>>()
    };
    let mut steps = around(1);
    steps.push(start(0, order, 7));
    // On the second thread, only its first and last event of the order tell that it works for it.
    steps.extend([thrown(0, order), sample(0), thrown(0, [0; 16]), thrown(1, order), sample(1)]);
    steps.extend([thrown(1, order), thrown(2, [0; 16]), sample(2)]);
    steps.extend(collection(2, 2));
    steps.push(stop(last, order));
    steps.extend(around(3));
    session(steps)
}

#[test]
fn threads_count_while_they_work_for_the_activity_and_collections_while_it_is_open() {
    let (order, other) = (path([0x11, 0, 0, 0]), path([0x12, 0, 0, 0]));
    let bytes = hopping(order, other, 1);
    let (exceptions, collections, samples, found) = counts(&bytes, named("Shop/Order"), false);
    assert_eq!((exceptions, collections, samples), (3, 1, 2), "{found:?}");
    assert_eq!((found.activities, found.without_end, found.left_out), (1, 0, 0));
    let threads: Vec<u64> =
        found.spans.threads().as_slice().iter().map(|span| span.thread_id).collect();
    assert_eq!(threads, [11, 12]);
    let (exceptions, collections, samples, _) = counts(&bytes, named("Shop/Order"), true);
    assert_eq!((exceptions, collections, samples), (5, 1, 3));
    // An id and the name of an endpoint are short forms of the same.
    let by_id = counts(&bytes, ActivityChoice::Id("//1/1".to_owned()), false);
    assert_eq!((by_id.0, by_id.1, by_id.2, &by_id.3.spans), (3, 1, 2, &found.spans));
}

#[test]
fn a_sample_has_the_chosen_activity_that_its_thread_worked_for() {
    let (outer, inner) = (path([0x11, 0, 0, 0]), path([0x11, 0x20, 0, 0]));
    // The inner order goes on on the second thread, while nothing is done for the outer one.
    let bytes = session(vec![
        start(0, outer, 7),
        sample(0),
        start(0, inner, 8),
        sample(0),
        thrown(1, inner),
        sample(1),
        stop(1, inner),
        thrown(0, outer),
        sample(0),
        stop(0, outer),
        sample(0),
        sample(2),
    ]);
    let orders = RequestSpans::default().activities(["Shop/Order"]);
    let spans = read(&bytes, orders, AnalysisOptions::default());
    let all: Vec<_> = spans.requests().collect();
    let [(inner, within), (outer, around)] = all[..] else { panic!("{all:?}") };
    assert_eq!([within.endpoint, around.endpoint], ["Shop/Order"; 2]);
    assert_eq!((within.parent, around.parent), (Some(outer), None));
    let at = [(11, 250), (11, 350), (12, 550), (11, 850), (11, 1100), (13, 850)];
    let found = at.map(|(thread, nanos)| spans.request_at(thread, nanos));
    assert_eq!(found, [Some(outer), Some(inner), Some(inner), Some(outer), None, None]);
    let mut options = AnalysisOptions::default();
    options.endpoints = Some(spans);
    let mut top = TopNOptions::default();
    top.is_by_endpoint = true;
    let rows = read(&bytes, top, options).endpoints;
    let samples = rows.iter().map(|row| (row.endpoint.as_deref(), row.samples));
    assert_eq!(samples.collect::<Vec<_>>(), [(Some("Shop/Order"), 4), (None, 2)]);
    // Activities of other names have no times.
    let others = RequestSpans::default().activities(["Shop/Basket"]);
    assert_eq!(read(&bytes, others, AnalysisOptions::default()).requests().count(), 0);
}

#[test]
fn threads_that_work_for_it_at_once_count_each_up_to_its_last_event_for_it() {
    let order = path([0x11, 0, 0, 0]);
    let bytes = session(vec![
        start(0, order, 1),
        thrown(1, order),
        sample(0),
        sample(1),
        sample(0),
        sample(1),
        thrown(0, order),
        thrown(1, order),
        thrown(1, [0; 16]),
        sample(1),
        stop(0, order),
    ]);
    let (exceptions, _, samples, _) = counts(&bytes, named("Shop/Order"), false);
    assert_eq!((exceptions, samples), (3, 4));
}

#[test]
fn without_activity_ids_the_thread_of_the_start_counts() {
    let bytes = hopping([0; 16], [0; 16], 0);
    let (exceptions, collections, samples, found) = counts(&bytes, named("Shop/Order"), false);
    assert_eq!((exceptions, collections, samples), (2, 1, 1), "{found:?}");
    assert_eq!(found.spans.times().count(), 1);
}

#[test]
fn a_field_of_the_start_tells_activities_of_one_name_apart() {
    let ids = [1, 2, 3].map(|number| path([0x10 + number, 0, 0, 0]));
    let steps = ids.iter().zip([7, 8, 7]).flat_map(|(id, number)| {
        [start(0, *id, number), thrown(0, *id), stop(0, *id), thrown(0, [0; 16])]
    });
    let bytes = session(steps.collect());
    let count = |choice: &str| counts(&bytes, named(choice), false).0;
    assert_eq!(count("Shop/Order"), 3);
    assert_eq!(["Shop/Order:number=7", "Shop/Order:number=8"].map(count), [2, 1]);
    let none = found(&bytes, named("Shop/Order:number=9"));
    assert_eq!((none.activities, none.values.as_slice()), (0, &["7", "8"].map(str::to_owned)[..]));
    let none = found(&bytes, named("Shop/Order:note=9"));
    assert_eq!((none.activities, none.values.len()), (0, 0));
    let none = found(&bytes, named("Shop/Payment"));
    assert_eq!((none.activities, none.known.as_slice()), (0, &["Shop/Order".to_owned()][..]));
}

#[test]
fn activities_whose_stop_was_lost_are_left_out_and_counted() {
    let ids = [1, 2].map(|number| path([0x10 + number, 0, 0, 0]));
    let steps = vec![
        start(0, ids[0], 7),
        thrown(0, ids[0]),
        start(1, ids[1], 7),
        thrown(1, ids[1]),
        stop(1, ids[1]),
    ];
    let bytes = session(steps);
    for choice in ["Shop/Order", "Shop/Order:number=7"] {
        let (exceptions, .., found) = counts(&bytes, named(choice), false);
        assert_eq!((exceptions, found.activities, found.without_end), (1, 1, 1), "{choice}");
    }
}

#[test]
fn an_event_is_accepted_by_its_time_if_it_is_about_the_process() {
    let order = path([0x11, 0, 0, 0]);
    let counter = |thread| step(COUNTER, thread, [0; 16], vec![]);
    let steps = vec![
        counter(1),
        start(0, order, 7),
        counter(1),
        thrown(1, [0; 16]),
        thrown(0, order),
        stop(0, order),
        counter(1),
    ];
    let bytes = session(steps);
    let found = found(&bytes, named("Shop/Order"));
    let mut filter = Filter::default();
    filter.spans = Some(found.spans);
    let mut accepted = Vec::new();
    let mut reader = Reader::from_slice(&bytes);
    while let Some(event) = reader.next_event().unwrap() {
        if filter.accepts_event(&event) {
            accepted.push((event.provider().to_owned(), event.thread_id()));
        }
    }
    accepted.sort();
    let event = |provider: &str, thread| (provider.to_owned(), Some(thread));
    // The stop is the last event inside.
    let inside =
        [event(RUNTIME, 11), event("Shop", 11), event("Shop", 11), event("System.Runtime", 12)];
    assert_eq!(accepted, inside);
}

mod with_shared {
    use super::*;

    fn benchmark(name: &str) -> Vec<u8> {
        corpus::trace(&format!("benchmarkdotnet/{name}.nettrace")).bytes()
    }

    const MEASURED: &str = "BenchmarkDotNet.EngineEventSource/WorkloadActual";

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn measured_iterations_of_a_benchmark_have_its_collections_and_samples_alone() {
        let bytes = benchmark("new/Invoices.ParseLines");
        let (_, collections, samples, measured) = counts(&bytes, named(MEASURED), false);
        assert_eq!((measured.activities, measured.without_end), (3, 0));
        let nanos = measured.spans.total_nanos();
        assert!((nanos as f64 / 3.0 / 4096.0 / 210_070.0 - 1.0).abs() < 5e-3, "{nanos}");
        // A collection each 2,097,152 bytes or so, of 409,984 bytes an operation.
        assert_eq!(collections, 2409);
        // The thread of the benchmark is sampled each 1.4 ms.
        assert!((1500..2000).contains(&samples), "{samples}");
        let (.., all, _) = counts(&bytes, named(MEASURED), true);
        assert!(all >= samples, "{all} {samples}");
        let pilot = "BenchmarkDotNet.EngineEventSource/WorkloadPilot:totalOperations=512";
        let pilot = found(&bytes, named(pilot));
        assert_eq!(pilot.activities, 1);
        let benchmark =
            "BenchmarkDotNet.EngineEventSource/Benchmark:benchmarkName=Invoices.ParseLines";
        let (_, all_collections, _, benchmark) = counts(&bytes, named(benchmark), false);
        assert!(benchmark.activities == 1 && all_collections > collections, "{all_collections}");
        // Without a collection.
        let bytes = super::with_shared::benchmark("old/Invoices.ParseLines");
        assert_eq!(counts(&bytes, named(MEASURED), false).1, 0);
    }
}
