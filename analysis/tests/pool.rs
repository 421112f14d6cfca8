//! What findings say of the thread pool: whether it had enough workers, and what blocked them.

use crate::common::{AT_END, SAMPLE, event, method, module, session};
use crate::known::findings;
use nettrace_analysis::fact::{Fact, FindingKind};
use nettrace_analysis::findings::{Finding, Severity, Summary};
use nettrace_analysis::report::{Report, ReportPass, ThreadPool, ThreadPoolReport};
use nettrace_parser::Reader;
use nettrace_testdata::corpus::{self, TraceFile};
use nettrace_testdata::synth::Value;

fn pool(trace: &TraceFile) -> ThreadPoolReport {
    let mut pass = ReportPass::new(ThreadPool::default());
    let bytes = trace.bytes();
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    pass.finish().output
}

/// Returns the findings about the thread pool: kind and sentence.
fn about_pool(name: &str) -> Vec<(FindingKind, String)> {
    let all = findings(&corpus::known(name)).into_iter();
    let is_about_pool = |about: &str| matches!(about, "starvation" | "no_starvation");
    all.filter(|finding| is_about_pool(finding.about()))
        .map(|finding| (finding.fact.kind(), finding.text()))
        .collect()
}

#[test]
fn workers_that_wait_for_tasks_starve_a_pool() {
    let found = about_pool("habits/blockingpool");
    let [(FindingKind::StarvedPool, text)] = &found[..] else { panic!("{found:?}") };
    assert!(text.contains("44 adjustments for it, its threads grew from 4 to 26"), "{text}");
    assert!(text.contains("in Task.Wait under hab!Sync.Wait"), "{text}");
}

#[test]
fn a_pool_is_called_good_if_workers_were_idle_while_it_wanted_them() {
    let found = about_pool("threads/Pool");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, FindingKind::NoStarvation);
}

#[test]
fn the_number_that_a_pool_aims_at_is_not_the_number_of_its_workers() {
    let pool = pool(&corpus::trace("net10-linux-x64/startup.nettrace"));
    assert_eq!((pool.max_workers, pool.max_target), (Some(3), Some(3)));
    let [workers, queue] = ThreadPool::RECORD else { panic!("{:?}", ThreadPool::RECORD) };
    assert_eq!(workers.to_string(), "Microsoft-Windows-DotNETRuntime:0x10000:4");
    let framework = "System.Diagnostics.Eventing.FrameworkEventSource:0x12:5";
    assert_eq!(queue.to_string(), framework);
}

/// Returns the findings about a program whose main thread waits for a task of a pool worker, which
/// waits in these methods for 100 times 20 ms; `resumes` tells whether it then runs again.
fn of_worker(waits_in: &[&str], resumes: bool) -> Vec<Finding> {
    let mut steps = vec![module()];
    let worker = "System.Threading.PortableThreadPool+WorkerThread.WorkerThreadStart";
    let main = ["System.Threading.Tasks.Task.InternalWait", "N.App.Main"];
    let frames = [waits_in, &["N.App.Drain", worker], &main].concat();
    let address = |at: usize| 0x1000 * (at as u64 + 1);
    let stack = |range: std::ops::Range<usize>| -> Vec<u64> {
        range.map(|at| address(at) + 0x10).collect()
    };
    let count = frames.len();
    let (of_worker, of_main) = (stack(0..count - 2), stack(count - 2..count));
    for round in 0..100 {
        let managed = resumes && round == 99;
        let of_worker = if managed { &of_worker[waits_in.len()..] } else { &of_worker };
        let state = Value::U32(if managed { 2 } else { 1 });
        steps.push(event(SAMPLE, 0, 20_000_000, of_worker, vec![state]));
        steps.push(event(SAMPLE, 1, 1, &of_main, vec![Value::U32(1)]));
    }
    for (at, name) in frames.iter().enumerate() {
        steps.push(method(AT_END, at as u64 + 1, address(at), 0x100, name));
    }
    let bytes = session(steps).record().stream.bytes;
    let mut pass = ReportPass::new(Summary::default());
    let _ = pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap();
    pass.finish().output.findings
}

#[test]
fn a_worker_that_waits_for_the_end_of_a_thread_up_to_the_end_of_the_trace_is_a_finding() {
    let found = of_worker(&["System.Threading.Thread.Join"], false);
    let texts: Vec<String> = found.iter().map(Finding::text).collect();
    let first = "1 worker of the thread pool still waits for the end of a thread when the trace ends, for at least 1.98 s \
                 in app!System.Threading.Thread.Join; threads of the pool do not end";
    // All methods of this trace are of one module.
    assert_eq!(texts.first().map(String::as_str), Some(first), "{texts:?}");
    let has_one = |found: &[Finding]| {
        found.iter().any(|finding| finding.fact.kind() == FindingKind::StuckWorkers)
    };
    assert!(!has_one(&of_worker(&["System.Threading.Thread.Join"], true)));
    assert!(!has_one(&of_worker(&["System.Threading.Thread.Sleep"], false)));
}

mod with_shared {
    use super::*;

    /// 60 items of `Thread.Sleep(200)` for two or three workers.
    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn workers_that_sleep_starve_a_pool() {
        for (name, module) in [("starved-by-sleep", "st"), ("starved-with-queue", "st")] {
            let found = about_pool(name);
            let [(FindingKind::StarvedPool, text)] = &found[..] else { panic!("{found:?}") };
            let place = format!("in Thread.Sleep under {module}!P.HandleSleep");
            assert!(text.contains("its 3 workers were blocked 12.") && text.ends_with(&place));
        }
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn a_starved_pool_says_how_long_work_waited() {
        let (_, text) = about_pool("starved-with-queue").remove(0);
        assert!(text.contains("work waited 2.20 s (median), 4.61 s at most"), "{text}");
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn workers_that_wait_for_tasks_starve_a_pool_of_net9() {
        let (kind, text) = about_pool("net9/blockingpool").remove(0);
        assert_eq!(kind, FindingKind::StarvedPool);
        assert!(text.contains("Task.Wait") && text.ends_with("Sync.Wait"), "{text}");
    }

    /// 20 requests at once, each of which waits for a task of 200 ms; the pool's events are not in
    /// the trace.
    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn requests_that_wait_for_tasks_are_found_by_samples_alone() {
        let all = findings(&corpus::web("net11-full"));
        let found = all.iter().find_map(|finding| match &finding.fact {
            Fact::SyncOverAsync { blocked, workers, call, place, .. } => {
                Some((finding.severity, blocked, workers, &**call, place.endpoint.as_deref()))
            }
            _ => None,
        });
        let (severity, blocked, workers, call, endpoint) = found.unwrap();
        // All requests together took 15.5 s.
        assert!((13e9..15.6e9).contains(&blocked.value), "{blocked:?}");
        assert_eq!((workers.value, call, endpoint), (17.0, "Task.Wait", Some("GET /sync")));
        assert_eq!(severity, Severity::Severe);
        for (name, is_starved) in [("dt-default", true), ("dt-noinline", true), ("dt-good", false)]
        {
            let kinds: Vec<FindingKind> =
                findings(&corpus::web(name)).iter().map(|finding| finding.fact.kind()).collect();
            assert_eq!(kinds.contains(&FindingKind::StarvedPool), is_starved, "{name}");
            assert!(!kinds.contains(&FindingKind::SyncOverAsync), "{name}: {kinds:?}");
        }
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn active_workers_and_target_of_a_starved_pool_are_told_apart() {
        let pool = pool(&corpus::web("dt-noinline"));
        assert_eq!((pool.max_workers, pool.max_target), (Some(16), Some(24)));
    }
}
