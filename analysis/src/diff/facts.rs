//! The values of a trace that are compared.

use super::calls::Calls;
use super::cut::{Cut, MOST_PATHS};
use super::extent::ExtentFinder;
use super::recorded::{Keywords, NamedModules};
use super::startup::Startup;
use super::subject::Subject;
use super::work::Gathered;
use crate::driver::AnalysisOptions;
use crate::findings::overview::Overview;
use crate::findings::{Finding, Summary, SummaryReport};
use crate::model::{Kind, Model};
use crate::page::samples::SampleRow;
use crate::page::tracks::{self, Shared, pass_with_tracks};
use crate::report::{
    CounterPoint, CounterSeries, Counters, Moment, Report, ReportInput, ReportPass, Reports,
    Resolving,
};
use nettrace_parser::view::KnownProvider;
use nettrace_parser::{Event, Outcome};
use std::collections::{BTreeMap, HashMap};

/// Values of a counter that are published closer to each other than this are one value,
/// delivered to two sessions.
const SAME_VALUE_NANOS: i64 = 50_000_000;
const KINDS: [Kind; 6] = [
    Kind::Cpu,
    Kind::AllocationTicks,
    Kind::AllocationSamples,
    Kind::Exceptions,
    Kind::Contention,
    Kind::Waits,
];

/// Measured values.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Measured {
    /// A sum for each slice.
    Sums(Vec<f64>),
    /// Individual values, whose mean is compared.
    Values(Vec<f64>),
}

/// The values of a trace that are compared.
#[derive(Debug, Clone, Default)]
#[must_use = "facts are compared with those of another trace"]
pub struct TraceFacts {
    /// From the first measurement to the last, in nanoseconds; of a benchmark, the time of
    /// its measured iterations.
    pub duration_ns: u64,
    /// From the runtime's start to the end of the process, if the trace has both.
    pub whole_run_ns: Option<f64>,
    /// The name of the benchmark, if BenchmarkDotNet ran one.
    pub benchmark: Option<String>,
    /// Number of CPU samples of threads that ran or waited.
    pub samples: u64,
    /// Number of requests, as the report of HTTP requests counts them: those that the
    /// program answered, else those that it made. Without any, activities whose name ends
    /// in `Request`.
    pub requests: u64,
    /// How the trace was read.
    pub outcome: Option<Outcome>,
    /// Number of operations in each iteration of a benchmark.
    pub(super) operations_of: Vec<f64>,
    pub(super) rows: BTreeMap<(Subject, String), Measured>,
    /// Number of samples or events of each row.
    pub(super) counts: BTreeMap<(Subject, String), f64>,
    /// Modules of methods.
    pub(super) modules: HashMap<String, String>,
    /// Whether the runtime recorded anything besides the list of methods.
    pub(super) has_runtime: bool,
    pub(super) keywords: Keywords,
    /// Of which modules methods have names.
    pub(super) names: NamedModules,
    /// Durations of all pauses.
    pub(super) pauses: Vec<f64>,
    /// Units of counters.
    pub(super) units: BTreeMap<String, String>,
    /// Calls of running threads.
    pub(super) calls: Calls,
    /// What stands out in it.
    pub(super) findings: Vec<Finding>,
}

impl TraceFacts {
    /// Number of operations that a benchmark measured.
    pub(super) fn operations(&self) -> f64 {
        self.operations_of.iter().sum()
    }

    pub(super) fn lost(&self) -> u64 {
        self.outcome.as_ref().map_or(0, |outcome| outcome.losses.total())
    }
}

/// A pass over the events that the options select, which collects the values to compare.
/// Their kinds of samples are ignored.
pub fn pass(mut options: AnalysisOptions) -> ReportPass<impl Reports<Outputs = TraceFacts>> {
    // What recording costs differs from run to run and from recorder to recorder.
    options.folding.is_recording = true;
    pass_with_tracks(options, &KINDS, DiffReports::new)
}

/// Everything that observes a trace for a comparison: see [`pass`].
struct DiffReports {
    overview: Overview,
    startup: Startup,
    extent: ExtentFinder,
    keywords: Keywords,
    gathered: Shared<Gathered>,
    has_runtime: bool,
    /// When the first and the last event came that is not of the list of methods at the
    /// end.
    events: Option<(i64, i64)>,
}

impl DiffReports {
    fn new(gathered: Shared<Gathered>) -> DiffReports {
        let mut reports = Overview::reports_for_findings();
        reports.counters = Counters::default();
        reports.sql = reports.sql.top(MOST_PATHS);
        DiffReports {
            overview: Overview::new(reports),
            startup: Startup::default(),
            extent: ExtentFinder::default(),
            keywords: Keywords::default(),
            gathered,
            has_runtime: false,
            events: None,
        }
    }
}

impl Reports for DiffReports {
    type Outputs = TraceFacts;

    fn inputs(&self) -> Vec<ReportInput> {
        vec![ReportInput::Events, ReportInput::Samples]
    }

    fn wanting(&self, _: &Event<'_>) -> u32 {
        1
    }

    fn observe(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model, _: u32) -> u64 {
        // Method loads and similar events are also sent when only samples are recorded.
        self.has_runtime |=
            event.known_provider() == KnownProvider::Runtime && !matches!(event.id(), 140..=190);
        if event.known_provider() != KnownProvider::Rundown {
            let (first, last) = self.events.unwrap_or((moment.nanos, moment.nanos));
            self.events = Some((first.min(moment.nanos), last.max(moment.nanos)));
        }
        let wanting = self.overview.wanting(event);
        self.overview.observe(event, moment, model, wanting);
        self.startup.event(event, moment);
        self.extent.event(event, moment);
        self.keywords.event(event);
        1
    }

    fn outputs(self, resolving: &mut Resolving<'_>) -> TraceFacts {
        let mut gathered = tracks::take(&self.gathered);
        let samples: BTreeMap<Kind, Vec<SampleRow>> = std::mem::take(&mut gathered.samples)
            .finish()
            .map(|(kind, rows, _)| (kind, rows))
            .collect();
        let resolved = resolving.for_report::<Summary>();
        let mut reports = self.overview.finish(resolved);
        let findings = SummaryReport::of(&reports, resolved).findings;
        let mut cut = Cut::new(&samples, &reports.gc, self.events, &self.extent);
        cut.samples(&samples, resolved);
        cut.collections(&reports.gc);
        if let Some(http) = reports.activities.http.take() {
            cut.requests(&http, gathered.requests);
        }
        cut.sql(&reports.sql);
        cut.pool(&reports.pool);
        cut.deadlocks(&reports.contention);
        let mut startup = self.startup;
        cut.work(&gathered, &mut startup);
        let mut facts = cut.facts;
        // A benchmark starts once and measures often.
        let startup = if facts.operations_of.is_empty() { startup.values() } else { Vec::new() };
        for (name, value) in startup {
            let key = (Subject::Startup, name.to_owned());
            facts.rows.insert(key, Measured::Values(vec![value]));
        }
        for series in reports.counters.series {
            let name = counter_name(&series);
            let values = distinct_values(&series.points);
            if !values.is_empty() {
                let key = (Subject::Counter, name.clone());
                facts.counts.insert(key.clone(), values.len() as f64);
                facts.rows.insert(key, Measured::Values(values));
                facts.units.insert(name, series.unit);
            }
        }
        facts.has_runtime = self.has_runtime;
        facts.findings = findings;
        facts.keywords = self.keywords;
        facts.outcome = resolving.outcome().cloned();
        facts
    }
}

/// `System.Runtime/cpu-usage`, with the tags if there are any.
fn counter_name(series: &CounterSeries) -> String {
    let mut name = format!("{}/{}", series.provider, series.name);
    let tags: Vec<String> =
        series.tags.iter().map(|(key, value)| format!("{key}={value}")).collect();
    if !tags.is_empty() {
        name.push_str(&format!("[{}]", tags.join(",")));
    }
    name
}

/// The values, those that were delivered to several sessions once.
fn distinct_values(points: &[CounterPoint]) -> Vec<f64> {
    let mut before: Option<i64> = None;
    let mut values = Vec::new();
    for point in points.iter().filter(|point| point.value.is_finite()) {
        let is_again =
            before.is_some_and(|before| point.ts_ns.saturating_sub(before) < SAME_VALUE_NANOS);
        if !is_again {
            before = Some(point.ts_ns);
            values.push(point.value);
        }
    }
    values
}
