//! What calls a method, and what it calls.

use super::contract::{Recording, Report, ReportInput, SCHEMA, SampleReport};
use super::running::{CountedSamples, SampleSums};
use super::topn::{GroupBy, MethodRow};
use super::topn::{Groups, Table, TopNOptions};
use super::tree::TreeOptions;
use crate::document::percent;
use crate::hash::{HashMap, HashSet};
use crate::model::{
    FrameHandle, Kind, Pattern, Resolved, ServedEndpoint, SourceLine, ThreadState, Totals,
};

/// Default of [`MethodCallsOptions::count`], with which both lists fit on one screen.
const NEIGHBOURS: usize = 10;

/// Options of a [`MethodCalls`]. As a [`Report`] it computes one.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MethodCallsOptions {
    /// Pattern of the methods' frames. Those that match are taken as one method.
    pub method: Pattern,
    /// Maximum number of callers, of callees and of methods that match.
    pub count: usize,
}

impl MethodCallsOptions {
    /// Lists 10 callers and 10 callees of the methods that match.
    pub fn new(method: Pattern) -> MethodCallsOptions {
        MethodCallsOptions { method, count: NEIGHBOURS }
    }
}

impl Report for MethodCallsOptions {
    type Output = MethodCalls;

    const NAME: &'static str = "method-calls";
    const ABOUT: &'static str = "What calls a method, and what it calls";
    const RECORD: &'static [Recording] = TreeOptions::RECORD;
    const INPUT: ReportInput = TreeOptions::INPUT;
    const STATES: &'static [ThreadState] = TreeOptions::STATES;
    const FOLDS_RECORDING: bool = TreeOptions::FOLDS_RECORDING;

    fn top(self, rows: usize) -> MethodCallsOptions {
        MethodCallsOptions { count: rows, ..self }
    }

    fn finish(self, resolved: &Resolved<'_>) -> MethodCalls {
        MethodCalls::new(resolved, &self)
    }
}

impl SampleReport for MethodCallsOptions {}

/// What calls a method, and what it calls. A sample counts once: for the caller of the outermost
/// frame of the method, and for what the innermost one calls. So callers add up to the method's
/// time, and callees and its own time do.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct MethodCalls {
    /// Version of this document: [`SCHEMA`](super::SCHEMA).
    pub schema: u32,
    /// Numbers and times of the samples that count. JSON has them beside the other members.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub counted: CountedSamples,
    /// Number of samples with the method anywhere on the stack.
    pub method_samples: u64,
    /// Time in the method and in what it calls, in nanoseconds.
    pub method_ns: u64,
    /// Percentage of all time that is `method_ns`.
    pub method_percent: f64,
    /// Number of samples in the method itself.
    pub self_samples: u64,
    /// Time in the method itself, in nanoseconds.
    pub self_ns: u64,
    /// Percentage of `method_ns` that is `self_ns`.
    pub self_percent: f64,
    /// Methods that match, the one with the most time first. Percentages are relative to all time.
    pub methods: Vec<MethodRow>,
    /// Number of methods that match beyond those in `methods`.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub methods_left_out: u64,
    /// Callers, the one with the most time first.
    pub callers: Neighbours,
    /// Callees, the one with the most time first.
    pub callees: Neighbours,
}

/// Callers or callees of a method.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Neighbours {
    /// Rows, the one with the most time first.
    pub rows: Vec<NeighbourRow>,
    /// Number of callers or callees beyond `rows`.
    pub left_out: u64,
    /// Time with these, in nanoseconds.
    pub left_out_ns: u64,
    /// Time for which there is none, in nanoseconds: of callers, the method is the outermost frame.
    /// 0 of callees, as that is the method's own time.
    pub none_ns: u64,
}

/// Caller or callee of a method.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct NeighbourRow {
    /// Name of the frame, in the chosen style.
    pub name: String,
    /// Short name of the module; empty if unknown.
    pub module: String,
    /// Endpoint of a web application, such as `GET /cart`, of which this is the handler. `None` if
    /// it handles none, or several.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub endpoint: Option<ServedEndpoint>,
    /// Source line, with which the name ends; `None` unless
    /// [`AnalysisOptions::lines`](crate::AnalysisOptions::lines) asks for lines, or if it is not known.
    #[cfg_attr(feature = "serde", serde(flatten, skip_serializing_if = "Option::is_none"))]
    pub line: Option<SourceLine>,
    /// Name of the handler of an endpoint that is not known.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) handler: Option<String>,
    /// Number of samples of the method with this caller or callee.
    pub samples: u64,
    /// Time of these samples, in nanoseconds.
    pub time_ns: u64,
    /// Percentage of the method's time that is `time_ns`.
    pub percent: f64,
}

impl NeighbourRow {
    /// Returns the name as it is shown: that of the endpoint, if the method handles one.
    pub fn shown(&self) -> &str {
        match &self.endpoint {
            Some(endpoint) => endpoint.shown(),
            None => self.handler.as_deref().unwrap_or(&self.name),
        }
    }
}

impl MethodCalls {
    fn new(resolved: &Resolved<'_>, options: &MethodCallsOptions) -> MethodCalls {
        let profile = resolved.profile();
        let groups = Groups::new(resolved, GroupBy::Method);
        let texts = resolved.all_frames().iter().map(|frame| &frame.text);
        let matching: Vec<bool> = texts.map(|text| options.method.is_match(text)).collect();
        let is_method = |frame: &FrameHandle| matching.get(frame.index()).copied().unwrap_or(false);
        let mut sums = SampleSums::default();
        let (mut all, mut method, mut own) = <(Totals, Totals, Totals)>::default();
        let mut table = Table::default();
        let mut counted = HashSet::default();
        let (mut callers, mut callees) = (NeighbourSums::default(), NeighbourSums::default());
        for (key, totals) in profile.rows().iter().filter(|(key, _)| key.kind == Kind::Cpu) {
            let Some(frames) = sums.add(resolved, key, totals) else { continue };
            if resolved.is_recording(key.stack) {
                continue;
            }
            all.add(totals);
            let Some(innermost) = frames.iter().position(is_method) else { continue };
            let outermost = frames.iter().rposition(is_method).unwrap_or(innermost);
            method.add(totals);
            let group = |place: usize| frames.get(place).and_then(|frame| groups.group_of(*frame));
            callers.add(outermost.checked_add(1).and_then(group), totals);
            match innermost.checked_sub(1) {
                Some(callee) => callees.add(group(callee), totals),
                None => own.add(totals),
            }
            table.add(&groups, (frames, false), totals, &mut counted);
        }
        let mut rows = TopNOptions::default();
        (rows.count, rows.is_inclusive) = (usize::MAX, true);
        let of_method = groups.of_frames(&matching);
        let mut methods = table.only(&of_method, all.weight).rows(&groups, resolved, &rows);
        let methods_left_out = methods.len().saturating_sub(options.count) as u64;
        methods.truncate(options.count);
        MethodCalls {
            schema: SCHEMA,
            counted: sums.counted(all.samples, all.weight, resolved, profile),
            method_samples: method.samples,
            method_ns: method.weight,
            method_percent: percent(method.weight, all.weight),
            self_samples: own.samples,
            self_ns: own.weight,
            self_percent: percent(own.weight, method.weight),
            methods,
            methods_left_out,
            callers: callers.finish(&groups, method.weight, options.count),
            callees: callees.finish(&groups, method.weight, options.count),
        }
    }
}

/// Totals of the samples with each caller or callee.
#[derive(Default)]
struct NeighbourSums(HashMap<Option<u32>, Totals>);

impl NeighbourSums {
    fn add(&mut self, group: Option<u32>, totals: &Totals) {
        self.0.entry(group).or_default().add(totals);
    }

    fn finish(mut self, groups: &Groups, whole: u64, count: usize) -> Neighbours {
        let none_ns = self.0.remove(&None).map_or(0, |totals| totals.weight);
        let row = |(group, totals): (Option<u32>, Totals)| {
            let row = groups.row(group?)?;
            Some(NeighbourRow {
                name: row.name.clone(),
                module: row.module.clone(),
                endpoint: row.endpoint.clone(),
                line: row.line.clone(),
                handler: row.handler.clone(),
                samples: totals.samples,
                time_ns: totals.weight,
                percent: percent(totals.weight, whole),
            })
        };
        let mut rows: Vec<NeighbourRow> = self.0.into_iter().filter_map(row).collect();
        // Names order rows with equal sums, as the order of the hash map differs from run to run.
        rows.sort_by(|a, b| {
            let rank = |row: &NeighbourRow| (row.time_ns, row.samples);
            rank(b).cmp(&rank(a)).then_with(|| a.name.cmp(&b.name))
        });
        let further = rows.split_off(count.min(rows.len()));
        Neighbours {
            rows,
            left_out: further.len() as u64,
            left_out_ns: further.iter().fold(0, |sum, row| row.time_ns.saturating_add(sum)),
            none_ns,
        }
    }
}
