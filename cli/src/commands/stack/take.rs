//! Takes stacks in short sessions of the sampler, which end when every thread was seen.

use super::super::attached::Attached;
use super::natives::Natives;
use crate::args::StackArgs;
use crate::args::profiles::RUNTIME;
use crate::context::Context;
use crate::delays::SIGNAL_PATIENCE;
use crate::failure::{Failure, not_built, with_causes};
use crate::live::driver::{Consumer, Driver, Next, Received};
use crate::live::end_rule::EndRule;
use crate::live::mappings;
use crate::live::method_names;
use crate::live::os_threads::{self, OsThreads};
use crate::live::signals::Signals;
use crate::live::start::{self, Resume};
use crate::live::target::{Reached, STOPPED};
use crate::live::thread_times::{self, ReadSession, Readings, ReadingsTo, ThreadTimes, ThreadsNow};
use nettrace_analysis::live::ThreadStacks;
use nettrace_ipc::{
    Ending, Level, Provider, Providers, RequestError, Rundown, Session, SessionConfig,
};
use nettrace_parser::{Event, Feed};
use std::num::NonZeroU32;
use std::time::{Duration, Instant};

const SAMPLER: &str = "Microsoft-DotNETCore-SampleProfiler";
/// Keyword for waits for locks that begin during the session; before .NET 10, no method on the
/// stack shows these.
const CONTENTION_KEYWORD: u64 = 0x4000;
/// Maximum number of complete rounds of the sampler in a session. One has every thread; more make
/// up for samples that the runtime could not write.
const MAX_ROUNDS: u64 = 3;
/// Size of the session's buffer in megabytes, of which the rounds fill little.
const BUFFER_MEGABYTES: NonZeroU32 = NonZeroU32::new(64).unwrap();
/// Interval at which threads are listed by the operating system.
const OS_LOOK_INTERVAL: Duration = Duration::from_millis(20);
/// Maximum number of threads that are listed during a session; more take longer than the interval.
const MAX_LISTED_THREADS: usize = 500;

/// Minimum time over which a thread's share of a processor is computed; in less time it is chance.
const MIN_OBSERVED_TIME: Duration = Duration::from_millis(20);

/// Stacks and threads that the sessions have shown.
pub(super) struct Taken {
    pub(super) stacks: ThreadStacks,
    /// Threads by the operating system, or the reason why they are not known.
    pub(super) os: Result<OsFacts, String>,
    /// Native stacks of threads; `None` without --native.
    pub(super) native: Option<Natives>,
    /// Whether each thread was certainly seen.
    pub(super) is_complete: bool,
    pub(super) duration: Duration,
}

/// Facts of the operating system about threads.
#[derive(Debug, Default)]
pub(super) struct OsFacts {
    /// All threads that were ever listed, as they were last listed.
    pub(super) threads: OsThreads,
    /// Ids of the threads in the latest list.
    pub(super) alive: std::collections::BTreeSet<u64>,
    /// Time at which each thread was first listed, and its processor time then in nanoseconds.
    first: std::collections::BTreeMap<u64, (Instant, u64)>,
    /// Time of the latest list.
    looked: Option<Instant>,
}

impl OsFacts {
    fn look(&mut self, pid: u64) -> Result<(), String> {
        let now = os_threads::list(pid)?;
        self.alive = now.keys().copied().collect();
        let at = Instant::now();
        for (id, thread) in &now {
            self.first.entry(*id).or_insert((at, thread.cpu_ns));
        }
        self.looked = Some(at);
        self.threads.extend(now);
        Ok(())
    }

    /// Returns the share of a processor that a thread has used since it was first listed; `None` if
    /// that was less than [`MIN_OBSERVED_TIME`] ago.
    pub(super) fn used(&self, thread: u64) -> Option<f64> {
        let ((since, before), last) = (self.first.get(&thread)?, self.looked?);
        let now = self.threads.get(&thread)?.cpu_ns;
        let passed = last.saturating_duration_since(*since);
        (passed >= MIN_OBSERVED_TIME)
            .then(|| now.saturating_sub(*before) as f64 / passed.as_nanos() as f64)
    }
}

/// State of sessions with one process, one after the other.
pub(super) struct Taking<'t> {
    reached: &'t Reached,
    end: &'t EndRule,
    /// Whether the process is resumed, because a process that connects to a port may be suspended.
    resume: Resume,
    args: &'t StackArgs,
    stacks: ThreadStacks,
    os: Result<OsFacts, String>,
    /// Latest code mappings: first and last address, and the file.
    mappings: Vec<(u64, u64, String)>,
    has_names: bool,
    /// Whether the process did not answer or did not end a session in time.
    is_silent: bool,
    is_complete: bool,
    start: Instant,
    /// Time at which the current session has to end.
    deadline: Option<Instant>,
    /// Whether the stacks of the current session were taken.
    is_taken: bool,
    os_looked: Instant,
    /// Latest readings of the threads, if stacks are taken several times.
    now: ThreadsNow,
    readings: Option<Readings>,
    /// Which of the sessions so far, counting from 1, has told its clock to the readings.
    clock: SessionClock,
}

/// How far the readings know the clock of the sessions, which is the one of the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SessionClock {
    /// No session has begun.
    Unknown,
    /// The first session has begun, and has no event yet.
    Begun,
    Known,
}

impl<'t> Taking<'t> {
    pub(super) fn new(attached: &'t Attached, args: &'t StackArgs) -> Taking<'t> {
        let Attached { reached, is_new, end } = attached;
        let mut os = match (reached.pid, args.target.port.is_some()) {
            (Some(_), _) => Ok(OsFacts::default()),
            (None, _) => Err("the process does not say its id".to_owned()),
        };
        look(&mut os, reached.pid_here());
        let interval = args.every.and_then(|_| args.thread_times.interval());
        let times = interval.map(ThreadTimes::new);
        Taking {
            now: ThreadsNow::default(),
            readings: times.and_then(|times| times.begin(reached.pid_here())),
            clock: SessionClock::Unknown,
            reached,
            end,
            resume: if *is_new { Resume::Yes } else { Resume::No },
            args,
            stacks: ThreadStacks::default(),
            os,
            mappings: Vec::new(),
            has_names: false,
            is_silent: false,
            is_complete: true,
            start: Instant::now(),
            deadline: None,
            is_taken: false,
            os_looked: Instant::now(),
        }
    }

    /// Prepares for the next session.
    pub(super) fn begin_again(&mut self) {
        self.look_at_times();
        self.stacks.begin_session();
    }

    /// Runs one session; the last one also brings names. Returns false if no session can follow,
    /// because a signal came or the process has ended.
    pub(super) fn session(
        &mut self,
        is_last: bool,
        context: &mut Context<'_>,
    ) -> Result<bool, Failure> {
        let asked_ns = thread_times::now_ns();
        let Some(session) = self.start(is_last, context)? else {
            self.is_silent = true;
            return Ok(false);
        };
        if let (SessionClock::Unknown, Some(readings)) = (self.clock, &self.readings) {
            let (pid, to) = (session.peer_pid(), ReadingsTo::View(self.now.rows()));
            let answered_ns = thread_times::now_ns();
            readings.take_session(ReadSession { pid, asked_ns, answered_ns, to });
            self.clock = SessionClock::Begun;
        }
        self.deadline = Instant::now().checked_add(self.args.timeout.0);
        self.is_taken = false;
        let driver = Driver::new(session, Feed::new().time_ordered()).until(self.end);
        let read = driver.run(self)?;
        if let Some(fault) = read.fault {
            let message = format!("its stream cannot be parsed: {fault}");
            return Err(Failure::input(self.reached.label(), message));
        }
        // Takes the stacks of a process that ended before it had sent enough rounds.
        self.take();
        self.is_silent = read.ending == Some(Ending::Cut);
        self.has_names |= read.outcome.is_complete && is_last;
        Ok(!self.end.is_due() && !read.is_cut())
    }

    /// Starts a session. Returns `None` after a message if no session has begun.
    fn start(&self, is_last: bool, context: &mut Context<'_>) -> Result<Option<Session>, Failure> {
        let config = config(is_last)?;
        let messages = &mut context.messages;
        let started = start::start_view(self.reached, config, self.resume, self.end, messages);
        match started {
            // Stacks of earlier sessions are kept if the process has ended.
            Err(failure) if self.stacks.samples() > 0 => {
                context.messages.warning(&failure.to_string());
                Ok(None)
            }
            Err(Failure::Input { file, message }) if self.is_stopped() => {
                Err(Failure::input(file, format!("{message}; {STOPPED}")))
            }
            started => started,
        }
    }

    /// Passes the readings of threads since the last call to the stacks.
    fn look_at_times(&mut self) {
        let stacks = &mut self.stacks;
        self.now.look(|ticks, _, threads| stacks.set_threads(ticks, threads.iter().copied()));
    }

    /// Takes the stacks and the operating system's facts at the end of a session.
    fn take(&mut self) {
        if std::mem::replace(&mut self.is_taken, true) {
            return;
        }
        self.is_complete &= self.stacks.rounds() > 0;
        self.stacks.count_stacks();
        look(&mut self.os, self.reached.pid_here());
        self.look_at_memory();
    }

    /// Reads the code mappings, for code that the runtime never names, such as precompiled calls of
    /// native functions.
    fn look_at_memory(&mut self) {
        let mappings = self.reached.pid_here().map(mappings::of_process);
        // A process that has ended has no mappings, so that earlier ones are kept.
        if let Some(mappings) = mappings.filter(|mappings| !mappings.is_empty()) {
            self.mappings = mappings;
        }
    }

    fn may_look(&self) -> bool {
        self.os.as_ref().is_ok_and(|os| os.alive.len() <= MAX_LISTED_THREADS)
    }

    /// Returns the stacks of all sessions; `None` if a signal came before any sample.
    ///
    /// # Errors
    /// No thread was sampled; the failure has the reason.
    pub(super) fn finish(mut self, context: &mut Context<'_>) -> Result<Option<Taken>, Failure> {
        self.look_at_times();
        if self.stacks.samples() == 0 {
            if self.end.is_due() {
                return Ok(None);
            }
            return Err(Failure::input(self.reached.label(), self.why_nothing()));
        }
        if !self.has_names
            && let Err(reason) = self.learn_names()
        {
            let text = "frames are shown as addresses";
            context.messages.warning(&format!("{}: {text}: {reason}", self.reached.label()));
        }
        if let Ok(facts) = &self.os
            && !self.stacks.thread_ids().any(|id| facts.threads.contains_key(&id))
        {
            // The process id is of another machine or namespace.
            self.os = Err(format!(
                "process {} of this machine has none of the threads that were seen",
                self.reached.pid_here().unwrap_or(0)
            ));
        }
        if self.os.is_ok() {
            self.stacks.set_mappings(&self.mappings);
        }
        let native = self.args.native.then(|| self.native());
        Ok(Some(Taken {
            stacks: self.stacks,
            native,
            os: self.os,
            is_complete: self.is_complete,
            duration: self.start.elapsed(),
        }))
    }

    /// Learns names in a short session of their own, because a signal came before the last session.
    fn learn_names(&mut self) -> Result<(), String> {
        if self.is_silent {
            return Err("it does not answer".to_owned());
        }
        let deadlines = self.reached.runtime.current_deadlines().drain(Duration::ZERO);
        let moment = EndRule::new(&Signals::none(), Some(SIGNAL_PATIENCE / 2), &deadlines);
        moment.begin();
        let model = self.stacks.model_mut();
        method_names::rundown(self.reached, BUFFER_MEGABYTES, &moment, |event| {
            let _ = model.learn(event);
        })
    }

    /// Takes native stacks after the sampler's session, because threads that the sampler suspends
    /// would seem to wait.
    fn native(&mut self) -> Natives {
        if !cfg!(feature = "symbols") {
            return Err(not_built("native frames", "symbols"));
        }
        look(&mut self.os, self.reached.pid_here());
        let facts = self.os.as_ref().map_err(Clone::clone)?;
        let alive = facts.threads.iter().filter(|(id, _)| facts.alive.contains(id));
        let threads: Vec<u64> = alive.map(|(_, thread)| thread.id).collect();
        nettrace_native::take(self.reached.pid_here().unwrap_or(0), &threads)
            .map_err(|error| with_causes(&error))
    }

    /// Returns whether the process is stopped by SIGSTOP or a debugger.
    fn is_stopped(&self) -> bool {
        let Ok(os) = &self.os else { return false };
        let alive = os.threads.iter().filter(|(id, _)| os.alive.contains(id));
        os_threads::are_stopped(alive.map(|(_, thread)| thread))
    }

    fn why_nothing(&self) -> String {
        let after = crate::units::duration(
            i64::try_from(self.args.timeout.0.as_nanos()).unwrap_or(i64::MAX),
        );
        let has_ended = self.os.as_ref().is_ok_and(|os| os.alive.is_empty());
        let reason = if has_ended {
            "it has ended"
        } else if self.is_stopped() {
            STOPPED
        } else {
            "it has no thread with managed frames, or is too busy to suspend its threads; \
             give it more time with --timeout"
        };
        format!("no thread was sampled in {after}: {reason}")
    }
}

impl Consumer for Taking<'_> {
    fn event(&mut self, event: &Event<'_>) -> Result<Next, Failure> {
        if let (SessionClock::Begun, Some(readings)) = (self.clock, &self.readings) {
            readings.take_header(event.session());
            self.clock = SessionClock::Known;
        }
        self.stacks.event(event);
        if self.is_taken || self.stacks.rounds() < MAX_ROUNDS {
            return Ok(Next::Read);
        }
        self.take();
        Ok(Next::Stop)
    }

    fn look(&mut self, _: Received, _: bool) -> Result<Next, Failure> {
        self.look_at_times();
        if self.is_taken {
            return Ok(Next::Read);
        }
        let is_late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if is_late || self.end.is_due() {
            self.take();
            return Ok(Next::Stop);
        }
        if self.os_looked.elapsed() >= OS_LOOK_INTERVAL && self.may_look() {
            self.os_looked = Instant::now();
            look(&mut self.os, self.reached.pid_here());
        }
        Ok(Next::Read)
    }

    fn pause(&self, _: Duration) -> Option<Duration> {
        Some(OS_LOOK_INTERVAL)
    }
}

fn look(os: &mut Result<OsFacts, String>, pid: Option<u64>) {
    let Some(pid) = pid else { return };
    if let Ok(facts) = os
        && let Err(reason) = facts.look(pid)
        && facts.threads.is_empty()
    {
        *os = Err(reason);
    }
}

fn config(has_names: bool) -> Result<SessionConfig, RequestError> {
    let sampler = Provider::new(SAMPLER)?.keywords(0).level(Level::Verbose);
    let contention =
        Provider::new(RUNTIME)?.keywords(CONTENTION_KEYWORD).level(Level::Informational);
    let providers = Providers::new([sampler, contention])?;
    let rundown = if has_names { method_names::RUNDOWN } else { Rundown::Off };
    Ok(SessionConfig::new(providers).rundown(rundown).buffer_megabytes(BUFFER_MEGABYTES))
}
