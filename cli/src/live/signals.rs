//! Ctrl-C and similar signals. The first one asks the command to stop; a later one exits at once,
//! and leaves no process suspended.
//!
//! One request to stop may come as several signals: GNU `timeout` signals the process and then its
//! group, microseconds apart; a terminal that closes may do so, too. Signals within
//! [`Delays::same_signal`] of the first are the same request.

use crate::delays::Delays;
use nettrace_ipc::Resumer;
#[cfg(unix)]
pub(crate) use signal_hook::consts::{SIGINT, SIGTERM};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// Numbers of the signals that stand for events of the console of Windows, which has no signals.
#[cfg(windows)]
pub(crate) const SIGINT: i32 = 2;
#[cfg(windows)]
pub(crate) const SIGTERM: i32 = 15;

/// Notices the signals that ask the command to stop.
#[derive(Debug, Clone)]
pub(crate) struct Signals {
    seen: Arc<AtomicUsize>,
    stopping: Arc<Mutex<Stopping>>,
    /// Processes that wait at startup until this command resumes them.
    waiting: Arc<Mutex<Option<Resumer>>>,
    delays: Delays,
}

/// Progress of the command's end.
#[derive(Debug, Default)]
struct Stopping {
    /// When the end began, by a signal or by a timer.
    since: Option<Instant>,
    /// Whether a timer began the end, and no signal.
    is_by_timer: bool,
}

impl Stopping {
    /// Takes a signal that came `now`, and returns whether it exits at once. `seen` is the first
    /// signal that was noticed.
    fn exits(&mut self, now: Instant, same_signal: Duration, seen: Option<i32>) -> bool {
        let Some(since) = self.since else {
            self.since = Some(now);
            return false;
        };
        if now.saturating_duration_since(since) < same_signal {
            return false;
        }
        // The first SIGTERM always gets a clean shutdown, even while one is under way.
        if std::mem::take(&mut self.is_by_timer) && seen != Some(SIGINT) {
            self.since = Some(now);
            return false;
        }
        true
    }
}

impl Signals {
    /// Creates signals that are never noticed.
    pub(crate) fn none() -> Signals {
        Signals {
            seen: Arc::default(),
            stopping: Arc::default(),
            waiting: Arc::default(),
            delays: Delays::default(),
        }
    }

    /// Returns the maximum time to wait, after a signal, for data that is not saved.
    pub(crate) fn patience(&self) -> Duration {
        self.delays.signal_patience
    }

    /// Returns the maximum processor time of a process for the first values of its metrics.
    pub(crate) fn first_values(&self) -> Duration {
        self.delays.first_values
    }

    /// Returns the time without bytes after which a burst of a session is over.
    pub(crate) fn burst_pause(&self) -> Duration {
        self.delays.burst_pause
    }

    /// Begins to notice signals: the first one no longer ends the command.
    pub(crate) fn notice(delays: &Delays) -> io::Result<Signals> {
        let signals = Signals { delays: *delays, ..Signals::none() };
        source::watch(&signals)?;
        Ok(signals)
    }

    /// Takes a signal that has come, and ends the process if it is not the first. `at_once` is then
    /// set for the next signal.
    fn take(&self, at_once: &Arc<AtomicBool>) {
        let (now, seen) = (Instant::now(), self.seen());
        if self.stopping().exits(now, self.delays.same_signal, seen) {
            self.exit(Arc::clone(at_once));
        }
    }

    fn exit(&self, at_once: Arc<AtomicBool>) -> ! {
        // A signal may exit without waiting from now on, unless it is part of the same request.
        let same_signal = self.delays.same_signal;
        let _ = thread::Builder::new().spawn(move || {
            thread::sleep(same_signal);
            at_once.store(true, Ordering::SeqCst);
        });
        // This comes before anything else that can fail, because a suspended process would stay so
        // for ever.
        self.resume_waiting();
        crate::screen::restore();
        crate::new_file::leave_unfinished();
        nettrace_ipc::remove_port_files();
        std::process::exit(self.seen().map_or(1, |signal| 128 + signal))
    }

    /// Resumes the processes that wait at startup, as far as they answer in time.
    fn resume_waiting(&self) {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(resumer) = waiting else { return };
        let (done, is_done) = mpsc::channel();
        let resume = move || {
            resumer.resume_everyone();
            // Fails if the receiver has stopped waiting.
            let _ = done.send(());
        };
        // This runs on a thread, because a runtime may not answer.
        if thread::Builder::new().spawn(resume).is_ok() {
            let _ = is_done.recv_timeout(self.delays.last_resume);
        }
    }

    /// Returns the first signal that came, if any.
    pub(crate) fn seen(&self) -> Option<i32> {
        i32::try_from(self.seen.load(Ordering::SeqCst)).ok().filter(|signal| *signal != 0)
    }

    /// Returns when the first signal came.
    pub(crate) fn seen_since(&self) -> Option<Instant> {
        self.seen()?;
        // The thread that notes the time may not have run yet.
        Some(self.stopping().since.unwrap_or_else(Instant::now))
    }

    /// Stops as if Ctrl-C had come.
    pub(crate) fn request_stop(&self) {
        self.stop_by_timer();
        let number = usize::try_from(SIGINT).unwrap_or(usize::MAX);
        let _ = self.seen.compare_exchange(0, number, Ordering::SeqCst, Ordering::SeqCst);
    }

    /// Notes that the command stops because `--duration` elapsed, or because its work is done. The
    /// next Ctrl-C then exits at once.
    pub(crate) fn stop_by_timer(&self) {
        let mut stopping = self.stopping();
        // A signal that was noticed already is handled in a moment, and must not count as the
        // second one.
        if stopping.since.is_none() && self.seen().is_none() {
            *stopping = Stopping { since: Some(Instant::now()), is_by_timer: true };
        }
    }

    /// Notes that a session which a timer stopped is over, while a started program goes on. The
    /// next signal then asks to stop again, instead of exiting at once.
    pub(crate) fn reset(&self) {
        let mut stopping = self.stopping();
        if stopping.is_by_timer && self.seen().is_none() {
            *stopping = Stopping::default();
        }
    }

    /// Returns whether a Ctrl-C would exit at once.
    pub(crate) fn next_exits_now(&self) -> bool {
        self.stopping().since.is_some_and(|since| since.elapsed() >= self.delays.same_signal)
    }

    /// Sets the processes that a signal resumes before it exits at once.
    pub(crate) fn set_waiting(&self, resumer: Option<Resumer>) {
        *self.waiting.lock().unwrap_or_else(PoisonError::into_inner) = resumer;
    }

    fn stopping(&self) -> MutexGuard<'_, Stopping> {
        self.stopping.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Signals of Unix. A thread takes them, because a signal handler may not talk to processes.
#[cfg(unix)]
mod source {
    use super::{Arc, AtomicBool, SIGINT, SIGTERM, Signals, io, thread};
    use signal_hook::consts::SIGHUP;
    use signal_hook::flag;
    use signal_hook::low_level::pipe::register;
    use std::io::Read;

    pub(super) fn watch(signals: &Signals) -> io::Result<()> {
        let at_once = Arc::new(AtomicBool::new(false));
        for signal in wanted() {
            // The order matters: a signal must find `at_once` as the signal before left it.
            flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&at_once))?;
            let number = usize::try_from(signal).unwrap_or(usize::MAX);
            flag::register_usize(signal, Arc::clone(&signals.seen), number)?;
        }
        let (mut came, come) = io::pipe()?;
        for signal in wanted() {
            register(signal, come.try_clone()?)?;
        }
        let signals = signals.clone();
        let wait = move || {
            while came.read_exact(&mut [0; 1]).is_ok() {
                signals.take(&at_once);
            }
        };
        thread::Builder::new().name("signals".to_owned()).spawn(wait).map(drop)
    }

    /// Returns the signals that ask the command to stop. A hangup that is ignored, as under `nohup`,
    /// stays ignored.
    fn wanted() -> Vec<i32> {
        match crate::ignored_signal::is_ignored(SIGHUP) {
            true => vec![SIGINT, SIGTERM],
            false => vec![SIGINT, SIGTERM, SIGHUP],
        }
    }
}

/// Events of the console of Windows, each taken by a thread of the system.
#[cfg(windows)]
mod source {
    use super::{Arc, AtomicBool, Duration, Ordering, SIGINT, SIGTERM, Signals, io, thread};
    use crate::console_events::{ConsoleEvent, listen};

    /// Time after which a process whose console is closed ends by itself: the system would end it a
    /// second later, and leave processes suspended.
    const CLOSING_TIME: Duration = Duration::from_secs(4);

    pub(super) fn watch(signals: &Signals) -> io::Result<()> {
        let (signals, at_once) = (signals.clone(), Arc::new(AtomicBool::new(false)));
        listen(move |event| {
            let signal = if event == ConsoleEvent::Interrupt { SIGINT } else { SIGTERM };
            if at_once.load(Ordering::SeqCst) {
                std::process::exit(128 + signal);
            }
            signals.seen.store(usize::try_from(signal).unwrap_or(usize::MAX), Ordering::SeqCst);
            signals.take(&at_once);
            if event == ConsoleEvent::Closing {
                thread::sleep(CLOSING_TIME);
                signals.exit(Arc::clone(&at_once));
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAME_SIGNAL: Duration = Duration::from_millis(500);

    #[test]
    fn a_second_signal_exits_unless_it_is_the_first_once_more() {
        let (start, mut stopping) = (Instant::now(), Stopping::default());
        let mut exits =
            |after| stopping.exits(start + Duration::from_millis(after), SAME_SIGNAL, Some(SIGINT));
        assert_eq!([0, 1, 499, 500].map(&mut exits), [false, false, false, true]);
    }

    #[test]
    fn ctrl_c_exits_while_a_timer_stops_the_command_and_a_service_manager_has_to_ask_twice() {
        let start = Instant::now();
        let by_timer = || Stopping { since: Some(start), is_by_timer: true };
        assert!(by_timer().exits(start + SAME_SIGNAL, SAME_SIGNAL, Some(SIGINT)));
        let mut stopping = by_timer();
        assert!(!stopping.exits(start + SAME_SIGNAL, SAME_SIGNAL, Some(SIGTERM)));
        assert!(
            !stopping.exits(start + SAME_SIGNAL, SAME_SIGNAL, Some(SIGTERM)),
            "the same once more"
        );
        assert!(stopping.exits(start + SAME_SIGNAL * 2, SAME_SIGNAL, Some(SIGTERM)));
    }

    #[test]
    fn a_command_that_stops_for_a_signal_which_was_not_taken_yet_does_not_make_it_the_second() {
        let signals = Signals::none();
        signals.seen.store(2, Ordering::SeqCst);
        signals.stop_by_timer();
        assert!(!signals.stopping().exits(Instant::now(), Duration::ZERO, signals.seen()));
    }
}
