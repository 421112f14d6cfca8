//! Finds the outer types of nested types in the files of their modules: a heap dump has only the
//! last name of a nested type.

use crate::messages::Messages;
use crate::units;
use nettrace_analysis::heap::HeapReader;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// Maximum number of bytes that are read of all files together. A web application has 70 MB of
/// modules, but a trace may have many modules of one name.
const MAX_BYTES: u64 = 256 << 20;

/// Places of the files of modules.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Modules<'p> {
    /// Folders or files that the user names, and the folder of a trace.
    Of { folders: &'p [PathBuf], trace: &'p Path },
    /// The paths of a process of this machine, by its id.
    Process(u64),
}

/// Adds the outer types from all module files that are found.
pub(crate) fn add(heap: &mut HeapReader, modules: Modules<'_>, messages: &mut Messages<'_>) {
    let mut room = MAX_BYTES;
    for path in heap.modules_with_types() {
        for file in places(modules, &path) {
            let Some(size) = size(&file) else { continue };
            let Some(left) = room.checked_sub(size) else {
                let most = units::bytes(MAX_BYTES);
                messages.warning(&format!(
                    "outer names of types are read from at most {most} of modules: {} and others are not read",
                    file.display()
                ));
                return;
            };
            room = left;
            let added = read(&file, size).map_err(|error| error.to_string()).and_then(|bytes| {
                heap.add_module_file(&path, &bytes).map_err(|error| error.to_string())
            });
            match added {
                Ok(()) => break,
                Err(cause) => {
                    messages.warning(&format!("{} is not used: {cause}", file.display()));
                }
            }
        }
    }
}

fn places(modules: Modules<'_>, path: &str) -> Vec<PathBuf> {
    // A trace may come from another system, with other separators.
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let is_plain = |path: &Path| {
        path.components().all(|part| matches!(part, Component::Normal(_)))
            && path.file_name().is_some()
    };
    match modules {
        // The process may be in a container, with a root folder of its own.
        Modules::Process(pid) if cfg!(target_os = "linux") => {
            vec![PathBuf::from(format!("/proc/{pid}/root{path}"))]
        }
        Modules::Process(_) => vec![PathBuf::from(path)],
        Modules::Of { folders, trace } => {
            let mut places = Vec::new();
            // A path of the trace must not lead out of the folder.
            let inside = Path::new(path.trim_start_matches('/'));
            for folder in folders {
                let is_it = folder.file_name().is_some_and(|file| file == name);
                places.extend(Some(folder.clone()).filter(|_| is_it));
                let below = [inside, Path::new(name)].into_iter().filter(|path| is_plain(path));
                places.extend(below.map(|path| folder.join(path)));
            }
            let beside = trace.parent().filter(|_| is_plain(Path::new(name)));
            places.extend(beside.map(|folder| folder.join(name)));
            places
        }
    }
}

/// Returns the size of a file in bytes; `None` if it is no regular file. Reading a device or a pipe
/// might never end.
fn size(file: &Path) -> Option<u64> {
    Some(std::fs::metadata(file).ok().filter(std::fs::Metadata::is_file)?.len())
}

fn read(file: &Path, size: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(file)?.take(size).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_looked_for_in_the_folder_and_beside_the_trace_alone() {
        let folders = [PathBuf::from("s")];
        let trace = Path::new("t/x.nettrace");
        let found = |path| places(Modules::Of { folders: &folders, trace }, path);
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(found("/app/A.dll"), paths(&["s/app/A.dll", "s/A.dll", "t/A.dll"]));
        assert_eq!(found("/../A.dll"), paths(&["s/A.dll", "t/A.dll"]));
        assert!(found("/..").is_empty() && found("").is_empty());
        #[cfg(unix)]
        assert_eq!(found(r"C:\app\A.dll").last(), Some(&PathBuf::from("t/A.dll")));
    }
}
