//! Tasks: when they were scheduled, ran and were waited for.
//!
//! All events are from `System.Threading.Tasks.TplEventSource`:
//!
//! | id | event | meaning |
//! |---|---|---|
//! | 7, 8, 9 | TaskScheduled, TaskStarted, TaskCompleted | when a task was queued, started and completed, and whether it failed |
//! | 10, 11 | TaskWaitBegin, TaskWaitEnd | the start and end of a wait for a task, blocking or by `await` |
//! | 14, 15 | TraceOperationBegin, TraceOperationEnd | a task's name; keyword 8 |
//!
//! Methods that the runtime itself suspends (.NET 11) have none of these. The buffers of its async
//! profiler, `System.Runtime.CompilerServices.AsyncProfilerEventSource`, tell when they await.
//!
//! A task without code of its own, such as the task of an async method, has a name but is not
//! scheduled. A task without a name is shown by the method that scheduled it.

use super::activities::Activities;
use super::contract::{DEFAULT_ROWS, Moment, Recording, Report, SCHEMA};
use super::counts::{increase, increase_all};
use super::distribution::{Distribution, Spread};
use super::each_task::{EachTask, SCHEDULED_BY, TaskName, TaskPlace, TaskTime};
use super::occurrence::Occurrence;
use super::profiled_awaits::ProfiledAwaits;
use super::stack_rows::{
    ShownFrames, StackRow, below, is_of_runtime_async, is_of_task_library, stack_rows,
};
use super::task_waits::{OpenTaskWait, TaskKey, TaskWaitPlace, TaskWaitRow, TaskWaits};
use crate::by_type::ByType;
use crate::hash::HashMap;
use crate::model::intervals::{Interval, Matcher};
use crate::model::{Mode, Model, Resolved, StackHandle, TaskKind, TextHandle, task_method};
use crate::number_field::NumberField;
use crate::sorted::SortFew;
use crate::text_field::TextField;
use nettrace_parser::view::KnownProvider;
use nettrace_parser::{Event, Value};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of uncompleted tasks that are kept; beyond it, the oldest is dropped.
const MAX_TASKS: usize = 65_536;

/// Tasks, and waits for them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TasksReport {
    /// Version of this document.
    pub schema: u32,
    /// Number of tasks that were scheduled.
    pub scheduled: u64,
    /// Number of tasks that started to run.
    pub started: u64,
    /// Number of tasks that completed.
    pub completed: u64,
    /// Number of tasks that ended with an exception.
    pub faulted: u64,
    /// Number of waits for tasks that started.
    pub waits_begun: u64,
    /// Number of waits for tasks that ended.
    pub waits_ended: u64,
    /// Times from scheduling to start.
    pub queued: Spread,
    /// Times from start to completion.
    pub ran: Spread,
    /// Tasks by name, most scheduled first.
    pub tasks: Vec<TaskRow>,
    /// Waits that are not over at the end of the trace, longest first; at most 100.
    pub open: Vec<OpenTaskWait>,
    /// Waits by awaited task, longest total first, including waits that are not over.
    pub waits: Vec<TaskWaitRow>,
    /// Number of tasks by the activity that scheduled them, most first.
    pub activities: Vec<TaskActivity>,
    /// Whether async methods ran that the runtime itself suspends and resumes (.NET 11), which
    /// write no events of awaited tasks, and its async profiler did not tell of them either.
    pub has_runtime_async: bool,
    /// Number of times that the async profiler told and that found no room, so that awaits are
    /// missing.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub awaits_left_out: u64,
    /// Number of chains of async calls that went on by the async profiler, and whose begin is not in
    /// the trace, as the runtime does not write what a thread told last. Awaits are missing.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub chains_without_begin: u64,
    /// Tasks and waits that [`Tasks::take_ended`] has not returned.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) each: EachTask,
}

/// Tasks with the same name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TaskRow {
    /// Name of the tasks; `scheduled by METHOD` for tasks without one.
    pub name: String,
    /// Number of tasks that were scheduled.
    pub scheduled: u64,
    /// Number of tasks that started to run.
    pub started: u64,
    /// Number of tasks that completed.
    pub completed: u64,
    /// Number of tasks that ended with an exception.
    pub faulted: u64,
    /// Times from scheduling to start.
    pub queued: Spread,
    /// Times from start to completion.
    pub ran: Spread,
    /// Stacks that scheduled the tasks, most frequent first.
    pub stacks: Vec<StackRow>,
    /// Number of stacks beyond those in `stacks`.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub stacks_left_out: u64,
}

/// Tasks scheduled inside activities with the same name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TaskActivity {
    /// Name of the activity; `None` for tasks outside of activities.
    pub activity: Option<String>,
    /// Number of tasks that were scheduled.
    pub scheduled: u64,
}

#[derive(Debug, Default)]
struct Task {
    name: Option<TaskName>,
    place: Option<TaskPlace>,
}

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

/// Computes a [`TasksReport`]. Memory is bounded by the number of names, stacks, and
/// uncompleted tasks.
#[derive(Debug)]
pub struct Tasks {
    fields: ByType<Option<TaskFields>>,
    tasks: HashMap<TaskKey, Task>,
    /// Keys of `tasks` in order; empty until there are too many.
    in_order: BTreeSet<TaskKey>,
    sites: HashMap<TaskPlace, TaskSite>,
    waits: TaskWaits,
    /// Tasks that were scheduled and have not started.
    queued: Matcher<TaskKey, Option<TaskPlace>>,
    /// Tasks that run, with the time at which they were scheduled; the start if that is unknown.
    running: Matcher<TaskKey, Option<(TaskPlace, i64)>>,
    /// Tasks and waits that have ended; `None` unless a caller takes them one by one.
    each: Option<EachTask>,
    /// Open activities; `None` if tasks are not counted by activity.
    activities: Option<Activities>,
    /// What the async profiler tells; `None` if it tells nothing.
    profiled: Option<Box<ProfiledAwaits>>,
    top: usize,
}

impl Default for Tasks {
    /// Lists the top 20 stacks of each name.
    fn default() -> Tasks {
        Tasks {
            fields: ByType::new(None),
            tasks: HashMap::default(),
            in_order: BTreeSet::new(),
            sites: HashMap::default(),
            waits: TaskWaits::default(),
            queued: Matcher::default(),
            running: Matcher::default(),
            each: None,
            activities: Some(Activities::without_parts().top(0)),
            profiled: None,
            top: DEFAULT_ROWS,
        }
    }
}

impl Tasks {
    /// Leaves out the number of tasks by activity.
    #[must_use]
    pub(crate) fn without_activities(mut self) -> Tasks {
        self.activities = None;
        self
    }

    /// Finds only the waits that are not over: other figures of the report are 0.
    #[must_use]
    pub(crate) fn only_open_waits(mut self) -> Tasks {
        self.waits = TaskWaits::only_open();
        self
    }

    /// Keeps each task and wait that ends, for [`Tasks::take_ended`].
    #[must_use]
    #[cfg_attr(not(feature = "page"), allow(dead_code, reason = "only the page shows them"))]
    pub(crate) fn with_each(mut self) -> Tasks {
        self.each = Some(EachTask::default());
        self
    }

    /// Returns the tasks and waits that have ended since the last call, by [`TaskTime`]. Unfinished
    /// ones, and the names of all, are in the report.
    #[cfg_attr(not(feature = "page"), allow(dead_code, reason = "only the page shows them"))]
    pub(crate) fn take_ended(&mut self) -> [Vec<Occurrence>; 4] {
        self.each.as_mut().map(EachTask::take).unwrap_or_default()
    }

    /// Returns the task with this key, which is added if unknown.
    fn task(&mut self, key: TaskKey) -> &mut Task {
        if self.tasks.len() >= MAX_TASKS && !self.tasks.contains_key(&key) {
            self.drop_oldest();
            self.in_order.insert(key);
        } else if !self.in_order.is_empty() {
            self.in_order.insert(key);
        }
        self.tasks.entry(key).or_default()
    }

    /// Drops the oldest task.
    #[cold]
    fn drop_oldest(&mut self) {
        if self.in_order.is_empty() {
            self.in_order.extend(self.tasks.keys());
        }
        // Ids ascend, so the first task is the oldest.
        if let Some(oldest) = self.in_order.pop_first() {
            self.tasks.remove(&oldest);
            let each = &mut self.each;
            self.queued.lose(oldest, |lost| add_queued(each, &lost, None));
            self.running.lose(oldest, |lost| add_ran(each, &lost, None, false));
        }
    }

    fn scheduled(&mut self, key: TaskKey, event: &Event<'_>, moment: &Moment, model: &mut Model) {
        let activities = self.activities.as_mut();
        let activity = activities.and_then(|all| all.name_of(event, moment.thread));
        let stack = model.stack_of(event, moment.thread);
        let task = self.task(key);
        let place = moment.is_selected.then_some((task.name, stack));
        if let Some(place) = place {
            task.place = Some(place);
            let site = self.sites.entry(place).or_default();
            site.scheduled = site.scheduled.saturating_add(1);
            increase(site.activities.entry(activity).or_default(), 1);
        }
        let each = &mut self.each;
        let lost = |lost| add_queued(each, &lost, None);
        self.queued.start_again(key, moment.edge(event), place, lost);
    }

    fn started(&mut self, key: TaskKey, event: &Event<'_>, moment: &Moment, model: &mut Model) {
        let stack = model.stack_of(event, moment.thread);
        let at = moment.edge(event);
        let queued = self.queued.stop(key, at, None, |_| {});
        let task = self.task(key);
        if queued.is_none() && moment.is_selected {
            // The task was scheduled before the session, or the event was lost.
            task.place.get_or_insert((task.name, stack));
        }
        let place = task.place;
        if let Some(place) = place {
            let site = self.sites.entry(place).or_default();
            site.started = site.started.saturating_add(1);
            queued.iter().for_each(|queued| site.queued.add(queued.nanos));
        }
        let each = &mut self.each;
        let mut since = at.nanos;
        if let Some(queued) = queued {
            since = queued.start.nanos;
            add_queued(each, &queued, Some(queued.nanos));
        }
        let what = place.map(|place| (place, since));
        self.running.start_again(key, at, what, |lost| add_ran(each, &lost, None, false));
    }

    fn completed(&mut self, key: TaskKey, event: &Event<'_>, moment: &Moment) {
        let is_faulted =
            event.field("IsExceptional").and_then(|value| value.as_bool()).unwrap_or(false);
        let ran = self.running.stop(key, moment.edge(event), None, |_| {});
        if let Some(ran) = &ran {
            add_ran(&mut self.each, ran, Some(ran.nanos), is_faulted);
        } else if let (Some(each), Some((at, Some(place)))) =
            (&mut self.each, self.queued.innermost(key))
        {
            // The start of the task was lost.
            each.add(TaskTime::Ran, *place, at.nanos, None, is_faulted);
        }
        if let Some(place) = self.task(key).place.take() {
            let site = self.sites.entry(place).or_default();
            site.completed = site.completed.saturating_add(1);
            site.faulted = site.faulted.saturating_add(u64::from(is_faulted));
            ran.iter().for_each(|ran| site.ran.add(ran.nanos));
        }
        self.forget(key);
    }

    /// Drops a task if it has completed and nothing waits for it.
    fn forget(&mut self, key: TaskKey) {
        if self.tasks.get(&key).is_some_and(|task| task.place.is_none())
            // Waits for a completed task end after it and still need its name.
            && !self.waits.is_open(key)
        {
            self.tasks.remove(&key);
            self.in_order.remove(&key);
            self.queued.lose(key, |_| {});
            self.running.lose(key, |_| {});
        }
    }

    fn named(
        &mut self,
        key: TaskKey,
        name: Option<Value<'_>>,
        event: &Event<'_>,
        moment: &Moment,
        model: &mut Model,
    ) {
        if let Some(name) = name.and_then(|name| model.texts_mut().intern_value(name)) {
            let stack = model.stack_of(event, moment.thread);
            self.task(key).name = Some((name, stack));
        }
    }

    fn wait_begins(
        &mut self,
        key: TaskKey,
        is_blocking: bool,
        event: &Event<'_>,
        moment: &Moment,
        model: &mut Model,
    ) {
        let stack = model.stack_of(event, moment.thread);
        let name = self.task(key).name;
        let site: Option<TaskWaitPlace> =
            moment.is_selected.then_some(((name, stack), is_blocking));
        self.waits.begin(key, moment.edge(event), site);
    }

    fn wait_ends(&mut self, key: TaskKey, event: &Event<'_>, moment: &Moment) {
        self.waits.end(key, moment.edge(event), self.each.as_mut());
        self.forget(key);
    }
}

/// Name of the field with a task's number.
const TASK: &str = "TaskID";
/// Name of the field with a task's name.
const NAME: &str = "OperationName";
/// Name of the field that tells whether a wait is an `await`.
const BEHAVIOR: &str = "Behavior";

/// Fields of the events of a type.
#[derive(Debug, Clone, Copy)]
struct TaskFields {
    task: NumberField,
    /// Whether a wait is an `await`.
    behavior: NumberField,
    name: TextField,
}

impl TaskFields {
    /// Returns the fields of an event of a task; `None` for other types.
    fn of_type(event: &Event<'_>) -> Option<TaskFields> {
        let number = |name| NumberField::of_type(event, name);
        let is_task = event.known_provider() == KnownProvider::Tasks;
        is_task.then(|| TaskFields {
            task: number(TASK),
            behavior: number(BEHAVIOR),
            name: TextField::of_type(event, NAME),
        })
    }
}

impl Report for Tasks {
    type Output = TasksReport;

    const NAME: &'static str = "tasks";
    const ABOUT: &'static str = "Tasks that were scheduled, run and awaited";
    const RECORD: &'static [Recording] =
        &[Recording::new("System.Threading.Tasks.TplEventSource", 0xcb, 5)];

    fn top(mut self, rows: usize) -> Tasks {
        self.top = rows;
        self
    }

    fn wants(&self, event: &Event<'_>) -> bool {
        match event.known_provider() {
            KnownProvider::Tasks => matches!(event.id(), 7..=11 | 14 | 15),
            // It tells only of awaits that have ended.
            KnownProvider::AsyncProfiler => !self.waits.is_open_only(),
            _ => self.activities.as_ref().is_some_and(|activities| activities.wants(event)),
        }
    }

    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool {
        if event.known_provider() == KnownProvider::AsyncProfiler {
            let clock = event.session().clock();
            let new = || Box::new(ProfiledAwaits::new(clock));
            self.profiled.get_or_insert_with(new).event(event, moment, model);
            return true;
        }
        let Some(fields) = *self.fields.look_up(event, TaskFields::of_type) else {
            // Starts and stops of activities are followed, as tasks are counted by activity, but
            // this report is not about them.
            if let Some(activities) = &mut self.activities {
                activities.event(event, moment, model);
            }
            return false;
        };
        // Events whose task is missing or damaged are skipped.
        let Some(task) = fields.task.read(event, TASK) else { return true };
        let Some(process) = model.thread(moment.thread).map(|row| row.process) else { return true };
        let key = (process, task);
        match event.id() {
            7 => self.scheduled(key, event, moment, model),
            8 => self.started(key, event, moment, model),
            9 => self.completed(key, event, moment),
            10 => {
                // 2 is an `await`, which frees the thread; 1 blocks it.
                let is_blocking = fields.behavior.read(event, BEHAVIOR) != Some(2);
                self.wait_begins(key, is_blocking, event, moment, model);
            }
            11 => self.wait_ends(key, event, moment),
            14 => self.named(key, fields.name.read(event, NAME), event, moment, model),
            _ => self.forget(key),
        }
        true
    }

    fn finish(mut self, resolved: &Resolved<'_>) -> TasksReport {
        let end = resolved.model().selected().last_nanos().unwrap_or(0);
        let mut each = self.each.take();
        self.queued.finish(end).for_each(|open| add_queued(&mut each, &open, None));
        self.running.finish(end).for_each(|open| add_ran(&mut each, &open, None, false));
        let texts = resolved.model().texts();
        let passes = |place: &TaskPlace| resolved.selected(place.1, Mode::Unknown).is_some();
        let named = |place: &TaskPlace, by: &str| match place.0 {
            Some((name, stack)) => task_name(texts.get(name), resolved, stack),
            None => format!("{by} {}", caller(resolved, place.1)),
        };
        let mut all = TaskSite::default();
        let mut rows: BTreeMap<String, (TaskSite, Vec<(StackHandle, u64)>)> = BTreeMap::new();
        let mut sites: Vec<_> = self.sites.iter().filter(|(place, _)| passes(place)).collect();
        sites.sort_few_by_key(|(place, _)| **place);
        for (place, site) in sites {
            let row = rows.entry(named(place, SCHEDULED_BY)).or_default();
            row.0.merge(site);
            row.1.push((place.1, site.scheduled));
            all.merge(site);
        }
        let mut rows: Vec<_> = rows.into_iter().collect();
        rows.sort_few_by_key(|(_, (site, _))| Reverse((site.scheduled, site.started)));
        let mut shown = ShownFrames::new(resolved);
        let by = |place: &TaskPlace| waiter(resolved, place.1);
        let profiled =
            self.profiled.take().map(|it| it.finish(resolved, &mut self.waits, each.as_mut()));
        let waited = self.waits.finish(&mut shown, passes, named, by, each.as_mut());
        let mut each = each.unwrap_or_default();
        each.name(named);
        let tasks = rows
            .into_iter()
            .map(|(name, (site, stacks))| {
                let stacks = stacks.into_iter().filter(|(_, count)| *count > 0);
                let (stacks, stacks_left_out) =
                    stack_rows(&mut shown, stacks, is_of_task_library, self.top);
                TaskRow {
                    name,
                    scheduled: site.scheduled,
                    started: site.started,
                    completed: site.completed,
                    faulted: site.faulted,
                    queued: site.queued.spread(),
                    ran: site.ran.spread(),
                    stacks,
                    stacks_left_out,
                }
            })
            .collect();
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
            waits_begun: waited.begun,
            waits_ended: waited.ended,
            queued: all.queued.spread(),
            ran: all.ran.spread(),
            tasks,
            open: waited.open,
            waits: waited.rows,
            activities,
            has_runtime_async: profiled.is_none()
                && resolved.all_frames().iter().any(|frame| is_of_runtime_async(frame)),
            awaits_left_out: profiled.map_or(0, |it| it.left_out),
            chains_without_begin: profiled.map_or(0, |it| it.chains_without_begin),
            each,
        }
    }
}

/// Adds the time that a task waited for a worker.
fn add_queued(
    each: &mut Option<EachTask>,
    queued: &Interval<Option<TaskPlace>>,
    nanos: Option<u64>,
) {
    if let (Some(each), Some(place)) = (each, queued.what) {
        each.add(TaskTime::Queued, place, queued.start.nanos, nanos, false);
    }
}

/// Adds the time that a task ran.
fn add_ran(
    each: &mut Option<EachTask>,
    ran: &Interval<Option<(TaskPlace, i64)>>,
    nanos: Option<u64>,
    is_faulted: bool,
) {
    if let (Some(each), Some((place, since))) = (each, ran.what) {
        each.add(TaskTime::Ran, place, since, nanos, is_faulted);
    }
}

impl TaskSite {
    fn merge(&mut self, other: &TaskSite) {
        increase(&mut self.scheduled, other.scheduled);
        increase(&mut self.started, other.started);
        increase(&mut self.completed, other.completed);
        increase(&mut self.faulted, other.faulted);
        self.queued.merge(&other.queued);
        self.ran.merge(&other.ran);
        increase_all(&mut self.activities, &other.activities);
    }
}

/// Returns the innermost method that does not belong to the task library.
fn caller<'r>(resolved: &'r Resolved<'_>, stack: StackHandle) -> &'r str {
    let frame = below(resolved, stack, is_of_task_library).first();
    frame.map_or("(unknown method)", |frame| resolved.text(*frame))
}

/// Returns the qualified name of the method that waits on a stack.
pub(super) fn waiter<'r>(resolved: &'r Resolved<'_>, stack: StackHandle) -> &'r str {
    let frame = below(resolved, stack, is_of_task_library).first();
    let frame = frame.and_then(|frame| resolved.frame(*frame));
    frame.map_or("(unknown method)", |frame| frame.qualified_name())
}

/// Returns the shown name of a task. For a task of an async method it includes the method's type,
/// which tells equally named methods apart. `named_at`: stack of the naming event, which has the
/// type.
pub(super) fn task_name(stored: &str, resolved: &Resolved<'_>, named_at: StackHandle) -> String {
    let (kind, stored) = TaskKind::split(stored);
    let method = task_method(stored, resolved.names());
    if kind != TaskKind::AsyncMethod || method.contains('.') {
        return kind.text(&method);
    }
    let own = below(resolved, named_at, is_of_task_library).iter().take(NAMED_WITHIN);
    let mut own = own.filter_map(|frame| resolved.frame(*frame));
    let own = own.find(|frame| frame.caller_method() == method && !frame.type_name.is_empty());
    kind.text(own.map_or(&method, |frame| frame.qualified_name()))
}

/// Number of frames, below those of the task library, among which the method of a task is searched
/// for.
const NAMED_WITHIN: usize = 8;
