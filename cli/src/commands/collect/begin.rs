//! Sessions that are about to begin: each on a thread of its own, since a process may
//! take long to answer, or never do so, and signals and time limits must still be obeyed.

use super::files::{Files, is_packed};
use crate::failure::Failure;
use crate::live::outlet::Outlet;
use crate::live::recording::{Notice, Sink};
use crate::live::target::Reached;
use flate2::Compression;
use flate2::write::GzEncoder;
use nettrace_ipc::{Arrival, Error, Session, SessionConfig, Startup};
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Who is to be recorded.
#[derive(Debug)]
pub(super) enum Whom {
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

impl Job {
    /// The rule that it records for.
    fn rule(&self) -> Option<usize> {
        match self {
            Job::Rule { rule, .. } => Some(*rule),
            Job::Record { .. } | Job::Watch { .. } => None,
        }
    }
}

/// What is to be begun.
#[derive(Debug)]
pub(super) struct Begin {
    pub(super) whom: Whom,
    pub(super) job: Job,
    pub(super) config: SessionConfig,
    /// Let it go once the session has begun.
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

/// What became of a beginning.
pub(super) struct Begun {
    pub(super) begin: How,
    pub(super) reached: Reached,
    pub(super) result: Result<Started, Failure>,
}

/// What the beginning was for.
#[derive(Debug, Clone)]
pub(super) struct How {
    pub(super) job: Job,
    pub(super) is_only: bool,
    pub(super) replaces: Option<usize>,
}

/// All that are under way.
pub(super) struct Beginnings {
    places: Arc<Mutex<Places>>,
    sender: Sender<Begun>,
    begun: Receiver<Begun>,
    notices: SyncSender<Notice>,
    count: usize,
    next: usize,
    /// Recordings whose next file is about to begin.
    replaced: Vec<usize>,
    /// The rules whose recordings are about to begin.
    rules: Vec<usize>,
}

/// Where traces go.
struct Places {
    files: Option<Files>,
    outlet: Option<Outlet>,
    /// The processes of those that are under way, by the number of the beginning.
    under_way: Vec<(usize, String)>,
}

impl Beginnings {
    pub(super) fn new(
        files: Option<Files>,
        outlet: Option<Outlet>,
        notices: SyncSender<Notice>,
    ) -> Beginnings {
        let (sender, begun) = channel();
        let places = Arc::new(Mutex::new(Places { files, outlet, under_way: Vec::new() }));
        Beginnings {
            places,
            sender,
            begun,
            notices,
            count: 0,
            next: 0,
            replaced: Vec::new(),
            rules: Vec::new(),
        }
    }

    /// How many are under way.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Asks for a session.
    pub(super) fn begin(&mut self, begin: Begin) -> io::Result<()> {
        let number = self.next;
        self.next += 1;
        let label = match &begin.whom {
            Whom::Reached(reached) => reached.label(),
            Whom::Arrived(arrival) => format!("process {}", arrival.pid),
        };
        lock(&self.places).under_way.push((number, label));
        let (replaced, rule) = (begin.replaces, begin.job.rule());
        let places = Arc::clone(&self.places);
        let (sender, notices) = (self.sender.clone(), self.notices.clone());
        let thread = std::thread::Builder::new().name("nettrace-begin".to_owned());
        thread.spawn(move || {
            let begun = run(begin, &places);
            lock(&places).under_way.retain(|(other, _)| *other != number);
            // If the receiver is gone, the session is dropped here, which stops it.
            if sender.send(begun).is_ok() {
                let _ = notices.send(Notice::Begun);
            }
        })?;
        self.count += 1;
        self.replaced.extend(replaced);
        self.rules.extend(rule);
        Ok(())
    }

    /// Whether the next file of this recording is about to begin.
    pub(super) fn replaces(&self, number: usize) -> bool {
        self.replaced.contains(&number)
    }

    /// The rules whose recordings are about to begin.
    pub(super) fn rules(&self) -> &[usize] {
        &self.rules
    }

    /// One that is done.
    pub(super) fn next(&mut self) -> Option<Begun> {
        let begun = self.begun.try_recv().ok()?;
        self.count = self.count.saturating_sub(1);
        self.replaced.retain(|number| Some(*number) != begun.begin.replaces);
        let its = |rule: &usize| Some(*rule) == begun.begin.job.rule();
        if let Some(at) = self.rules.iter().position(its) {
            self.rules.swap_remove(at);
        }
        Some(begun)
    }

    /// Waits no longer. Tells whose sessions they were.
    pub(super) fn give_up(&mut self) -> Vec<String> {
        self.count = 0;
        self.replaced.clear();
        self.rules.clear();
        let under_way = std::mem::take(&mut lock(&self.places).under_way);
        let mut labels = Vec::new();
        for (_, label) in under_way {
            labels.push(label);
        }
        // Their threads may never come back to do it.
        crate::new_file::give_up();
        labels
    }
}

fn lock(places: &Mutex<Places>) -> MutexGuard<'_, Places> {
    places.lock().unwrap_or_else(PoisonError::into_inner)
}

fn run(begin: Begin, places: &Mutex<Places>) -> Begun {
    let Begin { whom, job, config, resumes, is_only, replaces } = begin;
    let is_newcomer = matches!(whom, Whom::Arrived(_));
    let reached = match whom {
        Whom::Reached(reached) => reached,
        Whom::Arrived(arrival) => Reached::arrived(arrival),
    };
    let result = start(&reached, &job, resumes, &config, places);
    if result.is_err() && (is_newcomer || resumes) {
        // One that cannot be recorded must not wait for ever.
        let _ = reached.runtime.resume();
    }
    Begun { begin: How { job, is_only, replaces }, reached, result }
}

/// Starts a session. No file is left behind if that fails.
fn start(
    reached: &Reached,
    job: &Job,
    resumes: bool,
    config: &SessionConfig,
    places: &Mutex<Places>,
) -> Result<Started, Failure> {
    let (path, sink) = {
        let mut places = lock(places);
        let made = match (&mut places.files, job) {
            (Some(files), Job::Record { part }) => Some(files.create(reached, *part)?),
            (Some(files), Job::Rule { path, .. }) => {
                Some((path.clone(), files.create_for_rule(path)?))
            }
            (_, Job::Watch { .. }) | (None, _) => None,
        };
        match (made, &places.outlet) {
            (None, _) if matches!(job, Job::Watch { .. }) => (None, Sink::Nowhere),
            (Some((path, file)), _) if is_packed(&path) => {
                (Some(path), Sink::Packed(GzEncoder::new(file, Compression::fast())))
            }
            (Some((path, file)), _) => (Some(path), Sink::File(file)),
            (None, Some(outlet)) => (None, Sink::Outlet(outlet.clone())),
            (None, None) => (None, Sink::Notices),
        }
    };
    match reached.runtime.start(config) {
        Ok(session) => {
            let resumed = resumes.then(|| reached.runtime.resume());
            // A resume reaches only who waits for us.
            let is_waiting = reached.may_wait
                && reached.runtime.startup().is_ok_and(|startup| startup == Startup::Suspended);
            Ok(Started { session, path, sink, resumed, is_waiting })
        }
        // The file is empty, and goes with its sink.
        Err(error) => Err(reached.failed(&error)),
    }
}
