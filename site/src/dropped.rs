//! Files that were dropped onto the page. They are opened as the command opens those of a disk.

use nettrace_analysis::input::{MAX_UNPACKED_BYTES, TraceBytes};
use nettrace_parser::Reader;
use std::io::{self, Read, Seek};

/// A file that is read at any place.
pub trait SeekRead: Read + Seek + Send {}

impl<R: Read + Seek + Send> SeekRead for R {}

/// A file that was dropped onto the page.
#[allow(missing_debug_implementations, reason = "of functions there is nothing to show")]
pub struct Dropped<'f> {
    /// Its name, without folders.
    pub name: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// Opens the file at its beginning.
    pub open: &'f dyn Fn() -> Box<dyn SeekRead>,
}

impl Dropped<'_> {
    /// Opens the first stream.
    pub(crate) fn first(&self) -> io::Result<TraceBytes> {
        TraceBytes::open((self.open)(), MAX_UNPACKED_BYTES)
    }

    /// Opens the second stream behind the first one. `None` if there is none, or it cannot be read.
    pub(crate) fn second(&self) -> Option<Reader<TraceBytes>> {
        TraceBytes::open_second((self.open)(), MAX_UNPACKED_BYTES).map(Reader::new)
    }
}
