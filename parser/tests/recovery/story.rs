//! A stream of many blocks, and a model of the events and losses that remain if blocks are damaged.

use crate::snapshot::Outcome;
use crate::splitmix::Random;
use nettrace_testdata::synth::{
    Blob, BlobLayout, Definition, EventBlock, Field, FieldType, MetadataBlock, MetadataRow, Part,
    SequencePoint, StackBlock, Stream, ThreadBlock, ThreadRow, Trace, Value, Version, payload,
};
use std::collections::BTreeMap;
use std::ops::Range;

const START: u64 = 1_000_000;
const THREADS: [u64; 3] = [7, 9, 70_000];

impl Random {
    /// Draws bytes that a reader cannot take for the beginning of an object or for the end of the
    /// stream.
    pub(crate) fn noise(&mut self, count: usize) -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..count).map(|_| self.next() as u8).collect();
        if let Some(first) = bytes.first_mut() {
            *first |= 0x80;
        }
        bytes
    }
}

/// Content of an object of the stream.
#[derive(Clone, Debug)]
pub(crate) enum Says {
    Nothing,
    /// Thread and sequence number of each event.
    Events(Vec<(u64, u32)>),
    /// Last sequence number of each thread.
    Point(Vec<(u64, u32)>),
}

/// A stream of many blocks, and the content of each part.
pub(crate) struct Story {
    pub(crate) stream: Stream,
    pub(crate) says: Vec<Says>,
}

impl Story {
    /// Writes a stream of 40 blocks, in which some events were dropped.
    pub(crate) fn new(version: Version, random: &mut Random) -> Story {
        let mut stream = Stream::new(version);
        stream.trace(&Trace::default());
        let definition = Definition {
            metadata_id: 1,
            provider: "Demo".into(),
            event_id: 7,
            fields: vec![Field::new("n", FieldType::Int32)],
            ..Definition::default()
        };
        if version == Version::V6 {
            let row =
                MetadataRow { metadata_id: 1, fields: definition.fields, ..MetadataRow::default() };
            stream.metadata_rows(&MetadataBlock::new(vec![row]));
            let threads = THREADS.map(|thread| ThreadRow::new(thread, 1, thread));
            stream.thread_block(&ThreadBlock::new(threads.to_vec()));
        } else {
            let blob = Blob::definition(7, START, definition.encode());
            stream.metadata_blobs(&EventBlock::new([blob]));
        }
        let mut story = Story { says: vec![Says::Nothing; stream.parts.len()], stream };
        let mut last: BTreeMap<u64, u32> = THREADS.map(|thread| (thread, 0)).into();
        let mut ticks = START;
        for _ in 0..40 {
            let says = match random.below(8) {
                0 => {
                    let listed: Vec<_> =
                        last.iter().map(|(thread, number)| (*thread, *number)).collect();
                    let threads = listed.clone();
                    story.stream.sequence_point(&SequencePoint {
                        ticks,
                        threads,
                        ..SequencePoint::default()
                    });
                    Says::Point(listed)
                }
                1 => {
                    let stacks = [[1u64, 2], [3, random.next()]];
                    story.stream.stack_block(&StackBlock::new(1, 8, &stacks));
                    Says::Nothing
                }
                _ => Says::Events(story.events(random, &mut last, &mut ticks)),
            };
            story.says.push(says);
        }
        story.stream.end();
        story
    }

    pub(crate) fn events(
        &mut self,
        random: &mut Random,
        last: &mut BTreeMap<u64, u32>,
        ticks: &mut u64,
    ) -> Vec<(u64, u32)> {
        let mut numbers = Vec::new();
        let mut blobs = Vec::new();
        for _ in 0..=random.below(12) {
            let thread = THREADS[random.below(3)];
            let number = last.entry(thread).or_default();
            *number += if random.below(10) == 0 { 1 + random.below(5) as u32 } else { 1 };
            *ticks += random.below(50) as u64;
            numbers.push((thread, *number));
            blobs.push(Blob {
                metadata_id: 1,
                sequence_number: *number,
                thread_id: thread,
                capture_thread_id: thread,
                ticks: *ticks,
                payload: payload(&[Value::U32(*number)]),
                ..Blob::default()
            });
        }
        let layout =
            if random.below(2) == 0 { BlobLayout::Compressed } else { BlobLayout::Uncompressed };
        self.stream.event_block(&EventBlock::new(blobs).layout(layout));
        numbers
    }

    /// Returns the objects that may be damaged: those after the first definitions, without the end
    /// mark.
    pub(crate) fn objects(&self) -> Range<usize> {
        self.says.iter().position(|says| !matches!(says, Says::Nothing)).unwrap_or(3)
            ..self.says.len()
    }

    pub(crate) fn part(&self, at: usize) -> &Part {
        &self.stream.parts[at]
    }

    /// Returns the events and losses that remain without some of the objects.
    pub(crate) fn told(&self, is_gone: impl Fn(usize) -> bool) -> Told {
        let mut told = Told::default();
        let mut last = BTreeMap::new();
        let left = self.says.iter().enumerate().filter(|(at, _)| !is_gone(*at));
        for (_, says) in left {
            let numbers = match says {
                Says::Nothing => continue,
                Says::Events(numbers) => {
                    told.numbers.extend(numbers);
                    numbers
                }
                Says::Point(numbers) => numbers,
            };
            for (thread, number) in numbers {
                let last = last.entry(*thread).or_insert(0);
                *last = (*last).max(*number);
            }
        }
        // Each sequence number without an event is lost once.
        let witnessed: u64 = last.values().map(|number| u64::from(*number)).sum();
        told.lost = witnessed.saturating_sub(told.numbers.len() as u64);
        told
    }
}

#[derive(Debug, Default, PartialEq)]
pub(crate) struct Told {
    pub(crate) numbers: Vec<(u64, u32)>,
    pub(crate) lost: u64,
}

pub(crate) fn told_by(outcome: &Outcome) -> Told {
    let numbers = outcome.events.iter().map(|event| (event.capture_thread, event.number)).collect();
    Told { numbers, lost: outcome.lost }
}

/// Writes a stream of version 3, which has no sequence numbers, and only blocks of events.
pub(crate) fn v3_story(random: &mut Random) -> Story {
    let mut stream = Stream::new(Version::V3);
    stream.trace(&Trace::default());
    let definition =
        Definition { metadata_id: 1, provider: "Demo".into(), ..Definition::default() };
    stream.metadata_blobs(&EventBlock::new([Blob::definition(7, START, definition.encode())]));
    let mut story = Story { says: vec![Says::Nothing; stream.parts.len()], stream };
    for block in 0..20u64 {
        let threads: Vec<u64> =
            (0..=random.below(5) as u64).map(|index| 1000 * block + index + 1).collect();
        story.stream.event_block(&EventBlock::new(threads.iter().map(|thread| Blob {
            metadata_id: 1,
            thread_id: *thread,
            ticks: START + block,
            payload: vec![1; 1 + random.below(9)],
            ..Blob::default()
        })));
        story.says.push(Says::Events(threads.into_iter().map(|thread| (thread, 0)).collect()));
    }
    story.stream.end();
    story
}
