//! Which file it is, whatever it is called.

use std::fs;
use std::path::Path;

/// Identifies a regular file. Two names of one file (links of either
/// kind, `./x` and `x`) are equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileId(Inner);

/// Device and number there.
#[cfg(unix)]
type Inner = (u64, u64);
/// The standard library has no number there; the path without links.
#[cfg(not(unix))]
type Inner = std::path::PathBuf;

impl FileId {
    /// The file of this name, following links. `None`: there is none, or it is no regular
    /// file.
    pub(crate) fn of(path: &Path) -> Option<FileId> {
        FileId::of_metadata(&fs::metadata(path).ok()?, path)
    }

    /// The file of this very name: a link is none.
    pub(super) fn of_name(path: &Path) -> Option<FileId> {
        FileId::of_metadata(&fs::symlink_metadata(path).ok()?, path)
    }

    /// An input as commands name it: `-` is standard input.
    pub(super) fn of_input(path: &Path) -> Option<FileId> {
        if path == Path::new("-") { standard_input() } else { FileId::of(path) }
    }

    #[cfg(unix)]
    fn of_metadata(metadata: &fs::Metadata, _path: &Path) -> Option<FileId> {
        use std::os::unix::fs::MetadataExt;
        metadata.is_file().then(|| FileId((metadata.dev(), metadata.ino())))
    }

    #[cfg(not(unix))]
    fn of_metadata(metadata: &fs::Metadata, path: &Path) -> Option<FileId> {
        metadata.is_file().then(|| path.canonicalize().ok().map(FileId)).flatten()
    }
}

/// The file that standard input is redirected from.
#[cfg(unix)]
fn standard_input() -> Option<FileId> {
    use std::os::fd::AsFd;
    let handle = std::io::stdin().as_fd().try_clone_to_owned().ok()?;
    let metadata = fs::File::from(handle).metadata().ok()?;
    FileId::of_metadata(&metadata, Path::new("-"))
}

#[cfg(not(unix))]
fn standard_input() -> Option<FileId> {
    None
}

/// Whether it holds what is written to it, so that writing takes something away.
#[cfg(unix)]
pub(super) fn is_disk(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    metadata.file_type().is_block_device()
}

#[cfg(not(unix))]
pub(super) fn is_disk(_metadata: &fs::Metadata) -> bool {
    false
}
