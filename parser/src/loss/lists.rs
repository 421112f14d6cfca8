//! Counts the lists of threads in sequence points of versions 4 and 5 (FORMAT.md 12). A list
//! takes effect when it ends, because an id may be listed more than once.

use super::gaps::{Gap, MAX_STRAYS, RowPlace};
use super::{Losses, MAX_KEPT_ENTRIES, MAX_THREADS, Observation};
use crate::error::Fault;

impl Losses {
    /// Adds an entry to the list of a version 4 or 5 sequence point.
    pub(crate) fn add_list_entry_v4(&mut self, thread: u64, number: u32) {
        if self.defer(Observation::Entry { thread, number }) {
            return;
        }
        self.list_is_cut |= self.list.len() >= MAX_THREADS;
        if !self.list_is_cut {
            self.list.push((thread, number));
        }
    }

    /// Begins the list of the version 4 or 5 sequence point at `place`.
    pub(crate) fn begin_list_v4(&mut self, place: RowPlace) {
        self.point = Some(place);
    }

    /// Discards the list of a damaged version 4 or 5 sequence point. Any next number of each
    /// thread is accepted.
    #[cold]
    pub(crate) fn distrust_list_v4(&mut self) {
        self.list.clear();
        self.ahead.clear();
        self.gaps.forget();
        self.distrust_block();
    }

    /// Ends the list of a version 4 or 5 sequence point. Returns `false` if there may be
    /// damaged ids.
    ///
    /// `is_whole` is set if all stated entries were read, so that other threads have ended.
    /// `has_all` is set if all blocks since the last sequence point could be read.
    pub(crate) fn end_list_v4(&mut self, mut is_whole: bool, has_all: bool, limit: usize) -> bool {
        if self.defer(Observation::EndList { is_whole, has_all }) {
            return true;
        }
        self.end_run();
        if std::mem::take(&mut self.list_is_cut) {
            (self.forgot, self.is_at_least) = (Some(self.points), true);
            is_whole = false;
        }
        self.points = self.points.wrapping_add(u32::from(is_whole));
        let mut list = std::mem::take(&mut self.list);
        list.sort_unstable();
        self.ahead.clear();
        for entries in list.chunk_by(|a, b| a.0 == b.0) {
            match *entries {
                [(thread, number)] => {
                    let before = self.total;
                    self.count_listed(thread, number, limit);
                    let lost = u32::try_from(self.total.saturating_sub(before)).unwrap_or(0);
                    if lost > 0 && self.ahead.len() < MAX_KEPT_ENTRIES {
                        let from = number.wrapping_sub(lost).wrapping_add(1);
                        self.ahead.insert(thread, Gap { thread, from, lost });
                    }
                }
                _ => self.count_listed_repeatedly(entries, limit),
            }
        }
        list.clear();
        list.shrink_to(MAX_KEPT_ENTRIES);
        self.list = list;
        if is_whole {
            self.forget_ended();
        }
        let is_regular = !(is_whole && has_all) || self.find_strays();
        self.gaps.forget();
        is_regular
    }

    /// Counts the entries of an id that is listed more than once, sorted by sequence number. One is
    /// about the thread that has the id now. The others are about threads that ended, which
    /// runtimes list as long as their buffers exist.
    ///
    /// The entry of the thread that wrote last is the first at or above its last number. Other
    /// entries prove nothing: a thread that ended may have lost events or not.
    fn count_listed_repeatedly(&mut self, entries: &[(u64, u32)], limit: usize) {
        let Some(&(thread, _)) = entries.first() else { return };
        let last = self.last_listable(thread);
        let steps = entries.iter().map(|(_, number)| number.wrapping_sub(last));
        let step = steps.filter(|step| step.cast_signed() >= 0).min();
        self.gaps.settle(thread);
        self.count_listed(thread, last.wrapping_add(step.unwrap_or(0)), limit);
    }

    /// Finds threads whose ids are damaged. Returns `false` if there may be damaged ids.
    ///
    /// A thread that wrote since the last sequence point, with a first sequence number other than
    /// 1, should be listed. If it is not, and another thread lacks exactly its sequence numbers,
    /// its id is damaged. Otherwise it may have lost its first events and then ended, because
    /// runtimes since .NET 11 do not list threads that have ended. Sequence numbers that are only a
    /// part of another thread's gap lie there by chance if many events are lost.
    fn find_strays(&mut self) -> bool {
        let strays = self.gaps.pass_point();
        for (thread, jump) in strays.iter().take(MAX_STRAYS) {
            let Some(state) = self.states.get(thread) else { continue };
            let count = state.last.wrapping_sub(jump.to).wrapping_add(1);
            let Some(gap) = self.gaps.take_gap_of(jump.to, count) else { continue };
            self.take_back(gap);
            self.contradict(*thread, *jump, Fault::StrayThread(*thread));
            self.states.remove(thread);
        }
        strays.is_empty()
    }

    /// Returns whether the last sequence point was wrong about a thread, because the thread's next
    /// event has the first sequence number that was counted as lost. If so, takes the loss back.
    /// Sequence number 1 proves nothing, because it may belong to a new thread with this id.
    pub(super) fn was_listed_wrong(&mut self, thread: u64, number: u32) -> bool {
        let gap = self.ahead.remove(&thread);
        let Some(gap) = gap.filter(|gap| gap.from == number && number != 1) else {
            return false;
        };
        self.take_back(gap);
        let last = gap.from.wrapping_add(gap.lost).wrapping_sub(1);
        self.contradictions.push((self.point, Fault::NumbersJump(last)));
        true
    }
}
