//! An event that waits for its turn.

use crate::blob::BlobHeader;
use crate::context::{Context, Resolved};
use crate::tables::{NO_SLOT, Slot};
use nettrace_guid::Guid;

/// An event that waits: its header, its references and its place. One cache line, and not parts of two.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct Mark {
    pub(super) timestamp: u64,
    pub(super) thread: u64,
    pub(super) capture_thread: u64,
    /// Stream position of the payload.
    pub(super) payload_at: u64,
    pub(super) payload_size: u32,
    pub(super) metadata: Slot,
    /// Slot of the stack; version 3: its size.
    pub(super) stack: u32,
    /// Activity pair (versions 3 to 5), or slot of the labels (version 6).
    pub(super) extra: u32,
    /// Slot of the thread row in version 6; before it the metadata id, which an undefined type has
    /// nothing else to tell by.
    pub(super) thread_row_or_id: u32,
    pub(super) sequence: u32,
    pub(super) processor: u32,
    pub(super) header_size: u8,
    pub(super) is_sorted: bool,
}

impl Mark {
    pub(super) const NOTHING: Mark = Mark {
        timestamp: 0,
        thread: 0,
        capture_thread: 0,
        payload_at: 0,
        payload_size: 0,
        metadata: NO_SLOT,
        stack: NO_SLOT,
        extra: NO_SLOT,
        thread_row_or_id: NO_SLOT,
        sequence: 0,
        processor: 0,
        header_size: 0,
        is_sorted: false,
    };

    /// Writes the event's header, and gives its references.
    #[inline(always)]
    pub(super) fn recall(
        &self,
        header: &mut BlobHeader,
        context: &Context,
        is_v6: bool,
        activities: &[[Guid; 2]],
    ) -> Resolved {
        let (metadata_id, thread_row) = if is_v6 {
            (context.tables.metadata.row(self.metadata).map_or(0, |row| row.id), self.thread_row_or_id)
        } else {
            (self.thread_row_or_id, NO_SLOT)
        };
        let labels = if is_v6 { self.extra } else { NO_SLOT };
        (header.activity, header.related_activity) = (Guid::ZERO, Guid::ZERO);
        if !is_v6 && self.extra != NO_SLOT {
            let pair = activities.get(self.extra as usize).copied().unwrap_or_default();
            [header.activity, header.related_activity] = pair;
        }
        header.metadata_id = metadata_id;
        header.sequence = self.sequence;
        header.thread = self.thread;
        header.capture_thread = self.capture_thread;
        header.processor = self.processor;
        header.timestamp = self.timestamp;
        header.payload_size = self.payload_size;
        header.header_size = u32::from(self.header_size);
        header.is_sorted = self.is_sorted;
        let stack = if context.is_v3() {
            header.stack_size = self.stack;
            NO_SLOT
        } else {
            self.stack
        };
        Resolved { metadata: self.metadata, stack, thread: thread_row, labels }
    }
}

/// The size of a header that was read without a fault: at most 88.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "a header's size is below 128")]
pub(super) fn short(header_size: u32) -> u8 {
    header_size as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_one_cache_line() {
        assert_eq!(size_of::<Mark>(), 64);
    }
}
