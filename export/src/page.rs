//! Memory for output, of which the beginning is filled.
//!
//! The memory after the filled part is initialised, too, so that lines are written in place. Safe
//! code cannot write beyond the end of a vector without filling it first.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "counts of bytes in memory"
)]

use crate::line::Writer;
use std::fmt;

/// Maximum number of bytes after the requested room that a [`Writer`] may touch.
const MAX_OVERHANG_BYTES: usize = 128;

/// Minimum growth of the memory, in bytes.
const MIN_GROWTH_BYTES: usize = 8 * 1024;

/// Size in bytes above which memory grows by a quarter instead of doubling.
const LARGE_BYTES: usize = 8 << 20;

/// Output that waits to be written to its destination.
#[derive(Default)]
pub struct Page {
    bytes: Vec<u8>,
    filled: usize,
    /// Buffer for composing text that is appended as a whole.
    text: Vec<u8>,
}

/// Shows how much output there is, and none of it.
impl fmt::Debug for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Page({} bytes)", self.filled)
    }
}

impl Page {
    /// Makes a page with room for a number of bytes. Its memory is allocated in one piece, and not
    /// touched before it is filled.
    pub fn with_room(bytes: usize) -> Page {
        Page { bytes: vec![0; bytes.saturating_add(MAX_OVERHANG_BYTES)], ..Page::default() }
    }

    /// Returns the output so far.
    pub fn filled(&self) -> &[u8] {
        self.bytes.get(..self.filled).unwrap_or_default()
    }

    /// Returns the length of the output, in bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.filled
    }

    /// Returns whether there is no output.
    pub fn is_empty(&self) -> bool {
        self.filled == 0
    }

    /// Discards the output. Memory beyond `most_kept` bytes is freed, so that it does not stay
    /// allocated after a huge event.
    pub fn clear(&mut self, most_kept: usize) {
        self.filled = 0;
        if self.bytes.len() > most_kept {
            self.bytes.truncate(most_kept);
            self.bytes.shrink_to(most_kept);
            self.text.shrink_to(most_kept);
        }
    }

    /// Appends the output to a vector and removes it from the page.
    pub fn pour(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.filled());
        self.filled = 0;
    }

    /// Appends the output of a function that writes to a vector.
    pub fn append<T>(&mut self, append: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        let mut text = std::mem::take(&mut self.text);
        let made = append(&mut text);
        let mut writer = self.writer(text.len());
        writer.bytes(&text);
        let left = writer.left();
        self.keep(left);
        text.clear();
        self.text = text;
        made
    }

    /// Starts to append at most `room` bytes. The written bytes become part of the output with
    /// [`Page::keep`].
    #[inline(always)]
    pub(crate) fn writer(&mut self, room: usize) -> Writer<'_> {
        if self.bytes.len() < self.filled + room + MAX_OVERHANG_BYTES {
            self.grow(room + MAX_OVERHANG_BYTES);
        }
        Writer::new(&mut self.bytes[self.filled..])
    }

    #[cold]
    fn grow(&mut self, room: usize) {
        let needed = self.filled + room.max(MIN_GROWTH_BYTES);
        if needed > self.bytes.capacity() && self.bytes.len() > LARGE_BYTES {
            // Doubling a large page would exceed the limit for waiting output.
            self.bytes.reserve_exact(needed - self.bytes.len() + self.bytes.len() / 4);
        }
        self.bytes.resize(needed, 0);
    }

    /// Adds to the output what a writer has written. `left` is the number of bytes that the writer
    /// has left.
    #[inline(always)]
    pub(crate) fn keep(&mut self, left: usize) {
        self.filled = self.bytes.len() - left;
    }

    /// Discards everything after the first `len` bytes.
    pub(crate) fn cut(&mut self, len: usize) {
        self.filled = self.filled.min(len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_what_is_appended_to_vectors_stand_one_after_the_other() {
        let mut page = Page::default();
        for round in 0..2000 {
            let mut writer = page.writer(20);
            writer.unsigned(round);
            let left = writer.left();
            page.keep(left);
            if round % 100 == 0 {
                page.append(|out| out.push(b'\n'));
            }
        }
        let expected: String = (0..2000)
            .map(|round| format!("{round}{}", if round % 100 == 0 { "\n" } else { "" }))
            .collect();
        assert_eq!(String::from_utf8(page.filled().to_vec()).unwrap(), expected);
        page.clear(0);
        assert_eq!((page.len(), page.filled()), (0, &[][..]));
    }

    #[test]
    fn a_line_that_is_not_kept_leaves_nothing() {
        let mut page = Page::default();
        page.append(|out| out.extend_from_slice(b"first"));
        page.writer(100).text("second");
        let mut out = b"<".to_vec();
        page.pour(&mut out);
        assert_eq!((out.as_slice(), page.len()), (&b"<first"[..], 0));
    }
}
