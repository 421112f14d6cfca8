//! Finds ELF and PDB files in a folder, for the code files that a trace names.

use crate::failure::{Failure, with_causes};
use nettrace_analysis::model::Model;
use nettrace_analysis::{SymbolFile, SymbolFileError};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// Endings of the files that may hold the symbols of `libx.so`: the file itself, and files beside
/// it with stripped symbols.
const STRIPPED: [&str; 3] = ["", ".dbg", ".debug"];

/// Maximum number of files of a folder that are read to find a file by its build.
const MAX_FILES: usize = 64;

/// Adds the symbols of all mapped files that are found below `folders`, which may be files, too.
/// Returns messages about files that were found and not used.
pub(crate) fn add(folders: &[PathBuf], model: &mut Model) -> Result<Vec<String>, Failure> {
    let mut unused = Vec::new();
    if folders.is_empty() {
        return Ok(unused);
    }
    for folder in folders.iter().filter(|folder| !folder.is_file()) {
        std::fs::read_dir(folder)
            .map_err(|error| Failure::open(&folder.display().to_string(), folder, &error))?;
    }
    // The wanted files by path, each with its build if the trace has it.
    let mut wanted: BTreeMap<String, Option<String>> = BTreeMap::new();
    // Builds by path. Programs that were compiled ahead of time lie where the user built them,
    // under any name, so they are also looked up by build.
    let mut built: BTreeMap<String, String> = BTreeMap::new();
    for file in model.processes().flat_map(|(_, process)| process.code_files()) {
        let build_id = file.build_id.map(str::to_owned);
        if let Some(build_id) = build_id.clone().filter(|_| file.is_compiled_ahead) {
            built.insert(file.path.to_owned(), build_id);
        }
        wanted.entry(file.path.to_owned()).or_insert(build_id);
    }
    for (path, build_id) in &wanted {
        let mut is_found = false;
        for file in folders.iter().flat_map(|folder| candidates(folder, path, build_id.as_deref()))
        {
            // Reading a device or a pipe might never end.
            if !file.is_file() {
                continue;
            }
            match read(&file).and_then(|symbols| add_to(model, path, symbols)) {
                Ok(()) => is_found = true,
                Err(cause) => unused.push(format!("{} is not used: {cause}", file.display())),
            }
        }
        if let Some(build_id) = built.get(path).filter(|_| !is_found) {
            for symbols in folders.iter().flat_map(|folder| of_build(folder, build_id)) {
                if let Err(cause) = add_to(model, path, symbols) {
                    unused.push(format!("symbols of {path} are not used: {cause}"));
                }
            }
        }
    }
    Ok(unused)
}

fn read(file: &Path) -> Result<SymbolFile, String> {
    let bytes = std::fs::read(file).map_err(|error| error.to_string())?;
    SymbolFile::from_bytes(&bytes).map_err(|error| with_causes(&error))
}

fn add_to(model: &mut Model, path: &str, symbols: SymbolFile) -> Result<(), String> {
    model.add_symbol_file(path, symbols).map_err(|error: SymbolFileError| with_causes(&error))
}

/// Returns the symbols of the files with this build id, among the files right in a folder, or of
/// the path itself if it is a file.
fn of_build(folder: &Path, build_id: &str) -> Vec<SymbolFile> {
    let mut files: Vec<PathBuf> = match std::fs::read_dir(folder) {
        Ok(entries) => entries.filter_map(|entry| Some(entry.ok()?.path())).collect(),
        Err(_) => vec![folder.to_owned()],
    };
    // Sorted, so that the same files are read whatever the order of the folder.
    files.sort();
    let files = files.iter().filter(|file| file.is_file()).take(MAX_FILES);
    let is_it = |symbols: &SymbolFile| {
        symbols.build_id().is_some_and(|of_file| of_file.eq_ignore_ascii_case(build_id))
    };
    files.filter_map(|file| read(file).ok()).filter(is_it).collect()
}

/// Returns the paths at which the symbols of a file may lie: at its path below the folder, in the
/// folder itself, or by its build id. The file itself comes before files with stripped symbols.
fn candidates(folder: &Path, path: &str, build_id: Option<&str>) -> Vec<PathBuf> {
    if let Some((_, name)) = path.rsplit_once('\\') {
        return databases(folder, name, build_id);
    }
    // A path of the trace must not lead out of the folder.
    let parts: Vec<_> = Path::new(path)
        .components()
        .filter(|part| !matches!(part, Component::RootDir | Component::CurDir))
        .collect();
    if parts.is_empty() || !parts.iter().all(|part| matches!(part, Component::Normal(_))) {
        return Vec::new();
    }
    let inside: PathBuf = parts.iter().collect();
    let mut files = Vec::new();
    let mut places = vec![folder.join(&inside)];
    if let (Some(name), true) = (inside.file_name(), parts.len() > 1) {
        places.push(folder.join(name));
    }
    for ending in STRIPPED {
        files.extend(places.iter().map(|place| {
            let mut place = place.clone().into_os_string();
            place.push(ending);
            PathBuf::from(place)
        }));
    }
    if let Some((first, rest)) = build_id.and_then(|id| id.split_at_checked(2))
        && first.chars().chain(rest.chars()).all(|c| c.is_ascii_hexdigit())
    {
        files.push(folder.join(".build-id").join(first).join(format!("{rest}.debug")));
    }
    files
}

/// Returns the paths at which the symbol database (PDB) of a Windows program may lie: in the
/// folder, or below it as symbol servers lay it out.
fn databases(folder: &Path, name: &str, build_id: Option<&str>) -> Vec<PathBuf> {
    let database = Path::new(name).with_extension("pdb");
    if !matches!(*database.components().collect::<Vec<_>>(), [Component::Normal(_)]) {
        return Vec::new();
    }
    let of_build = build_id.filter(|id| id.chars().all(|c| c.is_ascii_hexdigit()));
    let of_build = of_build.map(str::to_ascii_uppercase);
    let of_build = of_build.map(|id| folder.join(&database).join(id).join(&database));
    [folder.join(&database)].into_iter().chain(of_build).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_looked_for_inside_the_folder_alone() {
        let found = candidates(Path::new("s"), "/usr/lib/liba.so", Some("abcdef"));
        let expected = [
            "s/usr/lib/liba.so",
            "s/liba.so",
            "s/usr/lib/liba.so.dbg",
            "s/liba.so.dbg",
            "s/usr/lib/liba.so.debug",
            "s/liba.so.debug",
            "s/.build-id/ab/cdef.debug",
        ];
        assert_eq!(found, expected.map(PathBuf::from));
        assert!(candidates(Path::new("s"), "/../etc/liba.so", None).is_empty());
        let found = candidates(Path::new("s"), "C:\\app\\App.exe", Some("ab1"));
        assert_eq!(found, ["s/App.pdb", "s/App.pdb/AB1/App.pdb"].map(PathBuf::from));
        assert_eq!(candidates(Path::new("s"), "C:\\App.exe", Some("../x")).len(), 1);
        assert!(candidates(Path::new("s"), "C:\\..", None).is_empty());
        assert!(candidates(Path::new("s"), "", None).is_empty());
        assert_eq!(candidates(Path::new("s"), "a.so", Some("ab/../..")).len(), 3);
    }
}
