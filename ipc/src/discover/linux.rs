//! Finds .NET processes on Linux. `/proc` tells which processes exist, where their sockets are and
//! when they started.

use super::name::{ProcessKind, SocketName};
use super::{Found, LeftBy, Leftover, Listing, Search, Unreachable};
use crate::command::process::Variable;
use crate::endpoint::{Endpoint, Holder, MAX_PATH_BYTES};
use crate::proc::{Process, Stat, Status, processes};
use crate::startup::suspends_at_startup;
use rustix::fs::StatVfsMountFlags;
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Returns the ids of processes whose environment contained this text when they started.
pub(crate) fn processes_with_environment(text: &str) -> Vec<u32> {
    let own = std::process::id();
    let having = processes(Path::new("/proc"))
        .into_iter()
        .filter(|process| process.pid != own && process.has_environment(text.as_bytes()));
    having.map(|process| process.pid).collect()
}

/// A diagnostics socket, which was recognised by its name.
#[derive(Clone, Debug)]
struct Socket {
    name: SocketName,
    path: PathBuf,
    owner: u32,
}

/// Lists the sockets in a directory. `seen` is the path of the directory in the file system of the
/// processes that use it; its length decides which names may be cut off.
fn sockets(directory: &Path, seen: &Path) -> Vec<Socket> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let sockets = entries.flatten().filter_map(|entry| {
        let name = entry.file_name();
        let may_be_cut = seen.join(&name).as_os_str().len() == MAX_PATH_BYTES;
        let name = SocketName::parse(name.to_str()?, may_be_cut)?;
        let owner = entry.metadata().ok()?.uid();
        Some(Socket { name, path: entry.path(), owner })
    });
    sockets.collect()
}

/// How the file system and the clock of a process differ from those of this process.
struct ProcessView {
    /// Root directory of the process's file system, as this process reaches it.
    root: PathBuf,
    /// Mount namespace of the process; `None` if it may not be read.
    view: Option<OsString>,
    /// Whether the process sees another file system than this process.
    apart: bool,
    /// Whether the process has another time namespace, so that its clock since boot differs.
    own_time: bool,
}

struct Here {
    mounts: Option<OsString>,
    time: Option<OsString>,
    uptime: Option<f64>,
    user: u32,
}

impl Here {
    fn new(proc: &Path) -> Self {
        let own = Process::at(proc, "self");
        let uptime = std::fs::read_to_string(proc.join("uptime")).ok();
        Here {
            mounts: own.namespace("mnt"),
            time: own.namespace("time"),
            uptime: uptime.and_then(|text| text.split_ascii_whitespace().next()?.parse().ok()),
            user: rustix::process::geteuid().as_raw(),
        }
    }

    fn place(&self, process: &Process) -> ProcessView {
        let differs = |ours: &Option<OsString>, theirs: &Option<OsString>| matches!((ours, theirs), (Some(ours), Some(theirs)) if ours != theirs);
        let view = process.namespace("mnt");
        let own_root = process.root_target().is_some_and(|root| root != Path::new("/"));
        let apart = differs(&self.mounts, &view) || own_root;
        let root = if apart { process.root() } else { PathBuf::from("/") };
        let own_time = differs(&self.time, &process.namespace("time"));
        ProcessView { root, view, apart, own_time }
    }

    /// Finds the process that made a socket in another container.
    fn elsewhere(&self, socket: &Socket) -> Found {
        // The key is the time of the start by the clock of the system, which containers share.
        let key = socket.name.key.parse().ok().filter(|_| !socket.name.cut);
        Found {
            pid: socket.name.pid,
            is_elsewhere: true,
            own_pid: None,
            kind: socket.name.kind,
            name: String::new(),
            command_line: Vec::new(),
            owner: Some(socket.owner),
            uptime: key.and_then(|start_ticks| self.uptime_since(start_ticks)),
            root: PathBuf::from("/"),
            ports: None,
            suspends_at_startup: false,
            endpoint: Ok(Endpoint::socket(&socket.path)),
        }
    }

    fn uptime_since(&self, start_ticks: u64) -> Option<Duration> {
        let per_second = rustix::param::clock_ticks_per_second();
        let started =
            Duration::from_millis(start_ticks.checked_mul(1000)?.checked_div(per_second)?);
        Duration::try_from_secs_f64(self.uptime?).ok()?.checked_sub(started)
    }
}

impl Search {
    pub(super) fn platform(&self) -> Listing {
        let here = Here::new(&self.proc);
        // Processes of one mount namespace may still have roots of their own (chroot).
        type Directory = (Option<OsString>, Option<PathBuf>, PathBuf);
        let mut by_place: HashMap<Directory, Vec<Socket>> = HashMap::new();
        let mut ours: BTreeMap<PathBuf, Socket> = BTreeMap::new();
        for directory in &self.directories {
            for socket in sockets(directory, directory) {
                ours.insert(socket.path.clone(), socket);
            }
        }
        let mut listing = Listing::default();
        for process in processes(&self.proc) {
            let Some(stat) = process.stat() else { continue };
            let status = process.status();
            let place = here.place(&process);
            let own_pid = status.own_pid.unwrap_or(process.pid);
            let temporary = process.temporary_directory();
            let mut near: Vec<Socket> = Vec::new();
            if let Some(temporary) = &temporary {
                let key = match place.apart {
                    true => (place.view.clone(), process.root_target(), temporary.clone()),
                    false => (None, None, temporary.clone()),
                };
                let listed = place.root.join(temporary.strip_prefix("/").unwrap_or(temporary));
                let found = by_place.entry(key).or_insert_with(|| sockets(&listed, temporary));
                near.extend(found.iter().filter(|socket| socket.name.pid == own_pid).cloned());
                for socket in &mut near {
                    // The directory may have been listed through another process with the same
                    // mounts.
                    if let (true, Some(name)) = (place.apart, socket.path.file_name()) {
                        socket.path = listed.join(name);
                    }
                }
            }
            if !place.apart {
                near.extend(ours.values().filter(|socket| socket.name.pid == process.pid).cloned());
            }
            let mut kinds: BTreeMap<ProcessKind, Socket> = BTreeMap::new();
            for socket in near {
                let is_its = socket.name.kind == ProcessKind::Router
                    || place.own_time
                    || socket.name.is_of(stat.start_ticks)
                    || is_bound_by(&socket, &process);
                if is_its {
                    kinds.entry(socket.name.kind).or_insert(socket);
                }
            }
            let facts = Facts {
                process: &process,
                stat: &stat,
                status: &status,
                place: &place,
                here: &here,
                temporary,
            };
            if kinds.is_empty() {
                listing.processes.extend(facts.without_socket());
            }
            for (kind, socket) in kinds {
                listing.processes.push(facts.found(kind, facts.reachable(&socket)));
            }
        }
        let known: Vec<&Path> = listing
            .processes
            .iter()
            .filter_map(|found| found.endpoint.as_ref().ok().and_then(Endpoint::path))
            .collect();
        let others = by_place
            .into_iter()
            .filter(|((view, root, _), _)| view.is_none() && root.is_none())
            .flat_map(|(_, sockets)| sockets);
        let mut all = ours;
        all.extend(others.map(|socket| (socket.path.clone(), socket)));
        let (mut leftovers, mut elsewhere) = (Vec::new(), Vec::new());
        for socket in all.into_values().filter(|socket| !known.contains(&socket.path.as_path())) {
            let Some(left_by) = left_by(&self.proc, &socket.name) else { continue };
            let pid = socket.name.pid;
            let left_by = match Endpoint::socket(&socket.path).holder(MAX_PEER_WAIT) {
                Ok(Holder::Elsewhere) if socket.name.kind == ProcessKind::Runtime => {
                    elsewhere.push(here.elsewhere(&socket));
                    continue;
                }
                // A container that shares the directory, whose process was found by another path.
                Ok(Holder::Process(pid)) if listing.processes.iter().any(|it| it.pid == pid) => {
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    LeftBy::Untried { owner: socket.owner }
                }
                _ => left_by,
            };
            leftovers.push(Leftover { path: socket.path, pid, left_by });
        }
        listing.leftovers = leftovers;
        listing.processes.append(&mut elsewhere);
        listing.processes.sort_by_key(|found| found.pid);
        listing
    }
}

/// Returns whether the process itself has opened the socket; the kernel tells a client that
/// connects who did. This finds runtimes in an emulator (qemu-user, by binfmt), which see another
/// start time than `/proc` has.
fn is_bound_by(socket: &Socket, process: &Process) -> bool {
    let endpoint = Endpoint::socket_of(&socket.path, process.pid);
    socket.name.kind == ProcessKind::Runtime && endpoint.is_of_its_process(MAX_PEER_WAIT)
}

/// Maximum wait for a connection to a socket whose queue is full.
const MAX_PEER_WAIT: Duration = Duration::from_millis(100);

/// Returns the reason why no process owns a socket. Returns `None` if its process lives, or may
/// live in another namespace.
fn left_by(proc: &Path, name: &SocketName) -> Option<LeftBy> {
    match Process::at(proc, &name.pid.to_string()).stat() {
        None => Some(LeftBy::Gone),
        Some(stat) if name.kind == ProcessKind::Runtime && !name.is_of(stat.start_ticks) => {
            Some(LeftBy::Recycled)
        }
        Some(_) => None,
    }
}

/// Everything that the search knows about one process.
struct Facts<'f> {
    process: &'f Process,
    stat: &'f Stat,
    status: &'f Status,
    place: &'f ProcessView,
    here: &'f Here,
    temporary: Option<PathBuf>,
}

impl Facts<'_> {
    fn reachable(&self, socket: &Socket) -> Result<Endpoint, Unreachable> {
        let ours = self.here.user;
        if ours != 0 && socket.owner != ours {
            return Err(Unreachable::OtherUser { owner: socket.owner, ours });
        }
        Ok(Endpoint::socket_of(&socket.path, self.process.pid))
    }

    /// Finds a runtime for which no socket was found by name. Its socket is found by the
    /// descriptors of the process; otherwise the result has the reason why there is none.
    fn without_socket(&self) -> Option<Found> {
        let ours = self.here.user;
        let owner = self.status.owner.unwrap_or(ours);
        if !self.process.has_runtime() {
            return None;
        }
        let Some(temporary) = &self.temporary else {
            return Some(
                self.found(ProcessKind::Runtime, Err(Unreachable::Unreadable { owner, ours })),
            );
        };
        let relative = temporary.strip_prefix("/").unwrap_or(temporary);
        let seen = self.place.root.join(relative);
        let bound = self.process.bound_sockets().into_iter().find(|path| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            path.as_os_str().len() == MAX_PATH_BYTES
                && path.starts_with(temporary)
                && (SocketName::is_cut_before_the_key(name)
                    || SocketName::parse(name, true).is_some())
        });
        if let Some(path) = bound {
            let path = self.place.root.join(path.strip_prefix("/").unwrap_or(&path));
            return Some(
                self.found(ProcessKind::Runtime, Ok(Endpoint::socket_of(path, self.process.pid))),
            );
        }
        let environment = self.process.environment().unwrap_or_default();
        let reason = if let Some(variable) = switched_off(&environment) {
            Unreachable::SwitchedOff(variable)
        } else if !seen.is_dir() {
            Unreachable::NoDirectory(temporary.clone())
        } else if temporary.as_os_str().as_bytes().len() >= MAX_PATH_BYTES {
            Unreachable::PathTooLong(temporary.clone())
        } else if !may_write(&seen, owner) {
            Unreachable::Unwritable(temporary.clone())
        } else {
            Unreachable::NoSocket(temporary.clone())
        };
        Some(self.found(ProcessKind::Runtime, Err(reason)))
    }

    fn found(&self, kind: ProcessKind, endpoint: Result<Endpoint, Unreachable>) -> Found {
        let command_line = self.process.command_line();
        let environment = self.process.environment().unwrap_or_default();
        let ports = environment
            .iter()
            .find(|variable| {
                matches!(
                    variable.name.as_str(),
                    "DOTNET_DiagnosticPorts" | "COMPlus_DiagnosticPorts"
                )
            })
            .and_then(|variable| variable.value.clone());
        Found {
            pid: self.process.pid,
            is_elsewhere: false,
            own_pid: self.status.own_pid.filter(|own| *own != self.process.pid),
            kind,
            name: name_of(&command_line).unwrap_or_else(|| self.stat.command.clone()),
            command_line,
            owner: self.status.owner,
            uptime: self.here.uptime_since(self.stat.start_ticks),
            root: self.place.root.clone(),
            ports,
            suspends_at_startup: suspends_at_startup(&environment),
            endpoint,
        }
    }
}

/// Returns whether a process of a user may create files in a directory, by its mount and its mode.
/// Groups of the process are not looked at: a directory that any group may write to counts as one
/// of the process's.
fn may_write(directory: &Path, user: u32) -> bool {
    let is_read_only = rustix::fs::statvfs(directory)
        .is_ok_and(|mount| mount.f_flag.contains(StatVfsMountFlags::RDONLY));
    let Ok(metadata) = std::fs::metadata(directory) else { return true };
    let bits = if metadata.uid() == user { 0o200 } else { 0o022 };
    !is_read_only && (user == 0 || metadata.mode() & bits != 0)
}

/// Returns the environment variable that switches diagnostics off, as `NAME=value`, or `None` if
/// none does.
fn switched_off(environment: &[Variable]) -> Option<String> {
    let names = ["EnableDiagnostics", "EnableDiagnostics_IPC"];
    environment.iter().find_map(|variable| {
        let name = variable
            .name
            .strip_prefix("DOTNET_")
            .or_else(|| variable.name.strip_prefix("COMPlus_"))?;
        let off = names.contains(&name)
            && variable.value.as_deref().is_some_and(|value| value.trim() == "0");
        off.then(|| format!("{}=0", variable.name))
    })
}

/// Returns the name of a process, without directory and `.dll`: that of its assembly if the program
/// is `dotnet`, otherwise that of the program.
fn name_of(command_line: &[String]) -> Option<String> {
    let base =
        |text: &String| Path::new(text).file_name().map(|name| name.to_string_lossy().into_owned());
    let program = command_line.first().and_then(base)?;
    let assembly =
        command_line.iter().skip(1).find(|argument| argument.ends_with(".dll")).and_then(base);
    let name = match assembly {
        Some(assembly) if program == "dotnet" => assembly,
        _ => program,
    };
    Some(name.strip_suffix(".dll").unwrap_or(&name).to_owned())
}
