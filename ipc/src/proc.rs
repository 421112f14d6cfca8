//! Reads facts about a process from `/proc`.

use crate::command::process::Variable;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Directory of a process in `/proc`.
#[derive(Debug)]
pub(crate) struct Process {
    directory: PathBuf,
    pub(crate) pid: u32,
}

/// Fields of `/proc/PID/stat` that this crate uses.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) command: String,
    /// Start time of the process in clock ticks since boot (field 22).
    pub(crate) start_ticks: u64,
}

/// Fields of `/proc/PID/status` that this crate uses.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Status {
    /// Effective user id.
    pub(crate) owner: Option<u32>,
    /// Process id in the innermost namespace, if there are several.
    pub(crate) own_pid: Option<u32>,
}

pub(crate) fn processes(proc: &Path) -> Vec<Process> {
    let Ok(entries) = fs::read_dir(proc) else { return Vec::new() };
    let mut processes: Vec<Process> = entries
        .flatten()
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            Some(Process { directory: entry.path(), pid })
        })
        .collect();
    processes.sort_unstable_by_key(|process| process.pid);
    processes
}

impl Process {
    pub(crate) fn at(proc: &Path, name: &str) -> Self {
        Process { directory: proc.join(name), pid: 0 }
    }

    pub(crate) fn stat(&self) -> Option<Stat> {
        parse_stat(&self.text("stat")?)
    }

    pub(crate) fn status(&self) -> Status {
        self.text("status").map(|text| parse_status(&text)).unwrap_or_default()
    }

    fn text(&self, file: &str) -> Option<String> {
        fs::read(self.directory.join(file))
            .ok()
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Reads the environment variables of the process. Returns `None` if they may not be read.
    pub(crate) fn environment(&self) -> Option<Vec<Variable>> {
        let bytes = fs::read(self.directory.join("environ")).ok()?;
        let entries = bytes.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
        let variables = entries.map(|entry| {
            let text = String::from_utf8_lossy(entry);
            match text.split_once('=') {
                Some((name, value)) => {
                    Variable { name: name.to_owned(), value: Some(value.to_owned()) }
                }
                None => Variable { name: text.into_owned(), value: None },
            }
        });
        Some(variables.collect())
    }

    /// Returns the directory that `TMPDIR` of the process names, or `/tmp` if the variable is empty
    /// or missing. Its bytes are not converted, since paths need not be Unicode.
    pub(crate) fn temporary_directory(&self) -> Option<PathBuf> {
        let bytes = fs::read(self.directory.join("environ")).ok()?;
        let value = bytes.split(|byte| *byte == 0).find_map(|entry| entry.strip_prefix(b"TMPDIR="));
        let value = value.filter(|value| !value.is_empty()).unwrap_or(b"/tmp");
        Some(PathBuf::from(OsString::from_vec(value.to_vec())))
    }

    pub(crate) fn has_environment(&self, bytes: &[u8]) -> bool {
        fs::read(self.directory.join("environ")).is_ok_and(|environment| {
            environment.windows(bytes.len().max(1)).any(|window| window == bytes)
        })
    }

    pub(crate) fn command_line(&self) -> Vec<String> {
        let bytes = fs::read(self.directory.join("cmdline")).unwrap_or_default();
        let mut parts: Vec<String> = bytes
            .split(|byte| *byte == 0)
            .map(|part| String::from_utf8_lossy(part).into_owned())
            .collect();
        if parts.last().is_some_and(String::is_empty) {
            parts.pop();
        }
        parts
    }

    /// Returns the name of a namespace, such as `mnt:[4026531841]`, or `None` if it may not be
    /// read.
    pub(crate) fn namespace(&self, kind: &str) -> Option<OsString> {
        fs::read_link(self.directory.join("ns").join(kind)).ok().map(PathBuf::into_os_string)
    }

    /// Returns the path of the root directory of the process, or `None` if it may not be read.
    pub(crate) fn root_target(&self) -> Option<PathBuf> {
        fs::read_link(self.root()).ok()
    }

    /// Returns the path by which the current process reaches the root directory of the process.
    pub(crate) fn root(&self) -> PathBuf {
        self.directory.join("root")
    }

    /// Returns whether a .NET runtime is loaded. Returns `false` if that may not be read.
    pub(crate) fn has_runtime(&self) -> bool {
        // `memfd:doublemapper` marks a runtime inside a program of a single file.
        let marks = ["libcoreclr.so", "memfd:doublemapper"];
        self.text("maps").is_some_and(|maps| marks.iter().any(|mark| maps.contains(mark)))
    }

    /// Returns the path of `libcoreclr.so` as the process sees it. Returns `None` if the library is
    /// not loaded, or that may not be read.
    pub(crate) fn runtime_library(&self) -> Option<PathBuf> {
        let maps = self.text("maps")?;
        let line = maps.lines().find(|line| line.ends_with("/libcoreclr.so"))?;
        line.find('/').and_then(|at| line.split_at_checked(at)).map(|(_, path)| PathBuf::from(path))
    }

    /// Returns the paths of the Unix sockets that the process has bound, with exactly the bytes
    /// that it used.
    pub(crate) fn bound_sockets(&self) -> Vec<PathBuf> {
        let Ok(descriptors) = fs::read_dir(self.directory.join("fd")) else { return Vec::new() };
        let links = descriptors.flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
        let inodes: BTreeSet<String> = links
            .filter_map(|link| {
                let inode = link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned();
                Some(inode)
            })
            .collect();
        let sockets = self.text("net/unix").unwrap_or_default();
        let held = sockets.lines().skip(1).filter_map(|line| {
            let mut fields = line.split_ascii_whitespace().skip(6);
            let (inode, path) = (fields.next()?, fields.next()?);
            inodes.contains(inode).then(|| PathBuf::from(path))
        });
        held.collect()
    }
}

/// Parses the text of `stat`. The name of the command is between the first `(` and the last `)`,
/// and may contain both.
fn parse_stat(text: &str) -> Option<Stat> {
    let (head, tail) = text.rsplit_once(')')?;
    let (_, command) = head.split_once('(')?;
    // Field 3 is the first after the command.
    let start_ticks = tail.split_ascii_whitespace().nth(22 - 3)?.parse().ok()?;
    Some(Stat { command: command.to_owned(), start_ticks })
}

fn parse_status(text: &str) -> Status {
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
    let numbers = |line: &str| -> Vec<u32> {
        line.split_ascii_whitespace().filter_map(|number| number.parse().ok()).collect()
    };
    let owner = field("Uid:").map(numbers).and_then(|ids| ids.get(1).copied());
    let own_pid = match field("NSpid:").map(numbers).as_deref() {
        Some([_, .., innermost]) => Some(*innermost),
        _ => None,
    };
    Status { owner, own_pid }
}

/// Returns the reason why a process cannot write dumps: its runtime lacks `createdump`, or it may
/// not run that program. Returns `None` if it can, or if that is unknown.
///
/// Quirk: if .NET Core 3.1 cannot run `createdump`, a copy of the process stays behind, with all
/// its descriptors.
pub(crate) fn no_createdump(pid: u32) -> Option<String> {
    let process = Process::at(Path::new("/proc"), &pid.to_string());
    let program = process.runtime_library()?.with_file_name("createdump");
    let seen = process.root().join(program.strip_prefix("/").unwrap_or(&program));
    match std::fs::metadata(seen) {
        Ok(metadata) if metadata.mode() & 0o111 == 0 => {
            Some(format!("{} is not executable", program.display()))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Some(format!("the runtime lacks the program that writes dumps, {}", program.display()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_may_hold_brackets_and_blanks() {
        let text = "7 (a) b) S 1 7 7 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 9 0 402349 1 2 3\n";
        assert_eq!(
            parse_stat(text),
            Some(Stat { command: "a) b".to_owned(), start_ticks: 402_349 })
        );
        assert_eq!(parse_stat("7 (a) S 1"), None);
        assert_eq!(parse_stat(""), None);
    }

    #[test]
    fn the_innermost_process_id_is_the_last() {
        let status = parse_status("Name:\tx\nUid:\t0\t1000\t0\t0\nNSpid:\t4711\t12\t1\n");
        assert_eq!(status, Status { owner: Some(1000), own_pid: Some(1) });
        assert_eq!(parse_status("Uid:\t5\t5\t5\t5\nNSpid:\t4711\n").own_pid, None);
    }
}
