//! Callers of async code in streams made by hand: each way in which events tell them, and streams
//! that tell something wrong.

use crate::common;

use common::{AT_END, RUNTIME, folded_with, method, native, sample, session};
use nettrace_analysis::convert::ConvertOptions;
use nettrace_analysis::report::{ReportPass, TaskWaitRow, Tasks};
use nettrace_analysis::{AnalysisOptions, NameStyle};
use nettrace_parser::Reader;
use nettrace_testdata::synth::{EventType, Field, FieldType, SessionEvent, Step, Value};

const TASKS: &str = "System.Threading.Tasks.TplEventSource";
const MISSING: &str = "(async callers not in the trace)";

/// Methods of the program and of the runtime; the index of each is its place in memory.
const METHODS: [&str; 22] = [
    "S.Cpu.Burn",
    "S.Orders+<Price>d__2.MoveNext",
    "S.Orders.Price",
    "S.Orders+<Place>d__0.MoveNext",
    "S.Orders.Place",
    "S.Program+<Run>d__1.MoveNext",
    "S.Program.Run",
    "S.Program.Main",
    "S.Orders+<Store>d__4.MoveNext",
    "System.Runtime.CompilerServices.AsyncMethodBuilderCore.Start",
    "System.Runtime.CompilerServices.AsyncTaskMethodBuilder`1+AsyncStateMachineBox`1.MoveNext",
    "System.Threading.ExecutionContext.RunInternal",
    "System.Threading.ThreadPoolWorkQueue.Dispatch",
    "System.Threading.Tasks.Task.RunContinuations",
    "System.Threading.Tasks.Task.ExecuteWithThreadLocal",
    "System.Threading.Tasks.Task.Run",
    "S.Orders+<>c.<Place>b__1",
    "S.Stock+<Items>d__3.MoveNext",
    "S.Stock+<Items>d__3.System.Collections.Generic.IAsyncEnumerator<System.Int32>.MoveNextAsync",
    "System.Runtime.CompilerServices.AsyncIteratorMethodBuilder.MoveNext",
    "System.Runtime.CompilerServices.AsyncHelpers+ThunkTaskCore.MoveNext",
    "System.Threading.Tasks.Task.Delay",
];
const BURN: u64 = 0;
const PRICE: u64 = 1;
const PRICE_CALL: u64 = 2;
const PLACE: u64 = 3;
const PLACE_CALL: u64 = 4;
const RUN: u64 = 5;
const RUN_CALL: u64 = 6;
const MAIN: u64 = 7;
const STORE: u64 = 8;
const START: u64 = 9;
const BOX: u64 = 10;
const CONTEXT: u64 = 11;
const POOL: u64 = 12;
const CONTINUES: u64 = 13;
const TASK_RUNS: u64 = 14;
const TASK_RUN: u64 = 15;
const LAMBDA: u64 = 16;
const ITEMS: u64 = 17;
const ITEMS_NEXT: u64 = 18;
const ITERATOR: u64 = 19;
const THUNK: u64 = 20;
const DELAY: u64 = 21;

/// What the pool has below a resumed state machine.
const RESUMED: [u64; 3] = [CONTEXT, BOX, POOL];

fn stack(frames: &[&[u64]]) -> Vec<u64> {
    frames.concat().iter().map(|at| 0x1_0000 + at * 0x1000 + 0x10).collect()
}

/// Makes an event of the task library on a thread, with its `i32` fields, and for event 14 a name.
fn task(id: u32, thread: usize, frames: &[&[u64]], values: &[i32], name: Option<&str>) -> Step {
    let mut values: Vec<Value> = values.iter().map(|value| Value::I32(*value)).collect();
    values.extend(name.map(|name| Value::Text(name.to_owned())));
    Step::Event(SessionEvent {
        event_type: usize::try_from(id).unwrap() + FIRST_TASK - 7,
        thread,
        capture_thread: thread,
        ticks_later: 1,
        stack: stack(frames),
        values,
        ..SessionEvent::default()
    })
}

const FIRST_TASK: usize = 15;

fn created(thread: usize, id: i32, name: &str, frames: &[&[u64]]) -> Step {
    task(14, thread, frames, &[id], Some(name))
}

/// A task awaits another; 0 stands for a method whose builder has no tasks.
fn awaits(thread: usize, (task_id, by): (i32, i32), frames: &[&[u64]]) -> Step {
    task(10, thread, frames, &[task_id, 2, by], None)
}

fn runs(thread: usize, id: i32) -> Step {
    task(17, thread, &[], &[id, 2], None)
}

fn ran(thread: usize) -> Step {
    task(18, thread, &[], &[2], None)
}

fn plain(id: u32, thread: usize, value: i32) -> Step {
    task(id, thread, &[], &[value], None)
}

/// Returns the folded stacks of a stream without weights, with async callers, in the order of the
/// text.
fn folded(steps: Vec<Step>) -> Vec<String> {
    let all = (0..).zip(METHODS);
    let methods = all.map(|(at, name)| method(AT_END, at + 1, 0x1_0000 + at * 0x1000, 0x100, name));
    let mut session = session(steps.into_iter().chain(methods).collect());
    session.types.push(native(RUNTIME, 1, 0));
    assert_eq!(session.types.len(), FIRST_TASK);
    for event_id in 7..=19 {
        let names: &[&str] = match event_id {
            10 => &["TaskID", "Behavior", "ContinueWithTaskID"],
            12 => &["ContinueWithTaskId"],
            17 => &["TaskID", "Work"],
            18 => &["Work"],
            _ => &["TaskID"],
        };
        let mut fields: Vec<Field> =
            names.iter().map(|name| Field::new(name, FieldType::Int32)).collect();
        fields.extend((event_id == 14).then(|| Field::new("OperationName", FieldType::Text)));
        let provider = TASKS.into();
        session.types.push(EventType { provider, event_id, fields, ..EventType::default() });
    }
    let mut options = AnalysisOptions::default();
    options.async_callers = true;
    options.names.style = NameStyle::Short;
    let text = folded_with(&session, options, &ConvertOptions::default());
    let stack = |line: &str| line.rsplit_once(' ').unwrap().0.replace("thread 11;", "");
    text.lines().map(stack).collect()
}

/// The first await of `Price`, called by `Place`, called by `Run`, called by `Main`, on one thread.
const FIRST_AWAIT: [u64; 10] =
    [PRICE, START, PRICE_CALL, PLACE, START, PLACE_CALL, RUN, START, RUN_CALL, MAIN];

fn first_awaits() -> Vec<Step> {
    vec![
        created(0, 1, "Async: <Price>d__2", &[&FIRST_AWAIT]),
        awaits(0, (90, 1), &[&FIRST_AWAIT]),
        created(0, 2, "Async: <Place>d__0", &[&FIRST_AWAIT[3..]]),
        awaits(0, (1, 2), &[&FIRST_AWAIT[3..]]),
        created(0, 3, "Async: <Run>d__1", &[&FIRST_AWAIT[6..]]),
        awaits(0, (2, 3), &[&FIRST_AWAIT[6..]]),
    ]
}

const CHAIN: &str = "Program.Main;Program.Run;Orders.Place;Orders.Price;Cpu.Burn";

fn with(mut steps: Vec<Step>, more: Vec<Step>) -> Vec<Step> {
    steps.extend(more);
    steps
}

fn burns(frames: &[&[u64]]) -> Step {
    sample(0, 10, &stack(&[&[BURN], &frames.concat()]))
}

#[test]
fn who_awaits_is_the_caller_and_what_completed_is_not() {
    let below = [PRICE, CONTEXT, BOX, CONTINUES, STORE, CONTEXT, BOX, POOL];
    let steps = with(first_awaits(), vec![runs(0, 1), burns(&[&below]), ran(0)]);
    assert_eq!(folded(steps), [CHAIN]);
}

#[test]
fn without_events_the_resumed_method_has_no_callers() {
    let below = [PRICE, CONTEXT, BOX, CONTINUES, STORE, CONTEXT, BOX, POOL];
    assert_eq!(folded(vec![burns(&[&below])]), [format!("{MISSING};Orders.Price;Cpu.Burn")]);
    // Before its first await, a method is called like any other.
    assert_eq!(folded(vec![burns(&[&FIRST_AWAIT])]), [CHAIN]);
    // An iterator that is not asynchronous is called by who asks for the next item.
    assert_eq!(folded(vec![burns(&[&[ITEMS, MAIN]])]), ["Program.Main;Stock.Items;Cpu.Burn"]);
}

#[test]
fn the_stack_at_the_first_await_tells_callers_that_do_not_await_a_task() {
    // An async iterator is no task for who awaits its items.
    let first = [ITEMS, ITERATOR, ITEMS_NEXT, RUN, START, RUN_CALL, MAIN];
    let steps = vec![
        created(0, 1, "Async: <Items>d__3", &[&first]),
        runs(0, 1),
        burns(&[&[ITEMS], &RESUMED]),
    ];
    assert_eq!(folded(steps), ["Program.Main;Program.Run;Stock.Items;Cpu.Burn"]);
}

#[test]
fn a_yield_has_the_callers_of_what_yields() {
    let resumed = [&[PRICE][..], &RESUMED];
    let steps = with(
        first_awaits(),
        vec![
            runs(0, 1),
            task(12, 0, &resumed, &[7], None),
            ran(0),
            plain(19, 0, 7),
            burns(&resumed),
            plain(13, 0, 7),
            burns(&[&[MAIN]]),
        ],
    );
    assert_eq!(folded(steps), ["Program.Main;Cpu.Burn", CHAIN]);
}

#[test]
fn a_builder_without_tasks_has_callers_however_often_it_awaits() {
    let resumed = [&[PRICE][..], &RESUMED];
    let mut steps = vec![awaits(0, (500, 0), &[&FIRST_AWAIT])];
    for turn in 0..3000 {
        steps.push(plain(11, 0, 500 + turn));
        steps.push(awaits(0, (501 + turn, 0), &resumed));
        steps.push(plain(13, 0, 500 + turn));
    }
    steps.extend([plain(11, 0, 3500), burns(&resumed)]);
    assert_eq!(folded(steps), [CHAIN]);
}

#[test]
fn a_delegate_is_called_by_who_queued_it() {
    let queued = [TASK_RUN, PLACE, START, PLACE_CALL, RUN, START, RUN_CALL, MAIN];
    let steps = vec![
        task(7, 0, &[&queued], &[4], None),
        plain(8, 0, 4),
        burns(&[&[LAMBDA, CONTEXT, TASK_RUNS, POOL]]),
        plain(9, 0, 4),
    ];
    let expected = "Program.Main;Program.Run;Orders.Place;Orders.Place.lambda_1;Cpu.Burn";
    assert_eq!(folded(steps), [expected]);
}

#[test]
fn an_id_that_is_used_again_is_another_task() {
    let other = [PRICE, START, PRICE_CALL, MAIN];
    let steps = with(
        first_awaits(),
        vec![
            plain(15, 0, 1),
            created(0, 1, "Async: <Price>d__2", &[&other]),
            runs(0, 1),
            burns(&[&[PRICE], &RESUMED]),
        ],
    );
    assert_eq!(folded(steps), ["Program.Main;Orders.Price;Cpu.Burn"]);
}

#[test]
fn an_end_closes_brackets_inside_whose_ends_are_missing() {
    let steps = with(
        first_awaits(),
        vec![
            runs(0, 2),
            task(17, 0, &[], &[2, 0], None),
            runs(0, 1),
            // The end of what ran last is missing.
            task(18, 0, &[], &[0], None),
            burns(&[&[PLACE], &RESUMED]),
        ],
    );
    assert_eq!(folded(steps), ["Program.Main;Program.Run;Orders.Place;Cpu.Burn"]);
}

#[test]
fn the_end_of_a_wait_that_blocks_resumes_nothing() {
    let steps = with(
        first_awaits(),
        vec![
            task(10, 0, &[&[MAIN]], &[1, 1, 0], None),
            plain(11, 0, 1),
            burns(&[&[PRICE], &RESUMED]),
        ],
    );
    assert_eq!(folded(steps), [format!("{MISSING};Orders.Price;Cpu.Burn")]);
}

#[test]
fn a_sample_between_the_event_and_the_call_has_no_wrong_callers() {
    let steps = with(first_awaits(), vec![runs(0, 2), burns(&[&[PRICE], &RESUMED])]);
    assert_eq!(folded(steps), [format!("{MISSING};Orders.Price;Cpu.Burn")]);
}

#[test]
fn a_task_of_several_is_shown_by_its_name() {
    let first = [PRICE, START, PRICE_CALL, MAIN];
    let steps = vec![
        created(0, 5, "Task.WhenAll", &[&[MAIN]]),
        created(0, 1, "Async: <Price>d__2", &[&first]),
        awaits(0, (1, 5), &[&[MAIN]]),
        runs(0, 1),
        burns(&[&[PRICE], &RESUMED]),
    ];
    assert_eq!(folded(steps), ["Program.Main;[Task.WhenAll];Orders.Price;Cpu.Burn"]);
}

#[test]
fn what_a_task_of_several_awaits_stands_below_it_and_nothing_else_that_is_completed() {
    let first = [PRICE, START, PRICE_CALL, MAIN];
    let completes = |id| {
        vec![
            created(0, 5, "Task.WhenAll", &[&[MAIN]]),
            created(0, 1, "Async: <Price>d__2", &[&first]),
            runs(0, 1),
            burns(&[&[PRICE], &RESUMED]),
            task(17, 0, &[], &[id, 0], None),
            plain(16, 0, 5),
            task(18, 0, &[], &[0], None),
            ran(0),
        ]
    };
    assert_eq!(folded(completes(1)), ["Program.Main;[Task.WhenAll];Orders.Price;Cpu.Burn"]);
    assert_eq!(folded(completes(7)), ["Program.Main;Orders.Price;Cpu.Burn"]);
}

#[test]
fn a_circle_of_awaits_has_an_end() {
    let steps = vec![
        created(0, 1, "Async: <Price>d__2", &[&FIRST_AWAIT]),
        created(0, 2, "Async: <Place>d__0", &[&FIRST_AWAIT[3..]]),
        awaits(0, (1, 2), &[&FIRST_AWAIT[3..]]),
        awaits(0, (2, 1), &[&FIRST_AWAIT]),
        awaits(0, (3, 3), &[&FIRST_AWAIT]),
        runs(0, 3),
        runs(0, 1),
        burns(&[&[PRICE], &RESUMED]),
    ];
    let folded = folded(steps);
    assert!(folded[0].starts_with(MISSING) && folded[0].ends_with("Orders.Price;Cpu.Burn"));
}

#[test]
fn brackets_without_ends_are_bounded() {
    let many = (0..20_000).map(|_| runs(0, 1)).collect();
    let steps = with(with(first_awaits(), many), vec![burns(&[&[PRICE], &RESUMED])]);
    assert_eq!(folded(steps), [CHAIN]);
}

#[test]
fn a_method_that_the_runtime_suspends_ends_at_its_resumption() {
    let first = [DELAY, PRICE_CALL, PLACE_CALL, THUNK, POOL];
    let steps = vec![
        created(0, 90, "Task.Delay", &[&first]),
        burns(&[&[PRICE_CALL, THUNK, CONTINUES, STORE], &RESUMED]),
    ];
    assert_eq!(folded(steps), [format!("{MISSING};Orders.Price;Cpu.Burn")]);
}

/// Returns a buffer of the async profiler about a thread, from 1,000 ticks on.
fn buffer(os_thread: u64, count: u32, events: &[u8]) -> Vec<Value> {
    let size = u32::try_from(events.len() + 37).unwrap();
    let head = [&[1][..], &size.to_le_bytes(), &[0; 4], &os_thread.to_le_bytes()].concat();
    let times = [1000u64, 2000].map(u64::to_le_bytes).concat();
    let bytes = [&head, &count.to_le_bytes()[..], &times, events].concat();
    let length = Value::U32(u32::try_from(bytes.len()).unwrap());
    [length].into_iter().chain(bytes.into_iter().map(Value::U8)).collect()
}

/// Returns the waits that the report of tasks has of a session with buffers of the async profiler, those
/// of thread 12 and of thread 11, and with events of tasks.
fn profiled_waits(resumed: &[u8], created: &[u8], tasks: &[Step]) -> Vec<TaskWaitRow> {
    const PROFILER: &str = "System.Runtime.CompilerServices.AsyncProfilerEventSource";
    let event = |values| {
        Step::Event(SessionEvent { event_type: FIRST_TASK, values, ..SessionEvent::default() })
    };
    // The buffer of the second thread is full first.
    let mut steps = vec![event(buffer(12, 3, resumed)), event(buffer(11, 1, created))];
    steps.extend_from_slice(tasks);
    steps.push(method(AT_END, 1, 0x1_0000, 0x100, "S.Orders.Place"));
    let mut session = session(steps);
    session.types.push(native(RUNTIME, 1, 0));
    assert_eq!(session.types.len(), FIRST_TASK);
    session.types.push(EventType { version: 1, ..EventType::new(PROFILER, 1, "AsyncEvents") });
    for (event_id, names) in [(10, &["TaskID", "Behavior"][..]), (11, &["TaskID"])] {
        let fields = names.iter().map(|name| Field::new(name, FieldType::Int32)).collect();
        let provider = TASKS.into();
        session.types.push(EventType { provider, event_id, fields, ..EventType::default() });
    }
    let bytes = session.record().stream.bytes;
    let mut pass = ReportPass::new(Tasks::default());
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    pass.finish().output.waits
}

#[test]
fn awaits_of_methods_that_the_runtime_suspends_come_from_its_async_profiler() {
    // Dispatcher 5 is created after 10 ticks and resumed on another thread after 100, with a stack of
    // the address 0x10010; there it is complete after 120.
    let created = [1, 10, 2, 0, 5];
    let resumed = [2, 100, 1, 5, 7, 0, 7, 0, 0, 0, 1, 5, 0x90, 0x80, 0x04, 4, 20];
    let waits = profiled_waits(&resumed, &created, &[]);
    let wait = &waits[0];
    assert_eq!((waits.len(), wait.waits.count, wait.is_blocking), (1, 1, false));
    assert_eq!(wait.name, "waited for by S.Orders.Place(int)");
    assert_eq!(wait.by[0].method, "S.Orders.Place");
    assert_eq!(wait.waits.total_ns, 90, "a tick is a nanosecond");
}

#[test]
fn awaits_of_state_machines_count_once_if_their_tasks_and_the_async_profiler_tell_them() {
    let created = [11, 10, 2, 0, 5];
    let resumed = [12, 100, 1, 5, 16, 0, 8, 0, 0, 0, 1, 5, 0x90, 0x80, 0x04, 0, 14, 20];
    let by_profiler = profiled_waits(&resumed, &created, &[]);
    assert_eq!(by_profiler.iter().map(|row| row.waits.total_ns).collect::<Vec<_>>(), [90]);
    let event = |of: usize, values: &[i32]| {
        Step::Event(SessionEvent {
            event_type: FIRST_TASK + of,
            ticks_later: 7,
            values: values.iter().map(|value| Value::I32(*value)).collect(),
            ..SessionEvent::default()
        })
    };
    let tasks = [event(1, &[90, 2]), event(2, &[90])];
    let by_both = profiled_waits(&resumed, &created, &tasks);
    assert_eq!(by_both.iter().map(|row| row.waits.total_ns).collect::<Vec<_>>(), [7]);
}
