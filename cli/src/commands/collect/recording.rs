//! Writes one session to a file, on a thread of its own, and parses the bytes for losses and for
//! events that fulfil conditions.

use super::second_stream::{BesideStream, SecondStream};
use crate::failure::Failure;
use crate::live::driver::{Consumer, Driven, Driver, Next, Received, SessionHandle, StreamEnd};
use crate::live::first_values::FirstValues;
use crate::live::sink::Sink;
use nettrace_analysis::findings::SourceFault;
use nettrace_export::Trigger;
use nettrace_ipc::Session;
use nettrace_parser::{Event, Feed, Trace};
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Maximum number of faulty EventSources that a recording reports.
const MAX_FAULTY: usize = 10;

/// Report of a recording's thread.
#[derive(Debug)]
pub(super) enum RecordingEvent {
    /// The file has reached [`Recorder::limit`].
    Size,
    /// An event fulfils the condition with this index.
    Condition(usize),
    /// An event shows why a condition cannot be fulfilled.
    Trouble(String),
    /// An EventSource reports a fault of its own.
    Fault(SourceFault),
    /// The condition of the rule with this index is fulfilled by these values of counters.
    Fired { rule: usize, values: Vec<(String, f64)> },
    /// An event shows why a rule's condition cannot be fulfilled.
    RuleTrouble { rule: usize, trouble: String },
    /// The recording has ended.
    Ended,
}

/// Receiver of a recording's reports.
pub(super) type Reporter = Box<dyn Fn(RecordingEvent) + Send>;

/// Condition of a rule, tested with each event. After it was fulfilled, it is not reported until
/// `is_armed` is set again.
#[derive(Debug)]
pub(super) struct Watcher {
    pub(super) trigger: Trigger,
    pub(super) is_armed: Arc<AtomicBool>,
    /// Number of values that the condition's counters have sent.
    pub(super) value_count: Arc<AtomicU64>,
}

/// Conditions that a recording looks for. All sessions of a process share them, because a condition
/// may name counters of several.
#[derive(Debug, Default)]
pub(super) struct Sought {
    pub(super) trigger: Option<Trigger>,
    /// Watcher of each rule, in the order of the rules.
    pub(super) watchers: Vec<Watcher>,
}

/// Result of a recording.
#[derive(Debug)]
pub(super) struct RecordingOutcome {
    pub(super) read: Driven,
    /// Reason why no condition was fulfilled; `None` if it is not known.
    pub(super) lacking: Option<String>,
    /// Second stream that could not be joined to the recording, which was cut off.
    pub(super) beside: Option<BesideStream>,
    /// Reason why the times of threads are lacking.
    pub(super) no_times: Option<String>,
}

/// Session that a thread records.
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
        // In stream order: only conditions read the events, and sorting would delay them.
        let driver = Driver::new(session, Feed::new()).into_sink(sink);
        let driver = driver.with_first_values(first_values);
        let session = driver.handle();
        let thread = std::thread::Builder::new().name("nettrace-record".to_owned());
        let thread = thread.spawn(move || {
            let read = driver.run(&mut recorder);
            let outcome = read.map(|read| recorder.conclude(read));
            // Sent last, because the receiver joins the thread.
            (recorder.report)(RecordingEvent::Ended);
            outcome
        })?;
        Ok(Recording { session, thread })
    }

    /// Waits for the end of the recording, and returns its result.
    pub(super) fn outcome(self) -> Result<RecordingOutcome, Failure> {
        let panicked = io::Error::other("the recording thread panicked");
        self.thread.join().unwrap_or(Err(Failure::Output(panicked)))
    }
}

/// Tests the events and the size of a recording.
pub(super) struct Recorder {
    pub(super) report: Reporter,
    /// Size in bytes that is reported as [`RecordingEvent::Size`].
    pub(super) limit: Option<u64>,
    /// Maximum bytes that are read, even if the process goes on sending after the request to stop.
    pub(super) max_bytes: Option<u64>,
    pub(super) sought: Arc<Mutex<Sought>>,
    /// Whether another session of this process reports the conditions that were not fulfilled.
    pub(super) is_beside: bool,
    /// EventSources whose fault was reported.
    pub(super) faulty: Vec<String>,
    /// Second stream of the file; `None` if there is no file.
    pub(super) second: Option<SecondStream>,
}

impl Recorder {
    fn sought(&self) -> MutexGuard<'_, Sought> {
        self.sought.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reports the fault of an EventSource, once.
    fn look_for_fault(&mut self, event: &Event<'_>) {
        let Some(fault) = SourceFault::from_event(event) else { return };
        if self.faulty.len() < MAX_FAULTY && !self.faulty.contains(&fault.source) {
            self.faulty.push(fault.source.clone());
            (self.report)(RecordingEvent::Fault(fault));
        }
    }

    fn conclude(&mut self, mut read: Driven) -> RecordingOutcome {
        if read.failure.is_none() && self.max_bytes.is_some_and(|most| read.received.bytes >= most)
        {
            let text =
                "the process keeps sending although it was asked to stop; the file ends here";
            read.failure = Some(io::Error::other(text));
        }
        let second = self.second.take().map(|second| second.conclude(&read.saved));
        let (beside, no_times) = second.unwrap_or_default();
        if self.is_beside {
            return RecordingOutcome { read, lacking: None, beside, no_times };
        }
        let sought = self.sought();
        for (rule, watcher) in sought.watchers.iter().enumerate() {
            if let Some(reason) = watcher.trigger.why_not() {
                let trouble = format!("never fired: {reason}");
                (self.report)(RecordingEvent::RuleTrouble { rule, trouble });
            }
        }
        let lacking = sought.trigger.as_ref().and_then(Trigger::why_not);
        drop(sought);
        RecordingOutcome { read, lacking, beside, no_times }
    }
}

impl Consumer for Recorder {
    fn event(&mut self, event: &Event<'_>) -> Result<Next, Failure> {
        if SourceFault::may_be(event) {
            self.look_for_fault(event);
        }
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
            // Disarmed here and not by the receiver, because the condition may be fulfilled a
            // thousand times before the report arrives.
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
        // A process that goes on sending after the request to stop must not fill the disk.
        let is_over = self.max_bytes.is_some_and(|most| received.bytes >= most);
        Ok(if is_over { Next::Cut } else { Next::Read })
    }

    fn begin(&mut self, header: &Trace) {
        if let Some(second) = &self.second {
            second.take_header(header);
        }
    }

    fn second(&mut self, end: &StreamEnd<'_>) -> Option<&File> {
        self.second.as_mut()?.end(end)
    }

    /// Returns `None`, so that reading waits for bytes without a limit: the collector ends it.
    fn pause(&self, _: Duration) -> Option<Duration> {
        None
    }
}
