//! A recording from its session's start on: its thread, its later EventCounters, its warnings.

use super::{Collector, Notice, ROTATION_RETRY};
use crate::commands::collect::recording::{Recorder, Recording, RecordingEvent, Sought};
use crate::commands::collect::second_stream::{self, SecondStream};
use crate::commands::collect::starts::{
    Job, LaterCounters, StartRequest, StartResult, Started, Stream, Target,
};
use crate::commands::collect::status::Status;
use crate::context::Context;
use crate::failure::Failure;
use crate::failure::with_causes;
use crate::live::first_values::FirstValues;
use crate::live::metrics_apart;
use crate::live::request;
use crate::live::target::Reached;
use crate::live::thread_times::ThreadTimes;
use crate::units;
use nettrace_export::Trigger;
use nettrace_ipc::{Error, Lost, Session, SessionConfig};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Maximum bytes of the rundown that a process sends at the end, after the events in its buffers.
const MAX_RUNDOWN_BYTES: u64 = 64 << 20;

/// Note about a rotation whose next file was refused because the process has ended.
pub(super) const NO_NEXT_FILE: &str = "the process has ended; all files of its rotation are whole";

/// Reason why a program that was started has no file with its EventCounters.
pub(super) const NO_COUNTERS: &str = "EventCounters were not recorded: they begin after the first values of its metrics, and \
                                      the recording ended before";

/// One recording that has not ended.
pub(super) struct Active {
    pub(super) number: usize,
    /// Number of the main recording, which is stopped together with those of its metrics; equal to
    /// `number` for the main recording itself.
    pub(super) main: usize,
    pub(super) reached: Reached,
    /// Path of the file; `None` if the trace goes to standard output, or is only searched.
    pub(super) path: Option<PathBuf>,
    pub(super) job: Job,
    /// Rule that keeps the rotation's files, and the session in which it fired.
    pub(super) keeps: Option<(usize, usize)>,
    /// Time at which the session is stopped; `None` without a rule's duration.
    pub(super) deadline: Option<Instant>,
    pub(super) recording: Recording,
    pub(super) start: Instant,
    /// Time of the next attempt to go on in a new file; `None` if this file is not full.
    pub(super) full_since: Option<Instant>,
    /// Reason why the latest attempt to go on in a new file failed.
    pub(super) refused: Option<Failure>,
    /// Names of the providers that the session asks for.
    pub(super) providers: Vec<String>,
    /// EventCounters that are requested after the first values of this recording's metrics.
    pub(super) later: Option<(SessionConfig, LaterCounters)>,
}

impl Active {
    /// Returns the number of the file within a rotation; 1 without a rotation.
    pub(super) fn part(&self) -> u64 {
        self.job.part().unwrap_or(1)
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.recording.session.is_stopping()
    }
}

impl Collector {
    /// Records a session that has started, or reports why it could not be started.
    pub(super) fn take_start(&mut self, start: StartResult, context: &mut Context<'_>) {
        self.starts.take_answer(&start);
        let StartResult { request, started, .. } = start;
        let is_first = request.replaces.is_none();
        let recorded = started.and_then(|(reached, started)| {
            match &request.later {
                Some(later) => {
                    let job = request.job.clone();
                    self.record_later(started.stream, later, &reached, job, context)?;
                }
                None => self.record(started, &reached, request.job.clone(), is_first, context)?,
            }
            Ok(reached)
        });
        let failure = match recorded {
            Ok(reached) => {
                if let (Some(resumes), None) = (request.job.begins_rotation(), &request.later) {
                    self.begin_rotation(reached, resumes, context);
                }
                if let Some(replaced) = request.replaces {
                    self.stop_one(replaced);
                }
                return;
            }
            Err(failure) => failure,
        };
        self.status.clear();
        if let Some((rule, watch)) = request.job.rule() {
            self.fail_rule(rule, watch, &failure, context);
            return;
        }
        match request.replaces {
            // `stop_all` left this recording running for its next file, which does not come.
            Some(number) if self.is_stopping() => self.stop_one(number),
            Some(number) => {
                // If the process is ending, the recording ends before the next attempt. Otherwise
                // the file grows.
                match self.active.iter_mut().find(|active| active.number == number) {
                    Some(active) => {
                        active.full_since = Instant::now().checked_add(ROTATION_RETRY);
                        active.refused = Some(failure);
                    }
                    None => context.messages.note(NO_NEXT_FILE),
                }
            }
            None if request.is_only => {
                self.failure.get_or_insert(failure);
            }
            None if request.later.is_some() && self.is_stopping() => {
                context.messages.warning(NO_COUNTERS);
            }
            // One failure must not end the other recordings.
            None => context.messages.error(&failure),
        }
    }

    /// Records a session that has begun, and the session with its metrics, if they have their own.
    fn record(
        &mut self,
        started: Started,
        reached: &Reached,
        job: Job,
        is_first: bool,
        context: &mut Context<'_>,
    ) -> Result<(), Failure> {
        let Started { stream, metrics, later, first_values, resumed, held_by, is_waiting } =
            started;
        let number = self.count;
        if is_first {
            self.report_lost(&stream.session, reached, &job, context);
            let counters = later.as_ref().and_then(|(_, path)| path.as_deref());
            self.tell_start(&stream, metrics.as_ref(), counters, reached, &job, context);
        }
        // A rotation that begins next resumes the process.
        let is_waiting = is_waiting && is_first && job.begins_rotation() != Some(true);
        warn_of_startup(reached, resumed, is_waiting, context);
        if !held_by.is_empty() {
            let ports = held_by.join(" and ");
            context.messages.warning(&format!(
                "{}: another port still holds the process, which waits for {ports}; resume it from there",
                reached.label()
            ));
        }
        let trigger = (!self.conditions.is_empty()).then(|| Trigger::new(self.conditions.clone()));
        let sought = match self.guard.as_mut().filter(|_| job.is_watch()) {
            Some((guard, _)) => {
                Sought { trigger: None, watchers: guard.watch(number, reached.label()) }
            }
            None => Sought { trigger, watchers: Vec::new() },
        };
        let sought = Arc::new(Mutex::new(sought));
        self.drive(stream, number, (&sought, &first_values), reached, job.clone())?;
        if self.count == 1 {
            // `--duration` counts from the first session, not from the request for it.
            self.status = Status::new(context.shows_status, self.buffer_megabytes);
            self.end.begin();
        }
        if let Some(metrics) = metrics {
            self.drive(metrics, number, (&sought, &first_values), reached, job)?;
        }
        // The session that was added last has the metrics.
        if let (Some((config, path)), Some(last)) = (later, self.active.last_mut()) {
            let counters = LaterCounters { main: number, path, sought, first_values };
            last.later = Some((config, counters));
        }
        // A signal came while the session was being started.
        if self.is_stopping() {
            self.stop_one(number);
        }
        Ok(())
    }

    /// Requests EventCounters of a recording whose metrics have sent their first values.
    pub(super) fn begin_later_counters(&mut self, context: &mut Context<'_>) {
        let may_begin = |active: &Active| {
            active.later.is_some() && active.recording.session.first_values().let_counters_begin()
        };
        let ready = self.active.iter().position(may_begin);
        // Tested after `ready`, so that a signal that came before the first values is seen.
        if self.is_stopping() || self.end.is_due() {
            return;
        }
        let next = ready.and_then(|at| {
            let active = self.active.get_mut(at)?;
            let (config, later) = active.later.take()?;
            Some((active.reached.clone(), active.job.clone(), config, later))
        });
        let Some((reached, job, config, later)) = next else {
            return;
        };
        let request = StartRequest { later: Some(later), ..StartRequest::new(job, &config) };
        if let Err(error) = self.begin(Target::Reached(reached), request) {
            self.status.clear();
            context.messages.warning(&format!("EventCounters are not recorded: {error}"));
        }
    }

    /// Records a session with EventCounters, which began after the first values of its recording's
    /// metrics. If that recording has ended, drops the stream, which stops the session.
    fn record_later(
        &mut self,
        stream: Stream,
        later: &LaterCounters,
        reached: &Reached,
        job: Job,
        context: &mut Context<'_>,
    ) -> Result<(), Failure> {
        if !self.active.iter().any(|active| active.main == later.main) {
            context.messages.warning(&format!("{}: {NO_COUNTERS}", reached.label()));
            return Ok(());
        }
        let shared = (&later.sought, &later.first_values);
        self.drive(stream, later.main, shared, reached, job)?;
        if self.is_stopping() {
            self.stop_one(later.main);
        }
        Ok(())
    }

    /// Reads a session on a thread of its own.
    fn drive(
        &mut self,
        mut stream: Stream,
        main: usize,
        (sought, first_values): (&Arc<Mutex<Sought>>, &Arc<FirstValues>),
        reached: &Reached,
        job: Job,
    ) -> Result<(), Failure> {
        let number = self.count;
        let (limit, duration) = self.bounds(&job);
        let rest = (u64::from(self.buffer_megabytes) << 20).saturating_add(MAX_RUNDOWN_BYTES);
        // A stopped session still sends its buffers and its rundown, which names the methods.
        let max_bytes = limit.map(|limit| limit.saturating_add(rest));
        let notices = self.notices.0.clone();
        let report = Box::new(move |event| {
            // A rule belongs to the main recording, whichever session of the process makes it fire.
            let is_of_process = matches!(event, RecordingEvent::Fired { .. });
            let from = if is_of_process { main } else { number };
            drop(notices.send(Notice::Recording(from, event)));
        });
        let (sought, is_beside) = (Arc::clone(sought), main != number);
        let second = self.second_stream(&mut stream, &job);
        let faulty = Vec::new();
        let recorder = Recorder { report, limit, max_bytes, sought, is_beside, faulty, second };
        let recording = Recording::start(stream.session, stream.sink, first_values, recorder)?;
        self.count += 1;
        self.active.push(Active {
            number,
            main,
            reached: reached.clone(),
            path: stream.path,
            providers: stream.providers,
            job,
            keeps: None,
            deadline: duration.and_then(|duration| Instant::now().checked_add(duration)),
            recording,
            start: Instant::now(),
            full_since: None,
            refused: None,
            later: None,
        });
        Ok(())
    }

    /// Begins the second stream of a recording that goes to a file. One with samples has the times
    /// of its threads.
    fn second_stream(&mut self, stream: &mut Stream, job: &Job) -> Option<SecondStream> {
        if job.is_watch() {
            return None;
        }
        let path = stream.path.clone().filter(|path| second_stream::is_file(path));
        let Some(path) = path else {
            let is_possible = self.thread_times.as_ref().is_some_and(ThreadTimes::is_possible);
            if is_possible && second_stream::has_samples(&stream.providers) {
                self.no_times.insert(format!("{} takes one stream", self.queue_name));
            }
            return None;
        };
        let asked = self.named.iter().filter(|name| stream.providers.contains(name)).cloned();
        let (readings, asked) = (stream.readings.take(), asked.collect());
        Some(SecondStream::new(path, readings, asked, stream.is_attached))
    }

    /// Reports what is recorded, and to which files.
    fn tell_start(
        &self,
        stream: &Stream,
        metrics: Option<&Stream>,
        counters: Option<&Path>,
        reached: &Reached,
        job: &Job,
        context: &mut Context<'_>,
    ) {
        let label = reached.label();
        let file = |path: &Path| path.display().to_string();
        let main = stream.path.as_deref().map_or(self.queue_name.clone(), file);
        context.messages.note(&match self.guard.as_ref().filter(|_| job.is_watch()) {
            Some((guard, _)) => {
                let rules = units::counted(guard.rules.all.len() as u64, "rule");
                format!("watching {label} by {rules}")
            }
            None => format!("recording {label} to {main}"),
        });
        let metrics = metrics.and_then(|metrics| metrics.path.as_deref());
        for (what, path) in [("metrics", metrics), ("EventCounters", counters)] {
            let Some(path) = path else { continue };
            let (path, reason) = (path.display(), metrics_apart::REASON);
            context.messages.note(&format!("recording {what} of {label} to {path}: {reason}"));
        }
    }

    /// Warns about parts of the request that the runtime is too old for.
    fn report_lost(
        &mut self,
        session: &Session,
        reached: &Reached,
        job: &Job,
        context: &mut Context<'_>,
    ) {
        // Filters that the command adds beside method names only save bytes: the user did not
        // ask for them.
        let is_asked = |lost: &&Lost| match lost {
            Lost::StacksOff => !job.is_watch(),
            Lost::EventFilter { provider } => !self.config.providers().iter().any(|asked| {
                asked.name() == provider && request::leaves_out_what_names_bring(asked)
            }),
            _ => true,
        };
        for lost in session.lost().iter().filter(is_asked) {
            // Rules record a process repeatedly; one warning is enough.
            let key = (reached.pid, lost.clone());
            if !self.reported_losses.contains(&key) {
                let text = "this runtime is too old for part of the request";
                context.messages.warning(&format!("{}: {text}: {lost}", reached.label()));
                self.reported_losses.push(key);
            }
        }
    }

    /// Marks a rotation's file as full, so that the next begins; stops any other recording that has
    /// reached its size.
    pub(super) fn take_size(&mut self, number: usize) {
        let rotates = |active: &&mut Active| active.number == number && active.job.part().is_some();
        match self.active.iter_mut().find(rotates) {
            Some(active) => active.full_since = Some(Instant::now()),
            None => self.stop_one(number),
        }
    }
}

/// Warns that a process was not resumed, or is suspended for another tool's port.
fn warn_of_startup(
    reached: &Reached,
    resumed: Option<Result<(), Error>>,
    is_waiting: bool,
    context: &mut Context<'_>,
) {
    // Only a warning: the session goes on, and a process that does not wait loses nothing.
    if let Some(Err(error)) = &resumed {
        context.messages.warning(&format!(
            "{}: not resumed: {}",
            reached.label(),
            with_causes(error)
        ));
    }
    if is_waiting {
        let text = match resumed {
            Some(_) => {
                "is suspended at startup: another port still holds the process; resume it from there"
            }
            None => {
                "waits at startup: nettrace process resume lets it go, unless it waits for a port"
            }
        };
        context.messages.warning(&format!("{} {text}", reached.label()));
    }
}
