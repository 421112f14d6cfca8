//! Writes a stream block by block.

use nettrace_testdata::synth::{Block, Content, Object, PartKind, Stream, Trace, Version};
use std::io::{self, Write};

/// Writes a stream with the framing of `nettrace-writer`, in the memory of one block.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    version: Version,
    position: u64,
}

impl<W: Write> Writer<W> {
    /// Begins a stream by writing its header.
    pub fn new(mut out: W, version: Version) -> io::Result<Self> {
        let header = Stream::new(version).bytes;
        out.write_all(&header)?;
        Ok(Writer { out, version, position: header.len() as u64 })
    }

    /// Returns the stream's version.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Returns the number of bytes written so far.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Writes content with the framing of the stream's version.
    pub fn write_part(&mut self, kind: PartKind, content: Vec<u8>) -> io::Result<()> {
        let content = Content::raw(content);
        // Padding depends on the position modulo 4 only.
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
    pub fn write_trace(&mut self, trace: &Trace) -> io::Result<()> {
        self.write_part(PartKind::Trace, trace.content(self.version).bytes)
    }

    /// Writes the end of the stream. Returns the length of the stream.
    pub fn end(mut self) -> io::Result<u64> {
        if self.version.has_objects() {
            self.raw(&[1])?;
        } else {
            self.write_part(PartKind::End, Vec::new())?;
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
