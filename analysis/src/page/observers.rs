//! The reports whose documents a page shows, and the data of the page's own views, gathered in one
//! pass.

use super::activities::PageActivities;
use super::call_nodes::CallNodeColumns;
use super::events::PageEvents;
use super::exceptions::PageExceptions;
use super::readings::write_readings;
use super::spans::{SpanRow, SpansOf};
use super::sums::Sums;
use super::tracks::SharedTracks;
use super::triggers::PageTriggers;
use super::{Page, session};
use crate::fact::thinned::{PagePart, Thinned, Thinning};
use crate::findings::overview::{Overview, OverviewInterest, OverviewReports, Overviewed};
use crate::findings::{Summary, SummaryReport};
use crate::hash::HashMap;
use crate::html::Columns;
use crate::model::{
    EndpointSpans, Kind, Model, Resolved, StackHandle, TextHandle, ThreadState, ThreadTimes,
    UNKNOWN_ENDPOINT, WaitFor, type_text,
};
use crate::numbering::Numbering;
use crate::over_time::{self, Forgotten, SampleRow};
use crate::report::{
    Activities, Alloc, AssemblyRow, CollectionFigures, Contention, Counters, CountersReport,
    Exceptions, Gc, Http, Jit, Loader, Logs, Moment, Report, ReportInput, Reports, Resolving, Sql,
    TaskTime, Tasks, ThreadPool, Threads, TopNOptions, Waits, waiting_call,
};
use nettrace_parser::Event;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum number of rows of a report's list with one row for each occurrence.
const MAX_ROWS: usize = 20_000;
/// Maximum number of collections with all their details, which take 2 KB each.
const MAX_COLLECTIONS: usize = 4_000;
/// Maximum number of points of all counters together.
const MAX_POINTS: usize = 200_000;
/// Maximum number of slowest activities.
const SLOWEST: usize = 1000;
/// Maximum number of times in which threads worked for requests.
const MAX_REQUEST_SPANS: usize = 1 << 19;
/// Maximum number of stacks of a type, lock or place.
const STACKS: usize = 30;

/// All reports and gathered rows of a page. See [`pass`](super::pass).
pub(super) struct PageReports {
    overview: Overview,
    loader: Loader,
    thrown: PageExceptions,
    triggers: PageTriggers,
    events: PageEvents,
    activities: PageActivities,
    requests: PageActivities,
    /// Times of tasks, in the order of [`TaskTime::ALL`].
    tasks: [PageActivities; 4],
    tracks: SharedTracks,
    /// Readings of the threads.
    times: Option<Arc<ThreadTimes>>,
}

impl PageReports {
    pub(super) fn new(tracks: SharedTracks, times: Option<Arc<ThreadTimes>>) -> PageReports {
        PageReports {
            overview: Overview::new(OverviewReports {
                gc: Gc::default().at_most(MAX_COLLECTIONS),
                alloc: Alloc::default(),
                exceptions: Exceptions::default().top(STACKS),
                contention: Contention::default().top(STACKS),
                waits: Waits::default().top(STACKS),
                jit: Jit::default(),
                pool: ThreadPool::default(),
                activities: Activities::default()
                    .with_http()
                    .with_each()
                    .with_request_spans(MAX_REQUEST_SPANS)
                    .top(SLOWEST),
                logs: Logs::default(),
                counters: Counters::default(),
                tasks: Tasks::default().without_activities().with_each(),
                sql: Sql::default(),
            }),
            loader: Loader::default(),
            thrown: PageExceptions::default(),
            triggers: PageTriggers::default(),
            events: PageEvents::default(),
            activities: PageActivities::default(),
            requests: PageActivities::default(),
            tasks: Default::default(),
            tracks,
            times,
        }
    }
}

/// Reports of a page that want the events of a type. The page's list of events wants all events.
#[derive(Clone, Copy)]
pub(super) struct PageInterest {
    overview: Option<OverviewInterest>,
    loader: bool,
}

impl Reports for PageReports {
    type Outputs = Page;
    type Interest = PageInterest;

    fn inputs(&self) -> Vec<ReportInput> {
        vec![ReportInput::Everything]
    }

    fn interest(&self, event: &Event<'_>) -> Option<PageInterest> {
        let overview = self.overview.interest(event);
        // No finding needs the report on assemblies, so the overview does not have it.
        Some(PageInterest { overview, loader: self.loader.wants(event) })
    }

    fn observe(
        &mut self,
        event: &Event<'_>,
        moment: &Moment,
        model: &mut Model,
        interest: &PageInterest,
    ) -> u64 {
        if let Some(interest) = &interest.overview {
            self.overview.observe(event, moment, model, interest);
        }
        let [activities, requests] = self.overview.take_ended();
        activities.into_iter().for_each(|row| self.activities.add(row));
        requests.into_iter().for_each(|row| self.requests.add(row));
        for (kept, ended) in self.tasks.iter_mut().zip(self.overview.take_tasks()) {
            ended.into_iter().for_each(|row| kept.add(row));
        }
        if interest.loader {
            self.loader.event(event, moment, model);
        }
        if moment.is_selected {
            self.thrown.add(event, moment, model);
            self.triggers.add(event, moment, model);
            self.events.add(event, moment, model);
        }
        0
    }

    fn outputs(self, resolving: &mut Resolving<'_>) -> Page {
        let mut page = Page::default();
        page.add_report(TopNOptions::default(), resolving);
        page.add_report(Threads, resolving);
        let mut loader = self.loader.finish(resolving.for_report::<Loader>());
        let resolved = resolving.for_report::<Summary>();
        let mut reports = self.overview.finish(resolved);
        page.summary = Some(SummaryReport::from_reports(&reports, resolved));
        page.write_activities(self.activities, self.requests, &mut reports, resolved);
        page.write_tasks(self.tasks, &mut reports, resolved);
        page.write_all_rows(&reports);
        let all = reports.gc.figures.len();
        page.cut_rows(Gc::NAME, "collections", &mut reports.gc.collections, all, MAX_COLLECTIONS);
        let all = reports.jit.methods.len();
        page.cut_rows(Jit::NAME, "methods", &mut reports.jit.methods, all, MAX_ROWS);
        let all = loader.assemblies.len();
        page.cut_rows(Loader::NAME, "assemblies", &mut loader.assemblies, all, MAX_ROWS);
        let all = reports.logs.messages.len();
        page.cut_rows(Logs::NAME, "messages", &mut reports.logs.messages, all, MAX_ROWS);
        let (schema, assemblies) = (loader.schema, loader.assemblies);
        page.add(Loader::NAME, &LoadedAssemblies { schema, assemblies });
        page.add_counters(&mut reports.counters);
        page.add_overview(&mut reports);
        let left_out = reports.activities.request_spans.left_out();
        if left_out > 0 {
            let how = Thinning::WithoutEndpoint { requests: left_out };
            page.thin(PagePart::Report(Http::NAME), how);
        }
        let served = &reports.activities.request_spans;
        let stacks = self.events.finish(&mut page);
        page.session = session(resolved.model());
        let rows = (self.thrown, self.triggers);
        write_tracks(&mut page, &self.tracks, rows, (&stacks, served), resolved);
        if let Some(times) = &self.times {
            write_readings(times, resolved, &mut page.columns);
        }
        page.coverage = Some(resolved.coverage());
        page
    }
}

impl Page {
    fn add_report<R: Report>(&mut self, report: R, resolving: &mut Resolving<'_>)
    where
        R::Output: Serialize,
    {
        let document = report.finish(resolving.for_report::<R>());
        self.add(R::NAME, &document);
    }

    fn add_overview(&mut self, reports: &mut Overviewed) {
        let mut http = reports.activities.http.take();
        if let Some(http) = &mut http {
            http.add_sql(&reports.sql.all_requests);
        }
        self.add(Alloc::NAME, &reports.alloc);
        self.add(Exceptions::NAME, &reports.exceptions);
        self.add(Contention::NAME, &reports.contention);
        self.add(Waits::NAME, &reports.waits);
        self.add(ThreadPool::NAME, &reports.pool);
        self.add(Activities::NAME, &reports.activities);
        self.add(Http::NAME, &http);
        self.add(Logs::NAME, &reports.logs);
        self.add(Tasks::NAME, &reports.tasks);
        self.add(Sql::NAME, &reports.sql);
        self.add(Gc::NAME, &reports.gc);
        self.add(Jit::NAME, &reports.jit);
    }

    /// Writes sums of rows that the page does not keep.
    pub(super) fn add_sums<const N: usize>(
        &mut self,
        name: &str,
        sums: Sums<N>,
        keys: [&str; N],
        has_sizes: bool,
    ) {
        if let Some(about) = sums.write(name, keys, has_sizes, &mut self.columns) {
            self.sums.insert(name.to_owned(), about);
        }
    }

    /// Writes activities and requests.
    fn write_activities(
        &mut self,
        mut activities: PageActivities,
        mut requests: PageActivities,
        reports: &mut Overviewed,
        resolved: &Resolved<'_>,
    ) {
        // At the end, the reports hand out the activities that never ended.
        let ended = std::mem::take(&mut reports.activities.ended);
        ended.into_iter().for_each(|row| activities.add(row));
        let http = reports.activities.http.as_mut().map(|http| std::mem::take(&mut http.ended));
        http.into_iter().flatten().for_each(|row| requests.add(row));
        let mut names = Numbering::default();
        let texts = resolved.model().texts();
        let mut number = |label| names.number(texts.get(TextHandle(label))).into();
        activities.finish("activities", resolved, &mut number, self);
        requests.finish("requests", resolved, &mut number, self);
        self.activity_names = json!(names.into_values());
    }

    /// Writes the times of tasks, and waits for tasks.
    fn write_tasks(
        &mut self,
        tasks: [PageActivities; 4],
        reports: &mut Overviewed,
        resolved: &Resolved<'_>,
    ) {
        let mut each = std::mem::take(&mut reports.tasks.each);
        let mut names = Numbering::default();
        for ((time, mut kept), ended) in TaskTime::ALL.into_iter().zip(tasks).zip(each.take()) {
            ended.into_iter().for_each(|row| kept.add(row));
            let name = |label| usize::try_from(label).ok().and_then(|label| each.names.get(label));
            let number = |label| names.number(name(label).map_or("", String::as_str)).into();
            kept.finish(&format!("tasks.{}", time.name()), resolved, number, self);
        }
        self.task_names = json!(names.into_values());
    }

    /// Writes the numbers of all rows of lists that are too long for the document, so that sums
    /// over ranges of time are exact.
    fn write_all_rows(&mut self, reports: &Overviewed) {
        let collections = &reports.gc.figures;
        let columns = &mut self.columns;
        if collections.len() > MAX_COLLECTIONS {
            columns.add_steps("gc.t", collections.iter().map(|row| row.start_ns));
            columns.add("gc.pause", collections.iter().map(|row| row.pause_ns));
            // 0 if nothing is missing, 1 if the start or the end is, 2 if the pause is.
            let missing = |row: &CollectionFigures| match (row.is_complete, row.has_pause) {
                (_, false) => 2,
                (is_complete, true) => u64::from(!is_complete),
            };
            columns.add("gc.missing", collections.iter().map(missing));
            let generation = |row: &CollectionFigures| u64::from(row.generation);
            columns.add("gc.generation", collections.iter().map(generation));
            let allocated = |row: &CollectionFigures| row.allocated_bytes.unwrap_or(0);
            columns.add("gc.allocated", collections.iter().map(allocated));
            let promoted = |row: &CollectionFigures| row.promoted_bytes.unwrap_or(0);
            columns.add("gc.promoted", collections.iter().map(promoted));
        }
        let methods = &reports.jit.methods;
        if methods.len() > MAX_ROWS {
            columns.add_steps("jit.t", methods.iter().map(|row| row.start_ns));
            columns.add("jit.nanos", methods.iter().map(|row| row.duration_ns));
            let tiers: Vec<&str> = reports.jit.tiers.iter().map(|row| row.tier).collect();
            let tier = |name| tiers.iter().position(|tier| *tier == name).unwrap_or(tiers.len());
            columns.add("jit.tier", methods.iter().map(|row| tier(row.tier) as u64));
        }
        let messages = &reports.logs.messages;
        if messages.len() > MAX_ROWS {
            columns.add_steps("logs.t", messages.iter().map(|row| row.ts_ns));
            columns.add("logs.level", messages.iter().map(|row| row.level as u64));
        }
    }

    /// Keeps at most `most` rows of a report's list, evenly spread. `all` is the number of rows before
    /// any were left out.
    fn cut_rows<R>(
        &mut self,
        report: &'static str,
        list: &'static str,
        rows: &mut Vec<R>,
        all: usize,
        most: usize,
    ) {
        let step = rows.len().div_ceil(most).max(1);
        let mut places = 0_usize..;
        rows.retain(|_| places.next().is_some_and(|place| place.is_multiple_of(step)));
        rows.shrink_to_fit();
        let kept = rows.len();
        if kept < all {
            let step = all.div_ceil(kept.max(1)) as u64;
            let (kept, all) = (kept as u64, all as u64);
            self.thin(PagePart::Report(report), Thinning::OneOf { list, kept, all, step });
        }
    }

    /// Notes that samples were added up, or lost their stacks.
    fn thin_samples(&mut self, kind: Kind, bin_nanos: i64, forgotten: Forgotten) {
        let Forgotten { without_stack: samples, left_out } = forgotten;
        if let Some(bin_nanos) = u64::try_from(bin_nanos).ok().filter(|nanos| *nanos > 0) {
            self.thin(PagePart::Samples(kind), Thinning::AddedUp { bin_nanos, left_out });
        }
        if samples > 0 {
            self.thin(PagePart::Samples(kind), Thinning::WithoutStack { samples });
        }
    }

    /// Notes that a part of the page is incomplete.
    pub(super) fn thin(&mut self, about: PagePart, how: Thinning) {
        self.thinned.push(Thinned { about, how });
    }

    /// Adds the report on counters. Joins neighbouring points of each counter, if there are too many.
    fn add_counters(&mut self, report: &mut CountersReport) {
        let all: usize = report.series.iter().map(|series| series.points.len()).sum();
        let step = all.div_ceil(MAX_POINTS).max(1);
        if step > 1 {
            report.series.iter_mut().for_each(|series| series.join_points(step));
            self.thin(PagePart::Report(Counters::NAME), Thinning::Joined { step: step as u64 });
        }
        self.add(Counters::NAME, report);
    }
}

/// The part of the report on assemblies that a page shows.
#[derive(Serialize)]
struct LoadedAssemblies {
    schema: u32,
    assemblies: Vec<AssemblyRow>,
}

/// Returns the page's number for the state of a sample: 0 managed, 1 native, 2 waiting, 3 ready. A
/// thread that takes a lock counts as managed, because it spins in managed code.
fn state_number(state: ThreadState) -> u64 {
    match state {
        ThreadState::Managed | ThreadState::TakingLock => 0,
        ThreadState::Native => 1,
        ThreadState::Waiting => 2,
        ThreadState::Ready => 3,
    }
}

fn kind_key(kind: Kind) -> &'static str {
    match kind {
        Kind::Cpu => "cpu",
        Kind::AllocationTicks => "alloc_ticks",
        Kind::AllocationSamples => "alloc",
        Kind::Exceptions => "exceptions",
        Kind::Contention => "contention",
        Kind::Waits => "waits",
        Kind::ThreadStarts => "thread_starts",
        Kind::OffCpu => "off_cpu",
        Kind::Event => "events",
        Kind::Heap => "heap",
    }
}

fn write_tracks(
    page: &mut Page,
    shared: &SharedTracks,
    (thrown, triggers): (PageExceptions, PageTriggers),
    (of_events, served): (&[StackHandle], &EndpointSpans),
    resolved: &Resolved<'_>,
) {
    let mut tracks = over_time::take(shared);
    let model = resolved.model();
    let mut nodes = CallNodeColumns::new();
    let mut columns = std::mem::take(&mut page.columns);
    let mut kinds = Map::new();
    let forgotten: BTreeMap<Kind, Forgotten> = tracks.samples.forgotten().collect();
    for (kind, mut rows, stretch) in tracks.samples.take() {
        if kind == Kind::Cpu {
            rows = over_time::divided(rows, resolved);
        }
        let about = write_samples(kind, rows, served, resolved, &mut nodes, &mut columns);
        page.thin_samples(kind, stretch, forgotten.get(&kind).copied().unwrap_or_default());
        kinds.insert(kind_key(kind).to_owned(), about);
    }
    write_exceptions(&thrown, resolved, &mut nodes, &mut columns);
    thrown.thinnings().for_each(|how| page.thin(PagePart::Report(Exceptions::NAME), how));
    triggers.write(resolved, &mut nodes, &mut columns);
    triggers.thinning().into_iter().for_each(|how| page.thin(PagePart::Triggers, how));
    let of_events = of_events.iter().map(|stack| nodes.leaf(stack.0, resolved.frames(*stack)));
    columns.add("events.node", of_events.map(u64::from).collect::<Vec<_>>());
    let mut categories = Map::new();
    for (category, of) in tracks.spans.finish() {
        let name = category.name();
        write_spans(name, &of, &mut columns);
        let (kept, left_out) = (of.rows.len() as u64, of.left_out);
        if left_out > 0 {
            page.thin(PagePart::Spans(category), Thinning::Longest { kept, left_out });
        }
        let others = format!("span.{name}.others");
        if let Some(about) = of.others.write(&others, ["key"], true, &mut columns) {
            page.sums.insert(others, about);
        }
        categories.insert(name.to_owned(), Value::from(kept));
    }
    if let Some(about) =
        thrown.others.write("thrown.others", ["type", "place"], false, &mut columns)
    {
        page.sums.insert("thrown.others".to_owned(), about);
    }
    nodes.thinning().into_iter().for_each(|how| page.thin(PagePart::Stacks, how));
    page.frames = nodes.write(resolved, &mut columns);
    page.kinds = Value::Object(kinds);
    page.categories = Value::Object(categories);
    let names = std::mem::take(&mut page.activity_names);
    let tasks = std::mem::take(&mut page.task_names);
    let types = thrown.types.texts.all();
    let types: Vec<String> = types.map(|stored| type_text(stored, resolved.names())).collect();
    page.texts = json!({ "activities": names, "tasks": tasks, "spans": texts(&tracks.spans.texts), "exceptions": types,
        "messages": texts(&thrown.messages.texts), "endpoints": served.endpoints() });
    page.threads = threads(model);
    page.columns = columns;
}

/// Returns all threads. In processes whose locks name their owners by managed ids, each thread has
/// its managed id, or 0 if that is unknown.
fn threads(model: &Model) -> Value {
    let processes = model.processes().filter(|(_, process)| process.has_managed_owners());
    let managed: HashMap<_, HashMap<u64, u64>> = processes
        .map(|(handle, process)| {
            (handle, process.managed_threads().map(|(managed, os)| (os, managed)).collect())
        })
        .collect();
    model
        .threads()
        .map(|(handle, row)| {
            let process = model.process(row.process).and_then(|process| process.id);
            let of_process = managed.get(&row.process);
            let managed = of_process
                .map(|known| row.os_thread_id.and_then(|id| known.get(&id)).copied().unwrap_or(0));
            json!({ "label": model.thread_label(handle), "id": row.os_thread_id, "name": row.name,
                "process": process, "events": row.events, "managed": managed })
        })
        .collect()
}

/// Writes the samples of a kind that pass the filter, and the endpoints of their requests. Returns
/// what the document says about the kind: among others labels, the kinds of waits of the threads, and
/// the calls in which they waited for requests.
fn write_samples(
    kind: Kind,
    rows: Vec<SampleRow>,
    served: &EndpointSpans,
    resolved: &Resolved<'_>,
    nodes: &mut CallNodeColumns,
    columns: &mut Columns,
) -> Value {
    let key = kind_key(kind);
    let rows: Vec<_> =
        rows.into_iter().filter(|row| resolved.admits(row.key.stack, row.key.mode)).collect();
    columns.add_steps(format!("{key}.t"), rows.iter().map(|row| row.nanos));
    columns.add(format!("{key}.weight"), rows.iter().map(|row| row.weight));
    columns.add(format!("{key}.thread"), rows.iter().map(|row| u64::from(row.key.thread.0)));
    let leaves: Vec<u64> = rows
        .iter()
        .map(|row| match row.key.is_rest() {
            true => nodes.rest().into(),
            false => {
                let stack = resolved.sample_stack(row.key.stack, row.key.mode);
                nodes.leaf(stack.0, resolved.frames(stack)).into()
            }
        })
        .collect();
    columns.add(format!("{key}.node"), leaves.iter().copied());
    if kind == Kind::Cpu {
        let state = |row: &SampleRow| state_number(resolved.state(row.key.stack, row.key.mode));
        columns.add(format!("{key}.state"), rows.iter().map(state));
    }
    if rows.iter().any(|row| row.count != 1) {
        columns.add(format!("{key}.count"), rows.iter().map(|row| row.count));
    }
    if rows.iter().any(|row| row.samples != 1) {
        columns.add(format!("{key}.samples"), rows.iter().map(|row| row.samples));
    }
    let waits_for = |row: &SampleRow| match row.key.is_rest() {
        true => None,
        false => resolved.waits_for(row.key.stack, row.key.mode).map(WaitFor::name),
    };
    let label = |row: &SampleRow| row.key.label.map(|label| resolved.model().text(label));
    let labels = write_words(format!("{key}.label"), rows.iter().map(label), columns);
    let mut about = json!({ "name": kind.name(), "unit": kind.unit(), "labels": labels });
    let endpoint = |row: &SampleRow| {
        let thread = resolved.model().thread(row.key.thread)?.os_thread_id?;
        let endpoint = served.at(thread, row.nanos).filter(|at| *at != UNKNOWN_ENDPOINT);
        resolved.served_by(row.key.stack, endpoint)
    };
    let endpoints: Vec<Option<u32>> = rows.iter().map(endpoint).collect();
    if endpoints.iter().any(Option::is_some) {
        // 0 says that the thread worked for no request.
        let number = |at: &Option<u32>| at.map_or(0, |at| u64::from(at).saturating_add(1));
        columns.add(format!("{key}.endpoint"), endpoints.iter().map(number));
    }
    if kind == Kind::Cpu
        && let Some(about) = about.as_object_mut()
    {
        let waits = write_words("cpu.for".to_owned(), rows.iter().map(waits_for), columns);
        about.insert("waits_for".to_owned(), json!(waits));
        about.insert("calls".to_owned(), write_calls(&rows, &endpoints, resolved, columns));
        let recording = rows.iter().zip(&leaves);
        let recording = recording.filter(|(row, _)| resolved.is_recording(row.key.stack));
        // Percentages of the page leave out the node's time.
        if let Some((_, node)) = recording.into_iter().next() {
            about.insert("recording".to_owned(), json!(node));
        }
    }
    about
}

/// Writes the numbers of the calls in which threads waited for requests, and returns the calls. The
/// number 0 says that there is none.
fn write_calls(
    rows: &[SampleRow],
    endpoints: &[Option<u32>],
    resolved: &Resolved<'_>,
    columns: &mut Columns,
) -> Value {
    let mut calls = Numbering::default();
    let mut known: HashMap<StackHandle, u64> = HashMap::default();
    let mut number = |(row, endpoint): (&SampleRow, &Option<u32>)| {
        let (stack, mode) = (row.key.stack, row.key.mode);
        if endpoint.is_none() || row.key.is_rest() || !resolved.is_waiting(stack, mode) {
            return 0;
        }
        let stack = resolved.sample_stack(stack, mode);
        *known
            .entry(stack)
            .or_insert_with(|| calls.id(waiting_call(resolved, resolved.frames(stack))).0)
    };
    let numbers: Vec<u64> = rows.iter().zip(endpoints).map(&mut number).collect();
    let calls = calls.into_values();
    if !calls.is_empty() {
        columns.add("cpu.call", numbers);
    }
    calls.into_iter().map(|(call, by)| json!({ "call": call, "by": by })).collect()
}

/// Writes a column of numbers of words, and returns the words. The number 0 says that there is no
/// word, and 1 is the first word. Without any word there is no column.
fn write_words<'w>(
    column: String,
    words: impl Iterator<Item = Option<&'w str>>,
    columns: &mut Columns,
) -> Vec<&'w str> {
    let mut known = Numbering::default();
    let of_rows: Vec<u64> = words.map(|word| word.map_or(0, |word| known.id(word).0)).collect();
    let known = known.into_values();
    if !known.is_empty() {
        columns.add(column, of_rows);
    }
    known
}

/// Writes the spans of a category.
fn write_spans(name: &str, of: &SpansOf, columns: &mut Columns) {
    columns.add_steps(format!("span.{name}.start"), of.rows.iter().map(|row| row.start_nanos));
    columns.add(format!("span.{name}.nanos"), of.rows.iter().map(|row| row.nanos));
    let numbers: [(&str, SpanNumber); 4] = [
        ("thread", |row| row.thread),
        ("name", |row| row.name),
        ("key", |row| row.key),
        ("detail", |row| row.detail),
    ];
    for (column, number) in numbers {
        let numbers = of.rows.iter().map(|row| u64::from(number(row)));
        columns.add(format!("span.{name}.{column}"), numbers);
    }
    if of.rows.iter().any(|row| row.owner != 0) {
        columns.add(format!("span.{name}.owner"), of.rows.iter().map(|row| row.owner));
    }
}

fn texts(texts: &crate::model::Texts) -> Vec<&str> {
    texts.all().collect()
}

/// A function that returns one of the numbers of a span.
type SpanNumber = fn(&SpanRow) -> u32;

fn write_exceptions(
    thrown: &PageExceptions,
    resolved: &Resolved<'_>,
    nodes: &mut CallNodeColumns,
    columns: &mut Columns,
) {
    let rows = &thrown.rows;
    columns.add_steps("thrown.t", rows.iter().map(|row| row.nanos));
    columns.add("thrown.thread", rows.iter().map(|row| u64::from(row.thread)));
    columns.add("thrown.type", rows.iter().map(|row| u64::from(row.type_name)));
    columns.add("thrown.message", rows.iter().map(|row| u64::from(row.message)));
    let leaves: Vec<u64> =
        rows.iter().map(|row| nodes.leaf(row.stack.0, resolved.frames(row.stack)).into()).collect();
    columns.add("thrown.node", leaves);
    let places = &thrown.places;
    columns.add("thrown.places.message", places.iter().map(|(message, _)| u64::from(*message)));
    let leaves: Vec<u64> = places
        .iter()
        .map(|(_, stack)| nodes.leaf(stack.0, resolved.frames(*stack)).into())
        .collect();
    columns.add("thrown.places.node", leaves);
}
