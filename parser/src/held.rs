//! Keeps in a reusable buffer those bytes of a stream that were read and are still needed.

use std::fmt;

/// Window of the stream, from the last released position to the newest byte.
#[derive(Default)]
pub(crate) struct Held {
    /// Bytes that were read, up to `filled`, then initialised room for more.
    buffer: Vec<u8>,
    filled: usize,
    /// Index in `buffer` of the window's first byte.
    begin: usize,
    /// Stream position of `buffer[begin]`.
    start: u64,
}

/// Shows where the bytes lie, and none of them.
impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes at {:#x}", self.len(), self.start)
    }
}

impl Held {
    /// Returns the stream position of the window's first byte.
    #[inline]
    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        self.buffer.get(self.begin..self.filled).unwrap_or_default()
    }

    /// Returns the stream position after the newest byte.
    pub(crate) fn end(&self) -> u64 {
        self.start.saturating_add(self.len() as u64)
    }

    #[cfg(test)]
    pub(crate) fn capacity(&self) -> usize {
        self.buffer.capacity()
    }

    fn len(&self) -> usize {
        self.filled.saturating_sub(self.begin)
    }

    /// Returns room for bytes up to position `end`, and for at least `min_bytes` bytes. The room is
    /// not much larger than the bytes that are held already, because a stream may announce a huge
    /// block and then end.
    pub(crate) fn room_towards(&mut self, end: u64, min_bytes: usize) -> &mut [u8] {
        let missing = usize::try_from(end.saturating_sub(self.end())).unwrap_or(usize::MAX);
        let wanted = missing.min(MAX_TRUSTED_BYTES.max(self.len())).max(min_bytes);
        self.make_room(wanted);
        self.buffer.get_mut(self.filled..).unwrap_or_default()
    }

    /// Adds the first `count` bytes of the room, at most all of it, to the window.
    pub(crate) fn add_written(&mut self, count: usize) {
        self.filled = self.filled.saturating_add(count).min(self.buffer.len());
    }

    /// Discards the bytes before a position.
    pub(crate) fn release(&mut self, before: u64) {
        let count = before.saturating_sub(self.start).min(self.len() as u64);
        self.start = self.start.saturating_add(count);
        self.begin = self.begin.saturating_add(usize::try_from(count).unwrap_or(0));
        if self.begin == self.filled {
            self.begin = 0;
            self.filled = 0;
        }
    }

    /// Discards all bytes, and continues the window at `position`, which lies after them.
    #[cfg(any(unix, windows))]
    pub(crate) fn skip_to(&mut self, position: u64) {
        (self.begin, self.filled, self.start) = (0, 0, position);
    }

    /// Makes room for at least `wanted` more bytes. Moves the window to the front of the
    /// buffer if it fits the unused part there.
    fn make_room(&mut self, wanted: usize) {
        if self.begin > 0 && self.begin >= self.len() {
            self.buffer.copy_within(self.begin..self.filled, 0);
            self.filled = self.len();
            self.begin = 0;
        }
        let needed = self.filled.saturating_add(wanted);
        if self.buffer.len() < needed {
            // Doubling could waste half of the memory. Growth by a quarter copies the bytes
            // rarely enough.
            let room = needed.max(self.buffer.len().saturating_add(self.buffer.len() / 4));
            if self.buffer.is_empty() {
                // The allocator provides zeroed memory.
                self.buffer = vec![0; room];
            } else {
                self.buffer.resize(room, 0);
            }
        }
    }
}

/// Maximum room in bytes for bytes that a stream announces but has not delivered yet. If more bytes
/// are held, the room may be as large as they are.
const MAX_TRUSTED_BYTES: usize = 256 * 1024;
