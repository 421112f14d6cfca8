//! Pipes after the end of a trace: the writer may hold one open for long, so what follows
//! the end is read only if it is there.

use std::cell::Cell;
use std::io::{self, ErrorKind, Read};
use std::rc::Rc;

/// How long a writer that is at work may take for the next piece.
#[cfg(unix)]
const NEXT_PIECE_WAIT: rustix::event::Timespec =
    rustix::event::Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// Whether reading from a pipe gives bytes, or its end, without waiting. `false` if that
/// cannot be known.
#[cfg(unix)]
pub fn is_ready(input: &impl std::os::fd::AsFd) -> bool {
    use rustix::event::{PollFd, PollFlags, poll};
    let mut polled = [PollFd::new(input, PollFlags::IN)];
    poll(&mut polled, Some(&NEXT_PIECE_WAIT)).is_ok_and(|count| count > 0)
}

/// Whether reading from a pipe gives bytes, or its end, without waiting: unknown on this
/// system.
#[cfg(not(unix))]
pub fn is_ready<T>(_input: &T) -> bool {
    false
}

/// An input that may wait, and does not while that is asked of it.
pub(super) struct Waiting<R, F> {
    input: R,
    is_ready: F,
    at_once: Rc<Cell<bool>>,
}

impl<R: Read, F: Fn() -> bool> Waiting<R, F> {
    pub(super) fn new(input: R, is_ready: F, at_once: Rc<Cell<bool>>) -> Waiting<R, F> {
        Waiting { input, is_ready, at_once }
    }
}

impl<R: Read, F: Fn() -> bool> Read for Waiting<R, F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at_once.get() && !(self.is_ready)() {
            return Err(ErrorKind::WouldBlock.into());
        }
        self.input.read(buffer)
    }
}
