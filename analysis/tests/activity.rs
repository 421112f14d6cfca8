//! Exact numbers of exceptions, locks, waits, tasks, activities and counters in traces of a program
//! whose rounds are known.

use nettrace_analysis::report::{
    Activities, Contention, CounterKind, Counters, CountersReport, Exceptions, Logs, Report,
    ReportPass, Reported, Tasks, Waits,
};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;
use std::collections::BTreeMap;

const ALL: &str = "net10-linux-x64/all.nettrace";

fn reported<R: Report>(trace: &str, report: R) -> Reported<R::Output> {
    let bytes = corpus::trace(trace).bytes();
    let mut pass = ReportPass::new(report);
    assert!(
        pass.read(&mut Reader::from_slice(&bytes).time_ordered())
            .expect("a readable stream")
            .is_complete
    );
    pass.finish()
}

#[test]
fn ninety_four_rounds_throw_940_exceptions() {
    let reported = reported(ALL, Exceptions::default());
    let report = reported.output;
    let types: Vec<_> =
        report.types.iter().map(|row| (row.type_name.as_str(), row.count)).collect();
    let expected = [
        ("Workload.WidgetException", 470),
        ("System.NullReferenceException", 282),
        ("System.InvalidOperationException", 188),
    ];
    assert_eq!((report.count, types.as_slice()), (940, expected.as_slice()));
    assert_eq!(report.rate.counts.iter().sum::<u64>(), 940);
    assert_eq!(report.threads.iter().map(|thread| thread.count).collect::<Vec<_>>(), [940]);

    let [widget, null, invalid] = report.types.as_slice() else { panic!("{types:?}") };
    // Each exception wraps one that Thrower caught. Its catch block ends; the others never do.
    let inner: Vec<_> =
        widget.inner.iter().map(|row| (row.type_name.as_str(), row.count)).collect();
    assert_eq!(
        inner,
        [("System.NullReferenceException", 282), ("System.InvalidOperationException", 188)]
    );
    assert_eq!((widget.nested, widget.caught, widget.left_by_exception), (470, 470, 0));
    assert_eq!((widget.in_catch.count, widget.in_filter.count), (470, 470));
    assert_eq!((null.nested, null.caught, null.in_catch.count), (0, 282, 0));
    // The last throw is a NullReferenceException, and the trace ends before its block does.
    assert_eq!((null.left_by_exception, invalid.left_by_exception), (281, 188));
    assert!(report.is_handling_traced);

    let messages: Vec<_> =
        invalid.messages.iter().map(|row| (row.message.as_str(), row.count)).collect();
    assert_eq!(messages, [("round #", 188)]);
    let messages: Vec<_> =
        widget.messages.iter().map(|row| (row.message.as_str(), row.count)).collect();
    assert_eq!(messages, [("widget λ #", 470)]);
    assert_eq!(widget.caught_in.len(), 1);
    assert_eq!(widget.caught_in[0].method, "Workload.Program.ExceptionRound");
    assert!(invalid.stacks[0].frames[0].text.contains("Thrower"), "{:?}", invalid.stacks[0]);
    assert_eq!(invalid.stacks.iter().map(|row| row.count).sum::<u64>(), 188);
}

#[test]
fn net3_1_has_no_events_of_exception_handling() {
    let reported = reported("net3.1-linux-x64/all.nettrace", Exceptions::default());
    assert_eq!((reported.events, reported.output.count), (0, 0));
}

/// Returns the durations that the program measured for its requests, in nanoseconds, by their
/// number.
fn durations_by_the_program(trace: &str) -> BTreeMap<String, f64> {
    let bytes = corpus::trace(trace).bytes();
    let mut reader = Reader::from_slice(&bytes);
    let mut expected = BTreeMap::new();
    while let Some(event) = reader.next_event().expect("a readable stream") {
        if event.name() == "RequestStop" {
            let number = event.field("number").and_then(|value| value.as_i64()).expect("a number");
            let milliseconds =
                event.field("milliseconds").and_then(|value| value.as_f64()).expect("a duration");
            expected.insert(format!("number={number} "), milliseconds * 1e6);
        }
    }
    expected
}

#[test]
fn requests_take_as_long_as_the_program_measured() {
    // Traces of net3.1 have no activity ids, so the number identifies a stop.
    for (trace, requests, has_ids) in
        [(ALL, 376, true), ("net3.1-linux-x64/all.nettrace", 360, false)]
    {
        let reported = reported(trace, Activities::default().top(1000));
        let report = reported.output;
        let row = report
            .activities
            .iter()
            .find(|row| row.name.to_string() == "Nettrace-Workload/Request")
            .unwrap();
        assert_eq!((row.started, row.stopped, row.errors), (requests, requests, 0), "{trace}");
        assert_eq!(report.stops_without_start, 0, "{trace}");
        assert_eq!(report.slowest.len() as u64, requests);
        assert!(report.slowest.windows(2).all(|pair| pair[0].duration_ns >= pair[1].duration_ns));
        let expected = durations_by_the_program(trace);
        let mut wrong = 0;
        for row in &report.slowest {
            assert_eq!(row.id.is_some(), has_ids, "{trace}");
            let (_, expected) = expected
                .iter()
                .find(|(number, _)| row.fields.starts_with(number.as_str()))
                .unwrap();
            // The thread may be suspended between reading its clock and writing the event.
            wrong += u32::from((row.duration_ns as f64 - expected).abs() > 2e6);
        }
        assert!(wrong * 20 < u32::try_from(requests).unwrap(), "{trace}: {wrong} of {requests}");
    }
}

#[test]
fn activities_of_net10_have_paths() {
    let reported = reported(ALL, Activities::default().events_of("/#17178/1/16"));
    let report = reported.output;
    assert!(
        report
            .slowest
            .iter()
            .all(|row| row.id.as_deref().is_some_and(|id| id.starts_with("/#17178/1/")))
    );
    let names: Vec<_> = report.events.iter().map(|event| event.event.as_str()).collect();
    assert_eq!(names.first(), Some(&"Nettrace-Workload/Request/Start"));
    assert!(names.contains(&"Nettrace-Workload/Request/Stop"), "{names:?}");
}

#[test]
fn payments_run_inside_orders() {
    let reported = reported("net10-linux-x64/metrics.nettrace", Activities::default());
    let report = reported.output;
    let tree: Vec<_> = report.tree.iter().map(|node| (node.depth, node.name.as_str())).collect();
    assert_eq!(tree, [(0, "Nettrace.Workload/order"), (1, "Nettrace.Workload/pay")]);
    let [order, pay] = report.tree.as_slice() else { panic!("{tree:?}") };
    assert_eq!((order.started + pay.started, order.stopped + pay.stopped), (4072, 4070));
    assert!(order.errors > 0 && pay.errors == 0);
    // Every fifth order fails.
    assert!((order.errors * 5).abs_diff(order.stopped) < 10, "{} {}", order.errors, order.stopped);
    assert!(order.durations.total_ns > pay.durations.total_ns);
}

#[test]
fn each_wait_for_a_lock_that_began_ended() {
    let reported = reported(ALL, Contention::default());
    let report = reported.output;
    assert_eq!((report.totals.started, report.totals.stopped), (207, 207));
    assert_eq!(
        (
            report.totals.stops_without_start,
            report.totals.starts_without_stop,
            report.totals.still_waiting
        ),
        (0, 0, 0)
    );
    let gate = &report.locks[0];
    assert!(gate.lock_id.as_deref().is_some_and(|id| id.starts_with("0x")));
    assert!(
        gate.stacks[0].frames.iter().any(|frame| frame.text.contains("ContentionRound")),
        "{:?}",
        gate.stacks[0]
    );
    assert_eq!(report.locks.iter().map(|lock| lock.waits.count).sum::<u64>(), 207);
    let owned: u64 =
        report.locks.iter().flat_map(|lock| &lock.owners).map(|owner| owner.count).sum();
    assert!(owned > 0 && owned <= 207);
}

#[test]
fn waits_are_paired_on_their_threads() {
    let reported = reported("net10-linux-x64/waits.nettrace", Waits::default().top(1000));
    let report = reported.output;
    assert_eq!(
        (
            report.totals.started,
            report.totals.stopped + report.totals.still_waiting + report.totals.starts_without_stop
        ),
        (1723, 1723)
    );
    assert_eq!(report.totals.stopped + report.totals.stops_without_start, 1720);
    assert_eq!(
        report.places.iter().map(|place| place.waits.count).sum::<u64>(),
        report.totals.stopped
    );
    let contention = self::reported("net10-linux-x64/waits.nettrace", Contention::default());
    assert_eq!((contention.output.totals.started, contention.output.totals.stopped), (636, 634));
    assert_eq!(contention.output.totals.still_waiting, 2);
}

#[test]
fn four_tasks_a_round_are_scheduled_run_and_waited_for() {
    let reported = reported(ALL, Tasks::default());
    let report = reported.output;
    assert_eq!(
        (report.scheduled, report.started, report.completed, report.faulted),
        (376, 376, 376, 0)
    );
    assert_eq!((report.waits_begun, report.waits_ended), (564, 564));
    let first = &report.tasks[0];
    assert_eq!(
        (first.name.as_str(), first.queued.count, first.ran.count),
        ("Task: TaskRound.lambda_0", 376, 376)
    );
    assert!(report.waits.iter().all(|row| !row.is_blocking || row.waits.total_ns > 0));
    assert_eq!(report.activities.iter().map(|row| row.scheduled).sum::<u64>(), 376);
}

#[test]
fn traces_without_messages_have_no_logs() {
    let reported = reported(ALL, Logs::default());
    assert_eq!((reported.events, reported.output.messages.len()), (0, 0));
}

fn counters(trace: &str) -> CountersReport {
    reported(trace, Counters::default()).output
}

#[test]
fn counters_of_both_kinds_stand_together() {
    let report = counters("net10-linux-x64/metrics.nettrace");
    let find = |name: &str, tags: &str| {
        report
            .series
            .iter()
            .find(|series| series.name == name && series.tags_text(",") == tags)
            .unwrap()
    };
    let book = find("orders", "kind=book");
    assert_eq!(
        (book.kind, book.unit.as_str(), book.provider.as_str()),
        (CounterKind::Counter, "{order}", "Nettrace.Workload")
    );
    assert_eq!((book.points[0].value, book.points[0].ts_ns), (430.0, 1_018_218_938));
    assert_eq!(find("orders", "kind=tëä").points[0].value, 429.0);
    let median = find("order.duration", "kind=book,Percentile=50");
    assert_eq!(
        (median.kind, median.points[0].value, median.points[0].count),
        (CounterKind::Histogram, 10.125, Some(858))
    );
    assert_eq!(
        find("load", "core=1").points.iter().map(|point| point.value).collect::<Vec<_>>(),
        [0.25, 0.25]
    );
    // The first rate has no value yet, so it is no point.
    assert_eq!(find("dotnet.process.cpu.time", "cpu.mode=user").points.len(), 1);
    let usage = find("cpu-usage", "");
    assert_eq!(
        (usage.kind, usage.unit.as_str(), usage.display_name.as_str()),
        (CounterKind::Mean, "%", "CPU Usage")
    );
    assert_eq!(usage.points[0].value, 0.008428626351954824);
    assert!(report.start_unix_ns.is_some());
}

/// Values by provider, name with tags, and type.
type Rows = BTreeMap<(String, String, String), Vec<f64>>;

/// Returns values by provider, name with tags, and type. The fourth field may have commas, because
/// the reference does not quote.
fn rows(csv: &str) -> Rows {
    let mut rows = Rows::new();
    for line in csv.lines().skip(1) {
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

mod with_shared {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn every_series_of_dotnet_counters_lies_in_ours_value_for_value() {
        for (trace, golden) in corpus::recorded_beside_dotnet_counters() {
            let name = trace.name();
            let report = counters(name);
            let mut csv = CountersReport::CSV_HEADER.as_bytes().to_vec();
            report.write_csv(&mut csv, false).unwrap();
            let csv = String::from_utf8(csv).unwrap();
            assert_eq!(csv.lines().next(), golden.lines().next());
            let (ours, golden) = (rows(&csv), rows(&golden));
            assert!(golden.len() > 20, "{name}");
            for (key, values) in golden {
                let ours = ours.get(&key).unwrap_or_else(|| panic!("{name}: no {key:?}"));
                assert!(
                    ours.windows(values.len()).any(|part| part == values),
                    "{name} {key:?}: {ours:?} {values:?}"
                );
            }
        }
    }
}
