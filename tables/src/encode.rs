//! Makes the column writers of the crate `parquet`: sets their properties, and stores their pages
//! in the spill.

use crate::column::{ColumnKind, Layout};
use crate::spill::Spill;
use parquet::basic::{Compression, Encoding, Type};
use parquet::column::page::{CompressedPage, PageWriteSpec, PageWriter};
use parquet::column::writer::{ColumnWriter, get_column_writer};
use parquet::errors::Result;
use parquet::file::properties::{EnabledStatistics, WriterPropertiesBuilder, WriterPropertiesPtr};
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::{ColumnDescPtr, ColumnPath};
use std::io::Write;

/// Maximum number of rows in a page.
const MAX_PAGE_ROWS: usize = 8192;
/// Maximum size of a page before compression, in bytes. Snappy compresses pieces of 64 KiB, so a
/// page a little below that is a single piece.
const MAX_PAGE_BYTES: usize = 62 << 10;

/// Sets the size and the compression of pages.
pub(crate) fn with_pages(properties: WriterPropertiesBuilder) -> WriterPropertiesBuilder {
    properties
        .set_compression(Compression::SNAPPY)
        .set_data_page_row_count_limit(MAX_PAGE_ROWS)
        .set_data_page_size_limit(MAX_PAGE_BYTES)
}

/// Sets how a writer encodes the values of a column.
pub(crate) fn with_layout(
    properties: WriterPropertiesBuilder,
    column: ColumnPath,
    layout: Layout,
) -> WriterPropertiesBuilder {
    match layout {
        Layout::Dictionary => properties,
        Layout::Delta => properties
            .set_column_dictionary_enabled(column.clone(), false)
            .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED),
        // No query selects long texts by range. The row group's statistics still count nulls.
        Layout::Plain => properties
            .set_column_dictionary_enabled(column.clone(), false)
            .set_column_statistics_enabled(column, EnabledStatistics::Chunk),
    }
}

/// Makes a writer that stores in the spill the pages of one column for one row group. `number` is
/// the index of the column in its table.
pub(crate) fn column_writer(
    number: usize,
    descriptor: ColumnDescPtr,
    properties: WriterPropertiesPtr,
    spill: Spill,
) -> ColumnWriter<'static> {
    let pages = Pages { spill, column: number, written: 0 };
    get_column_writer(descriptor, properties, Box::new(pages))
}

/// Stores the pages of a column for one row group in the spill.
struct Pages {
    spill: Spill,
    column: usize,
    /// Number of bytes stored so far.
    written: u64,
}

impl PageWriter for Pages {
    fn write_page(&mut self, page: CompressedPage) -> Result<PageWriteSpec> {
        let mut spec = self.spill.append(self.column, |bytes| {
            let mut out = TrackedWrite::new(bytes);
            let spec = SerializedPageWriter::new(&mut out).write_page(page)?;
            out.flush()?;
            Ok(spec)
        })?;
        spec.offset = self.written;
        self.written = self.written.saturating_add(spec.bytes_written);
        Ok(spec)
    }

    fn close(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Returns the physical type of Parquet for a kind of column.
pub(crate) fn physical(kind: ColumnKind) -> Type {
    match kind {
        ColumnKind::Small => Type::INT32,
        ColumnKind::Whole | ColumnKind::Unsigned | ColumnKind::Instant => Type::INT64,
        ColumnKind::Real => Type::DOUBLE,
        ColumnKind::Flag => Type::BOOLEAN,
        ColumnKind::Text => Type::BYTE_ARRAY,
    }
}
