//! One session on its way into a file: a thread takes the bytes as they come, writes them
//! as they are, and reads them on the way, so that losses and events to stop at are known
//! at once.

use super::outlet::Outlet;
use super::stream::shared;
use crate::failure::Failure;
use crate::new_file::{NewFile, Written};
use flate2::write::GzEncoder;
use nettrace_export::Trigger;
use nettrace_ipc::{Ending, Session, StopHandle};
use nettrace_parser::{Class, Reader};
use std::io::{self, BufRead, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::thread::JoinHandle;

/// What a recording reports to its supervisor. The number is the recording's.
#[derive(Debug)]
pub(crate) enum Notice {
    /// Bytes for standard output.
    Bytes(Vec<u8>),
    /// The file has reached its size.
    Size(usize),
    /// An event came at which to stop: the text of the condition that it fulfils.
    Event(String),
    /// An event came that shows why a condition cannot be fulfilled.
    Trouble(String),
    /// A rule's condition is fulfilled: the recording's number, the rule's, and the
    /// values of its counters.
    Fired { number: usize, rule: usize, values: Vec<(String, f64)> },
    /// An event came that shows why a rule's condition cannot be fulfilled.
    RuleTrouble { rule: usize, trouble: String },
    /// The stream has ended.
    Ended(usize),
    /// A session has begun, or was refused: the code that asked for it looks up which.
    Begun,
}

/// Where the bytes go.
pub(crate) enum Sink {
    File(NewFile),
    /// Compressed.
    Packed(GzEncoder<NewFile>),
    /// To standard output, which a thread of its own writes.
    Outlet(Outlet),
    /// To the thread that owns standard output, as [`Notice::Bytes`].
    Notices,
    /// The session is only looked at.
    Nowhere,
}

/// Looks for what a rule waits for. What it finds it reports once, until it is armed
/// again.
#[derive(Debug)]
pub(crate) struct Watcher {
    pub(crate) trigger: Trigger,
    pub(crate) is_armed: Arc<AtomicBool>,
    /// How many values of its counters have come.
    pub(crate) value_count: Arc<AtomicU64>,
}

/// What to do with a session.
pub(crate) struct RecordingPlan {
    pub(crate) number: usize,
    pub(crate) sink: Sink,
    /// When to tell that the size is reached.
    pub(crate) limit: Option<u64>,
    /// What may come on top of that, from a process that has been asked to stop.
    pub(crate) rest: u64,
    pub(crate) trigger: Option<Trigger>,
    /// Of all rules.
    pub(crate) watchers: Vec<Watcher>,
}

/// How far a recording is.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    bytes: AtomicU64,
    events: AtomicU64,
    lost: AtomicU64,
}

impl Counts {
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn events(&self) -> u64 {
        self.events.load(Ordering::Relaxed)
    }

    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

/// How a recording ended.
#[derive(Debug)]
pub(crate) struct RecordingOutcome {
    pub(crate) bytes: u64,
    pub(crate) events: u64,
    pub(crate) lost: u64,
    pub(crate) ending: Option<Ending>,
    /// Whether the stream has its end mark.
    pub(crate) is_complete: bool,
    /// Damage that was met on the way.
    pub(crate) damage_count: u64,
    /// The bytes could not be written, or not be received.
    pub(crate) failure: Option<io::Error>,
    /// The stream cannot be read at all.
    pub(crate) fault: Option<String>,
    /// The file, if all that was received is in it under its own name.
    pub(crate) written: Option<Written>,
    /// The file could not be given its name.
    pub(crate) unnamed: Option<Failure>,
    /// Where that is which could be written, if not all could.
    pub(crate) left: Option<PathBuf>,
    /// Why no condition was fulfilled, if that can be known.
    pub(crate) lacking: Option<String>,
}

/// A session being recorded.
#[derive(Debug)]
pub(crate) struct Recording {
    pub(crate) counts: Arc<Counts>,
    stop: StopHandle,
    thread: JoinHandle<RecordingOutcome>,
}

impl Recording {
    /// Records the session on a thread of its own.
    pub(crate) fn start(
        session: Session,
        plan: RecordingPlan,
        notices: SyncSender<Notice>,
    ) -> io::Result<Recording> {
        let counts = Arc::new(Counts::default());
        let stop = session.stop_handle();
        let own = Arc::clone(&counts);
        let thread = std::thread::Builder::new().name("nettrace-record".to_owned());
        let thread = thread.spawn(move || {
            let number = plan.number;
            let outcome = record(session, plan, &notices, &own);
            // Fails if the command has ended.
            let _ = notices.send(Notice::Ended(number));
            outcome
        })?;
        Ok(Recording { counts, stop, thread })
    }

    /// Begins to stop the session; the rest of the stream is still recorded.
    pub(crate) fn stop(&self) {
        // Without a thread to stop it on, the session is stopped when the recording is
        // dropped.
        let _ = self.stop.stop_soon();
    }

    /// Waits for the end.
    pub(crate) fn outcome(self) -> RecordingOutcome {
        self.thread.join().unwrap_or_else(|_| RecordingOutcome {
            bytes: 0,
            events: 0,
            lost: 0,
            ending: None,
            is_complete: false,
            damage_count: 0,
            failure: Some(io::Error::other("the recording thread panicked")),
            fault: None,
            written: None,
            unnamed: None,
            left: None,
            lacking: None,
        })
    }
}

/// The bytes on their way.
struct Intake {
    session: Session,
    sink: Sink,
    notices: SyncSender<Notice>,
    number: usize,
    limit: Option<u64>,
    /// The largest size, whatever the process does.
    most: Option<u64>,
    counts: Arc<Counts>,
    failure: Option<io::Error>,
}

/// As the parser sees it; what that leaves, others read.
impl Read for Intake {
    /// Takes and writes the next bytes, and hands on a copy of them.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let chunk = self.session.fill_buf()?;
        let count = chunk.len().min(buffer.len());
        let (Some(bytes), Some(room)) = (chunk.get(..count), buffer.get_mut(..count)) else {
            return Ok(0);
        };
        room.copy_from_slice(bytes);
        let written = match &mut self.sink {
            Sink::File(file) => file.write_all(bytes),
            Sink::Packed(file) => file.write_all(bytes),
            Sink::Nowhere => Ok(()),
            Sink::Outlet(_) if count == 0 => Ok(()),
            Sink::Outlet(outlet) => outlet.offer(bytes.to_vec(), 0),
            Sink::Notices => {
                let gone = |_| io::Error::from(io::ErrorKind::BrokenPipe);
                if count > 0 {
                    self.notices.send(Notice::Bytes(bytes.to_vec())).map_err(gone)
                } else {
                    Ok(())
                }
            }
        };
        self.session.consume(count);
        if let Err(error) = written {
            let kind = error.kind();
            self.failure = Some(error);
            return Err(kind.into());
        }
        let total = self.counts.bytes.load(Ordering::Relaxed) + count as u64;
        self.counts.bytes.store(total, Ordering::Relaxed);
        if self.most.is_some_and(|most| total >= most) {
            let error =
                "the process keeps sending although it was asked to stop; the file ends here";
            self.failure = Some(io::Error::other(error));
            return Err(io::ErrorKind::Other.into());
        }
        if self.limit.take_if(|limit| total >= *limit).is_some() {
            // Fails if the command has ended.
            let _ = self.notices.send(Notice::Size(self.number));
        }
        Ok(count)
    }
}

/// How often losses are looked up, in events.
const LOOK: u64 = 1024;

fn record(
    session: Session,
    plan: RecordingPlan,
    notices: &SyncSender<Notice>,
    counts: &Arc<Counts>,
) -> RecordingOutcome {
    let RecordingPlan { number, sink, limit, rest, mut trigger, mut watchers } = plan;
    let most = limit.map(|limit| limit.saturating_add(rest));
    let (own_notices, own_counts) = (notices.clone(), Arc::clone(counts));
    let intake = Intake {
        session,
        sink,
        notices: own_notices,
        number,
        limit,
        most,
        counts: own_counts,
        failure: None,
    };
    let (intake, bytes) = shared(intake);
    let mut reader = Reader::new(bytes);
    let mut events = 0_u64;
    let mut fault = None;
    loop {
        match reader.next_event() {
            Ok(Some(event)) => {
                events += 1;
                if let Some(trigger) = &mut trigger {
                    if let Some(predicate) = trigger.fired(&event) {
                        let _ = notices.send(Notice::Event(predicate.text().to_owned()));
                    }
                    if let Some(trouble) = trigger.take_trouble() {
                        let _ = notices.send(Notice::Trouble(trouble));
                    }
                }
                for (rule, watcher) in watchers.iter_mut().enumerate() {
                    let has_fired = watcher.trigger.fired(&event).is_some();
                    watcher.value_count.store(watcher.trigger.value_count(), Ordering::Relaxed);
                    if has_fired && watcher.is_armed.swap(false, Ordering::Relaxed) {
                        let values = watcher.trigger.values(0);
                        let _ = notices.send(Notice::Fired { number, rule, values });
                    }
                    if let Some(trouble) = watcher.trigger.take_trouble() {
                        let trouble = format!("cannot fire: {trouble}");
                        let _ = notices.send(Notice::RuleTrouble { rule, trouble });
                    }
                }
                counts.events.store(events, Ordering::Relaxed);
                if events.is_multiple_of(LOOK) {
                    counts.lost.store(reader.losses().total(), Ordering::Relaxed);
                }
            }
            Ok(None) => break,
            Err(error) => {
                fault = Some(error.to_string());
                break;
            }
        }
    }
    counts.lost.store(reader.losses().total(), Ordering::Relaxed);
    for (rule, watcher) in watchers.iter().enumerate() {
        if let Some(reason) = watcher.trigger.why_not() {
            let trouble = format!("never fired: {reason}");
            let _ = notices.send(Notice::RuleTrouble { rule, trouble });
        }
    }
    let mut intake = intake.borrow_mut();
    // What the reader does not understand is recorded all the same.
    let mut rest = vec![0; 1 << 16];
    let mut failure = None;
    while intake.failure.is_none() {
        match intake.read(&mut rest) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) => {
                failure = Some(error);
                break;
            }
        }
    }
    // What cannot be received any more spoils nothing; what cannot be written does, and
    // stays without its name.
    let file = match std::mem::replace(&mut intake.sink, Sink::Notices) {
        Sink::File(file) => Some(Ok(file)),
        Sink::Packed(packed) => Some(packed.finish()),
        Sink::Outlet(_) | Sink::Notices | Sink::Nowhere => None,
    };
    let (mut written, mut unnamed, mut left) = (None, None, None);
    match file {
        Some(Ok(file)) if intake.failure.is_none() => match file.finish() {
            Ok(whole) => written = Some(whole),
            Err(failure) => unnamed = Some(failure),
        },
        Some(Ok(file)) => left = file.abandon(),
        Some(Err(error)) => {
            intake.failure.get_or_insert(error);
        }
        None => {}
    }
    const LOSSES: [Class; 5] = [
        Class::FramingLost,
        Class::BlockLost,
        Class::RestOfBlockLost,
        Class::RowLost,
        Class::Incomplete,
    ];
    let failure = intake.failure.take().or(failure);
    RecordingOutcome {
        bytes: counts.bytes(),
        events,
        lost: counts.lost(),
        ending: intake.session.ending(),
        is_complete: reader.is_complete(),
        damage_count: LOSSES.iter().map(|class| reader.damage().count(*class)).sum(),
        fault: fault.filter(|_| failure.is_none()),
        failure,
        written,
        unnamed,
        left,
        lacking: trigger.as_ref().and_then(Trigger::why_not),
    }
}
