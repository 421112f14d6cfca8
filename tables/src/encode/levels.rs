//! Which rows of a page have a value.

use super::distinct::set_length;
use super::runs;

/// 1 for each value, 0 for each null. Most columns have all values of a page, or none:
/// then rows are only counted.
#[derive(Debug, Default)]
pub(super) struct Levels {
    rows: usize,
    nulls: usize,
    /// Empty as long as all rows are alike.
    mixed: Vec<u32>,
}

impl Levels {
    #[inline(always)]
    pub(super) fn add(&mut self, is_there: bool) {
        let is_alike = self.nulls == if is_there { 0 } else { self.rows };
        if !is_alike {
            self.mix(is_there);
        }
        self.rows = self.rows.wrapping_add(1);
        self.nulls = self.nulls.wrapping_add(usize::from(!is_there));
    }

    #[inline(never)]
    fn mix(&mut self, is_there: bool) {
        if self.mixed.is_empty() {
            self.mixed.resize(self.rows, u32::from(self.nulls == 0));
        }
        self.mixed.push(u32::from(is_there));
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    pub(super) fn nulls(&self) -> usize {
        self.nulls
    }

    /// Appends them, after their length.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&[0; 4]);
        if self.mixed.is_empty() {
            runs::repeat(out, u32::from(self.nulls == 0), self.rows, 1);
        } else {
            runs::write(out, &self.mixed, 1);
        }
        let length = out.len().wrapping_sub(start).wrapping_sub(4);
        set_length(out, start, length);
    }

    pub(super) fn clear(&mut self) {
        (self.rows, self.nulls) = (0, 0);
        self.mixed.clear();
    }
}
