//! The beginning of lines: time and thread. Both are mostly near those of the line before, so what stays the same
//! is kept as text.

use super::compiled_writer::{Manner, signed, unsigned};
use super::digits::EIGHT_DIGITS;
use super::line::{Literal, Writer};

/// Room that it needs.
pub(crate) const ROOM: usize = 64;

/// Nanoseconds that only the last eight digits tell apart.
const STRETCH: i64 = EIGHT_DIGITS as i64;

/// Threads that are kept.
const THREADS: usize = 32;

/// Writes the beginning of lines.
#[derive(Debug)]
pub(crate) struct Head {
    /// A multiple of [`STRETCH`], above zero, and the line up to the digits that its times have in common.
    since: i64,
    time: Literal,
    /// Threads of other lines, each at a place that its id gives.
    threads: [Thread; THREADS],
}

/// A thread, with its key and value.
#[derive(Debug, Clone)]
struct Thread {
    id: Option<u64>,
    text: Literal,
}

impl Default for Head {
    fn default() -> Self {
        let unknown = Thread { id: None, text: Literal::new(b",\"tid\":-1") };
        Head {
            since: STRETCH,
            time: Literal::new(b"{\"ts_ns\":1"),
            threads: std::array::from_fn(|_| unknown.clone()),
        }
    }
}

impl Head {
    /// `{"ts_ns":…,"tid":…`
    #[inline(always)]
    pub(crate) fn write(
        &mut self,
        line: &mut Writer<'_>,
        nanos: Option<i64>,
        thread_id: Option<u64>,
        manner: Manner,
    ) {
        match nanos {
            Some(nanos) if self.is_near(nanos, manner) => {
                line.literal(&self.time);
                line.eight((nanos - self.since) as u32);
            }
            Some(nanos) => {
                line.text("{\"ts_ns\":");
                signed(line, nanos, manner);
            }
            None => line.text("{\"ts_ns\":null"),
        }
        let thread = &mut self.threads[thread_id.unwrap_or(0) as usize % THREADS];
        if thread.id != thread_id {
            thread.turn_to(thread_id, manner);
        }
        line.literal(&thread.text);
    }

    /// Whether the time begins with the digits at hand, or with others that are at hand now.
    #[inline(always)]
    fn is_near(&mut self, nanos: i64, manner: Manner) -> bool {
        (nanos.wrapping_sub(self.since) as u64) < STRETCH as u64 || self.go_to(nanos, manner)
    }

    #[cold]
    fn go_to(&mut self, nanos: i64, manner: Manner) -> bool {
        let begin = nanos - nanos % STRETCH;
        // Others begin with zeros, or are written as strings.
        let is_usual =
            begin > 0 && begin.checked_add(STRETCH).is_some_and(|end| end as u64 <= manner.largest);
        if is_usual {
            self.since = begin;
            self.time = made(|line| {
                line.text("{\"ts_ns\":");
                line.unsigned((begin / STRETCH) as u64);
            });
        }
        is_usual
    }
}

impl Thread {
    #[cold]
    fn turn_to(&mut self, id: Option<u64>, manner: Manner) {
        self.id = id;
        self.text = made(|line| {
            line.text(",\"tid\":");
            match id {
                Some(id) => unsigned(line, id, manner),
                None => line.text("-1"),
            }
        });
    }
}

/// What is written, kept.
fn made(write: impl FnOnce(&mut Writer<'_>)) -> Literal {
    // Writers touch bytes beyond what they write.
    let mut text = [0; 2 * ROOM];
    let mut line = Writer::new(&mut text);
    write(&mut line);
    let left = line.left();
    Literal::new(text.get(..2 * ROOM - left).unwrap_or_default())
}
