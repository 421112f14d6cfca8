//! What the threads of activities did, by buffers of .NET 11's async profiler made by hand.

use crate::common::path;
use nettrace_analysis::AnalysisOptions;
use nettrace_analysis::model::AsyncRuns;
use nettrace_analysis::report::{Activities, Http, Report, ReportPass, StepKind};
use nettrace_parser::Reader;
use nettrace_testdata::synth::{
    EventType, FieldType, Session, SessionEvent, SessionThread, Step, Value, Version,
};
use std::sync::Arc;

const ORDER: usize = 0;
const ORDERED: usize = 1;
const NOTE: usize = 2;
const BUFFER: usize = 3;
const REQUEST: usize = 4;
const REQUESTED: usize = 5;

/// OS ids of the threads.
const THREADS: [u64; 3] = [11, 12, 13];
/// Ticks of the event clock at the first step.
const SYNC: u64 = 1_000_000;
/// When the buffers come, and the trace ends.
const END: u64 = 100_000;

const NO_ID: [u8; 4] = [0; 4];
const ONE: [u8; 4] = [0x11, 0, 0, 0];
const ONE_ONE: [u8; 4] = [0x11, 0x10, 0, 0];

/// Time, type, thread, nibbles of the activity's path, and values of an event.
type At = (u64, usize, usize, [u8; 4], Vec<Value>);
/// Time, thread and sub-event: a kind with one payload of numbers below 128, or with none.
type Sub = (u64, usize, &'static [u8]);

fn at(nanos: u64, event_type: usize, thread: usize, id: [u8; 4]) -> At {
    let number = if id == ONE_ONE { 2 } else { 1 };
    let values = match event_type {
        NOTE | REQUESTED => Vec::new(),
        REQUEST => ["http", "shop", "/"].map(|text| Value::Text(text.to_owned())).into(),
        _ => vec![Value::I32(number)],
    };
    (nanos, event_type, thread, id, values)
}

/// Sub-events: a dispatcher is made by none or by 7, is resumed, is suspended or complete.
const MAKES_7: &[u8] = &[1, 2, 0, 7];
const MAKES_8: &[u8] = &[1, 2, 7, 8];
const RESUMES_7: &[u8] = &[2, 1, 7];
const STACK_OF_7: &[u8] = &[7, 7, 0, 0, 0, 1, 7, 0x90, 0x80, 0x04];
const RESUMES_8: &[u8] = &[2, 1, 8];
const RESUMES_9: &[u8] = &[2, 1, 9];
const SUSPENDS: &[u8] = &[3];
const COMPLETES: &[u8] = &[4];

/// Returns the buffer of a thread.
fn buffer(thread: usize, subs: &[Sub]) -> At {
    let (mut bytes, mut before) = (Vec::new(), 0);
    for (nanos, _, sub) in subs {
        let mut later = nanos - before;
        before = *nanos;
        bytes.push(sub[0]);
        while later > 127 {
            bytes.push(u8::try_from(later & 127).unwrap() | 128);
            later >>= 7;
        }
        bytes.push(u8::try_from(later).unwrap());
        bytes.extend_from_slice(&sub[1..]);
    }
    let size = u32::try_from(bytes.len() + 37).unwrap();
    let count = u32::try_from(subs.len()).unwrap();
    let head = [&[1][..], &size.to_le_bytes(), &[0; 4], &THREADS[thread].to_le_bytes()].concat();
    let times = [SYNC, SYNC + before].map(u64::to_le_bytes).concat();
    let all = [&head, &count.to_le_bytes()[..], &times, &bytes].concat();
    let values = [Value::U32(size)].into_iter().chain(all.into_iter().map(Value::U8)).collect();
    (END, BUFFER, thread, NO_ID, values)
}

fn record(events: &[At], subs: &[Sub]) -> Vec<u8> {
    let mut session = Session::new(Version::V4);
    session.trace.tick_frequency = 1_000_000_000;
    session.types = vec![
        EventType::new("Shop", 1, "OrderStart").field("id", FieldType::Int32),
        EventType::new("Shop", 2, "OrderStop").field("id", FieldType::Int32),
        EventType::new("Shop", 3, "Note"),
        EventType {
            version: 1,
            ..EventType::new(
                "System.Runtime.CompilerServices.AsyncProfilerEventSource",
                1,
                "AsyncEvents",
            )
        },
        ["scheme", "host", "pathAndQuery"]
            .into_iter()
            .fold(EventType::new("System.Net.Http", 1, "RequestStart"), |it, name| {
                it.field(name, FieldType::Text)
            }),
        EventType::new("System.Net.Http", 2, "RequestStop"),
    ];
    session.threads = THREADS.map(SessionThread::new).into();
    let mut all = events.to_vec();
    for thread in 0..THREADS.len() {
        let of_it: Vec<Sub> = subs.iter().filter(|sub| sub.1 == thread).copied().collect();
        if !of_it.is_empty() {
            all.push(buffer(thread, &of_it));
        }
    }
    let mut before = 0;
    for (nanos, event_type, thread, id, values) in all {
        session.steps.push(Step::Event(SessionEvent {
            event_type,
            thread,
            capture_thread: thread,
            ticks_later: u32::try_from(nanos - before).unwrap(),
            activity_id: path(id),
            values,
            ..SessionEvent::default()
        }));
        before = nanos;
    }
    session.record().stream.bytes
}

/// Returns the time awaited by the slowest activities, and that of threads that worked for them: without
/// samples, it is not known what they did.
fn parts(events: &[At], subs: &[Sub]) -> Vec<(u64, u64)> {
    let report = report(Activities::default(), events, subs);
    report.slowest.iter().map(|slow| (slow.parts.await_ns, slow.parts.unknown_ns)).collect()
}

fn report<R: Report>(report: R, events: &[At], subs: &[Sub]) -> R::Output {
    let bytes = record(events, subs);
    let mut options = AnalysisOptions::default();
    options.async_callers = true;
    options.async_runs = AsyncRuns::read(&mut Reader::from_slice(&bytes)).unwrap().map(Arc::new);
    let mut pass = ReportPass::with_options(report, options);
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    pass.finish().output
}

#[test]
fn a_thread_works_for_an_activity_while_it_runs_a_chain_of_it() {
    let events = [at(1000, ORDER, 0, NO_ID), at(9000, ORDERED, 1, NO_ID)];
    let subs = [
        (2000, 0, MAKES_7),
        (4000, 1, RESUMES_7),
        (5000, 1, SUSPENDS),
        (7000, 1, RESUMES_7),
        (9500, 1, COMPLETES),
    ];
    assert_eq!(parts(&events, &subs), [(4000, 4000)]);
}

#[test]
fn a_chain_goes_on_for_the_activity_around_one_that_has_stopped_meanwhile() {
    let events = [
        at(1000, ORDER, 0, ONE),
        at(3000, ORDER, 1, ONE_ONE),
        at(6000, ORDERED, 2, ONE_ONE),
        at(20_000, ORDERED, 1, ONE),
    ];
    let subs = [
        (1500, 0, MAKES_7),
        (2000, 1, RESUMES_7),
        // The call that begins the inner activity makes a chain of its own, and is awaited.
        (3500, 1, MAKES_8),
        (4000, 1, SUSPENDS),
        (5000, 2, RESUMES_8),
        (6500, 2, COMPLETES),
        (7000, 1, RESUMES_7),
        (19_000, 1, SUSPENDS),
        (19_500, 1, RESUMES_7),
        (21_000, 1, SUSPENDS),
    ];
    // 500 up to the first await, then 2,000, 1,500 of the inner one's end, 12,000, and 500.
    let [outer, inner] = *parts(&events, &subs) else { panic!() };
    assert_eq!(inner, (1000, 2000));
    assert_eq!(outer, (500 + 1000 + 500 + 500, 500 + 2000 + 1500 + 12_000 + 500));
}

#[test]
fn a_chain_inside_which_another_runs_does_not_await_it() {
    let events = [at(1000, REQUEST, 0, ONE), at(9000, REQUESTED, 1, ONE)];
    let subs = [
        (2000, 0, MAKES_7),
        (3000, 1, RESUMES_7),
        (3000, 1, STACK_OF_7),
        // It completes what another chain awaits, which goes on at once.
        (4000, 1, RESUMES_9),
        (6000, 1, SUSPENDS),
        (7000, 1, SUSPENDS),
        (8000, 1, RESUMES_7),
        (8000, 1, STACK_OF_7),
        (9500, 1, COMPLETES),
    ];
    let http = Http::from(Activities::default().events_of("//1/1"));
    let steps = report(http, &events, &subs).steps;
    let awaits = steps.iter().filter(|step| step.kind == StepKind::Await);
    let times: Vec<_> = awaits.map(|step| (step.start_ns, step.duration_ns)).collect();
    assert_eq!(times, [(2000, Some(1000)), (7000, Some(1000))]);
}

#[test]
fn what_a_thread_of_an_activity_runs_after_it_left_is_not_for_the_activity() {
    let events = [at(1000, ORDER, 0, NO_ID), at(5000, NOTE, 0, NO_ID), at(8000, ORDERED, 1, NO_ID)];
    let subs = [
        (2000, 0, MAKES_7),
        // A chain that was made before the trace goes on.
        (3000, 0, RESUMES_9),
        (6000, 0, SUSPENDS),
        (7000, 1, RESUMES_7),
        (9000, 1, SUSPENDS),
    ];
    assert_eq!(parts(&events, &subs), [(5000, 2000)]);
}
