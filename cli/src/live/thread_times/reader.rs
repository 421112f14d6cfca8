//! The thread that reads all recorded processes, one after the other, at one pace.

use super::clock_file::ClockFile;
use super::pace::Pace;
use super::process::{KeptFiles, Presence, ProcessReader};
use super::rows::{HowEnded, ReadingCost, Row};
use super::system::{Machine, System, own_cpu_ns};
use super::{EndedReadings, ReadSession, ReadingSummary, ReadingsTo, ViewRows};
use nettrace_parser::Trace;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Interval at which names are read again, and rows are written to their file.
const SECOND: Duration = Duration::from_secs(1);
/// Minimum interval at which the machine and the groups are read.
const MACHINE_INTERVAL: Duration = Duration::from_millis(200);
/// Interval at which a process that is about to exit is read.
const EXIT_INTERVAL: Duration = Duration::from_millis(1);
/// Maximum time that a process is waited for that has closed its stream.
const MAX_EXIT_WAIT: Duration = Duration::from_millis(500);
/// Maximum number of rows that wait for the header of their first stream.
const MAX_HELD_ROWS: usize = 100_000;
/// Share of the descriptors that this process may open which readings keep open.
const KEPT_SHARE: u64 = 4;
/// Minimum number of descriptors that this process may open. With fewer there are no readings,
/// because a session that is about to be requested or stopped needs the last ones.
const MIN_DESCRIPTORS: u64 = 64;

/// ReaderOrder to the thread. Numbers are those of recordings.
#[derive(Debug)]
pub(super) enum ReaderOrder {
    /// A session of this process, if it is known, is about to be requested.
    Add(u64, Option<u32>),
    /// The session has begun.
    Session(u64, ReadSession),
    /// The session did not begin.
    Cancel(u64),
    /// The first stream has this header.
    Begin(u64, Box<Trace>),
    /// The recording has ended; with `true` because the process closed its stream.
    End(u64, bool, Sender<EndedReadings>),
}

/// One recording.
#[derive(Debug)]
struct ReadTarget {
    number: u64,
    pid: Option<u32>,
    session: Option<ReadSession>,
    process: Option<ProcessReader>,
    presence: Presence,
    /// Reason why there are no readings.
    fault: Option<String>,
    /// Rows that wait for the header of the first stream.
    held: Vec<Row>,
    /// Where rows go, once the clock of the first stream is known.
    sink: Option<RowSink>,
    cost: ReadingCost,
    named_at: Instant,
    grouped_at: Option<Instant>,
    /// Time until which the exit of the process is waited for, and who waits.
    closing: Option<(Instant, Sender<EndedReadings>)>,
}

/// Where the rows of a recording go.
#[derive(Debug)]
enum RowSink {
    File(Box<ClockFile>),
    View(ViewRows),
}

/// State of the thread.
struct Reader {
    system: System,
    machine: Machine,
    kept: KeptFiles,
    /// Reason why no process is read.
    fault: Option<String>,
    pace: Pace,
    targets: Vec<ReadTarget>,
    rows: Vec<Row>,
    summary: Arc<Mutex<ReadingSummary>>,
}

/// Obeys orders and reads processes until nobody can give orders any more.
pub(super) fn run(
    interval: Duration,
    orders: &Receiver<ReaderOrder>,
    summary: Arc<Mutex<ReadingSummary>>,
) {
    let system = System::running();
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let limit = limit.unwrap_or(u64::MAX);
    let fault = (limit < MIN_DESCRIPTORS).then(|| {
        format!("this process may open {limit} files, and they need {MIN_DESCRIPTORS} (ulimit -n)")
    });
    let mut reader = Reader {
        machine: if fault.is_none() { Machine::open(&system) } else { Machine::default() },
        system,
        kept: KeptFiles(limit / KEPT_SHARE),
        fault,
        pace: Pace::new(interval),
        targets: Vec::new(),
        rows: Vec::new(),
        summary,
    };
    let mut next = Instant::now();
    loop {
        let wait = reader.wait(next);
        let order = match wait {
            Some(wait) => orders.recv_timeout(wait),
            None => orders.recv().map_err(RecvTimeoutError::from),
        };
        match order {
            Ok(order) => reader.obey(order),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        reader.look_at_exits();
        let now = Instant::now();
        if now >= next {
            reader.read_all();
            next = now + reader.pace.interval();
        }
    }
}

impl Reader {
    /// Returns how long orders are waited for; `None` if there is nothing to read.
    fn wait(&self, next: Instant) -> Option<Duration> {
        let left = next.saturating_duration_since(Instant::now());
        if self.targets.iter().any(|target| target.closing.is_some()) {
            return Some(left.min(EXIT_INTERVAL));
        }
        (!self.targets.is_empty()).then_some(left)
    }

    fn obey(&mut self, order: ReaderOrder) {
        match order {
            ReaderOrder::Add(number, pid) => {
                let mut target = ReadTarget::new(number, pid);
                self.open(&mut target);
                self.targets.push(target);
            }
            ReaderOrder::Session(number, session) => {
                let Some(at) = self.targets.iter().position(|target| target.number == number)
                else {
                    return;
                };
                let mut target = self.targets.remove(at);
                if target.pid != session.pid {
                    // The name of a socket may have the number of another process.
                    self.close(&target);
                    target = ReadTarget::new(number, session.pid);
                    self.open(&mut target);
                }
                if session.pid.is_none() {
                    target.fault = Some("the system does not tell which process it is".to_owned());
                }
                target.session = Some(session);
                self.targets.push(target);
            }
            ReaderOrder::Cancel(number) => {
                let is_cancelled =
                    |target: &&ReadTarget| target.number == number && target.closing.is_none();
                let cancelled = self.targets.iter().position(|target| is_cancelled(&target));
                if let Some(at) = cancelled {
                    let target = self.targets.remove(at);
                    self.close(&target);
                }
            }
            ReaderOrder::Begin(number, trace) => {
                if let Some(target) = self.target(number) {
                    target.begin(&trace);
                }
            }
            ReaderOrder::End(number, waits, reply) => {
                let Some(at) = self.targets.iter().position(|target| target.number == number)
                else {
                    return;
                };
                let mut target = self.targets.remove(at);
                self.read(&mut target);
                let until = if waits { MAX_EXIT_WAIT } else { Duration::ZERO };
                target.closing = Some((Instant::now() + until, reply));
                self.targets.push(target);
            }
        }
    }

    fn target(&mut self, number: u64) -> Option<&mut ReadTarget> {
        self.targets.iter_mut().find(|target| target.number == number)
    }

    /// Ends recordings whose process has exited, or was waited for long enough.
    fn look_at_exits(&mut self) {
        for target in std::mem::take(&mut self.targets) {
            match target.closing {
                Some(_) => self.look_at_exit(target),
                None => self.targets.push(target),
            }
        }
    }

    fn look_at_exit(&mut self, mut target: ReadTarget) {
        let Some((until, _)) = &target.closing else { return };
        let until = *until;
        if let (Some(process), Presence::Running) = (&mut target.process, target.presence) {
            target.presence = process.read_total(&mut self.rows);
            target.take(&mut self.rows);
            if target.presence == Presence::Running && Instant::now() < until {
                self.targets.push(target);
                return;
            }
        }
        self.close(&target);
        target.cost.interval_ns = nanos(self.pace.interval());
        target.end();
    }

    /// Opens the process of a recording, and reads it for the first time.
    fn open(&mut self, target: &mut ReadTarget) {
        let Some(pid) = target.pid else { return };
        target.fault.clone_from(&self.fault);
        if target.fault.is_some() {
            return;
        }
        match open(&self.system, pid, &mut self.kept) {
            Ok(process) => target.process = Some(process),
            Err(error) => target.fault = Some(format!("/proc does not show it: {error}")),
        }
        self.read(target);
    }

    /// Counts the descriptors that are closed with a recording.
    fn close(&mut self, target: &ReadTarget) {
        self.kept.0 = self.kept.0.saturating_add(target.kept_files());
    }

    /// Reads all processes once.
    fn read_all(&mut self) {
        let (mut targets, mut cost_ns) = (std::mem::take(&mut self.targets), 0);
        for target in targets.iter_mut().filter(|target| target.closing.is_none()) {
            cost_ns += self.read(target);
        }
        if targets.iter().any(|target| target.process.is_some()) {
            self.pace.add(cost_ns);
        }
        if targets.iter().any(|target| target.sink.is_some()) {
            let mut summary = self.summary.lock().unwrap_or_else(PoisonError::into_inner);
            summary.rounds += 1;
            summary.elapsed += self.pace.interval();
            summary.interval = self.pace.interval();
        }
        self.targets = targets;
    }

    /// Reads a process once. Returns the processor time that this took.
    fn read(&mut self, target: &mut ReadTarget) -> u64 {
        let Some(process) = target.process.as_mut() else { return 0 };
        if target.presence != Presence::Running {
            return 0;
        }
        let (before, now) = (own_cpu_ns(), Instant::now());
        let is_named = now.duration_since(target.named_at) >= SECOND;
        let is_grouped =
            target.grouped_at.is_none_or(|at| now.duration_since(at) >= MACHINE_INTERVAL);
        if is_grouped {
            target.grouped_at = Some(now);
            self.rows.extend(self.machine.read());
        }
        target.presence = process.read(&mut self.kept, (is_named, is_grouped), &mut self.rows);
        if target.presence == Presence::Gone && target.cost.rounds == 0 {
            target.fault.get_or_insert("it has ended".to_owned());
        }
        target.take(&mut self.rows);
        if is_named {
            target.named_at = now;
            if let Some(RowSink::File(file)) = &mut target.sink {
                file.flush();
            }
        }
        let cost_ns = own_cpu_ns().saturating_sub(before);
        target.cost.rounds += 1;
        target.cost.cost_ns += cost_ns;
        self.summary.lock().unwrap_or_else(PoisonError::into_inner).cost_ns += cost_ns;
        // The first round opens what later ones read.
        if target.cost.rounds == 1 { 0 } else { cost_ns }
    }
}

impl ReadTarget {
    fn new(number: u64, pid: Option<u32>) -> ReadTarget {
        ReadTarget {
            number,
            pid,
            session: None,
            process: None,
            presence: Presence::Running,
            fault: None,
            held: Vec::new(),
            sink: None,
            cost: ReadingCost::default(),
            named_at: Instant::now(),
            grouped_at: None,
            closing: None,
        }
    }

    fn kept_files(&self) -> u64 {
        self.process.as_ref().map_or(0, ProcessReader::kept_files)
    }

    /// Takes the rows of a round.
    fn take(&mut self, rows: &mut Vec<Row>) {
        match &mut self.sink {
            Some(RowSink::File(file)) => rows.drain(..).for_each(|row| file.push(&row)),
            Some(RowSink::View(view)) => view.add(rows),
            None if self.fault.is_none() => {
                self.held.append(rows);
                if self.held.len() > MAX_HELD_ROWS {
                    self.give_up("its stream did not begin in time".to_owned());
                }
            }
            None => {}
        }
        rows.clear();
    }

    /// Begins to pass rows on, if the clock of the first stream is that of the readings.
    fn begin(&mut self, trace: &Trace) {
        let Some(session) = self.session.as_ref().filter(|_| self.fault.is_none()) else { return };
        let is_inside = (session.asked_ns..=session.answered_ns).contains(&trace.sync_ticks);
        if trace.tick_frequency != 1_000_000_000 || !is_inside {
            self.give_up("its clock is not the one of this system".to_owned());
            return;
        }
        let path = match &session.to {
            ReadingsTo::View(view) => {
                view.add(&mut self.held);
                self.sink = Some(RowSink::View(view.clone()));
                return;
            }
            ReadingsTo::Recording(path) => path,
        };
        match ClockFile::create(path, trace) {
            Ok(mut file) => {
                self.held.drain(..).for_each(|row| file.push(&row));
                file.flush();
                self.sink = Some(RowSink::File(Box::new(file)));
            }
            Err(error) => self.give_up(format!("their file cannot be written: {error}")),
        }
    }

    fn give_up(&mut self, fault: String) {
        self.fault = Some(fault);
        self.held = Vec::new();
        self.process = None;
    }

    fn end(self) {
        let Some((_, reply)) = self.closing else { return };
        let how = self.process.as_ref().map_or(HowEnded::Unknown, ProcessReader::end);
        let file = match self.sink {
            Some(RowSink::File(file)) => Some(*file),
            Some(RowSink::View(_)) | None => None,
        };
        let ended = EndedReadings { file, fault: self.fault, cost: self.cost, how };
        // Fails if the recording has waited too long, and goes on without.
        drop(reply.send(ended));
    }
}

/// Opens a process of this system.
fn open(system: &System, pid: u32, kept: &mut KeptFiles) -> io::Result<ProcessReader> {
    // The files may be those of another namespace, where ids mean other processes.
    let own = std::fs::read_link(system.path("proc/self"))?;
    if own.to_string_lossy() != std::process::id().to_string() {
        return Err(io::Error::other("it is that of other processes"));
    }
    ProcessReader::open(system, pid, kept)
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
