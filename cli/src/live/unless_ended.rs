//! Waiting for a process while still obeying signals.

use super::signals::Signals;
use super::target::TICK;
use std::io;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// How long an answer is still waited for when a signal has come: most are there at once.
pub(crate) const GRACE: Duration = Duration::from_secs(1);

/// Does what may have to wait long for a process, on a thread of its own. `None`: a
/// signal came, and no answer soon after it. An answer that comes later is dropped; a
/// session that it brings is stopped by that.
pub(crate) fn unless_ended<T: Send + 'static>(
    signals: &Signals,
    act: impl FnOnce() -> T + Send + 'static,
) -> io::Result<Option<T>> {
    let (answer, answered) = sync_channel(1);
    let thread = std::thread::Builder::new().name("nettrace-ask".to_owned());
    thread.spawn(move || {
        // Fails if a signal has ended the wait.
        let _ = answer.send(act());
    })?;
    let mut since = None;
    loop {
        match answered.recv_timeout(TICK) {
            Ok(answer) => return Ok(Some(answer)),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(io::Error::other("the asking thread panicked"));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        if signals.seen().is_some() && since.get_or_insert_with(Instant::now).elapsed() >= GRACE {
            return Ok(None);
        }
    }
}
