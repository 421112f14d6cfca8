//! Exceptions, locks, waits, tasks, activities, logs and counters in streams made by hand: nested,
//! without one of their ends, and with losses between.

use crate::common::path;
use nettrace_analysis::findings::Summary;
use nettrace_analysis::live::{Live, LiveWatch, WatchKind};
use nettrace_analysis::report::{
    Activities, ActivitiesReport, Contention, Counters, Exceptions, Http, Logs, Report, ReportPass,
    Tasks, Waits,
};
use nettrace_parser::Reader;
use nettrace_testdata::cases;
use nettrace_testdata::synth::{
    EventType, Field, FieldType, Session, SessionEvent, SessionThread, Step, Value, Version,
};
use proptest::prelude::*;

const RUNTIME: &str = "Microsoft-Windows-DotNETRuntime";
const TASKS: &str = "System.Threading.Tasks.TplEventSource";
const LOGGING: &str = "Microsoft-Extensions-Logging";
const METRICS: &str = "System.Diagnostics.Metrics";

const THROWN: usize = 0;
const CATCH: usize = 1;
const CAUGHT: usize = 2;
const FILTER: usize = 3;
const FILTERED: usize = 4;
const FINALLY: usize = 5;
const FINAL: usize = 6;
const LOCK: usize = 7;
const LOCKED: usize = 8;
const WAIT: usize = 9;
const WAITED: usize = 10;
const START: usize = 11;
const STOP: usize = 12;
const FAILED: usize = 13;
const SCHEDULED: usize = 14;
const STARTED: usize = 15;
const COMPLETED: usize = 16;
const LOGGED: usize = 17;
const LOGGED_JSON: usize = 18;
const SCOPE: usize = 19;
const SCOPE_END: usize = 20;
const RATE: usize = 21;
const QUANTILES: usize = 22;
const HTTP_START: usize = 23;
const HTTP_STOP: usize = 24;
const MESSAGE: usize = 25;
const TYPES: usize = 26;

fn native(event_id: u32, version: u8) -> EventType {
    EventType { provider: RUNTIME.into(), event_id, version, ..EventType::default() }
}

fn described(provider: &str, event_id: u32, name: &str, fields: &[(&str, FieldType)]) -> EventType {
    let fields =
        fields.iter().map(|(name, field_type)| Field::new(name, field_type.clone())).collect();
    EventType {
        provider: provider.into(),
        event_id,
        name: name.into(),
        level: 4,
        fields,
        ..EventType::default()
    }
}

pub(crate) fn session(steps: Vec<Step>) -> Session {
    use FieldType::{Int32, Int64, Text};
    let mut session = Session::new(Version::V4);
    session.trace.tick_frequency = 1_000_000_000;
    let log = [
        ("Level", Int32),
        ("FactoryID", Int32),
        ("LoggerName", Text),
        ("EventId", Text),
        ("EventName", Text),
    ];
    let log = |last: &[(&'static str, FieldType)]| [&log[..], last].concat();
    let scope = [("ID", Int32), ("FactoryID", Int32), ("LoggerName", Text)];
    let metric = |last: &[(&'static str, FieldType)]| {
        let first = ["sessionId", "meterName", "meterVersion", "instrumentName", "unit", "tags"];
        [&first.map(|name| (name, Text))[..], last].concat()
    };
    let task =
        [("OriginatingTaskSchedulerID", Int32), ("OriginatingTaskID", Int32), ("TaskID", Int32)];
    session.types = vec![
        native(80, 1),
        native(250, 0),
        native(251, 0),
        native(254, 0),
        native(255, 0),
        native(252, 0),
        native(253, 0),
        native(81, 2),
        native(91, 1),
        native(301, 0),
        native(302, 0),
        described("Shop", 1, "OrderStart", &[("number", Int32), ("note", Text)]),
        described("Shop", 2, "OrderStop", &[("number", Int32)]),
        described("Shop", 3, "PaymentFailed", &[("why", Text)]),
        described(TASKS, 7, "TaskScheduled", &[&task[..], &[("CreatingTaskID", Int32)]].concat()),
        described(TASKS, 8, "TaskStarted", &task),
        described(
            TASKS,
            9,
            "TaskCompleted",
            &[&task[..], &[("IsExceptional", FieldType::Boolean32)]].concat(),
        ),
        described(LOGGING, 1, "FormattedMessage", &log(&[("FormattedMessage", Text)])),
        described(
            LOGGING,
            5,
            "MessageJson",
            &log(&[("ExceptionJson", Text), ("ArgumentsJson", Text)]),
        ),
        described(
            LOGGING,
            6,
            "ActivityJsonStart",
            &[&scope[..], &[("ArgumentsJson", Text)]].concat(),
        ),
        described(LOGGING, 7, "ActivityJsonStop", &scope),
        described(
            METRICS,
            4,
            "CounterRateValuePublished",
            &metric(&[("rate", Text), ("value", Text)]),
        ),
        described(
            METRICS,
            6,
            "HistogramValuePublished",
            &metric(&[("quantiles", Text), ("count", Int32), ("sum", FieldType::Double)]),
        ),
        described(
            "System.Net.Http",
            1,
            "RequestStart",
            &[("scheme", Text), ("host", Text), ("port", Int32), ("pathAndQuery", Text)],
        ),
        described("System.Net.Http", 2, "RequestStop", &[("statusCode", Int32), ("extra", Int64)]),
        described("Shop", 0, "EventSourceMessage", &[("message", Text)]),
    ];
    session.types[FAILED].level = 2;
    session.types[MESSAGE].level = 2;
    assert_eq!(session.types.len(), TYPES);
    session.threads = vec![SessionThread::new(11), SessionThread::new(12), SessionThread::new(13)];
    session.steps = steps;
    session
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

/// Makes an event 100 ns after the one before.
fn event(event_type: usize, thread: usize, values: Vec<Value>) -> SessionEvent {
    SessionEvent {
        event_type,
        thread,
        capture_thread: thread,
        ticks_later: 100,
        values,
        ..SessionEvent::default()
    }
}

fn step(event_type: usize, thread: usize, values: Vec<Value>) -> Step {
    Step::Event(event(event_type, thread, values))
}

fn thrown(type_name: &str, flags: u16) -> Step {
    let values = vec![
        text(type_name),
        text("no. 7"),
        Value::U64(0),
        Value::U32(0),
        Value::U16(flags),
        Value::U16(0),
    ];
    step(THROWN, 0, values)
}

fn block(event_type: usize) -> Step {
    let name = text("void [app] N.T::M(int32)");
    step(event_type, 0, vec![Value::U64(1), Value::U64(2), name, Value::U16(0)])
}

fn end(event_type: usize) -> Step {
    step(event_type, 0, vec![])
}

fn lock(thread: usize, lock_id: u64, owner: u64) -> Step {
    let ids = [lock_id, 0x70, owner].map(Value::U64);
    step(LOCK, thread, [&[Value::U8(0), Value::U16(0)][..], &ids].concat())
}

fn locked(thread: usize, nanos: f64) -> Step {
    step(LOCKED, thread, vec![Value::U8(0), Value::U16(0), Value::F64(nanos)])
}

fn report<R: Report>(steps: Vec<Step>, report: R) -> R::Output {
    let bytes = session(steps).record().stream.bytes;
    let mut pass = ReportPass::new(report);
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    pass.finish().output
}

const INNER: u16 = 1;
const NESTED: u16 = 2;
const RETHROWN: u16 = 4;

#[test]
fn an_exception_that_is_caught_inside_another_catch_block_leaves_that_one_alone() {
    let report = report(
        vec![
            thrown("A", 0),
            block(FILTER),
            end(FILTERED),
            block(FINALLY),
            end(FINAL),
            block(CATCH),
            thrown("B", NESTED | INNER),
            block(CATCH),
            end(CAUGHT),
            end(CAUGHT),
        ],
        Exceptions::default(),
    );
    let [a, b] = report.types.as_slice() else { panic!("{report:?}") };
    assert_eq!((a.count, a.caught, a.left_by_exception, a.nested), (1, 1, 0, 0));
    assert_eq!((a.to_catch.total_ns, a.in_catch.total_ns), (500, 400));
    assert_eq!((a.in_filter.total_ns, a.in_finally.total_ns), (100, 100));
    assert_eq!((b.to_catch.total_ns, b.in_catch.total_ns, b.nested), (100, 100, 1));
    assert_eq!((b.inner[0].type_name.as_str(), b.inner[0].count), ("A", 1));
    assert_eq!(b.caught_in[0].method, "N.T.M");
    assert_eq!(a.messages[0].message, "no. #");
}

#[test]
fn a_catch_block_that_an_exception_leaves_has_no_end() {
    let report = report(
        vec![
            thrown("A", 0),
            block(CATCH),
            thrown("B", NESTED | INNER),
            block(CATCH),
            end(CAUGHT),
            // No exception is being handled, because A's block is over.
            thrown("C", 0),
            block(CATCH),
            thrown("C", NESTED | RETHROWN),
            block(CATCH),
            end(CAUGHT),
        ],
        Exceptions::default(),
    );
    let [c, a, b] = report.types.as_slice() else { panic!("{report:?}") };
    assert_eq!((a.caught, a.left_by_exception, a.in_catch.count), (1, 1, 0));
    assert_eq!((b.in_catch.count, b.inner.len()), (1, 1));
    assert_eq!((c.count, c.rethrown, c.nested, c.inner.len(), c.in_catch.count), (2, 1, 1, 0, 1));
}

#[test]
fn lost_ends_of_catch_blocks_do_not_shift_later_ones() {
    let report = report(
        vec![
            end(CAUGHT),
            thrown("A", 0),
            // The catch block's begin and end were lost.
            thrown("B", 0),
            block(CATCH),
            end(CAUGHT),
            end(CAUGHT),
        ],
        Exceptions::default(),
    );
    let [a, b] = report.types.as_slice() else { panic!("{report:?}") };
    assert_eq!((a.caught, a.in_catch.count, b.caught, b.in_catch.total_ns), (0, 0, 1, 100));
}

#[test]
fn a_thread_that_waits_while_it_waits_has_two_waits() {
    let report = report(
        vec![
            lock(0, 0xa, 12),
            lock(0, 0xb, 13),
            locked(0, 100.0),
            locked(0, 300.0),
            lock(1, 0xa, 11),
            locked(1, 100.0),
        ],
        Contention::default(),
    );
    assert_eq!(
        (report.totals.started, report.totals.stopped, report.totals.waits.total_ns),
        (3, 3, 500)
    );
    let [a, b] = report.locks.as_slice() else { panic!("{report:?}") };
    assert_eq!(
        (a.lock_id.as_deref(), a.waits.count, a.waits.total_ns, a.waits.max_ns),
        (Some("0xa"), 2, 400, 300)
    );
    assert_eq!((b.lock_id.as_deref(), b.waits.total_ns), (Some("0xb"), 100));
    assert_eq!(
        a.owners.iter().map(|owner| owner.thread_id).collect::<Vec<_>>(),
        [Some(11), Some(12)]
    );
}

#[test]
fn a_stop_without_a_start_counts_with_its_reported_duration() {
    let report = report(
        vec![
            locked(0, 70.0),
            lock(0, 0xa, 12),
            // Its stop and the start of the next wait were lost. The next stop's duration shows
            // that it ends another wait.
            Step::Event(SessionEvent {
                lost_before: 2,
                ..event(
                    LOCK,
                    0,
                    vec![
                        Value::U8(0),
                        Value::U16(0),
                        Value::U64(0xb),
                        Value::U64(0),
                        Value::U64(0),
                    ],
                )
            }),
            locked(0, 99.0),
            lock(1, 0xc, 11),
        ],
        Contention::default(),
    );
    assert_eq!(
        (
            report.totals.stops_without_start,
            report.totals.started,
            report.totals.stopped,
            report.totals.still_waiting
        ),
        (1, 3, 2, 2)
    );
    let nanos = |id: Option<&str>| {
        report
            .locks
            .iter()
            .find(|lock| lock.lock_id.as_deref() == id)
            .map(|lock| lock.waits.total_ns)
    };
    assert_eq!(
        (nanos(None), nanos(Some("0xb")), nanos(Some("0xa"))),
        (Some(70), Some(99), Some(0))
    );
}

#[test]
fn waits_without_one_end_have_no_length() {
    let wait =
        |thread, source| step(WAIT, thread, vec![Value::U8(source), Value::U64(0), Value::U16(0)]);
    let waited = |thread| step(WAITED, thread, vec![Value::U16(0)]);
    let report =
        report(vec![waited(0), wait(0, 1), wait(1, 0), waited(0), wait(0, 0)], Waits::default());
    assert_eq!(
        (
            report.totals.started,
            report.totals.stopped,
            report.totals.stops_without_start,
            report.totals.still_waiting
        ),
        (3, 1, 1, 2)
    );
    let [place] = report.places.as_slice() else { panic!("{report:?}") };
    assert_eq!((place.source.as_str(), place.waits.total_ns), ("MonitorWait", 200));
    assert_eq!((report.threads[0].thread_id, report.threads[0].total_ns), (Some(11), 200));
}

#[test]
fn tasks_are_followed_from_schedule_to_end() {
    let id = |task| vec![Value::I32(1), Value::I32(0), Value::I32(task)];
    let scheduled = |task| step(SCHEDULED, 0, [id(task), vec![Value::I32(0)]].concat());
    let started = |task| step(STARTED, 1, id(task));
    let completed =
        |task, fails| step(COMPLETED, 1, [id(task), vec![Value::Boolean32(fails)]].concat());
    let report = report(
        vec![
            scheduled(1),
            scheduled(2),
            started(1),
            completed(1, true),
            started(2),
            started(9),
            completed(9, false),
        ],
        Tasks::default(),
    );
    assert_eq!((report.scheduled, report.started, report.completed, report.faulted), (2, 3, 2, 1));
    assert_eq!((report.queued.count, report.queued.total_ns, report.ran.total_ns), (2, 500, 200));
}

fn order(event_type: usize, thread: usize, number: i32, id: [u8; 16]) -> SessionEvent {
    let mut values = vec![Value::I32(number)];
    if event_type == START {
        values.push(text("x"));
    }
    SessionEvent { activity_id: id, ..event(event_type, thread, values) }
}

fn activities(events: Vec<SessionEvent>) -> ActivitiesReport {
    report(events.into_iter().map(Step::Event).collect(), Activities::default())
}

#[test]
fn activities_are_paired_by_id_across_threads_and_nested_by_path() {
    let (outer, inner) = (path([0x12, 0, 0, 0]), path([0x12, 0x30, 0, 0]));
    let report = activities(vec![
        order(START, 0, 1, outer),
        order(START, 1, 2, inner),
        SessionEvent { activity_id: inner, ..event(FAILED, 1, vec![text("no money")]) },
        order(STOP, 2, 2, inner),
        order(STOP, 1, 1, outer),
    ]);
    assert_eq!((report.started, report.stopped, report.errors), (2, 2, 1));
    let tree: Vec<_> =
        report.tree.iter().map(|node| (node.depth, node.errors, node.durations.total_ns)).collect();
    assert_eq!(tree, [(0, 0, 400), (1, 1, 200)]);
    let slowest: Vec<_> =
        report.slowest.iter().map(|row| (row.id.as_deref().unwrap(), row.stop_thread_id)).collect();
    assert_eq!(slowest, [("//1/2", Some(12)), ("//1/2/3", Some(13))]);
}

#[test]
fn a_start_that_names_another_activity_runs_inside_of_it() {
    let (one, other) = ([7; 16], [9; 16]);
    let report = activities(vec![
        order(START, 0, 1, one),
        SessionEvent { related_activity_id: one, ..order(START, 1, 2, other) },
        order(STOP, 1, 2, other),
    ]);
    assert_eq!(report.tree.iter().map(|node| node.depth).collect::<Vec<_>>(), [0, 1]);
    assert_eq!((report.started, report.stopped), (2, 1));
}

#[test]
fn stops_without_starts_and_starts_without_stops_are_counted() {
    let none = [0; 16];
    let report = activities(vec![
        order(STOP, 0, 5, none),
        order(START, 0, 1, none),
        SessionEvent { lost_before: 3, ..order(START, 0, 2, none) },
        // The order's start was lost, and no other number matches.
        order(STOP, 0, 3, none),
        order(STOP, 1, 1, none),
    ]);
    assert_eq!((report.started, report.stopped, report.stops_without_start), (2, 1, 2));
    assert_eq!(report.slowest[0].duration_ns, 300);
    assert_eq!(report.slowest[0].fields, "number=1 note=x");
}

#[test]
fn a_path_that_starts_again_has_lost_its_stop() {
    let id = path([0x12, 0, 0, 0]);
    let report =
        activities(vec![order(START, 0, 1, id), order(START, 0, 2, id), order(STOP, 0, 2, id)]);
    assert_eq!((report.started, report.stopped, report.slowest[0].duration_ns), (2, 1, 100));
}

#[test]
fn http_requests_are_grouped_by_target() {
    let start = |path: &str, id| SessionEvent {
        activity_id: id,
        ..event(HTTP_START, 0, vec![text("https"), text("shop"), Value::I32(8443), text(path)])
    };
    let stop = |status, id| SessionEvent {
        activity_id: id,
        ..event(HTTP_STOP, 0, vec![Value::I32(status), Value::I64(0)])
    };
    let (a, b) = (path([0x11, 0, 0, 0]), path([0x12, 0, 0, 0]));
    let events = vec![start("/items/1?q", a), start("/items/22", b), stop(200, a), stop(503, b)];
    let mut steps: Vec<Step> = events.into_iter().map(Step::Event).collect();
    steps.push(Step::Event(order(START, 0, 1, [0; 16])));
    let report = report(steps, Http::default());
    let [row] = report.activities.as_slice() else { panic!("{report:?}") };
    assert_eq!(
        (row.name.target.as_str(), row.started, row.errors),
        ("https://shop:8443/items/#", 2, 1)
    );
    assert_eq!(
        row.statuses.iter().map(|row| (row.status, row.count)).collect::<Vec<_>>(),
        [(200, 1), (503, 1)]
    );
}

fn logged(event_type: usize, level: i32, last: &[&str]) -> Step {
    let mut values =
        vec![Value::I32(level), Value::I32(1), text("App.Shop"), text("12"), text("Sold")];
    values.extend(last.iter().map(|last| text(last)));
    step(event_type, 0, values)
}

/// Returns a trace with messages in two forms and in scopes, one with an exception.
pub(crate) fn messages() -> Vec<Step> {
    let scope = |event_type, id, last: &[&str]| {
        let mut values = vec![Value::I32(id), Value::I32(1), text("App.Shop")];
        values.extend(last.iter().map(|last| text(last)));
        step(event_type, 0, values)
    };
    vec![
        scope(SCOPE, 1, &["{\"order\":7}"]),
        scope(SCOPE, 2, &["{\"step\":1}"]),
        logged(LOGGED, 4, &["no money"]),
        logged(LOGGED_JSON, 4, &["{\"TypeName\":\"E\"}", "{\"a\":1}"]),
        scope(SCOPE_END, 1, &[]),
        logged(LOGGED, 2, &["sold"]),
        logged(LOGGED_JSON, 2, &["{}", "{}"]),
        scope(SCOPE_END, 2, &[]),
        scope(SCOPE_END, 9, &[]),
        logged(LOGGED_JSON, 9, &["{}", "{\"only\":\"json\"}"]),
        step(MESSAGE, 1, vec![text("own trouble")]),
    ]
}

#[test]
fn a_message_in_two_forms_is_one_with_its_exception_and_scopes() {
    let report = report(messages(), Logs::default());
    let rows: Vec<_> = report
        .messages
        .iter()
        .map(|row| {
            (
                row.level.short_name(),
                row.message.as_str(),
                row.exception.is_some(),
                row.scopes.len(),
            )
        })
        .collect();
    let expected = [
        ("fail", "no money", true, 2),
        ("info", "sold", false, 1),
        ("crit", "", false, 0),
        ("fail", "own trouble", false, 0),
    ];
    assert_eq!(rows, expected);
    assert_eq!(report.messages[0].event, "12 Sold");
    assert_eq!(report.messages[2].arguments.as_deref(), Some("{\"only\":\"json\"}"));
    assert!(report.messages[1].scopes.iter().map(|scope| &**scope).eq(["step=1"]));
    assert_eq!(
        (report.count, report.loggers[0].logger.as_str(), report.loggers[0].count),
        (4, "App.Shop", 3)
    );
}

fn metric(event_type: usize, session: &str, last: Vec<Value>) -> Step {
    let first = [session, "Shop", "", "sold", "{thing}", "kind=book,size=1,5"].map(text);
    step(event_type, 0, [first.to_vec(), last].concat())
}

#[test]
fn a_value_that_is_no_number_is_no_point_and_a_second_session_is_not_counted_again() {
    let rate = |session: &str, rate: &str, value: &str| {
        metric(RATE, session, vec![text(rate), text(value)])
    };
    let report = report(
        vec![
            rate("A", "", "10"),
            rate("A", "5", "15"),
            rate("B", "5", "15"),
            rate("A", "1e1", "25"),
            rate("A", "x", "y"),
            metric(
                QUANTILES,
                "A",
                vec![text("0.5=1;0.99=2;broken;=;1=z"), Value::I32(7), Value::F64(9.0)],
            ),
        ],
        Counters::default(),
    );
    let series: Vec<_> = report
        .series
        .iter()
        .map(|series| (series.tags_text(";"), series.count, series.last))
        .collect();
    let tags = "kind=book;size=1,5";
    let expected = [
        (tags.to_owned(), 2, 10.0),
        (format!("{tags};Percentile=50"), 1, 1.0),
        (format!("{tags};Percentile=99"), 1, 2.0),
    ];
    assert_eq!(series, expected);
    assert_eq!(
        report.series[0].points.iter().map(|point| point.total).collect::<Vec<_>>(),
        [Some(15.0), Some(25.0)]
    );
}

fn run_all(bytes: &[u8]) {
    fn run<R: Report>(bytes: &[u8], report: R) {
        let mut pass = ReportPass::new(report);
        if pass.read(&mut Reader::from_slice(bytes).time_ordered()).is_ok() {
            let _ = pass.finish();
        }
    }
    run(bytes, Exceptions::default());
    run(bytes, Contention::default());
    run(bytes, Waits::default());
    run(bytes, Tasks::default());
    run(bytes, Activities::default().events_of("//1"));
    run(bytes, Http::default());
    run(bytes, Logs::default());
    run(bytes, Counters::default());
    run(bytes, Summary::default());
    let kinds = [WatchKind::Contention, WatchKind::Exceptions, WatchKind::Http, WatchKind::Logs];
    let mut live = Live::new(LiveWatch::new(kinds));
    let mut events = Reader::from_slice(bytes).time_ordered();
    while let Ok(Some(event)) = events.next_event() {
        live.event(&event);
    }
    let _ = live.report.take_all();
}

fn anything() -> impl Strategy<Value = Step> {
    let id = prop_oneof![Just([0; 16]), any::<[u8; 4]>().prop_map(path), any::<[u8; 16]>()];
    let payload = proptest::collection::vec(prop_oneof![Just(0), any::<u8>()], 0..60);
    (0..TYPES, 0..3_usize, id, payload, 0..1_000_000_u32).prop_map(
        |(event_type, thread, id, payload, later)| {
            Step::Event(SessionEvent {
                activity_id: id,
                related_activity_id: id,
                ticks_later: later,
                ..event(event_type, thread, vec![Value::Raw(payload)])
            })
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(32)))]

    #[test]
    fn no_payload_makes_a_report_panic(steps in proptest::collection::vec(anything(), 0..60)) {
        run_all(&session(steps).record().stream.bytes);
    }
}
