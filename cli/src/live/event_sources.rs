//! Names of EventSources and meters that a process may have, from the assemblies that it has
//! mapped.
//!
//! The protocol cannot list EventSources, and a source that only has counters sends nothing until a
//! session names it. Its name stands in its assembly: in the attribute `[EventSource(Name = "…")]`,
//! as a string that its constructor is given, or as the name of its class. A name that is found may
//! be something else, which does no harm: asking for a provider that a process does not have costs
//! nothing.
//!
//! A process that waits at its start has mapped nothing yet. Then the assemblies beside the one
//! that it is about to run are read.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Maximum number of assemblies that are read.
const MAX_FILES: usize = 300;
/// Maximum number of bytes of an assembly that are read.
const MAX_FILE_BYTES: u64 = 32 << 20;
/// Maximum number of names.
const MAX_NAMES: usize = 100;
/// Maximum length of a name, in bytes.
const MAX_NAME_BYTES: usize = 120;

/// Returns names that the assemblies of a process of this machine hold, without .NET's own
/// assemblies. Empty if they cannot be read.
pub(crate) fn names(pid: Option<u64>) -> Vec<String> {
    let Some(pid) = pid else { return Vec::new() };
    let root = PathBuf::from(format!("/proc/{pid}/root"));
    let Ok(maps) = std::fs::read_to_string(format!("/proc/{pid}/maps")) else {
        return Vec::new();
    };
    let file = |path: &str| root.join(path.trim_start_matches('/'));
    let mut files: Vec<PathBuf> = assemblies(&maps).into_iter().map(file).collect();
    let entry = entry_assembly(pid).map(|entry| file(&entry));
    if let Some(entry) = entry.filter(|entry| !files.contains(entry) && entry.is_file()) {
        files.splice(..0, beside(entry));
    }
    let mut all: Vec<String> = Vec::new();
    for file in files.iter().take(MAX_FILES) {
        let Some(bytes) = read(file) else { continue };
        let mut names = BTreeSet::new();
        names_in(&bytes, &mut names);
        all.extend(names.into_iter().filter(|name| !all.contains(name)).collect::<Vec<_>>());
    }
    all.truncate(MAX_NAMES);
    all.sort();
    all
}

/// Returns the path of the assembly with which a process begins, by its command line: the argument
/// of `dotnet`, or the assembly beside the program itself.
fn entry_assembly(pid: u64) -> Option<String> {
    let link = |name: &str| std::fs::read_link(format!("/proc/{pid}/{name}")).ok();
    let program = link("exe")?;
    let words = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let words: Vec<&str> =
        words.split(|byte| *byte == 0).filter_map(|word| std::str::from_utf8(word).ok()).collect();
    let path = entry_in(&program, &link("cwd")?, &words)?;
    path.to_str().map(str::to_owned)
}

fn entry_in(program: &Path, folder: &Path, words: &[&str]) -> Option<PathBuf> {
    if program.file_name()? != "dotnet" {
        let mut name = program.file_name()?.to_owned();
        name.push(".dll");
        return Some(program.with_file_name(name));
    }
    // Options of `dotnet` come first, some of which have values.
    let path = words.iter().skip(1).find(|word| word.ends_with(".dll"))?;
    Some(folder.join(path))
}

/// Returns an assembly, and the assemblies in its folder that are not part of .NET.
fn beside(entry: PathBuf) -> Vec<PathBuf> {
    let entries = entry.parent().and_then(|folder| std::fs::read_dir(folder).ok());
    let paths = entries.into_iter().flatten().flatten().map(|entry| entry.path());
    let is_its = |path: &PathBuf| {
        let text = path.to_str().unwrap_or_default();
        text.ends_with(".dll") && !is_of_dotnet(text) && *path != entry
    };
    let mut others: Vec<PathBuf> = paths.filter(is_its).collect();
    others.sort();
    others.insert(0, entry);
    others
}

/// Returns the paths of the assemblies in a list of mapped files.
fn assemblies(maps: &str) -> BTreeSet<&str> {
    // address permissions offset device inode path
    let paths = maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..]));
    paths.filter(|path| path.ends_with(".dll") && !is_of_dotnet(path)).collect()
}

/// Returns whether an assembly is .NET's own, whose sources are known.
fn is_of_dotnet(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    path.contains("/Microsoft.NETCore.App/")
        || name.starts_with("System.")
        || ["mscorlib.dll", "netstandard.dll", "WindowsBase.dll"].contains(&name)
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MAX_FILE_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn names_in(bytes: &[u8], names: &mut BTreeSet<String>) {
    // An assembly with an EventSource has the name of this base class among its names, and an
    // assembly that makes meters has the name of their class.
    const CLASSES: [&[u8]; 2] = [b"\0EventSource\0", b"\0Meter\0"];
    if !CLASSES.iter().any(|class| bytes.windows(class.len()).any(|part| part == *class)) {
        return;
    }
    // A named argument of an attribute: property, string, "Name", and the value after.
    const ARGUMENT: &[u8] = b"\x54\x0e\x04Name";
    for at in 0..bytes.len() {
        let rest = &bytes[at..];
        if rest.starts_with(ARGUMENT) {
            let value = &rest[ARGUMENT.len()..];
            let name = value.split_first().and_then(|(length, text)| {
                std::str::from_utf8(text.get(..usize::from(*length))?).ok()
            });
            names.extend(name.filter(|name| is_name(name)).map(str::to_owned));
        }
    }
    // Names of classes, which end in zero.
    for word in bytes.split(|byte| *byte == 0) {
        let text = std::str::from_utf8(word).unwrap_or_default();
        if text.len() > "EventSource".len() && text.ends_with("EventSource") && is_name(text) {
            names.insert(text.to_owned());
        }
    }
    names.extend(wide_strings(bytes));
}

/// Returns the string literals of the code that look like names. They are UTF-16, after their
/// length in bytes, which counts one byte more for a flag.
fn wide_strings(bytes: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(length) = bytes.get(at).map(|length| usize::from(*length)) {
        at += 1;
        // A name has at least four letters of two bytes. The flag makes the length odd.
        if length < 9 || length.is_multiple_of(2) || length > MAX_NAME_BYTES {
            continue;
        }
        let Some(text) = bytes.get(at..at + length - 1) else { continue };
        if text.chunks(2).any(|pair| pair[1] != 0 || !(pair[0].is_ascii_graphic())) {
            continue;
        }
        let name: String = text.chunks(2).map(|pair| char::from(pair[0])).collect();
        // Company-Product-Part or Company.Product, as the guidelines have it.
        if name.contains(['-', '.']) && is_name(&name) {
            found.push(name);
            at += length - 1;
        }
    }
    found
}

fn is_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || ['-', '.', '_'].contains(&c);
    name.len() >= 4
        && name.len() <= MAX_NAME_BYTES
        && name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.chars().all(is_part)
        && name.ends_with(|c: char| c.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_attributes_classes_and_constructors() {
        let mut bytes = b"MZ...\0EventSource\0ShopEventSource\0Other\0".to_vec();
        bytes.extend(b"\x01\x00\x01\x00\x54\x0e\x04Name\x0aShop-Order\x00");
        let wide: Vec<u8> = "Shop-Dynamic".bytes().flat_map(|byte| [byte, 0]).collect();
        bytes.push(u8::try_from(wide.len() + 1).unwrap());
        bytes.extend(wide);
        bytes.extend(b"\x00\x03");
        let mut names = BTreeSet::new();
        names_in(&bytes, &mut names);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(names, ["Shop-Dynamic", "Shop-Order", "ShopEventSource"]);
        let mut names = BTreeSet::new();
        names_in(&bytes[18..], &mut names);
        assert!(names.is_empty(), "without the base class there is no source");
    }

    #[test]
    fn a_process_begins_with_what_dotnet_is_given_or_with_what_is_called_as_the_program() {
        let entry = |program: &str, words: &[&str]| {
            entry_in(Path::new(program), Path::new("/app"), words)
                .map(|path| path.display().to_string().replace('\\', "/"))
        };
        let of = |path: &str| Some(path.to_owned());
        assert_eq!(entry("/usr/bin/dotnet", &["dotnet", "a.dll", "b.dll"]), of("/app/a.dll"));
        let words = ["dotnet", "exec", "--fx-version", "9.0.0", "/x/a.dll"];
        assert_eq!(entry("/usr/bin/dotnet", &words), of("/x/a.dll"));
        assert_eq!(entry("/usr/bin/dotnet", &["dotnet", "run"]), None);
        assert_eq!(entry("/shop/Shop.Web", &["./Shop.Web", "x.dll"]), of("/shop/Shop.Web.dll"));
    }

    #[test]
    fn assemblies_of_dotnet_are_left_out() {
        let maps = "7f00-7f01 r--p 00000000 08:01 12 /app/shop.dll\n\
                    7f01-7f02 r--p 00001000 08:01 12 /app/shop.dll\n\
                    7f02-7f03 r--p 00000000 08:01 13 /usr/share/dotnet/shared/Microsoft.NETCore.App/9.0.0/X.dll\n\
                    7f03-7f04 r--p 00000000 08:01 14 /app/System.Text.Json.dll\n\
                    7f04-7f05 rw-p 00000000 00:00 0\n";
        assert_eq!(assemblies(maps), BTreeSet::from(["/app/shop.dll"]));
    }
}
