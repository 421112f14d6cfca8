//! Stops a session once, never after the end of its stream, and without ever hanging.
//!
//! The runtime executes StopTracing on its only server thread: it writes the rundown into the event
//! socket, closes the socket, and then answers. If the socket were not read, the answer would never
//! come, no other client would be served, and the target could not even exit. So the drain thread
//! reads on during the stop. If the target sends nothing for too long, the event socket is closed,
//! which unblocks the target.
//!
//! Quirk: .NET Core 3.1 may hang in StopTracing for ever, because two of its threads wait for each
//! other (seen with 3.1.23, about once in three hundred stops on a busy machine). A client cannot
//! end that; the stop fails with [`Error::Deadline`], and the bytes that came until then stay
//! readable.
//!
//! Quirk: a .NET 8 runtime in which a session was started and stopped while it still waited at its
//! startup may die of SIGSEGV when the next session is stopped, after the resume (8.0.31: three of
//! five runs; none without the early session). So do not stop a session before the resume: to find
//! out about a process, call [`Runtime::startup`](crate::Runtime::startup) first.

use super::queue::{Ending, Stop};
use super::{SharedSession, Stream};
use crate::command::Command;
use crate::command::collect::{SessionId, StopTracing};
use crate::deadlines::Deadline;
use crate::error::{Error, Step};
use crate::runtime::Runtime;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Interval at which a stop checks whether bytes still arrive.
const SILENCE_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Stops a session from any thread, such as one that waits for signals. All clones stop the same
/// session, once.
#[derive(Clone, Debug)]
pub struct StopHandle {
    pub(super) shared: Arc<SharedSession>,
}

impl StopHandle {
    /// Stops the session and waits until its stream has ended; bytes that have arrived stay
    /// readable, and all that arrives meanwhile is queued, so the thread that reads may call this. A second
    /// call, also from another thread, waits for the first.
    ///
    /// # Errors
    /// [`Error::Deadline`] if the target did not end the session in time; the stream is then cut
    /// off. Otherwise the errors of any command.
    pub fn stop(&self) -> Result<Ending, Error> {
        self.shared.stop()
    }

    /// Starts a thread that stops the session, and returns at once.
    ///
    /// # Errors
    /// The thread could not be started.
    pub fn stop_soon(&self) -> Result<(), Error> {
        let shared = Arc::clone(&self.shared);
        let thread = std::thread::Builder::new().name("nettrace-stop".to_owned());
        // The result belongs to the session: its reader and `Session::ending` see it.
        let spawned = thread.spawn(move || drop(shared.stop()));
        spawned.map(drop).map_err(|source| Error::Io { step: Step::Stop, source })
    }

    /// Returns whether the session's stream has ended.
    pub fn is_ended(&self) -> bool {
        self.shared.stream.queue.lock().ended
    }
}

impl SharedSession {
    pub(super) fn stop(&self) -> Result<Ending, Error> {
        let queue = &self.stream.queue;
        enum Turn {
            Ours,
            Others,
            Over,
        }
        let turn = queue.change(|state| match state.stop {
            Stop::Not if state.ended => Turn::Over,
            Stop::Not => {
                state.stop = Stop::UnderWay;
                // A stream may have been quiet for hours before the stop, which must not count as
                // silence during the stop.
                state.last_arrival = Instant::now();
                Turn::Ours
            }
            _ => Turn::Others,
        });
        let deadlines = *self.runtime.current_deadlines();
        match turn {
            Turn::Over => Ok(self.stream.ending().unwrap_or(Ending::ByTarget)),
            Turn::Others => {
                let longest = deadlines
                    .connect
                    .saturating_add(deadlines.stop)
                    .saturating_add(deadlines.drain);
                let done =
                    |state: &super::queue::QueueState| state.stop != Stop::UnderWay && state.ended;
                if queue.wait_until(longest, done) {
                    Ok(self.stream.ending().unwrap_or(Ending::Cut))
                } else {
                    Err(Error::Deadline { step: Step::Stop, after: longest })
                }
            }
            Turn::Ours => {
                let deadline = Deadline::after(deadlines.stop);
                let mut answered = self.ask(deadline);
                if answered.as_ref().is_err_and(Error::is_out_of_descriptors) {
                    // Closing the event socket frees the descriptor that the request needs. The
                    // rest of the stream is lost, but a session that stays in the target would be
                    // worse.
                    self.stream.cut();
                    answered = self.ask(deadline);
                }
                let ended = self.wait_for_end(deadline);
                queue.change(|state| {
                    state.stop = if answered.is_ok() { Stop::Answered } else { Stop::Failed };
                });
                match (ended, answered) {
                    (true, Ok(())) => Ok(self.stream.ending().unwrap_or(Ending::Stopped)),
                    // The process is gone, or went during the request, and the stream has ended.
                    (true, Err(Error::Gone { .. } | Error::Io { .. })) => Ok(Ending::ByTarget),
                    (true, Err(error)) => Err(error),
                    (false, answered) => {
                        self.stream.cut();
                        Err(match answered {
                            Ok(()) => Error::Deadline { step: Step::Drain, after: deadlines.drain },
                            Err(error) => error,
                        })
                    }
                }
            }
        }
    }

    /// Sends StopTracing on a separate connection. Gives up when the target sends nothing on either
    /// connection.
    fn ask(&self, deadline: Deadline) -> Result<(), Error> {
        let deadlines = self.runtime.current_deadlines();
        let stop = StopTracing(self.id);
        let message = stop.message()?;
        // A target that does not even accept a connection counts as silent.
        let connect = deadlines.connect.min(deadlines.drain);
        let mut connection = self.runtime.connect_within(connect)?;
        connection.send(&message, Deadline::after(connect))?;
        while !connection.wait_readable(SILENCE_CHECK_INTERVAL)? {
            let silent = self.stream.is_silent(deadlines.drain);
            if silent || deadline.left().is_none() {
                let after = if silent { deadlines.drain } else { deadline.whole };
                // The request stays in the socket, so a target that was only suspended executes it
                // later.
                return Err(Error::Deadline { step: Step::Stop, after });
            }
        }
        let payload = connection.receive(stop.id(), Deadline::after(deadlines.reply))?;
        connection.close();
        use crate::command::sealed::Sealed;
        stop.read_success(&payload).map_err(|fault| Error::Reply { command: stop.id(), fault })
    }

    /// Waits for the end of the stream as long as bytes arrive. Returns whether the stream has
    /// ended.
    fn wait_for_end(&self, deadline: Deadline) -> bool {
        let drain = self.runtime.current_deadlines().drain;
        loop {
            if self.stream.queue.wait_until(SILENCE_CHECK_INTERVAL, |state| state.ended) {
                return true;
            }
            if self.stream.is_silent(drain) || deadline.left().is_none() {
                return false;
            }
        }
    }
}

impl Runtime {
    /// Stops a session whose stream is closed already.
    pub(super) fn stop_unread(&self, id: SessionId) -> Result<(), Error> {
        self.call(&StopTracing(id))
    }
}

impl Stream {
    /// Returns whether nothing has arrived for `limit`, or the stream was cut off.
    fn is_silent(&self, limit: Duration) -> bool {
        let state = self.queue.lock();
        state.cut || state.last_arrival.elapsed() > limit
    }

    /// Closes the connection of the stream. The drain thread ends, and the target is not blocked
    /// any more.
    pub(super) fn cut(&self) {
        self.queue.change(|state| state.cut = true);
        self.wire.close();
        // If a read cannot be interrupted (a Windows pipe), the stream counts as ended.
        if !self.queue.wait_until(Duration::from_secs(1), |state| state.ended) {
            self.queue.change(|state| state.ended = true);
        }
    }

    /// Returns how the stream ended, or `None` while it goes on.
    pub(super) fn ending(&self) -> Option<Ending> {
        let state = self.queue.lock();
        match (state.ended, state.cut, state.stop) {
            (false, ..) => None,
            (true, true, _) => Some(Ending::Cut),
            (true, false, Stop::Answered | Stop::UnderWay) => Some(Ending::Stopped),
            (true, false, Stop::Not | Stop::Failed) => Some(Ending::ByTarget),
        }
    }
}
