//! Writes the columns before an event's name: time, process and thread.

use super::{ID_COLUMNS, TIME_COLUMNS};
use crate::line::digits;
use crate::line::{Literal, Writer};
use crate::units::Digits;
use nettrace_parser::{Event, utc_text};

/// Maximum length of the columns before the name, in bytes.
pub(super) const MAX_BYTES: usize = MAX_TIME_BYTES + 2 * MAX_ID_BYTES;

/// Maximum length of the column of times: that of an instant with 128 bits of nanoseconds.
const MAX_TIME_BYTES: usize = 64;

/// Maximum length of the column of a process or of a thread.
const MAX_ID_BYTES: usize = 2 + "18446744073709551615".len();

/// Spaces before a number at the right of a column.
const SPACES: [u8; 32] = [b' '; 32];

/// Writes times at the beginning of lines, and caches the text of what rarely changes: all but the
/// last digits.
#[derive(Debug)]
pub(super) struct Times {
    is_utc: bool,
    /// Start of the range of times that begin with the cached text, in nanoseconds.
    since: i64,
    /// Length of that range, in nanoseconds: 0 if there is none.
    span: u64,
    begin: Literal,
}

impl Times {
    pub(super) fn new(is_utc: bool) -> Times {
        Times { is_utc, since: 0, span: 0, begin: Literal::default() }
    }

    /// Returns the width of the column, in characters.
    pub(super) fn columns(&self) -> usize {
        if self.is_utc { TIME_COLUMNS.1 } else { TIME_COLUMNS.0 }
    }

    /// Writes the time of an event, aligned to the right.
    #[inline(always)]
    pub(super) fn write(&mut self, line: &mut Writer<'_>, event: &Event<'_>) {
        let nanos = match self.is_utc {
            true => event.unix_nanos().and_then(|nanos| i64::try_from(nanos).ok()),
            false => event.nanos(),
        };
        match nanos {
            Some(nanos) if self.is_near(nanos) => {
                line.literal(&self.begin);
                // The span is at most a second.
                let micros = nanos.wrapping_sub(self.since).cast_unsigned() / 1_000;
                let [_, _, a, b, c, d, e, f] = digits::eight(u32::try_from(micros).unwrap_or(0));
                match self.is_utc {
                    true => line.put(&[a, b, c, d, e, f], 6),
                    false => line.put(&[d, e, f], 3),
                }
            }
            _ => line.bytes(self.rare(event).as_bytes()),
        }
    }

    /// Returns whether the time begins with the cached text, after an update of this text if
    /// necessary.
    #[inline(always)]
    fn is_near(&mut self, nanos: i64) -> bool {
        nanos.wrapping_sub(self.since).cast_unsigned() < self.span || self.go_to(nanos)
    }

    #[inline(never)]
    fn go_to(&mut self, nanos: i64) -> bool {
        // Digits of negative times count backwards.
        if nanos < 0 {
            return false;
        }
        self.span = if self.is_utc { 1_000_000_000 } else { 1_000_000 };
        let beyond = nanos.cast_unsigned().checked_rem(self.span).unwrap_or(0);
        self.since = nanos.saturating_sub_unsigned(beyond);
        if self.is_utc {
            self.begin = Literal::new(format!("{}.", utc_text(self.since.into(), 0)).as_bytes());
            return true;
        }
        let digits = Digits::from_milliseconds(self.since);
        let text = digits.text().as_bytes();
        let text = text.get(..text.len().saturating_sub(3)).unwrap_or_default();
        let pad = TIME_COLUMNS.0.saturating_sub(3).saturating_sub(text.len());
        let mut padded = SPACES;
        if let Some(place) = padded.get_mut(pad..pad.saturating_add(text.len())) {
            place.copy_from_slice(text);
        }
        self.begin = Literal::new(padded.get(..pad.saturating_add(text.len())).unwrap_or_default());
        true
    }

    /// Returns the column of an event whose time is unknown, negative, or far away.
    #[cold]
    fn rare(&self, event: &Event<'_>) -> String {
        let width = self.columns();
        match (self.is_utc, event.unix_nanos(), event.nanos()) {
            (true, Some(nanos), _) => utc_text(nanos, 6),
            (_, _, Some(nanos)) => format!("{:>width$}", Digits::from_milliseconds(nanos).text()),
            _ => format!("{:>width$}", "?"),
        }
    }
}

/// Writes two spaces and an id, aligned to the right.
#[inline(always)]
pub(super) fn write_id(line: &mut Writer<'_>, id: Option<u64>) {
    match id.map(|id| (id, u32::try_from(id))) {
        Some((_, Ok(id))) if id < digits::EIGHT_DIGITS => {
            let (text, count) = digits::up_to_eight(id);
            line.put(&SPACES, ID_COLUMNS.saturating_sub(count).saturating_add(2));
            line.put(&text, count);
        }
        // Eight digits fill the column.
        Some((id, _)) => {
            line.text("  ");
            line.unsigned(id);
        }
        None => {
            line.put(&SPACES, ID_COLUMNS.saturating_add(1));
            line.byte(b'-');
        }
    }
}
