//! Messages about a recording at its end.

use super::recording::RecordingOutcome;
use super::status::advice;
use crate::failure::Failure;
use crate::failure::with_causes;
use crate::live::sink::Saved;
use crate::messages::{Messages, OVERSIZED, can_have_been_full, cause_of_loss};
use crate::units;
use nettrace_analysis::findings::silent_sources_text;
use nettrace_ipc::Ending;
use std::io;
use std::time::Duration;

/// Recording that has ended.
pub(super) struct Summary<'s> {
    pub(super) outcome: &'s RecordingOutcome,
    /// Name and id of the process.
    pub(super) label: &'s str,
    pub(super) file: &'s str,
    /// Whether `file` stands for standard output.
    pub(super) is_stdout: bool,
    pub(super) elapsed: Duration,
    /// Names of the providers that options name and that sent nothing.
    pub(super) silent: Vec<String>,
}

impl Summary<'_> {
    /// Returns the error that stopped writing the file.
    pub(super) fn failure(&self) -> Option<Failure> {
        let error = self.outcome.read.failure.as_ref()?;
        // `nettrace collect -o - | head` ends silently, as all commands do whose reader has enough.
        let is_gone = self.is_stdout && error.kind() == io::ErrorKind::BrokenPipe;
        Some(match is_gone {
            true => Failure::Output(io::ErrorKind::BrokenPipe.into()),
            false => Failure::input(self.file, format!("recording failed: {}", with_causes(error))),
        })
    }

    /// Returns whether the trace lacks more than the events that are counted as lost.
    pub(super) fn is_damaged(&self) -> bool {
        let read = &self.outcome.read;
        let is_damaged = read.outcome.damage.is_damaged();
        self.fault().is_some() || is_damaged || self.missing_end().is_some()
    }

    /// Returns the reason why the stream cannot be parsed; `None` if a write error explains it.
    fn fault(&self) -> Option<&str> {
        let read = &self.outcome.read;
        read.fault.as_deref().filter(|_| read.failure.is_none())
    }

    /// Returns the session's ending if the stream lacks its end mark because of it.
    fn missing_end(&self) -> Option<Ending> {
        let read = &self.outcome.read;
        let is_complete = read.outcome.is_complete;
        read.ending.filter(|ending| match ending {
            Ending::Cut => true,
            Ending::ByTarget => !is_complete,
            _ => !is_complete && read.fault.is_none(),
        })
    }

    /// Returns the sentence about a stream without an end mark.
    fn missing_end_text(&self, ending: Ending) -> String {
        let (label, file) = (self.label, self.file);
        match ending {
            Ending::Cut => format!(
                "{label} did not end the session in time, so the connection was closed; {file} has what was received until then; --patience waits longer"
            ),
            Ending::ByTarget => format!(
                "{label} exited without completing the trace (was it killed?); {file} has what was received until then"
            ),
            _ => format!(
                "{file}: the stream has no end mark; everything that was received is in the file"
            ),
        }
    }

    /// Prints the size of the recording, and warns of what is missing.
    pub(super) fn tell(&self, buffer_megabytes: u32, messages: &mut Messages<'_>) {
        let (read, file) = (&self.outcome.read, self.file);
        if let Saved::Part(part) = &read.saved {
            messages.note(&match part {
                Some(part) => {
                    let bytes = part.metadata().map_or(0, |data| data.len());
                    format!("what was recorded is in {}: {}", part.display(), units::bytes(bytes))
                }
                None => format!("nothing was recorded in {file}"),
            });
            return;
        }
        let nanos = i64::try_from(self.elapsed.as_nanos()).unwrap_or(i64::MAX);
        let lost = read.outcome.losses.total();
        let findings = read.outcome.damage.loss_count();
        messages.note(&format!(
            "{file}: {} and {} in {}, {} lost",
            units::bytes(read.received.bytes),
            units::counted(read.received.events, "event"),
            units::duration(nanos),
            units::count(lost),
        ));
        if lost > 0 {
            let buffer = u64::from(buffer_megabytes) << 20;
            let losses = &read.outcome.losses;
            let cause = match can_have_been_full(losses, read.received.bytes, buffer) {
                true => {
                    format!("the buffers of the process were full; {}", advice(buffer_megabytes))
                }
                false => format!("{}{OVERSIZED}", cause_of_loss(findings > 0)),
            };
            messages.warning(&format!("{file}: {} lost: {cause}", units::counted(lost, "event")));
        }
        if !self.silent.is_empty() {
            let text = silent_sources_text(&self.silent);
            messages.warning(&format!("{file}: {text}"));
        }
        if let Some(lacking) = &self.outcome.lacking {
            let text = "the condition to stop at was not met";
            messages.warning(&format!("{file}: {text}: {lacking}"));
        }
        if let Some(fault) = self.fault() {
            messages.warning(&format!(
                "{file}: the stream cannot be parsed ({fault}); its bytes are in the file"
            ));
        } else if findings > 0 {
            let findings = units::counted(findings, "finding");
            messages.warning(&format!("{file}: {findings} in the stream"));
        }
        if let Some(ending) = self.missing_end() {
            messages.warning(&self.missing_end_text(ending));
        }
    }
}
