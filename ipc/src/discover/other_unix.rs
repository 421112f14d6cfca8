//! Finds .NET processes on macOS and other systems without `/proc`: their sockets by name, and
//! their start times by `ps`.

use super::name::{ProcessKind, SocketName};
use super::{Found, LeftBy, Leftover, Listing, Search, Unreachable};
use crate::endpoint::Endpoint;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Maximum error of a start time, in seconds. There is one because `ps` shows whole seconds.
const MAX_START_ERROR_SECONDS: u64 = 3;

/// What `ps` shows about a process.
struct PsEntry {
    uptime: Duration,
    command_line: Vec<String>,
    owner: Option<u32>,
}

impl Search {
    pub(super) fn platform(&self) -> Listing {
        let ours = rustix::process::geteuid().as_raw();
        let mut listing = Listing::default();
        let directories = self.directories.iter().cloned().chain(group_containers());
        for (path, name, owner) in directories.flat_map(|directory| sockets(&directory)) {
            let Some(known) = ask_ps(name.pid) else {
                listing.leftovers.push(Leftover { path, pid: name.pid, left_by: LeftBy::Gone });
                continue;
            };
            if name.kind == ProcessKind::Runtime && !started_at(&name, known.uptime) {
                listing.leftovers.push(Leftover { path, pid: name.pid, left_by: LeftBy::Recycled });
                continue;
            }
            let endpoint = if ours != 0 && owner != ours {
                Err(Unreachable::OtherUser { owner, ours })
            } else {
                Ok(Endpoint::socket(path))
            };
            let program = known.command_line.first().map(PathBuf::from);
            let base = program
                .as_deref()
                .and_then(Path::file_name)
                .map(|name| name.to_string_lossy().into_owned());
            listing.processes.push(Found {
                pid: name.pid,
                is_elsewhere: false,
                own_pid: None,
                kind: name.kind,
                name: base.unwrap_or_default(),
                command_line: known.command_line,
                owner: known.owner,
                uptime: Some(known.uptime),
                root: PathBuf::from("/"),
                ports: None,
                suspends_at_startup: false,
                endpoint,
            });
        }
        listing.processes.sort_by_key(|found| (found.pid, found.kind));
        listing.processes.dedup_by_key(|found| (found.pid, found.kind));
        listing
    }
}

fn sockets(directory: &Path) -> Vec<(PathBuf, SocketName, u32)> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let sockets = entries.flatten().filter_map(|entry| {
        let name = SocketName::parse(entry.file_name().to_str()?, false)?;
        Some((entry.path(), name, entry.metadata().ok()?.uid()))
    });
    sockets.collect()
}

/// Returns the containers of application groups, in which sandboxed applications keep their
/// sockets.
fn group_containers() -> Vec<PathBuf> {
    let Some(home) = std::env::var_os("HOME").filter(|_| cfg!(target_os = "macos")) else {
        return Vec::new();
    };
    let Ok(entries) = std::fs::read_dir(PathBuf::from(home).join("Library/Group Containers"))
    else {
        return Vec::new();
    };
    entries.flatten().map(|entry| entry.path()).collect()
}

/// Returns whether the process started at the time that is the key in the socket's name, in seconds
/// since 1970.
fn started_at(name: &SocketName, uptime: Duration) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let started = now.saturating_sub(uptime).as_secs();
    name.key.parse().is_ok_and(|key: u64| key.abs_diff(started) <= MAX_START_ERROR_SECONDS)
}

fn ask_ps(pid: u32) -> Option<PsEntry> {
    let output = Command::new("ps")
        .args(["-o", "uid=,etime=,args=", "-p", &pid.to_string()])
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut fields = text.split_ascii_whitespace();
    let owner = fields.next()?.parse().ok();
    let uptime = elapsed(fields.next()?)?;
    Some(PsEntry { uptime, command_line: fields.map(str::to_owned).collect(), owner })
}

/// Parses an elapsed time in the form `[[days-]hours:]minutes:seconds`.
fn elapsed(text: &str) -> Option<Duration> {
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (days.parse::<u64>().ok()?, rest),
        None => (0, text),
    };
    let mut seconds = days;
    let parts: Vec<&str> = rest.split(':').collect();
    let padded = ["0", "0", "0"].into_iter().take(3_usize.checked_sub(parts.len())?).chain(parts);
    for (part, per) in padded.zip([24, 60, 60]) {
        seconds = seconds.checked_mul(per)?.checked_add(part.parse().ok()?)?;
    }
    Some(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elapsed_times_have_days_hours_minutes_and_seconds() {
        for (text, seconds) in
            [("00:07", 7), ("02:03", 123), ("1:00:00", 3600), ("2-03:04:05", 183_845)]
        {
            assert_eq!(elapsed(text), Some(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "7", "x:1", "1:2:3:4"] {
            assert_eq!(elapsed(text).filter(|_| text != "7"), None, "{text}");
        }
    }
}
