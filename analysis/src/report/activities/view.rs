//! Sums of activities by place in the tree of names, label and stack.

use super::document::{
    ActivitiesReport, ActivityCalls, ActivityLayer, ActivityLine, ActivityNode, ActivityRow,
    SlowActivity, StatusCount,
};
use super::parts::{PartTotals, PartTracker, Parts};
use super::tree::ActivityTree;
use crate::document::SCHEMA;
use crate::model::{Mode, Resolved, StackHandle, TextHandle, ThreadHandle};
use crate::report::counts::increase;
use crate::report::distribution::Distribution;
use crate::report::occurrence::Occurrence;
use crate::sorted::SortFew;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// Counts all activities, or HTTP requests by target.
#[derive(Debug, Default)]
pub(super) struct ActivityView {
    pub(super) tree: ActivityTree,
    sites: HashMap<ActivitySite, ActivityStats>,
    /// Directions of requests, by label.
    directions: HashMap<TextHandle, &'static str>,
    pub(super) stops_without_start: u64,
    /// Requested activity, once it has stopped.
    pub(super) wanted: Option<Wanted>,
    /// Activities that have ended; `None` unless a caller takes them one by one.
    pub(super) ended: Option<Vec<Occurrence>>,
}

/// Requested activity, which has stopped.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub(super) label: TextHandle,
    pub(super) id: String,
    pub(super) start: i64,
    pub(super) duration: u64,
    pub(super) parts: PartTotals,
}

/// Totals of the activities at one site.
#[derive(Debug, Default, Clone)]
pub(super) struct ActivityStats {
    pub(super) started: u64,
    pub(super) errors: u64,
    pub(super) durations: Distribution,
    pub(super) statuses: BTreeMap<i64, u64>,
    pub(super) parts: PartTotals,
    pub(super) calls: OutgoingCalls,
    /// Slowest first.
    pub(super) slowest: Vec<Slow>,
}

/// Maximum number of targets that are counted for the calls of requests.
const MAX_CALLS: usize = 1000;
const SHOWN_CALLS: usize = 10;

/// Outgoing requests by label: number and nanoseconds.
#[derive(Debug, Default, Clone)]
pub(super) struct OutgoingCalls(BTreeMap<TextHandle, (u64, u64)>);

impl OutgoingCalls {
    pub(super) fn add(&mut self, label: TextHandle, nanos: u64) {
        self.add_all(label, (1, nanos));
    }

    pub(super) fn merge(&mut self, other: &OutgoingCalls) {
        other.0.iter().for_each(|(label, sums)| self.add_all(*label, *sums));
    }

    fn add_all(&mut self, label: TextHandle, (count, nanos): (u64, u64)) {
        if self.0.len() < MAX_CALLS || self.0.contains_key(&label) {
            let (counted, sum) = self.0.entry(label).or_default();
            (*counted, *sum) = (counted.saturating_add(count), sum.saturating_add(nanos));
        }
    }

    /// Returns the calls with the most time.
    fn rows(&self, resolved: &Resolved<'_>) -> Vec<ActivityCalls> {
        let texts = resolved.model().texts();
        let row = |(label, (count, total_ns)): (&TextHandle, &(u64, u64))| ActivityCalls {
            name: texts.get(*label).to_owned(),
            count: *count,
            total_ns: *total_ns,
        };
        let mut rows: Vec<ActivityCalls> = self.0.iter().map(row).collect();
        rows.sort_few_by(|one, other| {
            other.total_ns.cmp(&one.total_ns).then_with(|| one.name.cmp(&other.name))
        });
        rows.truncate(SHOWN_CALLS);
        rows
    }
}

/// An activity that has stopped.
#[derive(Debug, Clone)]
pub(super) struct Slow {
    pub(super) duration: u64,
    pub(super) start: i64,
    pub(super) thread: ThreadHandle,
    pub(super) stop_thread: ThreadHandle,
    pub(super) id: Option<String>,
    pub(super) is_error: bool,
    pub(super) fields: String,
    pub(super) parts: PartTotals,
    /// Times at which threads worked for the activity, if they are kept: thread, start, end.
    pub(super) threads: Vec<(ThreadHandle, i64, i64)>,
}

impl ActivityStats {
    /// Adds an activity that has stopped.
    pub(super) fn stopped(&mut self, slow: Slow, status: Option<i64>, top: usize) {
        self.parts.merge(&slow.parts);
        self.durations.add(slow.duration);
        if let Some(status) = status {
            increase(self.statuses.entry(status).or_default(), 1);
        }
        let at = self.slowest.partition_point(|other| other.duration >= slow.duration);
        if at < top {
            self.slowest.insert(at, slow);
            self.slowest.truncate(top);
        }
    }

    fn merge(&mut self, other: &ActivityStats) {
        self.started = self.started.saturating_add(other.started);
        self.errors = self.errors.saturating_add(other.errors);
        self.durations.merge(&other.durations);
        self.parts.merge(&other.parts);
        self.calls.merge(&other.calls);
        for (status, count) in &other.statuses {
            increase(self.statuses.entry(*status).or_default(), *count);
        }
    }
}

/// Key by which activities are counted. It has the stack, because filters of frames are applied at
/// the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ActivitySite {
    pub(super) node: usize,
    pub(super) label: TextHandle,
    /// Whether the activities are layers of requests that another site counts.
    pub(super) is_layer: bool,
    /// Whether the activities are requests inside others with this label.
    pub(super) is_nested: bool,
    pub(super) stack: StackHandle,
}

impl ActivityView {
    /// Counts an activity that has started. Returns the totals, to which a caller adds its end.
    pub(super) fn count(
        &mut self,
        site: ActivitySite,
        direction: Option<&'static str>,
        is_error: bool,
    ) -> &mut ActivityStats {
        if let Some(direction) = direction.filter(|_| !site.is_layer) {
            self.directions.insert(site.label, direction);
        }
        let stats = self.sites.entry(site).or_default();
        stats.started = stats.started.saturating_add(1);
        stats.errors = stats.errors.saturating_add(u64::from(is_error));
        stats
    }

    /// Keeps an activity that has ended, or never will.
    pub(super) fn note(
        &mut self,
        site: ActivitySite,
        start_nanos: i64,
        nanos: Option<u64>,
        is_error: bool,
    ) {
        if let Some(ended) = self.ended.as_mut().filter(|_| !site.is_layer) {
            let ActivitySite { label, stack, .. } = site;
            ended.push(Occurrence { start_nanos, nanos, label: label.0, stack, is_error });
        }
    }

    /// Returns the report with the `top` slowest activities. HTTP requests have their layers.
    pub(super) fn finish(
        self,
        resolved: &Resolved<'_>,
        tracker: &PartTracker,
        top: usize,
        is_http: bool,
    ) -> ActivitiesReport {
        let texts = resolved.model().texts();
        let parts =
            |totals: &PartTotals, duration| totals.parts(duration, tracker.is_sampled(), resolved);
        let thread_id = |thread| resolved.model().thread(thread).and_then(|row| row.os_thread_id);
        let ActivityView { tree, sites, directions, stops_without_start, wanted, ended } = self;
        let Summed { rows, nodes, mut slowest, all, layers, outermost } =
            Summed::new(&tree, sites, &directions, resolved, is_http);
        slowest.sort_few_by(|(one_name, one), (other_name, other)| {
            let key = |name, slow: &Slow| (Reverse(slow.duration), slow.start, name, slow.thread);
            key(*one_name, one).cmp(&key(*other_name, other))
        });
        slowest.truncate(top);
        let mut activities: Vec<ActivityRow> =
            rows.into_iter().map(|(name, stats)| row(name, stats, &parts, resolved)).collect();
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
        let slow = |(name, slow): (&str, Slow)| SlowActivity {
            name: name.to_owned(),
            id: slow.id,
            start_ns: slow.start,
            duration_ns: slow.duration,
            parts: parts(&slow.parts, slow.duration),
            thread_id: thread_id(slow.thread),
            stop_thread_id: thread_id(slow.stop_thread),
            is_error: slow.is_error,
            fields: slow.fields,
            threads: slow.threads.iter().map(|(it, from, to)| (it.0, *from, *to)).collect(),
        };
        let line = wanted.map(|wanted| ActivityLine {
            name: texts.get(wanted.label).to_owned(),
            id: wanted.id,
            start_ns: wanted.start,
            duration_ns: wanted.duration,
            parts: parts(&wanted.parts, wanted.duration),
            stretches: tracker.line(resolved),
        });
        ActivitiesReport {
            schema: SCHEMA,
            started: all.started,
            outermost,
            stopped: all.durations.count(),
            errors: all.errors,
            layers,
            stops_without_start,
            stops_cut_short: 0,
            activities,
            tree: tree_rows(&tree, &nodes, resolved),
            slowest: slowest.into_iter().map(slow).collect(),
            line,
            steps: Vec::new(),
            steps_left_out: 0,
            events: Vec::new(),
            events_left_out: 0,
            used: 0,
            http: None,
            ended: ended.unwrap_or_default(),
        }
    }
}

/// Sums of the sites that pass the filter.
#[derive(Default)]
struct Summed<'t> {
    rows: BTreeMap<&'t str, NamedStats<'t>>,
    /// Totals by node of the tree.
    nodes: Vec<ActivityStats>,
    slowest: Vec<(&'t str, Slow)>,
    all: ActivityStats,
    layers: u64,
    outermost: u64,
}

impl<'t> Summed<'t> {
    fn new(
        tree: &ActivityTree,
        sites: HashMap<ActivitySite, ActivityStats>,
        directions: &HashMap<TextHandle, &'static str>,
        resolved: &'t Resolved<'_>,
        is_http: bool,
    ) -> Summed<'t> {
        let texts = resolved.model().texts();
        let nodes = vec![ActivityStats::default(); tree.nodes().len()];
        let mut summed = Summed { nodes, ..Summed::default() };
        let mut sites: Vec<_> = sites
            .into_iter()
            .filter(|(site, _)| resolved.selected(site.stack, Mode::Unknown).is_some())
            .collect();
        sites.sort_few_by_key(|(site, _)| *site);
        for (site, mut stats) in sites {
            let name = texts.get(site.label);
            if let Some(node) = summed.nodes.get_mut(site.node) {
                node.merge(&stats);
            }
            let place = tree.nodes().get(site.node);
            let row = summed.rows.entry(name).or_default();
            if let Some(place) = place.filter(|_| is_http) {
                row.layers.entry(texts.get(place.name)).or_default().merge(&stats.durations);
            }
            if site.is_layer {
                summed.layers = summed.layers.saturating_add(stats.started);
                continue;
            }
            row.direction = row.direction.or(directions.get(&site.label).copied());
            row.stats.merge(&stats);
            let is_nested = if is_http { site.is_nested } else { tree.is_in_own_kind(site.node) };
            if is_nested {
                row.nested = row.nested.saturating_add(stats.started);
            } else {
                row.outermost_ns = row.outermost_ns.saturating_add(stats.durations.sum());
            }
            if place.is_none_or(|place| place.parent.is_none()) {
                summed.outermost = summed.outermost.saturating_add(stats.started);
            }
            summed
                .slowest
                .extend(std::mem::take(&mut stats.slowest).into_iter().map(|slow| (name, slow)));
            summed.all.merge(&stats);
        }
        summed
    }
}

/// Totals of the activities with one name.
#[derive(Debug, Default)]
struct NamedStats<'t> {
    stats: ActivityStats,
    direction: Option<&'static str>,
    nested: u64,
    outermost_ns: u64,
    layers: BTreeMap<&'t str, Distribution>,
}

fn row(
    name: &str,
    row: NamedStats<'_>,
    parts: &dyn Fn(&PartTotals, u64) -> Parts,
    resolved: &Resolved<'_>,
) -> ActivityRow {
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
        calls: stats.calls.rows(resolved),
        sql_commands: 0,
        sql_ns: 0,
        statuses: stats
            .statuses
            .iter()
            .map(|(status, count)| StatusCount { status: *status, count: *count })
            .collect(),
    }
}

/// Returns the nodes that are not empty, each followed by its children.
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
            name: resolved.model().text(node.name).to_owned(),
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
