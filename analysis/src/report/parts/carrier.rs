//! What a thread is busy with.

use super::{At, Piece, Work};
use crate::model::ThreadHandle;
use nettrace_parser::Guid;

/// How long a sample or an event holds at most.
const HOLDS: i64 = 100_000_000;
/// Most pieces of a thread's time for which it is not known yet whose they are.
const MOST_HELD: usize = 4_096;
/// Deepest compilation inside of another one.
const DEEPEST: usize = 32;

/// A thread, and the activities that it is busy with.
#[derive(Debug)]
pub(super) struct Carrier {
    /// The id in its last event.
    pub(super) id: Option<Guid>,
    /// The open activities that are meant, the innermost first.
    pub(super) chain: Vec<u64>,
    /// Its last event.
    pub(super) last: At,
    /// Whether that event was one with which a thread's turn ends.
    pub(super) has_left: bool,
    /// What it does, since when, and the last sample or event that says so.
    what: Work,
    since: At,
    seen: At,
    /// What it did of late: its next event tells for whom.
    held: Vec<Piece>,
    is_locked: bool,
    is_waiting: bool,
    compiles: Vec<u64>,
}

impl Default for Carrier {
    fn default() -> Carrier {
        let at = At { nanos: 0, paused: 0 };
        Carrier {
            id: None,
            chain: Vec::new(),
            last: at,
            has_left: false,
            what: Work::Running,
            since: at,
            seen: at,
            held: Vec::new(),
            is_locked: false,
            is_waiting: false,
            compiles: Vec::new(),
        }
    }
}

impl Carrier {
    /// Another event with the same id. Tells whether there is something to note down: mostly it just goes on running.
    pub(super) fn goes_on(&mut self, at: At, has_left: bool) -> bool {
        let is_news = !self.held.is_empty()
            || self.what != Work::Running
            || at.nanos.saturating_sub(self.seen.nanos) > HOLDS;
        if !is_news {
            self.last = at;
            self.seen = at;
            self.has_left = has_left;
        }
        is_news
    }

    /// Ends the piece that goes on.
    pub(super) fn cut(&mut self, thread: ThreadHandle, at: At) {
        let is_told = matches!(self.what, Work::Running | Work::Native(_));
        if is_told && at.nanos.saturating_sub(self.seen.nanos) > HOLDS {
            self.hold(Piece { from: self.since, to: self.seen, what: self.what, thread });
            self.hold(Piece { from: self.seen, to: at, what: Work::Unknown, thread });
        } else {
            self.hold(Piece { from: self.since, to: at, what: self.what, thread });
        }
        self.since = at;
    }

    fn hold(&mut self, piece: Piece) {
        if piece.to.nanos <= piece.from.nanos {
            return;
        }
        let is_full = self.held.len() >= MOST_HELD;
        match self.held.last_mut() {
            Some(last) if is_full || last.what == piece.what => last.to = piece.to,
            _ => self.held.push(piece),
        }
    }

    /// The pieces that wait for the next event, if that one says that the thread still had the activity.
    pub(super) fn take_held(&mut self) -> Vec<Piece> {
        std::mem::take(&mut self.held)
    }

    /// What is true of them if the thread was not seen with the activity after its last event.
    pub(super) fn until_last(&self, held: &[Piece], thread: ThreadHandle, at: At) -> Vec<Piece> {
        let last = self.last;
        let mut pieces: Vec<Piece> = held
            .iter()
            .filter(|piece| piece.from.nanos < last.nanos)
            .map(|piece| Piece { to: if piece.to.nanos > last.nanos { last } else { piece.to }, ..*piece })
            .collect();
        if !self.has_left && at.nanos > last.nanos {
            pieces.push(Piece { from: last, to: at, what: Work::Unknown, thread });
        }
        pieces
    }

    pub(super) fn held(&self) -> &[Piece] {
        &self.held
    }

    /// Since when it is not known for whom it works.
    pub(super) fn open_since(&self) -> At {
        self.held.first().map_or(self.since, |piece| piece.from)
    }

    /// Its last event was this one; it runs, or waits as that event says.
    pub(super) fn begin(&mut self, at: At, has_left: bool) {
        self.last = at;
        self.has_left = has_left;
        self.since = at;
        self.seen = at;
        self.what = self.known().unwrap_or(Work::Running);
    }

    /// It works for something else.
    pub(super) fn forget_waits(&mut self) {
        self.is_locked = false;
        self.is_waiting = false;
        self.compiles.clear();
    }

    /// What its events say that it does.
    fn known(&self) -> Option<Work> {
        match () {
            () if self.is_locked => Some(Work::Lock),
            () if !self.compiles.is_empty() => Some(Work::Jit),
            () if self.is_waiting => Some(Work::Waiting),
            () => None,
        }
    }

    /// A sample of it.
    pub(super) fn sampled(&mut self, thread: ThreadHandle, at: At, what: Work) {
        let what = self.known().unwrap_or(what);
        if what != self.what || at.nanos.saturating_sub(self.seen.nanos) > HOLDS {
            self.cut(thread, at);
            self.what = what;
        }
        self.seen = at;
    }

    pub(super) fn set_locked(&mut self, is_locked: bool) {
        self.is_locked = is_locked;
    }

    pub(super) fn set_waiting(&mut self, is_waiting: bool) {
        self.is_waiting = is_waiting;
    }

    /// A method is about to be compiled.
    pub(super) fn compile(&mut self, method: u64) {
        if self.compiles.len() < DEEPEST {
            self.compiles.push(method);
        }
    }

    /// A method is there. Compilations that began inside of its own have ended too.
    pub(super) fn compiled(&mut self, method: u64) {
        if let Some(at) = self.compiles.iter().rposition(|begun| *begun == method) {
            self.compiles.truncate(at);
        }
    }
}
