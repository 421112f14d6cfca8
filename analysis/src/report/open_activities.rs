//! Activities that have started and not stopped.

use super::activity_edge::Edge;
use super::activity_ids::ActivityIds;
use super::activity_path::parent_path;
use super::activity_tree::ActivitySite;
use super::http::HttpFacts;
use crate::model::{StackHandle, TextHandle, ThreadHandle};
use std::collections::{BTreeMap, HashMap};

/// Most activities open at once; the oldest of a name makes room for a new one.
const MOST: usize = 65_536;
/// Deepest path that is walked up to find an open activity.
const DEEPEST_PATH: usize = 32;
/// Open activities that may be looked at to find those that end, all stops together: this many at first, and
/// more with each start and stop. Ids need no search; what is searched for by its fields is mostly among the
/// newest few. Without a limit, 65,536 activities that never stop would be looked at for each stop that has no
/// start.
const STEPS_AT_FIRST: u64 = 1 << 23;
const STEPS_EACH: u64 = 256;
/// Steps that one costs which is found by id: it lies elsewhere.
const STEPS_BY_ID: u64 = 8;

/// An activity that has started.
#[derive(Debug, Clone)]
pub(crate) struct OpenActivity {
    pub(crate) name: TextHandle,
    pub(crate) id: Option<String>,
    /// Its place in the tree.
    pub(crate) node: usize,
    pub(crate) thread: ThreadHandle,
    pub(crate) nanos: i64,
    pub(crate) stack: StackHandle,
    pub(crate) is_selected: bool,
    pub(crate) is_error: bool,
    /// Fields of the start, for reading.
    pub(crate) fields: String,
    /// What it is counted as, if not by its name.
    pub(crate) label: Option<TextHandle>,
    /// The path of its start, if its id is another one.
    pub(crate) path: Option<String>,
    /// Its number where its time is followed.
    pub(crate) part: Option<u64>,
    /// What it asks for, if it is an HTTP request.
    pub(crate) http: Option<HttpFacts>,
    /// The request that it is a layer of.
    pub(crate) layer_of: Option<Place>,
    pub(crate) keys: Vec<(u64, u64)>,
}

impl OpenActivity {
    /// Where it is counted.
    pub(crate) fn site(&self, label: TextHandle) -> ActivitySite {
        ActivitySite { node: self.node, label, is_layer: self.layer_of.is_some(), stack: self.stack }
    }

    /// What other events may call it.
    fn ids(&self) -> impl Iterator<Item = &String> {
        self.id.iter().chain(self.path.as_ref().filter(|path| self.id.as_ref() != Some(path)))
    }
}

/// Where an open activity is found: its name, and the number of its start.
pub(crate) type Place = (TextHandle, u64);

/// Activities that have started and not stopped, found by id, by fields, or by thread.
#[derive(Debug)]
pub(crate) struct OpenActivities {
    by_name: HashMap<TextHandle, BTreeMap<u64, OpenActivity>>,
    ids: ActivityIds,
    started: u64,
    open: usize,
    /// How many open activities may still be looked at.
    steps_left: u64,
    cut_short: u64,
}

impl Default for OpenActivities {
    fn default() -> OpenActivities {
        OpenActivities {
            by_name: HashMap::new(),
            ids: ActivityIds::default(),
            started: 0,
            open: 0,
            steps_left: STEPS_AT_FIRST,
            cut_short: 0,
        }
    }
}

impl OpenActivities {
    /// An activity starts. Gives one whose stop is known never to come: one that had its id, or the oldest of too many.
    pub(crate) fn start(&mut self, activity: OpenActivity, is_id_unique: bool) -> Option<OpenActivity> {
        self.steps_left = self.steps_left.saturating_add(STEPS_EACH);
        let name = activity.name;
        let lost = match &activity.id {
            Some(id) if is_id_unique => self.ids.newest_of(id, name).map(|number| (name, number)),
            _ => None,
        };
        let lost = lost.or_else(|| {
            let of_name = self.by_name.get(&name).filter(|_| self.open >= MOST);
            of_name.and_then(|rows| rows.keys().next().map(|number| (name, *number)))
        });
        let lost = lost.and_then(|place| self.remove(place));
        if self.open >= MOST {
            // As many other names as fit into the memory that may be taken: this one has to wait.
            return Some(activity);
        }
        let number = self.started;
        self.started = self.started.saturating_add(1);
        for id in activity.ids() {
            self.ids.add(id, name, number);
        }
        self.by_name.entry(name).or_default().insert(number, activity);
        self.open = self.open.saturating_add(1);
        lost
    }

    fn remove(&mut self, (name, number): Place) -> Option<OpenActivity> {
        let activity = self.by_name.get_mut(&name)?.remove(&number)?;
        self.open = self.open.saturating_sub(1);
        for id in activity.ids() {
            self.ids.remove(id, name, number);
        }
        Some(activity)
    }

    /// The activity that a stop ends. It is the last one of the name
    ///
    /// 1. with the stop's id,
    /// 2. else with equal values in all fields that start and stop have in common, on the stop's thread or another,
    /// 3. else on the stop's thread, if not both have ids.
    pub(crate) fn stop(
        &mut self,
        edge: &Edge,
        name: TextHandle,
        thread: ThreadHandle,
    ) -> Option<OpenActivity> {
        self.steps_left = self.steps_left.saturating_add(STEPS_EACH);
        let number = self.number_with_id(edge, name).or_else(|| self.number_by_fields(edge, name, thread));
        self.remove((name, number?))
    }

    /// The last one with the stop's id that agrees in fields, else the last one with it.
    fn number_with_id(&mut self, edge: &Edge, name: TextHandle) -> Option<u64> {
        let (rows, id) = (self.by_name.get(&name)?, edge.id.as_ref()?);
        let mut numbers = self.ids.all_of(id, name);
        let newest = numbers.next()?;
        for number in std::iter::once(newest).chain(numbers) {
            let Some(left) = self.steps_left.checked_sub(STEPS_BY_ID) else {
                self.cut_short = self.cut_short.saturating_add(1);
                break;
            };
            self.steps_left = left;
            if rows.get(&number).and_then(|row| agree(&row.keys, &edge.keys)) == Some(true) {
                return Some(number);
            }
        }
        Some(newest)
    }

    /// The last one that agrees in fields, on the stop's thread or another; else the last one on the thread that
    /// has no fields to agree in.
    fn number_by_fields(&mut self, edge: &Edge, name: TextHandle, thread: ThreadHandle) -> Option<u64> {
        let rows = self.by_name.get(&name)?;
        let (mut elsewhere, mut on_thread) = (None, None);
        for (number, row) in rows.iter().rev() {
            let Some(left) = self.steps_left.checked_sub(1) else {
                self.cut_short = self.cut_short.saturating_add(1);
                break;
            };
            self.steps_left = left;
            match agree(&row.keys, &edge.keys) {
                Some(true) if row.thread == thread => return Some(*number),
                Some(true) => elsewhere = elsewhere.or(Some(*number)),
                None if row.thread == thread && (row.id.is_none() || edge.id.is_none()) => {
                    on_thread = on_thread.or(Some(*number));
                    if edge.keys.is_empty() {
                        // Without fields none agrees.
                        break;
                    }
                }
                _ => {}
            }
        }
        elsewhere.or(on_thread)
    }

    /// Stops whose start was not looked for among all that were open: there were too many of one name for that.
    pub(crate) fn cut_short(&self) -> u64 {
        self.cut_short
    }

    /// The innermost open activity with this id.
    pub(crate) fn with_id(&self, id: &str) -> Option<&OpenActivity> {
        self.at(self.ids.newest(id)?)
    }

    pub(crate) fn at(&self, (name, number): Place) -> Option<&OpenActivity> {
        self.by_name.get(&name)?.get(&number)
    }

    pub(crate) fn at_mut(&mut self, (name, number): Place) -> Option<&mut OpenActivity> {
        self.by_name.get_mut(&name)?.get_mut(&number)
    }

    /// Where the next one to start will be found.
    pub(crate) fn next_place(&self, name: TextHandle) -> Place {
        (name, self.started)
    }

    pub(crate) fn with_id_mut(&mut self, id: &str) -> Option<&mut OpenActivity> {
        let place = self.ids.newest(id)?;
        self.at_mut(place)
    }

    /// The open activity that a new one is part of: the one that the start names, else the nearest on its path.
    pub(crate) fn parent(&self, id: Option<&str>, named: Option<&str>) -> Option<&OpenActivity> {
        self.at(self.parent_place(id, named)?)
    }

    /// Where that one is.
    pub(crate) fn parent_place(&self, id: Option<&str>, named: Option<&str>) -> Option<Place> {
        if let Some(parent) = named.and_then(|named| self.ids.newest(named)) {
            return Some(parent);
        }
        let mut path = id.filter(|id| id.starts_with('/'))?;
        for _ in 0..DEEPEST_PATH {
            path = parent_path(path)?;
            if let Some(parent) = self.ids.newest(path) {
                return Some(parent);
            }
        }
        None
    }

    /// What never stopped, in the order of the starts.
    pub(crate) fn into_open(self) -> impl Iterator<Item = OpenActivity> {
        let rows: BTreeMap<u64, OpenActivity> = self.by_name.into_values().flatten().collect();
        rows.into_values()
    }
}

/// Whether fields that both have are equal; `None` if they have none in common.
fn agree(start: &[(u64, u64)], stop: &[(u64, u64)]) -> Option<bool> {
    let mut all = None;
    for (name, value) in stop {
        if let Some((_, other)) = start.iter().find(|(other, _)| other == name) {
            all = Some(all.unwrap_or(true) && other == value);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: TextHandle = TextHandle(0);
    const ONE: ThreadHandle = ThreadHandle(1);
    const OTHER: ThreadHandle = ThreadHandle(2);

    fn start(
        open: &mut OpenActivities,
        nanos: i64,
        id: Option<&str>,
        thread: ThreadHandle,
        keys: &[(u64, u64)],
    ) {
        let activity = OpenActivity {
            name: NAME,
            id: id.map(str::to_owned),
            node: 0,
            thread,
            nanos,
            stack: StackHandle(0),
            is_selected: true,
            is_error: false,
            fields: String::new(),
            label: None,
            path: None,
            part: None,
            http: None,
            layer_of: None,
            keys: keys.to_vec(),
        };
        assert!(open.start(activity, true).is_none());
    }

    fn stop(
        open: &mut OpenActivities,
        id: Option<&str>,
        thread: ThreadHandle,
        keys: &[(u64, u64)],
    ) -> Option<i64> {
        let edge = Edge {
            is_start: false,
            name: String::new(),
            id: id.map(str::to_owned),
            path: None,
            is_id_unique: true,
            parent: None,
            told_nanos: None,
            is_error: false,
            keys: keys.to_vec(),
        };
        open.stop(&edge, NAME, thread).map(|activity| activity.nanos)
    }

    #[test]
    fn a_stop_finds_its_start_by_id_then_by_fields_then_by_thread() {
        let mut open = OpenActivities::default();
        start(&mut open, 1, Some("//1/1"), ONE, &[]);
        start(&mut open, 2, Some("//1/2"), ONE, &[]);
        assert_eq!(stop(&mut open, Some("//1/1"), OTHER, &[]), Some(1));
        assert_eq!(stop(&mut open, Some("//1/9"), ONE, &[]), None);
        start(&mut open, 3, None, ONE, &[(7, 32)]);
        start(&mut open, 4, None, ONE, &[(7, 33)]);
        assert_eq!(stop(&mut open, None, OTHER, &[(7, 32)]), Some(3));
        assert_eq!(stop(&mut open, None, OTHER, &[(7, 99)]), None);
        start(&mut open, 5, None, OTHER, &[]);
        assert_eq!(stop(&mut open, None, OTHER, &[(8, 1)]), Some(5));
        assert_eq!(stop(&mut open, None, ThreadHandle(3), &[]), None);
        assert_eq!(open.into_open().map(|activity| activity.nanos).collect::<Vec<_>>(), [2, 4]);
    }

    #[test]
    fn a_parent_is_named_or_on_the_path() {
        let mut open = OpenActivities::default();
        start(&mut open, 1, Some("//1/1"), ONE, &[]);
        start(&mut open, 2, Some("abc"), ONE, &[]);
        let parent = |id, named| open.parent(id, named).map(|activity| activity.nanos);
        assert_eq!(parent(Some("//1/1/4/2"), None), Some(1));
        assert_eq!(parent(Some("//1/1"), Some("abc")), Some(2));
        assert_eq!(parent(Some("//1/1/1"), Some("gone")), Some(1));
        assert_eq!((parent(Some("//1/2"), None), parent(None, None)), (None, None));
    }

    #[test]
    fn starts_that_never_stop_do_not_pile_up() {
        let mut open = OpenActivities::default();
        let mut lost = 0;
        for nanos in 0..70_000 {
            let activity = OpenActivity {
                name: TextHandle(u32::try_from(nanos % 3).unwrap()),
                id: None,
                node: 0,
                thread: ONE,
                nanos,
                stack: StackHandle(0),
                is_selected: true,
                is_error: false,
                fields: String::new(),
                label: None,
                path: None,
                part: None,
                http: None,
                layer_of: None,
                keys: Vec::new(),
            };
            lost += usize::from(open.start(activity, true).is_some());
        }
        assert_eq!((lost, open.open), (70_000 - MOST, MOST));
    }
    #[test]
    fn stops_that_fit_no_start_look_at_a_bounded_number_of_activities() {
        let mut open = OpenActivities::default();
        for nanos in 0..65_000 {
            let number = u64::try_from(nanos).unwrap();
            start(&mut open, nanos, None, ONE, &[(7, number)]);
        }
        // As if others had used up what is there at first.
        open.steps_left = 100_000;
        for _ in 0..2000 {
            assert_eq!(stop(&mut open, None, OTHER, &[(7, u64::MAX)]), None);
        }
        assert_eq!((open.cut_short(), open.steps_left), (1999, 0), "the first one looks at all");
        // What is among the newest is found as before, and what has an id too.
        assert_eq!(stop(&mut open, None, ONE, &[(7, 64_990)]), Some(64_990));
        start(&mut open, 70_000, Some("//1/1"), ONE, &[]);
        assert_eq!(stop(&mut open, Some("//1/1"), OTHER, &[]), Some(70_000));
        assert_eq!(open.cut_short(), 1999);
    }

    /// All have one id, and stop in the order that is the worst for a list of them.
    #[test]
    fn activities_of_one_id_go_in_any_order_without_a_search() {
        let mut open = OpenActivities::default();
        let begin = |open: &mut OpenActivities, name: u32, nanos: i64| {
            let activity = OpenActivity {
                name: TextHandle(name),
                id: Some("abc".to_owned()),
                node: 0,
                thread: ONE,
                nanos,
                stack: StackHandle(0),
                is_selected: true,
                is_error: false,
                fields: String::new(),
                label: None,
                path: None,
                part: None,
                http: None,
                layer_of: None,
                keys: Vec::new(),
            };
            open.start(activity, false)
        };
        for name in 0..60_000 {
            assert!(begin(&mut open, name, 0).is_none());
        }
        for name in 0..60_000 {
            let edge = Edge {
                is_start: false,
                name: String::new(),
                id: Some("abc".to_owned()),
                path: None,
                is_id_unique: false,
                parent: None,
                told_nanos: None,
                is_error: false,
                keys: Vec::new(),
            };
            assert!(open.stop(&edge, TextHandle(name), ONE).is_some());
        }
        assert_eq!((open.open, open.cut_short()), (0, 0));
    }
}
