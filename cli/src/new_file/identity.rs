//! Identifies a file, whatever it is called.

use std::fs;
use std::path::Path;

/// Identifies a regular file. Two names of one file (links of either
/// kind, `./x` and `x`) are equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileId(
    /// Device, and number of the file on it.
    #[cfg(unix)]
    (u64, u64),
    /// The path without links, because the standard library gives no number on this system.
    #[cfg(not(unix))]
    std::path::PathBuf,
);

impl FileId {
    /// Identifies the file of this name and follows links. Returns `None` if there is no such file,
    /// or it is no regular file.
    pub(crate) fn from_path(path: &Path) -> Option<FileId> {
        FileId::from_metadata(&fs::metadata(path).ok()?, path)
    }

    /// Identifies the file of this very name and follows no links. Returns `None` for a link.
    pub(super) fn from_name(path: &Path) -> Option<FileId> {
        FileId::from_metadata(&fs::symlink_metadata(path).ok()?, path)
    }

    /// Identifies an input as commands name it: `-` is standard input.
    pub(super) fn from_input(path: &Path) -> Option<FileId> {
        if path == Path::new("-") { standard_input() } else { FileId::from_path(path) }
    }

    #[cfg(unix)]
    fn from_metadata(metadata: &fs::Metadata, _path: &Path) -> Option<FileId> {
        use std::os::unix::fs::MetadataExt;
        metadata.is_file().then(|| FileId((metadata.dev(), metadata.ino())))
    }

    #[cfg(not(unix))]
    fn from_metadata(metadata: &fs::Metadata, path: &Path) -> Option<FileId> {
        metadata.is_file().then(|| path.canonicalize().ok().map(FileId)).flatten()
    }
}

/// Identifies the file that standard input is redirected from.
#[cfg(unix)]
fn standard_input() -> Option<FileId> {
    use std::os::fd::AsFd;
    let handle = std::io::stdin().as_fd().try_clone_to_owned().ok()?;
    let metadata = fs::File::from(handle).metadata().ok()?;
    FileId::from_metadata(&metadata, Path::new("-"))
}

#[cfg(not(unix))]
fn standard_input() -> Option<FileId> {
    None
}

/// Returns whether a device keeps what is written to it, so that writing destroys older data.
#[cfg(unix)]
pub(super) fn is_disk(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    metadata.file_type().is_block_device()
}

#[cfg(not(unix))]
pub(super) fn is_disk(_metadata: &fs::Metadata) -> bool {
    false
}

/// Returns whether the system takes a path for a device because of its name, wherever it lies: the
/// null device or the console of Windows, which have no metadata.
pub(super) fn is_named_device(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_uppercase());
    cfg!(windows) && name.is_some_and(|name| matches!(&*name, "NUL" | "CON" | "CONOUT$"))
}
