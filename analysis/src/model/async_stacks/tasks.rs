//! The tasks that are open, found by id or by the place at which they were found before.

use super::chains::ChainId;
use super::events::TaskId;
use crate::hash::HashMap;
use crate::model::handle::{ProcessHandle, StackHandle, TextHandle};
use std::collections::VecDeque;
use std::collections::hash_map::Entry;

/// Maximum number of tasks that are kept; beyond it, the oldest is dropped.
const MAX_TASKS: usize = 1 << 18;

/// A task, or an await that stands for one: of `Task.Yield`, or of a method whose builder has no
/// tasks. In one number: the process, the id, and whether it is an await.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct AsyncKey(u64);

impl AsyncKey {
    /// Key of rows without a task. No process has this number.
    const NONE: AsyncKey = AsyncKey(u64::MAX);

    pub(super) fn task(process: ProcessHandle, id: TaskId) -> AsyncKey {
        AsyncKey(u64::from(process.0) << 33 | u64::from(id) << 1)
    }

    pub(super) fn await_of(process: ProcessHandle, id: TaskId) -> AsyncKey {
        AsyncKey(AsyncKey::task(process, id).0 | 1)
    }

    pub(super) fn is_await(self) -> bool {
        self.0 & 1 != 0
    }
}

/// A key, and the place at which its task was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AsyncTaskPlace {
    pub(super) key: AsyncKey,
    at: u32,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct AsyncTask {
    key: AsyncKey,
    /// Number of the addition, which tells it from earlier tasks with the key.
    number: u64,
    pub(super) name: Option<TextHandle>,
    /// Stack of the first event that mentions the task.
    pub(super) made: Option<StackHandle>,
    /// Callers by that stack.
    pub(super) made_by: ChainId,
    /// Task whose method awaits this one. The first one counts.
    pub(super) awaiter: Option<AsyncTaskPlace>,
    /// Latest link for this task as an awaiter, by the chain above it and who made the awaited.
    pub(super) link: Option<([ChainId; 2], ChainId)>,
}

impl AsyncTask {
    fn new(key: AsyncKey, number: u64) -> AsyncTask {
        let made_by = ChainId::UNKNOWN;
        AsyncTask { key, number, name: None, made: None, made_by, awaiter: None, link: None }
    }
}

/// The open tasks. Each has a row, whose place the next task takes when it is over.
#[derive(Debug, Clone, Default)]
pub(super) struct AsyncTasks {
    rows: Vec<AsyncTask>,
    free: Vec<u32>,
    by_key: HashMap<AsyncKey, u32>,
    /// Keys and numbers in the order of addition, and of some that are gone.
    order: VecDeque<(AsyncKey, u64)>,
    added: u64,
}

impl AsyncTasks {
    /// Returns a task and its place.
    pub(super) fn find(&self, key: AsyncKey) -> Option<(&AsyncTask, AsyncTaskPlace)> {
        let at = *self.by_key.get(&key)?;
        Some((self.rows.get(at as usize)?, AsyncTaskPlace { key, at }))
    }

    /// Returns the task of a key, which may have moved since it was at the place.
    #[inline]
    pub(super) fn at(&self, place: AsyncTaskPlace) -> Option<&AsyncTask> {
        match self.rows.get(place.at as usize) {
            Some(row) if row.key == place.key => Some(row),
            _ => self.find(place.key).map(|(row, _)| row),
        }
    }

    #[inline]
    pub(super) fn at_mut(&mut self, place: AsyncTaskPlace) -> Option<&mut AsyncTask> {
        let at = match self.rows.get(place.at as usize) {
            Some(row) if row.key == place.key => place.at,
            _ => *self.by_key.get(&place.key)?,
        };
        self.rows.get_mut(at as usize)
    }

    /// Returns the place of a task, which is added if it is not known.
    pub(super) fn place(&mut self, key: AsyncKey) -> AsyncTaskPlace {
        if self.by_key.len() >= MAX_TASKS || self.order.len() >= MAX_TASKS.saturating_mul(2) {
            self.make_room();
        }
        let at = match self.by_key.entry(key) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                let number = self.added;
                self.added = self.added.saturating_add(1);
                self.order.push_back((key, number));
                let task = AsyncTask::new(key, number);
                let at = match self.free.pop() {
                    Some(at) => {
                        if let Some(row) = self.rows.get_mut(at as usize) {
                            *row = task;
                        }
                        at
                    }
                    None => {
                        let at = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
                        self.rows.push(task);
                        at
                    }
                };
                *new.insert(at)
            }
        };
        AsyncTaskPlace { key, at }
    }

    /// Returns the place of a new task. What was known of its key is over.
    pub(super) fn place_anew(&mut self, key: AsyncKey) -> AsyncTaskPlace {
        let place = self.place(key);
        if let Some(row) = self.rows.get_mut(place.at as usize) {
            *row = AsyncTask::new(key, row.number);
        }
        place
    }

    pub(super) fn remove(&mut self, key: AsyncKey) {
        if let Some(at) = self.by_key.remove(&key) {
            if let Some(row) = self.rows.get_mut(at as usize) {
                row.key = AsyncKey::NONE;
            }
            self.free.push(at);
        }
    }

    /// Returns whether the task that was added with a number is still open: its key may be that of a
    /// later one.
    fn is_open(&self, (key, number): (AsyncKey, u64)) -> bool {
        self.find(key).is_some_and(|(task, _)| task.number == number)
    }

    fn make_room(&mut self) {
        while self.by_key.len() >= MAX_TASKS
            && let Some(oldest) = self.order.pop_front()
        {
            if self.is_open(oldest) {
                self.remove(oldest.0);
            }
        }
        if self.order.len() >= MAX_TASKS.saturating_mul(2) {
            let mut order = std::mem::take(&mut self.order);
            order.retain(|added| self.is_open(*added));
            self.order = order;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROCESS: ProcessHandle = ProcessHandle(0);

    #[test]
    fn a_task_is_found_by_its_key_after_another_took_its_place() {
        let mut tasks = AsyncTasks::default();
        let [one, other] = [1, 2].map(|id| AsyncKey::task(PROCESS, id));
        let place = tasks.place(one);
        tasks.remove(one);
        assert!(tasks.at(place).is_none() && tasks.at_mut(place).is_none());
        let taken = tasks.place(other);
        assert_eq!((taken.at, tasks.at(place).is_none()), (place.at, true));
        let again = tasks.place(one);
        tasks.at_mut(again).unwrap().name = Some(TextHandle(7));
        assert_ne!(again.at, place.at);
        assert_eq!(tasks.at(place).unwrap().name, Some(TextHandle(7)));
        assert_eq!(tasks.at(tasks.find(one).unwrap().1).unwrap().name, Some(TextHandle(7)));
        let anew = tasks.place_anew(one);
        assert_eq!((anew, tasks.at(anew).unwrap().name), (again, None));
    }

    #[test]
    fn memory_is_bounded_however_many_tasks_there_are() {
        let mut tasks = AsyncTasks::default();
        for id in 0..3 * MAX_TASKS as u32 {
            let key = AsyncKey::await_of(PROCESS, id);
            tasks.place(key);
            if id % 2 == 0 {
                tasks.remove(key);
            }
        }
        assert!(tasks.rows.len() <= MAX_TASKS && tasks.order.len() <= 2 * MAX_TASKS);
        assert!(tasks.find(AsyncKey::await_of(PROCESS, 1)).is_none(), "the oldest is gone");
    }

    #[test]
    fn a_key_that_comes_again_and_again_takes_one_place_in_the_order() {
        let mut tasks = AsyncTasks::default();
        let again = AsyncKey::task(PROCESS, 0);
        for _ in 0..2 * MAX_TASKS {
            tasks.remove(again);
            tasks.place(again);
        }
        tasks.place(AsyncKey::task(PROCESS, 1));
        assert_eq!(tasks.order.len(), 2);
        // It is not the oldest because an earlier task with its key was.
        tasks.place(AsyncKey::task(PROCESS, 2));
        tasks.remove(again);
        tasks.place(again);
        for id in 3..MAX_TASKS as u32 + 1 {
            tasks.place(AsyncKey::task(PROCESS, id));
        }
        assert!(tasks.find(again).is_some() && tasks.find(AsyncKey::task(PROCESS, 1)).is_none());
    }
}
