//! Methods with the most time.

use super::contract::{DEFAULT_ROWS, Recording, Report, ReportInput, SCHEMA, SampleReport};
use super::running::{CountedSamples, SampleSums};
use super::stuck::{StuckThread, StuckThreads};
use crate::document::percent;
use crate::hash::{HashMap, HashSet};
use crate::model::{
    Cells, Frame, FrameHandle, FrameKind, Kind, Profile, ProfileKey, Resolved, ServedEndpoint,
    SourceLine, ThreadHandle, ThreadState, Totals, UNKNOWN_ENDPOINT, When,
};
use crate::numbering::Numbering;
use crate::sorted::SortFew;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Kind of thing that a row of a [`TopN`] stands for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum GroupBy {
    /// Methods and functions.
    #[default]
    Method,
    /// Modules.
    Module,
    /// Namespaces.
    Namespace,
    /// Types, with their namespace.
    Type,
}

/// Maximum number of threads in [`TopN::always_in`].
const MAX_ALWAYS: usize = 20;

/// Options of a list of methods. As a [`Report`] it computes a [`TopN`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TopNOptions {
    /// Maximum number of rows.
    pub count: usize,
    /// Sorts by the time in a method and in what it calls, instead of the time in the method
    /// itself.
    pub is_inclusive: bool,
    /// Lists each thread separately.
    pub is_by_thread: bool,
    /// Lists the samples of requests to each endpoint separately. It needs
    /// [`AnalysisOptions::endpoints`](crate::AnalysisOptions::endpoints).
    pub is_by_endpoint: bool,
    /// Kind of thing that a row stands for.
    pub group_by: GroupBy,
}

impl Default for TopNOptions {
    fn default() -> Self {
        TopNOptions {
            count: DEFAULT_ROWS,
            is_inclusive: false,
            is_by_thread: false,
            is_by_endpoint: false,
            group_by: GroupBy::Method,
        }
    }
}

impl Report for TopNOptions {
    type Output = TopN;

    const NAME: &'static str = "topN";
    const ABOUT: &'static str = "Methods in which the most time was spent";
    const RECORD: &'static [Recording] = &[Recording::SAMPLER];
    const INPUT: ReportInput = ReportInput::Samples;
    const STATES: &'static [ThreadState] = &ThreadState::RUNNING;
    const FOLDS_RECORDING: bool = true;

    fn top(mut self, rows: usize) -> TopNOptions {
        self.count = rows;
        self
    }

    fn finish(self, resolved: &Resolved<'_>) -> TopN {
        TopN::new(resolved, resolved.profile(), &self)
    }
}

impl SampleReport for TopNOptions {}

/// Methods with the most time, or modules, namespaces or types.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TopN {
    /// Version of this document: [`SCHEMA`](super::SCHEMA).
    pub schema: u32,
    /// Numbers and times of the samples that count. JSON has them beside the other members.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub counted: CountedSamples,
    /// Threads that were in one native call in all of their samples, at most 20. Such a call may
    /// have run or blocked.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub always_in: Vec<StuckThread>,
    /// Part of `waiting_ns` in which idle workers of the thread pool spun before they slept, which
    /// takes processor time; `None` if it is less than a tenth of this and the running time.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub idle_spinning_ns: Option<u64>,
    /// First and last time that [`MethodRow::when`] covers, in nanoseconds since the session's
    /// start. `None` if the analysis does not keep the distribution over time.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub when_extent_ns: Option<(i64, i64)>,
    /// Number of samples without frames. They count in `samples`, but in no row.
    pub samples_without_stack: u64,
    /// Rows, heaviest first.
    pub methods: Vec<MethodRow>,
    /// Rows of each thread, thread with the most time first; empty unless
    /// [`TopNOptions::is_by_thread`].
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub threads: Vec<ThreadTop>,
    /// Rows of the requests to each endpoint, endpoint with the most time first; empty unless
    /// [`TopNOptions::is_by_endpoint`].
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub endpoints: Vec<EndpointTop>,
}

/// Rows of the requests to one endpoint. Percentages of rows are relative to these requests'
/// samples.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct EndpointTop {
    /// Endpoint, such as `GET /cart`; `None` for all work outside of requests, which comes last,
    /// and for the row of [`EndpointTop::is_left_out`].
    pub endpoint: Option<String>,
    /// Whether these are samples of threads at times in which they may have worked for a request
    /// whose own times are left out.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_false"))]
    pub is_left_out: bool,
    /// Number of requests to the endpoint whose samples are not counted here, because the times of
    /// their threads are left out; in the row of [`EndpointTop::is_left_out`] the number of all.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub requests_left_out: u64,
    /// Number of samples of threads that worked for these requests.
    pub samples: u64,
    /// Time of the samples, in nanoseconds.
    pub total_ns: u64,
    /// Percentage of all time that is `total_ns`.
    pub total_percent: f64,
    /// Time in which threads waited for these requests, in nanoseconds, whether or not it is
    /// counted.
    pub waiting_ns: u64,
    /// Rows, heaviest first.
    pub methods: Vec<MethodRow>,
}

/// Rows of one thread. Percentages are relative to the thread's samples.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ThreadTop {
    /// OS id of the thread; `None` if the stream does not contain it.
    pub thread_id: Option<u64>,
    /// Name of the thread as it is shown: its own, or its OS id.
    pub thread: String,
    /// Number of samples of the thread.
    pub samples: u64,
    /// Time of the samples, in nanoseconds.
    pub total_ns: u64,
    /// Rows, heaviest first.
    pub methods: Vec<MethodRow>,
}

/// Row of a [`TopN`]. *Self* counts samples with the method as innermost frame; *total* counts
/// samples with the method anywhere on the stack, each once, even if the method is recursive.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct MethodRow {
    /// Name of the method, in the chosen style, or of the module, namespace or type.
    pub name: String,
    /// Short name of the module; empty if unknown.
    pub module: String,
    /// Endpoint of a web application, such as `GET /cart`, of which the method is the handler.
    /// `None` if the method handles none, or several.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub endpoint: Option<ServedEndpoint>,
    /// Source line, with which the name ends; `None` unless
    /// [`AnalysisOptions::lines`](crate::AnalysisOptions::lines) asks for lines, or if it is not known.
    #[cfg_attr(feature = "serde", serde(flatten, skip_serializing_if = "Option::is_none"))]
    pub line: Option<SourceLine>,
    /// Name of the handler of an endpoint that is not known.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) handler: Option<String>,
    /// Whether the name is a guess. Guesses of one method are merged and show the lowest and the
    /// highest offset: `~Program.Run+0x10..0x1f`.
    #[cfg_attr(
        feature = "serde",
        serde(rename = "guessed", skip_serializing_if = "crate::document::is_false")
    )]
    pub is_guessed: bool,
    /// Number of addresses without a name that the row stands for; 0 if the row has a name. A list
    /// of methods merges them into one row per module, such as `libcoreclr.so!0x… (12 addresses)`,
    /// and one without a module: `(no name: 12 addresses)`.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub addresses: u64,
    /// Number of samples in the method itself.
    pub self_samples: u64,
    /// Number of samples in the method and in what it calls.
    pub total_samples: u64,
    /// Time in the method itself, in nanoseconds of [`CountedSamples::clock`].
    pub self_ns: u64,
    /// Time in the method and in what it calls, in nanoseconds of [`CountedSamples::clock`].
    pub total_ns: u64,
    /// Part of `self_ns` that was estimated from readings of threads, in nanoseconds. 0 without
    /// readings.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub self_estimated_ns: u64,
    /// Part of `total_ns` that was estimated from readings of threads, in nanoseconds. 0 without
    /// readings.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub total_estimated_ns: u64,
    /// Percentage of all time that is `self_ns`.
    pub self_percent: f64,
    /// Percentage of all time that is `total_ns`.
    pub total_percent: f64,
    /// Distribution of `total_ns` over time: nanoseconds in each of 32 equal parts of
    /// [`TopN::when_extent_ns`]. Empty in the rows of threads, and if the analysis does not
    /// [keep](crate::AnalysisOptions::keeps_when) it.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub when: Vec<u64>,
}

impl MethodRow {
    /// Returns the name as it is shown: that of the endpoint, if the method handles one.
    pub fn shown(&self) -> &str {
        match &self.endpoint {
            Some(endpoint) => endpoint.shown(),
            None => self.handler.as_deref().unwrap_or(&self.name),
        }
    }
}

#[derive(Debug, Default, Clone, Copy)]
struct RowSums {
    self_samples: u64,
    total_samples: u64,
    self_ns: u64,
    total_ns: u64,
    self_estimated_ns: u64,
    total_estimated_ns: u64,
}

/// Sums of each row, by the row's number in [`Groups`].
#[derive(Debug, Default)]
pub(super) struct Table {
    samples: u64,
    total_ns: u64,
    without_stack: u64,
    rows: HashMap<u32, RowSums>,
    /// Distinct frames of rows whose frames have no names.
    nameless: HashMap<u32, HashSet<FrameHandle>>,
    when: HashMap<u32, Cells>,
}

impl TopN {
    /// Lists the methods in a trace's CPU samples.
    pub(super) fn new(resolved: &Resolved<'_>, profile: &Profile, options: &TopNOptions) -> TopN {
        let groups = Groups::new(resolved, options.group_by);
        let mut all = Table::default();
        // One thread after the other, keeping only the rows that are shown: there may be very many
        // threads.
        let mut threads: Vec<(u64, ThreadHandle, ThreadTop)> = Vec::new();
        let mut at: Option<(ThreadHandle, Table)> = None;
        let done = |(thread, table): (ThreadHandle, Table)| {
            let model = resolved.model();
            let top = ThreadTop {
                thread_id: model.thread(thread).and_then(|row| row.os_thread_id),
                thread: model.thread_label(thread),
                samples: table.samples,
                total_ns: table.total_ns,
                methods: table.rows(&groups, resolved, options),
            };
            (table.total_ns, thread, top)
        };
        let mut counted = HashSet::default();
        let rows = profile.rows();
        let mut of_cpu: Vec<_> = rows.iter().filter(|(key, _)| key.kind == Kind::Cpu).collect();
        for (key, totals) in of_cpu.iter().filter(|_| options.is_by_thread) {
            let Some(frames) = resolved.selected(key.stack, key.mode) else { continue };
            // Rows are sorted by thread, so a new thread completes the one before.
            if at.as_ref().is_some_and(|(thread, _)| *thread != key.thread) {
                threads.extend(at.take().map(done));
            }
            let (_, table) = at.get_or_insert_with(|| (key.thread, Table::default()));
            table.add(&groups, (frames, resolved.is_recording(key.stack)), totals, &mut counted);
        }
        // Many threads may share a deep stack, so samples are added up by stack before its frames
        // are read.
        let of_stack = |(key, _): &&(ProfileKey, Totals)| (key.stack, key.mode);
        of_cpu.sort_unstable_by_key(of_stack);
        let mut sums = SampleSums::default();
        for same in of_cpu.chunk_by(|one, next| of_stack(one) == of_stack(next)) {
            let Some((key, _)) = same.first() else { continue };
            let mut totals = Totals::default();
            same.iter().for_each(|(_, of_row)| totals.add(of_row));
            let Some(frames) = sums.add(resolved, key, &totals) else { continue };
            all.add(&groups, (frames, resolved.is_recording(key.stack)), &totals, &mut counted);
        }
        for (stack, mode, cells) in profile.when().into_iter().flat_map(When::rows) {
            let frames = resolved.selected(stack, mode).unwrap_or_default();
            all.add_when(
                frames.iter().filter_map(|frame| groups.group_of(*frame)),
                &cells,
                &mut counted,
            );
        }
        threads.extend(at.take().map(done));
        threads.sort_few_by_key(|(total_ns, thread, _)| (Reverse(*total_ns), *thread));
        let endpoints = match options.is_by_endpoint {
            true => by_endpoint(&groups, resolved, profile, all.total_ns, options),
            false => Vec::new(),
        };
        TopN {
            schema: SCHEMA,
            counted: sums.counted(all.samples, all.total_ns, resolved, profile),
            always_in: StuckThreads::new(resolved).in_one_call(MAX_ALWAYS),
            idle_spinning_ns: sums.idle_spinning_ns(),
            when_extent_ns: profile.when().map(When::extent_nanos),
            samples_without_stack: all.without_stack,
            methods: all.rows(&groups, resolved, options),
            threads: threads.into_iter().map(|(_, _, top)| top).collect(),
            endpoints,
        }
    }
}

/// Returns the rows of the requests to each endpoint. `whole`: time of all samples.
fn by_endpoint(
    groups: &Groups,
    resolved: &Resolved<'_>,
    profile: &Profile,
    whole: u64,
    options: &TopNOptions,
) -> Vec<EndpointTop> {
    let mut tables: BTreeMap<Option<u32>, (Table, SampleSums)> = BTreeMap::new();
    let mut counted = HashSet::default();
    for (key, totals) in profile.rows().iter().filter(|(key, _)| key.kind == Kind::Cpu) {
        let (table, sums) = tables.entry(resolved.served_by(key.stack, key.endpoint)).or_default();
        if let Some(frames) = sums.add(resolved, key, totals) {
            table.add(groups, (frames, resolved.is_recording(key.stack)), totals, &mut counted);
        }
    }
    let top = |(endpoint, (table, sums)): (Option<u32>, (Table, SampleSums))| EndpointTop {
        is_left_out: endpoint == Some(UNKNOWN_ENDPOINT),
        requests_left_out: profile.requests_left_out(endpoint),
        endpoint: endpoint
            .filter(|at| *at != UNKNOWN_ENDPOINT)
            .map(|at| profile.endpoint_name(at).to_owned()),
        samples: table.samples,
        total_ns: table.total_ns,
        total_percent: percent(table.total_ns, whole),
        waiting_ns: sums.waiting.weight,
        methods: table.rows(groups, resolved, options),
    };
    let mut endpoints: Vec<EndpointTop> = tables.into_iter().map(top).collect();
    endpoints.sort_few_by_key(|top| {
        let is_last = (top.endpoint.is_none(), !top.is_left_out);
        (is_last, Reverse((top.total_ns, top.waiting_ns)), top.endpoint.clone())
    });
    endpoints
}

impl Table {
    /// Adds the samples of a stack. Those of the recording are a row outside of the sums.
    pub(super) fn add(
        &mut self,
        groups: &Groups,
        (frames, is_recording): (&[FrameHandle], bool),
        totals: &Totals,
        counted: &mut HashSet<u32>,
    ) {
        let Totals { samples, weight: nanos, estimated, .. } = *totals;
        if !is_recording {
            self.samples = self.samples.saturating_add(samples);
            self.total_ns = self.total_ns.saturating_add(nanos);
        }
        counted.clear();
        for (frame, group) in
            frames.iter().filter_map(|frame| Some((frame, groups.group_of(*frame)?)))
        {
            if groups.is_nameless(group) {
                self.nameless.entry(group).or_default().insert(*frame);
            }
            // Recursion counts once.
            if counted.insert(group) {
                let row = self.rows.entry(group).or_default();
                row.total_samples = row.total_samples.saturating_add(samples);
                row.total_ns = row.total_ns.saturating_add(nanos);
                row.total_estimated_ns = row.total_estimated_ns.saturating_add(estimated);
            }
        }
        match frames.first().and_then(|leaf| groups.group_of(*leaf)) {
            Some(leaf) => {
                let row = self.rows.entry(leaf).or_default();
                row.self_samples = row.self_samples.saturating_add(samples);
                row.self_ns = row.self_ns.saturating_add(nanos);
                row.self_estimated_ns = row.self_estimated_ns.saturating_add(estimated);
            }
            None => self.without_stack = self.without_stack.saturating_add(samples),
        }
    }

    fn add_when(
        &mut self,
        groups: impl Iterator<Item = u32>,
        cells: &Cells,
        counted: &mut HashSet<u32>,
    ) {
        counted.clear();
        for group in groups.filter(|group| counted.insert(*group)) {
            let sums = self.when.entry(group).or_default();
            for (sum, cell) in sums.iter_mut().zip(cells) {
                *sum = sum.saturating_add(*cell);
            }
        }
    }

    /// Leaves these rows alone, with percentages relative to `whole`.
    pub(super) fn only(mut self, groups: &HashSet<u32>, whole: u64) -> Table {
        self.rows.retain(|group, _| groups.contains(group));
        Table { total_ns: whole, ..self }
    }

    pub(super) fn rows(
        &self,
        groups: &Groups,
        resolved: &Resolved<'_>,
        options: &TopNOptions,
    ) -> Vec<MethodRow> {
        let row = |(number, sums): (&u32, &RowSums)| {
            let group = groups.row(*number)?;
            let nameless = self.nameless.get(number);
            let addresses = nameless.map_or(0, |frames| frames.len() as u64);
            let only = nameless.filter(|_| addresses == 1).and_then(|frames| frames.iter().next());
            Some(MethodRow {
                // A row with a single address shows that address.
                name: only.map_or_else(
                    || group.shown(addresses),
                    |frame| resolved.text(*frame).to_owned(),
                ),
                module: group.module.clone(),
                endpoint: group.endpoint.clone(),
                line: group.line.clone(),
                handler: group.handler.clone(),
                is_guessed: group.is_guessed,
                addresses,
                self_samples: sums.self_samples,
                total_samples: sums.total_samples,
                self_ns: sums.self_ns,
                total_ns: sums.total_ns,
                self_estimated_ns: sums.self_estimated_ns,
                total_estimated_ns: sums.total_estimated_ns,
                self_percent: percent(sums.self_ns, self.total_ns),
                total_percent: percent(sums.total_ns, self.total_ns),
                when: self.when.get(number).map(|cells| cells.to_vec()).unwrap_or_default(),
            })
        };
        let mut rows: Vec<MethodRow> = self.rows.iter().filter_map(row).collect();
        let by_self = |row: &MethodRow| (row.self_ns, row.self_samples, row.total_ns);
        let by_total = |row: &MethodRow| (row.total_ns, row.total_samples, row.self_ns);
        rows.sort_few_by(|a, b| {
            let order = match options.is_inclusive {
                true => by_total(b).cmp(&by_total(a)),
                false => by_self(b).cmp(&by_self(a)),
            };
            // Names order rows with equal sums, as the order of the hash map differs from run to
            // run.
            order.then_with(|| a.name.cmp(&b.name))
        });
        rows.truncate(options.count);
        // Otherwise each thread would keep the memory of all its rows: a gigabyte for 100,000
        // threads.
        rows.shrink_to_fit();
        rows
    }
}

/// Assignment of frames to the rows that they count for.
pub(super) struct Groups {
    of_frame: Vec<u32>,
    rows: Vec<RowGroup>,
}

pub(super) struct RowGroup {
    pub(super) name: String,
    pub(super) module: String,
    pub(super) endpoint: Option<ServedEndpoint>,
    pub(super) line: Option<SourceLine>,
    pub(super) handler: Option<String>,
    /// Lowest and highest offset of the guessed names; `None` if the name is not guessed.
    offsets: Option<(u64, u64)>,
    is_nameless: bool,
    is_guessed: bool,
}

impl RowGroup {
    /// Returns the name as it is shown. `addresses`: number of addresses of a row without a name.
    fn shown(&self, addresses: u64) -> String {
        match self.offsets {
            None if self.is_nameless && self.module.is_empty() => {
                format!("({}: {addresses} addresses)", self.name)
            }
            None if self.is_nameless => format!("{} ({addresses} addresses)", self.name),
            None => self.name.clone(),
            Some((low, high)) if low == high => format!("{}+{low:#x}", self.name),
            Some((low, high)) => format!("{}+{low:#x}..{high:#x}", self.name),
        }
    }
}

impl Groups {
    pub(super) fn new(resolved: &Resolved<'_>, by: GroupBy) -> Groups {
        let mut numbers = Numbering::default();
        let mut groups = Groups { of_frame: Vec::new(), rows: Vec::new() };
        for frame in resolved.all_frames() {
            // Guesses with any offset of a method share a row. They do not mix with the method's
            // certain row, because a guessed name begins with `~`.
            let guess = frame.guess().filter(|_| by == GroupBy::Method);
            // A bare address tells a reader nothing, and one method has samples at many addresses.
            let is_nameless = !frame.is_named() && by == GroupBy::Method;
            let name = match (guess, is_nameless, frame.module.is_empty()) {
                (Some((name, _)), ..) => name.to_owned(),
                (None, true, true) if frame.kind == FrameKind::Kernel => {
                    "no name, in the kernel".to_owned()
                }
                (None, true, true) => "no name".to_owned(),
                (None, true, false) => format!("{}!0x…", frame.module),
                (None, false, _) => group_name(frame, by),
            };
            let offset = guess.map(|(_, offset)| offset);
            let number = numbers.number(name.clone());
            match groups.rows.get_mut(number as usize) {
                Some(RowGroup { offsets: Some((low, high)), .. }) => {
                    *low = offset.map_or(*low, |offset| offset.min(*low));
                    *high = offset.map_or(*high, |offset| offset.max(*high));
                }
                Some(_) => {}
                None => groups.rows.push(RowGroup {
                    name,
                    module: frame.module.clone(),
                    endpoint: ServedEndpoint::from_frame(frame).filter(|_| by == GroupBy::Method),
                    line: frame.line.clone().filter(|_| by == GroupBy::Method),
                    handler: frame.handler_name().filter(|_| by == GroupBy::Method),
                    offsets: offset.map(|offset| (offset, offset)),
                    is_nameless,
                    is_guessed: frame.is_guessed && by == GroupBy::Method,
                }),
            }
            groups.of_frame.push(number);
        }
        groups
    }

    fn is_nameless(&self, group: u32) -> bool {
        self.row(group).is_some_and(|group| group.is_nameless)
    }

    pub(super) fn group_of(&self, frame: FrameHandle) -> Option<u32> {
        self.of_frame.get(frame.index()).copied()
    }

    /// Returns the rows that the frames count for which are marked, in the order of handles.
    pub(super) fn of_frames(&self, marked: &[bool]) -> HashSet<u32> {
        let rows = self.of_frame.iter().zip(marked);
        rows.filter(|(_, is_marked)| **is_marked).map(|(row, _)| *row).collect()
    }

    pub(super) fn row(&self, group: u32) -> Option<&RowGroup> {
        self.rows.get(group as usize)
    }
}

fn group_name(frame: &Frame, by: GroupBy) -> String {
    let unknown =
        || if frame.module.is_empty() { "(unknown)".to_owned() } else { frame.module.clone() };
    match by {
        GroupBy::Method => frame.text.clone(),
        GroupBy::Module => unknown(),
        GroupBy::Namespace if !frame.namespace.is_empty() => frame.namespace.clone(),
        GroupBy::Type if !frame.type_name.is_empty() && !frame.namespace.is_empty() => {
            format!("{}.{}", frame.namespace, frame.type_name)
        }
        GroupBy::Type if !frame.type_name.is_empty() => frame.type_name.clone(),
        // Native code has neither namespace nor type.
        GroupBy::Namespace | GroupBy::Type => unknown(),
    }
}
