//! State of a thread that works for activities.

use super::accounts::AccountNumber;
use super::last_call::LastCall;
use super::{At, ThreadWork, WorkPiece};
use crate::model::intervals::{Edge, Matcher};
use crate::model::{StackHandle, ThreadHandle};
use nettrace_parser::Guid;

/// Maximum time for which a sample or an event is valid, in nanoseconds.
const HOLDS: i64 = 100_000_000;
/// Maximum number of pieces of a thread's time whose activity is not known yet.
const MAX_HELD: usize = 4_096;

/// Wait or compilation that a thread is in, between two events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Busy {
    Lock,
    Jit,
    Wait,
}

impl Busy {
    /// All kinds, in order of precedence.
    const ALL: [Busy; 3] = [Busy::Lock, Busy::Jit, Busy::Wait];

    fn work(self) -> ThreadWork {
        match self {
            Busy::Lock => ThreadWork::Lock,
            Busy::Jit => ThreadWork::Jit,
            Busy::Wait => ThreadWork::Waiting,
        }
    }
}

/// Thread with the activities that it works for.
#[derive(Debug)]
pub(super) struct Carrier {
    /// Activity id of the thread's last event.
    pub(super) id: Option<Guid>,
    /// Numbers of the open activities with that id, innermost first.
    pub(super) chain: Vec<AccountNumber>,
    /// Whether the activity with the id has stopped, so that the id of the next event may be that
    /// of another one.
    pub(super) has_stopped: bool,
    /// Point of the thread's last event.
    pub(super) last: At,
    /// Whether the last event ends a turn of the thread.
    pub(super) has_left: bool,
    /// Whether the activity is that of a task which the thread goes on from, and no event has its id.
    pub(super) is_guess: bool,
    /// Current work; `since` is its start, `seen` the last sample or event that shows it.
    what: ThreadWork,
    since: At,
    seen: At,
    /// Recent work, which the thread's next event assigns to an activity. Work inside a wait or
    /// compilation is held until the end of that is known.
    held: Vec<WorkPiece>,
    /// Waits and compilations in progress; compilations with their method.
    open: Matcher<Busy, u64>,
    /// Last time at which a wait or compilation started or ended.
    edge: i64,
    /// Stack of the last event, while there are no samples.
    pub(super) call: LastCall,
}

impl Default for Carrier {
    fn default() -> Carrier {
        let at = At { nanos: 0, paused: 0 };
        Carrier {
            id: None,
            chain: Vec::new(),
            has_stopped: false,
            last: at,
            has_left: false,
            is_guess: false,
            what: ThreadWork::Running,
            since: at,
            seen: at,
            held: Vec::new(),
            open: Matcher::default(),
            edge: 0,
            call: LastCall::default(),
        }
    }
}

impl Carrier {
    /// Returns whether the thread's last event has no activity id, and the thread works for no
    /// activity. What is known of it then counts for nothing.
    #[inline]
    pub(super) fn is_outside(&self) -> bool {
        self.id.is_none() && self.chain.is_empty() && self.open.is_empty()
    }

    /// Returns the innermost activity that the thread works for.
    pub(super) fn innermost(&self) -> Option<AccountNumber> {
        self.chain.first().copied()
    }

    /// Notes another event with the current id. Returns whether work must be recorded; usually the
    /// thread just keeps running.
    pub(super) fn goes_on(&mut self, at: At, has_left: bool) -> bool {
        let is_news = !self.held.is_empty()
            || self.what != ThreadWork::Running
            || at.nanos.saturating_sub(self.seen.nanos) > HOLDS;
        if !is_news {
            self.last = at;
            self.seen = at;
            self.has_left = has_left;
        }
        is_news
    }

    /// Ends the current piece of work at a point.
    pub(super) fn cut(&mut self, thread: ThreadHandle, at: At) {
        let is_told = matches!(self.what, ThreadWork::Running | ThreadWork::Native(_));
        if is_told && at.nanos.saturating_sub(self.seen.nanos) > HOLDS {
            self.hold(WorkPiece { from: self.since, to: self.seen, what: self.what, thread });
            self.hold(WorkPiece { from: self.seen, to: at, what: ThreadWork::Silent, thread });
        } else {
            self.hold(WorkPiece { from: self.since, to: at, what: self.what, thread });
        }
        self.since = at;
    }

    fn hold(&mut self, piece: WorkPiece) {
        if piece.to.nanos <= piece.from.nanos {
            return;
        }
        let is_full = self.held.len() >= MAX_HELD;
        let is_edge = piece.from.nanos == self.edge;
        match self.held.last_mut() {
            Some(last) if is_full || (last.what == piece.what && !is_edge) => last.to = piece.to,
            _ => self.held.push(piece),
        }
    }

    /// Moves the held pieces to a buffer, which is empty.
    pub(super) fn take_held(&mut self, buffer: &mut Vec<WorkPiece>) {
        std::mem::swap(&mut self.held, buffer);
    }

    /// Forgets the held pieces.
    pub(super) fn drop_held(&mut self) {
        emptied(&mut self.held);
    }

    /// Adds held pieces to those of an activity that the thread may have left: as they are up to the
    /// thread's last event, and less certain after it.
    pub(super) fn until_last(
        &self,
        held: &[WorkPiece],
        pieces: &mut Vec<WorkPiece>,
        thread: ThreadHandle,
        at: At,
    ) {
        let last = self.last;
        let before = held.iter().filter(|piece| piece.from.nanos < last.nanos);
        pieces.extend(before.map(|piece| WorkPiece {
            to: if piece.to.nanos > last.nanos { last } else { piece.to },
            ..*piece
        }));
        if self.has_left {
            return;
        }
        let mut from = last;
        for piece in held.iter().filter(|piece| piece.to.nanos > last.nanos) {
            pieces.push(WorkPiece { from, what: piece.what.after_last(), ..*piece });
            from = piece.to;
        }
        if at.nanos > from.nanos {
            let what = ThreadWork::Left(None);
            pieces.push(WorkPiece { from, to: at, what, thread });
        }
    }

    pub(super) fn held(&self) -> &[WorkPiece] {
        &self.held
    }

    /// Returns the point from which on the thread's work is not assigned to an activity.
    pub(super) fn open_since(&self) -> At {
        self.held.first().map_or(self.since, |piece| piece.from)
    }

    /// Begins a piece of work at the thread's last event: running, unless a wait or compilation is
    /// in progress.
    pub(super) fn begin(&mut self, at: At, has_left: bool) {
        self.last = at;
        self.has_left = has_left;
        self.since = at;
        self.seen = at;
        self.what = self.known().unwrap_or(ThreadWork::Running);
    }

    /// Notes that the thread worked for its activities up to a point, and may have left them then.
    pub(super) fn works_until(&mut self, thread: ThreadHandle, at: At) {
        if !self.chain.is_empty() {
            self.cut(thread, at);
            (self.last, self.has_left) = (at, true);
        }
    }

    /// Forgets waits and compilations, as the thread works for other activities now.
    pub(super) fn forget_waits(&mut self) {
        if !self.open.is_empty() {
            self.open = Matcher::default();
        }
    }

    /// Returns the work that the wait or compilation in progress stands for.
    fn known(&self) -> Option<ThreadWork> {
        if self.open.is_empty() {
            return None;
        }
        Busy::ALL.into_iter().find(|busy| self.open.is_open(*busy)).map(Busy::work)
    }

    /// Returns whether a wait or compilation is in progress, whose end may have been lost.
    pub(super) fn is_busy(&self) -> bool {
        self.known().is_some()
    }

    /// Notes that the thread has returned to a frame since its last event, as the stacks show.
    pub(super) fn returned(&mut self, thread: ThreadHandle, to: StackHandle, at: At) {
        if self.what != ThreadWork::Running {
            return;
        }
        self.cut(thread, self.last);
        self.hold(WorkPiece { from: self.last, to: at, what: ThreadWork::Between(to), thread });
        self.since = at;
        self.seen = at;
    }

    /// Notes a sample of the thread.
    pub(super) fn sampled(&mut self, thread: ThreadHandle, at: At, what: ThreadWork) {
        let what = self.known().unwrap_or(what);
        if what != self.what || at.nanos.saturating_sub(self.seen.nanos) > HOLDS {
            self.cut(thread, at);
            self.what = what;
        }
        self.seen = at;
    }

    /// Notes the start of a wait or compilation, at the end of a piece.
    pub(super) fn enter(&mut self, busy: Busy, method: u64, at: Edge) {
        self.edge = at.nanos;
        let held = &mut self.held;
        self.open.start_inside(busy, at, method, |lost| unattributed(held, busy, lost.start.nanos));
    }

    /// Notes the end of a wait or compilation. Adds the pieces that are certain now to a buffer,
    /// which is empty.
    pub(super) fn leave(
        &mut self,
        busy: Busy,
        method: u64,
        at: Edge,
        reported: Option<u64>,
        certain: &mut Vec<WorkPiece>,
    ) {
        self.edge = at.nanos;
        let ended = match busy {
            // Compilations that started inside this one have ended too.
            Busy::Jit => self.open.stop_of(busy, &method, at, |_| {}),
            Busy::Lock | Busy::Wait => self.open.stop(busy, at, reported, |_| {}),
        };
        if !self.is_busy() {
            self.take_held(certain);
        } else if let Some(ended) = ended {
            let first = self.held.partition_point(|piece| piece.from.nanos < ended.start.nanos);
            certain.extend(self.held.drain(first..));
        }
    }

    /// Ends all waits, as the thread runs code of the program and so cannot wait: the ends of the
    /// waits were lost.
    pub(super) fn runs_on(&mut self, thread: ThreadHandle, at: At) {
        if self.open.is_empty()
            || (!self.open.is_open(Busy::Lock) && !self.open.is_open(Busy::Wait))
        {
            return;
        }
        self.cut(thread, at);
        let held = &mut self.held;
        for busy in [Busy::Lock, Busy::Wait] {
            self.open.lose(busy, |lost| unattributed(held, busy, lost.start.nanos));
        }
        self.what = self.known().unwrap_or(ThreadWork::Running);
    }
}

/// Maximum number of pieces for which a buffer keeps its memory.
const KEPT_PIECES: usize = 64;

/// Empties a buffer, which keeps its memory if that is little.
pub(super) fn emptied(buffer: &mut Vec<WorkPiece>) {
    buffer.clear();
    if buffer.capacity() > KEPT_PIECES {
        *buffer = Vec::new();
    }
}

/// Marks pieces from this time on as unknown, because the end of a wait or compilation was lost.
fn unattributed(held: &mut [WorkPiece], busy: Busy, from: i64) {
    let of_it =
        held.iter_mut().filter(|piece| piece.from.nanos >= from && piece.what == busy.work());
    of_it.for_each(|piece| piece.what = ThreadWork::Unknown);
}
