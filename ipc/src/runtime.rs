//! A runtime that can be reached, and every command to it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::command::Command;
use crate::command::collect::{CollectCommand, Lost, SessionConfig, read_session_id};
use crate::command::dump::{Dump, DumpCommand, DumpRequest};
use crate::command::process::{
    DisablePerfMap, PerfMapType, ProcessEnvironment, ResumeRuntime, SetEnvironmentVariable, StartupHook,
    Variable, read_environment,
};
use crate::command::process_info::{ProcessInfo, ProcessInfoCommand};
use crate::command::profiler::{AttachProfiler, StartupProfiler};
use crate::command::raw::RawCommand;
use crate::command::sealed::Sealed;
use crate::connection::Connection;
use crate::deadlines::{Deadline, Deadlines};
use crate::endpoint::Endpoint;
use crate::error::{Error, ReplyFault, Step};
use crate::port::Line;
use crate::session::Session;
use crate::transcript::Recorder;

/// Most bytes of environment we take from a process.
const MAX_ENVIRONMENT_BYTES: u32 = 64 << 20;
/// How long a start that was given up is looked after.
const LATE: Duration = Duration::from_secs(600);

/// A runtime, reached through its endpoint or through a port of ours. Cheap to clone.
///
/// Each command opens one connection, sends its request in one write, reads the reply and closes.
///
/// ```no_run
/// use nettrace_ipc::{Endpoint, Runtime};
/// let runtime = Runtime::at(Endpoint::socket("/tmp/dotnet-diagnostic-4711-402349-socket"));
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

/// How far the start of a runtime has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Startup {
    /// Managed code runs.
    Running,
    /// It waits for a resume.
    Suspended,
    /// It is told to wait at startup, and nothing tells whether it still does.
    PerhapsSuspended,
}

impl Runtime {
    /// The runtime behind that endpoint. Does no I/O.
    pub fn at(endpoint: Endpoint) -> Self {
        Runtime {
            route: Route::Endpoint(endpoint),
            deadlines: Deadlines::default(),
            recorder: None,
            root: PathBuf::from("/"),
        }
    }

    pub(crate) fn on_line(line: Line, deadlines: Deadlines, recorder: Option<Recorder>) -> Self {
        Runtime { route: Route::Line(Arc::new(line)), deadlines, recorder, root: PathBuf::from("/") }
    }

    /// With other deadlines.
    #[must_use]
    pub fn deadlines(mut self, deadlines: Deadlines) -> Self {
        self.deadlines = deadlines;
        self
    }

    /// With all connections recorded.
    #[must_use]
    pub fn recorder(mut self, recorder: Recorder) -> Self {
        self.recorder = Some(recorder);
        self
    }

    /// For a process with another root directory: `/proc/PID/root` makes its files visible.
    #[must_use]
    pub fn root(mut self, root: impl Into<PathBuf>) -> Self {
        self.root = root.into();
        self
    }

    /// The deadlines in force.
    pub fn current_deadlines(&self) -> &Deadlines {
        &self.deadlines
    }

    /// The endpoint, unless the runtime came to a port of ours.
    pub fn endpoint(&self) -> Option<&Endpoint> {
        match &self.route {
            Route::Endpoint(endpoint) => Some(endpoint),
            Route::Line(_) => None,
        }
    }

    /// A connection, which must be used at once.
    pub(crate) fn connect(&self) -> Result<Connection, Error> {
        match &self.route {
            Route::Endpoint(endpoint) => {
                let wire = endpoint.connect(self.deadlines.connect)?;
                let tap =
                    self.recorder.as_ref().map(|recorder| recorder.open(&format!("connect {endpoint}")));
                Ok(Connection::new(wire, tap))
            }
            Route::Line(line) => line.take(self.deadlines.connect),
        }
    }

    fn call<C: Command>(&self, command: &C) -> Result<C::Success, Error> {
        self.call_within(command, self.deadlines.of(command.patience()))
    }

    fn call_within<C: Command>(&self, command: &C, reply: Duration) -> Result<C::Success, Error> {
        // A request that cannot be built must not leave a silent connection behind.
        command.message()?;
        let mut connection = self.connect()?;
        let result = connection.exchange(command, self.deadlines.connect, reply);
        connection.close();
        result
    }

    /// Who is there: ProcessInfo3, or 2, or 1, whichever the runtime has.
    ///
    /// # Errors
    /// [`Error::Refused`] with UNKNOWN_COMMAND from .NET Core 3.1 and older, which have none of them;
    /// and whatever can happen on the way.
    pub fn info(&self) -> Result<ProcessInfo, Error> {
        match self.info_by(ProcessInfoCommand::V3) {
            Err(error) if error.is_unknown_command() => {}
            result => return result,
        }
        match self.info_by(ProcessInfoCommand::V2) {
            Err(error) if error.is_unknown_command() => self.info_by(ProcessInfoCommand::V1),
            result => result,
        }
    }

    /// Who is there, by one of the three commands.
    ///
    /// # Errors
    /// As for [`Runtime::info`].
    pub fn info_by(&self, command: ProcessInfoCommand) -> Result<ProcessInfo, Error> {
        self.call(&command)
    }

    /// The environment of the process, in its own order.
    ///
    /// # Errors
    /// A refusal, an unbelievable reply, a deadline.
    pub fn environment(&self) -> Result<Vec<Variable>, Error> {
        let mut connection = self.connect()?;
        let result = self.read_environment(&mut connection);
        connection.close();
        result
    }

    fn read_environment(&self, connection: &mut Connection) -> Result<Vec<Variable>, Error> {
        let command = ProcessEnvironment.id();
        let announced =
            connection.exchange(&ProcessEnvironment, self.deadlines.connect, self.deadlines.reply)?;
        if announced > MAX_ENVIRONMENT_BYTES {
            let (announced, limit) = (u64::from(announced), u64::from(MAX_ENVIRONMENT_BYTES));
            return Err(Error::Reply {
                command,
                fault: ReplyFault::Limit { field: "environment", announced, limit },
            });
        }
        let bytes = usize::try_from(announced).unwrap_or(usize::MAX);
        let continuation = connection.continuation(command, bytes, Deadline::after(self.deadlines.reply))?;
        read_environment(&continuation).map_err(|fault| Error::Reply { command, fault })
    }

    /// Sets or unsets a variable.
    ///
    /// # Errors
    /// A refusal: unsetting what is not set is 0x800700CB.
    pub fn set_environment_variable(&self, variable: &SetEnvironmentVariable) -> Result<(), Error> {
        self.call(variable)
    }

    /// Lets a runtime that waits at startup go on, as far as this route is concerned: one that waits for
    /// a port goes on only when told over that port. Does nothing to a runtime that runs. A runtime
    /// without the command never waits, which is a success too.
    ///
    /// # Errors
    /// An unbelievable reply, a deadline.
    pub fn resume(&self) -> Result<(), Error> {
        if let Route::Line(line) = &self.route {
            line.resuming();
        }
        let result = match self.call(&ResumeRuntime) {
            Err(error) if error.is_unknown_command() => Ok(()),
            result => result,
        };
        if let (Route::Line(line), Err(_)) = (&self.route, &result) {
            line.resume_failed();
        }
        result
    }

    /// Whether the runtime still waits at startup, as far as it lets us know: by what it is told to do in
    /// its environment, and by its command line, which lacks assembly and arguments until it starts.
    ///
    /// # Errors
    /// Those of [`Runtime::info`] and [`Runtime::environment`].
    pub fn startup(&self) -> Result<Startup, Error> {
        let info = match self.info() {
            Err(error) if error.is_unknown_command() => return Ok(Startup::Running),
            result => result?,
        };
        self.startup_of(&info)
    }

    /// As [`Runtime::startup`], for a runtime whose information is at hand.
    ///
    /// # Errors
    /// Those of [`Runtime::environment`].
    pub fn startup_of(&self, info: &ProcessInfo) -> Result<Startup, Error> {
        // Whoever came to our port may wait for our resume, whatever its environment says by now.
        if matches!(&self.route, Route::Line(line) if !line.is_resumed()) {
            return Ok(startup_from(info, true));
        }
        let environment = match self.environment() {
            Err(error) if error.is_unknown_command() => return Ok(Startup::PerhapsSuspended),
            result => result?,
        };
        Ok(startup_from(info, told_to_suspend(&environment)))
    }

    /// Writes files for `perf`. First asks for version and state, since an 8 or 9 that still waits at
    /// startup dies of the command.
    ///
    /// # Errors
    /// [`Error::Harmful`] in that case; a refusal.
    pub fn enable_perf_map(&self, kind: PerfMapType) -> Result<(), Error> {
        let info = self.info()?;
        let fragile = info.version().is_none_or(|version| version.major < 10);
        let startup = if fragile { self.startup_of(&info)? } else { Startup::Running };
        if startup != Startup::Running {
            let reason = format!(
                "{} runtime {}, and versions below 10 die of this command before they have started; resume it first",
                if startup == Startup::Suspended { "this suspended" } else { "this perhaps suspended" },
                info.product_version.as_deref().unwrap_or("of unknown version"),
            );
            return Err(Error::Harmful { command: kind.id(), reason });
        }
        self.call(&kind)
    }

    /// Ends what [`Runtime::enable_perf_map`] began.
    ///
    /// # Errors
    /// A refusal.
    pub fn disable_perf_map(&self) -> Result<(), Error> {
        self.call(&DisablePerfMap)
    }

    /// Runs a startup hook in the process; returns after it ran.
    ///
    /// # Errors
    /// [`Error::Request`] if the file is no longer there; a refusal.
    pub fn apply_startup_hook(&self, hook: &StartupHook) -> Result<(), Error> {
        hook.check(&self.root)?;
        self.call(hook)
    }

    /// Lets the target write a dump: GenerateCoreDump3, or 2, or 1. Tells which.
    ///
    /// # Errors
    /// A refusal, with the target's own words where it has the third command; [`Error::Request`] if only
    /// the first is there and cannot carry an option; [`Error::Harmful`] if the runtime lacks the program
    /// that writes dumps (looked for on Linux, where it is known which process it is).
    pub fn write_dump(&self, dump: &Dump) -> Result<DumpCommand, Error> {
        for command in [DumpCommand::V3, DumpCommand::V2] {
            match self.write_dump_by(dump, command) {
                Err(error) if error.is_unknown_command() => {}
                result => return result.map(|()| command),
            }
        }
        self.write_dump_by(dump, DumpCommand::V1).map(|()| DumpCommand::V1)
    }

    /// Lets the target write a dump, by one of the three commands.
    ///
    /// # Errors
    /// As for [`Runtime::write_dump`].
    pub fn write_dump_by(&self, dump: &Dump, command: DumpCommand) -> Result<(), Error> {
        #[cfg(target_os = "linux")]
        if let Some(reason) = self.endpoint().and_then(Endpoint::pid).and_then(crate::discover::no_createdump)
        {
            let command = DumpRequest { dump, command }.id();
            return Err(Error::Harmful { command, reason });
        }
        self.call(&DumpRequest { dump, command })
    }

    /// Loads a profiler into the running process.
    ///
    /// # Errors
    /// A refusal: while the runtime waits at startup 0x8013135B, for a bad path 0x8007007E.
    pub fn attach_profiler(&self, profiler: &AttachProfiler) -> Result<(), Error> {
        let patience = self.deadlines.of(profiler.patience()).saturating_add(profiler.own_timeout());
        self.call_within(profiler, patience)
    }

    /// Names a profiler to be loaded at startup. Without effect on a runtime that runs already.
    ///
    /// # Errors
    /// A refusal.
    pub fn startup_profiler(&self, profiler: &StartupProfiler) -> Result<(), Error> {
        self.call(profiler)
    }

    /// Sends a command whose bytes nobody vouches for; gives the reply's payload. **It can kill the
    /// target.**
    ///
    /// # Errors
    /// A refusal, an unbelievable reply, a deadline.
    pub fn send_unchecked(&self, command: &RawCommand) -> Result<Vec<u8>, Error> {
        self.call(command)
    }

    /// Starts a session with the lowest command that says all of the configuration. If the runtime does
    /// not know it, the next lower one is tried; [`Session::lost`] tells what got lost by that.
    ///
    /// # Errors
    /// A refusal: 0x80004005 if there are 64 sessions already.
    pub fn start(&self, config: &SessionConfig) -> Result<Session, Error> {
        let mut command = config.lowest();
        loop {
            match (self.start_by(config, command), command.lower()) {
                (Err(error), Some(lower)) if error.is_unknown_command() => command = lower,
                (result, _) => return result,
            }
        }
    }

    /// Starts a session by that command and no other. What it cannot say is lost.
    ///
    /// # Errors
    /// As for [`Runtime::start`].
    pub fn start_by(&self, config: &SessionConfig, command: CollectCommand) -> Result<Session, Error> {
        let message = config.message(command)?;
        let lost: Vec<Lost> = config.lost_with(command);
        let mut connection = self.connect()?;
        connection.send(&message, Deadline::after(self.deadlines.connect))?;
        let deadline = Deadline::after(self.deadlines.start);
        while !connection.wait_readable(deadline.left().unwrap_or_default())? {
            if deadline.left().is_none() {
                self.look_after(connection, command);
                return Err(Error::Deadline { step: Step::Reply, after: deadline.whole });
            }
        }
        self.take_session(connection, command, lost)
    }

    fn take_session(
        &self,
        mut connection: Connection,
        command: CollectCommand,
        lost: Vec<Lost>,
    ) -> Result<Session, Error> {
        let payload = connection.receive(command.id(), Deadline::after(self.deadlines.start))?;
        let id = read_session_id(&payload).map_err(|fault| Error::Reply { command: command.id(), fault })?;
        Session::begin(self.clone(), connection, id, command, lost)
    }

    /// A start that nobody waits for any more may still be carried out, by a target that was frozen.
    ///
    /// Quirk: .NET Core 3.1 dies if the connection is closed before its reply (seen with 3.1.23). So it
    /// stays open, and a session that begins late is stopped as it should be.
    fn look_after(&self, mut connection: Connection, command: CollectCommand) {
        let runtime = self.clone();
        let thread = std::thread::Builder::new().name("nettrace-late".to_owned());
        // Without a thread the connection closes here, which later runtimes bear.
        drop(thread.spawn(move || {
            if matches!(connection.wait_readable(LATE), Ok(true)) {
                drop(runtime.take_session(connection, command, Vec::new()));
            }
        }));
    }

    /// Starts a session whose events go to Linux tracepoints: `user_events_data` is the open file of that
    /// name. It is passed in a message of its own after the request, before the reply.
    ///
    /// # Errors
    /// A refusal; [`Error::Io`] on anything but a Unix socket.
    #[cfg(unix)]
    pub fn start_user_events(
        &self,
        config: &crate::UserEventsConfig,
        user_events_data: std::os::fd::BorrowedFd<'_>,
    ) -> Result<crate::UserEventsSession, Error> {
        let command = crate::CommandId::COLLECT_TRACING_5;
        let message = config.message()?;
        let mut connection = self.connect()?;
        connection.send(&message, Deadline::after(self.deadlines.connect))?;
        connection.send_descriptor(user_events_data)?;
        let payload = connection.receive(command, Deadline::after(self.deadlines.start))?;
        let id = read_session_id(&payload).map_err(|fault| Error::Reply { command, fault })?;
        Ok(crate::UserEventsSession::begin(self.clone(), connection, id))
    }

    /// Where the target's files are for us.
    pub fn target_root(&self) -> &Path {
        &self.root
    }
}

/// Told to wait and without its assembly in the command line: suspended. A program in a single file never
/// shows an assembly, hence the third answer.
fn startup_from(info: &ProcessInfo, told: bool) -> Startup {
    if !told {
        return Startup::Running;
    }
    match info.entry_assembly.as_deref() {
        Some(name) if !name.is_empty() => {
            let assembly = format!("{name}.dll");
            let shows =
                info.command_line.contains(&format!("{assembly} ")) || info.command_line.ends_with(&assembly);
            if shows { Startup::Running } else { Startup::Suspended }
        }
        _ => Startup::PerhapsSuspended,
    }
}

/// Whether an environment makes a runtime wait at startup: a connect port without `nosuspend`, or the
/// default port told to suspend.
pub(crate) fn told_to_suspend(environment: &[Variable]) -> bool {
    let value = |names: [&str; 2]| {
        let of = |name: &str| environment.iter().find(|variable| variable.name == name);
        names.into_iter().find_map(of).and_then(|variable| variable.value.as_deref())
    };
    let ports = value(["DOTNET_DiagnosticPorts", "COMPlus_DiagnosticPorts"]).unwrap_or_default();
    let suspends = |port: &str| {
        let mut parts = port.split(',').map(str::trim);
        let named = parts.next().is_some_and(|address| !address.is_empty());
        let tags: Vec<String> = parts.map(str::to_ascii_lowercase).collect();
        let first = |one: &str, other: &str| {
            tags.iter().find(|tag| *tag == one || *tag == other).is_some_and(|tag| tag == one)
        };
        named && !first("listen", "connect") && !first("nosuspend", "suspend")
    };
    let default = value(["DOTNET_DefaultDiagnosticPortSuspend", "COMPlus_DefaultDiagnosticPortSuspend"]);
    ports.split(';').any(suspends) || default.is_some_and(|value| value.trim() == "1")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(name: &str, value: &str) -> Vec<Variable> {
        vec![Variable { name: name.to_owned(), value: Some(value.to_owned()) }]
    }

    #[test]
    fn a_connect_port_suspends_unless_its_first_tag_says_otherwise() {
        let suspends = |value: &str| told_to_suspend(&environment("DOTNET_DiagnosticPorts", value));
        for value in
            ["a", "a,suspend", "a,connect", "a,x", "a,suspend,nosuspend", "a,nosuspend;b", "a,connect,listen"]
        {
            assert!(suspends(value), "{value}");
        }
        for value in ["", ";", " ", "a,nosuspend", "a,NoSuspend,suspend", "a,listen", "a,listen,connect"] {
            assert!(!suspends(value), "{value}");
        }
        assert!(told_to_suspend(&environment("DOTNET_DefaultDiagnosticPortSuspend", "1")));
        assert!(!told_to_suspend(&environment("DOTNET_DefaultDiagnosticPortSuspend", "0")));
    }

    #[test]
    fn a_suspended_command_line_lacks_the_assembly() {
        let mut info = ProcessInfo {
            pid: 1,
            cookie: crate::Guid::default(),
            command_line: "/app/w8/workload".to_owned(),
            operating_system: String::new(),
            architecture: String::new(),
            entry_assembly: Some("workload".to_owned()),
            product_version: None,
            runtime_identifier: None,
        };
        assert_eq!(startup_from(&info, true), Startup::Suspended);
        assert_eq!(startup_from(&info, false), Startup::Running);
        info.command_line.push_str(" /app/w8/workload.dll sleep 0");
        assert_eq!(startup_from(&info, true), Startup::Running);
        info.entry_assembly = None;
        assert_eq!(startup_from(&info, true), Startup::PerhapsSuspended);
    }
}
