//! Finds .NET processes, and explains why some cannot be reached.

#[cfg(target_os = "linux")]
mod linux;
mod name;
#[cfg(all(unix, not(target_os = "linux")))]
mod other_unix;
#[cfg(any(test, all(unix, not(target_os = "linux"))))]
mod ps;
#[cfg(windows)]
mod windows;

use crate::deadlines::Deadlines;
use crate::endpoint::Endpoint;
use crate::runtime::Runtime;
#[cfg(target_os = "linux")]
pub(crate) use linux::processes_with_environment;
pub use name::ProcessKind;
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Reason why a .NET process cannot be reached.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unreachable {
    /// The socket belongs to another user. Only its owner and root may connect.
    OtherUser {
        /// User id of the socket's owner.
        owner: u32,
        /// User id of this process.
        ours: u32,
    },
    /// Diagnostics are switched off by this environment variable of the process.
    SwitchedOff(String),
    /// The directory in which the runtime would create its socket does not exist, so there is no
    /// socket.
    NoDirectory(PathBuf),
    /// The path of the runtime's socket would be longer than an address can be, so there is no
    /// socket.
    PathTooLong(PathBuf),
    /// The process may not write to the directory in which its runtime would create its socket, for
    /// example because it is mounted read-only, so there is no socket.
    Unwritable(PathBuf),
    /// There is no socket at the expected path. Either the process is just starting, or its socket
    /// was removed, for example by a dump that failed. In the second case it cannot be reached
    /// until it restarts.
    NoSocket(PathBuf),
    /// This user may not read where the socket of the process is.
    Unreadable {
        /// User id of the process.
        owner: u32,
        /// User id of this process.
        ours: u32,
    },
}

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unreachable::OtherUser { owner, ours } => {
                write!(
                    f,
                    "its socket belongs to user {owner}, and this is user {ours}: run as that user or as root"
                )
            }
            Unreachable::SwitchedOff(variable) => {
                write!(f, "its diagnostics are disabled by {variable}")
            }
            Unreachable::NoDirectory(path) => {
                write!(f, "it has no socket: its TMPDIR {} does not exist", path.display())
            }
            Unreachable::PathTooLong(path) => {
                write!(f, "it has no socket: paths in its TMPDIR {} are too long", path.display())
            }
            Unreachable::Unwritable(path) => {
                write!(f, "it has no socket: its TMPDIR {} is read-only for it", path.display())
            }
            Unreachable::NoSocket(path) => {
                write!(
                    f,
                    "it has no socket in {}: unless it is just starting, that was removed, and it is unreachable until it \
                     restarts",
                    path.display()
                )
            }
            Unreachable::Unreadable { owner, ours } => {
                write!(
                    f,
                    "it belongs to user {owner}, and this is user {ours}: the place of its socket cannot be read"
                )
            }
        }
    }
}

impl std::error::Error for Unreachable {}

/// A .NET process that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found {
    /// Process id, as this process sees it; if [`Found::is_elsewhere`], the id that the process has
    /// there.
    pub pid: u32,
    /// Whether the process is in a container whose processes this one cannot see, and only shares a
    /// directory with it: a process here may have its id. Its name and command line are not known,
    /// but the runtime tells them.
    pub is_elsewhere: bool,
    /// Process id in the namespace of the process, if it differs from [`Found::pid`].
    pub own_pid: Option<u32>,
    /// Whether the process is a runtime or a router.
    pub kind: ProcessKind,
    /// Name of the assembly if the program is `dotnet`, otherwise of the program. It may be empty
    /// for processes of other users.
    pub name: String,
    /// Command line as the system knows it: the program, then its arguments. What
    /// [`Found::ask_names`] has learned is one text.
    pub command_line: Vec<String>,
    /// User id of the process.
    pub owner: Option<u32>,
    /// Time since the process started; `None` if unknown.
    pub uptime: Option<Duration>,
    /// Root directory of the process as this process reaches it: `/`, or `/proc/PID/root`.
    pub root: PathBuf,
    /// Value of its environment variable `DOTNET_DiagnosticPorts`. The runtime connects to these
    /// ports, and waits for them at startup unless they have the option `nosuspend`.
    pub ports: Option<String>,
    /// Whether its environment makes the process wait at startup. [`Runtime::startup`] tells
    /// whether it still waits.
    pub suspends_at_startup: bool,
    /// Endpoint at which the process takes commands, or the reason why it cannot be reached.
    pub endpoint: Result<Endpoint, Unreachable>,
}

impl Found {
    /// Asks the runtimes of processes whose names the system does not tell for their names and
    /// command lines, all at the same time. A process that does not answer within `limit` stays
    /// without a name.
    pub fn ask_names(processes: &mut [Found], limit: Duration) {
        std::thread::scope(|scope| {
            for found in processes.iter_mut().filter(|found| found.name.is_empty()) {
                // Without a thread the name stays unknown.
                let asking = move || found.ask_name(limit);
                drop(std::thread::Builder::new().spawn_scoped(scope, asking));
            }
        });
    }

    fn ask_name(&mut self, limit: Duration) {
        // A router would pass the request on to a device, or wait for one.
        let runtime = self.runtime().ok().filter(|_| self.kind == ProcessKind::Runtime);
        let deadlines = Deadlines::default().connect(limit).reply(limit);
        let info = runtime.and_then(|runtime| runtime.deadlines(deadlines).info().ok());
        let Some(info) = info else { return };
        self.name = info.entry_assembly.unwrap_or_default();
        // The runtime joins the words with spaces, and cannot tell where each begins.
        self.command_line = vec![info.command_line];
    }

    /// Returns the runtime of the process.
    ///
    /// # Errors
    /// The reason why the process cannot be reached, which [`Found::endpoint`] holds.
    pub fn runtime(&self) -> Result<Runtime, Unreachable> {
        let endpoint = self.endpoint.clone()?;
        Ok(Runtime::new(endpoint).root(&self.root))
    }
}

/// Reason why a socket has no owner.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LeftBy {
    /// The process that made the socket has ended.
    Gone,
    /// The process id has been given to another process, which started later.
    Recycled,
    /// Unknown: no process here has made the socket, and only its owner and root may try whether a
    /// process elsewhere listens.
    Untried {
        /// User id of the socket's owner.
        owner: u32,
    },
}

/// A socket without a process: killed runtimes do not remove their sockets.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Leftover {
    /// Path of the socket.
    pub path: PathBuf,
    /// The process id in the name of the socket.
    pub pid: u32,
    /// Reason why the socket has no owner.
    pub left_by: LeftBy,
}

/// Result of a search for .NET processes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listing {
    /// The .NET processes, ordered by process id.
    pub processes: Vec<Found>,
    /// Sockets of processes that no longer exist.
    pub leftovers: Vec<Leftover>,
    /// Reason why processes could not be listed; `None` if they could.
    pub failure: Option<String>,
}

/// Searches for .NET processes.
///
/// Searches the temporary directory of this process, and the directory of each process as that
/// process sees it, with its own `TMPDIR`, mounts and process ids. Commands are sent to no process.
/// A socket that no process here has made is connected to and closed at once, to find out whether a
/// process of another container listens.
///
/// ```
/// use nettrace_ipc::Search;
/// for found in Search::new().run().processes {
///     match &found.endpoint {
///         Ok(endpoint) => println!("{} {} {endpoint}", found.pid, found.name),
///         Err(reason) => println!("{} {} unreachable: {reason}", found.pid, found.name),
///     }
/// }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    directories: BTreeSet<PathBuf>,
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux has it"))]
    proc: PathBuf,
}

impl Default for Search {
    fn default() -> Self {
        Self::new()
    }
}

impl Search {
    /// Makes a search of this machine.
    pub fn new() -> Self {
        let mut directories = BTreeSet::new();
        if cfg!(unix) {
            // An empty TMPDIR means /tmp to a runtime.
            let own =
                std::env::var_os("TMPDIR").filter(|value| !value.is_empty()).map(PathBuf::from);
            directories.extend(own);
            directories.insert(PathBuf::from("/tmp"));
        }
        Search { directories, proc: PathBuf::from("/proc") }
    }

    /// Adds a directory to those that are searched for sockets.
    #[must_use]
    pub fn directory(mut self, directory: impl AsRef<Path>) -> Self {
        self.directories.insert(directory.as_ref().to_owned());
        self
    }

    /// Makes the search read another `/proc`, such as that of a host, mounted in a container.
    #[must_use]
    pub fn proc(mut self, proc: impl AsRef<Path>) -> Self {
        self.proc = proc.as_ref().to_owned();
        self
    }

    /// Finds all .NET processes.
    pub fn run(&self) -> Listing {
        self.platform()
    }

    /// Finds the .NET process with an id. Returns `None` if there is no such process, or it is not
    /// a .NET process. A process that [is elsewhere](Found::is_elsewhere) is found only if none here
    /// has the id.
    pub fn process(&self, pid: u32) -> Option<Found> {
        self.processes_with_id(pid).into_iter().next()
    }

    /// Finds the .NET process with an id, or all of other containers with this id if none here has
    /// it.
    pub fn processes_with_id(&self, pid: u32) -> Vec<Found> {
        #[cfg(windows)]
        let mut found = self.platform_processes(pid);
        #[cfg(not(windows))]
        let mut found = self.run().processes;
        found.retain(|found| found.pid == pid);
        if found.iter().any(|found| !found.is_elsewhere) {
            found.retain(|found| !found.is_elsewhere);
        }
        found
    }
}

#[cfg(all(test, unix, feature = "fake-runtime"))]
mod tests {
    use super::*;
    use crate::fake::{FakeConfig, FakeRuntime};
    use std::os::unix::net::{UnixListener, UnixStream};

    /// Connects a client to the fake.
    fn join(client: UnixStream, fake: &FakeRuntime) {
        let mut server = UnixStream::connect(fake.endpoint().path().unwrap()).unwrap();
        let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
        std::thread::spawn(move || std::io::copy(&mut from, &mut to));
        let mut client = client;
        std::thread::spawn(move || {
            let _ = std::io::copy(&mut server, &mut client);
            let _ = client.shutdown(std::net::Shutdown::Both);
        });
    }

    // A process answers only once the other has its request, too.
    #[test]
    fn processes_are_asked_for_their_names_side_by_side() {
        let config = FakeConfig { entry_assembly: "posing".to_owned(), ..FakeConfig::default() };
        let fake = FakeRuntime::start(config).unwrap();
        let path = |name: &str| {
            let file = format!("nettrace-names-{}-{name}", std::process::id());
            std::env::temp_dir().join(file)
        };
        let paths = [path("a"), path("b")];
        let listeners = paths.each_ref().map(|path| UnixListener::bind(path).unwrap());
        let mut processes = paths.each_ref().map(|path| Found {
            pid: 1,
            is_elsewhere: false,
            own_pid: None,
            kind: ProcessKind::Runtime,
            name: String::new(),
            command_line: Vec::new(),
            owner: None,
            uptime: None,
            root: PathBuf::from("/"),
            ports: None,
            suspends_at_startup: false,
            endpoint: Ok(Endpoint::socket(path)),
        });
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let clients = listeners.each_ref().map(|listener| listener.accept().unwrap().0);
                clients.into_iter().for_each(|client| join(client, &fake));
            });
            Found::ask_names(&mut processes, Duration::from_secs(60));
        });
        paths.iter().for_each(|path| std::fs::remove_file(path).unwrap());
        assert_eq!(processes.each_ref().map(|found| found.name.as_str()), ["posing", "posing"]);
    }
}
