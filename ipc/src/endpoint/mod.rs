//! Endpoints at which runtimes can be reached, and connections to them.

mod hosts;
mod listener;
mod made;
mod tcp;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;
mod wire;

use crate::deadlines::Deadline;
use crate::error::{Error, Step};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(crate) use listener::Listener;
pub(crate) use made::Made;
pub use made::remove_port_files;
pub use tcp::TcpAddress;
#[cfg(target_os = "linux")]
pub(crate) use unix::MAX_PATH_BYTES;
#[cfg(windows)]
pub use windows::restrict_to_user;
pub(crate) use wire::Wire;

/// The process at the other end of a Unix socket, according to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Peer {
    /// Process id, as this process sees it.
    pub pid: u32,
    /// User id of the process.
    pub uid: u32,
}

/// Process that listens at a socket.
#[cfg(target_os = "linux")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holder {
    /// The process with this id.
    Process(u32),
    /// A process of another container, which has no id here.
    Elsewhere,
}

/// Address at which a runtime takes commands: a Unix socket, a Windows pipe or a TCP address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Endpoint(EndpointKind);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum EndpointKind {
    Socket { path: PathBuf, pid: Option<u32> },
    Pipe(String),
    Tcp(TcpAddress),
}

impl Endpoint {
    /// Makes the endpoint of a Unix socket. Paths too long for a socket address are
    /// reached through their directory.
    pub fn socket(path: impl Into<PathBuf>) -> Self {
        Endpoint(EndpointKind::Socket { path: path.into(), pid: None })
    }

    /// Makes the endpoint of a Unix socket that belongs to the process with this id. If another
    /// process holds the socket, nothing is sent.
    pub fn socket_of(path: impl Into<PathBuf>, pid: u32) -> Self {
        Endpoint(EndpointKind::Socket { path: path.into(), pid: Some(pid) })
    }

    /// Makes the endpoint of a Windows pipe, from its name with or without `\\.\pipe\`.
    pub fn pipe(name: &str) -> Self {
        Endpoint(EndpointKind::Pipe(name.strip_prefix(r"\\.\pipe\").unwrap_or(name).to_owned()))
    }

    /// Makes the endpoint of a TCP address, at which runtimes on phones and in browsers are
    /// reached.
    pub fn tcp(address: TcpAddress) -> Self {
        Endpoint(EndpointKind::Tcp(address))
    }

    /// Returns the path of the Unix socket, if the endpoint is one.
    pub fn path(&self) -> Option<&Path> {
        match &self.0 {
            EndpointKind::Socket { path, .. } => Some(path),
            _ => None,
        }
    }

    /// Returns the id of the process that the socket must belong to, if it was given.
    pub fn pid(&self) -> Option<u32> {
        match &self.0 {
            EndpointKind::Socket { pid, .. } => *pid,
            _ => None,
        }
    }

    /// Returns whether the expected process holds the other end of the socket. To find out, the
    /// function connects and closes at once, which a runtime takes for a failed connection.
    #[cfg(target_os = "linux")]
    pub(crate) fn is_of_its_process(&self, limit: Duration) -> bool {
        self.pid().is_some_and(|pid| self.holder(limit).ok() == Some(Holder::Process(pid)))
    }

    /// Finds out who holds the other end of the socket. To that end, the function connects and closes
    /// at once, which a runtime takes for a failed connection.
    ///
    /// # Errors
    /// Nobody listens, or this user may not connect.
    #[cfg(target_os = "linux")]
    pub(crate) fn holder(&self, limit: Duration) -> io::Result<Holder> {
        let EndpointKind::Socket { path, .. } = &self.0 else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        let stream = unix::connect(path, Deadline::after(limit))?;
        Ok(unix::peer(&stream).map_or(Holder::Elsewhere, |peer| Holder::Process(peer.pid)))
    }

    /// Returns whether there is a Windows pipe of this name. Its server does not notice.
    #[cfg(windows)]
    pub(crate) fn is_a_pipe(&self) -> bool {
        matches!(&self.0, EndpointKind::Pipe(name) if windows::exists(name))
    }

    /// Connects to the endpoint. The caller must send a whole request at once: a client that
    /// connects and sends nothing keeps the runtime from serving others.
    pub(crate) fn connect(&self, limit: Duration) -> Result<Wire, Error> {
        let deadline = Deadline::after(limit);
        let failed = |source: io::Error| Error::io(Step::Connect, source, limit);
        match &self.0 {
            #[cfg(unix)]
            EndpointKind::Socket { path, pid } => {
                let stream = unix::connect(path, deadline).map_err(failed)?;
                if let Some(expected) = *pid
                    && let Some(peer) = unix::peer(&stream)
                    // A socket may outlive its process, and the process id in its name may be
                    // reused.
                    && expected != peer.pid
                {
                    return Err(Error::WrongPeer { expected, found: peer.pid });
                }
                Ok(Wire::Unix(stream))
            }
            #[cfg(not(unix))]
            EndpointKind::Socket { .. } => Err(Error::Unsupported("Unix sockets")),
            #[cfg(windows)]
            EndpointKind::Pipe(name) => {
                windows::connect(name, deadline).map(Wire::Pipe).map_err(failed)
            }
            #[cfg(not(windows))]
            EndpointKind::Pipe(_) => Err(Error::Unsupported("Windows pipes")),
            EndpointKind::Tcp(address) => address.connect(deadline).map(Wire::Tcp).map_err(failed),
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            EndpointKind::Socket { path, .. } => path.display().fmt(f),
            EndpointKind::Pipe(name) => write!(f, r"\\.\pipe\{name}"),
            EndpointKind::Tcp(address) => write!(f, "tcp://{address}"),
        }
    }
}
