//! Finds the files that the arguments of `export` name.

use crate::failure::plain;
use crate::input::{pattern, second};
use nettrace_tables::ContentHash;
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Endings of file names that are exported from a folder.
const ENDINGS: [&str; 6] =
    [".nettrace", ".nettrace.gz", ".nettrace.zst", ".netperf", ".netperf.gz", ".netperf.zst"];

/// Input of the export.
#[derive(Debug)]
pub(super) struct Named {
    /// The input as the user named it.
    pub(super) name: String,
    pub(super) place: InputSource,
}

/// Source of an input's bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum InputSource {
    File(PathBuf),
    Stdin,
    /// Argument that names no trace, for the reason `why`.
    Nothing {
        path: PathBuf,
        why: String,
    },
}

/// Hash and size of a file's content.
pub(super) struct Hashed {
    pub(super) hash: ContentHash,
    pub(super) bytes: u64,
}

impl Named {
    pub(super) fn path(&self) -> &Path {
        match &self.place {
            InputSource::File(path) => path,
            InputSource::Stdin => Path::new("-"),
            InputSource::Nothing { path, .. } => path,
        }
    }

    /// Returns the size of the file in bytes; 0 if it cannot be read.
    pub(super) fn size(&self) -> u64 {
        fs::metadata(self.path()).map_or(0, |metadata| metadata.len())
    }

    /// Returns whether the bytes can be read only once, as from standard input, a named pipe or the
    /// shell's `<(…)`.
    pub(super) fn is_stream(&self) -> bool {
        match &self.place {
            InputSource::Stdin => true,
            InputSource::File(path) => is_pipe(path),
            InputSource::Nothing { .. } => false,
        }
    }

    pub(super) fn hash(&self) -> io::Result<Hashed> {
        let mut file = File::open(self.path())?;
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if !metadata.is_file() {
            return Err(io::Error::other("it is neither a file nor a pipe"));
        }
        let (mut hash, mut bytes) = (ContentHash::new(), 0);
        let mut piece = vec![0; 256 << 10];
        loop {
            let count = match file.read(&mut piece) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            hash.add(piece.get(..count).unwrap_or_default());
            bytes += count as u64;
        }
        Ok(Hashed { hash, bytes })
    }
}

/// Finds all files that the arguments name, each once, in an order that does not depend on the file
/// system. A folder without traces and a pattern without matches become inputs that fail.
pub(super) fn find(inputs: &[PathBuf]) -> Vec<Named> {
    let mut found: Vec<Named> = Vec::new();
    let mut known = HashSet::new();
    for input in inputs {
        let named = |name: &Path, place| Named { name: name.display().to_string(), place };
        let nothing = |why: String| named(input, InputSource::Nothing { path: input.clone(), why });
        if input == Path::new("-") {
            if known.insert(input.clone()) {
                found.push(named(input, InputSource::Stdin));
            }
            continue;
        }
        let mut files = Vec::new();
        let listed = if input.is_dir() {
            below(input, &mut files)
                .map(|()| Some(format!("has no files that end in {}", ENDINGS.join(", "))))
        } else if pattern::is_pattern(input) {
            pattern::add_matching(input, &mut files).map(|()| Some("matches no file".to_owned()))
        } else {
            files.push(input.clone());
            Ok(None)
        };
        match listed {
            Ok(Some(why)) if files.is_empty() => found.push(nothing(why)),
            Ok(_) => {}
            // Files found before the error are exported.
            Err(error) => found.push(nothing(plain(&error))),
        }
        files.sort();
        for path in files {
            if known.insert(path.clone()) {
                found.push(named(&path.clone(), InputSource::File(path)));
            }
        }
    }
    found
}

fn below(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            below(&path, files)?;
        } else if let Some(name) = path.file_name().and_then(|name| name.to_str())
            && !name.ends_with(second::BESIDE)
            && ENDINGS.iter().any(|ending| name.ends_with(ending))
        {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(unix)]
fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_fifo())
}

#[cfg(not(unix))]
fn is_pipe(_: &Path) -> bool {
    false
}
