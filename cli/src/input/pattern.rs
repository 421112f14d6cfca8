//! Finds the files that a pattern names. Shells of Windows leave patterns to the program; those of
//! other systems do when the pattern is quoted.

use crate::failure::{Failure, plain};
use nettrace_export::Glob;
use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Returns the file that an argument names; a pattern has to match only one file.
///
/// # Errors
/// A pattern matches no file, or several.
pub(crate) fn one_file(argument: PathBuf) -> Result<PathBuf, String> {
    if !is_pattern(&argument) {
        return Ok(argument);
    }
    let mut files = matches(&argument)?;
    match (files.pop(), files.len()) {
        (Some(file), 0) => Ok(file),
        (_, others) => Err(format!("matches {} files; give one of them", others + 1)),
    }
}

/// Returns the files that arguments name, each pattern as the files that it matches.
///
/// # Errors
/// A pattern matches no file.
pub(crate) fn files(arguments: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for argument in arguments {
        if is_pattern(argument) {
            let failed = |why| Failure::input(argument.display().to_string(), why);
            files.append(&mut matches(argument).map_err(failed)?);
        } else {
            files.push(argument.clone());
        }
    }
    Ok(files)
}

/// Returns whether a path is a pattern, and no file that exists.
pub(crate) fn is_pattern(path: &Path) -> bool {
    path.to_string_lossy().contains(['*', '?']) && !path.exists()
}

fn matches(pattern: &Path) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    add_matching(pattern, &mut files).map_err(|error| plain(&error))?;
    files.sort();
    if files.is_empty() { Err("matches no file".to_owned()) } else { Ok(files) }
}

/// Adds the files that a pattern matches: `*` and `?` within a name, `**` any folders.
pub(crate) fn add_matching(pattern: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut parts: Vec<String> = Vec::new();
    let mut root = PathBuf::new();
    for part in pattern.components() {
        let text = part.as_os_str().to_string_lossy().into_owned();
        if parts.is_empty() && !text.contains(['*', '?']) {
            root.push(part);
        } else {
            parts.push(text);
        }
    }
    // An empty root gives the files of a relative pattern relative names.
    Walk { done: HashSet::new(), files }.walk(&root, &parts)
}

struct Walk<'f> {
    /// Visited folders with the number of pattern parts left there, because `**` reaches a folder
    /// in several ways.
    done: HashSet<(PathBuf, usize)>,
    files: &'f mut Vec<PathBuf>,
}

impl Walk<'_> {
    fn walk(&mut self, folder: &Path, parts: &[String]) -> io::Result<()> {
        if !self.done.insert((folder.to_owned(), parts.len())) {
            return Ok(());
        }
        let Some((part, rest)) = parts.split_first() else {
            if folder.is_file() {
                self.files.push(folder.to_owned());
            }
            return Ok(());
        };
        let is_any = part == "**";
        if is_any {
            self.walk(folder, rest)?;
        }
        let glob = Glob::new(part);
        let listed = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        if !listed.is_dir() {
            return Ok(());
        }
        for entry in fs::read_dir(listed)? {
            let entry = entry?;
            let name = entry.file_name();
            let path = folder.join(&name);
            let name = name.to_string_lossy();
            if is_any {
                if entry.file_type()?.is_dir() {
                    self.walk(&path, parts)?;
                } else if rest.is_empty() {
                    self.files.push(path);
                }
            } else if glob.is_match(&name) && (part.starts_with('.') || !name.starts_with('.')) {
                self.walk(&path, rest)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_names_one_file_and_a_name_that_exists_is_no_pattern() {
        let folder = std::env::temp_dir().join(format!("nettrace-pattern-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for name in ["a[1].nettrace", "b.nettrace", "b.txt"] {
            fs::write(folder.join(name), "").unwrap();
        }
        let one = |name: &str| one_file(folder.join(name));
        assert_eq!(one("a*.nettrace"), Ok(folder.join("a[1].nettrace")));
        assert_eq!(one("a[1].nettrace"), Ok(folder.join("a[1].nettrace")));
        assert_eq!(one("B.net*"), Ok(folder.join("b.nettrace")));
        assert_eq!(one("*.nettrace"), Err("matches 2 files; give one of them".to_owned()));
        assert_eq!(one("c*"), Err("matches no file".to_owned()));
        assert_eq!(one("c"), Ok(folder.join("c")), "which nothing has opened yet");
        fs::remove_dir_all(folder).unwrap();
    }
}
