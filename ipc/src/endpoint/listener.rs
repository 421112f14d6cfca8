//! Listens for connections. Ports, replays and the fake runtime use this.

use super::{TcpAddress, Wire};
use std::io;
use std::net::TcpListener;
#[cfg(unix)]
use std::os::unix::net::UnixListener;
#[cfg(unix)]
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(Debug)]
pub(crate) enum Listener {
    #[cfg(unix)]
    Unix {
        listener: UnixListener,
        path: PathBuf,
    },
    Tcp(TcpListener),
    #[cfg(windows)]
    Pipe(super::windows::PipeListener),
}

impl Listener {
    /// Listens on a Unix socket to which only its owner may connect. A file that is already at the
    /// path is not removed, because it may belong to another program.
    #[cfg(unix)]
    pub(crate) fn unix(path: &Path) -> io::Result<Self> {
        let listener = super::unix::listen(path)?;
        listener.set_nonblocking(true)?;
        Ok(Listener::Unix { listener, path: path.to_owned() })
    }

    pub(crate) fn tcp(address: &TcpAddress) -> io::Result<Self> {
        let listener = address.listen()?;
        listener.set_nonblocking(true)?;
        Ok(Listener::Tcp(listener))
    }

    /// Listens on a Windows pipe.
    #[cfg(windows)]
    pub(crate) fn pipe(name: &str) -> io::Result<Self> {
        super::windows::PipeListener::new(name).map(Listener::Pipe)
    }

    /// Returns the address to connect to: the path, the pipe, or `host:port` with the port that the
    /// system chose.
    pub(crate) fn address(&self) -> String {
        match self {
            #[cfg(unix)]
            Listener::Unix { path, .. } => path.display().to_string(),
            Listener::Tcp(listener) => {
                listener.local_addr().map_or_else(|_| String::new(), |address| address.to_string())
            }
            #[cfg(windows)]
            Listener::Pipe(listener) => listener.address(),
        }
    }

    /// Opens a descriptor to keep in reserve. It is closed when the process has no other descriptor
    /// left.
    #[cfg(unix)]
    pub(crate) fn spare(&self) -> io::Result<std::os::fd::OwnedFd> {
        self.descriptor().try_clone_to_owned()
    }

    #[cfg(unix)]
    fn descriptor(&self) -> std::os::fd::BorrowedFd<'_> {
        use std::os::fd::AsFd;
        match self {
            Listener::Unix { listener, .. } => listener.as_fd(),
            Listener::Tcp(listener) => listener.as_fd(),
        }
    }

    /// Accepts the next connection. Returns `None` if none comes in time.
    pub(crate) fn accept(&self, wait: Duration) -> io::Result<Option<Wire>> {
        #[cfg(unix)]
        if !super::unix::wait_readable(self.descriptor(), wait)? {
            return Ok(None);
        }
        let accepted = match self {
            #[cfg(unix)]
            Listener::Unix { listener, .. } => listener.accept().and_then(|(stream, _)| {
                stream.set_nonblocking(false)?;
                Ok(Wire::Unix(stream))
            }),
            Listener::Tcp(listener) => listener.accept().and_then(|(stream, _)| {
                stream.set_nonblocking(false)?;
                stream.set_nodelay(true)?;
                Ok(Wire::Tcp(stream))
            }),
            #[cfg(windows)]
            Listener::Pipe(listener) => return Ok(listener.accept(wait)?.map(Wire::Pipe)),
        };
        match accepted {
            Ok(wire) => Ok(Some(wire)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                #[cfg(not(unix))]
                std::thread::sleep(wait.min(Duration::from_millis(10)));
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Listener::Unix { path, .. } = self {
            // No client can connect to the file any more, so it does no harm if it cannot be
            // removed.
            drop(std::fs::remove_file(path));
        }
    }
}
