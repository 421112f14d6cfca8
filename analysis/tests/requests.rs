//! Each HTTP request is counted once, even if several layers report it.

use crate::common::path;
use nettrace_analysis::report::{
    Activities, ActivitiesReport, ActivityRow, Http, HttpDirection, Report, ReportPass,
};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;
use nettrace_testdata::synth::{
    EventType, Field, FieldType, Session, SessionEvent, SessionThread, Step, Value, Version,
};

const HOSTING: &str = "Microsoft.AspNetCore.Hosting";
const KESTREL: &str = "Microsoft-AspNetCore-Server-Kestrel";

const IN: usize = 0;
const IN_STOP: usize = 1;
const LAYER: usize = 2;
const LAYER_STOP: usize = 3;
const OUT: usize = 4;
const OUT_STOP: usize = 5;
const FAILED: usize = 6;

const NO_ID: [u8; 16] = [0; 16];

fn types() -> Vec<EventType> {
    use FieldType::{Int32, Text};
    let described =
        |provider: &str, event_id, name: &str, fields: &[(&str, FieldType)]| EventType {
            provider: provider.into(),
            event_id,
            name: name.into(),
            level: 4,
            fields: fields
                .iter()
                .map(|(name, field_type)| Field::new(name, field_type.clone()))
                .collect(),
            ..EventType::default()
        };
    let mut types = vec![
        described(HOSTING, 3, "RequestStart", &[("method", Text), ("path", Text)]),
        described(HOSTING, 4, "RequestStop", &[]),
        described(
            KESTREL,
            3,
            "RequestStart",
            &[("requestId", Text), ("path", Text), ("method", Text)],
        ),
        described(
            KESTREL,
            4,
            "RequestStop",
            &[("requestId", Text), ("path", Text), ("method", Text)],
        ),
        described("System.Net.Http", 1, "RequestStart", &[("host", Text), ("pathAndQuery", Text)]),
        described("System.Net.Http", 2, "RequestStop", &[("statusCode", Int32)]),
        described(HOSTING, 5, "UnhandledException", &[]),
    ];
    types[FAILED].level = 2;
    types
}

/// Makes an event 100 ns after the one before.
fn event(event_type: usize, thread: usize, id: [u8; 16], values: Vec<Value>) -> Step {
    Step::Event(SessionEvent {
        event_type,
        thread,
        capture_thread: thread,
        ticks_later: 100,
        activity_id: id,
        values,
        ..SessionEvent::default()
    })
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn hosting(thread: usize, id: [u8; 16], path: &str) -> Step {
    event(IN, thread, id, vec![text("GET"), text(path)])
}

fn hosted(thread: usize, id: [u8; 16]) -> Step {
    event(IN_STOP, thread, id, vec![])
}

fn kestrel(event_type: usize, thread: usize, id: [u8; 16], path: &str) -> Step {
    event(event_type, thread, id, vec![text("7"), text(path), text("GET")])
}

fn report(steps: Vec<Step>, report: impl Report<Output = ActivitiesReport>) -> ActivitiesReport {
    let mut session = Session::new(Version::V4);
    session.trace.tick_frequency = 1_000_000_000;
    session.types = types();
    session.threads = vec![SessionThread::new(11), SessionThread::new(12), SessionThread::new(13)];
    session.steps = steps;
    report_of(&session.record().stream.bytes, report)
}

fn report_of<R: Report>(bytes: &[u8], report: R) -> R::Output {
    let mut pass = ReportPass::new(report);
    assert!(
        pass.read(&mut Reader::from_slice(bytes).time_ordered())
            .expect("a readable stream")
            .is_complete
    );
    pass.finish().output
}

fn names(rows: &[ActivityRow]) -> Vec<(String, u64)> {
    rows.iter().map(|row| (row.name.to_string(), row.started)).collect()
}

const ONE: [u8; 4] = [0x11, 0, 0, 0];
const ONE_ONE: [u8; 4] = [0x11, 0x10, 0, 0];
const ONE_ONE_ONE: [u8; 4] = [0x11, 0x11, 0, 0];

#[test]
fn a_request_reported_by_two_layers_is_one_with_the_times_of_both() {
    let (outer, inner) = (path(ONE), path(ONE_ONE));
    let report = report(
        vec![
            hosting(0, outer, "/items/7"),
            kestrel(LAYER, 0, inner, "/items/7"),
            event(FAILED, 1, inner, vec![]),
            kestrel(LAYER_STOP, 1, inner, "/items/7"),
            hosted(1, outer),
        ],
        Http::default(),
    );
    assert_eq!((report.started, report.stopped, report.layers, report.outermost), (1, 1, 1, 1));
    let [row] = report.activities.as_slice() else { panic!("{report:?}") };
    assert_eq!(
        (row.name.target.as_str(), row.name.direction),
        ("GET /items/#", Some(HttpDirection::In))
    );
    assert_eq!((row.started, row.durations.count, row.durations.total_ns), (1, 1, 400));
    let layers: Vec<_> =
        row.layers.iter().map(|layer| (layer.name.as_str(), layer.durations.total_ns)).collect();
    assert_eq!(
        layers,
        [
            ("Microsoft.AspNetCore.Hosting/Request", 400),
            ("Microsoft-AspNetCore-Server-Kestrel/Request", 200)
        ]
    );
    assert_eq!(report.slowest.len(), 1);
    // The tree has both layers.
    assert_eq!(
        report.tree.iter().map(|node| (node.depth, node.started)).collect::<Vec<_>>(),
        [(0, 1), (1, 1)]
    );
}

#[test]
fn a_layer_that_outlives_the_request_is_still_no_request() {
    let (outer, inner) = (path(ONE), path(ONE_ONE));
    let report = report(
        vec![
            hosting(0, outer, "/a"),
            kestrel(LAYER, 0, inner, "/a"),
            hosted(0, outer),
            kestrel(LAYER_STOP, 0, inner, "/a"),
            // This request never stops.
            hosting(0, outer, "/a"),
            kestrel(LAYER, 0, inner, "/a"),
        ],
        Http::default(),
    );
    assert_eq!((report.started, report.stopped, report.layers), (2, 1, 2));
    assert_eq!(names(&report.activities), [("in GET /a".to_owned(), 2)]);
}

#[test]
fn layers_without_ids_are_found_by_their_thread() {
    let report = report(
        vec![
            hosting(0, NO_ID, "/a"),
            hosting(1, NO_ID, "/a"),
            kestrel(LAYER, 0, NO_ID, "/a"),
            kestrel(LAYER_STOP, 0, NO_ID, "/a"),
            // The target differs, so this is a request of its own.
            kestrel(LAYER, 1, NO_ID, "/b"),
        ],
        Http::default(),
    );
    assert_eq!((report.started, report.layers), (3, 1));
}

#[test]
fn a_server_that_asks_itself_has_two_requests_in_and_one_out() {
    let (outer, out, inner) = (path(ONE), path(ONE_ONE), path(ONE_ONE_ONE));
    let report = report(
        vec![
            hosting(0, outer, "/a"),
            event(OUT, 0, out, vec![text("me"), text("/a")]),
            hosting(1, inner, "/a"),
            hosted(1, inner),
            event(OUT_STOP, 0, out, vec![Value::I32(200)]),
            hosted(0, outer),
        ],
        Http::default(),
    );
    assert_eq!((report.started, report.layers), (3, 0));
    assert_eq!(
        names(&report.activities),
        [("in GET /a".to_owned(), 2), ("out me/a".to_owned(), 1)]
    );
    let [came, went] = report.activities.as_slice() else { panic!("{report:?}") };
    assert_eq!(
        (came.name.direction, went.name.direction),
        (Some(HttpDirection::In), Some(HttpDirection::Out))
    );
    // One request ran inside of the other, so its 100 ns are part of the 500.
    assert_eq!((came.durations.total_ns, came.outermost_ns, came.nested), (600, 500, 1));
}

mod with_shared {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn each_request_of_a_web_server_is_counted_once() {
        let file = corpus::trace("aspnet-net10-linux-x64/web.nettrace");
        let bytes = file.bytes();
        let report = report_of(&bytes, Http::default());
        assert_eq!(
            (report.started, report.stopped, report.errors, report.layers),
            (12_741, 12_741, 150, 11_833)
        );
        let row = |name: &str| {
            let row = report.activities.iter().find(|row| row.name.to_string() == name);
            row.unwrap_or_else(|| panic!("no {name}: {:?}", names(&report.activities)))
        };
        // A plain loop over the events counted these requests, medians, longest in nanoseconds, and
        // errors.
        for (name, count, median, longest, errors) in [
            ("in GET /", 9_891, 14_000, 4_669_000, 0),
            ("in GET /work", 900, 11_524_000, 24_118_000, 0),
            ("in GET /chain", 900, 1_381_000, 43_547_000, 0),
            ("in GET /fail", 150, 48_000, 3_035_000, 150),
        ] {
            let row = row(name);
            assert_eq!((row.started, row.stopped, row.errors), (count, count, errors), "{name}");
            assert_eq!(row.name.direction, Some(HttpDirection::In));
            // The expected values have microseconds, and percentiles are exact to 0.4 %.
            assert!(
                row.durations.max_ns.abs_diff(longest) <= 1_000,
                "{name}: {}",
                row.durations.max_ns
            );
            let off = row.durations.p50_ns.abs_diff(median);
            assert!(off <= median / 200 + 1_000, "{name}: {}", row.durations.p50_ns);
            let layers: Vec<_> = row.layers.iter().map(|layer| layer.name.as_str()).collect();
            assert_eq!(
                layers,
                [
                    "Microsoft.AspNetCore.Hosting/Request",
                    "Microsoft-AspNetCore-Server-Kestrel/Request"
                ]
            );
            // Kestrel was switched on 8 requests later.
            let [hosting, kestrel] = row.layers.as_slice() else { panic!("{layers:?}") };
            assert_eq!(hosting.durations.count, count);
            assert_eq!(kestrel.durations.count, if name == "in GET /" { count - 8 } else { count });
        }
        let went = row("out http://127.0.0.1:5079/");
        assert_eq!(
            (went.started, went.name.direction, went.layers.len()),
            (900, Some(HttpDirection::Out), 0)
        );
        assert_eq!(report.activities.len(), 5);
        // The report on activities counts each layer. No activity inside of another counts as
        // outermost. 49,165 events are named Start; four connections of the client begin with
        // ConnectionEstablished, and outlast the recording.
        let all = report_of(&bytes, Activities::default());
        assert_eq!(
            (all.started, all.errors, all.outermost),
            (49_165 + 4, 150, 10_945 + 10_942 + 8)
        );
    }
}
