//! Sessions of the fake runtime. A thread per session writes the stream to the connection.

use super::fault::FaultKind;
use super::serve::spoil;
use super::{FakeConfig, SharedFake, reply};
use crate::deadlines::Deadline;
use crate::endpoint::Wire;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Maximum time of a write. A write ends sooner if the fake ends, because that closes the
/// connection.
pub(super) const MAX_WRITE_TIME: Duration = Duration::from_secs(120);

#[derive(Debug)]
pub(super) struct FakeSession {
    stop: Arc<AtomicBool>,
    wire: Wire,
    thread: Option<JoinHandle<()>>,
    is_beside: bool,
}

impl FakeSession {
    /// Adds a session to those of the fake and then replies with its id, so that a stop, however
    /// soon it comes, finds the session.
    pub(super) fn begin(
        shared: &Arc<SharedFake>,
        id: u64,
        wire: Wire,
        fault: Option<FaultKind>,
    ) -> std::io::Result<()> {
        let stop = Arc::new(AtomicBool::new(false));
        let mut state = shared.lock();
        let is_beside = shared.config.beside.is_some() && !state.sessions.is_empty();
        let (own_shared, own_stop, mut own_wire) =
            (Arc::clone(shared), Arc::clone(&stop), wire.try_clone()?);
        let thread =
            std::thread::Builder::new().name("fake-session".to_owned()).spawn(move || {
                // Waits until the session is known.
                drop(own_shared.lock());
                let reply = reply::frame(true, &id.to_le_bytes());
                spoil(&own_shared, &mut own_wire, reply, fault.clone());
                write(&own_shared, &own_stop, &mut own_wire, fault.as_ref(), is_beside);
            })?;
        state.sessions.insert(id, FakeSession { stop, wire, thread: Some(thread), is_beside });
        Ok(())
    }

    /// Writes the rest of the stream and closes the connection, on the server's thread as in a real
    /// runtime.
    pub(super) fn finish(mut self, config: &FakeConfig) {
        self.stop.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
        // If the client closed the event socket, it does not want the rest.
        let beside = config.beside.as_ref().filter(|_| self.is_beside);
        let tail = beside.map_or(&config.tail, |(_, tail)| tail);
        drop(self.wire.write_all(tail, Deadline::after(MAX_WRITE_TIME)));
        self.wire.close();
    }
}

fn write(
    shared: &SharedFake,
    stop: &AtomicBool,
    wire: &mut Wire,
    fault: Option<&FaultKind>,
    is_beside: bool,
) {
    let config = &shared.config;
    let beside = config.beside.as_ref().filter(|_| is_beside);
    let stream = beside.map_or(&config.stream, |(stream, _)| stream);
    let over = || stop.load(Ordering::SeqCst) || shared.is_over();
    while !shared.resumed.load(Ordering::SeqCst) && !over() {
        std::thread::sleep(Duration::from_millis(2));
    }
    let mut written = 0_usize;
    let mut is_held = false;
    loop {
        for piece in stream.chunks(config.piece_bytes.max(1)) {
            if shared.is_over() || (config.repeat && over()) {
                return;
            }
            let holds = |limit: usize| written.saturating_add(piece.len()) > limit;
            if config.holds_at.is_some_and(holds) && !is_held {
                is_held = true;
                let mut state = shared.lock();
                state.held = state.held.saturating_add(1);
            }
            while is_held && !shared.goes_on.load(Ordering::SeqCst) && !over() {
                std::thread::sleep(Duration::from_millis(2));
            }
            let piece = match fault {
                Some(FaultKind::DieInStream(limit)) => {
                    piece.get(..limit.saturating_sub(written)).unwrap_or(piece)
                }
                _ => piece,
            };
            if wire.write_all(piece, Deadline::after(MAX_WRITE_TIME)).is_err() {
                return;
            }
            written = written.saturating_add(piece.len());
            if matches!(fault, Some(FaultKind::DieInStream(limit)) if written >= *limit) {
                shared.end();
                return;
            }
            if !config.piece_pause.is_zero() {
                std::thread::sleep(config.piece_pause);
            }
        }
        if !config.repeat {
            return;
        }
    }
}
