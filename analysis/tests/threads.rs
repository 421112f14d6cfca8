//! What may go to another thread: an analysis with its converters, which nobody reads
//! while it works, and all that it yields, which several threads may read.

use nettrace_analysis::*;

#[test]
fn all_public_types_may_go_to_another_thread_and_be_read_by_several() {
    nettrace_testdata::assert_threads! {
        Send: [
            Analysis<'static>,
            convert::Output<'static>,
            #[cfg(feature = "page")]
            diff::DiffReports,
            #[cfg(feature = "page")]
            report::ReportPass<diff::DiffReports>,
            #[cfg(feature = "page")]
            page::PageReports,
            #[cfg(feature = "page")]
            report::ReportPass<page::PageReports>,
            report::Moment,
            report::ReportPass<(report::Gc,)>,
        ],
        Sync: [
            AnalysisError,
            AnalysisOptions,
            Finished,
            convert::ConvertError,
            convert::ConvertOptions,
            convert::Format,
            heap::HeapDiff,
            heap::HeapDump,
            heap::HeapDumpRow,
            heap::HeapGeneration,
            heap::HeapGenerationRow,
            heap::HeapLosses,
            heap::HeapModuleRow,
            heap::HeapNode,
            heap::HeapPath,
            heap::HeapPathGroup,
            heap::HeapPaths,
            heap::HeapReader,
            heap::HeapReport,
            heap::HeapRootRow,
            heap::HeapSize,
            heap::HeapStaticRow,
            heap::HeapStep,
            heap::HeapTreeNode,
            heap::HeapType,
            heap::HeapTypeChange,
            heap::HeapTypeDiff,
            heap::HeapTypeRow,
            heap::Retained,
            heap::Root,
            heap::RootKind,
            info::ByKind,
            info::NoteInfo,
            info::OtherProviders,
            info::Properties,
            info::ProviderInfo,
            info::Survey,
            info::SurveyPart,
            info::TraceInfo,
            info::TraceStats<'static>,
            info::TypeStats<'static>,
            live::CounterChoice,
            live::CounterList,
            live::CounterListError,
            live::CountersSnapshot,
            live::DiscoveredCounter,
            live::DiscoveredEvent,
            live::DiscoveredInstrument,
            live::Discovery,
            live::DiscoverySnapshot,
            live::Live<live::LiveCounters>,
            live::LiveCounters,
            live::LiveSeries,
            live::MetricsNotice,
            live::UnseenCounter,
            #[cfg(feature = "page")]
            diff::Condition,
            #[cfg(feature = "page")]
            diff::ConditionError,
            #[cfg(feature = "page")]
            diff::ConditionOutcome,
            #[cfg(feature = "page")]
            diff::DiffPage<'static>,
            #[cfg(feature = "page")]
            diff::DiffReport,
            #[cfg(feature = "page")]
            diff::DiffRow,
            #[cfg(feature = "page")]
            diff::DiffSide,
            #[cfg(feature = "page")]
            diff::Per,
            #[cfg(feature = "page")]
            diff::Subject,
            #[cfg(feature = "page")]
            diff::TraceFacts,
            #[cfg(feature = "page")]
            page::Page,
            #[cfg(feature = "page")]
            page::PageAbout,
            live::HeldLock,
            live::LiveTop,
            live::Live<live::LiveTop>,
            live::LiveWatch,
            live::CompiledMethod,
            live::EndedWait,
            live::HttpRequest,
            live::PoolChange,
            live::ThrownException,
            live::WatchCount,
            live::WatchKind,
            live::WatchRow,
            live::WatchSnapshot,
            live::WatchedEvent,
            live::TopAllocation,
            live::TopCaller,
            live::TopContention,
            live::TopException,
            live::TopHeader,
            live::TopMethod,
            live::TopRequest,
            live::TopSnapshot,
            live::TopThread,
            live::TopWait,
            live::SampledThread,
            live::ThreadStacks,
            live::ThreadStacksReport,
            model::WaitFor,
            model::Argument,
            model::Category,
            model::CounterPoint,
            model::Coverage,
            model::Running,
            model::Ends,
            model::EventSelector,
            model::Filter,
            model::Flow,
            model::Folding,
            model::Frame,
            model::FrameGroup,
            model::FrameKind,
            model::FrameNames<'static>,
            model::Instant,
            model::Kind,
            model::Mapping,
            model::TimelineMark,
            model::MethodCode,
            model::Mode,
            model::Model,
            model::Module,
            model::NameOptions,
            model::NameStyle,
            model::NamesSoFar,
            model::Pattern,
            model::PerfMapSymbol<'static>,
            model::SpanScope,
            model::Process,
            model::Profile,
            model::ProfileKey,
            model::Resolved<'static>,
            model::Sample,
            model::Span,
            model::Spans,
            model::Stacks,
            model::ThreadState,
            model::SymbolFile,
            model::SymbolFileError,
            model::Texts,
            model::Thread,
            model::Threads,
            model::Totals,
            model::Unit,
            report::Activities,
            report::ActivitiesReport,
            report::ActivityEvent,
            report::ActivityLayer,
            report::ActivityLine,
            report::ActivityNode,
            report::ActivityRow,
            report::Alloc,
            report::AllocKind,
            report::AllocReport,
            report::AllocSource,
            report::AllocStack,
            report::AllocThread,
            report::AllocType,
            findings::Answer,
            report::AssemblyRow,
            report::BindRow,
            report::CallTree,
            report::Collection,
            report::Contention,
            report::ContentionReport,
            report::CounterKind,
            report::CounterPoint,
            report::CounterSeries,
            report::Counters,
            report::CountersReport,
            report::DamageRow,
            report::Doing,
            report::ExceptionThread,
            report::ExceptionType,
            report::Exceptions,
            report::ExceptionsReport,
            findings::Finding,
            report::Gc,
            report::GcReport,
            report::GcTotals,
            report::GenerationSizes,
            report::GenerationTotals,
            report::GroupBy,
            report::Http,
            report::Jit,
            report::JitDecisions,
            report::JitMethod,
            report::JitReport,
            report::JitTotals,
            report::LoadedModule,
            report::Loader,
            report::LoaderReport,
            report::Lock,
            report::LockOwner,
            report::LogLevel,
            report::LogLevelCount,
            report::LogRow,
            report::LoggerCount,
            report::Logs,
            report::LogsReport,
            report::MessageCount,
            report::MethodCount,
            report::MethodRow,
            report::ModuleRow,
            report::Modules,
            report::ModulesReport,
            report::OutcomeReport,
            report::Parts,
            report::Pause,
            report::PoolAdjustment,
            report::PoolLimits,
            report::PoolReason,
            report::PoolStarvation,
            report::Rate,
            report::Recording,
            report::RefusalReason,
            report::ReportInput,
            report::Reported<report::GcReport>,
            report::SeriesPoint,
            report::SlowActivity,
            report::Resolving<'static>,
            report::Spread,
            report::Deadlock,
            report::OpenLockWait,
            report::OpenWait,
            report::ProcessorLimit,
            report::RunningSamples,
            report::StackRow,
            report::StateTotals,
            report::StatusCount,
            report::Stretch,
            findings::Summary,
            findings::SummaryReport,
            report::TaskActivity,
            report::TaskRow,
            report::TaskWaitRow,
            report::Tasks,
            report::TasksReport,
            report::ThreadPool,
            report::ThreadPoolReport,
            report::ThreadRow,
            report::ThreadTop,
            report::Threads,
            report::ThreadsReport,
            report::TierTotals,
            report::TopN,
            report::TopNOptions,
            report::TreeNode,
            report::TreeOptions,
            report::TypeCount,
            report::Types,
            report::TypesReport,
            report::WaitPlace,
            report::WaitThread,
            report::Waits,
            report::WaitTotals,
            report::WaitsReport,
            model::FrameHandle,
            model::MethodHandle,
            model::ProcessHandle,
            model::StackHandle,
            model::TextHandle,
            model::ThreadHandle,
            model::Arguments,
        ],
    }
}

/// All three, for every type of the list.
macro_rules! assert_values {
    ($($kind:ty),* $(,)?) => {
        fn is_value<T: std::fmt::Debug + Clone + PartialEq>() {}
        $(is_value::<$kind>();)*
    };
}

#[test]
fn what_is_asked_for_and_what_is_found_can_be_shown_copied_and_compared() {
    assert_values! {
        AnalysisOptions, Filter, Folding, FrameGroup, NameOptions, Pattern, TopNOptions, EventSelector, convert::ConvertOptions,
        report::TreeOptions, Profile, model::Totals, Sample,
        model::SymbolFile, model::TimelineMark, model::Coverage, model::MethodCode, heap::HeapDump, heap::HeapDiff, heap::HeapReport,
        heap::HeapPathGroup, heap::Retained, heap::HeapTreeNode, report::ActivitiesReport, report::AllocReport, report::CallTree,
        report::ContentionReport, report::CountersReport, report::ExceptionsReport, report::GcReport, report::JitReport,
        report::LoaderReport, report::LogsReport, report::ModulesReport, report::OutcomeReport, findings::SummaryReport,
        report::TasksReport, report::ThreadPoolReport, report::ThreadsReport, report::TypesReport, report::WaitsReport, TopN,
        findings::Finding, nettrace_parser::Outcome,
    }
    // A model is copied, but what makes two of them the same is what is asked of them.
    fn is_copied<T: std::fmt::Debug + Clone>() {}
    is_copied::<Finished>();
    is_copied::<Model>();
    is_copied::<report::Reported<report::GcReport>>();
}

#[test]
fn a_copy_of_an_analysis_names_the_same_stacks_and_equals_one_of_the_same_trace() {
    let bytes = nettrace_testdata::corpus::trace("net10-linux-x64/all.nettrace").unwrap().bytes();
    let finished = |kinds: &[Kind]| {
        let mut analysis = Analysis::new(AnalysisOptions::new().kinds(kinds.iter().copied()));
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
            let name = key.label.map(|label| one.model.texts().get(label));
            assert!(name.is_some_and(|name| name.ends_with("Exception")), "{name:?}");
            exceptions += totals.samples;
        }
    }
    assert!(exceptions > 0);
}
