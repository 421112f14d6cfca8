//! Real traces, from the repository and from the folder that `NETTRACE_SHARED` names, if it is set.
//!
//! A test that needs a file of that folder is `#[ignore = "needs NETTRACE_SHARED"]` in a module
//! `with_shared`, so that a run counts it as ignored.
//!
//! A trace's name is its path below the folder `traces` without `.gz`, with `/` on every
//! system: `net10-linux-x64/all.nettrace`, `net3.1-linux-x64/all.netperf`.
//! `testdata/README.md` says what each is and where it comes from.
//!
//! ```
//! use nettrace_testdata::corpus;
//! let tiny = corpus::trace("tiny-v6.nettrace");
//! assert_eq!(tiny.bytes().len(), 267);
//! ```

mod golden;

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::skipped;
use flate2::read::GzDecoder;

pub use golden::{GoldenEvent, GoldenEvents, golden_events, golden_fields, traces_with_goldens};

/// A compressed trace on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceFile {
    name: String,
    path: PathBuf,
}

impl TraceFile {
    /// Returns the name, such as `net10-linux-x64/all.nettrace`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the path of the gzip file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the decompressed stream.
    ///
    /// # Panics
    /// If the file cannot be read or is not gzip.
    pub fn bytes(&self) -> Vec<u8> {
        decompressed(&self.path)
    }
}

/// The largest traces, which make up 27 of the 45 MB in the repository. The smaller traces contain
/// all kinds of events that these have.
const LARGE: [&str; 4] = [
    "net10-linux-x64/metrics.nettrace",
    "net10-linux-x64/startup.nettrace",
    "net8-linux-x64/all.nettrace",
    "net9-linux-x64/all.nettrace",
];

/// Returns the traces for tests that read many whole traces, sorted by name. With `NETTRACE_SHARED`
/// these are all traces. Without it they are the traces of the repository except the four large
/// ones; a line on stderr says that these are left out.
///
/// # Panics
/// If [`of_repository`] or [`shared_folder`] does.
pub fn traces() -> Vec<TraceFile> {
    let mut found = all();
    if shared_folder().is_none() {
        skipped("NETTRACE_SHARED is not set: only the small traces of the repository are read");
        found.retain(|trace| !LARGE.contains(&trace.name()));
    }
    found
}

/// Returns the traces of the repository, sorted by name.
///
/// # Panics
/// If there are none, because a test over no traces would check nothing.
pub fn of_repository() -> Vec<TraceFile> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("traces");
    let mut found = BTreeMap::new();
    find_traces(&own, "", &mut found);
    assert!(!found.is_empty(), "no traces in {}", own.display());
    listed(found)
}

/// Returns the traces of the repository and of the folder that `NETTRACE_SHARED` names, sorted by
/// name. A trace in both is listed once.
///
/// # Panics
/// If [`of_repository`] or [`shared_folder`] does.
pub fn all() -> Vec<TraceFile> {
    let mut found = BTreeMap::new();
    if let Some(shared) = shared_folder() {
        find_traces(&shared.join("traces"), "", &mut found);
    }
    found.extend(of_repository().into_iter().map(|trace| (trace.name, trace.path)));
    listed(found)
}

fn listed(found: BTreeMap<String, PathBuf>) -> Vec<TraceFile> {
    found.into_iter().map(|(name, path)| TraceFile { name, path }).collect()
}

/// Returns the trace `name`.
///
/// # Panics
/// If there is none.
pub fn trace(name: &str) -> TraceFile {
    let found = all().into_iter().find(|trace| trace.name == name);
    found.unwrap_or_else(|| lacking(&format!("traces/{name}.gz")))
}

/// Returns a recording of a program for which the right answers are known by construction. It lies
/// in `testdata/known`. With `NETTRACE_SHARED` it may also lie in that folder's `known`, where the
/// name contains the subfolder, such as `async/shop-full`, or in its `reports`. For a recording on
/// another runtime, such as `net9/sort`, the file in `testdata/known` is called `net9-sort`.
///
/// # Panics
/// If there is none.
pub fn known(name: &str) -> TraceFile {
    let file = match name.strip_prefix("net9/") {
        Some(file) => format!("net9-{file}"),
        None => name.rsplit('/').next().unwrap_or(name).to_owned(),
    };
    let of_shared = ["known", "reports"].map(|folder| format!("{folder}/{name}"));
    recording(name, &format!("known/{file}"), &of_shared)
}

/// Returns a recording: the file `own` of this crate or, with `NETTRACE_SHARED`, the first existing
/// file of `of_shared` in that folder.
fn recording(name: &str, own: &str, of_shared: &[String]) -> TraceFile {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join(own);
    let places = shared_folder()
        .into_iter()
        .flat_map(|shared| of_shared.iter().map(move |place| shared.join(place)));
    let found = std::iter::once(own)
        .chain(places)
        .map(|place| PathBuf::from(format!("{}.nettrace.gz", place.display())))
        .find(|path| path.exists());
    match found {
        Some(path) => TraceFile { name: name.to_owned(), path },
        None => lacking(name),
    }
}

/// Fails the test, because a recording that it needs is missing.
fn lacking(name: &str) -> ! {
    match shared_folder() {
        Some(folder) => panic!("neither testdata nor {} has {name}", folder.display()),
        None => panic!("testdata has no {name}: NETTRACE_SHARED=FOLDER names where it is"),
    }
}

/// Returns the recordings of `testdata/known`, sorted by name.
///
/// # Panics
/// If there are none.
pub fn known_of_repository() -> Vec<TraceFile> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("known");
    let mut found = BTreeMap::new();
    find_traces(&own, "known/", &mut found);
    assert!(!found.is_empty(), "no recordings in {}", own.display());
    listed(found)
}

/// Returns recordings of the folder that `NETTRACE_SHARED` names: those whose answers are known,
/// and those that another tool made. They are named by folder and file, such as `web/dt-default`.
///
/// # Panics
/// If [`shared`] does.
pub fn of_shared() -> Vec<TraceFile> {
    let mut found = BTreeMap::new();
    for folder in ["known", "reports", "traces", "web"] {
        find_traces(&shared().join(folder), &format!("{folder}/"), &mut found);
    }
    found.retain(|name, _| name.ends_with(".nettrace"));
    listed(found)
}

/// Returns a recording of `testdata/ab`, such as `base1`: a run of one program or of a variant of
/// that program.
///
/// # Panics
/// If there is none.
pub fn ab(name: &str) -> TraceFile {
    recording(name, &format!("ab/{name}"), &[])
}

/// Returns a recording of a web application with planted problems and known counts, such
/// as `dt-diag`, from `testdata/web` or from the folder that `NETTRACE_SHARED` names.
///
/// # Panics
/// If there is none.
pub fn web(name: &str) -> TraceFile {
    recording(name, &format!("web/{name}"), &[format!("web/traces/{name}")])
}

/// Returns counts of what happened during a recording of [`web`], as JSON. The clients and the
/// runtime of the web application kept them.
///
/// # Panics
/// If there is no such file.
pub fn web_truth(name: &str) -> Vec<u8> {
    let file = format!("{name}.truth.json");
    let mut path = Path::new(env!("CARGO_MANIFEST_DIR")).join("web").join(&file);
    if !path.exists() {
        path = shared().join("web/truth").join(&file);
    }
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the content of a file in the folder `known`, or the decompressed content of one in the
/// folder of that name below `NETTRACE_SHARED`.
///
/// # Panics
/// If there is no such file.
pub fn known_file(name: &str) -> Vec<u8> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("known").join(name);
    match fs::read(own) {
        Ok(bytes) => bytes,
        Err(_) => decompressed(&shared().join("known").join(name)),
    }
}

/// Returns the traces that were recorded while dotnet-counters watched the process, sorted by name,
/// each with the CSV text that dotnet-counters wrote.
///
/// # Panics
/// If there are fewer than two.
pub fn recorded_beside_dotnet_counters() -> Vec<(TraceFile, String)> {
    let folder = shared().join("golden/dotnet-counters");
    let files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|ending| ending == "csv")).collect();
    files.sort();
    assert!(files.len() >= 2, "{files:?}");
    let pair = |path: &PathBuf| {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let trace = trace(&format!("net10-linux-x64/{name}-with-csv.nettrace"));
        (trace, fs::read_to_string(path).unwrap())
    };
    files.iter().map(pair).collect()
}

/// Returns the folder that `NETTRACE_SHARED` names. It has further traces in `traces` and their
/// goldens in `golden`.
///
/// # Panics
/// If the variable is not set, or names a folder without traces.
pub fn shared() -> &'static Path {
    shared_folder().expect("NETTRACE_SHARED=FOLDER names the folder of shared recordings")
}

/// Returns the folder that `NETTRACE_SHARED` names, or `None` if the variable is not set. Without
/// it, tests use the traces of the repository alone.
///
/// # Panics
/// If it names a folder without traces.
pub fn shared_folder() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOLDER
        .get_or_init(|| {
            let folder = PathBuf::from(std::env::var_os("NETTRACE_SHARED")?);
            let traces = folder.join("traces");
            assert!(traces.is_dir(), "NETTRACE_SHARED: there is no folder {}", traces.display());
            Some(folder)
        })
        .as_deref()
}

/// Adds the `*.gz` files below `folder` to `found`, each under its name.
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
