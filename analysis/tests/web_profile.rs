//! Requests as `collect --profile web` records them: events of hosting and HttpClient with their
//! spans, commands of Entity Framework, log messages and exceptions, with the ids that flow.

use nettrace_analysis::report::{
    Activities, ActivitiesReport, Http, Report, ReportPass, Sql, StepKind,
};
use nettrace_parser::Reader;
use nettrace_testdata::synth::{
    EventType, Field, FieldType, Session, SessionEvent, SessionThread, Step, Value, Version,
};

const IN: usize = 0;
const IN_STOP: usize = 1;
const OUT: usize = 2;
const OUT_STOP: usize = 3;
const SPAN: usize = 4;
const SPAN_STOP: usize = 5;
const COMMAND: usize = 6;
const COMMAND_STOP: usize = 7;
const LOGGED: usize = 8;
const LOGGED_JSON: usize = 9;
const THROWN: usize = 10;

const TRACE: &str = "5bca2109c2f02badfa3f10ba3d69b6eb";

fn types() -> Vec<EventType> {
    use FieldType::{Int32, Text};
    let described = |provider: &str, event_id, name: &str, fields: Vec<Field>| EventType {
        provider: provider.into(),
        event_id,
        name: name.into(),
        level: 4,
        fields,
        ..EventType::default()
    };
    let texts = |names: &[&str]| names.iter().map(|name| Field::new(name, Text)).collect();
    let diagnostic = |name: &str| {
        let pair = FieldType::Object(vec![Field::new("Key", Text), Field::new("Value", Text)]);
        let arguments = Field::new("Arguments", FieldType::Array(Box::new(pair)));
        vec![Field::new("SourceName", Text), Field::new(name, Text), arguments]
    };
    let log = |last: &[&str]| {
        let mut fields = vec![Field::new("Level", Int32), Field::new("FactoryID", Int32)];
        fields.extend(["LoggerName", "EventId", "EventName"].map(|name| Field::new(name, Text)));
        fields.extend(last.iter().map(|name| Field::new(name, Text)));
        fields
    };
    let (source, logging) =
        ("Microsoft-Diagnostics-DiagnosticSource", "Microsoft-Extensions-Logging");
    let hosting = "Microsoft.AspNetCore.Hosting";
    vec![
        described(hosting, 3, "RequestStart", texts(&["method", "path"])),
        described(hosting, 4, "RequestStop", vec![]),
        described("System.Net.Http", 1, "RequestStart", texts(&["host", "pathAndQuery"])),
        described("System.Net.Http", 2, "RequestStop", vec![Field::new("statusCode", Int32)]),
        described(source, 11, "ActivityStart", diagnostic("ActivityName")),
        described(source, 12, "ActivityStop", diagnostic("ActivityName")),
        described(source, 6, "Activity2Start", diagnostic("EventName")),
        described(source, 7, "Activity2Stop", diagnostic("EventName")),
        described(
            logging,
            1,
            "FormattedMessage",
            log(&["FormattedMessage", "ActivityTraceId", "ActivitySpanId"]),
        ),
        described(
            logging,
            5,
            "MessageJson",
            log(&["ExceptionJson", "ArgumentsJson", "ActivityTraceId", "ActivitySpanId"]),
        ),
        EventType {
            provider: "Microsoft-Windows-DotNETRuntime".into(),
            event_id: 80,
            version: 1,
            ..EventType::default()
        },
    ]
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

/// Returns the guid of an activity path such as `//1/2`, from its nibbles.
fn path(nibbles: &str) -> [u8; 16] {
    let mut id = [0; 16];
    for (at, nibble) in nibbles.bytes().enumerate() {
        id[at / 2] |= (nibble - b'0') << (if at % 2 == 0 { 4 } else { 0 });
    }
    let first = [id[0], id[1], id[2], id[3]];
    let sum = u32::from_le_bytes(first).wrapping_add(0x599d_99ad);
    id[12..].copy_from_slice(&sum.to_le_bytes());
    id
}

/// Makes an event 100 ns after the one before.
fn event(event_type: usize, thread: usize, nibbles: &str, values: Vec<Value>) -> Step {
    Step::Event(SessionEvent {
        event_type,
        thread,
        capture_thread: thread,
        ticks_later: 100,
        activity_id: path(nibbles),
        values,
        ..SessionEvent::default()
    })
}

fn diagnostic(
    event_type: usize,
    thread: usize,
    nibbles: &str,
    [source, name]: [&str; 2],
    arguments: &[(&str, &str)],
) -> Step {
    let pair = |(key, value): &(&str, &str)| Value::Object(vec![text(key), text(value)]);
    let arguments = Value::Array(arguments.iter().map(pair).collect());
    event(event_type, thread, nibbles, vec![text(source), text(name), arguments])
}

fn span(
    event_type: usize,
    thread: usize,
    nibbles: &str,
    names: [&str; 2],
    [own, parent]: [u64; 2],
) -> Step {
    let id = |span: u64| format!("00-{TRACE}-{span:016x}-01");
    let parent = if parent == 0 { String::new() } else { id(parent) };
    diagnostic(event_type, thread, nibbles, names, &[("Id", &id(own)), ("ParentId", &parent)])
}

/// Makes a request on two threads, whose spans have ids from `base` on. Connection `1` has the path
/// `connection`.
fn request(connection: &str, target: &str, base: u64, threads: [usize; 2]) -> Vec<Step> {
    let [first, then] = threads;
    let below = |more: &str| format!("{connection}{more}");
    let incoming = ["Microsoft.AspNetCore", "Microsoft.AspNetCore.Hosting.HttpRequestIn"];
    let outgoing = ["System.Net.Http", "System.Net.Http.HttpRequestOut"];
    let ef = "Microsoft.EntityFrameworkCore";
    let (executing, executed) = (
        format!("{ef}.Database.Command.CommandExecuting"),
        format!("{ef}.Database.Command.CommandExecuted"),
    );
    let connection_id = format!("connection of {target}");
    let log = |event_type, last: &[&str]| {
        let mut values = vec![Value::I32(4), Value::I32(1)];
        values.extend(["Shop.Order", "7", ""].map(text));
        values.extend(last.iter().map(|last| text(last)));
        let span = format!("{:016x}", base);
        values.extend([text(TRACE), text(&span)]);
        event(event_type, then, &below("11"), values)
    };
    vec![
        event(IN, first, &below("1"), vec![text("GET"), text(target)]),
        span(SPAN, first, &below("11"), incoming, [base, 0]),
        event(OUT, first, &below("111"), vec![text("stock"), text("/items/7")]),
        span(SPAN, first, &below("1111"), outgoing, [base + 1, base]),
        span(SPAN_STOP, then, &below("1111"), outgoing, [base + 1, base]),
        event(OUT_STOP, then, &below("111"), vec![Value::I32(200)]),
        diagnostic(
            COMMAND,
            then,
            &below("112"),
            [ef, &executing],
            &[("CommandText", "SELECT\n1"), ("ConnectionId", &connection_id)],
        ),
        diagnostic(
            COMMAND_STOP,
            then,
            &below("112"),
            [ef, &executed],
            &[("CommandId", target), ("ConnectionId", &connection_id)],
        ),
        log(LOGGED, &["no money"]),
        log(LOGGED_JSON, &["{}", "{}"]),
        event(
            THROWN,
            then,
            &below("11"),
            vec![
                text("Shop.E"),
                text("why"),
                Value::U64(0),
                Value::U32(0),
                Value::U16(0),
                Value::U16(0),
            ],
        ),
        span(SPAN_STOP, then, &below("11"), incoming, [base, 0]),
        event(IN_STOP, then, &below("1"), vec![]),
    ]
}

fn report<R: Report>(steps: Vec<Step>, report: R) -> R::Output {
    let mut session = Session::new(Version::V4);
    session.trace.tick_frequency = 1_000_000_000;
    session.types = types();
    session.threads = (11..15).map(SessionThread::new).collect();
    session.steps = steps;
    let bytes = session.record().stream.bytes;
    let mut pass = ReportPass::new(report);
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    pass.finish().output
}

/// Makes two simultaneous requests, whose events alternate.
fn two() -> Vec<Step> {
    let [one, other] = [request("11", "/a", 0x10, [0, 1]), request("12", "/b", 0x20, [2, 3])];
    one.into_iter().zip(other).flat_map(|(one, other)| [one, other]).collect()
}

fn rows(report: &ActivitiesReport) -> Vec<(String, u64, u64)> {
    report.activities.iter().map(|row| (row.name.to_string(), row.started, row.stopped)).collect()
}

#[test]
fn a_request_that_hosting_and_a_span_report_is_one_and_so_is_a_call() {
    let report = report(two(), Http::default());
    assert_eq!(
        rows(&report),
        [("in GET /a", 1, 1), ("in GET /b", 1, 1), ("out stock/items/#", 2, 2)]
            .map(|(name, started, stopped)| (name.to_owned(), started, stopped))
    );
    for row in &report.activities[..2] {
        let calls: Vec<_> = row.calls.iter().map(|it| (it.name.to_string(), it.count)).collect();
        assert_eq!((calls, row.sql_commands), (vec![("out stock/items/#".to_owned(), 1)], 1));
    }
}

#[test]
fn commands_are_those_of_their_requests() {
    let report = report(two(), Sql::default());
    let rows: Vec<_> =
        report.requests.iter().map(|it| (it.name.as_str(), it.is_request, it.commands)).collect();
    assert_eq!(rows, [("GET /a", true, 1), ("GET /b", true, 1)]);
    assert_eq!(report.statements[0].text, "SELECT ?");
}

#[test]
fn what_happened_inside_is_found_by_the_id_of_either() {
    for id in ["//1/1/1", &format!("00-{TRACE}-0000000000000010-01")] {
        let report = report(two(), Http::from(Activities::default().events_of(id)));
        let steps: Vec<_> = report
            .steps
            .iter()
            .map(|step| (step.kind, step.text.as_str(), step.depth, step.duration_ns))
            .collect();
        assert_eq!(
            steps,
            [
                (StepKind::Request, "GET /a", 0, Some(2_400)),
                (StepKind::Call, "stock/items/#  200", 1, Some(600)),
                (StepKind::Sql, "SELECT 1", 1, Some(200)),
                (StepKind::Message, "fail Shop.Order: no money", 1, None),
                (StepKind::Exception, "Shop.E: why", 1, None),
            ],
            "{id}"
        );
    }
}
