//! Content of event blocks, and of the metadata blocks of versions 4 and 5.

use crate::blob::{Blob, Compressor};
use crate::bytes::{Sink, count16};
use crate::layout::{Content, Version};

/// How blobs are written ([FORMAT.md 6.2] and 6.3).
///
/// [FORMAT.md 6.2]: https://docs.rs/nettrace-parser/latest/nettrace_parser/format_guide/#6.2
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum BlobLayout {
    /// Flags and differences (versions 4–6), as every runtime writes.
    #[default]
    Compressed,
    /// Like `Compressed`, with that many needless bytes in every varuint, as far as its
    /// maximum length allows.
    Overlong(usize),
    /// All fields; versions 4 and 5 padded to a multiple of 4.
    Uncompressed,
    /// All fields, without padding (as the reference reader's test writer does).
    UncompressedUnpadded,
}

/// Content of an event block, and of a metadata block of versions 3 to 5. `None` means
/// the correct value.
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
    /// How the blobs are written; version 3 has one layout only.
    pub layout: BlobLayout,
    /// HeaderSize, if not 20 plus the length of `header_extra`.
    pub header_size: Option<u16>,
    /// Flags, if not the ones that the layout needs.
    pub flags: Option<u16>,
    /// MinTimestamp, if not the smallest of the blobs.
    pub min_ticks: Option<u64>,
    /// MaxTimestamp, if not the largest of the blobs.
    pub max_ticks: Option<u64>,
    /// Header bytes after the known ones.
    pub header_extra: Vec<u8>,
    /// The blobs.
    pub rows: Vec<Row>,
}

/// A blob, or bytes where one should be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Row {
    /// A blob.
    Blob(Blob),
    /// Bytes as they are. A compressor does not see them: blobs after them continue
    /// from the state before them.
    Raw(Vec<u8>),
}

impl From<Blob> for Row {
    fn from(blob: Blob) -> Self {
        Row::Blob(blob)
    }
}

impl EventBlock {
    /// Creates a block of compressed blobs.
    pub fn new(blobs: impl IntoIterator<Item = Blob>) -> Self {
        EventBlock { rows: blobs.into_iter().map(Row::Blob).collect(), ..EventBlock::default() }
    }

    /// Changes the layout of the blobs.
    pub fn with_layout(mut self, layout: BlobLayout) -> Self {
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
        // Over all rows, not the first and the last: events of one block need not be in
        // time order.
        let min_ticks = self.blobs().map(|blob| blob.ticks).min().unwrap_or(0);
        let max_ticks = self.blobs().map(|blob| blob.ticks).max().unwrap_or(0);
        let mut header = Sink::new();
        header.u16(self.header_size.unwrap_or_else(|| count16(20 + self.header_extra.len())));
        header.u16(self.flags.unwrap_or(u16::from(is_compressed)));
        header.u64(self.min_ticks.unwrap_or(min_ticks)).u64(self.max_ticks.unwrap_or(max_ticks));
        header.raw(&self.header_extra);
        header
    }

    /// Returns the content in the layout of `version`.
    pub fn content(&self, version: Version) -> Content {
        let mut content = Content::default();
        if version != Version::V3 {
            content.bytes = self.header().into_vec();
        }
        let mut compressor = Compressor::new(version);
        if let BlobLayout::Overlong(extra) = self.layout {
            compressor = compressor.with_overlong_varuints(extra);
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
