//! Stacks of all threads, by rounds of the sampler.

use crate::common;

use common::*;
use nettrace_analysis::live::{ThreadNow, ThreadStacks, ThreadStacksReport};
use nettrace_analysis::model::WaitFor;
use nettrace_analysis::{NameOptions, ThreadState};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;
use nettrace_testdata::synth::{Step, Value};

const EXTERNAL: u32 = 1;

fn at(thread: usize, stack: &[u64]) -> Step {
    event(SAMPLE, thread, 1, stack, vec![Value::U32(EXTERNAL)])
}

fn names() -> Vec<Step> {
    vec![
        module(),
        method(AT_END, 1, 0x1000, 0x100, "N.T.Main"),
        method(AT_END, 2, 0x2000, 0x100, "System.Threading.Monitor.Wait"),
        method(AT_END, 3, 0x3000, 0x100, "System.Threading.ManualResetEventSlim.Wait"),
        method(AT_END, 4, 0x4000, 0x100, "System.Threading.Tasks.Task.InternalWait"),
    ]
}

fn feed(stacks: &mut ThreadStacks, steps: Vec<Step>) {
    let bytes = session(steps).record().stream.bytes;
    let mut events = Reader::from_slice(&bytes).time_ordered();
    while let Some(event) = events.next_event().unwrap() {
        stacks.event(&event);
    }
}

fn finish(stacks: ThreadStacks) -> ThreadStacksReport {
    stacks.finish(NameOptions::default())
}

#[test]
fn a_round_is_complete_when_a_thread_of_it_is_sampled_again() {
    let mut stacks = ThreadStacks::default();
    feed(&mut stacks, vec![at(0, &[0x1010]), at(1, &[0x1010])]);
    assert_eq!(stacks.rounds(), 0);
    feed(&mut stacks, vec![at(0, &[0x1010])]);
    assert_eq!(stacks.rounds(), 1);
    // The second thread has ended, so it is not in the second round.
    feed(&mut stacks, vec![at(0, &[0x1020])]);
    assert_eq!((stacks.rounds(), stacks.samples()), (2, 4));
    stacks.count_stacks();
    feed(&mut stacks, names());
    let report = finish(stacks);
    let rows: Vec<_> = report.threads.iter().map(|t| (t.thread_id, t.is_in_last_round)).collect();
    assert_eq!(rows, [(11, true), (12, false)]);
    assert_eq!(report.threads[0].frames[0].text, "app!N.T.Main(int)");
}

#[test]
fn code_without_a_name_is_a_native_call_on_top_and_else_shown_as_what_it_lies_in() {
    let mut stacks = ThreadStacks::default();
    let stack = [0x5010, 0x1010, 0x5020, 0x1010, 0x6010, 0x7010];
    feed(&mut stacks, [vec![at(0, &stack)], names()].concat());
    let (library, none) = ("/usr/share/System.Private.CoreLib.dll".to_owned(), String::new());
    stacks.set_mappings(&[(0x1000, 0x5FFF, library), (0x6000, 0x6FFF, none)]);
    let frames = &finish(stacks).threads[0].frames;
    let expected = [
        "app!N.T.Main(int) → native call",
        "app!N.T.Main(int)",
        "System.Private.CoreLib!(no name)",
        "app!N.T.Main(int)",
        "(generated code)",
        "0x7010",
    ];
    assert_eq!(frames.iter().map(|frame| &*frame.text).collect::<Vec<_>>(), expected);
}

#[test]
fn the_outermost_call_of_a_wait_decides_what_a_thread_waits_for() {
    let mut stacks = ThreadStacks::default();
    let steps = [at(0, &[0x2010, 0x3010, 0x4010, 0x1010]), at(1, &[0x2010, 0x1010, 0x4010])];
    feed(&mut stacks, [steps.to_vec(), names()].concat());
    stacks.count_stacks();
    let report = finish(stacks);
    let waits: Vec<_> = report.threads.iter().map(|thread| thread.waits_for).collect();
    // Frames outside of a method that does not wait do not tell the kind of wait.
    assert_eq!(waits, [Some(WaitFor::Task), Some(WaitFor::Pulse)]);
    assert!(report.threads.iter().all(|thread| thread.state == ThreadState::Waiting));
}

#[test]
fn a_thread_whose_wait_for_a_lock_began_meanwhile_waits_for_it() {
    let mut stacks = ThreadStacks::default();
    let lock = event(LOCK, 0, 1, &[0x1010], vec![Value::U8(0), Value::U16(0)]);
    feed(&mut stacks, [vec![at(0, &[0x1010]), lock, at(0, &[0x1010])], names()].concat());
    stacks.count_stacks();
    let report = finish(stacks);
    assert_eq!(report.threads[0].waits_for, Some(WaitFor::Lock));
    assert_eq!(report.threads[0].lock.map(|lock| lock.lock_id), Some(None));
}

#[test]
fn a_stack_is_counted_once_for_each_session_and_samples_after_that_are_ignored() {
    let mut stacks = ThreadStacks::default();
    for address in [0x1010, 0x1010, 0x2010] {
        if stacks.samples() > 0 {
            stacks.begin_session();
        }
        feed(&mut stacks, vec![at(0, &[address]), at(0, &[address])]);
        stacks.count_stacks();
        feed(&mut stacks, vec![at(0, &[0x4010]), at(1, &[0x4010])]);
    }
    feed(&mut stacks, names());
    let report = finish(stacks);
    assert_eq!(report.taken, 3);
    let rows: Vec<_> = report.threads.iter().map(|t| (t.thread_id, t.count, t.is_latest)).collect();
    assert_eq!(rows, [(11, 1, true), (11, 2, false)]);
}

#[test]
fn the_version_of_the_runtime_says_that_states_are_not_those_of_the_sampler() {
    for (name, is_untold) in [("net9/sort", true), ("habits/regex", false)] {
        let bytes = corpus::known(name).bytes();
        let mut stacks = ThreadStacks::default();
        let mut events = Reader::from_slice(&bytes).time_ordered();
        while let Some(event) = events.next_event().unwrap() {
            stacks.event(&event);
        }
        stacks.count_stacks();
        let threads = finish(stacks).threads;
        assert!(!threads.is_empty(), "{name}");
        assert!(threads.iter().all(|thread| thread.is_untold == is_untold), "{name}");
    }
}

#[test]
fn readings_around_a_sample_tell_what_a_thread_in_a_native_call_did() {
    let mut stacks = ThreadStacks::default();
    let call = |thread| at(thread, &[0x5010, 0x1010]);
    let round = |stacks: &mut ThreadStacks, ticks, [ran, ready]: [u64; 2]| {
        let threads = [(11, ran, ready), (12, 0, 0)].into_iter();
        let now =
            |(id, ran_ns, ready_ns)| ThreadNow { id, ran_ns, ready_ns, ..ThreadNow::default() };
        stacks.set_threads(ticks, threads.map(now));
    };
    let start = session(Vec::new()).trace.sync_ticks;
    // Each session has its samples within the first hundred ticks after its start.
    for times in [[100, 0], [50, 0], [0, 100], [0, 0]] {
        round(&mut stacks, start, [0, 0]);
        feed(&mut stacks, vec![call(0), call(1)]);
        stacks.count_stacks();
        round(&mut stacks, start + 100, times);
        stacks.begin_session();
    }
    feed(&mut stacks, names());
    let rows = finish(stacks).threads;
    let mut states: Vec<_> = rows
        .iter()
        .map(|row| (row.thread_id, row.state.name(), row.is_measured, row.count))
        .collect();
    states.sort_unstable();
    let expected = [
        (11, "native", false, 1),
        (11, "native", true, 1),
        (11, "ready", true, 1),
        (11, "waiting", true, 1),
        (12, "waiting", true, 4),
    ];
    assert_eq!(states, expected);
}
