//! Maps the file that is read, with `unsafe` code.

use nettrace_parser::MappedFile;
use std::io;
use std::path::Path;

/// Maps a regular file.
#[expect(unsafe_code, reason = "mapping a file has no safe form; see SAFETY")]
pub(super) fn open(path: &Path) -> io::Result<MappedFile> {
    // SAFETY: a trace is written once and read later. It cannot be ruled out that some process
    // changes the file while it is read, so both outcomes were considered. A file that shrinks
    // raises SIGBUS, which ends this process. Bytes that change give wrong values: the reader
    // copies each value out before it decides on it, and checks each on its own, so damage is
    // reported and nothing else happens. `--no-mmap` reads the file instead, and the manual says
    // when to use it.
    unsafe { MappedFile::open(path) }
}
