//! Reads the blocks of the trace that is repeated.

use super::decode::{self, RowReader};
use flate2::read::GzDecoder;
use nettrace_parser::{BlockKind, Reader};
use nettrace_testdata::synth::Version;
use std::fs;
use std::io::{self, Read};
use std::path::Path;

/// A trace that can be repeated.
#[derive(Debug, Clone)]
pub struct Base {
    /// Version of the format; 4 also stands for version 5.
    pub version: Version,
    /// Content of the Trace object or block.
    pub(super) trace: Vec<u8>,
    /// Blocks without damage, in order.
    pub(super) blocks: Vec<(BlockKind, Vec<u8>)>,
    /// Number of events in the blocks.
    pub events: u64,
    /// Oldest tick of events and sequence points.
    pub(super) oldest: u64,
    pub(super) newest: u64,
}

/// Returns the decompressed content of a gzip file. Other bytes are returned unchanged.
///
/// # Errors
/// If the gzip file is damaged.
pub fn unpacked(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(bytes);
    }
    let mut unpacked = Vec::new();
    GzDecoder::new(bytes.as_slice()).read_to_end(&mut unpacked)?;
    Ok(unpacked)
}

impl Base {
    /// Reads a file, compressed by gzip or not.
    ///
    /// # Errors
    /// Errors of reading; [`io::ErrorKind::InvalidData`] if the file is no trace.
    pub fn open(path: &Path) -> io::Result<Base> {
        Base::new(&unpacked(fs::read(path)?)?)
    }

    /// Reads a stream.
    ///
    /// # Errors
    /// As [`Base::open`].
    pub fn new(bytes: &[u8]) -> io::Result<Base> {
        let wrong = |error| io::Error::new(io::ErrorKind::InvalidData, error);
        let mut reader = Reader::from_slice(bytes);
        reader.trace().map_err(wrong)?;
        let version = match reader.version() {
            Some(nettrace_parser::Version::V3) => Version::V3,
            Some(nettrace_parser::Version::V6 { .. }) => Version::V6,
            _ => Version::V4,
        };
        let (mut trace, mut blocks) = (Vec::new(), Vec::new());
        // A second reader, because the first one has passed the Trace block.
        let mut reader = Reader::from_slice(bytes);
        while let Some(block) = reader.next_block().map_err(wrong)? {
            if block.content.len() as u64 != u64::from(block.span.len) {
                continue;
            }
            match block.kind {
                BlockKind::Trace => trace = block.content.to_vec(),
                kind => blocks.push((kind, block.content.to_vec())),
            }
        }
        let mut base = Base { version, trace, blocks, events: 0, oldest: u64::MAX, newest: 0 };
        base.measure();
        Ok(base)
    }

    /// Finds the span of time that the events cover, and removes event blocks with rows that cannot
    /// be read.
    fn measure(&mut self) {
        let version = self.version;
        let (mut events, mut oldest, mut newest) = (0, u64::MAX, 0);
        self.blocks.retain(|(kind, content)| match kind {
            BlockKind::Event => {
                let Some(mut reader) = RowReader::new(version, content) else { return false };
                let (mut count, mut first, mut last) = (0, u64::MAX, 0);
                while !reader.is_done() {
                    let Some(blob) = reader.next() else { return false };
                    if version == Version::V3 && blob.metadata_id == 0 {
                        continue;
                    }
                    count += 1;
                    first = first.min(blob.ticks);
                    last = last.max(blob.ticks);
                }
                (events, oldest, newest) = (events + count, oldest.min(first), newest.max(last));
                true
            }
            BlockKind::SequencePoint => match decode::sequence_point(version, content) {
                Some((ticks, _, _)) => {
                    if ticks != u64::MAX {
                        newest = newest.max(ticks);
                    }
                    true
                }
                None => false,
            },
            _ => true,
        });
        (self.events, self.oldest, self.newest) = (events, oldest.min(newest), newest);
    }
}
