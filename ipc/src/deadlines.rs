//! How long each step may take. No step may take forever.

use std::time::{Duration, Instant};

use crate::command_id::Patience;

/// The maximum duration of each step. All can be changed; none is infinite.
///
/// ```
/// use std::time::Duration;
/// let hasty = nettrace_ipc::Deadlines::default().reply(Duration::from_secs(1));
/// assert!(hasty.stop > hasty.reply);
/// assert_eq!(hasty.drain, Duration::from_secs(2));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Deadlines {
    /// To connect and to write the request; on a port, until the runtime connects
    /// (again). 5 s.
    pub connect: Duration,
    /// From the request to the whole reply of an ordinary command. 10 s.
    pub reply: Duration,
    /// From the request of a session to its reply. 30 s.
    pub start: Duration,
    /// From StopTracing to its reply and the end of the stream. 60 s.
    pub stop: Duration,
    /// The longest silence while a session is being stopped, and the longest wait for
    /// the connection on which that is asked. 2 s: a process that sends nothing for so long
    /// is frozen or deadlocked, and the user is waiting for the end.
    pub drain: Duration,
    /// Until a dump is written. 10 min.
    pub dump: Duration,
    /// Until a startup hook has run. 60 s.
    pub startup_hook: Duration,
    /// Until a profiler is attached, beside its own timeout. 30 s.
    pub profiler: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Deadlines {
            connect: Duration::from_secs(5),
            reply: Duration::from_secs(10),
            start: Duration::from_secs(30),
            stop: Duration::from_secs(60),
            drain: Duration::from_secs(2),
            dump: Duration::from_secs(600),
            startup_hook: Duration::from_secs(60),
            profiler: Duration::from_secs(30),
        }
    }
}

/// One method per step, which returns the deadlines with that step changed.
impl Deadlines {
    /// With this [`connect`](field@Deadlines::connect).
    #[must_use]
    pub fn connect(mut self, longest: Duration) -> Deadlines {
        self.connect = longest;
        self
    }

    /// With this [`reply`](field@Deadlines::reply).
    #[must_use]
    pub fn reply(mut self, longest: Duration) -> Deadlines {
        self.reply = longest;
        self
    }

    /// With this [`start`](field@Deadlines::start).
    #[must_use]
    pub fn start(mut self, longest: Duration) -> Deadlines {
        self.start = longest;
        self
    }

    /// With this [`stop`](field@Deadlines::stop).
    #[must_use]
    pub fn stop(mut self, longest: Duration) -> Deadlines {
        self.stop = longest;
        self
    }

    /// With this [`drain`](field@Deadlines::drain).
    #[must_use]
    pub fn drain(mut self, longest: Duration) -> Deadlines {
        self.drain = longest;
        self
    }

    /// With this [`dump`](field@Deadlines::dump).
    #[must_use]
    pub fn dump(mut self, longest: Duration) -> Deadlines {
        self.dump = longest;
        self
    }

    /// With this [`startup_hook`](field@Deadlines::startup_hook).
    #[must_use]
    pub fn startup_hook(mut self, longest: Duration) -> Deadlines {
        self.startup_hook = longest;
        self
    }

    /// With this [`profiler`](field@Deadlines::profiler).
    #[must_use]
    pub fn profiler(mut self, longest: Duration) -> Deadlines {
        self.profiler = longest;
        self
    }

    pub(crate) fn of(&self, patience: Patience) -> Duration {
        match patience {
            Patience::Reply => self.reply,
            Patience::Dump => self.dump,
            Patience::StartupHook => self.startup_hook,
            Patience::Profiler => self.profiler,
            Patience::Stop => self.stop,
        }
    }
}

/// A moment after which we no longer wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    start: Instant,
    pub(crate) whole: Duration,
}

impl Deadline {
    pub(crate) fn after(whole: Duration) -> Self {
        Deadline { start: Instant::now(), whole }
    }

    /// What is left; `None` once it has passed.
    pub(crate) fn left(&self) -> Option<Duration> {
        self.whole.checked_sub(self.start.elapsed()).filter(|left| !left.is_zero())
    }
}
