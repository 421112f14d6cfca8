//! Ids of activities that repeat, and ids with large numbers, in recordings whose right answers are
//! known.

use crate::web::reported;
use nettrace_analysis::report::{
    Activities, ActivitiesReport, ActivityRow, Http, HttpDirection, Logs, Report, ReportPass, Sql,
};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;
use std::collections::BTreeSet;

fn known<R: Report>(name: &str, report: R) -> R::Output {
    let mut pass = ReportPass::new(report);
    let bytes = corpus::known(name).bytes();
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    pass.finish().output
}

fn row<'r>(report: &'r ActivitiesReport, name: &str) -> &'r ActivityRow {
    report.activities.iter().find(|row| row.name.to_string() == name).unwrap()
}

#[test]
fn activities_with_one_id_at_once_are_counted_and_none_has_an_invented_duration() {
    let report = known("ids-open-twice", Activities::default().top(100));
    let calls = row(&report, "Bugs-Fan/Call");
    assert_eq!((calls.started, calls.stopped, report.stops_without_start), (40, 40, 0));
    let unpaired = calls.unpaired.unwrap();
    assert_eq!((unpaired.count, unpaired.not_in_total, calls.durations.count), (30, 0, 10));
    // 40 calls of 20 + 20 i ms, and what the timers were late.
    let total_ms = calls.durations.total_ns / 1_000_000;
    assert!((17_200..17_250).contains(&total_ms), "{total_ms}");
    assert_eq!(calls.durations.mean_ns, calls.durations.total_ns / 40);
    assert_eq!(unpaired.longest_at_least_ns / 1_000_000, 820);
    // The tree says the same.
    let inside = report.tree.iter().find(|node| node.name == "Bugs-Fan/Call").unwrap();
    assert_eq!((inside.unpaired, inside.durations), (Some(unpaired), calls.durations));
    // The ten with ids of their own.
    assert_eq!(calls.durations.max_ns / 1_000_000, 221);
    assert_eq!(report.slowest.len(), 11);
    for call in report.slowest.iter().filter(|row| row.name.to_string() == "Bugs-Fan/Call") {
        let (_, ms) = call.fields.split_once("ms=").unwrap();
        let ms: u64 = ms.parse().unwrap();
        // Timers are a little late or early.
        assert!((ms - 1..ms + 5).contains(&(call.duration_ns / 1_000_000)), "{call:?}");
    }
}

#[test]
fn requests_with_one_id_at_once_are_counted_and_none_has_an_invented_duration() {
    let report = known("http-ids-open-twice", Http::default());
    assert_eq!((report.started, report.stopped, report.stops_without_start), (40, 40, 0));
    let requests = row(&report, "out http://127.0.0.1:5701/item");
    let unpaired = requests.unpaired.unwrap();
    assert_eq!((unpaired.count, unpaired.not_in_total, requests.durations.count), (30, 0, 10));
    assert_eq!(unpaired.longest_at_least_ns / 1_000_000, 909);
    assert_eq!(requests.durations.total_ns / 1_000_000, 21_541);
    assert_eq!(report.unpaired, Some(unpaired));
}

#[test]
fn paths_with_numbers_above_255_are_read_and_found() {
    let report = known("ids-above-255", Activities::default().top(1_000));
    let ids: Vec<&str> = report.slowest.iter().filter_map(|row| row.id.as_deref()).collect();
    assert_eq!(ids.len(), 1 + 260 + 520);
    for number in 1..=260 {
        for id in ["", "/1", "/2"].map(|step| format!("/#32165/1/1/{number}{step}")) {
            assert_eq!(ids.iter().filter(|other| **other == id).count(), 1, "{id}");
        }
    }
    let inside = report.tree.iter().map(|node| (node.name.as_str(), node.depth, node.started));
    let expected =
        [("Bugs-Act/Session", 0, 1), ("Bugs-Act/Order", 1, 260), ("Bugs-Act/Step", 2, 520)];
    assert!(inside.eq(expected));
    // The text of the path, and the GUID as the trace has it.
    for id in ["/#32165/1/1/256/1", "0000c111-0010-0000-0000-00006b279e59"] {
        let one = Activities::default().events_of(id);
        let events: Vec<String> =
            known("ids-above-255", one).events.into_iter().map(|event| event.event).collect();
        assert_eq!(events, ["Bugs-Act/Step/Start", "Bugs-Act/Step/Stop"], "{id}");
    }
    for id in ["/#32165/1/1/256", "0000c111-0000-0000-0000-00001b279e59"] {
        let order = Activities::default().events_of(id);
        assert_eq!(known("ids-above-255", order).events.len(), 6, "{id}");
    }
}

#[test]
fn a_key_is_of_one_activity_and_an_id_of_the_first() {
    let events = |id: &str| {
        let report = known("ids-open-twice", Activities::default().events_of(id));
        let events: Vec<(String, String)> =
            report.events.into_iter().map(|event| (event.event, event.fields)).collect();
        (events, report.same_id)
    };
    let start = |fields: &str| ("Bugs-Fan/Call/Start".to_owned(), fields.to_owned());
    let first = vec![start("n=10 ms=240")];
    // No stop tells which of the thirty it ends.
    assert_eq!(events("/#2866/1/1/0"), (first.clone(), 29));
    assert_eq!(events("/#2866/1/1/0@368972063"), (first, 29));
    assert_eq!(events("/#2866/1/1/0@369053605"), (vec![start("n=39 ms=820")], 29));
    assert_eq!(events("/#2866/1/1/0@368972064"), (Vec::new(), 0));
    let (own, others) = events("/#2866/1/1/9@368953815");
    assert_eq!((own.len(), own[0].1.as_str(), others), (3, "n=8 ms=200", 0));
}

mod with_shared {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn requests_of_a_connection_from_the_eleventh_on_are_counted_once() {
        let report = reported("net11-full", Http::default());
        let sum = |direction| -> u64 {
            let rows = report.activities.iter();
            rows.filter(|row| row.name.direction == Some(direction)).map(|it| it.started).sum()
        };
        assert_eq!((sum(HttpDirection::In), sum(HttpDirection::Out), report.errors), (289, 15, 6));
        assert_eq!((report.started, report.stopped, report.unpaired), (304, 304, None));
        for (name, count) in [
            ("in GET /hello", 50),
            ("in GET /loh", 30),
            ("in GET /metric/#", 20),
            ("in GET /throws/#", 20),
        ] {
            let row = row(&report, name);
            assert_eq!((row.started, row.stopped, row.nested), (count, count, 0), "{name}");
            let counts: Vec<u64> = row.layers.iter().map(|layer| layer.durations.count).collect();
            assert_eq!(counts, [count, count], "{name}");
        }
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn activities_of_logs_stop_by_the_id_in_their_payload() {
        let report = reported("net11-full", Activities::default());
        let logged = row(&report, "Microsoft-Extensions-Logging/Activity");
        assert_eq!((logged.started, logged.stopped, logged.unpaired), (392, 392, None));
    }

    /// Tests that neither messages nor commands of the requests with one id are taken for those of
    /// one request.
    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn messages_and_commands_are_of_as_many_requests_as_came_in() {
        let logs = reported("net11-full", Logs::default().top(10_000));
        let of_requests = logs.messages.iter().filter_map(|message| message.request.as_deref());
        assert_eq!(of_requests.collect::<BTreeSet<_>>().len(), 289);
        for message in logs.messages.iter().filter(|it| it.logger == "Shop.Billing") {
            let path = message.scopes.iter().find_map(|scope| scope.split_once("RequestPath="));
            assert!(path.unwrap().1.starts_with("/logs/"), "{message:?}");
        }
        let sql = reported("net11-full", Sql::default());
        let rows = sql.requests.iter();
        let rows: Vec<_> =
            rows.map(|row| (&*row.name, row.units, row.commands, row.most_in_one)).collect();
        let expected = [
            ("GET /nplus1", 20, 220, 11),
            ("GET /orders/#", 12, 12, 1),
            ("GET /api/products", 5, 5, 1),
        ];
        assert_eq!(rows, expected);
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn each_request_of_a_connection_is_found_by_its_key() {
        let report = reported("net11-full", Http::default().top(1_000));
        let rows: Vec<_> = report
            .slowest
            .iter()
            .filter(|row| row.id.as_deref() == Some("/#24574/1/67/0"))
            .collect();
        let keys: BTreeSet<&str> = rows.iter().filter_map(|row| row.key.as_deref()).collect();
        assert_eq!((rows.len(), keys.len()), (20, 20));
        for row in rows {
            let key = row.key.as_deref().unwrap();
            let one = reported("net11-full", Http::from(Activities::default().events_of(key)));
            let line = one.line.unwrap();
            assert_eq!((line.start_ns, line.duration_ns), (row.start_ns, row.duration_ns), "{key}");
            let times: Vec<i64> = one.events.iter().map(|event| event.ts_ns).collect();
            let end = row.start_ns + row.duration_ns.cast_signed();
            assert_eq!((times[0], times.last()), (row.start_ns, Some(&end)), "{key}");
            assert_eq!(one.same_id, 19, "{key}");
            assert_eq!(one.steps[0].duration_ns, Some(row.duration_ns), "{key}");
        }
        // The id as other tools show it, a GUID, means the first request with it.
        let guid = "00c0431c-0000-0000-0000-000037835d5a";
        let of_id = |id| reported("net11-full", Http::from(Activities::default().events_of(id)));
        let (one, first) = (of_id(guid), of_id("/#24574/1/67/0"));
        assert_eq!((one.events.len(), one.same_id), (10, 19));
        assert_eq!((one.events, one.steps, one.line), (first.events, first.steps, first.line));
    }
}
