//! The runtimes that know our port, each with its idle connection.
//!
//! A runtime keeps one connection open to a port and uses it for one command; then it connects again,
//! half a millisecond later. Connections are told apart by the runtime's cookie.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::advertise::Advertise;
use crate::command::process::ResumeRuntime;
use crate::connection::Connection;
use crate::deadlines::{Deadline, Deadlines};
use crate::endpoint::Wire;
use crate::error::{Error, Step};
use crate::transcript::{Recorder, Tap};
use nettrace_guid::Guid;

/// How long an idle connection is believed without looking again.
const TICK: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub(crate) struct Table {
    state: Mutex<State>,
    changed: Condvar,
    pub(super) deadlines: Deadlines,
    pub(super) recorder: Option<Recorder>,
    /// held by each line
    in_use: Arc<()>,
}

#[derive(Debug, Default)]
struct State {
    runtimes: HashMap<Guid, Known>,
    /// arrived and not handed out yet
    arrived: VecDeque<Advertise>,
    /// newcomers are not wanted: they are resumed at once
    resume_newcomers: bool,
    /// the port's owner is gone
    closed: bool,
}

#[derive(Debug)]
struct Known {
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux looks for who is missing"))]
    pid: u64,
    idle: Option<(Wire, Option<Tap>)>,
    resumed: bool,
    /// its resume is its owner's business, unless the port is closed
    given_out: bool,
}

impl Table {
    pub(super) fn new(deadlines: Deadlines, recorder: Option<Recorder>) -> Self {
        Table {
            state: Mutex::default(),
            changed: Condvar::new(),
            deadlines,
            recorder,
            in_use: Arc::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A runtime has connected and said who it is.
    pub(super) fn arrive(self: &Arc<Self>, advertise: Advertise, wire: Wire, tap: Option<Tap>) {
        let mut state = self.lock();
        let (unwanted, closed) = (state.resume_newcomers, state.closed);
        let mut first = false;
        let known = state.runtimes.entry(advertise.cookie).or_insert_with(|| {
            first = true;
            Known { pid: advertise.pid, idle: None, resumed: false, given_out: false }
        });
        known.idle = Some((wire, tap));
        let resume = unwanted && !known.resumed && (closed || !known.given_out);
        if first && !unwanted {
            state.arrived.push_back(advertise);
        }
        drop(state);
        self.changed.notify_all();
        if resume {
            // A failure leaves it as it was: it will connect again, and this happens again.
            drop(self.own_line(advertise.cookie).resume());
        }
    }

    pub(super) fn line(self: &Arc<Self>, cookie: Guid) -> Line {
        Line { table: Arc::clone(self), cookie, _in_use: Some(Arc::clone(&self.in_use)) }
    }

    /// A line of ours for a moment, which does not count as use.
    fn own_line(self: &Arc<Self>, cookie: Guid) -> Line {
        Line { table: Arc::clone(self), cookie, _in_use: None }
    }

    /// Whether no runtime of this port, and no session of one, is held by anybody.
    pub(super) fn is_unused(&self) -> bool {
        Arc::strong_count(&self.in_use) == 1
    }

    /// The next runtime that nobody has been given yet.
    pub(super) fn next(&self, wait: Duration) -> Option<Advertise> {
        let nothing = |state: &mut State| state.arrived.is_empty();
        let waited = self.changed.wait_timeout_while(self.lock(), wait, nothing);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let advertise = state.arrived.pop_front()?;
        if let Some(known) = state.runtimes.get_mut(&advertise.cookie) {
            known.given_out = true;
        }
        Some(advertise)
    }

    /// From now on whoever arrives is resumed; so is who has arrived and was not handed out.
    pub(super) fn resume_newcomers(self: &Arc<Self>) {
        let waiting: Vec<Advertise> = {
            let mut state = self.lock();
            state.resume_newcomers = true;
            state.arrived.drain(..).collect()
        };
        self.resume_each(waiting.into_iter().map(|advertise| advertise.cookie).collect());
    }

    /// Nobody owns the port any more: everybody is resumed, now and later.
    pub(super) fn close(self: &Arc<Self>) {
        let waiting: Vec<Guid> = {
            let mut state = self.lock();
            state.resume_newcomers = true;
            state.closed = true;
            state.arrived.clear();
            state.runtimes.iter().filter(|(_, known)| !known.resumed).map(|(cookie, _)| *cookie).collect()
        };
        self.resume_each(waiting);
    }

    /// One that does not answer delays nobody else.
    fn resume_each(self: &Arc<Self>, cookies: Vec<Guid>) {
        let resumes = cookies.into_iter().map(|cookie| {
            let line = self.own_line(cookie);
            std::thread::Builder::new().name("nettrace-resume".to_owned()).spawn(move || line.resume())
        });
        for resume in resumes.collect::<Vec<_>>().into_iter().flatten() {
            // Who cannot be resumed is gone, or does not answer within the deadlines.
            drop(resume.join());
        }
    }

    /// Process ids that have been resumed, as they see themselves.
    #[cfg(target_os = "linux")]
    pub(super) fn resumed_pids(&self) -> Vec<u64> {
        self.lock().runtimes.values().filter(|known| known.resumed).map(|known| known.pid).collect()
    }
}

/// The way to one runtime over a port.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    table: Arc<Table>,
    cookie: Guid,
    _in_use: Option<Arc<()>>,
}

impl Line {
    /// Its idle connection; waits for it to connect again if it is just being used.
    pub(crate) fn take(&self, wait: Duration) -> Result<Connection, Error> {
        let deadline = Deadline::after(wait);
        let mut state = self.table.lock();
        loop {
            let idle = state.runtimes.get_mut(&self.cookie).and_then(|known| known.idle.take());
            match idle {
                Some((wire, tap)) if !wire.is_closed() => return Ok(Connection::new(wire, tap)),
                Some(_) => continue,
                None => {}
            }
            let left = deadline.left().ok_or(Error::Deadline { step: Step::Accept, after: wait })?;
            let waited = self.table.changed.wait_timeout(state, left.min(TICK));
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A resume is under way.
    pub(crate) fn resuming(&self) {
        self.set_resumed(true);
    }

    /// It did not get through.
    pub(crate) fn resume_failed(&self) {
        self.set_resumed(false);
    }

    /// Whether it was told to go on over this port.
    pub(crate) fn is_resumed(&self) -> bool {
        self.table.lock().runtimes.get(&self.cookie).is_some_and(|known| known.resumed)
    }

    fn set_resumed(&self, resumed: bool) {
        if let Some(known) = self.table.lock().runtimes.get_mut(&self.cookie) {
            known.resumed = resumed;
        }
    }

    fn resume(&self) -> Result<(), Error> {
        self.resuming();
        let deadlines = &self.table.deadlines;
        let resumed = self.take(deadlines.connect).and_then(|mut connection| {
            let result = connection.exchange(&ResumeRuntime, deadlines.connect, deadlines.reply);
            connection.close();
            match result {
                Err(error) if error.is_unknown_command() => Ok(()),
                result => result,
            }
        });
        if resumed.is_err() {
            self.resume_failed();
        }
        resumed
    }
}
