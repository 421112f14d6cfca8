//! Reports that share a pass are equal to reports alone, and reading a trace at once is equal to
//! passing each event.

use crate::common::{filtered, of_kinds};
use nettrace_analysis::convert::{Convert, ConvertError, ConvertOptions, Format};
use nettrace_analysis::findings::Summary;
use nettrace_analysis::model::{Model, Moment};
use nettrace_analysis::report::{
    Activities, Alloc, CallTree, Contention, Counters, Exceptions, Gc, Http, Jit, Loader, Logs,
    Modules, Recording, Report, ReportPass, Reports, Tasks, ThreadPool, Threads, TreeOptions,
    Waits,
};
use nettrace_analysis::report::{TopN, TopNOptions};
use nettrace_analysis::{
    Analysis, AnalysisOptions, Filter, Folding, Kind, Profile, Resolved, Sample, ThreadState,
};
use nettrace_parser::{Event, Reader};
use nettrace_testdata::corpus;
use nettrace_testdata::synth::{EventType, Session, SessionThread, Step, Version};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Debug;

fn bytes(name: &str) -> Vec<u8> {
    corpus::trace(name).bytes()
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
        Gc::default(),
        TopNOptions::default(),
        Jit::default(),
        Threads,
        Exceptions::default(),
        Tasks::default(),
        Activities::default(),
        TreeOptions::default(),
    );
    let mut pass = ReportPass::with_options(reports, options.clone());
    assert!(pass.read(&mut Reader::from_slice(bytes).time_ordered()).unwrap().is_complete);
    let shared = pass.finish();
    assert!(shared.outcome.is_some_and(|outcome| outcome.is_complete));
    let (gc, top, jit, threads, exceptions, tasks, activities, tree) = shared.output;
    let about = &mut 0;
    assert_same(gc, alone(Gc::default(), options, bytes), about);
    assert_same(top, alone(TopNOptions::default(), options, bytes), about);
    assert_same(jit, alone(Jit::default(), options, bytes), about);
    assert_same(threads, alone(Threads, options, bytes), about);
    assert_same(exceptions, alone(Exceptions::default(), options, bytes), about);
    assert_same(tasks, alone(Tasks::default(), options, bytes), about);
    assert_same(activities, alone(Activities::default(), options, bytes), about);
    assert_same(tree, alone(TreeOptions::default(), options, bytes), about);
    assert!(*about > 0 && *about == shared.events, "{about} {}", shared.events);
}

#[test]
fn eight_reports_of_one_pass_are_those_of_eight_passes() {
    assert_all_same(&AnalysisOptions::default(), &bytes("net10-linux-x64/all.nettrace"));
}

#[test]
fn reports_of_one_pass_are_equal_with_filters_and_folded_frames() {
    let mut filter = Filter::default();
    (filter.from_nanos, filter.to_nanos) = (Some(500_000_000), Some(2_500_000_000));
    let mut folding = Folding::default();
    // The states that a report counts decide which frames are small.
    (folding.merges_recursion, folding.least_percent) = (true, 2.0);
    let mut options = filtered(filter.clone());
    options.folding = folding;
    assert_all_same(&options, &bytes("net10-linux-x64/all.nettrace"));
    filter.states = vec![ThreadState::Waiting];
    assert_all_same(&filtered(filter), &bytes("net10-linux-x64/all.nettrace"));
}

#[test]
fn reports_without_events_share_the_fast_path() {
    let bytes = bytes("net10-linux-x64/samples-only.nettrace");
    let options = AnalysisOptions::default();
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
    let mut pass =
        ReportPass::new(vec![Exceptions::default().top(1), Exceptions::default().top(2)]);
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    for (top, output) in [1, 2].into_iter().zip(pass.finish().output) {
        assert!(
            output == alone(Exceptions::default().top(top), &AnalysisOptions::default(), &bytes).0
        );
    }
}

/// Asserts that a pass that gets all events yields the results of a pass that skips useless ones.
#[track_caller]
fn compare<R: Reports<Outputs: Serialize>>(name: &str, make: impl Fn() -> R, bytes: &[u8]) {
    let mut one_by_one = ReportPass::new(make());
    let mut events = Reader::from_slice(bytes).time_ordered();
    while let Some(event) = events.next_event().unwrap() {
        one_by_one.event(&event);
    }
    one_by_one.set_outcome(events.outcome());
    let mut all_at_once = ReportPass::new(make());
    // Traces of killed processes end in the middle.
    let _ = all_at_once.read(&mut Reader::from_slice(bytes).time_ordered()).unwrap();
    let seen = [one_by_one, all_at_once].map(|pass| {
        let reported = pass.finish();
        (serde_json::to_value(&reported.output).unwrap(), reported.events, reported.coverage)
    });
    assert_eq!(seen[0], seen[1], "{name}");
}

#[test]
fn skipping_unwanted_events_does_not_change_a_report() {
    for trace in corpus::traces() {
        let bytes = trace.bytes();
        let name = trace.name();
        let first = || {
            (
                Gc::default(),
                Alloc::default(),
                Jit::default(),
                Loader::default(),
                Exceptions::default(),
            )
        };
        compare(name, first, &bytes);
        let second = || {
            (ThreadPool::default(), Contention::default(), Waits::default(), Counters::default())
        };
        compare(name, second, &bytes);
        let third = || {
            (
                Tasks::default(),
                Logs::default(),
                Summary::default(),
                Activities::default(),
                Http::default(),
            )
        };
        compare(name, third, &bytes);
    }
}

/// Keeps the times of events.
#[derive(Debug, Default)]
struct Times(Vec<Option<i64>>);

impl Report for Times {
    type Output = Vec<Option<i64>>;

    const NAME: &'static str = "times";
    const ABOUT: &'static str = "times of events";
    const RECORD: &'static [Recording] = &[];

    fn event(&mut self, _: &Event<'_>, moment: &Moment, _: &mut Model) -> bool {
        self.0.push(moment.nanos());
        true
    }

    fn finish(self, _: &Resolved<'_>) -> Vec<Option<i64>> {
        self.0
    }
}

#[test]
fn a_moment_has_a_time_only_if_the_stream_has_a_clock() {
    let times_at = |tick_frequency| {
        let mut session = Session::new(Version::V4);
        session.trace.tick_frequency = tick_frequency;
        session.types = vec![EventType::new("Demo", 7, "Hi")];
        session.threads = vec![SessionThread::new(11)];
        session.steps = vec![Step::event(0, 0, 5, []), Step::event(0, 0, 5, [])];
        let bytes = session.record().stream.into_bytes();
        let mut pass = ReportPass::new(Times::default());
        let _outcome = pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap();
        pass.finish().output
    };
    assert_eq!(times_at(1_000_000_000), [Some(5), Some(10)]);
    assert_eq!(times_at(0), [None, None]);
}

/// Counts the samples that it receives in a variable of its maker.
struct Counting<'c>(&'c mut u64);

impl Convert for Counting<'_> {
    fn sample(&mut self, _: &Sample, _: &Model) -> Result<(), ConvertError> {
        *self.0 += 1;
        Ok(())
    }

    fn finish(self: Box<Self>, _: &Resolved<'_>, _: &Profile) -> Result<(), ConvertError> {
        Ok(())
    }
}

#[test]
fn a_converter_of_a_pass_may_borrow() {
    let bytes = bytes("net10-linux-x64/samples-only.nettrace");
    let mut samples = 0;
    let mut pass = ReportPass::new(Threads);
    pass.add(Box::new(Counting(&mut samples)));
    let _outcome = pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap();
    let threads = pass.finish().output.threads;
    assert_eq!(samples, threads.iter().map(|thread| thread.samples).sum::<u64>());
}

#[test]
fn a_format_collects_what_it_shows_unless_the_options_choose() {
    let bytes = bytes("net10-linux-x64/all.nettrace");
    let collected = |options: AnalysisOptions, formats: &[(&str, &[Kind])]| -> BTreeSet<&str> {
        let mut analysis = Analysis::new(options);
        for (name, kinds) in formats {
            let mut wanted = ConvertOptions::default();
            wanted.kinds = kinds.to_vec();
            let format = Format::by_name(name).unwrap();
            analysis.add_format(format, std::io::sink(), &wanted);
        }
        let _outcome = analysis.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap();
        let rows = analysis.finish().unwrap().profile.rows();
        rows.into_iter().map(|(key, _)| key.kind.name()).collect()
    };
    let [cpu, thrown] = [Kind::Cpu, Kind::Exceptions];
    let names = |kinds: &[Kind]| kinds.iter().map(|kind| kind.name()).collect::<BTreeSet<_>>();
    let all = AnalysisOptions::default;
    assert_eq!(collected(all(), &[]), names(&[cpu]));
    assert_eq!(collected(all(), &[("cpuprofile", &[])]), names(&[cpu]));
    assert_eq!(collected(all(), &[("pprof", &[thrown])]), names(&[thrown]));
    assert_eq!(collected(all(), &[("pprof", &[thrown]), ("svg", &[])]), names(&[cpu, thrown]));
    assert_eq!(collected(of_kinds(&[cpu]), &[("svg", &[])]), names(&[cpu]));
}
