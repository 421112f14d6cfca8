//! Finds a second stream behind the end mark of the first one.
//!
//! A file may hold two streams, one behind the other. Whoever appends the second one also appends
//! 16 bytes, by which it is found from the file's end:
//!
//! | offset from the end | size | field |
//! |---|---|---|
//! | −16 | 8 | length of the second stream in bytes, u64 little-endian |
//! | −8 | 8 | `nt-clock` |
//!
//! Sources that know where their file ends, which are all but [`Buffered`](crate::Buffered), end
//! where the second stream begins. So a reader gives the same events as for a file without it, and
//! a damaged first stream does not go on in the second one. The second stream is a stream like any
//! other, whose positions begin with 0.
//!
//! ```
//! use nettrace_parser::{Reader, following::Following};
//! # let first = nettrace_testdata::synth::tiny_v4().bytes;
//! # let second = nettrace_testdata::synth::tiny_v6().bytes;
//! let trailer = Following::trailer(second.len() as u64);
//! let file = [&first[..], &second[..], &trailer[..]].concat();
//! let mut reader = Reader::from_slice(&file);
//! while reader.next_event()?.is_some() {}
//! assert_eq!(reader.end_offset(), Some(first.len() as u64));
//! let following = reader.following().expect("a stream follows");
//! let mut second = Reader::from_slice(following.bytes(&file));
//! assert_eq!(second.version().map(|version| version.major()), None);
//! second.trace()?;
//! assert_eq!(second.version().map(|version| version.major()), Some(6));
//! # Ok::<(), nettrace_parser::Error>(())
//! ```

use crate::bytes;
use std::io::{self, Read, Seek, SeekFrom};

/// Last bytes of a file with two streams.
pub const MARK: [u8; 8] = *b"nt-clock";
/// Length in bytes of what follows the second stream: its length, and [`MARK`].
pub const TRAILER_BYTES: usize = 16;
/// First bytes of a stream.
pub(crate) const MAGIC: [u8; 8] = *b"Nettrace";

/// Place of the second stream of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Following {
    /// Offset in the file of the stream's first byte, which is also the length of the first stream.
    pub start: u64,
    /// Length of the stream in bytes.
    pub len: u64,
}

impl Following {
    /// Finds the second stream of a file in memory. A length that does not lead to the beginning of
    /// a stream means that there is none.
    pub fn from_slice(file: &[u8]) -> Option<Following> {
        let (before, trailer) = file.split_last_chunk()?;
        let following = Following::from_trailer(trailer, before.len() as u64)?;
        following.bytes(before).starts_with(&MAGIC).then_some(following)
    }

    /// Finds the second stream of a file. Leaves the file at another position.
    ///
    /// # Errors
    /// Errors of reading. A short file is no error.
    pub fn read(mut file: impl Read + Seek) -> io::Result<Option<Following>> {
        let end = file.seek(SeekFrom::End(0))?;
        let Some(before) = end.checked_sub(TRAILER_BYTES as u64) else { return Ok(None) };
        let mut trailer = [0; TRAILER_BYTES];
        file.seek(SeekFrom::Start(before))?;
        file.read_exact(&mut trailer)?;
        let Some(following) = Following::from_trailer(&trailer, before) else { return Ok(None) };
        let mut magic = [0; MAGIC.len()];
        file.seek(SeekFrom::Start(following.start))?;
        file.read_exact(&mut magic)?;
        Ok((magic == MAGIC).then_some(following))
    }

    /// Returns the bytes that have to follow a second stream of `len` bytes.
    pub fn trailer(len: u64) -> [u8; TRAILER_BYTES] {
        let mut trailer = [0; TRAILER_BYTES];
        let fields = [len.to_le_bytes(), MARK];
        for (to, from) in trailer.iter_mut().zip(fields.as_flattened()) {
            *to = *from;
        }
        trailer
    }

    /// Returns the bytes of the second stream in the bytes of the file.
    pub fn bytes<'f>(&self, file: &'f [u8]) -> &'f [u8] {
        let at = |position| usize::try_from(position).unwrap_or(usize::MAX);
        let end = at(self.start.saturating_add(self.len));
        file.get(at(self.start)..end).unwrap_or_default()
    }

    /// Returns the place that a trailer at offset `end` states, if a first stream can be before it.
    pub(crate) fn from_trailer(trailer: &[u8; TRAILER_BYTES], end: u64) -> Option<Following> {
        let len = bytes::first::<u64>(trailer)?;
        let start = end.checked_sub(len).filter(|start| *start > 0)?;
        (trailer.ends_with(&MARK) && len >= MAGIC.len() as u64).then_some(Following { start, len })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn found(file: &[u8]) -> Option<Following> {
        let in_slice = Following::from_slice(file);
        assert_eq!(in_slice, Following::read(Cursor::new(file)).unwrap());
        in_slice
    }

    fn file(second: &[u8], len: u64) -> Vec<u8> {
        [b"Nettrace first", second, &Following::trailer(len)].concat()
    }

    #[test]
    fn a_stream_is_found_by_the_length_behind_it() {
        let second = b"Nettrace second";
        let file = file(second, second.len() as u64);
        let following = found(&file).unwrap();
        assert_eq!(following, Following { start: 14, len: 15 });
        assert_eq!(following.bytes(&file), second);
        assert!(file.ends_with(b"\x0f\0\0\0\0\0\0\0nt-clock"));
    }

    #[test]
    fn a_length_that_leads_nowhere_means_that_no_stream_follows() {
        let second = b"Nettrace second";
        for len in (0..64).chain([u64::MAX, u64::MAX - 16, 1 << 63, 1 << 32]) {
            assert_eq!(found(&file(second, len)).is_some(), len == 15, "{len}");
        }
        assert_eq!(found(&file(b"", 14)), None, "there has to be a first stream");
        assert_eq!(found(&file(b"nettrace second", 15)), None);
    }

    #[test]
    fn another_mark_or_a_short_file_means_that_no_stream_follows() {
        let mut other = file(b"Nettrace second", 15);
        *other.last_mut().unwrap() = b'K';
        assert_eq!(found(&other), None);
        let whole = file(b"Nettrace second", 15);
        for len in 0..whole.len() {
            assert_eq!(found(&whole[..len]), None, "{len} bytes");
        }
        for start in 15..whole.len() {
            assert_eq!(found(&whole[start..]), None, "{start} bytes less");
        }
    }
}
