//! Reports that share a pass are those that each would be alone.

use nettrace_analysis::report::{
    Activities, CallTree, Exceptions, Gc, Jit, Modules, Report, ReportPass, SharedPass, Tasks,
    Threads, TreeOptions,
};
use nettrace_analysis::{AnalysisOptions, Filter, Folding, ThreadState, TopN, TopNOptions};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;
use std::fmt::Debug;

fn bytes(name: &str) -> Vec<u8> {
    corpus::trace(name).expect("it is in the repository").bytes()
}

fn alone<R: Report>(report: R, options: &AnalysisOptions, bytes: &[u8]) -> (R::Output, u64) {
    let mut pass = ReportPass::with_options(report, options.clone());
    assert!(pass.read(&mut Reader::from_slice(bytes).time_ordered()).unwrap().is_complete());
    let reported = pass.finish();
    (reported.output, reported.events)
}

fn assert_same<O: PartialEq + Debug>(shared: (O, u64), alone: (O, u64)) {
    assert!(shared == alone, "{shared:#?}\n{alone:#?}");
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
    let mut pass = SharedPass::with_options(reports, options.clone());
    assert!(pass.read(&mut Reader::from_slice(bytes).time_ordered()).unwrap().is_complete());
    let shared = pass.finish();
    assert!(shared.outcome.is_some_and(|outcome| outcome.is_complete()));
    let (gc, top, jit, threads, exceptions, tasks, activities, tree) = shared.outputs;
    let told = shared.events;
    // The trace has something for all but the report of tasks.
    assert_eq!(told.iter().filter(|count| **count > 0).count(), 7, "{told:?}");
    assert_same((gc, told[0]), alone(Gc::new(), options, bytes));
    assert_same((top, told[1]), alone(TopNOptions::default(), options, bytes));
    assert_same((jit, told[2]), alone(Jit::new(), options, bytes));
    assert_same((threads, told[3]), alone(Threads, options, bytes));
    assert_same((exceptions, told[4]), alone(Exceptions::new(), options, bytes));
    assert_same((tasks, told[5]), alone(Tasks::new(), options, bytes));
    assert_same((activities, told[6]), alone(Activities::new(), options, bytes));
    assert_same((tree, told[7]), alone(TreeOptions::default(), options, bytes));
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
        SharedPass::new((TopNOptions::default(), TreeOptions::default(), Modules::default()));
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete());
    let shared = pass.finish();
    let (top, tree, modules): (TopN, CallTree, _) = shared.outputs;
    assert_same((top, shared.events[0]), alone(TopNOptions::default(), &options, &bytes));
    assert_same((tree, shared.events[1]), alone(TreeOptions::default(), &options, &bytes));
    assert_same((modules, shared.events[2]), alone(Modules::default(), &options, &bytes));
}

#[test]
fn a_list_of_reports_of_one_kind_shares_a_pass_too() {
    let bytes = bytes("net10-linux-x64/all.nettrace");
    let mut pass = SharedPass::new(vec![Exceptions::new().top(1), Exceptions::new().top(2)]);
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete());
    let shared = pass.finish();
    for (top, output) in [(1, &shared.outputs[0]), (2, &shared.outputs[1])] {
        let alone = alone(Exceptions::new().top(top), &AnalysisOptions::new(), &bytes).0;
        assert!(*output == alone);
    }
}
