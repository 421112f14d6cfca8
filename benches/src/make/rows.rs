//! The rows of the event block that is being written.

use nettrace_testdata::synth::{Blob, Compressor, Sink, Version};

/// Size at which the content of an event block counts as full, in bytes. Runtimes have the same
/// size.
const MAX_BLOCK_BYTES: usize = 100 * 1024 - 1024;

/// Layout of the event rows in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Each row has flags, and the fields that differ from the previous row.
    Compressed,
    /// Each row has all fields.
    Uncompressed,
}

/// The event rows of a block, and what its header needs.
#[derive(Debug)]
pub struct Rows {
    version: Version,
    layout: Layout,
    compressor: Compressor,
    bytes: Sink,
    count: u64,
    oldest: u64,
    newest: u64,
}

impl Rows {
    /// Creates an empty list of rows.
    pub fn new(version: Version, layout: Layout) -> Rows {
        Rows {
            version,
            layout,
            compressor: Compressor::new(version),
            bytes: Sink::new(),
            count: 0,
            oldest: u64::MAX,
            newest: 0,
        }
    }

    /// Returns whether the next row is the first of its block.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns whether a runtime would write the block now.
    pub fn is_full(&self) -> bool {
        self.bytes.len() >= MAX_BLOCK_BYTES
    }

    /// Returns the flags of those fields that a compressed row for `blob` has to store.
    pub fn needed_flags(&self, blob: &Blob) -> u8 {
        self.compressor.needed_flags(blob)
    }

    /// Appends a row.
    pub fn push(&mut self, blob: &Blob) {
        match (self.version, self.layout) {
            (Version::V3, _) => blob.encode_v3(&mut self.bytes),
            (_, Layout::Compressed) => self.compressor.encode(blob, &mut self.bytes),
            (Version::V6, Layout::Uncompressed) => blob.encode_v6(&mut self.bytes),
            (_, Layout::Uncompressed) => blob.encode_v4(&mut self.bytes, true),
        }
        self.count += 1;
        self.oldest = self.oldest.min(blob.ticks);
        self.newest = self.newest.max(blob.ticks);
    }

    /// Returns the content of the block, and begins a new block.
    pub fn take(&mut self) -> Vec<u8> {
        let done = std::mem::replace(self, Rows::new(self.version, self.layout));
        let rows = done.bytes.into_vec();
        if self.version == Version::V3 {
            return rows;
        }
        let mut content = Sink::new();
        content.u16(20).u16(u16::from(self.layout == Layout::Compressed));
        content.u64(if done.count == 0 { 0 } else { done.oldest }).u64(done.newest).raw(&rows);
        content.into_vec()
    }
}
