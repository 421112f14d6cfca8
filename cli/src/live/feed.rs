//! A session that feeds a live view: a thread reads it, and a reader of the view locks it
//! for a moment.

use super::stream::shared;
use nettrace_analysis::live::{Live, LiveReport};
use nettrace_ipc::{Ending, Session, StopHandle};
use nettrace_parser::{Error, Reader};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Bytes come in bursts. After this much time without any, events that were held back for
/// sorting by time are shown.
const SILENCE: Duration = Duration::from_millis(50);
/// How often losses are looked up, in events.
const LOOK: u64 = 1024;
/// How long what a process still sends after being asked to stop is read.
const REST: Duration = Duration::from_secs(2);
const TICK: Duration = Duration::from_millis(10);

/// A view and the session that feeds it.
#[derive(Debug)]
pub(crate) struct Feed<R> {
    /// As messages name the process.
    pub(crate) label: String,
    pub(crate) pid: Option<u64>,
    /// The process's name; may be empty.
    pub(crate) name: String,
    live: Arc<Mutex<Live<R>>>,
    counts: Arc<Counts>,
    stop: StopHandle,
    thread: JoinHandle<FeedEnd>,
}

/// What can be asked without the view.
#[derive(Debug, Default)]
struct Counts {
    lost: AtomicU64,
    is_abandoned: AtomicBool,
}

/// How a session ended.
#[derive(Debug, Default)]
pub(crate) struct FeedEnd {
    /// Events that the process could not send.
    pub(crate) lost: u64,
    /// The process went away in the middle of it.
    pub(crate) is_cut: bool,
    /// The stream cannot be read.
    pub(crate) fault: Option<String>,
}

impl<R: LiveReport + Send + 'static> Feed<R> {
    /// Reads the session on a thread of its own.
    pub(crate) fn start(
        process: &super::target::Reached,
        mut session: Session,
        report: R,
    ) -> io::Result<Feed<R>> {
        session.set_read_timeout(Some(SILENCE));
        let stop = session.stop_handle();
        let live = Arc::new(Mutex::new(Live::new(report)));
        let counts = Arc::new(Counts::default());
        let (own_live, own_counts) = (Arc::clone(&live), Arc::clone(&counts));
        let thread = std::thread::Builder::new().name("nettrace-feed".to_owned());
        let thread = thread.spawn(move || feed(session, &own_live, &own_counts))?;
        let (label, pid, name) = (process.label(), process.pid, process.name.clone());
        Ok(Feed { label, pid, name, live, counts, stop, thread })
    }

    /// Looks at the view.
    pub(crate) fn with<T>(&self, look: impl FnOnce(&mut Live<R>) -> T) -> T {
        look(&mut self.live.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Events that the process could not send, so far.
    pub(crate) fn lost(&self) -> u64 {
        self.counts.lost.load(Ordering::Relaxed)
    }

    /// Whether the stream has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.thread.is_finished()
    }

    /// Begins to stop the session.
    pub(crate) fn stop(&self) {
        // Without a thread to stop it on, it is stopped when it is dropped.
        let _ = self.stop.stop_soon();
    }

    /// Waits for what the process still sends, though not for long, and gives the view.
    pub(crate) fn end(&self) {
        let start = Instant::now();
        while !self.is_over() && start.elapsed() < REST {
            std::thread::sleep(TICK);
        }
        self.counts.is_abandoned.store(true, Ordering::Relaxed);
    }

    /// How it ended; `None` if the process has not let go of it.
    pub(crate) fn outcome(self) -> Option<FeedEnd> {
        let panicked = |_| FeedEnd {
            fault: Some("the reading thread panicked".to_owned()),
            ..FeedEnd::default()
        };
        self.is_over().then(|| self.thread.join().unwrap_or_else(panicked))
    }
}

fn feed<R: LiveReport>(session: Session, live: &Mutex<Live<R>>, counts: &Counts) -> FeedEnd {
    let (session, bytes) = shared(session);
    let mut events = Reader::new(bytes).time_ordered();
    let (mut count, mut fault) = (0_u64, None);
    while !counts.is_abandoned.load(Ordering::Relaxed) {
        match events.next_event() {
            Ok(Some(event)) => {
                live.lock().unwrap_or_else(PoisonError::into_inner).event(&event);
                count += 1;
            }
            Ok(None) => break,
            Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => {
                events.release();
                counts.lost.store(events.losses().total(), Ordering::Relaxed);
            }
            Err(error) => {
                fault = Some(error.to_string());
                break;
            }
        }
        if count.is_multiple_of(LOOK) {
            counts.lost.store(events.losses().total(), Ordering::Relaxed);
        }
    }
    let lost = events.losses().total();
    counts.lost.store(lost, Ordering::Relaxed);
    let ending = session.borrow().ending();
    FeedEnd { lost, is_cut: ending == Some(Ending::ByTarget) && !events.is_complete(), fault }
}
