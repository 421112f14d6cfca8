//! Values of counters that grow and shrink: a level if the instrument is read, else what was added
//! since the session began. Intervals that were asked for in vain.

use nettrace_analysis::live::{Live, LiveCounters, MetricsNotice};
use nettrace_analysis::report::{
    CounterBase, CounterKind, CounterSeries, Counters, CountersReport, ReportPass,
};
use nettrace_parser::{Reader, Whole};
use nettrace_testdata::corpus;
use nettrace_testdata::synth::{
    EventType, Field, FieldType, Session, SessionThread, Step, Value, Version,
};

/// Ticks in a second of synthetic sessions.
const SECOND_TICKS: u32 = 10_000_000;

const START: usize = 0;
const BEGIN: usize = 1;
const VALUE: usize = 2;
const CHANGE: usize = 3;
const REFUSED: usize = 4;

fn metrics_type(id: u32, version: u8, name: &str, texts: &[&str]) -> EventType {
    EventType {
        provider: "System.Diagnostics.Metrics".into(),
        event_id: id,
        version,
        name: name.into(),
        fields: texts.iter().map(|text| Field::new(text, FieldType::Text)).collect(),
        ..EventType::default()
    }
}

/// Records events of System.Diagnostics.Metrics, one each second.
fn recorded(events: &[(usize, &[&str])]) -> Vec<u8> {
    let named = ["sessionId", "meterName", "meterVersion", "instrumentName", "unit", "tags"];
    let begin = ["sessionId", "meterName", "meterVersion", "instrumentName", "instrumentType"];
    let refused = ["clientId", "expectedRefreshInterval", "actualRefreshInterval"];
    let up_down = "UpDownCounterRateValuePublished";
    let types = vec![
        metrics_type(2, 0, "CollectionStart", &["sessionId"]),
        metrics_type(7, 0, "BeginInstrumentReporting", &begin),
        metrics_type(16, 1, up_down, &[&named[..], &["rate", "value"]].concat()),
        metrics_type(16, 0, up_down, &[&named[..], &["rate"]].concat()),
        metrics_type(17, 0, "MultipleSessionsConfiguredIncorrectlyError", &refused),
    ];
    let step = |(event_type, texts): &(usize, &[&str])| {
        let values: Vec<Value> = texts.iter().map(|text| Value::Text((*text).into())).collect();
        Step::event(*event_type, 0, SECOND_TICKS, values)
    };
    let (threads, steps) = (vec![SessionThread::new(11)], events.iter().map(step).collect());
    let session = Session { types, threads, steps, ..Session::new(Version::V4) };
    session.record().stream.into_bytes()
}

fn reported(bytes: &[u8]) -> CountersReport {
    let mut pass = ReportPass::new(Counters::default());
    let _ = pass.read(&mut Reader::new(Whole::new(bytes)).time_ordered()).unwrap();
    pass.finish().output
}

fn live(bytes: &[u8], view: LiveCounters) -> Live<LiveCounters> {
    let mut live = Live::new(view);
    let mut events = Reader::new(Whole::new(bytes)).time_ordered();
    while let Some(event) = events.next_event().unwrap() {
        live.event(&event);
    }
    live
}

fn begin<'t>(instrument: &'t str, kind: &'t str) -> [&'t str; 5] {
    ["SHARED", "Shop", "", instrument, kind]
}

fn value<'t>(instrument: &'t str, rate: &'t str, value: &'t str) -> [&'t str; 8] {
    ["SHARED", "Shop", "", instrument, "items", "", rate, value]
}

/// Returns kind, base, first and last value of each series.
fn facts(series: &[CounterSeries]) -> Vec<(&str, CounterKind, Option<CounterBase>, Vec<f64>)> {
    let of = |series: &CounterSeries| series.points.iter().map(|point| point.value).collect();
    series
        .iter()
        .map(|series| (series.name.as_str(), series.kind, series.base, of(series)))
        .collect()
}

#[test]
fn an_up_down_counter_is_what_was_added_and_an_observable_one_is_a_level() {
    let bytes = recorded(&[
        (BEGIN, &begin("queue", "UpDownCounter`1")),
        (BEGIN, &begin("depth", "ObservableUpDownCounter`1")),
        (START, &["SHARED"]),
        (VALUE, &value("queue", "-2", "-2")),
        (VALUE, &value("depth", "", "40")),
        (START, &["SHARED"]),
        (VALUE, &value("queue", "5", "3")),
        (VALUE, &value("depth", "1", "41")),
    ]);
    let expected = [
        ("depth", CounterKind::ObservableUpDownCounter, None, vec![40.0, 41.0]),
        ("queue", CounterKind::UpDownCounter, Some(CounterBase::SessionStart), vec![-2.0, 3.0]),
    ];
    assert_eq!(facts(&reported(&bytes).series), expected);
    let snapshot = live(&bytes, LiveCounters::default()).snapshot();
    let series: Vec<CounterSeries> =
        snapshot.series.iter().map(|live| live.series.clone()).collect();
    assert_eq!(facts(&series), expected);
    let mut document = Vec::new();
    reported(&bytes).write_openmetrics(&mut document).unwrap();
    let document = String::from_utf8(document).unwrap();
    assert!(document.contains("# TYPE depth gauge\n"), "{document}");
    assert!(document.contains("# TYPE queue unknown\n"), "{document}");
}

#[test]
fn without_the_start_of_the_instruments_only_a_first_value_without_a_change_tells_the_kind() {
    let bytes = recorded(&[
        (VALUE, &value("depth", "", "40")),
        (VALUE, &value("queue", "5", "3")),
        (VALUE, &value("depth", "2", "42")),
    ]);
    let expected = [
        ("depth", CounterKind::ObservableUpDownCounter, None, vec![40.0, 42.0]),
        ("queue", CounterKind::UpDownCounter, Some(CounterBase::Unknown), vec![3.0]),
    ];
    assert_eq!(facts(&reported(&bytes).series), expected);
}

#[test]
fn the_changes_that_dotnet_7_publishes_are_added_up() {
    let change = |rate| ["SHARED", "Shop", "", "queue", "items", "", rate];
    let bytes =
        recorded(&[(CHANGE, &change("4")), (CHANGE, &change("-1")), (CHANGE, &change("2"))]);
    let base = Some(CounterBase::SessionStart);
    let expected = [("queue", CounterKind::UpDownCounter, base, vec![4.0, 3.0, 5.0])];
    assert_eq!(facts(&reported(&bytes).series), expected);
}

#[test]
fn an_interval_that_was_asked_for_in_vain_is_told_once_with_the_one_that_came() {
    let refused: (usize, &[&str]) = (REFUSED, &["us", "5", "1"]);
    let report = reported(&recorded(&[refused, refused, (VALUE, &value("queue", "1", "1"))]));
    let [other] = &report.other_intervals[..] else { panic!("{:?}", report.other_intervals) };
    assert_eq!((other.asked_ms, other.came_ms), (1_000, 5_000));
    assert!(other.to_string().contains("asked for every 1 s and come every 5 s"), "{other}");
    // Only the limits differed.
    let same: (usize, &[&str]) = (REFUSED, &["us", "1", "1"]);
    assert_eq!(reported(&recorded(&[same])).other_intervals, []);
}

/// Records a counter of `Shop` with values of one session, a second apart.
fn event_counters(series: &[&str]) -> Vec<u8> {
    let of = |name: &str, field_type| Field::new(name, field_type);
    let payload = FieldType::Object(vec![
        of("Name", FieldType::Text),
        of("Increment", FieldType::Double),
        of("IntervalSec", FieldType::Double),
        of("Series", FieldType::Text),
    ]);
    let event_type = EventType {
        provider: "Shop".into(),
        event_id: 9,
        name: "EventCounters".into(),
        fields: vec![of("Payload", payload)],
        ..EventType::default()
    };
    let step = |series: &&str| {
        let texts = |text: &str| Value::Text(text.into());
        let values = vec![texts("orders"), Value::F64(3.0), Value::F64(1.0), texts(series)];
        Step::event(0, 0, SECOND_TICKS, vec![Value::Object(values)])
    };
    let (threads, steps) = (vec![SessionThread::new(11)], series.iter().map(step).collect());
    let types = vec![event_type];
    let session = Session { types, threads, steps, ..Session::new(Version::V4) };
    session.record().stream.into_bytes()
}

#[test]
fn a_session_that_gets_counters_at_the_interval_of_another_one_says_which() {
    let notices = |seconds: f64, series: &[&str]| {
        let view = LiveCounters::default().interval(seconds);
        let notices = live(&event_counters(series), view).report.take_notices();
        notices.iter().map(MetricsNotice::to_string).collect::<Vec<_>>()
    };
    let expected = "Shop: values were asked for every 5 s and come every 1 s, because another session \
                    asked for that";
    assert_eq!(notices(5.0, &["Interval=1000"; 20]), [expected]);
    assert_eq!(notices(1.0, &["Interval=1000"; 20]), Vec::<String>::new());
    // The first values may be of an interval that ends as the session begins.
    let mut changing = vec!["Interval=5000"];
    changing.extend(["Interval=1000"; 20]);
    assert_eq!(notices(1.0, &changing), Vec::<String>::new());
}

mod with_shared {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn an_up_down_counter_of_a_session_before_the_trace_is_not_taken_for_a_level() {
        let name = "reports/up-down-counter.nettrace";
        let trace = corpus::of_shared().into_iter().find(|trace| trace.name() == name).unwrap();
        let report = reported(&trace.bytes());
        let queue = report.series.iter().find(|series| series.name == "queue.length").unwrap();
        assert_eq!((queue.kind, queue.last), (CounterKind::UpDownCounter, 36.0));
        assert_eq!(queue.base, Some(CounterBase::Unknown));
    }
}
