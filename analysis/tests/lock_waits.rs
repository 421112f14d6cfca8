//! A sample inside of a wait for a lock counts as waiting, whatever state the sampler gave it.

use crate::common;

use common::*;
use nettrace_analysis::findings::Summary;
use nettrace_analysis::report::{Contention, Report, ReportPass};
use nettrace_analysis::report::{TopN, TopNOptions};
use nettrace_analysis::{Analysis, AnalysisOptions, Filter, NameStyle, ThreadState};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;
use nettrace_testdata::synth::{Step, Value};

fn top(bytes: &[u8], states: &[ThreadState]) -> TopN {
    let mut options = AnalysisOptions::default();
    options.names.style = NameStyle::Full;
    options.filter = Filter::default();
    options.filter.states = states.to_vec();
    let mut analysis = Analysis::new(options);
    assert!(analysis.read(&mut Reader::from_slice(bytes).time_ordered()).unwrap().is_complete);
    let finished = analysis.finish().unwrap();
    TopNOptions::default().finish(&finished.resolved())
}

/// Returns the numbers of samples that count as managed, native and waiting.
fn states(steps: Vec<Step>) -> [u64; 3] {
    let bytes = session(steps).record().stream.bytes;
    [ThreadState::Managed, ThreadState::Native, ThreadState::Waiting]
        .map(|state| top(&bytes, &[state]).counted.samples)
}

fn lock(thread: usize, stack: &[u64]) -> Step {
    event(LOCK, thread, 1, stack, vec![Value::U8(0), Value::U16(0)])
}

fn locked(thread: usize) -> Step {
    event(LOCKED, thread, 1, &[], vec![Value::U8(0), Value::U16(0), Value::F64(0.0)])
}

/// Makes a sample of a thread in managed code, or outside.
fn at(thread: usize, kind: u32, stack: &[u64]) -> Step {
    event(SAMPLE, thread, 1, stack, vec![Value::U32(kind)])
}

const MANAGED: u32 = 2;
const EXTERNAL: u32 = 1;
const LOCKING: [u64; 2] = [0x1010, 0x2010];
const ELSEWHERE: [u64; 2] = [0x1020, 0x2010];

#[test]
fn a_sample_inside_a_wait_for_a_lock_is_waiting_whatever_its_mode() {
    let samples = || [at(0, MANAGED, &LOCKING), at(0, EXTERNAL, &LOCKING)];
    let mut steps = samples().to_vec();
    steps.push(lock(0, &LOCKING));
    steps.extend(samples());
    // Another thread takes its turn at the same place.
    steps.extend([at(1, EXTERNAL, &LOCKING), locked(0)]);
    steps.extend(samples());
    assert_eq!(states(steps), [2, 3, 2]);
}

#[test]
fn a_thread_whose_stop_was_lost_runs_where_it_did_not_begin_to_wait() {
    let steps = vec![
        lock(0, &LOCKING),
        at(0, EXTERNAL, &LOCKING),
        at(0, EXTERNAL, &ELSEWHERE),
        at(0, MANAGED, &ELSEWHERE),
        // The thread waits once more, elsewhere.
        lock(0, &ELSEWHERE),
        at(0, EXTERNAL, &ELSEWHERE),
        locked(0),
        at(0, EXTERNAL, &ELSEWHERE),
    ];
    assert_eq!(states(steps), [1, 2, 2]);
}

#[test]
fn a_wait_without_a_stack_does_not_change_samples() {
    assert_eq!(states(vec![lock(0, &[]), at(0, EXTERNAL, &LOCKING), locked(0)]), [0, 1, 0]);
}

// Up to .NET 8, a lock is taken inside the runtime; since .NET 10 in managed code that is known to
// wait.
#[test]
fn those_who_wait_for_a_lock_are_not_among_those_that_run() {
    for name in ["net8-linux-x64/all", "net9-linux-x64/all", "net10-linux-x64/all"] {
        let bytes = corpus::trace(&format!("{name}.nettrace")).bytes();
        let mut contention = ReportPass::new(Contention::default());
        assert!(
            contention.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete
        );
        let report = contention.finish().output;
        let reported = report.totals.waits.total_ns;
        let is_locking =
            |name: &str| name.contains("ContentionRound.lambda") || name.contains("Monitor.Enter");
        let of = |states: &[ThreadState]| {
            let rows = top(&bytes, states).methods;
            rows.iter().filter(|row| is_locking(&row.name)).map(|row| row.self_ns).sum::<u64>()
        };
        let (waiting, running) = (of(&[ThreadState::Waiting]), of(&ThreadState::RUNNING));
        // Samples and events agree to a few percent.
        assert!(waiting.abs_diff(reported) < reported / 10, "{name}: {waiting} {reported}");
        assert!(running < reported / 20, "{name}: {running} of {reported}");
        let mut summary = ReportPass::new(Summary::default());
        assert!(summary.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
        let findings = format!("{:?}", summary.finish().output.findings);
        assert!(
            !findings.contains("that ran in workload!Workload.Program.ContentionRound.lambda"),
            "{findings}"
        );
    }
}
