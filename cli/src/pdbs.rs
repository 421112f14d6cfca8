//! Finds the PDBs of a trace's modules, which tell the lines of methods.

use crate::failure::Failure;
use crate::units;
use nettrace_analysis::model::Model;
use nettrace_analysis::{PdbError, PdbFile, WantedPdb};
use std::path::{Component, Path, PathBuf};

/// Maximum number of files of a folder that are read to find PDBs by their ids.
const MAX_FILES: usize = 256;
/// Maximum size of a file, in bytes. PDBs of compilers have up to 60 MB, and programs in one file
/// some hundred.
const MAX_FILE_BYTES: u64 = 1 << 30;
/// Maximum number of bytes that are read of all files together. A crafted trace may name one large
/// file as a hundred thousand modules.
const MAX_BYTES: u64 = 2 << 30;

/// Adds the PDBs of the trace's modules: those in `folders`, which may be files, too, those beside
/// the modules or in them, and those beside the trace. Returns messages about files that were found
/// and not used.
pub(crate) fn add(
    folders: &[PathBuf],
    trace: &Path,
    model: &mut Model,
) -> Result<Vec<String>, Failure> {
    for folder in folders.iter().filter(|folder| !folder.is_file()) {
        std::fs::read_dir(folder)
            .map_err(|error| Failure::open(&folder.display().to_string(), folder, &error))?;
    }
    let mut files = PdbReader { room: MAX_BYTES, unused: Vec::new() };
    let mut missing = Vec::new();
    for wanted in model.wanted_pdbs() {
        match files.named(candidates(folders, trace, &wanted), &wanted) {
            Some(pdb) => model.add_pdb(pdb),
            None => missing.push(wanted),
        }
    }
    // Of other names, as in a folder of PDBs by their ids.
    for file in folders.iter().flat_map(|folder| files_in(folder)) {
        if missing.is_empty() {
            break;
        }
        let Ok(pdb) = files.read(&file) else { continue };
        if missing.iter().any(|wanted| wanted.id == pdb.id()) {
            missing.retain(|wanted| wanted.id != pdb.id());
            model.add_pdb(pdb);
        }
    }
    Ok(files.unused)
}

/// Reads files that may be PDBs.
struct PdbReader {
    /// Rest of [`MAX_BYTES`].
    room: u64,
    /// Messages about files that were found and not used.
    unused: Vec<String>,
}

impl PdbReader {
    /// Returns the PDB of a module from the files of its name.
    fn named(&mut self, files: Vec<PathBuf>, wanted: &WantedPdb) -> Option<PdbFile> {
        for file in files {
            match self.read(&file).and_then(|pdb| wanted.check(&pdb).map(|()| pdb)) {
                Ok(pdb) => return Some(pdb),
                // Modules usually have a PDB of their own.
                Err(PdbError::NotEmbedded) => {}
                Err(cause) => {
                    self.unused.push(format!("{} is not used: {cause}", file.display()));
                }
            }
        }
        None
    }

    /// Returns the PDB in a file; [`PdbError::NotEmbedded`] if there is no such file.
    fn read(&mut self, file: &Path) -> Result<PdbFile, PdbError> {
        // Reading a device, a pipe or a file of /proc, which has no size, might never end.
        let size = std::fs::metadata(file).ok().filter(std::fs::Metadata::is_file);
        let size = size.map_or(0, |of| of.len());
        if size == 0 || size > MAX_FILE_BYTES {
            return Err(PdbError::NotEmbedded);
        }
        match self.room.checked_sub(size) {
            Some(room) => self.room = room,
            None => {
                if std::mem::take(&mut self.room) > 0 {
                    let most = units::bytes(MAX_BYTES);
                    let file = file.display();
                    self.unused.push(format!(
                        "PDBs and modules are read up to {most} together: {file} and others are not"
                    ));
                }
                return Err(PdbError::NotEmbedded);
            }
        }
        let bytes = std::fs::read(file).map_err(|_| PdbError::NotEmbedded)?;
        PdbFile::from_bytes(&bytes)
    }
}

/// Returns the paths at which the PDB of a module may lie: in the folders by the module's name, also
/// as symbol servers lay it out, then beside the module on this machine, in the module itself, and
/// beside the trace.
fn candidates(folders: &[PathBuf], trace: &Path, wanted: &WantedPdb) -> Vec<PathBuf> {
    let file_name = |path: &str| {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        let is_plain =
            matches!(*Path::new(name).components().collect::<Vec<_>>(), [Component::Normal(_)]);
        is_plain.then(|| PathBuf::from(name))
    };
    let module = file_name(&wanted.module_path);
    let beside = module.as_deref().map(|module| module.with_extension("pdb"));
    let mut names: Vec<PathBuf> =
        [beside.clone(), file_name(&wanted.pdb_path)].into_iter().flatten().collect();
    names.dedup();
    let key = format!("{}FFFFFFFF", wanted.id.to_string().replace('-', "").to_ascii_uppercase());
    let mut files = Vec::new();
    for folder in folders {
        if folder.is_file() {
            let is_it = |name: &PathBuf| folder.file_name() == Some(name.as_os_str());
            files.extend(names.iter().chain(&module).any(is_it).then(|| folder.clone()));
            continue;
        }
        files.extend(names.iter().map(|name| folder.join(name)));
        files.extend(names.iter().map(|name| folder.join(name).join(&key).join(name)));
        files.extend(module.iter().map(|name| folder.join(name)));
    }
    // The framework's modules have no PDB beside them, and are large. A path of the trace must not
    // make Windows ask a server, which would see who the user is.
    let is_of_server = wanted.module_path.replace('\\', "/").starts_with("//");
    if !wanted.is_framework && !is_of_server {
        let module = Path::new(&wanted.module_path);
        files.extend(beside.map(|name| module.with_file_name(name)));
        files.push(module.to_owned());
    }
    let is_new = |folder: &&Path| trace != Path::new("-") && !folders.iter().any(|it| it == folder);
    if let Some(folder) = trace.parent().filter(is_new) {
        files.extend(names.iter().map(|name| folder.join(name)));
    }
    files
}

/// Returns the PDBs right in a folder, or the path itself if it is a file.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = match std::fs::read_dir(folder) {
        Ok(entries) => entries.filter_map(|entry| Some(entry.ok()?.path())).collect(),
        Err(_) => vec![folder.to_owned()],
    };
    files.retain(|file| file.extension().is_some_and(|it| it.eq_ignore_ascii_case("pdb")));
    files.retain(|file| file.is_file());
    // Sorted, so that the same files are read whatever the order of the folder.
    files.sort();
    files.truncate(MAX_FILES);
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(module_path: &str) -> WantedPdb {
        let trace = nettrace_testdata::corpus::known("LineHot").bytes();
        let mut options = nettrace_analysis::AnalysisOptions::default();
        options.lines = true;
        let report = nettrace_analysis::report::TopNOptions::default();
        let mut pass = nettrace_analysis::report::ReportPass::with_options(report, options);
        let mut events = nettrace_parser::Reader::from_slice(&trace).time_ordered();
        let _ = pass.read(&mut events).unwrap();
        let mut wanted = pass.model_mut().wanted_pdbs();
        let mut wanted = wanted.swap_remove(
            wanted.iter().position(|wanted| wanted.module_path.contains("LineHot")).unwrap(),
        );
        wanted.module_path = module_path.to_owned();
        wanted
    }

    #[test]
    fn a_module_of_a_server_is_not_looked_for_there() {
        let trace = Path::new("traces/x.nettrace");
        let of = |path: &str| candidates(&[], trace, &wanted(path));
        let beside = [PathBuf::from("traces/LineHot.pdb")];
        for path in [r"\\server\share\LineHot.dll", "//server/share/LineHot.dll"] {
            assert_eq!(of(path), beside, "{path}");
        }
        assert_eq!(of("/app/LineHot.dll").len(), 3);
    }

    #[test]
    fn a_file_without_a_size_is_not_read_and_all_files_have_a_limit() {
        let mut files = PdbReader { room: 10, unused: Vec::new() };
        if cfg!(target_os = "linux") {
            assert_eq!(files.read(Path::new("/proc/self/maps")), Err(PdbError::NotEmbedded));
            assert_eq!(files.unused, [""; 0]);
        }
        let this = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        for _ in 0..2 {
            assert_eq!(files.read(&this), Err(PdbError::NotEmbedded));
        }
        assert_eq!(files.unused.len(), 1, "{:?}", files.unused);
    }
}
