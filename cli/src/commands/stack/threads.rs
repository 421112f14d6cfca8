//! Threads of a process, by samples, the operating system and native stacks.

use super::natives::{Native, Natives};
use super::take::OsFacts;
use crate::live::os_threads::OsThread;
use nettrace_analysis::live::SampledThread;
use nettrace_analysis::model::WaitFor;
use nettrace_analysis::{Frame, ThreadState};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Minimum share of a processor that a thread uses if it runs.
const MIN_USED: f64 = 0.01;

/// A thread with one of its stacks.
#[derive(Debug)]
pub(super) struct StackedThread {
    /// Thread id in the namespace of the process, as in its events.
    pub(super) id: u64,
    /// Sampled stack; `None` if the thread has no managed frames.
    pub(super) sampled: Option<SampledThread>,
    /// Facts of the operating system; `None` if it did not list the thread.
    pub(super) os: Option<OsThread>,
    /// Kernel function in which the thread sleeps; `None` without --native.
    pub(super) kernel_function: Option<String>,
    /// Native stack of the last time that stacks were taken; `None` without --native.
    pub(super) native: Option<Native>,
    /// Share of a processor that the thread used while stacks were taken.
    pub(super) used: Option<f64>,
    is_gone: bool,
    has_process_ended: bool,
}

/// Returns the sampled threads in the order of `rows`.
pub(super) fn sampled(
    rows: Vec<SampledThread>,
    facts: Option<&OsFacts>,
    natives: Option<&Natives>,
) -> Vec<StackedThread> {
    rows.into_iter().map(|row| StackedThread::sampled(row, facts, natives)).collect()
}

/// Adds the living threads without managed frames. Threads of sessions are moved to the end.
pub(super) fn add_unmanaged(
    threads: &mut Vec<StackedThread>,
    facts: Option<&OsFacts>,
    natives: Option<&Natives>,
) {
    let seen: BTreeSet<u64> = threads.iter().map(|thread| thread.id).collect();
    let alive = facts.into_iter().flat_map(|facts| {
        facts.threads.iter().filter(|(id, _)| facts.alive.contains(id) && !seen.contains(id))
    });
    threads.extend(alive.map(|(id, os)| StackedThread::unmanaged(*id, os, natives)));
    threads.sort_by_key(StackedThread::is_of_sessions);
}

impl StackedThread {
    fn sampled(
        row: SampledThread,
        facts: Option<&OsFacts>,
        natives: Option<&Natives>,
    ) -> StackedThread {
        let id = row.thread_id;
        let os = facts.and_then(|facts| facts.threads.get(&id));
        let stacks = natives.and_then(|natives| natives.as_ref().ok());
        let stack = stacks.zip(os).and_then(|(stacks, os)| stacks.get(&os.id));
        StackedThread {
            id,
            native: stack.filter(|_| row.is_latest).map(|stack| Native::of_sampled(stack, &row)),
            kernel_function: os
                .filter(|_| natives.is_some())
                .and_then(|os| os.kernel_function.clone()),
            os: os.cloned(),
            used: facts.and_then(|facts| facts.used(id)),
            is_gone: facts.is_some_and(|facts| !facts.alive.contains(&id)),
            has_process_ended: facts.is_some_and(|facts| facts.alive.is_empty()),
            sampled: Some(row),
        }
    }

    fn unmanaged(id: u64, os: &OsThread, natives: Option<&Natives>) -> StackedThread {
        let stacks = natives.and_then(|natives| natives.as_ref().ok());
        StackedThread {
            id,
            sampled: None,
            os: Some(os.clone()),
            kernel_function: os.kernel_function.clone().filter(|_| natives.is_some()),
            native: stacks.and_then(|stacks| stacks.get(&os.id)).map(Native::from_stack),
            used: None,
            is_gone: false,
            has_process_ended: false,
        }
    }

    /// Returns the thread's name by the operating system, or the purpose that the runtime reported.
    pub(super) fn name(&self) -> Option<&str> {
        let of_os = self.os.as_ref().map(|os| os.name.as_str()).filter(|name| !name.is_empty());
        of_os.or_else(|| self.sampled.as_ref()?.name.as_deref())
    }

    /// Returns whether the thread has managed frames.
    pub(super) fn is_managed(&self) -> bool {
        self.sampled.is_some()
    }

    /// Returns whether the thread samples or sends events, and exists only while a session observes
    /// the process.
    pub(super) fn is_of_sessions(&self) -> bool {
        self.os.as_ref().is_some_and(OsThread::is_of_sessions)
    }

    /// Returns whether the thread has managed frames and still exists. If the process has ended,
    /// threads of the last round count as existing.
    pub(super) fn is_current(&self) -> bool {
        let is_in_last_round = |row: &SampledThread| row.is_in_last_round && self.has_process_ended;
        self.sampled.as_ref().is_some_and(|row| !self.is_gone || is_in_last_round(row))
    }

    /// Returns whether the thread is listed with its frames; `has_ended` includes ended threads.
    pub(super) fn is_shown(&self, has_ended: bool) -> bool {
        self.is_current() || (self.is_managed() && has_ended)
    }

    /// Returns whether the stack is the thread's latest.
    pub(super) fn is_latest(&self) -> bool {
        self.sampled.as_ref().is_none_or(|row| row.is_latest)
    }

    /// Returns the number of times that the thread had this stack when stacks were taken.
    pub(super) fn count(&self) -> u64 {
        self.sampled.as_ref().map_or(0, |row| row.count)
    }

    /// Returns the managed frames, innermost first.
    pub(super) fn frames(&self) -> &[Arc<Frame>] {
        self.sampled.as_ref().map_or(&[], |row| &row.frames)
    }

    /// Returns the thread's wait by its sampled frames, or by its native frames.
    pub(super) fn waits_for(&self) -> Option<WaitFor> {
        let row = self.sampled.as_ref()?;
        row.waits_for.or_else(|| self.native.as_ref()?.waits_for)
    }

    /// Returns the state of the thread; `None` without managed frames.
    pub(super) fn state(&self) -> Option<ThreadState> {
        let row = self.sampled.as_ref()?;
        let is_waiting = row.waits_for.is_none() && self.waits_for().is_some();
        Some(if is_waiting { ThreadState::Waiting } else { row.state })
    }

    /// Returns whether readings of the thread around the sample show the state.
    pub(super) fn is_measured(&self) -> bool {
        self.sampled.as_ref().is_some_and(|row| row.is_measured)
    }

    /// Returns the state by the operating system, in words.
    pub(super) fn os_state(&self) -> Option<&'static str> {
        if self.is_gone { Some("ended") } else { self.os.as_ref().map(OsThread::state_text) }
    }

    /// Returns whether the thread sleeps in native code by the operating system, because some waits
    /// leave no method on the stack. Where managed code is not told from native code, a thread that
    /// may have run managed code must also have used next to no processor time, or be blocked by its
    /// native stack, because the sampler puts threads that run managed code to sleep.
    pub(super) fn is_blocked(&self) -> Option<bool> {
        let row = self.sampled.as_ref().filter(|row| row.is_latest)?;
        let os = self.os.as_ref()?;
        let may_wait = match row.state {
            ThreadState::Native => !row.is_measured,
            ThreadState::Managed if row.is_untold => {
                self.used.is_some_and(|used| used < MIN_USED)
                    || self.native.as_ref().is_some_and(Native::is_blocked)
            }
            _ => false,
        };
        Some(may_wait && matches!(os.state, 'S' | 'D'))
    }
}

/// Threads with identical stacks.
#[derive(Debug)]
pub(super) struct StackGroup {
    /// Number of threads, added up over all times that stacks were taken.
    pub(super) count: u64,
    /// Indices of the threads, at least one.
    pub(super) places: Vec<usize>,
}

impl StackGroup {
    /// Returns the threads of the group.
    pub(super) fn threads<'t>(
        &self,
        threads: &'t [StackedThread],
    ) -> impl Iterator<Item = &'t StackedThread> {
        self.places.iter().map(|place| &threads[*place])
    }
}

/// Groups the threads with managed frames by identical stacks, the most frequent first.
pub(super) fn merged(threads: &[StackedThread], has_ended: bool) -> Vec<StackGroup> {
    type States = (Option<&'static str>, bool, Option<&'static str>);
    type Key<'t> = (&'t [Arc<Frame>], States, Option<&'t [String]>);
    let mut groups: BTreeMap<Key<'_>, Vec<usize>> = BTreeMap::new();
    for (place, thread) in threads.iter().enumerate().filter(|(_, it)| it.is_shown(has_ended)) {
        let native = thread.native.as_ref().map(Native::functions);
        let state = thread.state().map(ThreadState::name);
        let states = (state, thread.is_measured(), thread.waits_for().map(WaitFor::name));
        let key = (thread.frames(), states, native);
        groups.entry(key).or_default().push(place);
    }
    let groups = groups.into_values().map(|places| StackGroup {
        count: places.iter().map(|place| threads[*place].count()).sum(),
        places,
    });
    let mut groups: Vec<StackGroup> = groups.collect();
    groups.sort_by_key(|group| {
        let is_ours = group.threads(threads).all(StackedThread::is_of_sessions);
        (is_ours, Reverse(group.count), group.threads(threads).next().map(|thread| thread.id))
    });
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use nettrace_analysis::NameOptions;
    use nettrace_analysis::live::ThreadStacks;
    use nettrace_parser::Reader;

    /// Returns the first thread of a trace of the repository.
    fn thread() -> StackedThread {
        let trace = nettrace_testdata::corpus::trace("net10-linux-x64/samples-only.nettrace");
        let bytes = trace.bytes();
        let mut stacks = ThreadStacks::default();
        let mut events = Reader::from_slice(&bytes).time_ordered();
        while let Some(event) = events.next_event().unwrap() {
            stacks.event(&event);
        }
        stacks.count_stacks();
        let rows = stacks.finish(NameOptions::default()).threads;
        sampled(rows, None, None).remove(0)
    }

    #[test]
    fn where_the_runtime_does_not_tell_a_sleeping_thread_without_processor_time_is_blocked() {
        let mut thread = thread();
        let name = "worker".to_owned();
        let of_os = OsThread {
            id: 1,
            name,
            state: 'S',
            user_ns: 0,
            system_ns: 0,
            cpu_ns: 0,
            kernel_function: None,
        };
        thread.os = Some(of_os);
        let mut blocked = |state, is_untold, used| {
            let row = thread.sampled.as_mut().unwrap();
            (row.state, row.is_untold) = (state, is_untold);
            thread.used = Some(used);
            thread.is_blocked()
        };
        assert_eq!(blocked(ThreadState::Native, false, 0.5), Some(true));
        assert_eq!(blocked(ThreadState::Managed, false, 0.0), Some(false));
        assert_eq!(blocked(ThreadState::Managed, true, 0.0), Some(true));
        // The sampler puts threads to sleep.
        assert_eq!(blocked(ThreadState::Managed, true, 0.5), Some(false));
    }

    #[test]
    fn a_thread_that_has_ended_is_left_out_unless_the_whole_process_has() {
        let mut thread = thread();
        assert!(thread.is_current());
        thread.is_gone = true;
        thread.sampled.as_mut().unwrap().is_in_last_round = true;
        assert!(!thread.is_current());
        thread.has_process_ended = true;
        assert!(thread.is_current());
        thread.has_process_ended = false;
        let threads = [thread];
        assert_eq!([false, true].map(|has_ended| merged(&threads, has_ended).len()), [0, 1]);
    }
}
