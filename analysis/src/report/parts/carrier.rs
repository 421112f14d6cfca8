//! What a thread is busy with.

use super::{At, Piece, Work};
use crate::model::ThreadHandle;
use crate::model::intervals::{Edge, Matcher};
use nettrace_parser::Guid;

/// How long a sample or an event holds at most.
const HOLDS: i64 = 100_000_000;
/// Most pieces of a thread's time for which it is not known yet whose they are.
const MOST_HELD: usize = 4_096;

/// What a thread is in from one event to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Busy {
    Lock,
    Jit,
    Wait,
}

impl Busy {
    /// Those that count first, first.
    const ALL: [Busy; 3] = [Busy::Lock, Busy::Jit, Busy::Wait];

    fn work(self) -> Work {
        match self {
            Busy::Lock => Work::Lock,
            Busy::Jit => Work::Jit,
            Busy::Wait => Work::Waiting,
        }
    }
}

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
    /// What it did of late: its next event tells for whom. While it is in something, whether that has an end.
    held: Vec<Piece>,
    /// What it is in; compilations with their method.
    open: Matcher<Busy, u64>,
    /// When something began or ended last that it was in.
    edge: i64,
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
            open: Matcher::default(),
            edge: 0,
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
        let is_edge = piece.from.nanos == self.edge;
        match self.held.last_mut() {
            Some(last) if is_full || (last.what == piece.what && !is_edge) => last.to = piece.to,
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
        self.open = Matcher::default();
    }

    /// What its events say that it does.
    fn known(&self) -> Option<Work> {
        Busy::ALL.into_iter().find(|busy| self.open.is_open(*busy)).map(Busy::work)
    }

    /// Whether it is in something of which the end may still be lost.
    pub(super) fn is_busy(&self) -> bool {
        self.known().is_some()
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

    /// A wait or a compilation begins, at the end of a piece.
    pub(super) fn enter(&mut self, busy: Busy, method: u64, at: Edge) {
        self.edge = at.nanos;
        let held = &mut self.held;
        self.open.start_inside(busy, at, method, |lost| not_told(held, busy, lost.start.nanos));
    }

    /// One ends. Gives the pieces that are certain now.
    pub(super) fn leave(&mut self, busy: Busy, method: u64, at: Edge, told: Option<u64>) -> Vec<Piece> {
        self.edge = at.nanos;
        let ended = match busy {
            // Compilations that began inside of it have ended too.
            Busy::Jit => self.open.stop_of(busy, &method, at, |_| {}),
            Busy::Lock | Busy::Wait => self.open.stop(busy, at, told, |_| {}),
        };
        let certain = ended.map(|ended| {
            let first = self.held.partition_point(|piece| piece.from.nanos < ended.start.nanos);
            self.held.split_off(first)
        });
        let mut certain = certain.unwrap_or_default();
        if !self.is_busy() {
            certain.splice(0..0, self.take_held());
        }
        certain
    }

    /// The program goes on on it. A thread that waits does nothing else: the ends of its waits were lost.
    pub(super) fn runs_on(&mut self, thread: ThreadHandle, at: At) {
        if !self.open.is_open(Busy::Lock) && !self.open.is_open(Busy::Wait) {
            return;
        }
        self.cut(thread, at);
        let held = &mut self.held;
        for busy in [Busy::Lock, Busy::Wait] {
            self.open.lose(busy, |lost| not_told(held, busy, lost.start.nanos));
        }
        self.what = self.known().unwrap_or(Work::Running);
    }
}

/// Nobody knows how long it took what began at a time.
fn not_told(held: &mut [Piece], busy: Busy, from: i64) {
    let of_it = held.iter_mut().filter(|piece| piece.from.nanos >= from && piece.what == busy.work());
    of_it.for_each(|piece| piece.what = Work::Unknown);
}
