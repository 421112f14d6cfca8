//! Writing down everything that crosses connections, so that it can be replayed without a runtime.
//!
//! A transcript is text, one entry a line:
//!
//! ```text
//! nettrace-transcript 1
//! 0 1 connect /tmp/dotnet-diagnostic-4711-402349-socket
//! 35 1 > 444f544e45545f4950435f563100140004080000
//! 112 1 < 444f544e45545f4950435f563100f200ff00...
//! 130 1 close
//! 950 2 accept
//! ```
//!
//! Each entry has the time in microseconds since the first one, the number of its connection, and what
//! happened: `connect` (we to the runtime) or `accept` (the runtime to our port), `>` bytes we sent, `<`
//! bytes we got, `end` (the runtime closed), `close` (we did). Bytes are hexadecimal. Empty lines and
//! lines that begin with `#` mean nothing.

use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// First line of every transcript.
pub(crate) const HEADING: &str = "nettrace-transcript 1";
/// Longest stretch of bytes on one line.
const LINE_BYTES: usize = 32 << 10;

/// Writes a transcript of all connections it is given to. Clones write to the same transcript.
///
/// A transcript that cannot be written does not disturb the connections; [`Recorder::finish`] tells.
#[derive(Clone)]
pub struct Recorder {
    shared: Arc<Mutex<Recording>>,
}

struct Recording {
    out: Box<dyn Write + Send>,
    start: Instant,
    connections: u64,
    failure: Option<io::Error>,
}

impl Recorder {
    /// Records to `out` from now on.
    pub fn new(out: impl Write + Send + 'static) -> Self {
        let recording =
            Recording { out: Box::new(out), start: Instant::now(), connections: 0, failure: None };
        let recorder = Recorder { shared: Arc::new(Mutex::new(recording)) };
        recorder.with(|recording| recording.write(format_args!("{HEADING}")));
        recorder
    }

    /// Flushes, and tells whether all of it was written.
    ///
    /// # Errors
    /// The first failure to write.
    pub fn finish(&self) -> io::Result<()> {
        self.with(|recording| match recording.failure.take() {
            Some(error) => Err(error),
            None => recording.out.flush(),
        })
    }

    fn with<T>(&self, act: impl FnOnce(&mut Recording) -> T) -> T {
        act(&mut self.shared.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A connection begins: `how` is `connect` with the endpoint, or `accept`.
    pub(crate) fn open(&self, how: &str) -> Tap {
        let connection = self.with(|recording| {
            recording.connections = recording.connections.saturating_add(1);
            let (time, connection) = (recording.micros(), recording.connections);
            let how = how.replace(['\n', '\r'], " ");
            recording.write(format_args!("{time} {connection} {how}"));
            connection
        });
        Tap { recorder: self.clone(), connection }
    }
}

impl Recording {
    fn micros(&self) -> u128 {
        self.start.elapsed().as_micros()
    }

    fn write(&mut self, line: fmt::Arguments<'_>) {
        if self.failure.is_none() {
            self.failure = writeln!(self.out, "{line}").err();
        }
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recorder")
    }
}

/// Records one connection.
#[derive(Debug, Clone)]
pub(crate) struct Tap {
    recorder: Recorder,
    connection: u64,
}

impl Tap {
    pub(crate) fn sent(&self, bytes: &[u8]) {
        self.bytes('>', bytes);
    }

    pub(crate) fn received(&self, bytes: &[u8]) {
        self.bytes('<', bytes);
    }

    /// The runtime closed.
    pub(crate) fn ended(&self) {
        self.word("end");
    }

    /// We closed.
    pub(crate) fn closed(&self) {
        self.word("close");
    }

    fn word(&self, word: &str) {
        self.recorder.with(|recording| {
            let time = recording.micros();
            recording.write(format_args!("{time} {} {word}", self.connection));
        });
    }

    fn bytes(&self, direction: char, bytes: &[u8]) {
        self.recorder.with(|recording| {
            let time = recording.micros();
            for part in bytes.chunks(LINE_BYTES) {
                recording.write(format_args!("{time} {} {direction} {}", self.connection, Hex(part)));
            }
        });
    }
}

/// Bytes as lower-case hexadecimal digits.
struct Hex<'b>(&'b [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
