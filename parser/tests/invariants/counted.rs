//! Counts the calls of a reader to its source: a measure of work that does not depend on the
//! machine.

use nettrace_parser::{Reader, Source, Whole};
use std::cell::Cell;
use std::io;

/// A source that counts the calls of a reader.
struct Counted<'d> {
    whole: Whole<&'d [u8]>,
    calls: Cell<u64>,
}

impl Source for Counted<'_> {
    fn start(&self) -> u64 {
        self.whole.start()
    }
    fn bytes(&self) -> &[u8] {
        self.calls.set(self.calls.get() + 1);
        self.whole.bytes()
    }
    fn fill(&mut self, end: u64) -> io::Result<bool> {
        self.calls.set(self.calls.get() + 1);
        self.whole.fill(end)
    }
    fn fill_at_once(&mut self, end: u64) -> io::Result<bool> {
        self.fill(end)
    }
    fn release(&mut self, before: u64) {
        self.whole.release(before);
    }
}

/// Reads all events, and returns the number of calls to the source.
pub(crate) fn calls(bytes: &[u8]) -> u64 {
    let mut reader = Reader::new(Counted { whole: Whole::new(bytes), calls: Cell::new(0) });
    while let Ok(Some(_)) = reader.next_event() {}
    reader.source().calls.get()
}

/// Asserts that the reader makes at most four calls for each byte. An event has at least two bytes
/// and takes three calls.
pub(crate) fn assert_linear(bytes: &[u8]) {
    let (calls, most) = (calls(bytes), 64 + 4 * bytes.len() as u64);
    assert!(calls <= most, "{calls} calls for {} bytes", bytes.len());
}
