//! Tasks: what was scheduled, ran, and was waited for.
//!
//! All events are of `System.Threading.Tasks.TplEventSource`:
//!
//! | id | event | what it says |
//! |---|---|---|
//! | 7, 8, 9 | TaskScheduled, TaskStarted, TaskCompleted | when a task was queued, ran, was done, and whether it failed |
//! | 10, 11 | TaskWaitBegin, TaskWaitEnd | from when to when a task was waited for, blocking or by `await` |
//! | 14, 15 | TraceOperationBegin, TraceOperationEnd | a task's name; keyword 8 |
//!
//! A task that does not run code of its own, such as one of an async method, has a name but is not scheduled. A task
//! without a name is known by the method that scheduled it.

use super::activities::Activities;
use super::distribution::{Distribution, Spread};
use super::stack_rows::{StackRow, TASK_LIBRARY, below, stack_rows};
use super::{Moment, Recording, Report, SCHEMA};
use crate::model::intervals::Matcher;
use crate::model::{Mode, Model, ProcessHandle, Resolved, StackHandle, TextHandle, task_text};
use crate::sorted::SortFew;
use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// Most tasks that are kept until they are done; the oldest makes room.
const MOST: usize = 65_536;

/// What became of tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TasksReport {
    /// Version of this document.
    pub schema: u32,
    /// Tasks that were scheduled.
    pub scheduled: u64,
    /// Tasks that began to run.
    pub started: u64,
    /// Tasks that were done with running.
    pub completed: u64,
    /// Of these, those that ended with an exception.
    pub faulted: u64,
    /// Waits for tasks that began.
    pub waits_begun: u64,
    /// Waits for tasks that ended.
    pub waits_ended: u64,
    /// From being scheduled until running.
    pub queued: Spread,
    /// From running until done.
    pub ran: Spread,
    /// By name: the most scheduled first.
    pub tasks: Vec<TaskRow>,
    /// What was waited for: the longest total first.
    pub waits: Vec<TaskWaitRow>,
    /// By the activity in which tasks were scheduled: the most first.
    pub activities: Vec<TaskActivity>,
}

/// Tasks of one name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TaskRow {
    /// The task's name; else `scheduled by` and a method.
    pub name: String,
    /// How many were scheduled.
    pub scheduled: u64,
    /// How many began to run.
    pub started: u64,
    /// How many were done with running.
    pub completed: u64,
    /// Of these, those that ended with an exception.
    pub faulted: u64,
    /// From being scheduled until running.
    pub queued: Spread,
    /// From running until done.
    pub ran: Spread,
    /// Where they were scheduled: most first.
    pub stacks: Vec<StackRow>,
}

/// Waits for tasks of one name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TaskWaitRow {
    /// Name of the task that was waited for; else `waited for by` and a method.
    pub name: String,
    /// Whether a thread was blocked; else the wait was an `await`.
    pub is_blocking: bool,
    /// How long, of those that ended.
    pub waits: Spread,
    /// Waits that had not ended.
    pub still_waiting: u64,
}

/// Tasks that were scheduled inside activities of one name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TaskActivity {
    /// Name of the activity; `None`: in none.
    pub activity: Option<String>,
    /// How many were scheduled.
    pub scheduled: u64,
}

/// The name of a task, and where it was scheduled or waited for.
type TaskPlace = (Option<TextHandle>, StackHandle);

/// Where was waited, and whether the thread stood still.
type WaitPlace = (TaskPlace, bool);

#[derive(Debug, Default)]
struct Task {
    name: Option<TextHandle>,
    place: Option<TaskPlace>,
}

/// The process and number of a task.
type TaskKey = (ProcessHandle, u64);

#[derive(Debug, Default)]
struct TaskSite {
    scheduled: u64,
    started: u64,
    completed: u64,
    faulted: u64,
    queued: Distribution,
    ran: Distribution,
    activities: BTreeMap<Option<TextHandle>, u64>,
}

/// Makes a [`TasksReport`]. What it keeps is bounded by names, stacks, and tasks that are not done.
#[derive(Debug)]
pub struct Tasks {
    tasks: BTreeMap<TaskKey, Task>,
    sites: HashMap<TaskPlace, TaskSite>,
    waits: HashMap<WaitPlace, (Distribution, u64)>,
    /// Tasks that are scheduled and have not begun to run.
    queued: Matcher<TaskKey, ()>,
    running: Matcher<TaskKey, ()>,
    /// Without a place: the filter did not let the begin pass.
    waiting: Matcher<TaskKey, Option<WaitPlace>>,
    activities: Activities,
    top: usize,
}

impl Default for Tasks {
    fn default() -> Tasks {
        Tasks::new()
    }
}

impl Tasks {
    /// With the 10 stacks of each name that scheduled most.
    pub fn new() -> Tasks {
        Tasks {
            tasks: BTreeMap::new(),
            sites: HashMap::new(),
            waits: HashMap::new(),
            queued: Matcher::default(),
            running: Matcher::default(),
            waiting: Matcher::default(),
            activities: Activities::without_parts().top(0),
            top: 10,
        }
    }

    /// With this many stacks of each name.
    #[must_use]
    pub fn top(mut self, count: usize) -> Tasks {
        self.top = count;
        self
    }

    /// The task with this key, which is new if it was not met before.
    fn task(&mut self, key: TaskKey) -> &mut Task {
        if self.tasks.len() >= MOST
            && !self.tasks.contains_key(&key)
            // Ids grow, so the first is the oldest.
            && let Some((oldest, _)) = self.tasks.pop_first()
        {
            self.queued.lose(oldest, |_| {});
            self.running.lose(oldest, |_| {});
        }
        self.tasks.entry(key).or_default()
    }

    fn scheduled(&mut self, key: TaskKey, event: &Event<'_>, moment: &Moment, model: &mut Model) {
        let activity = self.activities.name_of(event);
        let stack = model.stack_of(event, moment.thread);
        let task = self.task(key);
        if moment.is_selected {
            let place = (task.name, stack);
            task.place = Some(place);
            let site = self.sites.entry(place).or_default();
            site.scheduled = site.scheduled.saturating_add(1);
            let count = site.activities.entry(activity).or_default();
            *count = count.saturating_add(1);
        }
        self.queued.start_again(key, moment.edge(event), (), |_| {});
    }

    fn started(&mut self, key: TaskKey, event: &Event<'_>, moment: &Moment, model: &mut Model) {
        let stack = model.stack_of(event, moment.thread);
        let at = moment.edge(event);
        let queued = self.queued.stop(key, at, None, |_| {});
        let task = self.task(key);
        if queued.is_none() && moment.is_selected {
            // It was scheduled before the session, or that was lost.
            task.place.get_or_insert((task.name, stack));
        }
        if let Some(place) = task.place {
            let site = self.sites.entry(place).or_default();
            site.started = site.started.saturating_add(1);
            queued.iter().for_each(|queued| site.queued.add(queued.nanos));
        }
        self.running.start_again(key, at, (), |_| {});
    }

    fn completed(&mut self, key: TaskKey, event: &Event<'_>, moment: &Moment) {
        let is_faulted = event.field("IsExceptional").and_then(|value| value.as_bool()).unwrap_or(false);
        let ran = self.running.stop(key, moment.edge(event), None, |_| {});
        if let Some(place) = self.task(key).place.take() {
            let site = self.sites.entry(place).or_default();
            site.completed = site.completed.saturating_add(1);
            site.faulted = site.faulted.saturating_add(u64::from(is_faulted));
            ran.iter().for_each(|ran| site.ran.add(ran.nanos));
        }
        self.forget(key);
    }

    /// A task that is done and that nobody waits for is forgotten.
    fn forget(&mut self, key: TaskKey) {
        if self.tasks.get(&key).is_some_and(|task| task.place.is_none()) && !self.waiting.is_open(key) {
            self.tasks.remove(&key);
            self.queued.lose(key, |_| {});
            self.running.lose(key, |_| {});
        }
    }

    fn named(&mut self, key: TaskKey, event: &Event<'_>, model: &mut Model) {
        if let Some(name) = event.field("OperationName").and_then(|value| value.to_text()) {
            self.task(key).name = Some(model.texts_mut().intern(&name));
        }
    }

    fn wait_begins(&mut self, key: TaskKey, event: &Event<'_>, moment: &Moment, model: &mut Model) {
        let is_blocking = event.field("Behavior").and_then(|value| value.as_i64()) != Some(2);
        let stack = model.stack_of(event, moment.thread);
        let name = self.task(key).name;
        let site = moment.is_selected.then_some(((name, stack), is_blocking));
        self.waiting.start_inside(key, moment.edge(event), site, |_| {});
        if let Some(site) = site {
            let begun = &mut self.waits.entry(site).or_default().1;
            *begun = begun.saturating_add(1);
        }
    }

    fn wait_ends(&mut self, key: TaskKey, event: &Event<'_>, moment: &Moment) {
        if let Some(wait) = self.waiting.stop_one(key, moment.edge(event))
            && let Some(site) = wait.what
        {
            self.waits.entry(site).or_default().0.add(wait.nanos);
        }
        self.forget(key);
    }
}

/// The process and number of an event's task.
fn key_of(event: &Event<'_>, moment: &Moment, model: &Model) -> Option<TaskKey> {
    let id = u64::try_from(event.field("TaskID")?.as_i64()?).ok()?;
    Some((model.threads().get(moment.thread)?.process, id))
}

impl Report for Tasks {
    type Output = TasksReport;

    const NAME: &'static str = "tasks";
    const ABOUT: &'static str = "tasks that were scheduled, run and awaited";
    const RECORD: &'static [Recording] = &[Recording::new("System.Threading.Tasks.TplEventSource", 0xcb, 5)];

    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool {
        if event.known_provider() != KnownProvider::Tasks {
            self.activities.event(event, moment, model);
            return false;
        }
        if !matches!(event.id(), 7..=11 | 14 | 15) {
            return false;
        }
        // Events whose task is missing or damaged are left out.
        let Some(key) = key_of(event, moment, model) else { return true };
        match event.id() {
            7 => self.scheduled(key, event, moment, model),
            8 => self.started(key, event, moment, model),
            9 => self.completed(key, event, moment),
            10 => self.wait_begins(key, event, moment, model),
            11 => self.wait_ends(key, event, moment),
            14 => self.named(key, event, model),
            _ => self.forget(key),
        }
        true
    }

    fn finish(self, resolved: &Resolved<'_>) -> TasksReport {
        let texts = resolved.model().texts();
        let passes = |place: &TaskPlace| resolved.selected(place.1, Mode::Unknown).is_some();
        let named = |place: &TaskPlace, by: &str| match place.0 {
            Some(name) => task_text(texts.get(name), resolved.names()),
            None => format!("{by} {}", caller(resolved, place.1)),
        };
        let mut all = TaskSite::default();
        let mut rows: BTreeMap<String, (TaskSite, Vec<(StackHandle, u64)>)> = BTreeMap::new();
        let mut sites: Vec<_> = self.sites.into_iter().filter(|(place, _)| passes(place)).collect();
        sites.sort_few_by_key(|(place, _)| *place);
        for (place, site) in sites {
            let row = rows.entry(named(&place, "scheduled by")).or_default();
            row.0.merge(&site);
            row.1.push((place.1, site.scheduled));
            all.merge(&site);
        }
        let mut tasks: Vec<TaskRow> = rows
            .into_iter()
            .map(|(name, (site, stacks))| TaskRow {
                name,
                scheduled: site.scheduled,
                started: site.started,
                completed: site.completed,
                faulted: site.faulted,
                queued: site.queued.spread(),
                ran: site.ran.spread(),
                stacks: stack_rows(
                    resolved,
                    stacks.into_iter().filter(|(_, count)| *count > 0),
                    TASK_LIBRARY,
                    self.top,
                ),
            })
            .collect();
        tasks.sort_few_by_key(|row| Reverse((row.scheduled, row.started)));
        let mut waits: BTreeMap<(String, bool), (Distribution, u64)> = BTreeMap::new();
        for ((place, is_blocking), (waited, begun)) in
            self.waits.iter().filter(|((place, _), _)| passes(place))
        {
            let row = waits.entry((named(place, "waited for by"), *is_blocking)).or_default();
            row.0.merge(waited);
            row.1 = row.1.saturating_add(*begun);
        }
        let (mut waits_begun, mut waits_ended) = (0_u64, 0_u64);
        let mut waits: Vec<TaskWaitRow> = waits
            .into_iter()
            .map(|((name, is_blocking), (waited, begun))| {
                waits_begun = waits_begun.saturating_add(begun);
                waits_ended = waits_ended.saturating_add(waited.count());
                let still_waiting = begun.saturating_sub(waited.count());
                TaskWaitRow { name, is_blocking, waits: waited.spread(), still_waiting }
            })
            .collect();
        waits.sort_few_by_key(|row| Reverse(row.waits.total_ns));
        let mut activities: Vec<TaskActivity> = all
            .activities
            .iter()
            .map(|(activity, scheduled)| TaskActivity {
                activity: activity.map(|name| texts.get(name).to_owned()),
                scheduled: *scheduled,
            })
            .collect();
        activities.sort_few_by(|one, other| {
            other.scheduled.cmp(&one.scheduled).then_with(|| one.activity.cmp(&other.activity))
        });
        TasksReport {
            schema: SCHEMA,
            scheduled: all.scheduled,
            started: all.started,
            completed: all.completed,
            faulted: all.faulted,
            waits_begun,
            waits_ended,
            queued: all.queued.spread(),
            ran: all.ran.spread(),
            tasks,
            waits,
            activities,
        }
    }
}

impl TaskSite {
    fn merge(&mut self, other: &TaskSite) {
        for (mine, count) in [
            (&mut self.scheduled, other.scheduled),
            (&mut self.started, other.started),
            (&mut self.completed, other.completed),
            (&mut self.faulted, other.faulted),
        ] {
            *mine = mine.saturating_add(count);
        }
        self.queued.merge(&other.queued);
        self.ran.merge(&other.ran);
        for (activity, count) in &other.activities {
            let mine = self.activities.entry(*activity).or_default();
            *mine = mine.saturating_add(*count);
        }
    }
}

/// The innermost method that is not of the task library itself.
fn caller<'r>(resolved: &'r Resolved<'_>, stack: StackHandle) -> &'r str {
    let frame = below(resolved, stack, TASK_LIBRARY).first();
    frame.map_or("(unknown method)", |frame| resolved.text(*frame))
}
