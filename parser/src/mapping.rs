//! Files mapped into memory. The one place with `unsafe` in this crate.

use std::fs::File;
use std::io;
use std::path::Path;

/// A file mapped into memory, to be read as [`Whole`](crate::Whole).
///
/// A mapping shows the file as it is, not as it was: if another process truncates the file while
/// it is read, the next access beyond its new end stops this process (SIGBUS on Unix). Where that
/// can happen, read the file through [`Buffered`](crate::Buffered) instead, which then sees an
/// early end.
///
/// ```no_run
/// use nettrace_parser::{Mapping, Reader, Whole};
/// let mut reader = Reader::new(Whole::new(Mapping::open("trace.nettrace".as_ref())?));
/// while let Some(event) = reader.next_event()? {
///     println!("{}", event.provider());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Mapping(memmap2::Mmap);

impl Mapping {
    /// Maps a regular file.
    ///
    /// # Errors
    /// What opening and mapping report; [`io::ErrorKind::InvalidInput`] for anything but a regular
    /// file, whose length means nothing.
    pub fn open(path: &Path) -> io::Result<Mapping> {
        let file = File::open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "only regular files can be mapped"));
        }
        Mapping::of(&file)
    }

    #[expect(unsafe_code, reason = "mapping a file has no safe form; see SAFETY")]
    fn of(file: &File) -> io::Result<Mapping> {
        // SAFETY: the mapping is private and read-only, and lives in `Mapping`, which gives out
        // `&[u8]` only for as long as it lives itself. What Rust cannot know is whether another
        // process changes the file meanwhile: changed bytes would be seen changing behind a `&[u8]`
        // (every reader here copies values out before it decides on them, and checks each on its
        // own), and truncation raises SIGBUS. Both are documented on the type, with the way
        // around them.
        let map = unsafe { memmap2::Mmap::map(file)? };
        Ok(Mapping(map))
    }
}

impl AsRef<[u8]> for Mapping {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}
