//! The rule by which a command ends, and how long it still waits then. Every request, every session
//! and every pause follows it.
//!
//! A command ends at the first signal, or when `--duration` has elapsed since its session began,
//! which is noticed within [`SIGNAL_CHECK`]. Then
//!
//! - a session gets the request to stop at once or, if it has just turned metrics on, after [their
//!   first values](super::first_values). If its bytes are recorded, its stream is read to the end,
//!   unless the process sends nothing for 2 s (`Deadlines::drain` of `nettrace_ipc`),
//! - the command waits no longer than that for data that is not recorded, such as the rest of a
//!   view or the answer to a request. After a signal it waits 1.5 s ([`Delays::signal_patience`])
//!   for all of that together, and a process that did not answer gets no further request,
//! - a second signal exits ([`super::signals`]).
//!
//! `--patience` takes the place of the 2 s.

use super::signals::Signals;
use crate::delays::Delays;
use nettrace_ipc::Deadlines;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Interval at which a wait checks signals and the clock.
pub(crate) const SIGNAL_CHECK: Duration = Duration::from_millis(50);

/// Maximum time for the answer to a last request.
pub(super) const LAST_REQUEST_WAIT: Duration = Duration::from_millis(300);

/// Rule for the end of a command, or of a part of it. Clones share one deadline.
#[derive(Debug, Clone)]
pub(crate) struct EndRule {
    signals: Signals,
    duration: Option<Duration>,
    /// Time of the end. [`EndRule::hasten`] moves it for all clones, which other threads may have.
    deadline: Arc<Mutex<Option<Instant>>>,
    /// Maximum time without an answer from a process.
    patience: Duration,
    /// Whether a process did not answer in time when the end was due, so that no further request is
    /// sent.
    is_given_up: Arc<AtomicBool>,
    /// Whether the rule ends only a part of the command.
    is_part: bool,
    /// Whether the rule is for a last request after the end of the command, which signals do not
    /// shorten.
    is_last: bool,
}

impl EndRule {
    /// Begins to notice signals, and creates the rule that [`EndRule::new`] describes.
    pub(crate) fn notice(
        delays: &Delays,
        duration: Option<Duration>,
        deadlines: &Deadlines,
    ) -> io::Result<EndRule> {
        Ok(EndRule::new(&Signals::notice(delays)?, duration, deadlines))
    }

    /// Creates a rule that ends at a signal, or `duration` after [`EndRule::begin`].
    pub(crate) fn new(
        signals: &Signals,
        duration: Option<Duration>,
        deadlines: &Deadlines,
    ) -> EndRule {
        let (signals, patience) = (signals.clone(), deadlines.drain);
        EndRule {
            signals,
            duration,
            deadline: Arc::default(),
            patience,
            is_given_up: Arc::default(),
            is_part: false,
            is_last: false,
        }
    }

    /// Returns the rule of a part, which ends with the command, or `time` from now.
    pub(crate) fn part(&self, time: Duration) -> EndRule {
        let (duration, deadline, is_given_up) = (Some(time), Arc::default(), Arc::default());
        let part = EndRule { duration, deadline, is_given_up, is_part: true, ..self.clone() };
        part.begin();
        part
    }

    /// Returns the rule of a last request to a process that may not answer any more. The answer
    /// does not matter, because the process finds the request in its socket.
    pub(crate) fn last_request(&self) -> EndRule {
        EndRule { patience: LAST_REQUEST_WAIT, is_last: true, ..self.part(Duration::ZERO) }
    }

    /// Starts the time of `duration`; work before that, such as learning names, does not count.
    pub(crate) fn begin(&self) {
        *self.lock() = self.duration.and_then(|duration| Instant::now().checked_add(duration));
    }

    /// Moves the end to `time` from now, unless the end is earlier already.
    pub(crate) fn hasten(&self, time: Duration) {
        let mut deadline = self.lock();
        let end = Instant::now().checked_add(time);
        // A time that the clock cannot represent is no deadline, so only the present deadline
        // counts.
        *deadline = match (*deadline, end) {
            (Some(before), Some(end)) => Some(before.min(end)),
            (before, end) => end.or(before),
        };
    }

    /// Ends the command now, without a signal, because its work is done.
    pub(crate) fn end_now(&self) {
        self.hasten(Duration::ZERO);
        self.stop_by_timer();
    }

    /// Notes that the end has begun without a signal.
    pub(crate) fn stop_by_timer(&self) {
        if !self.is_part {
            self.signals.stop_by_timer();
        }
    }

    /// Returns whether it is time to end.
    pub(crate) fn is_due(&self) -> bool {
        self.due_since().is_some()
    }

    /// Returns when it became time to end.
    pub(crate) fn due_since(&self) -> Option<Instant> {
        let by_signal = if self.is_last { None } else { self.signals.seen_since() };
        let by_time = self.lock().filter(|end| Instant::now() >= *end);
        by_signal.into_iter().chain(by_time).min()
    }

    pub(crate) fn signals(&self) -> &Signals {
        &self.signals
    }

    /// Sleeps until a moment. Returns false if it was time to end before.
    pub(crate) fn sleep_until(&self, moment: Instant) -> bool {
        // In short sleeps, because a signal handler can wake nothing up.
        while !self.is_due() {
            let left = moment.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            std::thread::sleep(left.min(SIGNAL_CHECK));
        }
        false
    }

    /// Returns the maximum time to wait, when the end is due, for data that is not saved.
    pub(crate) fn patience(&self) -> Duration {
        let is_by_signal = !self.is_last && self.signals.seen().is_some();
        if is_by_signal { self.signals.patience() } else { self.patience }
    }

    /// Runs `act`, which may have to wait long for a process, on a thread of its own. Returns
    /// `None` if the end became due and no answer came soon after. A later answer is dropped; if it
    /// is a session, this stops the session.
    pub(crate) fn ask<T: Send + 'static>(
        &self,
        act: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<Option<T>> {
        // A blocking request has only its own deadline, of 10 s and more.
        let (answer, answered) = sync_channel(1);
        let thread = std::thread::Builder::new().name("nettrace-ask".to_owned());
        thread.spawn(move || {
            // Fails if nobody waits for the answer any more.
            let _ = answer.send(act());
        })?;
        let asked = Instant::now();
        while !self.is_given_up.load(Ordering::Relaxed) {
            match answered.recv_timeout(SIGNAL_CHECK) {
                Ok(answer) => return Ok(Some(answer)),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(io::Error::other("the asking thread panicked"));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            // The answer may take no longer than `duration`, the time of what follows it.
            let late = self.duration.and_then(|duration| asked.checked_add(duration));
            let late = late.filter(|late| Instant::now() >= *late);
            let since = self.due_since().into_iter().chain(late).min();
            if since.is_some_and(|since| since.elapsed() >= self.patience()) {
                self.is_given_up.store(true, Ordering::Relaxed);
            }
        }
        Ok(None)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Instant>> {
        self.deadline.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
