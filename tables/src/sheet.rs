//! A table of one trace while its rows come.
//!
//! Each value goes to its column, which encodes and compresses a page of them at a time. A
//! row group that is full is set aside in a temporary file, because the file itself can only
//! be written at the end: ids of stacks are hashes of the names of their frames, which are
//! complete only when the whole trace has been read. So memory holds one row group of each
//! table, compressed, and 8 bytes a row for each column that waits for names.

use crate::column::{Column, ColumnKind, Later, Layout};
use crate::encode::{Encoder, PAGE_BYTES, PAGE_ROWS, Packer, physical};
use bytes::Bytes;
use nettrace_analysis::{Mode, Resolved, StackHandle};
use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor, Type, TypePtr};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::Arc;

/// Rows of a row group.
const GROUP_ROWS: usize = 1 << 20;
/// A row group ends earlier if it has grown to this size.
const GROUP_BYTES: usize = 24 << 20;

/// Makes a temporary file that nobody else sees.
pub type MakeSpill = Arc<dyn Fn() -> io::Result<File> + Send + Sync>;

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
    /// A number a row, from which its value is computed at the end.
    pending: Vec<u64>,
}

/// Bytes that are set aside.
#[derive(Debug)]
enum Place {
    Memory(Vec<u8>),
    File { at: u64, len: u64 },
}

/// A column of a full row group.
enum Closed {
    Encoded(Box<ColumnCloseResult>, Place),
    Pending(Place),
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
    make_spill: MakeSpill,
    spill: Option<(File, u64)>,
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
            make_spill,
            spill: None,
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
        if let Err(error) = written {
            self.fault = Some(error);
        } else if (self.group >= GROUP_ROWS || self.bytes() >= GROUP_BYTES)
            && let Err(error) = self.end_group(true)
        {
            self.fault = Some(error);
        }
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
        if self.bytes() >= GROUP_BYTES {
            self.end_page();
        }
    }

    /// Bytes of the row group.
    fn bytes(&self) -> usize {
        self.columns.iter().map(|column| column.encoder.len()).sum()
    }

    fn end_group(&mut self, sets_aside: bool) -> Result<(), ParquetError> {
        let mut closed = Vec::with_capacity(self.columns.len());
        for column in &mut self.columns {
            if column.later != Later::No {
                let pending = std::mem::take(&mut column.pending);
                let bytes = pending.iter().flat_map(|value| value.to_le_bytes()).collect();
                closed.push(Closed::Pending(Place::Memory(bytes)));
            } else {
                let (result, bytes) = column.encoder.close(&mut self.packer)?;
                closed.push(Closed::Encoded(Box::new(result), Place::Memory(bytes)));
            }
        }
        if sets_aside {
            for column in &mut closed {
                let (Closed::Encoded(_, place) | Closed::Pending(place)) = column;
                *place = set_aside(&mut self.spill, &self.make_spill, place)?;
            }
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
                let Closed::Pending(place) = closed else { continue };
                let is_aside = matches!(place, Place::File { .. });
                let pending = fetch(&mut self.spill, place)?;
                write_later(open, &pending, ending, &mut self.packer)?;
                let (result, bytes) = open.encoder.close(&mut self.packer)?;
                let mut place = Place::Memory(bytes);
                if is_aside {
                    place = set_aside(&mut self.spill, &self.make_spill, &mut place)?;
                }
                *closed = Closed::Encoded(Box::new(result), place);
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
        let Sheet { schema, properties, groups, mut spill, notes, .. } = self;
        let mut file = SerializedFileWriter::new(out, schema, properties)?;
        for group in groups {
            let mut rows = file.next_row_group()?;
            for closed in group {
                let Closed::Encoded(result, mut place) = closed else {
                    return Err(ParquetError::General("a column without its values".to_owned()));
                };
                let bytes = Bytes::from(fetch(&mut spill, &mut place)?);
                rows.append_column(&bytes, *result)?;
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

fn set_aside(
    spill: &mut Option<(File, u64)>,
    make: &MakeSpill,
    place: &mut Place,
) -> Result<Place, ParquetError> {
    let Place::Memory(bytes) = place else {
        return Err(ParquetError::General("a row group was already set aside".to_owned()));
    };
    if spill.is_none() {
        *spill = Some((make()?, 0));
    }
    let Some((file, end)) = spill else { return Ok(Place::Memory(std::mem::take(bytes))) };
    file.seek(SeekFrom::Start(*end))?;
    file.write_all(bytes)?;
    let (at, len) = (*end, bytes.len() as u64);
    *end = end.saturating_add(len);
    Ok(Place::File { at, len })
}

fn fetch(spill: &mut Option<(File, u64)>, place: &mut Place) -> Result<Vec<u8>, ParquetError> {
    match (place, spill) {
        (Place::Memory(bytes), _) => Ok(std::mem::take(bytes)),
        (Place::File { at, len }, Some((file, _))) => {
            file.seek(SeekFrom::Start(*at))?;
            let mut bytes = Vec::new();
            file.take(*len).read_to_end(&mut bytes)?;
            Ok(bytes)
        }
        _ => Err(ParquetError::General("the temporary file for row groups is missing".to_owned())),
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
