//! Keeps the files of tables in memory, and reads their rows.

use nettrace_parser::Reader;
use nettrace_tables::schema::TABLES;
use nettrace_tables::{Destination, MakeSpill, Table, TableOptions, TablePass};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

#[derive(Default, Clone)]
pub(crate) struct MemoryFiles(Arc<Mutex<BTreeMap<String, Vec<u8>>>>);

struct MemoryFile(MemoryFiles, String);

impl Write for MemoryFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.0.lock().unwrap().entry(self.1.clone()).or_default().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MemoryFiles {
    /// Returns the content of all files, by name.
    pub(crate) fn all(&self) -> BTreeMap<String, Vec<u8>> {
        self.0.lock().unwrap().clone()
    }
}

impl Destination for MemoryFiles {
    fn create(&mut self, table: &str, part: &str) -> io::Result<Box<dyn Write + Send>> {
        Ok(Box::new(MemoryFile(self.clone(), format!("{table}{part}"))))
    }
}

pub(crate) fn spill() -> MakeSpill {
    Arc::new(|| Err(io::Error::other("these traces are small")))
}

/// Returns the content of each table's file for a trace. The table of events is left out, because
/// it is large and has its own test.
pub(crate) fn files_of(bytes: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let tables: Vec<&Table> = TABLES.iter().filter(|table| table.name != "events").collect();
    files_with(bytes, &of_tables(&tables), spill())
}

/// Returns the options for these tables.
pub(crate) fn of_tables(tables: &[&'static Table]) -> TableOptions {
    let mut options = TableOptions::default();
    options.tables = tables.to_vec();
    options
}

pub(crate) fn files_with(
    bytes: &[u8],
    options: &TableOptions,
    make_spill: MakeSpill,
) -> BTreeMap<String, Vec<u8>> {
    let mut pass = TablePass::new(7, options, make_spill).unwrap();
    let _outcome = pass.read(&mut Reader::from_slice(bytes).time_ordered()).unwrap();
    let mut files = MemoryFiles::default();
    let written = pass.finish(&mut files).unwrap();
    let files = files.0.lock().unwrap().clone();
    for (table, rows) in &written.tables {
        let name = if files.contains_key(table) { table.clone() } else { format!("{table}-1") };
        assert_eq!(rows_of(&files, &name).len() as u64, *rows, "{table}");
    }
    assert_eq!(files.len(), written.tables.len());
    files
}

/// The values of a row, by column.
pub(crate) type Values = BTreeMap<String, Field>;

pub(crate) fn rows_of(files: &BTreeMap<String, Vec<u8>>, table: &str) -> Vec<Values> {
    let Some(file) = files.get(table) else { return Vec::new() };
    let reader = SerializedFileReader::new(bytes::Bytes::from(file.clone())).unwrap();
    let values = |row: Row| {
        row.get_column_iter().map(|(name, value)| (name.clone(), value.clone())).collect()
    };
    reader.get_row_iter(None).unwrap().map(|row| values(row.unwrap())).collect()
}

pub(crate) fn whole(row: &Values, column: &str) -> Option<i64> {
    match row[column] {
        Field::Null => None,
        Field::Long(value) => Some(value),
        Field::ULong(value) => Some(value.cast_signed()),
        Field::Int(value) => Some(i64::from(value)),
        ref other => panic!("{column} is {other:?}"),
    }
}

pub(crate) fn text<'r>(row: &'r Values, column: &str) -> Option<&'r str> {
    match &row[column] {
        Field::Null => None,
        Field::Str(value) => Some(value),
        other => panic!("{column} is {other:?}"),
    }
}

pub(crate) fn flag(row: &Values, column: &str) -> Option<bool> {
    match row[column] {
        Field::Null => None,
        Field::Bool(value) => Some(value),
        ref other => panic!("{column} is {other:?}"),
    }
}

pub(crate) fn real(row: &Values, column: &str) -> Option<f64> {
    match row[column] {
        Field::Null => None,
        Field::Double(value) => Some(value),
        ref other => panic!("{column} is {other:?}"),
    }
}

/// Returns the sum of a column's values.
pub(crate) fn sum(rows: &[Values], column: &str) -> u64 {
    rows.iter().filter_map(|row| whole(row, column)).sum::<i64>() as u64
}
