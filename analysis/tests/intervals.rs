//! Reports, weighted stacks and timelines have the same waits, because starts and stops are matched
//! in one way.

use crate::common;

use common::{RUNTIME, native};
use nettrace_analysis::model::{AsyncRuns, Category, Ends, ProfileKey, Span, TimelineMark};
use nettrace_analysis::report::{
    Activities, Contention, ExceptionType, Exceptions, Gc, Jit, Loader, Report, ReportPass, Spread,
    Tasks, Waits,
};
use nettrace_analysis::{Analysis, AnalysisOptions, Kind};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;
use nettrace_testdata::synth::{Session, SessionEvent, SessionThread, Step, Value, Version};

/// Number of waits of known length, and their sum in nanoseconds.
type Sum = (u64, u64);

/// Sums of waits in a report, in weighted stacks and in a timeline.
#[derive(Debug, Default, PartialEq, Eq)]
struct Answers {
    report: Sum,
    stacks: Sum,
    timeline: Sum,
}

impl Answers {
    fn equal(sum: Sum) -> Answers {
        Answers { report: sum, stacks: sum, timeline: sum }
    }
}

/// Returns the sums of waits for locks and of waits for handles.
fn answers(bytes: &[u8]) -> [Answers; 2] {
    let (complete, others) = common::marks_of(bytes);
    let marks = [complete, others].concat();
    let timeline = |category| {
        let mut sum = (0, 0);
        for mark in &marks {
            let TimelineMark::Span(span) = mark else { continue };
            // The stop of a wait for a lock has the duration, so the start is not needed.
            let is_reported = span.ends == Ends::NoStart && span.nanos > 0;
            if span.category == category
                && (matches!(span.ends, Ends::Known | Ends::LossBetween) || is_reported)
            {
                sum = (sum.0 + 1, sum.1 + span.nanos);
            }
        }
        sum
    };
    let mut options = AnalysisOptions::default();
    options.kinds = vec![Kind::Contention, Kind::Waits];
    let mut analysis = Analysis::new(options);
    // A damaged trace is read as far as possible.
    let _ = analysis.read(&mut Reader::from_slice(bytes).time_ordered());
    let profile = analysis.finish().unwrap().profile;
    let stacks = |kind| {
        // Waits with a label are not over.
        let is_ended = |key: &ProfileKey| key.kind == kind && key.label.is_none();
        let of_kind = profile.rows().into_iter().filter(|(key, _)| is_ended(key));
        of_kind.fold((0, 0), |sum: Sum, (_, totals)| (sum.0 + totals.count, sum.1 + totals.weight))
    };
    let (contention, waits) =
        (report(bytes, Contention::default()), report(bytes, Waits::default()));
    [
        Answers {
            report: (contention.totals.waits.count, contention.totals.waits.total_ns),
            stacks: stacks(Kind::Contention),
            timeline: timeline(Category::Contention),
        },
        Answers {
            report: (waits.totals.waits.count, waits.totals.waits.total_ns),
            stacks: stacks(Kind::Waits),
            timeline: timeline(Category::Wait),
        },
    ]
}

/// Event types: runtime 81 and 91, in versions without and with durations, and 301 and 302.
const LOCK: usize = 0;
const LOCKED: usize = 1;
const LOCKED_FOR: usize = 2;
const WAIT: usize = 3;
const WAITED: usize = 4;

/// Makes a stream of a thread's events: type, nanoseconds after the one before, values.
fn stream(events: Vec<(usize, u32, Vec<Value>)>) -> Vec<u8> {
    let mut session = Session::new(Version::V4);
    session.trace.tick_frequency = 1_000_000_000;
    session.types = [(81, 1), (91, 0), (91, 1), (301, 0), (302, 0)]
        .map(|(id, version)| native(RUNTIME, id, version))
        .into();
    session.threads = vec![SessionThread::new(11)];
    let step = |(event_type, ticks_later, values)| {
        Step::Event(SessionEvent { event_type, ticks_later, values, ..SessionEvent::default() })
    };
    session.steps = events.into_iter().map(step).collect();
    session.record().stream.bytes
}

fn flags() -> Vec<Value> {
    vec![Value::U8(0), Value::U16(0)]
}

fn duration(nanos: f64) -> Vec<Value> {
    vec![Value::U8(0), Value::U16(0), Value::F64(nanos)]
}

#[test]
fn report_stacks_and_timeline_agree_on_nested_waits() {
    let [contention, waits] = answers(&stream(vec![
        (LOCK, 5, flags()),
        (LOCK, 10, flags()),
        (LOCKED, 10, flags()),
        (LOCKED, 20, flags()),
    ]));
    assert_eq!((contention, waits), (Answers::equal((2, 50)), Answers::default()));
    let wait = || vec![Value::U8(0), Value::U64(0), Value::U16(0)];
    let waited = || vec![Value::U16(0)];
    let [contention, waits] = answers(&stream(vec![
        (WAIT, 5, wait()),
        (WAIT, 10, wait()),
        (WAITED, 10, waited()),
        (WAITED, 20, waited()),
    ]));
    assert_eq!((contention, waits), (Answers::default(), Answers::equal((2, 50))));
}

#[test]
fn report_stacks_and_timeline_take_the_duration_of_the_stop() {
    // The stop of the second start and the start of the last stop were lost. Invalid lengths are
    // ignored.
    let [contention, _] = answers(&stream(vec![
        (LOCK, 5, flags()),
        (LOCK, 10, flags()),
        (LOCKED_FOR, 10, duration(18.0)),
        (LOCKED_FOR, 100, duration(7.0)),
        (LOCK, 5, flags()),
        (LOCKED_FOR, 3, duration(f64::NAN)),
        (LOCK, 5, flags()),
        (LOCKED_FOR, 4, duration(-1.0)),
    ]));
    assert_eq!(contention, Answers::equal((4, 18 + 7 + 3 + 4)));
}

#[test]
fn locks_and_handles_do_not_end_each_other() {
    let wait = vec![Value::U8(0), Value::U64(0), Value::U16(0)];
    let [contention, waits] = answers(&stream(vec![
        (LOCK, 5, flags()),
        (WAIT, 10, wait),
        (LOCKED, 10, flags()),
        (WAITED, 20, vec![Value::U16(0)]),
    ]));
    assert_eq!((contention, waits), (Answers::equal((1, 20)), Answers::equal((1, 30))));
}

#[test]
fn waits_of_every_trace_are_the_same_in_report_weighted_stacks_and_timeline() {
    let mut found = [0, 0];
    for trace in corpus::traces() {
        for (answers, found) in answers(&trace.bytes()).iter().zip(&mut found) {
            assert_eq!(*answers, Answers::equal(answers.report), "{}", trace.name());
            *found += answers.report.0;
        }
    }
    // The traces of the repository alone have as many.
    assert!(found[0] > 1000 && found[1] > 1000, "{found:?}");
}

/// Returns a report of a trace.
fn report<R: Report>(bytes: &[u8], report: R) -> R::Output {
    let mut pass = ReportPass::new(report);
    // A damaged trace is read as far as possible.
    let _ = pass.read(&mut Reader::from_slice(bytes).time_ordered());
    pass.finish().output
}

/// Returns the spans of a trace that end, or are left, before the trace ends.
fn spans_of(bytes: &[u8]) -> Vec<Span> {
    let only_spans = |mark| if let TimelineMark::Span(span) = mark { Some(span) } else { None };
    common::marks_of(bytes).0.into_iter().filter_map(only_spans).collect()
}

/// Returns the number of spans with both ends, and their sum in nanoseconds.
fn sum_of<'s>(spans: impl IntoIterator<Item = &'s Span>) -> Sum {
    let whole = |span: &&Span| matches!(span.ends, Ends::Known | Ends::LossBetween);
    spans.into_iter().filter(whole).fold((0, 0), |sum, span| (sum.0 + 1, sum.1 + span.nanos))
}

/// Counts and nanoseconds of catch blocks that ended, of catch blocks that were left, of filters,
/// and of finally blocks. For left blocks the report has only the count.
type Blocks = [Sum; 4];

/// Returns the blocks of exceptions, by the report and by the timeline.
fn blocks(bytes: &[u8]) -> [Blocks; 2] {
    let all = spans_of(bytes);
    // Only the timeline has blocks whose exception was thrown before the session.
    let is_reported = |span: &&Span| span.arguments.iter().any(|(name, _)| name == "exception");
    let shown: Vec<&Span> = all
        .iter()
        .filter(|span| span.category == Category::Exception)
        .filter(is_reported)
        .collect();
    let timeline = |name| sum_of(shown.iter().copied().filter(|span| span.name == name));
    let left =
        shown.iter().filter(|span| span.name == "catch" && span.ends == Ends::Left).count() as u64;
    let timeline = [timeline("catch"), (left, 0), timeline("filter"), timeline("finally")];
    let types = report(bytes, Exceptions::default()).types;
    let spread = |of: fn(&ExceptionType) -> &Spread| {
        types.iter().fold((0, 0), |sum: Sum, row| (sum.0 + of(row).count, sum.1 + of(row).total_ns))
    };
    // A block that throws its exception again is left, too, but by no other one.
    let left = types.iter().map(|row| row.left_by_exception + row.rethrown_without_event).sum();
    let report = [
        spread(|row| &row.in_catch),
        (left, 0),
        spread(|row| &row.in_filter),
        spread(|row| &row.in_finally),
    ];
    [report, timeline]
}

#[test]
fn blocks_of_exceptions_of_every_trace_are_the_same_in_report_and_timeline() {
    let mut found = [0; 4];
    for trace in corpus::traces() {
        let [report, timeline] = blocks(&trace.bytes());
        assert_eq!(report, timeline, "{}", trace.name());
        report.iter().zip(&mut found).for_each(|((count, _), found)| *found += count);
    }
    assert!(found[..3].iter().all(|count| *count > 400), "{found:?}");
}

#[test]
fn compilations_binds_tasks_and_activities_of_every_trace_are_the_same_in_report_and_timeline() {
    let mut found = [0; 5];
    for trace in corpus::traces() {
        let bytes = trace.bytes();
        let spans = spans_of(&bytes);
        let timeline = |category, names: &[&str]| {
            sum_of(
                spans
                    .iter()
                    .filter(|span| span.category == category && names.contains(&&*span.name)),
            )
        };
        let compiled = spans.iter().filter(|span| span.category == Category::Jit);
        let compiled = sum_of(compiled.filter(|span| span.name != "compile in the background"));
        let sum = |of: &mut dyn Iterator<Item = Sum>| {
            of.fold((0, 0), |sum, row| (sum.0 + row.0, sum.1 + row.1))
        };
        let jit = report(&bytes, Jit::default());
        let complete = jit.methods.iter().filter(|row| row.is_complete);
        assert_eq!(
            sum(&mut complete.map(|row| (1, row.duration_ns))),
            compiled,
            "{}",
            trace.name()
        );
        let tasks = report(&bytes, Tasks::default().top(usize::MAX));
        let waits = sum(&mut tasks.waits.iter().map(|row| (row.waits.count, row.waits.total_ns)));
        let is_wait = |name: &str| matches!(name, "await" | "wait for task");
        let shown =
            spans.iter().filter(|span| span.category == Category::Task && is_wait(&span.name));
        let shown = sum_of(shown);
        // Awaits of the async profiler are known when the trace has ended, and in the report alone.
        let profiled = AsyncRuns::read(&mut Reader::from_slice(&bytes)).unwrap();
        if profiled.is_none() {
            assert_eq!(waits, shown, "{}", trace.name());
        }
        let ran = (tasks.ran.count, tasks.ran.total_ns);
        let shown = spans.iter().filter(|span| span.category == Category::Task);
        assert_eq!(ran, sum_of(shown.filter(|span| !is_wait(&span.name))), "{}", trace.name());
        let activities = report(&bytes, Activities::default()).activities;
        let activities =
            sum(&mut activities.iter().map(|row| (row.stopped, row.durations.total_ns)));
        let shown = spans.iter().filter(|span| span.category == Category::Activity);
        assert_eq!(activities, sum_of(shown), "{}", trace.name());
        let loader = report(&bytes, Loader::default());
        let binds = sum(&mut loader.binds.iter().map(|row| (row.count, row.duration_ns)));
        assert_eq!(binds, timeline(Category::Loader, &["load"]), "{}", trace.name());
        let all = [compiled, waits, binds, ran, activities];
        found.iter_mut().zip(all).for_each(|(found, (count, _))| *found += count);
    }
    let least = [1000, 500, 20, 300, 1000];
    assert!(found.iter().zip(least).all(|(found, least)| *found > least), "{found:?}");
}

/// Returns the stops for collections that a timeline shows with both ends, and the pauses in the
/// report on collections. Only the timeline has stops without a collection.
fn pauses(bytes: &[u8]) -> [Vec<(i64, u64)>; 2] {
    let report = report(bytes, Gc::default());
    let mut pauses: Vec<_> = report.collections.iter().flat_map(|row| &row.pauses).collect();
    pauses.sort_by_key(|pause| pause.start_ns);
    // Several collections in one stop divide it.
    let mut joined: Vec<(i64, u64)> = Vec::new();
    for pause in pauses {
        match joined.last_mut() {
            Some((start, nanos)) if *start + i64::try_from(*nanos).unwrap() == pause.start_ns => {
                *nanos += pause.pause_ns;
            }
            _ => joined.push((pause.start_ns, pause.pause_ns)),
        }
    }
    let is_whole = |span: &&Span| matches!(span.ends, Ends::Known | Ends::LossBetween);
    let spans = spans_of(bytes);
    let shown = spans.iter().filter(|span| span.name == "pause for GC").filter(is_whole);
    let mut shown: Vec<_> = shown.map(|span| (span.start_nanos, span.nanos)).collect();
    shown.sort_unstable();
    [joined, shown]
}

#[test]
fn pauses_of_every_trace_are_the_same_in_report_and_timeline() {
    let mut found = 0;
    for trace in corpus::traces() {
        let [report, timeline] = pauses(&trace.bytes());
        let missing: Vec<_> = report.iter().filter(|pause| !timeline.contains(pause)).collect();
        assert!(missing.is_empty(), "{} {missing:?}", trace.name());
        found += report.len();
    }
    assert!(found > 50, "{found}");
}

#[test]
fn a_pause_is_the_same_in_report_and_timeline_whichever_of_its_events_was_lost() {
    let flags = || vec![Value::U16(0)];
    let collection = [1, 0, 0, 0].map(Value::U32).into_iter().chain([Value::U16(0), Value::U64(0)]);
    let events: Vec<(usize, Vec<Value>)> = vec![
        (0, vec![Value::U32(1), Value::U32(0), Value::U16(0)]),
        (1, flags()),
        (4, collection.collect()),
        (5, vec![Value::U32(1), Value::U32(0), Value::U16(0)]),
        (2, flags()),
        (3, flags()),
    ];
    for (lost, whole) in [(0, 0), (1, 1), (2, 0), (4, 1), (5, 0), (9, 1)] {
        let mut session = Session::new(Version::V4);
        session.trace.tick_frequency = 1_000_000_000;
        session.types = [(9, 1), (8, 1), (7, 1), (3, 1), (1, 2), (2, 1)]
            .map(|(id, version)| native(RUNTIME, id, version))
            .into();
        session.threads = vec![SessionThread::new(11)];
        let kept = events.iter().cloned().enumerate().filter(|(place, _)| *place != lost);
        let step = |(place, (event_type, values))| {
            // Each event keeps its time, 10 ns apart.
            let ticks_later = if place == lost + 1 { 20 } else { 10 };
            Step::Event(SessionEvent { event_type, ticks_later, values, ..SessionEvent::default() })
        };
        session.steps = kept.map(step).collect();
        let [report, timeline] = pauses(&session.record().stream.bytes);
        let expected = vec![(10, 50); whole];
        // Without the collection's start, the report has no row.
        if lost != 2 {
            assert_eq!(report, expected, "without event {lost}");
        }
        assert_eq!(
            timeline,
            if lost == 2 { vec![(10, 50)] } else { expected },
            "without event {lost}"
        );
    }
}
