//! Unix sockets: connects with a deadline, also by long paths, finds the process at the other end,
//! and sends descriptors.

use super::Peer;
use crate::deadlines::Deadline;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags};
use std::fs::{File, Permissions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Maximum length of a path in a socket address, in bytes. The NUL after it does not count.
pub(crate) const MAX_PATH_BYTES: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// A path that is short enough for a socket address, and the directory that must stay open as long
/// as the path is used.
struct Reachable {
    path: PathBuf,
    _directory: Option<File>,
}

/// Shortens a long path: opens its directory and returns `/proc/self/fd/N/name`.
fn reachable(path: &Path) -> io::Result<Reachable> {
    if path.as_os_str().as_bytes().len() <= MAX_PATH_BYTES {
        return Ok(Reachable { path: path.to_owned(), _directory: None });
    }
    let too_long =
        || io::Error::new(io::ErrorKind::InvalidInput, "the path is too long for a socket address");
    if !cfg!(target_os = "linux") {
        return Err(too_long());
    }
    let (parent, name) = path.parent().zip(path.file_name()).ok_or_else(too_long)?;
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
    let directory = File::from(rustix::fs::open(parent, flags, Mode::empty())?);
    // The path through the open directory is short, however long the path of the directory is.
    let short = PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd())).join(name);
    if short.as_os_str().as_bytes().len() > MAX_PATH_BYTES {
        return Err(too_long());
    }
    Ok(Reachable { path: short, _directory: Some(directory) })
}

/// Connects to a socket. Waits while the listener's queue of connections is full.
#[cfg(target_os = "linux")]
pub(super) fn connect(path: &Path, deadline: Deadline) -> io::Result<UnixStream> {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, socket_with};

    let reachable = reachable(path)?;
    let address = SocketAddrUnix::new(&reachable.path)?;
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    let mut pause = Duration::from_millis(1);
    loop {
        match rustix::net::connect(&socket, &address) {
            Ok(()) => break,
            Err(Errno::AGAIN) => {
                let left = deadline.left().ok_or(io::ErrorKind::TimedOut)?;
                std::thread::sleep(pause.min(left));
                // The runtime's queue of connections is full until it accepts one. Nothing reports
                // that, so this polls.
                pause = pause.saturating_mul(2).min(Duration::from_millis(50));
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let stream = UnixStream::from(socket);
    stream.set_nonblocking(false)?;
    Ok(stream)
}

/// Connects to a socket. The deadline is not needed, because outside Linux a full queue refuses at
/// once.
#[cfg(not(target_os = "linux"))]
pub(super) fn connect(path: &Path, _deadline: Deadline) -> io::Result<UnixStream> {
    UnixStream::connect(reachable(path)?.path)
}

/// Listens at a path at which there is no file yet. Only the owner may connect, whatever the umask,
/// because another user's program could pose as the expected process.
#[cfg(target_os = "linux")]
pub(super) fn listen(path: &Path) -> io::Result<UnixListener> {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, socket_with};

    /// Maximum number of connections that wait to be accepted, equal to that of the standard
    /// library.
    const MAX_BACKLOG: i32 = 128;
    let address = SocketAddrUnix::new(path)?;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    // The file gets the mode of the socket, without the bits of the umask.
    rustix::fs::fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
    rustix::net::bind(&socket, &address)?;
    let made = rustix::net::listen(&socket, MAX_BACKLOG).map_err(io::Error::from);
    match made.and_then(|()| std::fs::set_permissions(path, Permissions::from_mode(0o600))) {
        Ok(()) => Ok(UnixListener::from(socket)),
        Err(error) => {
            drop(std::fs::remove_file(path));
            Err(error)
        }
    }
}

/// Listens at a path. The standard library binds and listens in one step, so the umask
/// decides who may connect.
#[cfg(not(target_os = "linux"))]
pub(super) fn listen(path: &Path) -> io::Result<UnixListener> {
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(path, Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// Returns the process at the other end, which bound the socket or connected to it; `None` if it has
/// no id here, because it is in another container.
#[cfg(target_os = "linux")]
pub(super) fn peer(stream: &UnixStream) -> Option<Peer> {
    // Quirk: the kernel gives the id 0 to a process of another container, which rustix returns as an
    // error, because its type of ids has no 0.
    let credentials = rustix::net::sockopt::socket_peercred(stream).ok()?;
    let pid = u32::try_from(credentials.pid.as_raw_nonzero().get()).ok()?;
    Some(Peer { pid, uid: credentials.uid.as_raw() })
}

/// Returns `None`, because other kernels report the process at the other end in other ways. So it
/// is not checked there.
#[cfg(not(target_os = "linux"))]
pub(super) fn peer(_stream: &UnixStream) -> Option<Peer> {
    None
}

/// Returns whether something can be read, or the other end has closed, before `wait` is over.
pub(super) fn wait_readable(descriptor: BorrowedFd<'_>, wait: Duration) -> io::Result<bool> {
    let deadline = Deadline::after(wait);
    loop {
        let left = deadline.left().unwrap_or_default();
        let time = Timespec::try_from(left).map_err(|_| io::ErrorKind::InvalidInput)?;
        let mut polled = [PollFd::from_borrowed_fd(descriptor, PollFlags::IN)];
        match poll(&mut polled, Some(&time)) {
            Ok(ready) => return Ok(ready > 0),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Returns whether the other end has closed the connection. No bytes are consumed.
pub(super) fn is_closed(descriptor: BorrowedFd<'_>) -> bool {
    let mut byte = [0_u8; 1];
    match rustix::net::recv(descriptor, &mut byte[..], RecvFlags::PEEK | RecvFlags::DONTWAIT) {
        Ok((_, bytes)) => bytes == 0,
        Err(Errno::AGAIN | Errno::INTR) => false,
        Err(_) => true,
    }
}

/// Sends a file descriptor with one dummy byte, in a separate message.
pub(super) fn send_descriptor(stream: &UnixStream, descriptor: BorrowedFd<'_>) -> io::Result<()> {
    let descriptors = [descriptor];
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !ancillary.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(io::Error::other("no room for the descriptor"));
    }
    let sent = rustix::net::sendmsg(
        stream.as_fd(),
        &[io::IoSlice::new(&[0])],
        &mut ancillary,
        SendFlags::empty(),
    )?;
    if sent == 1 { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
}
