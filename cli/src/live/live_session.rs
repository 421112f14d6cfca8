//! A session that feeds a live view: a thread reads it, and who looks at the view locks it
//! for a moment.

use super::driver::{Consumer, Driven, Driver, Next, SessionHandle};
use super::end_rule::EndRule;
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

/// A view and the session that feeds it.
#[derive(Debug)]
pub(crate) struct LiveSession<R> {
    /// As messages name the process.
    pub(crate) label: String,
    pub(crate) pid: Option<u64>,
    /// The process's name; may be empty.
    pub(crate) name: String,
    live: Arc<Mutex<Live<R>>>,
    handle: SessionHandle,
    thread: Option<JoinHandle<Result<Driven, Failure>>>,
    end: SessionEnd,
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
        match &self.fault {
            Some(fault) => Some(format!(": its stream cannot be parsed: {fault}")),
            None if self.is_cut => {
                Some(" exited without completing the session (was it killed?)".to_owned())
            }
            None => None,
        }
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
    /// Starts a session, and reads it on a thread of its own. `None`: it was time to end
    /// before the process answered, which a message says.
    pub(crate) fn start(
        process: &Reached,
        config: SessionConfig,
        resume: Resume,
        report: R,
        end: &EndRule,
        messages: &mut Messages<'_>,
    ) -> Result<Option<LiveSession<R>>, Failure> {
        let session = start::start(process, config, resume, end, messages)?;
        let Some(session) = session else { return Ok(None) };
        let driver = Driver::new(session, Feed::in_time_order()).until(end);
        // Shared by a lock and not sent as events: a view wants sums, and one that draws
        // slowly must not make events pile up.
        let (live, handle) = (Arc::new(Mutex::new(Live::new(report))), driver.handle());
        let mut feeding = Feeding(Arc::clone(&live));
        let thread = std::thread::Builder::new().name("nettrace-view".to_owned());
        let thread = Some(thread.spawn(move || driver.run(&mut feeding))?);
        let (label, pid, name) = (process.label(), process.pid, process.name.clone());
        let end = SessionEnd::default();
        Ok(Some(LiveSession { label, pid, name, live, handle, thread, end }))
    }

    /// Looks at the view.
    pub(crate) fn with<T>(&self, look: impl FnOnce(&mut Live<R>) -> T) -> T {
        look(&mut lock(&self.live))
    }

    /// Events that the process could not send, so far.
    pub(crate) fn lost(&self) -> u64 {
        self.handle.received().lost
    }

    /// Whether the stream has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for the end of the session, now that it is time to end.
    pub(crate) fn end(&mut self) -> &SessionEnd {
        if let Some(thread) = self.thread.take() {
            let panicked = |_| Err(Failure::Output(io::Error::other("the thread panicked")));
            self.end = match thread.join().unwrap_or_else(panicked) {
                Ok(read) => SessionEnd { is_cut: read.is_cut(), fault: read.fault },
                Err(failure) => SessionEnd { is_cut: false, fault: Some(failure.to_string()) },
            };
        }
        &self.end
    }
}
