//! Parts of the time of requests and other activities.

use crate::common::path;
use nettrace_analysis::report::{
    Activities, ActivitiesReport, ActivityLine, Doing, Http, Parts, Report, ReportPass,
};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;
use nettrace_testdata::synth::{
    EventType, Field, FieldType, Session, SessionEvent, SessionThread, Step, Value, Version,
};

const RUNTIME: &str = "Microsoft-Windows-DotNETRuntime";
const TASKS: &str = "System.Threading.Tasks.TplEventSource";

const START: usize = 0;
const STOP: usize = 1;
const SAMPLE: usize = 2;
const SUSPEND: usize = 3;
const RESTARTED: usize = 4;
const LOCK: usize = 5;
const LOCKED: usize = 6;
const JIT: usize = 7;
const LOADED: usize = 8;
const OPERATION: usize = 9;
const OPERATION_END: usize = 10;
const AWAIT: usize = 11;
const WORK: usize = 12;
const WORK_END: usize = 13;
const NOTE: usize = 14;
const SUSPENDED: usize = 15;
const LET_GO: usize = 16;

const NO_ID: [u8; 16] = [0; 16];
const ONE: [u8; 4] = [0x11, 0, 0, 0];
const TWO: [u8; 4] = [0x12, 0, 0, 0];
const ONE_ONE: [u8; 4] = [0x11, 0x10, 0, 0];

fn types() -> Vec<EventType> {
    use FieldType::{Int32, Text};
    let native = |provider: &str, event_id, version| EventType {
        provider: provider.into(),
        event_id,
        version,
        ..EventType::default()
    };
    let described = |provider: &str, event_id, name: &str, fields: &[&str]| EventType {
        provider: provider.into(),
        event_id,
        name: name.into(),
        level: 4,
        fields: fields.iter().map(|name| Field::new(name, Int32)).collect(),
        ..EventType::default()
    };
    let mut types = vec![
        described("Shop", 1, "OrderStart", &[]),
        described("Shop", 2, "OrderStop", &[]),
        native("Microsoft-DotNETCore-SampleProfiler", 0, 0),
        native(RUNTIME, 9, 1),
        native(RUNTIME, 3, 1),
        native(RUNTIME, 81, 1),
        native(RUNTIME, 91, 1),
        native(RUNTIME, 145, 1),
        native(RUNTIME, 143, 1),
        described(TASKS, 14, "TraceOperationBegin", &["TaskID"]),
        described(TASKS, 15, "TraceOperationEnd", &["TaskID"]),
        described(TASKS, 10, "TaskWaitBegin", &["TaskID", "Behavior"]),
        described(TASKS, 17, "TraceSynchronousWorkBegin", &["TaskID", "Work"]),
        described(TASKS, 18, "TraceSynchronousWorkEnd", &["Work"]),
        described("Shop", 3, "Note", &[]),
        native(RUNTIME, 8, 1),
        native(RUNTIME, 7, 1),
    ];
    types[START].fields = vec![Field::new("name", Text)];
    types
}

/// Makes an event 100 ns after the one before.
fn event(event_type: usize, thread: usize, id: [u8; 16], values: Vec<Value>) -> Step {
    Step::Event(SessionEvent {
        event_type,
        thread,
        capture_thread: if event_type == SAMPLE { 3 } else { thread },
        ticks_later: 100,
        activity_id: id,
        values,
        ..SessionEvent::default()
    })
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn start(thread: usize, id: [u8; 4]) -> Step {
    event(START, thread, path(id), vec![text("x")])
}

fn stop(thread: usize, id: [u8; 4]) -> Step {
    event(STOP, thread, path(id), vec![])
}

/// Makes a sample in native code (`state` 1) or managed code (2).
fn sample(thread: usize, state: u32) -> Step {
    event(SAMPLE, thread, NO_ID, vec![Value::U32(state)])
}

fn pause(thread: usize, reason: u32) -> Step {
    event(SUSPEND, thread, NO_ID, vec![Value::U32(reason), Value::U32(0), Value::U16(0)])
}

fn resumed(thread: usize) -> Step {
    event(RESTARTED, thread, NO_ID, vec![Value::U16(0)])
}

fn awaits(thread: usize, id: [u8; 4]) -> Step {
    event(AWAIT, thread, path(id), vec![Value::I32(7), Value::I32(2)])
}

fn note(thread: usize, id: [u8; 4]) -> Step {
    event(NOTE, thread, path(id), vec![])
}

fn report<R: Report>(steps: Vec<Step>, report: R) -> R::Output {
    let mut session = Session::new(Version::V4);
    session.trace.tick_frequency = 1_000_000_000;
    session.types = types();
    session.threads = [11, 12, 13, 99].map(SessionThread::new).into();
    session.steps = steps;
    read(&session.record().stream.bytes, report)
}

fn read<R: Report>(bytes: &[u8], report: R) -> R::Output {
    let mut pass = ReportPass::new(report);
    assert!(
        pass.read(&mut Reader::from_slice(bytes).time_ordered())
            .expect("a readable stream")
            .is_complete
    );
    pass.finish().output
}

/// Returns the parts in the order running, native, waiting, GC, lock, JIT, await, unknown.
fn numbers(parts: &Parts) -> [u64; 8] {
    parts.all().map(|(_, nanos)| nanos)
}

/// Returns the parts of the activity with an id, and asserts that its line of time has equal ones.
fn parts_of(steps: Vec<Step>, id: &str) -> [u64; 8] {
    let report = report(steps, Activities::default().events_of(id));
    let slow =
        report.slowest.iter().find(|row| row.id.as_deref() == Some(id)).expect("an activity");
    assert_eq!(slow.parts.total_ns(), slow.duration_ns);
    let line = report.line.as_ref().expect("a line");
    assert_eq!((line.parts, line.duration_ns), (slow.parts, slow.duration_ns));
    check_line(line);
    numbers(&slow.parts)
}

/// Asserts that stretches follow each other without a gap, and sum up to the parts.
fn check_line(line: &ActivityLine) {
    let mut at = line.start_ns;
    for stretch in &line.stretches {
        assert_eq!(stretch.start_ns, at, "{line:?}");
        at += i64::try_from(stretch.duration_ns).unwrap();
    }
    assert_eq!(at, line.start_ns + i64::try_from(line.duration_ns).unwrap());
    for (doing, nanos) in line.parts.all() {
        let stretches = line.stretches.iter().filter(|stretch| stretch.doing == doing);
        assert_eq!(
            stretches.map(|stretch| stretch.duration_ns).sum::<u64>(),
            nanos,
            "{doing:?} {line:?}"
        );
    }
}

#[test]
fn the_parts_of_a_request_add_up_to_its_time() {
    let id = path(ONE);
    let method = [Value::U64(5), Value::U64(1)];
    let names = [text("N"), text("M"), text("void  ()"), Value::U16(0)];
    let jit = [&method[..], &[Value::U32(6), Value::U32(9)], &names].concat();
    let loaded =
        [&method[..], &[Value::U64(0x1000), Value::U32(16), Value::U32(6), Value::U32(0)], &names]
            .concat();
    let steps = vec![
        start(0, ONE),
        sample(0, 2),
        event(JIT, 0, id, jit),
        event(LOADED, 0, id, loaded),
        event(LOCK, 0, id, vec![Value::U8(0), Value::U16(0)]),
        event(LOCKED, 0, id, vec![Value::U8(0), Value::U16(0), Value::F64(100.0)]),
        pause(2, 1),
        // The sampler's suspension inside of the collection's changes nothing.
        pause(3, 0),
        resumed(3),
        resumed(2),
        sample(0, 1),
        awaits(0, ONE),
        event(OPERATION_END, 1, id, vec![Value::I32(7)]),
        stop(1, ONE),
    ];
    // Running: 200 before the JIT, 100 after it, 100 before the pause, 100 after it,
    // 100 on the other thread.
    assert_eq!(parts_of(steps, "//1/1"), [600, 100, 0, 300, 100, 100, 100, 0]);
}

#[test]
fn the_time_of_a_wait_without_end_is_unknown_and_inner_waits_count() {
    let lock = || event(LOCK, 0, path(ONE), vec![Value::U8(0), Value::U16(0)]);
    let locked =
        |nanos| event(LOCKED, 0, path(ONE), vec![Value::U8(0), Value::U16(0), Value::F64(nanos)]);
    // The thread continues at an unknown time.
    let steps = vec![start(0, ONE), sample(0, 2), lock(), note(0, ONE), note(0, ONE), stop(0, ONE)];
    assert_eq!(parts_of(steps, "//1/1"), [400, 0, 0, 0, 0, 0, 0, 100]);
    // The stop has the id of the second wait, so the first wait's stop was lost.
    let steps = vec![
        start(0, ONE),
        sample(0, 2),
        lock(),
        lock(),
        locked(100.0),
        note(0, ONE),
        stop(0, ONE),
    ];
    assert_eq!(parts_of(steps, "//1/1"), [300, 0, 0, 0, 100, 0, 0, 200]);
    // Without a loss, both are waits, the second inside of the first.
    let steps = vec![
        start(0, ONE),
        sample(0, 2),
        lock(),
        lock(),
        locked(100.0),
        locked(300.0),
        stop(0, ONE),
    ];
    assert_eq!(parts_of(steps, "//1/1"), [300, 0, 0, 0, 300, 0, 0, 0]);
}

#[test]
fn a_pause_that_another_thread_ends_is_no_longer_than_that() {
    let empty = || vec![Value::U16(0)];
    let steps = vec![
        start(0, ONE),
        sample(0, 2),
        pause(2, 6),
        event(SUSPENDED, 2, NO_ID, empty()),
        // A background collection resumes the threads.
        event(LET_GO, 1, NO_ID, empty()),
        event(RESTARTED, 1, NO_ID, empty()),
        note(0, ONE),
        stop(0, ONE),
    ];
    assert_eq!(parts_of(steps, "//1/1"), [400, 0, 0, 300, 0, 0, 0, 0]);
}

#[test]
fn a_thread_seen_in_another_activity_left_at_an_unknown_time() {
    let steps = vec![
        start(0, ONE),
        sample(0, 2),
        note(0, ONE),
        sample(0, 2),
        // From here on, the thread is known to run another activity.
        start(0, TWO),
        note(1, ONE),
        stop(1, ONE),
    ];
    // 200 until the activity's last event, 200 until the other's start, then no thread, then the
    // other thread.
    assert_eq!(parts_of(steps, "//1/1"), [300, 0, 0, 0, 0, 0, 100, 200]);
}

#[test]
fn without_samples_a_thread_has_left_with_its_last_event_if_another_one_goes_on() {
    let steps = vec![
        start(0, ONE),
        note(0, ONE),
        start(0, TWO),
        note(1, NO_ID_PATH),
        note(1, ONE),
        stop(1, ONE),
    ];
    assert_eq!(parts_of(steps, "//1/1"), [0, 0, 0, 0, 0, 0, 300, 200]);
}

#[test]
fn time_of_one_inside_is_time_of_those_around_it() {
    let steps = vec![
        sample(0, 2),
        start(0, ONE),
        start(0, ONE_ONE),
        awaits(0, ONE_ONE),
        note(0, NO_ID_PATH),
        note(1, ONE_ONE),
        stop(1, ONE_ONE),
        stop(1, ONE),
    ];
    assert_eq!(parts_of(steps.clone(), "//1/1"), [400, 0, 0, 0, 0, 0, 200, 0]);
    assert_eq!(parts_of(steps, "//1/1/1"), [200, 0, 0, 0, 0, 0, 200, 0]);
}

/// Nibbles that are no path.
const NO_ID_PATH: [u8; 4] = [0; 4];

#[test]
fn a_task_goes_on_for_the_request_in_which_it_began() {
    let work = |thread, task| event(WORK, thread, NO_ID, vec![Value::I32(task), Value::I32(2)]);
    let steps = vec![
        sample(0, 2),
        start(0, ONE),
        event(OPERATION, 0, path(ONE), vec![Value::I32(7)]),
        awaits(0, ONE),
        note(0, NO_ID_PATH),
        // The activity's id is set a little later, and a turn may have no event with the id at all.
        work(1, 7),
        event(WORK_END, 1, NO_ID, vec![Value::I32(2)]),
        note(1, NO_ID_PATH),
        work(2, 8),
        work(1, 7),
        stop(1, ONE),
    ];
    assert_eq!(parts_of(steps, "//1/1"), [400, 0, 0, 0, 0, 0, 500, 0]);
}

#[test]
fn of_two_threads_the_one_that_runs_counts() {
    let steps = vec![
        start(0, ONE),
        note(1, ONE),
        sample(0, 1),
        sample(1, 1),
        sample(1, 2),
        note(0, ONE),
        note(1, ONE),
        stop(1, ONE),
    ];
    // Both threads were in native code from the second thread's sample to its next.
    assert_eq!(parts_of(steps, "//1/1"), [600, 100, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn without_samples_running_is_unknown_and_without_ids_all_but_pauses_is() {
    let steps =
        |id| vec![start(0, id), note(0, id), pause(2, 1), resumed(2), note(0, id), stop(0, id)];
    let of = |steps| {
        let report: ActivitiesReport = report(steps, Activities::default());
        numbers(&report.slowest[0].parts)
    };
    assert_eq!(of(steps(ONE)), [0, 0, 0, 100, 0, 0, 0, 400]);
    let mut sampled = vec![sample(0, 2)];
    sampled.extend(steps(NO_ID_PATH));
    assert_eq!(of(sampled), [0, 0, 0, 100, 0, 0, 0, 400]);
}

#[test]
fn a_request_of_many_pieces_has_them_all() {
    let mut steps = vec![start(0, ONE)];
    for _ in 0..1_000 {
        steps.extend([note(0, ONE), sample(0, 1), note(0, ONE), sample(0, 2)]);
    }
    steps.push(stop(0, ONE));
    let report = report(steps, Activities::default().events_of("//1/1"));
    let slow = &report.slowest[0];
    assert_eq!(numbers(&slow.parts), [300_100, 100_000, 0, 0, 0, 0, 0, 0]);
    check_line(report.line.as_ref().unwrap());
    assert_eq!(report.activities[0].parts, slow.parts);
}

#[test]
fn parts_sum_up_to_the_time_on_real_traces() {
    for name in [
        "net10-linux-x64/all.nettrace",
        "net10-linux-x64/metrics.nettrace",
        "net3.1-linux-x64/all.nettrace",
        "net8-linux-x64/all.nettrace",
    ] {
        assert_parts_are_the_whole(name);
    }
}

fn assert_parts_are_the_whole(name: &str) {
    let check = |report: &ActivitiesReport| {
        assert!(!report.activities.is_empty(), "{name}");
        for row in &report.activities {
            assert_eq!(row.parts.total_ns(), row.durations.total_ns, "{name} {}", row.name);
        }
        for slow in &report.slowest {
            assert_eq!(slow.parts.total_ns(), slow.duration_ns, "{name} {slow:?}");
        }
    };
    let bytes = corpus::trace(name).bytes();
    check(&read(&bytes, Activities::default().top(1000)));
    if !name.contains("metrics") {
        check(&read(&bytes, Http::from(Activities::default().top(1000))));
    }
}

mod with_shared {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn parts_of_a_web_servers_requests_add_up_to_their_durations() {
        assert_parts_are_the_whole("aspnet-net10-linux-x64/web.nettrace");
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn why_a_request_took_43_ms_has_an_answer() {
        let file = corpus::trace("aspnet-net10-linux-x64/web.nettrace");
        let bytes = file.bytes();
        let report =
            read(&bytes, Http::from(Activities::default().top(20).events_of("/#10160/1/6701/1")));
        let line = report.line.as_ref().expect("a line");
        check_line(line);
        // The first request of /chain compiles its client, method by method, on one thread and then
        // on two.
        assert_eq!(
            (line.name.to_string().as_str(), line.duration_ns / 1_000),
            ("in GET /chain", 43_547)
        );
        let share = |nanos: u64, of: u64| nanos * 100 / of;
        assert!(share(line.parts.running_ns, line.duration_ns) > 75, "{line:?}");
        assert!(line.parts.unknown_ns == 0 && line.parts.gc_ns == 0, "{:?}", line.parts);
        let threads: std::collections::BTreeSet<_> =
            line.stretches.iter().filter_map(|stretch| stretch.thread_id).collect();
        assert_eq!(threads.into_iter().collect::<Vec<_>>(), [10_174, 10_201]);
        assert!(
            line.stretches.iter().all(|row| (row.doing == Doing::Await) == row.thread_id.is_none())
        );

        // Each request of /work computes, allocates, and then delays for some milliseconds.
        let row = |name: &str| {
            report.activities.iter().find(|row| row.name.to_string() == name).expect("a row")
        };
        let work = row("in GET /work");
        let of = |nanos| share(nanos, work.durations.total_ns);
        assert!((40..65).contains(&of(work.parts.await_ns)), "{:?}", work.parts);
        assert!((10..30).contains(&of(work.parts.gc_ns)), "{:?}", work.parts);
        assert!((15..40).contains(&of(work.parts.running_ns)), "{:?}", work.parts);
        // Other requests are answered at once.
        for name in ["in GET /", "in GET /fail"] {
            let row = row(name);
            assert!(
                share(row.parts.running_ns, row.durations.total_ns) > 85,
                "{name} {:?}",
                row.parts
            );
        }
        // Both reports have equal parts of a request.
        let all = read(&bytes, Activities::default().top(10).events_of("/#10160/1/6701/1/1/0"));
        let client = |report: &ActivitiesReport| {
            let row =
                report.slowest.iter().find(|row| row.id.as_deref() == Some("/#10160/1/6701/1/1/0"));
            row.expect("the client's request").parts
        };
        assert_eq!(client(&all), client(&report));
    }
}
