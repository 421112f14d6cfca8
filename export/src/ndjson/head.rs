//! Writes the beginning of a line: time and thread. Both usually differ little from the line
//! before, so the unchanged part is cached as text.

use crate::compiled::{NumberStyle, signed, unsigned};
use crate::line::digits::EIGHT_DIGITS;
use crate::line::{Literal, Writer};

/// Maximum length of the text for time and thread, in bytes.
pub(crate) const MAX_BYTES: usize = 64;

/// Length of a range of times that differ only in the last eight digits, in nanoseconds.
const DIGITS_RANGE_NANOS: i64 = EIGHT_DIGITS as i64;

/// Number of cached threads.
const MAX_CACHED_THREADS: usize = 32;

/// Writes time and thread at the beginning of each line, and caches the text of what rarely
/// changes.
#[derive(Debug)]
pub(crate) struct Head {
    /// Start of the range of times that begin with the cached digits, in nanoseconds: a positive
    /// multiple of [`DIGITS_RANGE_NANOS`].
    since: i64,
    /// Text of the line up to the last eight digits of the time.
    time: Literal,
    /// Cached threads. The index is the remainder of the thread's id divided by the number of
    /// threads.
    threads: [Thread; MAX_CACHED_THREADS],
}

/// A cached thread with the text of its key and value.
#[derive(Debug, Clone)]
struct Thread {
    id: Option<u64>,
    text: Literal,
}

impl Default for Head {
    fn default() -> Self {
        let unknown = Thread { id: None, text: Literal::new(b",\"tid\":-1") };
        Head {
            since: DIGITS_RANGE_NANOS,
            time: Literal::new(b"{\"ts_ns\":1"),
            threads: std::array::from_fn(|_| unknown.clone()),
        }
    }
}

impl Head {
    /// Writes the time and the thread: `{"ts_ns":…,"tid":…`.
    #[inline(always)]
    pub(crate) fn write(
        &mut self,
        line: &mut Writer<'_>,
        nanos: Option<i64>,
        thread_id: Option<u64>,
        style: NumberStyle,
    ) {
        match nanos {
            Some(nanos) if self.is_near(nanos, style) => {
                line.literal(&self.time);
                line.eight((nanos - self.since) as u32);
            }
            Some(nanos) => {
                line.text("{\"ts_ns\":");
                signed(line, nanos, style);
            }
            None => line.text("{\"ts_ns\":null"),
        }
        // A place for each remainder instead of a map: two threads with one remainder only rewrite
        // the place more often.
        let thread = &mut self.threads[thread_id.unwrap_or(0) as usize % MAX_CACHED_THREADS];
        if thread.id != thread_id {
            thread.turn_to(thread_id, style);
        }
        line.literal(&thread.text);
    }

    /// Returns whether the time begins with the cached digits, after an update of these digits if
    /// necessary.
    #[inline(always)]
    fn is_near(&mut self, nanos: i64, style: NumberStyle) -> bool {
        (nanos.wrapping_sub(self.since) as u64) < DIGITS_RANGE_NANOS as u64
            || self.go_to(nanos, style)
    }

    #[cold]
    fn go_to(&mut self, nanos: i64, style: NumberStyle) -> bool {
        let begin = nanos - nanos % DIGITS_RANGE_NANOS;
        // Other times begin with zeros, or are written as strings.
        let is_expected = begin > 0
            && begin.checked_add(DIGITS_RANGE_NANOS).is_some_and(|end| end as u64 <= style.largest);
        if is_expected {
            self.since = begin;
            self.time = made(|line| {
                line.text("{\"ts_ns\":");
                line.unsigned((begin / DIGITS_RANGE_NANOS) as u64);
            });
        }
        is_expected
    }
}

impl Thread {
    #[cold]
    fn turn_to(&mut self, id: Option<u64>, style: NumberStyle) {
        self.id = id;
        self.text = made(|line| {
            line.text(",\"tid\":");
            match id {
                Some(id) => unsigned(line, id, style),
                None => line.text("-1"),
            }
        });
    }
}

/// Returns the output of `write`, to cache it.
fn made(write: impl FnOnce(&mut Writer<'_>)) -> Literal {
    // Writers also touch bytes after their output.
    let mut text = [0; 2 * MAX_BYTES];
    let mut line = Writer::new(&mut text);
    write(&mut line);
    let left = line.left();
    Literal::new(text.get(..2 * MAX_BYTES - left).unwrap_or_default())
}
