//! Output file whose errors have its path, because several files may be written at once.

use crate::failure::{Failure, plain};
use std::error::Error;
use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A file that is being written.
pub(super) struct NamedFile {
    file: File,
    path: PathBuf,
}

/// Write error with the path of its file.
#[derive(Debug)]
struct FileFault {
    path: PathBuf,
    error: io::Error,
}

impl fmt::Display for FileFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())
    }
}

impl Error for FileFault {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.error)
    }
}

impl NamedFile {
    pub(super) fn new(file: File, path: &Path) -> NamedFile {
        NamedFile { file, path: path.to_owned() }
    }

    fn named<T>(&self, result: io::Result<T>) -> io::Result<T> {
        result.map_err(|error| match error.kind() {
            // Writers retry after an error of this kind.
            io::ErrorKind::Interrupted => error,
            kind => io::Error::new(kind, FileFault { path: self.path.clone(), error }),
        })
    }
}

impl Write for NamedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes);
        self.named(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.file.flush();
        self.named(flushed)
    }
}

/// Creates the failure for an output that cannot be written.
pub(super) fn fault(error: io::Error) -> Failure {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<FileFault>()) {
        Some(fault) => Failure::input(
            fault.path.display().to_string(),
            format!("cannot be written: {}", plain(&fault.error)),
        ),
        None => Failure::Output(error),
    }
}
