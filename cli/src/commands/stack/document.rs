//! `stack --json`. The keys are a promise to scripts.

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

/// The document of `stack`: all that is known of the threads.
#[derive(Debug, Serialize)]
pub(super) struct StackReport<'s> {
    schema: u32,
    process_id: Option<u64>,
    process_name: Option<&'s str>,
    /// How often stacks were taken.
    taken: u64,
    /// Number of complete rounds of the sampler.
    rounds: u64,
    /// Number of samples.
    samples: u64,
    /// Whether it is certain that each thread was seen.
    complete: bool,
    duration_ns: u64,
    /// Whether names, states and CPU times of threads are known, and why not.
    os: OsDocument<'s>,
    /// What stands out, in sentences.
    #[serde(flatten)]
    verdicts: &'s Verdicts,
    threads: Vec<ThreadDocument<'s>>,
    /// With --merge: identical stacks.
    #[serde(skip_serializing_if = "Option::is_none")]
    stacks: Option<Vec<StackDocument<'s>>>,
}

#[derive(Debug, Serialize)]
struct OsDocument<'s> {
    available: bool,
    reason: Option<&'s str>,
    /// With --native: how many threads have native frames, or why there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    native: Option<&'s str>,
}

#[derive(Debug, Serialize)]
struct ThreadDocument<'s> {
    /// Thread id in the namespace of the process, as its events have it.
    thread_id: u64,
    /// Thread id of the operating system here, if that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    host_thread_id: Option<u64>,
    name: Option<&'s str>,
    /// Whether the thread has managed frames.
    managed: bool,
    /// Whether the thread samples and sends events, and so exists only because somebody observes
    /// the process.
    of_sessions: bool,
    /// State of the thread: `managed`, `native` or `waiting`; `None` without managed frames.
    state: Option<&'static str>,
    waits_for: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lock_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lock_owner_thread_id: Option<u64>,
    /// State by the operating system: `running`, `sleeping`, …; `ended` if the thread is gone.
    os_state: Option<&'static str>,
    /// Whether the thread was in native code while the operating system says that it sleeps: some
    /// waits leave no method on the stack.
    blocked: Option<bool>,
    /// Whether the thread was seen in the latest round of the sampler.
    in_last_round: bool,
    user_ns: Option<u64>,
    system_ns: Option<u64>,
    /// With --native: the function of the kernel in which the thread sleeps.
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel_function: Option<&'s str>,
    /// With --native: its native stack, of the last time that stacks were taken.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    native: Option<NativeDocument<'s>>,
    /// How often the thread had this stack.
    count: u64,
    /// Whether it is the latest stack of the thread.
    latest: bool,
    /// The managed frames, innermost first.
    #[serde(serialize_with = "as_texts")]
    frames: &'s [Arc<Frame>],
    #[serde(skip_serializing_if = "<[usize]>::is_empty")]
    guessed: &'s [usize],
}

/// The native stack of a thread. Its keys stand among those of the thread.
#[derive(Debug, Serialize)]
struct NativeDocument<'s> {
    /// `blocked` where there are frames; `running`, `moved_on` (it woke up while its stack was
    /// read, or waits elsewhere by now), `ended` or `unknown`.
    native_state: &'static str,
    /// The system call in which the thread is blocked.
    system_call: Option<&'s str>,
    /// The native frames, innermost first.
    native_frames: Vec<FrameDocument<'s>>,
    /// Reason why there are no more frames: `start` is the thread's first function.
    native_end: Option<&'static str>,
    /// For a thread with managed frames: whether the native stack leads to the sampled one, as in
    /// [`Native::confirmed`].
    #[serde(skip_serializing_if = "Option::is_none")]
    native_confirmed: Option<bool>,
}

/// A native frame.
#[derive(Debug, Serialize)]
struct FrameDocument<'s> {
    /// Name of the mapped file; `null` for code that the runtime compiled.
    module: Option<&'s str>,
    symbol: Option<&'s str>,
    /// Address in the file, as its linker counts.
    offset: Option<u64>,
    /// Address in the process, in hexadecimal.
    address: String,
    /// Whether it is managed code: compiled by the runtime, or part of an assembly.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    managed: bool,
}

/// A stack, and the threads that have it.
#[derive(Debug, Serialize)]
struct StackDocument<'s> {
    /// Number of threads, or how often some thread had the stack if stacks were taken several
    /// times.
    count: u64,
    thread_ids: Vec<u64>,
    state: Option<&'static str>,
    waits_for: Option<&'static str>,
    /// With --native: the frames of the first of the threads; the others have the same functions.
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
