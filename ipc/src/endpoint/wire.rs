//! An open connection by socket, pipe or TCP, with deadlines on every read and write.

use crate::deadlines::Deadline;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::time::Duration;

#[derive(Debug)]
pub(crate) enum Wire {
    #[cfg(unix)]
    Unix(UnixStream),
    Tcp(TcpStream),
    #[cfg(windows)]
    Pipe(super::windows::PipeStream),
}

impl Wire {
    /// Makes a second handle to the connection.
    pub(crate) fn try_clone(&self) -> io::Result<Wire> {
        match self {
            #[cfg(unix)]
            Wire::Unix(stream) => stream.try_clone().map(Wire::Unix),
            Wire::Tcp(stream) => stream.try_clone().map(Wire::Tcp),
            #[cfg(windows)]
            Wire::Pipe(stream) => Ok(Wire::Pipe(stream.clone())),
        }
    }

    /// Reads bytes that have arrived, and returns 0 at the end of the connection. Fails with
    /// `TimedOut` once the deadline has passed.
    pub(crate) fn read(&mut self, buffer: &mut [u8], deadline: Deadline) -> io::Result<usize> {
        loop {
            // The timeout is set for each read, so that a peer that sends a byte now and then does
            // not move the deadline.
            let left = deadline.left().ok_or(io::ErrorKind::TimedOut)?;
            let result = match self {
                #[cfg(unix)]
                Wire::Unix(stream) => {
                    stream.set_read_timeout(Some(left))?;
                    stream.read(buffer)
                }
                Wire::Tcp(stream) => {
                    stream.set_read_timeout(Some(left))?;
                    stream.read(buffer)
                }
                #[cfg(windows)]
                Wire::Pipe(stream) => stream.read(buffer, Some(left)),
            };
            match result {
                Err(error) if is_retry(&error) => {}
                result => return result,
            }
        }
    }

    /// Reads bytes that arrive, without a deadline, and returns 0 at the end of the connection.
    /// [`Wire::close`] on a clone ends the wait.
    pub(crate) fn read_patiently(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let result = match self {
                #[cfg(unix)]
                Wire::Unix(stream) => stream.read(buffer),
                Wire::Tcp(stream) => stream.read(buffer),
                #[cfg(windows)]
                Wire::Pipe(stream) => stream.read(buffer, None),
            };
            match result {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }

    /// Removes the time limit of reads, which [`Wire::read_patiently`] requires.
    pub(crate) fn set_patient(&mut self) -> io::Result<()> {
        match self {
            #[cfg(unix)]
            Wire::Unix(stream) => stream.set_read_timeout(None),
            Wire::Tcp(stream) => stream.set_read_timeout(None),
            #[cfg(windows)]
            Wire::Pipe(_) => Ok(()),
        }
    }

    /// Writes all bytes, in one system call unless the other side's buffer is full.
    pub(crate) fn write_all(&mut self, mut bytes: &[u8], deadline: Deadline) -> io::Result<()> {
        while !bytes.is_empty() {
            let left = deadline.left().ok_or(io::ErrorKind::TimedOut)?;
            let written = match self {
                #[cfg(unix)]
                Wire::Unix(stream) => {
                    stream.set_write_timeout(Some(left))?;
                    stream.write(bytes)
                }
                Wire::Tcp(stream) => {
                    stream.set_write_timeout(Some(left))?;
                    stream.write(bytes)
                }
                #[cfg(windows)]
                Wire::Pipe(stream) => stream.write(bytes, left),
            };
            match written {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
                Err(error) if is_retry(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Waits until a read would return at once, because bytes, the end or an error have arrived.
    /// Returns `false` if `wait` is over before.
    pub(crate) fn wait_readable(&mut self, wait: Duration) -> io::Result<bool> {
        match self {
            #[cfg(unix)]
            Wire::Unix(stream) => {
                super::unix::wait_readable(std::os::fd::AsFd::as_fd(stream), wait)
            }
            #[cfg(unix)]
            Wire::Tcp(stream) => super::unix::wait_readable(std::os::fd::AsFd::as_fd(stream), wait),
            #[cfg(not(unix))]
            Wire::Tcp(stream) => {
                stream.set_read_timeout(Some(wait.max(Duration::from_millis(1))))?;
                match stream.peek(&mut [0]) {
                    Err(error) if is_retry(&error) => Ok(false),
                    _ => Ok(true),
                }
            }
            #[cfg(windows)]
            Wire::Pipe(stream) => stream.wait_readable(wait),
        }
    }

    /// Returns whether the other side has closed the connection, which must be idle.
    pub(crate) fn is_closed(&self) -> bool {
        match self {
            #[cfg(unix)]
            Wire::Unix(stream) => super::unix::is_closed(std::os::fd::AsFd::as_fd(stream)),
            #[cfg(unix)]
            Wire::Tcp(stream) => super::unix::is_closed(std::os::fd::AsFd::as_fd(stream)),
            #[cfg(not(unix))]
            Wire::Tcp(stream) => {
                let peeked = stream.set_nonblocking(true).and_then(|()| stream.peek(&mut [0]));
                let restored = stream.set_nonblocking(false).is_ok();
                !restored
                    || !matches!(peeked, Ok(1..)) && !peeked.is_err_and(|error| is_retry(&error))
            }
            #[cfg(windows)]
            Wire::Pipe(stream) => stream.is_closed(),
        }
    }

    /// Returns the id of the process at the other end, if the kernel reports it.
    pub(crate) fn peer_pid(&self) -> Option<u32> {
        match self {
            #[cfg(unix)]
            Wire::Unix(stream) => super::unix::peer(stream).map(|peer| peer.pid),
            _ => None,
        }
    }

    /// Ends both directions of the connection, for all clones. A read in progress returns.
    pub(crate) fn close(&self) {
        // This fails if the other side has closed the connection already, which is no error.
        match self {
            #[cfg(unix)]
            Wire::Unix(stream) => drop(stream.shutdown(Shutdown::Both)),
            Wire::Tcp(stream) => drop(stream.shutdown(Shutdown::Both)),
            #[cfg(windows)]
            Wire::Pipe(stream) => stream.close(),
        }
    }

    /// Sends a file descriptor with one dummy byte.
    #[cfg(unix)]
    pub(crate) fn send_descriptor(
        &self,
        descriptor: std::os::fd::BorrowedFd<'_>,
    ) -> io::Result<()> {
        match self {
            Wire::Unix(stream) => super::unix::send_descriptor(stream, descriptor),
            Wire::Tcp(_) => {
                Err(io::Error::new(io::ErrorKind::Unsupported, "descriptors need a Unix socket"))
            }
        }
    }
}

/// Returns whether a system call has to be repeated, because it was interrupted or timed out. The
/// caller's deadline decides when to give up.
fn is_retry(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
}
