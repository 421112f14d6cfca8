//! Finds the PDBs of a trace's modules, which tell the lines of methods.

use crate::failure::Failure;
use nettrace_analysis::{Model, PdbError, PdbFile, WantedPdb};
use std::path::{Component, Path, PathBuf};

/// Maximum number of files of a folder that are read to find PDBs by their ids.
const MAX_FILES: usize = 256;
/// Maximum size of a file, in bytes. PDBs of compilers have up to 60 MB, and programs in one file
/// some hundred.
const MAX_FILE_BYTES: u64 = 1 << 30;

/// Adds the PDBs of the trace's modules: those in `folders`, which may be files, too, those beside
/// the modules or in them, and those beside the trace. Returns messages about files that were found
/// and not used.
pub(crate) fn add(
    folders: &[PathBuf],
    trace: &Path,
    model: &mut Model,
) -> Result<Vec<String>, Failure> {
    let mut unused = Vec::new();
    for folder in folders.iter().filter(|folder| !folder.is_file()) {
        std::fs::read_dir(folder)
            .map_err(|error| Failure::open(&folder.display().to_string(), folder, &error))?;
    }
    let mut missing = Vec::new();
    for wanted in model.wanted_pdbs() {
        match named(folders, trace, &wanted, &mut unused) {
            Some(pdb) => model.add_pdb(pdb),
            None => missing.push(wanted),
        }
    }
    // Of other names, as in a folder of PDBs by their ids.
    for file in folders.iter().flat_map(|folder| files_in(folder)) {
        if missing.is_empty() {
            break;
        }
        let Ok(pdb) = read(&file) else { continue };
        if missing.iter().any(|wanted| wanted.id == pdb.id()) {
            missing.retain(|wanted| wanted.id != pdb.id());
            model.add_pdb(pdb);
        }
    }
    Ok(unused)
}

/// Returns the PDB of a module from the files of its name.
fn named(
    folders: &[PathBuf],
    trace: &Path,
    wanted: &WantedPdb,
    unused: &mut Vec<String>,
) -> Option<PdbFile> {
    for file in candidates(folders, trace, wanted) {
        // Reading a device or a pipe might never end.
        if !file.is_file() {
            continue;
        }
        match read(&file).and_then(|pdb| wanted.check(&pdb).map(|()| pdb)) {
            Ok(pdb) => return Some(pdb),
            // Modules usually have a PDB of their own.
            Err(PdbError::NotEmbedded) => {}
            Err(cause) => unused.push(format!("{} is not used: {cause}", file.display())),
        }
    }
    None
}

/// Returns the PDB in a file; [`PdbError::NotEmbedded`] if there is no such file.
fn read(file: &Path) -> Result<PdbFile, PdbError> {
    let is_small = std::fs::metadata(file).is_ok_and(|of| of.len() <= MAX_FILE_BYTES);
    let bytes = Some(file).filter(|_| is_small).and_then(|file| std::fs::read(file).ok());
    bytes.map_or(Err(PdbError::NotEmbedded), |bytes| PdbFile::parse(&bytes))
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
    // The framework's modules have no PDB beside them, and are large.
    if !wanted.is_framework {
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
