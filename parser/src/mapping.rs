//! Memory-mapped files. The only `unsafe` code in this crate.

use crate::source::{Source, Span, look_at_lines, part};
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A whole file mapped into memory, for use with [`Whole`](crate::Whole) if all bytes are
/// needed as one slice. [`MappedFile`] uses less memory, and
/// [`PositionedFile`](crate::PositionedFile) needs no `unsafe`.
///
/// ```no_run
/// use nettrace_parser::{Mapping, Reader};
/// // SAFETY: the file is ours, and nothing writes to it.
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
    /// A mapping shows the current contents of the file. As long as it lives, the file
    /// must not change, neither by this process nor by another: a write changes bytes
    /// behind a `&[u8]`, which is undefined behaviour, and after truncation the next
    /// access beyond the new end kills this process (SIGBUS on Unix). The operating
    /// system does not prevent either, so the caller must know that it cannot happen: for
    /// example because no other process can open the file, or because the file system is
    /// mounted read-only.
    ///
    /// If you cannot know that, read the file: [`PositionedFile`](crate::PositionedFile)
    /// and [`Buffered`](crate::Buffered) just see an early end of file.
    ///
    /// # Errors
    /// Errors of opening and mapping; [`io::ErrorKind::InvalidInput`] for anything other
    /// than a regular file, whose length would be meaningless.
    #[expect(unsafe_code, reason = "the caller has to know that the file does not change")]
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

/// How many bytes are mapped at a time. Mapped pages count as this process's memory, so a
/// file of any size costs no more than this plus what the reader holds.
const WINDOW_BYTES: u64 = 8 << 20;
/// Views that share pieces map so much at multiples of [`SHARED_STEP`], so a view finds
/// the 12 MiB after its start in one piece. Runtimes write a sequence point every 10 MiB.
const SHARED_BYTES: u64 = 2 * WINDOW_BYTES;
const SHARED_STEP: u64 = WINDOW_BYTES / 2;
/// Mappings begin at multiples of this, which is a multiple of the page size of every
/// system.
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

/// What a view has mapped.
#[derive(Debug)]
enum Mapped {
    Nothing,
    /// For itself alone.
    Own(Piece),
    /// For all views that are near it.
    Shared(Arc<Piece>),
}

impl Mapped {
    #[inline]
    fn piece(&self) -> Option<&Piece> {
        if let Mapped::Own(piece) = self { Some(piece) } else { self.shared_piece() }
    }

    /// By a call, so that the way of a file that is read once stays short.
    #[inline(never)]
    fn shared_piece(&self) -> Option<&Piece> {
        if let Mapped::Shared(piece) = self { Some(piece) } else { None }
    }
}

/// The pieces that views of a file have in common: what one thread has touched, the
/// others need not bring near again.
#[derive(Debug, Default)]
struct SharedPieces(Mutex<Vec<Weak<Piece>>>);

impl SharedPieces {
    /// The piece from `start` to `end`, which is mapped if no view has it.
    fn get(&self, file: &File, start: u64, end: u64) -> io::Result<Arc<Piece>> {
        let mut pieces = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pieces.retain(|piece| piece.strong_count() > 0);
        let is_wanted = |piece: &Arc<Piece>| piece.start == start && piece.end() == end;
        if let Some(piece) = pieces.iter().filter_map(Weak::upgrade).find(is_wanted) {
            return Ok(piece);
        }
        let piece = Arc::new(Piece::new(file, start, end)?);
        pieces.push(Arc::downgrade(&piece));
        Ok(piece)
    }
}

/// A file that is mapped piece by piece: the fastest way to read large files on one
/// thread. [`PositionedFile`](crate::PositionedFile) is the safe alternative.
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
    shared: Arc<SharedPieces>,
    /// Whether this is one of several views.
    is_view: bool,
    mapped: Mapped,
    /// Stream position of the window's first byte.
    start: u64,
}

impl MappedFile {
    /// Opens a regular file.
    ///
    /// # Safety
    /// As for [`Mapping::open`], although only one piece is mapped at a time; the file's
    /// length is checked again for each piece. This also covers all views that
    /// [`MappedFile::reopened`] returns.
    ///
    /// # Errors
    /// As [`Mapping::open`].
    #[expect(unsafe_code, reason = "the caller has to know that the file does not change")]
    pub unsafe fn open(path: impl AsRef<Path>) -> io::Result<MappedFile> {
        let (file, _) = open_regular(path.as_ref())?;
        let (file, shared) = (Arc::new(file), Arc::default());
        Ok(MappedFile { file, shared, is_view: false, mapped: Mapped::Nothing, start: 0 })
    }

    /// Another view of the same open file, starting at its beginning, for another thread.
    /// Views that are near each other share what is mapped.
    pub fn reopened(&self) -> MappedFile {
        let (file, shared) = (Arc::clone(&self.file), Arc::clone(&self.shared));
        MappedFile { file, shared, is_view: true, mapped: Mapped::Nothing, start: 0 }
    }

    /// The same open file read with positioned reads, starting at its beginning. For
    /// several threads, whose mappings would block each other.
    #[cfg(any(unix, windows))]
    pub fn positioned(&self) -> crate::positioned::PositionedFile {
        crate::positioned::PositionedFile::of(Arc::clone(&self.file))
    }

    fn piece_end(&self) -> u64 {
        self.mapped.piece().map_or(self.start, Piece::end)
    }
}

impl Source for MappedFile {
    #[inline]
    fn start(&self) -> u64 {
        self.start
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        let Some(piece) = self.mapped.piece() else { return &[] };
        usize::try_from(self.start.saturating_sub(piece.start))
            .ok()
            .and_then(|index| piece.map.get(index..))
            .unwrap_or_default()
    }

    fn fill(&mut self, end: u64) -> io::Result<bool> {
        if end <= self.piece_end() {
            return Ok(true);
        }
        let length = self.file.metadata()?.len();
        if self.is_view {
            let shared_start = self.start.saturating_sub(self.start % SHARED_STEP);
            let shared_end = shared_start.saturating_add(SHARED_BYTES).min(length);
            if self.start < shared_end && end.min(length) <= shared_end {
                if shared_end > self.piece_end() {
                    self.mapped = Mapped::Nothing;
                    let piece = self.shared.get(&self.file, shared_start, shared_end)?;
                    self.mapped = Mapped::Shared(piece);
                }
                return Ok(end <= self.piece_end());
            }
        }
        let map_start = self.start.saturating_sub(self.start % ALIGNMENT);
        // If the reader holds on to a lot, the piece grows in proportion, so that held
        // bytes are not mapped again, and their pages faulted in again, too often.
        let held = end.saturating_sub(self.start);
        let ahead = WINDOW_BYTES.max(held.saturating_add(held / 2));
        let map_end = self.start.saturating_add(ahead).min(length);
        if map_end > self.piece_end() {
            // Unmap the old piece first, so that both do not count as memory at the same
            // time.
            self.mapped = Mapped::Nothing;
            self.mapped = Mapped::Own(Piece::new(&self.file, map_start, map_end)?);
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
            self.mapped = Mapped::Nothing;
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
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "only regular files can be mapped",
        ));
    }
    Ok((file, metadata.len()))
}

/// Maps a part of a file that one of the two unsafe functions opened.
#[expect(unsafe_code, reason = "mapping a file has no safe form; see SAFETY")]
fn map(file: &File, offset: u64, length: u64) -> io::Result<memmap2::Mmap> {
    let length = usize::try_from(length).map_err(|_| {
        io::Error::new(io::ErrorKind::FileTooLarge, "the file does not fit the address space")
    })?;
    let mut options = memmap2::MmapOptions::new();
    options.offset(offset).len(length);
    // SAFETY: the mapping is read-only, and its owners only return `&[u8]` that borrow
    // from them. The callers of `Mapping::open` and `MappedFile::open` guarantee that the
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
        let mut other = source.reopened();
        other.release(19_999_999);
        assert!(other.fill(20_000_000).unwrap() && !other.fill(20_000_001).unwrap());
        assert_eq!(other.bytes(), &data[19_999_999..]);
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn views_that_are_near_each_other_share_what_is_mapped() {
        let path = std::env::temp_dir().join(format!("nettrace-views-{}", std::process::id()));
        // Not a byte of it is stored.
        let length = 100 << 20;
        File::create(&path).unwrap().set_len(length).unwrap();
        let source = unsafe { MappedFile::open(&path) }.unwrap();
        let (mut index, mut worker) = (source.reopened(), source.reopened());
        let piece = |view: &MappedFile| view.mapped.piece().map(|piece| (piece.start, piece.end()));
        let addresses = |view: &MappedFile| view.bytes().as_ptr_range().end as usize;
        let mut shared = 0;
        for start in (0..length - (12 << 20)).step_by(1_000_003) {
            index.release(start + (5 << 20));
            worker.release(start);
            assert!(index.fill(start + (6 << 20)).unwrap());
            assert!(worker.fill(start + (12 << 20)).unwrap());
            assert_eq!(worker.start() + worker.bytes().len() as u64, piece(&worker).unwrap().1);
            if piece(&index) == piece(&worker) {
                assert_eq!(addresses(&index), addresses(&worker));
                shared += 1;
            }
        }
        assert!(shared > 0);
        // What nobody looks at is not kept.
        drop(index);
        assert_eq!(source.shared.0.lock().unwrap().iter().filter_map(Weak::upgrade).count(), 1);
        // More than a piece has is mapped for the view alone; the file's end is one.
        assert!(worker.fill(length).unwrap() && !worker.fill(length + 1).unwrap());
        let mut wide = source.reopened();
        assert!(wide.fill(60 << 20).unwrap() && wide.bytes().len() >= 60 << 20);
        assert!(wide.bytes().iter().take(1000).all(|byte| *byte == 0));
        std::fs::remove_file(path).unwrap();
    }
}
