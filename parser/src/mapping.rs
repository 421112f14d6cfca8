//! Files mapped into memory. The one place with `unsafe` in this crate.

use crate::source::{Source, Span, look_at_lines, part};
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// A whole file mapped into memory, to be read as [`Whole`](crate::Whole) where a slice of all bytes
/// is needed. [`MappedFile`] holds less memory, and [`PositionedFile`](crate::PositionedFile) needs no `unsafe`.
///
/// ```no_run
/// use nettrace_parser::{Mapping, Reader};
/// // SAFETY: the file is ours, and nobody writes to it.
/// let mapping = unsafe { Mapping::open("trace.nettrace") }?;
/// Reader::from_slice(mapping.as_ref()).for_each(|event| println!("{}", event.provider()))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Mapping(memmap2::Mmap);

impl Mapping {
    /// Maps a regular file.
    ///
    /// # Safety
    /// A mapping shows the file as it is, not as it was. As long as it lives, nobody may change the file, in this
    /// process or in another: a write changes bytes behind a `&[u8]`, which is undefined behaviour, and where
    /// the file gets shorter, the next access behind its new end stops this process (SIGBUS on Unix). The system
    /// does not see to that, so only the caller can know it: of a file that is nobody else's, for instance, or
    /// one on a file system that is mounted read-only.
    ///
    /// Where that cannot be known, read the file: [`PositionedFile`](crate::PositionedFile) and
    /// [`Buffered`](crate::Buffered) see an early end instead.
    ///
    /// # Errors
    /// What opening and mapping report; [`io::ErrorKind::InvalidInput`] for anything but a regular
    /// file, whose length means nothing.
    #[expect(unsafe_code, reason = "the caller has to know that nobody changes the file")]
    pub unsafe fn open(path: impl AsRef<Path>) -> io::Result<Mapping> {
        let (file, length) = open_regular(path.as_ref())?;
        Ok(Mapping(map(&file, 0, length)?))
    }
}

impl AsRef<[u8]> for Mapping {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Bytes that are mapped at once. Pages count as this process's memory while they are mapped, so a
/// file of any size costs no more than this and what the reader holds on to.
const WINDOW_BYTES: u64 = 8 << 20;
/// Mappings begin at multiples of this, which every system's pages divide.
const ALIGNMENT: u64 = 64 << 10;

/// A file mapped piece by piece as it is read: the fastest way to read large files with one thread.
/// [`PositionedFile`](crate::PositionedFile) is the safe way.
///
/// ```no_run
/// use nettrace_parser::{MappedFile, Reader};
/// // SAFETY: the file is ours, and nobody writes to it.
/// let mut reader = Reader::new(unsafe { MappedFile::open("trace.nettrace") }?);
/// reader.for_each(|event| println!("{}", event.provider()))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct MappedFile {
    file: Arc<File>,
    map: Option<memmap2::Mmap>,
    /// Stream position of the first mapped byte.
    map_start: u64,
    /// Stream position of the window's first byte.
    start: u64,
}

impl MappedFile {
    /// Opens a regular file.
    ///
    /// # Safety
    /// As [`Mapping::open`], although only for the piece that is mapped: the file's length is looked at again for
    /// each. It holds for all views of the file that [`MappedFile::reopened`] gives.
    ///
    /// # Errors
    /// As [`Mapping::open`].
    #[expect(unsafe_code, reason = "the caller has to know that nobody changes the file")]
    pub unsafe fn open(path: impl AsRef<Path>) -> io::Result<MappedFile> {
        let (file, _) = open_regular(path.as_ref())?;
        Ok(MappedFile { file: Arc::new(file), map: None, map_start: 0, start: 0 })
    }

    /// Another view of the same open file, from its beginning: for another thread.
    pub fn reopened(&self) -> MappedFile {
        MappedFile { file: Arc::clone(&self.file), map: None, map_start: 0, start: 0 }
    }

    /// The same open file, read at positions, from its beginning: for several threads, whose mappings
    /// would make each other wait.
    #[cfg(any(unix, windows))]
    pub fn positioned(&self) -> crate::PositionedFile {
        crate::PositionedFile::of(Arc::clone(&self.file))
    }

    fn map_end(&self) -> u64 {
        self.map_start.saturating_add(self.map.as_ref().map_or(0, |map| map.len() as u64))
    }
}

impl Source for MappedFile {
    #[inline]
    fn start(&self) -> u64 {
        self.start
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        let Some(map) = &self.map else { return &[] };
        usize::try_from(self.start.saturating_sub(self.map_start))
            .ok()
            .and_then(|index| map.get(index..))
            .unwrap_or_default()
    }

    fn fill(&mut self, end: u64) -> io::Result<bool> {
        if end <= self.map_end() {
            return Ok(true);
        }
        let length = self.file.metadata()?.len();
        let map_start = self.start.saturating_sub(self.start % ALIGNMENT);
        // Where the reader holds on to much, the piece grows by a share of that, so that what is held is mapped anew,
        // and its pages are looked up again, only so often.
        let held = end.saturating_sub(self.start);
        let ahead = WINDOW_BYTES.max(held.saturating_add(held / 2));
        let map_end = self.start.saturating_add(ahead).min(length);
        if map_end > self.map_end() {
            // The old piece goes first: it must not count beside the new one.
            self.map = None;
            self.map_start = map_start;
            self.map = Some(map(&self.file, map_start, map_end.saturating_sub(map_start))?);
        }
        Ok(end <= self.map_end())
    }

    fn fill_at_once(&mut self, end: u64) -> io::Result<bool> {
        self.fill(end)
    }

    fn release(&mut self, before: u64) {
        if before <= self.start {
            return;
        }
        self.start = before;
        if before > self.map_end() {
            self.map = None;
            self.map_start = before;
        }
    }

    fn approach(&self, span: Span) {
        look_at_lines(part(self.bytes(), self.start, span));
    }
}

fn open_regular(path: &Path) -> io::Result<(File, u64)> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "only regular files can be mapped"));
    }
    Ok((file, metadata.len()))
}

/// Maps a part of a file that was opened by one of the two unsafe functions.
#[expect(unsafe_code, reason = "mapping a file has no safe form; see SAFETY")]
fn map(file: &File, offset: u64, length: u64) -> io::Result<memmap2::Mmap> {
    let length = usize::try_from(length).map_err(|_| {
        io::Error::new(io::ErrorKind::FileTooLarge, "the file does not fit the address space")
    })?;
    let mut options = memmap2::MmapOptions::new();
    options.offset(offset).len(length);
    // SAFETY: the mapping is read-only, and its owners give out `&[u8]` only for as long as they hold it. That
    // nobody changes the file meanwhile is what the callers of `Mapping::open` and `MappedFile::open` warrant,
    // and no other way leads here.
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
        // What is held is not mapped anew for each step ahead.
        let (mut held, mut maps, mut end) = (source.reopened(), 0, 0);
        for wanted in (0..data.len() as u64).step_by(10_000) {
            assert!(held.fill(wanted).unwrap());
            maps += u32::from(std::mem::replace(&mut end, held.map_end()) != held.map_end());
        }
        assert!(maps <= 5 && held.bytes() == data, "{maps} maps");
        // Far ahead and back to where nothing is mapped.
        let mut other = source.reopened();
        other.release(19_999_999);
        assert!(other.fill(20_000_000).unwrap() && !other.fill(20_000_001).unwrap());
        assert_eq!(other.bytes(), &data[19_999_999..]);
        std::fs::remove_file(path).unwrap();
    }
}
