//! Reports that share a pass are those that each would be alone, and reading all at once
//! gives what passing each event gives.

use nettrace_analysis::findings::Summary;
use nettrace_analysis::report::{
    Activities, Alloc, CallTree, Contention, Counters, Exceptions, Gc, Http, Jit, Loader, Logs,
    Modules, Report, ReportPass, Reports, Tasks, ThreadPool, Threads, TreeOptions, Waits,
};
use nettrace_analysis::{AnalysisOptions, Filter, Folding, ThreadState, TopN, TopNOptions};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;
use serde::Serialize;
use std::fmt::Debug;

fn bytes(name: &str) -> Vec<u8> {
    corpus::trace(name).expect("it is in the repository").bytes()
}

fn alone<R: Report>(report: R, options: &AnalysisOptions, bytes: &[u8]) -> (R::Output, u64) {
    let mut pass = ReportPass::with_options(report, options.clone());
    assert!(pass.read(&mut Reader::from_slice(bytes).time_ordered()).unwrap().is_complete);
    let reported = pass.finish();
    (reported.output, reported.events)
}

fn assert_same<O: PartialEq + Debug>(shared: O, alone: (O, u64), about: &mut u64) {
    assert!(shared == alone.0, "{shared:#?}\n{alone:#?}");
    *about += alone.1;
}

fn assert_all_same(options: &AnalysisOptions, bytes: &[u8]) {
    let reports = (
        Gc::new(),
        TopNOptions::default(),
        Jit::new(),
        Threads,
        Exceptions::new(),
        Tasks::new(),
        Activities::new(),
        TreeOptions::default(),
    );
    let mut pass = ReportPass::with_options(reports, options.clone());
    assert!(pass.read(&mut Reader::from_slice(bytes).time_ordered()).unwrap().is_complete);
    let shared = pass.finish();
    assert!(shared.outcome.is_some_and(|outcome| outcome.is_complete));
    let (gc, top, jit, threads, exceptions, tasks, activities, tree) = shared.output;
    let about = &mut 0;
    assert_same(gc, alone(Gc::new(), options, bytes), about);
    assert_same(top, alone(TopNOptions::default(), options, bytes), about);
    assert_same(jit, alone(Jit::new(), options, bytes), about);
    assert_same(threads, alone(Threads, options, bytes), about);
    assert_same(exceptions, alone(Exceptions::new(), options, bytes), about);
    assert_same(tasks, alone(Tasks::new(), options, bytes), about);
    assert_same(activities, alone(Activities::new(), options, bytes), about);
    assert_same(tree, alone(TreeOptions::default(), options, bytes), about);
    assert!(*about > 0 && *about == shared.events, "{about} {}", shared.events);
}

#[test]
fn eight_reports_of_one_pass_are_those_of_eight_passes() {
    assert_all_same(&AnalysisOptions::new(), &bytes("net10-linux-x64/all.nettrace"));
}

#[test]
fn so_they_are_with_filters_and_folded_frames() {
    let mut filter = Filter::new();
    (filter.from_nanos, filter.to_nanos) = (Some(500_000_000), Some(2_500_000_000));
    let mut folding = Folding::default();
    // Which frames are small depends on the states that a report counts.
    (folding.is_recursion, folding.least_percent) = (true, 2.0);
    let options = AnalysisOptions::new().filter(filter.clone()).folding(folding);
    assert_all_same(&options, &bytes("net10-linux-x64/all.nettrace"));
    filter.states = vec![ThreadState::Waiting];
    assert_all_same(&AnalysisOptions::new().filter(filter), &bytes("net10-linux-x64/all.nettrace"));
}

#[test]
fn reports_that_need_no_events_share_the_fast_way() {
    let bytes = bytes("net10-linux-x64/samples-only.nettrace");
    let options = AnalysisOptions::new();
    let mut pass =
        ReportPass::new((TopNOptions::default(), TreeOptions::default(), Modules::default()));
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    let shared = pass.finish();
    let (top, tree, modules): (TopN, CallTree, _) = shared.output;
    let about = &mut 0;
    assert_same(top, alone(TopNOptions::default(), &options, &bytes), about);
    assert_same(tree, alone(TreeOptions::default(), &options, &bytes), about);
    assert_same(modules, alone(Modules::default(), &options, &bytes), about);
    assert_eq!(*about, shared.events);
}

#[test]
fn a_list_of_reports_of_one_kind_shares_a_pass_too() {
    let bytes = bytes("net10-linux-x64/all.nettrace");
    let mut pass = ReportPass::new(vec![Exceptions::new().top(1), Exceptions::new().top(2)]);
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    for (top, output) in [1, 2].into_iter().zip(pass.finish().output) {
        assert!(output == alone(Exceptions::new().top(top), &AnalysisOptions::new(), &bytes).0);
    }
}

/// What a pass yields that is shown all events, and one that skips those of no use.
#[track_caller]
fn compare<R: Reports<Outputs: Serialize>>(name: &str, make: impl Fn() -> R, bytes: &[u8]) {
    let mut one_by_one = ReportPass::new(make());
    let mut events = Reader::from_slice(bytes).time_ordered();
    while let Some(event) = events.next_event().unwrap() {
        one_by_one.event(&event);
    }
    one_by_one.set_outcome(events.outcome());
    let mut all_at_once = ReportPass::new(make());
    // Some processes were killed.
    let _ = all_at_once.read(&mut Reader::from_slice(bytes).time_ordered()).unwrap();
    let seen = [one_by_one, all_at_once].map(|pass| {
        let reported = pass.finish();
        (serde_json::to_value(&reported.output).unwrap(), reported.events, reported.coverage)
    });
    assert_eq!(seen[0], seen[1], "{name}");
}

#[test]
fn a_report_of_events_is_the_same_if_others_are_skipped() {
    for trace in corpus::traces() {
        let bytes = trace.bytes();
        let name = trace.name();
        let first = || (Gc::new(), Alloc::new(), Jit::new(), Loader::new(), Exceptions::new());
        compare(name, first, &bytes);
        let second = || (ThreadPool::new(), Contention::new(), Waits::new(), Counters::new());
        compare(name, second, &bytes);
        let third = || (Tasks::new(), Logs::new(), Summary::new(), Activities::new(), Http::new());
        compare(name, third, &bytes);
    }
}
