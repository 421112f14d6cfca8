//! A session that feeds a live view: a thread reads it, and who looks at the view locks it
//! for a moment.

use super::driver::{Consumer, Driven, Driver, Next, Position, Stop};
use super::target::Reached;
use crate::failure::Failure;
use nettrace_analysis::live::{Live, LiveReport};
use nettrace_ipc::Session;
use nettrace_parser::{Event, Feed};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
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
    lost: Arc<AtomicU64>,
    stop: Stop,
    thread: Option<JoinHandle<Result<Driven, Failure>>>,
    end: SessionEnd,
}

/// How a session ended.
#[derive(Debug, Default)]
pub(crate) struct SessionEnd {
    /// The process went away in the middle of it.
    pub(crate) is_cut: bool,
    /// The stream cannot be read.
    pub(crate) fault: Option<String>,
}

/// Passes events on to the view.
struct Feeding<R> {
    live: Arc<Mutex<Live<R>>>,
    lost: Arc<AtomicU64>,
}

impl<R: LiveReport> Consumer for Feeding<R> {
    fn event(&mut self, event: &Event<'_>) -> Result<Next, Failure> {
        lock(&self.live).event(event);
        Ok(Next::Read)
    }

    fn look(&mut self, position: &Position) -> Result<Next, Failure> {
        self.lost.store(position.lost, Ordering::Relaxed);
        Ok(Next::Read)
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<R: LiveReport + Send + 'static> LiveSession<R> {
    /// Reads the session on a thread of its own.
    pub(crate) fn start(
        process: &Reached,
        session: Session,
        report: R,
    ) -> io::Result<LiveSession<R>> {
        let driver = Driver::new(session, Feed::in_time_order()).without_rest();
        let (live, lost) = (Arc::new(Mutex::new(Live::new(report))), Arc::default());
        let (stop, mut feeding) =
            (driver.stop(), Feeding { live: Arc::clone(&live), lost: Arc::clone(&lost) });
        let thread = std::thread::Builder::new().name("nettrace-view".to_owned());
        let thread = thread.spawn(move || driver.run(&mut feeding))?;
        let (label, pid, name) = (process.label(), process.pid, process.name.clone());
        let thread = Some(thread);
        Ok(LiveSession { label, pid, name, live, lost, stop, thread, end: SessionEnd::default() })
    }

    /// Looks at the view.
    pub(crate) fn with<T>(&self, look: impl FnOnce(&mut Live<R>) -> T) -> T {
        look(&mut lock(&self.live))
    }

    /// Events that the process could not send, so far.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Whether the stream has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Begins to stop the session.
    pub(crate) fn stop(&self) {
        self.stop.begin();
    }

    /// Waits for the end of a session that was stopped.
    pub(crate) fn end(&mut self) -> &SessionEnd {
        if let Some(thread) = self.thread.take() {
            self.end = match thread.join() {
                Ok(Ok(driven)) => SessionEnd { is_cut: driven.is_cut(), fault: driven.fault },
                Ok(Err(failure)) => SessionEnd { is_cut: false, fault: Some(failure.to_string()) },
                Err(_) => {
                    let fault = Some("the reading thread panicked".to_owned());
                    SessionEnd { is_cut: false, fault }
                }
            };
        }
        &self.end
    }
}
