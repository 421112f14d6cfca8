//! Provides the bytes of a stream, from memory or from anything that can be read.
//!
//! All code outside of sources works with stream *positions*, never pointers, so that it can
//! read mapped files and sockets, and a window of bytes may move in memory while it grows.

use crate::following::Following;
use crate::held::Held;
use crate::work;
use std::fmt;
use std::io::{self, Read};

/// Range of bytes of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Stream position of the first byte.
    pub start: u64,
    /// Length in bytes.
    pub len: u32,
}

impl Span {
    /// Returns the stream position after the last byte.
    pub fn end(&self) -> u64 {
        self.start.saturating_add(u64::from(self.len))
    }
}

/// Converts a position to an index in a window that begins at stream position `start`. For a
/// position before the window, or too far away for `usize`, the index is beyond any slice.
#[inline(always)]
pub(crate) fn index(position: u64, start: u64) -> usize {
    usize::try_from(position.wrapping_sub(start)).unwrap_or(usize::MAX)
}

/// Returns the bytes of a span, as far as the window, which begins at stream position `start`,
/// contains them.
pub(crate) fn part(window: &[u8], start: u64, span: Span) -> &[u8] {
    let rest = window.get(index(span.start, start)..).unwrap_or_default();
    rest.get(..span.len as usize).unwrap_or(rest)
}

/// Window of consecutive bytes of a stream, which grows at its end on demand, and may drop bytes
/// at its beginning.
pub trait Source {
    /// Returns the stream position, in bytes, of the first byte of the window.
    fn start(&self) -> u64;

    /// Returns the bytes in the window.
    fn bytes(&self) -> &[u8];

    /// Extends the window to stream position `end`. Returns `false` if the stream ends before
    /// that position; the window then extends to the stream's end.
    ///
    /// # Errors
    /// Errors of the input, except for `Interrupted`, after which the source tries again. After
    /// [`io::ErrorKind::WouldBlock`] the call can be repeated later.
    fn fill(&mut self, end: u64) -> io::Result<bool>;

    /// Extends the window to stream position `end` if this is possible without waiting, as for
    /// a file, but not for a pipe. Returns `false` if the window does not reach `end`. Readers
    /// call it for bytes after the stream's end mark, which may not exist. The default
    /// implementation does not extend the window.
    ///
    /// # Errors
    /// The errors of [`Source::fill`].
    fn fill_at_once(&mut self, end: u64) -> io::Result<bool> {
        Ok(end <= self.start().saturating_add(self.bytes().len() as u64))
    }

    /// Allows the source to drop the bytes before a stream position, which are not needed any
    /// more.
    fn release(&mut self, before: u64);

    /// Loads bytes of the window that will be read next into the processor's caches. The default
    /// implementation does nothing, which suits bytes that were just written.
    fn approach(&self, _span: Span) {}

    /// Returns the length of the stream in bytes, if the source knows it and can skip bytes without
    /// reading them. The default implementation returns `None`.
    fn length(&self) -> Option<u64> {
        None
    }

    /// Returns the place of a second stream behind this one, if the source knows of one. The source
    /// then ends where the second stream begins. The default implementation knows of none.
    fn following(&self) -> Option<Following> {
        None
    }
}

/// Size of a cache line in bytes.
const LINE_BYTES: usize = 64;

/// Reads a byte of each cache line, which loads all lines at the same time. Without this, a walk
/// from header to header would wait for memory at each step, because each header's position
/// depends on the previous header.
pub(crate) fn look_at_lines(bytes: &[u8]) {
    let mut seen = 0;
    work::count(bytes.len() / LINE_BYTES);
    let (eights, rest) = bytes.as_chunks::<{ 8 * LINE_BYTES }>();
    for eight in eights {
        for line in eight.as_chunks::<LINE_BYTES>().0 {
            seen ^= line[0];
        }
    }
    std::hint::black_box(rest.iter().step_by(LINE_BYTES).fold(seen, |seen, byte| seen ^ byte));
}

/// Source for a whole stream in memory, such as a slice or a vector. It ends where a
/// [second stream](crate::following) begins.
///
/// ```
/// use nettrace_parser::{Source, Whole};
/// let mut source = Whole::new(&b"Nettrace"[..]);
/// assert!(source.fill(8).unwrap());
/// assert!(!source.fill(9).unwrap());
/// ```
#[derive(Clone)]
pub struct Whole<B> {
    bytes: B,
    following: Option<Following>,
    /// Length of the stream in bytes.
    len: usize,
}

impl<B: AsRef<[u8]>> Whole<B> {
    /// Creates a source for `bytes`, which begin with the stream's first byte.
    pub fn new(bytes: B) -> Self {
        let all = bytes.as_ref();
        let following = Following::from_slice(all);
        let len = following.map_or(all.len(), |following| index(following.start, 0));
        Whole { bytes, following, len }
    }
}

impl<B: AsRef<[u8]>> Source for Whole<B> {
    #[inline]
    fn start(&self) -> u64 {
        0
    }
    #[inline]
    fn bytes(&self) -> &[u8] {
        let bytes = self.bytes.as_ref();
        bytes.get(..self.len).unwrap_or(bytes)
    }
    #[inline]
    fn fill(&mut self, end: u64) -> io::Result<bool> {
        Ok(end <= self.len as u64)
    }
    fn release(&mut self, _before: u64) {}
    fn approach(&self, span: Span) {
        look_at_lines(part(self.bytes(), 0, span));
    }
    fn length(&self) -> Option<u64> {
        Some(self.len as u64)
    }
    fn following(&self) -> Option<Following> {
        self.following
    }
}

impl<B> fmt::Debug for Whole<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Whole({} bytes)", self.len)
    }
}

/// Number of bytes that are read at a time: enough to make calls cheap, few enough for the L2
/// cache.
const READ_BYTES: usize = 256 * 1024;

/// Source for any [`Read`], such as a pipe, a socket or a file.
///
/// It keeps the bytes from the last released position on in a buffer. Each byte is moved about
/// once at most.
#[must_use]
pub struct Buffered<R> {
    input: R,
    held: Held,
    is_ended: bool,
    /// Whether reading never waits, because all bytes are available.
    is_at_rest: bool,
}

/// Does not show the input, which may hold bytes of its own.
impl<R> fmt::Debug for Buffered<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffered({:?})", self.held)
    }
}

impl<R: Read> Buffered<R> {
    /// Creates a source for `input`, whose next byte is the first byte of the stream. Nothing is
    /// read after the stream's end mark, so a socket that is kept open does not block.
    pub fn new(input: R) -> Self {
        Buffered { input, held: Held::default(), is_ended: false, is_at_rest: false }
    }

    /// Says that the bytes of the input are all available, such as those of a file. Bytes after
    /// the end mark are read, up to [`Limits::tail_bytes`](crate::Limits::tail_bytes).
    pub fn at_rest(self) -> Self {
        Buffered { is_at_rest: true, ..self }
    }
}

impl<R: Read> Source for Buffered<R> {
    #[inline]
    fn start(&self) -> u64 {
        self.held.start()
    }
    #[inline]
    fn bytes(&self) -> &[u8] {
        self.held.bytes()
    }
    fn fill(&mut self, end: u64) -> io::Result<bool> {
        while self.held.end() < end {
            if self.is_ended {
                return Ok(false);
            }
            let room = self.held.room_towards(end, READ_BYTES);
            match self.input.read(room) {
                Ok(0) => self.is_ended = true,
                Ok(count) => self.held.add_written(count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }
    fn fill_at_once(&mut self, end: u64) -> io::Result<bool> {
        if self.is_at_rest { self.fill(end) } else { Ok(end <= self.held.end()) }
    }
    fn release(&mut self, before: u64) {
        self.held.release(before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffered_source_keeps_positions_while_bytes_come_and_go() {
        let data: Vec<u8> = (0..200_000u32).map(|i| (i % 251) as u8).collect();
        let mut source = Buffered::new(&data[..]);
        let mut position = 0u64;
        while source.fill(position + 1000).unwrap() {
            let window = &source.bytes()[(position - source.start()) as usize..][..1000];
            assert_eq!(window, &data[position as usize..][..1000]);
            position += 777;
            source.release(position);
        }
        assert_eq!(source.start() + source.bytes().len() as u64, 200_000);
    }

    #[test]
    fn an_announced_end_far_beyond_the_input_costs_no_memory() {
        let mut source = Buffered::new(&b"short"[..]);
        assert!(!source.fill(1 << 40).unwrap());
        assert_eq!(source.bytes(), b"short");
        assert!(source.held.capacity() <= 2 * READ_BYTES);
    }
}
