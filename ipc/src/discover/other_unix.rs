//! Finds .NET processes on macOS and other systems without `/proc`: their sockets by name, and
//! their start times by `ps`.

use super::name::{ProcessKind, SocketName};
use super::ps;
use super::{Found, LeftBy, Leftover, Listing, Search, Unreachable};
use crate::endpoint::Endpoint;
use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Maximum error of a start time, in seconds. There is one because `ps` shows whole seconds.
const MAX_START_ERROR_SECONDS: u64 = 3;

impl Search {
    pub(super) fn platform(&self) -> Listing {
        let ours = rustix::process::geteuid().as_raw();
        let mut listing = Listing::default();
        let directories =
            self.directories.iter().cloned().chain(of_users()).collect::<BTreeSet<_>>();
        let sockets: Vec<_> = directories.iter().flat_map(|directory| sockets(directory)).collect();
        let known = ps::ask(&sockets.iter().map(|(_, name, _)| name.pid).collect::<Vec<_>>());
        for (path, name, owner) in sockets {
            let Some(known) = known.get(&name.pid) else {
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
                command_line: known.command_line.clone(),
                owner: Some(known.owner),
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

/// Returns the folders of macOS in which runtimes have their sockets, and which `TMPDIR` need not
/// name: the temporary folders of all users, as far as they may be read, and the containers of
/// application groups for sandboxed applications.
fn of_users() -> Vec<PathBuf> {
    if !cfg!(target_os = "macos") {
        return Vec::new();
    }
    let inside = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        entries.flatten().map(|entry| entry.path()).collect()
    };
    // As /var/folders/zz/zyxvpxvq6csfxvn_n0000000000000/T.
    let users = inside(Path::new("/var/folders")).into_iter();
    let mut folders: Vec<_> =
        users.flat_map(|folder| inside(&folder)).map(|folder| folder.join("T")).collect();
    if let Some(home) = std::env::var_os("HOME") {
        folders.extend(inside(&PathBuf::from(home).join("Library/Group Containers")));
    }
    folders
}

/// Returns whether the process started at the time that is the key in the socket's name, in seconds
/// since 1970.
fn started_at(name: &SocketName, uptime: Duration) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let started = now.saturating_sub(uptime).as_secs();
    name.key.parse().is_ok_and(|key: u64| key.abs_diff(started) <= MAX_START_ERROR_SECONDS)
}
