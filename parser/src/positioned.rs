//! Reads files at positions, so that several readers can share an open file, and ranges that
//! are not needed are never read.

use crate::following::Following;
use crate::held::Held;
use crate::source::Source;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Regular file that is read piece by piece into a reusable buffer, whose size depends on the
/// largest block.
///
/// It ends where a [second stream](crate::following) begins.
///
/// Use it for files that must not be mapped, and to read with several threads, each with its
/// own position and buffer. If the file is truncated while it is read, the stream ends early,
/// as with [`Buffered`](crate::Buffered).
///
/// ```no_run
/// use nettrace_parser::{PositionedFile, Reader};
/// let mut reader = Reader::new(PositionedFile::open("trace.nettrace")?);
/// reader.for_each(|event| println!("{}", event.provider()))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct PositionedFile {
    file: Arc<File>,
    held: Held,
    /// Minimum number of bytes to read at a time.
    ahead: usize,
    following: Option<Following>,
}

/// Minimum number of bytes to read at a time, used after a skipped range, because another skip
/// may follow.
const MIN_AHEAD: usize = 1024;
/// Maximum number of bytes to read at a time beyond those that the caller requested. It is used if
/// nothing is skipped.
const MAX_AHEAD: usize = 64 * 1024;

impl PositionedFile {
    /// Opens a regular file.
    ///
    /// # Errors
    /// Errors of opening; [`io::ErrorKind::InvalidInput`] for anything other than a
    /// regular file, which may not support positions.
    pub fn open(path: impl AsRef<Path>) -> io::Result<PositionedFile> {
        let file = File::open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "only regular files have positions",
            ));
        }
        let following = Following::read(&file).ok().flatten();
        Ok(PositionedFile::from_file(Arc::new(file), following))
    }

    /// Reads the first stream of a regular file that is already open.
    pub(crate) fn from_file(file: Arc<File>, following: Option<Following>) -> PositionedFile {
        PositionedFile { file, held: Held::default(), ahead: MAX_AHEAD, following }
    }

    /// Returns a source that reads the open file from its beginning, for another thread.
    #[must_use]
    pub fn reopened(&self) -> PositionedFile {
        PositionedFile::from_file(Arc::clone(&self.file), self.following)
    }
}

impl Source for PositionedFile {
    #[inline]
    fn start(&self) -> u64 {
        self.held.start()
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        self.held.bytes()
    }

    fn fill(&mut self, end: u64) -> io::Result<bool> {
        let stream_end = self.following.map_or(u64::MAX, |following| following.start);
        while self.held.end() < end {
            let (position, ahead) = (self.held.end(), self.ahead);
            // Usually a block's content is requested. This adds the header of the next block.
            let end = end.saturating_add(MIN_AHEAD as u64);
            let missing = usize::try_from(end.saturating_sub(position)).unwrap_or(usize::MAX);
            // Larger reads may have left more room than is wanted.
            let room = self.held.room_towards(end, ahead);
            let wanted = room.len().min(missing.max(ahead));
            let left = stream_end.saturating_sub(position);
            let wanted = usize::try_from(left).map_or(wanted, |left| wanted.min(left));
            let room = room.get_mut(..wanted).unwrap_or_default();
            match read_at(&self.file, room, position) {
                Ok(0) => return Ok(false),
                Ok(count) => self.held.add_written(count.min(wanted)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            self.ahead = ahead.saturating_mul(2).min(MAX_AHEAD);
        }
        Ok(true)
    }

    fn fill_at_once(&mut self, end: u64) -> io::Result<bool> {
        self.fill(end)
    }

    fn release(&mut self, before: u64) {
        if before > self.held.end() {
            self.held.skip_to(before);
            self.ahead = MIN_AHEAD;
        } else {
            self.held.release(before);
        }
    }

    fn length(&self) -> Option<u64> {
        let stream_end = self.following.map_or(u64::MAX, |following| following.start);
        self.file.metadata().ok().map(|file| file.len().min(stream_end))
    }

    fn following(&self) -> Option<Following> {
        self.following
    }
}

#[cfg(unix)]
fn read_at(file: &File, room: &mut [u8], position: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, room, position)
}

#[cfg(windows)]
fn read_at(file: &File, room: &mut [u8], position: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, room, position)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, data: &[u8]) -> std::path::PathBuf {
        let path =
            std::env::temp_dir().join(format!("nettrace-positioned-{name}-{}", std::process::id()));
        std::fs::write(&path, data).unwrap();
        path
    }

    #[test]
    fn a_file_read_at_positions_gives_the_same_bytes_wherever_it_is_left_and_taken_up() {
        let data: Vec<u8> = (0..3_000_000u32).map(|i| (i * 7 % 251) as u8).collect();
        let path = file("bytes", &data);
        let mut source = PositionedFile::open(&path).unwrap();
        let mut position = 0u64;
        let strides = [1, 100, 70_000, 5000, 300_000, 64, 1_000_000];
        for (stride, length) in strides.iter().zip([10, 100_000, 1, 400_000, 17, 1000, 300_000]) {
            position += stride;
            source.release(position);
            assert!(source.fill(position + length).unwrap());
            let at = (position - source.start()) as usize;
            let (length, position) = (length as usize, position as usize);
            assert_eq!(&source.bytes()[at..at + length], &data[position..][..length]);
        }
        // Everything from here on, and not a byte more.
        assert!(!source.fill(3_000_001).unwrap());
        assert_eq!(source.start() + source.bytes().len() as u64, 3_000_000);
        let mut other = source.reopened();
        assert!(other.fill(1).unwrap());
        assert_eq!((other.start(), other.bytes()[..10].to_vec()), (0, data[..10].to_vec()));
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_file_that_shrinks_ends_early() {
        let path = file("shrinks", &[7; 500_000]);
        let mut source = PositionedFile::open(&path).unwrap();
        assert!(source.fill(200_000).unwrap());
        File::options().write(true).open(&path).unwrap().set_len(1000).unwrap();
        source.release(200_000);
        assert!(!source.fill(400_000).unwrap());
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_folder_is_refused() {
        let error = PositionedFile::open(std::env::temp_dir()).unwrap_err();
        // On Windows opening fails already.
        assert!(cfg!(windows) || error.kind() == io::ErrorKind::InvalidInput);
    }
}
