//! Begins that wait for their ends, thread by thread.

use crate::model::ThreadHandle;
use std::collections::HashMap;

/// Most begins kept open on one thread. More are a sign of lost ends.
const DEEPEST: usize = 64;

/// Begins that have not ended. What begins on a thread inside something else ends before it; ends that are lost must
/// not pile up.
#[derive(Debug)]
pub(crate) struct OpenPairs<T> {
    threads: HashMap<ThreadHandle, Vec<Begin<T>>>,
    /// Ends whose begin is not known.
    pub(crate) ends_without_begin: u64,
    /// Begins whose end is known never to come.
    pub(crate) begins_without_end: u64,
}

/// Something that began.
#[derive(Debug, Clone)]
pub(crate) struct Begin<T> {
    pub(crate) nanos: i64,
    pub(crate) what: T,
}

impl<T> Default for OpenPairs<T> {
    fn default() -> OpenPairs<T> {
        OpenPairs { threads: HashMap::new(), ends_without_begin: 0, begins_without_end: 0 }
    }
}

impl<T> OpenPairs<T> {
    pub(crate) fn begin(&mut self, thread: ThreadHandle, nanos: i64, what: T) {
        let open = self.threads.entry(thread).or_default();
        if open.len() >= DEEPEST {
            open.remove(0);
            self.begins_without_end = self.begins_without_end.saturating_add(1);
        }
        open.push(Begin { nanos, what });
    }

    /// The begin of what ended at `nanos`: the innermost one, or the one that fits best to `told_nanos`, the duration
    /// that the end tells. What began inside of it has lost its end.
    pub(crate) fn end(
        &mut self,
        thread: ThreadHandle,
        nanos: i64,
        told_nanos: Option<u64>,
    ) -> Option<Begin<T>> {
        let open = self.threads.get_mut(&thread).filter(|open| !open.is_empty());
        let Some(open) = open else {
            self.ends_without_begin = self.ends_without_begin.saturating_add(1);
            return None;
        };
        let at = match told_nanos.and_then(|told| i64::try_from(told).ok()) {
            // The last of equals: the innermost.
            Some(told) => {
                let began = nanos.saturating_sub(told);
                let distance = |begin: &Begin<T>| begin.nanos.abs_diff(began);
                open.iter().enumerate().rev().min_by_key(|(_, begin)| distance(begin)).map(|(at, _)| at)
            }
            None => open.len().checked_sub(1),
        }?;
        let lost = open.len().saturating_sub(at).saturating_sub(1) as u64;
        self.begins_without_end = self.begins_without_end.saturating_add(lost);
        open.truncate(at.saturating_add(1));
        open.pop()
    }

    /// Threads with what is still open, outermost first.
    pub(crate) fn into_open(self) -> impl Iterator<Item = (ThreadHandle, Begin<T>)> {
        let mut threads: Vec<_> = self.threads.into_iter().collect();
        threads.sort_by_key(|(thread, _)| *thread);
        threads.into_iter().flat_map(|(thread, open)| open.into_iter().map(move |begin| (thread, begin)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: ThreadHandle = ThreadHandle(1);
    const OTHER: ThreadHandle = ThreadHandle(2);

    #[test]
    fn what_began_last_on_a_thread_ends_first() {
        let mut pairs = OpenPairs::default();
        pairs.begin(ONE, 10, 'a');
        pairs.begin(OTHER, 11, 'x');
        pairs.begin(ONE, 12, 'b');
        let mut end = |thread, nanos| pairs.end(thread, nanos, None).map(|begin| (begin.nanos, begin.what));
        assert_eq!(end(ONE, 20), Some((12, 'b')));
        assert_eq!(end(ONE, 21), Some((10, 'a')));
        assert_eq!(end(ONE, 22), None);
        assert_eq!(end(OTHER, 23), Some((11, 'x')));
        assert_eq!((pairs.ends_without_begin, pairs.begins_without_end), (1, 0));
    }

    #[test]
    fn a_told_duration_finds_the_begin_across_a_lost_end() {
        let mut pairs = OpenPairs::default();
        pairs.begin(ONE, 10, "ends");
        // Its end was lost.
        pairs.begin(ONE, 50, "lost");
        let begin = pairs.end(ONE, 100, Some(91)).unwrap();
        assert_eq!((begin.nanos, begin.what, pairs.begins_without_end), (10, "ends", 1));
        pairs.begin(ONE, 110, "open");
        let open: Vec<_> = pairs.into_open().map(|(thread, begin)| (thread, begin.what)).collect();
        assert_eq!(open, [(ONE, "open")]);
    }

    #[test]
    fn ends_that_never_come_do_not_pile_up() {
        let mut pairs = OpenPairs::default();
        (0..1000).for_each(|nanos| pairs.begin(ONE, nanos, ()));
        assert_eq!(pairs.begins_without_end, 1000 - DEEPEST as u64);
        assert_eq!(pairs.into_open().count(), DEEPEST);
    }
}
