//! Ctrl-C and its like: the first is noticed, the second ends us at once, and leaves nobody suspended.

use nettrace_ipc::Resumer;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Notices the signals that ask us to end.
#[derive(Debug, Clone)]
pub(crate) struct Signals {
    seen: Arc<AtomicUsize>,
    /// Who may wait for us when we end.
    waiting: Arc<Mutex<Option<Resumer>>>,
}

impl Signals {
    /// From now on the first signal is only noticed.
    pub(crate) fn notice() -> io::Result<Signals> {
        let signals = Signals { seen: Arc::default(), waiting: Arc::default() };
        let at_once = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // In this order: a signal finds `at_once` as the one before it left it.
            flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&at_once))?;
            #[cfg(not(unix))]
            flag::register(signal, Arc::clone(&at_once))?;
            let number = usize::try_from(signal).unwrap_or(usize::MAX);
            flag::register_usize(signal, Arc::clone(&signals.seen), number)?;
        }
        #[cfg(unix)]
        second::watch(&signals, at_once)?;
        Ok(signals)
    }

    /// The signal that came.
    pub(crate) fn seen(&self) -> Option<i32> {
        i32::try_from(self.seen.load(Ordering::SeqCst)).ok().filter(|signal| *signal != 0)
    }

    /// Processes that the second signal is to let go.
    pub(crate) fn set_waiting(&self, resumer: Option<Resumer>) {
        *self.waiting.lock().unwrap_or_else(PoisonError::into_inner) = resumer;
    }
}

/// The second signal, which a thread takes: a handler may not talk to processes.
#[cfg(unix)]
mod second {
    use super::{AtomicBool, Ordering, PoisonError, SIGINT, SIGTERM, Signals};
    use signal_hook::low_level::pipe::register;
    use std::io::{self, Read};
    use std::sync::{Arc, mpsc};
    use std::thread;
    use std::time::Duration;

    /// How long processes that wait may take to answer.
    const PATIENCE: Duration = Duration::from_secs(1);

    pub(super) fn watch(signals: &Signals, at_once: Arc<AtomicBool>) -> io::Result<()> {
        let (mut came, come) = io::pipe()?;
        for signal in [SIGINT, SIGTERM] {
            register(signal, come.try_clone()?)?;
        }
        let signals = signals.clone();
        let wait = move || {
            // The first is noticed elsewhere.
            if came.read_exact(&mut [0; 2]).is_ok() {
                // The third need not wait.
                at_once.store(true, Ordering::SeqCst);
                let_go(&signals);
                crate::new_file::give_up();
                std::process::exit(signals.seen().map_or(1, |signal| 128 + signal));
            }
        };
        thread::Builder::new().name("signals".to_owned()).spawn(wait).map(drop)
    }

    fn let_go(signals: &Signals) {
        let waiting = signals.waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(resumer) = waiting else { return };
        let (done, is_done) = mpsc::channel();
        let resume = move || {
            resumer.resume_everyone();
            // Nobody listens when it took too long.
            let _ = done.send(());
        };
        if thread::Builder::new().spawn(resume).is_ok() {
            let _ = is_done.recv_timeout(PATIENCE);
        }
    }
}
