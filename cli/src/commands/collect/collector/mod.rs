//! All recordings of one run: starts, watches and stops them, and reports the results.

mod ending;
mod newcomers;
mod recordings;
mod rotation;
mod rules;

pub(super) use newcomers::Newcomers;

use super::files::Files;
use super::guard::Guard;
use super::recording::RecordingEvent;
use super::starts::{Job, PendingStarts, StartRequest, StartResult, Target};
use super::status::{RecordingState, Status};
use crate::args::CollectArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::live::driver::Received;
use crate::live::end_rule::{EndRule, SIGNAL_CHECK};
use crate::live::stdout_queue::StdoutQueue;
use crate::new_file::Written;
use nettrace_export::Predicate;
use nettrace_ipc::{Lost, SessionConfig};
use recordings::Active;
use rules::Keep;
use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// Interval between attempts to begin the next file of a rotation.
const ROTATION_RETRY: Duration = Duration::from_secs(1);

/// What other threads report.
enum Notice {
    /// A session has begun, or was refused.
    Start(Box<StartResult>),
    /// The recording with this number reports something.
    Recording(usize, RecordingEvent),
}

/// All recordings of one run.
pub(super) struct Collector {
    conditions: Vec<Predicate>,
    config: SessionConfig,
    /// Rules, and the session in which they look for their conditions.
    guard: Option<(Guard, SessionConfig)>,
    keeps: Vec<Keep>,
    starts: PendingStarts,
    /// Standard output or a pipe, if the trace goes there.
    queue: Option<StdoutQueue>,
    /// What messages call it.
    queue_name: String,
    has_warned_of_stall: bool,
    /// The parts of the request that runtimes are too old for, as reported for each process.
    reported_losses: Vec<(Option<u64>, Lost)>,
    end: EndRule,
    stopping_since: Option<Instant>,
    status: Status,
    keep_after: Duration,
    /// The size at which a recording ends.
    limit: Option<u64>,
    /// Number of files of each process that are kept.
    kept: Option<usize>,
    resumes: bool,
    buffer_megabytes: u32,
    notices: (Sender<Notice>, Receiver<Notice>),
    active: Vec<Active>,
    /// Finished files by process and number within a rotation, oldest first. Those that a
    /// rotation has removed are not among them.
    finished: VecDeque<(Option<u64>, u64, Written)>,
    /// Recordings that have begun.
    count: usize,
    /// Processes that were to be recorded.
    wanted: usize,
    /// Totals of all recordings that have ended.
    totals: Received,
    is_damaged: bool,
    has_failed_rule: bool,
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
        (files, queue): (Option<Files>, Option<StdoutQueue>),
        end: EndRule,
    ) -> Collector {
        let buffer_megabytes = args.session.buffersize.get();
        let limit = args.max_size.map(|size| size.0).or(args.rotate.map(|rotation| rotation.bytes));
        Collector {
            conditions,
            config,
            guard,
            keeps: Vec::new(),
            starts: PendingStarts::new(files, queue.clone(), &end),
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

    /// Records a process; afterwards, if wanted, lets it go in case it waits at startup.
    /// `is_only`: the command fails if that cannot be done.
    pub(super) fn add(
        &mut self,
        target: Target,
        mut resumes: bool,
        is_only: bool,
    ) -> Result<(), Failure> {
        self.wanted += 1;
        let request = match &self.guard {
            Some((_, config)) => {
                // With a rotation, the process resumes only once the rotation's session has begun, too.
                let rotation = self.kept.map(|_| std::mem::take(&mut resumes));
                StartRequest::new(Job::Watch { rotation }, config)
            }
            None => StartRequest::new(Job::Record { part: self.kept.map(|_| 1) }, &self.config),
        };
        let request = StartRequest { resumes, is_only, ..request };
        Ok(self.begin(target, request)?)
    }

    /// Asks for a session.
    fn begin(&mut self, target: Target, request: StartRequest) -> io::Result<()> {
        let notices = self.notices.0.clone();
        // Fails only when the command is ending; the session is then stopped by its drop.
        let report = move |result| drop(notices.send(Notice::Start(Box::new(result))));
        self.starts.begin(target, request, report)
    }

    /// Watches until all has ended.
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

    /// Warns if standard output is read too slowly, and stops if it is not read any more.
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
                // The first event counts.
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
        // One whose next file is about to begin is stopped after that, as in any
        // rotation.
        let stopped = |active: &&Active| !self.starts.replaces(active.number);
        self.active.iter().filter(stopped).for_each(|active| active.recording.session.stop());
    }

    /// Stops recordings whose next file does not begin in time: a start that gets no answer must not
    /// delay the stop.
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
    /// Ends recordings that are still there: a session that nobody stops would stay in the
    /// process.
    fn drop(&mut self) {
        self.stop_all();
        for active in self.active.drain(..) {
            active.recording.session.stop();
            drop(active.recording.outcome());
        }
    }
}
