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
    bytes: Vec<u8>,
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
    pub(crate) fn add_bytes(&mut self, name: impl Into<String>, values: &[u8]) {
        let column = ColumnPlace {
            at: self.bytes.len(),
            bytes: values.len(),
            count: values.len(),
            steps: false,
        };
        self.bytes.extend_from_slice(values);
        self.rows.insert(name.into(), column);
    }

    fn column(&mut self, name: String, steps: bool, values: impl Iterator<Item = u64>) {
        let at = self.bytes.len();
        let mut count = 0_usize;
        for value in values {
            self.number(value);
            count = count.saturating_add(1);
        }
        let bytes = self.bytes.len().saturating_sub(at);
        self.rows.insert(name, ColumnPlace { at, bytes, count, steps });
    }

    fn number(&mut self, value: u64) {
        let mut rest = value;
        loop {
            let [low, ..] = rest.to_le_bytes();
            rest >>= 7;
            if rest == 0 {
                self.bytes.push(low & 0x7f);
                return;
            }
            self.bytes.push(low | 0x80);
        }
    }

    /// Returns the position of each column by its name.
    pub(crate) fn rows(&self) -> &BTreeMap<String, ColumnPlace> {
        &self.rows
    }

    /// Returns the bytes of all columns.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
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
        assert_eq!(columns.bytes()[..4], [0, 127, 0x80, 1]);
        let b = columns.rows["b"];
        assert_eq!((b.at, b.count, b.steps), (14, 3, true));
        assert_eq!(columns.bytes()[14..16], [10, 3], "5 steps up, 2 down");
    }
}
