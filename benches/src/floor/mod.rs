//! Passes with which the parser is compared: one looks at every byte once, another decodes headers
//! in the style of nom's documentation ([`idiom`]).

pub mod idiom;

use nettrace_parser::raw::BlobEncoding;
use nettrace_parser::{BlockKind, Reader, raw};

/// Returns the sum of all bytes, eight at a time. No reader of the whole input can be faster.
#[inline(never)]
pub fn touch(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut sums = [0u64; 8];
    let (eights, last) = words.as_chunks::<8>();
    for eight in eights {
        for (sum, word) in sums.iter_mut().zip(eight) {
            *sum = sum.wrapping_add(u64::from_le_bytes(*word));
        }
    }
    let rest = rest.iter().map(|byte| u64::from(*byte));
    let last = last.iter().map(|word| u64::from_le_bytes(*word));
    sums.into_iter().chain(last).chain(rest).fold(0, u64::wrapping_add)
}

/// The fields of an event's header, as stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Header {
    /// Metadata id of the event's type.
    pub metadata_id: u32,
    /// Sequence number of the event on its capture thread.
    pub sequence: u32,
    /// Thread that the event is about.
    pub thread: u64,
    /// Thread that wrote the event.
    pub capture_thread: u64,
    /// Number of the processor on which that thread ran.
    pub processor: u32,
    /// Id of the stack.
    pub stack: u32,
    /// Timestamp in ticks.
    pub timestamp: u64,
    /// Activity id (version 4).
    pub activity: u128,
    /// Related activity id (version 4).
    pub related: u128,
    /// Id of the label list (version 6).
    pub label_list: u32,
    /// Number of bytes of the payload.
    pub payload_size: u32,
    /// Whether no later event is older.
    pub is_sorted: bool,
}

/// The rows of an event block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockRows {
    /// Positions of the rows in the stream.
    pub range: std::ops::Range<usize>,
    /// How the headers of the rows are encoded.
    pub encoding: BlobEncoding,
}

/// Finds the rows of all event blocks of a stream, so that a measurement covers decoding alone.
///
/// # Panics
/// If the stream cannot be read.
pub fn rows(stream: &[u8]) -> Vec<BlockRows> {
    let mut reader = Reader::from_slice(stream);
    reader.trace().expect("a stream of our own");
    let version = reader.version().expect("a stream of our own");
    let mut found = Vec::new();
    while let Some(block) = reader.next_block().expect("a stream of our own") {
        if block.kind == BlockKind::Event {
            let content = block.content;
            let header = raw::event_block_header(content).expect("a block of our own").1;
            let encoding = BlobEncoding::new(version, header.is_compressed);
            let start = block.span.start as usize;
            let range = start + usize::from(header.size)..start + content.len();
            found.push(BlockRows { range, encoding });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_byte_counts() {
        let mut bytes = vec![0u8; 203];
        for at in 0..bytes.len() {
            bytes[at] = 1;
            assert_ne!(super::touch(&bytes), 0, "byte {at}");
            bytes[at] = 0;
        }
    }
}
