//! Starts a program so that it can be recorded from its very first event.
//!
//! The program starts with `DOTNET_DiagnosticPorts` set to a port of this process, so its runtime
//! waits to be resumed. Its children inherit the variable and wait, too; they are resumed at once,
//! or returned like the program itself.

use crate::command::process::SetEnvironmentVariable;
use crate::deadlines::Deadlines;
use crate::endpoint::Made;
use crate::error::{Error, Step};
use crate::port::{Arrival, Port, PortAddress, PortOptions, Resumer};
use crate::transcript::Recorder;
use std::ffi::{OsStr, OsString};
use std::fs::DirBuilder;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

const VARIABLE: &str = "DOTNET_DiagnosticPorts";
/// Interval at which it is checked whether a program that has not connected yet has ended.
const ARRIVAL_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// What happens to further .NET processes that the program starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Children {
    /// The first runtime that connects is returned, and all others are resumed at once. The
    /// variable is removed from the first one's environment before it runs, so that its own
    /// children start normally.
    Resume,
    /// All runtimes are returned, and each waits until the caller resumes it.
    GiveOut,
}

/// A program that is about to be started.
#[derive(Debug)]
pub struct Launch {
    command: Command,
    children: Children,
    deadlines: Deadlines,
    recorder: Option<Recorder>,
    linger: Duration,
}

impl Launch {
    /// Prepares to start a command. The caller chooses its arguments, directory, environment and
    /// standard streams.
    pub fn new(command: Command) -> Self {
        Launch {
            command,
            children: Children::Resume,
            deadlines: Deadlines::default(),
            recorder: None,
            linger: Duration::from_secs(2),
        }
    }

    /// Sets what happens to further .NET processes that the program starts.
    #[must_use]
    pub fn children(mut self, children: Children) -> Self {
        self.children = children;
        self
    }

    /// Sets the deadlines for commands to the runtimes.
    #[must_use]
    pub fn deadlines(mut self, deadlines: Deadlines) -> Self {
        self.deadlines = deadlines;
        self
    }

    /// Sets the recorder, which records all connections.
    #[must_use]
    pub fn recorder(mut self, recorder: Recorder) -> Self {
        self.recorder = Some(recorder);
        self
    }

    /// Sets the maximum time to wait, after the end of the program, for its processes that have not
    /// connected to the port yet. The default is 2 s.
    #[must_use]
    pub fn linger(mut self, linger: Duration) -> Self {
        self.linger = linger;
        self
    }

    /// Opens a port and starts the program.
    ///
    /// # Errors
    /// [`Error::Io`] if the program cannot be started, or the port cannot be opened.
    pub fn spawn(mut self) -> Result<Launched, Error> {
        let directory = PrivateDirectory::new()?;
        let address = PortAddress::parse(&directory.address())?;
        let options = PortOptions {
            deadlines: self.deadlines,
            recorder: self.recorder.take(),
            ..PortOptions::default()
        };
        let port = Port::listen(&address, options)?;
        let given = self.command.get_envs().find(|(name, _)| *name == OsStr::new(VARIABLE));
        let before = match given {
            Some((_, value)) => value.map(OsStr::to_owned),
            None => std::env::var_os(VARIABLE),
        };
        // The port of another tool stays in the variable.
        let mut value = OsString::new();
        if let Some(before) = before.as_deref().filter(|before| !before.is_empty()) {
            value.push(before);
            value.push(";");
        }
        value.push(port.address());
        self.command.env(VARIABLE, value);
        let child =
            self.command.spawn().map_err(|source| Error::Io { step: Step::Launch, source })?;
        Ok(Launched(Some(RunningProgram {
            child,
            port,
            _directory: directory,
            before,
            children: self.children,
            linger: self.linger,
            status: None,
            given_out: 0,
        })))
    }
}

/// A program started by [`Launch`].
///
/// Dropping this value does not end the program. Every waiting runtime is resumed, and as long as
/// the program and this process run, a thread resumes runtimes that arrive later.
///
/// ```no_run
/// use std::time::Duration;
/// use nettrace_ipc::{Launch, Provider, Providers, SessionConfig};
/// let mut command = std::process::Command::new("dotnet");
/// command.arg("app.dll");
/// let mut launched = Launch::new(command).spawn()?;
/// if let Some(arrival) = launched.next(Duration::from_secs(10))? {
///     let providers = Providers::new([Provider::new("Microsoft-Windows-DotNETRuntime")?])?;
///     let mut session = arrival.runtime.start(&SessionConfig::new(providers))?;
///     arrival.runtime.resume()?;
///     std::io::copy(&mut session, &mut std::fs::File::create("app.nettrace")?)?;
/// }
/// println!("{}", launched.wait()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Launched(Option<RunningProgram>);

#[derive(Debug)]
struct RunningProgram {
    child: Child,
    // The port is dropped before its directory.
    port: Port,
    _directory: PrivateDirectory,
    before: Option<OsString>,
    children: Children,
    linger: Duration,
    status: Option<ExitStatus>,
    given_out: u32,
}

impl Launched {
    /// Returns the program's process id.
    pub fn pid(&self) -> Option<u32> {
        self.0.as_ref().map(|running| running.child.id())
    }

    /// Returns the child process. The child has those standard streams that the caller made pipes.
    pub fn child(&mut self) -> Option<&mut Child> {
        self.0.as_mut().map(|running| &mut running.child)
    }

    /// Returns the next runtime to trace, which waits until it is resumed. With
    /// [`Children::Resume`] that is only the first runtime. Returns `None` if no runtime connected
    /// in time, or if the program ended without one, because it is no .NET program or its
    /// diagnostics are switched off.
    ///
    /// # Errors
    /// The system does not report whether the program runs.
    pub fn next(&mut self, wait: Duration) -> Result<Option<Arrival>, Error> {
        let Some(running) = &mut self.0 else { return Ok(None) };
        if running.children == Children::Resume && running.given_out > 0 {
            return Ok(None);
        }
        let start = Instant::now();
        loop {
            let left = wait.saturating_sub(start.elapsed());
            if let Some(arrival) = running.port.next(left.min(ARRIVAL_CHECK_INTERVAL)) {
                running.given_out = running.given_out.saturating_add(1);
                if running.children == Children::Resume {
                    running.port.resume_newcomers();
                    running.take_back(&arrival);
                }
                return Ok(Some(arrival));
            }
            let over = left.is_zero() || (running.has_ended()? && !running.is_awaited());
            if over {
                return Ok(None);
            }
        }
    }

    /// Takes the ids of the program's .NET processes that were resumed without being returned, as
    /// [`Port::let_go`] does.
    pub fn let_go(&self) -> Vec<u64> {
        self.0.as_ref().map_or_else(Vec::new, |running| running.port.let_go())
    }

    /// Returns the number of runtimes that were resumed because descriptors ran out, as
    /// [`Port::turned_away`] does.
    pub fn turned_away(&self) -> u64 {
        self.0.as_ref().map_or(0, |running| running.port.turned_away())
    }

    /// Returns a handle with which another thread can resume every process that the
    /// program has started.
    pub fn resumer(&self) -> Option<Resumer> {
        self.0.as_ref().map(|running| running.port.resumer())
    }

    /// Returns whether the program has ended. On Linux, its process stays until
    /// [`Launched::try_wait`] or [`Launched::wait`], so what the system says about it can be read.
    ///
    /// # Errors
    /// The system does not report it.
    pub fn has_ended(&mut self) -> Result<bool, Error> {
        self.0.as_mut().map_or(Ok(false), RunningProgram::has_ended)
    }

    /// Returns how the program ended, if it has ended.
    ///
    /// # Errors
    /// The system does not report it.
    pub fn try_wait(&mut self) -> Result<Option<ExitStatus>, Error> {
        self.0.as_mut().map_or(Ok(None), RunningProgram::exited)
    }

    /// Resumes all processes that start from now on, even with [`Children::GiveOut`]. Call this if
    /// you will not call [`Launched::next`] any more, but do not wait for the program's end with
    /// [`Launched::wait`] yet.
    pub fn resume_newcomers(&self) {
        if let Some(running) = &self.0 {
            running.port.resume_newcomers();
        }
    }

    /// Waits for the end of the program. Processes that start from now on are resumed, even with
    /// [`Children::GiveOut`], so call this when you do not call [`Launched::next`] any more.
    ///
    /// # Errors
    /// The system does not report how the program ended.
    pub fn wait(&mut self) -> Result<ExitStatus, Error> {
        let Some(running) = &mut self.0 else {
            return Err(Error::Gone { step: Step::Launch });
        };
        running.port.resume_newcomers();
        if let Some(status) = running.status {
            return Ok(status);
        }
        let status =
            running.child.wait().map_err(|source| Error::Io { step: Step::Launch, source })?;
        running.status = Some(status);
        Ok(status)
    }
}

impl RunningProgram {
    #[cfg(target_os = "linux")]
    fn has_ended(&mut self) -> Result<bool, Error> {
        use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let Some(pid) = pid.filter(|_| self.status.is_none()) else { return Ok(true) };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(pid), options) {
            Ok(ended) => Ok(ended.is_some()),
            Err(source) => Err(Error::Io { step: Step::Launch, source: source.into() }),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn has_ended(&mut self) -> Result<bool, Error> {
        Ok(self.exited()?.is_some())
    }

    fn exited(&mut self) -> Result<Option<ExitStatus>, Error> {
        if self.status.is_none() {
            self.status =
                self.child.try_wait().map_err(|source| Error::Io { step: Step::Launch, source })?;
        }
        Ok(self.status)
    }

    /// Removes the port from the program's environment, so that its children start normally. .NET 5
    /// cannot do that; its children are resumed like others.
    fn take_back(&self, arrival: &Arrival) {
        let before = self.before.as_deref().and_then(OsStr::to_str);
        let variable = match before {
            Some(value) => SetEnvironmentVariable::set(VARIABLE, value),
            None => SetEnvironmentVariable::unset(VARIABLE),
        };
        if let Ok(variable) = variable {
            drop(arrival.runtime.set_environment_variable(&variable));
        }
    }

    /// Returns whether a process is running that has the port in its environment and has not
    /// connected yet.
    #[cfg(target_os = "linux")]
    fn is_awaited(&self) -> bool {
        let resumed = self.port.resumed_pids();
        crate::discover::processes_with_environment(self.port.address())
            .into_iter()
            .any(|pid| !resumed.contains(&u64::from(pid)))
    }

    #[cfg(not(target_os = "linux"))]
    fn is_awaited(&self) -> bool {
        true
    }

    /// Waits for processes that may still connect to the port, so that none is left
    /// suspended.
    fn linger(&self) {
        let start = Instant::now();
        while start.elapsed() < self.linger && self.is_awaited() {
            std::thread::sleep(ARRIVAL_CHECK_INTERVAL.min(self.linger));
        }
    }
}

impl Drop for Launched {
    fn drop(&mut self) {
        let Some(mut running) = self.0.take() else { return };
        running.port.resume_everyone();
        if matches!(running.exited(), Ok(Some(_))) {
            running.linger();
            return;
        }
        let guard =
            std::thread::Builder::new().name("nettrace-launch".to_owned()).spawn(move || {
                // The port is needed until the program has ended, whatever its exit code.
                drop(running.child.wait());
                running.linger();
            });
        // Without a thread the port closes here, after it has resumed every process that it knows.
        drop(guard);
    }
}

/// A directory for the port's socket. Only the owner can enter it.
#[derive(Debug)]
struct PrivateDirectory {
    path: PathBuf,
    // Dropped after the directory has been removed, which takes it off the list of files.
    _made: Made,
}

impl PrivateDirectory {
    fn new() -> Result<Self, Error> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let mut last = std::io::Error::other("no directory for the port");
        // A long TMPDIR leaves no room for the socket's name, so /tmp comes second.
        for parent in [std::env::temp_dir(), PathBuf::from("/tmp")] {
            for _ in 0..16 {
                let number = COUNT.fetch_add(1, Ordering::Relaxed);
                let path = parent.join(format!("nettrace-{}-{number}", std::process::id()));
                if path.as_os_str().len() > 90 {
                    break;
                }
                match private(&path) {
                    Ok(()) => {
                        let made = Made::at(&path);
                        return Ok(PrivateDirectory { path, _made: made });
                    }
                    Err(error) => last = error,
                }
            }
        }
        Err(Error::Io { step: Step::Listen, source: last })
    }

    /// Returns the port's address: a socket in the directory, or a pipe with the name of the
    /// directory.
    fn address(&self) -> String {
        let name = if cfg!(windows) {
            self.path.file_name().map(PathBuf::from).unwrap_or_default()
        } else {
            self.path.join("port")
        };
        name.to_string_lossy().into_owned()
    }
}

fn private(path: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        DirBuilder::new().mode(0o700).create(path)
    }
    #[cfg(not(unix))]
    DirBuilder::new().create(path)
}

impl Drop for PrivateDirectory {
    fn drop(&mut self) {
        // A directory that cannot be removed does no harm.
        drop(std::fs::remove_dir_all(&self.path));
    }
}
