//! `uniform`: one thread and one header shape, which a branch predictor learns at once.

use super::session::{EventType, Events, START_TICKS};
use crate::random::Random;
use nettrace_testdata::synth::{Blob, Field, FieldType, flag};

const THREAD: u64 = 40_000;

/// Size of the payload of each event type, in bytes. The mean is 14.8.
const SIZES: [usize; 5] = [12, 16, 16, 14, 16];

/// Source of the events of `uniform`.
#[derive(Debug)]
pub struct Uniform {
    random: Random,
    ticks: u64,
}

impl Uniform {
    /// Creates a source. All sources give equal events.
    pub fn new() -> Uniform {
        Uniform { random: Random::new(1), ticks: START_TICKS }
    }
}

impl Default for Uniform {
    fn default() -> Self {
        Uniform::new()
    }
}

impl Events for Uniform {
    fn types(&self) -> Vec<EventType> {
        let fields = |size| match size {
            12 => vec![FieldType::Int64, FieldType::Int32],
            14 => vec![FieldType::Int64, FieldType::Int32, FieldType::Int16],
            _ => vec![FieldType::Int64, FieldType::Int64],
        };
        let named = |(name, kind): (&str, FieldType)| Field::new(name, kind);
        let kind = |(id, size): (u32, usize)| EventType {
            provider: "Demo-Uniform",
            id,
            version: 0,
            name: format!("Event{id}"),
            fields: ["a", "b", "c"].into_iter().zip(fields(size)).map(named).collect(),
        };
        (1u32..).zip(SIZES).map(kind).collect()
    }

    fn capture_threads(&self) -> Vec<u64> {
        vec![THREAD]
    }

    fn is_region_end(&self, events: u64) -> bool {
        events >= 100_000
    }

    fn stacks(&mut self) -> Vec<Vec<u64>> {
        Vec::new()
    }

    fn next(&mut self, blob: &mut Blob) {
        let kind = self.random.below(SIZES.len() as u64) as usize;
        blob.metadata_id = kind as u32 + 1;
        blob.thread_id = THREAD;
        blob.capture_thread_id = THREAD;
        self.ticks += self.random.between(1, 127);
        blob.ticks = self.ticks;
        blob.payload.clear();
        while blob.payload.len() < SIZES[kind] {
            blob.payload.extend(self.random.bits().to_le_bytes());
        }
        blob.payload.truncate(SIZES[kind]);
    }

    fn flags(&self, needed: u8) -> u8 {
        needed | flag::METADATA_ID | flag::PAYLOAD_SIZE
    }
}
