//! Sequence numbers of threads.

use crate::hash::HashMap;

/// Number of threads whose numbers are found without hashing.
const SLOTS: u64 = 256;

/// Sequence number of each writing thread's last event. Each thread has one slot by its id; if
/// several threads share it, it is that of the latest.
#[derive(Debug, Default)]
pub(super) struct LastNumbers {
    slots: Vec<Option<(u64, u32)>>,
    /// Numbers of threads that are not in their slots.
    others: HashMap<u64, u32>,
}

impl LastNumbers {
    /// Sets the number of a thread, and returns the one before.
    #[inline]
    pub(super) fn replace(&mut self, writer: u64, number: u32) -> Option<u32> {
        let slot = usize::try_from(writer % SLOTS).unwrap_or(0);
        match self.slots.get_mut(slot) {
            Some(Some((known, last))) if *known == writer => Some(std::mem::replace(last, number)),
            _ => self.replace_in(slot, writer, number),
        }
    }

    /// Sets the number of a thread that is not in its slot.
    #[cold]
    fn replace_in(&mut self, slot: usize, writer: u64, number: u32) -> Option<u32> {
        if self.slots.len() <= slot {
            self.slots.resize(slot.saturating_add(1), None);
        }
        let last = self.others.remove(&writer);
        let left = self.slots.get_mut(slot).and_then(|slot| slot.replace((writer, number)));
        self.others.extend(left);
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_share_a_slot_keep_their_numbers() {
        let mut numbers = LastNumbers::default();
        let writers = [7, 7 + SLOTS, 8, 7 + 2 * SLOTS, u64::MAX];
        for writer in writers {
            assert_eq!(numbers.replace(writer, 1), None);
        }
        for step in 2..5 {
            for writer in writers {
                assert_eq!(numbers.replace(writer, step), Some(step - 1));
            }
        }
    }
}
