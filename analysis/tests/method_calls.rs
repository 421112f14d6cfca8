//! What calls a method, and what it calls; and how long a program takes to a method.

use nettrace_analysis::report::{
    Jit, MethodCalls, MethodCallsOptions, ReachedBy, Report, ReportPass, Startup, TopN, TopNOptions,
};
use nettrace_analysis::{Filter, Pattern};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;

fn report<R: Report>(report: R, bytes: &[u8]) -> R::Output {
    let mut pass = ReportPass::new(report);
    let _ = pass.read(&mut Reader::from_slice(bytes).time_ordered()).unwrap();
    pass.finish().output
}

fn calls(name: &str, bytes: &[u8]) -> MethodCalls {
    report(MethodCallsOptions::new(Pattern::words(name)), bytes)
}

#[test]
fn callers_add_up_to_a_methods_time_and_so_do_its_own_time_and_callees() {
    let mut compared = 0;
    for trace in ["net10-linux-x64/samples-only.nettrace", "net10-linux-x64/killed-1.nettrace"] {
        let bytes = corpus::trace(trace).bytes();
        let mut options = TopNOptions::default();
        options.is_inclusive = true;
        let top: TopN = report(options, &bytes);
        for row in top.methods.iter().filter(|row| row.addresses == 0) {
            let calls = calls(&row.name, &bytes);
            assert_eq!(
                (calls.counted.samples, calls.counted.total_ns),
                (top.counted.samples, top.counted.total_ns)
            );
            let sum = |of: &nettrace_analysis::report::Neighbours| {
                of.rows.iter().map(|row| row.time_ns).sum::<u64>() + of.left_out_ns + of.none_ns
            };
            assert_eq!(sum(&calls.callers), calls.method_ns, "{}", row.name);
            assert_eq!(sum(&calls.callees) + calls.self_ns, calls.method_ns, "{}", row.name);
            if calls.methods.len() == 1 {
                let of_top = (row.total_ns, row.total_samples, row.self_ns, row.self_samples);
                let of_calls =
                    (calls.method_ns, calls.method_samples, calls.self_ns, calls.self_samples);
                assert_eq!(of_calls, of_top, "{}", row.name);
                assert_eq!(calls.methods[0], *row);
                compared += 1;
            }
        }
    }
    assert!(compared > 20, "{compared}");
}

#[test]
fn frames_that_match_are_one_method_whatever_calls_which_of_them() {
    let bytes = corpus::trace("net10-linux-x64/samples-only.nettrace").bytes();
    let calls = calls("Workload.Program.", &bytes);
    assert!(calls.methods.len() > 3, "{:?}", calls.methods);
    // `Main` is outermost, and nothing of the program is called by the program.
    assert!(calls.callers.rows.is_empty(), "{:?}", calls.callers);
    assert_eq!(calls.callers.none_ns, calls.method_ns);
    let callees = &calls.callees.rows;
    assert!(!callees.is_empty());
    assert!(callees.iter().all(|row| !row.name.contains("Workload.Program.")), "{callees:?}");
    let nothing = self::calls("no such method", &bytes);
    assert_eq!((nothing.method_samples, nothing.methods.len()), (0, 0));
    assert_eq!(nothing.counted.samples, calls.counted.samples);
}

#[test]
fn a_method_is_reached_when_its_first_compilation_ends_or_a_sample_has_it() {
    let bytes = corpus::trace("net3.1-linux-x64/all.nettrace").bytes();
    let compiled = report(Jit::default(), &bytes).methods;
    let row = compiled.iter().max_by_key(|row| row.start_ns).unwrap();
    let found = report(Startup::default().until(Pattern::words(&row.name)), &bytes);
    let reached = found.reached.unwrap();
    assert_eq!((&reached.name, reached.by), (&row.name, ReachedBy::Compilation));
    assert_eq!(reached.at_ns, row.start_ns + i64::try_from(row.duration_ns).unwrap());
    assert_eq!(found.until_ns, reached.at_ns);

    let bytes = corpus::trace("net10-linux-x64/startup.nettrace").bytes();
    let found = report(Startup::default().until(Pattern::words("Program.Main(string[])")), &bytes);
    let (began, reached) = (found.began_ns.unwrap(), found.reached.unwrap());
    assert_eq!(reached.by, ReachedBy::Sample);
    // Nothing of the time before has a sample with it.
    let mut filter = Filter::default();
    filter.to_nanos = Some(began + reached.at_ns);
    let mut options = nettrace_analysis::AnalysisOptions::default();
    options.filter = filter;
    let method = MethodCallsOptions::new(Pattern::words("Program.Main(string[])"));
    let mut pass = ReportPass::with_options(method, options);
    let _ = pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap();
    assert!(pass.finish().output.method_samples <= 1);
    assert_eq!(report(Startup::default(), &bytes).reached, None);
}

#[test]
fn a_sample_of_an_operating_systems_recorder_shows_that_a_method_was_reached() {
    let bytes = corpus::trace("one-collect-v6/cpu.nettrace").bytes();
    let method = "ObjectNative::GetHashCode";
    let found = report(Startup::default().until(Pattern::words(method)), &bytes);
    let reached = found.reached.as_ref().unwrap();
    assert!(reached.name.contains(method) && reached.by == ReachedBy::Sample, "{reached:?}");
    assert!(Startup::has_more(&found));
    assert!(!Startup::has_more(&report(Startup::default(), &bytes)));
}

mod with_shared {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn monos_checkpoints_tell_when_the_runtime_began() {
        let bytes = corpus::trace("mono-wasm/mono-cpu.nettrace").bytes();
        let found = report(Startup::default(), &bytes);
        // The session began when the runtime had begun.
        let began = found.began_ns.unwrap();
        assert!((-1_500_000_000..-1_000_000_000).contains(&began), "{began}");
    }
}
