//! Creates every file that a command writes.
//!
//! A file is written as `NAME.part` beside its final place, and gets its final name when it is
//! whole. Until then an older file of that name stays as it was. A device or a pipe is written
//! directly. Only files that this module made are removed. Only its owner may read a file.

mod identity;
pub(crate) mod private;
mod unfinished;

pub(crate) use identity::FileId;
pub(crate) use unfinished::{begin_folder, end_with_signals, forget, leave_unfinished};

use crate::failure::{Failure, plain};
use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Treatment of a file that was begun and not finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unfinished {
    /// The file is removed: the same command makes it again, so half of it is worth nothing.
    Removed,
    /// The file stays as `NAME.part`, and a message says where: a recording cannot be repeated.
    Kept,
}

/// A file that is being written.
#[derive(Debug)]
pub(crate) struct NewFile {
    file: File,
    pending: Pending,
}

/// The part of a [`NewFile`] that gives it its final name, without the open file.
#[derive(Debug)]
pub(crate) struct Pending {
    /// The path as the user named it.
    path: PathBuf,
    /// The file under its temporary name; `None` if the bytes go directly to a device or a pipe.
    part: Option<PartFile>,
}

/// A file that has a temporary name.
#[derive(Debug)]
struct PartFile {
    path: PathBuf,
    /// The final name, with symbolic links resolved.
    target: PathBuf,
    /// Whether a file of the final name exists and may be replaced.
    replaces: bool,
    unfinished: Unfinished,
}

/// A file that is whole and has its final name.
#[derive(Debug, Clone)]
pub(crate) struct Written {
    path: PathBuf,
    /// Identity of the file; `None` if it is no regular file.
    id: Option<FileId>,
}

impl Written {
    /// Returns the file's length in bytes; 0 if it is no regular file.
    pub(crate) fn bytes(&self) -> u64 {
        let file = self.id.as_ref().and_then(|_| std::fs::metadata(&self.path).ok());
        file.map_or(0, |file| file.len())
    }
}

/// Checks whether a file of this name may be written, before any work is done for it.
///
/// # Errors
/// The path is a folder, one of the `inputs`, or exists and may not be replaced.
pub(crate) fn check(path: &Path, is_forced: bool, inputs: &[&Path]) -> Result<(), Failure> {
    kind_of(path, is_forced, inputs).map(drop)
}

/// Writes a file that the same command can make again: it is removed if that fails, or if a signal
/// ends the process.
///
/// # Errors
/// Fails like [`NewFile::create`] and [`NewFile::finish`], and if the file cannot be written.
pub(crate) fn write(
    path: &Path,
    is_forced: bool,
    inputs: &[&Path],
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    end_with_signals()?;
    let mut out = BufWriter::new(NewFile::create(path, is_forced, inputs, Unfinished::Removed)?);
    content(&mut out).map_err(|error| cannot(path, &error))?;
    out.into_inner().map_err(|error| cannot(path, error.error()))?.finish().map(drop)
}

enum NameUse {
    /// Nothing has this name.
    Free,
    /// A regular file that may be replaced.
    Old(fs::Metadata),
    /// A device or a pipe.
    Direct,
}

fn kind_of(path: &Path, is_forced: bool, inputs: &[&Path]) -> Result<NameUse, Failure> {
    if is_forced {
        resolve_symlinks(path).map_err(|error| cannot(path, &error))?;
    }
    if identity::is_named_device(path) {
        return Ok(NameUse::Direct);
    }
    let there = match fs::metadata(path) {
        Ok(there) => there,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            // A link whose target does not exist counts as existing.
            return match fs::symlink_metadata(path) {
                Ok(_) if !is_forced => Err(already_exists(path)),
                _ => Ok(NameUse::Free),
            };
        }
        Err(error) => return Err(cannot(path, &error)),
    };
    if there.is_dir() {
        return Err(refused(path, "is a folder; give a file in it"));
    }
    if !there.is_file() {
        // Writing to a disk destroys data; a pipe or a terminal loses nothing.
        return if identity::is_disk(&there) && !is_forced {
            Err(already_exists(path))
        } else {
            Ok(NameUse::Direct)
        };
    }
    if let Some(id) = FileId::from_path(path) {
        let is_input = |input: &&&Path| FileId::from_input(input).as_ref() == Some(&id);
        if let Some(input) = inputs.iter().find(is_input) {
            let what =
                if *input == path { "it is".to_owned() } else { format!("{} is", input.display()) };
            return Err(refused(
                path,
                &format!("is read by this command ({what} the same file); give another name"),
            ));
        }
    }
    if is_forced { Ok(NameUse::Old(there)) } else { Err(already_exists(path)) }
}

impl NewFile {
    /// Begins a file. An older file of its name stays until [`NewFile::finish`].
    ///
    /// # Errors
    /// Fails like [`check`], and if the folder cannot be written.
    pub(crate) fn create(
        path: &Path,
        is_forced: bool,
        inputs: &[&Path],
        unfinished: Unfinished,
    ) -> Result<NewFile, Failure> {
        let kind = kind_of(path, is_forced, inputs)?;
        if matches!(kind, NameUse::Direct) {
            let file =
                File::options().write(true).open(path).map_err(|error| cannot(path, &error))?;
            return Ok(NewFile { file, pending: Pending { path: path.to_owned(), part: None } });
        }
        let target = resolve_symlinks(path).map_err(|error| cannot(path, &error))?;
        let (file, beside) =
            unfinished::begin(&target, unfinished).map_err(|error| cannot(path, &error))?;
        let part = PartFile { path: beside, target, replaces: is_forced, unfinished };
        let made = NewFile { file, pending: Pending { path: path.to_owned(), part: Some(part) } };
        if let NameUse::Old(old) = kind {
            private::keep_mode(&made.file, &old);
        }
        Ok(made)
    }

    /// Returns the open file apart from its name, for writers that keep the file.
    pub(crate) fn split(self) -> (File, Pending) {
        (self.file, self.pending)
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// Fails like [`Pending::finish`].
    pub(crate) fn finish(self) -> Result<Written, Failure> {
        drop(self.file);
        self.pending.finish()
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Pending {
    /// Returns whether two files are to have the same final name, so that the second would replace
    /// the first.
    pub(crate) fn is_same(&self, other: &Pending) -> bool {
        let place = |pending: &Pending| {
            let target = &pending.part.as_ref()?.target;
            let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
            Some(folder.unwrap_or(Path::new(".")).canonicalize().ok()?.join(target.file_name()?))
        };
        place(self).is_some_and(|own| place(other) == Some(own))
    }

    /// Leaves the file under its temporary name, and returns its path if it is kept.
    pub(crate) fn leave(mut self) -> Option<PathBuf> {
        self.part.take().and_then(PartFile::leave)
    }

    /// Gives the file its name. All of it must have been written.
    ///
    /// # Errors
    /// Another program has created a file of that name in the meantime, or the file cannot be
    /// renamed.
    pub(crate) fn finish(mut self) -> Result<Written, Failure> {
        if let Some(part) = &self.part {
            if let Err(error) = part.name() {
                let failure = match error.kind() {
                    ErrorKind::AlreadyExists => already_exists(&self.path),
                    _ => cannot(&self.path, &error),
                };
                let kept = self.part.take().and_then(PartFile::leave);
                return Err(match kept {
                    Some(kept) => with_place(failure, &kept),
                    None => failure,
                });
            }
            unfinished::forget(&part.path);
        }
        let id = self.part.take().and_then(|part| FileId::from_path(&part.target));
        Ok(Written { path: self.path.clone(), id })
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(part) = self.part.take() {
            let _ = part.leave();
        }
    }
}

impl PartFile {
    fn name(&self) -> io::Result<()> {
        if self.replaces {
            // The name is checked again: hours may have passed since the recording began.
            if fs::symlink_metadata(&self.target).is_ok_and(|there| !there.is_file()) {
                return Err(io::Error::other(
                    "its name is now taken by something that is not a file",
                ));
            }
            // The old file goes only when the new one is on the disk, in case the power fails.
            // Windows flushes only a file that may be written; elsewhere this one may be read-only,
            // as the old one was.
            File::options().read(true).write(cfg!(windows)).open(&self.path)?.sync_all()?;
            return fs::rename(&self.path, &self.target);
        }
        rename_to_free(&self.path, &self.target)
    }

    /// Ends the file without its final name, and returns where it is kept.
    fn leave(self) -> Option<PathBuf> {
        unfinished::forget(&self.path);
        unfinished::end(&self.path, self.unfinished).then_some(self.path)
    }
}

impl Written {
    /// Returns the path as the user named it.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Renames the file. Never replaces another file.
    ///
    /// # Errors
    /// Another file has that name, the file is not there any more, or the folder cannot be written.
    pub(crate) fn rename(self, path: &Path) -> io::Result<Written> {
        if self.id.is_none() || FileId::from_name(&self.path) != self.id {
            return Err(ErrorKind::NotFound.into());
        }
        rename_to_free(&self.path, path)?;
        Ok(Written { path: path.to_owned(), id: FileId::from_name(path) })
    }

    /// Removes the file, if the file of this name is still the one that was written.
    pub(crate) fn remove(self) {
        if self.id.is_some() && FileId::from_name(&self.path) == self.id {
            // The file may have been removed already.
            let _ = fs::remove_file(self.path);
        }
    }
}

/// Renames a file, unless there is one of the new name.
fn rename_to_free(old: &Path, new: &Path) -> io::Result<()> {
    // A hard link never replaces a file. If a file system has no links, the name is checked first.
    match fs::hard_link(old, new) {
        Ok(()) => {
            // If this fails, the file has two names, which is no error.
            let _ = fs::remove_file(old);
            Ok(())
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(error),
        Err(_) if fs::symlink_metadata(new).is_ok() => Err(ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(old, new),
    }
}

/// Follows symbolic links, also to a target that does not exist yet.
fn resolve_symlinks(path: &Path) -> io::Result<PathBuf> {
    const MAX_LINKS: usize = 40;
    let mut place = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&place) {
            Ok(next) => {
                private::check_link(&place)?;
                place = place.parent().unwrap_or(Path::new("")).join(next);
            }
            Err(_) => return Ok(place),
        }
    }
    Err(io::Error::other("too many links"))
}

fn with_place(failure: Failure, kept: &Path) -> Failure {
    match failure {
        Failure::Input { file, message } => {
            Failure::input(file, format!("{message}; what was recorded is in {}", kept.display()))
        }
        other => other,
    }
}

fn already_exists(path: &Path) -> Failure {
    refused(path, "already exists; use --force to overwrite")
}

fn cannot(path: &Path, error: &io::Error) -> Failure {
    refused(path, &format!("cannot be written: {}", plain(error)))
}

fn refused(path: &Path, message: &str) -> Failure {
    Failure::input(path.display().to_string(), message)
}
