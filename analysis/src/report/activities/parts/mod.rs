//! Parts of an activity's time: running, waiting, pauses of collections and others.
//!
//! In .NET the id of the current activity flows with the work, and each event contains it. So the
//! threads of an activity are tracked from event to event, across awaits and between threads:
//!
//! | observation | conclusion |
//! |---|---|
//! | two consecutive events of a thread have its id, or that of an activity inside it | the thread worked for it in between |
//! | the thread's next event has another id, or the activity stops on another thread | it stopped at its last event if that event ends a turn (TaskWaitBegin of an await, TraceSynchronousWorkEnd, …); otherwise it is unknown when: by its samples, await while it is an idle worker, else unknown; without samples it is taken for gone: await |
//! | without samples, the stacks of two consecutive events with its id have only the thread pool's own frames in common | the thread has gone back to the pool in between: await |
//! | TraceSynchronousWorkBegin of a task that was started with its id | the thread works for it from there on |
//! | TraceSynchronousWorkBegin of what awaited such a task | the same, if the next event of the thread has its id, or ends the work |
//! | the async profiler of .NET 11 says that a thread resumes async code that was suspended for it | the thread works for it until it goes on with other code: see `turns.rs` |
//! | no thread works for it | await: it waits for something to complete, or for a thread |
//!
//! While a thread works for an activity, the thread's samples show whether it ran, was in native
//! code, or waited. A sample or event is valid until the next one of the thread, but for at most
//! 100 ms. Waits for locks (81, 91) and handles (301, 302), and compilation (145, 143), are known
//! from their events; if an end was lost, the time is unknown. GC pauses (9 to 3) pause the
//! process, whichever thread works for the activity. If several threads work for it at a time, the
//! most active one counts.
//!
//! Memory is bounded by the number of open activities, threads and stacks.

mod account;
mod accounts;
mod carrier;
mod last_call;
mod line;
mod part_role;
mod pauses;
mod tracker;
mod turns;

pub(crate) use account::PartTotals;
pub(crate) use accounts::AccountNumber;
pub(crate) use tracker::PartTracker;
pub(crate) use turns::ProfiledAwait;

use crate::model::intervals::nanos_between;
use crate::model::{
    Frame, FrameHandle, Mode, Resolved, StackHandle, ThreadHandle, ThreadState, WaitFor,
};
use crate::report::waiting::is_pool_worker;

/// Parts of an activity's time, in nanoseconds. The parts do not overlap, and add up to the
/// activity's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Parts {
    /// Time in which a thread ran managed code for the activity.
    pub running_ns: u64,
    /// Time in which a thread was in native code for the activity, or blocked without a known
    /// reason.
    pub native_ns: u64,
    /// Time in which a thread was blocked: in a method that is known to wait, or waiting for a
    /// handle.
    pub waiting_ns: u64,
    /// Time in which the process was paused for a garbage collection.
    pub gc_ns: u64,
    /// Time in which a thread waited for a lock held by another thread.
    pub lock_ns: u64,
    /// Time in which a method was being compiled.
    pub jit_ns: u64,
    /// Time in which no thread worked for the activity: it awaited something, or waited for a
    /// thread.
    pub await_ns: u64,
    /// Time in which the trace does not show what was done.
    pub unknown_ns: u64,
}

impl Parts {
    /// Returns all parts in display order.
    pub fn all(&self) -> [(Doing, u64); 8] {
        [
            (Doing::Running, self.running_ns),
            (Doing::Native, self.native_ns),
            (Doing::Waiting, self.waiting_ns),
            (Doing::Gc, self.gc_ns),
            (Doing::Lock, self.lock_ns),
            (Doing::Jit, self.jit_ns),
            (Doing::Await, self.await_ns),
            (Doing::Unknown, self.unknown_ns),
        ]
    }

    /// Returns the sum of all parts, in nanoseconds.
    pub fn total_ns(&self) -> u64 {
        self.all().into_iter().fold(0, |sum, (_, nanos)| sum.saturating_add(nanos))
    }

    fn part_mut(&mut self, doing: Doing) -> &mut u64 {
        match doing {
            Doing::Running => &mut self.running_ns,
            Doing::Native => &mut self.native_ns,
            Doing::Waiting => &mut self.waiting_ns,
            Doing::Gc => &mut self.gc_ns,
            Doing::Lock => &mut self.lock_ns,
            Doing::Jit => &mut self.jit_ns,
            Doing::Await => &mut self.await_ns,
            Doing::Unknown => &mut self.unknown_ns,
        }
    }

    /// Makes the parts add up to the duration that the source measured with another clock. Missing
    /// time becomes unknown; excess time is removed from the least certain parts.
    fn fit(mut self, duration: u64) -> Parts {
        let total = self.total_ns();
        self.unknown_ns = self.unknown_ns.saturating_add(duration.saturating_sub(total));
        let mut excess = total.saturating_sub(duration);
        for doing in [
            Doing::Unknown,
            Doing::Await,
            Doing::Running,
            Doing::Native,
            Doing::Waiting,
            Doing::Jit,
            Doing::Lock,
            Doing::Gc,
        ] {
            let part = self.part_mut(doing);
            let taken = excess.min(*part);
            *part = part.saturating_sub(taken);
            excess = excess.saturating_sub(taken);
        }
        self
    }
}

/// Work that was done for an activity in a part of its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum Doing {
    /// A thread ran managed code for the activity.
    Running,
    /// A thread was in native code for the activity, or blocked without a known reason.
    Native,
    /// A thread was blocked in a method that is known to wait, or waited for a handle.
    Waiting,
    /// The process was paused for a garbage collection.
    Gc,
    /// A thread waited for a lock held by another thread.
    Lock,
    /// A method was being compiled.
    Jit,
    /// No thread worked for the activity: it awaited something, or waited for a thread.
    Await,
    /// The trace does not show what was done.
    Unknown,
}

/// Stretch of an activity's time.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Stretch {
    /// Start, in nanoseconds since the session's start.
    pub start_ns: i64,
    /// Duration, in nanoseconds.
    pub duration_ns: u64,
    /// Work that was done.
    pub doing: Doing,
    /// OS id of the thread that worked; `None` if no thread did, or it is unknown.
    pub thread_id: Option<u64>,
}

/// Point in time, with the total GC pause time of the process until then, so that the pause time
/// between two points is a subtraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct At {
    nanos: i64,
    paused: u64,
}

impl At {
    /// Returns the nanoseconds since an earlier point: pauses, and the rest.
    fn since(self, earlier: At) -> (u64, u64) {
        let all = nanos_between(earlier.nanos, self.nanos);
        let paused = self.paused.saturating_sub(earlier.paused).min(all);
        (paused, all.saturating_sub(paused))
    }
}

/// Work of a thread for an activity. It keeps stacks, because names show only at the end whether
/// native code waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum ThreadWork {
    Running,
    Native(StackHandle),
    Waiting,
    Lock,
    Jit,
    Await,
    /// The thread was not seen working for the activity any more. With the stack of its sample, if
    /// there is one.
    Left(Option<StackHandle>),
    /// Time between two events whose stacks share only these frames. If all are the thread pool's,
    /// the thread went back to the pool; otherwise the work is unknown.
    Between(StackHandle),
    /// The thread had no sample and no event for too long.
    Silent,
    Unknown,
}

impl ThreadWork {
    /// Returns the work of a thread after its last event of the activity.
    fn after_last(self) -> ThreadWork {
        match self {
            ThreadWork::Native(stack) => ThreadWork::Left(Some(stack)),
            ThreadWork::Running
            | ThreadWork::Left(_)
            | ThreadWork::Between(_)
            | ThreadWork::Silent => ThreadWork::Left(None),
            _ => ThreadWork::Unknown,
        }
    }

    /// Returns the rank of the work: if several threads work at a time, the highest rank counts.
    fn rank(self) -> u8 {
        match self {
            ThreadWork::Running => 6,
            ThreadWork::Jit => 5,
            ThreadWork::Native(_) | ThreadWork::Between(_) => 4,
            ThreadWork::Lock => 3,
            ThreadWork::Waiting => 2,
            ThreadWork::Unknown | ThreadWork::Silent | ThreadWork::Left(_) => 1,
            ThreadWork::Await => 0,
        }
    }

    /// Returns the shown work. Without samples, a working thread may run or wait, so the work is
    /// unknown. An idle worker counts as await.
    fn doing(self, resolved: &Resolved<'_>, is_sampled: bool) -> Doing {
        let is_idle = |stack| resolved.waits_for(stack, Mode::External) == Some(WaitFor::Work);
        let is_of_pool = |stack| {
            let frames = resolved.frames(stack);
            let runs_work =
                |frame: &FrameHandle| resolved.frame(*frame).is_some_and(|frame| runs_work(frame));
            is_pool_worker(frames, resolved) && frames.iter().all(runs_work)
        };
        match self {
            ThreadWork::Native(stack) | ThreadWork::Left(Some(stack)) if is_idle(stack) => {
                Doing::Await
            }
            ThreadWork::Left(None) if !is_sampled => Doing::Await,
            ThreadWork::Between(stack) if !is_sampled && is_of_pool(stack) => Doing::Await,
            ThreadWork::Running | ThreadWork::Between(_) if is_sampled => Doing::Running,
            ThreadWork::Native(stack) => match resolved.state(stack, Mode::External) {
                ThreadState::Waiting => Doing::Waiting,
                _ => Doing::Native,
            },
            ThreadWork::Waiting => Doing::Waiting,
            ThreadWork::Lock => Doing::Lock,
            ThreadWork::Jit => Doing::Jit,
            ThreadWork::Await => Doing::Await,
            ThreadWork::Running
            | ThreadWork::Left(_)
            | ThreadWork::Between(_)
            | ThreadWork::Silent
            | ThreadWork::Unknown => Doing::Unknown,
        }
    }
}

/// Returns whether a frame belongs to code that runs work items and continuations.
fn runs_work(frame: &Frame) -> bool {
    let namespace = frame.namespace.as_str();
    matches!(
        namespace,
        "System.Threading" | "System.Threading.Tasks" | "System.Runtime.CompilerServices"
    ) || matches!(&*frame.type_name, "SocketAsyncEngine" | "IOQueue")
}

/// Work of a thread for an activity between two points.
#[derive(Debug, Clone, Copy)]
struct WorkPiece {
    from: At,
    to: At,
    what: ThreadWork,
    thread: ThreadHandle,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_scaled_to_the_total_of_the_source() {
        let parts =
            Parts { running_ns: 50, gc_ns: 10, unknown_ns: 5, await_ns: 7, ..Parts::default() };
        assert_eq!((parts.total_ns(), parts.fit(100).unknown_ns), (72, 33));
        let less = parts.fit(40);
        assert_eq!((less.running_ns, less.gc_ns, less.await_ns, less.unknown_ns), (30, 10, 0, 0));
        assert_eq!((parts.fit(72), parts.fit(0)), (parts, Parts::default()));
    }
}
