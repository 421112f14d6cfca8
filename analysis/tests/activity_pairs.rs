//! Operations without an activity id are paired by the fields of their events, on whatever threads
//! they begin and end.

use nettrace_analysis::report::{Activities, ActivitiesReport, ReportPass};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;
use nettrace_testdata::synth::{
    EventType, Field, FieldType, Session, SessionEvent, SessionThread, Step, Value, Version,
};

const EVENT: usize = 0;
const BEGIN: usize = 1;
const END: usize = 2;
const OPENED: usize = 3;
const CLOSED: usize = 4;

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn read(events: &[(usize, usize, Vec<Value>)]) -> ActivitiesReport {
    use FieldType::{Int32, Int64, Text};
    let described =
        |provider: &str, event_id, name: &str, fields: &[(&str, FieldType)]| EventType {
            provider: provider.into(),
            event_id,
            name: name.into(),
            level: 4,
            fields: fields.iter().map(|(name, kind)| Field::new(name, kind.clone())).collect(),
            ..EventType::default()
        };
    let sql = "Microsoft.Data.SqlClient.EventSource";
    let connection = [("versionMajor", Int32), ("versionMinor", Int32), ("connectionId", Int64)];
    let mut session = Session::new(Version::V4);
    session.trace.tick_frequency = 1_000_000_000;
    session.types = vec![
        described("Microsoft-Diagnostics-DiagnosticSource", 2, "Event", &[]),
        described(sql, 1, "BeginExecute", &[("objectId", Int32), ("message", Text)]),
        described(sql, 2, "EndExecute", &[("objectId", Int32), ("message", Text)]),
        described("System.Net.Http", 4, "ConnectionEstablished", &connection),
        described("System.Net.Http", 5, "ConnectionClosed", &connection),
    ];
    session.threads = (11..15).map(SessionThread::new).collect();
    let step = |(event_type, thread, values): &(usize, usize, Vec<Value>)| {
        Step::Event(SessionEvent {
            event_type: *event_type,
            thread: *thread,
            capture_thread: *thread,
            ticks_later: 100,
            values: values.clone(),
            ..SessionEvent::default()
        })
    };
    session.steps = events.iter().map(step).collect();
    let mut pass = ReportPass::new(Activities::default());
    let bytes = session.record().stream.bytes;
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    pass.finish().output
}

fn diagnostic(
    thread: usize,
    source: &str,
    name: &str,
    arguments: &[(&str, &str)],
) -> (usize, usize, Vec<Value>) {
    let pair = |(key, value): &(&str, &str)| Value::Object(vec![text(key), text(value)]);
    let arguments = Value::Array(arguments.iter().map(pair).collect());
    (EVENT, thread, vec![text(source), text(name), arguments])
}

/// Returns name, errors and the longest durations of each row.
fn rows(report: &ActivitiesReport) -> Vec<(&str, u64, u64, u64)> {
    report
        .activities
        .iter()
        .map(|row| (row.name.target.as_str(), row.started, row.errors, row.durations.total_ns))
        .collect()
}

#[test]
fn commands_are_paired_by_their_id_on_any_thread() {
    let ef = "Microsoft.EntityFrameworkCore";
    let command = |thread, name: &str, id: &str| {
        let name = format!("{ef}.Database.Command.{name}");
        diagnostic(thread, ef, &name, &[("CommandId", id), ("ConnectionId", "c")])
    };
    let report = read(&[
        command(0, "CommandExecuting", "1"),
        command(0, "CommandExecuting", "2"),
        command(1, "CommandExecuted", "1"),
        command(2, "CommandError", "2"),
        command(3, "CommandExecuted", "3"),
    ]);
    let name = format!("{ef}/{ef}.Database.Command.Command");
    assert_eq!(rows(&report), [(&*name, 2, 1, 400)]);
    assert_eq!((report.started, report.stopped), (2, 2));
}

#[test]
fn what_a_database_client_begins_it_ends_by_its_operation() {
    let listener = "SqlClientDiagnosticListener";
    let sql = |thread, name: &str, id: &str| {
        diagnostic(
            thread,
            listener,
            &format!("Microsoft.Data.SqlClient.{name}"),
            &[("OperationId", id)],
        )
    };
    let report = read(&[
        sql(0, "WriteConnectionOpenBefore", "a"),
        sql(0, "WriteCommandBefore", "b"),
        sql(1, "WriteConnectionOpenAfter", "a"),
        sql(2, "WriteCommandAfter", "b"),
        (BEGIN, 0, vec![Value::I32(7), text("begin")]),
        (BEGIN, 0, vec![Value::I32(8), text("begin")]),
        (END, 3, vec![Value::I32(7), text("end")]),
    ]);
    let mut rows: Vec<_> =
        rows(&report).into_iter().map(|(name, n, _, ns)| (name, n, ns)).collect();
    rows.sort_unstable();
    assert_eq!(
        rows,
        [
            ("Microsoft.Data.SqlClient.EventSource/Execute", 2, 200),
            ("SqlClientDiagnosticListener/Microsoft.Data.SqlClient.Command", 1, 200),
            ("SqlClientDiagnosticListener/Microsoft.Data.SqlClient.ConnectionOpen", 1, 200),
        ]
    );
}

#[test]
fn a_connection_lasts_from_when_it_is_established_to_when_it_is_closed() {
    let connection = |major, id| vec![Value::I32(major), Value::I32(0), Value::I64(id)];
    let report = read(&[
        (OPENED, 0, connection(3, 1)),
        (OPENED, 0, connection(2, 1)),
        (CLOSED, 1, connection(3, 1)),
        (CLOSED, 2, connection(2, 1)),
    ]);
    assert_eq!(rows(&report), [("System.Net.Http/Connection", 2, 0, 400)]);
}

#[test]
fn properties_that_all_activities_have_are_no_fields() {
    let report = read(&[
        diagnostic(
            0,
            "Grpc.Net.Client",
            "Grpc.Net.Client.GrpcOut.Start",
            &[
                ("HasRandomizedTraceId", "False"),
                ("DebuggerDisplayString", "x"),
                ("method", "/a/B"),
            ],
        ),
        diagnostic(0, "Grpc.Net.Client", "Grpc.Net.Client.GrpcOut.Stop", &[]),
    ]);
    assert_eq!(report.slowest[0].fields, "method=/a/B");
    assert_eq!(report.slowest[0].name.to_string(), "Grpc.Net.Client/Grpc.Net.Client.GrpcOut");
}

#[test]
fn all_commands_of_a_real_server_are_paired() {
    assert_all_commands_are_paired("dt-diag");
}

fn assert_all_commands_are_paired(name: &str) {
    let bytes = corpus::web(name).bytes();
    let mut pass = ReportPass::new(Activities::default());
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    let report = pass.finish().output;
    let row =
        report.activities.iter().find(|row| row.name.target.ends_with("Database.Command.Command"));
    let row = row.unwrap();
    assert_eq!((row.started, row.stopped), (127, 127), "{name}");
}

mod with_shared {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn all_commands_are_paired_where_only_the_database_is_recorded() {
        assert_all_commands_are_paired("dt-database");
    }
}
