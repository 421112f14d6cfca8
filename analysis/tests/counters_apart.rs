//! Different counters with one name are different series.

use nettrace_analysis::live::{Live, LiveCounters};
use nettrace_analysis::report::{Counters, CountersReport, ReportPass};
use nettrace_parser::{Reader, Whole};
use nettrace_testdata::synth::{
    EventType, Field, FieldType, Session, SessionEvent, SessionThread, Step, Value, Version,
};

const START: usize = 0;
const RATE: usize = 1;
const QUANTILES: usize = 2;
const RATE_WITH_ID: usize = 3;

fn metrics_type(id: u32, version: u8, name: &str, last: &[(&str, FieldType)]) -> EventType {
    let texts = ["sessionId", "meterName", "meterVersion", "instrumentName", "unit", "tags"];
    let texts = if id == 2 { &texts[..1] } else { &texts[..] };
    let texts = texts.iter().map(|name| Field::new(name, FieldType::Text));
    let last = last.iter().map(|(name, field_type)| Field::new(name, field_type.clone()));
    EventType {
        provider: "System.Diagnostics.Metrics".into(),
        event_id: id,
        version,
        name: name.into(),
        fields: texts.chain(last).collect(),
        ..EventType::default()
    }
}

fn session(version: Version, threads: Vec<SessionThread>, steps: Vec<Step>) -> Vec<u8> {
    use FieldType::{Double, Int32, Text};
    let rate = [("rate", Text), ("value", Text)];
    let quantiles = [("quantiles", Text), ("count", Int32), ("sum", Double)];
    let types = vec![
        metrics_type(2, 0, "CollectionStart", &[]),
        metrics_type(4, 1, "CounterRateValuePublished", &rate),
        metrics_type(6, 1, "HistogramValuePublished", &quantiles),
        metrics_type(
            4,
            2,
            "CounterRateValuePublished",
            &[&rate[..], &[("instrumentId", Int32)]].concat(),
        ),
    ];
    let session = Session { types, threads, steps, ..Session::new(version) };
    session.record().stream.into_bytes()
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

/// Makes an event of a thread, `millis_later` after the one before.
fn event(event_type: usize, thread: usize, millis_later: u32, values: Vec<Value>) -> Step {
    Step::Event(SessionEvent {
        event_type,
        thread,
        capture_thread: thread,
        ticks_later: millis_later * 10_000,
        values,
        ..SessionEvent::default()
    })
}

fn starts(thread: usize) -> Step {
    event(START, thread, 980, vec![text("SHARED")])
}

fn of_shop(kind: &str) -> Vec<Value> {
    ["SHARED", "Shop", "", "orders", "", kind].map(text).to_vec()
}

fn rate(thread: usize, kind: &str, rate: &str, id: Option<i32>) -> Step {
    let event_type = if id.is_some() { RATE_WITH_ID } else { RATE };
    let last = [text(rate), text("7")].into_iter().chain(id.map(Value::I32));
    event(event_type, thread, 5, of_shop(kind).into_iter().chain(last).collect())
}

fn report(bytes: &[u8]) -> CountersReport {
    let mut pass = ReportPass::new(Counters::default());
    let _ = pass.read(&mut Reader::new(Whole::new(bytes)).time_ordered()).unwrap();
    pass.finish().output
}

fn live(bytes: &[u8]) -> Live<LiveCounters> {
    let counters = LiveCounters::default().interval(1.0).session("SHARED", "us").keeping_new();
    let mut live = Live::new(counters);
    let mut events = Reader::new(Whole::new(bytes)).time_ordered();
    while let Some(event) = events.next_event().unwrap() {
        live.event(&event);
    }
    live
}

/// Returns tags and values of all series.
fn values(report: &CountersReport) -> Vec<(String, Vec<f64>)> {
    let of = |series: &nettrace_analysis::report::CounterSeries| {
        (series.tags_text(";"), series.points.iter().map(|point| point.value).collect())
    };
    report.series.iter().map(of).collect()
}

/// Returns the tags and values of a stream's report, which equal those of the live view.
fn both(bytes: &[u8]) -> Vec<(String, Vec<f64>)> {
    let reported = values(&report(bytes));
    let mut live = live(bytes);
    let snapshot = live.snapshot();
    let shown: Vec<(String, Vec<f64>)> = snapshot
        .series
        .iter()
        .map(|live| {
            let points = live.series.points.iter().map(|point| point.value).collect();
            (live.series.tags_text(";"), points)
        })
        .collect();
    assert_eq!(shown, reported);
    assert_eq!(values(&live.report.take_new()), reported);
    reported
}

fn row(tags: &str, values: &[f64]) -> (String, Vec<f64>) {
    (tags.to_owned(), values.to_vec())
}

#[test]
fn instruments_of_one_name_have_a_series_each_by_their_numbers() {
    let mut steps = Vec::new();
    for collection in 0..3 {
        steps.push(starts(0));
        // The order of instruments in a collection may change.
        let both = [rate(0, "kind=a", "1", Some(7)), rate(0, "kind=a", "10", Some(3))];
        match collection {
            1 => steps.extend(both.into_iter().rev()),
            _ => steps.extend(both),
        }
        steps.push(rate(0, "kind=b", "100", Some(3)));
    }
    let bytes = session(Version::V4, vec![SessionThread::new(11)], steps);
    let expected = [
        row("kind=a", &[1.0; 3]),
        row("kind=a;instrument=#2", &[10.0; 3]),
        row("kind=b;instrument=#2", &[100.0; 3]),
    ];
    assert_eq!(both(&bytes), expected);
}

#[test]
fn an_instrument_that_replaces_another_continues_its_series() {
    let mut steps = vec![starts(0), rate(0, "", "1", Some(1)), rate(0, "", "2", Some(2))];
    for _ in 0..4 {
        steps.extend([starts(0), rate(0, "", "2", Some(2))]);
    }
    steps.push(rate(0, "", "5", Some(9)));
    let bytes = session(Version::V4, vec![SessionThread::new(11)], steps);
    assert_eq!(both(&bytes), [row("", &[1.0, 5.0]), row("instrument=#2", &[2.0; 5])]);
}

#[test]
fn without_numbers_the_second_value_of_a_series_in_a_collection_is_of_another_instrument() {
    let quantiles = |quantiles: &str| {
        let last = [text(quantiles), Value::I32(1), Value::F64(2.0)];
        event(QUANTILES, 0, 5, of_shop("kind=a").into_iter().chain(last).collect())
    };
    let mut steps = Vec::new();
    for _ in 0..2 {
        steps.extend([starts(0), rate(0, "", "1", None), quantiles("0.5=3")]);
        steps.extend([rate(0, "", "2", None), quantiles("0.5=4")]);
    }
    let bytes = session(Version::V4, vec![SessionThread::new(11)], steps);
    let expected = [
        row("", &[1.0; 2]),
        row("instrument=#2", &[2.0; 2]),
        row("kind=a;Percentile=50", &[3.0; 2]),
        row("kind=a;instrument=#2;Percentile=50", &[4.0; 2]),
    ];
    assert_eq!(both(&bytes), expected);
}

#[test]
fn a_lost_beginning_of_a_collection_makes_no_second_instrument() {
    let late = |rate: &str| {
        let last = [text(rate), text("7")];
        event(RATE, 0, 1000, of_shop("").into_iter().chain(last).collect())
    };
    let steps = vec![starts(0), rate(0, "", "1", None), late("2"), late("3")];
    let bytes = session(Version::V4, vec![SessionThread::new(11)], steps);
    assert_eq!(both(&bytes), [row("", &[1.0, 2.0, 3.0])]);
}

fn of_process(os_thread_id: u64, process_id: u64) -> SessionThread {
    SessionThread { process_id, ..SessionThread::new(os_thread_id) }
}

#[test]
fn processes_of_one_trace_have_series_of_their_own() {
    let mut steps = Vec::new();
    for _ in 0..2 {
        steps.extend([starts(0), rate(0, "kind=a", "1", None)]);
        // This collection begins in the middle of the other's.
        steps.extend([starts(1), rate(1, "kind=a", "10", None)]);
        steps.push(rate(0, "kind=b", "2", None));
    }
    let threads = vec![of_process(11, 900), of_process(12, 1000)];
    let bytes = session(Version::V6, threads, steps);
    let expected = [
        row("process_id=900;kind=a", &[1.0; 2]),
        row("process_id=900;kind=b", &[2.0; 2]),
        row("process_id=1000;kind=a", &[10.0; 2]),
    ];
    assert_eq!(both(&bytes), expected);
    let report = report(&bytes);
    let (mut csv, mut document) = (Vec::new(), Vec::new());
    report.write_csv(&mut csv, false).unwrap();
    report.write_openmetrics(&mut document).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    let row = ",Shop,orders (Count / 2 sec)[process_id=1000;kind=a],Rate,10";
    assert!(csv.lines().any(|line| line.ends_with(row)), "{csv}");
    let document = String::from_utf8(document).unwrap();
    let sample = "orders_total{provider=\"Shop\",process_id=\"1000\",kind=\"a\"} 7 ";
    assert!(document.contains(sample), "{document}");
}

#[test]
fn a_trace_whose_counters_are_of_one_process_does_not_name_it() {
    let steps = vec![starts(0), rate(0, "kind=a", "1", None)];
    let threads = vec![of_process(11, 900), of_process(12, 1000)];
    let bytes = session(Version::V6, threads, steps);
    assert_eq!(both(&bytes), [row("kind=a", &[1.0])]);
    assert_eq!(report(&bytes).series[0].process_id, Some(900));
}
