//! Starts sessions, each on a thread of its own, because a process may never answer while signals
//! and time limits must be obeyed.

use super::files::{self, Files, is_packed};
use super::recording::Sought;
use super::second_stream;
use crate::failure::Failure;
use crate::live::end_rule::{EndRule, SIGNAL_CHECK};
use crate::live::first_values::FirstValues;
use crate::live::metrics_apart::{self, Sessions};
use crate::live::sink::Sink;
use crate::live::start;
use crate::live::stdout_queue::StdoutQueue;
use crate::live::target::Reached;
use crate::live::thread_times::{self, ReadSession, Readings, ReadingsTo, ThreadTimes};
use nettrace_ipc::{Arrival, Error, Runtime, Session, SessionConfig, Startup};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Maximum time that a process takes to start after the last port that held it was resumed.
const STARTING_TIME: Duration = Duration::from_secs(1);

/// Process to record.
#[derive(Debug)]
pub(super) enum Target {
    Reached(Reached),
    /// Process that connected to a port; its name is not known yet.
    Arrived(Arrival),
}

/// Purpose of a session.
#[derive(Debug, Clone)]
pub(super) enum Job {
    /// Recording that the command line requests. `part` is the number within a rotation.
    Record { part: Option<u64> },
    /// Search for the conditions of rules. `rotation` is `None` if no rotation is recorded;
    /// otherwise, whether the process is resumed once the rotation has begun.
    Watch { rotation: Option<bool> },
    /// Recording of the rule with this index, which fired in session `watch`.
    Rule { rule: usize, watch: usize, path: PathBuf },
}

impl Job {
    /// Returns the rule that has fired, and the number of the session in which it fired.
    pub(super) fn rule(&self) -> Option<(usize, usize)> {
        match self {
            Job::Rule { rule, watch, .. } => Some((*rule, *watch)),
            Job::Record { .. } | Job::Watch { .. } => None,
        }
    }

    /// Returns the number of the file within its rotation.
    pub(super) fn part(&self) -> Option<u64> {
        match self {
            Job::Record { part } => *part,
            Job::Watch { .. } | Job::Rule { .. } => None,
        }
    }

    pub(super) fn is_watch(&self) -> bool {
        matches!(self, Job::Watch { .. })
    }

    /// Returns whether the process is resumed once the rotation has begun; `None` if none begins.
    pub(super) fn begins_rotation(&self) -> Option<bool> {
        match self {
            Job::Watch { rotation } => *rotation,
            Job::Record { .. } | Job::Rule { .. } => None,
        }
    }
}

/// Request to start a session.
#[derive(Debug, Clone)]
pub(super) struct StartRequest {
    pub(super) job: Job,
    pub(super) config: SessionConfig,
    /// Whether the process is resumed once the session has begun.
    pub(super) resumes: bool,
    /// Whether the command has no other process to record, so that a refusal is its failure.
    pub(super) is_only: bool,
    /// Number of the recording whose next file this is.
    pub(super) replaces: Option<usize>,
    /// EventCounters that the session records; `None` for any other session.
    pub(super) later: Option<LaterCounters>,
}

/// EventCounters of a process that was suspended at startup. They begin after the first values of
/// its metrics.
#[derive(Debug, Clone)]
pub(super) struct LaterCounters {
    /// Number of the main recording.
    pub(super) main: usize,
    pub(super) path: Option<PathBuf>,
    pub(super) sought: Arc<Mutex<Sought>>,
    pub(super) first_values: Arc<FirstValues>,
}

impl StartRequest {
    /// Creates a request that resumes no process and replaces no recording.
    pub(super) fn new(job: Job, config: &SessionConfig) -> StartRequest {
        let config = config.clone();
        StartRequest { job, config, resumes: false, is_only: false, replaces: None, later: None }
    }
}

/// Sessions that have begun in a process.
pub(super) struct Started {
    pub(super) stream: Stream,
    /// Metrics, if they need a session of their own.
    pub(super) metrics: Option<Stream>,
    /// Configuration and file of EventCounters that may begin only after the first metrics.
    pub(super) later: Option<(SessionConfig, Option<PathBuf>)>,
    pub(super) first_values: Arc<FirstValues>,
    /// Result of resuming the process; `None` if that was not requested.
    pub(super) resumed: Option<Result<(), Error>>,
    /// Ports that hold the process at startup, if one still does although it was resumed over its own.
    pub(super) held_by: Vec<String>,
    /// Whether the process is still suspended at startup.
    pub(super) is_waiting: bool,
}

/// Session that has begun, and the output of its bytes.
pub(super) struct Stream {
    pub(super) session: Session,
    pub(super) path: Option<PathBuf>,
    pub(super) sink: Sink,
    /// Names of the providers that the session asks for.
    pub(super) providers: Vec<String>,
    /// Readings of the process, beside samples.
    pub(super) readings: Option<Readings>,
    /// Whether the process was not held at its start for the session.
    pub(super) is_attached: bool,
}

/// Answer to a request.
pub(super) struct StartResult {
    number: usize,
    pub(super) request: StartRequest,
    pub(super) started: Result<(Reached, Started), Failure>,
}

/// Requests for sessions that are not answered yet.
pub(super) struct PendingStarts {
    places: Places,
    end: EndRule,
    pending: Vec<(usize, StartRequest)>,
    next: usize,
}

/// Outputs that traces can have.
#[derive(Clone)]
struct Places {
    /// Naming of files; `None` if traces go to `queue`.
    files: Option<Arc<Mutex<Files>>>,
    queue: Option<StdoutQueue>,
    thread_times: Option<ThreadTimes>,
}

impl PendingStarts {
    pub(super) fn new(
        files: Option<Files>,
        queue: Option<StdoutQueue>,
        thread_times: Option<ThreadTimes>,
        end: &EndRule,
    ) -> PendingStarts {
        let places =
            Places { files: files.map(|files| Arc::new(Mutex::new(files))), queue, thread_times };
        PendingStarts { places, end: end.clone(), pending: Vec::new(), next: 0 }
    }

    pub(super) fn count(&self) -> usize {
        self.pending.len()
    }

    /// Requests a session. Calls `report` on another thread, soon after the end of the command at
    /// the latest. A session is stopped if the result is dropped.
    pub(super) fn begin(
        &mut self,
        target: Target,
        request: StartRequest,
        report: impl FnOnce(StartResult) + Send + 'static,
    ) -> io::Result<()> {
        let number = self.next;
        self.next += 1;
        let (own, places, end) = (request.clone(), self.places.clone(), self.end.clone());
        let thread = std::thread::Builder::new().name("nettrace-start".to_owned());
        thread.spawn(move || {
            let started = begin(target, &own, &places, &end);
            report(StartResult { number, request: own, started });
        })?;
        self.pending.push((number, request));
        Ok(())
    }

    /// Returns whether a session is requested for the next file of this recording.
    pub(super) fn replaces(&self, number: usize) -> bool {
        self.pending.iter().any(|(_, request)| request.replaces == Some(number))
    }

    /// Returns the rules whose recordings are requested.
    pub(super) fn rules(&self) -> impl Iterator<Item = usize> {
        self.pending.iter().filter_map(|(_, request)| Some(request.job.rule()?.0))
    }

    /// Removes the request that was answered.
    pub(super) fn take_answer(&mut self, result: &StartResult) {
        self.pending.retain(|(number, _)| *number != result.number);
    }
}

fn begin(
    target: Target,
    request: &StartRequest,
    places: &Places,
    end: &EndRule,
) -> Result<(Reached, Started), Failure> {
    let (reached, is_new) = match target {
        Target::Reached(reached) => (reached, false),
        Target::Arrived(arrival) => {
            let label = format!("process {}", arrival.pid);
            let reached = end.ask(move || Reached::arrived(arrival))?;
            (reached.ok_or_else(|| silent(label))?, true)
        }
    };
    let started = start_session(&reached, is_new, request, places, end);
    if started.is_err() && (is_new || request.resumes) {
        // A process that cannot be recorded must not stay suspended.
        start::resume_unrecorded(reached.runtime.clone(), end);
    }
    Ok((reached, started?))
}

/// Starts a session. If that fails, no file is left, because a sink removes its empty file.
fn start_session(
    reached: &Reached,
    is_new: bool,
    request: &StartRequest,
    places: &Places,
    end: &EndRule,
) -> Result<Started, Failure> {
    reached.settle(end);
    let first_values =
        FirstValues::new(reached.pid_here(), &request.config, end.signals().first_values());
    let sessions = match &request.later {
        Some(_) => Some(Sessions::one(&request.config)),
        None => Sessions::for_process(reached, &request.config, end)?,
    };
    let sessions = sessions.ok_or_else(|| silent(reached.label()))?;
    if sessions.are_several() && !places.may_part(&request.job) {
        let text = "a rotation, a pipe and standard output take one session";
        let message = format!("{}, and {text}; leave one of them out", metrics_apart::REASON);
        return Err(Failure::input(reached.label(), message));
    }
    if is_new || sessions.are_several() {
        first_values.expect();
    }
    let Sessions { main: config, metrics, counters } = sessions;
    let providers = names_of(&config);
    // Before the session starts, which would have to be stopped if the file cannot be created.
    let (path, sink) = match &request.later {
        Some(later) => places.sink_at(later.path.clone(), &request.job)?,
        None => places.sink(reached, &request.job)?,
    };
    let beside = |part| path.as_deref().map(|path| files::beside(path, part));
    let later = counters.map(|config| (config, beside("counters")));
    let metrics = match metrics {
        Some(config) => {
            let (its_path, its_sink) = places.sink_at(beside("metrics"), &request.job)?;
            Some((config, its_path, its_sink))
        }
        None => None,
    };
    let has_samples = second_stream::has_samples(&providers);
    let is_file = path.as_deref().is_some_and(second_stream::is_file);
    let times = places.thread_times.as_ref().filter(|_| has_samples && is_file);
    // The request takes the runtime a tenth of a second, which has its samples.
    let readings = times.and_then(|times| times.begin(reached.pid_here()));
    let (asked, resumes) = (reached.clone(), request.resumes);
    let metrics_config = metrics.as_ref().map(|(config, ..)| config.clone());
    let answer = end.ask(move || -> Result<_, Error> {
        // Metrics first: `metrics_apart` has the reason.
        let metrics = metrics_config.map(|config| asked.runtime.start(&config)).transpose()?;
        let asked_ns = thread_times::now_ns();
        let session = asked.runtime.start(&config)?;
        let between_ns = (asked_ns, thread_times::now_ns());
        let resumed = resumes.then(|| asked.runtime.resume());
        // Resuming has no effect on a process that is suspended for another tool's port.
        let is_waiting = asked.may_wait
            && asked.runtime.startup().is_ok_and(|startup| startup == Startup::Suspended);
        let held_by = match &resumed {
            Some(Ok(())) if is_new => held_by(&asked.runtime),
            _ => Vec::new(),
        };
        Ok((metrics, (session, between_ns), resumed, is_waiting, held_by))
    });
    let answer = answer?.ok_or_else(|| silent(reached.label()))?;
    let (started, (session, between_ns), resumed, is_waiting, held_by) =
        answer.map_err(|error| reached.failed(&error))?;
    let is_attached = !is_new && !reached.may_wait;
    let metrics = metrics.zip(started).map(|((config, path, sink), session)| {
        let providers = names_of(&config);
        Stream { session, path, sink, providers, readings: None, is_attached }
    });
    if let (Some(readings), Some(path)) = (&readings, &path) {
        let (asked_ns, answered_ns) = between_ns;
        let (pid, to) = (session.peer_pid(), ReadingsTo::Recording(path.clone()));
        readings.take_session(ReadSession { pid, asked_ns, answered_ns, to });
    }
    let stream = Stream { session, path, sink, providers, readings, is_attached };
    let first_values = Arc::new(first_values);
    Ok(Started { stream, metrics, later, first_values, resumed, held_by, is_waiting })
}

/// Returns the ports of a process that was resumed over one of several, if it still waits for another
/// one. That is known only after a while, because a process that goes on needs time to start.
fn held_by(runtime: &Runtime) -> Vec<String> {
    let ports = runtime.named_ports().unwrap_or_default();
    let suspending = ports.into_iter().filter(|port| port.suspends).map(|port| port.address);
    let suspending: Vec<String> = suspending.collect();
    let is_held = || runtime.startup().is_ok_and(|startup| startup == Startup::Suspended);
    let until = Instant::now() + STARTING_TIME;
    while suspending.len() > 1 && is_held() {
        if Instant::now() >= until {
            return suspending;
        }
        std::thread::sleep(SIGNAL_CHECK);
    }
    Vec::new()
}

/// Returns the names of the providers that a session asks for.
fn names_of(config: &SessionConfig) -> Vec<String> {
    config.providers().iter().map(|provider| provider.name().to_owned()).collect()
}

fn silent(label: String) -> Failure {
    Failure::input(label, "did not answer in time")
}

impl Places {
    /// Returns whether a job can have a second file for its metrics.
    fn may_part(&self, job: &Job) -> bool {
        job.is_watch() || self.files.is_some() && job.part().is_none()
    }

    /// Creates the second file of a recording, or the file of a rule.
    fn sink_at(
        &self,
        path: Option<PathBuf>,
        job: &Job,
    ) -> Result<(Option<PathBuf>, Sink), Failure> {
        let (Some(files), Some(path)) = (&self.files, path) else {
            return Ok((None, Sink::Nowhere));
        };
        let mut files = files.lock().unwrap_or_else(PoisonError::into_inner);
        let file = match job.rule() {
            Some(_) => files.create_for_rule(&path)?,
            None => files.create_beside(&path)?,
        };
        let is_packed = is_packed(&path);
        Ok((Some(path), Sink::file(file, is_packed)))
    }

    fn sink(&self, reached: &Reached, job: &Job) -> Result<(Option<PathBuf>, Sink), Failure> {
        let Some(files) = self.files.as_ref().filter(|_| !job.is_watch()) else {
            let queue = self.queue.clone().filter(|_| !job.is_watch());
            return Ok((None, queue.map_or(Sink::Nowhere, Sink::Stdout)));
        };
        let mut files = files.lock().unwrap_or_else(PoisonError::into_inner);
        let (path, file) = match job {
            Job::Rule { path, .. } => (path.clone(), files.create_for_rule(path)?),
            job => files.create(reached, job.part())?,
        };
        let is_packed = is_packed(&path);
        Ok((Some(path), Sink::file(file, is_packed)))
    }
}
