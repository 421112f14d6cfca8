//! Finds the code of a process: the file at an address, and the names of functions.

use super::image::Image;
use super::mappings::{self, Mapping};
use super::memory::Memory;
use super::process::Code;
use super::unwind::Step;
use crate::NativeFrame;
use nettrace_analysis::{SymbolFile, perf_map};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Maximum size of a file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 30;
/// Maximum size of a perf map that is read, in bytes.
const MAX_PERF_MAP_BYTES: u64 = 1 << 28;
/// Number of bytes at the beginning of a mapped file that are compared with the file on disk. They
/// contain the headers with the build id.
const HEAD_BYTES: usize = 4096;
/// Maximum size of the functions that the kernel maps into a process (vDSO), in bytes. They usually
/// take a few pages.
const MAX_VDSO_BYTES: usize = 1 << 20;
const ELF: &[u8] = b"\x7fELF";

/// The code of a process, as far as it was read.
#[derive(Debug)]
pub(super) struct Space {
    pid: u64,
    memory: Memory,
    mappings: Vec<Mapping>,
    /// Mapped files by their paths.
    files: BTreeMap<String, Found>,
    /// Size and name of each piece of code that the runtime compiled, by address; `None` before
    /// this is needed.
    perf_map: Option<BTreeMap<u64, (u64, String)>>,
}

/// What was found in a mapped file.
#[derive(Debug, Clone)]
enum Found {
    Image(Rc<Image>),
    /// A file that is not ELF. It is an assembly, whose code is managed.
    Other,
    Unread,
}

impl Space {
    pub(super) fn open(pid: u64) -> std::io::Result<Space> {
        let memory = Memory::open(pid)?;
        let text = fs::read(format!("/proc/{pid}/maps"))?;
        let mappings = mappings::parse(&String::from_utf8_lossy(&text));
        Ok(Space { pid, memory, mappings, files: BTreeMap::new(), perf_map: None })
    }

    pub(super) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Returns what kind of code is at an address. If it is in a file, the file must have been read
    /// by [`Space::read_file`].
    pub(super) fn code(&self, address: u64) -> Code {
        let Some(mapping) = mappings::at(&self.mappings, address).filter(|m| m.is_executable)
        else {
            return Code::None;
        };
        if is_of_runtime(mapping) {
            return Code::Compiled;
        }
        match self.files.get(&mapping.path) {
            Some(Found::Image(image)) => match image.address_of(place(mapping, address)) {
                Some(at) => Code::File(Rc::clone(image), at),
                // In a single-file program, assemblies follow the ELF file.
                None => Code::Compiled,
            },
            Some(Found::Other) => Code::Compiled,
            Some(Found::Unread) | None => Code::Unread,
        }
    }

    /// Returns whether the kind of code at an address is known without reading a file.
    pub(super) fn has_read(&self, address: u64) -> bool {
        let mapping = mappings::at(&self.mappings, address).filter(|m| m.is_executable);
        mapping.is_none_or(|found| is_of_runtime(found) || self.files.contains_key(&found.path))
    }

    /// Reads the file that is mapped at an address, unless it was read before.
    pub(super) fn read_file(&mut self, address: u64) {
        let Some(mapping) = mappings::at(&self.mappings, address).filter(|m| m.is_executable)
        else {
            return;
        };
        if !is_of_runtime(mapping) && !self.files.contains_key(&mapping.path) {
            let found = self.found(mapping);
            self.files.insert(mapping.path.clone(), found);
        }
    }

    fn found(&self, mapping: &Mapping) -> Found {
        if !mapping.has_file() {
            // The vDSO: functions of the kernel that every process has.
            let bytes = match &*mapping.path {
                "[vdso]" => {
                    let bytes = mapping.end.saturating_sub(mapping.start);
                    usize::try_from(bytes).unwrap_or(0).min(MAX_VDSO_BYTES)
                }
                _ => 0,
            };
            let image = Image::parse(&self.memory.read(mapping.start, bytes));
            return image.map_or(Found::Unread, |image| Found::Image(Rc::new(image)));
        }
        let mut places = vec![self.inside(&mapping.path)];
        // This link opens the file even if it was deleted, but needs many rights.
        let range = format!("{:x}-{:x}", mapping.start, mapping.end);
        places.push(PathBuf::from(format!("/proc/{}/map_files/{range}", self.pid)));
        for place in places {
            match self.file(&place, &mapping.path) {
                None => {}
                Some(None) => return Found::Other,
                Some(Some(bytes)) => {
                    let Some(mut image) = Image::parse(&bytes) else { return Found::Unread };
                    self.add_stripped(&mut image, &mapping.path);
                    return Found::Image(Rc::new(image));
                }
            }
        }
        let is_assembly = mapping.path.ends_with(".dll") || mapping.path.ends_with(".exe");
        if is_assembly { Found::Other } else { Found::Unread }
    }

    /// Returns the path by which this process can open a file of the other process, which may be in
    /// a container.
    fn inside(&self, path: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/root{path}", self.pid))
    }

    /// Reads an ELF file. Returns `Some(None)` if the file is not ELF, and `None` if it cannot be
    /// read or is not the file that is mapped.
    fn file(&self, place: &Path, path: &str) -> Option<Option<Vec<u8>>> {
        let mut file = open_regular(place, MAX_FILE_BYTES)?;
        let mut bytes = vec![0; HEAD_BYTES];
        let filled = read_up_to(&mut file, &mut bytes)?;
        bytes.truncate(filled);
        if !bytes.starts_with(ELF) {
            return Some(None);
        }
        let front = self.mappings.iter().find(|other| other.path == path && other.offset == 0);
        if front.is_some_and(|front| self.memory.read(front.start, bytes.len()) != bytes) {
            return None;
        }
        file.read_to_end(&mut bytes).ok()?;
        Some(Some(bytes))
    }

    /// Adds the symbols that were stripped from a library. They are in another file, beside the
    /// library or in a folder of the Linux distribution.
    fn add_stripped(&self, image: &mut Image, path: &str) {
        let mut places = vec![format!("{path}.dbg"), format!("{path}.debug")];
        if let Some((first, rest)) = image.build_id().and_then(|id| id.split_at_checked(2)) {
            places.push(format!("/usr/lib/debug/.build-id/{first}/{rest}.debug"));
        }
        for place in places {
            let Some(mut file) = open_regular(&self.inside(&place), MAX_FILE_BYTES) else {
                continue;
            };
            let mut bytes = Vec::new();
            if file.read_to_end(&mut bytes).is_ok()
                && let Ok(symbols) = SymbolFile::from_bytes(&bytes)
            {
                image.add_symbols(&symbols);
            }
        }
    }

    /// Returns the frame for a step of unwinding, with the names of module and function.
    pub(super) fn frame(&mut self, step: &Step) -> NativeFrame {
        let inside = step.inside();
        let mut frame = NativeFrame::new(step.address);
        frame.is_managed = step.is_compiled;
        let Some(mapping) = mappings::at(&self.mappings, inside).cloned() else { return frame };
        if !is_of_runtime(&mapping) {
            let name = mapping.path.rsplit('/').next().filter(|name| !name.is_empty());
            frame.module = name.map(str::to_owned);
            frame.offset = Some(place(&mapping, step.address));
        }
        match self.code(inside) {
            Code::File(image, at) => {
                frame.offset = Some(at.saturating_add(u64::from(step.is_return)));
                frame.symbol = image.function(place(&mapping, inside)).map(|name| name.into());
            }
            Code::Compiled => {
                let names = self.perf_map.get_or_insert_with(|| read_perf_map(self.pid));
                let before = names.range(..=inside).next_back();
                let found = before.filter(|(start, (size, _))| inside.abs_diff(**start) < *size);
                frame.symbol = found.map(|(_, (_, name))| name.clone());
            }
            Code::Unread | Code::None => {}
        }
        frame
    }
}

/// Returns whether the mapping holds code that the runtime compiled.
fn is_of_runtime(mapping: &Mapping) -> bool {
    mapping.path.is_empty()
        || mapping.path.starts_with("[anon")
        || mapping.path.starts_with("/memfd:")
        || mapping.path.starts_with("/dev/")
        || mapping.path.starts_with("//anon")
}

/// Returns the offset in the mapped file that an address has.
fn place(mapping: &Mapping, address: u64) -> u64 {
    address.saturating_sub(mapping.start).saturating_add(mapping.offset)
}

/// Opens a regular file of at most `max_bytes`. Other files are refused, because reading a pipe or
/// a device might never end.
fn open_regular(path: &Path, max_bytes: u64) -> Option<File> {
    let is_regular =
        fs::metadata(path).ok().filter(|data| data.is_file() && data.len() <= max_bytes);
    is_regular.and_then(|_| File::open(path).ok())
}

fn read_up_to(file: &mut File, buffer: &mut [u8]) -> Option<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read(rest).ok()? {
            0 => break,
            count => filled = filled.saturating_add(count),
        }
    }
    Some(filled)
}

/// Reads the names of compiled methods from the perf map, if the process writes one
/// (`DOTNET_PerfMapEnabled`, or `nettrace process perfmap`).
fn read_perf_map(pid: u64) -> BTreeMap<u64, (u64, String)> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let own = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    let own = own.and_then(|ids| ids.split_whitespace().last()).unwrap_or_default();
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let name = format!("perf-{own}.map");
    let mut names = BTreeMap::new();
    for folder in perf_map_folders(&String::from_utf8_lossy(&environment)) {
        let place = PathBuf::from(format!("/proc/{pid}/root{folder}")).join(&name);
        let Some(mut file) = open_regular(&place, MAX_PERF_MAP_BYTES) else { continue };
        // Anybody may put a file there, so only files of the process's user or of root are read.
        let owner = fs::metadata(format!("/proc/{pid}")).map(|data| data.uid());
        let of_file = file.metadata().map(|data| data.uid());
        let is_its_own = matches!(
            (owner, of_file),
            (Ok(owner), Ok(of_file)) if of_file == owner || of_file == 0
        );
        let mut bytes = Vec::new();
        if is_its_own && file.read_to_end(&mut bytes).is_ok() {
            // Later lines are newer code.
            for (start, size, name) in perf_map(&String::from_utf8_lossy(&bytes)) {
                names.insert(start, (size, name.to_owned()));
            }
            break;
        }
    }
    names
}

/// Returns the folders in which the runtime may write a perf map. `environment` is that of the
/// process. Linux tools expect the file in `/tmp`.
fn perf_map_folders(environment: &str) -> Vec<&str> {
    let of = |wanted: &str| {
        let mut values = environment.split('\0').filter_map(|pair| pair.split_once('='));
        values.find(|(name, _)| *name == wanted).map(|(_, value)| value)
    };
    let set = [of("DOTNET_PerfMapJitDumpPath"), of("COMPlus_PerfMapJitDumpPath"), of("TMPDIR")];
    let folders = set.into_iter().flatten().chain(["/tmp"]);
    folders.filter(|folder| folder.starts_with('/')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_perf_map_is_where_the_process_puts_temporary_files() {
        let environment = "HOME=/root\0TMPDIR=/var/tmp\0TMPDIR=/x\0A";
        assert_eq!(perf_map_folders(environment), ["/var/tmp", "/tmp"]);
        let environment = "TMPDIR=tmp\0DOTNET_PerfMapJitDumpPath=/maps\0";
        assert_eq!(perf_map_folders(environment), ["/maps", "/tmp"]);
        assert_eq!(perf_map_folders(""), ["/tmp"]);
    }

    #[test]
    fn code_of_ours_lies_in_a_file_and_a_stack_is_no_code() {
        let mut space = Space::open(u64::from(std::process::id())).unwrap();
        let function: fn(&str) -> Vec<&str> = perf_map_folders;
        let here = function as usize as u64;
        assert!(!space.has_read(here));
        assert!(matches!(space.code(here), Code::Unread));
        space.read_file(here);
        assert!(space.has_read(here) && matches!(space.code(here), Code::File(..)));
        let local = 0_u64;
        let on_stack = std::ptr::from_ref(&local) as u64;
        assert!(space.has_read(on_stack) && matches!(space.code(on_stack), Code::None));
        assert!(matches!(space.code(u64::MAX), Code::None));
    }
}
