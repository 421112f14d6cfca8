//! Writes a `.gcdump` of version 10, as dotnet-gcdump does, with the segments that PerfView adds.

use super::super::dump::HeapDump;
use super::super::kinds::HeapGeneration;
use super::container::{BEGIN, BYTE, END, MAGIC, NULL, OBJECT_REFERENCE, SKIP_REGION, STRING};
use super::file::{DUMP, HeapSegment};
use super::graph::WrittenGraph;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Name of the tool in the file.
const TOOL: &str = "nettrace";
/// Version of the format, and the least version of its readers.
const VERSION: (u32, u32) = (10, 8);

/// Writes a dump.
///
/// # Errors
/// If writing fails, or if the dump is larger than the format allows.
pub(super) fn write(dump: &HeapDump, out: impl Write) -> io::Result<()> {
    let graph = WrittenGraph::new(dump);
    let (nodes, mut record) = (graph.nodes(), Vec::new());
    // The first record is the one of nodes that were not dumped.
    let mut length = 2u64;
    let mut offsets = Vec::with_capacity(nodes as usize);
    for node in 0..nodes {
        offsets.push(u32::try_from(length).map_err(|_| too_large())?);
        graph.record(node, &mut record);
        length = length.saturating_add(record.len() as u64);
    }
    let mut file = Labelled { out, written: 0 };
    file.bytes(MAGIC)?;
    file.begin(DUMP, VERSION)?;
    file.begin(b"Graphs.MemoryGraph", (1, 0))?;
    file.bytes(&graph.bytes().to_le_bytes())?;
    file.number(0)?;
    file.count(graph.types.len())?;
    for of in &graph.types {
        file.string(Some(&of.name))?;
        file.number(of.bytes)?;
        file.string(of.module.as_deref())?;
    }
    file.count(offsets.len())?;
    for offset in offsets {
        file.bytes(&offset.to_le_bytes())?;
    }
    file.number(i32::try_from(length).map_err(|_| too_large())?)?;
    file.bytes(&[0, 0])?;
    for node in 0..nodes {
        graph.record(node, &mut record);
        file.bytes(&record)?;
    }
    file.count(nodes as usize)?;
    for address in graph.addresses() {
        file.bytes(&address.to_le_bytes())?;
    }
    let is_64_bit = u8::from(graph.addresses().any(|address| address > u32::MAX.into()));
    file.bytes(&[BYTE, is_64_bit, END, is_64_bit])?;
    for multiplier in [1f32, 1.0] {
        file.bytes(&multiplier.to_le_bytes())?;
    }
    // There is no heap of JavaScript.
    file.bytes(&[NULL])?;
    segments(dump, &mut file)?;
    // Neither a log, nor a time, nor names of machine and process.
    file.string(None)?;
    file.bytes(&[0; size_of::<i64>()])?;
    file.string(None)?;
    file.string(None)?;
    let process = dump.process_id.and_then(|id| i32::try_from(id).ok());
    file.number(process.unwrap_or(0))?;
    file.bytes(&[0; 2 * size_of::<i64>()])?;
    file.count(0)?;
    file.bytes(&[SKIP_REGION])?;
    file.number(0)?;
    file.bytes(&[NULL])?;
    let behind = file.label()?;
    file.bytes(&[STRING])?;
    file.string(Some(TOOL))?;
    file.bytes(&[END, END])?;
    let table = file.label()?;
    file.count(1)?;
    file.bytes(&behind)?;
    let last = file.label()?;
    file.bytes(&table)?;
    file.bytes(&last)?;
    file.out.flush()
}

fn too_large() -> io::Error {
    io::Error::other("the heap has more objects or references than a .gcdump can hold")
}

/// Writes the ranges of memory with their generations, as segments.
fn segments(dump: &HeapDump, file: &mut Labelled<impl Write>) -> io::Result<()> {
    let segments = segments_of(dump);
    if segments.is_empty() {
        return file.bytes(&[NULL]);
    }
    file.begin(b"DotNetHeapInfo", (0, 0))?;
    let bytes = segments.iter().fold(0i64, |sum, segment| {
        let [start, end, ..] = *segment;
        sum.saturating_add(end.saturating_sub(start))
    });
    file.bytes(&bytes.to_le_bytes())?;
    file.count(segments.len())?;
    let mut of_type = None;
    for segment in segments {
        match of_type {
            None => of_type = Some(file.begin(b"GCHeapDumpSegment", (1, 1))?),
            Some(label) => {
                file.bytes(&[BEGIN, OBJECT_REFERENCE])?;
                file.bytes(&label)?;
            }
        }
        for number in segment {
            file.bytes(&number.to_le_bytes())?;
        }
        file.bytes(&[END])?;
    }
    file.bytes(&[END])
}

/// Returns a segment for each range of memory with a generation, and for the objects between two
/// ranges, which are frozen, one without generations.
fn segments_of(dump: &HeapDump) -> Vec<HeapSegment> {
    let segment = |start: u64, end: u64, generation: HeapGeneration| {
        let (start, end) = (start.cast_signed(), end.cast_signed());
        let only = |of| if generation == of { end } else { 0 };
        use HeapGeneration::{Gen0, Gen1, Gen2, Large, Pinned};
        [start, end, only(Gen0), only(Gen1), only(Gen2), only(Large), only(Pinned)]
    };
    let mut segments: Vec<HeapSegment> = dump
        .ranges
        .iter()
        .filter(|(.., generation)| *generation != HeapGeneration::Unknown)
        .map(|(start, end, generation)| segment(*start, *end, *generation))
        .collect();
    let mut frozen: BTreeMap<usize, (u64, u64)> = BTreeMap::new();
    for object in 0..dump.objects() {
        if dump.generation(object) == HeapGeneration::Frozen {
            let start = dump.address(object);
            let end = start.saturating_add(dump.bytes_of(object).max(1));
            let gap = dump.ranges.partition_point(|(_, end, _)| *end <= start);
            let span = frozen.entry(gap).or_insert((start, end));
            *span = (span.0.min(start), span.1.max(end));
        }
    }
    let frozen = frozen.into_values();
    segments.extend(frozen.map(|(start, end)| segment(start, end, HeapGeneration::Frozen)));
    segments
}

/// A file that is written, whose offsets are labels.
struct Labelled<W> {
    out: W,
    written: u64,
}

impl<W: Write> Labelled<W> {
    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.written = self.written.saturating_add(bytes.len() as u64);
        self.out.write_all(bytes)
    }

    fn number(&mut self, number: i32) -> io::Result<()> {
        self.bytes(&number.to_le_bytes())
    }

    fn count(&mut self, count: usize) -> io::Result<()> {
        self.number(i32::try_from(count).map_err(|_| too_large())?)
    }

    /// Returns the label of what is written next.
    fn label(&self) -> io::Result<[u8; 4]> {
        u32::try_from(self.written).map(u32::to_le_bytes).map_err(|_| too_large())
    }

    /// Begins an object of a type that no object before has. Returns the label of the type.
    fn begin(&mut self, name: &[u8], (version, minimum): (u32, u32)) -> io::Result<[u8; 4]> {
        self.bytes(&[BEGIN])?;
        let label = self.label()?;
        self.bytes(&[BEGIN, NULL])?;
        self.bytes(&version.to_le_bytes())?;
        self.bytes(&minimum.to_le_bytes())?;
        self.count(name.len())?;
        self.bytes(name)?;
        self.bytes(&[END])?;
        Ok(label)
    }

    /// Writes a string: the number of its UTF-16 units, then each unit as if it were a character.
    fn string(&mut self, text: Option<&str>) -> io::Result<()> {
        let Some(text) = text else { return self.number(-1) };
        self.count(text.encode_utf16().count())?;
        if text.is_ascii() {
            return self.bytes(text.as_bytes());
        }
        for unit in text.encode_utf16() {
            let [low, high] = unit.to_le_bytes();
            let (front, middle) = (high >> 4, (high & 0xf) << 2 | low >> 6);
            match unit {
                0..0x80 => self.bytes(&[low])?,
                0x80..0x800 => self.bytes(&[0xc0 | middle, 0x80 | low & 0x3f])?,
                0x800.. => self.bytes(&[0xe0 | front, 0x80 | middle, 0x80 | low & 0x3f])?,
            }
        }
        Ok(())
    }
}
