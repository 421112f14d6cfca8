//! A stream written block by block, of which nothing is kept but its length.

use std::io::{self, Write};

use nettrace_testdata::synth::{Block, Content, Object, PartKind, Stream, Trace, Version};

/// Writes a stream through the independent writer's framing, in memory bounded by one
/// block.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    version: Version,
    position: u64,
}

impl<W: Write> Writer<W> {
    /// Begins a stream: writes its header.
    pub fn new(mut out: W, version: Version) -> io::Result<Self> {
        let header = Stream::new(version).bytes;
        out.write_all(&header)?;
        Ok(Writer { out, version, position: header.len() as u64 })
    }

    /// The stream's version.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Bytes written so far.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Writes content in the framing of the version, padding recomputed.
    pub fn part(&mut self, kind: PartKind, content: Vec<u8>) -> io::Result<()> {
        let content = Content::raw(content);
        // Only the position's low bits matter, for padding.
        let position = (self.position % 4) as usize;
        let bytes = if self.version.has_objects() {
            let name = kind.object_name().ok_or(io::ErrorKind::InvalidInput)?;
            Object::new(self.version, name, content).encode(position).0
        } else {
            let kind = kind.block_kind().ok_or(io::ErrorKind::InvalidInput)?;
            Block::new(kind, content).encode(position).0
        };
        self.raw(&bytes)
    }

    /// Writes the Trace object or block.
    pub fn trace(&mut self, trace: &Trace) -> io::Result<()> {
        self.part(PartKind::Trace, trace.content(self.version).bytes)
    }

    /// Writes the end of the stream and gives its length.
    pub fn end(mut self) -> io::Result<u64> {
        if self.version.has_objects() {
            self.raw(&[1])?;
        } else {
            self.part(PartKind::End, Vec::new())?;
        }
        self.out.flush()?;
        Ok(self.position)
    }

    fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.position += bytes.len() as u64;
        Ok(())
    }
}
