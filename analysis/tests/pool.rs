//! What findings say of the thread pool: whether it had enough workers, and what blocked them.

use crate::known::findings;
use nettrace_analysis::fact::{Fact, FindingKind};
use nettrace_analysis::findings::Severity;
use nettrace_analysis::report::{Report, ReportPass, ThreadPool, ThreadPoolReport};
use nettrace_parser::Reader;
use nettrace_testdata::corpus::{self, TraceFile};

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
