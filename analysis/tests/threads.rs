//! Types that other threads may use: an analysis with its converters can be sent, and its results
//! can be shared.

use crate::common;
use nettrace_analysis::*;

// Both traits are structural, so a document stands for the types of its rows.
#[test]
fn an_analysis_may_go_to_another_thread_and_results_be_read_by_several() {
    use report::*;
    type AllReports = (
        (Activities, Alloc, CallTree, Contention, Counters, Exceptions, Gc, Http, Jit, Loader),
        (Logs, Modules, Tasks, ThreadPool, Threads, TopN, Types, Waits, findings::Summary),
    );
    type Outputs = (
        (
            ActivitiesReport,
            AllocReport,
            ContentionReport,
            CountersReport,
            ExceptionsReport,
            GcReport,
        ),
        (JitReport, LoaderReport, LogsReport, ModulesReport, TasksReport, ThreadPoolReport),
        (
            report::SqlReport,
            report::MethodCalls,
            report::StartupReport,
            ThreadsReport,
            TypesReport,
            WaitsReport,
            findings::SummaryReport,
            OutcomeReport,
        ),
    );
    fn is_send<T: Send>() {}
    fn is_send_and_sync<T: Send + Sync>() {}
    is_send::<Analysis<'static>>();
    is_send::<ReportPass<'_, (Gc, Exceptions)>>();
    is_send::<live::Live<live::LiveTop>>();
    is_send::<live::Live<live::LiveCounters>>();
    is_send::<live::Live<live::LiveWatch>>();
    is_send::<live::Live<live::Discovery>>();
    // The types that these functions return have no names.
    fn sent<T: Send>(_: T) {}
    sent(diff::pass(AnalysisOptions::default()));
    sent(page::pass(AnalysisOptions::default()));
    is_send_and_sync::<AnalysisError>();
    is_send_and_sync::<AnalysisOptions>();
    is_send_and_sync::<EventSelector>();
    is_send_and_sync::<Finished>();
    is_send_and_sync::<FrameNames<'static>>();
    is_send_and_sync::<model::ActivitySpans>();
    is_send_and_sync::<model::EndpointSpans>();
    is_send_and_sync::<model::ServedRequest<'static>>();
    is_send_and_sync::<report::ActivityChoice>();
    is_send_and_sync::<report::BenchmarkReport>();
    is_send_and_sync::<report::ChosenActivities>();
    is_send_and_sync::<NamesSoFar>();
    is_send_and_sync::<Resolved<'static>>();
    is_send_and_sync::<PdbError>();
    is_send_and_sync::<PdbFile>();
    is_send_and_sync::<SourceLine>();
    is_send_and_sync::<WantedPdb>();
    is_send_and_sync::<model::AsyncRuns>();
    is_send_and_sync::<model::LineCoverage>();
    is_send_and_sync::<SymbolFile>();
    is_send_and_sync::<SymbolFileError>();
    is_send_and_sync::<ThreadTimes>();
    is_send_and_sync::<heap::GcDumpError>();
    is_send_and_sync::<heap::HeapReport>();
    is_send_and_sync::<model::SampleTimes>();
    is_send_and_sync::<convert::ConvertError>();
    is_send_and_sync::<convert::ConvertOptions>();
    is_send_and_sync::<convert::Format>();
    is_send_and_sync::<diff::Condition>();
    is_send_and_sync::<diff::ConditionError>();
    is_send_and_sync::<diff::ConditionOutcome>();
    is_send_and_sync::<diff::DiffPage<'static>>();
    is_send_and_sync::<diff::DiffReport>();
    is_send_and_sync::<diff::MeasuredTrace>();
    is_send_and_sync::<heap::HeapDiff>();
    is_send_and_sync::<heap::HeapDump>();
    is_send_and_sync::<heap::HeapPaths>();
    is_send_and_sync::<heap::HeapReader>();
    is_send_and_sync::<heap::HeapReport>();
    is_send_and_sync::<heap::HeapTreeNode>();
    is_send_and_sync::<heap::Retained>();
    is_send_and_sync::<info::Survey>();
    is_send_and_sync::<input::Ended>();
    is_send_and_sync::<input::RecordedEnding>();
    is_send_and_sync::<info::SurveyPart>();
    is_send_and_sync::<info::TraceInfo>();
    is_send_and_sync::<info::TraceStats<'static>>();
    is_send_and_sync::<live::CounterListError>();
    is_send_and_sync::<live::CountersSnapshot>();
    is_send_and_sync::<live::DiscoverySnapshot>();
    is_send_and_sync::<live::ThreadStacks>();
    is_send_and_sync::<live::ThreadStacksReport>();
    is_send_and_sync::<live::TopCaller>();
    is_send_and_sync::<live::TopSnapshot>();
    is_send_and_sync::<live::WatchRow>();
    is_send_and_sync::<model::TimelineMark>();
    is_send_and_sync::<page::Page>();
    is_send_and_sync::<page::PageAbout>();
    is_send_and_sync::<AllReports>();
    is_send_and_sync::<Outputs>();
    is_send_and_sync::<Reported<GcReport>>();
    is_send_and_sync::<unstable::Resolving<'static>>();
}

/// Asserts all three for every type of the list.
macro_rules! assert_values {
    ($($kind:ty),* $(,)?) => {
        fn is_value<T: std::fmt::Debug + Clone + PartialEq>() {}
        $(is_value::<$kind>();)*
    };
}

#[test]
fn options_and_results_can_be_printed_copied_and_compared() {
    assert_values! {
        AnalysisOptions, Filter, Folding, FrameGroup, NameOptions, Pattern, report::TopNOptions, EventSelector, convert::ConvertOptions,
        report::TreeOptions, Profile, model::Totals, Sample,
        SymbolFile, model::TimelineMark, model::Coverage, heap::HeapDump, heap::HeapDiff, heap::HeapReport,
        heap::HeapPathGroup, heap::Retained, heap::HeapTreeNode, report::ActivitiesReport, report::AllocReport, report::CallTree,
        report::ContentionReport, report::CountersReport, report::ExceptionsReport, report::GcReport, report::JitReport, report::MethodCalls,
        report::LoaderReport, report::LogsReport, report::ModulesReport, report::OutcomeReport, findings::SummaryReport,
        report::TasksReport, report::ThreadPoolReport, report::ThreadsReport, report::TypesReport, report::WaitsReport, report::TopN,
        findings::Finding, nettrace_parser::Outcome,
    }
    // A model can be cloned, but has no equality, because it depends on the reader which answers of
    // two models must be equal.
    fn is_copied<T: std::fmt::Debug + Clone>() {}
    is_copied::<Finished>();
    is_copied::<model::Model>();
    is_copied::<report::Reported<report::GcReport>>();
}

#[test]
fn a_copy_of_an_analysis_names_the_same_stacks_and_equals_one_of_the_same_trace() {
    let bytes = nettrace_testdata::corpus::trace("net10-linux-x64/all.nettrace").bytes();
    let finished = |kinds: &[Kind]| {
        let mut analysis = Analysis::new(common::of_kinds(kinds));
        let outcome =
            analysis.read(&mut nettrace_parser::Reader::from_slice(&bytes).time_ordered()).unwrap();
        assert!(outcome.is_complete);
        analysis.finish().unwrap()
    };
    let (one, other) = (finished(&[Kind::Cpu, Kind::Exceptions]), finished(&[Kind::Cpu]));
    let copy = one.clone();
    assert_eq!((&copy.profile, &copy.outcome), (&one.profile, &one.outcome));
    assert_eq!(copy.profile, finished(&[Kind::Exceptions, Kind::Cpu]).profile);
    assert_ne!(copy.profile, other.profile);
    let (resolved, of_copy) = (one.resolved(), copy.resolved());
    let mut exceptions = 0;
    for (key, totals) in one.profile.rows() {
        let frames = resolved.frames(key.stack);
        assert_eq!(frames, of_copy.frames(key.stack));
        assert!(frames.iter().all(|frame| resolved.text(*frame) == of_copy.text(*frame)));
        if key.kind == Kind::Exceptions {
            let name = key.label.map(|label| one.model.text(label));
            assert!(name.is_some_and(|name| name.ends_with("Exception")), "{name:?}");
            exceptions += totals.samples;
        }
    }
    assert!(exceptions > 0);
}
