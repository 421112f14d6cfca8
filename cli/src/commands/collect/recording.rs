//! One session that is written to a file, on its own thread. The bytes are parsed at the
//! same time, to notice losses and events to stop at.

use crate::failure::Failure;
use crate::live::driver::{Consumer, Driven, Driver, Next, Received, SessionHandle};
use crate::live::first_values::FirstValues;
use crate::live::sink::Sink;
use nettrace_export::Trigger;
use nettrace_ipc::Session;
use nettrace_parser::{Event, Feed};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// What a recording reports.
#[derive(Debug)]
pub(super) enum RecordingEvent {
    /// The file has reached its size.
    Size,
    /// An event came at which to stop: the place of the condition that it fulfils.
    Condition(usize),
    /// An event came that shows why a condition cannot be fulfilled.
    Trouble(String),
    /// A rule's condition is fulfilled: its number, and the values of its counters.
    Fired { rule: usize, values: Vec<(String, f64)> },
    /// An event came that shows why a rule's condition cannot be fulfilled.
    RuleTrouble { rule: usize, trouble: String },
    /// The recording has ended.
    Ended,
}

/// Where reports go.
pub(super) type Reporter = Box<dyn Fn(RecordingEvent) + Send>;

/// Looks for the condition of a rule, and reports once that it is fulfilled, until it is armed
/// again.
#[derive(Debug)]
pub(super) struct Watcher {
    pub(super) trigger: Trigger,
    pub(super) is_armed: Arc<AtomicBool>,
    /// Number of values of its counters that have come.
    pub(super) value_count: Arc<AtomicU64>,
}

/// The conditions that a recording looks for. Two sessions of one process share them: a condition
/// may name counters of both.
#[derive(Debug, Default)]
pub(super) struct Sought {
    pub(super) trigger: Option<Trigger>,
    /// One for each rule.
    pub(super) watchers: Vec<Watcher>,
}

/// How a recording ended.
#[derive(Debug)]
pub(super) struct RecordingOutcome {
    pub(super) read: Driven,
    /// Why no condition was fulfilled, if that can be known.
    pub(super) lacking: Option<String>,
}

/// A session being recorded.
#[derive(Debug)]
pub(super) struct Recording {
    pub(super) session: SessionHandle,
    thread: JoinHandle<Result<RecordingOutcome, Failure>>,
}

impl Recording {
    /// Records the session on a thread of its own.
    pub(super) fn start(
        session: Session,
        sink: Sink,
        first_values: &Arc<FirstValues>,
        mut recorder: Recorder,
    ) -> io::Result<Recording> {
        // In stream order: nobody looks at the events but conditions, and sorting would
        // delay them.
        let driver = Driver::new(session, Feed::new()).into_sink(sink);
        let driver = driver.with_first_values(first_values);
        let session = driver.handle();
        let thread = std::thread::Builder::new().name("nettrace-record".to_owned());
        let thread = thread.spawn(move || {
            let read = driver.run(&mut recorder);
            let outcome = read.map(|read| recorder.conclude(read));
            // Last, so that who is notified finds the thread finished, or nearly so.
            (recorder.report)(RecordingEvent::Ended);
            outcome
        })?;
        Ok(Recording { session, thread })
    }

    /// Waits for the end, and returns how it was.
    pub(super) fn outcome(self) -> Result<RecordingOutcome, Failure> {
        let panicked = io::Error::other("the recording thread panicked");
        self.thread.join().unwrap_or(Err(Failure::Output(panicked)))
    }
}

/// Looks at what is recorded.
pub(super) struct Recorder {
    pub(super) report: Reporter,
    /// Size in bytes that is reported once it is reached.
    pub(super) limit: Option<u64>,
    /// Maximum size in bytes, whatever the process sends after the request to stop.
    pub(super) max_bytes: Option<u64>,
    pub(super) sought: Arc<Mutex<Sought>>,
    /// Whether another session of this process reports what did not come.
    pub(super) is_beside: bool,
}

impl Recorder {
    fn sought(&self) -> MutexGuard<'_, Sought> {
        self.sought.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn conclude(&mut self, mut read: Driven) -> RecordingOutcome {
        if read.failure.is_none() && self.max_bytes.is_some_and(|most| read.received.bytes >= most)
        {
            let text =
                "the process keeps sending although it was asked to stop; the file ends here";
            read.failure = Some(io::Error::other(text));
        }
        if self.is_beside {
            return RecordingOutcome { read, lacking: None };
        }
        let sought = self.sought();
        for (rule, watcher) in sought.watchers.iter().enumerate() {
            if let Some(reason) = watcher.trigger.why_not() {
                let trouble = format!("never fired: {reason}");
                (self.report)(RecordingEvent::RuleTrouble { rule, trouble });
            }
        }
        RecordingOutcome { read, lacking: sought.trigger.as_ref().and_then(Trigger::why_not) }
    }
}

impl Consumer for Recorder {
    fn event(&mut self, event: &Event<'_>) -> Result<Next, Failure> {
        let (report, mut sought) = (&self.report, self.sought());
        if let Some(trigger) = &mut sought.trigger {
            trigger.check(event);
            if let Some(place) = trigger.all_fired().first() {
                report(RecordingEvent::Condition(*place));
            }
            if let Some(trouble) = trigger.take_trouble() {
                report(RecordingEvent::Trouble(trouble));
            }
        }
        for (rule, watcher) in sought.watchers.iter_mut().enumerate() {
            let has_fired = watcher.trigger.check(event).is_some();
            watcher.value_count.store(watcher.trigger.value_count(), Ordering::Relaxed);
            // Disarmed here and not by who is notified: until then the condition may be
            // fulfilled a thousand times more.
            if has_fired && watcher.is_armed.swap(false, Ordering::Relaxed) {
                report(RecordingEvent::Fired { rule, values: watcher.trigger.values(0) });
            }
            if let Some(trouble) = watcher.trigger.take_trouble() {
                let trouble = format!("cannot fire: {trouble}");
                report(RecordingEvent::RuleTrouble { rule, trouble });
            }
        }
        Ok(Next::Read)
    }

    fn look(&mut self, received: Received, _: bool) -> Result<Next, Failure> {
        if self.limit.take_if(|limit| received.bytes >= *limit).is_some() {
            (self.report)(RecordingEvent::Size);
        }
        // A process that goes on sending after it was asked to stop must not fill the disk.
        let is_over = self.max_bytes.is_some_and(|most| received.bytes >= most);
        Ok(if is_over { Next::Leave } else { Next::Read })
    }

    /// Returns that there is no pause: whoever owns the recording stops it.
    fn pause(&self) -> Option<Duration> {
        None
    }
}
