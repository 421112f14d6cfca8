//! Short sessions of the sampler, each of which ends when every thread was seen.

use crate::args::StackArgs;
use crate::args::profiles::RUNTIME;
use crate::context::Context;
use crate::failure::Failure;
use crate::live::mappings;
use crate::live::method_names;
use crate::live::native::{self, NativeStacks};
use crate::live::os_threads::{self, OsThreads};
use crate::live::signals::Signals;
use crate::live::stream::shared;
use crate::live::target::Reached;
use crate::live::unless_ended::unless_ended;
use nettrace_analysis::live::ThreadStacks;
use nettrace_ipc::{Ending, Level, Provider, Providers, RequestError, Rundown, SessionConfig};
use nettrace_parser::{Error, Reader};
use std::io;
use std::num::NonZeroU32;
use std::time::{Duration, Instant};

const SAMPLER: &str = "Microsoft-DotNETCore-SampleProfiler";
/// Waits for locks that begin during the session: before .NET 10 no method on the stack
/// shows them.
const CONTENTION: u64 = 0x4000;
/// Complete rounds of the sampler that are enough: one has every thread; more make up for
/// samples that the runtime could not write.
const ENOUGH_ROUNDS: u64 = 3;
/// A session of some rounds fills little.
const BUFFER_MEGABYTES: NonZeroU32 = NonZeroU32::new(64).unwrap();
/// How often it is looked at clock, signals and the operating system while nothing comes.
const TICK: Duration = Duration::from_millis(20);
/// With more threads than this, looking at all of them takes longer than a tick.
const MANY_THREADS: usize = 500;

const STOPPED: &str = "the process is stopped, by a signal or a debugger";

/// What sessions have shown.
pub(super) struct Taken {
    pub(super) stacks: ThreadStacks,
    /// All threads that the operating system listed at some time, and those at the end.
    pub(super) os: Result<OsFacts, String>,
    /// With --native: what threads do outside of managed code, or why that cannot be had.
    pub(super) native: Option<Result<NativeStacks, String>>,
    /// Whether it is certain that each thread was seen.
    pub(super) is_complete: bool,
    pub(super) duration: Duration,
}

/// What the operating system said.
#[derive(Debug, Default)]
pub(super) struct OsFacts {
    /// Threads as they were when they were last seen.
    pub(super) threads: OsThreads,
    /// Ids of those that are still there.
    pub(super) alive: std::collections::BTreeSet<u64>,
}

impl OsFacts {
    fn look(&mut self, pid: u64) -> Result<(), String> {
        let now = os_threads::list(pid)?;
        self.alive = now.keys().copied().collect();
        self.threads.extend(now);
        Ok(())
    }
}

/// Sessions with one process, one after the other.
pub(super) struct Taking<'t> {
    reached: &'t Reached,
    signals: &'t Signals,
    args: &'t StackArgs,
    stacks: ThreadStacks,
    os: Result<OsFacts, String>,
    /// Of the latest look: first and last address of memory with code, and its file.
    mappings: Vec<(u64, u64, String)>,
    has_names: bool,
    is_complete: bool,
    start: Instant,
}

impl<'t> Taking<'t> {
    pub(super) fn new(
        reached: &'t Reached,
        signals: &'t Signals,
        args: &'t StackArgs,
    ) -> Taking<'t> {
        let mut os = match (reached.pid, args.target.port.is_some()) {
            (Some(_), _) => Ok(OsFacts::default()),
            (None, _) => Err("the process does not say its id".to_owned()),
        };
        look(&mut os, reached.pid);
        Taking {
            reached,
            signals,
            args,
            stacks: ThreadStacks::new(),
            os,
            mappings: Vec::new(),
            has_names: false,
            is_complete: true,
            start: Instant::now(),
        }
    }

    /// Stacks are about to be taken once more.
    pub(super) fn begin_again(&mut self) {
        self.stacks.begin_session();
    }

    /// One session. `is_last`: names are needed now. False: no other is to follow,
    /// because a signal came or the process has ended.
    pub(super) fn session(
        &mut self,
        is_last: bool,
        context: &mut Context<'_>,
    ) -> Result<bool, Failure> {
        let config = config(is_last).map_err(|error| Failure::Usage(error.to_string()))?;
        let runtime = self.reached.runtime.clone();
        let is_new = self.args.target.port.is_some();
        let started = unless_ended(self.signals, move || {
            let started = runtime.start(&config);
            // Who comes to a port may wait to be resumed.
            let resumed = (is_new && started.is_ok()).then(|| runtime.resume());
            started.map(|session| (session, resumed))
        })?;
        let Some(started) = started else {
            let text = format!("{} did not answer in time", self.reached.label());
            context.messages.warning(&text);
            return Ok(false);
        };
        let (mut session, _) = match started {
            Ok(started) => started,
            // What was taken before is not lost with the process.
            Err(error) if self.stacks.samples() > 0 => {
                context.messages.warning(&format!("{}: {error}", self.reached.label()));
                return Ok(false);
            }
            Err(error) => {
                let mut message = error.to_string();
                if self.is_stopped() {
                    message.push_str(&format!("; {STOPPED}"));
                }
                return Err(Failure::Input { file: self.reached.label(), message });
            }
        };
        session.set_read_timeout(Some(TICK));
        let (session, bytes) = shared(session);
        let mut events = Reader::new(bytes).time_ordered();
        let deadline = Instant::now().checked_add(self.args.timeout.0);
        let mut looked = Instant::now();
        let mut is_stopping = false;
        loop {
            match events.next_event() {
                Ok(Some(event)) => self.stacks.event(&event),
                Ok(None) => break,
                Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => {
                    events.release();
                }
                Err(error) => {
                    let message = format!("its stream cannot be parsed: {error}");
                    return Err(Failure::Input { file: self.reached.label(), message });
                }
            }
            if is_stopping {
                continue;
            }
            let is_seen = self.stacks.rounds() >= ENOUGH_ROUNDS;
            let is_late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
            if is_seen || is_late || self.signals.seen().is_some() {
                is_stopping = true;
                self.is_complete &= self.stacks.rounds() > 0;
                self.stacks.count_stacks();
                look(&mut self.os, self.reached.pid);
                self.look_at_memory();
                let _ = session.borrow().stop_handle().stop_soon();
            } else if looked.elapsed() >= TICK && self.may_look() {
                looked = Instant::now();
                look(&mut self.os, self.reached.pid);
            }
        }
        if !is_stopping {
            // The process has ended.
            self.stacks.count_stacks();
            self.is_complete &= self.stacks.rounds() > 0;
        }
        self.has_names |= events.is_complete() && is_last;
        let is_cut = session.borrow().ending() == Some(Ending::ByTarget) && !events.is_complete();
        Ok(self.signals.seen().is_none() && !is_cut)
    }

    /// Where code lies that the runtime never names, such as precompiled calls of native
    /// functions.
    fn look_at_memory(&mut self) {
        let mappings = self.reached.pid.map(mappings::of_process);
        // A process that has ended has none any more.
        if let Some(mappings) = mappings.filter(|mappings| !mappings.is_empty()) {
            self.mappings = mappings;
        }
    }

    fn may_look(&self) -> bool {
        self.os.as_ref().is_ok_and(|os| os.alive.len() <= MANY_THREADS)
    }

    /// What was seen.
    ///
    /// # Errors
    /// If it was nothing: why.
    pub(super) fn finish(mut self, context: &mut Context<'_>) -> Result<Option<Taken>, Failure> {
        if self.stacks.samples() == 0 {
            if self.signals.seen().is_some() {
                return Ok(None);
            }
            return Err(Failure::Input { file: self.reached.label(), message: self.why_nothing() });
        }
        if !self.has_names {
            // A signal ended it before the session that brings the names.
            let model = self.stacks.model_mut();
            let learnt = method_names::rundown(
                self.reached,
                BUFFER_MEGABYTES,
                &crate::live::signals::Signals::unnoticed(),
                |event| {
                    let _ = model.learn(event);
                },
            );
            if let Err(reason) = learnt {
                let text = "frames are shown as addresses";
                context.messages.warning(&format!("{}: {text}: {reason}", self.reached.label()));
            }
        }
        if let Ok(facts) = &self.os
            && !self.stacks.thread_ids().any(|id| facts.threads.contains_key(&id))
        {
            // Another process, on another machine or in another namespace.
            self.os = Err(format!(
                "process {} of this machine has none of the threads that were seen",
                self.reached.pid.unwrap_or(0)
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

    /// Native stacks, now that the sampler is off: it suspends threads, which shows as
    /// waits that are not the program's.
    fn native(&mut self) -> Result<NativeStacks, String> {
        look(&mut self.os, self.reached.pid);
        let facts = self.os.as_ref().map_err(Clone::clone)?;
        let alive = facts.threads.iter().filter(|(id, _)| facts.alive.contains(id));
        let threads: Vec<u64> = alive.map(|(_, thread)| thread.id).collect();
        native::take(self.reached.pid.unwrap_or(0), &threads)
    }

    /// Whether the process has been stopped, as by SIGSTOP or a debugger.
    fn is_stopped(&self) -> bool {
        let Ok(os) = &self.os else { return false };
        let mut alive = os.threads.iter().filter(|(id, _)| os.alive.contains(id)).peekable();
        alive.peek().is_some() && alive.all(|(_, thread)| matches!(thread.state, 'T' | 't'))
    }

    fn why_nothing(&self) -> String {
        let after = crate::units::duration(
            i64::try_from(self.args.timeout.0.as_nanos()).unwrap_or(i64::MAX),
        );
        let has_ended = self.os.as_ref().is_ok_and(|os| os.alive.is_empty());
        let reason = match () {
            () if has_ended => "it has ended",
            () if self.is_stopped() => STOPPED,
            () => {
                "it has no thread with managed frames, or is too busy to suspend its threads; \
                 give it more time with --timeout"
            }
        };
        format!("no thread was sampled in {after}: {reason}")
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
    let contention = Provider::new(RUNTIME)?.keywords(CONTENTION).level(Level::Informational);
    let providers = Providers::new([sampler, contention])?;
    let rundown = if has_names { method_names::RUNDOWN } else { Rundown::Off };
    Ok(SessionConfig::new(providers).rundown(rundown).buffer_megabytes(BUFFER_MEGABYTES))
}
