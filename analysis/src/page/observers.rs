//! The reports whose documents a page shows, and the data of the page's own views, gathered in one
//! pass.

use super::activities::PageActivities;
use super::call_nodes::CallNodeColumns;
use super::collections::PageCollections;
use super::compilations::PageCompilations;
use super::events::PageEvents;
use super::exceptions::PageExceptions;
use super::messages::PageMessages;
use super::readings::write_readings;
use super::samples::write_samples;
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
    EndpointSpans, Kind, Model, Resolved, StackHandle, TextHandle, ThreadTimes, type_text,
};
use crate::numbering::Numbering;
use crate::over_time::{self, Forgotten};
use crate::report::set::{ReportSet, Resolving};
use crate::report::{
    Activities, Alloc, AssemblyRow, Contention, Counters, Exceptions, Gc, Http, Jit, Loader, Logs,
    Moment, Report, ReportInput, Sql, TaskTime, Tasks, ThreadPool, TopNOptions, Waits,
};
use nettrace_parser::Event;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum number of rows of a report's list with one row for each occurrence.
const MAX_ROWS: usize = 20_000;
/// Maximum number of collections with all their details, which take 2 KB each.
const MAX_COLLECTIONS: usize = 2_000;
/// Maximum number of points of all counters together.
const MAX_POINTS: usize = 1 << 16;
/// Maximum number of slowest activities.
const SLOWEST: usize = 1000;
/// Maximum number of times in which threads worked for requests, which take 32 bytes each, and 24
/// more for each request.
const MAX_REQUEST_SPANS: usize = 5 << 14;
/// Maximum number of events after which the page takes over what has ended. Asking after each event
/// takes as long as a report.
const MAX_UNTAKEN: u32 = 64;
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
    collections: PageCollections,
    compilations: PageCompilations,
    messages: PageMessages,
    /// Number of events since the page took over what had ended.
    untaken: u32,
    tracks: SharedTracks,
    /// Readings of the threads.
    times: Option<Arc<ThreadTimes>>,
}

impl PageReports {
    pub(super) fn new(tracks: SharedTracks, times: Option<Arc<ThreadTimes>>) -> PageReports {
        let mut gc = Gc::default().at_most(MAX_COLLECTIONS);
        gc.keep_each();
        PageReports {
            overview: Overview::new(OverviewReports {
                gc,
                alloc: Alloc::default(),
                exceptions: Exceptions::default().top(STACKS),
                contention: Contention::default().top(STACKS),
                waits: Waits::default().top(STACKS),
                jit: Jit::default().without_methods().with_each(),
                pool: ThreadPool::default(),
                activities: Activities::default()
                    .with_http()
                    .with_each()
                    .with_request_spans(MAX_REQUEST_SPANS)
                    .top(SLOWEST),
                logs: Logs::default(),
                counters: Counters::default().at_most_points(MAX_POINTS),
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
            collections: PageCollections::default(),
            compilations: PageCompilations::default(),
            messages: PageMessages::default(),
            untaken: 0,
            tracks,
            times,
        }
    }
}

impl PageReports {
    /// Takes over what has ended.
    fn take_ended(&mut self) {
        self.untaken = 0;
        let [activities, requests] = self.overview.take_ended();
        activities.into_iter().for_each(|row| self.activities.add(row));
        requests.into_iter().for_each(|row| self.requests.add(row));
        for (kept, ended) in self.tasks.iter_mut().zip(self.overview.take_tasks()) {
            ended.into_iter().for_each(|row| kept.add(row));
        }
        self.overview.take_collections().iter().for_each(|row| self.collections.add(row));
        let compiled = self.overview.take_compilations();
        compiled.into_iter().for_each(|row| self.compilations.add(row));
        self.overview.take_messages().into_iter().for_each(|row| self.messages.add(row));
    }
}

/// Reports of a page that want the events of a type. The page's list of events wants all events.
#[derive(Clone, Copy)]
pub(super) struct PageInterest {
    overview: Option<OverviewInterest>,
    loader: bool,
    thrown: bool,
    triggers: bool,
}

impl ReportSet for PageReports {
    type Outputs = Page;
    type Interest = PageInterest;

    fn inputs(&self) -> Vec<ReportInput> {
        vec![ReportInput::Everything]
    }

    fn interest(&self, event: &Event<'_>) -> Option<PageInterest> {
        let overview = self.overview.interest(event);
        // No finding needs the report on assemblies, so the overview does not have it.
        Some(PageInterest {
            overview,
            loader: self.loader.wants(event),
            thrown: PageExceptions::wants(event),
            triggers: PageTriggers::wants(event),
        })
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
            self.untaken = self.untaken.saturating_add(1);
            if self.untaken >= MAX_UNTAKEN {
                self.take_ended();
            }
        }
        if interest.loader {
            self.loader.event(event, moment, model);
        }
        if moment.is_selected {
            if interest.thrown {
                self.thrown.add(event, moment, model);
            }
            if interest.triggers {
                self.triggers.add(event, moment, model);
            }
            self.events.add(event, moment, model);
        }
        0
    }

    fn outputs(mut self, resolving: &mut Resolving<'_>) -> Page {
        let mut page = Page::default();
        self.take_ended();
        page.add_report(TopNOptions::default(), resolving);
        let mut loader = self.loader.finish(resolving.for_report::<Loader>());
        let outcome = resolving.outcome();
        let resolved = resolving.for_report::<Summary>();
        let mut reports = self.overview.finish(resolved);
        let mut summary = SummaryReport::from_reports(&reports, resolved);
        if let Some(outcome) = outcome {
            summary.add_outcome(outcome);
        }
        page.summary = Some(summary);
        page.write_activities(self.activities, self.requests, &mut reports, resolved);
        page.write_tasks(self.tasks, &mut reports, resolved);
        self.collections.finish(&mut reports.gc, MAX_COLLECTIONS, &mut page);
        reports.jit.ended.drain(..).for_each(|row| self.compilations.add(row));
        self.compilations.finish(&reports.jit, &mut page);
        reports.logs.messages.drain(..).for_each(|row| self.messages.add(row));
        reports.logs.messages = self.messages.finish(&mut page);
        let all = loader.assemblies.len();
        page.cut_rows(Loader::NAME, "assemblies", &mut loader.assemblies, all, MAX_ROWS);
        let (schema, assemblies) = (loader.schema, loader.assemblies);
        page.add(Loader::NAME, &LoadedAssemblies { schema, assemblies });
        if reports.counters.step > 1 {
            let how = Thinning::Joined { step: reports.counters.step.into() };
            page.thin(PagePart::Report(Counters::NAME), how);
        }
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
        self.add(Counters::NAME, &reports.counters);
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

    /// Keeps at most `most` rows of a report's list, evenly spread. `all` is the number of rows before
    /// any were left out.
    pub(super) fn cut_rows<R>(
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
}

/// The part of the report on assemblies that a page shows.
#[derive(Serialize)]
struct LoadedAssemblies {
    schema: u32,
    assemblies: Vec<AssemblyRow>,
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
    for (kind, mut samples) in tracks.samples.take() {
        if kind == Kind::Cpu {
            samples = over_time::divided(samples, resolved);
        }
        let slice_nanos = samples.slice_nanos;
        let key = kind_key(kind);
        let about = write_samples((kind, key), samples, served, resolved, &mut nodes, &mut columns);
        page.thin_samples(kind, slice_nanos, forgotten.get(&kind).copied().unwrap_or_default());
        kinds.insert(key.to_owned(), about);
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
