//! Makes the marks for tasks, which are scheduled on one thread, run on another, and are waited
//! for.

use super::mark::{Category, Flow, SpanScope};
use super::mark_text::MarkText;
use super::subject::{self, What};
use super::{SpanMoment, SpanSubject, Spans};
use crate::model::{NameOptions, task_text};

/// Maximum number of tasks whose names are kept.
const MAX_TASK_NAMES: usize = 1 << 16;

/// Makes the description of a span that belongs to a task with this number.
fn numbered(name: impl Into<MarkText>, place: SpanScope, task: u64) -> SpanSubject {
    let mut subject = SpanSubject::new(Category::Task, place, name);
    subject::number(&mut subject.arguments, "task", Some(task));
    subject
}

impl Spans {
    pub(super) fn tasks(&mut self, moment: SpanMoment<'_, '_>) {
        let number = |name| moment.event.field(name).and_then(|value| value.as_u64());
        if !matches!(moment.event.id(), 7..=11 | 14 | 15) {
            return;
        }
        let (process, Some(task)) = (moment.process, number("TaskID")) else { return };
        let (id, key) = ((process, task), (What::Task, process, task));
        // Tasks are numbered from 1 in each process.
        let flow = process << 48 ^ task;
        match moment.event.id() {
            7 => {
                let mut instant = moment.instant(Category::Task, "task scheduled");
                instant.flow = Some(Flow::From(flow));
                subject::number(&mut instant.arguments, "task", Some(task));
                if let Some(name) = self.task_names.get(&id) {
                    subject::text(&mut instant.arguments, "name", name.clone());
                }
                subject::number(&mut instant.arguments, "created_by", number("CreatingTaskID"));
                self.instant(instant);
            }
            8 => {
                let name = self.task_name(id);
                let begun = SpanSubject {
                    flow: Some(Flow::To(flow)),
                    ..numbered(name, SpanScope::Thread, task)
                };
                self.open.start_again(key, moment.edge(), begun);
            }
            9 => {
                let name = self.task_name(id);
                let alone = || numbered(name, SpanScope::Thread, task);
                let mut span = self.open.stop_or(key, moment.edge(), None, alone);
                let is_failed =
                    moment.event.field("IsExceptional").and_then(|value| value.as_bool());
                if is_failed == Some(true) {
                    subject::text(&mut span.arguments, "ended", "with an exception");
                }
                self.task_names.remove(&id);
                self.span(span);
            }
            10 => {
                // A waiting thread is blocked. An awaiting method may continue on another thread.
                let is_await = number("Behavior") == Some(2);
                let (name, place) = if is_await {
                    ("await", SpanScope::Free)
                } else {
                    ("wait for task", SpanScope::Thread)
                };
                let mut begun = numbered(name, place, task);
                if let Some(name) = self.task_names.get(&id) {
                    subject::text(&mut begun.arguments, "name", name.clone());
                }
                let key = (What::TaskWait, process, task);
                self.open.start_inside(key, moment.edge(), begun);
            }
            11 => {
                let key = (What::TaskWait, process, task);
                let span = self
                    .open
                    .stop_one_or(key, moment.edge(), || numbered("await", SpanScope::Free, task));
                self.span(span);
            }
            14 => {
                let name = moment.event.field("OperationName").and_then(|value| value.as_utf16());
                let name = name.filter(|name| !name.is_empty());
                if let Some(name) = name.filter(|_| self.task_names.len() < MAX_TASK_NAMES) {
                    let show = |name: &str| task_text(name, NameOptions::default());
                    self.task_names.insert(id, self.shown_task_names.text(name, show));
                }
            }
            _ => drop(self.task_names.remove(&id)),
        }
    }

    /// Returns the name of a task for its span.
    fn task_name(&self, id: (u64, u64)) -> MarkText {
        self.task_names.get(&id).cloned().unwrap_or_else(|| "task".into())
    }
}
