//! `stacks`, `methods`, `threads`, `threads-v6`, `types`, `providers`: traces with very many
//! different stacks, methods, and so on, because readers keep one entry for each. The size of such
//! a trace is its number of entries: `make-trace stacks 1000000`.
//!
//! | name | for each thing | besides |
//! |---|---|---|
//! | `stacks` | a sample, with a stack of 24 frames that no other sample has | 10,000 methods |
//! | `methods` | a description in a rundown, 256 bytes | a sample of every hundredth |
//! | `threads` | two samples; it begins and ends with them | 1,000 stacks of 24 frames, 10,000 methods |
//! | `threads-v6` | two samples, in version 6; each is defined by a row, and none is removed | 1,000 stacks of 24 frames, 10,000 methods |
//! | `types` | an allocation sample with the type's name, of 30 letters or so | 1,000 stacks, 10,000 methods |
//! | `providers` | a definition and an event without a payload | 1,000 stacks |

use super::Written;
use super::rows::{Layout, Rows};
use super::session::{self, EventType, START_TICKS};
use super::stream::Writer;
use crate::random::Random;
use nettrace_testdata::synth::{
    Blob, Definition, EventBlock, PartKind, SequencePoint, Sink, StackBlock, ThreadBlock,
    ThreadRow, Trace, Version,
};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::RangeInclusive;

const RUNTIME: &str = "Microsoft-Windows-DotNETRuntime";
const RUNDOWN: &str = "Microsoft-Windows-DotNETRuntimeRundown";
const SAMPLES: &str = "Microsoft-DotNETCore-SampleProfiler";

/// Metadata id of CPU samples.
const SAMPLE: u32 = 1;
const METHOD: u32 = 2;
const ALLOCATION: u32 = 3;
/// Metadata id of the first event type in [`Scale::Providers`].
const PROVIDED: u32 = 4;

/// Thread that writes the rundown, and no other events.
const RUNDOWN_THREAD: u64 = 1 << 32;

const CODE: u64 = 0x7f12_0000_0000;
const CODE_BYTES: u64 = 256;
/// Number of methods that occur in the stacks.
const METHODS: u64 = 10_000;
const FRAMES: usize = 24;
/// Number of outermost frames that all stacks share.
const COMMON: usize = 4;
/// Number of stacks, except in [`Scale::Stacks`].
const STACKS: u64 = 1_000;
/// Number of events between two sequence points, which make readers forget the stacks.
const EVENTS_A_REGION: u64 = 10_000;

/// The kind of thing of which a trace has very many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Different stacks.
    Stacks,
    /// Methods.
    Methods,
    /// Threads.
    Threads,
    /// Threads in a stream of version 6.
    ThreadsV6,
    /// Types of allocated objects.
    Types,
    /// Providers, each with one event type.
    Providers,
}

impl Scale {
    /// All kinds, with their names on the command line.
    pub const ALL: [(Scale, &'static str); 6] = [
        (Scale::Stacks, "stacks"),
        (Scale::Methods, "methods"),
        (Scale::Threads, "threads"),
        (Scale::ThreadsV6, "threads-v6"),
        (Scale::Types, "types"),
        (Scale::Providers, "providers"),
    ];

    /// Returns the kind with that name.
    pub fn of_name(name: &str) -> Option<Scale> {
        Scale::ALL.into_iter().find(|(_, known)| *known == name).map(|(scale, _)| scale)
    }

    /// Writes a trace that has `count` things of this kind.
    pub fn write(self, out: impl Write, count: u64) -> io::Result<Written> {
        let is_v6 = self == Scale::ThreadsV6;
        let mut session = Session::begin(out, if is_v6 { Version::V6 } else { Version::V4 })?;
        let methods = if self == Scale::Methods { count } else { METHODS };
        let samples = match self {
            Scale::Methods => (count / 100).max(1),
            Scale::Threads | Scale::ThreadsV6 => 2 * count,
            Scale::Stacks | Scale::Types | Scale::Providers => count,
        };
        let mut written = 0;
        while written < samples {
            let here = EVENTS_A_REGION.min(samples - written);
            let stacks = if self == Scale::Stacks { here } else { STACKS.min(here) };
            session.write_stacks(stacks, methods)?;
            if self == Scale::Providers {
                session.write_providers(written, here)?;
            }
            let has_threads = matches!(self, Scale::Threads | Scale::ThreadsV6);
            if is_v6 {
                session.write_threads((written / 2 + 1)..=(written + here) / 2)?;
            }
            for number in written..written + here {
                let stack_id = (number % stacks) as u32 + 1;
                let thread = 1 + if has_threads { number / 2 } else { number % 8 };
                match self {
                    Scale::Types => session.write_allocation(thread, stack_id, number)?,
                    Scale::Providers => {
                        session.write_event(
                            PROVIDED + number as u32,
                            thread,
                            stack_id,
                            Vec::new(),
                        )?;
                    }
                    _ => session.write_sample(thread, stack_id)?,
                }
            }
            session.end_region()?;
            if has_threads {
                session.numbers.clear();
            }
            written += here;
        }
        let methods = if self == Scale::Providers { 0 } else { methods };
        for number in 0..methods {
            session.write_method(number)?;
            if number % EVENTS_A_REGION == EVENTS_A_REGION - 1 {
                session.end_region()?;
            }
        }
        session.end()
    }
}

/// A stream that is being written.
struct Session<W> {
    version: Version,
    writer: Writer<W>,
    rows: Rows,
    random: Random,
    ticks: u64,
    events: u64,
    /// Last sequence number of each thread that has not ended.
    numbers: BTreeMap<u64, u32>,
}

impl<W: Write> Session<W> {
    fn begin(out: W, version: Version) -> io::Result<Session<W>> {
        let mut writer = Writer::new(out, version)?;
        writer.write_trace(&Trace::default().known_keys())?;
        let types = [(SAMPLES, 0, 0), (RUNDOWN, 144, 1), (RUNTIME, 10, 4)];
        let types = types.map(|(provider, id, version)| EventType::native(provider, id, version));
        session::write_types(&mut writer, &types)?;
        let rows = Rows::new(version, Layout::Compressed);
        let (random, ticks) = (Random::new(21), START_TICKS);
        let numbers = BTreeMap::new();
        let mut session = Session { version, writer, rows, random, ticks, events: 0, numbers };
        if version == Version::V6 {
            session.write_threads(RUNDOWN_THREAD..=RUNDOWN_THREAD)?;
        }
        Ok(session)
    }

    /// Writes rows that define threads; the index of a thread is also its id.
    fn write_threads(&mut self, indices: RangeInclusive<u64>) -> io::Result<()> {
        let rows = indices.map(|index| ThreadRow::new(index, 1, index)).collect();
        self.writer.write_part(PartKind::Thread, ThreadBlock::new(rows).content().bytes)
    }

    /// Writes the stacks of the next region. They are all different, and have ids from 1 on.
    fn write_stacks(&mut self, count: u64, methods: u64) -> io::Result<()> {
        for first in (0..count).step_by(500) {
            let stacks: Vec<Vec<u64>> = (first..count.min(first + 500))
                .map(|_| {
                    let mut code = |_| CODE + CODE_BYTES * self.random.below(methods) + 16;
                    let mut stack: Vec<u64> = (COMMON..FRAMES).map(&mut code).collect();
                    stack.extend((0..COMMON as u64).map(|frame| CODE + CODE_BYTES * frame + 16));
                    stack
                })
                .collect();
            let block = StackBlock::new(first as u32 + 1, 8, &stacks);
            self.writer.write_part(PartKind::Stack, block.content().bytes)?;
        }
        Ok(())
    }

    /// Writes definitions of event types, each of a different provider.
    fn write_providers(&mut self, first: u64, count: u64) -> io::Result<()> {
        let rows = (first..first + count).map(|number| {
            let definition = Definition {
                metadata_id: PROVIDED + number as u32,
                provider: format!("Contoso-Orders-Plugin{number}"),
                event_id: 1,
                name: "Request".to_owned(),
                keywords: 1,
                level: 4,
                ..Definition::default()
            };
            Blob::definition(40_000, START_TICKS, definition.encode())
        });
        let content = EventBlock::new(rows).content(Version::V4);
        self.writer.write_part(PartKind::Metadata, content.bytes)
    }

    fn write_sample(&mut self, thread: u64, stack_id: u32) -> io::Result<()> {
        let managed = 2u32;
        self.write_event(SAMPLE, thread, stack_id, managed.to_le_bytes().to_vec())
    }

    fn write_allocation(&mut self, thread: u64, stack_id: u32, number: u64) -> io::Result<()> {
        let mut sink = Sink::new();
        sink.u32(102_400).u32(0).u16(0).u64(102_400).u64(0x7e00_0000 + 8 * number);
        sink.utf16z(&format!("Contoso.Orders.Storage.Type{number}"));
        sink.u32(0).u64(0x7f00_1000_0000 + 64 * number).u64(24);
        self.write_event(ALLOCATION, thread, stack_id, sink.into_vec())
    }

    fn write_method(&mut self, number: u64) -> io::Result<()> {
        let mut sink = Sink::new();
        sink.u64(0x7f11_0000_0000 + 24 * number).u64(0x7f11_8000_1000);
        sink.u64(CODE + CODE_BYTES * number).u32(CODE_BYTES as u32);
        sink.u32(0x0600_0000 + (number % 20_000) as u32).u32(0x0100_0003);
        sink.utf16z(&format!("Contoso.Orders.Storage.Service{}", number / 20));
        sink.utf16z(&format!("Handle{number}")).utf16z("instance void  (class System.String)");
        sink.u16(9).u64(0);
        self.write_event(METHOD, RUNDOWN_THREAD, 0, sink.into_vec())
    }

    fn write_event(
        &mut self,
        metadata_id: u32,
        thread: u64,
        stack_id: u32,
        payload: Vec<u8>,
    ) -> io::Result<()> {
        let number = self.numbers.entry(thread).or_default();
        *number += 1;
        let sequence_number = *number;
        self.ticks += 100_000;
        let mut blob = Blob {
            metadata_id,
            sequence_number,
            thread_id: thread,
            capture_thread_id: thread,
            stack_id,
            ticks: self.ticks,
            is_sorted: true,
            payload,
            ..Blob::default()
        };
        blob.flags = Some(self.rows.needed_flags(&blob));
        self.rows.push(&blob);
        self.events += 1;
        if self.rows.is_full() {
            self.writer.write_part(PartKind::Event, self.rows.take())?;
        }
        Ok(())
    }

    /// Writes a sequence point, after which stacks are forgotten.
    fn end_region(&mut self) -> io::Result<()> {
        if !self.rows.is_empty() {
            self.writer.write_part(PartKind::Event, self.rows.take())?;
        }
        let threads = self.numbers.iter().map(|(thread, number)| (*thread, *number)).collect();
        let point = SequencePoint { ticks: self.ticks, threads, ..SequencePoint::default() };
        self.writer.write_part(PartKind::SequencePoint, point.content(self.version).bytes)
    }

    fn end(mut self) -> io::Result<Written> {
        self.end_region()?;
        Ok(Written { events: self.events, bytes: self.writer.end()? })
    }
}
