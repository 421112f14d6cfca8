//! What a pass saw, in one number.

use nettrace_parser::{Event, Guid};

/// Events folded together. Independent of their order, so that passes over blocks in any order
/// agree; several sums side by side, so that they do not wait for each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Checksum {
    /// Events folded in.
    pub events: u64,
    sums: [u64; 4],
}

impl Checksum {
    /// Folds every field of an event's header, and the payload's length.
    #[inline(always)]
    pub fn header(&mut self, event: &Event<'_>) {
        self.events += 1;
        let ids = u64::from(event.metadata_id()) | u64::from(event.sequence_number()) << 32;
        let sizes = event.payload().len() as u64 | u64::from(event.processor().unwrap_or(u32::MAX)) << 32;
        let sorted = u64::from(event.is_sorted()) << 63;
        self.add(0, event.timestamp_ticks() ^ ids);
        self.add(1, event.thread_id().unwrap_or(u64::MAX) ^ event.capture_thread().rotate_left(32));
        self.add(2, sizes ^ sorted);
        self.add(3, event.stack().bytes().len() as u64);
        if let Some(id) = event.activity_id() {
            self.guid(id);
        }
        if let Some(id) = event.related_activity_id() {
            self.guid(id);
        }
    }

    /// Folds a number in.
    #[inline(always)]
    pub fn number(&mut self, number: u64) {
        self.add(3, number);
    }

    #[inline(always)]
    fn guid(&mut self, id: Guid) {
        let bits = u128::from_le_bytes(id.to_bytes());
        self.add(3, bits as u64 ^ (bits >> 64) as u64);
    }

    #[inline(always)]
    fn add(&mut self, at: usize, number: u64) {
        self.sums[at] = self.sums[at].wrapping_add(number);
    }

    /// Joins two parts of a pass.
    pub fn join(self, other: Checksum) -> Checksum {
        let mut joined = self;
        joined.events += other.events;
        for (at, sum) in other.sums.into_iter().enumerate() {
            joined.add(at, sum);
        }
        joined
    }

    /// All of it in 64 bits.
    pub fn value(&self) -> u64 {
        let mix = |value: u64, sum: &u64| (value ^ sum).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        self.sums.iter().fold(self.events, mix)
    }
}
