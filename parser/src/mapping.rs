//! Maps files into memory, with the only `unsafe` code of this crate.

use crate::following::Following;
use crate::source::{Source, Span, look_at_lines, part};
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Minimum number of bytes that are mapped at a time. Mapped pages count as memory of this
/// process, so the file is not mapped as a whole.
const WINDOW_BYTES: u64 = 8 << 20;
/// Alignment of mappings in bytes, a multiple of the page size of every system.
const ALIGNMENT: u64 = 64 << 10;

/// A mapped part of a file.
#[derive(Debug)]
struct Piece {
    /// Stream position of the first byte.
    start: u64,
    map: memmap2::Mmap,
}

impl Piece {
    fn new(file: &File, start: u64, end: u64) -> io::Result<Piece> {
        Ok(Piece { start, map: map(file, start, end.saturating_sub(start))? })
    }

    fn end(&self) -> u64 {
        self.start.saturating_add(self.map.len() as u64)
    }
}

/// File that is mapped piece by piece, which is the fastest way to read large files on one
/// thread. [`PositionedFile`](crate::PositionedFile) is the safe alternative. It ends where a
/// [second stream](crate::following) begins.
///
/// ```no_run
/// use nettrace_parser::{MappedFile, Reader};
/// // SAFETY: the file is ours, and nothing writes to it.
/// let mut reader = Reader::new(unsafe { MappedFile::open("trace.nettrace") }?);
/// reader.for_each(|event| println!("{}", event.provider()))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct MappedFile {
    file: Arc<File>,
    piece: Option<Piece>,
    /// Stream position of the window's first byte.
    start: u64,
    following: Option<Following>,
}

impl MappedFile {
    /// Maps a regular file.
    ///
    /// # Safety
    /// As long as the [`MappedFile`] lives, no process may change the file. A write changes
    /// bytes behind a `&[u8]`, which is undefined behaviour. After a truncation, an access
    /// beyond the new end kills this process (SIGBUS on Unix). The operating system prevents
    /// neither, so the caller must know that the file cannot change, for example because no
    /// other process can open it, or because its file system is mounted read-only.
    ///
    /// Otherwise use [`PositionedFile`](crate::PositionedFile) or
    /// [`Buffered`](crate::Buffered), for which a truncated file only ends early.
    ///
    /// # Errors
    /// Errors of opening; [`io::ErrorKind::InvalidInput`] for anything other than a
    /// regular file, whose length would be meaningless.
    #[expect(unsafe_code, reason = "the caller has to know that the file does not change")]
    pub unsafe fn open(path: impl AsRef<Path>) -> io::Result<MappedFile> {
        let file = File::open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "only regular files can be mapped",
            ));
        }
        let following = Following::read(&file).ok().flatten();
        Ok(MappedFile { file: Arc::new(file), piece: None, start: 0, following })
    }

    /// Returns a [`PositionedFile`](crate::PositionedFile) of the open file, at its beginning.
    /// It is meant for reading with several threads, whose mappings would block each other.
    #[cfg(any(unix, windows))]
    pub fn positioned(&self) -> crate::positioned::PositionedFile {
        crate::positioned::PositionedFile::from_file(Arc::clone(&self.file), self.following)
    }

    fn piece_end(&self) -> u64 {
        self.piece.as_ref().map_or(self.start, Piece::end)
    }
}

impl Source for MappedFile {
    #[inline]
    fn start(&self) -> u64 {
        self.start
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        let Some(piece) = &self.piece else { return &[] };
        usize::try_from(self.start.saturating_sub(piece.start))
            .ok()
            .and_then(|index| piece.map.get(index..))
            .unwrap_or_default()
    }

    fn fill(&mut self, end: u64) -> io::Result<bool> {
        if end <= self.piece_end() {
            return Ok(true);
        }
        let stream_end = self.following.map_or(u64::MAX, |following| following.start);
        let length = self.file.metadata()?.len().min(stream_end);
        let map_start = self.start.saturating_sub(self.start % ALIGNMENT);
        // The piece grows with the number of bytes that the reader holds, so that these are not
        // mapped again too often.
        let held = end.saturating_sub(self.start);
        let ahead = WINDOW_BYTES.max(held.saturating_add(held / 2));
        let map_end = self.start.saturating_add(ahead).min(length);
        if map_end > self.piece_end() {
            // Unmapped first, so that never both pieces count as memory.
            self.piece = None;
            self.piece = Some(Piece::new(&self.file, map_start, map_end)?);
        }
        Ok(end <= self.piece_end())
    }

    fn fill_at_once(&mut self, end: u64) -> io::Result<bool> {
        self.fill(end)
    }

    fn release(&mut self, before: u64) {
        if before <= self.start {
            return;
        }
        self.start = before;
        if before > self.piece_end() {
            self.piece = None;
        }
    }

    fn approach(&self, span: Span) {
        look_at_lines(part(self.bytes(), self.start, span));
    }

    fn length(&self) -> Option<u64> {
        let stream_end = self.following.map_or(u64::MAX, |following| following.start);
        self.file.metadata().ok().map(|file| file.len().min(stream_end))
    }

    fn following(&self) -> Option<Following> {
        self.following
    }
}

/// Maps a part of a file that [`MappedFile::open`] opened.
#[expect(unsafe_code, reason = "mapping a file has no safe form; see SAFETY")]
fn map(file: &File, offset: u64, length: u64) -> io::Result<memmap2::Mmap> {
    let length = usize::try_from(length).map_err(|_| {
        io::Error::new(io::ErrorKind::FileTooLarge, "the file does not fit the address space")
    })?;
    let mut options = memmap2::MmapOptions::new();
    options.offset(offset).len(length);
    // SAFETY: the mapping is read-only, and its owners only return `&[u8]` that borrow
    // from them. The callers of `MappedFile::open` guarantee that the
    // file does not change while it is mapped, and there is no other way to get here.
    unsafe { options.map(file) }
}

#[cfg(test)]
#[expect(unsafe_code, reason = "the files of these tests are their own")]
mod tests {
    use super::*;

    #[test]
    fn a_mapped_file_gives_the_same_bytes_piece_by_piece() {
        let path = std::env::temp_dir().join(format!("nettrace-mapping-{}", std::process::id()));
        let data: Vec<u8> = (0..20_000_000u32).map(|i| (i * 7 % 251) as u8).collect();
        std::fs::write(&path, &data).unwrap();
        let mut source = unsafe { MappedFile::open(&path) }.unwrap();
        let mut position = 0u64;
        while source.fill(position + 100_000).unwrap() {
            let at = (position - source.start()) as usize;
            assert_eq!(&source.bytes()[at..at + 100_000], &data[position as usize..][..100_000]);
            assert!(source.bytes().len() as u64 <= WINDOW_BYTES + ALIGNMENT);
            position += 77_777;
            source.release(position);
        }
        assert_eq!(source.start() + source.bytes().len() as u64, data.len() as u64);
        // Held bytes are not mapped again for each step forward.
        let mut held = unsafe { MappedFile::open(&path) }.unwrap();
        let (mut maps, mut end) = (0, 0);
        for wanted in (0..data.len() as u64).step_by(10_000) {
            assert!(held.fill(wanted).unwrap());
            maps += u32::from(std::mem::replace(&mut end, held.piece_end()) != held.piece_end());
        }
        assert!(maps <= 5 && held.bytes() == data, "{maps} maps");
        // Far ahead, then back to a part that is not mapped.
        held.release(19_999_999);
        assert!(held.fill(20_000_000).unwrap() && !held.fill(20_000_001).unwrap());
        assert_eq!(held.bytes(), &data[19_999_999..]);
        std::fs::remove_file(path).unwrap();
    }
}
