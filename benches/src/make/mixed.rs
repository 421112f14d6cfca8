//! `mixed`: sixteen threads, 32 types, and header shapes that cannot be predicted. `v6` and `v6c`
//! have the same events in version 6.
//!
//! The runs of all threads in a batch, about 128 events each, cover the same span of time, because
//! a runtime flushes one thread's buffer after the other. In version 6 events are in time order, as
//! one-collect writes them.

use super::rows::Layout;
use super::session::{EventType, Events, START_TICKS};
use crate::random::Random;
use nettrace_testdata::synth::{Blob, Field, FieldType, NO_PROCESSOR, Version};

const THREADS: u64 = 16;
const TYPES: u32 = 32;
const STACKS: u64 = 256;

/// Source of the events of `mixed`.
#[derive(Debug)]
pub struct Mixed {
    version: Version,
    layout: Layout,
    random: Random,
    kind: u32,
    stack: u32,
    thread: u64,
    /// Number of events that are left in the current thread's run.
    left: u64,
    ticks: u64,
    /// Tick at which the current batch of runs began.
    batch: u64,
    newest: u64,
}

impl Mixed {
    fn new(version: Version, layout: Layout) -> Mixed {
        Mixed {
            version,
            layout,
            random: Random::new(2),
            kind: 1,
            stack: 1,
            thread: THREADS - 1,
            left: 0,
            ticks: START_TICKS,
            batch: START_TICKS,
            newest: START_TICKS,
        }
    }

    /// Creates the source of events of version 4.
    pub fn v4() -> Mixed {
        Mixed::new(Version::V4, Layout::Compressed)
    }

    /// Creates the source of events of version 6.
    pub fn v6(layout: Layout) -> Mixed {
        Mixed::new(Version::V6, layout)
    }

    fn thread_id(&self, thread: u64) -> u64 {
        match self.version {
            Version::V6 => thread + 1,
            _ => 40_000 + 3 * thread,
        }
    }

    /// Begins the run of the next thread. Returns whether it is the first run of its batch.
    fn begin_run(&mut self) -> bool {
        self.left = self.random.between(64, 192);
        self.thread = (self.thread + 1) % THREADS;
        if self.version == Version::V6 {
            return false;
        }
        let is_first = self.thread == 0;
        if is_first {
            self.batch = self.newest + 1;
        }
        self.ticks = self.batch;
        is_first
    }

    fn fields(kind: u32) -> Vec<FieldType> {
        use FieldType::{Double, Int32, Int64, Text, UInt16, UInt32};
        match kind % 8 {
            0 => vec![Int32, Int32],
            1 => vec![Int64],
            2 => vec![Int32, Int64],
            3 => vec![Int64, Int64],
            4 => vec![Int32, Text],
            5 => vec![Int32, UInt32, Int64],
            6 => vec![Double, Int32],
            _ => vec![UInt16, Int64, UInt32],
        }
    }

    fn payload(&mut self, payload: &mut Vec<u8>) {
        payload.clear();
        for field in Self::fields(self.kind) {
            let bits = self.random.bits();
            match field {
                FieldType::UInt16 => payload.extend((bits as u16).to_le_bytes()),
                FieldType::Int32 | FieldType::UInt32 => {
                    payload.extend((bits as u32 >> 8).to_le_bytes())
                }
                FieldType::Double => payload.extend(((bits % 100_000) as f64 / 16.0).to_le_bytes()),
                FieldType::Text => {
                    for letter in 0..2 + bits % 5 {
                        let unit = b'a' as u16 + (bits >> (8 * letter + 4)) as u16 % 26;
                        payload.extend(unit.to_le_bytes());
                    }
                    payload.extend([0, 0]);
                }
                _ => payload.extend((bits >> 24).to_le_bytes()),
            }
        }
    }
}

impl Events for Mixed {
    fn version(&self) -> Version {
        self.version
    }

    fn layout(&self) -> Layout {
        self.layout
    }

    fn types(&self) -> Vec<EventType> {
        let named = |(name, kind): (&str, FieldType)| Field::new(name, kind);
        let kind = |id| EventType {
            provider: "Demo-Mixed",
            id,
            version: 0,
            name: format!("Event{id}"),
            fields: ["count", "value", "total"]
                .into_iter()
                .zip(Self::fields(id))
                .map(named)
                .collect(),
        };
        (1..=TYPES).map(kind).collect()
    }

    fn capture_threads(&self) -> Vec<u64> {
        match (self.version, self.layout) {
            // one-collect has one capture thread for all events.
            (Version::V6, Layout::Compressed) => vec![0],
            _ => (0..THREADS).map(|thread| self.thread_id(thread)).collect(),
        }
    }

    fn threads(&self) -> Vec<u64> {
        (0..=THREADS).collect()
    }

    fn is_region_end(&self, events: u64) -> bool {
        events >= 30_000 && self.left == 0 && self.thread == THREADS - 1
    }

    fn stacks(&mut self) -> Vec<Vec<u64>> {
        let stack = |_| {
            let frames = self.random.between(4, 26);
            (0..frames).map(|_| 0x7f00_0000_0000 + self.random.below(1 << 28)).collect()
        };
        (0..STACKS).map(stack).collect()
    }

    fn next(&mut self, blob: &mut Blob) {
        let mut is_sorted = self.version == Version::V6;
        if self.left == 0 {
            is_sorted |= self.begin_run();
        }
        self.left -= 1;
        if self.random.chance(50) {
            self.kind = self.random.between(1, u64::from(TYPES)) as u32;
        }
        if self.random.chance(55) {
            self.stack = self.random.between(1, STACKS) as u32;
        }
        // The first event of a batch is its oldest.
        if !is_sorted || self.version == Version::V6 {
            self.ticks += match self.random.below(100) {
                0..50 => self.random.between(1, 127),
                50..94 => self.random.between(128, 4_000),
                _ => self.random.between(16_384, 40_000),
            };
        }
        self.newest = self.newest.max(self.ticks);
        blob.metadata_id = self.kind;
        blob.stack_id = self.stack;
        blob.thread_id = self.thread_id(self.thread);
        blob.capture_thread_id = blob.thread_id;
        blob.processor = NO_PROCESSOR;
        if self.version == Version::V6 {
            blob.processor = (self.thread % 4) as u32;
            if self.layout == Layout::Compressed {
                blob.capture_thread_id = 0;
            }
        }
        blob.ticks = self.ticks;
        blob.is_sorted = is_sorted;
        self.payload(&mut blob.payload);
    }

    fn flags(&self, needed: u8) -> u8 {
        // one-collect sets all flags that have a meaning in version 6.
        if self.version == Version::V6 { 0xdf } else { needed }
    }
}
