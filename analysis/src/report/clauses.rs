//! What becomes of exceptions on one thread.

/// Most exceptions and blocks open at once on a thread. More are a sign of lost events.
const DEEPEST: usize = 64;

/// A block of code that an exception runs into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clause {
    Catch,
    Filter,
    Finally,
}

/// Exceptions that are on their way, or whose catch block runs: the outermost first.
#[derive(Debug)]
pub(crate) struct Dispatch<T> {
    active: Vec<Active<T>>,
    /// Filters and finally blocks that run.
    blocks: Vec<(Clause, i64, T)>,
}

#[derive(Debug)]
struct Active<T> {
    thrown: i64,
    /// When its catch block began.
    catching: Option<i64>,
    what: T,
}

/// An exception of which nothing more is to come.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Left<T> {
    pub(crate) what: T,
    /// Its catch block had begun.
    pub(crate) is_catching: bool,
}

impl<T> Default for Dispatch<T> {
    fn default() -> Dispatch<T> {
        Dispatch { active: Vec::new(), blocks: Vec::new() }
    }
}

impl<T: Copy> Dispatch<T> {
    /// The thread deals with no exception any more.
    pub(crate) fn reset(&mut self, mut left: impl FnMut(Left<T>)) {
        self.blocks.clear();
        for active in self.active.drain(..) {
            left(Left { what: active.what, is_catching: active.catching.is_some() });
        }
    }

    /// An exception is thrown. Gives the one that is forgotten for it, if there are too many.
    pub(crate) fn thrown(&mut self, nanos: i64, what: T) -> Option<Left<T>> {
        let is_full = self.active.len() >= DEEPEST;
        let dropped = is_full.then(|| self.active.remove(0));
        self.active.push(Active { thrown: nanos, catching: None, what });
        dropped.map(|active| Left { what: active.what, is_catching: active.catching.is_some() })
    }

    /// The exception whose catch block runs innermost.
    pub(crate) fn caught(&self) -> Option<T> {
        self.active.iter().rev().find(|active| active.catching.is_some()).map(|active| active.what)
    }

    /// A block begins. Gives the exception that it is for, and when that was thrown.
    pub(crate) fn begin(&mut self, clause: Clause, nanos: i64) -> Option<(T, i64)> {
        let active = self.active.iter_mut().rev().find(|active| active.catching.is_none())?;
        let told = (active.what, active.thrown);
        if clause == Clause::Catch {
            active.catching = Some(nanos);
        } else {
            if self.blocks.len() >= DEEPEST {
                self.blocks.remove(0);
            }
            self.blocks.push((clause, nanos, told.0));
        }
        Some(told)
    }

    /// A block ends. Gives the exception that it was for, and when the block began.
    pub(crate) fn end(&mut self, clause: Clause) -> Option<(T, i64)> {
        if clause == Clause::Catch {
            let at = self.active.iter().rposition(|active| active.catching.is_some())?;
            // What was thrown inside the block and not caught there has lost its events.
            self.active.truncate(at.saturating_add(1));
            let active = self.active.pop()?;
            return Some((active.what, active.catching?));
        }
        let at = self.blocks.iter().rposition(|(open, ..)| *open == clause)?;
        self.blocks.truncate(at.saturating_add(1));
        self.blocks.pop().map(|(_, began, what)| (what, began))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exception_in_a_catch_block_is_caught_first_if_it_stays_inside() {
        let mut dispatch = Dispatch::default();
        assert_eq!(dispatch.thrown(1, 'a'), None);
        assert_eq!(dispatch.begin(Clause::Catch, 2), Some(('a', 1)));
        assert_eq!((dispatch.thrown(3, 'b'), dispatch.caught()), (None, Some('a')));
        assert_eq!(dispatch.begin(Clause::Filter, 4), Some(('b', 3)));
        assert_eq!(dispatch.end(Clause::Filter), Some(('b', 4)));
        assert_eq!(dispatch.begin(Clause::Catch, 5), Some(('b', 3)));
        assert_eq!(dispatch.end(Clause::Catch), Some(('b', 5)));
        assert_eq!(dispatch.end(Clause::Catch), Some(('a', 2)));
        assert_eq!(dispatch.end(Clause::Catch), None);
    }

    #[test]
    fn a_catch_block_that_was_left_does_not_take_the_end_of_a_later_one() {
        let mut dispatch = Dispatch::default();
        dispatch.thrown(1, 'a');
        dispatch.begin(Clause::Catch, 2);
        dispatch.thrown(3, 'b');
        dispatch.begin(Clause::Catch, 4);
        assert_eq!(dispatch.end(Clause::Catch), Some(('b', 4)));
        let mut left = Vec::new();
        dispatch.reset(|gone| left.push(gone));
        assert_eq!(left, [Left { what: 'a', is_catching: true }]);
        dispatch.thrown(9, 'c');
        assert_eq!(dispatch.begin(Clause::Finally, 10), Some(('c', 9)));
        assert_eq!(dispatch.begin(Clause::Catch, 11), Some(('c', 9)));
        assert_eq!(
            (dispatch.end(Clause::Finally), dispatch.end(Clause::Catch)),
            (Some(('c', 10)), Some(('c', 11)))
        );
    }

    #[test]
    fn ends_without_begins_are_nothing() {
        let mut dispatch: Dispatch<()> = Dispatch::default();
        for clause in [Clause::Catch, Clause::Filter, Clause::Finally] {
            assert_eq!((dispatch.end(clause), dispatch.begin(clause, 1)), (None, None));
        }
    }

    #[test]
    fn throws_without_end_do_not_pile_up() {
        let mut dispatch = Dispatch::default();
        let dropped = (0..1000).filter(|nanos| dispatch.thrown(*nanos, *nanos).is_some()).count();
        assert_eq!(dropped, 1000 - DEEPEST);
    }
}
