//! `--cut-stacks`: commands repair, mark or keep stacks that have lost their callers.

use crate::common;
use crate::common::Json;

use common::{file, nettrace};
use nettrace_testdata::synth::{
    EventType, Session, SessionEvent, SessionThread, Step, Value, Version,
};

/// Maximum number of frames that the runtime writes for a stack.
const MAX_FRAMES: u64 = 100;
/// Number of methods in the chain of calls. The first is outermost, and each calls the next.
const METHODS: u64 = 150;
const CUT: &str = "(callers cut off at 100 frames)";

fn address(depth: u64) -> u64 {
    0x1_0000 + depth * 0x100
}

/// Returns the stack that the runtime writes for a thread in the method at this depth, innermost
/// frame first.
fn stack(depth: u64) -> Vec<u64> {
    let frames = (1..=depth).rev().take(usize::try_from(MAX_FRAMES).unwrap());
    frames.map(|depth| address(depth) + 8).collect()
}

fn event(event_type: usize, thread: usize, stack: Vec<u64>, values: Vec<Value>) -> Step {
    let ticks_later = 1_000_000;
    Step::Event(SessionEvent {
        event_type,
        thread,
        ticks_later,
        stack,
        values,
        ..SessionEvent::default()
    })
}

/// Writes a trace of two threads: one goes deeper and comes back, the other is deep in its only
/// sample.
fn trace() -> String {
    let native = |provider: &str, event_id, version| EventType {
        provider: provider.into(),
        event_id,
        version,
        ..EventType::default()
    };
    let mut session = Session::new(Version::V4);
    session.trace.tick_frequency = 1_000_000_000;
    session.types = vec![
        native("Microsoft-Windows-DotNETRuntime", 143, 1),
        native("Microsoft-DotNETCore-SampleProfiler", 0, 0),
    ];
    session.threads = vec![SessionThread::new(11), SessionThread::new(12)];
    let method = |depth: u64| {
        let values = vec![
            Value::U64(depth),
            Value::U64(7),
            Value::U64(address(depth)),
            Value::U32(0x100),
            Value::U32(0x0600_0001),
            Value::U32(8),
            Value::Text("N.Deep".into()),
            Value::Text(format!("M{depth}")),
            Value::Text("void  ()".into()),
            Value::U16(0),
        ];
        event(0, 0, Vec::new(), values)
    };
    session.steps = (1..=METHODS).map(method).collect();
    for depth in [90, 120, 150, 95] {
        session.steps.push(event(1, 0, stack(depth), vec![Value::U32(2)]));
    }
    session.steps.push(event(1, 1, stack(120), vec![Value::U32(2)]));
    file("deep.nettrace", &session.record().stream.bytes)
}

/// Returns the outermost frame and the number of frames of each stack, sorted.
fn roots(trace: &str, how: &str) -> Vec<(String, usize)> {
    let args = ["convert", trace, "--format", "folded", "--unit", "samples", "-o", "-", "--quiet"];
    let ran = nettrace(&[&args[..], &["--cut-stacks", how]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let of = |line: &str| {
        let (stack, _) = line.rsplit_once(' ').unwrap();
        let root = stack.split(';').next().unwrap();
        (root.to_owned(), stack.split(';').count())
    };
    let mut roots: Vec<_> = ran.text().lines().map(of).collect();
    roots.sort();
    roots
}

/// Returns the number of samples without their callers, and the number of repaired samples.
fn counts(trace: &str, how: &str) -> (u64, u64) {
    let ran = nettrace(&["report", "topN", trace, "--json", "--cut-stacks", how]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report = ran.json();
    // The document leaves out counts of 0.
    let count = |key: &str| report.get(key).map_or(0, Json::int);
    (count("cut_off_samples"), count("repaired_samples"))
}

#[test]
fn cut_stacks_get_their_callers_where_that_is_certain_or_are_marked_or_kept() {
    let trace = trace();
    let (short, next) = (("N.Deep.M1()", 90), ("N.Deep.M1()", 95));
    // The second thread has no sample from which its stack could be repaired.
    let repaired = [(CUT, 101), short, next, ("N.Deep.M1()", 120), ("N.Deep.M1()", 150)];
    let marked = [(CUT, 101), (CUT, 101), short, next];
    let kept = [short, next, ("N.Deep.M21()", 100), ("N.Deep.M51()", 100)];
    for (how, expected, counted) in
        [("repair", &repaired[..], (1, 2)), ("mark", &marked, (3, 0)), ("keep", &kept, (0, 0))]
    {
        let roots = roots(&trace, how);
        let roots: Vec<_> = roots.iter().map(|(root, frames)| (&**root, *frames)).collect();
        assert_eq!(roots, expected, "{how}");
        assert_eq!(counts(&trace, how), counted, "{how}");
    }
}
