//! Keys, which a thread of its own takes from the terminal.
//!
//! crossterm never returns from reading a terminal that has hung up, and waits for the rest
//! of a sequence that it does not know. So it reads on a thread that nobody waits for, and
//! only when there is something to read.

use super::tty::Tty;
use crossterm::event::{self, Event};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// How long more is waited for at once, so that what crossterm leaves unread keeps no core
/// busy.
const MORE_KEYS_WAIT: Duration = Duration::from_millis(10);

/// What came of waiting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Came {
    Event(Event),
    Nothing,
    /// The terminal has hung up.
    HungUp,
}

/// What comes from the terminal.
#[derive(Debug)]
pub(super) struct Keys {
    tty: Arc<Tty>,
    came: Receiver<io::Result<Event>>,
    is_over: Arc<AtomicBool>,
}

impl Keys {
    /// Starts to listen. The thread ends after the first key that comes when nobody listens
    /// any more, and leaves that key to others.
    pub(super) fn listen() -> io::Result<Keys> {
        let (tty, is_over) = (Arc::new(Tty::open()?), Arc::new(AtomicBool::new(false)));
        let (come, came) = channel();
        let keys = Keys { tty: Arc::clone(&tty), came, is_over: Arc::clone(&is_over) };
        let listen = move || {
            if let Err(error) = read(&tty, &is_over, &come) {
                let _ = come.send(Err(error));
            }
        };
        thread::Builder::new().name("nettrace-keys".to_owned()).spawn(listen)?;
        Ok(keys)
    }

    /// Waits up to `wait`.
    pub(super) fn next(&self, wait: Duration) -> io::Result<Came> {
        match self.came.recv_timeout(wait) {
            Ok(Ok(event)) => Ok(Came::Event(event)),
            Err(RecvTimeoutError::Disconnected) => Ok(Came::HungUp),
            _ if self.is_gone() => Ok(Came::HungUp),
            Ok(Err(error)) => Err(error),
            Err(RecvTimeoutError::Timeout) => Ok(Came::Nothing),
        }
    }

    /// Whether the terminal has hung up.
    pub(super) fn is_gone(&self) -> bool {
        self.tty.is_gone()
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
    }
}

/// Until the terminal hangs up, or nobody listens.
fn read(tty: &Tty, is_over: &AtomicBool, come: &Sender<io::Result<Event>>) -> io::Result<()> {
    while tty.wait()? && !is_over.load(Ordering::SeqCst) {
        // More than one may have been read at once. Of a sequence that crossterm does not
        // know nothing comes.
        while !tty.is_gone() && event::poll(MORE_KEYS_WAIT)? {
            if come.send(event::read()).is_err() {
                return Ok(());
            }
        }
    }
    Ok(())
}
