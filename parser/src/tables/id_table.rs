//! Maps ids to slots, with an array for dense ids, which every real writer uses, and a map for
//! other ids.

use super::{NO_SLOT, Slot};
use crate::forget;
use std::collections::HashMap;

/// Maximum number of undefined ids between two ids of the array. Ids further away go to the map,
/// so that a hostile id cannot make the array grow much.
const MAX_BRIDGED: u64 = 64;
/// Maximum length of the array, in ids after the first.
const MAX_DENSE: u64 = 1 << 22;

/// Range of ids, with their slots if these are in order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct IdRange {
    first: u64,
    count: u64,
    /// Distance from an id to its slot, if slots are in the order of ids.
    shift: Slot,
}

impl IdRange {
    #[inline(always)]
    pub(crate) fn contains(self, id: u64) -> bool {
        id.wrapping_sub(self.first) < self.count
    }

    /// Returns the slot of an id in the range, if [slots are in
    /// order](IdTable::has_slots_in_order). Id 0, if [`IdRange::with_zero`] added it, has the slot
    /// before the first one. This is [`NO_SLOT`] if the first one is 0.
    #[inline(always)]
    pub(crate) fn slot(self, id: u32) -> Slot {
        id.wrapping_add(self.shift)
    }

    /// Returns the range with id 0 added, if it is then still contiguous.
    pub(crate) fn with_zero(self) -> IdRange {
        match (self.first, self.count) {
            (_, 0) => IdRange { first: 0, count: 1, shift: NO_SLOT },
            (1, count) => IdRange { first: 0, count: count.saturating_add(1), shift: self.shift },
            _ => self,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct IdTable {
    /// Id of `dense[0]`, which was inserted first.
    base: u64,
    dense: Vec<Slot>,
    /// Number of consecutive ids from `base` on that are defined.
    gapless: u64,
    /// Whether a slot in the array is at another distance from the first slot than its id is from
    /// the first id.
    is_bent: bool,
    sparse: HashMap<u64, Slot>,
    count: usize,
}

impl Clone for IdTable {
    fn clone(&self) -> IdTable {
        let mut other = IdTable::default();
        other.clone_from(self);
        other
    }

    /// Copies the other table, and reuses the memory of `self`.
    fn clone_from(&mut self, other: &IdTable) {
        (self.base, self.gapless, self.count) = (other.base, other.gapless, other.count);
        self.is_bent = other.is_bent;
        self.dense.clone_from(&other.dense);
        self.sparse.clone_from(&other.sparse);
    }
}

impl IdTable {
    #[inline]
    pub(super) fn get(&self, id: u64) -> Slot {
        match usize::try_from(id.wrapping_sub(self.base))
            .ok()
            .and_then(|index| self.dense.get(index))
        {
            Some(&slot) if slot != NO_SLOT => slot,
            _ => self.get_sparse(id),
        }
    }

    #[cold]
    fn get_sparse(&self, id: u64) -> Slot {
        if self.sparse.is_empty() {
            NO_SLOT
        } else {
            self.sparse.get(&id).copied().unwrap_or(NO_SLOT)
        }
    }

    /// Returns the range of consecutive ids from the first one on that are defined.
    pub(super) fn gapless(&self) -> IdRange {
        let first = self.dense.first().copied().unwrap_or_default();
        IdRange {
            first: self.base,
            count: self.gapless,
            shift: first.wrapping_sub(low_bits(self.base)),
        }
    }

    /// Returns whether consecutive ids have consecutive slots, which ends when an id is redefined.
    pub(super) fn has_slots_in_order(&self) -> bool {
        !self.is_bent
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Returns the number of places for ids, which a walk over all ids visits.
    pub(super) fn room(&self) -> usize {
        self.dense.len().saturating_add(self.sparse.capacity())
    }

    #[inline]
    pub(super) fn insert(&mut self, id: u64, slot: Slot) {
        if self.is_next(id) {
            self.is_bent |= self.dense.last().is_some_and(|last| last.wrapping_add(1) != slot);
            self.dense.push(slot);
            self.gapless = self.gapless.wrapping_add(1);
            self.count = self.count.wrapping_add(1);
            return;
        }
        self.insert_anywhere(id, slot);
    }

    /// Returns whether the id follows all defined ids without a gap, as the ids of all real
    /// writers do.
    #[inline]
    pub(super) fn is_next(&self, id: u64) -> bool {
        let next = self.dense.len() as u64;
        next > 0
            && next == self.gapless
            && id.wrapping_sub(self.base) == next
            && next < MAX_DENSE
            && self.sparse.is_empty()
    }

    fn insert_anywhere(&mut self, id: u64, slot: Slot) {
        if self.count == 0 {
            self.clear();
            self.base = id;
        }
        if self.get(id) == NO_SLOT {
            self.count = self.count.wrapping_add(1);
        }
        let index = id.wrapping_sub(self.base);
        if index <= (self.dense.len() as u64).saturating_add(MAX_BRIDGED) && index < MAX_DENSE {
            let index = usize::try_from(index).unwrap_or(usize::MAX);
            if index >= self.dense.len() {
                self.dense.resize(index.saturating_add(1), NO_SLOT);
            }
            // A new slot for the first id puts all other slots out of order.
            self.is_bent |= match self.dense.first() {
                Some(first) if index > 0 => first.wrapping_add(low_bits(index as u64)) != slot,
                _ => self.dense.len() > 1,
            };
            if let Some(place) = self.dense.get_mut(index) {
                *place = slot;
            }
            if index as u64 == self.gapless {
                self.gapless = self.gapless.wrapping_add(1);
            }
            // The id may have been far away from the array before.
            if !self.sparse.is_empty() {
                self.sparse.remove(&id);
            }
        } else {
            self.sparse.insert(id, slot);
        }
    }

    pub(super) fn remove(&mut self, id: u64) -> bool {
        if self.get(id) == NO_SLOT {
            return false;
        }
        self.count = self.count.saturating_sub(1);
        self.gapless = self.gapless.min(id.wrapping_sub(self.base));
        let index = usize::try_from(id.wrapping_sub(self.base)).ok();
        match index.and_then(|index| self.dense.get_mut(index)).filter(|slot| **slot != NO_SLOT) {
            Some(slot) => *slot = NO_SLOT,
            None => {
                self.sparse.remove(&id);
            }
        }
        true
    }

    pub(super) fn clear(&mut self) {
        self.dense.clear();
        forget::all(&mut self.sparse);
        self.is_bent = false;
        self.gapless = 0;
        self.count = 0;
    }

    pub(super) fn slots(&self) -> impl Iterator<Item = Slot> {
        self.dense
            .iter()
            .copied()
            .filter(|slot| *slot != NO_SLOT)
            .chain(self.sparse.values().copied())
    }

    /// Keeps only the ids for whose slots `keep` returns `true`.
    pub(super) fn retain(&mut self, keep: impl Fn(Slot) -> bool) {
        for slot in self.dense.iter_mut().filter(|slot| **slot != NO_SLOT && !keep(**slot)) {
            *slot = NO_SLOT;
        }
        self.sparse.retain(|_, slot| keep(*slot));
        self.gapless = self.dense.iter().take_while(|slot| **slot != NO_SLOT).count() as u64;
        self.count = self.slots().count();
    }

    /// Replaces each slot by the slot that `name` returns for it.
    pub(super) fn rename(&mut self, name: impl Fn(Slot) -> Slot) {
        for slot in self.dense.iter_mut().filter(|slot| **slot != NO_SLOT) {
            *slot = name(*slot);
        }
        for slot in self.sparse.values_mut() {
            *slot = name(*slot);
        }
        let first = self.dense.first().copied().unwrap_or_default();
        let mut slots = (0..).zip(&self.dense).filter(|(_, slot)| **slot != NO_SLOT);
        self.is_bent = slots.any(|(index, slot)| first.wrapping_add(index) != *slot);
    }

    pub(super) fn shift_by_one(&mut self) {
        self.rename(|slot| slot.wrapping_add(1));
    }
}

/// Truncates an id, or an index, to the width of slots.
#[expect(clippy::cast_possible_truncation, reason = "slots wrap")]
fn low_bits(id: u64) -> Slot {
    id as Slot
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asserts that [`IdRange::slot`] agrees with the table if slots are in order.
    fn assert_told(table: &IdTable, is_in_order: bool) {
        assert_eq!(table.has_slots_in_order(), is_in_order);
        let range = table.gapless();
        let in_range = (0..100u32).filter(|id| range.contains(u64::from(*id)));
        for id in in_range.filter(|_| is_in_order) {
            assert_eq!(range.slot(id), table.get(u64::from(id)), "{id}");
        }
    }

    #[test]
    fn slots_are_in_the_order_of_ids_until_one_is_defined_anew() {
        let mut table = IdTable::default();
        for (slot, id) in (7..).zip(3..20) {
            table.insert(id, slot);
            assert_told(&table, true);
        }
        table.insert(30, 7 + 27);
        assert_told(&table, true);
        table.rename(|slot| slot - 5);
        assert_told(&table, true);
        for again in [3, 10] {
            let mut bent = table.clone();
            bent.insert(again, 90);
            assert_told(&bent, false);
            bent.insert(21, 91);
            assert_told(&bent, false);
            assert_told(&bent.clone(), false);
            bent.clear();
            bent.insert(5, 0);
            assert_told(&bent, true);
        }
        table.insert(20, 99);
        assert_told(&table, false);
    }

    #[test]
    fn far_and_near_ids_are_found_replaced_and_removed() {
        let mut table = IdTable::default();
        let ids = [5, 6, 7, 70, u64::MAX, 0, 1 << 40, 8];
        for (slot, id) in ids.into_iter().enumerate() {
            table.insert(id, slot as Slot);
        }
        assert!(table.dense.len() < 200, "a far id must not make the array long");
        for (slot, id) in ids.into_iter().enumerate() {
            assert_eq!(table.get(id), slot as Slot);
        }
        let range = table.gapless();
        assert!(range.contains(5) && range.contains(8) && !range.contains(9) && !range.contains(4));
        assert_eq!((table.get(9), table.len()), (NO_SLOT, ids.len()));
        table.insert(6, 60);
        assert_eq!((table.get(6), table.len()), (60, ids.len()));
        for id in ids {
            assert!(table.remove(id) && !table.remove(id));
            assert_eq!(table.get(id), NO_SLOT);
            assert!(!table.gapless().contains(id));
        }
        assert_eq!(table.len(), 0);
    }
}
