//! Real .NET runtimes for tests: 3.1, 8, 9 and 10, each with a program whose scenario the test
//! chooses.
//!
//! `.ci/peers` prepares the runtimes and prints the value for `NETTRACE_PEERS`, their folder. A
//! test that needs a runtime is `#[ignore = "needs NETTRACE_PEERS"]` in a module `with_runtime`, so
//! that a run counts it as ignored. `NETTRACE_RUNTIMES=net10` selects some of the runtimes.
//!
//! ```no_run
//! for peer in nettrace_testdata::peers::all() {
//!     let folder = nettrace_testdata::peers::Folder::new();
//!     let target = peer.start(&folder, "sleep", 0);
//!     assert!(target.descriptor_count() > 0);
//! }
//! ```

mod stuck;

pub use stuck::each;

use crate::{eventually, skipped};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A .NET runtime, and a program that it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Major version of the runtime: 3, 8, 9 or 10.
    pub major: u32,
    program: PathBuf,
    arguments: Vec<PathBuf>,
}

/// Returns the folder that `NETTRACE_PEERS` names.
///
/// # Panics
/// If the variable is not set.
pub fn folder() -> PathBuf {
    let folder = std::env::var_os("NETTRACE_PEERS");
    PathBuf::from(folder.expect("NETTRACE_PEERS=$(.ci/peers) names a folder with runtimes"))
}

/// Returns all runtimes of the folder, or those of them that `NETTRACE_RUNTIMES` names:
/// `net8,net10`.
///
/// # Panics
/// If `NETTRACE_PEERS` is not set, if `NETTRACE_RUNTIMES` names a missing runtime, or if the folder
/// has no runtime.
pub fn all() -> Vec<Peer> {
    let folder = folder();
    let wanted = std::env::var("NETTRACE_RUNTIMES").ok();
    let wanted: Option<Vec<&str>> = wanted.as_deref().map(|names| names.split(',').collect());
    let old = folder.join("tools/workload-netstandard/workload.dll");
    let known = [
        ("net3.1", 3, folder.join("net3/dotnetcore2/bin/dotnet"), vec![old]),
        ("net8", 8, folder.join("net8/workload"), vec![]),
        ("net9", 9, folder.join("net9/workload"), vec![]),
        (
            "net10",
            10,
            folder.join("net10/dotnet"),
            vec![folder.join("tools/workload/workload.dll")],
        ),
    ];
    let mut peers = Vec::new();
    for (name, major, program, arguments) in known {
        let is_wanted = wanted.as_ref().map(|names| names.contains(&name));
        if program.exists() && is_wanted != Some(false) {
            peers.push(Peer { major, program, arguments });
        } else if is_wanted.is_none() {
            skipped(format_args!(".NET {major} is not at {}", program.display()));
        }
    }
    if let Some(names) = wanted {
        assert_eq!(peers.len(), names.len(), "not all of NETTRACE_RUNTIMES={names:?} are there");
    }
    assert!(!peers.is_empty(), "there is no runtime in {}", folder.display());
    peers
}

/// Returns the runtimes with diagnostic ports and the Process command set: 8, 9 and 10.
pub fn modern() -> Vec<Peer> {
    all().into_iter().filter(|peer| peer.major >= 8).collect()
}

/// Returns a command for one of the .NET tools of the folder, such as
/// `dotnet-trace/dotnet-trace.dll`.
///
/// # Panics
/// If `NETTRACE_PEERS` is not set, or if the tool or .NET 10, which runs it, is missing.
pub fn tool(path: &str) -> Command {
    let folder = folder();
    let (host, tool) = (folder.join("net10/dotnet"), folder.join("tools").join(path));
    for needed in [&host, &tool] {
        assert!(needed.exists(), "{} is not there", needed.display());
    }
    let mut command = Command::new(host);
    command.arg(tool).env("DOTNET_ROLL_FORWARD", "Major");
    command.env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1");
    command
}

impl Peer {
    /// Returns the command that runs a scenario for `seconds` seconds. With 0 it runs until its
    /// standard input ends. The program gets `folder` as `TMPDIR`.
    pub fn command(&self, folder: &Path, scenario: &str, seconds: u32) -> Command {
        let mut command = Command::new(&self.program);
        command.args(self.words(scenario, seconds).get(1..).unwrap_or_default());
        command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", folder).env("TMPDIR", folder);
        command.env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1").env("LANG", "C.UTF-8");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command
    }

    /// Returns the command that runs a scenario as a list of words: the program and its arguments.
    pub fn words(&self, scenario: &str, seconds: u32) -> Vec<String> {
        let paths = std::iter::once(&self.program).chain(&self.arguments);
        let paths = paths.map(|path| path.display().to_string());
        paths.chain([scenario.to_owned(), seconds.to_string()]).collect()
    }

    /// Returns the command that runs a scenario in the form of a line for a shell.
    pub fn shell(&self, scenario: &str, seconds: u32) -> String {
        let words: Vec<String> =
            self.words(scenario, seconds).iter().map(|word| format!("'{word}'")).collect();
        words.join(" ")
    }

    /// Starts a scenario and waits until its program prints that it is ready.
    ///
    /// # Panics
    /// If the program ends before that.
    pub fn start(&self, folder: &Folder, scenario: &str, seconds: u32) -> Target {
        self.ready(folder, self.command(folder.path(), scenario, seconds))
    }

    /// Starts a scenario in a program with the objects of `programs/KnownGraph.cs`, and waits until
    /// it is ready.
    ///
    /// # Panics
    /// If [`Peer::start`] does.
    pub fn start_with_known_graph(&self, folder: &Folder, scenario: &str, seconds: u32) -> Target {
        self.start_with_hook(folder, "KnownGraph.dll", scenario, seconds)
    }

    /// Starts a program without enough threads in its thread pool (`programs/Starved.cs`), and
    /// waits until it is ready.
    ///
    /// # Panics
    /// If [`Peer::start`] does.
    pub fn start_starved(&self, folder: &Folder) -> Target {
        self.start_with_hook(folder, "Starved.dll", "sleep", 0)
    }

    fn start_with_hook(&self, folder: &Folder, hook: &str, scenario: &str, seconds: u32) -> Target {
        let hook = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs").join(hook);
        let mut command = self.command(folder.path(), scenario, seconds);
        command.env("DOTNET_STARTUP_HOOKS", hook);
        self.ready(folder, command)
    }

    fn ready(&self, folder: &Folder, mut command: Command) -> Target {
        let mut child = command.spawn().expect("the program starts");
        let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut line = String::new();
        output.read_line(&mut line).expect("its output can be read");
        assert!(line.starts_with("ready"), ".NET {}: {line:?}", self.major);
        Target { child, output, major: self.major, folder: folder.path().to_owned() }
    }
}

/// A temporary folder for a test. It is removed when this value is dropped. Its path is short,
/// because the path of a Unix socket is limited to about 100 bytes.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// Creates a folder with a unique name.
    ///
    /// # Panics
    /// If it cannot be created.
    #[expect(clippy::new_without_default, reason = "it makes a folder")]
    pub fn new() -> Folder {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("ntp-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("the folder for temporary files is writable");
        Folder(folder)
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Returns the path of a file in the folder, as text.
    pub fn file(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A running program. It is killed when this value is dropped.
#[derive(Debug)]
pub struct Target {
    child: Child,
    output: BufReader<ChildStdout>,
    /// Major version of the program's runtime.
    pub major: u32,
    folder: PathBuf,
}

impl Target {
    /// Returns the process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns the number of open sockets and files, to find out whether a client makes the runtime
    /// leak them.
    pub fn descriptor_count(&self) -> usize {
        self.held().len()
    }

    /// Returns the [`descriptors`] that count for a leak. Pipes, devices and files of `/proc` are
    /// left out, because a runtime opens more of these for its own use over time.
    fn held(&self) -> Vec<String> {
        let own = ["pipe:", "anon_inode:", "/dev/", "/proc/", "/memfd:"];
        let mut held = descriptors(self.pid());
        held.retain(|name| !own.iter().any(|start| name.starts_with(start)));
        held
    }

    /// Returns whether the program is still running.
    ///
    /// # Panics
    /// If the system cannot tell.
    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("it can be asked").is_none()
    }

    /// Sends the process a signal, whose name is given without `SIG`.
    ///
    /// # Panics
    /// If it cannot be sent.
    pub fn signal(&self, name: &str) {
        signal(self.pid(), name);
    }

    /// Freezes the process with SIGSTOP, and returns when every thread has stopped. The signal
    /// `CONT` lets it go on.
    ///
    /// # Panics
    /// If the process cannot be stopped.
    pub fn freeze(&self) {
        self.signal("STOP");
        let tasks = format!("/proc/{}/task", self.pid());
        let is_stopped = |entry: std::fs::DirEntry| {
            let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with('T'))
        };
        eventually("all threads stand still", || {
            std::fs::read_dir(&tasks).expect("it runs").flatten().all(is_stopped)
        });
    }

    /// Waits until the process has at most `before` descriptors. A runtime closes some of them a
    /// moment after it has replied.
    ///
    /// # Panics
    /// If the process has ended.
    pub fn assert_no_more_descriptors_than(&mut self, before: usize) {
        let what = format!(".NET {}: {before} descriptors, after {:#?}", self.major, self.held());
        eventually(&what, || self.descriptor_count() <= before || !self.is_running());
        assert!(self.is_running(), ".NET {} has ended", self.major);
    }

    /// Closes the program's standard input, which ends a program that runs without a time limit.
    pub fn close_input(&mut self) {
        drop(self.child.stdin.take());
    }

    /// Waits until the process ends.
    ///
    /// # Panics
    /// If the system cannot tell.
    pub fn wait(&mut self) -> ExitStatus {
        self.child.wait().expect("it can be waited for")
    }

    /// Closes the program's standard input and waits until the process ends.
    ///
    /// # Panics
    /// If the system cannot tell.
    pub fn finish(mut self) -> ExitStatus {
        self.close_input();
        let status = self.wait();
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).expect("its output is text");
        status
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        stuck::note(self);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns what the open file descriptors of a process refer to, such as `socket:[1234]`. Returns
/// nothing if there is no such process. Assemblies are left out, because a .NET program opens more
/// of them over time.
pub fn descriptors(pid: u32) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return Vec::new() };
    // A descriptor that was closed meanwhile has no link.
    let links = entries.flatten().filter_map(|entry| std::fs::read_link(entry.path()).ok());
    links.map(|link| link.display().to_string()).filter(|link| !link.ends_with(".dll")).collect()
}

/// Returns the number of [`descriptors`] of a process.
pub fn descriptor_count(pid: u32) -> usize {
    descriptors(pid).len()
}

/// Returns the number of threads of a process, or 0 if there is no such process.
pub fn thread_count(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count)
}

/// Sends a process a signal, whose name is given without `SIG`.
///
/// # Panics
/// If it cannot be sent.
pub fn signal(pid: u32, name: &str) {
    let status = Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status();
    assert!(status.is_ok_and(|status| status.success()), "SIG{name} to {pid}");
}
