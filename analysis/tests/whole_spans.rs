//! Activities of which the trace has the stop alone, with the time of the start: what dotnet-monitor
//! asks for.

use nettrace_analysis::report::{Activities, ActivitiesReport, ReportPass};
use nettrace_parser::{Reader, Whole};
use nettrace_testdata::corpus;
use nettrace_testdata::synth::{
    EventType, Field, FieldType, Session, SessionThread, Step, Value, Version,
};

const START: usize = 0;
const STOP: usize = 1;

/// Start or stop, name, arguments.
type Edge<'t> = (usize, &'t str, &'t [(&'t str, &'t str)]);

/// Records starts and stops of `Shop`, 1 s apart.
fn recorded(events: &[Edge<'_>]) -> Vec<u8> {
    let of = |name: &str, field_type| Field::new(name, field_type);
    let pair = FieldType::Object(vec![of("Key", FieldType::Text), of("Value", FieldType::Text)]);
    let fields = vec![
        of("SourceName", FieldType::Text),
        of("ActivityName", FieldType::Text),
        of("Arguments", FieldType::Array(Box::new(pair))),
    ];
    let event_type = |event_id, name: &str| EventType {
        provider: "Microsoft-Diagnostics-DiagnosticSource".into(),
        event_id,
        name: name.into(),
        fields: fields.clone(),
        ..EventType::default()
    };
    let text = |text: &str| Value::Text(text.into());
    let step = |(event_type, name, arguments): &Edge<'_>| {
        let pair = |(key, value): &(&str, &str)| Value::Object(vec![text(key), text(value)]);
        let arguments = Value::Array(arguments.iter().map(pair).collect());
        Step::event(*event_type, 0, 10_000_000, vec![text("Shop"), text(name), arguments])
    };
    let types = vec![event_type(13, "ActivityStart"), event_type(14, "ActivityStop")];
    let (threads, steps) = (vec![SessionThread::new(11)], events.iter().map(step).collect());
    let session = Session { types, threads, steps, ..Session::new(Version::V4) };
    session.record().stream.into_bytes()
}

fn reported(bytes: &[u8]) -> ActivitiesReport {
    let mut pass = ReportPass::new(Activities::default());
    let _ = pass.read(&mut Reader::new(Whole::new(bytes)).time_ordered()).unwrap();
    pass.finish().output
}

const TRACE: (&str, &str) = ("TraceId", "b3ec1693334af2010e5a91c26be18a0f");
const BEGAN: (&str, &str) = ("StartTimeTicks", "639314449605253985");

#[test]
fn a_stop_with_the_time_of_its_start_is_a_whole_activity() {
    let span = |id| ("SpanId", id);
    let bytes = recorded(&[
        (STOP, "Charge", &[TRACE, span("b5329aad740200d9"), BEGAN, ("DurationTicks", "150000")]),
        (
            STOP,
            "Charge",
            &[
                TRACE,
                span("90d3d8dea84df373"),
                BEGAN,
                ("DurationTicks", "50000"),
                ("Status", "Error"),
            ],
        ),
        // Began before the session.
        (STOP, "Charge", &[TRACE, span("2ac6ed441f96d24f"), BEGAN, ("DurationTicks", "70000000")]),
        // Without the time of the start, it is a stop that lost its start.
        (STOP, "Charge", &[TRACE, span("ee4ce6e7636b4644"), ("DurationTicks", "150000")]),
    ]);
    let report = reported(&bytes);
    assert_eq!((report.started, report.stopped, report.stops_without_start), (2, 2, 2));
    let [row] = &report.activities[..] else { panic!("{:?}", report.activities) };
    assert_eq!((&*row.name.target, row.errors), ("Shop/Charge", 1));
    assert_eq!((row.durations.total_ns, row.durations.max_ns), (20_000_000, 15_000_000));
}

#[test]
fn a_stop_with_the_time_of_its_start_ends_the_start_that_was_seen() {
    let span = ("SpanId", "b5329aad740200d9");
    let bytes = recorded(&[
        (START, "Charge", &[TRACE, span]),
        (STOP, "Charge", &[TRACE, span, BEGAN, ("DurationTicks", "9000000")]),
    ]);
    let report = reported(&bytes);
    assert_eq!((report.started, report.stopped, report.stops_without_start), (1, 1, 0));
    assert_eq!(report.activities[0].durations.total_ns, 900_000_000);
}

#[test]
fn spans_that_stop_before_the_one_around_them_are_inside_it() {
    let (long, short) = (("DurationTicks", "9000000"), ("DurationTicks", "50000"));
    let span = |id| ("SpanId", id);
    let parent = |id| ("ParentSpanId", id);
    let (order, charge, card) = ("b5329aad740200d9", "90d3d8dea84df373", "2ac6ed441f96d24f");
    let caller = parent("ee4ce6e7636b4644");
    let bytes = recorded(&[
        (STOP, "Start", &[TRACE, span("bb4ce6e7636b4644"), BEGAN, short]),
        (STOP, "Card", &[TRACE, span(card), parent(charge), BEGAN, short]),
        (STOP, "Charge", &[TRACE, span(charge), parent(order), BEGAN, short]),
        // The caller is in another process.
        (STOP, "Order", &[TRACE, span(order), caller, BEGAN, long]),
    ]);
    let report = reported(&bytes);
    let inside = report.tree.iter().map(|node| (&*node.name, node.depth, node.started));
    let order = [("Shop/Order", 0, 1), ("Shop/Charge", 1, 1), ("Shop/Card", 2, 1)];
    let expected = [&order[..], &[("Shop/Start", 0, 1)]].concat();
    assert_eq!(inside.collect::<Vec<_>>(), expected);
    assert_eq!((report.started, report.outermost), (4, 2));
}

mod with_shared {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn spans_in_the_form_of_dotnet_monitor_are_all_there() {
        let name = "reports/stops-with-start.nettrace";
        let trace = corpus::of_shared().into_iter().find(|trace| trace.name() == name).unwrap();
        let report = reported(&trace.bytes());
        assert_eq!((report.started, report.stopped, report.stops_without_start), (80, 80, 0));
        let inside = report.tree.iter().map(|node| (&*node.name, node.depth, node.started));
        let expected = [("Shop.Spans/Order", 0, 20), ("Shop.Spans/Charge", 1, 60)];
        assert_eq!(inside.collect::<Vec<_>>(), expected);
        assert_eq!(report.outermost, 20);
    }
}
