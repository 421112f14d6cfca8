//! Reads keys on a thread of its own.
//!
//! crossterm never returns from reading a terminal that has hung up, or from waiting for the rest
//! of an unknown sequence. So it reads on a thread that is never waited for, and only when there is
//! something to read.

use super::tty::Tty;
use crossterm::event::{self, Event};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// Maximum time of one wait for more input, so that bytes which crossterm leaves unread keep no
/// core busy.
const MORE_KEYS_WAIT: Duration = Duration::from_millis(10);

/// The result of waiting for a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Came {
    Event(Event),
    Nothing,
    /// The terminal has hung up.
    HungUp,
}

/// The keys that come from the terminal.
#[derive(Debug)]
pub(super) struct TerminalKeys {
    tty: Arc<Tty>,
    came: Receiver<io::Result<Event>>,
    is_over: Arc<AtomicBool>,
}

impl TerminalKeys {
    /// Starts the thread that reads keys. After the value is dropped, the thread ends at the next
    /// key and leaves it unread.
    pub(super) fn listen() -> io::Result<TerminalKeys> {
        let (tty, is_over) = (Arc::new(Tty::open()?), Arc::new(AtomicBool::new(false)));
        let (come, came) = channel();
        let keys = TerminalKeys { tty: Arc::clone(&tty), came, is_over: Arc::clone(&is_over) };
        let listen = move || {
            if let Err(error) = read(&tty, &is_over, &come) {
                let _ = come.send(Err(error));
            }
        };
        thread::Builder::new().name("nettrace-keys".to_owned()).spawn(listen)?;
        Ok(keys)
    }

    /// Waits up to `wait` for an event.
    pub(super) fn next(&self, wait: Duration) -> io::Result<Came> {
        match self.came.recv_timeout(wait) {
            Ok(Ok(event)) => Ok(Came::Event(event)),
            Err(RecvTimeoutError::Disconnected) => Ok(Came::HungUp),
            _ if self.is_gone() => Ok(Came::HungUp),
            Ok(Err(error)) => Err(error),
            Err(RecvTimeoutError::Timeout) => Ok(Came::Nothing),
        }
    }

    /// Returns whether the terminal has hung up.
    pub(super) fn is_gone(&self) -> bool {
        self.tty.is_gone()
    }
}

impl Drop for TerminalKeys {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
    }
}

/// Reads events until the terminal hangs up, or `is_over` is set.
fn read(tty: &Tty, is_over: &AtomicBool, come: &Sender<io::Result<Event>>) -> io::Result<()> {
    while tty.wait()? && !is_over.load(Ordering::SeqCst) {
        // crossterm may have read several events at once, and gives none for a sequence that it
        // does not know.
        while !tty.is_gone() && event::poll(MORE_KEYS_WAIT)? {
            if come.send(event::read()).is_err() {
                return Ok(());
            }
        }
    }
    Ok(())
}
