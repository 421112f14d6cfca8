//! Gathers the values of a column until there are many to encode at once, because encoding each
//! value by a separate call would cost more.

use crate::column::{ColumnKind, Layout};
use bytes::Bytes;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};

/// Values of a column that are gathered for some rows.
pub(crate) struct Batch {
    is_optional: bool,
    /// Definition level of each row: 1 for a value, 0 for a null. Empty if the column has no nulls.
    levels: Vec<i16>,
    values: BatchValues,
}

/// Values of the rows that are not null.
enum BatchValues {
    Small(Vec<i32>),
    Whole(Vec<i64>),
    Real(Vec<f64>),
    Flag(Vec<bool>),
    Text {
        all: Vec<ByteArray>,
        /// Texts by the indices that the caller has given them.
        named: Vec<Option<ByteArray>>,
    },
    /// Long texts one after the other, with the end of each. Callers write the texts directly in
    /// place.
    LongText {
        bytes: Vec<u8>,
        ends: Vec<usize>,
    },
}

impl BatchValues {
    fn new(kind: ColumnKind, layout: Layout) -> BatchValues {
        match kind {
            ColumnKind::Text if layout == Layout::Plain => {
                BatchValues::LongText { bytes: Vec::new(), ends: Vec::new() }
            }
            ColumnKind::Small => BatchValues::Small(Vec::new()),
            ColumnKind::Whole | ColumnKind::Unsigned | ColumnKind::Instant => {
                BatchValues::Whole(Vec::new())
            }
            ColumnKind::Real => BatchValues::Real(Vec::new()),
            ColumnKind::Flag => BatchValues::Flag(Vec::new()),
            ColumnKind::Text => BatchValues::Text { all: Vec::new(), named: Vec::new() },
        }
    }

    fn clear(&mut self) {
        match self {
            BatchValues::Small(all) => all.clear(),
            BatchValues::Whole(all) => all.clear(),
            BatchValues::Real(all) => all.clear(),
            BatchValues::Flag(all) => all.clear(),
            BatchValues::Text { all, .. } => all.clear(),
            BatchValues::LongText { bytes, ends } => {
                bytes.clear();
                ends.clear();
            }
        }
    }
}

impl Batch {
    pub(crate) fn new(kind: ColumnKind, layout: Layout, is_optional: bool) -> Batch {
        Batch { is_optional, levels: Vec::new(), values: BatchValues::new(kind, layout) }
    }

    #[inline(always)]
    fn add_level(&mut self, is_value: bool) {
        debug_assert!(is_value || self.is_optional, "null in a column that has none");
        if self.is_optional {
            self.levels.push(i16::from(is_value));
        }
    }

    /// Adds an integer; for an unsigned one, the bits.
    #[inline(always)]
    pub(crate) fn add_whole(&mut self, value: Option<i64>) {
        self.add_level(value.is_some());
        match &mut self.values {
            BatchValues::Whole(all) => all.extend(value),
            _ => wrong_kind(),
        }
    }

    #[inline(always)]
    pub(crate) fn add_small(&mut self, value: Option<i32>) {
        self.add_level(value.is_some());
        match &mut self.values {
            BatchValues::Small(all) => all.extend(value),
            _ => wrong_kind(),
        }
    }

    #[inline(always)]
    pub(crate) fn add_real(&mut self, value: Option<f64>) {
        self.add_level(value.is_some());
        match &mut self.values {
            BatchValues::Real(all) => all.extend(value),
            _ => wrong_kind(),
        }
    }

    #[inline(always)]
    pub(crate) fn add_flag(&mut self, value: Option<bool>) {
        self.add_level(value.is_some());
        match &mut self.values {
            BatchValues::Flag(all) => all.extend(value),
            _ => wrong_kind(),
        }
    }

    #[inline]
    pub(crate) fn add_text(&mut self, value: Option<&[u8]>) {
        self.add_level(value.is_some());
        match (&mut self.values, value) {
            (_, None) => {}
            (BatchValues::Text { all, .. }, Some(text)) => {
                // Texts often repeat the text before. Otherwise each has memory of its own, because
                // the writer's dictionary keeps some of them.
                let same = all.last().filter(|last| last.data() == text).cloned();
                all.push(same.unwrap_or_else(|| ByteArray::from(text.to_vec())));
            }
            (BatchValues::LongText { bytes, ends }, Some(text)) => {
                bytes.extend_from_slice(text);
                ends.push(bytes.len());
            }
            _ => wrong_kind(),
        }
    }

    /// Adds a text that `write` appends. Returns the text's length and the result of `write`.
    #[inline]
    pub(crate) fn add_written_text<R>(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>) -> R,
    ) -> (usize, R) {
        if let BatchValues::LongText { bytes, ends } = &mut self.values {
            self.levels.extend(self.is_optional.then_some(1));
            let start = bytes.len();
            let result = write(bytes);
            ends.push(bytes.len());
            return (bytes.len().saturating_sub(start), result);
        }
        let mut text = Vec::new();
        let result = write(&mut text);
        self.add_text(Some(&text));
        (text.len(), result)
    }

    /// Adds a text to which the caller has given an index in this column.
    #[inline]
    pub(crate) fn add_named(&mut self, name: usize, text: &str) {
        self.add_level(true);
        let BatchValues::Text { all, named } = &mut self.values else {
            return wrong_kind();
        };
        if name >= named.len() {
            named.resize(name.saturating_add(1), None);
        }
        if let Some(named) = named.get_mut(name) {
            all.push(
                named.get_or_insert_with(|| ByteArray::from(text.as_bytes().to_vec())).clone(),
            );
        }
    }

    /// Returns the integers that are not null.
    pub(crate) fn wholes(&self) -> &[i64] {
        match &self.values {
            BatchValues::Whole(all) => all,
            _ => &[],
        }
    }

    /// Removes all values.
    pub(crate) fn clear(&mut self) {
        self.levels.clear();
        self.values.clear();
    }

    /// Encodes all values and removes them.
    pub(crate) fn write(&mut self, writer: &mut ColumnWriter<'_>) -> Result<()> {
        let levels = self.is_optional.then_some(self.levels.as_slice());
        let written = match (writer, &mut self.values) {
            (ColumnWriter::Int32ColumnWriter(writer), BatchValues::Small(all)) => {
                writer.write_batch(all, levels, None)
            }
            (ColumnWriter::Int64ColumnWriter(writer), BatchValues::Whole(all)) => {
                writer.write_batch(all, levels, None)
            }
            (ColumnWriter::DoubleColumnWriter(writer), BatchValues::Real(all)) => {
                writer.write_batch(all, levels, None)
            }
            (ColumnWriter::BoolColumnWriter(writer), BatchValues::Flag(all)) => {
                writer.write_batch(all, levels, None)
            }
            (ColumnWriter::ByteArrayColumnWriter(writer), BatchValues::Text { all, .. }) => {
                writer.write_batch(all, levels, None)
            }
            (
                ColumnWriter::ByteArrayColumnWriter(writer),
                BatchValues::LongText { bytes, ends },
            ) => {
                // The writer keeps the bytes without a copy, and the next batch is about as long.
                let capacity = bytes.capacity();
                let bytes = Bytes::from(std::mem::replace(bytes, Vec::with_capacity(capacity)));
                let starts = std::iter::once(0).chain(ends.iter().copied());
                let texts = starts.zip(ends.iter()).map(|(start, end)| bytes.slice(start..*end));
                let texts: Vec<ByteArray> = texts.map(ByteArray::from).collect();
                writer.write_batch(&texts, levels, None)
            }
            _ => return Err(ParquetError::General("a writer of the wrong type".to_owned())),
        };
        self.clear();
        written.map(drop)
    }
}

/// Panics in debug builds, because the caller has mixed up the columns of its table.
fn wrong_kind() {
    debug_assert!(false, "a value of the wrong kind for its column");
}
