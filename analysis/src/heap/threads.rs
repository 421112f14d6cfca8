//! Distributes independent work to several threads.

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::thread;

/// Maximum number of threads. More threads would only wait for memory.
const MAX_THREADS: usize = 4;

/// Calls `work` for each piece on up to [`MAX_THREADS`] threads, in any order. All pieces are done
/// even if no thread can be started.
pub(super) fn share<T>(pieces: impl ExactSizeIterator<Item = T> + Send, work: impl Fn(T) + Sync) {
    let threads = thread::available_parallelism()
        .map_or(1, NonZeroUsize::get)
        .min(MAX_THREADS)
        .min(pieces.len());
    let pieces = Mutex::new(pieces);
    let run = || {
        // A closure of its own releases the lock before the piece is processed.
        let next = || pieces.lock().ok().and_then(|mut pieces| pieces.next());
        while let Some(piece) = next() {
            work(piece);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            // Without further threads, this one does all pieces.
            let _ = thread::Builder::new().spawn_scoped(scope, run);
        }
        run();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_piece_is_done_once() {
        for count in [0, 1, 1000] {
            let mut numbers = vec![0u32; count];
            share(numbers.chunks_mut(3), |piece| piece.iter_mut().for_each(|number| *number += 1));
            assert!(numbers.iter().all(|number| *number == 1));
        }
    }
}
