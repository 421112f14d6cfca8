//! Ctrl-C and similar signals: the first is noticed, a later one ends us at once, and
//! leaves no process suspended.
//!
//! One wish may come as several signals: GNU `timeout` signals the process and then its
//! group, microseconds apart; a terminal that closes may do so too. What comes within
//! [`SAME`] of the first is the same wish.

use nettrace_ipc::Resumer;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Signals that are closer than this are one.
const SAME: Duration = Duration::from_millis(500);

/// Notices the signals that ask us to end.
#[derive(Debug, Clone)]
pub(crate) struct Signals {
    seen: Arc<AtomicUsize>,
    ending: Arc<Mutex<Ending>>,
    /// Who may wait for us when we end.
    waiting: Arc<Mutex<Option<Resumer>>>,
}

/// What is known of the end.
#[derive(Debug, Default)]
struct Ending {
    /// When it began, by a signal or because it was time.
    since: Option<Instant>,
    /// No signal asked for it.
    is_by_itself: bool,
}

impl Signals {
    /// Notices nothing.
    pub(crate) fn unnoticed() -> Signals {
        Signals { seen: Arc::default(), ending: Arc::default(), waiting: Arc::default() }
    }

    /// From now on the first signal is only noticed.
    pub(crate) fn notice() -> io::Result<Signals> {
        let signals = Signals::unnoticed();
        let at_once = Arc::new(AtomicBool::new(false));
        for signal in wanted() {
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

    /// The user wishes the end without a signal: as if Ctrl-C had come.
    pub(crate) fn wish_end(&self) {
        self.end_by_itself();
        let number = usize::try_from(SIGINT).unwrap_or(usize::MAX);
        let _ = self.seen.compare_exchange(0, number, Ordering::SeqCst, Ordering::SeqCst);
    }

    /// The end has begun without a signal, because it was time. The next Ctrl-C gives up.
    pub(crate) fn end_by_itself(&self) {
        let mut ending = self.ending();
        if ending.since.is_none() {
            *ending = Ending { since: Some(Instant::now()), is_by_itself: true };
        }
    }

    /// What ended by itself is over, and something else goes on: a program that was
    /// started. The next signal is noticed again instead of giving up.
    pub(crate) fn begin_anew(&self) {
        let mut ending = self.ending();
        if ending.is_by_itself && self.seen().is_none() {
            *ending = Ending::default();
        }
    }

    /// Whether a Ctrl-C would end us at once.
    pub(crate) fn gives_up(&self) -> bool {
        cfg!(not(unix)) || self.ending().since.is_some_and(|since| since.elapsed() >= SAME)
    }

    /// Processes that a signal that gives up is to let go.
    pub(crate) fn set_waiting(&self, resumer: Option<Resumer>) {
        *self.waiting.lock().unwrap_or_else(PoisonError::into_inner) = resumer;
    }

    fn ending(&self) -> MutexGuard<'_, Ending> {
        self.ending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The signals that ask for an end. A hangup that is ignored, as under `nohup`, stays
/// ignored.
fn wanted() -> Vec<i32> {
    #[cfg(unix)]
    if !is_ignored(signal_hook::consts::SIGHUP) {
        return vec![SIGINT, SIGTERM, signal_hook::consts::SIGHUP];
    }
    vec![SIGINT, SIGTERM]
}

/// Whether the program that started us set this signal to be ignored, as far as the
/// system says.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}

/// Signals after the first, which a thread takes: a handler may not talk to processes.
#[cfg(unix)]
mod second {
    use super::{AtomicBool, Ordering, PoisonError, SAME, SIGINT, Signals, wanted};
    use signal_hook::low_level::pipe::register;
    use std::io::{self, Read};
    use std::sync::{Arc, mpsc};
    use std::thread;
    use std::time::{Duration, Instant};

    /// How long processes that wait may take to answer.
    const PATIENCE: Duration = Duration::from_secs(1);

    pub(super) fn watch(signals: &Signals, at_once: Arc<AtomicBool>) -> io::Result<()> {
        let (mut came, come) = io::pipe()?;
        for signal in wanted() {
            register(signal, come.try_clone()?)?;
        }
        let signals = signals.clone();
        let wait = move || {
            while came.read_exact(&mut [0; 1]).is_ok() {
                if is_last(&signals) {
                    give_up(&signals, at_once);
                }
            }
        };
        thread::Builder::new().name("signals".to_owned()).spawn(wait).map(drop)
    }

    /// Whether the signal that came gives up.
    fn is_last(signals: &Signals) -> bool {
        let now = Instant::now();
        let mut ending = signals.ending();
        let Some(since) = ending.since else {
            // The first, which is noticed elsewhere.
            ending.since = Some(now);
            return false;
        };
        if now.saturating_duration_since(since) < SAME {
            return false;
        }
        // A service manager's first wish is an end in peace, whatever has begun already.
        if std::mem::take(&mut ending.is_by_itself) && signals.seen() != Some(SIGINT) {
            ending.since = Some(now);
            return false;
        }
        true
    }

    fn give_up(signals: &Signals, at_once: Arc<AtomicBool>) -> ! {
        // The next need not wait, unless it is this one once more.
        let _ = thread::Builder::new().spawn(move || {
            thread::sleep(SAME);
            at_once.store(true, Ordering::SeqCst);
        });
        let_go(signals);
        crate::screen::restore();
        crate::new_file::give_up();
        nettrace_ipc::remove_port_files();
        std::process::exit(signals.seen().map_or(1, |signal| 128 + signal))
    }

    fn let_go(signals: &Signals) {
        let waiting = signals.waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(resumer) = waiting else { return };
        let (done, is_done) = mpsc::channel();
        let resume = move || {
            resumer.resume_everyone();
            // Fails if the receiver has stopped waiting.
            let _ = done.send(());
        };
        if thread::Builder::new().spawn(resume).is_ok() {
            let _ = is_done.recv_timeout(PATIENCE);
        }
    }
}
