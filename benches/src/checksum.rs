//! Checksums of passes over events.

use crate::floor::Header;
use nettrace_parser::{Event, Guid};

/// Checksum of events. It does not depend on their order, so passes over blocks in any order agree.
/// It consists of several sums, so that an addition need not wait for the previous one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Checksum {
    /// Number of events.
    pub events: u64,
    sums: [u64; 4],
}

impl Checksum {
    /// Creates the checksum of a pass that writes events. It consists of the numbers of lines and
    /// bytes written.
    pub fn of_output(lines: u64, bytes: u64) -> Checksum {
        Checksum { events: lines, sums: [bytes, 0, 0, 0] }
    }

    /// Adds every field of an event's header, and the length of the payload.
    #[inline(always)]
    pub fn fold_header(&mut self, event: &Event<'_>) {
        self.events += 1;
        self.add(0, event.timestamp_ticks() ^ u64::from(event.metadata_id()));
        self.add(1, event.raw_thread() ^ u64::from(event.sequence_number()));
        self.add(2, event.capture_thread() ^ u64::from(event.payload_size()));
        let processor = event.processor().unwrap_or(u32::MAX);
        let place = u64::from(processor ^ event.stack_id() ^ event.label_list_id());
        self.add(3, place.wrapping_add(u64::from(event.is_sorted())));
        if let Some(id) = event.activity_id() {
            self.fold_guid(0, id);
        }
        if let Some(id) = event.related_activity_id() {
            self.fold_guid(2, id);
        }
    }

    #[inline(always)]
    fn fold_guid(&mut self, at: usize, id: Guid) {
        let id = u128::from_le_bytes(id.to_bytes());
        self.add(at, id as u64);
        self.add(at + 1, (id >> 64) as u64);
    }

    /// Adds a header whose fields are as stored. It uses the fewest instructions that still notice
    /// a change of any field.
    #[inline(always)]
    pub fn fold_stored(&mut self, header: &Header) {
        self.events += 1;
        self.add(0, header.timestamp ^ u64::from(header.metadata_id));
        self.add(1, header.thread ^ u64::from(header.sequence));
        self.add(2, header.capture_thread ^ u64::from(header.payload_size));
        let place = u64::from(header.processor ^ header.stack ^ header.label_list);
        self.add(3, place.wrapping_add(u64::from(header.is_sorted)));
        self.add(0, header.activity as u64);
        self.add(1, (header.activity >> 64) as u64);
        self.add(2, header.related as u64);
        self.add(3, (header.related >> 64) as u64);
    }

    /// Adds a number.
    #[inline(always)]
    pub fn fold_number(&mut self, number: u64) {
        self.add(3, number);
    }

    /// Returns the sum to which [`Checksum::fold_number`] adds.
    #[inline(always)]
    pub(crate) fn numbers(&self) -> u64 {
        self.sums[3]
    }

    #[inline(always)]
    fn add(&mut self, at: usize, number: u64) {
        self.sums[at] = self.sums[at].wrapping_add(number);
    }

    /// Adds the checksum of another part of the pass.
    pub fn join(self, other: Checksum) -> Checksum {
        let mut joined = self;
        joined.events += other.events;
        for (at, sum) in other.sums.into_iter().enumerate() {
            joined.add(at, sum);
        }
        joined
    }

    /// Returns the checksum in 64 bits.
    pub fn value(&self) -> u64 {
        let mix = |value: u64, sum: &u64| {
            (value ^ sum).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
        };
        self.sums.iter().fold(self.events, mix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_of_a_header_changes_the_checksum_and_the_order_does_not() {
        let one = Header { metadata_id: 1, sequence: 5, timestamp: 77, ..Header::default() };
        let changes: [fn(&mut Header); 12] = [
            |header| header.metadata_id += 1,
            |header| header.sequence += 1,
            |header| header.thread += 1,
            |header| header.capture_thread += 1,
            |header| header.processor += 1,
            |header| header.stack += 1,
            |header| header.timestamp += 1,
            |header| header.activity += 1,
            |header| header.related += 1 << 70,
            |header| header.label_list += 1,
            |header| header.payload_size += 1,
            |header| header.is_sorted = true,
        ];
        let sum_of = |headers: &[Header]| {
            let mut sum = Checksum::default();
            headers.iter().for_each(|header| sum.fold_stored(header));
            sum.value()
        };
        for (at, change) in changes.iter().enumerate() {
            let mut other = one;
            change(&mut other);
            assert_ne!(sum_of(&[one]), sum_of(&[other]), "change {at}");
            assert_eq!(sum_of(&[one, other]), sum_of(&[other, one]));
        }
    }
}
