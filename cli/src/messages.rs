//! Writes errors and faults of a trace to stderr, in the same words for every command.

use crate::failure::Failure;
use crate::input::{Ended, UnpackFault};
use crate::json_text;
use crate::printable::printable;
use crate::style::Style;
use crate::units;
use nettrace_parser::{Finding, Losses};
use std::io::Write;

/// Maximum number of findings that are reported one by one.
const MAX_SHOWN_FINDINGS: usize = 8;
/// Minimum size in bytes of an output that is noted as large.
const MIN_LARGE_OUTPUT_BYTES: u64 = 100_000_000;
/// Minimum ratio of the size of an output to that of its trace for the output to be noted as large.
const MIN_LARGE_RATIO: u64 = 100;

/// Writes to stderr, one line per message.
pub(crate) struct Messages<'a> {
    stream: &'a mut dyn Write,
    style: Style,
    is_quiet: bool,
}

impl<'a> Messages<'a> {
    pub(crate) fn new(stream: &'a mut dyn Write, style: Style, is_quiet: bool) -> Messages<'a> {
        Messages { stream, style, is_quiet }
    }

    /// Reports the reason why the command ends early.
    pub(crate) fn error(&mut self, failure: &Failure) {
        let label = self.style.bad().over("error:");
        self.line(&label, &failure.to_string());
    }

    /// Reports something that the user should know.
    pub(crate) fn warning(&mut self, text: &str) {
        if !self.is_quiet {
            let label = self.style.warning().over("warning:");
            self.line(&label, text);
        }
    }

    /// Reports an event, or the reason why the command waits.
    pub(crate) fn note(&mut self, text: &str) {
        if !self.is_quiet {
            self.write(&format!("nettrace: {}\n", printable(text)));
        }
    }

    /// Writes an object in a line of its own, for programs, which want it even with `--quiet`.
    pub(crate) fn object(&mut self, object: &impl serde::Serialize) {
        let mut line = Vec::new();
        if json_text::line(&mut line, object).is_ok() {
            self.write(&format!("{}\n", String::from_utf8_lossy(&line)));
        }
    }

    fn line(&mut self, label: &str, text: &str) {
        self.write(&format!("nettrace: {label} {}\n", printable(text)));
    }

    /// Writes a line in one piece, so that lines of several writers do not mix.
    fn write(&mut self, line: &str) {
        // A closed stderr is no reason to stop.
        let _ = self.stream.write_all(line.as_bytes());
    }

    /// Reports the faults of a trace that was read.
    pub(crate) fn condition(&mut self, file: &str, trace: &Ended, is_whole: bool) {
        let condition = Condition::new(trace, is_whole);
        if let Some(fault) = condition.unpack_fault {
            self.warning(&format!("{file}: {fault}"));
        }
        if condition.is_cut {
            let end = trace.end_offset;
            let missing = match trace.missing_bytes {
                0 => String::new(),
                bytes => format!(", at least {} too early", units::bytes(bytes)),
            };
            self.warning(&format!(
                "{file}: incomplete: the stream ends at offset {end:#x} without its end mark{missing} (was the process \
                 killed, or the copy cut short?); everything before that was read"
            ));
        }
        let findings: Vec<&Finding> = trace.damage.losses().collect();
        for finding in findings.iter().take(MAX_SHOWN_FINDINGS) {
            self.warning(&format!("{file}: {finding}"));
        }
        let total = condition.finding_count;
        let shown = findings.len().min(MAX_SHOWN_FINDINGS) as u64;
        if total > shown {
            let more = units::counted(total - shown, "more finding");
            self.warning(&format!("{file}: {more}; nettrace info lists them"));
        }
    }

    /// Notes that the output is very large for its trace, which has `trace_bytes`.
    pub(crate) fn output_size(&mut self, file: &str, written: u64, trace_bytes: u64) {
        if written >= MIN_LARGE_OUTPUT_BYTES && written / MIN_LARGE_RATIO >= trace_bytes {
            self.note(&format!(
                "{file}: the output has {}, the trace {}: what many events have in common, such as stacks, is written with each",
                units::bytes(written),
                units::bytes(trace_bytes),
            ));
        }
    }

    /// Reports how many events the writer had to drop.
    pub(crate) fn losses(&mut self, file: &str, trace: &Ended) {
        let losses = &trace.losses;
        if losses.total() > 0 {
            let is_damaged = Condition::new(trace, true).finding_count > 0;
            let advice = match is_damaged {
                true => "",
                false if can_have_been_full(losses, trace.end_offset, MIN_BUFFER_BYTES) => {
                    "; record with a larger buffer to avoid that"
                }
                false => OVERSIZED,
            };
            self.warning(&format!(
                "{file}: {} of {} lost: {}{advice}",
                units::counted(losses.total(), "event"),
                units::counted(losses.by_thread().len() as u64, "thread"),
                cause_of_loss(is_damaged),
            ));
        }
    }
}

/// Size in bytes of the smallest buffer that a session can have.
const MIN_BUFFER_BYTES: u64 = 1 << 20;

/// Reason for the losses of a session whose buffers cannot have been full.
pub(crate) const OVERSIZED: &str = ", as events over 64 KiB are whatever the buffer";

/// Returns whether a buffer can have been full: then several events in a row are lost, and the
/// session wrote not much less than the buffer holds. A trace is smaller than the memory that its
/// events took, because headers are compressed and stacks are written once.
pub(crate) fn can_have_been_full(losses: &Losses, written: u64, buffer: u64) -> bool {
    const MAX_COMPRESSION_FACTOR: u64 = 64;
    losses.longest_gap() > 1 && written >= buffer / MAX_COMPRESSION_FACTOR
}

/// Returns where the missing events may have been lost.
pub(crate) fn cause_of_loss(is_damaged: bool) -> &'static str {
    match is_damaged {
        true => "dropped before reaching the trace, or in its damaged parts",
        false => "dropped before reaching the trace",
    }
}

/// The faults of a trace.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Condition {
    /// Fault of the compressed file that holds the stream.
    pub(crate) unpack_fault: Option<UnpackFault>,
    /// Whether the stream ends without its end mark.
    pub(crate) is_cut: bool,
    /// Number of findings that are not notes, including findings that are counted but not kept.
    pub(crate) finding_count: u64,
}

impl Condition {
    /// Creates the condition of a trace. `is_whole`: the trace was read to its end, so a missing
    /// end mark is a fault.
    pub(crate) fn new(trace: &Ended, is_whole: bool) -> Condition {
        Condition {
            unpack_fault: trace.unpack_fault(),
            is_cut: is_whole && !trace.is_complete,
            finding_count: trace.damage.loss_count(),
        }
    }

    /// Returns whether a part of the trace is, or may be, missing.
    pub(crate) fn is_bad(&self) -> bool {
        self.is_cut
            || self.finding_count > 0
            || self.unpack_fault.is_some_and(|fault| fault.is_loss())
    }
}
