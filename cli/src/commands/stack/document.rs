//! Document of `stack --json`, whose keys must not change.

use super::natives::Native;
use super::seen::Seen;
use super::threads::{StackGroup, StackedThread};
use nettrace_analysis::fact::Verdicts;
use nettrace_analysis::model::WaitFor;
use nettrace_analysis::report::SCHEMA;
use nettrace_analysis::{Frame, ThreadState};
use nettrace_native::{NativeFrame, StackEnd};
use serde::Serialize;
use std::sync::Arc;

/// Document of `stack`.
#[derive(Debug, Serialize)]
pub(super) struct StackReport<'s> {
    schema: u32,
    process_id: Option<u64>,
    process_name: Option<&'s str>,
    /// Number of times that stacks were taken.
    taken: u64,
    /// Number of complete rounds of the sampler.
    rounds: u64,
    samples: u64,
    /// Whether each thread was certainly seen.
    complete: bool,
    duration_ns: u64,
    /// Whether the operating system's facts about threads are known.
    os: OsDocument<'s>,
    /// Findings as sentences.
    #[serde(flatten)]
    verdicts: &'s Verdicts,
    threads: Vec<ThreadDocument<'s>>,
    /// Groups of threads with identical stacks; `None` without --merge.
    #[serde(skip_serializing_if = "Option::is_none")]
    stacks: Option<Vec<StackDocument<'s>>>,
}

#[derive(Debug, Serialize)]
struct OsDocument<'s> {
    available: bool,
    reason: Option<&'s str>,
    /// Number of threads with native frames, or the reason why none has; `None` without --native.
    #[serde(skip_serializing_if = "Option::is_none")]
    native: Option<&'s str>,
}

#[derive(Debug, Serialize)]
struct ThreadDocument<'s> {
    /// Thread id in the namespace of the process, as in its events.
    thread_id: u64,
    /// Thread id in this command's namespace, if it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    host_thread_id: Option<u64>,
    name: Option<&'s str>,
    /// Whether the thread has managed frames.
    managed: bool,
    /// Whether the thread samples or sends events, and exists only while a session observes the
    /// process.
    of_sessions: bool,
    /// State of the thread: `managed`, `native`, `waiting` or `ready`; `None` without managed
    /// frames.
    state: Option<&'static str>,
    /// Whether the readings of the thread around the sample show the state, where the stack does
    /// not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    measured: bool,
    waits_for: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lock_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lock_owner_thread_id: Option<u64>,
    /// State by the operating system, such as `running` or `sleeping`; `ended` if the thread is
    /// gone.
    os_state: Option<&'static str>,
    /// Whether the thread sleeps in native code by the operating system, because some waits leave
    /// no method on the stack.
    blocked: Option<bool>,
    /// Whether the thread was seen in the latest round of the sampler.
    in_last_round: bool,
    user_ns: Option<u64>,
    system_ns: Option<u64>,
    /// Kernel function in which the thread sleeps; `None` without --native.
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel_function: Option<&'s str>,
    /// Native stack of the last time that stacks were taken; `None` without --native.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    native: Option<NativeDocument<'s>>,
    /// Number of times that the thread had this stack when stacks were taken.
    count: u64,
    /// Whether this is the thread's latest stack.
    latest: bool,
    /// Managed frames, innermost first.
    #[serde(serialize_with = "as_texts")]
    frames: &'s [Arc<Frame>],
    #[serde(skip_serializing_if = "<[usize]>::is_empty")]
    guessed: &'s [usize],
}

/// Native stack of a thread. Its keys are members of the thread's object.
#[derive(Debug, Serialize)]
struct NativeDocument<'s> {
    /// `blocked` if there are frames; otherwise `running`, `moved_on` (the thread woke up while its
    /// stack was read, or waits elsewhere by now), `ended` or `unknown`.
    native_state: &'static str,
    /// System call in which the thread is blocked.
    system_call: Option<&'s str>,
    /// Native frames, innermost first.
    native_frames: Vec<FrameDocument<'s>>,
    /// Reason why the stack ends: `start` after the thread's first function, or why unwinding
    /// failed.
    native_end: Option<&'static str>,
    /// Whether the native stack leads to the sampled stack, as in [`Native::confirmed`]; `None`
    /// without managed frames.
    #[serde(skip_serializing_if = "Option::is_none")]
    native_confirmed: Option<bool>,
}

/// Native frame.
#[derive(Debug, Serialize)]
struct FrameDocument<'s> {
    /// Name of the mapped file; `null` for code that the runtime compiled.
    module: Option<&'s str>,
    symbol: Option<&'s str>,
    /// Virtual address within the file.
    offset: Option<u64>,
    /// Address in the process, in hexadecimal.
    address: String,
    /// Whether the code is managed: compiled by the runtime, or part of an assembly.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    managed: bool,
}

/// Stack with the threads that have it.
#[derive(Debug, Serialize)]
struct StackDocument<'s> {
    /// Number of threads, added up over all times that stacks were taken.
    count: u64,
    thread_ids: Vec<u64>,
    state: Option<&'static str>,
    waits_for: Option<&'static str>,
    /// Native frames of the first thread; other threads have equal functions. `None` without
    /// --native.
    #[serde(skip_serializing_if = "Option::is_none")]
    native_frames: Option<Vec<FrameDocument<'s>>>,
    #[serde(serialize_with = "as_texts")]
    frames: &'s [Arc<Frame>],
}

impl<'s> StackReport<'s> {
    pub(super) fn new(seen: &'s Seen) -> StackReport<'s> {
        let stack = |group| StackDocument::new(group, &seen.threads);
        StackReport {
            schema: SCHEMA,
            process_id: seen.process_id,
            process_name: seen.process_name.as_deref(),
            taken: seen.taken,
            rounds: seen.rounds,
            samples: seen.samples,
            complete: seen.is_complete,
            duration_ns: u64::try_from(seen.duration.as_nanos()).unwrap_or(u64::MAX),
            os: OsDocument {
                available: seen.os.is_ok(),
                reason: seen.os.as_ref().err().map(String::as_str),
                native: seen.native.as_deref(),
            },
            verdicts: &seen.verdicts,
            threads: seen.threads.iter().map(ThreadDocument::from_thread).collect(),
            stacks: seen.groups.as_ref().map(|groups| groups.iter().map(stack).collect()),
        }
    }
}

impl<'s> ThreadDocument<'s> {
    fn from_thread(thread: &'s StackedThread) -> ThreadDocument<'s> {
        let (row, os) = (thread.sampled.as_ref(), thread.os.as_ref());
        let lock = row.and_then(|row| row.lock);
        ThreadDocument {
            thread_id: thread.id,
            host_thread_id: os.map(|os| os.id).filter(|id| *id != thread.id),
            name: thread.name(),
            managed: thread.is_managed(),
            of_sessions: thread.is_of_sessions(),
            state: thread.state().map(ThreadState::name),
            measured: thread.is_measured(),
            waits_for: thread.waits_for().map(WaitFor::name),
            lock_id: lock.and_then(|lock| lock.lock_id).map(|id| format!("{id:#x}")),
            lock_owner_thread_id: lock.and_then(|lock| lock.owner_thread_id),
            os_state: thread.os_state(),
            blocked: thread.is_blocked(),
            in_last_round: row.is_some_and(|row| row.is_in_last_round),
            user_ns: os.map(|os| os.user_ns),
            system_ns: os.map(|os| os.system_ns),
            kernel_function: thread.kernel_function.as_deref(),
            native: thread.native.as_ref().map(NativeDocument::from_native),
            count: thread.count(),
            latest: thread.is_latest(),
            frames: thread.frames(),
            guessed: row.map_or(&[], |row| &row.guessed),
        }
    }
}

impl<'s> NativeDocument<'s> {
    fn from_native(native: &'s Native) -> NativeDocument<'s> {
        let stack = &native.stack;
        NativeDocument {
            native_state: stack.state.name(),
            system_call: stack.system_call.as_deref(),
            native_frames: stack.frames.iter().map(FrameDocument::from_frame).collect(),
            native_end: stack.end.map(StackEnd::name),
            native_confirmed: native.confirmed,
        }
    }
}

impl<'s> FrameDocument<'s> {
    fn from_frame(frame: &'s NativeFrame) -> FrameDocument<'s> {
        FrameDocument {
            module: frame.module.as_deref(),
            symbol: frame.symbol.as_deref(),
            offset: frame.offset,
            address: format!("{:#x}", frame.address),
            managed: frame.is_managed,
        }
    }
}

impl<'s> StackDocument<'s> {
    fn new(group: &StackGroup, threads: &'s [StackedThread]) -> StackDocument<'s> {
        let first = group.threads(threads).next();
        let native = first.and_then(|first| first.native.as_ref());
        let frames = |native: &'s Native| native.stack.frames.iter().map(FrameDocument::from_frame);
        StackDocument {
            count: group.count,
            thread_ids: group.threads(threads).map(|thread| thread.id).collect(),
            state: first.and_then(StackedThread::state).map(ThreadState::name),
            waits_for: first.and_then(StackedThread::waits_for).map(WaitFor::name),
            native_frames: native.map(|native| frames(native).collect()),
            frames: first.map_or(&[], StackedThread::frames),
        }
    }
}

fn as_texts<S: serde::Serializer>(
    frames: &&[Arc<Frame>],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(frames.iter().map(|frame| &frame.text))
}
