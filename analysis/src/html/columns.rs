//! Numbers of an HTML file, as columns of variable-length integers that are stored one after the
//! other.
//!
//! Each byte has seven bits of a number, the lowest first; its highest bit is set if another byte
//! follows. A column of differences has the difference from each number to the next, with the sign
//! in its lowest bit.

use serde::Serialize;
use std::collections::BTreeMap;

/// Position of a column, which the page's code reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct ColumnPlace {
    /// Offset of the first byte.
    at: usize,
    /// Length in bytes.
    bytes: usize,
    /// Number of values.
    count: usize,
    /// Whether the column has differences.
    steps: bool,
}

#[cfg(test)]
impl ColumnPlace {
    pub(crate) fn count(self) -> usize {
        self.count
    }
}

/// All columns of a file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Columns {
    rows: BTreeMap<String, ColumnPlace>,
    /// Bytes of each column.
    pieces: Vec<Vec<u8>>,
    /// Number of bytes of all columns.
    length: usize,
}

impl Columns {
    /// Adds a column of numbers.
    pub(crate) fn add(&mut self, name: impl Into<String>, values: impl IntoIterator<Item = u64>) {
        self.column(name.into(), false, values.into_iter());
    }

    /// Adds a column whose neighbouring values are close to each other, such as times.
    pub(crate) fn add_steps(
        &mut self,
        name: impl Into<String>,
        values: impl IntoIterator<Item = i64>,
    ) {
        let mut last = 0_i64;
        let steps = values.into_iter().map(|value| {
            let step = value.wrapping_sub(last);
            last = value;
            // Zigzag: small steps in both directions take one byte.
            (step.wrapping_shl(1) ^ (step >> 63)).cast_unsigned()
        });
        self.column(name.into(), true, steps);
    }

    /// Adds raw bytes.
    pub(crate) fn add_bytes(&mut self, name: impl Into<String>, values: Vec<u8>) {
        let count = values.len();
        self.place(name.into(), values, count, false);
    }

    fn column(&mut self, name: String, steps: bool, values: impl Iterator<Item = u64>) {
        let mut bytes = Vec::new();
        let mut count = 0_usize;
        for value in values {
            add_number(&mut bytes, value);
            count = count.saturating_add(1);
        }
        self.place(name, bytes, count, steps);
    }

    fn place(&mut self, name: String, bytes: Vec<u8>, count: usize, steps: bool) {
        let place = ColumnPlace { at: self.length, bytes: bytes.len(), count, steps };
        self.length = self.length.saturating_add(bytes.len());
        self.pieces.push(bytes);
        self.rows.insert(name, place);
    }

    /// Returns the position of each column by its name.
    pub(crate) fn rows(&self) -> &BTreeMap<String, ColumnPlace> {
        &self.rows
    }

    /// Returns the bytes of the columns, one after the other.
    pub(crate) fn pieces(&self) -> &[Vec<u8>] {
        &self.pieces
    }
}

/// Adds a number, seven bits in a byte.
fn add_number(bytes: &mut Vec<u8>, value: u64) {
    let mut rest = value;
    loop {
        let [low, ..] = rest.to_le_bytes();
        rest >>= 7;
        if rest == 0 {
            bytes.push(low & 0x7f);
            return;
        }
        bytes.push(low | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_names_its_range_and_steps_have_their_sign_in_the_lowest_bit() {
        let mut columns = Columns::default();
        columns.add("a", [0, 127, 128, u64::MAX]);
        columns.add_steps("b", [5, 3, i64::MIN]);
        assert_eq!(columns.rows["a"], ColumnPlace { at: 0, bytes: 14, count: 4, steps: false });
        let bytes = columns.pieces().concat();
        assert_eq!(bytes[..4], [0, 127, 0x80, 1]);
        let b = columns.rows["b"];
        assert_eq!((b.at, b.count, b.steps), (14, 3, true));
        assert_eq!(bytes[14..16], [10, 3], "5 steps up, 2 down");
    }
}
