//! Sums of activities by place in the tree of names, label and stack.

use super::MAX_PAGE_SPANS;
use super::chosen_spans::FoundSpans;
use super::document::{
    ActivitiesReport, ActivityCalls, ActivityLayer, ActivityLine, ActivityNode, ActivityRow,
    SlowActivity, StatusCount, Unpaired,
};
use super::fields::KeptFields;
use super::name::ActivityName;
use super::parts::{PartTotals, PartTracker, Parts};
use super::request::OutgoingSums;
use super::serving::{AnsweredCall, Serving, ServingRequest};
use super::tree::ActivityTree;
use crate::document::SCHEMA;
use crate::hash::HashMap;
use crate::model::activity_edge::http_facts::HttpDirection;
use crate::model::activity_id::ActivityId;
use crate::model::intervals::{OpenActivityKey, SharedTime};
use crate::model::{EndpointSpans, Mode, Resolved, StackHandle, TextHandle, Texts, ThreadHandle};
use crate::report::counts::increase;
use crate::report::distribution::{Distribution, Spread};
use crate::report::occurrence::{Lasted, Occurrence};
use crate::report::requests::HttpPhases;
use crate::sorted::SortFew;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Counts all activities, or HTTP requests by target.
#[derive(Debug, Default)]
pub(super) struct ActivityView {
    pub(super) tree: ActivityTree,
    sites: HashMap<ActivitySite, ActivityStats>,
    /// Directions of requests, by label.
    directions: HashMap<TextHandle, HttpDirection>,
    pub(super) stops_without_start: u64,
    /// Times of activities whose stops cannot be told apart, by their sites.
    shared: BTreeMap<Vec<ActivitySite>, SharedSum>,
    /// Requested activity, once it has stopped.
    pub(super) wanted: Option<Box<Wanted>>,
    /// Activities that have ended; `None` unless a caller takes them one by one.
    pub(super) ended: Option<Vec<Occurrence>>,
    /// Number of calls of [`count`](ActivityView::count).
    counted: u64,
    /// Minimum duration of activities among the slowest.
    least_slow: u64,
}

/// Maximum number of slowest activities of all sites for a caller that takes all activities one by
/// one. It is more than the caller lists, because filters of frames are applied at the end.
const MAX_SLOWEST: usize = 8192;
/// Number of activities after which the slowest are counted.
const SLOWEST_STEP: u64 = 4096;

/// Requested activity, which has stopped.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub(super) label: TextHandle,
    pub(super) id: ActivityId,
    pub(super) start: i64,
    pub(super) duration: u64,
    pub(super) parts: PartTotals,
    pub(super) phases: Option<HttpPhases>,
    pub(super) served_by: Vec<Serving>,
}

/// Maximum number of different sites of activities whose stops cannot be told apart.
const MAX_SHARED: usize = 10_000;

/// Times of activities at the same sites whose stops cannot be told apart.
#[derive(Debug, Default)]
struct SharedSum {
    activities: u64,
    nanos: u64,
    /// Duration of the longest, at least.
    longest: u64,
}

/// Totals of the activities at one site.
#[derive(Debug, Default, Clone)]
pub(super) struct ActivityStats {
    pub(super) started: u64,
    /// Number of activities that have stopped, each at one of several stops that cannot be told
    /// apart.
    pub(super) unpaired: u64,
    /// Number of the unpaired activities whose total time is known.
    unpaired_summed: u64,
    unpaired_nanos: u64,
    unpaired_longest: u64,
    pub(super) errors: u64,
    pub(super) durations: Distribution,
    pub(super) statuses: BTreeMap<i64, u64>,
    pub(super) parts: PartTotals,
    pub(super) calls: OutgoingCalls,
    pub(super) outgoing: OutgoingSums,
    /// Slowest first.
    #[expect(clippy::vec_box, reason = "rows of 400 bytes are put between others")]
    slowest: Vec<Box<Slow>>,
    /// Minimum duration of the slowest.
    least_slow: u64,
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
            name: ActivityName::from_label(texts.get(*label), Some(HttpDirection::Out)),
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
    pub(super) id: Option<ActivityId>,
    /// Time of the start event, which may be later than `start`.
    pub(super) start_event: i64,
    /// Whether other activities may have the id.
    pub(super) may_repeat: bool,
    pub(super) is_error: bool,
    pub(super) fields: KeptFields,
    /// Parts of the time; `None` if parts are not wanted.
    pub(super) parts: Option<PartTotals>,
    pub(super) phases: Option<HttpPhases>,
    /// Incoming requests of the process that served this outgoing one.
    pub(super) served_by: Vec<Serving>,
    /// Times at which threads worked for the activity, if they are kept: thread, start, end.
    pub(super) threads: Vec<(ThreadHandle, i64, i64)>,
}

impl ActivityStats {
    /// Returns the number of activities that have stopped.
    fn stopped_count(&self) -> u64 {
        self.durations.count().saturating_add(self.unpaired)
    }

    /// Returns the time of the activities that have stopped, as far as it is known.
    fn total(&self) -> u64 {
        self.durations.sum().saturating_add(self.unpaired_nanos)
    }

    /// Returns the durations. Total and mean include the activities whose total is known, the other
    /// members only those whose own durations are known.
    fn spread(&self) -> Spread {
        let known = self.durations.spread();
        if self.unpaired == 0 {
            return known;
        }
        let count = known.count.saturating_add(self.unpaired_summed);
        let total_ns = self.total();
        Spread { total_ns, mean_ns: total_ns.checked_div(count).unwrap_or(0), ..known }
    }

    /// Returns the facts about activities whose stops cannot be told apart; `None` if there are
    /// none.
    fn unpaired(&self) -> Option<Unpaired> {
        (self.unpaired > 0).then(|| Unpaired {
            count: self.unpaired,
            not_in_total: self.unpaired.saturating_sub(self.unpaired_summed),
            longest_at_least_ns: self.unpaired_longest.max(self.durations.spread().max_ns),
        })
    }

    fn add_shared(&mut self, sum: &SharedSum) {
        increase(&mut self.unpaired_summed, sum.activities);
        increase(&mut self.unpaired_nanos, sum.nanos);
        self.unpaired_longest = self.unpaired_longest.max(sum.longest);
    }

    /// Adds an activity that has stopped. Returns what is kept of it if it is one of the slowest.
    pub(super) fn stopped(
        &mut self,
        slow: &Slow,
        status: Option<i64>,
        top: usize,
    ) -> Option<&mut Slow> {
        slow.parts.iter().for_each(|parts| self.parts.merge(parts));
        self.durations.add(slow.duration);
        if let Some(status) = status {
            increase(self.statuses.entry(status).or_default(), 1);
        }
        let at = self.slowest.partition_point(|other| other.duration >= slow.duration);
        if at >= top || slow.duration < self.least_slow {
            return None;
        }
        let mut kept = Box::new(slow.clone());
        kept.threads.truncate(MAX_PAGE_SPANS);
        self.slowest.insert(at, kept);
        self.slowest.truncate(top);
        self.slowest.get_mut(at).map(Box::as_mut)
    }

    fn merge(&mut self, other: &ActivityStats) {
        self.started = self.started.saturating_add(other.started);
        increase(&mut self.unpaired, other.unpaired);
        increase(&mut self.unpaired_summed, other.unpaired_summed);
        increase(&mut self.unpaired_nanos, other.unpaired_nanos);
        self.unpaired_longest = self.unpaired_longest.max(other.unpaired_longest);
        self.errors = self.errors.saturating_add(other.errors);
        self.durations.merge(&other.durations);
        self.parts.merge(&other.parts);
        self.calls.merge(&other.calls);
        self.outgoing.merge(&other.outgoing);
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
        direction: Option<HttpDirection>,
        is_error: bool,
    ) -> &mut ActivityStats {
        if let Some(direction) = direction.filter(|_| !site.is_layer) {
            self.directions.insert(site.label, direction);
        }
        self.counted = self.counted.saturating_add(1);
        if self.ended.is_some() && self.counted.is_multiple_of(SLOWEST_STEP) {
            self.forget_slow(MAX_SLOWEST);
        }
        let stats = self.sites.entry(site).or_default();
        stats.least_slow = self.least_slow;
        stats.started = stats.started.saturating_add(1);
        stats.errors = stats.errors.saturating_add(u64::from(is_error));
        stats
    }

    /// Keeps half of the `most` slowest activities of all sites, if there are more than `most`.
    fn forget_slow(&mut self, most: usize) {
        let sites = self.sites.values();
        let mut all: Vec<u64> =
            sites.flat_map(|stats| &stats.slowest).map(|slow| slow.duration).collect();
        if all.len() <= most {
            return;
        }
        let (_, least, _) = all.select_nth_unstable_by_key(most / 2, |nanos| Reverse(*nanos));
        self.least_slow = *least;
        for stats in self.sites.values_mut() {
            let kept = stats.slowest.partition_point(|slow| slow.duration >= *least);
            stats.slowest.truncate(kept);
        }
    }

    /// Adds the time of activities at these sites whose stops cannot be told apart.
    pub(super) fn share(&mut self, mut sites: Vec<ActivitySite>, shared: SharedTime) {
        let activities = u64::try_from(sites.len()).unwrap_or(u64::MAX);
        sites.sort_unstable();
        sites.dedup();
        if sites.is_empty()
            || (self.shared.len() >= MAX_SHARED && !self.shared.contains_key(&sites))
        {
            return;
        }
        let sum = self.shared.entry(sites).or_default();
        increase(&mut sum.activities, activities);
        increase(&mut sum.nanos, shared.nanos);
        sum.longest = sum.longest.max(shared.longest_nanos);
    }

    /// Keeps an activity that has ended, or never will.
    pub(super) fn note(
        &mut self,
        site: ActivitySite,
        start_nanos: i64,
        lasted: Lasted,
        is_error: bool,
    ) {
        if let Some(ended) = self.ended.as_mut().filter(|_| !site.is_layer) {
            let ActivitySite { label, stack, .. } = site;
            ended.push(Occurrence { start_nanos, lasted, label: label.0, stack, is_error });
        }
    }

    /// Returns the report with the `top` slowest activities, of all names or of one. HTTP requests
    /// have their layers.
    pub(super) fn finish(
        self,
        resolved: &Resolved<'_>,
        tracker: &PartTracker,
        answered: &HashMap<OpenActivityKey, AnsweredCall>,
        (top, slowest_of): (usize, Option<&str>),
        is_http: bool,
    ) -> ActivitiesReport {
        let texts = resolved.model().texts();
        let parts =
            |totals: &PartTotals, duration| totals.parts(duration, tracker.is_sampled(), resolved);
        let thread_id = |thread| resolved.model().thread(thread).and_then(|row| row.os_thread_id);
        let ActivityView {
            tree,
            sites,
            directions,
            stops_without_start,
            shared,
            wanted,
            ended,
            ..
        } = self;
        let Summed { rows, nodes, mut slowest, all, layers, outermost } =
            Summed::new(&tree, (sites, shared), &directions, resolved, is_http);
        slowest.retain(|((name, _), _)| slowest_of.is_none_or(|wanted| *name == wanted));
        slowest.sort_few_by(|((one_name, _), one), ((other_name, _), other)| {
            let key = |name, slow: &Slow| (Reverse(slow.duration), slow.start, name, slow.thread);
            key(*one_name, one).cmp(&key(*other_name, other))
        });
        slowest.truncate(top);
        let mut activities: Vec<ActivityRow> =
            rows.into_iter().map(|(name, stats)| row(name, stats, &parts, resolved)).collect();
        activities.sort_few_by(|one, other| {
            // Incoming requests first, then outgoing ones, then others.
            let group = |row: &ActivityRow| match row.name.direction {
                Some(HttpDirection::In) => 0,
                Some(HttpDirection::Out) => 1,
                None => 2,
            };
            let key = |row: &ActivityRow| {
                (group(row), Reverse(row.durations.total_ns), Reverse(row.started))
            };
            key(one).cmp(&key(other)).then_with(|| one.name.cmp(&other.name))
        });
        let served_by = |all: &[Serving]| -> Vec<ServingRequest> {
            all.iter().map(|serving| serving.named(answered, resolved)).collect()
        };
        let (around, no_parts) = (ended.as_ref(), PartTotals::default());
        let slow = |((label, direction), slow): (DirectedLabel<'_>, Box<Slow>)| SlowActivity {
            name: ActivityName::from_label(label, direction),
            around: around.is_some().then(|| around_of(slow.id.as_ref(), resolved)),
            key: slow
                .id
                .as_ref()
                .filter(|_| slow.may_repeat)
                .map(|id| ActivityId::key(&resolved.model().id_text(id), slow.start_event)),
            id: slow.id.map(|id| resolved.model().id_text(&id)),
            start_ns: slow.start,
            duration_ns: slow.duration,
            parts: parts(slow.parts.as_ref().unwrap_or(&no_parts), slow.duration),
            phases: slow.phases,
            served_by: served_by(&slow.served_by),
            thread_id: thread_id(slow.thread),
            stop_thread_id: thread_id(slow.stop_thread),
            is_error: slow.is_error,
            fields: slow.fields.into_text(),
            threads: slow.threads.iter().map(|(it, from, to)| (it.0, *from, *to)).collect(),
        };
        let line = wanted.map(|wanted| ActivityLine {
            name: ActivityName::from_label(
                texts.get(wanted.label),
                directions.get(&wanted.label).copied(),
            ),
            id: resolved.model().id_text(&wanted.id),
            start_ns: wanted.start,
            duration_ns: wanted.duration,
            parts: parts(&wanted.parts, wanted.duration),
            phases: wanted.phases,
            served_by: served_by(&wanted.served_by),
            stretches: tracker.line(resolved),
        });
        ActivitiesReport {
            schema: SCHEMA,
            started: all.started,
            outermost,
            stopped: all.stopped_count(),
            unpaired: all.unpaired(),
            errors: all.errors,
            layers,
            stops_without_start,
            stops_cut_short: 0,
            async_profiler: tracker.async_profiler(),
            lacks_turns: tracker.lacks_turns(resolved),
            activities,
            tree: tree_rows(&tree, &nodes, resolved),
            slowest: slowest.into_iter().map(slow).collect(),
            line,
            steps: Vec::new(),
            steps_left_out: 0,
            events: Vec::new(),
            events_left_out: 0,
            same_id: 0,
            used: 0,
            http: None,
            ended: ended.unwrap_or_default(),
            request_spans: EndpointSpans::default(),
            chosen_spans: FoundSpans::default(),
        }
    }
}

/// Returns the ids of the activities that may be around the one with an id.
fn around_of(id: Option<&ActivityId>, resolved: &Resolved<'_>) -> Vec<String> {
    let around = id.into_iter().flat_map(ActivityId::around);
    // The path without numbers is no activity's.
    let texts = around.map(|id| resolved.model().id_text(&id)).filter(|text| text.len() > 1);
    texts.collect()
}

/// Label of activities, and direction of requests.
type DirectedLabel<'t> = (&'t str, Option<HttpDirection>);

/// Sums of the sites that pass the filter.
#[derive(Default)]
struct Summed<'t> {
    rows: BTreeMap<&'t str, NamedStats<'t>>,
    /// Totals by node of the tree.
    nodes: Vec<ActivityStats>,
    slowest: Vec<(DirectedLabel<'t>, Box<Slow>)>,
    all: ActivityStats,
    layers: u64,
    outermost: u64,
}

impl<'t> Summed<'t> {
    fn new(
        tree: &ActivityTree,
        (sites, shared): (
            HashMap<ActivitySite, ActivityStats>,
            BTreeMap<Vec<ActivitySite>, SharedSum>,
        ),
        directions: &HashMap<TextHandle, HttpDirection>,
        resolved: &'t Resolved<'_>,
        is_http: bool,
    ) -> Summed<'t> {
        let texts = resolved.model().texts();
        let nodes = vec![ActivityStats::default(); tree.nodes().len()];
        let mut summed = Summed { nodes, ..Summed::default() };
        let is_counted =
            |site: &ActivitySite| resolved.selected(site.stack, Mode::Unknown).is_some();
        let mut sites: Vec<_> = sites.into_iter().filter(|(site, _)| is_counted(site)).collect();
        sites.sort_few_by_key(|(site, _)| *site);
        for (site, mut stats) in sites {
            let name = texts.get(site.label);
            if let Some(node) = summed.nodes.get_mut(site.node) {
                node.merge(&stats);
            }
            let place = tree.nodes().get(site.node);
            let row = summed.rows.entry(name).or_default();
            if let Some(place) = place.filter(|_| is_http) {
                row.layers.entry(texts.get(place.name)).or_default().merge(&stats);
            }
            if site.is_layer {
                summed.layers = summed.layers.saturating_add(stats.started);
                continue;
            }
            let direction = directions.get(&site.label).copied();
            row.direction = row.direction.or(direction);
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
            let slowest = std::mem::take(&mut stats.slowest).into_iter();
            summed.slowest.extend(slowest.map(|slow| ((name, direction), slow)));
            summed.all.merge(&stats);
        }
        for (sites, sum) in shared {
            let has_all = sites.iter().all(is_counted);
            if let Some(first) = sites.first().filter(|_| has_all) {
                summed.add_shared(first, &sites, &sum, tree, texts, is_http);
            }
        }
        summed
    }

    /// Adds the time of activities whose stops cannot be told apart, where all of them are counted.
    fn add_shared(
        &mut self,
        first: &ActivitySite,
        sites: &[ActivitySite],
        sum: &SharedSum,
        tree: &ActivityTree,
        texts: &'t Texts,
        is_http: bool,
    ) {
        if sites.iter().all(|site| site.node == first.node)
            && let Some(node) = self.nodes.get_mut(first.node)
        {
            node.add_shared(sum);
        }
        if sites.iter().any(|site| site.is_layer) {
            return;
        }
        self.all.add_shared(sum);
        if sites.iter().all(|site| site.label == first.label)
            && let Some(row) = self.rows.get_mut(texts.get(first.label))
        {
            row.stats.add_shared(sum);
            let is_nested = |site: &ActivitySite| match is_http {
                true => site.is_nested,
                false => tree.is_in_own_kind(site.node),
            };
            if !sites.iter().any(is_nested) {
                row.outermost_ns = row.outermost_ns.saturating_add(sum.nanos);
            }
        }
    }
}

/// Totals of the activities with one name.
#[derive(Debug, Default)]
struct NamedStats<'t> {
    stats: ActivityStats,
    direction: Option<HttpDirection>,
    nested: u64,
    outermost_ns: u64,
    layers: BTreeMap<&'t str, ActivityStats>,
}

fn row(
    name: &str,
    row: NamedStats<'_>,
    parts: &dyn Fn(&PartTotals, u64) -> Parts,
    resolved: &Resolved<'_>,
) -> ActivityRow {
    let stats = row.stats;
    let outgoing = stats.outgoing;
    let layer = |(name, stats): (&str, ActivityStats)| ActivityLayer {
        name: name.to_owned(),
        unpaired: stats.unpaired(),
        durations: stats.spread(),
    };
    let mut layers: Vec<ActivityLayer> = match row.layers.len() {
        0 | 1 => Vec::new(),
        _ => row.layers.into_iter().map(layer).collect(),
    };
    layers.sort_few_by_key(|layer| Reverse(layer.durations.total_ns));
    ActivityRow {
        name: ActivityName::from_label(name, row.direction),
        started: stats.started,
        nested: row.nested,
        stopped: stats.stopped_count(),
        unpaired: stats.unpaired(),
        errors: stats.errors,
        durations: stats.spread(),
        parts: parts(&stats.parts, stats.durations.sum()),
        outermost_ns: row.outermost_ns,
        layers,
        calls: stats.calls.rows(resolved),
        phases: (outgoing.phases.requests > 0).then_some(outgoing.phases),
        connections: outgoing.connections,
        needless_connections: outgoing.needless_connections,
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
    let total = |at: &usize| stats.get(*at).map_or(0, ActivityStats::total);
    let mut rows = Vec::new();
    roots.sort_few_by_key(|at| (total(at), Reverse(*at)));
    let mut due = roots;
    while let Some(at) = due.pop() {
        let (Some(node), Some(stats)) = (nodes.get(at), stats.get(at)) else { continue };
        rows.push(ActivityNode {
            name: resolved.model().text(node.name).to_owned(),
            depth: node.depth,
            started: stats.started,
            stopped: stats.stopped_count(),
            unpaired: stats.unpaired(),
            errors: stats.errors,
            durations: stats.spread(),
        });
        let mut children = inside.get_mut(at).map(std::mem::take).unwrap_or_default();
        children.sort_few_by_key(|at| (total(at), Reverse(*at)));
        due.extend(children);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_of_all_sites_stay_and_the_others_are_forgotten() {
        let mut view = ActivityView { ended: Some(Vec::new()), ..ActivityView::default() };
        let (sites, each) = (50_u32, 1000_u64);
        for at in 0..each * u64::from(sites) {
            let label = TextHandle(u32::try_from(at).unwrap() % sites);
            let (is_layer, is_nested, stack) = (false, false, StackHandle(0));
            let site = ActivitySite { node: 0, label, is_layer, is_nested, stack };
            let slow = Slow { duration: at.wrapping_mul(7919) % 50_000, ..slow() };
            view.count(site, None, false).stopped(&slow, None, 1000);
        }
        let mut kept: Vec<u64> =
            view.sites.values().flat_map(|stats| &stats.slowest).map(|it| it.duration).collect();
        kept.sort_unstable();
        assert!(kept.len() <= MAX_SLOWEST + SLOWEST_STEP as usize, "{}", kept.len());
        assert_eq!(kept[kept.len() - 1000..], (49_000..50_000).collect::<Vec<u64>>());
        assert_eq!(view.sites.values().map(|stats| stats.durations.count()).sum::<u64>(), 50_000);
    }

    fn slow() -> Slow {
        Slow {
            duration: 0,
            start: 0,
            thread: ThreadHandle(0),
            stop_thread: ThreadHandle(0),
            id: None,
            start_event: 0,
            may_repeat: false,
            is_error: false,
            fields: Default::default(),
            parts: None,
            phases: None,
            served_by: Vec::new(),
            threads: Vec::new(),
        }
    }
}
