//! Limits of a comparison: it claims nothing about data that a side did not record, lost, or had in
//! a burst.

use crate::common;

use common::{LOAD, LOCK, LOCKED, OBJECTS, SAMPLE, THROWN, event, method, native, session};
use nettrace_analysis::AnalysisOptions;
use nettrace_analysis::diff::{
    self, Condition, DiffNote, DiffReport, DiffRow, DiffVerdict, Doubt, MeasuredTrace, NotCompared,
    NotComparedReason, OldOrNew, Per, Subject, Undecided, Unreliable,
};
use nettrace_parser::Reader;
use nettrace_testdata::synth::{EventType, Field, FieldType, Step, Value};

const FAST: u64 = 0x1000;
/// Event types after those of `common`.
const GC: usize = OBJECTS + 1;
const COUNTER: usize = GC + 1;

/// Measures a trace with two seconds of samples, one each millisecond, and the steps that `between`
/// returns.
fn facts(between: impl Fn(u32) -> Vec<Step>) -> MeasuredTrace {
    let mut steps = vec![method(LOAD, 1, FAST, 0x100, "App.Program.Fast")];
    for at in 0..2000 {
        steps.push(event(SAMPLE, 0, 1_000_000, &[FAST + 0x10], vec![Value::U32(2)]));
        steps.extend(between(at));
    }
    let mut session = session(steps);
    for (kind, keyword) in [(THROWN, 0x8000), (LOCK, 0x4000), (LOCKED, 0x4000)] {
        session.types[kind].keywords = keyword;
    }
    let counter = [
        ("Name", FieldType::Text),
        ("Mean", FieldType::Double),
        ("Count", FieldType::Int32),
        ("IntervalSec", FieldType::Double),
    ];
    let counter = counter.map(|(name, kind)| Field::new(name, kind)).to_vec();
    let payload = vec![Field::new("Payload", FieldType::Object(counter))];
    session.types.extend([
        EventType { keywords: 1, ..native(common::RUNTIME, 1, 2) },
        EventType {
            fields: vec![Field::new("", FieldType::Object(payload))],
            ..EventType::new("App-Counters", 3, "EventCounters")
        },
    ]);
    let mut pass = diff::pass(AnalysisOptions::default());
    let bytes = session.record().stream.bytes;
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    pass.finish().output
}

fn thrown() -> Step {
    let text = |text: &str| Value::Text(text.to_owned());
    let rest = [Value::U64(0), Value::U32(0), Value::U16(0), Value::U16(0)];
    event(THROWN, 0, 1, &[FAST + 0x30], [&[text("App.Oops"), text("no")][..], &rest].concat())
}

fn collection() -> Step {
    let values = [Value::U32(1), Value::U32(0), Value::U32(0), Value::U32(0), Value::U16(0)];
    event(GC, 1, 1, &[], [&values[..], &[Value::U64(0)]].concat())
}

fn waited() -> Vec<Step> {
    let flags = || vec![Value::U8(0), Value::U16(0)];
    vec![event(LOCK, 1, 1, &[FAST + 0x20], flags()), event(LOCKED, 1, 500_000, &[], flags())]
}

fn counted(mean: f64, later: u32) -> Step {
    let name = Value::Text("level".to_owned());
    event(COUNTER, 1, later, &[], vec![name, Value::F64(mean), Value::I32(1), Value::F64(0.3)])
}

/// Compares one run of each side.
fn compared(old: MeasuredTrace, new: MeasuredTrace) -> DiffReport {
    DiffReport::new(&[old], &[new], Per::Second)
}

fn row(report: &DiffReport, subject: Subject) -> Option<&DiffRow> {
    report.rows.iter().find(|row| row.key.subject == subject)
}

/// Returns the reason why a condition is not decided.
fn undecided(report: &DiffReport, condition: &str) -> Option<Undecided> {
    let outcome = condition.parse::<Condition>().unwrap().outcome(report);
    assert!(!outcome.holds, "{condition}");
    outcome.undecided
}

#[test]
fn a_burst_in_one_trace_is_too_bursty_to_judge_from_one_each() {
    let some = facts(|at| if at.is_multiple_of(50) { vec![thrown()] } else { Vec::new() });
    let burst = facts(|at| if at < 200 { vec![thrown()] } else { Vec::new() });
    let report = compared(some, burst);
    let exceptions = row(&report, Subject::Exceptions).unwrap();
    assert!(exceptions.new > exceptions.old * 4.0 && !exceptions.is_significant, "{exceptions:?}");
    let note = DiffNote::Burst { key: exceptions.key.clone() };
    assert!(report.notes.contains(&note), "{:?}", report.notes);
    assert_eq!(note.to_string(), "exceptions: too bursty to judge from one trace each");
    let DiffVerdict::NothingLarge { elapsed: None, .. } = report.verdict else {
        panic!("{:?}", report.verdict)
    };
}

#[test]
fn a_counter_that_is_delivered_twice_within_milliseconds_is_one_value() {
    let twice = |at: u32| match at % 300 {
        0 if at.is_multiple_of(600) => vec![counted(100.0, 1000), counted(100.0, 2_000_000)],
        0 => vec![counted(10.0, 1000)],
        _ => Vec::new(),
    };
    let once = |at: u32| match at % 300 {
        0 => vec![counted(if at.is_multiple_of(600) { 100.0 } else { 10.0 }, 1000)],
        _ => Vec::new(),
    };
    let report = compared(facts(twice), facts(once));
    let counter = row(&report, Subject::Counter).unwrap();
    assert_eq!((counter.old, counter.is_significant), (counter.new, false), "{counter:?}");
}

#[test]
fn fewer_than_five_values_of_a_counter_are_no_sample() {
    let of = |mean: f64, every: u32| {
        facts(move |at| if at % every == 0 { vec![counted(mean, 1000)] } else { Vec::new() })
    };
    let report = compared(of(1.0, 500), of(6.0, 500));
    let counter = row(&report, Subject::Counter).unwrap();
    assert_eq!((counter.change_percent, counter.chance), (Some(500.0), None));
    assert!(!counter.is_significant, "{counter:?}");
    let doubt = counter.doubt.clone().expect("a side has few values");
    assert_eq!(doubt, Doubt::FewValues { min_values: 5 });
    assert_eq!(doubt.to_string(), "fewer than 5 values are no sample");
    assert_eq!(undecided(&report, "counter(*)>100%"), Some(Undecided::Doubted { doubt }));
    // Five values are a sample.
    let report = compared(of(1.0, 400), of(6.0, 400));
    assert!(row(&report, Subject::Counter).unwrap().is_significant);
}

#[test]
fn fewer_exceptions_are_doubted_where_as_many_events_were_lost() {
    let all = facts(|at| if at % 2 == 0 { vec![thrown()] } else { Vec::new() });
    let lossy = facts(|at| match at {
        1060 => vec![Step::Lose { thread: 2, count: 470 }],
        0..1060 if at % 2 == 0 => vec![thrown()],
        _ => Vec::new(),
    });
    let report = compared(all, lossy);
    assert_eq!(report.new.lost, 470);
    let exceptions = row(&report, Subject::Exceptions).unwrap();
    assert_eq!(exceptions.change_percent.map(f64::round), Some(-47.0));
    assert!(!exceptions.is_significant, "{exceptions:?}");
    let doubt = exceptions.doubt.clone().expect("as many events were lost");
    assert_eq!(doubt, Doubt::EventsLost { side: OldOrNew::New, events: 470 });
    assert_eq!(doubt.to_string(), "470 events were lost in NEW, which may explain it");
    let is_of_loss = |note: &DiffNote| matches!(note, DiffNote::EventsLost { events: 470, .. });
    assert!(report.notes.iter().any(is_of_loss), "{:?}", report.notes);
    assert_eq!(undecided(&report, "exceptions<5%"), Some(Undecided::Doubted { doubt }));
}

#[test]
fn waits_for_locks_that_one_side_did_not_record_are_not_compared() {
    let often = |at: u32| at.is_multiple_of(50);
    let locks =
        || facts(|at| if often(at) { [waited(), vec![collection()]].concat() } else { Vec::new() });
    // A side that recorded other events of the runtime had no collections.
    let none = facts(|at| if often(at) { vec![collection()] } else { Vec::new() });
    let report = compared(locks(), none);
    let waits = row(&report, Subject::Contention).unwrap();
    assert!(waits.old > 0.0 && waits.new == 0.0, "{waits:?}");
    // A side without any of the runtime's events did not record them.
    let blind = facts(|at| if often(at) { vec![thrown()] } else { Vec::new() });
    let report = compared(locks(), blind);
    assert_eq!(row(&report, Subject::Contention), None);
    let is_of_locks = |it: &&NotCompared| it.subject == Subject::Contention;
    let locks = report.not_compared.iter().find(is_of_locks).expect("one side has none");
    let reason = NotComparedReason::NotRecorded { rows: 1 };
    assert_eq!((locks.side, &locks.reason), (OldOrNew::New, &reason));
    assert_eq!(locks.to_string(), "waits for locks: only in OLD");
    let why = Undecided::NotCompared(locks.clone());
    assert_eq!(undecided(&report, "contention>5%"), Some(why));
}

#[test]
fn a_side_without_samples_is_nothing_to_rely_on() {
    let busy = facts(|_| vec![thrown()]);
    let mut session = session((0..100).map(|_| thrown()).collect());
    session.types[THROWN].keywords = 0x8000;
    let mut pass = diff::pass(AnalysisOptions::default());
    let bytes = session.record().stream.bytes;
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    let report = compared(busy, pass.finish().output);
    let Some(Unreliable::NotCompared(samples)) = report.missing() else {
        panic!("{:?}", report.not_compared);
    };
    assert_eq!((samples.subject, samples.side), (Subject::Cpu, OldOrNew::New));
    assert_eq!(samples.to_string(), "CPU samples: only in OLD");
    assert_eq!(undecided(&report, "cpu>5%"), Some(Undecided::NotCompared(samples)));
    // The document says what is missing even without rows.
    let without = DiffReport::new(&[], &[], Per::Second);
    assert_eq!(without.missing(), Some(Unreliable::NothingCompared));
}
