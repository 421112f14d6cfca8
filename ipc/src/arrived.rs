//! The runtimes that have connected to a port, each with its idle connection.
//!
//! A runtime keeps one connection open to a port and uses it for one command; half a millisecond
//! later it connects again. Connections are assigned to runtimes by the runtime's cookie.
//!
//! An idle connection costs a descriptor, so one whose process has ended is closed as soon as that
//! is noticed, and the runtime is forgotten a while later.

use crate::advertise::Advertise;
use crate::command::process::ResumeRuntime;
use crate::connection::Connection;
use crate::deadlines::{Deadline, Deadlines};
use crate::endpoint::Wire;
use crate::error::{Error, Step};
use crate::transcript::{Recorder, Tap};
use nettrace_guid::Guid;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Interval at which a caller that waits for a connection checks whether the process is still
/// alive.
const PEER_CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// Time after which a runtime without a connection is forgotten, unless a
/// [`Runtime`](crate::Runtime) for it is still in use. A live runtime reconnects within half a
/// second, unless a command keeps it busy.
const MAX_ABSENCE: Duration = Duration::from_secs(60);
/// Minimum time between two closings of connections of a runtime that needs no command.
const MIN_DISMISSAL_INTERVAL: Duration = Duration::from_millis(20);

/// Maximum number of process ids that are kept for [`Table::let_go`].
const MAX_REMEMBERED_RESUMED: usize = 1000;

#[derive(Debug)]
pub(crate) struct Table {
    state: Mutex<LineState>,
    changed: Condvar,
    pub(crate) deadlines: Deadlines,
    pub(crate) recorder: Option<Recorder>,
    /// Counts the users of this port: each [`Line`] holds a clone.
    in_use: Arc<()>,
}

#[derive(Debug, Default)]
struct LineState {
    runtimes: HashMap<Guid, KnownRuntime>,
    /// Runtimes that have connected and were not given to the caller yet.
    arrived: VecDeque<Advertise>,
    /// Whether runtimes that connect for the first time are resumed at once instead of given to the
    /// caller.
    resume_newcomers: bool,
    /// Whether the port's owner is gone.
    closed: bool,
    /// Number of resumes that have not been answered yet.
    under_way: usize,
    /// Number of runtimes that were resumed without being given to the caller, because descriptors
    /// ran out.
    turned_away: u64,
    /// Process ids of runtimes that were resumed instead of given to the caller, because of
    /// `resume_newcomers`. The caller takes them.
    let_go: Vec<u64>,
}

impl LineState {
    /// Adds a process id for [`Table::let_go`]. The number of ids is limited, because the caller
    /// may never take them.
    fn note_let_go(&mut self, pid: u64) {
        if self.let_go.len() < MAX_REMEMBERED_RESUMED {
            self.let_go.push(pid);
        }
    }
}

#[derive(Debug)]
struct KnownRuntime {
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "only Linux looks for who is missing")
    )]
    pid: u64,
    /// Process id of the other end of the socket, if the kernel reports it.
    peer: Option<u32>,
    idle: Option<(Wire, Option<Tap>)>,
    /// When the idle connection was first found to be missing.
    absent_since: Option<Instant>,
    resumed: bool,
    /// Whether the runtime was given to the caller, who has to resume it unless the port is closed.
    given_out: bool,
    /// Whether a resume command failed, so that another one is sent when the runtime connects
    /// again.
    owed: bool,
    /// Counts the users of this runtime: each [`Line`] that was given to a caller holds a clone.
    holders: Arc<()>,
}

impl KnownRuntime {
    fn new(advertise: Advertise, peer: Option<u32>) -> Self {
        KnownRuntime {
            pid: advertise.pid,
            peer,
            idle: None,
            absent_since: None,
            resumed: false,
            given_out: false,
            owed: false,
            holders: Arc::default(),
        }
    }

    fn is_held(&self) -> bool {
        Arc::strong_count(&self.holders) > 1
    }
}

impl Table {
    pub(crate) fn new(deadlines: Deadlines, recorder: Option<Recorder>) -> Self {
        Table {
            state: Mutex::default(),
            changed: Condvar::new(),
            deadlines,
            recorder,
            in_use: Arc::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, LineState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the connection of a runtime that has sent its cookie and process id.
    pub(crate) fn arrive(self: &Arc<Self>, advertise: Advertise, wire: Wire, tap: Option<Tap>) {
        let mut state = self.lock();
        let (unwanted, closed) = (state.resume_newcomers, state.closed);
        let mut first = false;
        let known = state.runtimes.entry(advertise.cookie).or_insert_with(|| {
            first = true;
            KnownRuntime::new(advertise, wire.peer_pid())
        });
        known.idle = Some((wire, tap));
        known.absent_since = None;
        let resume = !known.resumed && (known.owed || unwanted && (closed || !known.given_out));
        if first && !unwanted {
            state.arrived.push_back(advertise);
        }
        if first && unwanted && !closed {
            state.note_let_go(advertise.pid);
        }
        drop(state);
        self.changed.notify_all();
        if resume {
            // After a failure the runtime still waits: it connects again, and this is repeated.
            drop(self.own_line(advertise.cookie).resume());
        }
    }

    /// Takes a connection when descriptors have run out. If the runtime only needs a resume
    /// command, that is sent and the connection is closed. Other connections are kept, as by
    /// [`Table::arrive`].
    pub(crate) fn arrive_crowded(
        self: &Arc<Self>,
        advertise: Advertise,
        wire: Wire,
        tap: Option<Tap>,
    ) {
        let mut state = self.lock();
        let waits = match state.runtimes.get(&advertise.cookie) {
            // A runtime that is in use, or will be given out, needs the connection.
            Some(known) if known.is_held() || !(known.resumed || known.given_out) => {
                drop(state);
                return self.arrive(advertise, wire, tap);
            }
            Some(known) => !known.resumed,
            None => true,
        };
        if !waits {
            drop(state);
            // The runtime connects again at once.
            std::thread::sleep(MIN_DISMISSAL_INTERVAL);
            return;
        }
        let is_wanted = !state.resume_newcomers;
        let known = state
            .runtimes
            .entry(advertise.cookie)
            .or_insert_with(|| KnownRuntime::new(advertise, wire.peer_pid()));
        known.resumed = true;
        let is_first = !std::mem::replace(&mut known.given_out, true);
        if is_wanted && is_first {
            state.turned_away = state.turned_away.saturating_add(1);
        }
        drop(state);
        if self.resume_over(Connection::new(wire, tap)).is_err() {
            // The runtime connects again, and this is repeated.
            self.own_line(advertise.cookie).resume_failed();
        }
    }

    /// Closes every connection that is not in use, because descriptors have run out. Runtimes that
    /// have not been given to the caller are resumed first. Running ones connect again when there
    /// are descriptors.
    pub(crate) fn shed(self: &Arc<Self>) {
        let mut state = self.lock();
        let waiting: Vec<Advertise> = state.arrived.drain(..).collect();
        let mut shed = Vec::new();
        for advertise in waiting {
            let Some(known) = state.runtimes.get_mut(&advertise.cookie) else { continue };
            (known.resumed, known.given_out) = (true, true);
            if let Some((wire, tap)) = known.idle.take() {
                shed.push((advertise.cookie, Connection::new(wire, tap)));
            } else {
                (known.resumed, known.owed) = (false, true);
            }
            state.turned_away = state.turned_away.saturating_add(1);
        }
        for known in state.runtimes.values_mut().filter(|known| known.resumed && !known.is_held()) {
            known.idle = None;
        }
        drop(state);
        let table = Arc::clone(self);
        let cookies: Vec<Guid> = shed.iter().map(|(cookie, _)| *cookie).collect();
        let resume = move || {
            for (cookie, connection) in shed {
                if table.resume_over(connection).is_err() {
                    // The runtime connects again, and is resumed then.
                    table.own_line(cookie).resume_failed();
                }
            }
        };
        if std::thread::Builder::new().name("nettrace-resume".to_owned()).spawn(resume).is_err() {
            // Their connections were closed with the closure, so the runtimes connect again.
            cookies.into_iter().for_each(|cookie| self.own_line(cookie).resume_failed());
        }
    }

    /// Takes the process ids of runtimes that were resumed instead of given to the caller, because
    /// of `resume_newcomers`.
    pub(crate) fn let_go(&self) -> Vec<u64> {
        std::mem::take(&mut self.lock().let_go)
    }

    /// Returns the number of runtimes that were resumed without being given to the caller, because
    /// descriptors ran out.
    pub(crate) fn turned_away(&self) -> u64 {
        self.lock().turned_away
    }

    /// Closes the connections of processes that have ended, and forgets runtimes that have had no
    /// connection for [`MAX_ABSENCE`].
    pub(crate) fn look_round(&self) {
        let mut state = self.lock();
        state.runtimes.retain(|_, known| {
            // Dropping a connection closes it.
            drop(known.idle.take_if(|(wire, _)| wire.is_closed()));
            if known.idle.is_some() {
                known.absent_since = None;
                return true;
            }
            let is_away =
                known.absent_since.get_or_insert_with(Instant::now).elapsed() >= MAX_ABSENCE;
            let is_awaited = known.is_held() || !(known.given_out || known.resumed);
            is_awaited || !is_away
        });
    }

    pub(crate) fn line(self: &Arc<Self>, cookie: Guid) -> Line {
        let holder = self.lock().runtimes.get(&cookie).map(|known| Arc::clone(&known.holders));
        Line {
            table: Arc::clone(self),
            cookie,
            _in_use: Some(Arc::clone(&self.in_use)),
            _holder: holder,
        }
    }

    /// Makes a line that does not count as a user of the port, for use inside the table.
    fn own_line(self: &Arc<Self>, cookie: Guid) -> Line {
        Line { table: Arc::clone(self), cookie, _in_use: None, _holder: None }
    }

    /// Returns whether no runtime of this port is in use, and no session of such a runtime.
    pub(crate) fn is_unused(&self) -> bool {
        Arc::strong_count(&self.in_use) == 1
    }

    /// Returns the next runtime that has not been given to the caller yet, or `None` if none
    /// connects in time.
    pub(crate) fn next(&self, wait: Duration) -> Option<Advertise> {
        let nothing = |state: &mut LineState| state.arrived.is_empty();
        let waited = self.changed.wait_timeout_while(self.lock(), wait, nothing);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let advertise = state.arrived.pop_front()?;
        if let Some(known) = state.runtimes.get_mut(&advertise.cookie) {
            known.given_out = true;
        }
        Some(advertise)
    }

    /// Resumes all runtimes that have connected and were not given to the caller, and from now on
    /// every runtime that connects.
    pub(crate) fn resume_newcomers(self: &Arc<Self>) {
        let waiting: Vec<Advertise> = {
            let mut state = self.lock();
            state.resume_newcomers = true;
            let waiting: Vec<Advertise> = state.arrived.drain(..).collect();
            waiting.iter().for_each(|advertise| state.note_let_go(advertise.pid));
            waiting
        };
        self.resume_each(waiting.into_iter().map(|advertise| advertise.cookie).collect());
    }

    /// Resumes all runtimes, now and whenever one connects, because the port has no owner any more.
    pub(crate) fn close(self: &Arc<Self>) {
        let waiting: Vec<Guid> = {
            let mut state = self.lock();
            state.resume_newcomers = true;
            state.closed = true;
            state.arrived.clear();
            state
                .runtimes
                .iter()
                .filter(|(_, known)| !known.resumed)
                .map(|(cookie, _)| *cookie)
                .collect()
        };
        self.resume_each(waiting);
    }

    /// Resumes the runtimes in parallel, so that a runtime that does not answer delays no other.
    fn resume_each(self: &Arc<Self>, cookies: Vec<Guid>) {
        let resumes = cookies.into_iter().map(|cookie| {
            let line = self.own_line(cookie);
            std::thread::Builder::new()
                .name("nettrace-resume".to_owned())
                .spawn(move || line.resume())
        });
        for resume in resumes.collect::<Vec<_>>().into_iter().flatten() {
            // A runtime that cannot be resumed is gone, or does not answer within the deadlines.
            drop(resume.join());
        }
    }

    /// Waits for the answers to the resume commands that other threads have sent, until their
    /// deadlines pass.
    pub(crate) fn wait_for_resumes(&self) {
        let most = self.deadlines.connect.saturating_add(self.deadlines.reply);
        let waits = |state: &mut LineState| state.under_way > 0;
        // A runtime that has not answered until then will not answer later.
        drop(self.changed.wait_timeout_while(self.lock(), most, waits));
    }

    fn resume_over(&self, mut connection: Connection) -> Result<(), Error> {
        let result =
            connection.exchange(&ResumeRuntime, self.deadlines.connect, self.deadlines.reply);
        connection.close();
        match result {
            Err(error) if error.is_unknown_command() => Ok(()),
            result => result,
        }
    }

    /// Returns the ids of the processes that have been resumed. In a container these are the ids
    /// inside.
    #[cfg(target_os = "linux")]
    pub(crate) fn resumed_pids(&self) -> Vec<u64> {
        self.lock().runtimes.values().filter(|known| known.resumed).map(|known| known.pid).collect()
    }
}

/// The way to one runtime through a port.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    table: Arc<Table>,
    cookie: Guid,
    _in_use: Option<Arc<()>>,
    _holder: Option<Arc<()>>,
}

impl Line {
    /// Takes the runtime's idle connection. If that is in use, waits until the runtime connects
    /// again.
    pub(crate) fn take(&self, wait: Duration) -> Result<Connection, Error> {
        let deadline = Deadline::after(wait);
        let mut state = self.table.lock();
        loop {
            let Some(known) = state.runtimes.get_mut(&self.cookie) else {
                return Err(Error::Gone { step: Step::Accept });
            };
            match known.idle.take() {
                Some((wire, tap)) if !wire.is_closed() => return Ok(Connection::new(wire, tap)),
                Some(_) => continue,
                None if known.peer.is_some_and(has_ended) => {
                    return Err(Error::Gone { step: Step::Accept });
                }
                None => {}
            }
            let left =
                deadline.left().ok_or(Error::Deadline { step: Step::Accept, after: wait })?;
            let waited = self.table.changed.wait_timeout(state, left.min(PEER_CHECK_INTERVAL));
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Notes that a resume command is under way, until the returned value is dropped.
    pub(crate) fn resuming(&self) -> Resuming<'_> {
        self.set_resumed(true);
        let mut state = self.table.lock();
        state.under_way = state.under_way.saturating_add(1);
        Resuming { line: self, is_done: false }
    }

    /// Notes that a resume command failed. Another one is sent when the runtime connects.
    fn resume_failed(&self) {
        self.set_resumed(false);
    }

    /// Returns whether the runtime was resumed over this port.
    pub(crate) fn is_resumed(&self) -> bool {
        self.table.lock().runtimes.get(&self.cookie).is_some_and(|known| known.resumed)
    }

    fn set_resumed(&self, resumed: bool) {
        if let Some(known) = self.table.lock().runtimes.get_mut(&self.cookie) {
            known.resumed = resumed;
            known.owed = !resumed;
        }
    }

    fn resume(&self) -> Result<(), Error> {
        let resuming = self.resuming();
        let connection = self.take(self.table.deadlines.connect);
        let resumed = connection.and_then(|connection| self.table.resume_over(connection));
        if resumed.is_ok() {
            resuming.done();
        }
        resumed
    }
}

/// A resume command that has not been answered yet.
#[derive(Debug)]
#[must_use]
pub(crate) struct Resuming<'l> {
    line: &'l Line,
    is_done: bool,
}

impl Resuming<'_> {
    /// Notes that the runtime was resumed.
    pub(crate) fn done(mut self) {
        self.is_done = true;
    }
}

impl Drop for Resuming<'_> {
    fn drop(&mut self) {
        if !self.is_done {
            self.line.resume_failed();
        }
        let table = &self.line.table;
        let mut state = table.lock();
        state.under_way = state.under_way.saturating_sub(1);
        drop(state);
        table.changed.notify_all();
    }
}

/// Returns whether the process has certainly ended, so that it will not connect again.
#[cfg(target_os = "linux")]
fn has_ended(pid: u32) -> bool {
    use rustix::io::Errno;
    use rustix::process::{Pid, test_kill_process};
    let Some(id) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return false };
    if test_kill_process(id) == Err(Errno::SRCH) {
        return true;
    }
    // A zombie (Z) has ended, but its parent has not fetched the exit code yet.
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['Z', 'X']))
}

/// Returns `false`, because only Linux reports the process at the other end of a socket.
#[cfg(not(target_os = "linux"))]
fn has_ended(_pid: u32) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc;

    #[test]
    fn who_exits_waits_for_resumes_that_others_have_sent() {
        let table = Arc::new(Table::new(Deadlines::default(), None));
        let line = table.own_line(Guid::from_bytes([1; 16]));
        let resuming = line.resuming();
        let is_answered = AtomicBool::new(false);
        let (waits, is_waiting) = mpsc::channel();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                waits.send(()).unwrap();
                table.wait_for_resumes();
                is_answered.load(Ordering::SeqCst)
            });
            is_waiting.recv().unwrap();
            is_answered.store(true, Ordering::SeqCst);
            resuming.done();
            assert!(waiting.join().unwrap());
        });
    }
}
