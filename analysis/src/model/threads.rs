//! The threads of a trace, which are found by process and OS id.

use super::handle::{ProcessHandle, ThreadHandle};
use super::names::shorten;
use crate::hash::HashMap;
use nettrace_parser::Event;

/// A thread of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Thread {
    /// Process to which the thread belongs.
    pub process: ProcessHandle,
    /// OS id of the thread; `None` if the stream does not contain it.
    pub os_thread_id: Option<u64>,
    /// Name from the recorder, or the purpose that the runtime reports, such as `Finalizer`.
    pub name: Option<String>,
    /// Number of events about the thread.
    pub events: u64,
    /// Number of events that the filter of threads, processes and times accepts.
    pub(crate) selected: u64,
}

/// The threads of a trace.
#[derive(Debug, Clone)]
pub(crate) struct ThreadTable {
    rows: Vec<Thread>,
    by_id: HashMap<(u32, u64), ThreadHandle>,
    /// Recently used threads, by the lowest bits of their ids.
    recent: [Option<(ProcessHandle, u64, ThreadHandle)>; RECENT],
}

impl Default for ThreadTable {
    fn default() -> Self {
        ThreadTable { rows: Vec::new(), by_id: HashMap::default(), recent: [None; RECENT] }
    }
}

const RECENT: usize = 64;

/// Key that stands for threads without an OS id.
const NO_ID: u64 = u64::MAX;

impl ThreadTable {
    /// Returns the thread that an event is about, and counts the event. A new thread is added. Every
    /// event passes here, so its part is inlined.
    #[inline(always)]
    pub(crate) fn of_event(&mut self, process: ProcessHandle, event: &Event<'_>) -> ThreadHandle {
        let id = event.thread_id();
        let key = id.unwrap_or(NO_ID);
        let place = usize::try_from(key.checked_rem(RECENT as u64).unwrap_or(0)).unwrap_or(0);
        let handle = match self.recent.get(place).copied().flatten() {
            Some((of_process, known, handle)) if of_process == process && known == key => handle,
            _ => {
                let handle = self.find_or_add(process, id, event);
                if let Some(recent) = self.recent.get_mut(place) {
                    *recent = Some((process, key, handle));
                }
                handle
            }
        };
        if let Some(row) = self.rows.get_mut(handle.index()) {
            row.events = row.events.saturating_add(1);
        }
        handle
    }

    #[inline(never)]
    fn find_or_add(
        &mut self,
        process: ProcessHandle,
        id: Option<u64>,
        event: &Event<'_>,
    ) -> ThreadHandle {
        let handle = self.intern(process, id);
        let name = event.thread().and_then(|thread| thread.name.as_deref());
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            self.name(handle, name);
        }
        handle
    }

    /// Returns the thread with an OS id. A new thread is added.
    pub(crate) fn intern(&mut self, process: ProcessHandle, id: Option<u64>) -> ThreadHandle {
        let next = ThreadHandle::next(self.rows.len());
        let handle = *self.by_id.entry((process.0, id.unwrap_or(NO_ID))).or_insert(next);
        if handle == next {
            let (name, events, selected) = (None, 0, 0);
            self.rows.push(Thread { process, os_thread_id: id, name, events, selected });
        }
        handle
    }

    /// Counts events of a thread that were not looked at.
    pub(crate) fn count(&mut self, thread: ThreadHandle, events: u64) {
        if let Some(row) = self.rows.get_mut(thread.index()) {
            row.events = row.events.saturating_add(events);
            row.selected = row.selected.saturating_add(events);
        }
    }

    /// Counts an event of this thread as accepted by the filter.
    #[inline]
    pub(crate) fn select(&mut self, thread: ThreadHandle) {
        if let Some(row) = self.rows.get_mut(thread.index()) {
            row.selected = row.selected.saturating_add(1);
        }
    }

    /// Counts all events as accepted by the filter, if it accepts all.
    pub(crate) fn complete(&mut self, are_all: bool) {
        self.rows.iter_mut().filter(|_| are_all).for_each(|row| row.selected = row.events);
    }

    /// Sets a thread's name, unless it has one.
    pub(crate) fn name(&mut self, thread: ThreadHandle, name: &str) {
        if let Some(row) = self.rows.get_mut(thread.index())
            && row.name.is_none()
        {
            let mut name = name.to_owned();
            shorten(&mut name);
            row.name = Some(name);
        }
    }

    /// Returns the thread that a handle refers to.
    pub(crate) fn get(&self, thread: ThreadHandle) -> Option<&Thread> {
        self.rows.get(thread.index())
    }

    /// Returns all threads, in the order of first appearance.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (ThreadHandle, &Thread)> {
        self.rows.iter().enumerate().map(|(index, row)| (ThreadHandle::next(index), row))
    }
}
