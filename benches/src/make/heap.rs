//! `heap`: a dump of the managed heap with three references for each object.
//!
//! The objects form a tree in the order of their allocation, so that most references lead to
//! objects nearby. Of the references that are not part of the tree, a tenth lead to random objects,
//! or all of them (`heap-far`). There are 2,000 types and 68.4 bytes for each object, so 1.368 GB
//! are 20 million objects and 60 million references.

use super::session::{EventType, Events, START_TICKS};
use crate::random::Random;
use nettrace_testdata::synth::{Blob, Sink};
use std::collections::VecDeque;

const PROVIDER: &str = "Microsoft-Windows-DotNETRuntime";
const THREAD: u64 = 40_000;
const TYPES: u64 = 2_000;
/// Number of types that an event describes.
const TYPES_EACH: u64 = 500;
const FIRST: u64 = 0x7f00_0000_0000;
/// Distance between the addresses of adjacent objects, in bytes.
const STRIDE: u64 = 64;
/// Number of objects that an event describes, as in events of runtimes.
const OBJECTS: u64 = 2_008;
const REFERENCES: usize = 5_354;
/// Id and version of each event type, in the order of metadata ids.
const KINDS: [(u32, u32); 7] = [(1, 2), (2, 1), (3, 1), (15, 0), (16, 0), (18, 0), (19, 0)];

/// Source of the events of `heap`.
#[derive(Debug)]
pub struct Heap {
    random: Random,
    ticks: u64,
    objects: u64,
    /// Percentage of random references among those that are not part of the tree.
    far: u64,
    written: u64,
    /// Sizes of the subtrees that are still to be written.
    subtrees: Vec<u64>,
    references: VecDeque<u64>,
    object_blocks: u32,
    reference_blocks: u32,
    /// Number of events that were written before those about objects.
    begun: u64,
    ended: u8,
}

impl Heap {
    /// Creates the source of a dump that has at most `bytes` bytes. Other events after the dump
    /// fill up the rest. Equal arguments give equal events.
    pub fn new(bytes: u64, far: u64) -> Heap {
        let objects = (bytes * 10 / 684).max(1);
        Heap {
            random: Random::new(7),
            ticks: START_TICKS,
            objects,
            far,
            written: 0,
            subtrees: vec![objects],
            references: VecDeque::new(),
            object_blocks: 0,
            reference_blocks: 0,
            begun: 0,
            ended: 0,
        }
    }

    fn address(object: u64) -> u64 {
        FIRST + STRIDE * object
    }

    /// Writes an object, with its references to its children and to other objects.
    fn object(&mut self, sink: &mut Sink) {
        let at = self.written;
        self.written += 1;
        let below = self.subtrees.pop().unwrap_or(1) - 1;
        let (left, right) = (below.div_ceil(2), below / 2);
        let mut targets = 0;
        if right > 0 {
            self.subtrees.push(right);
        }
        if left > 0 {
            self.subtrees.push(left);
            self.references.push_back(Heap::address(at + 1));
            targets += 1;
        }
        if right > 0 {
            self.references.push_back(Heap::address(at + 1 + left));
            targets += 1;
        }
        for _ in targets..3 {
            let other = if self.random.chance(self.far) {
                self.random.below(self.objects)
            } else {
                (at + self.random.below(4_000)).saturating_sub(2_000).min(self.objects - 1)
            };
            self.references.push_back(Heap::address(other));
        }
        let kind = self.random.below(TYPES);
        sink.u64(Heap::address(at))
            .u64(24 + 8 * self.random.below(6))
            .u64(0x7e00_0000 + 8 * kind)
            .u64(3);
    }

    fn types(sink: &mut Sink, first: u64) {
        sink.u32(TYPES_EACH as u32).u16(0);
        for kind in first..first + TYPES_EACH {
            sink.u64(0x7e00_0000 + 8 * kind).u64(1).u32(0x0200_0001 + kind as u32).u32(0).u8(18);
            sink.utf16z(&format!("Contoso.Orders.Type{kind}")).u32(0);
        }
    }

    /// Writes the next payload. Returns the index of its event type in [`KINDS`].
    fn payload(&mut self, sink: &mut Sink) -> u32 {
        if self.begun == 0 {
            self.begun = 1;
            sink.u32(1).u32(2).u32(1).u32(0).u16(0).u64(0);
            return 1;
        }
        if self.begun <= TYPES / TYPES_EACH {
            Heap::types(sink, (self.begun - 1) * TYPES_EACH);
            self.begun += 1;
            return 15;
        }
        let is_last = self.written == self.objects;
        if self.references.len() >= REFERENCES || (is_last && !self.references.is_empty()) {
            let count = self.references.len().min(REFERENCES);
            sink.u32(self.reference_blocks).u32(count as u32).u16(0);
            self.reference_blocks += 1;
            for target in self.references.drain(..count) {
                sink.u64(target).u32(0);
            }
            return 19;
        }
        if !is_last {
            let count = OBJECTS.min(self.objects - self.written);
            sink.u32(self.object_blocks).u32(count as u32).u16(0);
            self.object_blocks += 1;
            for _ in 0..count {
                self.object(sink);
            }
            return 18;
        }
        self.ended = self.ended.saturating_add(1);
        match self.ended {
            1 => {
                sink.u32(0).u32(1).u16(0).u64(FIRST).u8(0).u32(0).u64(1);
                16
            }
            2 => {
                sink.u32(1).u32(2).u16(0);
                2
            }
            _ => {
                sink.u16(0);
                3
            }
        }
    }
}

impl Events for Heap {
    fn types(&self) -> Vec<EventType> {
        KINDS.map(|(id, version)| EventType::native(PROVIDER, id, version)).to_vec()
    }

    fn capture_threads(&self) -> Vec<u64> {
        vec![THREAD]
    }

    fn is_region_end(&self, events: u64) -> bool {
        events >= 10_000
    }

    fn stacks(&mut self) -> Vec<Vec<u64>> {
        vec![Vec::new()]
    }

    fn next(&mut self, blob: &mut Blob) {
        let mut sink = Sink::new();
        let id = self.payload(&mut sink);
        let place = KINDS.iter().position(|(known, _)| *known == id).unwrap_or(0);
        blob.metadata_id = place as u32 + 1;
        blob.thread_id = THREAD;
        blob.capture_thread_id = THREAD;
        blob.stack_id = 1;
        self.ticks += self.random.between(90, 2_000);
        blob.ticks = self.ticks;
        blob.payload = sink.into_vec();
    }
}
