//! Reads the stream of a live session as an `io::Read`.

mod queue;
mod start;
mod stop;
#[cfg(unix)]
mod user_events;

use crate::command::collect::{CollectCommand, Lost, SessionId};
use crate::connection::Connection;
use crate::endpoint::Wire;
use crate::error::{Error, Step};
use crate::runtime::Runtime;
use crate::transcript::Tap;
pub use queue::Ending;
use queue::{CHUNK_BYTES, Popped, Queue};
use std::fmt;
use std::io::{self, BufRead, Read};
use std::sync::Arc;
use std::time::Duration;
pub use stop::StopHandle;
#[cfg(unix)]
pub use user_events::UserEventsSession;

/// A tracing session in a .NET process. Reading it yields the bytes of its stream in the `nettrace`
/// format; `Ok(0)` is the end.
///
/// A separate thread reads the event socket from the first byte to the last, also while the session
/// is being stopped. For a slow reader, up to 8 MiB are queued; then the runtime's own buffers
/// fill, and it drops events, whose number is in the stream. Once the session is being stopped, all
/// that still comes is queued, so the thread that reads may stop it, too.
///
/// | how it ends | when |
/// |---|---|
/// | [`Session::stop`], [`StopHandle::stop`] | the rest will be read; waits until all of it has arrived, which takes memory and, with a rundown, seconds |
/// | [`StopHandle::stop_soon`] | the rest is read as it arrives: a stop that nobody waits for |
/// | [`Session::finish`] | after the last read; says how the stream ended, and throws away what is left |
/// | [`Session::cut`] | nothing more is wanted, not even an orderly end |
/// | dropping it | as [`Session::finish`], without the answer, within the runtime's [`Deadlines`](crate::Deadlines) |
///
/// ```no_run
/// use std::io::Read;
/// use nettrace_ipc::{Endpoint, Provider, Providers, Runtime, SessionConfig};
/// # let socket = "";
/// let runtime = Runtime::new(Endpoint::socket(socket));
/// let providers = Providers::new([Provider::new("System.Runtime")?])?;
/// let mut session = runtime.start(&SessionConfig::new(providers))?;
/// let stop = session.stop_handle();
/// std::thread::spawn(move || {
///     std::thread::sleep(std::time::Duration::from_secs(5));
///     stop.stop()
/// });
/// let mut bytes = Vec::new();
/// session.read_to_end(&mut bytes)?;
/// println!("{} bytes, {:?}", bytes.len(), session.finish()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Session {
    shared: Arc<SharedSession>,
    command: CollectCommand,
    lost: Vec<Lost>,
    chunk: Vec<u8>,
    position: usize,
    read_timeout: Option<Duration>,
    drain: Option<std::thread::JoinHandle<()>>,
}

pub(crate) struct SharedSession {
    runtime: Runtime,
    id: SessionId,
    stream: Arc<Stream>,
}

struct Stream {
    queue: Queue,
    wire: Wire,
}

/// Shows the session without the bytes that it has received.
impl fmt::Debug for SharedSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let received_bytes = self.stream.queue.lock().total_bytes;
        f.debug_struct("Session")
            .field("id", &self.id)
            .field("received_bytes", &received_bytes)
            .field("ending", &self.stream.ending())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shared.fmt(f)
    }
}

impl Session {
    pub(crate) fn begin(
        runtime: Runtime,
        connection: Connection,
        id: SessionId,
        command: CollectCommand,
        lost: Vec<Lost>,
    ) -> Result<Self, Error> {
        let failed = |source| Error::Io { step: Step::Reply, source };
        let (wire, tap) = connection.into_parts();
        let reading = wire.try_clone().and_then(|mut reading| {
            reading.set_patient()?;
            Ok(reading)
        });
        let reading = match reading {
            Ok(reading) => reading,
            Err(source) => {
                // The session has begun and must be stopped. Closing its socket first frees the
                // descriptor that the stop needs when no others are left.
                drop(wire);
                drop(runtime.stop_unread(id));
                return Err(failed(source));
            }
        };
        let stream = Arc::new(Stream { queue: Queue::new(), wire });
        let shared = Arc::new(SharedSession { runtime, id, stream: Arc::clone(&stream) });
        let thread = std::thread::Builder::new().name("nettrace-drain".to_owned());
        let spawned = thread.spawn(move || drain(reading, &stream.queue, tap.as_ref()));
        let mut session = Session {
            shared,
            command,
            lost,
            chunk: Vec::new(),
            position: 0,
            read_timeout: None,
            drain: None,
        };
        // A socket that is not read would block the process. If there is no thread to
        // read it, `?` drops the session, which stops it.
        session.drain = Some(spawned.map_err(failed)?);
        Ok(session)
    }

    /// Returns the id that the runtime gave the session.
    pub fn id(&self) -> SessionId {
        self.shared.id
    }

    /// Returns the process at the other end of the session's socket, by its id here; `None` if the
    /// kernel does not report it, as for TCP and for processes of another container.
    pub fn peer_pid(&self) -> Option<u32> {
        self.shared.stream.wire.peer_pid()
    }

    /// Returns the command that started the session.
    pub fn command(&self) -> CollectCommand {
        self.command
    }

    /// Returns the requested options that the command could not express.
    pub fn lost(&self) -> &[Lost] {
        &self.lost
    }

    /// Returns a handle that stops the session from another thread.
    pub fn stop_handle(&self) -> StopHandle {
        StopHandle { shared: Arc::clone(&self.shared) }
    }

    /// Stops the session and waits until its stream has ended. Bytes that have arrived stay
    /// readable.
    ///
    /// # Errors
    /// As [`StopHandle::stop`].
    pub fn stop(&self) -> Result<Ending, Error> {
        self.shared.stop()
    }

    /// Closes the connection, for a reader that will not wait any longer. Bytes that have arrived
    /// stay readable, the target is not blocked any more, and a thread that waits for a stop
    /// returns.
    pub fn cut(&self) {
        self.shared.stream.cut();
    }

    /// Sets the time after which a read without bytes returns [`io::ErrorKind::WouldBlock`]. With
    /// `None`, the default, a read waits for ever, since a quiet stream is not an error.
    pub fn set_read_timeout(&mut self, timeout: Option<Duration>) {
        self.read_timeout = timeout;
    }

    /// Returns the number of bytes that have arrived so far, including those not yet
    /// read.
    pub fn received_bytes(&self) -> u64 {
        self.shared.stream.queue.lock().total_bytes
    }

    /// Returns how the stream ended, or `None` while it goes on.
    pub fn ending(&self) -> Option<Ending> {
        self.shared.stream.ending()
    }

    /// Ends the session, and waits until its stream has ended: it is stopped, unless it has been, and
    /// bytes that were not read are thrown away.
    ///
    /// A reader that has seen the stream's end mark need not have seen the end of the connection,
    /// so that [`Session::ending`] may still be `None`; this is not.
    ///
    /// # Errors
    /// [`Error::Deadline`] if the target did not end the session in time, or the error that ended its
    /// stream.
    pub fn finish(self) -> Result<Ending, Error> {
        let queue = &self.shared.stream.queue;
        // The thread that receives bytes must not wait for a reader.
        queue.change(|state| state.discard = true);
        let stopped = self.shared.stop();
        if let Some(source) = queue.change(|state| state.failure.take()) {
            return Err(Error::Io { step: Step::Drain, source });
        }
        match (stopped, self.ending()) {
            // The stop was refused, because the session had ended.
            (Err(_), Some(ending)) if ending != Ending::Cut => Ok(ending),
            (stopped, _) => stopped,
        }
    }

    /// Returns the runtime of the session.
    pub fn runtime(&self) -> &Runtime {
        &self.shared.runtime
    }
}

impl BufRead for Session {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.position >= self.chunk.len() {
            let emptied = std::mem::take(&mut self.chunk);
            self.position = 0;
            match self.shared.stream.queue.pop(emptied, self.read_timeout) {
                Popped::Chunk(chunk) => self.chunk = chunk,
                Popped::End => {}
                Popped::Nothing => return Err(io::ErrorKind::WouldBlock.into()),
                Popped::Failure(error) => return Err(error),
            }
        }
        Ok(self.chunk.get(self.position..).unwrap_or_default())
    }

    fn consume(&mut self, count: usize) {
        self.position = self.position.saturating_add(count).min(self.chunk.len());
    }
}

impl Read for Session {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // This comes first, so that the drain thread does not wait for a reader that is gone.
        self.shared.stream.queue.change(|state| state.discard = true);
        // A stream that has ended needs no stop.
        let is_over = self.ending().is_some_and(|ending| ending != Ending::Cut);
        // If stopping fails, the socket is shut down below, so that the process is not
        // blocked by unread bytes.
        if !is_over {
            let _ = self.shared.stop();
        }
        if !self.shared.stream.queue.lock().ended {
            self.shared.stream.cut();
        }
        // A drain thread that still reads is not waited for, because that could take for ever.
        if let Some(drain) = self.drain.take_if(|drain| drain.is_finished()) {
            let _ = drain.join();
        }
    }
}

/// Reads the session's stream until it ends or fails, even if nobody takes the bytes from the
/// queue.
fn drain(mut wire: Wire, queue: &Queue, tap: Option<&Tap>) {
    let mut buffer = Vec::new();
    loop {
        buffer.resize(CHUNK_BYTES, 0);
        match wire.read_patiently(&mut buffer) {
            Ok(0) => break,
            Ok(count) => {
                if let Some(tap) = tap {
                    tap.received(buffer.get(..count).unwrap_or_default());
                }
                buffer = queue.push(buffer, count);
            }
            // The process ended before it read everything that was sent to it, which is an ordinary
            // end of the stream.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => break,
            Err(error) => {
                queue.change(|state| state.failure = Some(error));
                break;
            }
        }
    }
    if let Some(tap) = tap {
        tap.ended();
    }
    wire.close();
    // The wire is closed before waiters are notified, because a stop may need its descriptor.
    drop(wire);
    queue.change(|state| state.ended = true);
}
