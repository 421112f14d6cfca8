//! Pass over a trace that collects the values to compare.

use super::cut::{Cut, MAX_PATHS};
use super::extent::ExtentFinder;
use super::measured::{Measured, MeasuredTrace};
use super::recorded::Keywords;
use super::startup::StartTimes;
use super::work::GatheredWork;
use crate::driver::AnalysisOptions;
use crate::fact::comparison::{DiffKey, Subject};
use crate::findings::overview::{Overview, OverviewInterest};
use crate::findings::{Summary, SummaryReport};
use crate::model::{ActivitySpans, Kind, Model};
use crate::over_time::{self, SampleRow, Shared, gathering_pass};
use crate::report::set::{ReportSet, Reports, Resolving};
use crate::report::{
    CounterPoint, CounterSeries, Counters, Gc, Moment, Report, ReportInput, ReportPass,
};
use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;
use std::collections::BTreeMap;

/// Minimum time between two values of a counter, in nanoseconds. Closer values are one value that
/// was delivered to two sessions.
const MIN_APART_NANOS: i64 = 50_000_000;
/// Kinds of samples that are compared.
const KINDS: [Kind; 6] = [
    Kind::Cpu,
    Kind::AllocationTicks,
    Kind::AllocationSamples,
    Kind::Exceptions,
    Kind::Contention,
    Kind::Waits,
];

/// Makes a pass that collects the values to compare from the events that the options select. The
/// options' kinds of samples are ignored.
pub fn pass(
    mut options: AnalysisOptions,
) -> ReportPass<'static, impl Reports<Outputs = MeasuredTrace>> {
    // The cost of recording, which differs between runs and recorders, becomes one frame.
    options.folding.is_recording = Some(true);
    let spans_nanos = options.filter.spans.as_ref().map(ActivitySpans::total_nanos);
    gathering_pass(options, &KINDS, |gathered| DiffReports::new(gathered, spans_nanos))
}

/// Observers of a trace for a comparison.
struct DiffReports {
    overview: Overview,
    startup: StartTimes,
    extent: ExtentFinder,
    keywords: Keywords,
    gathered: Shared<GatheredWork>,
    has_runtime: bool,
    /// Times of the first and the last event outside of the rundown.
    events: Option<(i64, i64)>,
    /// Nanoseconds in the spans of activities to which the filter limits the trace.
    spans_nanos: Option<u64>,
}

impl DiffReports {
    fn new(gathered: Shared<GatheredWork>, spans_nanos: Option<u64>) -> DiffReports {
        let mut reports = Overview::reports_for_findings();
        reports.counters = Counters::default();
        reports.gc = Gc::default();
        reports.sql = reports.sql.top(MAX_PATHS);
        DiffReports {
            overview: Overview::new(reports),
            startup: StartTimes::default(),
            extent: ExtentFinder::default(),
            keywords: Keywords::default(),
            gathered,
            has_runtime: false,
            events: None,
            spans_nanos,
        }
    }
}

impl ReportSet for DiffReports {
    type Outputs = MeasuredTrace;
    type Interest = Option<OverviewInterest>;

    fn inputs(&self) -> Vec<ReportInput> {
        vec![ReportInput::Events, ReportInput::Samples]
    }

    fn interest(&self, event: &Event<'_>) -> Option<Self::Interest> {
        Some(self.overview.interest(event))
    }

    fn observe(
        &mut self,
        event: &Event<'_>,
        moment: &Moment,
        model: &mut Model,
        interest: &Self::Interest,
    ) -> u64 {
        // Method loads and similar events are also sent when only samples are recorded.
        self.has_runtime |=
            event.known_provider() == KnownProvider::Runtime && !matches!(event.id(), 140..=190);
        if event.known_provider() != KnownProvider::Rundown {
            let (first, last) = self.events.unwrap_or((moment.nanos, moment.nanos));
            self.events = Some((first.min(moment.nanos), last.max(moment.nanos)));
        }
        if let Some(interest) = interest {
            self.overview.observe(event, moment, model, interest);
            self.overview.count_collections(interest);
        }
        self.startup.event(event, moment);
        self.extent.event(event, moment);
        self.keywords.event(event);
        1
    }

    fn outputs(self, resolving: &mut Resolving<'_>) -> MeasuredTrace {
        let mut gathered = over_time::take(&self.gathered);
        let resolved = resolving.for_report::<Summary>();
        let samples = gathered.samples.take().map(|(kind, samples)| match kind {
            Kind::Cpu => (kind, over_time::divided(samples, resolved).into_rows()),
            _ => (kind, samples.into_rows()),
        });
        let samples: BTreeMap<Kind, Vec<SampleRow>> = samples.collect();
        let mut reports = self.overview.finish(resolved);
        let findings = SummaryReport::from_reports(&reports, resolved).findings;
        let mut cut =
            Cut::new(&samples, &reports.gc, self.events, &self.extent, &reports.benchmark);
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
        let mut trace = cut.trace;
        if let Some(nanos) = self.spans_nanos.filter(|_| trace.operations_of.is_empty()) {
            trace.duration_ns = nanos;
        }
        // The start of a benchmark's process is no part of what it measures.
        let startup = if trace.operations_of.is_empty() { startup.values() } else { Vec::new() };
        for (measure, value) in startup {
            let key = DiffKey::measure(Subject::Startup, measure);
            trace.rows.insert(key, Measured::Values(vec![value]));
        }
        for series in reports.counters.series {
            let name = counter_name(&series);
            let values = distinct_values(&series.points);
            if !values.is_empty() {
                let key = DiffKey::named(Subject::Counter, name.as_str());
                trace.counts.insert(key.clone(), values.len() as f64);
                trace.rows.insert(key, Measured::Values(values));
                trace.units.insert(name, series.unit);
            }
        }
        trace.has_runtime = self.has_runtime;
        trace.findings = findings;
        trace.keywords = self.keywords;
        trace.outcome = resolving.outcome().cloned();
        trace
    }
}

/// Returns the name of a counter, such as `System.Runtime/cpu-usage`, and its tags in brackets.
fn counter_name(series: &CounterSeries) -> String {
    let mut name = format!("{}/{}", series.provider, series.name);
    let tags: Vec<String> =
        series.tags.iter().map(|(key, value)| format!("{key}={value}")).collect();
    if !tags.is_empty() {
        name.push_str(&format!("[{}]", tags.join(",")));
    }
    name
}

/// Returns the finite values of a counter. A value that was delivered to several sessions occurs
/// once.
fn distinct_values(points: &[CounterPoint]) -> Vec<f64> {
    let mut before: Option<i64> = None;
    let mut values = Vec::new();
    for point in points.iter().filter(|point| point.value.is_finite()) {
        let is_again =
            before.is_some_and(|before| point.ts_ns.saturating_sub(before) < MIN_APART_NANOS);
        if !is_again {
            before = Some(point.ts_ns);
            values.push(point.value);
        }
    }
    values
}
