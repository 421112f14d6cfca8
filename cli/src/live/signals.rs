//! Ctrl-C and its like: the first is noticed, the second ends us at once.

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Notices the signals that ask us to end.
#[derive(Debug, Clone)]
pub(crate) struct Signals {
    seen: Arc<AtomicUsize>,
}

impl Signals {
    /// From now on the first signal is only noticed.
    pub(crate) fn notice() -> io::Result<Signals> {
        let seen = Arc::new(AtomicUsize::new(0));
        let again = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // In this order: the first signal finds `again` not yet set.
            flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&again))?;
            flag::register(signal, Arc::clone(&again))?;
            flag::register_usize(signal, Arc::clone(&seen), usize::try_from(signal).unwrap_or(usize::MAX))?;
        }
        Ok(Signals { seen })
    }

    /// The signal that came.
    pub(crate) fn seen(&self) -> Option<i32> {
        i32::try_from(self.seen.load(Ordering::SeqCst)).ok().filter(|signal| *signal != 0)
    }
}
