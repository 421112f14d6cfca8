//! Starts, watches and stops all recordings of one run, and reports their results.

mod ending;
mod newcomers;
mod recordings;
mod rotation;
mod rules;

pub(super) use newcomers::Newcomers;

use super::files::Files;
use super::guard::Guard;
use super::recording::RecordingEvent;
use super::second_stream::BesideStream;
use super::starts::{Job, PendingStarts, StartRequest, StartResult, Target};
use super::status::{RecordingState, Status};
use crate::args::CollectArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::live::driver::Received;
use crate::live::end_rule::{EndRule, SIGNAL_CHECK};
use crate::live::request;
use crate::live::stdout_queue::StdoutQueue;
use crate::live::thread_times::ThreadTimes;
use crate::new_file::Written;
use nettrace_export::Predicate;
use nettrace_ipc::{Lost, SessionConfig};
use recordings::Active;
use rules::Keep;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// Interval between attempts to begin the next file of a rotation.
const ROTATION_RETRY: Duration = Duration::from_secs(1);

/// Report of another thread.
enum Notice {
    /// Session that has begun or was refused.
    Start(Box<StartResult>),
    /// Event of the recording with this number.
    Recording(usize, RecordingEvent),
}

/// All recordings of one run, and what they share.
pub(super) struct Collector {
    conditions: Vec<Predicate>,
    config: SessionConfig,
    /// Rules, and the configuration of the session that looks for their conditions.
    guard: Option<(Guard, SessionConfig)>,
    keeps: Vec<Keep>,
    starts: PendingStarts,
    /// Queue of bytes for standard output or a pipe; `None` if traces go to files.
    queue: Option<StdoutQueue>,
    /// Name of `queue` in messages: `standard output`, or the path of a pipe.
    queue_name: String,
    has_warned_of_stall: bool,
    /// Parts of the request that runtimes are too old for and that were reported, by process id.
    reported_losses: Vec<(Option<u64>, Lost)>,
    end: EndRule,
    stopping_since: Option<Instant>,
    status: Status,
    keep_after: Duration,
    /// Size in bytes at which a recording ends or rotates; `None` without `--max-size` and
    /// `--rotate`.
    limit: Option<u64>,
    /// Maximum number of files that a rotation keeps for each process; `None` without `--rotate`.
    kept: Option<usize>,
    resumes: bool,
    buffer_megabytes: u32,
    notices: (Sender<Notice>, Receiver<Notice>),
    active: Vec<Active>,
    /// Finished files with process id and number within a rotation, oldest first. Files that a
    /// rotation has removed are not listed.
    finished: VecDeque<(Option<u64>, u64, Written)>,
    /// Names of the providers that options name.
    named: Vec<String>,
    /// Readings of the times of threads; `None` if they are switched off.
    thread_times: Option<ThreadTimes>,
    /// Reasons why times of threads are lacking.
    no_times: BTreeSet<String>,
    /// Second streams of recordings that were cut off, by the file of the recording.
    beside: BTreeMap<PathBuf, BesideStream>,
    /// Number of recordings that have begun.
    count: usize,
    /// Number of processes that were to be recorded.
    wanted: usize,
    /// Totals of all recordings that have ended.
    totals: Received,
    is_damaged: bool,
    has_failed_rule: bool,
    failure: Option<Failure>,
    /// Number of processes that went on unrecorded because file descriptors had run out.
    turned_away: u64,
    /// Number of processes that went on unrecorded because `--children` or `--all` was not given.
    let_go: u32,
}

impl Collector {
    pub(super) fn new(
        args: &CollectArgs,
        config: SessionConfig,
        conditions: Vec<Predicate>,
        guard: Option<(Guard, SessionConfig)>,
        (files, queue): (Option<Files>, Option<StdoutQueue>),
        end: EndRule,
    ) -> Collector {
        let buffer_megabytes = args.session.buffersize.get();
        let thread_times = args.thread_times.interval().map(ThreadTimes::new);
        let limit = args.max_size.map(|size| size.0).or(args.rotate.map(|rotation| rotation.bytes));
        Collector {
            conditions,
            config,
            guard,
            keeps: Vec::new(),
            starts: PendingStarts::new(files, queue.clone(), thread_times.clone(), &end),
            queue,
            queue_name: match args.output.as_deref().filter(|path| *path != Path::new("-")) {
                Some(path) => path.display().to_string(),
                None => "standard output".to_owned(),
            },
            has_warned_of_stall: false,
            reported_losses: Vec::new(),
            end,
            stopping_since: None,
            status: Status::new(false, buffer_megabytes),
            keep_after: args.keep_after.map(|span| span.0).unwrap_or_default(),
            limit,
            kept: args.rotate.map(|rotation| rotation.files),
            resumes: args.resume_runtime,
            buffer_megabytes,
            notices: channel(),
            active: Vec::new(),
            finished: VecDeque::new(),
            named: request::named_providers(&args.session),
            thread_times,
            no_times: BTreeSet::new(),
            beside: BTreeMap::new(),
            count: 0,
            wanted: 0,
            totals: Received::default(),
            is_damaged: false,
            has_failed_rule: false,
            failure: None,
            turned_away: 0,
            let_go: 0,
        }
    }

    /// Returns whether no recording was ever requested.
    pub(super) fn is_empty(&self) -> bool {
        self.wanted == 0
    }

    fn guard(&mut self) -> Option<&mut Guard> {
        self.guard.as_mut().map(|(guard, _)| guard)
    }

    fn is_stopping(&self) -> bool {
        self.stopping_since.is_some()
    }

    /// Starts recording a process. If `resumes`, a process that is suspended at startup is resumed
    /// then. If `is_only`, the command fails if the session cannot be started.
    pub(super) fn add(
        &mut self,
        target: Target,
        mut resumes: bool,
        is_only: bool,
    ) -> Result<(), Failure> {
        self.wanted += 1;
        let request = match &self.guard {
            Some((_, config)) => {
                // With a rotation, the process resumes only once the rotation's session has begun,
                // too.
                let rotation = self.kept.map(|_| std::mem::take(&mut resumes));
                StartRequest::new(Job::Watch { rotation }, config)
            }
            None => StartRequest::new(Job::Record { part: self.kept.map(|_| 1) }, &self.config),
        };
        let request = StartRequest { resumes, is_only, ..request };
        Ok(self.begin(target, request)?)
    }

    /// Requests a session on another thread, which sends the result as [`Notice::Start`].
    fn begin(&mut self, target: Target, request: StartRequest) -> io::Result<()> {
        let notices = self.notices.0.clone();
        // Sending fails only when the command is ending. Dropping the result stops the session.
        let report = move |result| drop(notices.send(Notice::Start(Box::new(result))));
        self.starts.begin(target, request, report)
    }

    /// Handles newcomers and notices until every recording has ended.
    pub(super) fn run(
        &mut self,
        newcomers: &mut Newcomers<'_>,
        context: &mut Context<'_>,
    ) -> Result<(), Failure> {
        loop {
            let is_expecting = !self.is_stopping() && self.admit(newcomers)?;
            self.tell_turned_away(newcomers.turned_away(), context);
            if let Newcomers::LetGo(pids) = newcomers {
                self.tell_let_go(&pids(), context);
            }
            if self.active.is_empty() && !is_expecting && self.starts.count() == 0 {
                self.keep_what_is_due(true, context);
                return Ok(());
            }
            match self.notices.1.recv_timeout(SIGNAL_CHECK) {
                Ok(notice) => self.take(notice, context),
                Err(RecvTimeoutError::Timeout) => {}
                // Cannot fail: `self` holds a sender.
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            while let Ok(notice) = self.notices.1.try_recv() {
                self.take(notice, context);
            }
            self.look_at_queue(context);
            self.look_at_rules(context);
            self.go_on_rotating(context);
            if !self.is_stopping() && self.end.is_due() {
                self.stop_all();
                self.keep_what_is_due(true, context);
            }
            self.begin_later_counters(context);
            self.stop_who_waits_for_a_next_file();
            let state = self.state();
            self.status.show(state);
        }
    }

    /// Warns if standard output is read too slowly, and stops recording if it is no longer read.
    fn look_at_queue(&mut self, context: &mut Context<'_>) {
        let Some(queue) = &self.queue else { return };
        let (has_dropped, is_over) = (queue.has_dropped(), queue.is_cut() || queue.is_broken());
        if has_dropped && !std::mem::replace(&mut self.has_warned_of_stall, true) {
            self.status.clear();
            let text = match is_over {
                true => "is not read: the trace is cut here, and the session is stopped",
                false => "is not read: the trace has a hole from here on",
            };
            context.messages.warning(&format!("{} {text}", self.queue_name));
        }
        if is_over && !self.is_stopping() {
            self.stop_all();
        }
    }

    fn take(&mut self, notice: Notice, context: &mut Context<'_>) {
        let (number, report) = match notice {
            Notice::Start(result) => return self.take_start(*result, context),
            Notice::Recording(number, report) => (number, report),
        };
        match report {
            RecordingEvent::Size => self.take_size(number),
            RecordingEvent::Fired { rule, values } => self.fire(number, rule, values, context),
            RecordingEvent::RuleTrouble { rule, trouble } => {
                let name = self.guard.as_ref().and_then(|(guard, _)| guard.rule(rule));
                let name = name.map(|rule| rule.name.clone()).unwrap_or_default();
                self.status.clear();
                context.messages.warning(&format!("rule {name} {trouble}"));
            }
            RecordingEvent::Condition(place) => {
                // Only the first event that fulfils a condition counts.
                if !self.is_stopping()
                    && let Some(condition) = self.conditions.get(place)
                {
                    self.status.clear();
                    context.messages.note(&format!("{}: stopping", condition.text()));
                    self.conditions.clear();
                    self.end.hasten(self.keep_after);
                }
            }
            RecordingEvent::Trouble(trouble) => {
                self.status.clear();
                let text = "the condition to stop at cannot be met";
                context.messages.warning(&format!("{text}: {trouble}"));
            }
            RecordingEvent::Fault(fault) => {
                self.status.clear();
                context.messages.warning(&fault.text());
            }
            RecordingEvent::Ended => {
                if let Some(at) = self.active.iter().position(|active| active.number == number) {
                    let active = self.active.remove(at);
                    self.take_ended(active, context);
                }
            }
        }
    }

    fn stop_one(&mut self, number: usize) {
        let Some(active) = self.active.iter().find(|active| active.number == number) else {
            return;
        };
        let both = self.active.iter().filter(|other| other.main == active.main);
        both.for_each(|active| active.recording.session.stop());
    }

    fn stop_all(&mut self) {
        self.stopping_since.get_or_insert_with(Instant::now);
        self.end.end_now();
        // A recording whose next file is about to begin is stopped once that has begun.
        let stopped = |active: &&Active| !self.starts.replaces(active.number);
        self.active.iter().filter(stopped).for_each(|active| active.recording.session.stop());
    }

    /// Stops recordings whose next file does not begin in time, because a start that gets no answer
    /// must not delay the stop.
    fn stop_who_waits_for_a_next_file(&mut self) {
        let patience = self.end.signals().patience();
        if self.stopping_since.is_some_and(|since| since.elapsed() >= patience) {
            self.active.iter().for_each(|active| active.recording.session.stop());
        }
    }

    fn state(&self) -> RecordingState {
        let mut received = self.totals;
        let shown = || self.active.iter().filter(|active| !active.job.is_watch());
        shown().for_each(|active| received.add(active.recording.session.received()));
        let are_stopping = self.active.iter().all(Active::is_stopping) && !self.active.is_empty();
        let is_stopping = self.is_stopping() || are_stopping;
        let next_exits_now = self.end.signals().next_exits_now();
        let sessions = shown().count();
        RecordingState { received, sessions, is_stopping, next_exits_now }
    }
}

impl Drop for Collector {
    /// Ends the remaining recordings, because a session that nobody stops would stay in its
    /// process.
    fn drop(&mut self) {
        self.stop_all();
        for active in self.active.drain(..) {
            active.recording.session.stop();
            drop(active.recording.outcome());
        }
    }
}
