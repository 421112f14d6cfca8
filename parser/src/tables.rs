//! Stores the rows to which ids refer, until they are forgotten (FORMAT.md 9).
//!
//! Rows lie in arenas at *slots*. An event that waits for its turn in time order refers to its
//! type, thread and labels by slots, because their ids may be reused before the event is
//! delivered. Arenas are only emptied at sequence points, when no events wait.

mod id_table;
mod weight;

use crate::blob::BlobHeader;
use crate::block::metadata::Metadata;
use crate::block::thread::Thread;
use crate::limits::TableRoom;
use id_table::{IdRange, IdTable};
use std::sync::Arc;
pub(crate) use weight::Weigh;

/// Number of a row in an arena.
pub(crate) type Slot = u32;

/// Slot that stands for no row.
pub(crate) const NO_SLOT: Slot = Slot::MAX;

/// Result of a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Defined {
    New,
    /// The id was defined before. The new row replaces the old row for later events.
    Again,
}

/// Rows of one kind by id.
#[derive(Debug, Clone)]
pub(crate) struct Table<T> {
    ids: IdTable,
    /// Slot of `rows[0]`.
    first: Slot,
    rows: Vec<T>,
    /// Memory in bytes that the rows use.
    bytes: usize,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Table { ids: IdTable::default(), first: 0, rows: Vec::new(), bytes: 0 }
    }
}

impl<T: Weigh> Table<T> {
    /// Returns the slot to which an id currently refers, or [`NO_SLOT`].
    #[inline]
    pub(crate) fn slot(&self, id: u64) -> Slot {
        self.ids.get(id)
    }

    /// Returns the row of a slot.
    #[inline]
    pub(crate) fn row(&self, slot: Slot) -> Option<&T> {
        self.rows.get(slot.wrapping_sub(self.first) as usize)
    }

    /// Returns the row to which an id currently refers.
    pub(crate) fn get(&self, id: u64) -> Option<&T> {
        self.row(self.slot(id))
    }

    /// Returns the rows to which ids currently refer, in order of definition.
    pub(crate) fn live(&self) -> impl Iterator<Item = &T> {
        let mut slots: Vec<Slot> =
            self.ids.slots().map(|slot| slot.wrapping_sub(self.first)).collect();
        slots.sort_unstable();
        slots.into_iter().filter_map(|index| self.rows.get(index as usize))
    }

    /// Gives `id` a new row. If there is no room for it, removes the older half of the rows until
    /// there is, and returns `true`.
    pub(crate) fn define(&mut self, id: u64, row: T, room: TableRoom) -> bool {
        let bytes = weight(&row);
        let mut is_full = false;
        while !self.rows.is_empty()
            && (self.rows.len() >= room.rows.max(2)
                || self.bytes.saturating_add(bytes) > room.bytes)
        {
            is_full = true;
            // To remove one row at a time would move all rows for each definition.
            let gone = (self.rows.len() / 2).max(1);
            let freed =
                self.rows.drain(..gone).fold(0usize, |sum, row| sum.saturating_add(weight(&row)));
            self.bytes = self.bytes.saturating_sub(freed);
            self.first = self.first.wrapping_add(slots(gone));
        }
        if is_full {
            let (first, count) = (self.first, self.rows.len());
            self.ids.retain(|slot| (slot.wrapping_sub(first) as usize) < count);
        }
        self.append(id, row, bytes);
        is_full
    }

    /// Gives `id` a new row, which uses `bytes` of memory.
    #[inline]
    fn append(&mut self, id: u64, row: T, bytes: usize) {
        let mut slot = self.first.wrapping_add(slots(self.rows.len()));
        if slot == NO_SLOT {
            // After 2^32 rows, skips `NO_SLOT`.
            self.first = self.first.wrapping_add(1);
            self.ids.shift_by_one();
            slot = self.first.wrapping_add(slots(self.rows.len()));
        }
        self.rows.push(row);
        self.bytes = self.bytes.saturating_add(bytes);
        self.ids.insert(id, slot);
    }

    /// Undefines an id. Its row stays for events that refer to its slot.
    pub(crate) fn remove(&mut self, id: u64) -> bool {
        self.ids.remove(id)
    }

    /// Undefines all ids. Their rows stay for events that refer to their slots.
    pub(crate) fn forget_ids(&mut self) {
        self.ids.clear();
    }

    /// Removes all ids and rows. Older slots must not be used any more.
    pub(crate) fn clear(&mut self) {
        self.ids.clear();
        self.rows.clear();
        self.bytes = 0;
        self.first = 0;
    }

    /// Returns whether [`Table::compact`] is worth its cost: at least half of the rows have no id
    /// any more, and there are many rows.
    fn is_sparse(&self) -> bool {
        // Compacting takes a walk over all ids.
        let enough = 1024.max(self.ids.room() / 8);
        self.rows.len() >= enough && self.rows.len() / 2 >= self.ids.len()
    }

    /// Returns the size in bytes of a copy of the table.
    fn weight(&self) -> usize {
        self.bytes.saturating_add(self.ids.room().saturating_mul(size_of::<Slot>()))
    }

    /// Removes rows without an id. Older slots must not be used any more.
    fn compact(&mut self) {
        let mut live = vec![false; self.rows.len()];
        for slot in self.ids.slots() {
            if let Some(flag) = live.get_mut(slot.wrapping_sub(self.first) as usize) {
                *flag = true;
            }
        }
        let mut next: Slot = 0;
        let moved: Vec<Slot> = live
            .iter()
            .map(|is_live| {
                let slot = next;
                next = next.saturating_add(Slot::from(*is_live));
                slot
            })
            .collect();
        let mut flags = live.iter();
        self.rows.retain(|_| flags.next().copied().unwrap_or(false));
        self.bytes = self.rows.iter().fold(0, |sum, row| sum.saturating_add(weight(row)));
        let first = std::mem::take(&mut self.first);
        self.ids.rename(|slot| {
            moved.get(slot.wrapping_sub(first) as usize).copied().unwrap_or(NO_SLOT)
        });
    }
}

/// Maximum size in bytes of a [`ByteTable`], whose positions have 32 bits.
const MAX_BYTES: usize = u32::MAX as usize;

fn span_part(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// Converts a number of rows to a distance between slots, which wrap.
#[expect(
    clippy::cast_possible_truncation,
    reason = "an arena of 2^32 rows would not fit in memory"
)]
fn slots(rows: usize) -> Slot {
    rows as Slot
}

/// Returns the memory in bytes that a row uses, in its arena and elsewhere.
fn weight<T: Weigh>(row: &T) -> usize {
    size_of::<T>().saturating_add(row.bytes_elsewhere())
}

/// Byte strings by id, which are all discarded together: stacks and label lists.
#[derive(Debug, Default)]
pub(crate) struct ByteTable {
    /// Position and length in `bytes` of each string.
    spans: Table<(u32, u32)>,
    bytes: Vec<u8>,
}

impl Clone for ByteTable {
    fn clone(&self) -> ByteTable {
        let mut other = ByteTable::default();
        other.clone_from(self);
        other
    }

    fn clone_from(&mut self, other: &ByteTable) {
        self.spans.ids.clone_from(&other.spans.ids);
        self.spans.rows.clone_from(&other.spans.rows);
        (self.spans.first, self.spans.bytes) = (other.spans.first, other.spans.bytes);
        self.bytes.clone_from(&other.bytes);
    }
}

impl ByteTable {
    #[inline]
    pub(crate) fn slot(&self, id: u32) -> Slot {
        self.spans.slot(u64::from(id))
    }

    #[inline]
    pub(crate) fn row(&self, slot: Slot) -> Option<&[u8]> {
        let (at, length) = *self.spans.row(slot)?;
        self.bytes.get(at as usize..)?.get(..length as usize)
    }

    /// Gives `id` a copy of `row`, which is needed until the next sequence point, unlike the window
    /// with its bytes. If the limit of bytes is reached, removes all other rows, and returns `true`
    /// as the second result.
    pub(crate) fn define(&mut self, id: u32, row: &[u8], limit: usize) -> (Defined, bool) {
        self.define_joined(id, row, &[], limit)
    }

    /// Gives `id` a row that consists of two pieces. See [`ByteTable::define`].
    #[inline]
    pub(crate) fn define_joined(
        &mut self,
        id: u32,
        row: &[u8],
        rest: &[u8],
        limit: usize,
    ) -> (Defined, bool) {
        let length = row.len().saturating_add(rest.len());
        let before = !self.spans.ids.is_next(u64::from(id)) && self.is_defined(id);
        // A row costs its bytes and its entry in the table.
        let held = self.bytes.len().saturating_add(self.spans.rows.len().saturating_mul(16));
        let is_full =
            held.saturating_add(length) > limit.min(MAX_BYTES) && !self.spans.rows.is_empty();
        if is_full {
            // Slots continue, because old ones must not refer to the new contents of `bytes`.
            let next = self.spans.first.wrapping_add(slots(self.spans.rows.len()));
            self.spans.clear();
            self.spans.first = next;
            self.bytes.clear();
        }
        let span = (span_part(self.bytes.len()), span_part(length));
        self.bytes.extend_from_slice(row);
        self.bytes.extend_from_slice(rest);
        self.spans.append(u64::from(id), span, size_of_val(&span));
        (if before { Defined::Again } else { Defined::New }, is_full)
    }

    pub(crate) fn is_defined(&self, id: u32) -> bool {
        self.slot(id) != NO_SLOT
    }

    pub(crate) fn forget_ids(&mut self) {
        self.spans.forget_ids();
    }

    pub(crate) fn clear(&mut self) {
        self.spans.clear();
        self.bytes.clear();
    }

    fn weight(&self) -> usize {
        self.spans.weight().saturating_add(self.bytes.len())
    }
}

/// All tables of a stream.
///
/// Tables that outlive a sequence point are shared with threads that read other regions, for
/// which they stay as they are. They are copied only if they change while shared.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tables {
    pub(crate) metadata: Arc<Table<Metadata>>,
    pub(crate) stacks: ByteTable,
    /// Threads (version 6).
    pub(crate) threads: Arc<Table<Thread>>,
    /// Lists of labels (version 6).
    pub(crate) labels: ByteTable,
    pub(crate) covered: Covered,
}

/// Ranges of ids that are certainly defined, so that most events need no lookup. Id 0, for an
/// event without a stack or labels, counts as defined.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Covered {
    pub(crate) metadata: IdRange,
    pub(crate) stacks: IdRange,
    pub(crate) threads: IdRange,
    pub(crate) labels: IdRange,
    /// Whether [`IdRange::slot`] is valid for types, stacks and threads, and returns [`NO_SLOT`]
    /// for stack 0. It does for real writers, which number stacks from 1.
    pub(crate) has_slots_in_order: bool,
}

impl Covered {
    /// Returns whether all ids of an event are certainly defined. If not, they may still be.
    pub(crate) fn covers(&self, header: &BlobHeader, has_thread_rows: bool) -> bool {
        self.metadata.contains(u64::from(header.metadata_id))
            && (header.stack == 0 || self.stacks.contains(u64::from(header.stack)))
            && (!has_thread_rows
                || self.threads.contains(header.thread)
                    && self.threads.contains(header.capture_thread)
                    && (header.label_list == 0
                        || self.labels.contains(u64::from(header.label_list))))
    }
}

impl Tables {
    /// Updates [`Tables::covered`], after definitions have changed.
    pub(crate) fn update_covered(&mut self) {
        let stacks = self.stacks.spans.ids.gapless().with_zero();
        self.covered = Covered {
            metadata: self.metadata.ids.gapless(),
            stacks,
            threads: self.threads.ids.gapless(),
            labels: self.labels.spans.ids.gapless().with_zero(),
            has_slots_in_order: self.metadata.ids.has_slots_in_order()
                && self.stacks.spans.ids.has_slots_in_order()
                && self.threads.ids.has_slots_in_order()
                && stacks.slot(0) == NO_SLOT,
        };
    }

    /// Clears the tables that a sequence point clears ([FORMAT.md 9.4](crate::format_guide#9.4),
    /// steps 3 and 4). No events may wait for their turn then.
    pub(crate) fn pass_sequence_point(&mut self, forget_threads: bool, forget_metadata: bool) {
        self.stacks.clear();
        self.labels.clear();
        if forget_threads {
            forget(&mut self.threads);
        } else if self.threads.is_sparse() {
            Arc::make_mut(&mut self.threads).compact();
        }
        if forget_metadata {
            forget(&mut self.metadata);
        } else if self.metadata.is_sparse() {
            Arc::make_mut(&mut self.metadata).compact();
        }
    }

    /// Gives these tables to another instance, so that another thread can read the events of this
    /// region. Stacks and labels are moved, not copied, because a sequence point is about to
    /// discard them here.
    pub(crate) fn move_to(&mut self, other: &mut Tables) {
        self.share_with(other);
        std::mem::swap(&mut self.stacks, &mut other.stacks);
        std::mem::swap(&mut self.labels, &mut other.labels);
        self.stacks.clear();
        self.labels.clear();
    }

    /// Copies these tables to another instance, while they are still needed here.
    pub(crate) fn copy_to(&self, other: &mut Tables) {
        self.share_with(other);
        other.stacks.clone_from(&self.stacks);
        other.labels.clone_from(&self.labels);
    }

    /// Returns the number of bytes that [`Tables::copy_to`] copies.
    pub(crate) fn copied_bytes(&self) -> u64 {
        self.stacks.weight().saturating_add(self.labels.weight()) as u64
    }

    /// Returns the address of each shared table, which changes when the table is copied, and the
    /// table's size in bytes.
    pub(crate) fn shared(&self) -> [(usize, u64); 2] {
        [
            (Arc::as_ptr(&self.metadata).addr(), self.metadata.weight() as u64),
            (Arc::as_ptr(&self.threads).addr(), self.threads.weight() as u64),
        ]
    }

    /// Shares event types and threads with another instance, and copies the ranges of ids.
    pub(crate) fn share_with(&self, other: &mut Tables) {
        if !Arc::ptr_eq(&self.metadata, &other.metadata) {
            other.metadata = Arc::clone(&self.metadata);
        }
        if !Arc::ptr_eq(&self.threads, &other.threads) {
            other.threads = Arc::clone(&self.threads);
        }
        other.covered = self.covered;
    }
}

/// Empties a table, or replaces it by an empty one if it is shared.
fn forget<T: Weigh>(table: &mut Arc<Table<T>>) {
    match Arc::get_mut(table) {
        Some(table) => table.clear(),
        None => *table = Arc::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    /// Limits that allow any table.
    const ANY_ROOM: TableRoom = TableRoom { rows: usize::MAX, bytes: usize::MAX };

    impl Weigh for &str {
        fn bytes_elsewhere(&self) -> usize {
            self.len()
        }
    }

    impl Weigh for u64 {
        fn bytes_elsewhere(&self) -> usize {
            0
        }
    }

    fn rows(rows: usize) -> TableRoom {
        TableRoom { rows, ..ANY_ROOM }
    }

    #[test]
    fn a_slot_keeps_its_row_when_its_id_is_given_to_another() {
        let mut table = Table::default();
        table.define(7, "old", rows(100));
        let slot = table.slot(7);
        table.define(7, "new", rows(100));
        assert_eq!((table.row(slot), table.get(7)), (Some(&"old"), Some(&"new")));
    }

    #[test]
    fn a_full_table_gives_up_its_oldest_rows() {
        let mut table = Table::default();
        let mut gave_up = 0;
        for id in 0..1000u64 {
            gave_up += u64::from(table.define(id, id, rows(64)));
        }
        assert!(gave_up > 0 && table.rows.len() <= 64);
        assert_eq!((table.get(0), table.get(999)), (None, Some(&999)));
    }

    #[test]
    fn a_table_whose_rows_weigh_too_much_gives_up_its_oldest_rows() {
        let text = "x".repeat(1000);
        let room = TableRoom { bytes: 10_000, ..ANY_ROOM };
        let mut table = Table::default();
        for id in 0..100u64 {
            table.define(id, text.as_str(), room);
            assert!(table.bytes <= 10_000 && table.get(id).is_some());
        }
        assert!(table.rows.len() < 10 && table.get(0).is_none());
        // A single row above the limit is kept.
        let heavy = "x".repeat(20_000);
        assert!(table.define(100, heavy.as_str(), room));
        assert_eq!((table.rows.len(), table.get(100).is_some()), (1, true));
        assert!(table.define(101, "light", room));
        assert_eq!((table.rows.len(), table.bytes), (1, size_of::<&str>() + 5));
    }

    #[test]
    fn compacting_keeps_what_ids_stand_for() {
        let mut table = Table::default();
        for round in 0..2000u64 {
            table.define(round % 3, round, ANY_ROOM);
        }
        table.compact();
        assert_eq!(table.rows.len(), 3);
        assert_eq!(
            (table.get(0), table.get(1), table.get(2)),
            (Some(&1998), Some(&1999), Some(&1997))
        );
    }

    #[test]
    fn all_ids_are_walked_over_only_for_rows_that_are_worth_it() {
        let mut table = Table::default();
        for id in 0..100_000u64 {
            table.define(id, id, ANY_ROOM);
        }
        for id in 1..100_000 {
            table.remove(id);
        }
        assert!(table.is_sparse());
        table.compact();
        let (mut rounds, mut walks) = (0, 0);
        while walks < 3 {
            for id in 1..1025 {
                table.define(id, id, ANY_ROOM);
                table.remove(id);
            }
            rounds += 1;
            if table.is_sparse() {
                walks += 1;
                table.compact();
            }
        }
        assert!(rounds * 1024 * 8 >= walks * 100_000, "{walks} walks for {rounds} rounds");
        assert_eq!(table.get(0), Some(&0));
    }

    #[test]
    fn bytes_beyond_the_limit_end_the_rows_before_them() {
        let mut table = ByteTable::default();
        assert_eq!(table.define(1, &[1; 50], 100), (Defined::New, false));
        let old = table.slot(1);
        assert_eq!(table.define(2, &[2; 50], 100), (Defined::New, true));
        assert_eq!((table.row(old), table.row(table.slot(2))), (None, Some(&[2; 50][..])));
    }
}
