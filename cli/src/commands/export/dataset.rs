//! Folder of tables that an export writes.
//!
//! Files are written below `_parts`, in a folder of this process, and moved to their places when
//! all files of a trace are complete. The file of `inputs` is moved last, so that a trace with a
//! row in `inputs` has all its files. The next export removes files that a killed process left in
//! `_parts`. Query engines ignore names that begin with `_`.

use super::keys::Keys;
use crate::failure::{Failure, plain};
use crate::new_file::{self, private};
use nettrace_tables::schema::INPUTS;
use nettrace_tables::{ContentHash, Table, WrittenInput, write_empty};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Name of the file that records the folder's layout.
const LAYOUT: &str = "_nettrace.json";
const PARTS: &str = "_parts";
const LOCK: &str = "lock";
const FAILED: &str = "failed-";

/// Folder of tables, with this process's folder for unfinished files.
#[derive(Debug)]
pub(super) struct Dataset {
    folder: PathBuf,
    parts: PathBuf,
    /// File that is locked while this process runs.
    lock: Option<File>,
    number: AtomicU64,
    /// Files of `inputs` from earlier exports by the hash in their name.
    existing: HashMap<String, PathBuf>,
    /// Files of `inputs` for unreadable inputs by the hash of the input's path.
    failures: HashMap<String, Vec<PathBuf>>,
}

/// Returns the name of the file in `inputs` for an unreadable input. It has hashes of the input's
/// path and content, so that parallel exports do not overwrite each other's rows.
pub(super) fn failure_name(input: &str, content_hash: Option<&str>) -> String {
    let mut path = ContentHash::new();
    path.add(input.as_bytes());
    let content = content_hash.and_then(|hash| hash.get(..16)).map(|hash| format!("-{hash}"));
    format!("{FAILED}{}{}", path.hex(), content.unwrap_or_default())
}

impl Dataset {
    pub(super) fn open(folder: &Path, keys: &Keys) -> Result<Dataset, Failure> {
        let refused = |error: io::Error| {
            Failure::input(
                folder.display().to_string(),
                format!("cannot be written: {}", plain(&error)),
            )
        };
        fs::create_dir_all(folder).map_err(refused)?;
        let parts = folder.join(PARTS);
        fs::create_dir_all(&parts).map_err(refused)?;
        clear(&parts);
        let mut dataset = Dataset {
            folder: folder.to_owned(),
            parts: PathBuf::new(),
            lock: None,
            number: AtomicU64::new(0),
            existing: HashMap::new(),
            failures: HashMap::new(),
        };
        new_file::end_with_signals().map_err(refused)?;
        (dataset.parts, dataset.lock) = own_folder(&parts).map_err(refused)?;
        new_file::begin_folder(&dataset.parts);
        dataset.check_layout(keys)?;
        find_inputs(&folder.join(INPUTS.name), &mut dataset.existing).map_err(refused)?;
        for (name, path) in &dataset.existing {
            if let Some(name) = name.strip_prefix(FAILED) {
                let input = name.split('-').next().unwrap_or(name).to_owned();
                dataset.failures.entry(input).or_default().push(path.clone());
            }
        }
        Ok(dataset)
    }

    /// Refuses keys that differ from earlier exports into the folder, because with two layouts the
    /// folder could have a trace twice.
    fn check_layout(&self, keys: &Keys) -> Result<(), Failure> {
        let path = self.folder.join(LAYOUT);
        let layout = serde_json::json!({ "schema": 1, "partition_by": keys.names() }).to_string();
        let refused = |message: String| Failure::input(path.display().to_string(), message);
        match fs::read_to_string(&path) {
            Ok(known) if known.trim() == layout => Ok(()),
            Ok(known) => Err(refused(format!(
                "the folder has another layout ({}); give the same --partition-by, or another folder",
                known.trim()
            ))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let part = self.part();
                let written =
                    fs::write(&part, layout + "\n").and_then(|()| fs::rename(&part, &path));
                written.map_err(|error| refused(format!("cannot be written: {}", plain(&error))))
            }
            Err(error) => Err(refused(plain(&error))),
        }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns an unused path for a temporary file.
    fn part(&self) -> PathBuf {
        self.parts.join(self.number.fetch_add(1, Ordering::Relaxed).to_string())
    }

    /// Copies a stream to a file, because it is hashed before it is read.
    pub(super) fn spool(&self, mut stream: impl Read) -> io::Result<PathBuf> {
        let path = self.part();
        io::copy(&mut stream, &mut private::create_new(&path)?)?;
        Ok(path)
    }

    /// Returns a function that creates temporary files, which are deleted when they are closed.
    pub(super) fn make_spill(&self) -> nettrace_tables::MakeSpill {
        let (parts, number) = (self.parts.clone(), Arc::new(AtomicU64::new(0)));
        let worker = self.number.fetch_add(1, Ordering::Relaxed);
        Arc::new(move || {
            let path = parts.join(format!("{worker}-{}", number.fetch_add(1, Ordering::Relaxed)));
            let file = private::create_new(&path)?;
            #[cfg(unix)]
            fs::remove_file(&path)?;
            Ok(file)
        })
    }

    /// Returns the row in `inputs` that an earlier export wrote for the trace with this hash.
    pub(super) fn written(&self, hash: &str) -> Option<WrittenInput> {
        self.existing.get(hash).and_then(|path| File::open(path).ok()).and_then(WrittenInput::read)
    }

    /// Returns whether all files of the trace with this hash are complete.
    pub(super) fn is_whole(&self, hash: &str) -> bool {
        let keys = self.existing.get(hash).and_then(|path| path.parent());
        let keys = keys.and_then(|keys| keys.strip_prefix(self.folder.join(INPUTS.name)).ok());
        let (Some(keys), Ok(tables)) = (keys, fs::read_dir(&self.folder)) else { return false };
        let is_of_it = |path: &Path| {
            path.file_name()
                .and_then(|name| name.to_str())
                .is_some_and(|name| name.starts_with(hash))
        };
        let files = tables.flatten().flat_map(|table| fs::read_dir(table.path().join(keys)));
        let mut files =
            files.flatten().flatten().map(|file| file.path()).filter(|path| is_of_it(path));
        files.all(|path| File::open(path).is_ok_and(nettrace_tables::is_whole))
    }

    /// Removes rows of earlier exports that could not read this input.
    pub(super) fn forget_failures(&self, input: &str) {
        let name = failure_name(input, None);
        let outdated = name.strip_prefix(FAILED).and_then(|input| self.failures.get(input));
        for path in outdated.into_iter().flatten() {
            // Another export may have removed the file.
            let _ = fs::remove_file(path);
        }
    }

    /// Writes an empty file for each table without a file, so that query engines know its columns.
    pub(super) fn finish(&self, tables: &[&'static Table], keys: &Keys) -> Result<(), Failure> {
        for table in tables {
            let folder = self.folder.join(table.name);
            if has_file(&folder) {
                continue;
            }
            let files = TraceFiles::new(self, keys.unknown_folder(), "empty".to_owned());
            let written = files.create(table.name, "").and_then(|out| write_empty(table, out));
            written.and_then(|()| files.publish()).map_err(|error| {
                Failure::input(
                    folder.display().to_string(),
                    format!("cannot be written: {}", plain(&error)),
                )
            })?;
        }
        Ok(())
    }
}

impl Drop for Dataset {
    fn drop(&mut self) {
        // A file that is open may stay in its folder.
        self.lock = None;
        let _ = fs::remove_dir_all(&self.parts);
        new_file::forget(&self.parts);
        if let Some(all) = self.parts.parent() {
            // This fails while other processes have folders in it.
            let _ = fs::remove_dir(all);
        }
    }
}

/// Files of a trace, which are moved to their places together.
pub(super) struct TraceFiles<'d> {
    dataset: &'d Dataset,
    keys: PathBuf,
    name: String,
    made: std::sync::Mutex<Vec<(PathBuf, PathBuf)>>,
}

impl<'d> TraceFiles<'d> {
    /// Creates the list of a trace's files, named `name.parquet` in the folder of these keys.
    pub(super) fn new(dataset: &'d Dataset, keys: PathBuf, name: String) -> TraceFiles<'d> {
        TraceFiles { dataset, keys, name, made: std::sync::Mutex::default() }
    }

    /// Sets the folder of the keys, which is known once the trace has been read.
    pub(super) fn keep_in(&mut self, keys: PathBuf) {
        self.keys = keys;
    }

    /// Creates the file of a table; `part` is appended to its name.
    pub(super) fn create(&self, table: &str, part: &str) -> io::Result<Box<dyn Write + Send>> {
        let unfinished = self.dataset.part();
        let folder = self.dataset.folder.join(table).join(&self.keys);
        let file = private::create_new(&unfinished)?;
        let mut made = self.made.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        made.push((unfinished, folder.join(format!("{}{part}.parquet", self.name))));
        Ok(Box::new(BufWriter::with_capacity(256 << 10, file)))
    }

    /// Removes the file that an earlier export wrote of a table, which has no rows now.
    pub(super) fn remove(&self, table: &str) -> io::Result<()> {
        let folder = self.dataset.folder.join(table).join(&self.keys);
        match fs::remove_file(folder.join(format!("{}.parquet", self.name))) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Moves the complete files to their places, in the order in which they were created.
    pub(super) fn publish(&self) -> io::Result<()> {
        let mut made = self.made.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        for (part, path) in made.drain(..) {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::rename(&part, &path)?;
        }
        Ok(())
    }
}

impl Drop for TraceFiles<'_> {
    fn drop(&mut self) {
        let mut made = self.made.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        for (part, _) in made.drain(..) {
            let _ = fs::remove_file(part);
        }
    }
}

fn find_inputs(folder: &Path, found: &mut HashMap<String, PathBuf>) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            find_inputs(&path, found)?;
        } else if let Some(name) = path.file_name().and_then(|name| name.to_str())
            && let Some(hash) = name.strip_suffix(".parquet")
        {
            found.insert(hash.to_owned(), path);
        }
    }
    Ok(())
}

fn has_file(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => has_file(&entry.path()),
        _ => entry.path().extension().is_some_and(|extension| extension == "parquet"),
    })
}

/// Creates this process's folder for temporary files, with a locked file in it.
fn own_folder(parts: &Path) -> io::Result<(PathBuf, Option<File>)> {
    for number in 0..10_000 {
        let folder = parts.join(format!("{}-{number}", std::process::id()));
        // On a shared file system, another machine may have a process with the same id.
        match fs::create_dir(&folder) {
            Ok(()) => {
                let lock = lock(&folder, true)?;
                return Ok((folder, lock));
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("too many exports write to this folder at once"))
}

/// Removes folders of processes that have ended: running processes hold a lock in their folder.
fn clear(parts: &Path) {
    for entry in fs::read_dir(parts).into_iter().flatten().flatten() {
        let folder = entry.path();
        if let Ok(Some(lock)) = lock(&folder, false) {
            drop(lock);
            let _ = fs::remove_dir_all(&folder);
        }
    }
}

/// Opens and locks the file of a folder that shows that its process runs. `None` if it is locked, or the file
/// system has no locks.
fn lock(folder: &Path, is_new: bool) -> io::Result<Option<File>> {
    let mut options = File::options();
    options.read(true).write(is_new).create(is_new);
    #[cfg(windows)]
    {
        /// Other processes may remove the file, but not open it.
        const FILE_SHARE_DELETE: u32 = 4;
        std::os::windows::fs::OpenOptionsExt::share_mode(&mut options, FILE_SHARE_DELETE);
    }
    let file = options.open(folder.join(LOCK))?;
    #[cfg(unix)]
    let is_ours =
        rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive).is_ok();
    #[cfg(not(unix))]
    let is_ours = cfg!(windows);
    Ok(is_ours.then_some(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_exports_that_run_stay_and_those_of_killed_ones_are_removed() {
        let parts = std::env::temp_dir().join(format!("nettrace-parts-{}", std::process::id()));
        fs::create_dir_all(&parts).unwrap();
        let (running, lock) = own_folder(&parts).unwrap();
        assert!(lock.is_some());
        let (killed, killed_lock) = own_folder(&parts).unwrap();
        fs::write(killed.join("0"), b"half of a table").unwrap();
        drop(killed_lock);
        clear(&parts);
        assert!(running.is_dir() && !killed.exists());
        // A signal ends a process that has its lock.
        fs::remove_dir_all(&running).unwrap();
        assert!(!running.exists());
        fs::remove_dir(&parts).unwrap();
    }
}
