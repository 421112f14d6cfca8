//! What a request waited for: awaits among its steps, and the methods that await each task.

use crate::common;

use common::{AT_END, RUNTIME, method, native, path, session};
use nettrace_analysis::report::{
    Activities, ActivitiesReport, Http, ReportPass, RequestStep, StepKind, Tasks, TasksReport,
};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;
use nettrace_testdata::synth::{EventType, Field, FieldType, SessionEvent, Step, Value};

/// Methods of the program and of the runtime; the index of each is its place in memory.
const METHODS: [&str; 4] = [
    "System.Runtime.CompilerServices.AsyncMethodBuilderCore.Start",
    "S.Store+<Load>d__0.MoveNext",
    "S.Orders+<Place>d__1.MoveNext",
    "S.Handler+<Get>d__2.MoveNext",
];
const LIBRARY: u64 = 0;
const LOAD: u64 = 1;
const PLACE: u64 = 2;
const GET: u64 = 3;

const FIRST: usize = 16;
const START: usize = FIRST;
const STOP: usize = FIRST + 1;
const NAMED: usize = FIRST + 2;
const BEGINS: usize = FIRST + 3;
const ENDS: usize = FIRST + 4;

const REQUEST: [u8; 4] = [0x11, 0, 0, 0];
const OTHER: [u8; 4] = [0x12, 0, 0, 0];

/// Makes an event of a request, 1,000 ticks after the one before.
fn event(event_type: usize, id: [u8; 4], frames: &[u64], values: Vec<Value>) -> Step {
    Step::Event(SessionEvent {
        event_type,
        ticks_later: 1000,
        activity_id: path(id),
        stack: frames.iter().map(|at| 0x1_0000 + at * 0x1000 + 0x10).collect(),
        values,
        ..SessionEvent::default()
    })
}

fn begins(id: [u8; 4], task: i32, by: i32, method: u64) -> Step {
    event(BEGINS, id, &[LIBRARY, method], [task, 2, by].map(Value::I32).to_vec())
}

fn ends(id: [u8; 4], task: i32) -> Step {
    event(ENDS, id, &[LIBRARY], vec![Value::I32(task)])
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn awaits(steps: Vec<Step>) -> Vec<(String, Option<u64>)> {
    let all = (0..).zip(METHODS);
    let methods = all.map(|(at, name)| method(AT_END, at + 1, 0x1_0000 + at * 0x1000, 0x100, name));
    let start = event(START, REQUEST, &[], vec![text("GET"), text("/cart")]);
    let stop = event(STOP, REQUEST, &[], vec![]);
    let all = [start].into_iter().chain(steps).chain([stop]).chain(methods);
    let mut session = session(all.collect());
    session.trace.tick_frequency = 1_000_000_000;
    session.types.push(native(RUNTIME, 1, 0));
    let described = |provider: &str, event_id, name: &str, fields: &[(&str, FieldType)]| {
        let fields = fields.iter().map(|(name, kind)| Field::new(name, kind.clone()));
        EventType { fields: fields.collect(), ..EventType::new(provider, event_id, name) }
    };
    use FieldType::{Int32, Text};
    let (hosting, tasks) =
        ("Microsoft.AspNetCore.Hosting", "System.Threading.Tasks.TplEventSource");
    session.types.resize_with(FIRST, || native(RUNTIME, 2, 0));
    session.types.extend([
        described(hosting, 3, "RequestStart", &[("method", Text), ("path", Text)]),
        described(hosting, 4, "RequestStop", &[]),
        described(tasks, 14, "TraceOperationBegin", &[("TaskID", Int32), ("OperationName", Text)]),
        described(
            tasks,
            10,
            "TaskWaitBegin",
            &[("TaskID", Int32), ("Behavior", Int32), ("ContinueWithTaskID", Int32)],
        ),
        described(tasks, 11, "TaskWaitEnd", &[("TaskID", Int32)]),
    ]);
    let http = Http::from(Activities::default().events_of("//1/1"));
    let report: ActivitiesReport = report(&session.record().stream.bytes, http);
    let is_await = |step: &RequestStep| step.kind == StepKind::Await;
    let steps = report.steps.into_iter().filter(is_await);
    steps.map(|step| (step.text, step.duration_ns)).collect()
}

fn report<R: nettrace_analysis::report::Report>(bytes: &[u8], report: R) -> R::Output {
    let mut pass = ReportPass::new(report);
    assert!(pass.read(&mut Reader::from_slice(bytes).time_ordered()).unwrap().is_complete);
    pass.finish().output
}

#[test]
fn the_innermost_await_is_a_step_and_those_that_await_its_method_are_its_callers() {
    let delay = event(NAMED, REQUEST, &[LIBRARY, LOAD], vec![Value::I32(9), text("Task.Delay")]);
    let found = awaits(vec![
        delay,
        begins(REQUEST, 9, 1, LOAD),
        begins(REQUEST, 1, 2, PLACE),
        begins(REQUEST, 2, 3, GET),
        // Another request awaits, too.
        begins(OTHER, 30, 31, LOAD),
        ends(REQUEST, 9),
        begins(REQUEST, 10, 1, LOAD),
        ends(REQUEST, 10),
        ends(REQUEST, 1),
        ends(OTHER, 30),
        ends(REQUEST, 2),
    ]);
    let by = "S.Store.Load ← S.Orders.Place ← S.Handler.Get";
    let (first, second) = (format!("Task.Delay in {by}"), format!("a task in {by}"));
    assert_eq!(found, [(first, Some(4000)), (second, Some(1000))]);
}

#[test]
fn an_await_without_end_and_a_circle_of_awaits_are_bounded() {
    let found = awaits(vec![
        begins(REQUEST, 1, 2, LOAD),
        begins(REQUEST, 2, 1, PLACE),
        begins(REQUEST, 3, 3, GET),
    ]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].1, found[0].0.matches('←').count()), (None, 7), "{found:?}");
}

#[test]
fn each_awaited_task_has_the_methods_that_await_it_with_their_time() {
    let bytes = corpus::known("async/shop-full").bytes();
    let tasks: TasksReport = report(&bytes, Tasks::default());
    let by = |name: &str| {
        let row = tasks.waits.iter().find(|row| row.name == name && !row.is_blocking).unwrap();
        assert_eq!(row.by.iter().map(|it| it.waits).sum::<u64>(), row.waits.count);
        let millis = |nanos: u64| nanos as f64 / 1e6;
        row.by.iter().map(|it| (it.method.clone(), millis(it.total_ns))).collect::<Vec<_>>()
    };
    for (awaited, method, least) in [
        ("Async: Shop.Orders.Price", "Shop.Orders.Validate", 400.0),
        ("Async: Shop.Orders.Validate", "Shop.Orders.PlaceOrder", 400.0),
        ("Async: Shop.Orders.PlaceOrder", "Shop.Program.Run", 400.0),
        ("Async: Shop.Stock.SumAll", "Shop.Program.Run", 300.0),
        ("Async: Shop.Net.Sign", "Shop.Net.Encode", 300.0),
        ("Task.WhenAll", "Shop.Fan.Out", 600.0),
        ("Async: Shop.Program.Run", "Shop.Program.Main", 3100.0),
    ] {
        let by = by(awaited);
        assert!(by.len() == 1 && by[0].0 == method, "{awaited}: {by:?}");
        assert!(by[0].1 >= least * 0.95, "{awaited}: {by:?}");
    }
    // The same method is awaited by two others, for 300 and 100 ms.
    let helper = by("Async: Shop.Shared.Helper");
    let [first, second] = &*helper else { panic!("{helper:?}") };
    assert!(first.0 == "Shop.Shared.First" && (285.0..345.0).contains(&first.1));
    assert!(second.0 == "Shop.Shared.Second" && (95.0..145.0).contains(&second.1));
}
