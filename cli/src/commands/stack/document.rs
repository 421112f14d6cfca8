//! All that `stack` knows of the threads. The keys are a promise to scripts.

use super::natives::{self, FrameDocument, Native};
use super::take::{OsFacts, Taken};
use super::verdict;
use crate::args::StackArgs;
use crate::live::os_threads::OsThread;
use crate::live::pool_queue;
use crate::live::target::Reached;
use nettrace_analysis::live::SampledThread;
use nettrace_analysis::{Frame, NameOptions, ThreadState};
use nettrace_native::NativeStacks;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

#[derive(Debug, Serialize)]
pub(super) struct Document {
    pub(super) schema: u32,
    pub(super) process_id: Option<u64>,
    pub(super) process_name: Option<String>,
    /// How often stacks were taken.
    pub(super) taken: u64,
    /// Complete rounds of the sampler, and its samples.
    pub(super) rounds: u64,
    pub(super) samples: u64,
    /// Whether it is certain that each thread was seen.
    pub(super) complete: bool,
    pub(super) duration_ns: u64,
    /// Whether names, states and CPU times of threads are known, and why not.
    pub(super) os: OsDocument,
    /// What stands out, in sentences.
    pub(super) verdicts: Vec<String>,
    pub(super) threads: Vec<ThreadDocument>,
    /// With --merge: identical stacks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stacks: Option<Vec<StackDocument>>,
}

#[derive(Debug, Serialize)]
pub(super) struct OsDocument {
    pub(super) available: bool,
    pub(super) reason: Option<String>,
    /// With --native: how many threads have native frames, or why there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) native: Option<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct ThreadDocument {
    /// In the namespace of the process, as its events have it.
    pub(super) thread_id: u64,
    /// The operating system's id here, if that is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) host_thread_id: Option<u64>,
    pub(super) name: Option<String>,
    /// Whether it has managed frames.
    pub(super) managed: bool,
    /// Whether it samples and sends events: it exists because somebody is looking.
    pub(super) of_sessions: bool,
    /// `managed`, `native` or `waiting`; `None` without managed frames.
    pub(super) state: Option<&'static str>,
    pub(super) waits_for: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) lock_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) lock_owner_thread_id: Option<u64>,
    /// The operating system's state: `running`, `sleeping`, …; `ended` if it is gone.
    pub(super) os_state: Option<&'static str>,
    /// Whether it was in native code, where the operating system says that it sleeps:
    /// some waits leave no method on the stack.
    pub(super) blocked: Option<bool>,
    /// Whether it was there in the latest round of the sampler.
    pub(super) in_last_round: bool,
    pub(super) user_ns: Option<u64>,
    pub(super) system_ns: Option<u64>,
    /// With --native.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) kernel_function: Option<String>,
    /// The same: its native stack, of the last time that stacks were taken.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(super) native: Option<Native>,
    /// How often the thread had this stack.
    pub(super) count: u64,
    /// Whether it is the latest stack of the thread.
    pub(super) latest: bool,
    /// Innermost first.
    pub(super) frames: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) guessed: Vec<usize>,
    /// Whether the thread has ended.
    #[serde(skip)]
    is_gone: bool,
    /// Whether the whole process has.
    #[serde(skip)]
    has_process_ended: bool,
    /// The part of the time in which stacks were taken that it used a processor.
    #[serde(skip)]
    pub(super) used: Option<f64>,
    #[serde(skip)]
    pub(super) waits_for_text: Option<String>,
    #[serde(skip)]
    pub(super) shared: Vec<Arc<Frame>>,
}

/// A stack and who has it.
#[derive(Debug, Serialize)]
pub(super) struct StackDocument {
    /// Threads, or how often some thread had it if stacks were taken several times.
    pub(super) count: u64,
    pub(super) thread_ids: Vec<u64>,
    pub(super) state: Option<&'static str>,
    pub(super) waits_for: Option<&'static str>,
    /// With --native: of the first of its threads; the others have the same functions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) native_frames: Option<Vec<FrameDocument>>,
    pub(super) frames: Vec<String>,
    /// Places of its threads in the list of threads.
    #[serde(skip)]
    pub(super) places: Vec<usize>,
}

impl Document {
    pub(super) fn new(
        reached: &Reached,
        taken: Taken,
        names: NameOptions,
        args: &StackArgs,
        is_merged: bool,
    ) -> Document {
        let report = taken.stacks.finish(names);
        let facts = taken.os.as_ref().ok();
        let mut threads: Vec<ThreadDocument> =
            report.threads.iter().map(|row| sampled(row, facts, taken.native.as_ref())).collect();
        let verdicts =
            verdict::of(&report.threads, &threads, &|| pool_queue::waiting_items(reached));
        let seen: BTreeSet<u64> = report.threads.iter().map(|row| row.thread_id).collect();
        let others = facts.into_iter().flat_map(|facts| {
            let alive = facts.threads.iter().filter(|(id, _)| facts.alive.contains(id));
            alive.filter(|(id, _)| !seen.contains(id))
        });
        threads.extend(others.map(|(id, thread)| unmanaged(*id, thread, taken.native.as_ref())));
        // What is there because somebody looks comes last.
        threads.sort_by_key(|thread| thread.of_sessions);
        let stacks = is_merged.then(|| merged(&threads, args.all || args.json));
        Document {
            schema: report.schema,
            process_id: reached.pid,
            process_name: Some(reached.name.clone()).filter(|name| !name.is_empty()),
            taken: report.taken,
            rounds: report.rounds,
            samples: report.samples,
            complete: taken.is_complete,
            duration_ns: u64::try_from(taken.duration.as_nanos()).unwrap_or(u64::MAX),
            os: OsDocument {
                available: taken.os.is_ok(),
                native: taken.native.map(|native| natives::summary(&native, &threads)),
                reason: taken.os.err(),
            },
            verdicts,
            threads,
            stacks,
        }
    }
}

type Natives = Result<NativeStacks, String>;

fn sampled(
    row: &SampledThread,
    facts: Option<&OsFacts>,
    natives: Option<&Natives>,
) -> ThreadDocument {
    let os = facts.and_then(|facts| facts.threads.get(&row.thread_id));
    let is_gone = facts.is_some_and(|facts| !facts.alive.contains(&row.thread_id));
    let os_name = os.map(|thread| thread.name.clone()).filter(|name| !name.is_empty());
    let stacks = natives.and_then(|natives| natives.as_ref().ok());
    let stack = stacks.zip(os).and_then(|(stacks, os)| stacks.get(&os.id));
    let native = stack.filter(|_| row.is_latest).map(|stack| Native::of_sampled(stack, row));
    // What the sampled frames do not say, the native ones may.
    let by_native = native.as_ref().filter(|_| row.waits_for.is_none());
    let waits_for = row.waits_for.or(by_native.and_then(|native| native.waits_for));
    let is_waiting = row.waits_for.is_none() && waits_for.is_some();
    ThreadDocument {
        thread_id: row.thread_id,
        host_thread_id: os.map(|thread| thread.id).filter(|id| *id != row.thread_id),
        name: os_name.or_else(|| row.name.clone()),
        managed: true,
        of_sessions: os.is_some_and(OsThread::is_of_sessions),
        state: Some(if is_waiting { ThreadState::Waiting } else { row.state }.name()),
        waits_for: waits_for.map(|what| what.name()),
        lock_id: row.lock.and_then(|lock| lock.lock_id).map(|id| format!("{id:#x}")),
        lock_owner_thread_id: row.lock.and_then(|lock| lock.owner_thread_id),
        os_state: if is_gone { Some("ended") } else { os.map(OsThread::state_text) },
        blocked: os
            .filter(|_| row.is_latest)
            .map(|os| row.state == ThreadState::Native && matches!(os.state, 'S' | 'D')),
        in_last_round: row.is_in_last_round,
        user_ns: os.map(|thread| thread.user_ns),
        system_ns: os.map(|thread| thread.system_ns),
        kernel_function: os.filter(|_| natives.is_some()).and_then(|os| os.kernel_function.clone()),
        native,
        count: row.count,
        latest: row.is_latest,
        frames: row.frames.iter().map(|frame| frame.to_string()).collect(),
        guessed: row.guessed.clone(),
        is_gone,
        has_process_ended: facts.is_some_and(|facts| facts.alive.is_empty()),
        used: facts.and_then(|facts| facts.used(row.thread_id)),
        waits_for_text: waits_for.map(|what| what.to_string()),
        shared: row.frames.clone(),
    }
}

fn unmanaged(id: u64, thread: &OsThread, natives: Option<&Natives>) -> ThreadDocument {
    let stacks = natives.and_then(|natives| natives.as_ref().ok());
    ThreadDocument {
        thread_id: id,
        host_thread_id: Some(thread.id).filter(|host| *host != id),
        name: Some(thread.name.clone()).filter(|name| !name.is_empty()),
        managed: false,
        of_sessions: thread.is_of_sessions(),
        state: None,
        waits_for: None,
        lock_id: None,
        lock_owner_thread_id: None,
        os_state: Some(thread.state_text()),
        blocked: None,
        in_last_round: false,
        user_ns: Some(thread.user_ns),
        system_ns: Some(thread.system_ns),
        kernel_function: thread.kernel_function.clone().filter(|_| natives.is_some()),
        native: stacks.and_then(|stacks| stacks.get(&thread.id)).map(Native::of),
        count: 0,
        latest: true,
        frames: Vec::new(),
        guessed: Vec::new(),
        is_gone: false,
        has_process_ended: false,
        used: None,
        waits_for_text: None,
        shared: Vec::new(),
    }
}

impl ThreadDocument {
    /// Whether it has managed frames and is still there, as far as can be known.
    pub(super) fn is_current(&self) -> bool {
        self.managed && (!self.is_gone || (self.in_last_round && self.has_process_ended))
    }
}

/// Identical stacks, those of most threads first; of threads with managed frames.
fn merged(threads: &[ThreadDocument], has_ended: bool) -> Vec<StackDocument> {
    type Key<'t> =
        (&'t [Arc<Frame>], Option<&'static str>, Option<&'static str>, Option<&'t [String]>);
    let mut groups: BTreeMap<Key<'_>, Vec<usize>> = BTreeMap::new();
    let is_shown = |thread: &ThreadDocument| thread.is_current() || (thread.managed && has_ended);
    for (place, thread) in threads.iter().enumerate().filter(|(_, thread)| is_shown(thread)) {
        let native = thread.native.as_ref().map(Native::functions);
        let key = (&*thread.shared, thread.state, thread.waits_for, native);
        groups.entry(key).or_default().push(place);
    }
    let mut stacks: Vec<StackDocument> = groups
        .into_iter()
        .map(|((frames, state, waits_for, _), places)| StackDocument {
            count: places.iter().map(|place| threads[*place].count).sum(),
            thread_ids: places.iter().map(|place| threads[*place].thread_id).collect(),
            state,
            waits_for,
            native_frames: threads[places[0]].native.as_ref().map(|native| native.frames.clone()),
            frames: frames.iter().map(|frame| frame.to_string()).collect(),
            places,
        })
        .collect();
    let is_ours = |stack: &StackDocument| {
        stack.places.iter().all(|place| threads.get(*place).is_some_and(|it| it.of_sessions))
    };
    stacks.sort_by_key(|stack| {
        (is_ours(stack), Reverse(stack.count), stack.thread_ids.first().copied())
    });
    stacks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_has_ended_is_left_out_unless_the_whole_process_has() {
        let os = OsThread {
            id: 7,
            name: "pool".to_owned(),
            state: 'S',
            user_ns: 0,
            system_ns: 0,
            cpu_ns: 0,
            kernel_function: None,
        };
        let managed = ThreadDocument { managed: true, ..unmanaged(7, &os, None) };
        assert!(managed.is_current());
        let ended = ThreadDocument { is_gone: true, in_last_round: true, ..managed };
        assert!(!ended.is_current());
        let of_ended = ThreadDocument { has_process_ended: true, ..ended };
        assert!(of_ended.is_current());
        let threads = [ThreadDocument { has_process_ended: false, ..of_ended }];
        assert_eq!([false, true].map(|has_ended| merged(&threads, has_ended).len()), [0, 1]);
    }
}
