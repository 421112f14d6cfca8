//! `top` of a running process over the last seconds.

use crate::common;

use common::*;
use nettrace_analysis::fact::SeenFact;
use nettrace_analysis::live::{Live, LiveTop, ThreadNow, TopCallee, TopSnapshot};
use nettrace_analysis::model::WaitFor;
use nettrace_analysis::report::TopNOptions;
use nettrace_analysis::report::{ReportPass, Threads};
use nettrace_parser::Reader;
use nettrace_testdata::corpus::{self, TraceFile};
use nettrace_testdata::synth::{Step, Value};
use std::time::Duration;

const SECOND: u32 = 1_000_000_000;
const MAIN: &str = "app!N.T.Main(int)";
const WORK: &str = "app!N.T.Work(int)";

fn names() -> Vec<Step> {
    vec![
        module(),
        method(LOAD, 1, 0x1000, 0x100, "N.T.Main"),
        method(LOAD, 2, 0x2000, 0x100, "N.T.Work"),
        method(LOAD, 3, 0x3000, 0x100, "System.Threading.Thread.Sleep"),
    ]
}

fn at(thread: usize, later: u32, kind: u32, stack: &[u64]) -> Step {
    event(SAMPLE, thread, later, stack, vec![Value::U32(kind)])
}

fn fed(window: u64, steps: Vec<Step>) -> Live<LiveTop> {
    fed_with(LiveTop::default().rows(10), window, steps)
}

fn fed_with(top: LiveTop, window: u64, steps: Vec<Step>) -> Live<LiveTop> {
    let bytes = session([names(), steps].concat()).record().stream.bytes;
    let mut top = Live::new(top.window(Duration::from_secs(window)));
    let mut events = Reader::from_slice(&bytes).time_ordered();
    while let Some(event) = events.next_event().unwrap() {
        top.event(&event);
    }
    top
}

/// Replays a trace as `top` sees it, to which the rundown of another session brings names.
fn replayed(trace: &TraceFile) -> TopSnapshot {
    let bytes = trace.bytes();
    let mut top = Live::new(LiveTop::default().rows(10_000).window(Duration::from_secs(60)));
    let (mut events, mut last) = (Reader::from_slice(&bytes).time_ordered(), 0);
    while let Some(event) = events.next_event().unwrap() {
        if event.provider() == RUNDOWN {
            top.report.names_mut().learn(&event);
        } else {
            last = event.nanos().unwrap_or(last);
            top.event(&event);
        }
    }
    top.snapshot_at(last)
}

/// Asserts that the hottest methods have as many samples in `top` as in `report topN`.
fn assert_counts_as_files(trace: &TraceFile) -> TopSnapshot {
    let mut rows = TopNOptions::default();
    rows.count = usize::MAX;
    let mut pass = ReportPass::with_options((rows, Threads), with_recording());
    let bytes = trace.bytes();
    let _ = pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap();
    let (top, threads) = pass.finish().output;
    let live = replayed(trace);
    assert_eq!(live.header.is_untold, top.counted.running.untold > 0, "{}", trace.name());
    assert_eq!(live.header.is_untold, threads.untold > 0, "{}", trace.name());
    let is_hot = |samples: u64| samples.saturating_mul(50) >= top.counted.samples;
    let hot = top.methods.iter().filter(|row| is_hot(row.self_samples) && row.addresses == 0);
    assert!(hot.clone().count() > 0, "{}", trace.name());
    for row in hot {
        let seen = live.methods.iter().find(|it| it.name.text == row.name);
        let counted = seen.map(|it| (it.self_samples, it.total_samples));
        let expected = Some((row.self_samples, row.total_samples));
        assert_eq!(counted, expected, "{}: {}", trace.name(), row.name);
    }
    live
}

#[test]
fn methods_have_the_samples_of_the_report_on_runtimes_that_tell_managed_from_native_and_others() {
    for name in ["net9/sort", "net9/convoy", "habits/concat", "habits/regex"] {
        let live = assert_counts_as_files(&corpus::known(name));
        let facts = &live.verdicts.facts;
        assert_eq!(facts.contains(&SeenFact::Untold), name.starts_with("net9"), "{name}");
        assert!(!live.methods.iter().any(|row| row.name.text.contains("PollGC")), "{name}");
    }
}

#[test]
fn a_native_call_is_named_by_the_method_that_makes_it_once_a_rundown_has_listed_all_methods() {
    let names = |listed: u32, kind: usize| {
        let mut top = LiveTop::default();
        top.set_mappings(&[(0x5000, 0x5FFF, "/app/System.Net.Sockets.dll".to_owned())]);
        let method = method(kind, 4, 0x4000, listed, "System.Net.Sockets.SocketPal.Send");
        let steps = vec![method, at(0, 1, 1, &[0x5010, 0x4010, 0x1010])];
        let top = fed_with(top, 60, steps).snapshot();
        top.methods.iter().map(|row| row.name.text.clone()).collect::<Vec<_>>()
    };
    let send = "app!System.Net.Sockets.SocketPal.Send(int)";
    assert_eq!(names(0x100, AT_END)[0], format!("{send} → native call"));
    assert_eq!(names(0x100, LOAD)[0], "System.Net.Sockets!(no name)");
}

#[test]
fn self_is_the_innermost_frame_and_total_any_however_often() {
    let work = [0x2010, 0x2020, 0x1010];
    let top = fed(60, vec![at(0, 1, 2, &work), at(0, 1, 2, &work), at(1, 1, 2, &[0x1010])]);
    let snapshot = top.snapshot();
    let rows: Vec<_> = snapshot
        .methods
        .iter()
        .map(|row| (&*row.name.text, row.self_samples, row.total_samples))
        .collect();
    assert_eq!(rows, [(WORK, 2, 2), (MAIN, 1, 3)]);
    let threads: Vec<_> =
        snapshot.threads.iter().map(|row| (row.thread_id, row.managed_samples)).collect();
    assert_eq!(threads, [(11, 2), (12, 1)]);
    let callers: Vec<_> = top
        .report
        .callers(top.now_ns(), TopCallee::Method(WORK))
        .into_iter()
        .map(|caller| (caller.depth, caller.name.to_string(), caller.weight))
        .collect();
    // WORK calls itself.
    let expected = [(0, WORK, 2), (1, WORK, 2), (2, MAIN, 2)];
    assert_eq!(callers, expected.map(|(depth, name, count)| (depth, name.to_owned(), count)));
}

#[test]
fn code_without_a_name_is_shown_as_what_it_lies_in_if_that_was_known_before_any_event() {
    let mut top = LiveTop::default();
    top.set_mappings(&[(0x1000, 0x5FFF, "/usr/lib/libcoreclr.so".to_owned())]);
    let top = fed_with(top, 60, vec![at(0, 1, 2, &[0x5010, 0x1010])]);
    let name = top.snapshot().methods[0].name.to_string();
    assert!(name.starts_with("libcoreclr") && name.ends_with("!(no name)"), "{name}");
}

#[test]
fn waiting_threads_count_as_waits_and_not_as_hot_methods() {
    let top = fed(60, vec![at(0, 1, 1, &[0x3010, 0x2010, 0x1010]), at(1, 1, 2, &[0x1010])]);
    let snapshot = top.snapshot();
    assert_eq!(snapshot.methods.len(), 1);
    assert_eq!((snapshot.header.samples, snapshot.header.running_samples), (2, 1));
    let wait = &snapshot.waits[0];
    assert_eq!((&*wait.place, wait.waits_for, wait.threads), (WORK, WaitFor::Sleep, 1));
    assert_eq!(&*top.report.callers(top.now_ns(), TopCallee::Wait(WORK))[1].name.text, MAIN);
}

#[test]
fn what_is_older_than_the_window_is_forgotten() {
    let steps = (0..10).map(|_| at(0, SECOND, 2, &[0x1010])).collect();
    let top = fed(3, steps);
    let snapshot = top.snapshot();
    assert!((3..=4).contains(&snapshot.header.samples), "{}", snapshot.header.samples);
    assert!(snapshot.window_ns <= 4 * u64::from(SECOND), "{}", snapshot.window_ns);
    // Ended threads and unloaded methods are not kept, either.
    assert_eq!(top.model.threads().len(), 0);
    let none = Live::new(LiveTop::default()).snapshot();
    assert!(none.methods.is_empty() && none.header.samples == 0);
}

#[test]
fn too_many_distinct_stacks_of_a_second_are_counted_and_not_kept() {
    let steps = (0..25_000_u64).map(|n| at(0, 1, 2, &[0x1_0000 + n])).collect();
    let snapshot = fed_with(LiveTop::default().rows(1_000_000), 60, steps).snapshot();
    assert_eq!((snapshot.methods.len(), snapshot.header.left_out), (20_000, 5_000));
}

#[test]
fn locks_are_counted_by_the_place_that_takes_them() {
    let lock = event(LOCK, 0, 1, &[0x2010, 0x1010], vec![Value::U8(0), Value::U16(0)]);
    let locked = event(LOCKED, 0, 500, &[], vec![Value::U8(0), Value::U16(0), Value::F64(400.0)]);
    let blocked = at(0, 1, 1, &[0x2010, 0x1010]);
    let top = fed(60, vec![lock, blocked, locked]);
    let snapshot = top.snapshot();
    let row = &snapshot.contention[0];
    assert_eq!((&*row.place, row.count, row.total_ns), (WORK, 1, 400));
    assert_eq!(snapshot.waits[0].waits_for, WaitFor::Lock);
    assert_eq!(&*top.report.callers(top.now_ns(), TopCallee::Contention(WORK))[1].name.text, MAIN);
}

#[test]
fn a_thread_that_took_no_processor_time_ranks_behind_one_that_did_whatever_its_stack_shows() {
    // No method shows these waits, in native code below an inlined method.
    let steps = vec![at(0, 1, 1, &[0x1010]), at(0, 1, 1, &[0x1010]), at(1, 1, 2, &[0x2010])];
    let mut top = fed(60, [steps.clone(), steps].concat());
    assert_eq!(top.snapshot().methods[0].name.text, format!("{MAIN} → native call"));
    let now = top.now_ns();
    let threads = |ran: u64| {
        let thread = |(id, ran_ns)| ThreadNow { id, ran_ns, ..ThreadNow::default() };
        [(11, 0), (12, ran)].into_iter().map(thread)
    };
    top.report.set_threads(now, 0, threads(0));
    assert!(!top.snapshot().header.is_by_processor_time);
    top.report.set_threads(now + 1000, 900, threads(900));
    let snapshot = top.snapshot_at(now + 1000);
    assert!(snapshot.header.is_by_processor_time);
    let rows: Vec<_> =
        snapshot.methods.iter().map(|row| (&*row.name.text, row.self_samples)).collect();
    assert_eq!(rows, [(WORK, 2)]);
    assert_eq!((snapshot.threads[0].thread_id, snapshot.threads[0].ran_ns), (12, Some(900)));
    let time = snapshot.processor_time.unwrap();
    assert_eq!((time.process_ns, time.measured_ns + time.estimated_ns), (Some(900), 900));
}

mod with_shared {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn samples_that_a_poll_caught_count_as_in_the_report() {
        for name in ["gc-poll", "net9-external", "net10-same-program"] {
            let live = assert_counts_as_files(&corpus::known(name));
            let first = live.methods[0].name.text.clone();
            assert!(!first.contains("PollGC"), "{name}: {first}");
        }
    }
}
