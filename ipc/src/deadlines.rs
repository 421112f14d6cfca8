//! Maximum times of the steps of a request or a session.

use crate::command_id::Patience;
use std::time::{Duration, Instant};

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
    /// Maximum time to connect and to write the request. On a port it is the time until the runtime
    /// connects again. The default is 5 s.
    pub connect: Duration,
    /// Maximum time from the request to the end of the reply, for an ordinary command. The default
    /// is 10 s.
    pub reply: Duration,
    /// Maximum time from the request of a session to its reply. The default is 30 s.
    pub start: Duration,
    /// Maximum time from StopTracing to its reply and the end of the stream. The default is 60 s.
    pub stop: Duration,
    /// Maximum time without bytes while a session is being stopped, and maximum wait for the
    /// connection on which the stop is sent. The default is 2 s, because a process that sends
    /// nothing for so long is frozen or deadlocked, and a user waits for the end.
    pub drain: Duration,
    /// Maximum time until a dump is written. The default is 10 min.
    pub dump: Duration,
    /// Maximum time until a startup hook has run. The default is 60 s.
    pub startup_hook: Duration,
    /// Maximum time until a profiler is attached, in addition to the timeout in the request. The
    /// default is 30 s.
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

macro_rules! setters {
    ($($step:ident),*) => {$(
        #[doc = concat!("Sets [`", stringify!($step), "`](field@Deadlines::", stringify!($step), ").")]
        #[must_use]
        pub fn $step(mut self, longest: Duration) -> Deadlines {
            self.$step = longest;
            self
        }
    )*};
}

impl Deadlines {
    setters!(connect, reply, start, stop, drain, dump, startup_hook, profiler);

    /// Returns the maximum time for the reply to a command.
    pub(crate) fn for_reply(&self, patience: Patience) -> Duration {
        match patience {
            Patience::Reply => self.reply,
            Patience::Dump => self.dump,
            Patience::StartupHook => self.startup_hook,
            Patience::Profiler => self.profiler,
            Patience::Stop => self.stop,
        }
    }
}

/// A time limit for a wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    start: Instant,
    pub(crate) whole: Duration,
}

impl Deadline {
    pub(crate) fn after(whole: Duration) -> Self {
        Deadline { start: Instant::now(), whole }
    }

    /// Returns the time that is left, or `None` once the deadline has passed.
    pub(crate) fn left(&self) -> Option<Duration> {
        self.whole.checked_sub(self.start.elapsed()).filter(|left| !left.is_zero())
    }
}
