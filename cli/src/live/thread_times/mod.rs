//! Times of threads beside a recording: what the operating system says about the processor time of
//! each, as a second stream behind the end mark of the first (`docs/thread-times.md`).
//!
//! One thread reads all processes that are recorded ([`reader`]), each in rounds ([`process`]), and
//! writes the rows beside the recording ([`clock_file`]), or gives them to a view ([`view`]). Nothing that cannot be read fails or
//! delays a recording. Only Linux has readings; a second stream of other systems only says how the
//! recording ended.

#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux has readings"))]
mod clock_file;
#[cfg(target_os = "linux")]
mod groups;
#[cfg(target_os = "linux")]
mod pace;
#[cfg(target_os = "linux")]
mod process;
#[cfg(target_os = "linux")]
mod reader;
#[cfg(all(test, target_os = "linux"))]
mod recorded_tests;
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux has readings"))]
pub(crate) mod rows;
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux has readings"))]
mod stream;
#[cfg(target_os = "linux")]
mod system;
mod view;

pub(crate) use clock_file::{ClockFile, EndedClockFile};
#[cfg(target_os = "linux")]
pub(crate) use system::now_ns;
pub(crate) use view::{ThreadsNow, ViewRows};

use crate::units;
use nettrace_parser::Trace;
use rows::{HowEnded, ReadingCost};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Session of a process that is read.
#[derive(Debug)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux has readings"))]
pub(crate) struct ReadSession {
    /// Process at the other end of the session; `None` if the system does not tell.
    pub(crate) pid: Option<u32>,
    /// Time before the session was requested, on the clock of traces, in nanoseconds.
    pub(crate) asked_ns: u64,
    /// Time after it was answered.
    pub(crate) answered_ns: u64,
    pub(crate) to: ReadingsTo,
}

/// Where readings go.
#[derive(Debug)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux has readings"))]
pub(crate) enum ReadingsTo {
    /// To a file beside the recording with this path.
    Recording(PathBuf),
    View(ViewRows),
}

/// Result of the readings of a recording.
#[derive(Debug, Default)]
pub(crate) struct EndedReadings {
    /// The second stream so far; `None` if there are no readings.
    pub(crate) file: Option<ClockFile>,
    /// Reason why there are no readings.
    pub(crate) fault: Option<String>,
    pub(crate) cost: ReadingCost,
    pub(crate) how: HowEnded,
}

/// What all readings of this command took.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReadingSummary {
    pub(crate) rounds: u64,
    pub(crate) interval: Duration,
    pub(crate) cost_ns: u64,
    pub(crate) elapsed: Duration,
}

impl ReadingSummary {
    /// Returns a sentence about the readings. `asked` is the interval that was asked for.
    pub(crate) fn text(&self, asked: Duration) -> String {
        let percent = self.cost_ns as f64 / self.elapsed.as_nanos().max(1) as f64 * 100.0;
        let nanos = |span: Duration| i64::try_from(span.as_nanos()).unwrap_or(i64::MAX);
        let instead = match self.interval == asked {
            true => String::new(),
            false => format!(" instead of {}", units::duration(nanos(asked))),
        };
        format!(
            "times of threads: read {} times, in the end every {}{instead}, for {percent:.2} % of a processor",
            units::count(self.rounds),
            units::duration(nanos(self.interval)),
        )
    }
}

/// Readings of all recordings of this command. The thread is started with the first of them.
#[derive(Debug, Clone)]
pub(crate) struct ThreadTimes {
    interval: Duration,
    summary: Arc<Mutex<ReadingSummary>>,
    #[cfg(target_os = "linux")]
    orders: Arc<Mutex<linux::Orders>>,
}

impl ThreadTimes {
    /// Creates readings with this interval between two rounds.
    pub(crate) fn new(interval: Duration) -> ThreadTimes {
        ThreadTimes {
            interval,
            summary: Arc::default(),
            #[cfg(target_os = "linux")]
            orders: Arc::default(),
        }
    }

    /// Returns what all readings took; `None` if there were none.
    pub(crate) fn summary(&self) -> Option<ReadingSummary> {
        let summary = self.summary.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (summary.rounds > 0).then_some(summary)
    }

    /// Returns whether this system has readings at all.
    pub(crate) fn is_possible(&self) -> bool {
        cfg!(target_os = "linux")
    }

    /// Returns the interval between two rounds that was asked for.
    pub(crate) fn interval(&self) -> Duration {
        self.interval
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use super::reader::{self, ReaderOrder};
    use super::{EndedReadings, ReadSession, ThreadTimes, Trace};
    use std::sync::mpsc::{Sender, channel};
    use std::sync::{Arc, PoisonError};
    use std::time::Duration;

    /// Maximum time that the end of a recording waits for its readings.
    const MAX_END_WAIT: Duration = Duration::from_secs(2);

    /// Readings of one recording.
    #[derive(Debug)]
    pub(crate) struct Readings {
        number: u64,
        orders: Sender<ReaderOrder>,
    }

    /// Way to the thread that reads.
    #[derive(Debug, Default)]
    pub(crate) struct Orders {
        sender: Option<Sender<ReaderOrder>>,
        count: u64,
    }

    impl ThreadTimes {
        /// Begins to read the process that is probably the one of a session that is about to be
        /// requested. `None` if no thread can be started.
        pub(crate) fn begin(&self, pid: Option<u64>) -> Option<Readings> {
            let mut orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
            if orders.sender.is_none() {
                let (sender, receiver) = channel();
                let (interval, summary) = (self.interval, Arc::clone(&self.summary));
                let thread = std::thread::Builder::new().name("nettrace-clock".to_owned());
                thread.spawn(move || reader::run(interval, &receiver, summary)).ok()?;
                orders.sender = Some(sender);
            }
            let sender = orders.sender.clone()?;
            orders.count += 1;
            let number = orders.count;
            let pid = pid.and_then(|pid| u32::try_from(pid).ok());
            sender.send(ReaderOrder::Add(number, pid)).ok()?;
            Some(Readings { number, orders: sender })
        }
    }

    impl Readings {
        /// Takes the session, which has begun and says which process it is.
        pub(crate) fn take_session(&self, session: ReadSession) {
            // The thread has ended only if it panicked.
            drop(self.orders.send(ReaderOrder::Session(self.number, session)));
        }

        /// Takes the header of the first stream, which has the clock.
        pub(crate) fn take_header(&self, trace: &Trace) {
            drop(self.orders.send(ReaderOrder::Begin(self.number, Box::new(trace.clone()))));
        }

        /// Ends the readings. If the process closed its stream, its exit is waited for, because
        /// its processor time is known only then.
        pub(crate) fn end(self, is_by_process: bool) -> EndedReadings {
            let (reply, answer) = channel();
            drop(self.orders.send(ReaderOrder::End(self.number, is_by_process, reply)));
            answer.recv_timeout(MAX_END_WAIT).unwrap_or_default()
        }
    }

    impl Drop for Readings {
        /// Ends readings of a session that did not begin.
        fn drop(&mut self) {
            drop(self.orders.send(ReaderOrder::Cancel(self.number)));
        }
    }
}

#[cfg(target_os = "linux")]
pub(crate) use linux::Readings;

/// Readings of one recording, which this system does not have.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub(crate) enum Readings {}

#[cfg(not(target_os = "linux"))]
impl ThreadTimes {
    /// Returns `None`, because only Linux has readings.
    pub(crate) fn begin(&self, _: Option<u64>) -> Option<Readings> {
        None
    }
}

#[cfg(not(target_os = "linux"))]
impl Readings {
    /// Does nothing, because no value of this type exists.
    pub(crate) fn take_session(&self, _: ReadSession) {
        match *self {}
    }

    /// Does nothing, because no value of this type exists.
    pub(crate) fn take_header(&self, _: &Trace) {
        match *self {}
    }

    /// Does nothing, because no value of this type exists.
    pub(crate) fn end(self, _: bool) -> EndedReadings {
        match self {}
    }
}

/// Returns 0, because this system has no readings.
#[cfg(not(target_os = "linux"))]
pub(crate) fn now_ns() -> u64 {
    0
}
