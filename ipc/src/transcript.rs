//! Records all bytes of connections, so that they can be replayed without a runtime.
//!
//! A transcript is text, one entry per line:
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
//! Each entry has the time in microseconds since the first one, the number of its connection, and
//! what happened: `connect` (to the runtime) or `accept` (from a runtime, at a port), `>` for bytes
//! sent, `<` for bytes received, `end` (the runtime closed the connection), `close` (this process
//! did). Bytes are hexadecimal. Empty lines and lines that begin with `#` are ignored.

use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The first line of every transcript.
pub(crate) const HEADING: &str = "nettrace-transcript 1";
/// Maximum number of bytes on one line.
const MAX_LINE_BYTES: usize = 32 << 10;

/// Writes a transcript of all connections that use it. Clones write to the same transcript.
///
/// If the transcript cannot be written, connections are not disturbed; [`Recorder::finish`] reports
/// the error.
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
    /// Makes a recorder that writes the transcript to `out`.
    pub fn new(out: impl Write + Send + 'static) -> Self {
        let recording =
            Recording { out: Box::new(out), start: Instant::now(), connections: 0, failure: None };
        let recorder = Recorder { shared: Arc::new(Mutex::new(recording)) };
        recorder.with(|recording| recording.write(format_args!("{HEADING}")));
        recorder
    }

    /// Flushes the transcript, and reports whether all of it was written.
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

    /// Starts to record a connection: `how` is `connect` with the endpoint, or `accept`.
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

    /// Notes that the runtime closed the connection.
    pub(crate) fn ended(&self) {
        self.word("end");
    }

    /// Notes that this process closed the connection.
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
        let time = self.recorder.with(|recording| recording.micros());
        for part in bytes.chunks(MAX_LINE_BYTES) {
            let digits = hex(part);
            self.recorder.with(|recording| {
                recording.write(format_args!("{time} {} {direction} {digits}", self.connection));
            });
        }
    }
}

/// Encodes bytes as lower-case hexadecimal digits, by a table, because formatting each byte would
/// slow down the drain thread.
fn hex(bytes: &[u8]) -> String {
    const DIGITS: [char; 16] =
        ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    let digit = |nibble: u8| DIGITS.get(usize::from(nibble)).copied().unwrap_or('0');
    let mut text = String::with_capacity(bytes.len().saturating_mul(2));
    for byte in bytes {
        text.push(digit(byte >> 4));
        text.push(digit(byte & 15));
    }
    text
}
