//! Floors and idioms: the least that reading could cost, and what it costs as people
//! write it.
//!
//! - [`touch`]: every byte is looked at once.
//! - [`window`]: every header field is decoded, safely, by the smallest function that
//!   does it; no tables, no losses, no damage. Also behind nom's signature.
//! - [`idiom`]: the same through nom's combinators, as its documentation would have it.
//!
//! All take the rows of event blocks found beforehand ([`Rows::of`]) and fold what they
//! decode as a pass of the parser does, so that each can be held against the others.

pub mod idiom;
pub mod touch;
pub mod window;

use nettrace_parser::{BlockKind, EventBlockHeader, Reader, Version};

use crate::checksum::Checksum;

/// All header fields of one event, as stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Header {
    /// Event type.
    pub metadata_id: u32,
    /// Number on its capture thread.
    pub sequence: u32,
    /// Thread it is about.
    pub thread: u64,
    /// Thread that wrote it.
    pub capture_thread: u64,
    /// Processor.
    pub processor: u32,
    /// Stack id.
    pub stack: u32,
    /// Timestamp in ticks.
    pub timestamp: u64,
    /// Activity id (version 4).
    pub activity: u128,
    /// Related activity id (version 4).
    pub related: u128,
    /// Label list (version 6).
    pub label_list: u32,
    /// Bytes of the payload.
    pub payload_size: u32,
    /// Nothing after it is older.
    pub is_sorted: bool,
}

/// The rows of one event block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rows {
    /// First byte of the first row, in the stream.
    pub start: usize,
    /// Behind the last row.
    pub end: usize,
    /// How headers are written.
    pub encoding: Encoding,
}

/// How headers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Flags and differences, version 4.
    CompressedV4,
    /// Flags and differences, version 6.
    CompressedV6,
    /// Fixed, version 6.
    FixedV6,
}

impl Rows {
    /// All event blocks of a stream.
    ///
    /// # Panics
    /// If it cannot be read, or has rows of a form that floors do not know.
    pub fn of(stream: &[u8]) -> Vec<Rows> {
        let mut reader = Reader::from_slice(stream);
        reader.trace().expect("a stream of our own");
        let is_v6 = matches!(reader.version(), Some(Version::V6 { .. }));
        let mut found = Vec::new();
        while let Some(block) = reader.next_block().expect("a stream of our own") {
            if block.kind() == BlockKind::Event {
                let start = block.span().start as usize;
                found.push(
                    Rows::of_block(block.content(), start, is_v6).expect("a block of our own"),
                );
            }
        }
        found
    }

    /// The rows of an event block whose content begins at `start` of its stream; `None`
    /// if they have a form that floors do not know.
    pub fn of_block(content: &[u8], start: usize, is_v6: bool) -> Option<Rows> {
        let header = EventBlockHeader::parse(content).ok()?;
        let encoding = match (is_v6, header.is_compressed) {
            (false, true) => Encoding::CompressedV4,
            (true, true) => Encoding::CompressedV6,
            (true, false) => Encoding::FixedV6,
            (false, false) => return None,
        };
        Some(Rows { start: start + usize::from(header.size), end: start + content.len(), encoding })
    }
}

/// What decoding the blocks one after the other gives.
///
/// # Panics
/// If a row does not fit.
#[inline(always)]
pub(crate) fn fold(
    blocks: &[Rows],
    mut block: impl FnMut(Rows, &mut Checksum) -> Option<()>,
) -> Checksum {
    let mut sum = Checksum::default();
    for rows in blocks {
        block(*rows, &mut sum).expect("rows of our own");
    }
    sum
}
