//! A real trace, repeated as if it were one long session.
//!
//! Framing and padding are written anew. Metadata is written once; stacks, labels and threads that
//! were forgotten are written with each copy. Events are re-encoded: timestamps of a copy are later
//! than those of the previous copies, and the sequence numbers of a capture thread have no gaps,
//! even where the base had losses. The result has no losses, restarts or damage.

mod base;
mod decode;

use super::Written;
use super::rows::{Layout, Rows};
use super::stream::Writer;
pub use base::{Base, unpacked};
use decode::RowReader;
use nettrace_parser::{BlockKind, raw};
use nettrace_testdata::synth::{PartKind, RemoveThreadBlock, SequencePoint, Sink, Version};
use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

/// Writes copies of `base` until the stream has at least `bytes` bytes, then the last block and the
/// end of the stream.
///
/// # Errors
/// Errors of `out`, and [`io::ErrorKind::InvalidData`] if the base has no events.
pub fn write(out: impl Write, base: &Base, bytes: u64) -> io::Result<Written> {
    if base.events == 0 {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "there are no events to repeat"));
    }
    let mut copies = Copies::new(Writer::new(out, base.version)?);
    copies.writer.write_part(PartKind::Trace, base.trace.clone())?;
    let period = base.newest - base.oldest + 1 + (base.newest - base.oldest) / 1000;
    while copies.writer.position() < bytes {
        copies.newest = base.oldest + copies.shift;
        for (kind, content) in &base.blocks {
            copies.write_block(*kind, content)?;
            if copies.writer.position() >= bytes {
                break;
            }
        }
        if !copies.ends_in_point {
            copies.write_point_here()?;
        }
        copies.is_first = false;
        copies.shift += period;
    }
    Ok(Written { events: copies.events, bytes: copies.writer.end()? })
}

/// Writes the copies, and keeps the state that a reader of the stream has so far.
struct Copies<W> {
    writer: Writer<W>,
    is_first: bool,
    /// Number of ticks by which the times of the current copy are later than those of the base.
    shift: u64,
    newest: u64,
    events: u64,
    /// Last sequence number of each capture thread that has not ended.
    numbers: HashMap<u64, u32>,
    /// Indices of the threads that are defined (version 6).
    threads: HashSet<u64>,
    types: HashSet<u64>,
    ends_in_point: bool,
}

impl<W: Write> Copies<W> {
    fn new(writer: Writer<W>) -> Self {
        Copies {
            writer,
            is_first: true,
            shift: 0,
            newest: 0,
            events: 0,
            numbers: HashMap::new(),
            threads: HashSet::new(),
            types: HashSet::new(),
            ends_in_point: false,
        }
    }

    fn write_block(&mut self, kind: BlockKind, content: &[u8]) -> io::Result<()> {
        let is_v6 = self.writer.version() == Version::V6;
        self.ends_in_point = kind == BlockKind::SequencePoint;
        match kind {
            BlockKind::Event => self.write_events(content),
            BlockKind::Metadata if is_v6 => self.write_types(content),
            BlockKind::Metadata if self.is_first => self.write_part(PartKind::Metadata, content),
            BlockKind::Stack => self.write_part(PartKind::Stack, content),
            BlockKind::LabelList => self.write_part(PartKind::LabelList, content),
            BlockKind::SequencePoint => self.write_point(content),
            BlockKind::Thread => self.write_threads(content),
            BlockKind::RemoveThread => self.write_removals(content),
            _ => Ok(()),
        }
    }

    fn write_part(&mut self, kind: PartKind, content: &[u8]) -> io::Result<()> {
        self.writer.write_part(kind, content.to_vec())
    }

    fn write_events(&mut self, content: &[u8]) -> io::Result<()> {
        let version = self.writer.version();
        let mut reader = RowReader::new(version, content).ok_or_else(invalid)?;
        let layout = if reader.is_compressed() { Layout::Compressed } else { Layout::Uncompressed };
        let mut rows = Rows::new(version, layout);
        while !reader.is_done() {
            let mut blob = reader.next().ok_or_else(invalid)?;
            if version == Version::V3 && blob.metadata_id == 0 {
                if self.is_first {
                    rows.push(&blob);
                }
                continue;
            }
            blob.ticks = blob.ticks.wrapping_add(self.shift);
            self.newest = self.newest.max(blob.ticks);
            if version == Version::V6 || blob.metadata_id != 0 {
                let number = self.numbers.entry(blob.capture_thread_id).or_default();
                *number = number.wrapping_add(1);
                blob.sequence_number = *number;
            }
            // Flags of the base stay set, so that the headers keep their shape.
            blob.flags = blob.flags.map(|flags| flags | rows.needed_flags(&blob));
            rows.push(&blob);
            self.events += 1;
        }
        if rows.is_empty() {
            return Ok(());
        }
        self.writer.write_part(PartKind::Event, rows.take())
    }

    /// Writes the rows for those event types that are not defined yet.
    fn write_types(&mut self, content: &[u8]) -> io::Result<()> {
        let (rows, ()) = raw::metadata_block_header_v6(content).map_err(|_| invalid())?;
        let mut out = Sink::new();
        out.u16(0);
        self.write_rows(rows, out, PartKind::Metadata, |copies, id| copies.types.insert(id))
    }

    /// Writes the rows for those threads that are not defined.
    fn write_threads(&mut self, content: &[u8]) -> io::Result<()> {
        self.write_rows(content, Sink::new(), PartKind::Thread, |copies, index| {
            let is_new = copies.threads.insert(index);
            if is_new {
                copies.numbers.insert(index, 0);
            }
            is_new
        })
    }

    /// Copies those rows whose id `is_wanted`. Each row has its size as a u16, then its id as a
    /// varuint.
    fn write_rows(
        &mut self,
        mut rest: &[u8],
        mut out: Sink,
        kind: PartKind,
        is_wanted: impl Fn(&mut Self, u64) -> bool,
    ) -> io::Result<()> {
        let empty = out.len();
        while !rest.is_empty() {
            let (after, row) = raw::sized_row(rest).map_err(|_| invalid())?;
            let (_, id) = raw::varuint64(row).map_err(|_| invalid())?;
            if is_wanted(self, id) {
                out.u16(row.len() as u16).raw(row);
            }
            rest = after;
        }
        if out.len() == empty {
            return Ok(());
        }
        self.writer.write_part(kind, out.into_vec())
    }

    fn write_removals(&mut self, content: &[u8]) -> io::Result<()> {
        let (mut rest, mut removed) = (content, Vec::new());
        while !rest.is_empty() {
            let (after, (index, _)) = raw::sequence_entry_v6(rest).map_err(|_| invalid())?;
            if self.threads.remove(&index) {
                removed.push((index, self.numbers.remove(&index).unwrap_or(0)));
            }
            rest = after;
        }
        self.writer
            .write_part(PartKind::RemoveThread, RemoveThreadBlock::new(removed).content().bytes)
    }

    fn write_point(&mut self, content: &[u8]) -> io::Result<()> {
        let version = self.writer.version();
        let (ticks, flags, listed) =
            decode::sequence_point(version, content).ok_or_else(invalid)?;
        // The last sequence point of one-collect may have no time.
        let ticks = if ticks == u64::MAX { self.newest } else { ticks.wrapping_add(self.shift) };
        let threads: Vec<(u64, u32)> = listed
            .into_iter()
            .map(|thread| (thread, self.numbers.get(&thread).copied().unwrap_or(0)))
            .collect();
        if version != Version::V6 {
            // A thread that is not listed has ended. Later events with its id belong to another
            // thread, whose numbers begin at 1.
            self.numbers = threads.iter().copied().collect();
        }
        if version == Version::V6 && flags & SequencePoint::FORGET_THREADS != 0 {
            self.threads.clear();
            self.numbers.clear();
        }
        if version == Version::V6 && flags & SequencePoint::FORGET_METADATA != 0 {
            self.types.clear();
        }
        let point = SequencePoint { ticks, flags, threads, ..SequencePoint::default() };
        self.writer.write_part(PartKind::SequencePoint, point.content(version).bytes)
    }

    /// Writes a sequence point where the base has none. It is needed because the ids of stacks
    /// start again in the next copy.
    fn write_point_here(&mut self) -> io::Result<()> {
        let version = self.writer.version();
        if version == Version::V3 {
            return Ok(());
        }
        let mut threads: Vec<(u64, u32)> =
            self.numbers.iter().map(|(thread, number)| (*thread, *number)).collect();
        threads.sort_unstable();
        let point = SequencePoint { ticks: self.newest, threads, ..SequencePoint::default() };
        self.writer.write_part(PartKind::SequencePoint, point.content(version).bytes)
    }
}

fn invalid() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a block of the base cannot be read")
}
