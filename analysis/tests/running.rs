//! What ran, where the runtime's sampler cannot tell.

use crate::common::{
    LOAD, SAMPLE, event, full_names, method, read, sample, session, with_recording,
};
use crate::known::{findings, millis, top, top_with};
use nettrace_analysis::fact::FindingKind;
use nettrace_analysis::report::Report;
use nettrace_analysis::report::TopNOptions;
use nettrace_testdata::corpus::{self, TraceFile};
use nettrace_testdata::synth::Value;

/// Returns the finding about the method that ran most.
fn hottest(name: &str) -> String {
    let all = findings(&corpus::known(name));
    let hottest = all.iter().find(|finding| finding.about() == "hottest_method");
    hottest.map(|finding| finding.text()).unwrap_or_default()
}

#[test]
fn on_a_runtime_that_does_not_tell_what_is_no_wait_and_no_native_call_ran() {
    let top = top_with(&corpus::known("net9/sort"), with_recording());
    assert_eq!(
        (top.counted.running.untold, top.counted.running.managed),
        (379, 378),
        "{:?}",
        top.counted.running
    );
    let calls = top.methods.iter().filter(|row| row.name.contains("native call"));
    assert_eq!(calls.map(|row| row.self_samples).sum::<u64>(), 1);
    let hottest = hottest("net9/sort");
    assert!(hottest.starts_with("94.09 %") && hottest.contains("Ranking.Insert"), "{hottest}");
    assert!(hottest.contains("List<__Canon>.Sort"), "{hottest}");
}

#[test]
fn runtimes_that_tell_are_believed_however_few_samples_are_managed() {
    for name in ["blocked/Block", "habits/regex", "waits/flush", "deadlock/Dead-two"] {
        assert_eq!(top(&corpus::known(name)).counted.running.untold, 0, "{name}");
    }
    let net8 = corpus::trace("net8-linux-x64/all.nettrace");
    assert_eq!(top(&net8).counted.running.untold, 0);
}

#[test]
fn without_a_version_the_samples_show_that_a_sampler_does_not_tell() {
    let running = |managed: usize| {
        let mut steps = vec![
            method(LOAD, 1, 0x1000, 0x100, "N.T.Work"),
            method(LOAD, 2, 0x2000, 0x100, "System.Threading.Monitor.Wait"),
        ];
        let external = |stack: &[u64]| event(SAMPLE, 0, 10, stack, vec![Value::U32(1)]);
        steps.extend((0..30).map(|_| external(&[0x1010])));
        steps.extend((0..30).map(|_| external(&[0x2010, 0x1010])));
        steps.extend((0..managed).map(|_| sample(0, 10, &[0x1010])));
        let finished = read(&session(steps), full_names());
        TopNOptions::default().finish(&finished.resolved()).counted.running
    };
    let [untold, told] = [2, 3].map(running);
    assert_eq!((untold.untold, untold.managed, untold.native_calls), (32, 32, 0));
    assert_eq!((told.untold, told.managed, told.native_calls), (0, 3, 30));
}

/// Six threads wait for a lock on two processors. Up to .NET 9 they have no frame that says so.
#[test]
fn threads_that_may_have_run_longer_than_the_processors_can_waited_in_part() {
    let all = findings(&corpus::known("net9/convoy"));
    let own = all.iter().find(|finding| finding.fact.kind() == FindingKind::OwnMethod).unwrap();
    let text = own.text();
    assert!(text.contains("in workload!Ledger.Post"), "{text}");
    assert!(text.contains("; the processors can have run 2.62 s of these 3."), "{text}");
    let command = "`nettrace collect --providers Microsoft-Windows-DotNETRuntime:0x4000:4`";
    assert!(text.contains("cannot tell which") && text.contains(command), "{text}");
    let numbers = own.fact.numbers();
    let number = |name| numbers.iter().find(|(it, _)| *it == name).map(|(_, it)| it.value);
    assert!(
        number("may_have_run") > number("processors_can") && number("processors_can") > Some(2e9)
    );
}

#[test]
fn where_the_processors_can_have_run_all_nothing_is_said_to_have_waited() {
    for name in ["blocked/Block", "habits/convoy", "net9/sort"] {
        assert_all_may_have_run(&corpus::known(name));
    }
    assert_all_may_have_run(&corpus::trace("net8-linux-x64/all.nettrace"));
}

fn assert_all_may_have_run(trace: &TraceFile) {
    let numbers: Vec<&str> = findings(trace)
        .iter()
        .flat_map(|finding| finding.fact.numbers().into_iter().map(|(name, _)| name))
        .collect();
    assert!(!numbers.contains(&"may_have_run"), "{}", trace.name());
}

mod with_shared {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn threads_of_a_busy_server_may_all_have_run() {
        assert_all_may_have_run(&corpus::trace("aspnet-net10-linux-x64/web.nettrace"));
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn the_same_program_says_the_same_on_net9_and_net10() {
        let [net9, net10] =
            ["net9-external", "net10-same-program"].map(|name| top(&corpus::known(name)));
        assert_eq!((net9.counted.running.untold, net10.counted.running.untold), (1_790, 0));
        for (method, share) in [("P.Primes", 58.8), ("P.Words", 39.1)] {
            for top in [&net9, &net10] {
                let (_, total) = millis(top, method);
                let percent = total * 1e8 / top.counted.total_ns as f64;
                assert!((percent - share).abs() < 1.0, "{method}: {percent}");
            }
        }
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn the_first_sentences_of_net9_name_the_same_methods_as_those_of_net10() {
        for (name, method, share, call) in [
            ("net9/sort", "Ranking.Insert", 94.0, "Sort"),
            ("net9/concat", "Report.Print", 95.0, "String."),
            ("net9/reflect", "Mapper.Get", 82.0, "Type.GetProperty"),
            ("net9/regex", "Filter.Match", 91.0, "Regex.IsMatch"),
        ] {
            let hottest = hottest(name);
            let said = hottest.split(' ').next().and_then(|text| text.parse::<f64>().ok());
            assert!(said.is_some_and(|said| (said - share).abs() <= 2.0), "{name}: {hottest}");
            assert!(hottest.contains(method) && hottest.contains(call), "{name}: {hottest}");
        }
    }

    /// Linux perf: `Primes` 99.2 %, the clock 0.13 %.
    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn a_sample_that_a_poll_caught_counts_for_the_nearest_own_method() {
        let top = top(&corpus::known("gc-poll"));
        assert_eq!(
            (top.counted.running.at_gc_poll, top.counted.running.managed),
            (1_424, 921),
            "{:?}",
            top.counted.running
        );
        let share = |method| {
            let (own, total) = millis(&top, method);
            [own, total].map(|ms| ms * 1e8 / top.counted.total_ns as f64)
        };
        let [_, round] = share("P.Round");
        let [_, clock] = share("Stopwatch.get_ElapsedMilliseconds");
        assert!((98.0..=100.0).contains(&round) && clock < 1.0, "{round} {clock}");
    }
}
