//! Sessions that feed a live view. A thread reads each session, and a reader of the view locks it
//! for a moment. There is one session, or several if metrics have to be
//! [apart](super::metrics_apart), and more while the view shows something else.

use super::driver::{Consumer, Driven, Driver, Next, Received, SessionHandle};
use super::end_rule::EndRule;
use super::first_values::FirstValues;
use super::metrics_apart::Sessions;
use super::start::{self, Resume};
use super::target::Reached;
use super::thread_times::{self, ReadSession, Readings, ReadingsTo, ThreadTimes, ThreadsNow};
use crate::failure::Failure;
use crate::failure::with_causes;
use crate::messages::Messages;
use nettrace_analysis::live::{Live, LiveReport, ThreadNow};
use nettrace_ipc::{Lost, SessionConfig};
use nettrace_parser::{Event, Feed};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Interval between checks for the first values of metrics.
const VALUES_CHECK: Duration = Duration::from_millis(5);

/// A view and the sessions that feed it.
#[derive(Debug)]
pub(crate) struct LiveSession<R> {
    /// Name of the process in messages.
    pub(crate) label: String,
    pub(crate) pid: Option<u64>,
    /// Id by which the system tells about the process; `None` if it cannot.
    pub(crate) pid_here: Option<u64>,
    /// The process's name; may be empty.
    pub(crate) name: String,
    live: Arc<Mutex<Live<R>>>,
    sessions: Vec<Feeder>,
    first_values: Arc<FirstValues>,
    /// Session of EventCounters, which may begin only after the first values of metrics.
    later: Option<SessionConfig>,
    /// Times of the process's threads, and what reads them; `None` if nothing does.
    times: Option<(ThreadsNow, Arc<Readings>)>,
    /// Whether the session is known whose clock the readings have.
    is_read: bool,
    end: SessionEnd,
}

/// A session, and the thread that reads it.
#[derive(Debug)]
struct Feeder {
    handle: SessionHandle,
    thread: Option<JoinHandle<Result<Driven, Failure>>>,
}

/// Ending of a session.
#[derive(Debug, Default)]
pub(crate) struct SessionEnd {
    is_cut: bool,
    fault: Option<String>,
}

impl SessionEnd {
    /// Returns the problem, if any, as text that follows the process's name.
    pub(crate) fn problem(&self) -> Option<String> {
        if self.is_cut {
            // A fault of parsing then only means that the rest did not come.
            return Some(" exited without completing the session (was it killed?)".to_owned());
        }
        self.fault.as_ref().map(|fault| format!(": its stream cannot be parsed: {fault}"))
    }
}

/// Passes events on to the view.
struct Feeding<R> {
    live: Arc<Mutex<Live<R>>>,
    /// What waits for the clock of the session, which comes with the first event.
    readings: Option<Arc<Readings>>,
}

impl<R: LiveReport> Consumer for Feeding<R> {
    fn event(&mut self, event: &Event<'_>) -> Result<Next, Failure> {
        if let Some(readings) = self.readings.take() {
            readings.take_header(event.session());
        }
        lock(&self.live).event(event);
        Ok(Next::Read)
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<R: LiveReport + Send + 'static> LiveSession<R> {
    /// Starts what the request needs, and reads each session on a thread of its own. Returns
    /// `None`, after a message, if it was time to end before the process answered.
    pub(crate) fn start(
        process: &Reached,
        config: SessionConfig,
        resume: Resume,
        report: R,
        end: &EndRule,
        messages: &mut Messages<'_>,
    ) -> Result<Option<LiveSession<R>>, Failure> {
        LiveSession::start_reading(process, config, resume, (report, None), end, messages)
    }

    /// Starts what [`LiveSession::start`] does, and reads the times of the process's threads while
    /// the view lives, if the system has them.
    pub(crate) fn start_reading(
        process: &Reached,
        config: SessionConfig,
        resume: Resume,
        (report, times): (R, Option<&ThreadTimes>),
        end: &EndRule,
        messages: &mut Messages<'_>,
    ) -> Result<Option<LiveSession<R>>, Failure> {
        let mut view = LiveSession {
            label: process.label(),
            pid: process.pid,
            pid_here: process.pid_here(),
            name: process.name.clone(),
            // The view is shared by a lock, and events are not sent to it: it needs only sums, and
            // a view that draws slowly must not make events pile up.
            live: Arc::new(Mutex::new(Live::new(report))),
            sessions: Vec::new(),
            first_values: Arc::new(FirstValues::new(
                process.pid_here(),
                &config,
                end.signals().first_values(),
            )),
            later: None,
            times: None,
            is_read: false,
            end: SessionEnd::default(),
        };
        let Some(sessions) = Sessions::for_process(process, &config, end)? else {
            messages.warning(&format!("{} did not answer in time", process.label()));
            return Ok(None);
        };
        if sessions.are_several() || resume == Resume::Yes {
            view.first_values.expect();
        }
        if let Some(metrics) = sessions.metrics
            && !view.feed(process, metrics, Resume::No, end, messages)?
        {
            return Ok(None);
        }
        // The request takes the runtime a tenth of a second, which has its samples.
        let readings = times.and_then(|times| times.begin(view.pid_here));
        view.times = readings.map(|readings| (ThreadsNow::default(), Arc::new(readings)));
        let is_fed = view.feed(process, sessions.main, resume, end, messages)?;
        view.later = sessions.counters;
        let waits_for_others = resume == Resume::No;
        let is_fed = is_fed && (waits_for_others || view.start_later(process, end, messages)?);
        Ok(is_fed.then_some(view))
    }

    /// Starts the EventCounters that had to wait for the first values of metrics, if there are any,
    /// however long the process takes for these. Callers that resume the process themselves call
    /// this function then. Returns false if it was time to end before the process answered.
    pub(crate) fn start_later(
        &mut self,
        process: &Reached,
        end: &EndRule,
        messages: &mut Messages<'_>,
    ) -> Result<bool, Failure> {
        let Some(counters) = self.later.take() else { return Ok(true) };
        while !self.first_values.let_counters_begin() && !self.is_over() {
            if !end.sleep_until(Instant::now() + VALUES_CHECK) {
                break;
            }
        }
        self.feed(process, counters, Resume::No, end, messages)
    }

    /// Starts one more session for some time, without waiting for it.
    pub(crate) fn beside(
        &self,
        process: &Reached,
        config: SessionConfig,
        end: &EndRule,
    ) -> io::Result<Beside> {
        let state: Arc<Mutex<BesideState>> = Arc::default();
        let (own, runtime, end) = (Arc::clone(&state), process.runtime.clone(), end.clone());
        let mut feeding = Feeding { live: Arc::clone(&self.live), readings: None };
        let thread = std::thread::Builder::new().name("nettrace-view".to_owned());
        let thread = thread.spawn(move || {
            let session = match runtime.start(&config) {
                Ok(session) => session,
                Err(error) => {
                    lock(&own).failure = Some(with_causes(&error));
                    return;
                }
            };
            // A session whose stacks cannot be switched off would cost the process too much.
            if session.lost().contains(&Lost::StacksOff) {
                return;
            }
            let driver = Driver::new(session, Feed::new().time_ordered()).until(&end);
            {
                let mut state = lock(&own);
                if state.is_unwanted {
                    // Dropping the session stops it.
                    return;
                }
                state.handle = Some(driver.handle());
            }
            if let Err(failure) = driver.run(&mut feeding) {
                lock(&own).failure = Some(failure.to_string());
            }
        })?;
        Ok(Beside { state, thread: Some(thread) })
    }

    /// Starts a session. Returns false if it was time to end before the process answered.
    fn feed(
        &mut self,
        process: &Reached,
        config: SessionConfig,
        resume: Resume,
        end: &EndRule,
        messages: &mut Messages<'_>,
    ) -> Result<bool, Failure> {
        let asked_ns = thread_times::now_ns();
        let session = start::start_view(process, config, resume, end, messages)?;
        let Some(session) = session else { return Ok(false) };
        let answered_ns = thread_times::now_ns();
        // Readings go with the first session after they have begun, which has the samples.
        let readings = self.times.as_ref().filter(|_| !self.is_read).map(|(now, readings)| {
            let (pid, to) = (session.peer_pid(), ReadingsTo::View(now.rows()));
            readings.take_session(ReadSession { pid, asked_ns, answered_ns, to });
            Arc::clone(readings)
        });
        self.is_read |= readings.is_some();
        let driver = Driver::new(session, Feed::new().time_ordered()).until(end);
        let driver = driver.with_first_values(&self.first_values);
        let handle = driver.handle();
        let mut feeding = Feeding { live: Arc::clone(&self.live), readings };
        let thread = std::thread::Builder::new().name("nettrace-view".to_owned());
        let thread = Some(thread.spawn(move || driver.run(&mut feeding))?);
        self.sessions.push(Feeder { handle, thread });
        Ok(true)
    }

    /// Calls `look` with the view, which is locked meanwhile.
    pub(crate) fn with<T>(&self, look: impl FnOnce(&mut Live<R>) -> T) -> T {
        look(&mut lock(&self.live))
    }

    /// Passes each round of readings since the last call to `round`, with the view, which is locked
    /// meanwhile: its time since the session's start in nanoseconds, the processor time of the
    /// process, and all threads.
    pub(crate) fn look_at_threads(
        &mut self,
        mut round: impl FnMut(&mut R, i64, u64, &[ThreadNow<'_>]),
    ) {
        let Some((now, _)) = &mut self.times else { return };
        let live = &self.live;
        now.look(|ticks, process_ns, threads| {
            let mut live = lock(live);
            if let Some(nanos) = live.nanos_at(ticks) {
                round(&mut live.report, nanos, process_ns, threads);
            }
        });
    }

    /// Returns the number of events that the process could not send, so far.
    pub(crate) fn lost(&self) -> u64 {
        self.received().lost
    }

    /// Returns the counts so far, without sessions of [`LiveSession::beside`].
    pub(crate) fn received(&self) -> Received {
        let mut received = Received::default();
        self.sessions.iter().for_each(|session| received.add(session.handle.received()));
        received
    }

    /// Returns whether the streams have ended.
    pub(crate) fn is_over(&self) -> bool {
        self.sessions.iter().all(Feeder::is_over)
    }

    /// Waits for the end of the sessions, now that it is time to end.
    pub(crate) fn end(&mut self) -> &SessionEnd {
        for thread in self.sessions.iter_mut().filter_map(|session| session.thread.take()) {
            let panicked = |_| Err(Failure::Output(io::Error::other("the thread panicked")));
            let (is_cut, fault) = match thread.join().unwrap_or_else(panicked) {
                Ok(read) => (read.is_cut(), read.fault),
                Err(failure) => (false, Some(failure.to_string())),
            };
            self.end.is_cut |= is_cut;
            self.end.fault = self.end.fault.take().or(fault);
        }
        &self.end
    }
}

/// A session that a view has for some time, see [`LiveSession::beside`]. Dropping this value stops
/// the session.
#[derive(Debug)]
pub(crate) struct Beside {
    state: Arc<Mutex<BesideState>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct BesideState {
    handle: Option<SessionHandle>,
    /// Whether the view does not want the session any more.
    is_unwanted: bool,
    failure: Option<String>,
}

impl Beside {
    /// Returns the reason why the session brings nothing, or nothing more.
    pub(crate) fn failure(&self) -> Option<String> {
        lock(&self.state).failure.clone()
    }

    /// Returns the counts so far.
    pub(crate) fn received(&self) -> Received {
        lock(&self.state).handle.as_ref().map(SessionHandle::received).unwrap_or_default()
    }

    fn stop(&self) -> bool {
        let mut state = lock(&self.state);
        state.is_unwanted = true;
        state.handle.as_ref().map(SessionHandle::stop).is_some()
    }

    /// Stops the session and waits for its end.
    pub(crate) fn end(mut self) {
        // A request that was not answered yet may never be answered, so a session that has not
        // started is not waited for.
        if self.stop()
            && let Some(thread) = self.thread.take()
        {
            drop(thread.join());
        }
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Feeder {
    fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }
}

impl Drop for Feeder {
    /// Stops the session: a view that is not shown leaves none in the process.
    fn drop(&mut self) {
        if self.thread.is_some() {
            self.handle.stop();
        }
    }
}
