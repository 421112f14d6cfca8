//! All recordings of one run: starts them, watches them, ends them, and tells how they
//! ended.

mod ending;
mod newcomers;
mod rotation;
mod rules;

pub(super) use newcomers::Newcomers;

use super::begin::{Begin, Beginnings, Begun, Job, Whom};
use super::files::Files;
use super::guard::Guard;
use crate::args::CollectArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::live::outlet::Outlet;
use crate::live::recording::{Notice, Recording, RecordingPlan};
use crate::live::signals::Signals;
use crate::live::status::{Status, StatusLine};
use crate::live::target::{Reached, TICK};
use crate::live::unless_ended::GRACE;
use crate::new_file::Written;
use crate::units;
use nettrace_export::{Predicate, Trigger};
use nettrace_ipc::{Lost, SessionConfig};
use rules::Keep;
use std::collections::VecDeque;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// Notices that may wait; each may hold a chunk of the trace.
const NOTICES: usize = 64;
/// How often a rotation that failed is tried again.
const RETRY: Duration = Duration::from_secs(1);
/// What a process may have to say at the end, beside the events in its buffers.
const REST: u64 = 64 << 20;

/// One recording.
struct Active {
    number: usize,
    reached: Reached,
    /// None: standard output, or nowhere.
    path: Option<PathBuf>,
    job: Job,
    /// The rotation up to here is kept: by which rule, and in which session it fired.
    keeps: Option<(usize, usize)>,
    /// When it has been long enough.
    deadline: Option<Instant>,
    recording: Recording,
    start: Instant,
    is_stopping: bool,
    /// The file is full; when to try to go on in a new one.
    full_since: Option<Instant>,
}

impl Active {
    /// Number within a rotation.
    fn part(&self) -> u64 {
        match self.job {
            Job::Record { part } => part.unwrap_or(1),
            Job::Watch { .. } | Job::Rule { .. } => 1,
        }
    }

    fn is_watch(&self) -> bool {
        matches!(self.job, Job::Watch { .. })
    }
}

/// All recordings of one run.
pub(super) struct Collector {
    conditions: Vec<Predicate>,
    config: SessionConfig,
    /// Rules, and the session in which they look for their conditions.
    guard: Option<(Guard, SessionConfig)>,
    keeps: Vec<Keep>,
    beginnings: Beginnings,
    /// Standard output or a pipe, if the trace goes there.
    outlet: Option<Outlet>,
    /// What messages call it.
    outlet_name: String,
    has_warned_of_stall: bool,
    /// What was said of runtimes that are too old; of each process once.
    reported_losses: Vec<String>,
    signals: Signals,
    status: Status,
    duration: Option<Duration>,
    keep_after: Duration,
    limit: Option<u64>,
    /// How many files of each process are kept.
    kept: Option<usize>,
    resumes: bool,
    buffer_megabytes: u32,
    notices: (SyncSender<Notice>, Receiver<Notice>),
    active: Vec<Active>,
    /// Finished files by process and number within a rotation, oldest first; of a
    /// rotation those that are kept.
    finished: VecDeque<(Option<u64>, u64, Written)>,
    count: usize,
    /// Processes that were to be recorded.
    wanted: usize,
    /// Recordings are over at this moment.
    deadline: Option<Instant>,
    is_stopping: bool,
    stopping_since: Option<Instant>,
    /// Of recordings that have ended.
    totals: (u64, u64, u64),
    is_damaged: bool,
    failure: Option<Failure>,
    /// Processes that went on unrecorded because descriptors had run out.
    turned_away: u64,
    /// Processes that went on unrecorded because they were not asked for.
    let_go: u32,
}

impl Collector {
    pub(super) fn new(
        args: &CollectArgs,
        config: SessionConfig,
        conditions: Vec<Predicate>,
        guard: Option<(Guard, SessionConfig)>,
        files: Option<Files>,
        outlet: Option<Outlet>,
        signals: Signals,
    ) -> Collector {
        let buffer_megabytes = args.session.buffersize.get();
        let limit = args.max_size.map(|size| size.0).or(args.rotate.map(|rotation| rotation.bytes));
        let notices = sync_channel(NOTICES);
        Collector {
            conditions,
            config,
            guard,
            keeps: Vec::new(),
            beginnings: Beginnings::new(files, outlet.clone(), notices.0.clone()),
            outlet,
            outlet_name: match args.output.as_deref().filter(|path| *path != Path::new("-")) {
                Some(path) => path.display().to_string(),
                None => "standard output".to_owned(),
            },
            has_warned_of_stall: false,
            reported_losses: Vec::new(),
            signals,
            status: Status::new(false, buffer_megabytes),
            duration: args.duration.map(|span| span.0),
            keep_after: args.keep_after.map(|span| span.0).unwrap_or_default(),
            limit,
            kept: args.rotate.map(|rotation| rotation.files),
            resumes: args.resume_runtime,
            buffer_megabytes,
            notices,
            active: Vec::new(),
            finished: VecDeque::new(),
            count: 0,
            wanted: 0,
            deadline: None,
            is_stopping: false,
            stopping_since: None,
            totals: (0, 0, 0),
            is_damaged: false,
            failure: None,
            turned_away: 0,
            let_go: 0,
        }
    }

    /// Whether nothing was ever to be recorded.
    pub(super) fn is_empty(&self) -> bool {
        self.wanted == 0
    }

    /// Records a process; afterwards, if wanted, lets it go in case it waits at startup.
    /// `is_only`: the command fails if that cannot be done.
    pub(super) fn add(
        &mut self,
        whom: Whom,
        mut resumes: bool,
        is_only: bool,
    ) -> Result<(), Failure> {
        self.wanted += 1;
        let (job, config) = match &self.guard {
            Some((_, config)) => {
                let rotation = self.kept.map(|_| std::mem::take(&mut resumes));
                (Job::Watch { rotation }, config.clone())
            }
            None => (Job::Record { part: self.kept.map(|_| 1) }, self.config.clone()),
        };
        Ok(self.beginnings.begin(Begin { whom, job, config, resumes, is_only, replaces: None })?)
    }

    /// A session has begun, or could not.
    fn take_begun(&mut self, begun: Begun, context: &mut Context<'_>) {
        let Begun { begin, reached, result } = begun;
        let failure = match result {
            Ok(started) => {
                let first = begin.replaces.is_none();
                match self.record(started, &reached, begin.job.clone(), first, context) {
                    Ok(()) => {
                        if let Job::Watch { rotation: Some(resumes) } = begin.job {
                            self.begin_rotation(reached, resumes, context);
                        }
                        if let Some(replaced) = begin.replaces {
                            self.stop_one(replaced);
                        }
                        return;
                    }
                    Err(failure) => failure,
                }
            }
            Err(failure) => failure,
        };
        self.status.clear();
        match begin.replaces {
            Some(number) if self.is_stopping => self.stop_one(number),
            Some(number) => {
                // The process may be ending; if not, the file grows until the next try.
                context.messages.warning(&format!("no new file yet: {failure}"));
                if let Some(active) = self.active.iter_mut().find(|active| active.number == number)
                {
                    active.full_since = Instant::now().checked_add(RETRY);
                }
            }
            None if begin.is_only => {
                self.failure.get_or_insert(failure);
            }
            // It must not spoil the others.
            None => {
                context.messages.error(&failure);
                if let (Job::Rule { rule, watch, .. }, Some((guard, _))) =
                    (begin.job, &mut self.guard)
                {
                    guard.rest(rule, watch);
                }
            }
        }
    }

    /// Records a session that has begun.
    fn record(
        &mut self,
        started: super::begin::Started,
        reached: &Reached,
        job: Job,
        is_first: bool,
        context: &mut Context<'_>,
    ) -> Result<(), Failure> {
        let super::begin::Started { session, path, sink, resumed, is_waiting } = started;
        let number = self.count;
        if is_first {
            let is_watch = matches!(job, Job::Watch { .. });
            for lost in session.lost().iter().filter(|lost| !is_watch || **lost != Lost::StacksOff)
            {
                let text = format!(
                    "{}: this runtime is too old for part of the request: {lost}",
                    reached.label()
                );
                // Rules record a process again and again.
                if !self.reported_losses.contains(&text) {
                    context.messages.warning(&text);
                    self.reported_losses.push(text);
                }
            }
            let file =
                path.as_ref().map_or(self.outlet_name.clone(), |path| path.display().to_string());
            context.messages.note(&match &self.guard {
                Some((guard, _)) if is_watch => {
                    let rules = units::counted(guard.rules.all.len() as u64, "rule");
                    format!("watching {} by {rules}", reached.label())
                }
                _ => format!("recording {} to {file}", reached.label()),
            });
        }
        // The session goes on whatever became of this; a process that does not wait loses
        // nothing.
        if let Some(Err(error)) = &resumed {
            context.messages.warning(&format!("{}: not resumed: {error}", reached.label()));
        }
        let is_resumed_later = matches!(job, Job::Watch { rotation: Some(true) });
        if is_waiting && is_first && !is_resumed_later {
            let text = match resumed {
                Some(_) => {
                    "waits at startup for another port than ours: the program that listens there has to resume it"
                }
                None => {
                    "waits at startup: nettrace process resume lets it go, unless it waits for a port"
                }
            };
            context.messages.warning(&format!("{} {text}", reached.label()));
        }
        let trigger = (!self.conditions.is_empty()).then(|| Trigger::new(self.conditions.clone()));
        // Buffers that are still full, and names of everything.
        let rest = (u64::from(self.buffer_megabytes) << 20).saturating_add(REST);
        let (watchers, trigger) = match (&mut self.guard, &job) {
            (Some((guard, _)), Job::Watch { .. }) => (guard.watch(number, reached.label()), None),
            _ => (Vec::new(), trigger),
        };
        let (limit, duration) = self.bounds(&job);
        let plan = RecordingPlan { number, sink, limit, rest, trigger, watchers };
        let recording = Recording::start(session, plan, self.notices.0.clone())?;
        self.count += 1;
        self.active.push(Active {
            number,
            reached: reached.clone(),
            path,
            job,
            keeps: None,
            deadline: duration.and_then(|duration| Instant::now().checked_add(duration)),
            recording,
            start: Instant::now(),
            is_stopping: false,
            full_since: None,
        });
        if self.count == 1 {
            self.status = Status::new(context.shows_status, self.buffer_megabytes);
            self.deadline = self.duration.and_then(|duration| Instant::now().checked_add(duration));
            if let Some(outlet) = &self.outlet {
                outlet.set_deadline(self.deadline);
            }
        }
        if self.is_stopping {
            self.stop_one(number);
        }
        Ok(())
    }

    /// Watches until all has ended.
    pub(super) fn run(
        &mut self,
        newcomers: &mut Newcomers<'_>,
        context: &mut Context<'_>,
    ) -> Result<(), Failure> {
        loop {
            let is_expecting = !self.is_stopping && self.admit(newcomers)?;
            self.tell_turned_away(newcomers.turned_away(), context);
            if let Newcomers::LetGo(pids) = newcomers {
                self.tell_let_go(&pids(), context);
            }
            if self.active.is_empty() && !is_expecting {
                if self.beginnings.is_empty() {
                    self.keep_what_is_due(true, context);
                    return Ok(());
                }
                // One signal ends us, whether the process answers or not.
                if self.stopping_since.is_some_and(|since| since.elapsed() >= GRACE) {
                    for label in self.beginnings.give_up() {
                        let text = "did not answer in time; a session that begins all the same is not recorded";
                        context.messages.warning(&format!("{label} {text}"));
                    }
                    return Ok(());
                }
            }
            match self.notices.1.recv_timeout(TICK) {
                Ok(notice) => self.take(notice, context),
                Err(RecvTimeoutError::Timeout) => {}
                // We hold a sender ourselves.
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            while let Ok(notice) = self.notices.1.try_recv() {
                self.take(notice, context);
            }
            while let Some(begun) = self.beginnings.next() {
                self.take_begun(begun, context);
            }
            self.look_at_outlet(context);
            self.look_at_rules(context);
            self.go_on_rotating(context);
            let is_late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
            if !self.is_stopping && (is_late || self.signals.seen().is_some()) {
                self.stop_all();
                self.keep_what_is_due(true, context);
            }
            self.stop_who_waits_for_a_next_file();
            let state = self.state();
            self.status.show(state);
        }
    }

    /// Standard output may be read too slowly, or no more.
    fn look_at_outlet(&mut self, context: &mut Context<'_>) {
        let Some(outlet) = &self.outlet else { return };
        let (has_thrown, is_over) =
            (outlet.has_thrown(), outlet.is_given_up() || outlet.is_broken());
        if has_thrown && !std::mem::replace(&mut self.has_warned_of_stall, true) {
            self.status.clear();
            let text = match is_over {
                true => "is not read: the trace is cut here, and the session is stopped",
                false => "is not read: the trace has a hole from here on",
            };
            context.messages.warning(&format!("{} {text}", self.outlet_name));
        }
        if is_over && !self.is_stopping {
            self.stop_all();
        }
    }

    fn take(&mut self, notice: Notice, context: &mut Context<'_>) {
        match notice {
            Notice::Bytes(bytes) => {
                let written = context.out.write_all(&bytes).and_then(|()| context.out.flush());
                if let Err(error) = written {
                    // Reported once: the reader of the trace is gone.
                    self.failure.get_or_insert(Failure::Output(error));
                    self.stop_all();
                }
            }
            Notice::Size(number) => {
                let rotates = |active: &&mut Active| {
                    active.number == number && matches!(active.job, Job::Record { part: Some(_) })
                };
                match self.active.iter_mut().find(rotates) {
                    Some(active) => active.full_since = Some(Instant::now()),
                    None => self.stop_one(number),
                }
            }
            Notice::Fired { number, rule, values } => self.fire(number, rule, values, context),
            Notice::RuleTrouble { rule, trouble } => {
                let name = self.guard.as_ref().and_then(|(guard, _)| guard.rule(rule));
                let name = name.map(|rule| rule.name.clone()).unwrap_or_default();
                self.status.clear();
                context.messages.warning(&format!("rule {name} {trouble}"));
            }
            Notice::Begun => {}
            Notice::Event(text) => {
                let end = Instant::now().checked_add(self.keep_after);
                // The first event counts.
                if !self.is_stopping
                    && self.conditions.iter().any(|condition| condition.text() == text)
                {
                    self.conditions.clear();
                    self.status.clear();
                    context.messages.note(&format!("{text}: stopping"));
                    self.deadline = match (self.deadline, end) {
                        (Some(before), Some(end)) => Some(before.min(end)),
                        (before, end) => end.or(before),
                    };
                }
            }
            Notice::Trouble(trouble) => {
                self.status.clear();
                let text = "the condition to stop at cannot be met";
                context.messages.warning(&format!("{text}: {trouble}"));
            }
            Notice::Ended(number) => {
                if let Some(at) = self.active.iter().position(|active| active.number == number) {
                    let active = self.active.remove(at);
                    self.end(active, context);
                }
            }
        }
    }

    fn stop_one(&mut self, number: usize) {
        if let Some(active) =
            self.active.iter_mut().find(|active| active.number == number && !active.is_stopping)
        {
            active.is_stopping = true;
            active.recording.stop();
        }
    }

    fn stop_all(&mut self) {
        self.is_stopping = true;
        self.stopping_since.get_or_insert_with(Instant::now);
        self.signals.end_by_itself();
        let mut numbers: Vec<usize> = self.active.iter().map(|active| active.number).collect();
        // One whose next file is about to begin is stopped after that, as in any
        // rotation.
        numbers.retain(|number| !self.beginnings.replaces(*number));
        for number in numbers {
            self.stop_one(number);
        }
    }

    fn state(&self) -> StatusLine {
        let (mut bytes, mut events, mut lost) = self.totals;
        for active in self.active.iter().filter(|active| !active.is_watch()) {
            let counts = &active.recording.counts;
            bytes += counts.bytes();
            events += counts.events();
            lost += counts.lost();
        }
        let is_stopping = self.is_stopping
            || (self.active.iter().all(|a| a.is_stopping) && !self.active.is_empty());
        let gives_up = self.signals.gives_up();
        StatusLine {
            bytes,
            events,
            lost,
            sessions: self.active.iter().filter(|active| !active.is_watch()).count(),
            is_stopping,
            gives_up,
        }
    }
}

impl Drop for Collector {
    /// A recording that was given up is ended all the same: a session left behind would
    /// stay in the process.
    fn drop(&mut self) {
        self.stop_all();
        // Notices are not taken any more; threads that would wait to send one go on.
        self.notices = sync_channel(1);
        for active in self.active.drain(..) {
            drop(active.recording.outcome());
        }
    }
}
