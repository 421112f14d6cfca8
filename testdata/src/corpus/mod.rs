//! Real traces: those of this folder, and those of a folder `shared` beside the checkout,
//! if there is one.
//!
//! A trace's name is its path below the folder `traces` without `.gz`, with `/` on every
//! system: `net10-linux-x64/all.nettrace`, `net3.1-linux-x64/all.netperf`. What each is
//! and where it comes from stands in `testdata/README.md`.
//!
//! ```
//! use nettrace_testdata::corpus;
//! let tiny = corpus::trace("tiny-v6.nettrace").expect("it is in the repository");
//! assert_eq!(tiny.bytes().len(), 267);
//! ```

mod golden;

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use flate2::read::GzDecoder;

pub use golden::{GoldenEvent, GoldenEvents, TRACE_WITHOUT_EVENTS, golden_events, golden_fields};

/// A compressed trace on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceFile {
    name: String,
    path: PathBuf,
}

impl TraceFile {
    /// Name, such as `net10-linux-x64/all.nettrace`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The gzip file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The stream, decompressed.
    ///
    /// # Panics
    /// If the file cannot be read or is not gzip.
    pub fn bytes(&self) -> Vec<u8> {
        decompressed(&self.path)
    }
}

/// All traces there are, by name. One that is in the repository and in the shared folder
/// is listed once.
///
/// # Panics
/// If the repository's own traces are not there: a test over none of them would hold
/// nothing.
pub fn traces() -> Vec<TraceFile> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("traces");
    let mut found = BTreeMap::new();
    if let Some(shared) = shared_folder() {
        find_traces(&shared.join("traces"), "", &mut found);
    }
    let before = found.len();
    let mut of_repository = BTreeMap::new();
    find_traces(&own, "", &mut of_repository);
    assert!(!of_repository.is_empty(), "no traces in {} (and {before} shared)", own.display());
    found.extend(of_repository);
    found.into_iter().map(|(name, path)| TraceFile { name, path }).collect()
}

/// The trace of that name, if it is there. Says so on stderr if it is not.
pub fn trace(name: &str) -> Option<TraceFile> {
    let found = traces().into_iter().find(|trace| trace.name == name);
    if found.is_none() {
        eprintln!("SKIPPED: there is no trace {name}");
    }
    found
}

/// The folder `shared` beside the checkout, with more traces and with goldens. Says so on
/// stderr, once, if there is none.
pub fn shared_folder() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOLDER
        .get_or_init(|| {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
            if folder.join("traces").is_dir() {
                return Some(folder);
            }
            eprintln!(
                "SKIPPED: no folder `shared` beside the checkout, so no goldens and fewer traces"
            );
            None
        })
        .as_deref()
}

/// Collects `*.gz` below `folder` by their names.
fn find_traces(folder: &Path, prefix: &str, found: &mut BTreeMap<String, PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let Some(name) = name.to_str() else { continue };
        if path.is_dir() {
            find_traces(&path, &format!("{prefix}{name}/"), found);
        } else if let Some(name) = name.strip_suffix(".gz") {
            found.insert(format!("{prefix}{name}"), path);
        }
    }
}

fn decompressed(path: &Path) -> Vec<u8> {
    let file = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut bytes = Vec::new();
    let result = GzDecoder::new(file.as_slice()).read_to_end(&mut bytes);
    result.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    bytes
}
