//! Windows pipes. To connect, a pipe is opened as a file with the standard library; to listen, the
//! crate interprocess creates one.
//!
//! A blocking read cannot have a deadline, so a separate thread reads and passes the bytes on. A
//! read and a write on one file exclude each other, so the request is written before that thread
//! starts. The protocol allows only one request per connection anyway.

use crate::deadlines::Deadline;
use interprocess::os::windows::named_pipe::{
    DuplexPipeStream, PipeListener as Instances, PipeListenerOptions, pipe_mode::Bytes,
};
use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Error code ERROR_PIPE_BUSY: all instances of the pipe are taken.
const PIPE_BUSY: i32 = 231;
/// Maximum number of bytes that wait to be read. Beyond it, the reading thread waits.
const MAX_QUEUED_BYTES: usize = 1 << 20;

#[derive(Debug)]
pub(crate) struct PipeStream {
    pipe: Arc<Pipe>,
    inbox: Arc<Inbox>,
}

#[derive(Debug)]
enum Pipe {
    /// A pipe to which this process connected.
    Ours(File),
    /// A pipe of this process to which a client connected.
    Theirs(DuplexPipeStream<Bytes>),
}

impl Pipe {
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Pipe::Ours(file) => (&*file).read(buffer),
            Pipe::Theirs(stream) => (&*stream).read(buffer),
        }
    }

    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Pipe::Ours(file) => (&*file).write(bytes),
            Pipe::Theirs(stream) => (&*stream).write(bytes),
        }
    }
}

/// A pipe of this process, to which clients connect.
#[derive(Debug)]
pub(crate) struct PipeListener {
    instances: Instances<Bytes, Bytes>,
    name: String,
}

impl PipeListener {
    /// Creates the pipe. Fails if there is a pipe of that name, which may belong to another
    /// program.
    pub(super) fn new(name: &str) -> io::Result<Self> {
        let options =
            PipeListenerOptions::new().path(format!(r"\\.\pipe\{name}")).nonblocking(true);
        Ok(PipeListener { instances: options.create_duplex::<Bytes>()?, name: name.to_owned() })
    }

    /// Returns the pipe's name without `\\.\pipe\`, which runtimes add.
    pub(super) fn address(&self) -> String {
        self.name.clone()
    }

    /// Accepts a client, or fails with `WouldBlock` if none is waiting.
    pub(super) fn accept(&self) -> io::Result<PipeStream> {
        let stream = self.instances.accept()?;
        stream.set_nonblocking(false)?;
        Ok(PipeStream { pipe: Arc::new(Pipe::Theirs(stream)), inbox: Arc::default() })
    }
}

#[derive(Debug, Default)]
struct Inbox {
    state: Mutex<PipeState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct PipeState {
    reading: bool,
    bytes: VecDeque<u8>,
    ended: Option<io::ErrorKind>,
    at_end: bool,
    closed: bool,
}

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, PipeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) fn connect(name: &str, deadline: Deadline) -> io::Result<PipeStream> {
    loop {
        match OpenOptions::new().read(true).write(true).open(format!(r"\\.\pipe\{name}")) {
            Ok(file) => {
                return Ok(PipeStream { pipe: Arc::new(Pipe::Ours(file)), inbox: Arc::default() });
            }
            Err(error) if error.raw_os_error() == Some(PIPE_BUSY) => {
                let left = deadline.left().ok_or(io::ErrorKind::TimedOut)?;
                std::thread::sleep(left.min(Duration::from_millis(10)));
            }
            Err(error) => return Err(error),
        }
    }
}

impl PipeStream {
    pub(super) fn try_clone(&self) -> io::Result<Self> {
        Ok(PipeStream { pipe: Arc::clone(&self.pipe), inbox: Arc::clone(&self.inbox) })
    }

    pub(super) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.pipe.write(bytes)
    }

    /// Starts the reading thread, at the first read.
    fn start(&self) -> io::Result<()> {
        let mut state = self.inbox.lock();
        if state.reading {
            return Ok(());
        }
        let (pipe, inbox) = (Arc::clone(&self.pipe), Arc::clone(&self.inbox));
        std::thread::Builder::new()
            .name("nettrace-pipe".to_owned())
            .spawn(move || receive(&pipe, &inbox))?;
        state.reading = true;
        Ok(())
    }

    pub(super) fn wait_readable(&self, wait: Duration) -> io::Result<bool> {
        self.start()?;
        let idle = |state: &mut PipeState| state.bytes.is_empty() && !state.at_end && !state.closed;
        let waited = self.inbox.changed.wait_timeout_while(self.inbox.lock(), wait, idle);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        Ok(!idle(&mut state))
    }

    pub(super) fn read(&self, buffer: &mut [u8], limit: Option<Duration>) -> io::Result<usize> {
        let readable = loop {
            let readable = self.wait_readable(limit.unwrap_or(Duration::from_secs(1)))?;
            if readable || limit.is_some() {
                break readable;
            }
        };
        if !readable {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let mut state = self.inbox.lock();
        let count = state.bytes.read(buffer)?;
        match state.ended {
            Some(kind) if count == 0 => Err(kind.into()),
            _ => {
                self.inbox.changed.notify_all();
                Ok(count)
            }
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        let state = self.inbox.lock();
        state.closed || (state.at_end && state.bytes.is_empty())
    }

    /// Stops reading. The reading thread ends when further bytes arrive or the pipe ends.
    pub(super) fn close(&self) {
        self.inbox.lock().closed = true;
        self.inbox.changed.notify_all();
    }
}

fn receive(pipe: &Pipe, inbox: &Inbox) {
    let mut buffer = vec![0; 64 << 10];
    loop {
        let result = pipe.read(&mut buffer);
        let full = |state: &mut PipeState| state.bytes.len() > MAX_QUEUED_BYTES && !state.closed;
        let waited = inbox.changed.wait_while(inbox.lock(), full);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        match result {
            _ if state.closed => state.at_end = true,
            Ok(0) => state.at_end = true,
            Ok(count) => state.bytes.extend(buffer.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => state.at_end = true,
            Err(error) => (state.at_end, state.ended) = (true, Some(error.kind())),
        }
        inbox.changed.notify_all();
        if state.at_end {
            return;
        }
    }
}
