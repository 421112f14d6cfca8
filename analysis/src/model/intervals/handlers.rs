//! Tracks the exceptions of one thread: which blocks of code run because of them, and when these
//! blocks end.

use super::{Bounds, Edge, Interval, nanos_between};

/// Maximum number of exceptions handled at the same time on a thread. If there are more, events
/// were lost.
const MAX_ACTIVE: usize = 64;

/// A block of code that runs because of an exception.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clause {
    Catch,
    Filter,
    Finally,
}

impl Clause {
    /// Returns the kind of block that a runtime event with this id is about, and whether the block
    /// starts.
    pub(crate) fn of_runtime(id: u32) -> Option<(Clause, bool)> {
        Some(match id {
            250 => (Clause::Catch, true),
            251 => (Clause::Catch, false),
            252 => (Clause::Finally, true),
            253 => (Clause::Finally, false),
            254 => (Clause::Filter, true),
            255 => (Clause::Filter, false),
            _ => return None,
        })
    }
}

/// A block that ran because of an exception.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CatchBlock<E, B> {
    pub(crate) clause: Clause,
    /// The exception that caused the block; `None` if its throw event was lost.
    pub(crate) exception: Option<E>,
    /// Exception that left the block; `None` if none did, or if it is unknown.
    pub(crate) left_by: Option<E>,
    pub(crate) what: B,
}

/// What caused a block to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cause<E> {
    pub(crate) exception: E,
    /// Time of the throw. If there is no event for it, since the exception was thrown again, it is
    /// the start of the catch block that did so.
    pub(crate) thrown_nanos: i64,
    /// Whether the exception was thrown again without an event, as by `throw;` from .NET 9 on.
    pub(crate) is_again: bool,
}

/// Exceptions of one thread that are not handled yet or whose catch block runs, outermost first.
///
/// From .NET 9 on, `throw;` has no event: a block starts though nothing was thrown. Then the innermost
/// catch block threw its exception again.
///
/// A block that another exception leaves has no stop event: [`Bounds::LeftByException`]. This
/// becomes known only when an exception is thrown while none is being handled, or when the
/// surrounding block continues. The block ended when the catch block of the other exception
/// started. If several exceptions were caught while the block ran, the first one counts, unless the
/// block itself threw again afterwards.
#[derive(Debug)]
pub(crate) struct Handlers<E, B> {
    active: Vec<Active<E, B>>,
}

/// An exception, and the block that runs because of it now.
#[derive(Debug)]
struct Active<E, B> {
    /// Time of the throw and the exception; `None` if the throw event was lost.
    thrown: Option<(i64, E)>,
    /// Whether the exception was thrown again without an event.
    is_again: bool,
    block: Option<RunningHandler<E, B>>,
}

#[derive(Debug)]
struct RunningHandler<E, B> {
    clause: Clause,
    start: Edge,
    what: B,
    /// If an exception was thrown inside this block: the start of its first catch block, and the
    /// exception. Control has left this block, unless the catch block lies inside it.
    left: Option<(Edge, Option<E>)>,
}

impl<E, B> Default for Handlers<E, B> {
    fn default() -> Handlers<E, B> {
        Handlers { active: Vec::new() }
    }
}

impl<E: Clone, B> Active<E, B> {
    fn is_catching(&self) -> bool {
        self.runs(Clause::Catch)
    }

    fn runs(&self, clause: Clause) -> bool {
        self.block.as_ref().is_some_and(|block| block.clause == clause)
    }

    fn exception(&self) -> Option<E> {
        self.thrown.as_ref().map(|(_, what)| what.clone())
    }

    /// Notes that the catch block threw its exception again, for which there is no event: another
    /// block starts although nothing was thrown.
    fn throw_again(&mut self, at: Edge) {
        let exception = self.exception();
        if let (Some(block), Some((thrown, _))) = (&mut self.block, &mut self.thrown) {
            *thrown = block.start.nanos;
            block.left = Some((at, exception));
            self.is_again = true;
        }
    }

    /// Ends the running block.
    fn take(
        &mut self,
        end: impl FnOnce(Edge, Option<Edge>) -> (Bounds, Edge),
    ) -> Option<Interval<CatchBlock<E, B>>> {
        let RunningHandler { clause, start, what, left } = self.block.take()?;
        let (bounds, stop) = end(start, left.as_ref().map(|(at, _)| *at));
        let left_by = left.and_then(|(_, by)| by).filter(|_| bounds == Bounds::LeftByException);
        let block = CatchBlock { clause, exception: self.exception(), left_by, what };
        let nanos = nanos_between(start.nanos, stop.nanos);
        Some(Interval { start, stop, nanos, bounds, what: block })
    }

    /// Ends the running block, for which there is no stop event.
    fn end_without_stop(&mut self) -> Option<Interval<CatchBlock<E, B>>> {
        self.take(|start, left| match left {
            Some(left) => (Bounds::LeftByException, left),
            None => (Bounds::StopLost, start),
        })
    }
}

impl<E: Clone, B> Handlers<E, B> {
    /// Adds a thrown exception. `is_nested` says that another exception is being handled; if not,
    /// all running blocks have ended. This method and the others pass blocks that end without a
    /// stop event to `over`.
    pub(crate) fn thrown(
        &mut self,
        nanos: i64,
        is_nested: bool,
        what: E,
        mut over: impl FnMut(Interval<CatchBlock<E, B>>),
    ) {
        if !is_nested {
            self.cut(0, &mut over);
        } else if let Some(block) = self.active.last_mut().and_then(|active| active.block.as_mut())
        {
            // The block still runs, so exceptions before were caught inside.
            block.left = None;
        }
        self.push(Some((nanos, what)), &mut over);
    }

    fn push(
        &mut self,
        thrown: Option<(i64, E)>,
        over: &mut impl FnMut(Interval<CatchBlock<E, B>>),
    ) {
        if self.active.len() >= MAX_ACTIVE {
            self.active.remove(0).end_without_stop().into_iter().for_each(over);
        }
        self.active.push(Active { thrown, is_again: false, block: None });
    }

    /// Drops all but the `keep` outermost exceptions.
    fn cut(&mut self, keep: usize, over: &mut impl FnMut(Interval<CatchBlock<E, B>>)) {
        while self.active.len() > keep
            && let Some(mut active) = self.active.pop()
        {
            active.end_without_stop().into_iter().for_each(&mut *over);
        }
    }

    /// Returns the exception whose catch block is the innermost running one.
    pub(crate) fn caught(&self) -> Option<E> {
        self.active.iter().rfind(|active| active.is_catching())?.exception()
    }

    /// Returns the start of the innermost catch block that runs.
    pub(crate) fn catching_since(&self) -> Option<i64> {
        let catching = self.active.iter().rfind(|active| active.is_catching())?;
        catching.block.as_ref().map(|block| block.start.nanos)
    }

    /// Starts a block. Returns what caused it; `None` if the throw event was lost.
    pub(crate) fn begin(
        &mut self,
        clause: Clause,
        at: Edge,
        what: B,
        mut over: impl FnMut(Interval<CatchBlock<E, B>>),
    ) -> Option<Cause<E>> {
        // An exception whose catch block runs starts no other block.
        let place = self.active.iter().rposition(|active| !active.is_catching());
        match place {
            // The exception continues, so the handling of exceptions inside its blocks has ended.
            Some(place) => self.cut(place.saturating_add(1), &mut over),
            None => match self.active.last_mut() {
                Some(innermost) if innermost.thrown.is_some() => innermost.throw_again(at),
                // The throw event was lost.
                _ => self.push(None, &mut over),
            },
        }
        let (active, outer) = self.active.split_last_mut()?;
        active.end_without_stop().into_iter().for_each(over);
        if clause == Clause::Catch {
            // Control may have left the outer blocks, or the catch block lies inside them.
            for block in outer.iter_mut().filter_map(|outer| outer.block.as_mut()) {
                block.left.get_or_insert_with(|| (at, active.exception()));
            }
        }
        active.block = Some(RunningHandler { clause, start: at, what, left: None });
        active.thrown.as_ref().map(|(thrown_nanos, exception)| Cause {
            exception: exception.clone(),
            thrown_nanos: *thrown_nanos,
            is_again: active.is_again,
        })
    }

    /// Ends a block. Returns `None` if its start is unknown.
    pub(crate) fn end(
        &mut self,
        clause: Clause,
        at: Edge,
        mut over: impl FnMut(Interval<CatchBlock<E, B>>),
    ) -> Option<Interval<CatchBlock<E, B>>> {
        let place = self.active.iter().rposition(|active| active.runs(clause))?;
        self.cut(place.saturating_add(1), &mut over);
        let ended = self.active.last_mut()?.take(|_, _| (Bounds::Stopped, at));
        // The exception has been handled.
        if clause == Clause::Catch {
            self.active.pop();
        }
        ended
    }

    /// Returns the blocks still running when the trace ends.
    pub(crate) fn finish(self, nanos: i64) -> impl Iterator<Item = Interval<CatchBlock<E, B>>> {
        let open = self.active.into_iter();
        open.filter_map(move |mut active| {
            active.take(|start, _| (Bounds::OpenAtEnd, Edge { nanos, ..start }))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ThreadHandle;

    fn at(nanos: i64) -> Edge {
        Edge { thread: ThreadHandle(1), writer: 1, nanos }
    }

    /// A block that ended without a stop event: the exception that caused it, its bounds, the time
    /// of its end, and the exception that left it.
    type Over = (Option<char>, Bounds, i64, Option<char>);

    #[derive(Default)]
    struct Thread {
        handlers: Handlers<char, ()>,
        over: Vec<Over>,
    }

    impl Thread {
        fn noted(over: &mut Vec<Over>) -> impl FnMut(Interval<CatchBlock<char, ()>>) {
            |block| {
                over.push((
                    block.what.exception,
                    block.bounds,
                    block.stop.nanos,
                    block.what.left_by,
                ))
            }
        }

        fn thrown(&mut self, nanos: i64, is_nested: bool, what: char) {
            self.handlers.thrown(nanos, is_nested, what, Thread::noted(&mut self.over));
        }

        fn begin(&mut self, clause: Clause, nanos: i64) -> Option<(char, i64)> {
            let cause = self.begin_of(clause, nanos)?;
            assert!(!cause.is_again);
            Some((cause.exception, cause.thrown_nanos))
        }

        fn begin_of(&mut self, clause: Clause, nanos: i64) -> Option<Cause<char>> {
            self.handlers.begin(clause, at(nanos), (), Thread::noted(&mut self.over))
        }

        fn end(&mut self, clause: Clause, nanos: i64) -> Option<(Option<char>, u64)> {
            let ended = self.handlers.end(clause, at(nanos), Thread::noted(&mut self.over))?;
            assert_eq!((ended.bounds, ended.what.left_by), (Bounds::Stopped, None));
            Some((ended.what.exception, ended.nanos))
        }
    }

    #[test]
    fn an_exception_in_a_catch_block_is_caught_first_if_it_stays_inside() {
        let mut thread = Thread::default();
        thread.thrown(1, false, 'a');
        assert_eq!(thread.begin(Clause::Catch, 2), Some(('a', 1)));
        assert_eq!(thread.handlers.caught(), Some('a'));
        thread.thrown(3, true, 'b');
        assert_eq!(thread.begin(Clause::Filter, 4), Some(('b', 3)));
        assert_eq!(thread.end(Clause::Filter, 5), Some((Some('b'), 1)));
        assert_eq!(thread.begin(Clause::Catch, 6), Some(('b', 3)));
        assert_eq!(thread.end(Clause::Catch, 8), Some((Some('b'), 2)));
        assert_eq!(thread.end(Clause::Catch, 9), Some((Some('a'), 7)));
        assert_eq!((thread.end(Clause::Catch, 10), thread.over), (None, vec![]));
    }

    #[test]
    fn a_catch_block_ends_when_the_exception_that_left_it_is_caught() {
        let mut thread = Thread::default();
        thread.thrown(1, false, 'a');
        thread.begin(Clause::Catch, 2);
        thread.thrown(3, true, 'b');
        thread.begin(Clause::Catch, 4);
        assert_eq!(thread.end(Clause::Catch, 5), Some((Some('b'), 1)));
        assert_eq!(thread.over, []);
        thread.thrown(9, false, 'c');
        assert_eq!(thread.over, [(Some('a'), Bounds::LeftByException, 4, Some('b'))]);
        assert_eq!(thread.begin(Clause::Finally, 10), Some(('c', 9)));
        assert_eq!(thread.end(Clause::Finally, 11), Some((Some('c'), 1)));
        assert_eq!(thread.begin(Clause::Catch, 11), Some(('c', 9)));
        assert_eq!(thread.end(Clause::Catch, 13), Some((Some('c'), 2)));
    }

    #[test]
    fn each_block_that_throws_again_is_left_for_the_next_one() {
        let mut thread = Thread::default();
        thread.thrown(10, false, 'a');
        thread.begin(Clause::Catch, 20);
        thread.thrown(30, true, 'b');
        thread.begin(Clause::Catch, 40);
        thread.thrown(50, true, 'c');
        thread.begin(Clause::Catch, 60);
        assert_eq!(thread.end(Clause::Catch, 70), Some((Some('c'), 10)));
        thread.thrown(80, false, 'd');
        let left = [
            (Some('b'), Bounds::LeftByException, 60, Some('c')),
            (Some('a'), Bounds::LeftByException, 40, Some('b')),
        ];
        assert_eq!(thread.over, left);
    }

    #[test]
    fn a_block_that_throws_after_it_has_caught_is_left_by_the_last_exception() {
        let mut thread = Thread::default();
        thread.thrown(10, false, 'a');
        thread.begin(Clause::Catch, 20);
        thread.thrown(30, true, 'b');
        thread.begin(Clause::Catch, 40);
        thread.end(Clause::Catch, 45);
        thread.thrown(50, true, 'c');
        thread.begin(Clause::Catch, 60);
        thread.end(Clause::Catch, 65);
        thread.thrown(80, false, 'd');
        assert_eq!(thread.over, [(Some('a'), Bounds::LeftByException, 60, Some('c'))]);
    }

    #[test]
    fn a_block_that_starts_though_nothing_was_thrown_is_of_an_exception_that_was_thrown_again() {
        let mut thread = Thread::default();
        thread.thrown(10, false, 'a');
        assert_eq!(thread.begin(Clause::Catch, 20), Some(('a', 10)));
        let again = |thrown_nanos| Cause { exception: 'a', thrown_nanos, is_again: true };
        assert_eq!(thread.begin_of(Clause::Finally, 30), Some(again(20)));
        assert_eq!(thread.end(Clause::Finally, 35), Some((Some('a'), 5)));
        assert_eq!(thread.begin_of(Clause::Catch, 40), Some(again(20)));
        assert_eq!(thread.begin_of(Clause::Catch, 50), Some(again(40)));
        assert_eq!(thread.end(Clause::Catch, 60), Some((Some('a'), 10)));
        let left = |nanos| (Some('a'), Bounds::LeftByException, nanos, Some('a'));
        assert_eq!(thread.over, [left(30), left(50)]);
        thread.thrown(70, false, 'b');
        assert_eq!(thread.begin(Clause::Catch, 80), Some(('b', 70)));
    }

    #[test]
    fn a_block_without_an_exception_has_lost_its_stop() {
        let mut thread = Thread::default();
        thread.thrown(10, false, 'a');
        thread.begin(Clause::Finally, 15);
        thread.begin(Clause::Catch, 20);
        thread.thrown(30, false, 'b');
        let lost =
            [(Some('a'), Bounds::StopLost, 15, None), (Some('a'), Bounds::StopLost, 20, None)];
        assert_eq!(thread.over, lost);
    }

    #[test]
    fn blocks_without_a_throw_are_matched_and_ends_without_starts_ignored() {
        let mut thread = Thread::default();
        for clause in [Clause::Catch, Clause::Filter, Clause::Finally] {
            assert_eq!((thread.end(clause, 1), thread.begin(clause, 2)), (None, None));
            assert_eq!(thread.end(clause, 5), Some((None, 3)));
        }
        thread.thrown(10, true, 'a');
        thread.begin(Clause::Catch, 20);
        let open: Vec<_> =
            thread.handlers.finish(50).map(|open| (open.bounds, open.nanos)).collect();
        assert_eq!(open, [(Bounds::OpenAtEnd, 30)]);
    }

    #[test]
    fn throws_without_end_do_not_pile_up() {
        let mut thread = Thread::default();
        for nanos in 0..1000 {
            thread.thrown(nanos, true, 'a');
            thread.begin(Clause::Catch, nanos);
        }
        assert_eq!(
            (thread.over.len(), thread.handlers.active.len()),
            (1000 - MAX_ACTIVE, MAX_ACTIVE)
        );
    }
}
