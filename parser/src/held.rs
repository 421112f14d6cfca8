//! Bytes of a stream that were read and are still wanted: a window in a buffer that is used again.

/// The bytes between the last released position and the newest byte.
#[derive(Debug, Default)]
pub(crate) struct Held {
    /// `buffer[..filled]` is what was read; the rest is room that is already initialised.
    buffer: Vec<u8>,
    filled: usize,
    /// Index in `buffer` of the window's first byte.
    begin: usize,
    /// Stream position of `buffer[begin]`.
    start: u64,
}

impl Held {
    /// Stream position of the first byte.
    #[inline]
    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        self.buffer.get(self.begin..self.filled).unwrap_or_default()
    }

    /// Stream position behind the newest byte.
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

    /// Room for bytes on the way to the position `end`: at least `least` of them.
    ///
    /// It never depends on `end` alone: a stream that announces a huge block and ends costs no memory.
    pub(crate) fn room_towards(&mut self, end: u64, least: usize) -> &mut [u8] {
        let missing = usize::try_from(end.saturating_sub(self.end())).unwrap_or(usize::MAX);
        let wanted = missing.min(READ_BYTES.max(self.len())).max(least);
        self.make_room(wanted);
        self.buffer.get_mut(self.filled..).unwrap_or_default()
    }

    /// So many bytes were put into the room. One who claims more than there was is taken at its size.
    pub(crate) fn take(&mut self, count: usize) {
        self.filled = self.filled.saturating_add(count).min(self.buffer.len());
    }

    /// Gives up the bytes before a position, as far as they are here.
    pub(crate) fn release(&mut self, before: u64) {
        let count = before.saturating_sub(self.start).min(self.len() as u64);
        self.start = self.start.saturating_add(count);
        self.begin = self.begin.saturating_add(usize::try_from(count).unwrap_or(0));
        if self.begin == self.filled {
            self.begin = 0;
            self.filled = 0;
        }
    }

    /// Gives up all bytes; the next one is that at the position, which lies behind them.
    #[cfg(any(unix, windows))]
    pub(crate) fn skip_to(&mut self, position: u64) {
        (self.begin, self.filled, self.start) = (0, 0, position);
    }

    /// Makes room for at least `wanted` more bytes, moving the window to the buffer's front when
    /// the part before it is at least as large.
    fn make_room(&mut self, wanted: usize) {
        if self.begin > 0 && self.begin >= self.len() {
            self.buffer.copy_within(self.begin..self.filled, 0);
            self.filled = self.len();
            self.begin = 0;
        }
        let needed = self.filled.saturating_add(wanted);
        if self.buffer.len() < needed {
            // Doubling would waste up to as much again; a quarter keeps moves rare enough.
            let room = needed.max(self.buffer.len().saturating_add(self.buffer.len() / 4));
            if self.buffer.is_empty() {
                // The allocator has zeros.
                self.buffer = vec![0; room];
            } else {
                self.buffer.resize(room, 0);
            }
        }
    }
}

/// What is announced is believed up to here, or as much again as is held.
const READ_BYTES: usize = 256 * 1024;
