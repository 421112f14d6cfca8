//! The terminal that keys come from. Its state is polled, so that no key is read.

use std::io;
use std::time::Duration;

/// The terminal that crossterm reads from. On Windows no handle is needed, because the end of a
/// console is an error of reading.
#[derive(Debug)]
pub(super) struct Tty(#[cfg(unix)] std::os::fd::OwnedFd);

#[cfg(unix)]
impl Tty {
    /// Opens standard input if that is a terminal, else the one that controls the program.
    pub(super) fn open() -> io::Result<Tty> {
        use std::io::IsTerminal;
        let stdin = io::stdin();
        if stdin.is_terminal() {
            return std::os::fd::AsFd::as_fd(&stdin).try_clone_to_owned().map(Tty);
        }
        let terminal = std::fs::File::options().read(true).write(true).open("/dev/tty")?;
        Ok(Tty(terminal.into()))
    }

    /// Waits until something can be read. Returns `false` if the terminal has hung up.
    pub(super) fn wait(&self) -> io::Result<bool> {
        loop {
            if let Some(is_there) = self.poll(None)? {
                return Ok(is_there);
            }
        }
    }

    /// Returns whether the terminal has hung up: nothing comes from it any more.
    pub(super) fn is_gone(&self) -> bool {
        matches!(self.poll(Some(Duration::ZERO)), Ok(Some(false)))
    }

    /// Waits for input. Returns `Some(true)` if something can be read, `Some(false)` if the
    /// terminal has hung up, and `None` if neither happened in that time.
    fn poll(&self, wait: Option<Duration>) -> io::Result<Option<bool>> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        use rustix::io::Errno;
        let wait = wait.and_then(|wait| Timespec::try_from(wait).ok());
        let mut polled = [PollFd::new(&self.0, PollFlags::IN)];
        match poll(&mut polled, wait.as_ref()) {
            Ok(0) | Err(Errno::INTR) => Ok(None),
            Ok(_) => Ok(Some(!polled[0].revents().intersects(PollFlags::HUP | PollFlags::ERR))),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(windows)]
impl Tty {
    pub(super) fn open() -> io::Result<Tty> {
        Ok(Tty())
    }

    pub(super) fn wait(&self) -> io::Result<bool> {
        while !crossterm::event::poll(Duration::from_secs(60))? {}
        Ok(true)
    }

    pub(super) fn is_gone(&self) -> bool {
        false
    }
}
