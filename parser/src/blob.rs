//! Decodes the headers of event blobs, which the specification of V6 calls event rows, in all
//! five encodings (FORMAT.md 5, 6.2, 6.3, 7.4).

mod careful;
mod compressed;
mod fixed;

use crate::bytes::Parsed;
use crate::version::Version;
pub(crate) use careful::{careful_blob_v4, careful_blob_v6};
#[cfg(test)]
use careful::{careful_compressed_v4, careful_compressed_v6};
pub(crate) use compressed::{
    WINDOW, Watch, Wrong, at_end, changes_sticky_fields, compressed_v4, compressed_v6,
    stores_number,
};
pub(crate) use fixed::{fixed_v3, fixed_v4, fixed_v6, quick_v4, quick_v6};
use nettrace_guid::Guid;

/// The header of one event blob: everything the stream says about the event itself
/// ([FORMAT.md 5](crate::format_guide#5), [6.2](crate::format_guide#6.2),
/// [6.3](crate::format_guide#6.3), [7.4](crate::format_guide#7.4)).
///
/// A compressed header stores only what differs from the previous header of the block, so decoding
/// starts with a copy of that header. For the first blob of a block it starts with
/// [`BlobHeader::default`], which is all zeros. Headers of fixed size store every field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct BlobHeader {
    /// Id of the event's type. In version 3 a payload with id 0 defines a type.
    pub metadata_id: u32,
    /// Sequence number of the event within its capture thread; 0 in version 3, which stores
    /// no sequence numbers.
    pub sequence: u32,
    /// Id of the thread that the event is about; in version 6 the thread's index.
    pub thread: u64,
    /// Id of the thread that wrote the event; in version 6 the thread's index.
    pub capture_thread: u64,
    /// Number of the processor on which the event was written; `u32::MAX` if unknown.
    pub processor: u32,
    /// Id of the event's stack; 0 in version 3, where the stack follows the payload.
    pub stack: u32,
    /// Time of the event, in ticks of the event clock.
    pub timestamp: u64,
    /// Activity id of the event; zero in version 6, where a label stores it.
    pub activity: Guid,
    /// Related activity id of the event; zero in version 6, where a label stores it.
    pub related_activity: Guid,
    /// Size in bytes of the stack that follows the payload; version 3 only.
    pub stack_size: u32,
    /// Id of the event's label list; 0 if it has none. Version 6 only.
    pub label_list: u32,
    /// Size of the payload in bytes.
    pub payload_size: u32,
    /// Size of the header in bytes: from the blob's first byte to its payload.
    pub header_size: u32,
    /// Whether the stream promises that no later event is older than this one.
    pub is_sorted: bool,
    /// Whether flag 0x20 of a compressed version 6 header is set. The format gives it no
    /// meaning.
    pub has_reserved_flag: bool,
}

/// Encoding of the blobs of a block. All blobs of one block have the same encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BlobEncoding {
    /// Version 3 ([FORMAT.md 5](crate::format_guide#5)).
    FixedV3,
    /// Versions 4 and 5, uncompressed ([FORMAT.md 6.2](crate::format_guide#6.2)).
    FixedV4,
    /// Versions 4 and 5, compressed ([FORMAT.md 6.3](crate::format_guide#6.3)).
    CompressedV4,
    /// Version 6, uncompressed ([FORMAT.md 7.4](crate::format_guide#7.4)).
    FixedV6,
    /// Version 6, compressed ([FORMAT.md 7.4](crate::format_guide#7.4)).
    CompressedV6,
}

impl BlobEncoding {
    /// Returns the encoding for a stream version and the flag of a [block
    /// header](crate::raw::EventBlockHeader::is_compressed). Version 3 has no block
    /// header and ignores the flag.
    pub fn new(version: Version, is_compressed: bool) -> BlobEncoding {
        match (version, is_compressed) {
            (Version::V3, _) => BlobEncoding::FixedV3,
            (Version::V4, false) => BlobEncoding::FixedV4,
            (Version::V4, true) => BlobEncoding::CompressedV4,
            (Version::V6 { .. }, false) => BlobEncoding::FixedV6,
            (Version::V6 { .. }, true) => BlobEncoding::CompressedV6,
        }
    }
}

/// One blob of a block: an event, or the definition of an event type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Blob<'a> {
    /// Header of the blob. In a compressed block it includes the values inherited from earlier
    /// blobs.
    pub header: BlobHeader,
    /// All bytes of the blob, including padding.
    pub bytes: &'a [u8],
}

impl<'a> Blob<'a> {
    /// Returns the payload.
    pub fn payload(&self) -> &'a [u8] {
        let after = self.bytes.get(self.header.header_size as usize..).unwrap_or_default();
        after.get(..self.header.payload_size as usize).unwrap_or_default()
    }

    /// Returns the addresses of the stack of a version 3 blob, innermost first. They follow the
    /// payload and four bytes with their size. Empty in other versions, whose events refer to a
    /// stack by its id.
    pub fn stack(&self) -> &'a [u8] {
        let (header, size) = (self.header.header_size as usize, self.header.payload_size as usize);
        let stack = self.bytes.get(header.saturating_add(size).saturating_add(4)..);
        stack.and_then(|rest| rest.get(..self.header.stack_size as usize)).unwrap_or_default()
    }
}

/// [`Blob`] that can be kept after its block.
///
/// ```
/// use nettrace_parser::raw::{Blob, OwnedBlob};
///
/// fn keep(blobs: &[Blob<'_>]) -> Vec<OwnedBlob> {
///     blobs.iter().map(|blob| blob.into_owned()).collect()
/// }
/// # assert!(keep(&[]).is_empty());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnedBlob {
    header: BlobHeader,
    bytes: Box<[u8]>,
}

impl Blob<'_> {
    /// Copies the blob, so that it can be kept or sent to another thread.
    pub fn into_owned(self) -> OwnedBlob {
        OwnedBlob { header: self.header, bytes: self.bytes.into() }
    }
}

impl OwnedBlob {
    /// Returns the blob as it was read.
    pub fn as_blob(&self) -> Blob<'_> {
        Blob { header: self.header, bytes: &self.bytes }
    }
}

/// Reads a blob in any encoding ([FORMAT.md 5](crate::format_guide#5),
/// [6.2](crate::format_guide#6.2), [6.3](crate::format_guide#6.3),
/// [7.4](crate::format_guide#7.4)).
///
/// `running` is the header of the previous blob, or the default at the beginning of a
/// block: compressed headers inherit from it. The header of this blob replaces it, unless
/// there is an error.
///
/// # Errors
/// [`Fault::RowSize`](crate::Fault::RowSize),
/// [`Fault::PayloadSize`](crate::Fault::PayloadSize) and
/// [`Fault::StackSize`](crate::Fault::StackSize) if a size extends past its container;
/// the faults of [`varuint64`](crate::raw::varuint64);
/// [`Fault::Truncated`](crate::Fault::Truncated). After an error, the rest of the block
/// cannot be read.
pub fn blob<'a, 's>(
    encoding: BlobEncoding,
    running: &'s mut BlobHeader,
) -> impl FnMut(&'a [u8]) -> Parsed<'a, Blob<'a>> {
    move |input| {
        let mut header = *running;
        let (rest, extent) = match encoding {
            BlobEncoding::FixedV3 => fixed_v3(&mut header, input),
            BlobEncoding::FixedV4 => fixed_v4(&mut header, input),
            BlobEncoding::FixedV6 => fixed_v6(&mut header, input),
            BlobEncoding::CompressedV4 => careful_blob_v4(&mut header, input),
            BlobEncoding::CompressedV6 => careful_blob_v6(&mut header, input),
        }?;
        *running = header;
        Ok((rest, Blob { header, bytes: input.get(..extent.next_at).unwrap_or(input) }))
    }
}

/// Offsets within a blob, in bytes from its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Offset of the payload, which is also the length of the header.
    pub(crate) payload_at: usize,
    /// Offset of the next blob.
    pub(crate) next_at: usize,
}

/// Converts the length of a header in bytes to the type that `BlobHeader` stores.
#[inline(always)]
#[expect(
    clippy::cast_possible_truncation,
    reason = "headers have at most 128 bytes; wrong ones stay below 2^31"
)]
pub(crate) fn size_of_header(bytes: usize) -> u32 {
    bytes as u32
}

/// Flag bits of a compressed header.
mod flag {
    pub(in crate::blob) const METADATA_ID: u8 = 0x01;
    pub(in crate::blob) const CAPTURE: u8 = 0x02;
    pub(in crate::blob) const THREAD: u8 = 0x04;
    pub(in crate::blob) const STACK: u8 = 0x08;
    /// Flag of an activity id (versions 4 and 5).
    pub(in crate::blob) const ACTIVITY: u8 = 0x10;
    /// Flag of the id of a label list (version 6).
    pub(in crate::blob) const LABEL_LIST: u8 = 0x10;
    pub(in crate::blob) const RELATED_ACTIVITY: u8 = 0x20;
    pub(in crate::blob) const SORTED: u8 = 0x40;
    pub(in crate::blob) const PAYLOAD_SIZE: u8 = 0x80;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns pseudo-random bytes, in which varuints are small, large or too long.
    fn input(seed: u64) -> [u8; WINDOW] {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        std::array::from_fn(|at| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let byte = (state >> 56) as u8;
            // In two of three inputs, no varuint or only every second one has
            // continuation bytes.
            match (at, seed % 3) {
                (0, _) | (_, 0) => byte,
                (_, 1) if byte & 0x40 != 0 => byte | 0x80,
                _ => byte & 0x7f,
            }
        })
    }

    #[test]
    fn both_ways_through_a_compressed_header_read_the_same() {
        type Fast = fn(&mut BlobHeader, &[u8; WINDOW], &mut Wrong) -> usize;
        type Careful = for<'a> fn(&BlobHeader, &'a [u8]) -> Parsed<'a, BlobHeader>;
        let versions: [(Fast, Careful); 2] =
            [(compressed_v4, careful_compressed_v4), (compressed_v6, careful_compressed_v6)];
        // Miri takes hundreds of times as long per seed.
        let seeds = if cfg!(miri) { 100 } else { 2000 };
        let (mut right, mut wrong) = (0, 0);
        for (fast, careful) in versions {
            let mut before = BlobHeader::default();
            for seed in 0..seeds {
                let input = input(seed);
                let mut header = before;
                let mut is_wrong = Wrong::default();
                let bytes = fast(&mut header, &input, &mut is_wrong);
                match careful(&before, &input) {
                    Ok((rest, expected)) => {
                        assert_eq!((bytes, header), (WINDOW - rest.len(), expected), "{seed}");
                        assert!(!is_wrong.0, "{seed}");
                        before = header;
                        right += 1;
                    }
                    Err(_) => {
                        assert!(is_wrong.0, "{seed}");
                        wrong += 1;
                    }
                }
            }
        }
        assert!(right > seeds / 4 && wrong > seeds / 20, "{right} right, {wrong} wrong");
    }

    #[test]
    fn both_ways_through_a_fixed_header_read_the_same() {
        let mut input = [0u8; 100];
        for (at, byte) in input.iter_mut().enumerate() {
            *byte = at as u8;
        }
        for (event_size, payload_size) in
            [(96, 16), (96, 17), (97, 0), (80, 4), (44, 0), (76, 0), (u32::MAX, 0), (96, u32::MAX)]
        {
            for (payload_size_at, is_v6) in [(76, false), (48, true)] {
                input[..4].copy_from_slice(&u32::to_le_bytes(event_size));
                input[payload_size_at..payload_size_at + 4]
                    .copy_from_slice(&u32::to_le_bytes(payload_size));
                for length in [100, 99, 80, 79, 52, 51, 3, 0] {
                    let input = &input[..length];
                    let (mut quick, mut fixed) = (BlobHeader::default(), BlobHeader::default());
                    let (extent, parsed) = if is_v6 {
                        (quick_v6(&mut quick, input), fixed_v6(&mut fixed, input))
                    } else {
                        (quick_v4(&mut quick, input), fixed_v4(&mut fixed, input))
                    };
                    match (extent, parsed) {
                        (Some(extent), Ok((rest, other))) => {
                            assert_eq!((extent, quick), (other, fixed));
                            assert_eq!(rest.len(), length - extent.next_at);
                            assert_eq!(extent.next_at as u64, u64::from(event_size) + 4);
                        }
                        (None, Err(_)) => {}
                        (quick, fixed) => {
                            panic!("{event_size}, {payload_size}, {length}: {quick:?}, {fixed:?}")
                        }
                    }
                }
            }
        }
    }
}
