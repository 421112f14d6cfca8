//! The queue that carries bytes from the drain thread, which receives them, to the reader.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Maximum size of a chunk, in bytes. Smaller pieces that arrive are joined.
pub(super) const CHUNK_BYTES: usize = 64 << 10;
/// Maximum number of bytes that wait for the reader. When it is reached, the drain thread waits. So
/// a slow reader makes the target lose events, which the stream counts, but memory here stays
/// limited.
const MAX_QUEUED_BYTES: usize = 8 << 20;
/// Maximum time that the drain thread waits for a slow reader while the session is being stopped.
/// After that, the queue may exceed its maximum.
const MAX_READER_WAIT: Duration = Duration::from_millis(100);

/// How a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ending {
    /// The current process stopped the session; the stream is whole.
    Stopped,
    /// The target ended the stream, because it exited or died, or because another tool stopped the
    /// session. The end mark of the stream shows whether the stream is whole.
    ByTarget,
    /// The current process gave up at a deadline, or stopped reading; the stream is cut off.
    Cut,
}

/// How far the stop of the session has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    Not,
    UnderWay,
    Answered,
    Failed,
}

pub(super) struct QueueState {
    chunks: VecDeque<Vec<u8>>,
    spare: Vec<Vec<u8>>,
    queued_bytes: usize,
    pub(super) total_bytes: u64,
    pub(super) last_arrival: Instant,
    pub(super) last_taken: Instant,
    /// Whether the stream has ended, so that no more bytes arrive.
    pub(super) ended: bool,
    pub(super) failure: Option<std::io::Error>,
    pub(super) stop: Stop,
    pub(super) cut: bool,
    /// Whether the reader is gone, so that arriving bytes are thrown away.
    pub(super) discard: bool,
}

pub(super) struct Queue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

impl Queue {
    pub(super) fn new() -> Self {
        let now = Instant::now();
        let state = QueueState {
            chunks: VecDeque::new(),
            spare: Vec::new(),
            queued_bytes: 0,
            total_bytes: 0,
            last_arrival: now,
            last_taken: now,
            ended: false,
            failure: None,
            stop: Stop::Not,
            cut: false,
            discard: false,
        };
        Queue { state: Mutex::new(state), changed: Condvar::new() }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state and wakes all threads that wait for a change.
    pub(super) fn change<T>(&self, act: impl FnOnce(&mut QueueState) -> T) -> T {
        let result = act(&mut self.lock());
        self.changed.notify_all();
        result
    }

    /// Waits until the condition holds, at most for `limit`. Returns whether it holds.
    pub(super) fn wait_until(
        &self,
        limit: Duration,
        mut condition: impl FnMut(&QueueState) -> bool,
    ) -> bool {
        let waited = self.changed.wait_timeout_while(self.lock(), limit, |state| !condition(state));
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        condition(&state)
    }

    /// Adds the first `count` bytes of a buffer to the queue. Returns a buffer for the next read.
    pub(super) fn push(&self, buffer: Vec<u8>, count: usize) -> Vec<u8> {
        let mut state = self.lock();
        state.total_bytes =
            state.total_bytes.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
        // The time is noted before the wait for the reader, because a slow reader does not mean a
        // silent target.
        state.last_arrival = Instant::now();
        let full = |state: &mut QueueState| {
            state.queued_bytes > MAX_QUEUED_BYTES && !state.discard && state.stop == Stop::Not
        };
        state = self.changed.wait_while(state, full).unwrap_or_else(PoisonError::into_inner);
        let unread = |state: &mut QueueState| {
            state.queued_bytes > MAX_QUEUED_BYTES
                && !state.discard
                && state.last_taken.elapsed() < MAX_READER_WAIT
        };
        let waited = self.changed.wait_timeout_while(state, MAX_READER_WAIT, unread);
        (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        // The reader is gone, but the drain goes on, because a process whose socket is not read
        // blocks.
        if state.discard {
            state.chunks.clear();
            state.queued_bytes = 0;
            return buffer;
        }
        state.queued_bytes = state.queued_bytes.saturating_add(count);
        let bytes = buffer.get(..count).unwrap_or_default();
        // Small reads are joined, because a chunk takes 64 KiB of memory, and only its bytes are
        // counted: in reads of a hundred bytes, 8 MiB would take gigabytes.
        let back =
            state.chunks.back_mut().filter(|back| back.len().saturating_add(count) <= CHUNK_BYTES);
        let next = match back {
            Some(back) => {
                back.extend_from_slice(bytes);
                buffer
            }
            None => {
                let next = state.spare.pop();
                let mut full = buffer;
                full.truncate(count);
                state.chunks.push_back(full);
                next.unwrap_or_else(|| Vec::with_capacity(CHUNK_BYTES))
            }
        };
        drop(state);
        self.changed.notify_all();
        next
    }

    /// Takes the next chunk, and gives an emptied one back for reuse. Waits at most for `limit`, or
    /// without limit if that is `None`.
    pub(super) fn pop(&self, emptied: Vec<u8>, limit: Option<Duration>) -> Popped {
        let mut state = self.lock();
        // The drain thread uses emptied buffers again. More than a few are left from a burst, and
        // are freed.
        if emptied.capacity() >= CHUNK_BYTES && state.spare.len() < 4 {
            state.spare.push(emptied);
        }
        let empty = |state: &mut QueueState| state.chunks.is_empty() && !state.ended;
        state = match limit {
            None => self.changed.wait_while(state, empty).unwrap_or_else(PoisonError::into_inner),
            Some(limit) => {
                let waited = self.changed.wait_timeout_while(state, limit, empty);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
        };
        state.last_taken = Instant::now();
        let popped = match state.chunks.pop_front() {
            Some(chunk) => {
                state.queued_bytes = state.queued_bytes.saturating_sub(chunk.len());
                Popped::Chunk(chunk)
            }
            None if !state.ended => Popped::Nothing,
            None => state.failure.take().map_or(Popped::End, Popped::Failure),
        };
        drop(state);
        self.changed.notify_all();
        popped
    }
}

pub(super) enum Popped {
    Chunk(Vec<u8>),
    Nothing,
    End,
    Failure(std::io::Error),
}
