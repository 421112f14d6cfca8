//! A table while it is being written.
//!
//! Each value goes to its column's batch. Batches go to the column writers of the row group, which
//! encode and compress them as pages. Pages wait in the spill, because the file can be written only
//! at the end of the trace: a row group has one column after the other, and the values of
//! [deferred](crate::deferred) columns are known only then.

use crate::batch::Batch;
use crate::bytes;
use crate::column::{Column, ColumnKind, Deferred, Layout};
use crate::deferred::{Lookup, ResolvedStacks, ran_key, stack_number, state_number};
use crate::encode::{column_writer, physical, with_layout, with_pages};
use crate::spill::{Chunk, MakeSpill, Spill};
use nettrace_analysis::model::StackHandle;
use nettrace_analysis::{Mode, Sample};
use parquet::basic::{LogicalType, Repetition, TimeUnit};
use parquet::column::writer::{ColumnCloseResult, ColumnWriter};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, SchemaDescPtr, SchemaDescriptor, Type, TypePtr};
use std::io::{self, Read, Write};
use std::sync::Arc;

/// Maximum number of rows in a row group.
const MAX_GROUP_ROWS: usize = 1 << 20;
/// Maximum size of a row group, in bytes. Very long texts end a row group early.
const MAX_GROUP_BYTES: u64 = 256 << 20;
/// Maximum number of rows whose values are gathered before they are encoded.
const MAX_BATCH_ROWS: usize = 1024;
/// Maximum size of the texts in a batch, in bytes. Long texts end a batch early.
const MAX_BATCH_BYTES: usize = 1 << 20;

/// A column of a table that is being written.
#[derive(Debug, Clone)]
pub(crate) struct SheetColumn {
    pub(crate) name: String,
    kind: ColumnKind,
    is_optional: bool,
    layout: Layout,
    deferred: Option<Deferred>,
}

impl SheetColumn {
    pub(crate) fn from_column(column: &Column) -> SheetColumn {
        SheetColumn {
            name: column.name.to_owned(),
            kind: column.kind,
            is_optional: column.null.is_some(),
            layout: column.layout,
            deferred: column.deferred,
        }
    }

    /// Makes a column of long texts, which hardly repeat.
    pub(crate) fn long(name: String) -> SheetColumn {
        SheetColumn { layout: Layout::Plain, ..SheetColumn::field(name, ColumnKind::Text) }
    }

    /// Makes a column for a field of a payload. Its values may be missing.
    pub(crate) fn field(name: String, kind: ColumnKind) -> SheetColumn {
        let layout = Layout::Dictionary;
        SheetColumn { name, kind, is_optional: true, layout, deferred: None }
    }

    /// Makes the column one without values, if only readings of threads give it any.
    pub(crate) fn without_readings(self) -> SheetColumn {
        SheetColumn {
            deferred: self.deferred.filter(|deferred| !deferred.is_of_readings()),
            ..self
        }
    }

    fn batch(&self) -> Batch {
        Batch::new(self.kind, self.layout, self.is_optional)
    }
}

/// A column in the current row group.
struct Open {
    column: SheetColumn,
    /// Values that are not encoded yet; in a deferred column, their keys.
    batch: Batch,
    /// Encodes the values; `None` before the row group has values, and in a deferred column.
    writer: Option<ColumnWriter<'static>>,
}

/// A column in a row group that is complete.
enum Closed {
    Encoded(Box<ColumnCloseResult>, Chunk),
    /// Keys by which the values of a deferred column are looked up.
    Deferred(Deferred, Chunk),
}

/// A table while it is being written.
pub(crate) struct Sheet {
    schema: TypePtr,
    descriptor: SchemaDescPtr,
    properties: WriterPropertiesPtr,
    columns: Vec<Open>,
    /// Number of rows in the batch.
    batch_rows: usize,
    batch_bytes: usize,
    /// Number of rows in the row group, without those of the batch.
    group_rows: usize,
    /// Number of bytes of all row groups before the current one.
    group_start: u64,
    /// Number of rows in all batches that are complete.
    rows: u64,
    groups: Vec<Vec<Closed>>,
    /// Size at which a row group ends, in bytes.
    max_group_bytes: u64,
    spill: Spill,
    /// Keys and values for the file's metadata.
    notes: Vec<KeyValue>,
    /// First error, after which nothing more is written.
    fault: Option<ParquetError>,
}

impl Sheet {
    pub(crate) fn new(name: &str, columns: &[Column], make_spill: MakeSpill) -> io::Result<Sheet> {
        Sheet::of_columns(name, columns.iter().map(SheetColumn::from_column).collect(), make_spill)
    }

    pub(crate) fn of_columns(
        name: &str,
        columns: Vec<SheetColumn>,
        make_spill: MakeSpill,
    ) -> io::Result<Sheet> {
        let fields = columns.iter().map(field).collect::<Result<_>>().map_err(io_error)?;
        let schema = Type::group_type_builder(name).with_fields(fields).build();
        let schema: TypePtr = Arc::new(schema.map_err(io_error)?);
        let open = |column: SheetColumn| {
            let batch = match column.deferred {
                None => column.batch(),
                // A deferred column has the numbers of keys until the trace has ended. No stack has
                // a number, too, so no number is missing.
                Some(_) => Batch::new(ColumnKind::Whole, Layout::Plain, false),
            };
            Open { column, batch, writer: None }
        };
        Ok(Sheet {
            descriptor: Arc::new(SchemaDescriptor::new(Arc::clone(&schema))),
            schema,
            properties: Arc::new(properties(name, &columns)),
            spill: Spill::new(make_spill, columns.len()),
            columns: columns.into_iter().map(open).collect(),
            batch_rows: 0,
            batch_bytes: 0,
            group_rows: 0,
            group_start: 0,
            rows: 0,
            groups: Vec::new(),
            max_group_bytes: MAX_GROUP_BYTES,
            notes: Vec::new(),
            fault: None,
        })
    }

    /// Adds a key and its value to the metadata of the file.
    pub(crate) fn note(&mut self, key: &str, value: &str) {
        self.notes.push(KeyValue::new(key.to_owned(), value.to_owned()));
    }

    /// Begins the next row. The caller adds its values in the order of the columns.
    #[inline]
    pub(crate) fn row(&mut self) -> SheetRow<'_> {
        SheetRow { columns: self.columns.iter_mut(), text_bytes: 0 }
    }

    /// Counts a row to which all values were added.
    #[inline]
    pub(crate) fn end_row(&mut self, text_bytes: usize) {
        self.batch_rows = self.batch_rows.saturating_add(1);
        self.batch_bytes = self.batch_bytes.saturating_add(text_bytes);
        if self.batch_rows >= MAX_BATCH_ROWS || self.batch_bytes >= MAX_BATCH_BYTES {
            self.end_batch();
        }
    }

    #[inline(never)]
    fn end_batch(&mut self) {
        if self.batch_rows == 0 {
            return;
        }
        self.rows = self.rows.saturating_add(self.batch_rows as u64);
        self.group_rows = self.group_rows.saturating_add(self.batch_rows);
        (self.batch_rows, self.batch_bytes) = (0, 0);
        // The fault is kept for `finish`, because a row is added in the midst of an event, where a
        // full disk must not look like a fault of the reader.
        if self.fault.is_none() {
            self.fault = self.write_batch().err();
        }
        self.columns.iter_mut().for_each(|column| column.batch.clear());
    }

    fn write_batch(&mut self) -> Result<()> {
        let Sheet { columns, descriptor, properties, spill, .. } = self;
        for (number, column) in columns.iter_mut().enumerate() {
            if column.column.deferred.is_some() {
                let numbers = bytes::of_numbers(column.batch.wholes());
                spill.append(number, |bytes| {
                    bytes.extend_from_slice(numbers);
                    Ok(())
                })?;
                continue;
            }
            let writer = column.writer.get_or_insert_with(|| {
                let descriptor = descriptor.column(number);
                column_writer(number, descriptor, Arc::clone(properties), spill.clone())
            });
            column.batch.write(writer)?;
        }
        let bytes = self.spill.len().saturating_sub(self.group_start);
        if self.group_rows >= MAX_GROUP_ROWS || bytes >= self.max_group_bytes {
            self.end_group()
        } else {
            Ok(())
        }
    }

    fn end_group(&mut self) -> Result<()> {
        let mut closed = Vec::with_capacity(self.columns.len());
        for (number, column) in self.columns.iter_mut().enumerate() {
            let result = column.writer.take().map(ColumnWriter::close).transpose()?;
            let chunk = self.spill.take_chunk(number);
            closed.push(match (result, column.column.deferred) {
                (Some(result), _) => Closed::Encoded(Box::new(result), chunk),
                (None, Some(deferred)) => Closed::Deferred(deferred, chunk),
                (None, None) => {
                    return Err(ParquetError::General("a column without values".to_owned()));
                }
            });
        }
        self.groups.push(closed);
        self.group_rows = 0;
        self.group_start = self.spill.len();
        Ok(())
    }

    /// Writes the file of a table that has no deferred columns, as [`Sheet::finish_with`] does.
    pub(crate) fn finish(
        self,
        create: impl FnOnce() -> io::Result<Box<dyn Write + Send>>,
    ) -> io::Result<u64> {
        self.finish_with(&ResolvedStacks::default(), create)
    }

    /// Writes the file and returns its number of rows. If there are no rows, no file is created.
    pub(crate) fn finish_with(
        mut self,
        stacks: &ResolvedStacks,
        create: impl FnOnce() -> io::Result<Box<dyn Write + Send>>,
    ) -> io::Result<u64> {
        self.end_batch();
        if self.fault.is_none() && self.group_rows > 0 {
            self.fault = self.end_group().err();
        }
        if let Some(fault) = self.fault.take() {
            return Err(io_error(fault));
        }
        if self.rows == 0 {
            return Ok(0);
        }
        let rows = self.rows;
        self.write(stacks, create()?).map_err(io_error)?;
        Ok(rows)
    }

    /// Writes a file without rows, from which engines learn the columns.
    pub(crate) fn write_empty(self, out: Box<dyn Write + Send>) -> io::Result<()> {
        self.write(&ResolvedStacks::default(), out).map_err(io_error)
    }

    fn write(self, stacks: &ResolvedStacks, out: Box<dyn Write + Send>) -> Result<()> {
        let Sheet { schema, properties, columns, groups, notes, .. } = self;
        let mut file = SerializedFileWriter::new(out, schema, properties)?;
        let mut lookups: Vec<Lookup<'_>> = columns.iter().map(|_| Lookup::new(stacks)).collect();
        for group in groups {
            let mut rows = file.next_row_group()?;
            let columns = columns.iter().zip(&mut lookups);
            for (closed, (Open { column, .. }, lookup)) in group.into_iter().zip(columns) {
                match closed {
                    Closed::Encoded(result, chunk) => rows.append_column(&chunk, *result)?,
                    Closed::Deferred(deferred, chunk) => {
                        let Some(mut writer) = rows.next_column()? else { break };
                        write_deferred(column, deferred, &chunk, lookup, writer.untyped())?;
                        writer.close()?;
                    }
                }
            }
            rows.close()?;
        }
        notes.into_iter().for_each(|note| file.append_key_value_metadata(note));
        let mut out = file.into_inner()?;
        out.flush()?;
        Ok(())
    }
}

/// Looks up the values of a deferred column by their keys, and writes them.
fn write_deferred(
    column: &SheetColumn,
    deferred: Deferred,
    chunk: &Chunk,
    lookup: &mut Lookup<'_>,
    writer: &mut ColumnWriter<'_>,
) -> Result<()> {
    let mut batch = column.batch();
    let (mut rest, mut batch_bytes) = (chunk.bytes(), Vec::new());
    let (length, mut key) = (deferred.key_length(), Vec::new());
    let max_bytes = (MAX_BATCH_ROWS as u64).saturating_mul(8).saturating_mul(length as u64);
    loop {
        batch_bytes.clear();
        (&mut rest).take(max_bytes).read_to_end(&mut batch_bytes)?;
        let numbers = bytes::numbers(&batch_bytes);
        if numbers.len() == 0 {
            return Ok(());
        }
        for number in numbers {
            key.push(number);
            if key.len() == length {
                lookup.add(&mut batch, deferred, &key);
                key.clear();
            }
        }
        batch.write(writer)?;
    }
}

/// A row to which values are being added. Each value goes to the next column.
pub(crate) struct SheetRow<'s> {
    columns: std::slice::IterMut<'s, Open>,
    text_bytes: usize,
}

impl SheetRow<'_> {
    #[inline(always)]
    fn put(&mut self, put: impl FnOnce(&mut Batch)) {
        if let Some(column) = self.columns.next() {
            put(&mut column.batch);
        }
    }

    #[inline(always)]
    pub(crate) fn small(&mut self, value: impl Into<Option<i32>>) {
        let value = value.into();
        self.put(|column| column.add_small(value));
    }

    #[inline(always)]
    pub(crate) fn whole(&mut self, value: impl Into<Option<i64>>) {
        let value = value.into();
        self.put(|column| column.add_whole(value));
    }

    /// Adds a count. A count that is too large for the column becomes the column's maximum.
    #[inline(always)]
    pub(crate) fn count(&mut self, value: impl Into<Option<u64>>) {
        let value: Option<u64> = value.into();
        self.whole(value.map(|value| i64::try_from(value).unwrap_or(i64::MAX)));
    }

    /// Adds an unsigned number, such as an address, with all of its bits.
    #[inline(always)]
    pub(crate) fn unsigned(&mut self, value: impl Into<Option<u64>>) {
        let value: Option<u64> = value.into();
        self.whole(value.map(u64::cast_signed));
    }

    #[inline(always)]
    pub(crate) fn real(&mut self, value: impl Into<Option<f64>>) {
        let value = value.into();
        self.put(|column| column.add_real(value));
    }

    #[inline(always)]
    pub(crate) fn flag(&mut self, value: impl Into<Option<bool>>) {
        let value = value.into();
        self.put(|column| column.add_flag(value));
    }

    #[inline(always)]
    pub(crate) fn bytes(&mut self, value: Option<&[u8]>) {
        self.text_bytes = self.text_bytes.saturating_add(value.map_or(0, <[u8]>::len));
        self.put(|column| column.add_text(value));
    }

    #[inline(always)]
    pub(crate) fn text<'t>(&mut self, value: impl Into<Option<&'t str>>) {
        self.bytes(value.into().map(str::as_bytes));
    }

    /// Adds a text that `write` appends.
    #[inline(always)]
    pub(crate) fn write<R: Default>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> R) -> R {
        let Some(column) = self.columns.next() else { return R::default() };
        let (length, result) = column.batch.add_written_text(write);
        self.text_bytes = self.text_bytes.saturating_add(length);
        result
    }

    /// Adds a text to which the caller has given an index in this column.
    #[inline(always)]
    pub(crate) fn named(&mut self, name: usize, text: &str) {
        self.put(|column| column.add_named(name, text));
    }

    /// Adds the id of a stack.
    #[inline(always)]
    pub(crate) fn stack(&mut self, stack: Option<StackHandle>) {
        self.whole(stack_number(stack));
    }

    /// Adds the state of a sampled thread.
    #[inline(always)]
    pub(crate) fn state(&mut self, stack: StackHandle, mode: Mode) {
        self.whole(state_number(stack, mode));
    }

    /// Adds the two values about what a thread, given by its OS id, ran during a sample. They are
    /// missing without readings.
    pub(crate) fn ran(&mut self, sample: &Sample, thread: Option<u64>) {
        for open in self.columns.by_ref().take(2) {
            match (open.column.deferred, open.column.kind) {
                (Some(_), _) => {
                    let key = ran_key(sample, thread);
                    key.into_iter().for_each(|number| open.batch.add_whole(Some(number)));
                }
                (None, ColumnKind::Flag) => open.batch.add_flag(None),
                (None, _) => open.batch.add_whole(None),
            }
        }
    }

    /// Ends the row. Returns the number of bytes of its texts, for [`Sheet::end_row`].
    #[inline(always)]
    pub(crate) fn end(self) -> usize {
        debug_assert!(self.columns.len() == 0, "{} columns without a value", self.columns.len());
        self.text_bytes
    }
}

fn field(column: &SheetColumn) -> Result<TypePtr> {
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

fn properties(name: &str, columns: &[SheetColumn]) -> WriterProperties {
    let pair = |key: &str, value: &str| KeyValue::new(key.to_owned(), value.to_owned());
    let file = WriterProperties::builder()
        .set_key_value_metadata(Some(vec![
            pair("nettrace.table", name),
            pair("nettrace.schema", "1"),
        ]))
        .set_created_by("nettrace".to_owned());
    let columns =
        columns.iter().map(|column| (ColumnPath::from(column.name.clone()), column.layout));
    columns.fold(with_pages(file), |all, (column, layout)| with_layout(all, column, layout)).build()
}

fn io_error(error: ParquetError) -> io::Error {
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
    use parquet::file::statistics::Statistics;
    use parquet::record::Field;
    use std::fs::File;

    #[test]
    fn a_row_group_ends_early_where_its_texts_are_large() {
        let column = SheetColumn::long("text".to_owned());
        let mut sheet = Sheet::of_columns("t", vec![column], Arc::new(tempfile)).unwrap();
        sheet.max_group_bytes = 100_000;
        // Random hexadecimal digits are hardly compressed.
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

    #[test]
    fn values_of_every_kind_come_back_with_their_nulls() {
        const ROWS: i64 = 20_000;
        // Some texts repeat, others are distinct.
        let text = |at: i64| format!("{}", if at % 2 == 0 { at % 50 } else { at });
        let value = |at: i64| (at % 7 != 0 && at / 3000 != 2).then_some(at - ROWS / 2);
        let kinds = [
            ColumnKind::Small,
            ColumnKind::Whole,
            ColumnKind::Unsigned,
            ColumnKind::Real,
            ColumnKind::Flag,
            ColumnKind::Text,
            ColumnKind::Text,
        ];
        let columns = kinds.iter().enumerate();
        let columns = columns.map(|(at, kind)| SheetColumn::field(format!("c{at}"), *kind));
        let columns = columns.chain([SheetColumn::long("long".to_owned())]).collect();
        let mut sheet = Sheet::of_columns("t", columns, Arc::new(tempfile)).unwrap();
        for at in 0..ROWS {
            let (value, text) = (value(at), text(at));
            let mut row = sheet.row();
            row.small(value.map(|value| value as i32));
            row.whole(value);
            row.unsigned(value.map(|value| value as u64));
            row.real(value.map(|value| value as f64));
            row.flag(value.map(|value| value % 2 == 0));
            row.text(value.map(|_| &*text));
            row.named(at as usize % 3, ["a", "b", ""][at as usize % 3]);
            row.write(|out| out.extend_from_slice(text.as_bytes()));
            let bytes = row.end();
            sheet.end_row(bytes);
        }
        let path = std::env::temp_dir().join(format!("nettrace-kinds-{}", std::process::id()));
        let file = File::create(&path).unwrap();
        assert_eq!(sheet.finish(|| Ok(Box::new(file))).unwrap(), ROWS as u64);
        let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
        std::fs::remove_file(&path).unwrap();
        for (at, row) in (0..).zip(reader.get_row_iter(None).unwrap()) {
            let value = value(at);
            let or_null = |field| if value.is_some() { field } else { Field::Null };
            let number = value.unwrap_or_default();
            let expected = [
                or_null(Field::Int(number as i32)),
                or_null(Field::Long(number)),
                or_null(Field::ULong(number as u64)),
                or_null(Field::Double(number as f64)),
                or_null(Field::Bool(number % 2 == 0)),
                or_null(Field::Str(text(at))),
                Field::Str(["a", "b", ""][at as usize % 3].to_owned()),
                Field::Str(text(at)),
            ];
            let row = row.unwrap();
            assert!(row.get_column_iter().map(|(_, field)| field).eq(&expected), "{at}: {row}");
        }
        // Unsigned numbers compare as such: -1 is the maximum.
        let range = reader.metadata().row_group(0).column(2).statistics().unwrap().clone();
        let Statistics::Int64(range) = range else { panic!("{range:?}") };
        assert_eq!((range.min_opt(), range.max_opt()), (Some(&0), Some(&-1)));
        assert_eq!(
            range.null_count_opt(),
            Some((0..ROWS).filter(|at| value(*at).is_none()).count() as u64)
        );
    }

    fn tempfile() -> io::Result<File> {
        let path = std::env::temp_dir().join(format!("nettrace-spill-{}", std::process::id()));
        let file =
            File::options().read(true).write(true).create(true).truncate(true).open(&path)?;
        std::fs::remove_file(&path)?;
        Ok(file)
    }
}
