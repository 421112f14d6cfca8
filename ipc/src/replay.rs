//! Plays a transcript at an endpoint that behaves like the recorded process.
//!
//! A request is matched with a recorded one by its bytes, else by its command. Each recorded
//! connection is played once before any is repeated, and a request that was not recorded is
//! answered with UNKNOWN_COMMAND. Bytes that a session sent after its stop are held back until the
//! session is stopped in the replay. The stop is answered when the stream has ended, as by a
//! runtime.

use crate::advertise::{ADVERTISE_BYTES, Advertise};
use crate::bytes;
use crate::command_id::CommandId;
use crate::deadlines::Deadline;
use crate::endpoint::{Endpoint, Wire};
use crate::error::{Error, Step};
use crate::message::{HEADER_BYTES, Writer};
use crate::port::PortAddress;
use crate::transcript::HEADING;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::BufRead;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Interval at which waiting threads check whether the replay has ended.
const END_CHECK_INTERVAL: Duration = Duration::from_millis(20);
/// Maximum time of a write. A write ends sooner if the replay ends, because that closes the
/// connection.
const MAX_WRITE_TIME: Duration = Duration::from_secs(600);

/// A transcript of recorded connections, in memory.
#[derive(Clone, Default)]
pub struct Transcript {
    connections: Vec<Recorded>,
}

/// Shows how much was recorded, and none of its bytes.
impl fmt::Debug for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Transcript({} connections)", self.connections.len())
    }
}

/// A recorded connection: its request, and the bytes that the runtime sent, each piece with its
/// time.
#[derive(Clone, Default)]
struct Recorded {
    advertise: Option<Advertise>,
    request: Vec<u8>,
    /// Time of the request since the start of the recording.
    asked: Duration,
    received: Vec<(Duration, Vec<u8>)>,
    /// Whether the runtime closed the connection.
    ended: bool,
}

impl Recorded {
    fn command(&self) -> Option<CommandId> {
        command_of(&self.request)
    }

    /// Returns the id of the session that the request on this connection started, if it did.
    fn session(&self) -> Option<u64> {
        let command = self.command()?;
        let starts = command.set == 2 && (2..=7).contains(&command.id);
        let (_, reply) = self.received.first().filter(|_| starts)?;
        let bytes = reply.get(20..28).filter(|_| reply.get(17) == Some(&0))?;
        bytes.try_into().ok().map(bytes::u64)
    }

    /// Returns the id of the session that the request on this connection stopped, if it did.
    fn stops(&self) -> Option<u64> {
        let bytes =
            self.request.get(20..28).filter(|_| self.command() == Some(CommandId::STOP_TRACING))?;
        bytes.try_into().ok().map(bytes::u64)
    }
}

fn command_of(request: &[u8]) -> Option<CommandId> {
    let (set, id) = request.get(16).copied().zip(request.get(17).copied())?;
    Some(CommandId { set, id })
}

impl Transcript {
    /// Reads a transcript that a [`crate::Recorder`] wrote. An incomplete transcript is read up to
    /// its end.
    ///
    /// # Errors
    /// [`Error::Transcript`] with line and reason.
    pub fn read(source: impl BufRead) -> Result<Self, Error> {
        let mut connections: BTreeMap<u64, Recorded> = BTreeMap::new();
        let mut line_number = 0_u64;
        for line in source.lines() {
            line_number = line_number.saturating_add(1);
            let fault = |reason| Error::Transcript { line: line_number, reason };
            let line = line.map_err(|source| Error::Io { step: Step::Reply, source })?;
            if line_number == 1 {
                if line.trim() != HEADING {
                    return Err(fault("not a transcript of this version"));
                }
                continue;
            }
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let mut words = line.splitn(4, ' ');
            let micros = words.next().and_then(|word| word.parse().ok()).ok_or(fault("no time"))?;
            let number = words
                .next()
                .and_then(|word| word.parse().ok())
                .ok_or(fault("no connection number"))?;
            let (what, rest) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            let time = Duration::from_micros(micros);
            let recorded = connections.entry(number).or_default();
            match what {
                "connect" | "accept" | "close" => {}
                "end" => recorded.ended = true,
                ">" => {
                    recorded.request.extend(unhex(rest).ok_or(fault("not hexadecimal"))?);
                    recorded.asked = time;
                }
                "<" => {
                    let bytes = unhex(rest).ok_or(fault("not hexadecimal"))?;
                    let advertise =
                        Advertise::read(&bytes).ok().filter(|_| bytes.len() == ADVERTISE_BYTES);
                    match advertise {
                        Some(advertise) if recorded.request.is_empty() => {
                            recorded.advertise = Some(advertise)
                        }
                        _ => recorded.append(time, bytes),
                    }
                }
                _ => return Err(fault("neither connect, accept, >, <, end nor close")),
            }
        }
        let connections =
            connections.into_values().filter(|recorded| !recorded.request.is_empty()).collect();
        Ok(Transcript { connections })
    }

    /// Returns the number of recorded connections that carried a request.
    pub fn connection_count(&self) -> usize {
        self.connections.len()
    }
}

impl Recorded {
    /// Adds bytes that the runtime sent. Pieces of the first reply are joined, so that the first
    /// entry is a whole reply.
    fn append(&mut self, time: Duration, bytes: Vec<u8>) {
        match self.received.as_mut_slice() {
            [(_, reply)] if reply.len() < frame_bytes(reply) => reply.extend(bytes),
            _ => self.received.push((time, bytes)),
        }
    }
}

/// Returns the size of the frame at the beginning of the bytes, according to its header.
fn frame_bytes(bytes: &[u8]) -> usize {
    match bytes.get(14..16) {
        Some(&[low, high]) => usize::from(bytes::u16([low, high])),
        _ => HEADER_BYTES,
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.trim_end().as_bytes().as_chunks::<2>();
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let bytes = pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect();
    if rest.is_empty() { bytes } else { None }
}

/// Speed at which a transcript is replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Pace {
    /// With the pauses that were recorded.
    AsRecorded,
    /// As fast as the client reads.
    AtOnce,
}

/// An endpoint that plays a transcript until it is dropped.
///
/// ```no_run
/// use std::io::BufReader;
/// use nettrace_ipc::{Pace, PortAddress, Replay, Runtime, Transcript};
/// let transcript = Transcript::read(BufReader::new(std::fs::File::open("run.transcript")?))?;
/// let replay = Replay::listen(transcript, &PortAddress::parse("/tmp/replayed")?, Pace::AtOnce)?;
/// println!("{}", Runtime::new(replay.endpoint()).info()?.command_line);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Replay {
    stage: Arc<Stage>,
    endpoint: Endpoint,
    threads: Vec<JoinHandle<()>>,
}

impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Replay({} connections at {})", self.stage.connections.len(), self.endpoint)
    }
}

struct Stage {
    connections: Vec<Recorded>,
    pace: Pace,
    state: Mutex<Played>,
    changed: Condvar,
    over: AtomicBool,
}

#[derive(Debug, Default)]
struct Played {
    begun: BTreeSet<usize>,
    finished: BTreeSet<usize>,
    open: Vec<Wire>,
}

impl Replay {
    /// Replays the transcript at an address: a socket's path or `tcp://host:port`.
    ///
    /// # Errors
    /// The system refuses the listener; [`Error::Unsupported`] for pipes on other systems than
    /// Windows.
    pub fn listen(
        transcript: Transcript,
        address: &PortAddress,
        pace: Pace,
    ) -> Result<Self, Error> {
        let (listener, endpoint) = address.open()?;
        let stage = Stage::new(transcript, pace);
        let serving = Arc::clone(&stage);
        let thread = spawn(move || {
            while !serving.is_over() {
                if let Ok(Some(wire)) = listener.accept(END_CHECK_INTERVAL) {
                    serving.begin(wire);
                }
            }
        })?;
        Ok(Replay { stage, endpoint, threads: vec![thread] })
    }

    /// Replays the runtimes that connected to a port when the transcript was recorded. Each
    /// connects to this port, and again after each command.
    ///
    /// # Errors
    /// The system refuses a thread.
    pub fn connect_to(transcript: Transcript, port: &Endpoint, pace: Pace) -> Result<Self, Error> {
        let mut advertised: Vec<Advertise> = Vec::new();
        for advertise in transcript.connections.iter().filter_map(|recorded| recorded.advertise) {
            if !advertised.contains(&advertise) {
                advertised.push(advertise);
            }
        }
        let stage = Stage::new(transcript, pace);
        let mut replay = Replay { stage, endpoint: port.clone(), threads: Vec::new() };
        for advertise in advertised {
            let (serving, port) = (Arc::clone(&replay.stage), port.clone());
            replay.threads.push(spawn(move || serving.come(&port, advertise))?);
        }
        Ok(replay)
    }

    /// Returns the endpoint of the replay, or the port to which it connects.
    pub fn endpoint(&self) -> Endpoint {
        self.endpoint.clone()
    }

    /// Returns whether every recorded connection has been replayed to its end.
    pub fn is_finished(&self) -> bool {
        self.stage.lock().finished.len() == self.stage.connections.len()
    }
}

fn spawn(act: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, Error> {
    let spawned = std::thread::Builder::new().name("nettrace-replay".to_owned()).spawn(act);
    spawned.map_err(|source| Error::Io { step: Step::Listen, source })
}

impl Drop for Replay {
    fn drop(&mut self) {
        self.stage.over.store(true, Ordering::SeqCst);
        for wire in self.stage.lock().open.drain(..) {
            wire.close();
        }
        self.stage.changed.notify_all();
        for thread in self.threads.drain(..) {
            // A panic has been reported where it happened.
            drop(thread.join());
        }
    }
}

impl Stage {
    fn new(transcript: Transcript, pace: Pace) -> Arc<Self> {
        Arc::new(Stage {
            connections: transcript.connections,
            pace,
            state: Mutex::default(),
            changed: Condvar::new(),
            over: AtomicBool::new(false),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Played> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    /// Serves a connection on a thread that serves no other.
    fn begin(self: &Arc<Self>, wire: Wire) {
        let stage = Arc::clone(self);
        drop(spawn(move || {
            let mut wire = wire;
            if let Some(place) = stage.receive(&mut wire, None) {
                stage.play(&mut wire, place);
            }
            wire.close();
        }));
    }

    /// Connects to a port again and again, as a runtime does.
    fn come(self: &Arc<Self>, port: &Endpoint, advertise: Advertise) {
        while !self.is_over() {
            let Ok(mut wire) = port.connect(Duration::from_millis(500)) else {
                std::thread::sleep(END_CHECK_INTERVAL);
                continue;
            };
            if wire.write_all(&advertise.to_bytes(), Deadline::after(MAX_WRITE_TIME)).is_err() {
                continue;
            }
            if let Some(place) = self.receive(&mut wire, Some(advertise)) {
                let stage = Arc::clone(self);
                drop(spawn(move || {
                    stage.play(&mut wire, place);
                    wire.close();
                }));
            }
        }
    }

    /// Reads one request and returns the index of the recorded connection that answers it, if there
    /// is one. Returns `None` if no request arrived.
    fn receive(&self, wire: &mut Wire, advertise: Option<Advertise>) -> Option<Option<usize>> {
        if let Ok(clone) = wire.try_clone() {
            let mut state = self.lock();
            state.open.retain(|open| !open.is_closed());
            state.open.push(clone);
        }
        let mut request = Vec::new();
        while request.len() < HEADER_BYTES || request.len() < frame_bytes(&request) {
            while !wire.wait_readable(END_CHECK_INTERVAL).ok()? {
                if self.is_over() {
                    return None;
                }
            }
            let wanted =
                if request.len() < HEADER_BYTES { HEADER_BYTES } else { frame_bytes(&request) };
            let mut buffer = vec![0; wanted.saturating_sub(request.len())];
            let count = wire
                .read(&mut buffer, Deadline::after(MAX_WRITE_TIME))
                .ok()
                .filter(|count| *count > 0)?;
            request.extend_from_slice(buffer.get(..count)?);
        }
        let place = self.choose(&request, advertise);
        if let Some(place) = place {
            self.lock().begun.insert(place);
            self.changed.notify_all();
        }
        Some(place)
    }

    /// Chooses the recorded connection for a request. Connections that were not replayed yet come
    /// first; among them, a request with equal bytes comes before one with only the same command.
    fn choose(&self, request: &[u8], advertise: Option<Advertise>) -> Option<usize> {
        let state = self.lock();
        let candidates = || {
            let all = self.connections.iter().enumerate();
            all.filter(|(_, recorded)| advertise.is_none() || recorded.advertise == advertise)
        };
        let same = |recorded: &Recorded| recorded.request == request;
        let alike = |recorded: &Recorded| recorded.command() == command_of(request);
        let fresh = |place: &usize| !state.begun.contains(place);
        let first = candidates().find(|(place, recorded)| fresh(place) && same(recorded));
        let second = || candidates().find(|(place, recorded)| fresh(place) && alike(recorded));
        let third = || candidates().rfind(|(_, recorded)| same(recorded));
        let fourth = || candidates().rfind(|(_, recorded)| alike(recorded));
        first.or_else(second).or_else(third).or_else(fourth).map(|(place, _)| place)
    }

    fn play(&self, wire: &mut Wire, place: Option<usize>) {
        let Some((place, recorded)) =
            place.and_then(|place| Some((place, self.connections.get(place)?)))
        else {
            let mut refusal = Writer::new(CommandId { set: CommandId::SERVER_SET, id: 0xFF });
            refusal.u32(crate::HResult::UNKNOWN_COMMAND.0);
            if let Ok(message) = refusal.finish() {
                // The client may be gone.
                drop(wire.write_all(message.as_bytes(), Deadline::after(MAX_WRITE_TIME)));
            }
            return;
        };
        let begun = Instant::now();
        let stopped_by = recorded.session().and_then(|id| self.stop_of(id, recorded.asked));
        let stopping = recorded.stops().and_then(|id| self.start_of(id, recorded.asked));
        if let Some(start) = stopping {
            self.wait_until(|state| {
                state.finished.contains(&start) || !state.begun.contains(&start)
            });
        }
        for (time, bytes) in &recorded.received {
            if let Some((stop, _)) = stopped_by.filter(|(_, asked)| time > asked) {
                self.wait_until(|state| state.begun.contains(&stop));
            }
            if self.pace == Pace::AsRecorded {
                let due = time.saturating_sub(recorded.asked);
                std::thread::sleep(due.saturating_sub(begun.elapsed()));
            }
            if self.is_over() || wire.write_all(bytes, Deadline::after(MAX_WRITE_TIME)).is_err() {
                break;
            }
        }
        // A session whose end was recorded stays open until it is stopped.
        if let (Some((stop, _)), true) = (stopped_by, recorded.ended) {
            self.wait_until(|state| state.begun.contains(&stop));
        }
        self.lock().finished.insert(place);
        self.changed.notify_all();
    }

    fn wait_until(&self, condition: impl Fn(&Played) -> bool) {
        let mut state = self.lock();
        while !self.is_over() && !condition(&state) {
            let waited = self.changed.wait_timeout(state, END_CHECK_INTERVAL);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Finds the first stop of a session after a time. Returns the index of its connection and the
    /// time of the stop.
    fn stop_of(&self, id: u64, after: Duration) -> Option<(usize, Duration)> {
        let mut stops = self.connections.iter().enumerate();
        let stop =
            stops.find(|(_, recorded)| recorded.stops() == Some(id) && recorded.asked >= after);
        stop.map(|(place, recorded)| (place, recorded.asked))
    }

    /// Finds the last session with an id that began before a time. Returns the index of its
    /// connection.
    fn start_of(&self, id: u64, before: Duration) -> Option<usize> {
        let starts = self.connections.iter().enumerate();
        let mut starts = starts
            .filter(|(_, recorded)| recorded.session() == Some(id) && recorded.asked <= before);
        starts.next_back().map(|(place, _)| place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Result<Transcript, Error> {
        Transcript::read(format!("{HEADING}\n# comment\n\n{text}\n").as_bytes())
    }

    #[test]
    fn damage_is_reported_with_its_line() {
        let reason = |text: &str| match line(text) {
            Err(Error::Transcript { line, reason }) => (line, reason),
            result => panic!("{result:?}"),
        };
        assert_eq!(reason("x 1 > 00"), (4, "no time"));
        assert_eq!(reason("1 x > 00"), (4, "no connection number"));
        assert_eq!(reason("1 1 > 0"), (4, "not hexadecimal"));
        assert_eq!(reason("1 1 < 0g"), (4, "not hexadecimal"));
        assert_eq!(reason("1 1 ? 00").0, 4);
        assert!(matches!(
            Transcript::read(&b"something"[..]),
            Err(Error::Transcript { line: 1, .. })
        ));
        assert_eq!(
            line("1 1 connect /tmp/x\n2 1 > 0001\n3 1 close").unwrap().connection_count(),
            1
        );
    }
}
