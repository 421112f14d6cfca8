//! One session of a running process, in one loop for every command: its bytes arrive, go
//! to the sink, are pushed into the parser, and its events come out.

use super::end_rule::EndRule;
use super::sink::{Saved, Sink};
use crate::failure::Failure;
use nettrace_ipc::{Ending, Session, StopHandle};
use nettrace_parser::{Event, Feed, Outcome};
use std::io::{self, BufRead};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Bytes come in bursts, about ten a second. After this much time without any, the burst
/// is over: events that were held back for sorting by time are released, and the consumer
/// looks around.
const BURST_PAUSE: Duration = Duration::from_millis(50);
/// Events after which the consumer looks around although more of them wait.
const LOOK_EVENTS: u64 = 1024;

/// What a consumer wants next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    Read,
    /// The session is to stop; what the process still sends is read.
    Stop,
    /// Nothing more is read.
    Leave,
}

/// How far a session has been read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Position {
    pub(crate) bytes: u64,
    pub(crate) events: u64,
    /// Events that the process could not send.
    pub(crate) lost: u64,
    /// Nothing has come for a while, and every event has been delivered.
    pub(crate) is_idle: bool,
}

/// What a command does with a session.
pub(crate) trait Consumer {
    /// Takes the next event.
    ///
    /// # Errors
    /// Nothing more can be done with them: the session is left.
    fn event(&mut self, event: &Event<'_>) -> Result<Next, Failure>;

    /// Looks around: after each burst, in pauses, and after many events.
    ///
    /// # Errors
    /// As for [`Consumer::event`].
    fn look(&mut self, position: &Position) -> Result<Next, Failure> {
        let _ = position;
        Ok(Next::Read)
    }

    /// The sink has failed, and gets nothing more.
    fn unwritten(&mut self, error: &io::Error) -> Next {
        let _ = error;
        Next::Leave
    }

    /// How long without bytes is a pause; `None`: it needs no pauses.
    fn pause(&self) -> Option<Duration> {
        Some(BURST_PAUSE)
    }
}

/// A short session beside the one that the command is about: its events go to a closure,
/// and it is left when it is time to end.
pub(crate) struct Aside<'e, F> {
    take: F,
    end: &'e EndRule,
    deadline: Option<Instant>,
}

impl<'e, F: FnMut(&Event<'_>) -> Next> Aside<'e, F> {
    pub(crate) fn new(end: &'e EndRule, take: F) -> Aside<'e, F> {
        Aside { take, end, deadline: None }
    }

    /// It is left after this time, too.
    pub(crate) fn within(self, time: Duration) -> Aside<'e, F> {
        Aside { deadline: Instant::now().checked_add(time), ..self }
    }
}

impl<F: FnMut(&Event<'_>) -> Next> Consumer for Aside<'_, F> {
    fn event(&mut self, event: &Event<'_>) -> Result<Next, Failure> {
        Ok((self.take)(event))
    }

    fn look(&mut self, _: &Position) -> Result<Next, Failure> {
        let is_late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        Ok(if is_late || self.end.is_due() { Next::Leave } else { Next::Read })
    }
}

/// Stops a session, from any thread.
#[derive(Debug, Clone)]
pub(crate) struct Stop {
    handle: StopHandle,
    since: Arc<OnceLock<Instant>>,
}

impl Stop {
    /// Asks the process to stop the session, once.
    pub(crate) fn begin(&self) {
        if self.since.set(Instant::now()).is_ok() && self.handle.stop_soon().is_err() {
            // There is no thread for it, so this one waits. What arrives is queued.
            let _ = self.handle.stop();
        }
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.since.get().is_some()
    }
}

/// How a session ended.
#[derive(Debug)]
pub(crate) struct Driven {
    pub(crate) bytes: u64,
    pub(crate) events: u64,
    /// `None`: it was left before its end.
    pub(crate) ending: Option<Ending>,
    pub(crate) outcome: Outcome,
    /// Why the stream cannot be parsed.
    pub(crate) fault: Option<String>,
    /// The bytes could not be written, or not be received.
    pub(crate) failure: Option<io::Error>,
    pub(crate) saved: Saved,
}

impl Driven {
    /// Whether the process went away in the middle of it.
    pub(crate) fn is_cut(&self) -> bool {
        self.ending == Some(Ending::ByTarget) && !self.outcome.is_complete()
    }
}

/// A session, and what becomes of it.
pub(crate) struct Driver {
    session: Session,
    feed: Feed,
    sink: Sink,
    stop: Stop,
    end: Option<EndRule>,
    bytes: u64,
    events: u64,
    fault: Option<String>,
    failure: Option<io::Error>,
    /// The sink has failed.
    is_unwritten: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arrived {
    Bytes,
    Nothing,
    End,
}

impl Driver {
    /// Reads all of a session that others stop.
    pub(crate) fn new(session: Session, feed: Feed) -> Driver {
        let stop = Stop { handle: session.stop_handle(), since: Arc::default() };
        Driver {
            session,
            feed,
            sink: Sink::Nowhere,
            stop,
            end: None,
            bytes: 0,
            events: 0,
            fault: None,
            failure: None,
            is_unwritten: false,
        }
    }

    /// Writes the bytes, too.
    pub(crate) fn into_sink(self, sink: Sink) -> Driver {
        Driver { sink, ..self }
    }

    /// Stops when it is time to. If nobody keeps the bytes, the rest is not waited for for
    /// long then: a process may have hundreds of megabytes of events.
    pub(crate) fn until(self, end: &EndRule) -> Driver {
        Driver { end: Some(end.clone()), ..self }
    }

    pub(crate) fn stop(&self) -> Stop {
        self.stop.clone()
    }

    /// Reads the session to its end, or until the consumer leaves it.
    ///
    /// # Errors
    /// Those of the consumer. The session is stopped.
    pub(crate) fn run(mut self, consumer: &mut dyn Consumer) -> Result<Driven, Failure> {
        self.session.set_read_timeout(consumer.pause());
        let is_whole = loop {
            let (arrived, next) = self.receive(consumer);
            let goes_on = self.obey(next)
                && self.deliver(consumer)?
                && self.look(consumer, arrived == Arrived::Nothing)?;
            if arrived == Arrived::End {
                break !self.is_unwritten;
            }
            // Bytes that cannot be parsed are recorded all the same.
            let is_over = !self.parses() && matches!(self.sink, Sink::Nowhere);
            if is_over || !goes_on {
                break false;
            }
        };
        let (saved, finished) = self.sink.finish(is_whole);
        Ok(Driven {
            bytes: self.bytes,
            events: self.events,
            ending: self.session.ending(),
            outcome: self.feed.outcome(),
            fault: self.fault,
            failure: self.failure.or(finished.err()),
            saved,
        })
    }

    /// Takes the next bytes.
    fn receive(&mut self, consumer: &mut dyn Consumer) -> (Arrived, Next) {
        let (parses, writes) = (self.parses(), !self.is_unwritten);
        let (count, written) = match self.session.fill_buf() {
            Ok([]) => {
                self.feed.end();
                return (Arrived::End, Next::Read);
            }
            Ok(bytes) => {
                if parses {
                    self.feed.push(bytes);
                }
                (bytes.len(), if writes { self.sink.write(bytes) } else { Ok(()) })
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.feed.release();
                return (Arrived::Nothing, Next::Read);
            }
            Err(error) => {
                self.failure.get_or_insert(error);
                self.feed.end();
                return (Arrived::End, Next::Read);
            }
        };
        self.session.consume(count);
        self.bytes += count as u64;
        let Err(error) = written else { return (Arrived::Bytes, Next::Read) };
        self.is_unwritten = true;
        let next = consumer.unwritten(&error);
        self.failure = Some(error);
        (Arrived::Bytes, next)
    }

    /// Whether more events may come.
    fn parses(&self) -> bool {
        self.fault.is_none() && !self.feed.is_ended()
    }

    /// Passes on the events that have come. False: nothing more is to be read.
    fn deliver(&mut self, consumer: &mut dyn Consumer) -> Result<bool, Failure> {
        while self.fault.is_none() {
            let next = match self.feed.next_event() {
                Ok(Some(event)) => consumer.event(&event)?,
                Ok(None) => break,
                Err(error) => {
                    self.fault = Some(error.to_string());
                    break;
                }
            };
            self.events += 1;
            let is_long = self.events.is_multiple_of(LOOK_EVENTS);
            if !self.obey(next) || is_long && !self.look(consumer, false)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Looks at signals, clock and consumer. False: nothing more is to be read.
    fn look(&mut self, consumer: &mut dyn Consumer, is_idle: bool) -> Result<bool, Failure> {
        let lost = self.feed.losses().total();
        let position = Position { bytes: self.bytes, events: self.events, lost, is_idle };
        let next = consumer.look(&position)?;
        let goes_on = self.obey(next);
        let Some(end) = self.end.as_ref().filter(|end| end.is_due()) else { return Ok(goes_on) };
        end.signals().stop_by_timer();
        self.stop.begin();
        let is_kept = !matches!(self.sink, Sink::Nowhere);
        let stopping = self.stop.since.get().filter(|_| !is_kept);
        if stopping.is_some_and(|since| since.elapsed() >= end.patience()) {
            self.session.cut();
            return Ok(false);
        }
        Ok(goes_on)
    }

    /// False: nothing more is to be read.
    fn obey(&self, next: Next) -> bool {
        if next == Next::Stop {
            self.stop.begin();
        }
        next != Next::Leave
    }
}
