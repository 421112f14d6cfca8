//! One session of a running process, in one loop for every command: its bytes arrive, go
//! to the sink, are pushed into the parser, and its events come out.

use super::end_rule::{EndRule, LAST_REQUEST_WAIT};
use super::first_values::FirstValues;
use super::sink::{Saved, Sink};
use crate::delays::BURST_PAUSE;
use crate::failure::Failure;
use crate::failure::with_causes;
use nettrace_ipc::{Ending, Session, StopHandle};
use nettrace_parser::{Event, Feed, Outcome, Trace};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Maximum number of events between two calls of [`Consumer::look`].
const MAX_EVENTS_BETWEEN_LOOKS: u64 = 1024;

/// Decision of a consumer after an event or a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    Read,
    /// Stop the session, and read the rest of its stream.
    Stop,
    /// Stop the session, discard the rest of its stream, and wait for its end only briefly.
    Leave,
    /// Leave, and do not wait: the process was asked to stop, and goes on sending.
    Cut,
}

/// Counts of bytes and events so far, from one session or several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Received {
    pub(crate) bytes: u64,
    pub(crate) events: u64,
    /// Events that the process could not send.
    pub(crate) lost: u64,
}

impl Received {
    pub(crate) fn add(&mut self, other: Received) {
        self.bytes += other.bytes;
        self.events += other.events;
        self.lost += other.lost;
    }
}

/// The part of a session that differs between commands: it takes the events, and decides when to
/// stop.
pub(crate) trait Consumer {
    /// Takes the next event.
    ///
    /// # Errors
    /// The command cannot go on, so the session is left.
    fn event(&mut self, event: &Event<'_>) -> Result<Next, Failure>;

    /// Checks how the session goes, after each burst, after many events, and in pauses. `is_idle`:
    /// no bytes came for the time of [`Consumer::pause`], and every event has been delivered.
    fn look(&mut self, received: Received, is_idle: bool) -> Result<Next, Failure> {
        let _ = (received, is_idle);
        Ok(Next::Read)
    }

    /// Takes the header of the stream, before the first look.
    fn begin(&mut self, header: &Trace) {
        let _ = header;
    }

    /// Returns the stream that is to follow this one in its file, when all bytes have come.
    fn second(&mut self, end: &StreamEnd<'_>) -> Option<&File> {
        let _ = end;
        None
    }

    /// Decides how to go on after the sink has failed, which gets nothing more.
    fn unwritten(&mut self, error: &io::Error) -> Next {
        let _ = error;
        Next::Leave
    }

    /// Returns the time without bytes that makes a pause: `burst`, after which a burst is over, or
    /// another. With `None`, as for recordings, reading waits for bytes without a limit.
    fn pause(&self, burst: Duration) -> Option<Duration> {
        Some(burst)
    }
}

/// A consumer that only wants events.
impl<F: FnMut(&Event<'_>) -> Next> Consumer for F {
    fn event(&mut self, event: &Event<'_>) -> Result<Next, Failure> {
        Ok(self(event))
    }
}

/// How the stream of a session ended.
pub(crate) struct StreamEnd<'d> {
    pub(crate) outcome: &'d Outcome,
    /// Names of the providers that sent events.
    pub(crate) providers: &'d BTreeSet<String>,
    /// Whether the stream can be read to its end.
    pub(crate) is_read: bool,
    /// Whether all bytes came and are in the file.
    pub(crate) is_whole: bool,
    /// Whether the process closed the stream, and not because it was asked to.
    pub(crate) is_by_process: bool,
}

/// A session that another thread reads.
#[derive(Debug, Clone)]
pub(crate) struct SessionHandle {
    stop: StopHandle,
    stopping_since: Arc<OnceLock<Instant>>,
    /// When the request to stop was sent. That may be later than the decision to stop: see
    /// [`FirstValues`].
    asked: Arc<OnceLock<Instant>>,
    received: Arc<Mutex<Received>>,
    first_values: Arc<FirstValues>,
    /// Rule of the command's end: its signal shortens the wait for first values.
    hurry: Option<EndRule>,
}

impl SessionHandle {
    /// Sends the request to stop the session, once.
    pub(crate) fn stop(&self) {
        // The request is not sent on this thread, which may be the one that reads the session: the
        // runtime answers only after it has sent the rest of the stream.
        if self.stopping_since.set(Instant::now()).is_err() {
            return;
        }
        if self.first_values.are_awaited() {
            let own = self.clone();
            let thread = std::thread::Builder::new().name("nettrace-stop".to_owned());
            if thread.spawn(move || own.stop_after_first_values()).is_ok() {
                return;
            }
        }
        self.asked.get_or_init(Instant::now);
        if self.stop.stop_soon().is_err() {
            // No thread could be started, so this thread waits. Bytes that arrive are queued.
            let _ = self.stop.stop();
        }
    }

    fn stop_after_first_values(&self) {
        let has_signal = || self.hurry.as_ref().is_some_and(|end| end.signals().seen().is_some());
        self.first_values.wait(|| self.stop.is_ended(), has_signal);
        self.asked.get_or_init(Instant::now);
        let _ = self.stop.stop();
    }

    pub(crate) fn first_values(&self) -> &Arc<FirstValues> {
        &self.first_values
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping_since.get().is_some()
    }

    /// Returns the counts so far.
    pub(crate) fn received(&self) -> Received {
        *self.received.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Result of a session.
#[derive(Debug)]
pub(crate) struct Driven {
    pub(crate) received: Received,
    /// Ending of the stream; `None` if the session was left before.
    pub(crate) ending: Option<Ending>,
    pub(crate) outcome: Outcome,
    /// Names of the providers that sent events.
    pub(crate) providers: BTreeSet<String>,
    /// Reason why the stream cannot be parsed, if it cannot.
    pub(crate) fault: Option<String>,
    /// Error of writing the bytes, or of receiving them.
    pub(crate) failure: Option<io::Error>,
    pub(crate) saved: Saved,
}

impl Driven {
    /// Returns whether the process went away in the middle of the stream.
    pub(crate) fn is_cut(&self) -> bool {
        self.ending == Some(Ending::ByTarget) && !self.outcome.is_complete
    }
}

/// Reads a session: its bytes go to a sink and into the parser, its events to a consumer.
pub(crate) struct Driver {
    session: Session,
    feed: Feed,
    sink: Sink,
    handle: SessionHandle,
    end: Option<EndRule>,
    received: Received,
    fault: Option<String>,
    failure: Option<io::Error>,
    /// Whether the sink has failed.
    is_unwritten: bool,
    /// Whether the rest of the stream is discarded, because only the end of the session matters.
    is_left: bool,
    /// Whether the process sends more than a process that stops ever sends.
    ignores_stop: bool,
    /// Whether the consumer has the header of the stream.
    has_begun: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arrived {
    Bytes,
    Nothing,
    End,
}

impl Driver {
    /// Creates a driver without a sink and an end rule: it runs until the session is stopped by its
    /// handle or ends.
    pub(crate) fn new(session: Session, feed: Feed) -> Driver {
        let stop = session.stop_handle();
        let handle = SessionHandle {
            stop,
            stopping_since: Arc::default(),
            asked: Arc::default(),
            received: Arc::default(),
            first_values: Arc::default(),
            hurry: None,
        };
        Driver {
            session,
            feed,
            sink: Sink::Nowhere,
            handle,
            end: None,
            received: Received::default(),
            fault: None,
            failure: None,
            is_unwritten: false,
            is_left: false,
            ignores_stop: false,
            has_begun: false,
        }
    }

    /// Sets the sink, which receives all bytes.
    pub(crate) fn into_sink(self, sink: Sink) -> Driver {
        Driver { sink, ..self }
    }

    /// Sets the rule by which the session stops. If the bytes are not saved, the driver then waits
    /// for the rest only briefly: a process may have hundreds of megabytes of events.
    pub(crate) fn until(self, end: &EndRule) -> Driver {
        let handle = SessionHandle { hurry: Some(end.clone()), ..self.handle };
        Driver { end: Some(end.clone()), handle, ..self }
    }

    /// Makes the stop wait for first values, which all sessions that began together share.
    pub(crate) fn with_first_values(self, first_values: &Arc<FirstValues>) -> Driver {
        let handle = SessionHandle { first_values: Arc::clone(first_values), ..self.handle };
        Driver { handle, ..self }
    }

    pub(crate) fn handle(&self) -> SessionHandle {
        self.handle.clone()
    }

    /// Reads the session to its end.
    ///
    /// # Errors
    /// The consumer has failed; the session is stopped.
    pub(crate) fn run(mut self, consumer: &mut dyn Consumer) -> Result<Driven, Failure> {
        // A quiet session would otherwise never let the consumer look, or show the events
        // that wait to be sorted.
        let burst = self.end.as_ref().map_or(BURST_PAUSE, |end| end.signals().burst_pause());
        self.session.set_read_timeout(consumer.pause(burst));
        let mut is_whole = false;
        while !is_whole && !self.stops_waiting() {
            let arrived = self.receive(consumer);
            self.deliver(consumer)?;
            self.look(consumer, arrived == Arrived::Nothing)?;
            // Bytes that cannot be parsed are recorded all the same.
            if !self.parses() && matches!(self.sink, Sink::Nowhere) {
                self.obey(Next::Leave);
            }
            is_whole = arrived == Arrived::End;
        }
        is_whole &= !self.is_unwritten && !self.is_left;
        let (ending, outcome) = (self.session.ending(), self.feed.outcome());
        let types = self.feed.reader().event_types();
        let providers = types.map(|known| known.provider.to_string()).collect();
        let second = consumer.second(&StreamEnd {
            outcome: &outcome,
            providers: &providers,
            is_read: self.fault.is_none(),
            is_whole,
            is_by_process: ending == Some(Ending::ByTarget),
        });
        let (saved, finished) = self.sink.finish(is_whole, second);
        Ok(Driven {
            received: self.received,
            ending,
            outcome,
            providers,
            fault: self.fault,
            failure: self.failure.or(finished.err()),
            saved,
        })
    }

    /// Takes the next bytes.
    fn receive(&mut self, consumer: &mut dyn Consumer) -> Arrived {
        let (parses, writes) = (self.parses(), !self.is_unwritten && !self.is_left);
        let (count, written) = match self.session.fill_buf() {
            Ok([]) => {
                self.feed.end();
                return Arrived::End;
            }
            Ok(bytes) => {
                // Parsed even if they cannot be written: a full disk must not hide losses.
                if parses {
                    self.feed.push(bytes);
                }
                (bytes.len(), if writes { self.sink.write(bytes) } else { Ok(()) })
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.feed.release();
                return Arrived::Nothing;
            }
            Err(error) => {
                self.failure.get_or_insert(error);
                self.feed.end();
                return Arrived::End;
            }
        };
        self.session.consume(count);
        self.received.bytes += count as u64;
        if let Err(error) = written {
            self.is_unwritten = true;
            self.obey(consumer.unwritten(&error));
            self.failure = Some(error);
        }
        Arrived::Bytes
    }

    /// Returns whether bytes are still parsed.
    fn parses(&self) -> bool {
        self.fault.is_none() && !self.is_left && !self.feed.is_ended()
    }

    /// Passes on the events that have come.
    fn deliver(&mut self, consumer: &mut dyn Consumer) -> Result<(), Failure> {
        while self.fault.is_none() && !self.is_left {
            let next = match self.feed.next_event() {
                Ok(Some(event)) => {
                    self.handle.first_values.see(&event);
                    consumer.event(&event)?
                }
                Ok(None) => break,
                Err(error) => {
                    self.fault = Some(with_causes(&error));
                    break;
                }
            };
            self.received.events += 1;
            self.obey(next);
            // A burst may hold a million events, and a signal must not wait for their end.
            if self.received.events.is_multiple_of(MAX_EVENTS_BETWEEN_LOOKS) {
                self.look(consumer, false)?;
            }
        }
        Ok(())
    }

    /// Checks signals, the time limit and the consumer.
    fn look(&mut self, consumer: &mut dyn Consumer, is_idle: bool) -> Result<(), Failure> {
        self.received.lost = self.feed.reader().losses().total();
        // A copy for other threads: shared counters would be locked for every event.
        let shared = self.handle.received.lock();
        *shared.unwrap_or_else(PoisonError::into_inner) = self.received;
        if !self.has_begun && self.received.events > 0 {
            self.has_begun = true;
            consumer.begin(&self.feed.outcome().trace);
        }
        if !self.is_left {
            let next = consumer.look(self.received, is_idle)?;
            self.obey(next);
        }
        if let Some(end) = self.end.as_ref().filter(|end| end.is_due()) {
            end.stop_by_timer();
            self.handle.stop();
        }
        Ok(())
    }

    fn obey(&mut self, next: Next) {
        match next {
            Next::Read => {}
            Next::Stop => self.handle.stop(),
            Next::Leave => {
                self.is_left = true;
                self.handle.stop();
                // Recordings have no read timeout, which is needed from now on.
                self.session.set_read_timeout(Some(BURST_PAUSE));
            }
            Next::Cut => {
                self.ignores_stop = true;
                self.obey(Next::Leave);
            }
        }
    }

    /// Returns whether to stop waiting for the end of the session, because the rest of its stream
    /// is discarded. If so, cuts the session.
    fn stops_waiting(&self) -> bool {
        // A recording is read to its end whatever time it takes: the rundown comes last, and
        // without it methods have no names.
        let is_kept = !matches!(self.sink, Sink::Nowhere) && !self.is_left;
        let due = self.end.as_ref().and_then(EndRule::due_since);
        let is_wanted = is_kept || !self.is_left && due.is_none();
        let Some(stopping) = self.handle.stopping_since.get().filter(|_| !is_wanted) else {
            return false;
        };
        // A session that was cut ends in the process only when the process next sends something,
        // which may be never. So the request to stop has to be on its way before.
        let is_asked = |asked: &Instant| asked.elapsed() >= LAST_REQUEST_WAIT;
        if !self.handle.asked.get().is_some_and(is_asked) {
            return false;
        }
        let since = due.map_or(*stopping, |due| due.min(*stopping));
        let drain = self.session.runtime().current_deadlines().drain;
        let patience = self.end.as_ref().map_or(drain, EndRule::patience);
        let stops_waiting = self.ignores_stop || since.elapsed() >= patience;
        if stops_waiting {
            self.session.cut();
        }
        stops_waiting
    }
}
