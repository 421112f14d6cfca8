//! Windows pipes, with deadlines on every operation.

mod calls;
mod owner;

use crate::deadlines::Deadline;
use calls::{Transfer, WaitEvent, code};
pub use owner::restrict_to_user;
use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::windows::fs::OpenOptionsExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;
use windows_sys::Win32::Foundation::{
    ERROR_BROKEN_PIPE, ERROR_NO_DATA, ERROR_PIPE_BUSY, ERROR_PIPE_NOT_CONNECTED,
};
use windows_sys::Win32::Storage::FileSystem::{FILE_FLAG_OVERLAPPED, SECURITY_IDENTIFICATION};

/// Interval at which a pipe is tried again all of whose instances are taken.
const BUSY_CHECK_INTERVAL: Duration = Duration::from_millis(10);
/// Maximum number of bytes that [`PipeStream::wait_readable`] takes from the pipe.
const MAX_WAITED_BYTES: usize = 16 << 10;

/// An open connection by pipe. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct PipeStream(Arc<Pipe>);

#[derive(Debug)]
struct Pipe {
    /// `None` once this side has closed the pipe.
    file: RwLock<Option<File>>,
    /// Set when this side closes the pipe, which ends the operations that other threads wait for.
    closed: WaitEvent,
    arrived: Mutex<ArrivedBytes>,
}

/// Bytes that were read by a wait for them, because the system has no such wait.
#[derive(Debug, Default)]
struct ArrivedBytes {
    bytes: VecDeque<u8>,
    at_end: bool,
}

/// A pipe of this process, to which clients connect.
#[derive(Debug)]
pub(crate) struct PipeListener {
    name: String,
    /// Instance for the next client. While there is none, clients find no pipe.
    next: Mutex<Option<File>>,
    /// Never set.
    never: WaitEvent,
}

impl PipeListener {
    /// Creates the pipe. Fails if there is a pipe of that name, which may belong to another
    /// program.
    pub(super) fn new(name: &str) -> io::Result<Self> {
        // The system would say that access is denied, and Wine nothing.
        if exists(name) {
            return Err(io::Error::new(
                io::ErrorKind::AlreadyExists,
                "there is a pipe of this name",
            ));
        }
        let next = Mutex::new(Some(owner::create_pipe(name, true)?));
        Ok(PipeListener { name: name.to_owned(), next, never: WaitEvent::new()? })
    }

    /// Returns the pipe's name without `\\.\pipe\`, which runtimes add.
    pub(super) fn address(&self) -> String {
        self.name.clone()
    }

    /// Accepts the next client. Returns `None` if none comes in time.
    pub(super) fn accept(&self, wait: Duration) -> io::Result<Option<PipeStream>> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let instance = match next.take() {
            Some(instance) => instance,
            None => owner::create_pipe(&self.name, false)?,
        };
        match calls::run(&instance, Transfer::Connect, Some(wait), &self.never) {
            Ok(_) => {
                // If this fails, it is tried again for the next client.
                *next = owner::create_pipe(&self.name, false).ok();
                PipeStream::new(instance).map(Some)
            }
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                *next = Some(instance);
                Ok(None)
            }
            // The client has left already. Its instance is closed when there is another one.
            Err(error) if code(&error) == ERROR_NO_DATA => {
                *next = owner::create_pipe(&self.name, false).ok();
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

/// Returns whether there is a pipe of this name. Its server does not notice.
pub(super) fn exists(name: &str) -> bool {
    calls::has_instance(&format!(r"\\.\pipe\{name}"))
}

/// Connects to a pipe. Its server learns who this user is, but cannot act for this user.
pub(super) fn connect(name: &str, deadline: Deadline) -> io::Result<PipeStream> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(FILE_FLAG_OVERLAPPED);
    options.security_qos_flags(SECURITY_IDENTIFICATION);
    loop {
        match options.open(format!(r"\\.\pipe\{name}")) {
            Ok(file) => return PipeStream::new(file),
            Err(error) if code(&error) == ERROR_PIPE_BUSY => {
                let left = deadline.left().ok_or(io::ErrorKind::TimedOut)?;
                std::thread::sleep(left.min(BUSY_CHECK_INTERVAL));
            }
            Err(error) => return Err(error),
        }
    }
}

impl PipeStream {
    fn new(file: File) -> io::Result<Self> {
        let closed = WaitEvent::new()?;
        let arrived = Mutex::default();
        Ok(PipeStream(Arc::new(Pipe { file: RwLock::new(Some(file)), closed, arrived })))
    }

    /// Reads bytes that have arrived; 0 at the end of the connection. Fails with `TimedOut` if
    /// nothing comes in the time `wait`.
    pub(super) fn read(&self, buffer: &mut [u8], wait: Option<Duration>) -> io::Result<usize> {
        {
            let mut arrived = self.arrived();
            if !arrived.bytes.is_empty() {
                return arrived.bytes.read(buffer);
            }
            if arrived.at_end {
                return Ok(0);
            }
        }
        match self.run(Transfer::Read(buffer), wait) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(0),
            result => result,
        }
    }

    pub(super) fn write(&self, bytes: &[u8], wait: Duration) -> io::Result<usize> {
        self.run(Transfer::Write(bytes), Some(wait))
    }

    /// Reads or writes. Fails with `BrokenPipe` if one of the sides has ended the connection.
    fn run(&self, transfer: Transfer<'_>, wait: Option<Duration>) -> io::Result<usize> {
        let file = self.0.file.read().unwrap_or_else(PoisonError::into_inner);
        let Some(file) = &*file else { return Err(io::ErrorKind::BrokenPipe.into()) };
        calls::run(file, transfer, wait, &self.0.closed).map_err(|error| match error.kind() {
            io::ErrorKind::ConnectionAborted => io::ErrorKind::BrokenPipe.into(),
            _ if is_end(&error) => io::ErrorKind::BrokenPipe.into(),
            _ => error,
        })
    }

    /// Waits until a read would return at once. The bytes that have come are kept for it.
    pub(super) fn wait_readable(&self, wait: Duration) -> io::Result<bool> {
        {
            let arrived = self.arrived();
            if arrived.at_end || !arrived.bytes.is_empty() {
                return Ok(true);
            }
        }
        let mut buffer = vec![0; MAX_WAITED_BYTES];
        let count = match self.read(&mut buffer, Some(wait)) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::TimedOut => return Ok(false),
            // The next read reports it.
            Err(_) => return Ok(true),
        };
        let mut arrived = self.arrived();
        arrived.at_end = count == 0;
        arrived.bytes.extend(buffer.iter().take(count));
        Ok(true)
    }

    /// Returns whether the connection has ended. No bytes are consumed.
    pub(super) fn is_closed(&self) -> bool {
        let arrived = self.arrived();
        if arrived.at_end || !arrived.bytes.is_empty() {
            return arrived.bytes.is_empty();
        }
        let file = self.0.file.read().unwrap_or_else(PoisonError::into_inner);
        file.as_ref().is_none_or(|file| calls::check_connected(file).is_err())
    }

    /// Closes the pipe for all clones. What this side has written can still be read.
    pub(super) fn close(&self) {
        // Ends the operations in progress, which hold the lock.
        self.0.closed.set();
        drop(self.0.file.write().unwrap_or_else(PoisonError::into_inner).take());
    }

    fn arrived(&self) -> MutexGuard<'_, ArrivedBytes> {
        self.0.arrived.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether the other side has ended the connection: by closing its pipe, or by
/// `DisconnectNamedPipe`, as runtimes do after the client has read everything.
fn is_end(error: &io::Error) -> bool {
    matches!(code(error), ERROR_BROKEN_PIPE | ERROR_NO_DATA | ERROR_PIPE_NOT_CONNECTED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    const LONG: Duration = Duration::from_secs(60);

    /// Makes a pipe, and connects to it.
    fn pair(name: &str) -> (PipeListener, PipeStream, PipeStream) {
        let name = format!("nettrace-test-{name}-{}", std::process::id());
        let listener = PipeListener::new(&name).unwrap();
        let client = connect(&name, Deadline::after(LONG)).unwrap();
        let server = listener.accept(LONG).unwrap().unwrap();
        (listener, server, client)
    }

    fn read(stream: &PipeStream) -> Vec<u8> {
        let mut buffer = [0; 100];
        let count = stream.read(&mut buffer, Some(LONG)).unwrap();
        buffer[..count].to_vec()
    }

    #[test]
    fn a_runtime_that_disconnects_its_pipe_ends_the_stream() {
        let (_listener, server, client) = pair("disconnect");
        server.write(b"last", LONG).unwrap();
        let ending = thread::spawn(move || {
            calls::disconnect(server.0.file.read().unwrap().as_ref().unwrap());
            server
        });
        assert_eq!(read(&client), b"last");
        assert_eq!(read(&client), b"");
        drop(ending.join().unwrap());
        assert!(client.is_closed());
    }

    #[test]
    fn a_pipe_that_is_closed_can_be_read_to_its_end() {
        let (_listener, server, client) = pair("closed");
        assert!(!client.is_closed());
        server.write(b"last", LONG).unwrap();
        server.close();
        assert_eq!((read(&client), read(&client)), (b"last".to_vec(), Vec::new()));
        assert!(client.is_closed() && server.is_closed());
        let failed = client.write(b"more", LONG).unwrap_err();
        assert_eq!(failed.kind(), io::ErrorKind::BrokenPipe);
    }

    #[test]
    fn a_read_ends_at_its_deadline_and_loses_nothing() {
        let (_listener, server, client) = pair("deadline");
        let wait = Some(Duration::from_millis(20));
        let failed = client.read(&mut [0; 10], wait).unwrap_err();
        assert_eq!(failed.kind(), io::ErrorKind::TimedOut);
        assert!(!client.wait_readable(Duration::from_millis(20)).unwrap());
        server.write(b"late", LONG).unwrap();
        assert!(client.wait_readable(LONG).unwrap());
        assert!(!client.is_closed());
        assert_eq!(read(&client), b"late");
    }

    #[test]
    fn a_write_that_nobody_reads_ends_at_its_deadline() {
        let (_listener, server, _client) = pair("full");
        let wait = Duration::from_millis(20);
        let failed = (0..1000).find_map(|_| server.write(&[0; 10_000], wait).err()).unwrap();
        assert_eq!(failed.kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn closing_a_clone_ends_a_read_in_progress() {
        let (_listener, _server, client) = pair("clone");
        let reading = client.clone();
        let reader = thread::spawn(move || reading.read(&mut [0; 10], None));
        thread::sleep(Duration::from_millis(50));
        client.close();
        assert_eq!(reader.join().unwrap().unwrap(), 0);
    }

    #[test]
    fn a_name_is_taken_once_and_clients_come_one_after_the_other() {
        let (listener, _server, _client) = pair("name");
        let name = listener.address();
        let taken = PipeListener::new(&name).unwrap_err();
        assert_eq!(taken.kind(), io::ErrorKind::AlreadyExists);
        assert!(listener.accept(Duration::from_millis(20)).unwrap().is_none());
        drop(connect(&name, Deadline::after(LONG)).unwrap());
        let client = thread::spawn({
            let name = name.clone();
            move || connect(&name, Deadline::after(LONG)).unwrap()
        });
        // The first one may be gone before it is accepted.
        let accepted = (0..100)
            .filter_map(|_| listener.accept(LONG).unwrap())
            .find(|stream| stream.write(b"hello", LONG).is_ok() && !stream.is_closed());
        let client = client.join().unwrap();
        assert!(accepted.is_some());
        assert_eq!(read(&client), b"hello");
        assert!(exists(&name) && !exists("nettrace-test-nobody"));
        let gone = connect("nettrace-test-nobody", Deadline::after(LONG)).unwrap_err();
        assert_eq!(gone.kind(), io::ErrorKind::NotFound);
    }
}
