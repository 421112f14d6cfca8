//! Live counters show the values of the report on the same events, and of dotnet-counters beside
//! the recorded session.

use nettrace_analysis::live::{CounterList, Live, LiveCounters};
use nettrace_analysis::report::{CounterKind, Counters, CountersReport, PoolReason, ReportPass};
use nettrace_parser::{Reader, Whole};
use nettrace_testdata::corpus;
use nettrace_testdata::synth::{
    EventType, Field, FieldType, Session, SessionThread, Step, Value, Version,
};
use std::collections::BTreeMap;

/// Feeds a trace as a session would, and takes new events now and then.
fn fed(bytes: &[u8], counters: LiveCounters) -> (Live<LiveCounters>, String) {
    let mut live = Live::new(counters.interval(1.0).session("SHARED", "us").keeping_new());
    let mut events = Reader::new(Whole::new(bytes)).time_ordered();
    let (mut csv, mut count) = (Vec::new(), 0_u32);
    while let Some(event) = events.next_event().unwrap() {
        live.event(&event);
        count += 1;
        if count % 37 == 0 {
            live.report.take_new().write_csv(&mut csv, false).unwrap();
        }
    }
    live.report.take_new().write_csv(&mut csv, false).unwrap();
    (live, String::from_utf8(csv).unwrap())
}

fn of_report(bytes: &[u8]) -> CountersReport {
    let mut pass = ReportPass::new(Counters::default());
    let _ = pass.read(&mut Reader::new(Whole::new(bytes)).time_ordered()).unwrap();
    pass.finish().output
}

/// Values by provider, name with tags, and type.
type Rows = BTreeMap<(String, String, String), Vec<f64>>;

fn rows(csv: &str) -> Rows {
    let mut rows = Rows::new();
    for line in csv.lines() {
        let mut fields = line.splitn(3, ',').skip(1);
        let (provider, rest) = (fields.next().unwrap(), fields.next().unwrap());
        let (rest, value) = rest.rsplit_once(',').unwrap();
        let (name, kind) = rest.rsplit_once(',').unwrap();
        let name = name.trim_matches('"').to_owned();
        let key = (provider.to_owned(), name, kind.to_owned());
        rows.entry(key).or_default().push(value.parse().unwrap());
    }
    rows
}

#[test]
fn a_snapshot_at_the_end_equals_the_report() {
    let trace = corpus::trace("net10-linux-x64/metrics.nettrace");
    let (live, _) = fed(&trace.bytes(), LiveCounters::default());
    let snapshot = live.snapshot_at(0);
    let report = of_report(&trace.bytes());
    assert!(!snapshot.series.is_empty());
    for live in &snapshot.series {
        let of = |series: &&nettrace_analysis::report::CounterSeries| {
            series.provider == live.series.provider
                && series.name == live.series.name
                && series.tags == live.series.tags
                && series.kind == live.series.kind
        };
        let series = report.series.iter().find(of).unwrap();
        let facts = |series: &nettrace_analysis::report::CounterSeries| {
            (series.count, series.min, series.max, series.mean, series.last)
        };
        assert_eq!(facts(&live.series), facts(series), "{}", series.name);
        assert!(!live.is_stopped);
    }
    // A growing counter is shown as a rate over the time that passed.
    let grows = snapshot.series.iter().filter(|live| live.series.kind == CounterKind::Counter);
    for live in grows {
        let point = live.series.points.last().unwrap();
        let rate = point.rate_per_second.unwrap();
        assert!((rate - point.value).abs() <= 0.05 * point.value.abs(), "{rate} {}", point.value);
        assert_eq!(live.rate_per_second, Some(rate));
    }
}

#[test]
fn a_series_that_has_no_value_for_three_intervals_has_stopped_and_stays() {
    let trace = corpus::trace("net10-linux-x64/metrics.nettrace");
    let (live, _) = fed(&trace.bytes(), LiveCounters::default());
    let last = live
        .snapshot_at(0)
        .series
        .iter()
        .flat_map(|live| &live.series.points)
        .fold(0, |last, point| last.max(point.ts_ns));
    let before = live.snapshot_at(last);
    let after = live.snapshot_at(last + 3_200_000_000);
    assert_eq!(before.series.len(), after.series.len());
    assert!(after.series.iter().all(|live| live.is_stopped));
    assert!(CountersReport::from(&after).series.is_empty());
    assert!(!CountersReport::from(&before).series.is_empty());
}

#[test]
fn only_wanted_counters_are_kept() {
    let trace = corpus::trace("net10-linux-x64/metrics.nettrace");
    let list = |text: &str| text.parse::<CounterList>().unwrap();
    let names = |list: CounterList| {
        let (live, _) = fed(&trace.bytes(), LiveCounters::default().wanted(list));
        let mut names: Vec<String> =
            live.snapshot().series.iter().map(|live| live.series.name.clone()).collect();
        names.dedup();
        names
    };
    assert_eq!(names(list("Nettrace.Workload[load,orders.open]")), ["load", "orders.open"]);
    assert_eq!(names(list("Nothing")), Vec::<String>::new());
}

#[test]
fn values_of_series_beyond_the_limit_are_counted() {
    let trace = corpus::trace("net10-linux-x64/metrics.nettrace");
    let (live, _) = fed(&trace.bytes(), LiveCounters::default().most_series(3));
    let snapshot = live.snapshot_at(0);
    assert_eq!(snapshot.series.len(), 3);
    assert!(snapshot.values_left_out > 10, "{}", snapshot.values_left_out);
}

/// Ticks in a second of synthetic sessions.
const SECOND_TICKS: u32 = 10_000_000;

/// Makes an event type of System.Diagnostics.Metrics with texts, and with a count and a sum if
/// wanted.
fn metrics_type(id: u32, name: &str, texts: &[&str], has_count: bool) -> EventType {
    let mut fields: Vec<Field> =
        texts.iter().map(|text| Field::new(text, FieldType::Text)).collect();
    if has_count {
        fields.push(Field::new("count", FieldType::Int32));
        fields.push(Field::new("sum", FieldType::Double));
    }
    EventType {
        provider: "System.Diagnostics.Metrics".into(),
        event_id: id,
        name: name.into(),
        fields,
        ..EventType::default()
    }
}

fn metrics_session(steps: Vec<Step>) -> Vec<u8> {
    let named = ["sessionId", "meterName", "meterVersion", "instrumentName", "unit", "tags"];
    let types = vec![
        metrics_type(6, "HistogramValuePublished", &[&named[..], &["quantiles"]].concat(), true),
        metrics_type(
            4,
            "CounterRateValuePublished",
            &[&named[..], &["rate", "value"]].concat(),
            false,
        ),
        metrics_type(5, "GaugeValuePublished", &[&named[..], &["lastValue"]].concat(), false),
        metrics_type(2, "CollectionStart", &["sessionId"], false),
    ];
    let threads = vec![SessionThread::new(11)];
    let session = Session { types, threads, steps, ..Session::new(Version::V4) };
    session.record().stream.into_bytes()
}

fn texts(values: &[&str]) -> Vec<Value> {
    values.iter().map(|text| Value::Text((*text).into())).collect()
}

#[test]
fn a_histogram_without_new_values_keeps_its_count_and_sum() {
    let histogram = |instrument: &str, quantiles: &str, count: i32, sum: f64| {
        let texts = texts(&["SHARED", "Shop", "", instrument, "s", "kind=a", quantiles]);
        let values = [texts, vec![Value::I32(count), Value::F64(sum)]].concat();
        Step::event(0, 0, SECOND_TICKS, values)
    };
    let mut steps = vec![histogram("gone", "0.5=1", 1, 1.0)];
    steps.push(histogram("delay", "0.5=2;0.95=3", 4, 10.0));
    steps.extend((0..8).map(|_| histogram("delay", "", 0, 0.0)));
    let (live, _) = fed(&metrics_session(steps), LiveCounters::default());
    let snapshot = live.snapshot_at(10_000_000_000);
    let names = |is_stopped: bool| -> Vec<&str> {
        let series = snapshot.series.iter().filter(|live| live.is_stopped == is_stopped);
        series.map(|live| live.series.name.as_str()).collect()
    };
    // There is one row for each quantile.
    assert_eq!((names(false), names(true)), (vec!["delay", "delay"], vec!["gone"]));
    let mut document = Vec::new();
    CountersReport::from(&snapshot).write_openmetrics(&mut document).unwrap();
    let document = String::from_utf8(document).unwrap();
    let samples: Vec<&str> = document.lines().filter(|line| !line.starts_with('#')).collect();
    let labels = "provider=\"Shop\",kind=\"a\"";
    let is = |at: usize, start: &str| samples[at].starts_with(start);
    assert_eq!(samples.len(), 4, "{document}");
    assert!(is(0, &format!("delay_seconds{{{labels},quantile=\"0.5\"}} NaN ")), "{document}");
    assert!(is(1, &format!("delay_seconds{{{labels},quantile=\"0.95\"}} NaN ")), "{document}");
    assert!(is(2, &format!("delay_seconds_count{{{labels}}} 4 ")), "{document}");
    assert!(is(3, &format!("delay_seconds_sum{{{labels}}} 10 ")), "{document}");
    // Values have the time of the last event, or Prometheus would take them for stale.
    let nanos = snapshot.start_unix_ns.unwrap() + 10_000_000_000;
    let time = format!(" {}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000);
    assert!(samples.iter().all(|line| line.ends_with(&time)), "{time}: {document}");
}

#[test]
fn workers_that_a_pool_gets_because_others_are_blocked_are_a_series_and_a_sum() {
    use nettrace_analysis::live::LiveTop;
    let trace = corpus::known("deadlock/Dead-starve");
    let bytes = trace.bytes();
    let mut pass = ReportPass::new(nettrace_analysis::report::ThreadPool::default());
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    let reasons = pass.finish().output.reasons;
    let of = |reason| reasons.iter().find(|row| row.reason == reason).map_or(0, |row| row.count);
    let expected = of(PoolReason::STARVATION) + of(PoolReason::COOPERATIVE_BLOCKING);
    assert!(expected > 0, "{reasons:?}");
    let (live, csv) = fed(&bytes, LiveCounters::default());
    let series = live.snapshot().series;
    let name = "threadpool-starvation-adjustments";
    let series = series.iter().find(|live| live.series.name == name).unwrap();
    assert_eq!((series.shown(), series.series.unit.as_str()), (expected as f64, "{adjustment}"));
    assert!(csv.contains(&format!("Microsoft-Windows-DotNETRuntime,{name}")), "{csv}");
    let mut top = Live::new(LiveTop::default().window(std::time::Duration::from_secs(60)));
    let mut events = Reader::from_slice(&bytes).time_ordered();
    while let Some(event) = events.next_event().unwrap() {
        top.event(&event);
    }
    assert_eq!(top.snapshot().header.threadpool_starvations, expected);
}

#[test]
fn quantiles_beyond_sixteen_of_an_event_are_counted_as_left_out() {
    let quantiles: Vec<String> = (1..=20).map(|at| format!("0.{at:02}={at}")).collect();
    let texts = texts(&["SHARED", "Shop", "", "delay", "s", "", &quantiles.join(";")]);
    let values = [texts, vec![Value::I32(4), Value::F64(10.0)]].concat();
    let steps = (0..3).map(|_| Step::event(0, 0, SECOND_TICKS, values.clone())).collect();
    let (live, _) = fed(&metrics_session(steps), LiveCounters::default());
    assert_eq!((live.snapshot().series.len(), live.report.values_left_out), (16, 3 * 4));
}

mod with_shared {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn a_live_session_has_the_series_and_values_of_dotnet_counters_and_no_others() {
        for (trace, golden) in corpus::recorded_beside_dotnet_counters() {
            let name = trace.name();
            let (_, csv) = fed(&trace.bytes(), LiveCounters::default());
            let golden = rows(golden.split_once('\n').unwrap().1);
            let ours = rows(&csv);
            assert!(golden.len() > 20, "{name}");
            for (key, values) in &golden {
                let ours = ours.get(key).unwrap_or_else(|| panic!("{name}: no {key:?}"));
                assert!(
                    ours.windows(values.len()).any(|part| part == values),
                    "{name} {key:?}: {ours:?} {values:?}"
                );
            }
            let more: Vec<_> = ours.keys().filter(|key| !golden.contains_key(key)).collect();
            // The first values of these instruments came after dotnet-counters had ended.
            assert!(more.iter().all(|key| key.1.starts_with("dotnet.")), "{name}: {more:?}");
        }
    }
}
