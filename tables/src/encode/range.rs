//! The smallest and the largest value of a page or of a row group, by which readers leave
//! out what they need not read.

use crate::column::ColumnKind;
use parquet::data_type::ByteArray;
use parquet::file::statistics::{Statistics, ValueStatistics};

/// Bytes of a text that are kept of it.
const LONGEST: usize = 64;

/// A value, so that values of a column compare as readers compare them.
#[derive(Debug, Clone, PartialEq, PartialOrd)]
pub(super) enum Key {
    Number(i64),
    Text(Box<[u8]>),
}

/// The smallest and the largest value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Range {
    pub(super) least: Key,
    pub(super) most: Key,
}

/// A number so that numbers of a column compare as its values; the same again gives the
/// number back.
#[inline(always)]
pub(super) fn comparable(kind: ColumnKind, number: i64) -> i64 {
    match kind {
        ColumnKind::Unsigned => number ^ i64::MIN,
        // The total order of IEEE 754: negative numbers are the other way round.
        ColumnKind::Real => number ^ ((number >> 63).cast_unsigned() >> 1).cast_signed(),
        _ => number,
    }
}

impl Range {
    /// Of numbers as [`comparable`] makes them.
    pub(super) fn of_numbers(numbers: impl Iterator<Item = i64>) -> Option<Range> {
        let (mut least, mut most, mut any) = (i64::MAX, i64::MIN, false);
        for number in numbers {
            least = least.min(number);
            most = most.max(number);
            any = true;
        }
        any.then_some(Range { least: Key::Number(least), most: Key::Number(most) })
    }

    pub(super) fn of_texts<'t>(texts: impl Iterator<Item = &'t [u8]>) -> Option<Range> {
        let mut range: Option<(&[u8], &[u8])> = None;
        for text in texts {
            let (least, most) = range.unwrap_or((text, text));
            range = Some((least.min(text), most.max(text)));
        }
        range.map(|(least, most)| Range {
            least: Key::Text(least.into()),
            most: Key::Text(most.into()),
        })
    }

    /// Makes room for another range.
    pub(super) fn widen(&mut self, other: &Range) {
        if other.least < self.least {
            self.least = other.least.clone();
        }
        if other.most > self.most {
            self.most = other.most.clone();
        }
    }

    /// Both as bytes; `None` where there is no short text above the largest one.
    pub(super) fn bytes(&self, kind: ColumnKind) -> Option<(Vec<u8>, Vec<u8>)> {
        match (&self.least, &self.most) {
            (Key::Number(least), Key::Number(most)) => {
                Some((number_bytes(kind, *least), number_bytes(kind, *most)))
            }
            (Key::Text(least), Key::Text(most)) => Some((cut(least).to_vec(), above(most)?)),
            _ => None,
        }
    }
}

/// What the metadata of a column say of its values.
pub(super) fn statistics(
    kind: ColumnKind,
    range: Option<&Range>,
    nulls: u64,
    nans: u64,
) -> Statistics {
    let numbers = match range {
        Some(Range { least: Key::Number(least), most: Key::Number(most) }) => {
            Some((comparable(kind, *least), comparable(kind, *most)))
        }
        _ => None,
    };
    let (least, most) = numbers.unzip();
    match kind {
        ColumnKind::Small => {
            let small = |number: Option<i64>| number.and_then(|number| i32::try_from(number).ok());
            ValueStatistics::new(small(least), small(most), None, Some(nulls), false)
                .with_backwards_compatible_min_max(true)
                .into()
        }
        ColumnKind::Whole | ColumnKind::Instant | ColumnKind::Unsigned => {
            ValueStatistics::new(least, most, None, Some(nulls), false)
                .with_backwards_compatible_min_max(kind != ColumnKind::Unsigned)
                .into()
        }
        ColumnKind::Real => {
            let real = |bits: Option<i64>| bits.map(|bits| f64::from_bits(bits.cast_unsigned()));
            ValueStatistics::new(real(least), real(most), None, Some(nulls), false)
                .with_nan_count(Some(nans))
                .with_backwards_compatible_min_max(true)
                .into()
        }
        ColumnKind::Flag => {
            let flag = |number: Option<i64>| number.map(|number| number != 0);
            ValueStatistics::new(flag(least), flag(most), None, Some(nulls), false).into()
        }
        ColumnKind::Text => {
            let bytes = range.and_then(|range| range.bytes(kind));
            let is_whole = |key: &Key| matches!(key, Key::Text(text) if text.len() <= LONGEST);
            let (least, most) =
                bytes.map(|(least, most)| (ByteArray::from(least), ByteArray::from(most))).unzip();
            ValueStatistics::new(least, most, None, Some(nulls), false)
                .with_min_is_exact(range.is_some_and(|range| is_whole(&range.least)))
                .with_max_is_exact(range.is_some_and(|range| is_whole(&range.most)))
                .into()
        }
    }
}

fn number_bytes(kind: ColumnKind, key: i64) -> Vec<u8> {
    let bytes = comparable(kind, key).to_le_bytes();
    let wide = match kind {
        ColumnKind::Small => 4,
        ColumnKind::Flag => 1,
        _ => 8,
    };
    bytes.get(..wide).unwrap_or(&bytes).to_vec()
}

/// The beginning of a text, without a part of a character.
fn cut(text: &[u8]) -> &[u8] {
    if text.len() <= LONGEST {
        return text;
    }
    let is_first = |byte: &u8| *byte & 0xc0 != 0x80;
    let head = text.get(..=LONGEST).unwrap_or(text);
    let end = head.iter().rposition(is_first).unwrap_or(0);
    head.get(..end).unwrap_or_default()
}

/// A short text that is not below this one.
fn above(text: &[u8]) -> Option<Vec<u8>> {
    if text.len() <= LONGEST {
        return Some(text.to_vec());
    }
    let mut head = std::str::from_utf8(cut(text)).ok()?.to_owned();
    while let Some(last) = head.pop() {
        let next = match last {
            // What lies between is no character.
            '\u{d7ff}' => Some('\u{e000}'),
            last => char::from_u32(u32::from(last).wrapping_add(1)),
        };
        if let Some(next) = next {
            head.push(next);
            return Some(head.into_bytes());
        }
    }
    None
}
