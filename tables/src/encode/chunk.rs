//! The pages of a column in a row group.

use super::range::{Range, statistics};
use crate::column::ColumnKind;
use bytes::Bytes;
use parquet::basic::{BoundaryOrder, Compression, Encoding, EncodingMask, PageType, Type};
use parquet::column::page::{CompressedPage, Page, PageWriteSpec, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{
    ColumnChunkMetaData, ColumnIndexBuilder, OffsetIndexBuilder, PageEncodingStats,
};
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

/// Compresses pages; one for all columns of a table, because its tables and buffers are
/// larger than a page.
pub(crate) struct Packer {
    snappy: snap::raw::Encoder,
    packed: Vec<u8>,
    /// A page before compression.
    pub(super) page: Vec<u8>,
}

impl Packer {
    pub(crate) fn new() -> Packer {
        Packer { snappy: snap::raw::Encoder::new(), packed: Vec::new(), page: Vec::new() }
    }

    fn pack(&mut self, page: &[u8]) -> Result<Bytes> {
        let most = snap::raw::max_compress_len(page.len());
        if self.packed.len() < most {
            self.packed.resize(most, 0);
        }
        let packed = self.snappy.compress(page, &mut self.packed);
        let length = packed.map_err(|error| ParquetError::External(Box::new(error)))?;
        Ok(Bytes::copy_from_slice(self.packed.get(..length).unwrap_or_default()))
    }
}

/// A page: how its values are encoded, and what readers are told about them.
pub(super) struct PageFacts {
    pub(super) encoding: Encoding,
    pub(super) rows: usize,
    pub(super) nulls: usize,
    pub(super) nans: usize,
    pub(super) range: Option<Range>,
}

/// Distinct values that the pages have the numbers of.
pub(super) struct Dictionary {
    pub(super) bytes: Vec<u8>,
    pub(super) values: usize,
}

/// Pages that were written.
pub(crate) struct Chunk {
    descriptor: ColumnDescPtr,
    kind: ColumnKind,
    data: Vec<u8>,
    /// Bytes of pages that were taken away.
    taken: usize,
    offsets: OffsetIndexBuilder,
    ranges: ColumnIndexBuilder,
    range: Option<Range>,
    /// That of the page before, of those that are not null.
    last: Option<Range>,
    is_ascending: bool,
    is_descending: bool,
    rows: usize,
    nulls: usize,
    nans: usize,
    uncompressed: usize,
    pages: Vec<PageEncodingStats>,
}

/// A chunk that ended. Its bytes are the head, the pages that were taken away before, and
/// the tail.
pub(crate) struct ClosedChunk {
    pub(crate) result: ColumnCloseResult,
    /// The page of the dictionary, if there is one.
    pub(crate) head: Vec<u8>,
    pub(crate) tail: Vec<u8>,
}

impl Chunk {
    pub(super) fn new(descriptor: ColumnDescPtr, kind: ColumnKind, has_ranges: bool) -> Chunk {
        let mut ranges = ColumnIndexBuilder::new(descriptor.physical_type());
        if !has_ranges {
            ranges.to_invalid();
        }
        Chunk {
            descriptor,
            kind,
            data: Vec::new(),
            taken: 0,
            offsets: OffsetIndexBuilder::new(),
            ranges,
            range: None,
            last: None,
            is_ascending: true,
            is_descending: true,
            rows: 0,
            nulls: 0,
            nans: 0,
            uncompressed: 0,
            pages: Vec::new(),
        }
    }

    /// Bytes of all pages, with those that were taken away.
    pub(super) fn len(&self) -> usize {
        self.taken.saturating_add(self.data.len())
    }

    /// Bytes of pages that are here.
    pub(super) fn waiting(&self) -> usize {
        self.data.len()
    }

    /// The pages that are here; those of later calls stand behind them.
    pub(super) fn take_pages(&mut self) -> Vec<u8> {
        let pages = std::mem::take(&mut self.data);
        self.taken = self.taken.saturating_add(pages.len());
        pages
    }

    /// Values that are not null.
    pub(super) fn values(&self) -> usize {
        self.rows.saturating_sub(self.nulls)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Compresses and adds a page.
    pub(super) fn add(&mut self, packer: &mut Packer, page: &[u8], facts: PageFacts) -> Result<()> {
        let offset = self.len();
        let written = write_page(
            &mut self.data,
            Page::DataPage {
                buf: packer.pack(page)?,
                num_values: u32::try_from(facts.rows).unwrap_or(u32::MAX),
                encoding: facts.encoding,
                def_level_encoding: Encoding::RLE,
                rep_level_encoding: Encoding::RLE,
                statistics: None,
            },
            page.len(),
        )?;
        self.uncompressed = self.uncompressed.saturating_add(written.uncompressed_size);
        self.offsets.append_row_count(whole(facts.rows));
        let size = i32::try_from(written.compressed_size).unwrap_or(i32::MAX);
        self.offsets.append_offset_and_size(whole(offset), size);
        match self.pages.last_mut() {
            Some(pages) if pages.encoding == facts.encoding => {
                pages.count = pages.count.saturating_add(1);
            }
            _ => self.pages.push(PageEncodingStats {
                page_type: PageType::DATA_PAGE,
                encoding: facts.encoding,
                count: 1,
            }),
        }
        self.rows = self.rows.saturating_add(facts.rows);
        self.nulls = self.nulls.saturating_add(facts.nulls);
        self.nans = self.nans.saturating_add(facts.nans);
        self.tell(facts);
        Ok(())
    }

    /// What readers can leave the page out by.
    fn tell(&mut self, facts: PageFacts) {
        if !self.ranges.valid() {
            return;
        }
        let nans = (self.kind == ColumnKind::Real).then_some(whole(facts.nans));
        if facts.nulls == facts.rows {
            return self.ranges.append(true, Vec::new(), Vec::new(), whole(facts.nulls), nans);
        }
        let bytes = facts.range.as_ref().and_then(|range| range.bytes(self.kind));
        let (Some(range), Some((least, most))) = (facts.range, bytes) else {
            return self.ranges.to_invalid();
        };
        self.ranges.append(false, least, most, whole(facts.nulls), nans);
        if let Some(last) = &self.last {
            self.is_ascending &= last.least <= range.least && last.most <= range.most;
            self.is_descending &= last.least >= range.least && last.most >= range.most;
        }
        match &mut self.range {
            Some(whole) => whole.widen(&range),
            none => *none = Some(range.clone()),
        }
        self.last = Some(range);
    }

    /// Ends the chunk.
    pub(super) fn close(
        mut self,
        packer: &mut Packer,
        dictionary: Option<&Dictionary>,
    ) -> Result<ClosedChunk> {
        let mut head = Vec::new();
        if let Some(dictionary) = dictionary {
            let page = Page::DictionaryPage {
                buf: packer.pack(&dictionary.bytes)?,
                num_values: u32::try_from(dictionary.values).unwrap_or(u32::MAX),
                encoding: Encoding::PLAIN,
                is_sorted: false,
            };
            let written = write_page(&mut head, page, dictionary.bytes.len())?;
            self.uncompressed = self.uncompressed.saturating_add(written.uncompressed_size);
        }
        let size = head.len().saturating_add(self.len());
        let tail = self.take_pages();
        let of_dictionary = dictionary.map(|_| PageEncodingStats {
            page_type: PageType::DICTIONARY_PAGE,
            encoding: Encoding::PLAIN,
            count: 1,
        });
        let pages: Vec<PageEncodingStats> = of_dictionary.into_iter().chain(self.pages).collect();
        let encodings: Vec<Encoding> =
            pages.iter().map(|pages| pages.encoding).chain([Encoding::RLE]).collect();
        let metadata = ColumnChunkMetaData::builder(self.descriptor)
            .set_compression(Compression::SNAPPY)
            .set_encodings_mask(EncodingMask::new_from_encodings(encodings.iter()))
            .set_page_encoding_stats(pages)
            .set_total_compressed_size(whole(size))
            .set_total_uncompressed_size(whole(self.uncompressed))
            .set_num_values(whole(self.rows))
            .set_data_page_offset(0);
        // Ranges of all pages, or none; the number of nulls in any case.
        let range = self.range.as_ref().filter(|_| self.ranges.valid());
        let (nulls, nans) = (self.nulls as u64, self.nans as u64);
        let metadata = metadata.set_statistics(statistics(self.kind, range, nulls, nans));
        self.ranges.set_boundary_order(match (self.is_ascending, self.is_descending) {
            (true, _) => BoundaryOrder::ASCENDING,
            (_, true) => BoundaryOrder::DESCENDING,
            _ => BoundaryOrder::UNORDERED,
        });
        let result = ColumnCloseResult {
            bytes_written: size as u64,
            rows_written: self.rows as u64,
            metadata: metadata.build()?,
            bloom_filter: None,
            column_index: if self.ranges.valid() { Some(self.ranges.build()?) } else { None },
            offset_index: Some(self.offsets.build()),
        };
        let result = result.update_dictionary_location(head.len())?;
        Ok(ClosedChunk { result, head, tail })
    }
}

fn write_page(out: &mut Vec<u8>, page: Page, uncompressed: usize) -> Result<PageWriteSpec> {
    let mut out = TrackedWrite::new(out);
    let page = CompressedPage::new(page, uncompressed);
    let written = SerializedPageWriter::new(&mut out).write_page(page)?;
    std::io::Write::flush(&mut out)?;
    Ok(written)
}

/// Sizes in memory, which are far from what does not fit.
fn whole(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// How values of a kind lie in a page.
pub(crate) fn physical(kind: ColumnKind) -> Type {
    match kind {
        ColumnKind::Small => Type::INT32,
        ColumnKind::Whole | ColumnKind::Unsigned | ColumnKind::Instant => Type::INT64,
        ColumnKind::Real => Type::DOUBLE,
        ColumnKind::Flag => Type::BOOLEAN,
        ColumnKind::Text => Type::BYTE_ARRAY,
    }
}
