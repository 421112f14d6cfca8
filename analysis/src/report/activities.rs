//! Activities: operations with a start and a stop.
//!
//! Sources are the events with opcode Start or Stop (or names with these endings) of any
//! EventSource, and the starts and stops of `Microsoft-Diagnostics-DiagnosticSource`:
//! HTTP, Kestrel, databases, custom ones. Those of the runtime, of tasks and of metrics
//! belong to other reports.
//!
//! Stops are matched with starts by [`OpenActivities`]. The parent of an activity is the
//! one that its start refers to (related activity id, `ParentId`), or the nearest open
//! one on the path encoded in its id.

use super::activity_fields::fields_text;
use super::activity_report::{
    ActivitiesReport, ActivityEvent, ActivityLayer, ActivityLine, ActivityNode, ActivityRow,
    SlowActivity, StatusCount,
};
use super::activity_tree::{ActivitySite, ActivityStats, ActivityTree, Begun, Slow};
use super::distribution::Distribution;
use super::http::{HttpFacts, request_of};
use super::parts::{PartTracker, Parts, Totals};
use super::{Moment, Recording, Report, SCHEMA};
use crate::model::activity_edge::{ActivityEdge, id_text, is_failure};
use crate::model::intervals::{Interval, OpenActivities, OpenActivity, OpenActivityKey};
use crate::model::{Mode, Model, Resolved, TextHandle, ThreadHandle, event_name, short};
use crate::sorted::SortFew;
use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// Maximum number of events kept for one activity.
const MOST_EVENTS: usize = 10_000;

/// The requested activity.
#[derive(Debug)]
struct Wanted {
    label: TextHandle,
    id: String,
    start: i64,
    duration: u64,
    parts: Totals,
}

/// Computes an [`ActivitiesReport`]. Memory is bounded by the number of names, stacks and
/// open activities.
#[derive(Debug)]
pub struct Activities {
    open: OpenActivities<Begun>,
    tree: ActivityTree,
    sites: HashMap<ActivitySite, ActivityStats>,
    /// Directions of requests, by the name they are counted under.
    directions: HashMap<TextHandle, &'static str>,
    /// The last request that started on each thread.
    requests: HashMap<ThreadHandle, OpenActivityKey>,
    stops_without_start: u64,
    is_http: bool,
    /// Tracks what time is spent on; `None` if that is not wanted.
    parts: Option<PartTracker>,
    id: Option<String>,
    /// The requested activity, once it has stopped.
    wanted: Option<Wanted>,
    events: Vec<ActivityEvent>,
    events_left_out: u64,
    top: usize,
}

impl Default for Activities {
    fn default() -> Activities {
        Activities::new()
    }
}

impl Activities {
    /// All activities, with the 10 slowest.
    pub fn new() -> Activities {
        Activities {
            open: OpenActivities::default(),
            tree: ActivityTree::default(),
            sites: HashMap::new(),
            directions: HashMap::new(),
            requests: HashMap::new(),
            stops_without_start: 0,
            is_http: false,
            parts: Some(PartTracker::default()),
            id: None,
            wanted: None,
            events: Vec::new(),
            events_left_out: 0,
            top: 10,
        }
    }

    /// HTTP requests only, by target.
    pub fn http() -> Activities {
        Activities { is_http: true, ..Activities::new() }
    }

    /// Without tracking what time is spent on.
    pub(crate) fn without_parts() -> Activities {
        Activities { parts: None, ..Activities::new() }
    }

    /// Sets how many of the slowest are listed.
    #[must_use]
    pub fn top(mut self, count: usize) -> Activities {
        self.top = count;
        self
    }

    /// Lists the events of the activity with this id, and of activities inside it. The id
    /// is a path, a GUID, or an id of DiagnosticSource.
    #[must_use]
    pub fn with_events_of(mut self, id: &str) -> Activities {
        self.id = Some(id.trim_end_matches('/').to_ascii_lowercase());
        self
    }

    /// The name of the open activity that an event belongs to.
    pub(crate) fn name_of(&self, event: &Event<'_>) -> Option<TextHandle> {
        let id = event.activity_id().filter(|id| !id.is_zero())?;
        let id = id_text(id, event.process_id());
        let activity = self.open.with_id(&id).or_else(|| self.open.parent(Some(&id), None));
        activity.map(|activity| activity.name)
    }

    fn start(
        &mut self,
        event: &Event<'_>,
        edge: ActivityEdge,
        facts: Option<&HttpFacts>,
        moment: &Moment,
        model: &mut Model,
    ) {
        let name = model.texts_mut().intern(&edge.name);
        let newest = self.requests.get(&moment.thread).copied();
        let layer_of = facts.and_then(|facts| request_of(&self.open, newest, &edge, name, facts));
        let parent =
            layer_of.or_else(|| self.parent_of(&edge)).and_then(|place| self.open.at(place));
        let node = self.tree.node(parent.map(|parent| parent.what.node), name);
        let label = facts.and_then(HttpFacts::label).map(|label| model.texts_mut().intern(&label));
        let part = self.parts.as_mut().filter(|_| layer_of.is_none()).map(|parts| {
            let above = parent.and_then(|parent| parent.what.part);
            let is_wanted = self.id.as_deref().is_some_and(|wanted| {
                [&edge.id, &edge.path]
                    .into_iter()
                    .flatten()
                    .any(|id| id.eq_ignore_ascii_case(wanted))
            });
            parts.start(event, moment, above, is_wanted)
        });
        if let Some(request) = layer_of.and_then(|place| self.open.at_mut(place)) {
            request.what.label = request.what.label.or(label);
        }
        let begun = Begun {
            part,
            node,
            stack: model.stack_of(event, moment.thread),
            is_selected: moment.is_selected,
            is_error: edge.is_error,
            fields: if moment.is_selected { fields_text(event) } else { String::new() },
            label,
            http: facts.cloned(),
            layer_of,
        };
        if begun.http.is_some() && layer_of.is_none() {
            self.requests.insert(moment.thread, self.open.next_place(name));
        }
        if let Some(lost) = self.open.start(edge, name, moment.edge(event), begun) {
            if let (Some(parts), Some(part)) = (&mut self.parts, lost.what.what.part) {
                parts.stop(part, event, moment);
            }
            self.never_stopped(&lost.what, model);
        }
    }

    /// The open activity that is the parent of a new one.
    fn parent_of(&self, edge: &ActivityEdge) -> Option<OpenActivityKey> {
        let reported = self.open.parent_place(edge.id.as_deref(), edge.parent.as_deref());
        reported.or_else(|| self.open.parent_place(edge.path.as_deref(), None))
    }

    fn stop(
        &mut self,
        event: &Event<'_>,
        edge: &ActivityEdge,
        facts: Option<&HttpFacts>,
        moment: &Moment,
        model: &mut Model,
    ) {
        let name = model.texts_mut().intern(&edge.name);
        let stopped = self.open.stop(edge, name, moment.edge(event));
        let Some(Interval { start, nanos: duration, what: activity, .. }) = stopped else {
            if moment.is_selected {
                self.stops_without_start = self.stops_without_start.saturating_add(1);
            }
            return;
        };
        let parts = self.parts.as_mut().zip(activity.what.part);
        let parts = parts.map(|(parts, part)| parts.stop(part, event, moment)).unwrap_or_default();
        if !activity.what.is_selected {
            return;
        }
        let is_error =
            activity.what.is_error || edge.is_error || facts.is_some_and(HttpFacts::is_error);
        let label = facts.and_then(HttpFacts::label);
        if activity.what.layer_of.is_some() {
            self.stop_layer(
                &activity,
                label,
                duration,
                is_error,
                facts.and_then(|facts| facts.status),
                model,
            );
            return;
        }
        let top = self.top;
        if let Some(id) = self.wanted_id(&activity).filter(|_| self.wanted.is_none()) {
            let label = activity.what.label.unwrap_or(activity.name);
            self.wanted = Some(Wanted {
                label,
                id,
                start: activity.at.nanos,
                duration,
                parts: parts.clone(),
            });
        }
        let stats = self.stats(&activity, label, model);
        stats.parts.merge(&parts);
        stats.started = stats.started.saturating_add(1);
        stats.errors = stats.errors.saturating_add(u64::from(is_error));
        stats.durations.add(duration);
        if let Some(status) =
            facts.and_then(|facts| facts.status).or(activity.what.http.and_then(|http| http.status))
        {
            let count = stats.statuses.entry(status).or_default();
            *count = count.saturating_add(1);
        }
        let slow = Slow {
            duration,
            start: start.nanos,
            thread: start.thread,
            stop_thread: moment.thread,
            id: activity.id,
            is_error,
            parts,
            // Tags are usually set while an activity runs.
            fields: match event.known_provider() {
                KnownProvider::DiagnosticSource => fields_text(event),
                _ => activity.what.fields,
            },
        };
        stats.add_slow(slow, top);
    }

    /// The id of an activity, if it is the requested one.
    fn wanted_id(&self, activity: &OpenActivity<Begun>) -> Option<String> {
        let wanted = self.id.as_deref()?;
        let mut ids = [&activity.id, &activity.path].into_iter().flatten();
        ids.find(|id| id.eq_ignore_ascii_case(wanted)).cloned()
    }

    /// A layer has reported how long a request took. Its other facts are added to the
    /// request.
    fn stop_layer(
        &mut self,
        layer: &OpenActivity<Begun>,
        label: Option<String>,
        duration: u64,
        is_error: bool,
        status: Option<i64>,
        model: &mut Model,
    ) {
        let label =
            layer.what.label.or_else(|| label.map(|label| model.texts_mut().intern(&label)));
        let request = layer.what.layer_of.and_then(|place| self.open.at_mut(place));
        let request = request.map(|request| &mut request.what);
        let mut request_label = None;
        if let Some(request) = request {
            request.label = request.label.or(label);
            request_label = request.label;
            request.is_error |= is_error;
            if let Some(http) = &mut request.http {
                http.status = http.status.or(status);
            }
        }
        let label = request_label.or(label).unwrap_or(layer.name);
        let stats = self.sites.entry(layer.what.site(label)).or_default();
        stats.started = stats.started.saturating_add(1);
        stats.errors = stats.errors.saturating_add(u64::from(is_error));
        stats.durations.add(duration);
    }

    fn never_stopped(&mut self, activity: &OpenActivity<Begun>, model: &mut Model) {
        if activity.what.is_selected {
            let stats = self.stats(activity, None, model);
            stats.started = stats.started.saturating_add(1);
            stats.errors = stats.errors.saturating_add(u64::from(activity.what.is_error));
        }
    }

    fn stats(
        &mut self,
        activity: &OpenActivity<Begun>,
        label: Option<String>,
        model: &mut Model,
    ) -> &mut ActivityStats {
        let label =
            activity.what.label.or_else(|| label.map(|label| model.texts_mut().intern(&label)));
        let label = label.unwrap_or(activity.name);
        if let Some(direction) = activity.what.http.as_ref().and_then(|http| http.direction) {
            self.directions.insert(label, direction);
        }
        self.sites.entry(activity.what.site(label)).or_default()
    }

    /// Keeps an event of the requested activity.
    fn keep(
        &mut self,
        event: &Event<'_>,
        edge: Option<&ActivityEdge>,
        moment: &Moment,
        model: &Model,
    ) {
        let Some(wanted) = &self.id else { return };
        let is_inside = |id: &str| {
            let id = id.to_ascii_lowercase();
            id.strip_prefix(wanted.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '$']))
        };
        let guid = event.activity_id().filter(|id| !id.is_zero());
        let own = guid.map(|id| id_text(id, event.process_id())).filter(|id| is_inside(id));
        let own = own.or_else(|| guid.map(|id| id.to_string()).filter(|id| is_inside(id)));
        let reported = || {
            let edge = edge?;
            [&edge.id, &edge.parent].into_iter().flatten().find(|id| is_inside(id)).cloned()
        };
        let Some(id) = own.or_else(reported) else { return };
        if self.events.len() >= MOST_EVENTS {
            self.events_left_out = self.events_left_out.saturating_add(1);
            return;
        }
        let opcode = event.metadata().and_then(|metadata| metadata.opcode);
        let name = event_name(event.name(), event.id(), opcode, event.catalog());
        let name = name.map(Cow::into_owned).unwrap_or_default();
        self.events.push(ActivityEvent {
            ts_ns: moment.nanos,
            thread_id: model.threads().get(moment.thread).and_then(|row| row.os_thread_id),
            id,
            event: format!("{}/{}", short(event.provider()), short(&name)),
            fields: fields_text(event),
        });
    }
}

impl Report for Activities {
    type Output = ActivitiesReport;

    const NAME: &'static str = "activities";
    const ABOUT: &'static str = "Activities with a start and a stop, such as requests";
    const RECORD: &'static [Recording] = &[
        // ActivitySources are only recorded if the arguments name them; this names all.
        Recording::new("Microsoft-Diagnostics-DiagnosticSource", 0x3, 5)
            .arguments("FilterAndPayloadSpecs=[AS]*")
            .since(5),
        Recording::new("System.Net.Http", u64::MAX, 4).since(5),
        Recording::new("Microsoft.AspNetCore.Hosting", u64::MAX, 4),
    ];

    fn wants(&self, event: &Event<'_>) -> bool {
        match event.known_provider() {
            // An activity's time is also spent in events of others, and any event may
            // belong to the requested activity.
            _ if self.id.is_some() => true,
            KnownProvider::DiagnosticSource | KnownProvider::Logging | KnownProvider::Other => true,
            KnownProvider::EventPipe
            | KnownProvider::Rundown
            | KnownProvider::UniversalSystem
            | KnownProvider::UniversalEvents => false,
            _ => self.parts.is_some(),
        }
    }

    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool {
        if let Some(parts) = &mut self.parts {
            parts.event(event, moment, model);
        }
        let edge = ActivityEdge::of(event);
        let facts =
            edge.as_ref().filter(|_| self.is_http).and_then(|edge| HttpFacts::of(event, edge));
        let edge = edge.filter(|_| !self.is_http || facts.is_some());
        if self.id.is_some() {
            self.keep(event, edge.as_ref(), moment, model);
        }
        match edge {
            Some(edge) if edge.is_start => self.start(event, edge, facts.as_ref(), moment, model),
            Some(edge) => self.stop(event, &edge, facts.as_ref(), moment, model),
            None => {
                if event.known_provider() == KnownProvider::Other
                    && is_failure(event)
                    && let Some(id) = event.activity_id().filter(|id| !id.is_zero())
                    && let Some(activity) = self.open.with_id_mut(&id_text(id, event.process_id()))
                    && model.texts().get(activity.name).starts_with(short(event.provider()))
                {
                    activity.what.is_error = true;
                }
                return false;
            }
        }
        true
    }

    fn finish(mut self, resolved: &Resolved<'_>) -> ActivitiesReport {
        let texts = resolved.model().texts();
        let stops_cut_short = self.open.cut_short();
        let mut sites = std::mem::take(&mut self.sites);
        // No event says when they ended.
        for OpenActivity { name, what: activity, .. } in self.open.finish(0).map(|open| open.what) {
            if !activity.is_selected {
                continue;
            }
            let label = activity.label.unwrap_or(name);
            if let Some(direction) = activity.http.as_ref().and_then(|http| http.direction) {
                self.directions.insert(label, direction);
            }
            let stats = sites.entry(activity.site(label)).or_default();
            stats.started = stats.started.saturating_add(1);
            stats.errors = stats.errors.saturating_add(u64::from(activity.is_error));
        }
        let mut sites: Vec<_> = sites
            .into_iter()
            .filter(|(site, _)| resolved.selected(site.stack, Mode::Unknown).is_some())
            .collect();
        sites.sort_few_by_key(|(site, _)| *site);
        let mut rows: BTreeMap<&str, NamedStats> = BTreeMap::new();
        let mut nodes: Vec<ActivityStats> = vec![ActivityStats::default(); self.tree.nodes().len()];
        let mut slowest = Vec::new();
        let mut all = ActivityStats::default();
        let (mut layers, mut outermost) = (0_u64, 0_u64);
        for (site, mut stats) in sites {
            let name = texts.get(site.label);
            if let Some(node) = nodes.get_mut(site.node) {
                node.merge(&stats);
            }
            let place = self.tree.nodes().get(site.node);
            let row = rows.entry(name).or_default();
            if let Some(place) = place.filter(|_| self.is_http) {
                row.layers.entry(texts.get(place.name)).or_default().merge(&stats.durations);
            }
            if site.is_layer {
                layers = layers.saturating_add(stats.started);
                continue;
            }
            row.direction = row.direction.or(self.directions.get(&site.label).copied());
            row.stats.merge(&stats);
            if self.tree.is_in_own_kind(site.node) {
                row.nested = row.nested.saturating_add(stats.started);
            } else {
                row.outermost_ns = row.outermost_ns.saturating_add(stats.durations.sum());
            }
            if place.is_none_or(|place| place.parent.is_none()) {
                outermost = outermost.saturating_add(stats.started);
            }
            all.started = all.started.saturating_add(stats.started);
            all.errors = all.errors.saturating_add(stats.errors);
            all.durations.merge(&stats.durations);
            slowest.extend(std::mem::take(&mut stats.slowest).into_iter().map(|slow| (name, slow)));
        }
        slowest.sort_few_by(|(one_name, one), (other_name, other)| {
            let key = |name, slow: &Slow| (Reverse(slow.duration), slow.start, name, slow.thread);
            key(*one_name, one).cmp(&key(*other_name, other))
        });
        slowest.truncate(self.top);
        let thread_id =
            |thread| resolved.model().threads().get(thread).and_then(|row| row.os_thread_id);
        let tracker = self.parts.take().unwrap_or_default();
        let parts =
            |totals: &Totals, duration| totals.parts(duration, tracker.is_sampled(), resolved);
        let line = self.wanted.take().map(|wanted| ActivityLine {
            name: texts.get(wanted.label).to_owned(),
            id: wanted.id,
            start_ns: wanted.start,
            duration_ns: wanted.duration,
            parts: parts(&wanted.parts, wanted.duration),
            stretches: tracker.line(resolved),
        });
        let mut activities: Vec<ActivityRow> =
            rows.into_iter().map(|(name, stats)| row(name, stats, &parts)).collect();
        activities.sort_few_by(|one, other| {
            // Incoming requests first, then outgoing ones, then others.
            let group = |row: &ActivityRow| match row.direction.as_deref() {
                Some("in") => 0,
                Some(_) => 1,
                None => 2,
            };
            let key = |row: &ActivityRow| {
                (group(row), Reverse(row.durations.total_ns), Reverse(row.started))
            };
            key(one).cmp(&key(other)).then_with(|| one.name.cmp(&other.name))
        });
        ActivitiesReport {
            schema: SCHEMA,
            started: all.started,
            outermost,
            stopped: all.durations.count(),
            errors: all.errors,
            layers,
            stops_without_start: self.stops_without_start,
            stops_cut_short,
            activities,
            tree: tree_rows(&self.tree, &nodes, resolved),
            slowest: slowest
                .into_iter()
                .map(|(name, slow)| SlowActivity {
                    name: name.to_owned(),
                    id: slow.id,
                    start_ns: slow.start,
                    duration_ns: slow.duration,
                    parts: parts(&slow.parts, slow.duration),
                    thread_id: thread_id(slow.thread),
                    stop_thread_id: thread_id(slow.stop_thread),
                    is_error: slow.is_error,
                    fields: slow.fields,
                })
                .collect(),
            line,
            events: self.events,
            events_left_out: self.events_left_out,
        }
    }
}

/// Totals for the activities with one name.
#[derive(Debug, Default)]
struct NamedStats<'t> {
    stats: ActivityStats,
    direction: Option<&'static str>,
    nested: u64,
    outermost_ns: u64,
    layers: BTreeMap<&'t str, Distribution>,
}

fn row(name: &str, row: NamedStats<'_>, parts: &dyn Fn(&Totals, u64) -> Parts) -> ActivityRow {
    let stats = row.stats;
    let layer = |(name, durations): (&str, Distribution)| ActivityLayer {
        name: name.to_owned(),
        durations: durations.spread(),
    };
    let mut layers: Vec<ActivityLayer> = match row.layers.len() {
        0 | 1 => Vec::new(),
        _ => row.layers.into_iter().map(layer).collect(),
    };
    layers.sort_few_by_key(|layer| Reverse(layer.durations.total_ns));
    ActivityRow {
        name: name.to_owned(),
        direction: row.direction.map(str::to_owned),
        started: stats.started,
        nested: row.nested,
        stopped: stats.durations.count(),
        errors: stats.errors,
        durations: stats.durations.spread(),
        parts: parts(&stats.parts, stats.durations.sum()),
        outermost_ns: row.outermost_ns,
        layers,
        statuses: stats
            .statuses
            .iter()
            .map(|(status, count)| StatusCount { status: *status, count: *count })
            .collect(),
    }
}

/// The nodes that are not empty, each followed by its children.
fn tree_rows(
    tree: &ActivityTree,
    stats: &[ActivityStats],
    resolved: &Resolved<'_>,
) -> Vec<ActivityNode> {
    let nodes = tree.nodes();
    let mut sums: Vec<u64> = stats.iter().map(|stats| stats.started).collect();
    let mut inside: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    let mut roots = Vec::new();
    // Nodes come after their parents.
    for (at, node) in nodes.iter().enumerate().rev() {
        let sum = sums.get(at).copied().unwrap_or(0);
        if sum == 0 {
            continue;
        }
        match node.parent {
            Some(parent) => {
                if let (Some(above), Some(list)) = (sums.get_mut(parent), inside.get_mut(parent)) {
                    *above = above.saturating_add(sum);
                    list.push(at);
                }
            }
            None => roots.push(at),
        }
    }
    let total = |at: &usize| stats.get(*at).map_or(0, |stats| stats.durations.sum());
    let mut rows = Vec::new();
    roots.sort_few_by_key(|at| (total(at), Reverse(*at)));
    let mut due = roots;
    while let Some(at) = due.pop() {
        let (Some(node), Some(stats)) = (nodes.get(at), stats.get(at)) else { continue };
        rows.push(ActivityNode {
            name: resolved.model().texts().get(node.name).to_owned(),
            depth: node.depth,
            started: stats.started,
            stopped: stats.durations.count(),
            errors: stats.errors,
            durations: Distribution::spread(&stats.durations),
        });
        let mut children = inside.get_mut(at).map(std::mem::take).unwrap_or_default();
        children.sort_few_by_key(|at| (total(at), Reverse(*at)));
        due.extend(children);
    }
    rows
}
