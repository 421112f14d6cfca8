//! The runtime of a process, to which all commands can be sent.

use crate::arrived::Line;
use crate::command::Command;
use crate::command::dump::{Dump, DumpCommand, DumpRequest};
use crate::command::process::{
    DisablePerfMap, PerfMapType, ProcessEnvironment, ResumeRuntime, SetEnvironmentVariable,
    StartupHook, Variable, read_environment,
};
use crate::command::process_info::{ProcessInfo, ProcessInfoCommand};
use crate::command::profiler::{AttachProfiler, StartupProfiler};
use crate::command::raw::RawCommand;
use crate::command::sealed::Sealed;
use crate::connection::Connection;
use crate::deadlines::{Deadline, Deadlines};
use crate::endpoint::Endpoint;
use crate::error::{Error, ReplyFault};
use crate::startup::{NamedPort, Startup, named_ports, startup_from, suspends_at_startup};
use crate::transcript::Recorder;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Maximum size of the environment that a process may report, in bytes.
const MAX_ENVIRONMENT_BYTES: u32 = 64 << 20;

/// A runtime that is reached through its endpoint or through a [`Port`](crate::Port). It is cheap
/// to clone.
///
/// Each command opens one connection, sends its request in one write, reads the reply and closes.
///
/// ```no_run
/// use nettrace_ipc::{Endpoint, Runtime};
/// let runtime = Runtime::new(Endpoint::socket("/tmp/dotnet-diagnostic-4711-402349-socket"));
/// let info = runtime.info()?;
/// println!("{} on {}", info.command_line, info.product_version.as_deref().unwrap_or("?"));
/// # Ok::<(), nettrace_ipc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Runtime {
    route: Route,
    deadlines: Deadlines,
    recorder: Option<Recorder>,
    root: PathBuf,
}

#[derive(Clone, Debug)]
enum Route {
    Endpoint(Endpoint),
    Line(Arc<Line>),
}

impl Runtime {
    /// Makes a runtime that is reached at an endpoint. It does not connect yet.
    pub fn new(endpoint: Endpoint) -> Self {
        Runtime {
            route: Route::Endpoint(endpoint),
            deadlines: Deadlines::default(),
            recorder: None,
            root: PathBuf::from("/"),
        }
    }

    pub(crate) fn on_line(line: Line, deadlines: Deadlines, recorder: Option<Recorder>) -> Self {
        Runtime {
            route: Route::Line(Arc::new(line)),
            deadlines,
            recorder,
            root: PathBuf::from("/"),
        }
    }

    /// Sets the deadlines for commands.
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

    /// Sets the root directory of the process, under which its files are found, such as
    /// `/proc/PID/root`.
    #[must_use]
    pub fn root(mut self, root: impl Into<PathBuf>) -> Self {
        self.root = root.into();
        self
    }

    /// Returns the deadlines that apply to commands.
    pub fn current_deadlines(&self) -> &Deadlines {
        &self.deadlines
    }

    /// Returns the endpoint, or `None` if the runtime connected to a port.
    pub fn endpoint(&self) -> Option<&Endpoint> {
        match &self.route {
            Route::Endpoint(endpoint) => Some(endpoint),
            Route::Line(_) => None,
        }
    }

    /// Opens a connection. A request must be sent at once.
    pub(crate) fn connect(&self) -> Result<Connection, Error> {
        self.connect_within(self.deadlines.connect)
    }

    pub(crate) fn connect_within(&self, limit: Duration) -> Result<Connection, Error> {
        match &self.route {
            Route::Endpoint(endpoint) => {
                let wire = endpoint.connect(limit)?;
                let tap = self
                    .recorder
                    .as_ref()
                    .map(|recorder| recorder.open(&format!("connect {endpoint}")));
                Ok(Connection::new(wire, tap))
            }
            Route::Line(line) => line.take(limit),
        }
    }

    pub(crate) fn call<C: Command>(&self, command: &C) -> Result<C::Success, Error> {
        self.call_within(command, self.deadlines.for_reply(command.patience()))
    }

    fn call_within<C: Command>(&self, command: &C, reply: Duration) -> Result<C::Success, Error> {
        // A request that cannot be built must not leave a silent connection open.
        command.message()?;
        let mut connection = self.connect()?;
        let result = connection.exchange(command, self.deadlines.connect, reply);
        connection.close();
        result
    }

    /// Reads information about the process by ProcessInfo3, 2 or 1, whichever the runtime supports.
    ///
    /// # Errors
    /// [`Error::Refused`] with UNKNOWN_COMMAND from .NET Core 3.1 and older, which have none of
    /// them; the errors of any command.
    pub fn info(&self) -> Result<ProcessInfo, Error> {
        for command in [ProcessInfoCommand::V3, ProcessInfoCommand::V2] {
            match self.info_by(command) {
                Err(error) if error.is_unknown_command() => {}
                result => return result,
            }
        }
        self.info_by(ProcessInfoCommand::V1)
    }

    /// Reads information about the process by the given version of the command.
    ///
    /// # Errors
    /// The errors of [`Runtime::info`].
    pub fn info_by(&self, command: ProcessInfoCommand) -> Result<ProcessInfo, Error> {
        self.call(&command)
    }

    /// Reads the environment variables of the process, in their order.
    ///
    /// # Errors
    /// The runtime refuses, its reply is invalid, or a deadline passes.
    pub fn environment(&self) -> Result<Vec<Variable>, Error> {
        let mut connection = self.connect()?;
        let result = self.read_environment(&mut connection);
        connection.close();
        result
    }

    fn read_environment(&self, connection: &mut Connection) -> Result<Vec<Variable>, Error> {
        let command = ProcessEnvironment.id();
        let announced = connection.exchange(
            &ProcessEnvironment,
            self.deadlines.connect,
            self.deadlines.reply,
        )?;
        if announced > MAX_ENVIRONMENT_BYTES {
            let (announced, limit) = (u64::from(announced), u64::from(MAX_ENVIRONMENT_BYTES));
            return Err(Error::Reply {
                command,
                fault: ReplyFault::Limit { field: "environment", announced, limit },
            });
        }
        let bytes = usize::try_from(announced).unwrap_or(usize::MAX);
        let continuation =
            connection.continuation(command, bytes, Deadline::after(self.deadlines.reply))?;
        read_environment(&continuation).map_err(|fault| Error::Reply { command, fault })
    }

    /// Sets or removes an environment variable of the process.
    ///
    /// # Errors
    /// The runtime refuses, with 0x800700CB if a variable to remove does not exist.
    pub fn set_environment_variable(&self, variable: &SetEnvironmentVariable) -> Result<(), Error> {
        self.call(variable)
    }

    /// Resumes a runtime that waits at startup. If it waits for a port, it must be resumed over
    /// that port. A running runtime is not affected. A runtime that does not know the command never
    /// waits, so its refusal counts as a success.
    ///
    /// # Errors
    /// The reply is invalid, or a deadline passes.
    pub fn resume(&self) -> Result<(), Error> {
        let resuming = match &self.route {
            Route::Line(line) => Some(line.resuming()),
            _ => None,
        };
        let result = match self.call(&ResumeRuntime) {
            Err(error) if error.is_unknown_command() => Ok(()),
            result => result,
        };
        if let (Some(resuming), Ok(())) = (resuming, &result) {
            resuming.done();
        }
        result
    }

    /// Returns whether the runtime still waits at startup. The answer follows from its environment
    /// and its command line, which has no assembly and arguments until it starts.
    ///
    /// # Errors
    /// The errors of [`Runtime::info`] and [`Runtime::environment`].
    pub fn startup(&self) -> Result<Startup, Error> {
        let info = match self.info() {
            Err(error) if error.is_unknown_command() => return Ok(Startup::Running),
            result => result?,
        };
        self.startup_of(&info)
    }

    /// Returns the ports that the environment of the process names. A runtime that waits at startup
    /// waits for each of them that suspends.
    ///
    /// # Errors
    /// The errors of [`Runtime::environment`].
    pub fn named_ports(&self) -> Result<Vec<NamedPort>, Error> {
        Ok(named_ports(&self.environment()?))
    }

    /// Returns whether the runtime still waits at startup, as [`Runtime::startup`] does, but from
    /// information that was read before.
    ///
    /// # Errors
    /// The errors of [`Runtime::environment`].
    pub fn startup_of(&self, info: &ProcessInfo) -> Result<Startup, Error> {
        // A runtime that connected to a port may wait for its resume, whatever its environment is
        // by now.
        if matches!(&self.route, Route::Line(line) if !line.is_resumed()) {
            return Ok(startup_from(info, true));
        }
        let environment = match self.environment() {
            Err(error) if error.is_unknown_command() => return Ok(Startup::PerhapsSuspended),
            result => result?,
        };
        Ok(startup_from(info, suspends_at_startup(&environment)))
    }

    /// Makes the runtime write files for `perf`. Its version and state are read first, because .NET
    /// 8 or 9 would crash if it still waits at startup.
    ///
    /// # Errors
    /// [`Error::Harmful`] if the runtime would crash, or the runtime refuses.
    pub fn enable_perf_map(&self, kind: PerfMapType) -> Result<(), Error> {
        let info = self.info()?;
        let fragile = info.version().is_none_or(|version| version.major < 10);
        let startup = if fragile { self.startup_of(&info)? } else { Startup::Running };
        if startup != Startup::Running {
            let reason = format!(
                "{} runtime {}, and versions below 10 crash on this command before they have started; resume it first",
                if startup == Startup::Suspended {
                    "this suspended"
                } else {
                    "this perhaps suspended"
                },
                info.product_version.as_deref().unwrap_or("of unknown version"),
            );
            return Err(Error::Harmful { command: kind.id(), reason });
        }
        self.call(&kind)
    }

    /// Makes the runtime stop writing the files of [`Runtime::enable_perf_map`].
    ///
    /// # Errors
    /// The runtime refuses.
    pub fn disable_perf_map(&self) -> Result<(), Error> {
        self.call(&DisablePerfMap)
    }

    /// Runs a startup hook in the process, and returns when it has run.
    ///
    /// # Errors
    /// [`Error::Request`] if the file does not exist any more, or the runtime refuses.
    pub fn apply_startup_hook(&self, hook: &StartupHook) -> Result<(), Error> {
        hook.check(&self.root)?;
        self.call(hook)
    }

    /// Makes the target write a dump by GenerateCoreDump3, 2 or 1. Returns the version that was
    /// used.
    ///
    /// # Errors
    /// The runtime refuses, with its reason if it has GenerateCoreDump3; [`Error::Request`] if it
    /// has only GenerateCoreDump, which cannot express an option; [`Error::Harmful`] if the runtime
    /// lacks the program that writes dumps, which is checked on Linux if the process is known.
    pub fn write_dump(&self, dump: &Dump) -> Result<DumpCommand, Error> {
        for command in [DumpCommand::V3, DumpCommand::V2] {
            match self.write_dump_by(dump, command) {
                Err(error) if error.is_unknown_command() => {}
                result => return result.map(|()| command),
            }
        }
        self.write_dump_by(dump, DumpCommand::V1).map(|()| DumpCommand::V1)
    }

    /// Makes the target write a dump by the given version of the command.
    ///
    /// # Errors
    /// The errors of [`Runtime::write_dump`].
    pub fn write_dump_by(&self, dump: &Dump, command: DumpCommand) -> Result<(), Error> {
        #[cfg(target_os = "linux")]
        if let Some(reason) =
            self.endpoint().and_then(Endpoint::pid).and_then(crate::proc::no_createdump)
        {
            let command = DumpRequest { dump, command }.id();
            return Err(Error::Harmful { command, reason });
        }
        self.call(&DumpRequest { dump, command })
    }

    /// Loads a profiler into the running process.
    ///
    /// # Errors
    /// The runtime refuses: with 0x8013135B while it waits at startup, with 0x8007007E for a wrong
    /// path.
    pub fn attach_profiler(&self, profiler: &AttachProfiler) -> Result<(), Error> {
        let patience =
            self.deadlines.for_reply(profiler.patience()).saturating_add(profiler.own_timeout());
        self.call_within(profiler, patience)
    }

    /// Names a profiler that the runtime loads when it starts. A runtime that is running already is
    /// not affected.
    ///
    /// # Errors
    /// The runtime refuses.
    pub fn startup_profiler(&self, profiler: &StartupProfiler) -> Result<(), Error> {
        self.call(profiler)
    }

    /// Sends a command whose bytes are not checked, and returns the reply's payload. **It can kill
    /// the target.**
    ///
    /// # Errors
    /// The runtime refuses, its reply is invalid, or a deadline passes.
    pub fn send_unchecked(&self, command: &RawCommand) -> Result<Vec<u8>, Error> {
        self.call(command)
    }

    /// Returns the root directory through which this process sees the target's files.
    pub fn target_root(&self) -> &Path {
        &self.root
    }
}
