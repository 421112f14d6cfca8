//! Sessions that feed a live view: a thread reads each, and who looks at the view locks it
//! for a moment. It is one session, or two where metrics have to be
//! [apart](super::metrics_apart).

use super::driver::{Consumer, Driven, Driver, Next, SessionHandle};
use super::end_rule::EndRule;
use super::metrics_apart::MetricsApart;
use super::start::{self, Resume};
use super::target::Reached;
use crate::failure::Failure;
use crate::messages::Messages;
use nettrace_analysis::live::{Live, LiveReport};
use nettrace_ipc::SessionConfig;
use nettrace_parser::{Event, Feed};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// A view and what feeds it.
#[derive(Debug)]
pub(crate) struct LiveSession<R> {
    /// As messages name the process.
    pub(crate) label: String,
    pub(crate) pid: Option<u64>,
    /// The process's name; may be empty.
    pub(crate) name: String,
    live: Arc<Mutex<Live<R>>>,
    sessions: Vec<Feeder>,
    end: SessionEnd,
}

/// A session, and the thread that reads it.
#[derive(Debug)]
struct Feeder {
    handle: SessionHandle,
    thread: Option<JoinHandle<Result<Driven, Failure>>>,
}

/// How a session ended.
#[derive(Debug, Default)]
pub(crate) struct SessionEnd {
    is_cut: bool,
    fault: Option<String>,
}

impl SessionEnd {
    /// What went wrong, to stand after the process's name.
    pub(crate) fn problem(&self) -> Option<String> {
        if self.is_cut {
            // What cannot be parsed then is what does not come any more.
            return Some(" exited without completing the session (was it killed?)".to_owned());
        }
        self.fault.as_ref().map(|fault| format!(": its stream cannot be parsed: {fault}"))
    }
}

/// Passes events on to the view.
struct Feeding<R>(Arc<Mutex<Live<R>>>);

impl<R: LiveReport> Consumer for Feeding<R> {
    fn event(&mut self, event: &Event<'_>) -> Result<Next, Failure> {
        lock(&self.0).event(event);
        Ok(Next::Read)
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<R: LiveReport + Send + 'static> LiveSession<R> {
    /// Starts what the request needs, and reads each session on a thread of its own.
    /// `None`: it was time to end before the process answered, which a message says.
    pub(crate) fn start(
        process: &Reached,
        config: SessionConfig,
        resume: Resume,
        report: R,
        end: &EndRule,
        messages: &mut Messages<'_>,
    ) -> Result<Option<LiveSession<R>>, Failure> {
        let mut view = LiveSession {
            label: process.label(),
            pid: process.pid,
            name: process.name.clone(),
            // Shared by a lock and not sent as events: a view wants sums, and one that draws
            // slowly must not make events pile up.
            live: Arc::new(Mutex::new(Live::new(report))),
            sessions: Vec::new(),
            end: SessionEnd::default(),
        };
        let is_fed = match MetricsApart::of(process, &config, end)? {
            None => view.feed(process, config, resume, end, messages)?,
            Some(apart) => {
                let is_fed = view.feed(process, apart.metrics.clone(), resume, end, messages)?;
                if let Some(metrics) = view.sessions.first().filter(|_| resume == Resume::Yes) {
                    apart.wait(&metrics.handle, end);
                }
                is_fed && view.feed(process, apart.rest, Resume::No, end, messages)?
            }
        };
        Ok(is_fed.then_some(view))
    }

    /// Starts one session more; false: see [`LiveSession::start`].
    fn feed(
        &mut self,
        process: &Reached,
        config: SessionConfig,
        resume: Resume,
        end: &EndRule,
        messages: &mut Messages<'_>,
    ) -> Result<bool, Failure> {
        let session = start::start(process, config, resume, end, messages)?;
        let Some(session) = session else { return Ok(false) };
        let driver = Driver::new(session, Feed::in_time_order()).until(end);
        let (handle, mut feeding) = (driver.handle(), Feeding(Arc::clone(&self.live)));
        let thread = std::thread::Builder::new().name("nettrace-view".to_owned());
        let thread = Some(thread.spawn(move || driver.run(&mut feeding))?);
        self.sessions.push(Feeder { handle, thread });
        Ok(true)
    }

    /// Looks at the view.
    pub(crate) fn with<T>(&self, look: impl FnOnce(&mut Live<R>) -> T) -> T {
        look(&mut lock(&self.live))
    }

    /// Events that the process could not send, so far.
    pub(crate) fn lost(&self) -> u64 {
        self.sessions.iter().map(|session| session.handle.received().lost).sum()
    }

    /// Whether the streams have ended.
    pub(crate) fn is_over(&self) -> bool {
        let is_over =
            |session: &Feeder| session.thread.as_ref().is_none_or(JoinHandle::is_finished);
        self.sessions.iter().all(is_over)
    }

    /// Waits for the end of the sessions, now that it is time to end.
    pub(crate) fn end(&mut self) -> &SessionEnd {
        for thread in self.sessions.iter_mut().filter_map(|session| session.thread.take()) {
            let panicked = |_| Err(Failure::Output(io::Error::other("the thread panicked")));
            let (is_cut, fault) = match thread.join().unwrap_or_else(panicked) {
                Ok(read) => (read.is_cut(), read.fault),
                Err(failure) => (false, Some(failure.to_string())),
            };
            self.end.is_cut |= is_cut;
            self.end.fault = self.end.fault.take().or(fault);
        }
        &self.end
    }
}

impl Drop for Feeder {
    /// A view that is not shown leaves no session in the process.
    fn drop(&mut self) {
        if self.thread.is_some() {
            self.handle.stop();
        }
    }
}
