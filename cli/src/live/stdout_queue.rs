//! Standard output of a session. A thread of its own writes, so that a reader that does not read
//! (`| less`) blocks neither the session nor its process.
//!
//! A session that is not read blocks its process, which then cannot even exit. So the queue is
//! bounded, and `--on-stall` says what becomes of the rest.

use super::end_rule::{EndRule, SIGNAL_CHECK};
use crate::args::OnStall;
use std::collections::VecDeque;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Maximum number of bytes that wait for the reader.
const MAX_QUEUED_BYTES: usize = 16 << 20;
/// Maximum number of bytes of one write; progress is noted after each.
const MAX_WRITE_BYTES: usize = 16 << 10;

/// Number of bytes and lines that were not written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Dropped {
    pub(crate) bytes: u64,
    /// Number of lines, if they are counted.
    pub(crate) items: u64,
}

impl Dropped {
    fn add(&mut self, piece: &Piece) {
        self.bytes += piece.bytes.len() as u64;
        self.items += piece.items;
    }
}

#[derive(Debug)]
struct Piece {
    bytes: Vec<u8>,
    items: u64,
}

#[derive(Debug)]
struct QueueState {
    pieces: VecDeque<Piece>,
    queued_bytes: usize,
    /// Number of bytes of the current piece that are still to be written; `None` between two
    /// pieces.
    written_bytes: Option<usize>,
    last_progress: Instant,
    dropped: Dropped,
    /// Whether something did not fit. Lines that would only be dropped are then not formatted,
    /// until half of the queue is written.
    is_full: bool,
    failure: Option<io::Error>,
    /// Whether the stream has ended early, so that everything that comes is dropped.
    is_cut: bool,
    /// Whether all bytes have been offered.
    is_closed: bool,
}

/// Returns whether a path is a named pipe.
pub(crate) fn is_named_pipe(path: &Path) -> bool {
    #[cfg(unix)]
    if let Ok(data) = std::fs::metadata(path) {
        return std::os::unix::fs::FileTypeExt::is_fifo(&data.file_type());
    }
    let _ = path;
    false
}

/// Opens the stream of a queue.
pub(crate) type Open = Box<dyn FnOnce() -> io::Result<Box<dyn Write + Send>> + Send>;

/// Takes bytes for standard output, or for a named pipe, and waits only as `--on-stall` allows.
#[derive(Debug, Clone)]
pub(crate) struct StdoutQueue {
    shared: Arc<Shared>,
    on_stall: OnStall,
    /// Time after which a reader counts as stalled if it takes nothing while the queue is full.
    stall: Duration,
    end: EndRule,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<QueueState>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StdoutQueue {
    /// Starts the thread that opens the stream, which may have to wait for the reader of a pipe,
    /// and writes to it. The thread may outlive the command, because nothing ends a write that has
    /// no reader.
    pub(crate) fn new(
        open: Open,
        on_stall: OnStall,
        stall: Duration,
        end: &EndRule,
    ) -> io::Result<StdoutQueue> {
        let state = QueueState {
            pieces: VecDeque::new(),
            queued_bytes: 0,
            written_bytes: None,
            last_progress: Instant::now(),
            dropped: Dropped::default(),
            is_full: false,
            failure: None,
            is_cut: false,
            is_closed: false,
        };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let own = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("nettrace-stdout".to_owned());
        thread.spawn(move || write(&own, open))?;
        Ok(StdoutQueue { shared, on_stall, stall, end: end.clone() })
    }

    /// Takes or drops bytes that hold `items` lines. Fails if the reader is gone.
    pub(crate) fn offer(&self, bytes: Vec<u8>, items: u64) -> io::Result<()> {
        let piece = Piece { bytes, items };
        let mut state = self.shared.lock();
        let mut ending_since = None;
        loop {
            if let Some(error) = &state.failure {
                // Only the kind: errors cannot be cloned, and `finish` returns this one.
                return Err(error.kind().into());
            }
            if state.is_cut {
                break;
            }
            // A piece that is larger than the whole queue has to pass, too.
            if state.pieces.is_empty() || state.queued_bytes + piece.bytes.len() <= MAX_QUEUED_BYTES
            {
                state.queued_bytes += piece.bytes.len();
                state.pieces.push_back(piece);
                drop(state);
                self.shared.changed.notify_all();
                return Ok(());
            }
            // The wait has short steps, because neither signals nor the clock notify `changed`.
            let is_ending = self.end.is_due();
            let stands_still = match self.on_stall {
                OnStall::Drop => break,
                OnStall::Stop => state.last_progress.elapsed() >= self.stall,
                OnStall::Wait if is_ending => {
                    let since = *ending_since.get_or_insert_with(Instant::now);
                    since.max(state.last_progress).elapsed() >= self.stall
                }
                OnStall::Wait => false,
            };
            if stands_still {
                state.is_cut = true;
                break;
            }
            let waited = self.shared.changed.wait_timeout(state, SIGNAL_CHECK);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
        state.is_full = true;
        state.dropped.add(&piece);
        Ok(())
    }

    /// Counts lines that were not even formatted, because they would have been dropped.
    pub(crate) fn count_dropped(&self, items: u64) {
        self.shared.lock().dropped.items += items;
    }

    /// Returns whether the next bytes are dropped.
    pub(crate) fn is_full(&self) -> bool {
        let state = self.shared.lock();
        state.is_cut || (self.on_stall == OnStall::Drop && state.is_full)
    }

    /// Returns whether the session is to be stopped, because its reader does not read.
    pub(crate) fn is_cut(&self) -> bool {
        self.shared.lock().is_cut
    }

    /// Returns whether something was dropped.
    pub(crate) fn has_dropped(&self) -> bool {
        self.shared.lock().dropped != Dropped::default()
    }

    /// Returns whether the reader is gone.
    pub(crate) fn is_broken(&self) -> bool {
        self.shared.lock().failure.is_some()
    }

    /// Waits until everything is written, as long as the reader takes something now and then.
    /// Returns the number of bytes and lines that were not written.
    pub(crate) fn finish(&self) -> io::Result<Dropped> {
        let mut state = self.shared.lock();
        state.is_closed = true;
        self.shared.changed.notify_all();
        let since = Instant::now();
        loop {
            if let Some(error) = state.failure.take() {
                return Err(error);
            }
            if state.pieces.is_empty() && state.written_bytes.is_none() {
                return Ok(state.dropped);
            }
            // Twice as long at the end: a pager may just be scrolling.
            if since.max(state.last_progress).elapsed() >= self.stall * 2 {
                state.is_cut = true;
                while let Some(piece) = state.pieces.pop_front() {
                    state.dropped.add(&piece);
                }
                let unwritten = state.written_bytes.unwrap_or_default();
                state.dropped.bytes += unwritten as u64;
                return Ok(state.dropped);
            }
            let waited = self.shared.changed.wait_timeout(state, SIGNAL_CHECK);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Writes pieces of the queue to the stream, until the queue is closed and empty.
fn write(shared: &Shared, open: Open) {
    let fail = |error| {
        shared.lock().failure = Some(error);
        shared.changed.notify_all();
    };
    let mut stream = match open() {
        Ok(stream) => stream,
        Err(error) => return fail(error),
    };
    loop {
        let mut state = shared.lock();
        let piece = loop {
            if let Some(piece) = state.pieces.pop_front() {
                break piece;
            }
            if state.is_closed {
                return;
            }
            state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        };
        state.written_bytes = Some(piece.bytes.len());
        drop(state);
        // A large piece is written in parts, so that a slow reader differs from a stalled one.
        for bytes in piece.bytes.chunks(MAX_WRITE_BYTES) {
            let written = stream.write_all(bytes).and_then(|()| stream.flush());
            let mut state = shared.lock();
            state.last_progress = Instant::now();
            state.queued_bytes = state.queued_bytes.saturating_sub(bytes.len());
            // Lines are taken again only when half of the room is free, or each line would be kept
            // or dropped by chance.
            state.is_full &= state.queued_bytes > MAX_QUEUED_BYTES / 2;
            state.written_bytes = state.written_bytes.map(|left| left.saturating_sub(bytes.len()));
            drop(state);
            if let Err(error) = written {
                return fail(error);
            }
        }
        shared.lock().written_bytes = None;
        shared.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::signals::Signals;
    use nettrace_ipc::Deadlines;
    use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

    /// A reader that takes one write for each message on its channel.
    struct Gate(Receiver<()>, SyncSender<usize>);

    impl Write for Gate {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.recv().map_err(|_| io::ErrorKind::BrokenPipe)?;
            let _ = self.1.send(bytes.len());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn gated(on_stall: OnStall) -> (StdoutQueue, SyncSender<()>, Receiver<usize>) {
        let (open, gate) = sync_channel(1 << 16);
        let (took, taken) = sync_channel(1 << 16);
        let end = EndRule::new(&Signals::none(), None, &Deadlines::default());
        let stall = Duration::from_millis(100);
        let gated: Open = Box::new(|| Ok(Box::new(Gate(gate, took))));
        let queue = StdoutQueue::new(gated, on_stall, stall, &end).unwrap();
        (queue, open, taken)
    }

    #[test]
    fn what_does_not_fit_is_dropped_and_counted() {
        let (queue, open, taken) = gated(OnStall::Drop);
        for _ in 0..20 {
            queue.offer(vec![0; 1 << 20], 10).unwrap();
        }
        assert!(queue.is_full() && queue.has_dropped() && !queue.is_cut());
        for _ in 0..(17 << 20) / MAX_WRITE_BYTES {
            open.send(()).unwrap();
        }
        let dropped = queue.finish().unwrap();
        let written: usize = taken.try_iter().sum();
        assert_eq!(written as u64 + dropped.bytes, 20 << 20);
        assert!((3..=4).contains(&(dropped.bytes >> 20)), "{dropped:?}");
        assert_eq!(dropped.items * (1 << 20), dropped.bytes * 10);
    }

    #[test]
    fn what_would_be_dropped_is_not_put_together_until_there_is_room() {
        let (queue, open, taken) = gated(OnStall::Drop);
        // The sixth does not fit, though there is room for a smaller one.
        for _ in 0..6 {
            assert!(!queue.is_full());
            queue.offer(vec![0; 3 << 20], 10).unwrap();
        }
        assert!(queue.is_full());
        for _ in 0..(8 << 20) / MAX_WRITE_BYTES {
            open.send(()).unwrap();
            taken.recv().unwrap();
        }
        nettrace_testdata::eventually("there is room", || !queue.is_full());
        queue.offer(vec![0; 3 << 20], 10).unwrap();
        assert!(!queue.is_full());
    }

    #[test]
    fn a_stream_that_may_not_have_holes_ends_where_its_reader_stands_still() {
        let (queue, open, taken) = gated(OnStall::Stop);
        while !queue.is_cut() {
            queue.offer(vec![0; 1 << 20], 0).unwrap();
        }
        let before = queue.shared.lock().dropped;
        // There is room again, but the stream has ended.
        for _ in 0..(17 << 20) / MAX_WRITE_BYTES {
            open.send(()).unwrap();
        }
        queue.offer(vec![0; 100], 0).unwrap();
        let dropped = queue.finish().unwrap();
        assert_eq!(dropped.bytes, before.bytes + 100);
        assert!(taken.try_iter().sum::<usize>() >= MAX_QUEUED_BYTES);
    }

    #[test]
    fn nobody_who_is_to_wait_waits_longer_than_the_session() {
        let (queue, _open, _taken) = gated(OnStall::Wait);
        queue.end.hasten(Duration::ZERO);
        while !queue.is_cut() {
            queue.offer(vec![0; 4 << 20], 0).unwrap();
        }
        assert!(queue.finish().unwrap().bytes > MAX_QUEUED_BYTES as u64);
    }

    #[test]
    fn a_reader_that_has_gone_is_an_error() {
        let (queue, open, _taken) = gated(OnStall::Wait);
        drop(open);
        queue.offer(vec![0; 10], 0).unwrap();
        assert!(queue.finish().is_err());
    }
}
