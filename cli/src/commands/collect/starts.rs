//! Sessions that are about to start: each on a thread of its own, since a process may
//! take long to answer, or never do so, and signals and time limits must still be obeyed.

use super::files::{Files, is_packed};
use crate::failure::Failure;
use crate::live::end_rule::{EndRule, Waiting};
use crate::live::sink::Sink;
use crate::live::stdout_queue::StdoutQueue;
use crate::live::target::Reached;
use nettrace_ipc::{Arrival, Error, Session, SessionConfig, Startup};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// The process to record.
#[derive(Debug)]
pub(super) enum Target {
    Reached(Reached),
    /// Came to a port; who it is has still to be asked.
    Arrived(Arrival),
}

/// What a session is for.
#[derive(Debug, Clone)]
pub(super) enum Job {
    /// What the command line asks for; `part`: its number within a rotation.
    Record { part: Option<u64> },
    /// To see when rules fire. `rotation`: a rotation is recorded too; the value says
    /// whether the process is resumed then.
    Watch { rotation: Option<bool> },
    /// A rule has fired: its place, the number of the session in which it did, and the
    /// file.
    Rule { rule: usize, watch: usize, path: PathBuf },
}

/// A request to start a session.
#[derive(Debug, Clone)]
pub(super) struct StartRequest {
    pub(super) job: Job,
    pub(super) config: SessionConfig,
    /// Let the process go once the session has begun.
    pub(super) resumes: bool,
    /// There is no other process to record.
    pub(super) is_only: bool,
    /// The recording whose next file this is.
    pub(super) replaces: Option<usize>,
}

/// A session that has begun.
pub(super) struct Started {
    pub(super) session: Session,
    pub(super) path: Option<PathBuf>,
    pub(super) sink: Sink,
    /// How its resume went, if that was wanted.
    pub(super) resumed: Option<Result<(), Error>>,
    /// It still waits at startup.
    pub(super) is_waiting: bool,
}

/// What became of a request.
pub(super) struct StartResult {
    number: usize,
    pub(super) request: StartRequest,
    pub(super) reached: Reached,
    pub(super) result: Result<Started, Failure>,
}

/// All requests that were not answered yet.
pub(super) struct PendingStarts {
    places: Places,
    pending: Vec<PendingStart>,
    next: usize,
}

struct PendingStart {
    number: usize,
    /// As messages name the process.
    label: String,
    request: StartRequest,
    waiting: Waiting,
}

/// Where traces go.
#[derive(Clone)]
struct Places {
    /// `None`: to the queue.
    files: Option<Arc<Mutex<Files>>>,
    queue: Option<StdoutQueue>,
}

impl PendingStarts {
    pub(super) fn new(files: Option<Files>, queue: Option<StdoutQueue>) -> PendingStarts {
        let files = files.map(|files| Arc::new(Mutex::new(files)));
        PendingStarts { places: Places { files, queue }, pending: Vec::new(), next: 0 }
    }

    pub(super) fn count(&self) -> usize {
        self.pending.len()
    }

    /// Asks for a session. `report` is called on another thread; if nobody takes the
    /// session that it brings, it is stopped.
    pub(super) fn begin(
        &mut self,
        target: Target,
        request: StartRequest,
        report: impl FnOnce(StartResult) + Send + 'static,
    ) -> io::Result<()> {
        let number = self.next;
        self.next += 1;
        let label = match &target {
            Target::Reached(reached) => reached.label(),
            Target::Arrived(arrival) => format!("process {}", arrival.pid),
        };
        let (places, asked) = (self.places.clone(), request.clone());
        let thread = std::thread::Builder::new().name("nettrace-start".to_owned());
        thread.spawn(move || {
            let (reached, result) = start(target, &asked, &places);
            report(StartResult { number, request: asked, reached, result });
        })?;
        self.pending.push(PendingStart { number, label, request, waiting: Waiting::new() });
        Ok(())
    }

    /// Whether the next file of this recording is about to begin.
    pub(super) fn replaces(&self, number: usize) -> bool {
        self.pending.iter().any(|pending| pending.request.replaces == Some(number))
    }

    /// The rules whose recordings are about to begin.
    pub(super) fn rules(&self) -> impl Iterator<Item = usize> {
        self.pending.iter().filter_map(|pending| match pending.request.job {
            Job::Rule { rule, .. } => Some(rule),
            Job::Record { .. } | Job::Watch { .. } => None,
        })
    }

    /// Takes note of an answer.
    pub(super) fn answered(&mut self, result: &StartResult) {
        self.pending.retain(|pending| pending.number != result.number);
    }

    /// Whether none of the answers is waited for any longer.
    pub(super) fn are_over(&mut self, end: &EndRule) -> bool {
        // Each has to be asked: its time runs from then.
        self.pending.iter_mut().fold(true, |all, pending| pending.waiting.is_over(end) && all)
    }

    /// Does not wait for answers any longer. Gives the processes that owe one.
    pub(super) fn forget(&mut self) -> Vec<String> {
        // Threads that may never come back have begun files.
        crate::new_file::leave_unfinished();
        self.pending.drain(..).map(|pending| pending.label).collect()
    }
}

fn start(
    target: Target,
    request: &StartRequest,
    places: &Places,
) -> (Reached, Result<Started, Failure>) {
    let is_newcomer = matches!(target, Target::Arrived(_));
    let reached = match target {
        Target::Reached(reached) => reached,
        Target::Arrived(arrival) => Reached::arrived(arrival),
    };
    let result = start_session(&reached, request, places);
    if result.is_err() && (is_newcomer || request.resumes) {
        // One that cannot be recorded must not wait for ever.
        let _ = reached.runtime.resume();
    }
    (reached, result)
}

/// Starts a session. No file is left if that fails: it is empty, and goes with its sink.
fn start_session(
    reached: &Reached,
    request: &StartRequest,
    places: &Places,
) -> Result<Started, Failure> {
    let (path, sink) = places.sink(reached, &request.job)?;
    let session = reached.runtime.start(&request.config).map_err(|error| reached.failed(&error))?;
    let resumed = request.resumes.then(|| reached.runtime.resume());
    // A resume reaches only who waits for us.
    let is_waiting = reached.may_wait
        && reached.runtime.startup().is_ok_and(|startup| startup == Startup::Suspended);
    Ok(Started { session, path, sink, resumed, is_waiting })
}

impl Places {
    fn sink(&self, reached: &Reached, job: &Job) -> Result<(Option<PathBuf>, Sink), Failure> {
        if matches!(job, Job::Watch { .. }) {
            return Ok((None, Sink::Nowhere));
        }
        let Some(files) = &self.files else {
            return Ok((None, self.queue.clone().map_or(Sink::Nowhere, Sink::Stdout)));
        };
        let mut files = files.lock().unwrap_or_else(PoisonError::into_inner);
        let (path, file) = match job {
            Job::Rule { path, .. } => (path.clone(), files.create_for_rule(path)?),
            Job::Record { part } => files.create(reached, *part)?,
            Job::Watch { .. } => return Ok((None, Sink::Nowhere)),
        };
        let is_packed = is_packed(&path);
        Ok((Some(path), Sink::file(file, is_packed)))
    }
}
