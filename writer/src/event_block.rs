//! Content of event blocks, and of the metadata blocks of versions 4 and 5.

use crate::blob::{Blob, Compressor};
use crate::bytes::{Sink, count16};
use crate::layout::{Content, Version};

/// Layout of the blobs in a block ([FORMAT.md 6.2] and 6.3).
///
/// [FORMAT.md 6.2]: https://docs.rs/nettrace-parser/latest/nettrace_parser/format_guide/#6.2
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum BlobLayout {
    /// Each blob has a byte of flags and the fields that differ from the previous blob (versions
    /// 4–6). All runtimes write this layout.
    #[default]
    Compressed,
    /// The layout `Compressed`, but every varuint has up to this number of needless bytes.
    Overlong(usize),
    /// Each blob has all fields. In versions 4 and 5 it is padded to a multiple of 4 bytes.
    Uncompressed,
    /// Each blob has all fields, without padding. The tests of the reference reader write this
    /// layout.
    UncompressedUnpadded,
}

/// Content of an event block, and of a metadata block of versions 3 to 5. A field that is `None`
/// is written with the correct value.
///
/// [FORMAT.md 6.1] and 7.4:
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 2 | HeaderSize, this field included: 20 |
/// | 2 | 2 | Flags, bit 0: compressed blob headers |
/// | 4 | 8 | MinTimestamp |
/// | 12 | 8 | MaxTimestamp |
/// | HeaderSize | | blobs |
///
/// In version 3 there is no header.
///
/// ```
/// use nettrace_writer::{Blob, EventBlock, Version};
/// let events = [1, 2].map(|n| Blob { metadata_id: 1, sequence_number: n, ticks: 5, ..Blob::default() });
/// let content = EventBlock::new(events).content(Version::V4);
/// assert_eq!(content.rows[0].start, 20);
/// ```
///
/// [FORMAT.md 6.1]: https://docs.rs/nettrace-parser/latest/nettrace_parser/format_guide/#6.1
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventBlock {
    /// Layout of the blobs. It has no effect in version 3, which has one layout only.
    pub layout: BlobLayout,
    /// HeaderSize to write instead of the correct one, which is 20 plus the length of
    /// `header_extra`.
    pub header_size: Option<u16>,
    /// Flags to write in the header instead of those that `layout` requires.
    pub flags: Option<u16>,
    /// MinTimestamp to write instead of the smallest timestamp of the blobs.
    pub min_ticks: Option<u64>,
    /// MaxTimestamp to write instead of the largest timestamp of the blobs.
    pub max_ticks: Option<u64>,
    /// Bytes to append to the known fields of the header.
    pub header_extra: Vec<u8>,
    /// The blobs of the block.
    pub rows: Vec<Row>,
}

/// A blob of a block, or any bytes in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Row {
    /// A blob.
    Blob(Blob),
    /// Bytes to write unchanged. They have no influence on which fields the next compressed blob
    /// stores.
    Raw(Vec<u8>),
}

impl From<Blob> for Row {
    fn from(blob: Blob) -> Self {
        Row::Blob(blob)
    }
}

impl EventBlock {
    /// Creates a block with these blobs in the compressed layout.
    pub fn new(blobs: impl IntoIterator<Item = Blob>) -> Self {
        EventBlock { rows: blobs.into_iter().map(Row::Blob).collect(), ..EventBlock::default() }
    }

    /// Sets the layout of the blobs.
    #[must_use]
    pub fn layout(mut self, layout: BlobLayout) -> Self {
        self.layout = layout;
        self
    }

    fn blobs(&self) -> impl Iterator<Item = &Blob> {
        self.rows.iter().filter_map(|row| match row {
            Row::Blob(blob) => Some(blob),
            Row::Raw(_) => None,
        })
    }

    fn header(&self) -> Sink {
        let is_compressed = matches!(self.layout, BlobLayout::Compressed | BlobLayout::Overlong(_));
        // All blobs are compared, because the events of a block need not be in time order.
        let min_ticks = self.blobs().map(|blob| blob.ticks).min().unwrap_or(0);
        let max_ticks = self.blobs().map(|blob| blob.ticks).max().unwrap_or(0);
        let mut header = Sink::new();
        header.u16(self.header_size.unwrap_or_else(|| count16(20 + self.header_extra.len())));
        header.u16(self.flags.unwrap_or(u16::from(is_compressed)));
        header.u64(self.min_ticks.unwrap_or(min_ticks)).u64(self.max_ticks.unwrap_or(max_ticks));
        header.raw(&self.header_extra);
        header
    }

    /// Returns the block's content in the layout of `version`.
    pub fn content(&self, version: Version) -> Content {
        let mut content = Content::default();
        if version != Version::V3 {
            content.bytes = self.header().into_vec();
        }
        let mut compressor = Compressor::new(version);
        if let BlobLayout::Overlong(extra) = self.layout {
            compressor = compressor.overlong_varuints(extra);
        }
        for row in &self.rows {
            let mut sink = Sink::new();
            match (row, self.layout) {
                (Row::Raw(bytes), _) => {
                    sink.raw(bytes);
                }
                (Row::Blob(blob), _) if version == Version::V3 => blob.encode_v3(&mut sink),
                (Row::Blob(blob), BlobLayout::Compressed | BlobLayout::Overlong(_)) => {
                    compressor.encode(blob, &mut sink);
                }
                (Row::Blob(blob), _) if version == Version::V6 => blob.encode_v6(&mut sink),
                (Row::Blob(blob), layout) => {
                    blob.encode_v4(&mut sink, layout == BlobLayout::Uncompressed);
                }
            }
            content.row(sink.as_slice());
        }
        content
    }
}
