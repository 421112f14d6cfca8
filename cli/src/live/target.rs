//! Finds the process to talk to: by process id, by name, or over a port.

use super::end_rule::{EndRule, SIGNAL_CHECK};
use super::os_threads;
use super::transcript::Transcript;
use crate::args::amount::Span;
use crate::args::{TalkArgs, TargetArgs};
use crate::failure::with_causes;
use crate::failure::{Failure, without_number};
use crate::messages::Messages;
use nettrace_export::nearest::{nearest, suggestion};
use nettrace_ipc::{
    Arrival, Deadlines, Endpoint, Error, Found, NamedPort, Port, PortAddress, PortMode,
    PortOptions, ProcessKind, Recorder, Runtime, Search,
};
use std::path::Path;
use std::time::{Duration, Instant};

/// Deadlines and recorder of connections to processes.
#[derive(Debug, Default)]
pub(crate) struct Talk {
    pub(crate) recorder: Option<Recorder>,
    transcript: Option<Transcript>,
    pub(crate) deadlines: Deadlines,
}

impl Talk {
    /// Takes the deadlines of the command line, and creates the file of the transcript.
    pub(crate) fn new(args: &TalkArgs) -> Result<Talk, Failure> {
        let defaults = Deadlines::default();
        let deadlines = match args.patience {
            Some(Span(patience)) => defaults
                // The time to connect does not grow, because a process that listens answers a
                // connection at once, or never.
                .connect(patience.min(defaults.connect))
                .reply(patience)
                .start(patience)
                .stop(patience)
                .drain(patience)
                .dump(patience)
                .startup_hook(patience)
                .profiler(patience),
            None => defaults,
        };
        let transcript =
            args.record.as_deref().map(|path| Transcript::create(path, args.force)).transpose()?;
        let recorder = transcript.as_ref().map(|transcript| transcript.recorder().clone());
        Ok(Talk { recorder, transcript, deadlines })
    }

    fn with(&self, runtime: Runtime) -> Runtime {
        let runtime = runtime.deadlines(self.deadlines);
        match &self.recorder {
            Some(recorder) => runtime.recorder(recorder.clone()),
            None => runtime,
        }
    }

    /// Finishes the transcript.
    pub(crate) fn finish(&self) -> Result<(), Failure> {
        self.transcript.as_ref().map_or(Ok(()), Transcript::finish)
    }
}

/// A process that can be talked to.
#[derive(Debug, Clone)]
pub(crate) struct Reached {
    /// Id of the process; `None` if unknown. What the system tells about it is found by
    /// [`Reached::pid_here`].
    pub(crate) pid: Option<u64>,
    /// Whether the process is in another container, where its id counts.
    pub(crate) is_elsewhere: bool,
    /// Name of the process; may be empty.
    pub(crate) name: String,
    pub(crate) runtime: Runtime,
    /// Whether the process was started to wait until it is resumed.
    pub(crate) may_wait: bool,
    /// When the process will have been running for [`SETTLING_TIME`]; `None` if it has already.
    pub(crate) settles_at: Option<Instant>,
}

/// Time after which a process that does not tell its name is shown without one.
pub(crate) const NAME_TIMEOUT: Duration = Duration::from_secs(1);

/// Reason why a process does not answer.
pub(crate) const STOPPED: &str = "the process is stopped, by a signal or a debugger";

/// Minimum time that a process has run before a session begins. At the start of a process, a
/// session and class constructors of the runtime's event sources may wait for each other for ever.
/// `top` blocked one of five programs of .NET 8 that it looked at 50 ms after their start, none
/// after a second.
const SETTLING_TIME: Duration = Duration::from_secs(1);

impl Reached {
    /// Returns the name of the process in messages, such as `shop (4711)`.
    pub(crate) fn label(&self) -> String {
        match (self.pid, self.name.is_empty()) {
            (Some(pid), true) => format!("process {pid}"),
            (Some(pid), false) => format!("{} ({pid})", self.name),
            (None, true) => "process".to_owned(),
            (None, false) => self.name.clone(),
        }
    }

    /// Returns the id by which the system tells about the process; `None` if it cannot.
    pub(crate) fn pid_here(&self) -> Option<u64> {
        self.pid.filter(|_| !self.is_elsewhere)
    }

    /// Waits until a session may begin, or it is time to end.
    pub(crate) fn settle(&self, end: &EndRule) {
        if let Some(moment) = self.settles_at {
            end.sleep_until(moment);
        }
    }

    /// Refuses a process that is stopped and stays so, because a command would wait for its answer
    /// in vain.
    ///
    /// # Errors
    /// The process is stopped.
    pub(crate) fn refuse_stopped(&self, end: &EndRule) -> Result<(), Failure> {
        let is_stopped = || {
            let threads = self.pid_here().and_then(|pid| os_threads::list(pid).ok());
            threads.is_some_and(|threads| os_threads::are_stopped(threads.values()))
        };
        let until = Instant::now() + end.patience();
        while is_stopped() {
            if Instant::now() >= until {
                return Err(Failure::input(self.label(), STOPPED));
            }
            if !end.sleep_until(Instant::now() + SIGNAL_CHECK) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Returns the failure of a request to this process.
    pub(crate) fn failed(&self, error: &Error) -> Failure {
        Failure::input(self.label(), with_causes(error))
    }

    /// Makes a process that was found ready for requests.
    fn from_found(found: &Found, talk: &Talk) -> Result<Reached, Failure> {
        let pid = u64::from(found.pid);
        let (name, may_wait) = (found.name.clone(), found.suspends_at_startup);
        let young = found.uptime.filter(|_| !may_wait);
        let left = young.and_then(|uptime| SETTLING_TIME.checked_sub(uptime));
        let settles_at = left.map(|left| Instant::now() + left);
        if let (true, Ok(runtime)) = (found.is_elsewhere, found.runtime()) {
            let reached = Reached::running(talk.with(runtime), None);
            let pid = reached.pid.or(Some(pid));
            return Ok(Reached { pid, is_elsewhere: true, settles_at, ..reached });
        }
        let reached = |runtime| Reached {
            pid: Some(pid),
            is_elsewhere: false,
            name,
            runtime,
            may_wait,
            settles_at,
        };
        match found.runtime() {
            Ok(runtime) => Ok(reached(talk.with(runtime))),
            Err(reason) => Err(Failure::input(format!("process {pid}"), reason.to_string())),
        }
    }

    /// Makes a process that connected to a port, or answers at one, ready for requests, and asks it
    /// for its name.
    pub(crate) fn running(runtime: Runtime, pid: Option<u64>) -> Reached {
        // .NET Core 3 cannot tell its name; other runtimes that do not answer will say why at the
        // next request.
        let info = runtime.info().ok();
        let name = info.as_ref().and_then(|info| info.entry_assembly.clone()).unwrap_or_default();
        let pid = pid.or(info.map(|info| info.pid));
        Reached { pid, is_elsewhere: false, name, runtime, may_wait: false, settles_at: None }
    }

    pub(crate) fn arrived(arrival: Arrival) -> Reached {
        Reached::running(arrival.runtime, Some(arrival.pid))
    }
}

/// Returns every process that can be reached.
///
/// # Errors
/// Processes cannot be listed.
pub(crate) fn all(talk: &Talk) -> Result<Vec<Reached>, Failure> {
    let found = named_processes()?;
    let runtimes = found.iter().filter(|found| found.kind == ProcessKind::Runtime);
    Ok(runtimes.filter_map(|found| Reached::from_found(found, talk).ok()).collect())
}

/// Lists the processes, those whose names the system does not tell as their runtimes name them.
fn named_processes() -> Result<Vec<Found>, Failure> {
    let listing = Search::new().run();
    if let Some(why) = listing.failure {
        let text = format!("{}; give -p PID", without_number(&why));
        return Err(Failure::input("processes", text));
    }
    let mut processes = listing.processes;
    Found::ask_names(&mut processes, NAME_TIMEOUT);
    Ok(processes)
}

/// The process or port that the arguments select.
pub(crate) enum Selected {
    /// Running processes; there are several only if they have one name.
    Processes(Vec<Reached>),
    /// A port of this command, to which processes connect.
    Port(Port),
}

/// The process that a command is about.
pub(crate) struct One {
    pub(crate) reached: Reached,
    /// Port to which the process connected. It is kept open until the command has ended, so that
    /// processes that connect later are resumed.
    pub(crate) port: Option<Port>,
}

/// Finds the processes or the port that the user named. A process that listens at a port is
/// connected to, and its answer is waited for until it is time to end.
pub(crate) fn find(args: &TargetArgs, talk: &Talk, end: &EndRule) -> Result<Selected, Failure> {
    if let Some(pid) = args.process_id {
        return by_id(pid, talk).map(|reached| Selected::Processes(vec![reached]));
    }
    if let Some(name) = &args.name {
        return by_name(name, talk).map(Selected::Processes);
    }
    let Some(port) = &args.port else {
        return Err(Failure::usage("which process? Give -p PID, -n NAME or --port ADDRESS"));
    };
    let address = PortAddress::parse(port)?;
    if address.mode() == PortMode::Connect {
        refuse_ignored_port(&address.endpoint())?;
        let runtime = talk.with(Runtime::new(address.endpoint()));
        let reached = end.ask(move || Reached::running(runtime, None))?;
        let reached = reached.ok_or_else(|| Failure::input(port, "did not answer in time"))?;
        let is_elsewhere = is_elsewhere(&address.endpoint());
        return Ok(Selected::Processes(vec![Reached { is_elsewhere, ..reached }]));
    }
    let mut options = PortOptions::default();
    options.recorder = talk.recorder.clone();
    options.deadlines = talk.deadlines;
    let opened = Port::listen(&address, options);
    opened.map(Selected::Port).map_err(|error| Failure::input(port, with_causes(&error)))
}

/// Finds the process that the user named, or waits for the first one that connects to the port;
/// `None` if a signal came before.
pub(crate) fn one(
    args: &TargetArgs,
    talk: &Talk,
    end: &EndRule,
    messages: &mut Messages<'_>,
) -> Result<Option<One>, Failure> {
    let port = match find(args, talk, end)? {
        Selected::Processes(processes) => {
            return Ok(Some(One { reached: only(processes)?, port: None }));
        }
        Selected::Port(port) => port,
    };
    Ok(first(&port, end, messages).map(|reached| One { reached, port: Some(port) }))
}

/// Returns the only one of these processes; fails if there are several, or none.
pub(crate) fn only(mut processes: Vec<Reached>) -> Result<Reached, Failure> {
    match (processes.pop(), processes.is_empty()) {
        (Some(reached), true) => Ok(reached),
        (last, _) => {
            processes.extend(last);
            let name = processes.first().map(|reached| reached.name.clone()).unwrap_or_default();
            let pids: Vec<String> =
                processes.iter().filter_map(|reached| Some(reached.pid?.to_string())).collect();
            let text = "several processes have this name; choose one with -p";
            Err(Failure::input(name, format!("{text}: {}", pids.join(", "))))
        }
    }
}

/// Refuses a socket that does not exist although a process was told to listen there: runtimes ignore
/// such ports.
///
/// # Errors
/// The socket does not exist, and a process has a port in listen mode of this address.
fn refuse_ignored_port(endpoint: &Endpoint) -> Result<(), Failure> {
    let Some(path) = endpoint.path().filter(|path| !path.exists()) else { return Ok(()) };
    for found in Search::new().run().processes {
        let ports = NamedPort::parse(found.ports.as_deref().unwrap_or_default());
        if ports.iter().any(|port| port.listens && Path::new(&port.address) == path) {
            let (name, pid) = (&found.name, found.pid);
            let text = format!(
                "the runtime of {name} ({pid}) ignores this port, which is in listen mode; use -p {pid}"
            );
            return Err(Failure::input(endpoint.to_string(), text));
        }
    }
    Ok(())
}

/// Returns whether the socket is one of a process in another container.
fn is_elsewhere(endpoint: &Endpoint) -> bool {
    let Some(path) = endpoint.path() else { return false };
    let search = Search::new().directory(path.parent().unwrap_or(path));
    let is_it = |found: &Found| {
        found.is_elsewhere
            && found.endpoint.as_ref().is_ok_and(|endpoint| endpoint.path() == Some(path))
    };
    search.run().processes.iter().any(is_it)
}

fn by_id(pid: u32, talk: &Talk) -> Result<Reached, Failure> {
    let mut found = Search::new().processes_with_id(pid);
    if let [only] = found.as_mut_slice() {
        Found::ask_names(std::slice::from_mut(only), NAME_TIMEOUT);
    }
    let message = match found.as_slice() {
        [] => "there is no .NET process with this id; nettrace ps lists all".to_owned(),
        [first, ..] if !first.is_elsewhere => return Reached::from_found(first, talk),
        [only] => return Reached::from_found(only, talk),
        several => {
            let ports = several.iter().filter_map(|found| found.endpoint.as_ref().ok());
            let ports: Vec<String> = ports.map(|at| format!("--port {at},connect")).collect();
            format!("processes of several containers have this id: {}", ports.join(", "))
        }
    };
    Err(Failure::input(format!("process {pid}"), message))
}

fn by_name(name: &str, talk: &Talk) -> Result<Vec<Reached>, Failure> {
    let processes = named_processes()?;
    let wanted = name.to_lowercase();
    let is_wanted =
        |found: &&Found| found.kind == ProcessKind::Runtime && found.name.to_lowercase() == wanted;
    let mut named: Vec<&Found> = processes.iter().filter(is_wanted).collect();
    if named.iter().any(|found| !found.is_elsewhere) {
        named.retain(|found| !found.is_elsewhere);
    }
    match named.as_slice() {
        [] => {
            let names = nearest(name, processes.iter().map(|found| found.name.as_str()));
            let hint = match names.is_empty() {
                true => "; nettrace ps lists all".to_owned(),
                false => suggestion(&names),
            };
            Err(Failure::input(name, format!("there is no .NET process of this name{hint}")))
        }
        named => {
            let (reached, mut others): (Vec<_>, Vec<_>) =
                named.iter().map(|found| Reached::from_found(found, talk)).partition(Result::is_ok);
            // If several processes have the name, it does not matter if some of them cannot be
            // reached.
            match others.pop().filter(|_| reached.is_empty()) {
                Some(unreachable) => unreachable.map(|reached| vec![reached]),
                None => Ok(reached.into_iter().flatten().collect()),
            }
        }
    }
}

/// Says how to connect to a port, and waits for the first process that does; `None` if a signal
/// came before. Other processes that connect go on untouched.
pub(crate) fn first_arrival(
    port: &Port,
    end: &EndRule,
    messages: &mut Messages<'_>,
) -> Option<Arrival> {
    invite(port, end, messages);
    while end.signals().seen().is_none() {
        if let Some(arrival) = port.next(SIGNAL_CHECK) {
            // Other processes that connect are not recorded, so they must not wait.
            port.resume_newcomers();
            return Some(arrival);
        }
    }
    None
}

/// Waits for the first process that connects to a port, and asks it for its name; `None` if a signal
/// came before.
pub(crate) fn first(port: &Port, end: &EndRule, messages: &mut Messages<'_>) -> Option<Reached> {
    reach(first_arrival(port, end, messages)?, end)
}

/// Asks the process that has connected for its name; `None` if it was time to end before
/// it answered.
pub(crate) fn reach(arrival: Arrival, end: &EndRule) -> Option<Reached> {
    end.ask(move || Reached::arrived(arrival)).ok().flatten()
}

/// Prints the environment variable that makes a program connect to the port. Before a signal exits
/// at once, it resumes the processes that connected.
pub(crate) fn invite(port: &Port, end: &EndRule, messages: &mut Messages<'_>) {
    let variable = format!("DOTNET_DiagnosticPorts={}", port.address());
    messages.note(&format!("waiting for a process started with {variable}"));
    end.signals().set_waiting(Some(port.resumer()));
}
