//! A table of one trace while its rows come.
//!
//! Each value goes to its column, which encodes and compresses a page of them at a time.
//! Pages wait in a temporary file, because the table's file can only be written at the end:
//! ids of stacks are hashes of the names of their frames, which are complete only when the
//! whole trace has been read. So memory holds the pages since [`WAITING_BYTES`] were set
//! aside, the distinct values of columns that have a dictionary, and at the end, of one
//! column, 8 bytes for each row of a row group.

use crate::column::{Column, ColumnKind, Later, Layout};
use crate::encode::{ClosedChunk, Encoder, PAGE_BYTES, PAGE_ROWS, Packer, physical};
use crate::spill::{MakeSpill, Piece, Spill};
use nettrace_analysis::{Mode, Resolved, StackHandle};
use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor, Type, TypePtr};
use std::io::{self, Write};
use std::sync::Arc;

/// Rows of a row group.
const GROUP_ROWS: usize = 1 << 20;
/// A row group ends earlier if it has grown to this size: with very long texts.
const GROUP_BYTES: usize = 256 << 20;
/// When pages and values of a table take this much memory, they are set aside.
const WAITING_BYTES: usize = 4 << 20;

/// What is known when the trace has been read, for columns that wait for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ending<'r> {
    pub(crate) resolved: &'r Resolved<'r>,
    /// By the stack's handle; `None` for stacks without frames.
    pub(crate) stack_ids: &'r [Option<i64>],
    /// All handles of stacks, in the same order.
    pub(crate) stacks: &'r [StackHandle],
}

/// What a sheet needs to know of a column.
#[derive(Debug, Clone)]
pub(crate) struct SheetColumn {
    pub(crate) name: String,
    kind: ColumnKind,
    is_optional: bool,
    layout: Layout,
    later: Later,
}

impl SheetColumn {
    pub(crate) fn of(column: &Column) -> SheetColumn {
        SheetColumn {
            name: column.name.to_owned(),
            kind: column.kind,
            is_optional: column.null.is_some(),
            layout: column.layout,
            later: column.later,
        }
    }

    fn encoder(&self, descriptor: ColumnDescPtr) -> Encoder {
        Encoder::new(descriptor, self.kind, self.layout, self.is_optional)
    }

    /// Long texts, each another one.
    pub(crate) fn long(name: String) -> SheetColumn {
        SheetColumn { layout: Layout::Plain, ..SheetColumn::field(name, ColumnKind::Text) }
    }

    /// A field of a payload, which may be missing.
    pub(crate) fn field(name: String, kind: ColumnKind) -> SheetColumn {
        let layout = Layout::Dictionary;
        SheetColumn { name, kind, is_optional: true, layout, later: Later::No }
    }
}

/// A column while its rows come.
struct Open {
    later: Later,
    encoder: Encoder,
    /// A number for each row, from which its value is computed at the end.
    pending: Vec<u64>,
    /// Pages of the row group, or pending numbers, that were set aside.
    aside: Vec<Piece>,
}

/// A column of a row group that ended.
enum Closed {
    Encoded(Box<ColumnCloseResult>, Vec<Piece>),
    Pending(Vec<Piece>),
}

/// A table that grows.
pub(crate) struct Sheet {
    schema: TypePtr,
    properties: WriterPropertiesPtr,
    columns: Vec<Open>,
    packer: Packer,
    /// Rows of the page, and bytes of their texts since columns were asked for theirs.
    page: usize,
    page_bytes: usize,
    /// Rows in the row group, without those of the page.
    group: usize,
    /// Rows of all pages that ended.
    rows: u64,
    groups: Vec<Vec<Closed>>,
    /// Bytes at which a row group ends.
    group_bytes: usize,
    spill: Spill,
    /// Keys and values in the file's metadata.
    notes: Vec<KeyValue>,
    /// The first fault; nothing is written after it.
    fault: Option<ParquetError>,
}

impl Sheet {
    pub(crate) fn new(name: &str, columns: &[Column], make_spill: MakeSpill) -> io::Result<Sheet> {
        Sheet::of_columns(name, columns.iter().map(SheetColumn::of).collect(), make_spill)
    }

    pub(crate) fn of_columns(
        name: &str,
        columns: Vec<SheetColumn>,
        make_spill: MakeSpill,
    ) -> io::Result<Sheet> {
        let fields = columns.iter().map(field).collect::<Result<_, _>>().map_err(plain)?;
        let schema = Type::group_type_builder(name).with_fields(fields).build();
        let schema: TypePtr = Arc::new(schema.map_err(plain)?);
        let descriptor = SchemaDescriptor::new(Arc::clone(&schema));
        let properties = Arc::new(properties(name));
        let columns = columns
            .iter()
            .enumerate()
            .map(|(at, column)| Open {
                later: column.later,
                encoder: column.encoder(descriptor.column(at)),
                pending: Vec::new(),
                aside: Vec::new(),
            })
            .collect();
        Ok(Sheet {
            schema,
            properties,
            columns,
            packer: Packer::new(),
            page: 0,
            page_bytes: 0,
            group: 0,
            rows: 0,
            groups: Vec::new(),
            group_bytes: GROUP_BYTES,
            spill: Spill::new(make_spill),
            notes: Vec::new(),
            fault: None,
        })
    }

    /// Adds a key and its value to the file's metadata.
    pub(crate) fn note(&mut self, key: &str, value: &str) {
        self.notes.push(KeyValue::new(key.to_owned(), value.to_owned()));
    }

    /// The next row. Its values must be given in the order of the columns.
    #[inline]
    pub(crate) fn row(&mut self) -> Row<'_> {
        Row { columns: self.columns.iter_mut(), text_bytes: 0 }
    }

    /// Counts a row whose values were given.
    #[inline]
    pub(crate) fn end_row(&mut self, text_bytes: usize) {
        self.page = self.page.saturating_add(1);
        self.page_bytes = self.page_bytes.saturating_add(text_bytes);
        if self.page >= PAGE_ROWS {
            self.end_page();
        } else if self.page_bytes >= PAGE_BYTES {
            self.end_large_pages();
        }
    }

    #[inline(never)]
    fn end_page(&mut self) {
        self.rows = self.rows.saturating_add(self.page as u64);
        self.group = self.group.saturating_add(self.page);
        (self.page, self.page_bytes) = (0, 0);
        if self.fault.is_some() {
            self.columns.iter_mut().for_each(Open::forget);
            return;
        }
        let mut columns = self.columns.iter_mut();
        let written = columns.try_for_each(|column| column.encoder.end_page(&mut self.packer));
        let written = written.and_then(|()| {
            if self.group >= GROUP_ROWS || self.bytes() >= self.group_bytes {
                self.end_group(true)
            } else {
                self.set_aside()
            }
        });
        self.fault = written.err();
    }

    /// Writes pages that are large, though they have few rows yet.
    #[inline(never)]
    fn end_large_pages(&mut self) {
        self.page_bytes = 0;
        for column in &mut self.columns {
            if self.fault.is_some() {
                column.encoder.forget();
            } else if column.encoder.is_large() {
                self.fault = column.encoder.end_page(&mut self.packer).err();
            }
        }
        if self.bytes() >= self.group_bytes {
            self.end_page();
        } else if self.fault.is_none() {
            self.fault = self.set_aside().err();
        }
    }

    /// Bytes of the row group.
    fn bytes(&self) -> usize {
        self.columns.iter().map(|column| column.encoder.len()).sum()
    }

    /// Sets aside what the row group has in memory, if it is much.
    fn set_aside(&mut self) -> Result<(), ParquetError> {
        if self.columns.iter().map(Open::waiting).sum::<usize>() < WAITING_BYTES {
            return Ok(());
        }
        for column in &mut self.columns {
            let waiting = column.take_waiting();
            column.aside.extend(self.spill.put(&waiting)?);
        }
        Ok(())
    }

    fn end_group(&mut self, sets_aside: bool) -> Result<(), ParquetError> {
        let mut closed = Vec::with_capacity(self.columns.len());
        for column in &mut self.columns {
            let mut column = if column.later != Later::No {
                let waiting = column.take_waiting();
                let aside = std::mem::take(&mut column.aside);
                Closed::Pending(aside.into_iter().chain(Piece::of(waiting)).collect())
            } else {
                column.close(&mut self.packer)?
            };
            if sets_aside {
                let (Closed::Encoded(_, pieces) | Closed::Pending(pieces)) = &mut column;
                self.spill.put_all(pieces)?;
            }
            closed.push(column);
        }
        self.groups.push(closed);
        self.group = 0;
        Ok(())
    }

    /// Ends the last row group, which stays in memory.
    fn end_last_group(&mut self) -> Result<(), ParquetError> {
        self.rows = self.rows.saturating_add(self.page as u64);
        self.group = self.group.saturating_add(self.page);
        (self.page, self.page_bytes) = (0, 0);
        if self.group > 0 { self.end_group(false) } else { Ok(()) }
    }

    /// The trace has ended: columns that waited for it get their values.
    pub(crate) fn settle(&mut self, ending: &Ending<'_>) {
        if self.fault.is_none()
            && let Err(error) = self.settle_groups(ending)
        {
            self.fault = Some(error);
        }
    }

    fn settle_groups(&mut self, ending: &Ending<'_>) -> Result<(), ParquetError> {
        self.end_last_group()?;
        for group in &mut self.groups {
            for (closed, open) in group.iter_mut().zip(&mut self.columns) {
                let Closed::Pending(pieces) = closed else { continue };
                let is_aside = pieces.iter().any(|piece| matches!(piece, Piece::File { .. }));
                let pending = self.spill.chunk(std::mem::take(pieces))?.fetch()?;
                write_later(open, &pending, ending, &mut self.packer)?;
                *closed = open.close(&mut self.packer)?;
                if let (true, Closed::Encoded(_, pieces)) = (is_aside, closed) {
                    self.spill.put_all(pieces)?;
                }
            }
        }
        Ok(())
    }

    /// Writes the file and returns its number of rows; without rows, no file is created. A
    /// table with columns that wait for names must be settled first.
    pub(crate) fn finish(
        mut self,
        create: impl FnOnce() -> io::Result<Box<dyn Write + Send>>,
    ) -> io::Result<u64> {
        if let Some(fault) = self.fault.take() {
            return Err(plain(fault));
        }
        self.end_last_group().map_err(plain)?;
        if self.rows == 0 {
            return Ok(0);
        }
        let rows = self.rows;
        self.write(create()?).map_err(plain)?;
        Ok(rows)
    }

    /// A file without rows, from which query engines learn the columns.
    pub(crate) fn write_empty(self, out: Box<dyn Write + Send>) -> io::Result<()> {
        self.write(out).map_err(plain)
    }

    fn write(self, out: Box<dyn Write + Send>) -> Result<(), ParquetError> {
        let Sheet { schema, properties, groups, spill, notes, .. } = self;
        let mut file = SerializedFileWriter::new(out, schema, properties)?;
        for group in groups {
            let mut rows = file.next_row_group()?;
            for closed in group {
                let Closed::Encoded(result, pieces) = closed else {
                    return Err(ParquetError::General("a column without its values".to_owned()));
                };
                rows.append_column(&spill.chunk(pieces)?, *result)?;
            }
            rows.close()?;
        }
        notes.into_iter().for_each(|note| file.append_key_value_metadata(note));
        let mut out = file.into_inner()?;
        out.flush()?;
        Ok(())
    }
}

/// A row that is being added. Each value goes to the next column.
pub(crate) struct Row<'s> {
    columns: std::slice::IterMut<'s, Open>,
    text_bytes: usize,
}

impl Row<'_> {
    #[inline(always)]
    fn put(&mut self, put: impl FnOnce(&mut Encoder)) {
        if let Some(column) = self.columns.next() {
            put(&mut column.encoder);
        }
    }

    #[inline(always)]
    pub(crate) fn small(&mut self, value: impl Into<Option<i32>>) {
        let value: Option<i32> = value.into();
        self.whole(value.map(i64::from));
    }

    #[inline(always)]
    pub(crate) fn whole(&mut self, value: impl Into<Option<i64>>) {
        let value = value.into();
        self.put(|column| column.number(value));
    }

    /// A count, which stays at the largest number that the column can hold.
    #[inline(always)]
    pub(crate) fn count(&mut self, value: impl Into<Option<u64>>) {
        let value: Option<u64> = value.into();
        self.whole(value.map(|value| i64::try_from(value).unwrap_or(i64::MAX)));
    }

    /// An address, with all of its bits.
    #[inline(always)]
    pub(crate) fn unsigned(&mut self, value: impl Into<Option<u64>>) {
        let value: Option<u64> = value.into();
        self.whole(value.map(u64::cast_signed));
    }

    #[inline(always)]
    pub(crate) fn real(&mut self, value: impl Into<Option<f64>>) {
        let value: Option<f64> = value.into();
        self.whole(value.map(|value| value.to_bits().cast_signed()));
    }

    #[inline(always)]
    pub(crate) fn flag(&mut self, value: impl Into<Option<bool>>) {
        let value = value.into();
        self.put(|column| column.flag(value));
    }

    #[inline(always)]
    pub(crate) fn bytes(&mut self, value: Option<&[u8]>) {
        self.text_bytes = self.text_bytes.saturating_add(value.map_or(0, <[u8]>::len));
        self.put(|column| column.text(value));
    }

    #[inline(always)]
    pub(crate) fn text<'t>(&mut self, value: impl Into<Option<&'t str>>) {
        self.bytes(value.into().map(str::as_bytes));
    }

    /// A text that `write` appends.
    #[inline(always)]
    pub(crate) fn write<R: Default>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> R) -> R {
        let Some(column) = self.columns.next() else { return R::default() };
        let (length, result) = column.encoder.write(write);
        self.text_bytes = self.text_bytes.saturating_add(length);
        result
    }

    /// A text of which the caller has numbered all that this column may have.
    #[inline(always)]
    pub(crate) fn named(&mut self, name: usize, text: &str) {
        self.put(|column| column.named(name, text));
    }

    /// The stack's index, from which its id follows at the end; `u64::MAX` for null.
    #[inline(always)]
    pub(crate) fn stack(&mut self, stack: Option<StackHandle>) {
        self.later(stack.map_or(u64::MAX, |stack| stack.index() as u64));
    }

    /// The stack's index above the mode in the low 8 bits: see [`state_of`].
    #[inline(always)]
    pub(crate) fn state(&mut self, stack: StackHandle, mode: Mode) {
        self.later((stack.index() as u64) << 8 | u64::from(mode_number(mode)));
    }

    fn later(&mut self, value: u64) {
        if let Some(column) = self.columns.next() {
            debug_assert!(column.later != Later::No, "a column that does not wait for names");
            column.pending.push(value);
        }
    }

    /// All values were given: the bytes of their texts, for [`Sheet::end_row`].
    #[inline(always)]
    pub(crate) fn end(self) -> usize {
        debug_assert!(self.columns.len() == 0, "{} columns without a value", self.columns.len());
        self.text_bytes
    }
}

impl Open {
    fn forget(&mut self) {
        self.encoder.forget();
        self.pending.clear();
    }

    /// Bytes in memory, without those of the page.
    fn waiting(&self) -> usize {
        self.encoder.waiting().saturating_add(self.pending.len().saturating_mul(8))
    }

    /// What is in memory, as bytes.
    fn take_waiting(&mut self) -> Vec<u8> {
        if self.later == Later::No {
            return self.encoder.take_pages();
        }
        let bytes = self.pending.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.pending.clear();
        bytes
    }

    /// Ends the row group.
    fn close(&mut self, packer: &mut Packer) -> Result<Closed, ParquetError> {
        let ClosedChunk { result, head, tail } = self.encoder.close(packer)?;
        let aside = std::mem::take(&mut self.aside);
        let pieces = Piece::of(head).into_iter().chain(aside).chain(Piece::of(tail));
        Ok(Closed::Encoded(Box::new(result), pieces.collect()))
    }
}

/// Writes the values of a column that are known now.
fn write_later(
    open: &mut Open,
    pending: &[u8],
    ending: &Ending<'_>,
    packer: &mut Packer,
) -> Result<(), ParquetError> {
    let (words, _) = pending.as_chunks::<8>();
    for page in words.chunks(PAGE_ROWS) {
        for number in page.iter().map(|word| u64::from_le_bytes(*word)) {
            if open.later == Later::State {
                let (name, text) = state_of(number, ending);
                open.encoder.named(name, text);
            } else {
                let at = usize::try_from(number).ok();
                open.encoder.number(at.and_then(|at| ending.stack_ids.get(at).copied()?));
            }
        }
        open.encoder.end_page(packer)?;
    }
    Ok(())
}

fn mode_number(mode: Mode) -> u8 {
    match mode {
        Mode::Managed => 0,
        Mode::External => 1,
        Mode::Blocked => 2,
        Mode::OnCpu => 3,
        _ => 4,
    }
}

/// The name of a state, and its number.
fn state_of(number: u64, ending: &Ending<'_>) -> (usize, &'static str) {
    let mode = match number & 0xff {
        0 => Mode::Managed,
        1 => Mode::External,
        2 => Mode::Blocked,
        3 => Mode::OnCpu,
        _ => Mode::Unknown,
    };
    let stack = usize::try_from(number >> 8).ok();
    match stack.and_then(|at| ending.stacks.get(at)) {
        Some(stack) => {
            let state = ending.resolved.state(*stack, mode);
            (state as usize, state.name())
        }
        None => (usize::from(u8::MAX), "native"),
    }
}

fn field(column: &SheetColumn) -> Result<TypePtr, ParquetError> {
    let logical = match column.kind {
        ColumnKind::Unsigned => Some(LogicalType::integer(64, false)),
        ColumnKind::Text => Some(LogicalType::String),
        ColumnKind::Instant => Some(LogicalType::timestamp(true, TimeUnit::NANOS)),
        _ => None,
    };
    let repetition = if column.is_optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    let field = Type::primitive_type_builder(&column.name, physical(column.kind))
        .with_repetition(repetition)
        .with_logical_type(logical)
        .build()?;
    Ok(Arc::new(field))
}

fn properties(name: &str) -> WriterProperties {
    let pair = |key: &str, value: &str| KeyValue::new(key.to_owned(), value.to_owned());
    WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_key_value_metadata(Some(vec![
            pair("nettrace.table", name),
            pair("nettrace.schema", "1"),
        ]))
        .set_created_by("nettrace".to_owned())
        .build()
}

fn plain(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error),
        },
        error => io::Error::other(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use std::fs::File;

    #[test]
    fn a_row_group_ends_early_where_its_texts_are_large() {
        let column = SheetColumn::long("text".to_owned());
        let mut sheet = Sheet::of_columns("t", vec![column], Arc::new(tempfile)).unwrap();
        sheet.group_bytes = 100_000;
        // Sixteen hexadecimal digits after each other are hardly compressed.
        let mut state = 1u64;
        let texts: Vec<String> = (0..4000)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                format!("{state:016x}{:016x}", state.rotate_left(29))
            })
            .collect();
        for round in 0..10 {
            for text in &texts {
                let mut row = sheet.row();
                row.text(&**text);
                let bytes = row.end();
                sheet.end_row(bytes + round % 2);
            }
        }
        let path = std::env::temp_dir().join(format!("nettrace-sheet-{}", std::process::id()));
        let file = File::create(&path).unwrap();
        assert_eq!(sheet.finish(|| Ok(Box::new(file))).unwrap(), 40_000);
        let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
        let rows: Vec<i64> = reader.metadata().row_groups().iter().map(|g| g.num_rows()).collect();
        std::fs::remove_file(&path).unwrap();
        assert!(rows.len() > 5 && rows.iter().sum::<i64>() == 40_000, "{rows:?}");
    }

    fn tempfile() -> io::Result<File> {
        let path = std::env::temp_dir().join(format!("nettrace-spill-{}", std::process::id()));
        let file =
            File::options().read(true).write(true).create(true).truncate(true).open(&path)?;
        std::fs::remove_file(&path)?;
        Ok(file)
    }
}
