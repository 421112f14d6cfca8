//! Where the time of programs went in which hardly anything ran.

use crate::known::findings;
use nettrace_analysis::fact::Fact;
use nettrace_analysis::findings::{Finding, Severity};
use nettrace_testdata::corpus;

/// Returns the sentence of each finding about waits and native calls.
fn waits(name: &str) -> Vec<String> {
    let all = findings(&corpus::known(name));
    let waits = all.iter().filter(|finding| matches!(finding.fact, Fact::Waiting { .. }));
    waits.map(Finding::text).collect()
}

/// Checks that the first finding about waits names a method and its calls, and has a share within 3
/// points.
fn check(name: &str, method: &str, share: f64, calls: &[&str]) {
    let all = findings(&corpus::known(name));
    let found = all.iter().find_map(|finding| match &finding.fact {
        Fact::Waiting { share, place, .. } if place.frame.text.contains(method) => {
            Some((share.value, finding))
        }
        _ => None,
    });
    let texts: Vec<String> = all.iter().map(Finding::text).collect();
    let (said, finding) = found.unwrap_or_else(|| panic!("{name}: {texts:#?}"));
    assert!((said - share).abs() <= 3.0, "{name}: {said}");
    for call in calls {
        assert!(finding.text().contains(call), "{name}: {}", finding.text());
    }
}

#[test]
fn a_thread_that_is_most_of_the_trace_in_one_methods_native_calls_is_a_finding() {
    check("waits/flush", "Ledger.Append", 97.0, &["FileStream.Flush", "native call"]);
    assert_eq!(waits("waits/flush").len(), 1);
}

#[test]
fn a_program_that_only_sleeps_says_where() {
    let [sleep] = &waits("processexited10")[..] else { panic!() };
    assert!(sleep.ends_with("in Thread.Sleep, called by wi!P.Main"), "{sleep}");
}

#[test]
fn threads_of_a_launched_process_do_not_wait_since_before_the_session() {
    for (name, is_older) in [("waits/lazy", false), ("blocked/Block", true)] {
        let all = findings(&corpus::known(name));
        let texts: Vec<String> = all.iter().map(|finding| finding.text()).collect();
        let text = texts.iter().find(|text| text.starts_with("only stacks show")).unwrap();
        assert_eq!(text.contains("since before the session began"), is_older, "{text}");
    }
}

#[test]
fn a_main_thread_that_waits_for_a_deadlock_is_no_finding_nor_is_one_that_sleeps_beside_it() {
    for (name, threads) in [("Dead-two", "21670 and 21671"), ("Dead-mix", "24222 and 24223")] {
        let all = findings(&corpus::known(&format!("deadlock/{name}")));
        let texts: Vec<String> = all.iter().map(Finding::text).collect();
        let [deadlock] = &texts[..] else { panic!("{texts:#?}") };
        assert!(deadlock.starts_with(&format!("deadlock: threads {threads}")), "{deadlock}");
    }
}

#[test]
fn a_thread_that_sleeps_while_it_holds_a_lock_is_part_of_the_sentence_about_the_lock() {
    let all = findings(&corpus::known("habits/convoy"));
    let texts: Vec<String> = all.iter().map(Finding::text).collect();
    let [lock] = &texts[..] else { panic!("{texts:#?}") };
    assert_eq!(
        lock,
        "6 threads waited 3.73 s for a lock in hab!Ledger.Post, in which the holder sleeps"
    );
}

mod with_shared {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn threads_that_are_in_one_methods_waits_one_after_another_are_added_up() {
        let all = findings(&corpus::known("asynchabits/continuations"));
        let first = all.first().unwrap();
        let text = first.text();
        let begin = "3 threads, one at a time, are 98 % of 2.06 s elapsed in Thread.Sleep";
        assert_eq!(text, format!("{begin}, called by a!Bus.Handle"));
        let numbers = first.fact.numbers();
        let number = |name| numbers.iter().find(|(it, _)| *it == name).map(|(_, it)| it.value);
        let [spent, covered] = ["spent", "covered"].map(|name| number(name).unwrap());
        assert!((spent - covered).abs() < 0.1 * covered, "{spent} {covered}");
        // What the main method awaits is in the trace.
        assert_eq!(waits("asynchabits/continuations").len(), 1);
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn a_method_that_runs_in_the_call_in_which_it_waits_has_one_sentence() {
        let all = findings(&corpus::known("waits/readsmall"));
        let texts: Vec<String> = all.iter().map(Finding::text).collect();
        assert_eq!(texts.len(), 1, "{texts:#?}");
        assert!(texts[0].contains("FileStream.ReadByte (1.16 s of it in native calls"));
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn threads_that_wait_side_by_side_are_counted() {
        check("waits/poll", "Watcher.Look", 100.0, &["40 threads", "Thread.Sleep"]);
        check("waits/barrier", "Steps.Work", 99.0, &["3 threads", "Barrier.SignalAndWait"]);
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn the_call_that_a_user_wrote_is_named() {
        for (name, method, share, calls) in [
            ("waits/spawn", "Tool.Run", 94.0, &["Process.WaitForExit", "Process.Start"][..]),
            ("waits/retry", "Retry.Once", 98.0, &["Thread.Sleep"]),
            ("waits/phases", "Phases.Pause", 78.0, &["WaitHandle.WaitOne"]),
            ("waits/slowserver", "Prices.Get", 97.0, &["Task.Result"]),
            ("waits/slowserver", "Prices.Run.lambda_0", 68.0, &["Thread.Sleep"]),
            ("waits/readsmall", "Import.Read", 96.0, &["FileStream.ReadByte", "native calls"]),
            ("waits/queue", "Worker.Run", 98.0, &["Thread.Sleep"]),
        ] {
            check(name, method, share, calls);
        }
        assert_eq!(waits("waits/queue").len(), 1, "a thread that takes work is no finding");
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn what_is_awaited_is_not_in_the_trace_and_a_command_records_it() {
        for name in ["waits/asyncgate", "waits/serial"] {
            check(name, "Program.Main", 97.0, &["Task.Wait", "--profile tasks"]);
        }
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn servers_that_wait_for_requests_are_no_finding() {
        let mut told = Vec::new();
        for trace in corpus::of_shared() {
            let of_waits = |finding: &Finding| matches!(finding.fact, Fact::Waiting { .. });
            // Cut and damaged traces are not read to their end.
            let Ok(all) = std::panic::catch_unwind(|| findings(&trace)) else { continue };
            let texts = all.iter().filter(|it| of_waits(it)).map(Finding::text);
            told.extend(texts.map(|text| format!("{}: {text}", trace.name())));
        }
        assert!(told.iter().all(|text| !text.starts_with("web/")), "{told:#?}");
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn no_trace_with_samples_has_nothing_to_say() {
        for name in ["asyncgate", "barrier", "flush", "lazy", "phases", "poll", "queue"] {
            let all = findings(&corpus::known(&format!("waits/{name}")));
            assert!(all.iter().any(|finding| finding.severity <= Severity::Notable), "{name}");
        }
    }
}
