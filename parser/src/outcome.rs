//! Summarises the result of reading a stream: whether its end was reached, and what was missing
//! or damaged.

use crate::block::trace::Trace;
use crate::damage::Damage;
use crate::frame::BlockKind;
use crate::loss::Losses;
use crate::order::TimeOrdered;
use crate::reader::Reader;
use crate::source::Source;
use crate::statistics::Statistics;
use crate::version::Version;
use std::fmt;

/// Result of reading a stream.
///
/// Damaged or truncated streams are read as far as possible, without an error. Code that
/// reports totals must check the outcome, or it silently reports too little.
///
/// ```
/// use nettrace_parser::Reader;
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let mut reader = Reader::from_slice(&bytes[..bytes.len() - 1]);
/// while reader.next_event()?.is_some() {}
/// let outcome = reader.outcome();
/// assert!(!outcome.is_intact());
/// assert!(outcome.to_string().starts_with("incomplete: no end mark"));
/// # Ok::<(), nettrace_parser::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use = "a stream that is cut or damaged is read without an error"]
#[non_exhaustive]
pub struct Outcome {
    /// Facts about the session.
    pub trace: Trace,
    /// Version of the stream; `None` if its header was not read.
    pub version: Option<Version>,
    /// Events that are known to be missing.
    pub losses: Losses,
    /// Faults of the stream, and what each cost.
    pub damage: Damage,
    /// Numbers of events, blocks and bytes that were read.
    pub statistics: Statistics,
    /// Whether the end mark was read. Streams lack it if the traced process was killed or the
    /// file truncated.
    pub is_complete: bool,
    /// Stream offset at which the stream ended, or at which reading was stopped.
    pub end_offset: u64,
    /// Number of bytes that are missing from the block in which the stream ends, according to
    /// the block's header. Further blocks may be missing.
    pub missing_bytes: u64,
    /// Number of events that arrived too late for their place in time order.
    pub out_of_order: u64,
}

impl Outcome {
    pub(crate) fn from_reader<S: Source>(reader: &Reader<S>, out_of_order: u64) -> Outcome {
        let state = reader.state();
        Outcome {
            trace: state.context.trace.clone(),
            version: state.version(),
            losses: state.losses.settled(),
            damage: state.damage.clone(),
            statistics: state.statistics,
            is_complete: state.is_complete,
            missing_bytes: state.missing_bytes(),
            end_offset: state.end_offset().unwrap_or_else(|| reader.position()),
            out_of_order,
        }
    }

    /// Returns whether nothing is missing: the end mark was read, there are no findings
    /// except notes, and no event was lost.
    pub fn is_intact(&self) -> bool {
        self.is_complete && !self.damage.is_damaged() && self.losses.total() == 0
    }

    /// Returns whether `losses` means anything: not in version 3, which stores no sequence
    /// numbers.
    pub fn losses_known(&self) -> bool {
        self.version.is_some_and(|version| version.major() != 3)
    }
}

/// Writes one line, such as `complete; 1 event lost`.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_complete {
            true => f.write_str("complete")?,
            false => write!(f, "incomplete: no end mark up to offset {:#x}", self.end_offset)?,
        }
        if self.missing_bytes > 0 {
            write!(f, ", at least {} bytes are missing", self.missing_bytes)?;
        }
        let findings = self.damage.loss_count();
        let plural = |count: u64| if count == 1 { "" } else { "s" };
        if findings > 0 {
            let bytes = self.damage.lost_bytes();
            let (findings_s, bytes_s) = (plural(findings), plural(bytes));
            write!(f, "; damaged in {findings} place{findings_s}, {bytes} byte{bytes_s} not read")?;
        }
        let unknown = self.statistics.bytes(BlockKind::Unknown(0));
        if unknown > 0 {
            write!(f, "; {unknown} bytes in blocks of unknown kinds skipped")?;
        }
        match self.losses.total() {
            0 => Ok(()),
            lost => write!(f, "; {lost} event{} lost", plural(lost)),
        }
    }
}

impl<S: Source> Reader<S> {
    /// Returns the result so far: at the stream's end, or wherever reading was stopped.
    pub fn outcome(&self) -> Outcome {
        Outcome::from_reader(self, 0)
    }
}

impl<S: Source> TimeOrdered<S> {
    /// Returns the result so far: at the stream's end, or wherever reading was stopped.
    pub fn outcome(&self) -> Outcome {
        Outcome::from_reader(self.reader(), self.out_of_order())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nettrace_testdata::synth;

    #[test]
    fn an_outcome_says_in_one_line_what_is_missing() {
        let bytes = synth::tiny_v4().bytes;
        let outcome = |bytes: &[u8]| {
            let mut events = Reader::from_slice(bytes).time_ordered();
            events.for_each(|_| {}).unwrap();
            events.outcome()
        };
        let whole = outcome(&bytes);
        assert_eq!(
            (whole.to_string().as_str(), whole.is_intact()),
            ("complete; 1 event lost", false)
        );
        assert_eq!(whole.end_offset, bytes.len() as u64);
        let cut = outcome(&bytes[..bytes.len() - 9]);
        assert!(!cut.is_intact() && !cut.is_complete);
        let text = cut.to_string();
        assert!(text.starts_with("incomplete: no end mark up to offset 0x"), "{text}");
        assert!(text.contains("; damaged in 1 place, "), "{text}");
    }
}
