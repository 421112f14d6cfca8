//! A column of a row group while its values come.

use super::chunk::{Chunk, ClosedChunk, Dictionary, Packer, PageFacts};
use super::distinct::{Numbers, Texts, each_text, put_text, set_length};
use super::levels::Levels;
use super::range::{Range, comparable};
use super::{PAGE_BYTES, delta, runs};
use crate::column::{ColumnKind, Layout};
use parquet::basic::Encoding;
use parquet::errors::{ParquetError, Result};
use parquet::schema::types::ColumnDescPtr;

/// Distinct numbers from which on all further ones are written as they are.
const MOST_NUMBERS: usize = 1 << 16;
/// Bytes of distinct texts, likewise.
const MOST_TEXT: usize = 1 << 20;
/// Distinct values from which on it is asked whether half of all values are.
const MANY: usize = 1 << 14;
/// Room before long texts for the levels of their page, so that a page need not be copied
/// to stand behind them.
const ROOM: usize = 8 << 10;

/// A column.
pub(crate) struct Column {
    descriptor: ColumnDescPtr,
    kind: ColumnKind,
    layout: Layout,
    is_optional: bool,
    levels: Levels,
    values: Values,
    dictionary: Option<Dictionary>,
    chunk: Chunk,
}

/// The values of a page that are not null.
enum Values {
    /// Numbers of distinct numbers. Doubles are the numbers that their bits are.
    Numbers {
        distinct: Numbers,
        all: Vec<u32>,
    },
    /// Numbers of distinct texts.
    Texts {
        distinct: Texts,
        all: Vec<u32>,
    },
    /// Written as differences.
    Steps(Vec<i64>),
    /// Written as they are.
    Plain(Vec<i64>),
    /// Texts, each after its length, behind [`ROOM`].
    Long(Vec<u8>),
    Flags(Vec<bool>),
}

impl Values {
    fn new(kind: ColumnKind, layout: Layout) -> Values {
        match (kind, layout) {
            (ColumnKind::Flag, _) => Values::Flags(Vec::new()),
            (ColumnKind::Text, Layout::Plain) => Values::Long(vec![0; ROOM]),
            (ColumnKind::Text, _) => Values::Texts { distinct: Texts::new(), all: Vec::new() },
            (_, Layout::Dictionary) => {
                Values::Numbers { distinct: Numbers::new(), all: Vec::new() }
            }
            (_, Layout::Steps) => Values::Steps(Vec::new()),
            (_, Layout::Plain) => Values::Plain(Vec::new()),
        }
    }

    fn clear(&mut self) {
        match self {
            Values::Numbers { all, .. } | Values::Texts { all, .. } => all.clear(),
            Values::Steps(all) | Values::Plain(all) => all.clear(),
            Values::Long(bytes) => bytes.truncate(ROOM),
            Values::Flags(all) => all.clear(),
        }
    }
}

impl Column {
    pub(crate) fn new(
        descriptor: ColumnDescPtr,
        kind: ColumnKind,
        layout: Layout,
        is_optional: bool,
    ) -> Column {
        // Nobody asks for a range of long texts.
        let chunk = Chunk::new(descriptor.clone(), kind, layout != Layout::Plain);
        let values = Values::new(kind, layout);
        let levels = Levels::default();
        Column { descriptor, kind, layout, is_optional, levels, values, dictionary: None, chunk }
    }

    /// A number, or the bits of a double.
    #[inline(always)]
    pub(crate) fn number(&mut self, value: Option<i64>) {
        self.levels.add(value.is_some());
        debug_assert!(value.is_some() || self.is_optional, "null in a column that has none");
        let Some(value) = value else { return };
        match &mut self.values {
            Values::Numbers { distinct, all } => all.push(distinct.number_of(value)),
            Values::Steps(all) | Values::Plain(all) => all.push(value),
            _ => debug_assert!(false, "a value of the wrong kind for its column"),
        }
    }

    #[inline(always)]
    pub(crate) fn flag(&mut self, value: Option<bool>) {
        self.levels.add(value.is_some());
        debug_assert!(value.is_some() || self.is_optional, "null in a column that has none");
        match (&mut self.values, value) {
            (_, None) => {}
            (Values::Flags(all), Some(value)) => all.push(value),
            _ => debug_assert!(false, "a value of the wrong kind for its column"),
        }
    }

    #[inline]
    pub(crate) fn text(&mut self, value: Option<&[u8]>) {
        self.levels.add(value.is_some());
        debug_assert!(value.is_some() || self.is_optional, "null in a column that has none");
        match (&mut self.values, value) {
            (_, None) => {}
            (Values::Texts { distinct, all }, Some(text)) => all.push(distinct.number_of(text)),
            (Values::Long(bytes), Some(text)) => put_text(bytes, text),
            _ => debug_assert!(false, "a value of the wrong kind for its column"),
        }
    }

    /// A text of which the caller knows that it is that of this number.
    #[inline(always)]
    pub(crate) fn named(&mut self, name: usize, text: &str) {
        self.levels.add(true);
        match &mut self.values {
            Values::Texts { distinct, all } => all.push(distinct.number_of_named(name, text)),
            Values::Long(bytes) => put_text(bytes, text.as_bytes()),
            _ => debug_assert!(false, "a value of the wrong kind for its column"),
        }
    }

    /// A text that `write` appends, and its length.
    #[inline]
    pub(crate) fn write<R>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> R) -> (usize, R) {
        let Values::Long(bytes) = &mut self.values else {
            let mut text = Vec::new();
            let result = write(&mut text);
            self.text(Some(&text));
            return (text.len(), result);
        };
        self.levels.add(true);
        let start = bytes.len();
        bytes.extend_from_slice(&[0; 4]);
        let result = write(bytes);
        let length = bytes.len().saturating_sub(start).saturating_sub(4);
        set_length(bytes, start, length);
        (length, result)
    }

    /// Whether the page should end because of its bytes.
    pub(crate) fn is_large(&self) -> bool {
        match &self.values {
            Values::Long(bytes) => bytes.len() >= PAGE_BYTES,
            Values::Texts { distinct, .. } => distinct.bytes().len() >= MOST_TEXT,
            _ => false,
        }
    }

    /// Bytes of the pages so far, with those that were taken away.
    pub(crate) fn len(&self) -> usize {
        self.chunk.len()
    }

    /// Bytes of the pages that are in memory.
    pub(crate) fn waiting(&self) -> usize {
        self.chunk.waiting()
    }

    /// The pages that are in memory, so that they can wait elsewhere.
    pub(crate) fn take_pages(&mut self) -> Vec<u8> {
        self.chunk.take_pages()
    }

    /// Drops the values of the page.
    pub(crate) fn forget(&mut self) {
        self.levels.clear();
        self.values.clear();
    }

    /// Writes the page.
    pub(crate) fn end_page(&mut self, packer: &mut Packer) -> Result<()> {
        if self.levels.rows() == 0 {
            return Ok(());
        }
        let (rows, nulls) = (self.levels.rows(), self.levels.nulls());
        let facts = |encoding, range| PageFacts { encoding, rows, nulls, nans: 0, range };
        let mut page = std::mem::take(&mut packer.page);
        page.clear();
        if self.is_optional {
            self.levels.write(&mut page);
        }
        let kind = self.kind;
        match &mut self.values {
            Values::Numbers { distinct, all } => {
                let values = distinct.values();
                write_numbers(&mut page, all, values.len());
                let (range, nans) = range_of(kind, values, all);
                let facts = PageFacts { nans, ..facts(Encoding::RLE_DICTIONARY, range) };
                self.chunk.add(packer, &page, facts)?;
            }
            Values::Texts { distinct, all } => {
                write_numbers(&mut page, all, distinct.len());
                let range = range_of_texts(distinct, all);
                self.chunk.add(packer, &page, facts(Encoding::RLE_DICTIONARY, range))?;
            }
            Values::Steps(all) => {
                delta::write(&mut page, all);
                let range = Range::of_numbers(all.iter().map(|value| comparable(kind, *value)));
                self.chunk.add(packer, &page, facts(Encoding::DELTA_BINARY_PACKED, range))?;
            }
            Values::Plain(all) => {
                write_plain(&mut page, kind, all);
                let numbers = all.iter().filter(|value| !is_nan(kind, **value));
                let range = Range::of_numbers(numbers.map(|value| comparable(kind, *value)));
                let nans = all.iter().filter(|value| is_nan(kind, **value)).count();
                let facts = PageFacts { nans, ..facts(Encoding::PLAIN, range) };
                self.chunk.add(packer, &page, facts)?;
            }
            Values::Long(bytes) => {
                let of_texts = each_text(bytes.get(ROOM..).unwrap_or_default());
                let range = (self.layout != Layout::Plain).then(|| Range::of_texts(of_texts));
                // The levels go right before the texts.
                let start = ROOM.checked_sub(page.len());
                let place = start.and_then(|start| bytes.get_mut(start..ROOM));
                let (Some(start), Some(place)) = (start, place) else {
                    return Err(ParquetError::General("levels longer than thought".to_owned()));
                };
                place.copy_from_slice(&page);
                let facts = facts(Encoding::PLAIN, range.flatten());
                self.chunk.add(packer, bytes.get(start..).unwrap_or_default(), facts)?;
            }
            Values::Flags(all) => {
                for eight in all.chunks(8) {
                    let bits = eight.iter().rev();
                    page.push(bits.fold(0, |byte, flag| byte << 1 | u8::from(*flag)));
                }
                let range = Range::of_numbers(all.iter().map(|flag| i64::from(*flag)));
                self.chunk.add(packer, &page, facts(Encoding::PLAIN, range))?;
            }
        }
        packer.page = page;
        self.levels.clear();
        self.values.clear();
        self.leave_dictionary();
        Ok(())
    }

    /// Values of which too many are distinct are written as they are from the next page on.
    fn leave_dictionary(&mut self) {
        let values = self.chunk.values();
        let is_too_much = |distinct: usize| distinct >= MANY && distinct.saturating_mul(2) > values;
        match &self.values {
            Values::Numbers { distinct, .. }
                if distinct.values().len() >= MOST_NUMBERS
                    || is_too_much(distinct.values().len()) =>
            {
                self.dictionary = self.take_dictionary();
                self.values = Values::Plain(Vec::new());
            }
            Values::Texts { distinct, .. }
                if distinct.bytes().len() >= MOST_TEXT || is_too_much(distinct.len()) =>
            {
                self.dictionary = self.take_dictionary();
                self.values = Values::Long(vec![0; ROOM]);
            }
            _ => {}
        }
    }

    /// The distinct values as a page, which are forgotten then.
    fn take_dictionary(&mut self) -> Option<Dictionary> {
        match &mut self.values {
            Values::Numbers { distinct, .. } => {
                let mut bytes = Vec::new();
                write_plain(&mut bytes, self.kind, distinct.values());
                let dictionary = Dictionary { bytes, values: distinct.values().len() };
                distinct.clear();
                Some(dictionary)
            }
            Values::Texts { distinct, .. } => {
                let dictionary =
                    Dictionary { bytes: distinct.bytes().to_vec(), values: distinct.len() };
                distinct.clear();
                Some(dictionary)
            }
            _ => self.dictionary.take(),
        }
    }

    /// Ends the row group. The column is empty then.
    pub(crate) fn close(&mut self, packer: &mut Packer) -> Result<ClosedChunk> {
        self.write_alone();
        self.end_page(packer)?;
        let dictionary = self.take_dictionary();
        let new = Chunk::new(self.descriptor.clone(), self.kind, self.layout != Layout::Plain);
        let chunk = std::mem::replace(&mut self.chunk, new);
        if !matches!(self.values, Values::Numbers { .. } | Values::Texts { .. }) {
            self.values = Values::new(self.kind, self.layout);
        }
        chunk.close(packer, dictionary.as_ref())
    }

    /// Of a column of one page, distinct values are not written apart if most of them are
    /// distinct.
    fn write_alone(&mut self) {
        if !self.chunk.is_empty() {
            return;
        }
        match &mut self.values {
            Values::Numbers { distinct, all }
                if distinct.values().len().saturating_mul(2) > all.len() =>
            {
                let values = distinct.values();
                let all = all.iter().filter_map(|number| values.get(*number as usize).copied());
                self.values = Values::Plain(all.collect());
            }
            Values::Texts { distinct, all } if distinct.len().saturating_mul(2) > all.len() => {
                let mut bytes = vec![0; ROOM];
                for number in all {
                    put_text(&mut bytes, distinct.text(*number).unwrap_or_default());
                }
                self.values = Values::Long(bytes);
            }
            _ => {}
        }
    }
}

/// Numbers of distinct values, after the bits that they need.
fn write_numbers(page: &mut Vec<u8>, numbers: &[u32], distinct: usize) {
    let most = u32::try_from(distinct.saturating_sub(1)).unwrap_or(u32::MAX);
    let width = runs::bits_of(most);
    page.push(width.to_le_bytes()[0]);
    runs::write(page, numbers, width);
}

fn write_plain(page: &mut Vec<u8>, kind: ColumnKind, values: &[i64]) {
    if kind == ColumnKind::Small {
        for value in values {
            let [a, b, c, d, ..] = value.to_le_bytes();
            page.extend_from_slice(&[a, b, c, d]);
        }
    } else {
        values.iter().for_each(|value| page.extend_from_slice(&value.to_le_bytes()));
    }
}

fn is_nan(kind: ColumnKind, bits: i64) -> bool {
    kind == ColumnKind::Real && f64::from_bits(bits.cast_unsigned()).is_nan()
}

/// The range of values by their numbers, and how many are not a number.
fn range_of(kind: ColumnKind, values: &[i64], numbers: &[u32]) -> (Option<Range>, usize) {
    let value = |number: &u32| values.get(*number as usize).copied();
    if kind == ColumnKind::Real {
        let all = || numbers.iter().filter_map(value);
        let nans = all().filter(|value| is_nan(kind, *value)).count();
        let numbers = all().filter(|value| !is_nan(kind, *value));
        return (Range::of_numbers(numbers.map(|value| comparable(kind, value))), nans);
    }
    let numbers = first_of_equals(numbers).iter().filter_map(value);
    (Range::of_numbers(numbers.map(|value| comparable(kind, value))), 0)
}

/// The numbers, or one of them if all are the same.
fn first_of_equals(numbers: &[u32]) -> &[u32] {
    match numbers.split_first() {
        Some((first, rest)) if rest.iter().all(|number| number == first) => {
            std::slice::from_ref(first)
        }
        _ => numbers,
    }
}

fn range_of_texts(distinct: &Texts, numbers: &[u32]) -> Option<Range> {
    let mut is_there = vec![false; distinct.len()];
    for number in first_of_equals(numbers) {
        if let Some(is_there) = is_there.get_mut(*number as usize) {
            *is_there = true;
        }
    }
    let numbers = (0..).zip(&is_there).filter(|(_, is_there)| **is_there);
    Range::of_texts(numbers.filter_map(|(number, _)| distinct.text(number)))
}
