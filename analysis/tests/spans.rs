//! Spans of timelines, from pairs of starts and stops.

use crate::common;
use nettrace_analysis::model::{Argument, Category, Ends, Flow, Span, SpanScope, TimelineMark};
use nettrace_parser::Reader;
use nettrace_parser::view::KnownProvider;
use nettrace_testdata::corpus;
use nettrace_testdata::synth::{
    EventType, Session, SessionEvent, SessionThread, Step, Value, Version,
};
use std::collections::BTreeMap;

/// Returns all marks of a trace, and the number of events by provider and id.
fn marks_of(bytes: &[u8]) -> (Vec<TimelineMark>, BTreeMap<(KnownProviderName, u32), usize>) {
    let mut counts = BTreeMap::new();
    let _ = Reader::from_slice(bytes).for_each(|event| {
        let provider = match event.known_provider() {
            KnownProvider::Runtime => "runtime",
            KnownProvider::Tasks => "tasks",
            _ => return,
        };
        *counts.entry((provider, event.id())).or_default() += 1;
    });
    let (complete, others) = common::marks_of(bytes);
    ([complete, others].concat(), counts)
}

fn end_nanos(span: &Span) -> i64 {
    span.start_nanos.saturating_add_unsigned(span.nanos)
}

type KnownProviderName = &'static str;

fn open(name: &str) -> Vec<u8> {
    corpus::trace(&format!("{name}.nettrace")).bytes()
}

fn spans_of(marks: &[TimelineMark]) -> Vec<&Span> {
    marks
        .iter()
        .filter_map(|mark| if let TimelineMark::Span(span) = mark { Some(span) } else { None })
        .collect()
}

#[test]
fn every_start_of_a_real_trace_is_one_span_and_every_stop_ends_one() {
    for name in [
        "net10-linux-x64/all",
        "net3.1-linux-x64/all",
        "net8-linux-x64/all",
        "net3.1-linux-x64/lossy",
    ] {
        let bytes = open(name);
        let (marks, counts) = marks_of(&bytes);
        let spans = spans_of(&marks);
        let count = |key| counts.get(&key).copied().unwrap_or(0);
        let pairs = [
            (Category::Pause, "pause", ("runtime", 9), ("runtime", 3)),
            (Category::Collection, "GC gen", ("runtime", 1), ("runtime", 2)),
            (Category::Contention, "lock", ("runtime", 81), ("runtime", 91)),
            (Category::Exception, "catch", ("runtime", 250), ("runtime", 251)),
        ];
        for (category, prefix, start, stop) in pairs {
            let is_pause =
                |of| matches!(of, Category::Pause | Category::SamplerPause | Category::OtherPause);
            let is_of = |of| of == category || is_pause(of) && is_pause(category);
            let of_sort =
                || spans.iter().filter(|s| is_of(s.category) && s.name.starts_with(prefix));
            let starts = of_sort().filter(|span| span.ends != Ends::NoStart).count();
            // A stop with a duration gives its start, too. A catch block that another exception
            // left has an end without an event.
            let without_stop = [Ends::NoStop, Ends::OpenAtEnd, Ends::Left];
            let ended = of_sort().filter(|span| !without_stop.contains(&span.ends)).count();
            let from_stop = of_sort().filter(|span| span.ends == Ends::NoStart).count();
            assert_eq!(starts, count(start), "{name}: starts of {prefix}");
            assert_eq!(ended, count(stop), "{name}: stops of {prefix}");
            // A pause may have begun before the session.
            assert!(name.ends_with("lossy") || from_stop <= 1, "{name}: {prefix}: {from_stop}");
        }
    }
}

#[test]
fn spans_of_a_thread_lie_inside_or_outside_of_each_other() {
    for name in [
        "net10-linux-x64/all",
        "net10-linux-x64/killed-1",
        "net10-linux-x64/waits",
        "net3.1-linux-x64/all",
    ] {
        let (marks, _) = marks_of(&open(name));
        let mut by_thread: BTreeMap<_, Vec<(i64, i64, &str)>> = BTreeMap::new();
        let whole = |span: &&Span| {
            span.place == SpanScope::Thread && matches!(span.ends, Ends::Known | Ends::Left)
        };
        for span in spans_of(&marks).into_iter().filter(whole) {
            assert_eq!(span.thread, span.end_thread, "{name}: {span:?}");
            by_thread.entry(span.thread).or_default().push((
                span.start_nanos,
                -end_nanos(span),
                &span.name,
            ));
        }
        assert!(!by_thread.is_empty(), "{name}");
        for spans in by_thread.values_mut() {
            spans.sort_unstable();
            let mut open: Vec<i64> = Vec::new();
            for (start, end, span) in spans.iter() {
                open.retain(|outer| outer > start);
                assert!(
                    open.iter().all(|outer| *outer >= -end),
                    "{name}: {span} at {start} crosses another"
                );
                open.push(-end);
            }
        }
    }
}

#[test]
fn a_catch_block_ends_where_the_exception_that_left_it_is_caught() {
    let (marks, _) = marks_of(&open("net10-linux-x64/all"));
    let catches: Vec<_> =
        spans_of(&marks).into_iter().filter(|span| span.name == "catch").collect();
    let count = |ends| catches.iter().filter(|span| span.ends == ends).count();
    // The trace ends before the block of the last throw does.
    assert_eq!((count(Ends::Known), count(Ends::Left), count(Ends::OpenAtEnd)), (470, 469, 1));
    let argument = |span: &Span, wanted: &str| {
        span.arguments.iter().find_map(|(name, value)| match value {
            Argument::Text(text) if name == wanted => Some(text.clone()),
            _ => None,
        })
    };
    let caught =
        |at: i64| catches.iter().find(|span| span.ends == Ends::Known && span.start_nanos == at);
    for left in catches.iter().filter(|span| span.ends == Ends::Left) {
        let by = caught(end_nanos(left) + 1).expect("it ends where another begins");
        assert_eq!(by.thread, left.thread);
        let names = [argument(left, "left_by"), argument(by, "exception")];
        assert_eq!(names, [const { "Workload.WidgetException" }; 2].map(|name| Some(name.into())));
        assert!(
            left.nanos > 0
                && argument(left, "exception").is_some_and(|name| name.starts_with("System."))
        );
    }
    assert!(Ends::Left.note().is_some());
}

#[test]
fn a_task_is_reached_by_an_arrow_from_where_it_was_scheduled() {
    let (marks, counts) = marks_of(&open("net10-linux-x64/all"));
    let from: Vec<u64> = marks
        .iter()
        .filter_map(|mark| match mark {
            TimelineMark::Instant(instant) if instant.name == "task scheduled" => {
                match instant.flow {
                    Some(Flow::From(flow)) => Some(flow),
                    _ => None,
                }
            }
            _ => None,
        })
        .collect();
    assert_eq!(from.len(), counts[&("tasks", 7)]);
    let spans = spans_of(&marks);
    let arrived =
        spans.iter().filter(|span| matches!(span.flow, Some(Flow::To(to)) if from.contains(&to)));
    assert_eq!(arrived.count(), counts[&("tasks", 8)]);
    assert!(
        spans.iter().any(|span| span.name.starts_with("Task: ")),
        "tasks have their operation's name"
    );
}

#[test]
fn activities_are_paired_by_their_ids_across_threads() {
    let (marks, _) = marks_of(&open("net10-linux-x64/metrics"));
    let spans = spans_of(&marks);
    let known = |name| spans.iter().filter(|s| s.name == name && s.ends == Ends::Known).count();
    // 4,072 starts and 4,070 stops: the last two were running when the session ended.
    let activities = spans.iter().filter(|span| span.category == Category::Activity);
    let unpaired = activities.filter(|span| span.ends != Ends::Known).count();
    assert_eq!((known("order") + known("pay"), unpaired), (4070, 2));
    let (marks, _) = marks_of(&open("net10-linux-x64/all"));
    let spans = spans_of(&marks);
    let requests: Vec<_> = spans.iter().filter(|span| span.name == "Request").collect();
    assert_eq!(requests.len(), 376);
    assert!(requests.iter().all(|span| span.ends == Ends::Known && span.nanos > 0));
    assert!(requests.iter().any(|span| span.thread != span.end_thread));
}

#[test]
fn counters_have_the_values_of_their_events() {
    let (marks, _) = marks_of(&open("net10-linux-x64/all"));
    let points = marks.iter().filter_map(|mark| {
        if let TimelineMark::Counter(point) = mark { Some(point) } else { None }
    });
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for point in points {
        *counts.entry(&point.name).or_default() += 1;
    }
    assert_eq!(counts["GC heap size"], 62);
    assert_eq!(counts["System.Runtime/cpu-usage"], 3);
    assert_eq!(counts["ThreadPool wanted threads"], 9);
    let (marks, _) = marks_of(&open("net10-linux-x64/metrics"));
    let value = |name: &str| {
        marks.iter().find_map(|mark| match mark {
            TimelineMark::Counter(point) if point.name == name => Some(point.value),
            _ => None,
        })
    };
    assert_eq!(value("Nettrace.Workload/load[core=1]"), Some(0.25));
}

const RUNTIME: &str = "Microsoft-Windows-DotNETRuntime";
const LOCK: usize = 0;
const LOCKED: usize = 1;
const JITTING: usize = 2;
const LOADED: usize = 3;
const OTHER: usize = 4;
const TOLD: usize = 5;

fn session(steps: Vec<Step>) -> Vec<u8> {
    let native = |event_id, version| EventType {
        provider: RUNTIME.into(),
        event_id,
        version,
        ..EventType::default()
    };
    let mut session = Session::new(Version::V4);
    session.trace.tick_frequency = 1_000_000_000;
    session.types = vec![
        native(81, 1),
        native(91, 0),
        native(145, 1),
        native(143, 1),
        native(12345, 0),
        native(91, 1),
    ];
    session.threads = vec![SessionThread::new(11), SessionThread::new(12)];
    session.steps = steps;
    session.record().stream.bytes
}

fn event(event_type: usize, thread: usize, later: u32, values: Vec<Value>) -> SessionEvent {
    SessionEvent {
        event_type,
        thread,
        capture_thread: thread,
        ticks_later: later,
        values,
        ..SessionEvent::default()
    }
}

fn lock(event_type: usize, thread: usize, later: u32) -> Step {
    Step::Event(event(event_type, thread, later, vec![Value::U8(0), Value::U16(0)]))
}

/// Makes a stop with the duration of its wait.
fn locked_for(thread: usize, later: u32, nanos: f64) -> Step {
    Step::Event(event(TOLD, thread, later, vec![Value::U8(0), Value::U16(0), Value::F64(nanos)]))
}

fn ends_of(bytes: &[u8]) -> Vec<(Ends, u64)> {
    let (marks, _) = marks_of(bytes);
    spans_of(&marks).iter().map(|span| (span.ends, span.nanos)).collect()
}

#[test]
fn a_span_names_its_missing_end() {
    // A stop without a start, a wait inside of another whose own stop is missing, and a wait that
    // lasts to the end.
    let bytes = session(vec![
        lock(LOCKED, 0, 10),
        lock(LOCK, 0, 10),
        lock(LOCK, 0, 10),
        lock(LOCKED, 0, 7),
        lock(LOCK, 1, 10),
        Step::Event(event(OTHER, 0, 5, vec![])),
    ]);
    let expected =
        [(Ends::NoStart, 0), (Ends::Known, 7), (Ends::OpenAtEnd, 32), (Ends::OpenAtEnd, 5)];
    assert_eq!(ends_of(&bytes), expected);
    // The stop's duration shows that it ends the outer wait, so the inner wait's stop was lost.
    let bytes = session(vec![
        lock(LOCK, 0, 10),
        lock(LOCK, 0, 10),
        locked_for(0, 10, 19.0),
        locked_for(0, 10, 4.0),
    ]);
    assert_eq!(ends_of(&bytes), [(Ends::NoStop, 0), (Ends::Known, 19), (Ends::NoStart, 4)]);
    assert!(Ends::Known.note().is_none() && Ends::NoStop.note().is_some());
}

#[test]
fn a_thread_that_went_on_does_not_wait_to_the_end() {
    let lost = SessionEvent { lost_before: 3, ..event(OTHER, 0, 5, vec![]) };
    let bytes = session(vec![
        Step::Event(event(OTHER, 1, 1, vec![])),
        lock(LOCK, 0, 10),
        lock(LOCK, 1, 10),
        Step::Event(lost),
        Step::Event(event(OTHER, 1, 100, vec![])),
    ]);
    assert_eq!(ends_of(&bytes), [(Ends::NoStop, 0), (Ends::OpenAtEnd, 105)]);
}

#[test]
fn a_span_with_lost_events_in_between_is_marked() {
    let lossy = |thread| {
        let lost = SessionEvent { lost_before: 3, ..event(OTHER, thread, 5, vec![]) };
        session(vec![
            Step::Event(event(OTHER, 1, 1, vec![])),
            lock(LOCK, 0, 10),
            Step::Event(lost),
            lock(LOCKED, 0, 7),
        ])
    };
    assert_eq!(ends_of(&lossy(0)), [(Ends::LossBetween, 12)]);
    // Losses of another thread do not matter.
    assert_eq!(ends_of(&lossy(1)), [(Ends::Known, 12)]);
}

#[test]
fn a_method_that_is_compiled_inside_another_is_inside_its_span() {
    let text = |text: &str| Value::Text(text.to_owned());
    let names = |name| [text("N.T"), text(name), text("void  ()"), Value::U16(0)];
    let jitting = |id, later, name| {
        let mut values = vec![Value::U64(id), Value::U64(7), Value::U32(1), Value::U32(42)];
        values.extend(names(name));
        Step::Event(event(JITTING, 0, later, values))
    };
    let loaded = |id, later, name| {
        let mut values = vec![Value::U64(id), Value::U64(7), Value::U64(0x1000), Value::U32(0x20)];
        values.extend([Value::U32(1), Value::U32(8 | 3 << 7)]);
        values.extend(names(name));
        Step::Event(event(LOADED, 0, later, values))
    };
    let bytes = session(vec![
        jitting(1, 10, "Outer"),
        jitting(2, 10, "Inner"),
        loaded(2, 10, "Inner"),
        loaded(1, 10, "Outer"),
        loaded(3, 10, "Stub"),
    ]);
    let (marks, _) = marks_of(&bytes);
    let spans = spans_of(&marks);
    let shown: Vec<_> = spans.iter().map(|span| (&*span.name, span.nanos, span.ends)).collect();
    assert_eq!(shown, [("N.T.Inner()", 10, Ends::Known), ("N.T.Outer()", 30, Ends::Known)]);
    assert!(spans[0].arguments.contains(&("il_bytes".into(), Argument::Number(42))));
    assert!(spans[0].arguments.contains(&("code".into(), Argument::Text("QuickJitted".into()))));
    assert!(matches!(&marks[2], TimelineMark::Instant(load) if load.name == "method loaded"));
}

#[test]
fn a_trace_of_starts_alone_keeps_a_bounded_number_open() {
    let mut values = vec![Value::U64(0), Value::U64(7), Value::U32(1), Value::U32(42)];
    values.extend([
        Value::Text("T".into()),
        Value::Text("M".into()),
        Value::Text("()".into()),
        Value::U16(0),
    ]);
    let steps = (0..(1 << 16) + 100u64).map(|id| {
        let mut values = values.clone();
        values[0] = Value::U64(id);
        Step::Event(event(JITTING, 0, 1, values))
    });
    let ends = ends_of(&session(steps.collect()));
    let count = |wanted| ends.iter().filter(|(ends, _)| *ends == wanted).count();
    assert_eq!((count(Ends::NoStop), count(Ends::OpenAtEnd)), (100, 1 << 16));
}
