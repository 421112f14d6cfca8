//! Computes which calls a flame graph shows, and their widths and positions.
//!
//! In a graph by thread, a call is drawn once for each thread that made it. Memory holds only the
//! tree of the thread that is being placed, and the boxes that are wide enough to be seen. So a
//! thousand threads with the same calls take no more memory than one.

use super::super::labelled;
use super::{MIN_PARTS, Names, PARTS};
use crate::model::{Call, CallNodes, Kind, Profile, ProfileKey, Resolved, Totals};

/// Weight of some samples, and their number.
pub(super) type Sums = (u64, u64);

/// Sums of the samples that pass through a call, and of those among them that waited.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Share {
    pub(super) all: Sums,
    pub(super) waiting: Sums,
}

impl Share {
    fn running(self) -> Sums {
        let ((weight, samples), (waiting, waiting_samples)) = (self.all, self.waiting);
        (weight.saturating_sub(waiting), samples.saturating_sub(waiting_samples))
    }

    /// Returns whether all samples of the call were waiting.
    pub(super) fn only_waits(self) -> bool {
        self.waiting.0 > 0 && self.running().0 == 0
    }

    fn add(&mut self, totals: &Totals, is_waiting: bool) {
        let add = |sums: &mut Sums| {
            sums.0 = sums.0.saturating_add(totals.weight);
            sums.1 = sums.1.saturating_add(totals.samples);
        };
        add(&mut self.all);
        if is_waiting {
            add(&mut self.waiting);
        }
    }
}

/// A horizontal range, in units of which the whole has [`PARTS`].
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Extent {
    pub(super) start: u64,
    pub(super) width: u64,
}

impl Extent {
    fn new(left: u64, weight: u64, whole: u64) -> Extent {
        let part = |weight: u64| {
            let part =
                u128::from(weight).saturating_mul(u128::from(PARTS)).checked_div(u128::from(whole));
            part.and_then(|part| u64::try_from(part).ok()).unwrap_or(0)
        };
        let start = part(left);
        Extent { start, width: part(left.saturating_add(weight)).saturating_sub(start) }
    }

    pub(super) fn is_shown(self) -> bool {
        self.width >= MIN_PARTS
    }
}

/// A call with its position in the image.
#[derive(Debug)]
pub(super) struct Placed {
    /// The call; `None` for the box that stands for all samples.
    pub(super) call: Option<Call>,
    pub(super) row: usize,
    pub(super) first: Extent,
    pub(super) all: Extent,
    pub(super) share: Share,
}

#[derive(Debug, Default)]
pub(super) struct Boxes {
    pub(super) placed: Vec<Placed>,
    pub(super) rows: usize,
    pub(super) left_out: u64,
}

/// Weights of the boxes to the left of a call: those of the samples that are shown at first, and
/// those of all samples.
type Left = (u64, u64);

/// Samples with a common key, and their totals.
type ProfileRow = (ProfileKey, Totals);

/// A call to be drawn if it is wide enough.
#[derive(Clone, Copy, Default)]
struct Drawn {
    /// The call; `None` for the box that stands for all samples.
    call: Option<Call>,
    row: usize,
    left: Left,
    share: Share,
}

/// The samples that a flame graph shows.
pub(super) struct Graph<'r> {
    resolved: &'r Resolved<'r>,
    /// Samples, sorted by thread, then in the order in which their stacks first appeared.
    rows: Vec<ProfileRow>,
    is_by_thread: bool,
    pub(super) whole: Share,
    pub(super) has_labels: bool,
}

impl<'r> Graph<'r> {
    pub(super) fn new(
        resolved: &'r Resolved<'r>,
        profile: &Profile,
        kind: Kind,
        is_by_thread: bool,
    ) -> Graph<'r> {
        let mut rows = profile.rows();
        rows.retain(|(key, _)| {
            key.kind == kind && resolved.selected(key.stack, key.mode).is_some()
        });
        let has_labels = rows.iter().any(|(key, _)| key.label.is_some());
        let mut graph = Graph { resolved, rows, is_by_thread, whole: Share::default(), has_labels };
        graph.whole = graph.share(&graph.rows);
        graph
    }

    /// Returns whether the thread waited, if only for a processor.
    fn is_waiting(&self, key: &ProfileKey) -> bool {
        self.resolved.state_root(key.kind, key.stack, key.mode).is_some()
    }

    fn share(&self, rows: &[ProfileRow]) -> Share {
        rows.iter().fold(Share::default(), |mut sum, (key, totals)| {
            sum.add(totals, self.is_waiting(key));
            sum
        })
    }

    /// Returns the sums that are shown at first: those of samples that ran, or those of all samples
    /// if none ran.
    pub(super) fn first(&self, share: Share) -> Sums {
        if self.whole.running().0 > 0 { share.running() } else { share.all }
    }

    /// Returns whether there are samples that are not shown at first.
    pub(super) fn has_more(&self) -> bool {
        self.whole.running().0 > 0 && self.whole.waiting.0 > 0
    }

    /// Computes the positions of calls. The calls of one caller lie side by side within it, ordered
    /// by name.
    pub(super) fn boxes(&self, names: &Names<'_, '_>) -> Boxes {
        let most = CallNodes::MAX_NODES;
        if !self.is_by_thread {
            let mut boxes = Boxes::default();
            boxes.place(self, &Calls::new(self, &self.rows, most), names, &Drawn::default());
            return boxes;
        }
        let (threads, left_out) = self.threads(names);
        let drawn = Drawn { share: self.whole, ..Drawn::default() };
        let placed = |most_each: usize| {
            let mut boxes = Boxes { left_out, ..Boxes::default() };
            boxes.put(self, &drawn);
            // Threads are placed from the last to the first, as calls within a tree are.
            for (drawn, rows) in threads.iter().rev() {
                boxes.place(self, &Calls::new(self, rows, most_each), names, drawn);
                if most_each == most && boxes.placed.len() > most {
                    return None;
                }
            }
            Some(boxes)
        };
        // If there are too many calls, each thread shows an equal number of its outermost calls.
        let share = most.checked_div(threads.len()).unwrap_or(most);
        placed(most).or_else(|| placed(share)).unwrap_or_default()
    }

    /// Returns the threads that are wide enough to be seen, and the number of those that are not.
    fn threads(&self, names: &Names<'_, '_>) -> (Vec<(Drawn, &[ProfileRow])>, u64) {
        let mut threads: Vec<(Option<Call>, &[ProfileRow])> = self
            .rows
            .chunk_by(|(a, _), (b, _)| a.thread == b.thread)
            .filter_map(|rows| Some((Some(Call::Thread(rows.first()?.0.thread)), rows)))
            .collect();
        threads.sort_by_cached_key(|(thread, _)| names.text(*thread).into_owned());
        let (mut shown, mut left_out, mut left) = (Vec::new(), 0u64, Left::default());
        for (call, rows) in threads {
            let share = self.share(rows);
            let drawn = Drawn { call, row: 1, left, share };
            left = self.beside(left, share);
            match self.extents(&drawn) {
                Some(_) => shown.push((drawn, rows)),
                None => left_out = left_out.saturating_add(1),
            }
        }
        (shown, left_out)
    }

    /// Returns the range of a box among the samples that are shown at first, and among all samples.
    /// `None` if both ranges are too narrow to be seen.
    fn extents(&self, drawn: &Drawn) -> Option<(Extent, Extent)> {
        let first = Extent::new(drawn.left.0, self.first(drawn.share).0, self.first(self.whole).0);
        let all = Extent::new(drawn.left.1, drawn.share.all.0, self.whole.all.0);
        (first.is_shown() || all.is_shown()).then_some((first, all))
    }

    /// Returns the weights to the left of the box that follows this one.
    fn beside(&self, left: Left, share: Share) -> Left {
        let first = left.0.saturating_add(self.first(share).0);
        (first, left.1.saturating_add(share.all.0))
    }
}

/// Tree of the calls of one thread, or of all threads.
struct Calls {
    nodes: CallNodes,
    waiting_weights: Vec<u64>,
    waiting_samples: Vec<u64>,
}

impl Calls {
    fn new(graph: &Graph<'_>, rows: &[ProfileRow], most: usize) -> Calls {
        let path = |key: &ProfileKey| {
            let frames = graph.resolved.selected(key.stack, key.mode)?;
            Some(labelled(key, frames))
        };
        let mut nodes = CallNodes::within(most, || rows.iter().filter_map(|(key, _)| path(key)));
        let (mut weights, mut samples) = (Vec::new(), Vec::new());
        let add = |list: &mut Vec<u64>, place: usize, number: u64| {
            if list.len() <= place {
                list.resize(place.saturating_add(1), 0);
            }
            if let Some(sum) = list.get_mut(place) {
                *sum = sum.saturating_add(number);
            }
        };
        for (key, totals) in rows {
            let Some(path) = path(key) else { continue };
            let leaf = nodes.add(path, totals);
            if graph.is_waiting(key) {
                add(&mut weights, leaf, totals.weight);
                add(&mut samples, leaf, totals.samples);
            }
        }
        let [waiting_weights, waiting_samples] = [weights, samples].map(|list| nodes.totals(&list));
        Calls { nodes, waiting_weights, waiting_samples }
    }

    fn share(&self, node: usize) -> Share {
        let row = self.nodes.node(node);
        let of = |list: &[u64]| list.get(node).copied().unwrap_or(0);
        Share {
            all: (row.total_weight, row.total_samples),
            waiting: (of(&self.waiting_weights), of(&self.waiting_samples)),
        }
    }
}

impl Boxes {
    /// Adds a box if it is wide enough to be seen. Returns whether it is.
    fn put(&mut self, graph: &Graph<'_>, drawn: &Drawn) -> bool {
        let Some((first, all)) = graph.extents(drawn) else {
            self.left_out = self.left_out.saturating_add(1);
            return false;
        };
        let Drawn { call, row, share, .. } = *drawn;
        self.placed.push(Placed { call, row, first, all, share });
        self.rows = self.rows.max(row.saturating_add(1));
        true
    }

    /// Adds the boxes of a tree. Its root is drawn as `drawn`.
    fn place(&mut self, graph: &Graph<'_>, calls: &Calls, names: &Names<'_, '_>, drawn: &Drawn) {
        let below = calls.nodes.below(|a, b| names.text(a.call).cmp(&names.text(b.call)));
        let mut waiting = vec![(0usize, Drawn { share: calls.share(0), ..*drawn })];
        while let Some((node, drawn)) = waiting.pop() {
            if !self.put(graph, &drawn) {
                continue;
            }
            let (row, mut left) = (drawn.row.saturating_add(1), drawn.left);
            for child in below.get(node).into_iter().flatten() {
                let (call, share) = (calls.nodes.node(*child).call, calls.share(*child));
                waiting.push((*child, Drawn { call, row, left, share }));
                left = graph.beside(left, share);
            }
        }
    }
}
